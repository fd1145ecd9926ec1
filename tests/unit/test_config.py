"""What to connect to, and within which bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncline import ConfigError, ConnectionManager, HttpServer, Limits, StdioServer, Timeouts
from syncline.config import as_server


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("https://weather.example/mcp", HttpServer("https://weather.example/mcp")),
        ("http://127.0.0.1:8080", HttpServer("http://127.0.0.1:8080")),
        ("uvx weather-server --verbose", StdioServer("uvx", ("weather-server", "--verbose"))),
        ("'my server' \"a b\"", StdioServer("my server", ("a b",))),
        (["uvx", "weather-server"], StdioServer("uvx", ("weather-server",))),
        (("python", "-c", "print('https://x')"), StdioServer("python", ("-c", "print('https://x')"))),
        ("server --url https://x.example", StdioServer("server", ("--url", "https://x.example"))),
    ],
)
def test_what_users_pass_becomes_a_server(target: object, expected: object) -> None:
    assert as_server(target) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("ftp://x.example", "not an http or https URL"),
        ("https://", "not an http or https URL"),
        ("https://x.example:99999/mcp", "not an http or https URL"),
        ("http://x.example/a b", "not an http or https URL"),
        ("", "a server is a URL, .*, not an empty str"),
        ([], "a server is a URL, .*, not an empty list"),
        (["uvx", 7], "a server is a URL, .*, not a list with int in it"),
        (None, "a server is a URL, .*, not NoneType"),
        (Path("server.py"), "a server is a URL, .*, not PosixPath"),
        ({"command": "uvx"}, "a server is a URL, .*, not dict"),
        (ConnectionManager({"uvx": "uvx"}), "a server is a URL, .*, not ConnectionManager"),
        ("'unclosed", "cannot be split"),
        ([" "], "needs a command"),
        (["a\0b"], "NUL"),
    ],
)
def test_what_cannot_work_is_refused_at_once(target: object, text: str) -> None:
    with pytest.raises(ConfigError, match=text) as caught:
        as_server(target)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)


def test_arguments_as_one_string_are_refused() -> None:
    with pytest.raises(ConfigError, match="sequence of strings"):
        StdioServer("uvx", "weather-server")


def test_what_must_be_text_is_text() -> None:
    with pytest.raises(ConfigError, match="command and args are strings, not PosixPath"):
        StdioServer("python", (Path("server.py"),))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="the environment variable 'DEBUG' must be text, not int"):
        StdioServer("uvx", env={"DEBUG": 1})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match=r"the header 'X-Tenant' must be text, not int$"):
        HttpServer("https://weather.example/mcp", headers={"X-Tenant": 1234})  # type: ignore[dict-item]


@pytest.mark.parametrize("url", ["ftp://user:planted@x.example?key=planted", "http://user:planted@/mcp?key=planted"])
def test_a_bad_url_does_not_show_its_secrets(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        HttpServer(url)
    assert "planted" not in str(caught.value)


def test_names_and_reprs_show_no_secrets() -> None:
    secret = "planted"
    http = HttpServer(
        f"https://me:{secret}@x.example:8443/mcp?key={secret}",
        headers={"X-Key": secret},
        proxies={"https": f"http://me:{secret}@proxy"},
    )
    stdio = StdioServer("/usr/bin/server", ("--token", secret), env={"TOKEN": secret})

    assert (http.name, stdio.name) == ("x.example:8443/mcp", "server")
    for shown in (repr(http), http.name, repr(stdio), stdio.name):
        assert secret not in shown


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, Timeouts()),
        (5, Timeouts(connect=5, startup=5, call=5)),
        ((2, 20), Timeouts(connect=2, startup=20, call=20)),
        (7200, Timeouts(connect=7200, startup=7200, call=7200, call_total=7200)),
        (Timeouts(call=None), Timeouts(call=None)),
    ],
)
def test_timeouts_as_in_requests(given: object, expected: Timeouts) -> None:
    assert Timeouts.of(given) == expected  # type: ignore[arg-type]


def test_the_timeout_of_one_call() -> None:
    own = Timeouts(call=10)

    assert own.for_call(None) is own
    assert own.for_call(3).call == 3
    assert own.for_call(Timeouts(call=1)) == Timeouts(call=1)


@pytest.mark.parametrize("value", [0, -1, float("nan"), "5"])
def test_a_timeout_is_positive(value: float) -> None:
    with pytest.raises(ConfigError, match=r"Timeouts\.call must be a positive number"):
        Timeouts(call=value)
    with pytest.raises(ConfigError, match="must be a positive number"):
        Timeouts.of(value)


@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_a_limit_is_a_positive_whole_number(value: object) -> None:
    with pytest.raises(ConfigError, match=r"Limits\.pages must be a positive whole number"):
        Limits(pages=value)  # type: ignore[arg-type]

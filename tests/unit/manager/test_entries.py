"""One entry of a file as a server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from syncline import ConfigError, HttpServer, StdioServer
from syncline.manager.configfiles.entries import KEYS, METADATA, Entry, Wrong, read
from syncline.manager.configfiles.formats import FORMATS
from syncline.manager.configfiles.references import Surroundings, Unusable

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "secret", "${A}", "https://a", "\0secret"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "source", "A"]), inner, max_size=2)
    ),
    max_leaves=4,
) | st.just(10**400)
URL = "https://a.example/mcp"


def entry(raw: object, form: str = "mcp", folder: str | None = None, **environment: str) -> Entry:
    around = Surroundings(FORMATS[form].references, environment, {}, lambda ident: "answer")
    return read(raw, FORMATS[form], around, folder)


PROGRAM = StdioServer("npx", ("-y", "server"))
PAGE = HttpServer(URL)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"command": "npx", "args": ["-y", "server"]}, PROGRAM),
        ({"type": "stdio", "command": "npx", "args": ["-y", "server"], "url": "", "headers": {}}, PROGRAM),
        ({"command": "npx", "env": {"A": "1", "B": 2, "C": 0.5, "D": None}}, StdioServer("npx", env={"A": "1", "B": "2", "C": "0.5"})),
        ({"command": "npx", "args": None, "cwd": None, "disabled": None}, StdioServer("npx")),
        ({"command": "npx", "cwd": "/work"}, StdioServer("npx", cwd="/work")),
        ({"url": URL}, PAGE),
        ({"serverUrl": URL}, PAGE),
        ({"httpUrl": URL}, replace(PAGE, transport="streamable")),
        ({"type": "http", "url": URL}, PAGE),
        ({"type": "streamable-http", "url": URL}, replace(PAGE, transport="streamable")),
        ({"type": "streamableHttp", "url": URL}, replace(PAGE, transport="streamable")),
        ({"transport": "sse", "url": URL}, replace(PAGE, transport="sse")),
        ({"type": "http", "url": URL, "env": {}, "args": []}, PAGE),
        ({"url": URL, "headers": {"X": "1"}}, HttpServer(URL, headers={"X": "1"})),
        ({"url": URL, "http_headers": {"X": "1"}}, HttpServer(URL, headers={"X": "1"})),
        ({"url": URL, "env_http_headers": {"X": "NAME"}}, HttpServer(URL, env_headers={"X": "NAME"})),
        ({"url": URL, "bearer_token_env_var": "NAME"}, HttpServer(URL, bearer_env="NAME")),
        ({"url": URL, "disabled": True}, replace(PAGE, enabled=False)),
        ({"url": URL, "enabled": False, "required": True}, replace(PAGE, enabled=False, required=True)),
        ({"url": URL, "includeTools": ["a"], "excludeTools": ["b"]}, replace(PAGE, enabled_tools=("a",), disabled_tools=("b",))),
        ({"url": URL, "disabledTools": ["b"]}, replace(PAGE, disabled_tools=("b",))),
    ],
)  # fmt: skip
def test_what_people_write(raw: object, expected: object) -> None:
    assert entry(raw) == Entry(expected, {}, ())  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    ("raw", "key", "text"),
    [
        ({"command": "x", "url": URL}, "url", "does not go with command, which is for programs"),
        ({"command": "x", "bearer_token_env_var": "N"}, "bearer_token_env_var", "does not go with command"),
        ({"command": "x", "http_headers": {"A": "b"}}, "http_headers", "does not go with command"),
        ({"command": "x", "env_http_headers": {"A": "b"}}, "env_http_headers", "does not go with command"),
        ({"url": URL, "args": ["a"]}, "args", "does not go with url, which is for servers on the network"),
        ({"url": URL, "env": {"A": "b"}}, "env", "does not go with url"),
        ({"url": URL, "env_vars": ["A"]}, "env_vars", "does not go with url"),
        ({"url": URL, "cwd": "/work"}, "cwd", "does not go with url"),
        ({"command": "x", "bearer_token": "t"}, "bearer_token", "bearer_token_env_var"),
        ({"url": URL, "bearer_token": "t"}, "bearer_token", "bearer_token_env_var"),
        ({"args": ["a"]}, "", "expected command, for a program, or url"),
        ({}, "", "expected command, for a program, or url"),
    ],
)
def test_the_two_kinds_are_not_mixed(form: str, raw: object, key: str, text: str) -> None:
    """4.190: what belongs to the other kind is an error that names key and kind; neither kind, and a literal token, are too."""
    with pytest.raises(Wrong, match=text) as caught:
        entry(raw, form)
    assert caught.value.key == key


def test_the_keys_of_codex() -> None:
    """4.190: each kind has its keys."""
    program = {"command": "x", "args": ["a"], "env": {"A": "b"}, "env_vars": ["B"], "cwd": "/work"}
    page = {
        "url": URL,
        "bearer_token_env_var": "T",
        "http_headers": {"A": "b"},
        "env_http_headers": {"C": "D"},
    }
    assert entry(program, "codex").server == StdioServer("x", ("a",), {"A": "b"}, ("B",), "/work")
    assert entry(page, "codex").server == HttpServer(URL, {"A": "b"}, {"C": "D"}, bearer_env="T")


def test_what_both_kinds_have() -> None:
    """4.191: defaults; both keys of the startup timeout, of which the seconds count; fractions."""
    for base in ({"command": "x"}, {"url": URL}):
        server = entry(base, "codex").server
        assert (server.enabled, server.required, server.startup_timeout, server.tool_timeout) == (
            True,
            False,
            None,
            None,
        )
        assert (server.enabled_tools, server.disabled_tools) == (None, ())

        full = {
            "enabled": False,
            "required": True,
            "startup_timeout_sec": 2.5,
            "startup_timeout_ms": 7000,
            "tool_timeout_sec": 90,
            "enabled_tools": ["a", "b"],
            "disabled_tools": ["b"],
        }
        server = entry({**base, **full}, "codex").server
        assert (server.enabled, server.required, server.startup_timeout, server.tool_timeout) == (False, True, 2.5, 90)
        assert (server.enabled_tools, server.disabled_tools) == (("a", "b"), ("b",))
        for none in ({}, {"startup_timeout_sec": None}):
            assert entry({**base, "startup_timeout_ms": 1500, **none}, "codex").server.startup_timeout == 1.5


@pytest.mark.parametrize("key", ["startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec"])
@pytest.mark.parametrize("value", [-1, 0, -0.5, 1e300, float("inf"), float("nan"), "5", True, [1]])
def test_times_that_cannot_be_waited(key: str, value: object) -> None:
    """4.191: negative ones and those that no clock can count are errors."""
    with pytest.raises(Wrong, match=r"expected a number of (milli)?seconds above 0") as caught:
        entry({"command": "x", key: value}, "codex")
    assert caught.value.key == key


METADATA_OF_CODEX = {
    "default_tools_approval_mode": "prompt",
    "tools": {"a": {"approval_mode": "approve"}},
    "supports_parallel_tool_calls": True,
    "scopes": ["read"],
    "oauth": {"client_id": "c"},
    "oauth_resource": URL,
    "environment": "local",
    "name": "old name",
}


def test_what_says_nothing_about_the_connection_is_kept() -> None:
    """4.191, 4.192: approval modes and the like are kept as they stand, for whoever asks."""
    found = entry({"url": URL, **METADATA_OF_CODEX}, "codex")
    assert found == Entry(PAGE, METADATA_OF_CODEX, ())


def test_unknown_keys_are_kept_and_named() -> None:
    found = entry({"url": URL, "headersHelper": "/bin/x", "description": "d", "later": {"a": ["${TOKEN}"]}})
    assert found == Entry(
        PAGE, {"headersHelper": "/bin/x", "description": "d", "later": {"a": ["${TOKEN}"]}}, ("headersHelper", "later")
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["A", {"name": "B"}, {"name": "C", "source": "local"}], ("A", "B", "C")),
        ([{"name": "A", "source": "remote"}], '"local" as source'),
        ([{"name": "A", "source": "foo"}], '"local" as source'),
        ([{"source": "local"}], "the name of an environment variable"),
        ([""], "the name of an environment variable"),
        (["A=B"], "the name of an environment variable"),
        ("A", "a list of names"),
    ],
)
def test_variables_that_are_passed_on(value: object, expected: object) -> None:
    """4.102: a name, or a name and a source, which cannot be elsewhere."""
    if isinstance(expected, tuple):
        assert entry({"command": "x", "env_vars": value}).server == StdioServer("x", env_vars=expected)
    else:
        with pytest.raises(Wrong, match=str(expected)):
            entry({"command": "x", "env_vars": value})


def test_milliseconds_of_one_program_are_a_stranger_to_the_others() -> None:
    assert entry({"command": "x", "timeout": 1500}, "gemini").server.tool_timeout == 1.5
    assert entry({"command": "x", "timeout": 1500}, "mcp").unknown == ("timeout",)
    with pytest.raises(
        Wrong, match=r"timeout: expected a number of milliseconds above 0, 1e\+12 at most, found a string"
    ):
        entry({"command": "x", "timeout": "1500"}, "gemini")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ({"type": "ws", "url": "ws://a.example"}, "its type is not spoken here"),
        ({"url": "unix:///run/a.sock"}, "unix URLs are not spoken here"),
        ({"url": "${MISSING}"}, "MISSING is not set"),
        ({"command": "x", "envFile": "/no/such/\ud800"}, "is no use"),
        ({"command": "x", "envFile": "/no/such/file"}, "the envFile /no/such/file is no use: No such file"),
    ],
)
def test_what_cannot_be_used_here(raw: object, reason: str) -> None:
    with pytest.raises(Unusable, match=reason):
        entry(raw)


def test_a_file_of_variables_comes_before_env(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=file\nB=file\n")
    raw = {"command": "x", "envFile": ".env", "env": {"B": "entry"}}
    assert entry(raw, folder=str(tmp_path)).server == StdioServer(
        "x", env={"A": "file", "B": "entry"}, cwd=str(tmp_path)
    )
    assert entry({**raw, "envFile": "gone", "disabled": True}).server.enabled is False
    (tmp_path / ".env").write_bytes(b"\xff")
    with pytest.raises(Unusable, match="it is not UTF-8"):
        entry(raw, folder=str(tmp_path))


def test_programs_start_in_the_folder_of_the_project() -> None:
    assert entry({"command": "x"}, folder="/work").server == StdioServer("x", cwd="/work")
    assert entry({"command": "x", "cwd": "sub"}, folder="/work").server == StdioServer("x", cwd="/work/sub")
    assert entry({"command": "x", "cwd": "/sub"}, folder="/work").server == StdioServer("x", cwd="/sub")


@pytest.mark.parametrize(
    "raw", [{"url": "${A}"}, {"url": "https://"}, {"url": "secret"}, {"httpUrl": "https://${A}:secret/"}]
)
def test_a_bad_url_is_not_shown(raw: object) -> None:
    with pytest.raises(Wrong, match=r"[uU]rl: expected an http or https URL with a host") as caught:
        entry(raw, A="secret")
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


@example({"type": "secret"}, "mcp")
@given(
    st.dictionaries(st.sampled_from([*KEYS, "type", "startup_timeout_ms", "timeout"]), ANYTHING),
    st.sampled_from([*FORMATS]),
)
def test_anything_may_stand_anywhere(raw: dict[str, object], form: str) -> None:
    """It is a server, or refused in one of the two ways, without being shown."""
    try:
        said = repr(entry(raw, form).server) if "command" not in raw else ""
    except (Wrong, Unusable) as refused:
        said = str(refused)
    assert "secret" not in said


def test_no_key_is_in_two_tables() -> None:
    assert not METADATA & KEYS.keys()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"enabled": 1}, "enabled is True or False"),
        ({"required": None}, "required is True or False"),
        ({"startup_timeout": 0}, "startup_timeout must be a positive number of seconds"),
        ({"tool_timeout": float("nan")}, "tool_timeout must be a positive number of seconds"),
        ({"tool_timeout": True}, "tool_timeout must be a positive number of seconds"),
        ({"enabled_tools": "a"}, "enabled_tools must be a sequence of names"),
        ({"disabled_tools": [1]}, "disabled_tools must be a sequence of names"),
    ],
)
def test_servers_check_what_a_manager_needs(options: dict[str, object], text: str) -> None:
    for make in (lambda: StdioServer("x", **options), lambda: HttpServer(URL, **options)):  # type: ignore[arg-type]
        with pytest.raises(ConfigError, match=text):
            make()


def test_what_a_manager_needs_is_given_by_name() -> None:
    server = StdioServer("x", (), {}, (), None, None, startup_timeout=5, enabled_tools=["a"])
    assert (server.startup_timeout, server.enabled_tools, server.tool_timeout) == (5, ["a"], None)
    with pytest.raises(TypeError):
        StdioServer("x", (), {}, (), None, None, True)  # type: ignore[call-arg]

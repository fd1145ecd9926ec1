"""When two configurations lead to the same connection."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import requests
from requests.auth import HTTPBasicAuth

from syncline import HttpServer, StdioServer
from syncline.manager.identity import Identity, has_credentials

if TYPE_CHECKING:
    from syncline.client import Target

ENVIRON = {"TOKEN": "t-1", "KEY": "k-1", "OTHER": "o-1"}
STDIO = StdioServer("server", ("--x",), env={"A": "1"}, env_vars=("KEY",), cwd="/srv")
HTTP = HttpServer("https://a.example/mcp", headers={"X": "1"}, env_headers={"X-Key": "KEY"}, bearer_env="TOKEN")


def identity(
    server: Target, name: str = "s", auth: Any = None, asks: bool = False, environ: dict[str, str] = ENVIRON
) -> Identity:
    return Identity(name, server, auth, asks=asks, environ=environ)


@pytest.mark.parametrize(
    "change",
    [
        {"command": "other"},
        {"args": ("--y",)},
        {"env": {"A": "2"}},
        {"env_vars": ()},
        {"cwd": "/tmp"},
        {"stderr": print},
    ],
)
def test_what_makes_another_program(change: dict[str, Any]) -> None:
    """3.31, 3.65: one field at a time."""
    assert identity(replace(STDIO, **change)) != identity(STDIO)
    assert identity(replace(STDIO, **change)).cache_key() != identity(STDIO).cache_key()


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://b.example/mcp"},
        {"headers": {"X": "2"}},
        {"env_headers": {}},
        {"bearer_env": None},
        {"auth": HTTPBasicAuth("a", "planted-b")},
        {"verify": False},
        {"cert": "client.pem"},
        {"proxies": {}},
        {"trust_env": False},
        {"transport": "sse"},
    ],
)
def test_what_makes_another_way(change: dict[str, Any]) -> None:
    """3.31, 3.44, 3.65: one field at a time."""
    assert identity(replace(HTTP, **change)) != identity(HTTP)
    assert identity(replace(HTTP, **change)).cache_key() != identity(HTTP).cache_key()


@pytest.mark.parametrize(
    "change",
    [
        {"required": True},
        {"startup_timeout": 5},
        {"tool_timeout": 5},
        {"enabled_tools": ["a"]},
        {"disabled_tools": ["a"]},
    ],
)
@pytest.mark.parametrize("server", [STDIO, HTTP])
def test_what_does_not(server: StdioServer | HttpServer, change: dict[str, Any]) -> None:
    """3.32: it takes effect on the connection that there is."""
    assert identity(replace(server, **change)) == identity(server)
    assert identity(replace(server, **change)).cache_key() == identity(server).cache_key()


def test_the_values_of_variables_count_where_they_are_named() -> None:
    """3.33: others do not."""
    for server, named in ((STDIO, ["KEY"]), (HTTP, ["KEY", "TOKEN"])):
        for variable in ENVIRON:
            changed = identity(server, environ={**ENVIRON, variable: "another"})
            assert (changed != identity(server)) == (variable in named)
            assert (changed.cache_key() != identity(server).cache_key()) == (variable in named)


def test_what_is_declared_and_who_we_are_count() -> None:
    """3.31, 3.44: the name, the capability, what authenticates; equal objects are equal."""
    assert identity(HTTP, name="other") != identity(HTTP)
    assert identity(HTTP, asks=True) != identity(HTTP)
    assert identity(HTTP, auth=HTTPBasicAuth("a", "planted-b")) != identity(HTTP)
    assert identity(HTTP, auth=HTTPBasicAuth("a", "planted-b")) == identity(HTTP, auth=HTTPBasicAuth("a", "planted-b"))


def test_how_it_is_written_down_does_not_count() -> None:
    assert identity(replace(STDIO, args=["--x"])) == identity(STDIO)
    same = replace(HTTP, headers={"B": "2", "A": "1"})
    assert identity(same) == identity(replace(HTTP, headers={"A": "1", "B": "2"}))


def test_the_working_directory_counts_where_none_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """3.31: the fallback."""
    free = replace(STDIO, cwd=None)
    before = identity(free), identity(STDIO)
    monkeypatch.chdir(tmp_path)
    assert (identity(free) == before[0], identity(STDIO) == before[1]) == (False, True)


def test_what_is_not_remembered() -> None:
    """3.66: nobody can tell whose catalogue it would be."""
    assert identity(STDIO).cache_key() is not None
    assert identity(HTTP).cache_key() is not None
    assert identity(HTTP, auth=HTTPBasicAuth("a", "planted-b")).cache_key() is None
    assert identity(replace(HTTP, auth=HTTPBasicAuth("a", "planted-b"))).cache_key() is None
    with requests.Session() as session:
        assert identity(replace(HTTP, session=session)).cache_key() is None
    assert identity(lambda: None).cache_key() is None  # type: ignore[arg-type,return-value]


def test_no_secret_is_in_a_key() -> None:
    key = identity(HTTP).cache_key()
    assert key is not None
    assert "t-1" not in key
    assert "t-1" not in repr(identity(HTTP))


@pytest.mark.parametrize(
    ("server", "own"),
    [
        (HttpServer("https://a.example"), False),
        (HttpServer("https://a.example", bearer_env="UNSET"), True),
        (HttpServer("https://a.example", auth=HTTPBasicAuth("a", "planted-b")), True),
        (HttpServer("https://a.example", headers={"authorization": "Bearer x"}), True),
        (HttpServer("https://a.example", headers={"Authorization": "  "}), False),
        (HttpServer("https://a.example", headers={"Authorization": "Bearer\nx"}), False),
        (HttpServer("https://a.example", env_headers={"Authorization": "TOKEN"}), True),
        (HttpServer("https://a.example", env_headers={"Authorization": "UNSET"}), False),
        (HttpServer("https://a.example", headers={"X-Key": "1"}), False),
    ],
)
def test_who_brings_credentials(server: HttpServer, own: bool) -> None:
    """3.28, 3.35: the authentication of all servers is not for those that have their own."""
    assert has_credentials(server, ENVIRON) == own

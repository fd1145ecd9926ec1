"""What ``OAuth`` takes, and what opening a browser comes to."""

from __future__ import annotations

import webbrowser
from typing import Any

import pytest

from syncline import ConfigError, HttpServer, OAuth, Visit, open_browser
from syncline.auth.stores.memory import MemoryStore

VISIT = Visit(
    "https://id.example/authorize?state=planted", "https://mcp.example/mcp", "planted-code", "http://127.0.0.1:1/cb"
)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"scopes": "read write"}, "a sequence of scopes"),
        ({"client_secret": "planted"}, "needs the client_id"),
        ({"store": "nowhere"}, "store"),
        ({"redirect_port": 70_000}, "redirect_port"),
        ({"redirect_port": -1}, "redirect_port"),
        ({"redirect_port": "8080"}, "redirect_port is a port, .* not '8080'"),
        ({"trusted_hosts": "id.example"}, "a sequence of hosts, not one text"),
        ({"visit": "firefox"}, "visit is a function .* not str"),
        ({"visit": True}, "visit is a function .* not bool"),
    ],
)
def test_what_cannot_be_meant(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        OAuth(**options)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://planted:planted@mcp.example/mcp",
        "https://127.1/mcp",
        "https://2130706433/mcp",
        "https://b\u00fccher.example/mcp",
        "https://mcp.example/mcp?name=\u00fc",
    ],
)
def test_servers_whose_url_could_be_understood_differently(url: str) -> None:
    """Said before anything is sent there."""
    with pytest.raises(ConfigError, match="tokens cannot be got for https://") as caught:
        OAuth(store=MemoryStore()).at(HttpServer(url))
    assert "planted" not in str(caught.value)


def test_nothing_of_a_login_is_part_of_a_repr() -> None:
    auth = OAuth(client_id="mine", client_secret="planted", store=MemoryStore())
    assert repr(auth) == "<syncline.OAuth memory>"
    assert "planted" not in repr(VISIT) + repr(auth._wishes)
    assert "https://mcp.example/mcp" in repr(VISIT)


def test_the_browser_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: dict[str, bool] = {}
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.setdefault(url, True))
    open_browser(VISIT)
    assert list(opened) == [VISIT.url]


def test_there_is_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Said at once, rather than after minutes of waiting for nobody."""
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    with pytest.raises(ConfigError, match="no browser") as caught:
        open_browser(VISIT)
    assert "planted" not in str(caught.value)

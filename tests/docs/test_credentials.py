"""The examples of docs/credentials.md, at a server that wants tokens, with a browser whose owner agrees."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import syncline
from syncline import client as facade
from syncline.auth.stores.memory import MemoryStore
from syncline.config import HttpServer, StdioServer, as_server
from syncline.identity import status
from tests.fixtures.logins import Someone
from tools.fakeserver.authorization import ProtectedMcpServer

from .server import example_server
from .test_examples import BLOCK, PAGES

PAGE = "docs/credentials.md"
EXAMPLES = [block[1] for block in BLOCK.finditer(PAGES[PAGE])]
NOTES = "https://notes.example/mcp"


@pytest.fixture
def notes(
    protected: Callable[..., ProtectedMcpServer], someone: Someone, state: None, monkeypatch: pytest.MonkeyPatch
) -> ProtectedMcpServer:
    """The server that the examples call notes.example. The CI has a token for it."""
    server, store = protected(scopes=["read"]), MemoryStore()
    server.authorities[0].approved.set()
    syncline.login(server.url, visit=someone, store=store)
    (credentials,) = map(store.load, store.keys())
    assert credentials is not None
    monkeypatch.setenv("NOTES_TOKEN", credentials.access_token)
    monkeypatch.setenv("WEATHER_TOKEN", "planted")
    return server


@pytest.fixture
def example(
    notes: ProtectedMcpServer, someone: Someone, fake_keyring: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], dict[str, object]]]:
    """Runs an example."""
    typed: list[str] = []

    def printed(*words: object) -> None:
        """Shown to a person, who goes where they are sent to log in."""
        urls = [word for word in str(words[0]).split() if "/authorize?" in word]
        typed.extend(someone.paste(syncline.Visit(url, notes.url)) for url in urls)

    def open_window(url: str) -> bool:
        someone(syncline.Visit(url, NOTES))
        return True

    with example_server() as server, server.http() as url:
        places = {NOTES: notes.url, "https://weather.example/mcp": url}

        def found(target: str | HttpServer) -> StdioServer | HttpServer:
            meant = as_server(target)
            return replace(meant, url=places.get(meant.url, meant.url)) if isinstance(meant, HttpServer) else meant

        for module in (facade, status):
            monkeypatch.setattr(module, "as_server", found)
        monkeypatch.setattr(webbrowser, "open", open_window)
        with syncline.connect(url) as client:
            space: dict[str, object] = {"__name__": "example", "syncline": syncline, "client": client}
            space |= {"print": printed, "input": lambda question: typed.pop()}

            def run(source: str) -> dict[str, object]:
                exec(compile(source, PAGE, "exec"), space)
                return space

            yield run


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(example: Callable[[str], dict[str, object]], number: int) -> None:
    example(EXAMPLES[number])


def one(word: str) -> str:
    """The example that has a word."""
    (found,) = (source for source in EXAMPLES if word in source)
    return found


def test_a_person_logs_in_and_out(example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer) -> None:
    made = example(one("auth_status"))["status"]
    assert isinstance(made, syncline.AuthStatus)
    assert made.scopes == ("read",)
    assert notes.calls("tools/list")
    assert notes.authorities[0].counts["revoke"] == 2
    assert syncline.auth_status(notes.url) is None


def test_a_job_says_that_somebody_has_to_log_in(
    example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer
) -> None:
    told: list[object] = []
    space = example(one("def job"))
    space["print"] = told.append
    example("job()")
    assert told == [f"log in at {notes.authorities[0].issuer}/authorize (read): syncline auth login {notes.url}"]
    syncline.login(notes.url)
    example("job()")
    assert told[1:] == [list(notes.catalogue.tools)]


def test_a_view_asks_nobody(example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer) -> None:
    example(one("def view"))
    shown: list[tuple[int, str]] = []
    assert "somebody has to log in" in viewed(example, shown)
    syncline.login(notes.url)
    assert viewed(example, shown) == "hello"
    notes.authorities[0].end_access()
    notes.authorities[0].arm("token", 503, 9)
    assert viewed(example, shown) == "try again later"
    assert [status for status, _ in shown] == [503, 200, 503]


def viewed(example: Callable[[str], dict[str, object]], shown: list[tuple[int, str]]) -> str:
    """What a visitor of the application is shown."""
    made = example("made = view(None)")["made"]
    assert isinstance(made, tuple)
    shown.append(made)
    return str(made[1])


def test_a_job_goes_on_when_the_authorization_server_is_back(
    example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer
) -> None:
    told: list[object] = []
    space = example(one("def job"))
    space["print"] = told.append
    syncline.login(notes.url)
    notes.authorities[0].end_access()
    notes.authorities[0].arm("token", 503, 9)
    example("job()")
    assert "the next run may work" in str(told)


@pytest.mark.parametrize("word", ["def ask", "def show"])
def test_without_a_browser_here(
    example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer, word: str
) -> None:
    example(one(word))
    found = syncline.auth_status(notes.url, store="file")
    assert found is not None
    assert found.can_refresh


def test_a_store_of_your_own(example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer) -> None:
    """It is refreshed there, too."""
    space = example(one("class Vault"))
    notes.authorities[0].end_access()
    example("with syncline.connect('https://notes.example/mcp', auth=syncline.OAuth(store=vault)): pass")
    assert notes.authorities[0].grants["refresh_token"] == 1
    found = syncline.auth_status(notes.url, store=space["vault"])  # type: ignore[arg-type]
    assert found is not None
    assert found.store == "the vault"


def test_a_token_of_the_ci(example: Callable[[str], dict[str, object]], notes: ProtectedMcpServer) -> None:
    before = len(notes.sent())
    example(one("bearer_env="))
    assert set(notes.sent()[before:]) == {os.environ["NOTES_TOKEN"]}

"""The examples of docs/credentials.md, at a server that wants tokens, with a browser whose owner agrees."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import syncline
from syncline import client as facade
from syncline.config import HttpServer, StdioServer, as_server
from syncline.identity import status
from tests.fixtures.protected import Browser, ProtectedServer

from .server import example_server
from .test_examples import BLOCK, PAGES

PAGE = "docs/credentials.md"
EXAMPLES = [block[1] for block in BLOCK.finditer(PAGES[PAGE])]
NOTES = "https://notes.example/mcp"


@pytest.fixture
def notes(protected: Callable[..., ProtectedServer], state: None, monkeypatch: pytest.MonkeyPatch) -> ProtectedServer:
    """The server that the examples call notes.example."""
    server = protected()
    monkeypatch.setenv("NOTES_TOKEN", "of-the-ci")
    server.tokens.add("of-the-ci")
    return server


@pytest.fixture
def example(
    notes: ProtectedServer, browser: Browser, fake_keyring: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], dict[str, object]]]:
    """Runs an example."""
    typed: list[str] = []

    def printed(*words: object) -> None:
        """Shown to a person, who goes where they are sent to log in."""
        urls = [word for word in str(words[0]).split() if "/authorize?" in word]
        typed.extend(browser.bring(syncline.Visit(url, notes.url)) for url in urls)

    with example_server() as server, server.http() as url:
        places = {NOTES: notes.url, "https://weather.example/mcp": url}

        def found(target: str | HttpServer) -> StdioServer | HttpServer:
            meant = as_server(target)
            return replace(meant, url=places.get(meant.url, meant.url)) if isinstance(meant, HttpServer) else meant

        for module in (facade, status):
            monkeypatch.setattr(module, "as_server", found)
        monkeypatch.setattr(webbrowser, "open", browser.open)
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


def test_a_person_logs_in_and_out(example: Callable[[str], dict[str, object]], notes: ProtectedServer) -> None:
    made = example(one("auth_status"))["status"]
    assert isinstance(made, syncline.AuthStatus)
    assert made.scopes == ("read",)
    assert notes.calls("tools/list")
    assert notes.tokens == {"of-the-ci"}
    assert syncline.auth_status(notes.url) is None


def test_a_job_says_that_somebody_has_to_log_in(
    example: Callable[[str], dict[str, object]], notes: ProtectedServer
) -> None:
    told: list[object] = []
    space = example(one("def job"))
    space["print"] = told.append
    example("job()")
    assert told == [f"log in at {notes.origin}/authorize (read): syncline auth login {notes.url}"]
    syncline.login(notes.url)
    example("job()")
    assert told[1:] == [list(notes.catalogue.tools)]


@pytest.mark.parametrize("word", ["def ask", "def show"])
def test_without_a_browser_here(example: Callable[[str], dict[str, object]], notes: ProtectedServer, word: str) -> None:
    example(one(word))
    found = syncline.auth_status(notes.url, store="file")
    assert found is not None
    assert found.can_refresh


def test_a_token_of_the_ci(example: Callable[[str], dict[str, object]], notes: ProtectedServer) -> None:
    example(one("bearer_env="))
    assert {request.header("Authorization") for request in notes.requests} == {"Bearer of-the-ci"}

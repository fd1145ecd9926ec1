"""``syncline auth``, and the other commands at servers that people log in at."""

from __future__ import annotations

import io
import json
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fixtures.protected import Browser, ProtectedServer
from tools.fakeserver.mcp_http import McpHttpServer

from .conftest import Run

pytestmark = pytest.mark.usefixtures("state")
FILE = ("--store", "file")


@pytest.fixture
def server(protected: Callable[..., ProtectedServer]) -> ProtectedServer:
    return protected()


@pytest.fixture
def screen(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Browser:
    """A machine with a browser."""
    monkeypatch.setattr(webbrowser, "open", browser.open)
    return browser


@pytest.fixture
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without one."""
    monkeypatch.setattr(webbrowser, "open", lambda url: False)


def visits(ran: Run) -> list[dict[str, str]]:
    """Where a person was sent, as programs are told."""
    told = [json.loads(line) for line in ran.err.splitlines()]
    return [line["visit"] for line in told if "visit" in line]


class TestLogin:
    def test_once_and_then_all_commands_work(
        self, run: Callable[..., Run], server: ProtectedServer, screen: Browser
    ) -> None:
        ran = run("auth", "login", server.url, *FILE)
        assert ran.status == 0
        assert ran.out.decode().startswith(f"logged in: {server.url}, with read; the tokens are in files in ")
        assert [visit["url"].partition("?")[0] for visit in visits(ran)] == [f"{server.origin}/authorize"]
        for command in (("tools", server.url), ("call", server.url, "echo", "text=hi"), ("doctor", server.url)):
            assert run(*command).status == 0
        assert len(server.visits) == 1
        assert len(server.sent("/token")) == 1

    def test_as_json(self, run: Callable[..., Run], server: ProtectedServer, screen: Browser) -> None:
        page = run("auth", "login", server.url, "--json", *FILE).json
        assert (page["state"], page["resource"], page["issuer"]) == ("logged in", server.url, server.origin)
        assert page["scopes"] == ["read"]
        assert page["canRefresh"] is True
        assert page["expiresAt"].endswith("+00:00")

    def test_no_token_is_shown(self, run: Callable[..., Run], server: ProtectedServer, screen: Browser) -> None:
        shown = [run("auth", *words, "--json") for words in (("login", server.url), ("status", server.url), ("list",))]
        assert [ran.status for ran in shown] == [0, 0, 0]
        for secret in (*server.tokens, *(form.get("code", "planted-refresh") for form in server.sent("/token"))):
            assert all(secret not in ran.out.decode() + ran.err for ran in shown)

    def test_scopes_and_client(self, run: Callable[..., Run], server: ProtectedServer, screen: Browser) -> None:
        options = ("--scope", "read", "--scope", "write", "--client-id", "ours", *FILE)
        assert run("auth", "login", server.url, *options).status == 0
        assert (server.visits[0]["scope"], server.visits[0]["client_id"]) == ("read write", "ours")
        server.tokens.clear()
        assert run("tools", server.url).status == 0
        assert server.sent("/token")[-1]["client_id"] == "ours"

    def test_with_a_code(self, run: Callable[..., Run], server: ProtectedServer, no_screen: None) -> None:
        ran = run("auth", "login", server.url, "--device", *FILE)
        assert ran.status == 0
        assert visits(ran) == [{"url": f"{server.origin}/type", "code": "WDJB-MJHT"}]

    def test_pasting_what_the_browser_came_back_to(
        self, run: Callable[..., Run], server: ProtectedServer, browser: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person = Person(browser, monkeypatch)
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert ran.status == 0
        assert len(visits(ran)) == len(person.brought) == 1

    def test_nobody_pastes_anything(
        self, run: Callable[..., Run], server: ProtectedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")

    def test_at_a_terminal_it_is_said_in_words(
        self, run: Callable[..., Run], server: ProtectedServer, browser: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Person(browser, monkeypatch)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert ran.status == 0
        assert f"to log in, go to\n\n  {server.origin}/authorize?" in ran.err
        assert "paste it here" in ran.err

    def test_neither_a_browser_nor_a_person(
        self, run: Callable[..., Run], server: ProtectedServer, no_screen: None
    ) -> None:
        ran = run("auth", "login", server.url, *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert "--device" in ran.error["message"]

    def test_without_a_browser_nobody_waits_where_nobody_is(
        self, run: Callable[..., Run], server: ProtectedServer, screen: Browser
    ) -> None:
        ran = run("auth", "login", server.url, "--no-browser", *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert server.visits == []

    def test_without_a_browser_a_person_is_told_the_url(
        self, run: Callable[..., Run], server: ProtectedServer, browser: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def at_the_terminal() -> bool:
            return True

        monkeypatch.setattr("syncline.cli.show.somebody_is_there", at_the_terminal)
        monkeypatch.setattr("syncline.cli.auth._show", browser)
        monkeypatch.setattr(webbrowser, "open", None)
        assert run("auth", "login", server.url, "--no-browser", *FILE).status == 0

    @pytest.mark.parametrize(
        "options",
        [
            ["--device", "--paste"],
            ["--header", "Authorization: Bearer x"],
            ["--trace", "trace.jsonl"],
            ["--store", "memory"],
        ],
    )
    def test_what_cannot_be_meant(self, run: Callable[..., Run], options: list[str]) -> None:
        ran = run("auth", "login", "http://127.0.0.1:1/mcp", *options)
        assert (ran.status, ran.error["code"]) == (2, "usage")

    def test_a_program_needs_no_login(self, run: Callable[..., Run]) -> None:
        assert run("auth", "login", "demo").status == 2

    def test_by_a_configured_name(
        self, run: Callable[..., Run], server: ProtectedServer, screen: Browser, tmp_path: Path
    ) -> None:
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"notes": {"type": "http", "url": server.url}}}))
        assert run("servers", "status", "--config", str(config)).status == 4
        assert run("auth", "login", "notes", "--config", str(config), *FILE).status == 0
        assert run("tools", "notes", "--config", str(config)).status == 0
        status = run("servers", "status", "--config", str(config), "--json")
        assert (status.status, status.json["servers"][0]["state"]) == (0, "ready")


class Person:
    """Sits at standard input: follows the URL that was shown with their browser, and pastes where that ended.

    Attributes:
        brought: What they pasted.
    """

    def __init__(self, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
        from syncline.cli import auth

        self.brought: list[str] = []
        self._browser = browser
        self._show = auth._show
        monkeypatch.setattr(auth, "_show", self._look)
        monkeypatch.setattr("sys.stdin", self)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.brought[-1] + "\n"

    def _look(self, visit: object) -> None:
        self._show(visit)  # type: ignore[arg-type]
        self.brought.append(self._browser.bring(visit))  # type: ignore[arg-type]


class TestStatus:
    def test_of_a_login(self, run: Callable[..., Run], server: ProtectedServer, screen: Browser) -> None:
        run("auth", "login", server.url, *FILE)
        before = len(server.requests)
        ran = run("auth", "status", server.url)
        assert ran.status == 0
        lines = dict(line.split("\t") for line in ran.out.decode().splitlines())
        assert (lines["state"], lines["issuer"], lines["scopes"]) == ("logged in", server.origin, "read")
        assert (lines["canRefresh"], lines["client"]) == ("yes", "none")
        assert len(server.requests) == before

    def test_nobody(self, run: Callable[..., Run], server: ProtectedServer) -> None:
        ran = run("auth", "status", server.url, "--json")
        assert (ran.status, ran.json["state"]) == (3, "logged out")
        assert ran.error["hint"] == f"syncline auth login {server.url}"
        assert server.requests == []

    @pytest.mark.parametrize("json_option", [[], ["--json"]])
    def test_credentials_of_its_own(self, run: Callable[..., Run], json_option: list[str]) -> None:
        ran = run("auth", "status", "https://notes.example/mcp", "--bearer-env", "NOTES_TOKEN", *json_option)
        assert ran.status == 0
        assert b"configured" in ran.out

    def test_list(self, run: Callable[..., Run], protected: Callable[..., ProtectedServer], screen: Browser) -> None:
        assert run("auth", "list", "--json").json == {"logins": []}
        servers = [protected(), protected()]
        for server in servers:
            run("auth", "login", server.url, *FILE)
        found = run("auth", "list", "--json").json["logins"]
        assert [login["resource"] for login in found] == sorted(server.url for server in servers)
        lines = run("auth", "list").out.decode().splitlines()
        assert [line.split("\t")[:3] for line in lines] == [[login["resource"], "logged in", "read"] for login in found]


class TestLogout:
    def test_at_one_server(self, run: Callable[..., Run], server: ProtectedServer, screen: Browser) -> None:
        run("auth", "login", server.url, *FILE)
        assert run("auth", "logout", server.url, "--json").json == {"loggedOut": [server.url.partition("//")[2]]}
        assert server.tokens == set()
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert run("auth", "logout", server.url) == (0, b"", '{"note": "nobody was logged in"}\n')

    def test_everywhere(
        self, run: Callable[..., Run], protected: Callable[..., ProtectedServer], screen: Browser
    ) -> None:
        servers = [protected(), protected()]
        for server in servers:
            run("auth", "login", server.url, *FILE)
        ran = run("auth", "logout", "--all")
        assert ran.status == 0
        assert all(server.url in ran.out.decode() for server in servers)
        assert run("auth", "list", "--json").json == {"logins": []}

    @pytest.mark.parametrize("words", [[], ["https://notes.example/mcp", "--all"]])
    def test_one_or_all(self, run: Callable[..., Run], words: list[str]) -> None:
        assert run("auth", "logout", *words).status == 2


class TestOtherCommands:
    def test_without_a_login_the_next_step_is_told(self, run: Callable[..., Run], server: ProtectedServer) -> None:
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"], ran.error["status"]) == (3, "auth_required", 401)
        assert ran.error["hint"].startswith("syncline auth login SERVER; ")
        assert {request.path for request in server.requests} == {"/mcp"}

    def test_a_login_that_has_ended(self, run: Callable[..., Run], screen: Browser) -> None:
        with ProtectedServer(refreshes=False) as server:
            run("auth", "login", server.url, *FILE)
            server.tokens.clear()
            ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert f"syncline auth login {server.url}" in ran.error["message"]

    def test_credentials_of_its_own_win(
        self, run: Callable[..., Run], server: ProtectedServer, screen: Browser, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run("auth", "login", server.url, *FILE)
        server.tokens.add("ours")
        monkeypatch.setenv("NOTES_TOKEN", "ours")
        assert run("tools", server.url, "--bearer-env", "NOTES_TOKEN").status == 0
        assert server.requests[-1].header("Authorization") == "Bearer ours"

    def test_tokens_go_to_no_other_server(
        self,
        run: Callable[..., Run],
        server: ProtectedServer,
        screen: Browser,
        http_server: Callable[..., McpHttpServer],
    ) -> None:
        run("auth", "login", server.url, *FILE)
        other = http_server()
        assert run("tools", other.url).status == 0
        assert {request.header("Authorization") for request in other.requests} == {None}

    def test_more_scopes_are_needed(self, run: Callable[..., Run], server: ProtectedServer, screen: Browser) -> None:
        run("auth", "login", server.url, *FILE)
        wants = 'Bearer error="insufficient_scope", scope="write"'
        server.arm(403, 9, headers=[("WWW-Authenticate", wants)])
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (3, "auth_refused")
        assert ran.error["hint"] == "syncline auth login SERVER --scope read --scope write"

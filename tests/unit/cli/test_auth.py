"""``syncline auth``, and the other commands at servers that people log in at."""

from __future__ import annotations

import io
import json
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path

import pytest

from syncline import Visit
from syncline.auth.stores.places import credentials_directory
from syncline.cli import auth
from tests.fixtures.keyrings import FakeKeyring
from tests.fixtures.logins import Anywhere, Someone
from tools.fakeserver.authorization import AuthorizationServer, ProtectedMcpServer
from tools.fakeserver.mcp_http import McpHttpServer

from .conftest import Run
from .test_meaning import REPEATED

pytestmark = pytest.mark.usefixtures("state")
Protected = Callable[..., ProtectedMcpServer]
FILE = ("--store", "file")


@pytest.fixture
def server(protected: Protected) -> ProtectedMcpServer:
    return protected(scopes=["read"])


@pytest.fixture
def issuer(server: ProtectedMcpServer) -> AuthorizationServer:
    """The authorization server of the server."""
    return server.authorities[0]


@pytest.fixture
def screen(someone: Someone, monkeypatch: pytest.MonkeyPatch) -> Someone:
    """A machine with a browser."""

    def open_window(url: str) -> bool:
        someone(Visit(url, ""))
        return True

    monkeypatch.setattr(webbrowser, "open", open_window)
    return someone


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
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        ran = run("auth", "login", server.url, *FILE)
        assert ran.status == 0
        assert ran.out.decode().startswith(f"logged in: {server.url}, with read; the tokens are in files in ")
        assert [visit["url"].partition("?")[0] for visit in visits(ran)] == [f"{issuer.issuer}/authorize"]
        for command in (("tools", server.url), ("call", server.url, "echo", "text=hi"), ("doctor", server.url)):
            assert run(*command).status == 0
        assert issuer.counts["authorize"] == issuer.counts["token"] == 1

    def test_as_json(self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone) -> None:
        page = run("auth", "login", server.url, "--json", *FILE).json
        assert (page["state"], page["resource"], page["issuer"]) == (
            "logged in",
            server.url,
            server.authorities[0].issuer,
        )
        assert page["scopes"] == ["read"]
        assert page["canRefresh"] is True
        assert page["expiresAt"].endswith("+00:00")

    def test_a_token_for_ever(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        """Some authorization servers give the largest number that they have, which no calendar has."""
        issuer.lifetime = 2.0**63
        assert run("auth", "login", server.url, "--json", *FILE).json["expiresAt"] > "2100"
        assert [run("auth", *words, *FILE).status for words in (("status", server.url), ("list",))] == [0, 0]

    def test_no_token_is_shown(self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone) -> None:
        shown = [run("auth", *words, "--json") for words in (("login", server.url), ("status", server.url), ("list",))]
        assert [ran.status for ran in shown] == [0, 0, 0]
        assert all("planted" not in ran.out.decode() + ran.err for ran in shown)

    def test_scopes_and_client(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        issuer.clients["ours"] = {"redirect_uris": Anywhere()}
        options = ("--scope", "read", "--scope", "write", "--client-id", "ours", *FILE)
        assert run("auth", "login", server.url, *options).status == 0
        assert (issuer.visits[0]["scope"], issuer.visits[0]["client_id"]) == ("read write", "ours")
        issuer.end_access()
        assert run("tools", server.url).status == 0
        assert issuer.forms[-1]["client_id"] == "ours"

    def test_at_the_port_that_a_client_is_registered_with(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        issuer.clients["ours"] = {"redirect_uris": [f"http://127.0.0.1:{port}/callback"]}
        options = ("--client-id", "ours", "--redirect-port", str(port), *FILE)
        assert run("auth", "login", server.url, *options).status == 0

    def test_with_a_code(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, no_screen: None
    ) -> None:
        issuer.approved.set()
        ran = run("auth", "login", server.url, "--device", *FILE)
        assert ran.status == 0
        assert visits(ran) == [{"url": f"{issuer.issuer}/device", "code": "WDJB-MJHT"}]

    def test_pasting_what_the_browser_came_back_to(
        self, run: Callable[..., Run], server: ProtectedMcpServer, someone: Someone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person = Person(someone, monkeypatch)
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert ran.status == 0
        assert len(visits(ran)) == len(person.brought) == 1

    def test_nobody_pastes_anything(
        self, run: Callable[..., Run], server: ProtectedMcpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")

    def test_something_else_is_pasted(
        self, run: Callable[..., Run], server: ProtectedMcpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("http://127.0.0.1/callback?code=x&state=y\n"))
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_failed")
        assert "log in again" in ran.error["message"]
        assert run("auth", "status", server.url).status == 3

    def test_at_a_terminal_it_can_be_pasted_again(
        self, run: Callable[..., Run], server: ProtectedMcpServer, someone: Someone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        person = Person(someone, monkeypatch)
        person.before = ["http://127.0.0.1/", f"{server.authorities[0].issuer}/authorize?response_type=code&state=s"]
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert ran.status == 0
        assert ran.err.count("that is not it: it begins with http://127.0.0.1:") == 2
        assert person.before == []

    @pytest.mark.parametrize(
        ("options", "opens", "words"),
        [
            ((), True, "waiting for the browser that was opened"),
            ((), False, "no browser can be opened here; waiting for one on this machine"),
            (("--no-browser",), True, "waiting for one on this machine"),
            (("--device",), True, "waiting until that is typed"),
        ],
    )
    def test_a_person_is_told_what_is_waited_for(
        self,
        run: Callable[..., Run],
        server: ProtectedMcpServer,
        someone: Someone,
        monkeypatch: pytest.MonkeyPatch,
        options: tuple[str, ...],
        opens: bool,
        words: str,
    ) -> None:
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        monkeypatch.setattr("syncline.cli.show.somebody_is_there", lambda: True)
        monkeypatch.setattr(webbrowser, "open", lambda url: opens)
        show = auth._show

        def goes_there(visit: Visit) -> None:
            show(visit)
            if visit.code is None:
                someone(visit)

        monkeypatch.setattr(auth, "_show", goes_there)
        server.authorities[0].approved.set()
        ran = run("auth", "login", server.url, *options, *FILE)
        assert ran.status == 0
        assert words in ran.err
        assert "Ctrl-C ends the wait" in ran.err

    def test_ctrl_c_while_a_person_logs_in(
        self, run: Callable[..., Run], server: ProtectedMcpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def press(url: str) -> bool:
            raise KeyboardInterrupt

        monkeypatch.setattr(webbrowser, "open", press)
        ran = run("auth", "login", server.url, *FILE)
        assert (ran.status, ran.error["code"]) == (130, "interrupted")
        assert run("auth", "list", "--json").json == {"logins": []}

    def test_at_a_terminal_it_is_said_in_words(
        self, run: Callable[..., Run], server: ProtectedMcpServer, someone: Someone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Person(someone, monkeypatch)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        ran = run("auth", "login", server.url, "--paste", *FILE)
        assert ran.status == 0
        assert f"to log in at {server.url}, go to\n\n  {server.authorities[0].issuer}/authorize?" in ran.err
        assert "paste it here" in ran.err

    def test_neither_a_browser_nor_a_person(
        self, run: Callable[..., Run], server: ProtectedMcpServer, no_screen: None
    ) -> None:
        ran = run("auth", "login", server.url, *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert "--device" in ran.error["hint"]

    def test_without_a_browser_nobody_waits_where_nobody_is(
        self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone
    ) -> None:
        ran = run("auth", "login", server.url, "--no-browser", *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert server.authorities[0].visits == []
        assert ran.error["hint"].startswith(f"syncline auth login {server.url} --device, or --paste")

    def test_a_server_that_knows_no_logins(self, run: Callable[..., Run], screen: Someone) -> None:
        with McpHttpServer() as server:
            ran = run("auth", "login", server.url, *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_failed")
        assert "nothing about logging in is found at the server" in ran.error["message"]
        assert "--bearer-env" in ran.error["hint"]
        assert screen.visits == []

    @pytest.mark.parametrize("endpoint", ["metadata", "register"])
    def test_an_authorization_server_that_is_not_well(
        self,
        run: Callable[..., Run],
        server: ProtectedMcpServer,
        issuer: AuthorizationServer,
        screen: Someone,
        endpoint: str,
    ) -> None:
        """Nobody has to do anything but wait, which jobs can tell by the status."""
        issuer.arm(endpoint, 503)
        ran = run("auth", "login", server.url, *FILE)
        assert (ran.status, ran.error["code"]) == (4, "auth_unavailable")
        assert "try again later" in ran.error["message"]
        assert "may work later" in ran.error["hint"]

    def test_an_authorization_server_that_does_not_answer(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer
    ) -> None:
        gate = threading.Event()
        issuer.hold("metadata", gate)
        ran = run("auth", "login", server.url, "--timeout", "0.5", *FILE)
        gate.set()
        assert (ran.status, ran.error["code"]) == (4, "timeout")
        assert f"no answer from {issuer.issuer}/.well-known/oauth-authorization-server in time" in ran.error["message"]
        assert ran.error["hint"] == "--timeout SECONDS allows more time"

    def test_without_a_browser_a_person_is_told_the_url(
        self, run: Callable[..., Run], server: ProtectedMcpServer, someone: Someone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def at_the_terminal() -> bool:
            return True

        monkeypatch.setattr("syncline.cli.show.somebody_is_there", at_the_terminal)
        monkeypatch.setattr(auth, "_show", someone)
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
        self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone, tmp_path: Path
    ) -> None:
        config = tmp_path / "mcp.json"
        config.write_text(json.dumps({"mcpServers": {"notes": {"type": "http", "url": server.url}}}))
        words = f"syncline auth login notes --config {config}"
        (status,) = run("servers", "status", "--config", str(config), "--json").json["servers"]
        assert status["error"]["hint"].startswith(f"{words}; ")
        assert run("tools", "notes", "--config", str(config)).error["hint"].startswith(f"{words}; ")
        assert run("auth", "status", "notes", "--config", str(config)).error["hint"] == words
        assert run("servers", "status", "--config", str(config)).status == 4
        assert run("auth", "login", "notes", "--config", str(config), *FILE).status == 0
        assert run("tools", "notes", "--config", str(config)).status == 0
        status = run("servers", "status", "--config", str(config), "--json")
        assert (status.status, status.json["servers"][0]["state"]) == (0, "ready")


class Person:
    """Sits at standard input: follows the URL that was shown with their browser, and pastes where that ended.

    Attributes:
        brought: What they pasted.
        before: What they paste before that, by mistake.
    """

    def __init__(self, someone: Someone, monkeypatch: pytest.MonkeyPatch) -> None:
        self.brought: list[str] = []
        self.before: list[str] = []
        self._someone = someone
        self._show = auth._show
        monkeypatch.setattr(auth, "_show", self._look)
        monkeypatch.setattr("sys.stdin", self)

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return (self.before.pop() if self.before else self.brought[-1]) + "\n"

    def _look(self, visit: Visit) -> None:
        self._show(visit)
        self.brought.append(self._someone.paste(visit))


class TestStatus:
    def test_of_a_login(self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone) -> None:
        run("auth", "login", server.url, *FILE)
        before = len(server.requests)
        ran = run("auth", "status", server.url)
        assert ran.status == 0
        lines = dict(line.split("\t") for line in ran.out.decode().splitlines())
        assert (lines["state"], lines["issuer"], lines["scopes"]) == ("logged in", server.authorities[0].issuer, "read")
        assert lines["tokens for"] == server.url
        assert lines["token until"].endswith("+00:00, then refreshed")
        assert "client" not in lines
        assert len(server.requests) == before

    def test_of_a_client_that_was_registered_by_hand(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        issuer.clients["ours"] = {"redirect_uris": Anywhere()}
        run("auth", "login", server.url, "--client-id", "ours", *FILE)
        assert b"client\tours\n" in run("auth", "status", server.url).out

    def test_nobody(self, run: Callable[..., Run], server: ProtectedMcpServer) -> None:
        ran = run("auth", "status", server.url, "--json")
        assert (ran.status, ran.json["state"]) == (3, "logged out")
        assert ran.error["code"] == "auth_required"
        assert "status" not in ran.error
        assert ran.error["hint"] == f"syncline auth login {server.url}"
        assert server.requests == []

    @pytest.mark.parametrize("json_option", [[], ["--json"]])
    def test_credentials_of_its_own(self, run: Callable[..., Run], json_option: list[str]) -> None:
        ran = run("auth", "status", "https://notes.example/mcp", "--bearer-env", "NOTES_TOKEN", *json_option)
        assert ran.status == 0
        assert b"configured" in ran.out

    def test_list(self, run: Callable[..., Run], protected: Protected, screen: Someone) -> None:
        assert run("auth", "list", "--json").json == {"logins": []}
        servers = [protected(scopes=["read"]) for _ in range(2)]
        for server in servers:
            run("auth", "login", server.url, *FILE)
        found = run("auth", "list", "--json").json["logins"]
        assert [login["resource"] for login in found] == sorted(server.url for server in servers)
        lines = run("auth", "list").out.decode().splitlines()
        assert [line.split("\t")[:3] for line in lines] == [[login["resource"], "logged in", "read"] for login in found]

    def test_what_is_damaged(self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone) -> None:
        run("auth", "login", server.url, *FILE)
        (file,) = credentials_directory().glob("*.json")
        file.write_text('{"access_token": "planted')
        (found,) = run("auth", "list", "--json", *FILE).json["logins"]
        assert (found["state"], found["store"]) == ("damaged", str(file))
        assert "they are not JSON" in found["damage"]
        ran = run("auth", "list", *FILE)
        assert ran.out.decode().split("\t")[:2] == ["?", "damaged"]
        assert b"planted" not in ran.out
        ran = run("auth", "logout", "--all", "--json", *FILE)
        assert (ran.status, ran.json) == (0, {"loggedOut": [file.stem]})
        assert not file.exists()


class TestClientWithASecret:
    @pytest.fixture(autouse=True)
    def client(self, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch) -> None:
        issuer.clients["ours"] = {"client_secret": "planted-secret", "redirect_uris": Anywhere()}
        monkeypatch.setenv("OUR_SECRET", "planted-secret")

    def test_from_login_to_logout(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        options = ("--client-id", "ours", "--client-secret-env", "OUR_SECRET")
        ran = [run("auth", "login", server.url, *options, *FILE)]
        issuer.end_access()
        ran.append(run("tools", server.url))
        ran += [run("auth", *words, *FILE) for words in (["status", server.url], ["list", "--json"])]
        ran.append(run("auth", "logout", server.url, *FILE))
        assert [each.status for each in ran] == [0] * 5
        assert issuer.grants == {"authorization_code": 1, "refresh_token": 1}
        assert issuer.counts["revoke"] == 2
        assert issuer.accepted(server.sent()[-1] or "") is None
        assert not [each for each in ran if "planted" in each.out.decode() + each.err]

    def test_an_authorization_server_that_repeats_it(
        self,
        run: Callable[..., Run],
        server: ProtectedMcpServer,
        issuer: AuthorizationServer,
        screen: Someone,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        wrong = {"error": "access_denied", "error_description": f"{REPEATED} is wrong"}
        issuer.person = lambda asked: {**wrong, "state": asked["state"]}
        monkeypatch.setenv("OUR_SECRET", REPEATED)
        ran = run("auth", "login", server.url, "--client-id", "ours", "--client-secret-env", "OUR_SECRET", *FILE)
        assert (ran.status, ran.error["code"]) == (3, "auth_failed")
        assert "[redacted] is wrong" in ran.error["message"]
        assert REPEATED not in ran.out.decode() + ran.err

    @pytest.mark.parametrize(
        "options",
        [
            ("--client-id", "ours", "--client-secret-env", "planted-typed-by-mistake"),
            ("--client-id", "ours", "--client-secret-env", "BLANK"),
            ("--client-secret-env", "OUR_SECRET"),
        ],
    )
    def test_what_cannot_be_meant(
        self,
        run: Callable[..., Run],
        server: ProtectedMcpServer,
        monkeypatch: pytest.MonkeyPatch,
        options: tuple[str, ...],
    ) -> None:
        monkeypatch.setenv("BLANK", " ")
        ran = run("auth", "login", server.url, *options, *FILE)
        assert (ran.status, ran.error["code"]) == (2, "usage")
        assert "planted" not in ran.err
        assert server.requests == []


class TestLogout:
    def test_at_one_server(self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone) -> None:
        run("auth", "login", server.url, *FILE)
        assert run("auth", "logout", server.url, "--json").json == {"loggedOut": [server.url.partition("//")[2]]}
        assert server.authorities[0].counts["revoke"] == 2
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert run("auth", "logout", server.url) == (0, b"", '{"note": "nobody was logged in"}\n')

    def test_everywhere(self, run: Callable[..., Run], protected: Protected, screen: Someone) -> None:
        servers = [protected(scopes=["read"]) for _ in range(2)]
        for server in servers:
            run("auth", "login", server.url, *FILE)
        ran = run("auth", "logout", "--all")
        assert ran.status == 0
        assert all(server.url in ran.out.decode() for server in servers)
        assert run("auth", "list", "--json").json == {"logins": []}

    @pytest.mark.parametrize("words", [[], ["https://notes.example/mcp", "--all"]])
    def test_one_or_all(self, run: Callable[..., Run], words: list[str]) -> None:
        assert run("auth", "logout", *words).status == 2


class TestMove:
    def test_logins_go_on_from_another_store(
        self,
        run: Callable[..., Run],
        server: ProtectedMcpServer,
        issuer: AuthorizationServer,
        screen: Someone,
        fake_keyring: FakeKeyring,
    ) -> None:
        run("auth", "login", server.url, *FILE)
        moved = run("auth", "move", "--from", "file", "--to", "keyring", "--json").json
        assert moved["moved"] == [server.url]
        assert moved["store"].startswith("the keyring")
        assert len(fake_keyring.entries) > 0
        assert run("auth", "list", "--json", *FILE).json == {"logins": []}
        assert run("tools", server.url).status == 0
        assert run("auth", "move", "--from", "keyring", "--to", "file").out.decode().startswith("moved to files in ")
        assert fake_keyring.entries == {}
        assert (issuer.counts["authorize"], issuer.counts["token"]) == (1, 1)

    def test_none(self, run: Callable[..., Run], fake_keyring: FakeKeyring) -> None:
        assert "nobody is logged in" in run("auth", "move", "--from", "file", "--to", "keyring").err

    def test_to_itself(self, run: Callable[..., Run]) -> None:
        ran = run("auth", "move", "--from", "file", "--to", "file")
        assert (ran.status, "the same" in ran.err) == (2, True)


class TestOtherCommands:
    def test_without_a_login_the_next_step_is_told(self, run: Callable[..., Run], server: ProtectedMcpServer) -> None:
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"], ran.error["status"]) == (3, "auth_required", 401)
        assert ran.error["hint"].startswith(f"syncline auth login {server.url}; ")
        assert {request.path for request in server.requests} == {"/mcp"}

    def test_a_login_that_has_ended(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        run("auth", "login", server.url, *FILE)
        issuer.end_logins()
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert f"syncline auth login {server.url}" in ran.error["message"]
        assert len(issuer.visits) == 1

    def test_a_refresh_that_fails_for_now(
        self, run: Callable[..., Run], server: ProtectedMcpServer, issuer: AuthorizationServer, screen: Someone
    ) -> None:
        run("auth", "login", server.url, *FILE)
        issuer.end_access()
        issuer.arm("token", 503, 9)
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (4, "auth_unavailable")
        assert run("auth", "status", server.url).status == 0

    def test_a_token_that_is_not_taken(
        self, run: Callable[..., Run], server: ProtectedMcpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NOTES_TOKEN", "planted-not-this-one")
        ran = run("tools", server.url, "--bearer-env", "NOTES_TOKEN")
        assert (ran.status, ran.error["code"]) == (3, "auth_required")
        assert "does not take the credentials that it was given" in ran.error["message"]
        assert "planted-not-this-one" not in ran.err

    def test_credentials_of_its_own_win(
        self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run("auth", "login", server.url, *FILE)
        before = len(server.sent())
        monkeypatch.setenv("NOTES_TOKEN", "planted-of-the-ci")
        assert run("tools", server.url, "--bearer-env", "NOTES_TOKEN").status == 3
        assert set(server.sent()[before:]) == {"planted-of-the-ci"}

    def test_tokens_go_to_no_other_server(
        self,
        run: Callable[..., Run],
        server: ProtectedMcpServer,
        screen: Someone,
        http_server: Callable[..., McpHttpServer],
    ) -> None:
        """T-4."""
        run("auth", "login", server.url, *FILE)
        other = http_server()
        assert run("tools", other.url).status == 0
        assert {request.header("Authorization") for request in other.requests} == {None}

    def test_more_scopes_are_needed(self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone) -> None:
        run("auth", "login", server.url, *FILE)
        wants = 'Bearer error="insufficient_scope", scope="write"'
        server.arm(403, 9, headers=[("WWW-Authenticate", wants)])
        ran = run("tools", server.url)
        assert (ran.status, ran.error["code"]) == (3, "auth_refused")
        assert ran.error["hint"] == f"syncline auth login {server.url} --scope read --scope write"

    def test_scopes_are_quoted_where_people_copy_them(
        self, run: Callable[..., Run], server: ProtectedMcpServer, screen: Someone
    ) -> None:
        """They are the server's, and what is copied goes to a shell."""
        run("auth", "login", server.url, *FILE)
        wants = 'Bearer error="insufficient_scope", scope="$(reboot) a;b"'
        server.arm(403, 9, headers=[("WWW-Authenticate", wants)])
        hint = run("tools", server.url).error["hint"]
        assert hint == f"syncline auth login {server.url} --scope read --scope '$(reboot)' --scope 'a;b'"

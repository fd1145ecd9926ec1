"""Logging in once, for all who use the store; who is logged in; and logging out."""

from __future__ import annotations

import logging
import socket
import sys
import time
import webbrowser
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

import syncline
from syncline.auth.stores.choice import open_store
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.memory import MemoryStore
from syncline.auth.tokens import CredentialKey, Credentials
from syncline.identity.login import logout_everywhere
from syncline.identity.status import auth_statuses
from syncline.identity.stored import StoredLogins
from tests.fixtures.guarded import guarded
from tests.fixtures.keyrings import FakeKeyring
from tests.fixtures.logins import Anywhere, Someone
from tools.fakeserver.authorization import AuthorizationServer, ProtectedMcpServer
from tools.fakeserver.mcp_http import McpHttpServer

NOTES = "https://notes.example/mcp"
pytestmark = pytest.mark.usefixtures("state")
Protected = Callable[..., ProtectedMcpServer]
#: A program that wants credentials, and says so as a server behind a URL would.
REFUSES = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        told = {"WWW-Authenticate": 'Bearer resource_metadata="http://127.0.0.1:9/metadata"'}
        error = {"code": 401, "message": f"401 Unauthorized: {os.environ['NOTES_TOKEN']} is no token", "data": told}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"""


def issuer_of(server: ProtectedMcpServer) -> AuthorizationServer:
    (issuer,) = server.authorities
    return issuer


def known(server: ProtectedMcpServer, *clients: str) -> None:
    """Clients that were registered by hand."""
    issuer_of(server).clients.update({client: {"redirect_uris": Anywhere()} for client in clients})


class TestLogin:
    def test_what_is_stored_serves_all_from_then_on(self, protected: Protected, someone: Someone) -> None:
        server = protected(scopes=["read"])
        status = syncline.login(server.url, visit=someone, store="file")
        assert (status.issuer, status.resource, status.scopes) == (issuer_of(server).issuer, server.url, ("read",))
        assert status.expires_at == pytest.approx(time.time() + 3600, abs=60)
        assert status.can_refresh
        assert not status.login_needed
        assert status.store.startswith("files in ")
        assert status == syncline.auth_status(server.url, store="file")
        with syncline.connect(server.url, auth=syncline.OAuth(store="file")) as client:
            assert client.list_tools()
        someone.join()
        assert ["You are logged in" in page for page in someone.pages] == [True]
        assert len(issuer_of(server).visits) == 1

    def test_the_status_has_no_tokens(self, protected: Protected, someone: Someone) -> None:
        status = syncline.login(protected().url, visit=someone, store="file")
        assert "planted" not in repr([getattr(status, field.name) for field in fields(status)])

    def test_a_challenge_is_used(self, protected: Protected, someone: Someone) -> None:
        server = protected(scopes=["read"])
        server.arm(401, headers=[("WWW-Authenticate", 'Bearer scope="write"')])
        assert syncline.login(server.url, visit=someone, store="file").scopes == ("write",)

    @pytest.mark.parametrize("status", [200, 400, 401])
    def test_a_server_that_does_not_say_what_it_wants(
        self, protected: Protected, someone: Someone, status: int
    ) -> None:
        server = protected(scopes=["read"])
        server.arm(status)
        assert syncline.login(server.url, visit=someone, store="file").scopes == ("read",)

    def test_again_although_somebody_is_logged_in(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        first = syncline.login(server.url, visit=someone, store="file")
        second = syncline.login(server.url, visit=someone, store="file", scopes=["read", "write"])
        assert first.principal != second.principal
        assert second.scopes == ("read", "write")
        assert len(auth_statuses(store="file")) == 1

    def test_what_the_browser_came_back_to_can_be_brought_along(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        assert syncline.login(server.url, visit=someone.paste, store="file").can_refresh
        assert someone.visits[0].redirect_uri == issuer_of(server).visits[0]["redirect_uri"]

    def test_with_a_code_for_a_device(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        issuer_of(server).approved.set()
        seen: list[syncline.Visit] = []
        status = syncline.login(server.url, visit=seen.append, device=True, store="file")
        assert status.can_refresh
        assert [(visit.url, visit.code) for visit in seen] == [(f"{status.issuer}/device", "WDJB-MJHT")]

    def test_nobody_may_be_asked(self, protected: Protected) -> None:
        server = protected(scopes=["read"])
        with pytest.raises(syncline.AuthRequired, match="syncline auth login") as caught:
            syncline.login(server.url, visit=None, store="file")
        assert caught.value.login_url == f"{issuer_of(server).issuer}/authorize"
        assert caught.value.scopes == ["read"]
        assert caught.value.method == "login"
        assert syncline.auth_status(server.url, store="file") is None

    @pytest.mark.parametrize("device", [False, True])
    def test_nobody_is_asked_for_what_cannot_be_kept(
        self, protected: Protected, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: bool
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("SYNCLINE_STATE_DIR", str(tmp_path / "file" / "state"))
        server, asked = protected(), list[syncline.Visit]()
        for store in (open_store("file"), open_store("auto")):
            with pytest.raises(syncline.CredentialStoreError, match="set SYNCLINE_STATE_DIR to a folder"):
                syncline.login(server.url, visit=asked.append, device=device, store=store)
        assert asked == []
        assert issuer_of(server).counts["register"] == 0

    def test_a_server_that_does_not_take_its_own_token(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        server.arm(401, 2)
        with pytest.raises(syncline.AuthDenied, match="does not take the token"):
            syncline.login(server.url, visit=someone, store="file")

    @pytest.mark.parametrize("nonce", [None, "nonce-1"])
    def test_tokens_that_are_bound_to_a_key(self, nonce: str | None) -> None:
        document = {"dpop_signing_alg_values_supported": ["ES256"]}
        with guarded(metadata=document, token_type="DPoP", nonce=nonce, token_nonce=nonce) as guard:
            syncline.login(guard.url, visit=guard.agree, store="file", client_id="ours", dpop=True)
            logins = len(guard.asked)
            with syncline.connect(guard.url, auth=StoredLogins("file"), protocol_version="2025-11-25") as client:
                client.ping()
            assert len(guard.asked) == logins
        assert {proof.partition(" ")[0] for proof, _ in guard.proofs} == {"DPoP"}

    def test_a_program_is_not_logged_in_at(self) -> None:
        """T-1."""
        for command in ("uvx weather-server", "notes.example/mcp"):
            with pytest.raises(syncline.ConfigError, match=r"from its environment .* a URL begins with https://"):
                syncline.login(command)

    def test_nothing_that_a_program_says_is_a_challenge(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """T-1: no browser, no discovery; it has its credentials from its environment."""
        used: list[str] = []
        monkeypatch.setattr(webbrowser, "open", lambda *_: used.append("browser"))
        for name in ("getaddrinfo", "create_connection", "socket"):
            monkeypatch.setattr(socket, name, lambda *_, name=name, **__: used.append(name))
        server = syncline.StdioServer(sys.executable, ["-c", REFUSES], env={"NOTES_TOKEN": "wrong"})
        with pytest.raises(syncline.ServerError, match="401 Unauthorized: wrong is no token") as caught:
            syncline.connect(server)
        assert not isinstance(caught.value, syncline.AuthError)
        assert used == []


class TestStatus:
    def test_nobody(self) -> None:
        assert syncline.auth_status("https://notes.example/mcp", store="file") is None
        assert auth_statuses(store="file") == []

    @pytest.mark.parametrize(
        ("expires_at", "can_refresh", "needed"),
        [(1.0, False, True), (1.0, True, False), (None, False, False), (9e9, False, False)],
    )
    def test_a_login_ends_with_the_token_unless_it_can_be_refreshed(
        self, expires_at: float | None, can_refresh: bool, needed: bool
    ) -> None:
        status = syncline.AuthStatus(
            "https://id.example", "https://notes.example/mcp", (), expires_at, can_refresh, "memory", "p"
        )
        assert status.login_needed == needed

    def test_the_newest_of_several_clients(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        known(server, "first", "second")
        syncline.login(server.url, visit=someone, store="file", client_id="first")
        syncline.login(server.url, visit=someone, store="file", client_id="second")
        found = syncline.auth_status(server.url, store="file")
        assert found is not None
        assert found.client == "second"
        assert [each.client for each in auth_statuses(store="file")] == ["first", "second"]

    def test_what_programs_got_is_nobodys_login(self) -> None:
        store = MemoryStore()
        with guarded() as guard:
            auth = syncline.ClientCredentials("app", "planted", store=store)
            with syncline.connect(guard.url, auth=auth, protocol_version="2025-11-25"):
                assert store.keys()
            assert syncline.auth_status(guard.url, store=store) is None
            assert auth_statuses(store=store) == []
            with pytest.raises(syncline.AuthRequired, match="wants credentials"):
                syncline.connect(guard.url, auth=StoredLogins(store), protocol_version="2025-11-25")
            assert syncline.logout(guard.url, store=store)
        assert not store.keys()

    def test_which_of_two_stores_it_is(self, protected: Protected, someone: Someone, fake_keyring: FakeKeyring) -> None:
        server = protected()
        in_keyring = f"the keyring ({FakeKeyring.__module__}.FakeKeyring)"
        assert syncline.login(server.url, visit=someone).store == in_keyring
        found = syncline.auth_status(server.url)
        assert found is not None
        assert found.store == in_keyring


class TestLogout:
    def test_forgotten_and_revoked(self, protected: Protected, someone: Someone) -> None:
        """G-5."""
        server = protected()
        syncline.login(server.url, visit=someone, store="file")
        assert syncline.logout(server.url, store="file")
        assert syncline.auth_status(server.url, store="file") is None
        assert issuer_of(server).counts["revoke"] == 2
        assert issuer_of(server).accepted(server.sent()[-1] or "") is None
        assert not syncline.logout(server.url, store="file")

    def test_a_client_with_a_secret_that_others_are_not_told(
        self, protected: Protected, someone: Someone, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It is stored, so that they can refresh and revoke; and proves itself for both."""
        server = protected()
        issuer = issuer_of(server)
        issuer.clients["ours"] = {"client_secret": "planted-secret", "redirect_uris": Anywhere()}
        with caplog.at_level(logging.DEBUG):
            status = syncline.login(
                server.url, visit=someone, store="file", client_id="ours", client_secret="planted-secret"
            )
            for auth in (StoredLogins("file"), syncline.OAuth(client_id="ours", store="file")):
                issuer.end_access()
                with syncline.connect(server.url, auth=auth) as client:
                    client.list_tools()
            assert issuer.grants["refresh_token"] == 2
            assert syncline.logout(server.url, store="file")
        assert issuer.counts["revoke"] == 2
        assert "not revoked" not in caplog.text
        assert issuer.accepted(server.sent()[-1] or "") is None
        assert "planted" not in caplog.text + repr(status)

    def test_whatever_the_client(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        known(server, "ours")
        syncline.login(server.url, visit=someone, store="file", client_id="ours")
        assert syncline.logout(server.url, store="file")
        assert syncline.auth_status(server.url, store="file") is None

    def test_where_nothing_can_be_given_back(
        self, protected: Protected, someone: Someone, caplog: pytest.LogCaptureFixture
    ) -> None:
        server = protected()
        del issuer_of(server).document["revocation_endpoint"]
        syncline.login(server.url, visit=someone, store="file")
        with caplog.at_level(logging.WARNING, "syncline.auth"):
            assert syncline.logout(server.url, store="file")
        assert "does not offer that" in caplog.text
        assert syncline.auth_status(server.url, store="file") is None

    def test_an_authorization_server_that_is_gone(
        self, protected: Protected, someone: Someone, caplog: pytest.LogCaptureFixture
    ) -> None:
        server = protected()
        syncline.login(server.url, visit=someone, store="file")
        someone.join()
        issuer_of(server).close()
        with caplog.at_level(logging.WARNING, "syncline.auth"):
            assert syncline.logout(server.url, store="file")
        assert "not revoked at http://127.0.0.1:" in caplog.text
        assert "planted" not in caplog.text
        assert syncline.auth_status(server.url, store="file") is None

    def test_what_is_damaged_is_deleted_too(
        self, protected: Protected, someone: Someone, caplog: pytest.LogCaptureFixture
    ) -> None:
        server = protected()
        syncline.login(server.url, visit=someone, store="memory")
        store = Damaged()
        with caplog.at_level(logging.WARNING, "syncline.auth"):
            assert syncline.logout(server.url, store=store)
        assert "cannot be revoked" in caplog.text
        assert not store.keys()

    def test_everywhere(self, protected: Protected, someone: Someone) -> None:
        servers = [protected(), protected()]
        for server in servers:
            syncline.login(server.url, visit=someone, store="file")
        assert sorted(logout_everywhere(store="file")) == sorted(server.url for server in servers)
        assert auth_statuses(store="file") == []
        assert [issuer_of(server).counts["revoke"] for server in servers] == [2, 2]

    @pytest.mark.parametrize(
        ("data", "resource"),
        [
            (b"", ""),
            (b'{"access_token": "planted', ""),
            (b'["planted"]', ""),
            (b'{"version": 1, "issuer": [1], "resource": "planted"}', ""),
            (b'{"version": 1, "issuer": "https://id.example", "resource": "https://notes.example/mcp"}', NOTES),
            (b'{"version": 99, "issuer": "https://id.example", "resource": "https://notes.example/mcp"}', NOTES),
        ],
        ids=["empty", "cut", "list", "nonsense", "incomplete", "later"],
    )
    def test_what_cannot_be_read_is_told_of_and_deleted(
        self, protected: Protected, someone: Someone, tmp_path: Path, data: bytes, resource: str
    ) -> None:
        """By ``logout --all``, and by a logout at the server where it still says that it is for it. Others are as they were."""
        server, store = protected(), FileStore(tmp_path)
        syncline.login(server.url, visit=someone, store=store)
        name = "0" * 32
        (tmp_path / f"{name}.json").write_bytes(data)
        (tmp_path / f"{name}.json").chmod(0o600)
        damaged, good = sorted(auth_statuses(store=store), key=lambda each: each.damage is None)
        assert (damaged.resource, damaged.store) == (resource, str(tmp_path / f"{name}.json"))
        assert damaged.login_needed
        assert "Log in again" in (damaged.damage or "") or "update it" in (damaged.damage or "")
        assert "planted" not in repr(damaged)
        assert (good.resource, good.damage) == (server.url, None)
        assert syncline.auth_status(server.url, store=store) == good
        assert syncline.logout(NOTES, store=store) == bool(resource)
        gone = {server.url} if resource else {server.url, name}
        assert set(logout_everywhere(store=store)) == gone
        assert [path.suffix for path in tmp_path.iterdir() if path.suffix not in (".lock", ".refresh")] == []
        assert auth_statuses(store=store) == []

    def test_what_is_damaged_in_a_keyring(
        self, protected: Protected, someone: Someone, fake_keyring: FakeKeyring
    ) -> None:
        server = protected()
        syncline.login(server.url, visit=someone, store="keyring")
        (entry,) = fake_keyring.entries
        fake_keyring.entries[entry] = "{"
        (found,) = auth_statuses(store="keyring")
        assert (found.resource, found.login_needed) == (server.url, True)
        assert "they are not JSON" in (found.damage or "")
        assert logout_everywhere(store="keyring") == [server.url]
        assert not fake_keyring.entries

    def test_everywhere_though_one_cannot_be_forgotten(self, caplog: pytest.LogCaptureFixture) -> None:
        store = Stuck()
        for place in ("https://a.example/mcp", "https://b.example/mcp?key=hidden", "https://c.example/mcp"):
            store.save(Credentials("https://id.example", place, "c", ""))
        with (
            caplog.at_level(logging.WARNING, "syncline.auth"),
            pytest.raises(syncline.CredentialStoreError, match="does not want to"),
        ):
            logout_everywhere(store=store)
        (left,) = store.keys()
        assert left.resource == "https://b.example/mcp?key=hidden"
        assert "the tokens for https://b.example/mcp are still there" in caplog.text
        assert "hidden" not in caplog.text

    def test_everywhere_whatever_the_place(
        self, protected: Protected, someone: Someone, caplog: pytest.LogCaptureFixture
    ) -> None:
        """What is for no server that there can be is forgotten, too, and is in nobody's way."""
        server, store = protected(), open_store("file")
        store.save(Credentials("https://id.example", "no URL", "c", "planted"))
        syncline.login(server.url, visit=someone, store=store)
        with caplog.at_level(logging.WARNING, "syncline.auth"):
            assert sorted(logout_everywhere(store=store)) == [server.url, "no URL"]
        assert not store.keys()
        assert "the tokens for no URL are forgotten here, and not revoked at https://id.example" in caplog.text


class Stuck(MemoryStore):
    """What is in memory, and one of it stays there."""

    def delete(self, key: CredentialKey, *, only: Credentials | None = None) -> bool:
        if key.resource.startswith("https://b.example/"):
            raise syncline.CredentialStoreError("it does not want to", store="memory")
        return super().delete(key, only=only)


class Damaged(MemoryStore):
    """What is in memory, and cannot be read."""

    def __init__(self) -> None:
        super().__init__()
        for key in list(MemoryStore.shared.keys()):
            found = MemoryStore.shared.load(key)
            assert found is not None
            self.save(found)
            MemoryStore.shared.delete(key)

    def load(self, key: object) -> None:
        raise syncline.CredentialStoreError("the credentials are damaged", store="memory")


class TestStoredLogins:
    @pytest.mark.parametrize("client_id", [None, "ours"])
    def test_a_login_serves_whoever_the_client_was(
        self, protected: Protected, someone: Someone, client_id: str | None
    ) -> None:
        server = protected()
        known(server, "ours")
        syncline.login(server.url, visit=someone, store="file", client_id=client_id)
        issuer_of(server).end_access()  # so that it has to be refreshed, as that client
        with syncline.connect(server.url, auth=StoredLogins("file")) as client:
            assert client.list_tools()
        refreshes = [form for form in issuer_of(server).forms if form["grant_type"] == "refresh_token"]
        assert len(refreshes) == 1
        assert client_id in (None, refreshes[0]["client_id"])

    def test_a_server_that_nobody_is_logged_in_at(self, protected: Protected) -> None:
        server = protected()
        with pytest.raises(syncline.AuthRequired, match="wants credentials"):
            syncline.connect(server.url, auth=StoredLogins("file"))
        assert {request.path for request in server.requests} == {"/mcp"}

    def test_a_login_elsewhere_costs_no_look_into_the_keyring(
        self,
        protected: Protected,
        someone: Someone,
        fake_keyring: FakeKeyring,
        http_server: Callable[..., McpHttpServer],
    ) -> None:
        syncline.login(protected().url, visit=someone)
        before = fake_keyring.calls.total()
        other = http_server()
        with syncline.connect(other.url, auth=StoredLogins()) as client:
            assert client.list_tools()
        assert fake_keyring.calls.total() == before
        assert {request.header("Authorization") for request in other.requests} == {None}

    def test_the_newest_of_several_clients(self, protected: Protected, someone: Someone) -> None:
        server = protected()
        known(server, "first", "second")
        for client_id in ("first", "second"):
            syncline.login(server.url, visit=someone, store="file", client_id=client_id)
        issuer_of(server).end_access()
        with syncline.connect(server.url, auth=StoredLogins(open_store("file"))):
            assert issuer_of(server).forms[-1]["client_id"] == "second"

    def test_a_login_that_has_ended_is_in_nobodys_way(self, protected: Protected, someone: Someone) -> None:
        """It is the newest; an older one of another client still serves."""
        server = protected()
        known(server, "first", "second")
        store = open_store("file")
        for client_id in ("first", "second"):
            syncline.login(server.url, visit=someone, store=store, client_id=client_id)
        (newest,) = (key for key in list(store.keys()) if key.client == "second")
        kept = store.load(newest)
        assert kept is not None
        store.save(kept.ended(time.time()))
        status = syncline.auth_status(server.url, store=store)
        assert status is not None
        assert status.client == "first"
        with syncline.connect(server.url, auth=StoredLogins("file")) as client:
            assert client.list_tools()

    def test_a_store_that_cannot_be_read_is_told_of(
        self,
        http_server: Callable[..., McpHttpServer],
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def fail(store: FileStore) -> list[object]:
            raise syncline.CredentialStoreError("it is open to other users", store="files")

        monkeypatch.setattr(FileStore, "keys", fail)
        with (
            caplog.at_level(logging.WARNING, "syncline.auth"),
            syncline.connect(http_server().url, auth=StoredLogins("file")),
        ):
            assert "it is open to other users" in caplog.text

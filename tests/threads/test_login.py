"""Logging in once, for all who use the store; who is logged in; and logging out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import fields

import pytest

import syncline
from syncline.auth.stores.choice import open_store
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.memory import MemoryStore
from syncline.identity.login import logout_everywhere
from syncline.identity.status import auth_statuses
from syncline.identity.stored import StoredLogins
from tests.fixtures.keyrings import FakeKeyring
from tests.fixtures.protected import Browser, ProtectedServer

pytestmark = pytest.mark.usefixtures("state")


class TestLogin:
    def test_what_is_stored_serves_all_from_then_on(
        self, protected: Callable[..., ProtectedServer], browser: Browser
    ) -> None:
        server = protected()
        status = syncline.login(server.url, visit=browser, store="file")
        assert (status.issuer, status.resource, status.scopes) == (server.origin, server.url, ("read",))
        assert status.expires_at == pytest.approx(time.time() + 3600, abs=60)
        assert status.can_refresh
        assert not status.login_needed
        assert status.store.startswith("files in ")
        assert status == syncline.auth_status(server.url, store="file")
        with syncline.connect(server.url, auth=syncline.OAuth(store="file")) as client:
            assert client.list_tools()
        browser.close()
        assert ["You are logged in" in page for page in browser.pages] == [True]
        assert len(server.visits) == 1

    def test_the_status_has_no_tokens(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        status = syncline.login(protected().url, visit=browser, store="file")
        assert "planted" not in repr([getattr(status, field.name) for field in fields(status)])

    def test_a_challenge_is_used(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected()
        syncline.login(server.url, visit=browser, store="file")
        assert server.visits[0]["scope"] == "read"

    @pytest.mark.parametrize("options", [{"asks": False}, {"public": True}])
    def test_a_server_that_does_not_say_what_it_wants(
        self, protected: Callable[..., ProtectedServer], browser: Browser, options: dict[str, bool]
    ) -> None:
        server = protected(**options)
        assert syncline.login(server.url, visit=browser, store="file").issuer == server.origin
        assert "scope" not in server.visits[0]

    def test_again_although_somebody_is_logged_in(
        self, protected: Callable[..., ProtectedServer], browser: Browser
    ) -> None:
        server = protected()
        first = syncline.login(server.url, visit=browser, store="file")
        second = syncline.login(server.url, visit=browser, store="file", scopes=["read", "write"])
        assert first.principal != second.principal
        assert second.scopes == ("read", "write")
        assert len(auth_statuses(store="file")) == 1

    def test_what_the_browser_came_back_to_can_be_brought_along(
        self, protected: Callable[..., ProtectedServer], browser: Browser
    ) -> None:
        server = protected()
        assert syncline.login(server.url, visit=browser.bring, store="file").can_refresh
        assert browser.visits[0].redirect_uri == server.visits[0]["redirect_uri"]

    def test_with_a_code_for_a_device(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected()
        seen: list[syncline.Visit] = []
        status = syncline.login(server.url, visit=seen.append, device=True, store="file")
        assert status.can_refresh
        assert [(visit.url, visit.code) for visit in seen] == [(f"{server.origin}/type", "WDJB-MJHT")]

    def test_nobody_may_be_asked(self, protected: Callable[..., ProtectedServer]) -> None:
        server = protected()
        with pytest.raises(syncline.AuthRequired, match="syncline auth login") as caught:
            syncline.login(server.url, visit=None, store="file")
        assert caught.value.login_url == f"{server.origin}/authorize"
        assert caught.value.scopes == ["read"]
        assert caught.value.method == "login"
        assert syncline.auth_status(server.url, store="file") is None

    def test_a_server_that_does_not_take_its_own_token(
        self, protected: Callable[..., ProtectedServer], browser: Browser
    ) -> None:
        server = protected()
        server.tokens = Refusing()
        with pytest.raises(syncline.AuthDenied, match="does not take the token"):
            syncline.login(server.url, visit=browser, store="file")

    def test_a_program_is_not_logged_in_at(self) -> None:
        with pytest.raises(syncline.ConfigError, match="from its environment"):
            syncline.login("uvx weather-server")


class Refusing(set[str]):
    """Tokens of a server that takes none."""

    def __contains__(self, token: object) -> bool:
        return False


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

    def test_the_newest_of_several_clients(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected()
        syncline.login(server.url, visit=browser, store="file", client_id="first")
        syncline.login(server.url, visit=browser, store="file", client_id="second")
        found = syncline.auth_status(server.url, store="file")
        assert found is not None
        assert found.client == "second"
        assert [each.client for each in auth_statuses(store="file")] == ["first", "second"]

    def test_which_of_two_stores_it_is(
        self, protected: Callable[..., ProtectedServer], browser: Browser, fake_keyring: FakeKeyring
    ) -> None:
        server = protected()
        in_keyring = f"the keyring ({FakeKeyring.__module__}.FakeKeyring)"
        assert syncline.login(server.url, visit=browser).store == in_keyring
        found = syncline.auth_status(server.url)
        assert found is not None
        assert found.store == in_keyring


class TestLogout:
    def test_forgotten_and_revoked(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected()
        syncline.login(server.url, visit=browser, store="file")
        assert syncline.logout(server.url, store="file")
        assert syncline.auth_status(server.url, store="file") is None
        assert [form["token_type_hint"] for form in server.sent("/revoke")] == ["refresh_token", "access_token"]
        assert server.tokens == set()
        assert not syncline.logout(server.url, store="file")

    def test_whatever_the_client(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected()
        syncline.login(server.url, visit=browser, store="file", client_id="ours")
        assert syncline.logout(server.url, store="file")
        assert [form["client_id"] for form in server.sent("/revoke")] == ["ours", "ours"]

    def test_where_nothing_can_be_given_back(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected(revokes=False)
        syncline.login(server.url, visit=browser, store="file")
        assert syncline.logout(server.url, store="file")
        assert syncline.auth_status(server.url, store="file") is None

    def test_an_authorization_server_that_is_gone(
        self, protected: Callable[..., ProtectedServer], browser: Browser, caplog: pytest.LogCaptureFixture
    ) -> None:
        with ProtectedServer() as server:
            syncline.login(server.url, visit=browser, store="file")
            browser.close()
        with caplog.at_level(logging.WARNING, "syncline.auth"):
            assert syncline.logout(server.url, store="file")
        assert "not revoked at http://127.0.0.1:" in caplog.text
        assert "planted" not in caplog.text
        assert syncline.auth_status(server.url, store="file") is None

    def test_what_is_damaged_is_deleted_too(
        self, protected: Callable[..., ProtectedServer], browser: Browser, caplog: pytest.LogCaptureFixture
    ) -> None:
        server = protected()
        syncline.login(server.url, visit=browser, store="memory")
        store = Damaged()
        with caplog.at_level(logging.WARNING, "syncline.auth"):
            assert syncline.logout(server.url, store=store)
        assert "cannot be revoked" in caplog.text
        assert not store.keys()

    def test_everywhere(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        servers = [protected(), protected()]
        for server in servers:
            syncline.login(server.url, visit=browser, store="file")
        assert sorted(logout_everywhere(store="file")) == sorted(server.url for server in servers)
        assert auth_statuses(store="file") == []
        assert [server.tokens for server in servers] == [set(), set()]


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
        self, protected: Callable[..., ProtectedServer], browser: Browser, client_id: str | None
    ) -> None:
        server = protected()
        syncline.login(server.url, visit=browser, store="file", client_id=client_id)
        server.tokens.clear()  # so that it has to be refreshed, as that client
        with syncline.connect(server.url, auth=StoredLogins("file")) as client:
            assert client.list_tools()
        refreshes = [form for form in server.sent("/token") if form["grant_type"] == "refresh_token"]
        assert len(refreshes) == 1
        assert client_id in (None, refreshes[0]["client_id"])

    def test_a_server_that_nobody_is_logged_in_at(self, protected: Callable[..., ProtectedServer]) -> None:
        server = protected()
        with pytest.raises(syncline.AuthRequired, match="wants credentials"):
            syncline.connect(server.url, auth=StoredLogins("file"))
        assert {request.path for request in server.requests} == {"/mcp"}

    def test_the_newest_of_several_clients(self, protected: Callable[..., ProtectedServer], browser: Browser) -> None:
        server = protected()
        for client_id in ("first", "second"):
            syncline.login(server.url, visit=browser, store="file", client_id=client_id)
        server.tokens.clear()
        with syncline.connect(server.url, auth=StoredLogins(open_store("file"))):
            assert server.sent("/token")[-1]["client_id"] == "second"

    def test_a_store_that_cannot_be_read_is_told_of(
        self,
        protected: Callable[..., ProtectedServer],
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def fail(store: FileStore) -> list[object]:
            raise syncline.CredentialStoreError("it is open to other users", store="files")

        monkeypatch.setattr(FileStore, "keys", fail)
        server = protected(public=True)
        with caplog.at_level(logging.WARNING, "syncline.auth"), syncline.connect(server.url, auth=StoredLogins("file")):
            assert "it is open to other users" in caplog.text

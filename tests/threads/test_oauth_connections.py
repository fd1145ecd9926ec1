"""OAuth among the rest: sessions that expire, streams that stay open, managers of many servers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import syncline
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.memory import MemoryStore
from syncline.concurrency.deadline import Deadline
from tests.fixtures.logins import SOON, Someone, oauth
from tests.fixtures.managers import LEGACY, MODERN, Manage, fake
from tests.fixtures.partner import Background
from tools.fakeserver.authorization import RESOURCE, ProtectedMcpServer
from tools.fakeserver.scripted import Exchange

Protected = Callable[..., ProtectedMcpServer]


# Sessions and streams


def test_a_session_and_a_token_that_end_at_once(protected: Protected, someone: Someone) -> None:
    """4.69: the token is refused first, then the session."""
    server = protected(versions=[LEGACY])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        issuer.end_access()
        server.expire_sessions()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert issuer.grants["refresh_token"] == 1
    assert server.catalogue.executions["echo"] == 1
    assert len(someone.visits) == 1


def test_a_token_that_ends_while_the_session_is_renewed(protected: Protected, someone: Someone) -> None:
    """4.69: the other way round."""
    server = protected(versions=[LEGACY])
    (issuer,) = server.authorities

    def expire(exchange: Exchange) -> None:
        issuer.end_access()
        server.expire_sessions()
        exchange.respond(404)

    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        server.arm(expire, method="tools/call")
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert issuer.grants["refresh_token"] == 1
    assert server.catalogue.executions["echo"] == 1


def test_a_stream_that_is_open_holds_no_call_up(protected: Protected, someone: Someone) -> None:
    """B151: neither before nor after a token was refused, on the stream or beside it."""
    server = protected(versions=[LEGACY])
    (issuer,) = server.authorities
    tokens: list[str | None] = []
    listening = threading.Event()

    def listen(exchange: Exchange) -> None:
        if exchange.request.path.startswith(RESOURCE):
            server._serve_mcp(exchange)
            return
        tokens.append(exchange.request.header("Authorization"))
        if len(tokens) == 1:
            issuer.end_access()
            exchange.respond(401, headers=[("WWW-Authenticate", "Bearer")])
            return
        exchange.sse()
        listening.set()
        exchange.hold()

    server.arm(listen, 99, http="GET")
    with syncline.connect(server.url, auth=oauth(visit=someone), on_notification=lambda _: None) as client:
        assert listening.wait(SOON)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        issuer.end_access()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert len(tokens) == len(set(tokens)) == 2
    assert issuer.grants["refresh_token"] == 2
    assert len(someone.visits) == 1


def test_a_stream_asks_nobody(protected: Protected, someone: Someone) -> None:
    """4.164: nobody has just called anything, and it does not try for ever; the next call logs in."""
    server = protected(versions=[LEGACY])
    (issuer,) = server.authorities
    refused: list[str] = []

    def listen(exchange: Exchange) -> None:
        if exchange.request.path.startswith(RESOURCE):
            server._serve_mcp(exchange)
            return
        issuer.end_logins()
        refused.append(exchange.request.path)
        server._serve_mcp(exchange)

    def visit(what: syncline.Visit) -> None:
        asking.append(threading.current_thread())
        someone(what)

    asking: list[threading.Thread] = []
    server.arm(listen, 99, http="GET")
    with syncline.connect(server.url, auth=oauth(visit=visit), on_notification=lambda _: None) as client:
        issuer.wait_until(lambda: issuer.grants["refresh_token"] == 1)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert asking == [threading.main_thread()] * 2
    assert len(refused) < 4


def test_two_logins_at_once_want_the_same_port(protected: Protected, someone: Someone) -> None:
    """B156: one of them is enough; and the port is free afterwards, for the next one."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    auth = oauth(visit=someone)
    with syncline.connect(server.url, auth=auth):
        port = int((someone.visits[0].redirect_uri or "").rpartition(":")[2].partition("/")[0])
    auth = oauth(visit=someone, redirect_port=port)
    both = [Background(lambda: syncline.call_tool(server.url, "echo", {"text": "x"}, auth=auth).text) for _ in "12"]
    assert [each.result() for each in both] == ["x", "x"]
    assert len(someone.visits) == issuer.grants["authorization_code"] == 2
    issuer.end_logins()
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=auth).text == "x"


# Managers


def test_a_manager_says_that_somebody_has_to_log_in(protected: Protected, manage: Manage) -> None:
    """3.13: and how, where that is what helps; the other servers go on."""
    ours, theirs = protected(versions=[LEGACY]), protected(versions=[LEGACY])
    servers = manage(
        {
            "ours": syncline.HttpServer(ours.url, auth=oauth()),
            "theirs": syncline.HttpServer(theirs.url, auth=syncline.BearerToken("planted")),
            "other": fake("a"),
        }
    )
    assert servers.call_tool("mcp__other__a").text == "a"
    assert not servers.wait_ready("ours")
    assert not servers.wait_ready("theirs")
    found = servers.status()
    assert found["ours"].reason == found["theirs"].reason == "authentication required"
    assert f"ours wants somebody to log in: syncline auth login {ours.url}" in str(found["ours"].text)
    assert "theirs wants credentials" in str(found["theirs"].text)


def test_a_manager_goes_on_once_somebody_has_logged_in(protected: Protected, manage: Manage, someone: Someone) -> None:
    """3.25: in another process; the next look at the configuration is enough."""
    server, store = protected(versions=[LEGACY]), MemoryStore()
    config = {"s": syncline.HttpServer(server.url, auth=oauth(store=store))}
    servers = manage(config)
    assert not servers.wait_ready("s")
    syncline.connect(server.url, auth=oauth(store=store, visit=someone)).close()
    servers.reconcile(config)
    assert servers.wait_ready("s")


def test_another_place_where_tokens_are_kept(protected: Protected, manage: Manage, someone: Someone) -> None:
    """3.35: is another way of authenticating; a header that cannot be sent is not in its way."""
    server = protected(versions=[LEGACY])
    auth = oauth(visit=someone)
    options = {"headers": {"Authorization": "a\nb"}}
    servers = manage({"s": syncline.HttpServer(server.url, auth=auth, **options)})  # type: ignore[arg-type]
    client = servers["s"]
    servers.reconcile({"s": syncline.HttpServer(server.url, auth=auth, **options)})  # type: ignore[arg-type]
    assert servers["s"] is client
    servers.reconcile({"s": syncline.HttpServer(server.url, auth=oauth(visit=someone), **options)})  # type: ignore[arg-type]
    assert servers["s"] is not client
    assert len(someone.visits) == 2


def test_credentials_that_cannot_be_read(
    protected: Protected, manage: Manage, someone: Someone, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """3.14: are as good as none, and a warning says where they are; a login replaces them."""
    server = protected(versions=[LEGACY])
    auth = oauth(store=FileStore(tmp_path), visit=someone)
    syncline.connect(server.url, auth=auth).close()
    (file,) = tmp_path.glob("*.json")
    file.write_text('{"access_token": "planted')
    config: dict[str, Any] = {
        "s": syncline.HttpServer(server.url, auth=oauth(store=FileStore(tmp_path))),
        "other": fake("a"),
    }
    servers = manage(config)
    assert servers.call_tool("mcp__other__a").text == "a"
    assert not servers.wait_ready("s")
    assert servers.status()["s"].reason == "authentication required"
    assert f"{file} are damaged: they are not JSON. Log in again" in caplog.text
    assert "planted" not in caplog.text
    auth.at(syncline.HttpServer(server.url)).log_in(Deadline(SOON))
    servers.reconcile(config)
    assert servers.wait_ready("s")

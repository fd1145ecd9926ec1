"""Requests as they are sent: each of them has the token, none has it in its URL, and none follows a redirect with it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import syncline
from syncline.auth.stores.memory import MemoryStore
from tests.fixtures.logins import SOON, Someone, expire, oauth
from tests.fixtures.managers import LEGACY, MODERN
from tools.fakeserver.authorization import RESOURCE, AuthorizationServer, ProtectedMcpServer
from tools.fakeserver.catalogue import META
from tools.fakeserver.events import EventServer
from tools.fakeserver.mcp_sse import McpSseServer
from tools.fakeserver.scripted import Exchange, Request, ScriptedServer

Protected = Callable[..., ProtectedMcpServer]
Authority = Callable[..., AuthorizationServer]
Scripted = Callable[..., ScriptedServer]


class ProtectedEventServer(ProtectedMcpServer, EventServer):
    """A server of events that wants tokens."""


@pytest.fixture
def events(authority: Authority) -> Iterator[ProtectedEventServer]:
    with ProtectedEventServer(authority()) as server:
        server.source.offer("a.b", "push")
        yield server


def logged_in(server: ProtectedMcpServer, someone: Someone) -> MemoryStore:
    """A store with tokens for a server."""
    store = MemoryStore()
    syncline.connect(server.url, auth=oauth(visit=someone, store=store)).close()
    someone.join()
    return store


def shown(requests: list[Request]) -> set[str | None]:
    """How requests say who we are."""
    return {request.header("Authorization") for request in requests}


def resume(server: ProtectedMcpServer) -> threading.Event:
    """Cut the answer of the next call off, send it when it is resumed, and let the other stream stay open.

    Returns what is set once there is one.
    """
    listening = threading.Event()
    calls: list[Any] = []

    def begin(exchange: Exchange) -> None:
        calls.append(exchange.request.json())
        exchange.sse()
        exchange.event(None, ident="1")
        exchange.close()

    def go_on(exchange: Exchange) -> None:
        exchange.sse()
        if exchange.request.header("Last-Event-ID") != "1":
            listening.set()
            exchange.hold()
            return
        result = {"content": [{"type": "text", "text": "x"}]}
        exchange.event({"jsonrpc": "2.0", "id": calls[0]["id"], "result": result})
        exchange.last_chunk()

    server.arm(begin, method="tools/call")
    server.arm(go_on, 99, http="GET")
    return listening


def acknowledge(exchange: Exchange) -> None:
    """Open a stream of changes."""
    asked = exchange.request.json()
    params = {"notifications": asked["params"]["notifications"], "_meta": {META + "subscriptionId": asked["id"]}}
    exchange.sse()
    exchange.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
    exchange.hold()


# Each of them has it


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY])
def test_in_a_session(protected: Protected, someone: Someone, revision: str) -> None:
    """T-2: messages, the stream that stays open, an answer that is resumed, and the end of the session."""
    server = protected(versions=[revision])
    store = logged_in(server, someone)
    listening, before = resume(server), len(server.requests)
    with syncline.connect(server.url, auth=oauth(store=store), on_notification=lambda _: None) as client:
        assert client.protocol_version == revision
        assert listening.wait(SOON)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        client.list_tools()
    asked = server.requests[before:]
    assert {request.rpc for request in asked} >= {"initialize", "notifications/initialized", "tools/list"}
    assert [request.method for request in asked].count("GET") == 2
    assert asked[-1].method == "DELETE"
    (key,) = store.keys()
    kept = store.load(key)
    assert kept is not None
    assert shown(asked) == {f"Bearer {kept.access_token}"}


def test_a_stream_that_is_made_again_has_the_token_of_that_moment(protected: Protected, someone: Someone) -> None:
    """T-2: the one that it was opened with has been replaced meanwhile."""
    server = protected(versions=[LEGACY])
    (issuer,) = server.authorities
    store = logged_in(server, someone)
    streams: list[Exchange] = []
    opened = threading.Semaphore(0)

    def listen(exchange: Exchange) -> None:
        streams.append(exchange)
        exchange.sse()
        opened.release()
        exchange.hold()

    server.arm(listen, 99, http="GET")
    with syncline.connect(server.url, auth=oauth(store=store), on_notification=lambda _: None) as client:
        assert opened.acquire(timeout=SOON)
        expire(store, 10)
        issuer.end_access()
        client.list_tools()
        streams[0].half_close()
        assert opened.acquire(timeout=SOON)
    first, second = (stream.request.header("Authorization") for stream in streams)
    assert issuer.grants["refresh_token"] == 1
    assert first != second
    assert second == f"Bearer {server.sent('tools/list')[-1]}"


def test_without_a_session(events: ProtectedEventServer, someone: Someone) -> None:
    """T-2: each request stands for itself; streams of changes and of events, and what takes the place of one that was cut."""
    store = logged_in(events, someone)
    before = len(events.requests)
    events.arm(acknowledge, method="subscriptions/listen")
    with syncline.connect(events.url, auth=oauth(store=store)) as client:
        assert client.protocol_version == MODERN
        client.call_tool("echo", {"text": "x"})
        with client.subscribe(tools=True), client.events.stream("a.b"):
            events.source.fault("drop", "a.b")
            events.wait_until(lambda: [each.rpc for each in events.requests].count("events/stream") == 2, SOON)
    asked = events.requests[before:]
    methods = {"server/discover", "tools/call", "subscriptions/listen", "events/stream"}
    assert {request.rpc for request in asked} >= methods
    (proof,) = shown(asked)
    assert proof is not None


def test_over_two_ways() -> None:
    """T-2, HTTP+SSE: the stream and each message."""
    with McpSseServer() as server:
        config = syncline.HttpServer(server.url, transport="sse")
        with syncline.connect(config, auth=syncline.BearerToken("planted")) as client:
            client.list_tools()
        assert {request.method for request in server.requests} == {"GET", "POST"}
        assert shown(server.requests) == {"Bearer planted"}
        assert not [request.path for request in server.requests if "planted" in request.path]


# None has it in its URL


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_no_url_has_a_secret(protected: Protected, someone: Someone, revision: str) -> None:
    """T-3: neither at the server nor at the authorization server, in all that can happen to a token."""
    server = protected(versions=[revision], needs={"echo": "write"})
    (issuer,) = server.authorities
    store = MemoryStore()
    with syncline.connect(server.url, auth=oauth(visit=someone, store=store)) as client:
        issuer.end_access()
        client.call_tool("echo", {"text": "x"})
    someone.join()
    assert syncline.logout(server.url, store=store)
    assert issuer.grants == {"authorization_code": 2, "refresh_token": 1}
    assert issuer.counts["revoke"] == 2
    assert {each.path.partition("?")[0] for each in server.requests} == {"/mcp", f"{RESOURCE}/mcp"}
    assert not [request.path for request in server.requests + issuer.requests if "planted" in request.path]


def test_the_revision_goes_along_when_metadata_are_asked_for(protected: Protected, someone: Someone) -> None:
    """M-7."""
    server = protected(versions=[LEGACY])
    (issuer,) = server.authorities
    logged_in(server, someone)
    asked = [each for each in server.requests + issuer.requests if "/.well-known/" in each.path]
    assert {each.path.split("/")[2] for each in asked} == {"oauth-protected-resource", "oauth-authorization-server"}
    assert {each.header("MCP-Protocol-Version") for each in asked} == {MODERN}


# None follows a redirect


@pytest.mark.parametrize("endpoint", ["metadata", "register", "token", "device", "revoke"])
@pytest.mark.parametrize("status", [302, 307])
def test_redirects_of_an_authorization_server(
    protected: Protected, someone: Someone, scripted_server: Scripted, endpoint: str, status: int
) -> None:
    """Z-4, K-4: nobody goes where they lead, neither with a secret nor without."""
    server, other = protected(versions=[MODERN]), scripted_server()
    (issuer,) = server.authorities
    store = MemoryStore()
    elsewhere: Any = lambda exchange: exchange.respond(status, headers=[("Location", other.url)])  # noqa: E731
    if endpoint == "revoke":
        syncline.connect(server.url, auth=oauth(visit=someone, store=store)).close()
        issuer.arm(endpoint, elsewhere, 2)
        assert syncline.logout(server.url, store=store)
    else:
        issuer.arm(endpoint, elsewhere, 9)
        with pytest.raises(syncline.AuthError):
            syncline.connect(server.url, auth=oauth(visit=someone, store=store, device=endpoint == "device"))
    assert issuer.counts[endpoint] >= 1
    assert other.connections == 0


@pytest.mark.parametrize("status", [302, 307])
def test_redirects_of_the_metadata_of_a_server(
    protected: Protected, someone: Someone, scripted_server: Scripted, status: int
) -> None:
    """Z-4: it says who gives tokens for itself, or nobody does."""
    server, other = protected(versions=[MODERN]), scripted_server()

    def redirect(exchange: Exchange) -> None:
        exchange.respond(status, headers=[("Location", other.url)])

    server.arm(redirect, 9, http="GET")
    with pytest.raises(syncline.DiscoveryFailed, match=f"HTTP {status}"):
        syncline.connect(server.url, auth=oauth(visit=someone))
    assert other.connections == 0

"""HTTP+SSE of 2024-11-05: where messages go, what comes back, how it ends."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.errors import (
    AuthRequired,
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    ForkedConnection,
    HttpStatusError,
    InvalidMessage,
    RequestTimeout,
    SynclineError,
    UnexpectedMessage,
)
from syncline.transport.base import Outgoing
from syncline.transport.http import HttpTransport
from tests.fixtures.http import OPTIONS, SOON, within
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import Exchange, Script, ScriptedServer

Serve = Callable[..., ScriptedServer]

ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {}}


class Sink:
    """Keeps what comes, in order: messages, then the loss."""

    def __init__(self) -> None:
        self.happened: ReplySlot[Any] = ReplySlot()

    def received(self, data: bytes, origin: Outgoing | None = None, status: int | None = None) -> bool:
        assert origin is None
        assert threading.current_thread().name == "syncline:host/mcp:sse"
        self.happened.put(json.loads(data))
        return False

    def finding(self, code: str, place: str, raw: object) -> None:
        raise AssertionError(code)

    def lost(self, error: SynclineError) -> None:
        self.happened.put(error)

    def next(self) -> Any:
        happened = self.happened.take(Deadline(SOON))
        assert happened is not None, "nothing happened"
        return happened

    def quiet(self) -> bool:
        return self.happened.take(Deadline(0.05)) is None


class Peer:
    def __init__(self, url: str, **options: Any) -> None:
        self.transport = HttpTransport(url, **{**OPTIONS, **options}).legacy()
        self.sink = Sink()

    def start(self, seconds: float = SOON) -> None:
        self.transport.start(self.sink, Deadline(seconds))

    def send(
        self,
        ident: int | None = 1,
        *,
        seconds: float = SOON,
        kind: Literal["request", "notification", "response"] = "request",
    ) -> None:
        self.transport.send(outgoing(ident, kind), Deadline(seconds))

    def close(self) -> None:
        self.transport.close(Deadline(5))


def outgoing(ident: int | None = 1, kind: Literal["request", "notification", "response"] = "request") -> Outgoing:
    frame = json.dumps({"jsonrpc": "2.0", "method": "tools/call"} | ({} if ident is None else {"id": ident}))
    return Outgoing(frame.encode(), kind, "tools/call", ident)


@contextmanager
def reach(url: str, **options: Any) -> Iterator[Peer]:
    peer = Peer(url, **options)
    try:
        yield peer
    finally:
        peer.close()


def stream(endpoint: str = "/messages", *messages: object, end: Script = Exchange.hold) -> Script:
    """An event stream that begins as it should."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event(endpoint, name="endpoint")
        for message in messages:
            exchange.event(message, name="message")
        end(exchange)

    return script


def served(get: Script, post: Script = lambda exchange: exchange.respond(202)) -> Script:
    return lambda exchange: (get if exchange.request.method == "GET" else post)(exchange)


# ------------------------------------------------------------------------------------------------------------ both ways
@pytest.mark.parametrize("status", [200, 202, 204])
def test_messages_out_and_in(scripted_server: Serve, status: int) -> None:
    """OLD-1, OLD-2: posts to the endpoint, whatever success they are answered with; answers by the stream."""
    posted = threading.Event()

    def get(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event("/messages?session=1", name="endpoint")
        exchange.wait(posted)
        exchange.chunk(b": alive\n\n")
        exchange.event("x", name="other")
        exchange.event(ANSWER, name="message")
        exchange.event({"jsonrpc": "2.0", "method": "notifications/x"})
        exchange.hold()

    def post(exchange: Exchange) -> None:
        exchange.respond(status, "" if status == 204 else "not for reading", None if status == 204 else "text/plain")
        posted.set()

    server = scripted_server(served(get, post), path="/sse")
    with reach(server.url, headers={"X-Mine": "yes"}) as peer:
        peer.start()
        peer.send()
        assert peer.sink.next() == ANSWER
        assert peer.sink.next()["method"] == "notifications/x"
        peer.send(None, kind="notification")
    first, second, third = server.requests
    assert (first.method, first.path, first.header("Accept"), first.body) == ("GET", "/sse", "text/event-stream", b"")
    assert (second.method, second.path, second.header("Content-Type")) == (
        "POST",
        "/messages?session=1",
        "application/json",
    )
    assert second.json() == {"jsonrpc": "2.0", "method": "tools/call", "id": 1}
    assert third.path == "/messages?session=1"
    for request in (first, second):
        assert request.header("X-Mine") == "yes"
        assert (request.header("Mcp-Session-Id"), request.header("Last-Event-ID")) == (None, None)


@pytest.mark.parametrize(
    ("reference", "path"),
    [
        ("/m?x=1", "/m?x=1"),
        ("m?x=1", "/a/b/m?x=1"),
        ("?x=1", "/a/b/sse?x=1"),
        ("../m?x=%20&y", "/a/m?x=%20&y"),
        ("{origin}/c/m", "/c/m"),
        ("  /m  ", "/m"),
        ("/m#part", "/m"),
    ],
)
def test_the_endpoint_is_resolved_against_the_stream(scripted_server: Serve, reference: str, path: str) -> None:
    """B066, RFC 3986: nothing is invented and nothing lost."""
    server: list[ScriptedServer] = []
    get: Script = lambda exchange: stream(reference.format(origin=server[0].origin))(exchange)  # noqa: E731
    server.append(scripted_server(served(get), path="/a/b/sse"))
    with reach(server[0].url) as peer:
        peer.start()
        peer.send()
    assert server[0].requests[1].path == path


def test_the_endpoint_is_resolved_against_the_place_of_the_stream(scripted_server: Serve) -> None:
    """RFC 3986, 5.1.3: the URL that was retrieved in the end."""
    moved: Script = lambda exchange: exchange.respond(307, headers=[("Location", "/b/sse/")])  # noqa: E731
    server = scripted_server(moved, stream("m"), lambda exchange: exchange.respond(202), path="/a/sse")
    with reach(server.url) as peer:
        peer.start()
        peer.send()
    assert [request.path for request in server.requests] == ["/a/sse", "/b/sse/", "/b/sse/m"]


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("http://elsewhere.example/m?secret=1", "http://elsewhere.example, which is another origin"),
        ("//elsewhere.example/m", "which is another origin"),
        ("http://127.0.0.1:1/m", "http://127.0.0.1:1, which is another origin"),
        ("https://127.0.0.1/m", "which is another origin"),
        ("file:///etc/passwd", "which is another origin"),
        ("http://[/m", "an address that is none"),
        ("http://127.0.0.1:99999/m", "an address that is none"),
    ],
)
def test_an_endpoint_elsewhere_is_refused(scripted_server: Serve, reference: str, told: str) -> None:
    """OLD-1: messages and tokens stay with the origin."""
    server = scripted_server(stream(reference))
    with reach(server.url) as peer, pytest.raises(UnexpectedMessage, match="host/mcp: .*" + told) as caught:
        peer.start()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "secrets",
    [{"headers": {"Authorization": "Bearer planted"}}, {"auth": ("user", "planted")}],
    ids=["header", "basic"],
)
def test_credentials_go_with_both(scripted_server: Serve, secrets: dict[str, Any]) -> None:
    if "auth" in secrets:
        from requests.auth import HTTPBasicAuth

        secrets = {"auth": HTTPBasicAuth(*secrets["auth"])}
    server = scripted_server(served(stream()))
    with reach(server.url, **secrets) as peer:
        peer.start()
        peer.send()
    assert len({request.header("Authorization") for request in server.requests} - {None}) == 1


def test_over_tls(scripted_server: Serve) -> None:
    server = scripted_server(served(stream("/messages", ANSWER)), tls=True)
    with reach(server.url) as peer:
        peer.start()
        peer.send()
        assert peer.sink.next() == ANSWER


# -------------------------------------------------------------------------------------------------------- the beginning
@pytest.mark.parametrize(
    ("script", "error", "told"),
    [
        (lambda exchange: exchange.respond(404), HttpStatusError, "404"),
        (lambda exchange: exchange.respond(405), HttpStatusError, "405"),
        (lambda exchange: exchange.respond(500, "broken", "text/plain"), HttpStatusError, "500: broken"),
        (lambda exchange: exchange.respond(401), AuthRequired, "credentials"),
        (lambda exchange: exchange.respond(200, "<html>", "text/html"), HttpStatusError, "text/html"),
        (lambda exchange: exchange.json({}), HttpStatusError, "200"),
        (lambda exchange: (exchange.sse(), exchange.last_chunk()), UnexpectedMessage, "does not begin with an endpoint"),
        (lambda exchange: (exchange.sse(), exchange.event(ANSWER)), UnexpectedMessage, "not begin with an endpoint"),
        (lambda exchange: (exchange.sse(), exchange.close()), ConnectionLost, "broke"),
        (Exchange.reset, ConnectionLost, "broke"),
    ],
)  # fmt: skip
def test_a_stream_that_does_not_begin(
    scripted_server: Serve, script: Script, error: type[Exception], told: str
) -> None:
    server = scripted_server(script)
    with reach(server.url) as peer, pytest.raises(error, match=told) as caught:
        peer.start()
    assert str(caught.value).startswith("host/mcp: ")


def test_nobody_there(scripted_server: Serve) -> None:
    server = scripted_server()
    server.close()
    with reach(server.url) as peer, pytest.raises(ConnectFailed):
        peer.start()


@pytest.mark.parametrize("script", [Exchange.hold, lambda exchange: (exchange.sse(), exchange.hold())])
def test_the_beginning_has_a_limit(scripted_server: Serve, script: Script) -> None:
    with reach(scripted_server(script).url) as peer, within(0.3), pytest.raises(RequestTimeout):
        peer.start(0.3)


@pytest.mark.parametrize("script", [Exchange.hold, lambda exchange: (exchange.sse(), exchange.hold())])
def test_the_beginning_is_ended_from_another_thread(scripted_server: Serve, script: Script) -> None:
    server = scripted_server(script)
    with reach(server.url) as peer:
        starting = Background(peer.start)
        server.wait_until(lambda: bool(server.requests))
        with within(0.5):
            peer.close()
            with pytest.raises(ConnectionClosed):
                starting.result()


def test_the_limit_of_the_beginning_does_not_hold_for_the_stream(scripted_server: Serve) -> None:
    later = threading.Event()

    def get(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event("/m", name="endpoint")
        exchange.wait(later)
        exchange.event(ANSWER)
        exchange.hold()

    with reach(scripted_server(get).url) as peer:
        peer.start(0.4)
        assert peer.sink.happened.take(Deadline(0.8)) is None
        later.set()
        assert peer.sink.next() == ANSWER


# ------------------------------------------------------------------------------------------------------------- failures
@pytest.mark.parametrize(
    ("status", "error"), [(400, HttpStatusError), (404, HttpStatusError), (500, HttpStatusError), (401, AuthRequired)]
)
def test_a_post_that_is_refused(scripted_server: Serve, status: int, error: type[Exception]) -> None:
    """It fails that message; the stream stays."""
    server = scripted_server(served(stream(), lambda exchange: exchange.respond(status, "no", "text/plain")))
    with reach(server.url) as peer:
        peer.start()
        with pytest.raises(error) as caught:
            peer.send()
        assert (caught.value.server, caught.value.method, caught.value.request_id) == ("host/mcp", "tools/call", 1)  # type: ignore[attr-defined]
        assert peer.sink.quiet()


def test_a_post_that_is_never_answered(scripted_server: Serve) -> None:
    server = scripted_server(served(stream(), Exchange.hold))
    with reach(server.url) as peer:
        peer.start()
        with within(0.3), pytest.raises(RequestTimeout):
            peer.send(seconds=0.3)


def test_a_post_is_given_up_from_another_thread(scripted_server: Serve) -> None:
    server = scripted_server(served(stream(), Exchange.hold))
    with reach(server.url) as peer:
        peer.start()
        message = outgoing()
        call = Background(lambda: peer.transport.send(message, Deadline(SOON)))
        server.wait_until(lambda: len(server.requests) == 2)
        with within(0.5):
            peer.transport.abandon(message)
            with pytest.raises(ConnectionLost):
                call.result()


@pytest.mark.parametrize("end", [Exchange.close, Exchange.reset, Exchange.last_chunk])
def test_the_stream_is_the_session(scripted_server: Serve, end: Script) -> None:
    """OLD-3, B042: when it ends the transport has ended, and nothing is made again behind the driver's back."""
    server = scripted_server(stream("/m", ANSWER, end=end))
    with reach(server.url) as peer:
        peer.start()
        assert peer.sink.next() == ANSWER
        lost = peer.sink.next()
        assert isinstance(lost, ConnectionLost)
        assert str(lost).startswith("host/mcp: ")
        assert peer.sink.quiet()
    assert len(server.requests) == 1


def test_an_event_over_the_limit(scripted_server: Serve) -> None:
    """Also where it comes together with others and nothing follows."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b"event: endpoint\ndata: /m\n\ndata: %s\n\n" % (b"x" * 200))
        exchange.hold()

    with reach(scripted_server(script).url, event_bytes=100) as peer:
        peer.start()
        assert isinstance(peer.sink.next(), InvalidMessage)


def test_all_events_together_have_no_limit(scripted_server: Serve) -> None:
    server = scripted_server(stream("/m", *({"number": number} for number in range(100))))
    with reach(server.url, message_bytes=500) as peer:
        peer.start()
        assert [peer.sink.next()["number"] for _ in range(100)] == list(range(100))


# ------------------------------------------------------------------------------------------------------------ the end
def test_close_ends_the_stream_at_once(scripted_server: Serve) -> None:
    """And the driver, who closes, is not told of a loss."""
    server = scripted_server(stream())
    with reach(server.url) as peer:
        peer.start()
        with within(0.3):
            peer.close()
        assert peer.sink.quiet()
        server.wait_until(lambda: server.open_connections == 0)
        peer.close()
        with pytest.raises(ConnectionClosed):
            peer.send()


def test_close_before_the_start(scripted_server: Serve) -> None:
    server = scripted_server(stream())
    with reach(server.url) as peer:
        peer.close()
        with pytest.raises(ConnectionClosed):
            peer.start()
    assert server.requests == []


def test_a_disowned_transport_says_nothing(scripted_server: Serve) -> None:
    """In a forked child: no further message, and its descriptors are closed."""
    server = scripted_server(served(stream()))
    with reach(server.url) as peer:
        peer.start()
        peer.transport.disown()
        with pytest.raises(ForkedConnection):
            peer.send()
        assert peer.sink.quiet()
        server.wait_until(lambda: server.open_connections == 0)
    assert len(server.requests) == 1

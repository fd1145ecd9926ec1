"""The stream on which a server says what answers no request: opened, cut, made again, refused, ended."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.errors import (
    AuthRequired,
    ConnectionClosed,
    HttpStatusError,
    InvalidMessage,
    SessionExpired,
    SynclineError,
    UnexpectedMessage,
)
from syncline.protocol import trail
from syncline.transport.base import Outgoing, Streamable
from syncline.transport.http_exchange import Pause
from tests.fixtures.http import SOON, Peer, reach, within
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import Exchange, Script, ScriptedServer

Serve = Callable[..., ScriptedServer]

VERSION = {"MCP-Protocol-Version": "2025-11-25"}


def note(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"number": number}}


def events(*numbers: int, ids: bool = True, retry: int | None = None, end: Script = Exchange.close) -> Script:
    """A stream with these notes, and the end."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        if retry is not None:
            exchange.chunk(f"retry: {retry}\n\n".encode())
        for number in numbers:
            exchange.event(note(number), ident=str(number) if ids else None)
        end(exchange)

    return script


class Listener:
    """Listening on a thread of its own, with a record of what happened in order: ``open``, ``again``, numbers of notes."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.record: ReplySlot[object] = ReplySlot()
        self.downs: list[SynclineError] = []
        self.message = Outgoing(b"", "listen", "listen", headers=VERSION)
        peer.inbox.on_message = lambda message: self.record.put(message.get("params", {}).get("number", message))
        self.thread = Background(self._run)

    def _run(self) -> str | SynclineError:
        try:
            self.peer.transport.listen(
                self.message, lambda missed: self.record.put("missed" if missed else "open"), self.downs.append
            )
        except SynclineError as error:
            return error
        return "no stream"

    def next(self) -> object:
        happened = self.record.take(Deadline(SOON))
        assert happened is not None, "nothing happened"
        return happened

    def take(self, count: int) -> list[object]:
        return [self.next() for _ in range(count)]

    def stop(self) -> object:
        self.peer.transport.abandon(self.message)
        return self.thread.result()

    def quiet(self) -> bool:
        return self.record.take(Deadline(0.05)) is None


@contextmanager
def listening(server: ScriptedServer, **options: Any) -> Iterator[Listener]:
    with reach(server.url, **options) as peer:
        yield Listener(peer)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts in vain cost no time."""
    monkeypatch.setattr(trail, "FIRST", 0.0)


# ------------------------------------------------------------------------------------------------------------ opening
def test_what_comes_is_handed_on_as_it_comes(scripted_server: Serve) -> None:
    """GET-1: one GET, with the session and the revision; comments and empty events are nothing."""
    gate = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b": hello\n\n")
        exchange.event("", ident="0")
        exchange.event(note(1))
        exchange.wait(gate)
        exchange.event(note(2))
        exchange.hold()

    server = scripted_server(
        lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("Mcp-Session-Id", "s")]),
        script,
    )
    with reach(server.url) as peer:
        peer.send(1)
        peer.inbox.received_.clear()
        listener = Listener(peer)
        assert isinstance(peer.transport, Streamable)
        assert listener.take(2) == ["open", 1]
        gate.set()
        assert listener.next() == 2
        assert isinstance(listener.stop(), ConnectionClosed)
    get = server.requests[1]
    assert (get.method, get.header("Mcp-Session-Id"), get.header("MCP-Protocol-Version")) == ("GET", "s", "2025-11-25")
    assert "text/event-stream" in (get.header("Accept") or "")
    assert get.header("Last-Event-ID") is None


@pytest.mark.parametrize("status", [405, 404, 406, 501, 400])
def test_a_server_without_such_a_stream(scripted_server: Serve, status: int) -> None:
    """B035, B036, 4.39: asked once, and nothing else is harmed."""
    body = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Method not allowed."}}'

    def script(exchange: Exchange) -> None:
        if exchange.request.method == "GET":
            exchange.respond(status, body, "application/json")
        else:
            exchange.result({})

    server = scripted_server(script)
    with listening(server) as listener:
        assert listener.thread.result() == "no stream"
        assert listener.peer.send(1)["result"] == {}
        assert listener.peer.inbox.findings == []
    assert [request.method for request in server.requests] == ["GET", "POST"]


@pytest.mark.parametrize(
    "script",
    [
        lambda exchange: exchange.respond(200, "<html>", "text/html"),
        lambda exchange: exchange.respond(200, "{}", "application/json"),
        lambda exchange: exchange.respond(200),
        lambda exchange: exchange.respond(202),
        lambda exchange: exchange.respond(204),
    ],
    ids=["page", "json", "nothing", "202", "204"],
)
def test_a_success_that_is_no_stream(scripted_server: Serve, script: Script) -> None:
    server = scripted_server(script)
    with listening(server) as listener:
        assert listener.thread.result() == "no stream"
    assert len(server.requests) == 1


def test_the_stateless_era_has_no_such_stream(scripted_server: Serve) -> None:
    """MH-1."""
    server = scripted_server()
    with reach(server.url) as peer:
        peer.transport.sessions = False
        assert Listener(peer).thread.result() == "no stream"
    assert server.requests == []


@pytest.mark.parametrize(("status", "kind"), [(401, AuthRequired), (403, HttpStatusError), (410, HttpStatusError)])
def test_a_refusal_is_told(scripted_server: Serve, status: int, kind: type[Exception]) -> None:
    server = scripted_server(lambda exchange: exchange.respond(status))
    with listening(server) as listener:
        error = listener.thread.result()
    assert isinstance(error, kind)
    assert str(error).startswith("host/mcp: listen: ")
    assert len(server.requests) == 1


def test_an_expired_session_is_told(scripted_server: Serve) -> None:
    """4.39: 404 to a GET that carried our session id; from the first or when the stream is made again."""
    server = scripted_server(
        lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("Mcp-Session-Id", "s")]),
        events(1),
        lambda exchange: exchange.respond(404),
    )
    with reach(server.url) as peer:
        peer.send(1)
        listener = Listener(peer)
        assert isinstance(listener.thread.result(), SessionExpired)
        assert [request.header("Mcp-Session-Id") for request in server.requests] == [None, "s", "s"]


def test_a_stream_that_is_not_found_in_any_session_is_not_there(scripted_server: Serve) -> None:
    """B036: 404 means both, so it is a lost session once; said of a new session again, there is no such stream."""

    def script(exchange: Exchange) -> None:
        if exchange.request.method == "GET":
            exchange.respond(404, "Cannot GET /mcp", "text/html")
        else:
            exchange.json({"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("Mcp-Session-Id", "s")])

    server = scripted_server(script)
    with reach(server.url) as peer:
        outcomes = []
        for _ in range(3):
            peer.transport.forget_session()
            peer.send(1, opening=True)
            outcomes.append(Listener(peer).thread.result())
        assert isinstance(outcomes[0], SessionExpired)
        assert outcomes[1:] == ["no stream"] * 2


def test_an_open_stream_dispels_the_doubt(scripted_server: Serve) -> None:
    session: Script = lambda exchange: exchange.json(  # noqa: E731
        {"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("Mcp-Session-Id", "s")]
    )
    gone: Script = lambda exchange: exchange.respond(404)  # noqa: E731
    server = scripted_server(session, gone, session, events(1), gone, session, gone, session, gone)
    with reach(server.url) as peer:
        outcomes = []
        for _ in range(4):
            peer.transport.forget_session()
            peer.send(1, opening=True)
            outcomes.append(Listener(peer).thread.result())
        assert [isinstance(outcome, SessionExpired) for outcome in outcomes] == [True, True, True, False]


@pytest.mark.parametrize("during", ["head", "body", "wait"])
def test_a_session_that_is_given_up_takes_its_stream_along(scripted_server: Serve, during: str) -> None:
    """B041: from another thread, before the next session begins; no connection is left over."""
    script = {"head": Exchange.hold, "body": _hold_with_head, "wait": events()}[during]
    session: Script = lambda exchange: exchange.json(  # noqa: E731
        {"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("Mcp-Session-Id", "s")]
    )
    server = scripted_server(lambda exchange: (session if exchange.request.method == "POST" else script)(exchange))
    with reach(server.url) as peer:
        peer.send(1)
        listener = Listener(peer)
        if during == "head":
            server.wait_until(lambda: len(server.requests) == 2)
        elif during == "body":
            assert listener.next() == "open"
        else:
            _until_it_pauses(peer)
        with within(0.5):
            peer.transport.forget_session()
            assert isinstance(listener.thread.result(), SessionExpired)
        server.wait_until(lambda: server.open_connections <= 1)


# ------------------------------------------------------------------------------------------------------ cut, and again
@pytest.mark.parametrize("end", [Exchange.close, Exchange.reset, Exchange.last_chunk])
def test_a_cut_stream_goes_on_from_its_last_event(scripted_server: Serve, end: Script) -> None:
    """4.11, RES-2: nothing was missed, says the id; what is sent twice is handed on once."""
    server = scripted_server(events(6, 7, end=end), events(7, 8, end=Exchange.hold))
    with listening(server) as listener:
        assert listener.take(5) == ["open", 6, 7, "open", 8]
        assert listener.quiet()
    assert [request.header("Last-Event-ID") for request in server.requests] == [None, "7"]


def test_a_cut_stream_without_ids_may_have_missed_something(scripted_server: Serve) -> None:
    server = scripted_server(events(1, ids=False), events(2, ids=False, end=Exchange.hold))
    with listening(server) as listener:
        assert listener.take(4) == ["open", 1, "missed", 2]
    assert [request.header("Last-Event-ID") for request in server.requests] == [None, None]


def test_a_hundred_cuts_in_a_row(scripted_server: Serve) -> None:
    """Whatever the server cuts, as long as it has something to say in between, it is asked again at once."""
    server = scripted_server(lambda exchange: events(len(exchange.server.requests))(exchange))
    with listening(server) as listener, within(SOON):
        expected = [happening for number in range(1, 101) for happening in ("open", number)]
        assert listener.take(200) == expected
        assert isinstance(listener.stop(), ConnectionClosed)


def test_the_server_says_when_to_come_back(scripted_server: Serve) -> None:
    """RES-6."""
    times: list[float] = []

    def script(exchange: Exchange) -> None:
        times.append(time.monotonic())
        events(len(server.requests), retry=200 if len(times) == 1 else None)(exchange)
        times.append(time.monotonic())

    server = scripted_server(script)
    with listening(server) as listener:
        listener.take(6)
    assert times[2] - times[1] > 0.18
    assert times[4] - times[3] > 0.18


def test_a_stream_that_brings_nothing_is_asked_for_less_and_less(scripted_server: Serve) -> None:
    """At once after the first cut; then the wait of attempts in vain, which ends with the listening."""
    server = scripted_server(events())
    with listening(server) as listener:
        assert listener.take(2) == ["open", "missed"]
        _until_it_pauses(listener.peer)
        assert listener.quiet()
        assert isinstance(listener.stop(), ConnectionClosed)
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [500, 502, 503, 429, 409])
def test_a_server_that_is_not_well_is_asked_again(scripted_server: Serve, at_once: None, status: int) -> None:
    """B044: one bad answer is not the end."""
    server = scripted_server(
        events(1), lambda exchange: exchange.respond(status), Exchange.reset, Exchange.reset, events(2)
    )
    with listening(server) as listener:
        assert listener.take(4) == ["open", 1, "open", 2]


def test_a_server_that_asks_for_time_gets_it(scripted_server: Serve) -> None:
    busy: Script = lambda exchange: exchange.respond(503, headers=[("Retry-After", "3600")])  # noqa: E731
    with listening(scripted_server(busy)) as listener:
        _until_it_pauses(listener.peer)
        assert isinstance(listener.stop(), ConnectionClosed)


def test_a_server_that_goes_away_and_comes_back(scripted_server: Serve, at_once: None) -> None:
    first = scripted_server(events(1, ids=False, end=Exchange.hold))
    with listening(first) as listener:
        assert listener.take(2) == ["open", 1]
        first.close()
        with ScriptedServer(events(2, ids=False, end=Exchange.hold), port=first.port):
            assert listener.take(2) == ["missed", 2]
            listener.stop()


def test_an_event_over_the_limit_ends_it(scripted_server: Serve) -> None:
    """At once, though the server says nothing more, and after what came before it."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        small, large = (f"data: {json.dumps(note(number))}\n\n" for number in (1, 10**300))
        exchange.chunk((small + large).encode())
        exchange.hold()

    with listening(scripted_server(script), event_bytes=200) as listener:
        assert listener.take(2) == ["open", 1]
        error = listener.thread.result()
    assert isinstance(error, InvalidMessage)
    assert "over 200 bytes" in str(error)


def test_all_events_together_have_no_limit(scripted_server: Serve) -> None:
    server = scripted_server(events(*range(100), end=Exchange.hold))
    with listening(server, message_bytes=500) as listener:
        assert listener.take(101)[-1] == 99


# ------------------------------------------------------------------------------------------------------------ answers
def test_an_answer_may_come_over_the_open_stream(scripted_server: Serve) -> None:
    """B057: where there is one, an accepted request waits for it there."""
    accepted = threading.Event()

    def script(exchange: Exchange) -> None:
        if exchange.request.method == "GET":
            exchange.sse()
            exchange.wait(accepted)
            exchange.event({"jsonrpc": "2.0", "id": 5, "result": {}})
            exchange.hold()
        else:
            exchange.respond(202)
            accepted.set()

    server = scripted_server(script)
    with listening(server) as listener:
        assert listener.next() == "open"
        listener.peer.send(5)
        assert listener.next() == {"jsonrpc": "2.0", "id": 5, "result": {}}
        listener.stop()
        with pytest.raises(UnexpectedMessage, match="there will be no answer"):
            listener.peer.send(6)


# ------------------------------------------------------------------------------------------------------------- ending
def _hold_with_head(exchange: Exchange) -> None:
    exchange.sse()
    exchange.hold()


@pytest.mark.parametrize("script", [Exchange.hold, _hold_with_head, events()], ids=["head", "body", "wait"])
@pytest.mark.parametrize("how", ["close", "abandon"])
def test_it_ends_at_once_wherever_it_is(scripted_server: Serve, script: Script, how: str) -> None:
    server = scripted_server(script)
    with listening(server) as listener:
        if script is Exchange.hold:
            server.wait_until(lambda: bool(server.requests))
        elif script is _hold_with_head:
            assert listener.next() == "open"
        else:
            _until_it_pauses(listener.peer)
        with within(0.5):
            if how == "close":
                listener.peer.close()
                assert isinstance(listener.thread.result(), ConnectionClosed)
            else:
                assert isinstance(listener.stop(), ConnectionClosed)


def test_listening_after_the_end(scripted_server: Serve) -> None:
    server = scripted_server()
    with reach(server.url) as peer:
        peer.close()
        assert isinstance(Listener(peer).thread.result(), ConnectionClosed)
    assert server.requests == []


def test_a_peer_that_vanishes_is_noticed_by_the_system(scripted_server: Serve) -> None:
    """A stream may be silent for days, so its connection is checked now and then."""
    server = scripted_server(_hold_with_head)
    with listening(server) as listener:
        assert listener.next() == "open"
        [one] = listener.peer.transport._exchanges._sockets
        sock = one()
        assert sock is not None
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60


def _until_it_pauses(peer: Peer) -> None:
    limit = time.monotonic() + SOON
    while not any(isinstance(part, Pause) for part in list(peer.transport._exchanges._running)):
        assert time.monotonic() < limit
        time.sleep(0.005)

"""Streamable HTTP: what each answer comes to."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.errors import (
    AuthRequired,
    ConnectionLost,
    HttpStatusError,
    InvalidMessage,
    RequestTimeout,
    SessionExpired,
    SynclineError,
    UnexpectedMessage,
)
from tests.fixtures.http import SOON, reach, within
from tools.fakeserver.scripted import Exchange, Script, ScriptedServer

Serve = Callable[..., ScriptedServer]

NOTE = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}


def answer(exchange: Exchange) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": exchange.request.id, "result": {"ok": True}}


def by_json(exchange: Exchange) -> None:
    exchange.json(answer(exchange))


def by_sse(exchange: Exchange) -> None:
    exchange.sse()
    exchange.event(NOTE)
    exchange.event(answer(exchange))
    exchange.last_chunk()


# ------------------------------------------------------------------------------------------------------ JSON answers
def test_the_request_on_the_wire(scripted_server: Serve) -> None:
    """B059: the media type is bare; both answer types are listed, the event stream first."""
    server = scripted_server(by_json)
    with reach(server.url) as peer:
        assert peer.send(7, headers={"MCP-Protocol-Version": "2025-11-25"}) == {
            "jsonrpc": "2.0",
            "id": 7,
            "result": {"ok": True},
        }
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/mcp")
    assert request.header("Content-Type") == "application/json"
    assert request.header("Accept") == "text/event-stream, application/json"
    assert request.header("Accept-Encoding") == "identity"
    assert request.header("MCP-Protocol-Version") == "2025-11-25"
    assert request.header("Mcp-Session-Id") is None
    assert peer.inbox.received_[0][1] == 200


@pytest.mark.parametrize("media", ["application/json; charset=utf-8", "Application/JSON", "application/json;x=y"])
def test_json_media_types(scripted_server: Serve, media: str) -> None:
    """B060: parameters and case of a media type do not matter."""
    server = scripted_server(lambda exchange: exchange.respond(200, json.dumps(answer(exchange)), media))
    with reach(server.url) as peer:
        assert peer.send()["result"] == {"ok": True}


@pytest.mark.parametrize(
    "media", ["text/event-stream;charset=UTF-8", "text/event-stream; boundary=x", "Text/Event-Stream"]
)
def test_stream_media_types(scripted_server: Serve, media: str) -> None:
    """B060, for streams."""

    def script(exchange: Exchange) -> None:
        exchange.respond(200, f"data: {json.dumps(answer(exchange))}\n\n", media)

    with reach(scripted_server(script).url) as peer:
        assert peer.send()["result"] == {"ok": True}


@pytest.mark.parametrize("ident", [0, 3, "7"])
def test_an_answer_with_another_id(scripted_server: Serve, ident: object) -> None:
    """B010: a foreign id on an answer of our own is an error of this call."""
    server = scripted_server(lambda exchange: exchange.json({"jsonrpc": "2.0", "id": ident, "result": {}}))
    with reach(server.url) as peer, pytest.raises(UnexpectedMessage, match="another request") as caught:
        peer.send(7)
    assert (caught.value.server, caught.value.method, caught.value.request_id) == ("host/mcp", "tools/call", 7)


@pytest.mark.parametrize("body", ["", "{", "<html>", '{"jsonrpc": "2.0", "id": 1}'])
def test_json_that_is_no_message(scripted_server: Serve, body: str) -> None:
    """Truncated JSON and the like are an error of the call."""
    server = scripted_server(lambda exchange: exchange.respond(200, body, "application/json"))
    with reach(server.url) as peer:
        if body.startswith("{") and body.endswith("}"):
            peer.inbox.received = lambda *_: False  # type: ignore[method-assign]
        with pytest.raises(InvalidMessage, match="not a JSON-RPC message"):
            peer.send()


def test_a_body_that_ends_with_the_connection(scripted_server: Serve) -> None:
    """No length and no chunks: the end of the connection is the end of the body."""

    def script(exchange: Exchange) -> None:
        exchange.head(200, [("Content-Type", "application/json")])
        exchange.send(json.dumps(answer(exchange)).encode())
        exchange.close()

    with reach(scripted_server(script).url) as peer:
        assert peer.send()["result"] == {"ok": True}


def test_a_body_that_is_cut_off(scripted_server: Serve) -> None:
    """Fewer bytes than declared are a broken connection, not a short message."""

    def script(exchange: Exchange) -> None:
        exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "1000")])
        exchange.send(b'{"jsonrpc":')
        exchange.close()

    with reach(scripted_server(script).url) as peer, pytest.raises(ConnectionLost, match="during the answer") as caught:
        peer.send()
    assert caught.value.__cause__ is not None


# --------------------------------------------------------------------------------------------------- event streams
def test_events_before_the_answer(scripted_server: Serve) -> None:
    """B021, B026: notifications are handed on; comments, empty events and events of other names are nothing."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b": keep-alive\n\n")
        exchange.event("", ident="priming")
        exchange.event("not json", name="ping")
        exchange.event(NOTE)
        exchange.event(answer(exchange), name="message")
        exchange.last_chunk()

    with reach(scripted_server(script).url) as peer:
        peer.send(5)
        assert [message.get("method", message.get("id")) for message in peer.inbox.messages] == [NOTE["method"], 5]


def test_an_event_is_handed_on_at_once(scripted_server: Serve) -> None:
    """B027: an event that is there is not held back until more comes."""
    seen = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event(NOTE)
        exchange.wait(seen)
        exchange.event(answer(exchange))
        exchange.last_chunk()

    with reach(scripted_server(script).url) as peer:
        peer.inbox.on_message = lambda _: seen.set()
        assert peer.send()["result"] == {"ok": True}


def test_an_event_in_an_unfinished_chunk_is_handed_on_at_once(scripted_server: Serve) -> None:
    """B027, inside one chunk."""
    seen = threading.Event()

    def script(exchange: Exchange) -> None:
        events = [f"data: {json.dumps(message)}\n\n".encode() for message in (NOTE, answer(exchange))]
        exchange.sse()
        exchange.send(b"%x\r\n" % len(b"".join(events)) + events[0])
        exchange.wait(seen)
        exchange.send(events[1] + b"\r\n0\r\n\r\n")

    with reach(scripted_server(script).url) as peer:
        peer.inbox.on_message = lambda _: seen.set()
        assert peer.send()["result"] == {"ok": True}


def test_a_compressed_stream_is_decompressed_as_it_comes(scripted_server: Serve) -> None:
    """B029: each event arrives when it was flushed, compressed or not."""
    seen = threading.Event()

    def script(exchange: Exchange) -> None:
        packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
        exchange.sse([("Content-Encoding", "gzip")])
        for message in (NOTE, answer(exchange)):
            data = packer.compress(f"data: {json.dumps(message)}\n\n".encode())
            exchange.chunk(data + packer.flush(zlib.Z_SYNC_FLUSH))
            exchange.wait(seen)
        exchange.chunk(packer.flush())
        exchange.last_chunk()

    with reach(scripted_server(script).url) as peer:
        peer.inbox.on_message = lambda _: seen.set()
        assert peer.send()["result"] == {"ok": True}


def test_a_compressed_body(scripted_server: Serve) -> None:
    """B029, for JSON."""

    def script(exchange: Exchange) -> None:
        body = gzip.compress(json.dumps(answer(exchange)).encode())
        exchange.respond(200, body, "application/json", [("Content-Encoding", "gzip")])

    server = scripted_server(script)
    with reach(server.url) as peer:
        assert peer.send()["result"] == {"ok": True}
        assert peer.send(2)["id"] == 2
    assert server.connections == 1


def test_a_body_that_only_claims_to_be_compressed(scripted_server: Serve) -> None:
    headers = [("Content-Encoding", "gzip")]
    server = scripted_server(lambda exchange: exchange.json(answer(exchange), headers=headers))
    with reach(server.url) as peer, pytest.raises(InvalidMessage, match="decompressed"):
        peer.send()


def ends_cleanly(exchange: Exchange) -> None:
    exchange.sse()
    exchange.last_chunk()


def ends_after_a_note(exchange: Exchange) -> None:
    exchange.sse()
    exchange.event(NOTE)
    exchange.last_chunk()


def is_cut(exchange: Exchange) -> None:
    exchange.sse()
    exchange.close()


def is_cut_in_an_event(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "text/event-stream")])
    exchange.send(f"data: {json.dumps(answer(exchange))}\n".encode())
    exchange.close()


@pytest.mark.parametrize("script", [ends_cleanly, ends_after_a_note, is_cut, is_cut_in_an_event])
def test_a_stream_without_an_answer(scripted_server: Serve, script: Script) -> None:
    """B001: a stream that ends before the answer is an error at once, however it ends."""
    expected = pytest.raises((UnexpectedMessage, ConnectionLost), match=r"without a response|broke during the answer")
    with reach(scripted_server(script).url) as peer, within(1), expected:
        peer.send()


def test_streams_keep_their_connection(scripted_server: Serve) -> None:
    """The last chunk is waited for after the answer, though it comes on its own."""
    server = scripted_server(by_sse)
    with reach(server.url) as peer:
        for ident in range(20):
            assert peer.send(ident)["id"] == ident
    assert server.connections <= 2


def test_a_stream_that_is_left_open_after_the_answer(scripted_server: Serve) -> None:
    """The call ends with its answer; the connection is given up."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event(answer(exchange))
        exchange.hold()

    server = scripted_server(script)
    with reach(server.url) as peer:
        for ident in range(3):
            with within(1):
                assert peer.send(ident)["id"] == ident
        server.wait_until(lambda: server.open_connections == 0)
    assert server.connections == 3


def test_a_stream_that_never_stops_talking_after_the_answer(scripted_server: Serve) -> None:
    """What comes after the answer is not waited for, however much it is."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event(answer(exchange))
        while not exchange.gone():
            exchange.event(NOTE)

    with reach(scripted_server(script).url) as peer, within(1):
        assert peer.send()["id"] == 1


# ---------------------------------------------------------------------------------------------------------- statuses
@pytest.mark.parametrize("status", [202, 204])
def test_a_request_that_is_only_accepted(scripted_server: Serve, status: int) -> None:
    """B057: there is no stream on which the answer could come, so the call fails soon."""
    server = scripted_server(lambda exchange: exchange.respond(status))
    with reach(server.url) as peer, within(1), pytest.raises(UnexpectedMessage, match=f"HTTP {status} to a request"):
        peer.send()


@pytest.mark.parametrize("status", [200, 202, 204])
def test_a_notification_is_accepted(scripted_server: Serve, status: int) -> None:
    """B054: any 2xx will do, and the connection is kept."""
    server = scripted_server(lambda exchange: exchange.respond(status))
    with reach(server.url) as peer:
        for _ in range(3):
            assert peer.send(None, kind="notification", method="notifications/initialized") is None
    assert server.connections == 1


def test_a_notification_that_is_answered(scripted_server: Serve) -> None:
    """B056: what a notification is answered with goes nowhere."""
    server = scripted_server(lambda exchange: exchange.json({"jsonrpc": "2.0", "id": None}))
    with reach(server.url) as peer:
        peer.send(None, kind="notification")
        peer.send(9, kind="response")
        assert peer.inbox.messages == []


def test_a_notification_that_is_refused(scripted_server: Serve) -> None:
    error = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "no"}}
    server = scripted_server(lambda exchange: exchange.json(error, 400))
    with reach(server.url) as peer:
        with pytest.raises(HttpStatusError, match="HTTP 400"):
            peer.send(None, kind="notification")
        assert peer.inbox.messages == []


def test_a_notification_that_is_not_answered(scripted_server: Serve) -> None:
    """B065: it ends with its own deadline and calls of other threads go on meanwhile."""
    arrived = threading.Event()

    def script(exchange: Exchange) -> None:
        if exchange.request.rpc == "notifications/cancelled":
            arrived.set()
            exchange.hold()
        else:
            by_json(exchange)

    with reach(scripted_server(script).url) as peer:
        raised: list[BaseException] = []

        def notify() -> None:
            try:
                peer.send(None, kind="notification", method="notifications/cancelled", seconds=1.0)
            except RequestTimeout as error:
                raised.append(error)

        thread = threading.Thread(target=notify)
        thread.start()
        assert arrived.wait(SOON)
        assert peer.send()["result"] == {"ok": True}
        thread.join(SOON)
        assert raised


@pytest.mark.parametrize("status", [400, 403, 405, 413, 429, 500, 502, 503])
def test_failures_of_http(scripted_server: Serve, status: int) -> None:
    """B003: raised at once, with status, URL and the beginning of the body."""
    headers = [("Retry-After", "7"), ("X-Trace", "abc"), ("Set-Cookie", "a=secret"), ("Mcp-Session-Id", "secret")]
    server = scripted_server(lambda exchange: exchange.respond(status, "down for\nrepair", "text/plain", headers))
    with reach(server.url + "?token=secret") as peer, within(1), pytest.raises(HttpStatusError) as caught:
        peer.send(3)
    error = caught.value
    assert str(error) == f"host/mcp: tools/call: HTTP {status}: down for repair"
    assert (error.status, error.url, error.body_preview) == (status, server.url, "down for\nrepair")
    assert (error.retry_after, error.headers["x-trace"], error.request_id) == (7.0, "abc", 3)
    assert "secret" not in repr(vars(error))


@pytest.mark.parametrize("challenge", ['Bearer realm="x", error="invalid_token"', None])
def test_unauthorized(scripted_server: Serve, challenge: str | None) -> None:
    """B003: 401 has a type of its own, with the challenge where there is one."""
    headers = [("WWW-Authenticate", challenge)] if challenge else []
    server = scripted_server(lambda exchange: exchange.respond(401, "who?", "text/plain", headers))
    with reach(server.url) as peer:
        with pytest.raises(AuthRequired) as caught:
            peer.send()
        with pytest.raises(AuthRequired):
            peer.send()
    assert (caught.value.www_authenticate, caught.value.status, caught.value.url) == (challenge, 401, server.url)
    assert server.connections == 1


@pytest.mark.parametrize("status", [400, 404, 500])
@pytest.mark.parametrize("ident", [{"id": 1}, {"id": None}, {}])
def test_a_json_rpc_error_with_a_status(scripted_server: Serve, status: int, ident: dict[str, Any]) -> None:
    """B004: the JSON-RPC error is the answer, and its HTTP status goes along; one without an id is ours."""
    error = {"jsonrpc": "2.0", "error": {"code": -32602, "message": "no such tool"}} | ident
    server = scripted_server(lambda exchange: exchange.json(error, status))
    with reach(server.url) as peer:
        assert peer.send(1) == error
        assert peer.inbox.received_ == [(error, status)]


@pytest.mark.parametrize("media", ["text/html; charset=utf-8", None])
def test_neither_json_nor_a_stream(scripted_server: Serve, media: str | None) -> None:
    """B006: the error quotes the media type and shows the page."""
    server = scripted_server(lambda exchange: exchange.respond(200, "<h1>Log in</h1>", media))
    with reach(server.url) as peer, within(1), pytest.raises(HttpStatusError) as caught:
        peer.send()
    assert ("text/html" if media else "no media type") in str(caught.value)
    assert caught.value.body_preview == "<h1>Log in</h1>"


def test_a_long_page_is_shortened(scripted_server: Serve) -> None:
    """The preview ends between characters and says how much is missing."""
    server = scripted_server(lambda exchange: exchange.respond(500, "é" * 4500, "text/plain"))
    with reach(server.url) as peer, pytest.raises(HttpStatusError) as caught:
        peer.send()
    assert caught.value.body_preview == "é" * 4096 + "… (808 more bytes)"


def test_an_endless_page(scripted_server: Serve) -> None:
    """A failure's body is read only as far as it can be shown."""

    def script(exchange: Exchange) -> None:
        exchange.head(500, [("Content-Type", "text/html")])
        while not exchange.gone():
            exchange.send(b"<p>" * 10000)

    with reach(scripted_server(script).url) as peer, pytest.raises(HttpStatusError) as caught:
        peer.send()
    assert caught.value.body_preview.startswith("<p><p>")


def test_a_failure_whose_body_breaks_off(scripted_server: Serve) -> None:
    """The status is what counts."""

    def script(exchange: Exchange) -> None:
        exchange.head(503, [("Content-Type", "text/plain"), ("Content-Length", "100")])
        exchange.send(b"over")
        exchange.close()

    with reach(scripted_server(script).url) as peer, pytest.raises(HttpStatusError, match="HTTP 503: over"):
        peer.send()


# ---------------------------------------------------------------------------------------------------------- deadlines
def drips_headers(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not exchange.gone():
        exchange.send(b"x")
        time.sleep(0.02)


def drips_json(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "100000")])
    while not exchange.gone():
        exchange.send(b" ")
        time.sleep(0.02)


def drips_comments(exchange: Exchange) -> None:
    exchange.sse()
    while not exchange.gone():
        exchange.chunk(b": ping\n\n")
        time.sleep(0.02)


def never_ends_its_json(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
    exchange.chunk(json.dumps(answer(exchange)).encode())
    exchange.hold()


@pytest.mark.parametrize(
    "script", [Exchange.hold, drips_headers, drips_json, drips_comments, never_ends_its_json], ids=lambda s: s.__name__
)
def test_the_deadline_is_the_wall_clock(scripted_server: Serve, script: Script) -> None:
    """B009, B013, B026: it covers the whole exchange, not each read; keep-alives do not push it back."""
    server = scripted_server(script)
    with reach(server.url) as peer:
        with within(0.4), pytest.raises(RequestTimeout, match=r"no answer within 0\.4 s") as caught:
            peer.send(4, seconds=0.4)
        assert isinstance(caught.value, TimeoutError)
        assert caught.value.request_id == 4
        server.wait_until(lambda: server.open_connections == 0)


def test_a_deadline_that_has_passed(scripted_server: Serve) -> None:
    server = scripted_server(by_json)
    with reach(server.url) as peer, pytest.raises(RequestTimeout):
        peer.send(seconds=0.0)
    assert server.requests == []


def test_progress_extends_the_deadline(scripted_server: Serve) -> None:
    """What the sink does to the deadline counts for the read that follows."""
    events = 6

    def script(exchange: Exchange) -> None:
        exchange.sse()
        for _ in range(events):
            time.sleep(0.3)
            exchange.event(NOTE)
        exchange.event(answer(exchange))
        exchange.last_chunk()

    with reach(scripted_server(script).url) as peer:
        deadline = Deadline(1.0, total=SOON)
        peer.inbox.on_message = lambda _: deadline.extend()
        assert peer.send(seconds=deadline)["result"] == {"ok": True}


# ------------------------------------------------------------------------------------------------------------- limits
def test_the_limit_of_a_body(scripted_server: Serve) -> None:
    """At the limit is fine, a byte more is not."""
    server = scripted_server(lambda exchange: exchange.respond(200, padded(exchange, 500), "application/json"))
    with reach(server.url, message_bytes=500) as peer:
        assert peer.send()["id"] == 1
    with reach(server.url, message_bytes=499) as peer, pytest.raises(InvalidMessage, match="over 499 bytes"):
        peer.send()


def padded(exchange: Exchange, size: int) -> bytes:
    return json.dumps(answer(exchange)).encode().ljust(size)


def test_a_declared_length_over_the_limit(scripted_server: Serve) -> None:
    """It fails before any of the body has come."""

    def script(exchange: Exchange) -> None:
        exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "501")])
        exchange.hold()

    with reach(scripted_server(script).url, message_bytes=500) as peer, within(1), pytest.raises(InvalidMessage):
        peer.send()


@pytest.mark.parametrize("encoded", [False, True])
def test_chunks_over_the_limit(scripted_server: Serve, encoded: bool) -> None:
    """It fails when the limit is crossed, not at the end; what counts is what the bytes unpack to."""

    def script(exchange: Exchange) -> None:
        headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
        if encoded:
            exchange.head(200, [*headers, ("Content-Encoding", "gzip")])
            exchange.chunk(gzip.compress(padded(exchange, 1 << 20)))
        else:
            exchange.head(200, headers)
            exchange.chunk(padded(exchange, 300))
            exchange.chunk(b" " * 300)
        exchange.hold()

    with reach(scripted_server(script).url, message_bytes=500) as peer, within(1), pytest.raises(InvalidMessage):
        peer.send()


def test_a_stream_over_the_limit(scripted_server: Serve) -> None:
    """Comments and padding count, and the waiting call fails."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        while not exchange.gone():
            exchange.chunk(b":" + b"x" * 1000 + b"\n\n")

    with reach(scripted_server(script).url, message_bytes=100_000) as peer, within(2), pytest.raises(InvalidMessage):
        peer.send()


def test_an_event_over_the_limit(scripted_server: Serve) -> None:
    """B030: an endless line stops at the limit."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b"data: ")
        while not exchange.gone():
            exchange.chunk(b"x" * 10_000)

    with reach(scripted_server(script).url, event_bytes=100_000) as peer, within(2), pytest.raises(InvalidMessage):
        peer.send()


@pytest.mark.parametrize("how", ["json", "sse"])
def test_no_limit(scripted_server: Serve, how: str) -> None:
    """B030: a very large message passes."""
    text = "x" * (20 << 20)

    def script(exchange: Exchange) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "result": {"text": text}}
        if how == "json":
            exchange.json(message)
        else:
            exchange.sse()
            exchange.event(message)
            exchange.last_chunk()

    server = scripted_server(script)
    with reach(server.url) as peer:
        assert peer.send()["result"]["text"] == text
        assert peer.send()["id"] == 1
    assert server.connections == 1


# ------------------------------------------------------------------------------------------------------------ sessions
def opening(how: str, session: str = "s-1") -> Script:
    def script(exchange: Exchange) -> None:
        headers = [("Mcp-Session-Id", session)]
        if how == "json":
            exchange.json(answer(exchange), headers=headers)
        else:
            exchange.sse(headers)
            exchange.event(answer(exchange))
            exchange.last_chunk()

    return script


@pytest.mark.parametrize("how", ["json", "sse"])
def test_a_session_is_adopted_and_ended(scripted_server: Serve, how: str) -> None:
    """B051: its id goes with everything that follows, and with a DELETE at the end."""
    server = scripted_server(opening(how), by_json, lambda exchange: exchange.respond(202), by_json)
    with reach(server.url) as peer:
        peer.send(1, method="initialize")
        peer.send(2, headers={"MCP-Protocol-Version": "2025-11-25"})
        peer.send(None, kind="notification", headers={"MCP-Protocol-Version": "2025-11-25"})
        assert "s-1" not in repr(peer.transport)
    sent = [(request.method, request.header("Mcp-Session-Id")) for request in server.requests]
    assert sent == [("POST", None), ("POST", "s-1"), ("POST", "s-1"), ("DELETE", "s-1")]
    assert server.requests[-1].header("MCP-Protocol-Version") == "2025-11-25"
    assert server.requests[-1].header("Content-Type") is None


def test_the_first_session_stays(scripted_server: Serve) -> None:
    """An id that comes with an answer to a message that carried one is not adopted."""
    server = scripted_server(opening("json", "one"), opening("json", "two"), by_json)
    with reach(server.url) as peer:
        for ident in range(3):
            peer.send(ident)
    assert [request.header("Mcp-Session-Id") for request in server.requests] == [None, "one", "one", "one"]


def test_a_forgotten_session(scripted_server: Serve) -> None:
    """B047: a new start carries no session id, and nothing else is sent before it."""
    server = scripted_server(opening("json", "one"), opening("json", "two"), by_json)
    with reach(server.url) as peer:
        peer.send(1)
        peer.transport.forget_session()
        with pytest.raises(SessionExpired):
            peer.send(5)
        peer.send(2, opening=True)
        peer.send(3)
    assert [request.header("Mcp-Session-Id") for request in server.requests] == [None, None, "two", "two"]


def test_no_sessions_in_the_modern_era(scripted_server: Serve) -> None:
    """There an id is ignored, and there is no DELETE."""
    server = scripted_server(opening("json"), by_json)
    with reach(server.url) as peer:
        peer.transport.sessions = False
        peer.send(1)
        peer.send(2)
    assert [(request.method, request.header("Mcp-Session-Id")) for request in server.requests] == [("POST", None)] * 2


@pytest.mark.parametrize("session", ["two words", "caf\xe9", "tab\there"])
def test_a_session_id_that_is_not_visible_ascii(scripted_server: Serve, session: str) -> None:
    """It is not adopted; the finding does not show it."""
    server = scripted_server(opening("json", session), by_json)
    with reach(server.url) as peer:
        peer.send(1)
        peer.send(2)
        (finding,) = peer.inbox.findings
    assert finding == ("session-id-invalid", "Mcp-Session-Id", f"{len(session)} characters")
    assert server.requests[1].header("Mcp-Session-Id") is None


def test_an_id_on_a_failure_is_not_adopted(scripted_server: Serve) -> None:
    server = scripted_server(lambda exchange: exchange.respond(500, headers=[("Mcp-Session-Id", "s")]), by_json)
    with reach(server.url) as peer:
        with pytest.raises(HttpStatusError):
            peer.send(1)
        peer.send(2)
    assert server.requests[1].header("Mcp-Session-Id") is None


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (404, "", SessionExpired),
        (404, '{"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "gone"}}', SessionExpired),
        (
            400,
            '{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No valid session"}}',
            SessionExpired,
        ),
        (404, '{"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "no method"}}', None),
    ],
)
def test_an_expired_session(
    scripted_server: Serve, status: int, body: str, expected: type[SynclineError] | None
) -> None:
    """B048, B053: the body decides whether it is the session or the method that is missing."""
    failing: Script = lambda exchange: exchange.respond(status, body, "application/json")  # noqa: E731
    server = scripted_server(opening("json", "secret-id"), failing, by_json)
    with reach(server.url) as peer:
        peer.send(1)
        if expected is None:
            assert peer.send(2)["error"]["code"] == -32601
        else:
            with pytest.raises(expected) as caught:
                peer.send(2)
            assert "secret-id" not in str(caught.value)


def test_404_without_a_session(scripted_server: Serve) -> None:
    """B053: that is a wrong address, or a method that is not there."""
    missing = {"jsonrpc": "2.0", "id": 2, "error": {"code": -32601, "message": "no method"}}
    server = scripted_server(lambda exchange: exchange.respond(404), lambda exchange: exchange.json(missing, 404))
    with reach(server.url) as peer:
        with pytest.raises(HttpStatusError, match="HTTP 404"):
            peer.send(1)
        assert peer.send(2) == missing


@pytest.mark.parametrize("status", [200, 204, 405, 404, 500])
def test_whatever_comes_of_the_delete_is_ignored(scripted_server: Serve, status: int) -> None:
    """B050: closing never raises because of it."""
    server = scripted_server(opening("json"), lambda exchange: exchange.respond(status))
    with reach(server.url) as peer:
        peer.send()
        peer.close()
        peer.close()
    assert [request.method for request in server.requests] == ["POST", "DELETE"]


def test_a_delete_that_is_never_answered(scripted_server: Serve) -> None:
    """B050: closing takes as long as it may, and no longer."""
    server = scripted_server(opening("json"), Exchange.hold)
    with reach(server.url) as peer:
        peer.send()
        with within(0.5):
            peer.close(0.5)


def test_a_delete_that_is_refused(scripted_server: Serve) -> None:
    """B050: the server is gone already."""
    server = scripted_server(opening("json"))
    with reach(server.url) as peer:
        peer.send()
        server.close()
        with within(1):
            peer.close()

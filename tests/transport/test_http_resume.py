"""An answer whose stream is cut off: where it is resumed, when, and when not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.errors import (
    AuthRequired,
    ConnectionClosed,
    ConnectionLost,
    HttpStatusError,
    InvalidMessage,
    RequestTimeout,
    SessionExpired,
    UnexpectedMessage,
)
from syncline.protocol import trail
from syncline.transport.base import Outgoing
from syncline.transport.http import ATTEMPTS
from syncline.transport.http_exchange import Pause
from tests.fixtures.http import SOON, Peer, reach, within
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import Exchange, Script, ScriptedServer

Serve = Callable[..., ScriptedServer]

VERSION = {"MCP-Protocol-Version": "2025-11-25"}
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}


def note(step: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": step}}


def end_cleanly(exchange: Exchange) -> None:
    exchange.last_chunk()


def end_in_the_middle(exchange: Exchange) -> None:
    exchange.send(b"40\r\nid: 99\ndata: {")
    exchange.close()


ENDS = [end_cleanly, Exchange.close, Exchange.reset, end_in_the_middle]


def primed(ident: str = "1", retry: int | None = None, end: Script = end_cleanly) -> Script:
    """The first event has an id and no data, and then it is over."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event("", ident=ident, retry=retry)
        end(exchange)

    return script


def streamed(*messages: Any, first: int = 2, end: Script = end_cleanly) -> Script:
    """Events with ids that count up from ``first``, and then it is over."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        for number, message in enumerate(messages, first):
            exchange.event(message, ident=str(number))
        end(exchange)

    return script


def resumes(server: ScriptedServer) -> list[str | None]:
    """The ids that the server was asked to resume from."""
    return [request.header("Last-Event-ID") for request in server.requests if request.method == "GET"]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts in vain cost no time."""
    monkeypatch.setattr(trail, "FIRST", 0.0)


# ----------------------------------------------------------------------------------------------------------- resuming
@pytest.mark.parametrize("end", ENDS)
def test_the_rest_of_an_answer_is_asked_for(scripted_server: Serve, end: Script) -> None:
    """B038, RES-2, 4.11: by GET, with the id of that stream, the session and the revision."""
    server = scripted_server(
        lambda exchange: exchange.json({**ANSWER, "id": 0}, headers=[("Mcp-Session-Id", "s1")]),
        primed(end=end),
        streamed(ANSWER),
    )
    with reach(server.url, headers={"X-Mine": "yes"}) as peer:
        peer.send(0)
        assert peer.send(headers=VERSION) == ANSWER
    _, post, get, _ = server.requests
    assert (post.method, get.method, get.path, get.body) == ("POST", "GET", "/mcp", b"")
    assert "text/event-stream" in (get.header("Accept") or "")
    assert get.header("Content-Type") is None
    assert (get.header("Last-Event-ID"), get.header("Mcp-Session-Id")) == ("1", "s1")
    assert (get.header("MCP-Protocol-Version"), get.header("X-Mine")) == ("2025-11-25", "yes")
    assert post.header("Last-Event-ID") is None


def test_the_server_says_when(scripted_server: Serve) -> None:
    """B023, B038, RES-6: not before, whether the delay comes with an event or alone, and for later cuts, too."""
    cuts: list[float] = []
    arrivals: list[float] = []

    def timed(script: Script) -> Script:
        def run(exchange: Exchange) -> None:
            arrivals.append(time.monotonic())
            script(exchange)
            cuts.append(time.monotonic())

        return run

    def alone(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b"retry: 300\n\n")
        exchange.event(note(1), ident="2")
        exchange.last_chunk()

    server = scripted_server(
        timed(primed(retry=100)), timed(alone), timed(streamed(note(2), first=3)), timed(streamed(ANSWER, first=4))
    )
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
    gaps = [arrival - cut for arrival, cut in zip(arrivals[1:], cuts[:-1], strict=True)]
    assert all(gap > due - 0.02 for gap, due in zip(gaps, (0.1, 0.3, 0.3), strict=True)), gaps


def test_many_cuts_in_one_answer(scripted_server: Serve) -> None:
    """B039: each part is handed on once, though the server repeats itself; the ids are those of the last event."""
    cut = Exchange.close
    server = scripted_server(
        primed(),
        streamed(note(1), note(2), first=2, end=cut),
        streamed(note(2), note(3), first=3),
        streamed(note(4), first=5, end=cut),
        streamed(note(3), note(4), note(5), first=4),
        streamed(ANSWER, first=7),
    )
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
        assert peer.inbox.messages == [*(note(step) for step in range(1, 6)), ANSWER]
    assert resumes(server) == ["1", "3", "4", "5", "6"]


def test_a_cut_follows_a_cut_for_as_long_as_it_brings_something(scripted_server: Serve) -> None:
    parts = [streamed(note(step), first=step) for step in range(1, 4 * ATTEMPTS)]
    server = scripted_server(*parts, streamed(ANSWER, first=1000))
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
    assert len(resumes(server)) == len(parts)


def test_each_stream_has_an_id_of_its_own(scripted_server: Serve) -> None:
    """RES-2: two answers are cut at the same time; each is resumed from its own event."""
    both_wait = threading.Barrier(2)

    def script(exchange: Exchange) -> None:
        if exchange.request.method == "POST":
            ident = exchange.request.id
            exchange.sse()
            exchange.event("", ident=f"stream-{ident}")
            both_wait.wait(SOON)
            exchange.last_chunk()
        else:
            ident = int((exchange.request.header("Last-Event-ID") or "").removeprefix("stream-"))
            streamed({**ANSWER, "id": ident})(exchange)

    server = scripted_server(script)
    with reach(server.url) as peer:
        calls = [Background(lambda ident=ident: peer.send(ident)) for ident in (1, 2)]  # type: ignore[misc]
        for call in calls:
            call.result()
        assert sorted(message["id"] for message in peer.inbox.messages) == [1, 2]


def test_an_id_beyond_ascii(scripted_server: Serve) -> None:
    """HTML Living Standard, 9.2.6: the header has the id's UTF-8."""
    server = scripted_server(primed("ä-1"), streamed(ANSWER))
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
    assert [(ident or "").encode("latin-1").decode() for ident in resumes(server)] == ["ä-1"]


@pytest.mark.parametrize(
    "block",
    [
        b"id: 2\0\ndata:\n\n",  # B020
        b"retry: 1e9\n\n",  # B024
        b"retry: -1\nretry:\n\n",  # B024
        "retry: \u0665\u0665\u0665\u0665\n\n".encode(),  # B024
    ],
)
def test_an_id_or_a_delay_that_is_none_changes_nothing(scripted_server: Serve, block: bytes) -> None:
    """B020, B024: the answer is resumed from the id before, at once."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event("", ident="1")
        exchange.chunk(block)
        exchange.last_chunk()

    server = scripted_server(script, streamed(ANSWER))
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
    assert resumes(server) == ["1"]


def test_the_session_that_the_answer_itself_brings(scripted_server: Serve) -> None:
    """The answer to ``initialize`` may be cut off, too."""

    def begin(exchange: Exchange) -> None:
        exchange.sse([("Mcp-Session-Id", "new")])
        exchange.event("", ident="1")
        exchange.last_chunk()

    server = scripted_server(begin, streamed(ANSWER))
    with reach(server.url) as peer:
        assert peer.send(method="initialize") == ANSWER
        assert server.requests[1].header("Mcp-Session-Id") == "new"


def test_a_redirect_on_the_way(scripted_server: Serve) -> None:
    """B062, for the GET."""
    server = scripted_server(
        primed(), lambda exchange: exchange.respond(307, headers=[("Location", "/mcp/")]), streamed(ANSWER)
    )
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
    assert [(request.method, request.path) for request in server.requests[1:]] == [("GET", "/mcp"), ("GET", "/mcp/")]
    assert resumes(server) == ["1", "1"]


def test_a_server_that_is_away_for_a_moment(scripted_server: Serve, at_once: None) -> None:
    """Attempts that do not get through are attempts in vain; 409 is for a stream whose cut it has not noticed yet."""
    refusals: list[Script] = [lambda exchange, status=status: exchange.respond(status) for status in (409, 503)]  # type: ignore[misc]
    server = scripted_server(primed(end=Exchange.close), *refusals, Exchange.reset, Exchange.reset, streamed(ANSWER))
    with reach(server.url) as peer:
        assert peer.send() == ANSWER


def test_the_limit_of_a_body_counts_all_parts(scripted_server: Serve) -> None:
    text = "x" * 600
    parts = [streamed({**note(step), "text": text}, first=step) for step in range(1, 4)]
    server = scripted_server(*parts, streamed(ANSWER, first=9))
    with reach(server.url, message_bytes=2000) as peer, pytest.raises(InvalidMessage, match="over 2000 bytes"):
        peer.send()


# ------------------------------------------------------------------------------------------------------ not resuming
@pytest.mark.parametrize("end", ENDS)
def test_no_id_no_resumption(scripted_server: Serve, end: Script) -> None:
    """RES-7: the answer is lost, and nobody asks for it."""

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event(note(1))
        end(exchange)

    server = scripted_server(script)
    with reach(server.url) as peer, pytest.raises((ConnectionLost, UnexpectedMessage)):
        peer.send()
    assert len(server.requests) == 1


@pytest.mark.parametrize("end", ENDS)
def test_the_stateless_era_resumes_nothing(scripted_server: Serve, end: Script) -> None:
    """RES-9, MH-1: whatever ids and delays the server sends."""
    server = scripted_server(primed(retry=0, end=end))
    with reach(server.url) as peer:
        peer.transport.sessions = False
        with pytest.raises((ConnectionLost, UnexpectedMessage)):
            peer.send()
    assert [request.method for request in server.requests] == ["POST"]


def test_an_id_that_no_header_can_carry(scripted_server: Serve) -> None:
    server = scripted_server(primed("a\x01b"))
    with reach(server.url) as peer, pytest.raises(UnexpectedMessage, match="without a response"):
        peer.send()
    assert len(server.requests) == 1


def test_an_id_that_is_taken_back(scripted_server: Serve) -> None:
    """HTML Living Standard, 9.2.6: an empty id resets it."""
    server = scripted_server(primed(), primed(""))
    with reach(server.url) as peer, pytest.raises(UnexpectedMessage, match="without a response"):
        peer.send()
    assert resumes(server) == ["1"]


@pytest.mark.parametrize(
    ("status", "cause"),
    [(404, SessionExpired), (405, HttpStatusError), (400, HttpStatusError), (501, HttpStatusError),
     (403, HttpStatusError), (401, AuthRequired)],
)  # fmt: skip
def test_a_server_that_does_not_resume(scripted_server: Serve, status: int, cause: type[Exception]) -> None:
    """One GET; and the request may have run, so it is a lost connection even where the session is gone."""
    server = scripted_server(
        lambda exchange: exchange.json({**ANSWER, "id": 0}, headers=[("Mcp-Session-Id", "s1")]),
        primed(),
        lambda exchange: exchange.respond(status),
    )
    with reach(server.url) as peer:
        peer.send(0)
        with pytest.raises(ConnectionLost, match="the server does not resume it") as caught:
            peer.send()
    assert isinstance(caught.value.__cause__, cause)
    assert (caught.value.server, caught.value.method, caught.value.request_id) == ("host/mcp", "tools/call", 1)
    assert resumes(server) == ["1"]


def test_a_server_that_answers_something_else(scripted_server: Serve) -> None:
    server = scripted_server(primed(), lambda exchange: exchange.respond(200, "<html>", "text/html"))
    with reach(server.url) as peer, pytest.raises(ConnectionLost, match="text/html"):
        peer.send()


@pytest.mark.parametrize(
    "again",
    [
        primed(),
        primed(end=Exchange.close),
        Exchange.reset,
        streamed(),
        lambda exchange: exchange.respond(500),
        lambda exchange: exchange.respond(409),
    ],
)
def test_attempts_that_bring_nothing_are_counted(scripted_server: Serve, at_once: None, again: Script) -> None:
    """B033."""
    first = primed()
    server = scripted_server(lambda exchange: (first if exchange.request.method == "POST" else again)(exchange))
    with reach(server.url) as peer, pytest.raises(ConnectionLost, match="5 attempts to resume it brought nothing new"):
        peer.send()
    got = len(resumes(server))
    assert got == ATTEMPTS or again is Exchange.reset  # a dead connection of the pool is tried once more


def test_new_ids_alone_are_nothing_new(scripted_server: Serve, at_once: None) -> None:
    """B033, for a server that counts on."""
    server = scripted_server(lambda exchange: primed(str(len(exchange.server.requests)))(exchange))
    with reach(server.url) as peer, pytest.raises(ConnectionLost, match="brought nothing new"):
        peer.send()
    assert resumes(server) == ["1", "2", "3", "4", "5"]


def test_a_server_that_wants_to_be_polled(scripted_server: Serve) -> None:
    """SEP-1699: with a delay, an id alone says that the answer is still to come."""
    polls = [primed(str(number), retry=5) for number in range(3 * ATTEMPTS)]
    server = scripted_server(*polls, streamed(ANSWER))
    with reach(server.url) as peer:
        assert peer.send() == ANSWER
    assert len(resumes(server)) == len(polls)


# ------------------------------------------------------------------------------------------------ ends of the waiting
def test_the_deadline_covers_the_waiting(scripted_server: Serve) -> None:
    server = scripted_server(primed(retry=60_000))
    with reach(server.url) as peer, within(0.3), pytest.raises(RequestTimeout, match=r"within 0\.3 s"):
        peer.send(seconds=0.3)
    assert resumes(server) == []


def test_the_deadline_covers_what_is_resumed(scripted_server: Serve) -> None:
    server = scripted_server(primed(), Exchange.hold)
    with reach(server.url) as peer, within(0.3), pytest.raises(RequestTimeout):
        peer.send(seconds=0.3)


@pytest.mark.parametrize("during", ["wait", "head", "body"])
@pytest.mark.parametrize("how", ["close", "abandon"])
def test_it_is_ended_from_another_thread(scripted_server: Serve, during: str, how: str) -> None:
    parked = threading.Event()

    def second(exchange: Exchange) -> None:
        if during == "body":
            exchange.sse()
            exchange.event("", ident="2")
        parked.set()
        exchange.hold()

    server = scripted_server(primed(retry=60_000 if during == "wait" else None), second)
    with reach(server.url) as peer:
        message = Outgoing(b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', "request", "tools/call", 1)
        call = Background(lambda: peer.transport.send(message, Deadline(SOON)))
        if during == "wait":
            _until_it_pauses(peer)
        else:
            assert parked.wait(SOON)
        with within(0.5):
            if how == "close":
                peer.close()
            else:
                peer.transport.abandon(message)
            with pytest.raises((ConnectionClosed, ConnectionLost)):
                call.result()
        assert len(resumes(server)) == (0 if during == "wait" else 1)


def _until_it_pauses(peer: Peer) -> None:
    limit = time.monotonic() + SOON
    while not any(isinstance(part, Pause) for part in list(peer.transport._exchanges._running)):
        assert time.monotonic() < limit
        time.sleep(0.005)

"""HTTP+SSE, the transport of 2024-11-05 (specification, basic/transports of that revision; deprecated since).

One event stream brings everything that the server says, on a thread of its own; its first event names the address for
what the client says. The stream is the session: where it ends, both have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.workers import join, spawn
from syncline.errors import ConnectionLost, SynclineError, UnexpectedMessage
from syncline.protocol.answers import Meaning, endpoint_url
from syncline.protocol.sse import SseEvent, SseParser

from .base import Outgoing, Sink
from .http_body import stream
from .http_way import HttpAnswer, HttpWay

if TYPE_CHECKING:
    from syncline.concurrency.workers import Thread

_GET: Mapping[str, str] = {"Accept": "text/event-stream"}
_POST: Mapping[str, str] = {"Content-Type": "application/json", "Accept": "*/*"}


class LegacySseTransport:
    """The way to a server whose URL is that of the event stream.

    Args:
        way: The way to that URL; closed with the transport.
        event_bytes: The largest event; None for no limit.
        name: What errors call the server.
    """

    shared = True
    sessions = False
    stderr_tail = ()

    def __init__(self, way: HttpWay, *, event_bytes: int | None, name: str) -> None:
        self._way = way
        self._event_bytes = event_bytes
        self._name = name
        self._threads: list[Thread] = []
        self._endpoint: str
        self._sink: Sink

    def start(self, sink: Sink, deadline: Deadline) -> None:
        """Open the stream and wait for its first event.

        Blocks until the deadline at most; ``close()`` ends it. Raises ``ConnectFailed``, ``HttpStatusError``,
        ``AuthRequired``, ``RequestTimeout``, and ``UnexpectedMessage`` for a stream that does not begin as it should.
        """
        self._sink = sink
        message = Outgoing(b"", "request", "GET", opening=True)
        try:
            with ExitStack() as unless_it_begins:
                answer = unless_it_begins.enter_context(
                    self._way.open("GET", self._way.headers(_GET), message, deadline)
                )
                events = self._begin(answer)
                unless_it_begins.pop_all()
        except SynclineError as error:
            error.at(self._name)
            raise
        answer.exchange.deadline = Deadline(None)
        self._threads.append(spawn(f"syncline:{self._name}:sse", lambda: self._run(answer, events)))

    def _begin(self, answer: HttpAnswer) -> Iterator[SseEvent]:
        """The events after the first one, which says where to post."""
        meaning = answer.judge("listen")
        if meaning is not Meaning.STREAM:
            raise answer.refusal(meaning)
        events = self._events(answer)
        first = next(events, None)
        if first is None or first.event != "endpoint":
            raise UnexpectedMessage("the event stream does not begin with an endpoint")
        self._endpoint = endpoint_url(answer.url, first.data)
        return events

    def _events(self, answer: HttpAnswer) -> Iterator[SseEvent]:
        parser = SseParser(self._event_bytes)
        for piece in stream(answer.response, answer.exchange):
            yield from parser.feed(piece)
            if parser.failure is not None:
                raise parser.failure

    def _run(self, answer: HttpAnswer, events: Iterator[SseEvent]) -> None:
        """Hand on what comes, until the stream ends."""
        end: SynclineError = ConnectionLost("the event stream has ended, and with it the session")
        try:
            with answer:
                for event in events:
                    if event.event == "message":
                        self._sink.received(event.data)
        except ConnectionLost as error:
            end.__cause__ = error
        except SynclineError as error:
            end = error
        if not self._way.exchanges.closed:
            self._sink.lost(end.at(self._name))

    def send(self, message: Outgoing, deadline: Deadline) -> None:
        """Post one message; its answer comes on the stream. See ``Transport.send``.

        Any success will do, whatever its body (OLD-2). Raises ``HttpStatusError`` or ``AuthRequired`` otherwise.
        """
        headers = self._way.headers({**message.headers, **_POST})
        try:
            with self._way.open("POST", headers, message, deadline, self._endpoint) as answer:
                meaning = answer.judge("notification")
                if meaning is not Meaning.ACCEPTED:
                    raise answer.refusal(meaning)
        except SynclineError as error:
            error.at(self._name, message.method, message.id)
            raise

    def listen(
        self,
        message: Outgoing,
        on_open: Callable[[bool], object],
        on_down: Callable[[SynclineError], object],
        idle: float | None = None,
    ) -> None:
        """Nothing: all that the server sends comes on the one stream."""

    def forget_session(self) -> None:
        """Nothing: the stream is the session."""

    def abandon(self, message: Outgoing) -> None:
        """End the send of a message, wherever it is blocked."""
        self._way.exchanges.abandon(message)

    def close(self, deadline: Deadline) -> None:
        """End the stream and what is blocked, wait for the thread, close the connections."""
        self._way.end_authorization()
        self._way.exchanges.abort()
        join(self._threads, deadline)
        self._way.close()

    def disown(self) -> None:
        """We are a forked child: close our copies of the sockets, without a word to the server."""
        self._way.exchanges.disown()

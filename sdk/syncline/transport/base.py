"""What every transport offers, and what it needs from whoever drives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from syncline.concurrency.deadline import Deadline
from syncline.errors import SynclineError


@dataclass
class Outgoing:
    """One JSON-RPC message on its way out. What it says is not part of the ``repr``.

    Attributes:
        frame: The encoded message: one line of UTF-8 JSON, without the newline.
        kind: What it is; ``listen`` for ``Transport.listen``, which sends no message.
        method: Its method; for a response the method that it answers.
        id: Its JSON-RPC id; None for a notification.
        headers: HTTP headers that mirror the message (revision, method, name, parameters); other transports ignore them.
        repeatable: It may be sent again when a connection breaks before any byte of an answer came.
        stream: Its answer is a stream that stays open.
        opening: It opens a session, so it belongs to none.
        abandoned: Its sender has lost interest; set by ``Transport.abandon()``.
    """

    frame: bytes = field(repr=False)
    kind: Literal["request", "notification", "response", "listen"]
    method: str
    id: int | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    repeatable: bool = False
    stream: bool = False
    opening: bool = False
    abandoned: bool = False


class Sink(Protocol):
    """Where a transport delivers. Called on reader threads: it must not block."""

    def received(self, data: bytes, origin: Outgoing | None = None, status: int | None = None) -> bool:
        """One received JSON text: a message, or a batch of them.

        ``origin`` is the request whose own HTTP answer carried it, None where all messages share a channel. ``status`` is
        that answer's HTTP status where the text is the whole of it; None for an event of a stream, which others may
        follow. True once the origin has its answer. Never raises: bad input becomes a finding.
        """
        ...

    def finding(self, code: str, place: str, raw: object) -> None:
        """A fault that was forgiven."""

    def lost(self, error: SynclineError) -> None:
        """The transport has ended by itself; no call can be answered any more. At most once, not after ``close()``."""


class Transport(Protocol):
    """A way to one server.

    Attributes:
        shared: All messages share one channel, so that answers come whenever the server likes. False over HTTP, where
            each request has an answer of its own.
        sessions: The server may name a session, to be repeated with each message. Set by the driver; HTTP only.
    """

    shared: bool
    sessions: bool

    @property
    def stderr_tail(self) -> Sequence[str]:
        """The last lines that the server wrote to standard error; none where there is no such thing."""
        ...

    def start(self, sink: Sink, deadline: Deadline) -> None:
        """Open it. Blocks at most until the deadline; raises ``ConnectFailed`` if the server cannot be reached."""

    def send(self, message: Outgoing, deadline: Deadline) -> None:
        """Send one message; safe from several threads at once.

        Over a shared channel (stdio, memory) this returns once the bytes are out. Over HTTP a request's own answer is
        read here, in the calling thread, and handed to the sink before this returns.
        Raises ``RequestTimeout`` at the deadline, ``TransportError`` if the way is broken, ``ConnectionClosed`` after
        ``close()``, which also ends a send that is blocked.
        """

    def listen(
        self,
        message: Outgoing,
        on_open: Callable[[bool], object],
        on_down: Callable[[SynclineError], object],
        idle: float | None = None,
    ) -> None:
        """Hold the stream on which a server of the handshake era sends over HTTP what answers no request.

        Meant for a thread of its own. Over a shared channel there is no such stream, and this returns at once.
        What comes is handed to the sink, with no origin. While the stream is there, a request that is only accepted gets
        its answer over it. A stream that is cut off is made again for as long as it takes, from the last event id where
        there was one.

        Args:
            message: Of kind ``listen``, with the headers that name the revision; ``abandon(message)`` ends it all.
            on_open: Called on this thread whenever the stream is open; True if it was made again and the server could not
                know what we have missed.
            on_down: Called on this thread with what happened when it is to be made again.
            idle: Seconds without anything on it after which it counts as cut off; None for no limit.

        Blocks until one of these: returns when the server has no such stream; raises ``ConnectionClosed`` after
        ``abandon()`` and ``close()``, ``SessionExpired`` when the server no longer knows the session, ``AuthRequired`` and
        ``HttpStatusError`` for another refusal, and ``InvalidMessage`` for an event over the limit.
        """

    def forget_session(self) -> None:
        """The session is over; until another one is opened everything else raises ``SessionExpired``. HTTP only."""

    def abandon(self, message: Outgoing) -> None:
        """The sender of a request has lost interest: end its send, if that is blocked on the answer. From any thread."""

    def close(self, deadline: Deadline) -> None:
        """Give everything back and end what is blocked; idempotent, from any thread, done by the deadline."""

    def disown(self) -> None:
        """We are a forked child: close our copies of file descriptors, touch neither server nor session."""


@runtime_checkable
class Streamable(Transport, Protocol):
    """What Streamable HTTP has besides.

    Attributes:
        mode: Whether ``legacy()`` is to be used: ``auto`` for a server that turns out to need it, ``streamable`` for never,
            ``sse`` for at once.
    """

    mode: Literal["auto", "streamable", "sse"]

    def legacy(self) -> Transport:
        """A transport of 2024-11-05 (HTTP+SSE) to the same URL, not started. It takes the place of this one for good."""
        ...

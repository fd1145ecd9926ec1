"""Messages within the process: one end is a transport, the other plays the server."""

from __future__ import annotations

from collections.abc import Callable

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.slot import ReplySlot
from syncline.errors import ConnectionClosed, ConnectionLost, SynclineError

from .base import Outgoing, Sink

_END = b""


def pair(name: str = "memory") -> tuple[MemoryTransport, MemoryPeer]:
    """A transport and the server behind it."""
    inbox: ReplySlot[bytes] = ReplySlot()
    transport = MemoryTransport(name, inbox)
    return transport, MemoryPeer(transport, inbox)


class MemoryTransport:
    """The client's end. It has no threads: what the peer sends is delivered in the thread that sends it."""

    shared = True
    sessions = False
    stderr_tail = ()

    def __init__(self, name: str, inbox: ReplySlot[bytes]) -> None:
        self.name = name
        self._inbox = inbox
        self._state = new_lock()
        self._sink: Sink | None = None
        self._closed = False
        self._lost = False

    def start(self, sink: Sink, deadline: Deadline) -> None:  # noqa: ARG002
        """Begin to deliver to the sink; never blocks. Raises ``ConnectionClosed`` after ``close()``."""
        with self._state:
            self._check()
            self._sink = sink

    def send(self, message: Outgoing, deadline: Deadline) -> None:  # noqa: ARG002
        """Hand one message to the peer; never blocks. Raises ``ConnectionClosed``, or ``ConnectionLost`` if the peer has."""
        with self._state:
            self._check()
            self._inbox.put(message.frame)

    def listen(
        self,
        message: Outgoing,
        on_open: Callable[[bool], object],
        on_down: Callable[[SynclineError], object],
        idle: float | None = None,
    ) -> None:
        """Nothing: all messages share one channel."""

    def forget_session(self) -> None:
        """Nothing: there are no sessions here."""

    def abandon(self, message: Outgoing) -> None:
        """Nothing: no send waits for an answer."""

    def close(self, deadline: Deadline) -> None:  # noqa: ARG002
        """End the conversation and tell the peer. Idempotent, from any thread, never blocks."""
        with self._state:
            if not self._closed:
                self._closed = True
                self._inbox.put(_END)

    def disown(self) -> None:
        """We are a forked child; the peer stayed with the parent."""
        self._closed = True

    def deliver(self, data: bytes) -> None:
        """For the peer: hand one message to the sink."""
        sink = self._sink
        if self._closed or self._lost or sink is None:
            raise ConnectionClosed("nobody receives at the client's end").at(self.name)
        sink.received(data)

    def lose(self) -> None:
        """For the peer: it has closed."""
        with self._state:
            if self._closed or self._lost:
                return
            self._lost = True
        if self._sink is not None:
            self._sink.lost(ConnectionLost("the peer has closed").at(self.name))

    def _check(self) -> None:
        if self._closed:
            raise ConnectionClosed("the connection is closed").at(self.name)
        if self._lost:
            raise ConnectionLost("the peer has closed").at(self.name)


class MemoryPeer:
    """The server's end."""

    def __init__(self, transport: MemoryTransport, inbox: ReplySlot[bytes]) -> None:
        self._transport = transport
        self._inbox = inbox

    def receive(self, timeout: float | None = None) -> bytes:
        """The client's next message. Blocks until it comes, the client closes, or so many seconds have passed.

        Raises ``TimeoutError``; after everything that the client sent before it closed, ``ConnectionClosed``.
        """
        frame = self._inbox.take(Deadline(timeout))
        if frame is None:
            raise TimeoutError(f"the client sent nothing for {timeout} seconds")
        if frame == _END:
            self._inbox.put(_END)  # for the next time, too
            raise ConnectionClosed("the client has closed").at(self._transport.name)
        return frame

    def send(self, data: bytes) -> None:
        """Deliver one message to the client, in this thread; returns when the client has taken it in.

        Raises ``ConnectionClosed`` if the client is not open.
        """
        self._transport.deliver(data)

    def close(self) -> None:
        """Leave: the client loses its connection. Idempotent, from any thread."""
        self._transport.lose()

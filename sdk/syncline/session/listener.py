"""The stream on which a server of the handshake era sends over HTTP what answers no request: one for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import among, join, spawn
from syncline.errors import SessionExpired, StreamError, SynclineError
from syncline.transport.base import Outgoing

if TYPE_CHECKING:
    from collections.abc import Collection

    from syncline.concurrency.workers import Thread

    from .session import Session

#: Seconds to wait for the stream to be open, and for its thread to end.
OPENING, ENDING = 10.0, 2.0


class Audience(Protocol):
    """Somebody who wants the stream."""

    def missed(self) -> None:
        """It was made again, and something may have been missed."""

    def back(self) -> None:
        """It is there, and nothing was missed."""

    def lost(self, error: SynclineError | None) -> None:
        """It is down, and will be made again."""

    def terminated(self, error: SynclineError) -> None:
        """It is gone for good."""


class Subscriber(Audience, Protocol):
    """Somebody for whom resources are subscribed to."""

    @property
    def uris(self) -> Collection[str]:
        """Their URIs."""
        ...


class Ear:
    """Wants the stream for what the user's handlers and callbacks are there for, and makes no fuss if there is none."""

    def missed(self) -> None:
        """It goes on."""

    def back(self) -> None:
        """It goes on."""

    def lost(self, error: SynclineError | None) -> None:
        """It will be back."""

    def terminated(self, error: SynclineError) -> None:
        """Answers and their streams are left."""


class Listener:
    """Held open while anybody wants it, on the thread ``syncline:<server>:listen``. A shared channel needs none."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lock = new_lock()
        self._audience: set[Audience] = set()
        self._message: Outgoing | None = None
        self._thread: Thread | None = None
        self._opened: ReplySlot[SynclineError | None] = ReplySlot()

    def join(self, listener: Audience, patience: float = OPENING) -> None:
        """Want the stream. Blocks until it is open, for ``patience`` seconds; ``StreamError`` if the server offers none."""
        if self._session.connection.transport.shared:
            return
        with self._lock:
            self._audience.add(listener)
            first = self._thread is None
            if first:
                self._opened = ReplySlot()
                self._message = message = self._session.connection.listening()
                self._thread = spawn(f"syncline:{self._session.name}:listen", lambda: self._run(message))
        if first:
            failure = self._opened.take(Deadline(patience))
            if failure is not None:
                raise failure.at(self._session.name)

    def own_thread(self) -> bool:
        """Whether this is the thread that reads the stream."""
        thread = self._thread
        return thread is not None and among([thread])

    def leave(self, listener: Audience, timeout: float = ENDING) -> None:
        """Want it no more; the last one ends it."""
        with self._lock:
            self._audience.discard(listener)
            message, thread = (None, None) if self._audience else (self._message, self._thread)
            if thread is not None:
                self._message = self._thread = None
        if message is not None and thread is not None:
            self._session.connection.transport.abandon(message)
            join([thread], Deadline(timeout))

    def close(self, timeout: float = ENDING) -> None:
        """End it, whoever wants it."""
        for listener in self._everybody():
            self.leave(listener, timeout)

    def forked(self) -> None:
        """In a forked child: the stream is the parent's, and nobody here has it."""
        self._audience.clear()
        self._message = self._thread = None

    def _run(self, message: Outgoing) -> None:
        session, again = self._session, False
        while True:
            generation, connection = session.recovery.generation, session.connection
            failure: SynclineError = StreamError("the server offers no stream for what it sends unasked")
            try:
                connection.transport.listen(
                    message,
                    lambda missed, again=again: self._on_open(missed or again),  # type: ignore[misc]
                    self._on_down,
                    session.timeouts.stream_idle,
                )
                break  # there is none
            except SynclineError as error:
                failure = error
            again = True
            try:
                if session.connection is not connection:  # there is another one in its place
                    with self._lock:
                        if self._message is not message:
                            return
                        self._message = message = session.connection.listening()
                elif isinstance(failure, SessionExpired) and not message.abandoned:
                    session.renew(generation)
                else:
                    break
            except SynclineError as error:
                failure = error
                break
        with self._lock:
            if self._message is not message:
                return
            audience = list(self._audience)
            self._audience.clear()
            self._message = self._thread = None
        self._opened.put(failure)
        for listener in audience:
            listener.terminated(failure)

    def _on_open(self, missed: bool) -> None:
        self._opened.put(None)
        for listener in self._everybody():
            if missed:
                listener.missed()
            else:
                listener.back()

    def _on_down(self, error: SynclineError) -> None:
        for listener in self._everybody():
            listener.lost(error)

    def _everybody(self) -> list[Audience]:
        with self._lock:
            return list(self._audience)

"""Change streams: being told that lists and resources have changed, in either era.

(Specification: ``subscriptions/listen`` of 2026-07-28; before, ``list_changed`` notifications and ``resources/subscribe``.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from syncline import logs
from syncline.concurrency import lifecycle
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.pending import Pending
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import join, spawn
from syncline.errors import (
    ConcurrencyError,
    ConfigError,
    ForkedConnection,
    StreamError,
    StreamTerminated,
    SynclineError,
)

from .change_sources import ENDING, Listening, Standing
from .wanted import Change, Wanted

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from syncline.concurrency.workers import Thread
    from syncline.protocol.events import Notification
    from syncline.session.session import Session


class Changes:
    """The changes that were subscribed to: an iterator, and a context manager.

    Changes that wait to be taken are kept once each: a list that changed twice has changed. A stream that is lost is made
    again, with growing pauses, for as long as it takes; then ``resubscribed`` comes first. What the client keeps of lists is
    dropped by each change.
    """

    def __init__(self, session: Session, wanted: Wanted) -> None:
        if not wanted.filter():
            raise ConfigError("subscribe to something: tools, prompts, resource_list or resources").at(session.name)
        self._session = session
        self._wanted = wanted
        self._waiting: Pending[Change] = Pending()
        self._put: Callable[[Change], None] | None = None
        self._finish: Callable[[], None] = self._waiting.end
        self._over = session.closing.child()
        self._lock = new_lock()  # where changes go
        self._taking = False
        self._source: Listening | Standing = (Listening if _stateless(session) else Standing)(session, wanted, self)
        #: Whether the calling thread does nothing but read this stream, and may be held up.
        self.own_thread = self._source.own_thread
        self.accepted: Mapping[str, object] = wanted.filter()
        self.last_error: SynclineError | None = None
        self.state: Literal["starting", "active", "reconnecting", "terminated", "closed"] = "starting"

    def open(self) -> Self:
        """Subscribe. Blocks until the server has confirmed; raises what a request raises, and ``StreamError``."""
        self._source.open()
        self.state = "active"
        lifecycle.opened(self)
        return self

    def events(self, timeout: float | None = None) -> Iterator[Change]:
        """The changes, until none comes for ``timeout`` seconds (None: no limit) or the stream is closed.

        Raises ``StreamTerminated`` if the server ended it for good, once everything before was taken.
        """
        while True:
            change = self.get(timeout)
            if change is None:
                return
            yield change

    def __iter__(self) -> Iterator[Change]:
        return self.events()

    def get(self, timeout: float | None = None) -> Change | None:
        """The next change; None after ``timeout`` seconds, or when the stream is closed. One thread at a time."""
        if self._taking:
            raise ConcurrencyError("another thread takes from this stream").at(self._session.name)
        self._taking = True
        try:
            change = self._waiting.take(Deadline(timeout))
        finally:
            self._taking = False
        if change is None and self.state == "terminated" and self.last_error is not None:
            raise self.last_error.again()
        return change

    def run_in_thread(
        self, handle: Callable[[Change], object], on_error: Callable[[Exception], object] | None = None
    ) -> ChangesThread:
        """Give each change to ``handle`` on a thread of its own, each one that comes, in order.

        What ``handle`` raises goes to ``on_error`` (by default to the log), and the thread goes on.
        """
        return ChangesThread(self, handle, on_error or self._report)

    def close(self, timeout: float | None = None) -> None:
        """Unsubscribe, from any thread; whoever waits is let go. Blocks for ``timeout`` seconds at most, by default 2."""
        if self.state not in ("terminated", "closed"):
            self.state = "closed"
        self._over.cancel(StreamError("the stream was closed"))
        self._finish()
        self._source.close(ENDING if timeout is None else min(timeout, ENDING))
        lifecycle.closed(self)

    def forked(self) -> None:
        """In a forked child: whoever takes is told so."""
        text = "the stream was opened before a fork and belongs to the parent; subscribe again"
        error = ForkedConnection(text).at(self._session.name)
        self.state, self.last_error = "terminated", error
        self._over.cancel(error)
        self._waiting = Pending()
        self._waiting.end()
        self._source.forked()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<syncline.Changes {self._session.name}: {self.state}>"

    # What the source tells

    def told(self, notification: Notification) -> None:
        """A notification that may be a change."""
        change = self._wanted.change(notification)
        if change is not None:
            self._hand_on(change)

    def back(self) -> None:
        """The stream is there, and nothing was missed."""
        if not self.finished:
            self.state = "active"

    def missed(self) -> None:
        """The stream was made again: nobody knows what was missed."""
        self.back()
        self._session.inbox.forget()
        self._hand_on(Change("resubscribed"))

    def lost(self, error: SynclineError | None) -> None:
        """The stream is gone, and will be made again."""
        if not self.finished:
            self.state = "reconnecting"
            self.last_error = error

    def terminated(self, error: SynclineError) -> None:
        """The stream is gone for good."""
        if not self.finished:
            ended = StreamTerminated(f"the stream has ended: {error.message}").at(self._session.name)
            ended.__cause__ = error
            self.last_error = ended
            self.state = "terminated"
        self._finish()

    def redirect(self, put: Callable[[Change], None], finish: Callable[[], None]) -> None:
        """Hand changes to somebody else from now on, beginning with those that wait."""
        with self._lock:
            self._put, self._finish = put, finish
        while (change := self._waiting.take(Deadline(0.0))) is not None:
            put(change)
        if self.finished:
            finish()

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("terminated", "closed")

    @property
    def uris(self) -> Collection[str]:
        """The resources that are subscribed to."""
        return self._wanted.resources

    def _hand_on(self, change: Change) -> None:
        if self._put is None:
            with self._lock:
                if self._put is None:
                    self._waiting.put(change)
                    return
        self._put(change)  # may run what the user handles it with

    @property
    def name(self) -> str:
        """The server's."""
        return self._session.name

    @property
    def over(self) -> CancelToken:
        """Cancelled when the stream is closed."""
        return self._over

    def _report(self, error: Exception) -> None:
        logs.wire.error("%s: a change could not be handled: %s", self._session.name, error, exc_info=error)


class ChangesThread:
    """Changes being handled; see ``Changes.run_in_thread``.

    What the stream's own thread brings is handled there, which saves handing it over and lets a slow handler slow down the
    server; what other threads bring (a shared channel, the answers of other requests) on a thread for that, which the first
    of them starts. Never both at once.
    """

    def __init__(
        self, changes: Changes, handle: Callable[[Change], object], on_error: Callable[[Exception], object]
    ) -> None:
        self._changes = changes
        self._over = changes.over
        self._handle = handle
        self._on_error = on_error
        self._slot: ReplySlot[Change | None] = ReplySlot()
        self._ended = CancelToken()
        self._turn = new_lock()
        self._starting = new_lock()
        self._thread: Thread | None = None
        changes.redirect(self._take, self._end)

    def stop(self) -> None:
        """Close the stream; nothing more is handled when the change in hand is done. Never waits for it."""
        self._changes.close()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the stream has ended, for ``timeout`` seconds at most (None: no limit); whether it has."""
        deadline = Deadline(timeout)
        if not self._ended.wait(deadline):
            return False
        with self._starting:
            thread = self._thread
        return thread is None or not join([thread], deadline)

    def _take(self, change: Change) -> None:
        if self._changes.own_thread():
            self._work(change)
            return
        with self._starting:
            if self._thread is None:
                self._thread = spawn(f"syncline:{self._changes.name}:changes", self._run)
        self._slot.put(change)

    def _end(self) -> None:
        self._slot.put(None)
        self._ended.cancel(StreamError("the stream has ended"))

    def _run(self) -> None:
        forever = Deadline(None)
        while (change := self._slot.take(forever)) is not None:
            self._work(change)

    def _work(self, change: Change) -> None:
        with self._turn:
            if self._over.reason is not None:
                return
            try:
                self._handle(change)
            except Exception as error:
                self._on_error(error)


def _stateless(session: Session) -> bool:
    return session.agreement.revision.era == "stateless"

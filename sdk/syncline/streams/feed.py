"""Between the worker that brings a subscription's items and the application that takes them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.mailbox import Mailbox
from syncline.errors import ForkedConnection, StreamTerminated, SynclineError
from syncline.protocol.occurrences import (
    Event,
    Gap,
    Page,
    StateChange,
    StreamItem,
    StreamState,
    Subscription,
    Taken,
    Trouble,
)

from .cursors import CursorStore, SubscriptionKey

log = logging.getLogger("syncline.events")


class Feed:
    """Items in order, the state, and what was acknowledged.

    Attributes:
        state: See ``EventStream.state``.
        last_error: See ``EventStream.last_error``.
        mailbox: What waits to be taken.

    Args:
        subscription: What is known of it.
        key: What it is called in the store.
        store: Where its position is kept.
        waiting: How many items may wait.
        pending_bytes: How many bytes of them.
    """

    def __init__(
        self,
        subscription: Subscription,
        key: SubscriptionKey,
        store: CursorStore | None,
        *,
        waiting: int,
        pending_bytes: int,
    ) -> None:
        self.state: StreamState = "starting"
        self.last_error: SynclineError | None = None
        self.mailbox: Mailbox[StreamItem] = Mailbox(waiting, pending_bytes)
        self.key = key
        self._subscription = subscription
        self._store = store
        self._lock = new_lock()  # the subscription and the state
        self._saving = new_lock()  # one save after another; held across the store's own I/O
        self._saved = self.committed
        self._seen: list[str] = []
        self._final: SynclineError | None = None

    # The worker's side

    def request(self, max_age_ms: int | None) -> dict[str, object]:
        """The parameters that ask for what comes next."""
        with self._lock:
            return self._subscription.request(max_age_ms)

    def frame(self, method: str, params: Mapping[str, object]) -> Taken:
        """Take one notification, and hand out what it led to."""
        with self._lock:
            taken = self._subscription.frame(method, params)
            if taken.active or (self.state == "reconnecting" and taken.ended is None):
                self._change("active")
            self._hand_out(taken.items)
        self._settle()
        return taken

    def page(self, result: Mapping[str, object]) -> Page:
        """Take one result of a poll, and hand out what it led to."""
        with self._lock:
            page = self._subscription.page(result)
            self._change("active")
            self._hand_out(page.items)
        self._settle()
        return page

    def interrupted(self, error: SynclineError | None) -> None:
        """It is being made again, after this."""
        with self._lock:
            self._change("reconnecting", error)

    def terminate(self, error: SynclineError) -> None:
        """It is over; the application hears of it after everything else. At most once, not after ``close()``."""
        with self._lock:
            if self.finished:
                return
            self._change("terminated", error)
            self._final = _final(error, self.key)
            self.mailbox.end()

    def close(self, error: SynclineError | None = None) -> None:
        """It is over, and nothing is handed out any more."""
        with self._lock:
            if not self.finished:
                self.last_error = error or self.last_error
                self.state = "closed"
            self._final = None
            self.mailbox.close()

    def forked(self) -> None:
        """We are in a forked child."""
        self.state = "closed"
        self._final = ForkedConnection(
            "the stream was opened before a fork and belongs to the parent; open another one"
        )
        self.mailbox.close()

    @property
    def finished(self) -> bool:
        """Whether it has been terminated or closed."""
        return self.state in ("terminated", "closed")

    # The application's side

    @property
    def committed(self) -> str | None:
        """The cursor before which everything was acknowledged."""
        return self._subscription.ledger.committed

    def take(self, deadline: Deadline) -> StreamItem | None:
        """The next item; None at the deadline and after ``close()``. Raises what ended it otherwise."""
        item = self.mailbox.take(deadline)
        final = self._final
        if item is None and final is not None and self.mailbox.ended:
            raise final.again()
        return item

    def acknowledge(self, item: StreamItem) -> None:
        """See ``EventStream.ack``."""
        if isinstance(item, (Event, Gap)):
            with self._lock:
                self._subscription.ledger.acknowledge(item.ticket)
                if isinstance(item, Event) and self._store is not None:
                    self._seen.append(item.event_id)
        self._save()

    # Inside

    def _change(self, state: StreamState, error: SynclineError | None = None) -> None:
        """Requires the lock."""
        if error is not None:
            self.last_error = error
            _let_go(error)
        if state != self.state and not self.finished:
            self.state = state
            self.mailbox.put(StateChange(state, error))

    def _hand_out(self, items: list[StreamItem]) -> None:
        """Requires the lock."""
        for item in items:
            if isinstance(item, Trouble):
                self.last_error = item.error
            self.mailbox.put(item, item.size if isinstance(item, Event) else 0)

    def _settle(self) -> None:
        """Save on the worker's thread, which a store that fails must not end."""
        if self._saved == self.committed:
            return
        try:
            self._save()
        except Exception as error:
            log.warning("%s: the position in %s could not be saved: %s", self.key.server, self.key.name, error)

    def _save(self) -> None:
        if self._store is None:
            return
        with self._saving:
            with self._lock:
                cursor, seen, self._seen = self.committed, self._seen, []
            if cursor == self._saved and not seen:
                return
            try:
                self._store.save(self.key, cursor, seen)
            except BaseException:
                with self._lock:
                    self._seen = seen + self._seen
                raise
            self._saved = cursor


def _let_go(error: BaseException) -> None:
    """An error that is kept must not keep the frames that it came through: sockets and buffers hang on them."""
    left: list[BaseException | None] = [error]
    seen: set[int] = set()
    while left:
        each = left.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.__traceback__ = None
            left += [each.__cause__, each.__context__]


def _final(error: SynclineError, key: SubscriptionKey) -> SynclineError:
    if isinstance(error, StreamTerminated):
        return error.at(key.server, "events/stream")
    final = StreamTerminated(f"the subscription to {key.name} is over: {error.message}", error=error).at(key.server)
    final.__cause__ = error
    return final

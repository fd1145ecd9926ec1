"""Poll: asking again and again, for all subscriptions of a session on a few threads (SEP-3415, poll)."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from syncline.concurrency.deadline import Deadline
from syncline.errors import StreamError, SynclineError
from syncline.protocol.event_errors import EXTENSION, Dialect, Verdict, patience, typed, verdict
from syncline.protocol.pace import POLL_FLOOR, Attempts, Reconnect, poll_wait

from .feed import Feed

if TYPE_CHECKING:
    from syncline.concurrency.schedule import Schedule
    from syncline.session.session import Session

log = logging.getLogger("syncline.events")

METHOD = "events/poll"
#: How a poll that failed is made again.
AGAIN = Reconnect(1.0, 60.0)
#: Polls in a row, while the server says that there is more, before the others get their turn; and events in each.
DRAIN, BATCH = 100, 100
#: Seconds for one poll: a server that hangs must not keep the few threads from the others.
PATIENCE = 30.0


class Poll:
    """Polls for one subscription. It has no thread; the schedule lends it one for each turn.

    Args:
        session: What it is sent over.
        feed: Where it leads to.
        listed: Whether the server lists the event type, asked anew.
        dialect: How the server speaks of events.
        schedule: When.
        max_age_ms: Nothing older than this is wanted.
        meta: What the caller puts into ``_meta``.
    """

    def __init__(
        self,
        session: Session,
        feed: Feed,
        listed: Callable[[], bool],
        dialect: Dialect,
        schedule: Schedule,
        *,
        max_age_ms: int | None,
        meta: Mapping[str, object] | None,
    ) -> None:
        self.feed = feed
        self._session = session
        self._listed = listed
        self._dialect: Dialect = dialect
        self._schedule = schedule
        self._max_age_ms = max_age_ms
        self._meta = meta
        self._backoff = Attempts(AGAIN)
        self._relisted = False

    def start(self, deadline: Deadline) -> None:
        """Poll for the first time, in the calling thread; raises what goes wrong, and is closed then."""
        try:
            wait = self._drain(deadline)
        except BaseException as error:
            self.close()
            if isinstance(error, SynclineError):
                raise typed(error, self._dialect) from error.__cause__
            raise
        self._schedule.after(wait, self._turn)

    def close(self, deadline: Deadline | None = None) -> None:  # noqa: ARG002
        """End it, from any thread. What a poll under way brings is dropped; not asking is all that the server needs."""
        self.feed.close()

    # On a thread of the schedule

    def _turn(self) -> None:
        if self.feed.finished:
            return
        try:
            wait: float | None = self._drain(Deadline(PATIENCE))
            self._backoff.reset()
            self._relisted = False
        except SynclineError as error:
            wait = self._failed(typed(error, self._dialect))
        except Exception as error:  # nobody else would ask again, and the application would wait for ever
            log.exception("%s: polling for %s failed", self._session.name, self.feed.key.name)
            wait = self._failed(StreamError(f"polling failed: {error!r}").at(self._session.name, METHOD))
        if wait is not None:
            self._schedule.after(wait, self._turn)

    def _drain(self, deadline: Deadline) -> float:
        """Poll until there is nothing more for now; seconds until the next turn."""
        for _ in range(DRAIN):
            if self.feed.mailbox.full:
                return POLL_FLOOR
            params = {**self.feed.request(self._max_age_ms), "maxEvents": BATCH}
            result = self._session.request(METHOD, params, deadline, self._meta, extensions={EXTENSION: {}})
            page = self.feed.page(result)
            if not page.more or self.feed.finished:
                return poll_wait(page.next_poll, random.random())
        return 0.0

    def _failed(self, error: SynclineError) -> float | None:
        """Seconds until the next try; None when it is over."""
        if self._session.closed:
            self.feed.close(error)
            return None
        meaning = verdict(error)
        again = meaning is not Verdict.STOP
        if meaning is Verdict.RELIST:
            again = not self._relisted and self._still_listed()
            self._relisted = True
        if not again:
            self.feed.terminate(error)
            return None
        self.feed.interrupted(error)
        return self._backoff.next(time.monotonic(), random.random(), patience(error))

    def _still_listed(self) -> bool:
        """Whether there is reason to try again: the type is listed, or that cannot be found out now."""
        try:
            return self._listed()
        except SynclineError:
            return True

"""Push: a request that stays open, made again when it breaks off (SEP-3415, push)."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import NAP, Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import join, spawn
from syncline.errors import (
    ConnectionClosed,
    ConnectionLost,
    RequestTimeout,
    SessionExpired,
    StreamOverflow,
    SynclineError,
)
from syncline.protocol.event_errors import EXTENSION, Dialect, Verdict, patience, typed, verdict
from syncline.protocol.events import Notification, Reply
from syncline.protocol.occurrences import PREFIX
from syncline.protocol.pace import Attempts, Pulse, Reconnect
from syncline.session.channel import Channel

from .feed import Feed

if TYPE_CHECKING:
    from syncline.concurrency.workers import Thread
    from syncline.session.session import Session

METHOD = "events/stream"
#: Seconds that ``close()`` waits for the thread, which may be writing a position.
ENDING = 2.0


class Push:
    """Keeps one subscription's request open. Its thread is the channel's, which also makes the next channel.

    Args:
        session: What it is sent over.
        feed: Where it leads to.
        listed: Whether the server lists the event type, asked anew.
        dialect: How the server speaks of events.
        policy: How it is made again.
        max_age_ms: Nothing older than this is wanted.
        meta: What the caller puts into ``_meta``.
    """

    def __init__(
        self,
        session: Session,
        feed: Feed,
        listed: Callable[[], bool],
        dialect: Dialect,
        *,
        policy: Reconnect,
        max_age_ms: int | None,
        meta: Mapping[str, object] | None,
    ) -> None:
        self.feed = feed
        self._session = session
        self._listed = listed
        self._dialect: Dialect = dialect
        self._max_age_ms = max_age_ms
        self._meta = meta
        self._backoff = Attempts(policy)
        self._pulse = Pulse(session.timeouts.stream_idle)
        self._relisted = False
        self._started: ReplySlot[SynclineError | bool] | None = ReplySlot()
        self._over = CancelToken()
        self._generation = 0
        self._lock = new_lock()  # which channel is the present one, by number: what others still bring is late
        self._turn = 0
        self._channel: Channel | None = None
        self._between: Thread | None = None

    def start(self, deadline: Deadline) -> None:
        """Open it. Blocks until the server says that it is active; raises what came instead, and is closed then."""
        try:
            outcome = self._attempt(deadline)
            if isinstance(outcome, SessionExpired):
                self._session.renew(self._generation)
                outcome = self._attempt(deadline)
            if outcome is None:
                raise RequestTimeout(f"the stream was not active within {deadline.seconds:g} s")
            if isinstance(outcome, SynclineError):
                raise outcome
        except BaseException as error:
            self.close()
            if isinstance(error, SynclineError):
                error.at(self._session.name, METHOD)
            raise

    def _attempt(self, deadline: Deadline) -> SynclineError | bool | None:
        """Open it for the first time: True, what came instead, or None when the time is over."""
        started = self._started
        assert started is not None
        self._open(deadline.remaining())
        return started.take(deadline)

    def close(self, deadline: Deadline | None = None) -> None:
        """End it, from any thread: the server is told, and nothing is handed out any more."""
        deadline = (deadline or Deadline(None)).sooner(ENDING)
        self._over.cancel(ConnectionClosed("the stream is closed"))
        self.feed.close()
        with self._lock:
            channel, between = self._channel, self._between
        if channel is not None:
            channel.close(deadline.remaining() or 0.0)
        if between is not None:
            join([between], deadline)

    def _open(self, silence: float | None) -> None:
        """Make a channel, unless it is over."""
        with self._lock:
            self._generation = self._session.recovery.generation
            self._turn = turn = self._turn + 1
            if not self._over.cancelled:
                self._channel = Channel(
                    self._session.connection,
                    METHOD,
                    self.feed.request(self._max_age_ms),
                    meta=self._meta,
                    extensions={EXTENSION: {}},
                    on_notice=lambda notice: self._notice(turn, notice),
                    on_end=lambda reply: self._ended(turn, reply),
                    silence=silence,
                )

    # On the channel's thread

    def _notice(self, turn: int, notice: Notification) -> None:
        with self._lock:
            channel = self._channel if turn == self._turn else None
        if channel is None or not notice.method.startswith(PREFIX) or self._is_over() or not self._room(channel):
            return
        taken = self.feed.frame(notice.method, notice.params)
        self._pulse.frame(time.monotonic(), heartbeat=notice.method == PREFIX + "heartbeat")
        channel.deadline.seconds = self._pulse.silence
        if self._started is not None and taken.active:
            self._started.put(True)
            self._started = None
            channel.deadline.extend()
        if not taken.active:
            self._backoff.reset()
            self._relisted = False
        if taken.ended is not None:
            self._cut_off(channel, taken.ended, ended=True)

    def _room(self, channel: Channel) -> bool:
        """Wait for room, or give the channel up where others share it."""
        mailbox = self.feed.mailbox
        if not mailbox.full:
            return True
        if not self._session.connection.transport.shared:
            channel.deadline.pause()  # the server may not be silent, we are deaf
            try:
                return mailbox.wait_for_room(self._is_over)
            finally:
                channel.deadline.resume()
        heavy = mailbox.weight >= self._session.limits.pending_bytes
        reason = "over Limits.pending_bytes" if heavy else "too many items"
        self._cut_off(channel, StreamOverflow(f"{reason} were waiting to be taken"), ended=heavy)
        return False

    def _cut_off(self, channel: Channel, error: SynclineError, *, ended: bool) -> None:
        """End the channel from within; what follows is for another thread, since this one has to find its way out of it."""
        channel.close()
        if self._started is not None:
            self._started.put(error)
            return
        with self._lock:
            self._turn += 1
            if not self.feed.finished:
                name = f"syncline:{self._session.name}:stream-again"
                self._between = spawn(name, lambda: self._again(error, ended))

    def _ended(self, turn: int, reply: Reply) -> None:
        with self._lock:
            if turn != self._turn:
                return
        error = typed(reply.error or ConnectionLost("the server ended the stream"), self._dialect)
        if self._started is not None:
            self._started.put(error)
        else:
            self._again(error, False)

    # Between two channels

    def _again(self, error: SynclineError, ended: bool) -> None:
        """Make it again, as soon as that is due; or end it."""
        while not self._is_over():
            try:
                wait = self._wait(error, ended)
                if wait is None:
                    self.feed.terminate(error)
                    return
                self._pause(wait)
                if isinstance(error, StreamOverflow):
                    self.feed.mailbox.wait_for_room(self._is_over)
                if isinstance(error, SessionExpired):
                    self._session.renew(self._generation)
                if not self._is_over():
                    self._open(self._pulse.silence)
                    return
            except SynclineError as failure:
                error, ended = typed(failure, self._dialect), False
        self.feed.close(error)

    def _is_over(self) -> bool:
        """Whether it was closed, by itself or with the client. A connection that was lost may come back."""
        return self._over.cancelled or self._session.closed

    def _pause(self, seconds: float) -> None:
        deadline = Deadline(seconds)
        while not (self._over.wait(deadline.sooner(NAP)) or self._session.closed or deadline.expired):
            pass

    def _wait(self, error: SynclineError, ended: bool) -> float | None:
        """Seconds until the next try; None when there is to be none. May raise what the listing of event types raises."""
        meaning = verdict(error)
        if meaning is Verdict.STOP or (ended and meaning is not Verdict.RELIST):
            return None
        self.feed.interrupted(error)
        if meaning is Verdict.RELIST:
            if self._relisted or not self._listed():
                return None
            self._relisted = True
        return self._backoff.next(time.monotonic(), random.random(), patience(error))

"""Webhook: occurrences are posted to a receiver; the subscription is refreshed in time, and ended (SEP-3415, webhooks)."""

from __future__ import annotations

import json
import logging
import math
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol, cast

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.errors import (
    CallbackEndpointError,
    ConnectFailed,
    EventNotFound,
    LocalProtocolError,
    RequestTimeout,
    ServerError,
    SynclineError,
)
from syncline.protocol import webhooks
from syncline.protocol.event_errors import EXTENSION, Verdict, patience, typed, verdict
from syncline.protocol.occurrences import PREFIX
from syncline.protocol.pace import Attempts, Reconnect
from syncline.protocol.webhooks import Gap, Occurrence, Terminated

from .event_stream import EventStream

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.protocol.event_errors import Dialect
    from syncline.session.session import Session
    from syncline_wire.events import DeliveryStatus, SubscribeEventsResult

    from .feed import Feed
    from .webhook_receiver import WebhookReceiver


log = logging.getLogger("syncline.events")

SUBSCRIBE, UNSUBSCRIBE = "events/subscribe", "events/unsubscribe"
#: How a refresh that failed is made again.
AGAIN = Reconnect(1.0, 60.0)
#: Seconds that a refresh waits for its answer.
PATIENCE = 30.0
#: Seconds after which the clock is looked at again: it may have been put right, or the machine been asleep.
GLANCE = 60.0


class Timer(Protocol):
    """Does work later, on a thread of its own: ``Schedule``."""

    def after(self, seconds: float, work: Callable[[], None], /) -> None:
        """Do something so many seconds from now; never blocks."""


class Webhook:
    """One subscription by webhook. Safe to share between threads.

    What is posted fills the feed as if it had been pushed; when there is no room it is not accepted, and posted again later.

    Args:
        session: Where it is subscribed.
        feed: Where it leads to. Its key has the event type and the arguments, which are sent the same each time.
        listed: Whether the server lists the event type, asked anew.
        dialect: How the server speaks of events.
        timer: Calls for the refreshes; they block its thread for up to half a minute.
        receiver: Where it is posted to.
        ttl_ms: How long the server should keep it without a refresh, in milliseconds; it may choose otherwise.
        max_age_ms: Nothing older than this is wanted.

    Attributes:
        refresh_before: See ``WebhookStream``, as is ``delivery_status``.
    """

    def __init__(
        self,
        session: Session,
        feed: Feed,
        listed: Callable[[], bool],
        dialect: Dialect,
        timer: Timer,
        receiver: WebhookReceiver,
        *,
        ttl_ms: int | Literal["default", "never"] = "default",
        max_age_ms: int | None = None,
    ) -> None:
        self.feed = feed
        self.refresh_before: str | None = None
        self.delivery_status: DeliveryStatus | None = None
        self._session = session
        self._listed = listed
        self._dialect: Dialect = dialect
        self._timer = timer
        self._max_age_ms = max_age_ms
        self._ttl: dict[str, object] = {} if ttl_ms == "default" else {"ttlMs": None if ttl_ms == "never" else ttl_ms}
        self._clock = receiver.clock
        self._endpoint = receiver.endpoint(self._deliver)
        self._key = {"name": feed.key.name, "arguments": json.loads(feed.key.arguments)}
        self._turn = new_lock()  # held across requests
        self._lock = new_lock()  # guards the next two
        self._known = False  # to the server, as far as we can tell
        self._looks = 0
        self._due = self._lapse = math.inf
        self._backoff = Attempts(AGAIN)
        self._relisted = False
        self._ended: SynclineError | None = None  # why the server says that it is over

    def __repr__(self) -> str:
        return f"<syncline webhook {self.feed.key.name} at {self._session.name}: {self.feed.state}>"

    @property
    def id(self) -> str | None:
        """What the server calls it; None before it has answered."""
        return self._endpoint.id

    def start(self, deadline: Deadline) -> None:
        """Subscribe. Blocks for the answer, before which the server may post a challenge; raises what came instead."""
        try:
            self.refresh(deadline)
        except BaseException as error:
            self._end()
            if isinstance(error, (ServerError, LocalProtocolError, ConnectFailed)):
                self._forgotten()
            else:
                self._timer.after(0, self._unsubscribe)  # it may have got through
            raise

    def refresh(self, deadline: Deadline) -> None:
        """Subscribe again, now. Blocks for the answer; raises what came instead."""
        taken: list[bool] = []
        try:
            if not take(self._turn, deadline, taken):
                raise RequestTimeout("another refresh was under way").at(self._session.name, SUBSCRIBE)
            if self.feed.finished:
                raise LocalProtocolError(f"the subscription is {self.feed.state}").at(self._session.name, SUBSCRIBE)
            self._subscribe(deadline)
        finally:
            if True in taken:
                self._release()

    def rotate_secret(self, deadline: Deadline) -> None:
        """Have the server sign with another secret. Blocks and raises like ``refresh``."""
        self._endpoint.rotate()
        self.refresh(deadline)

    def close(self, deadline: Deadline | None = None) -> None:
        """Take nothing more, and unsubscribe. From any thread; blocks for the answer, at most ``Timeouts.close``."""
        self._end()
        limit = self._session.timeouts.close
        deadline = Deadline(limit) if deadline is None else deadline.sooner(limit)
        taken: list[bool] = []
        try:
            if take(self._turn, deadline, taken):
                self._unsubscribe(deadline)
        finally:
            if True in taken:
                self._turn.release()

    # Requests; whoever makes one has the turn

    def _request(self, method: str, params: dict[str, object], deadline: Deadline) -> dict[str, object]:
        try:
            return self._session.request(method, params, deadline, extensions={EXTENSION: {}})
        except SynclineError as error:
            meant = typed(error, self._dialect)
            if meant is error:
                raise
            raise meant from error

    def _subscribe(self, deadline: Deadline) -> None:
        """Subscribe, or refresh: it is the same call, and the server makes anew what it no longer has."""
        secret, lapsed = self._endpoint.secret, self._clock() >= self._lapse
        delivery = {"mode": "webhook", "url": self._endpoint.url, "secret": secret}
        params = {**self.feed.request(self._max_age_ms), **self._key, **self._ttl, "delivery": delivery}
        with self._lock:
            self._known = True
        raw = self._request(SUBSCRIBE, params, deadline)
        answer = cast("SubscribeEventsResult", self._session.lift(SUBSCRIBE, raw))
        now = self._clock()
        transport = self._session.connection.transport
        date: tuple[str | None, float] = getattr(transport, "date", (None, 0.0))  # HTTP only
        granted = webhooks.grant(answer.refresh_before, now + webhooks.skew(*date))
        self._lapse = math.inf if granted is None else now + granted
        self._due = now + webhooks.refresh_after(granted, random.random())
        self._backoff.reset()
        self._endpoint.id = answer.id
        self._endpoint.rotated(secret, now)
        self.refresh_before, self.delivery_status = answer.refresh_before, answer.delivery_status
        missed = answer.truncated is True if "cursor" in params else lapsed
        if missed or self.feed.state != "active":
            self.feed.frame(PREFIX + "active", {"cursor": answer.cursor, "truncated": missed})
        else:
            self.feed.frame(PREFIX + "heartbeat", {"cursor": answer.cursor})

    def _unsubscribe(self, deadline: Deadline | None = None) -> None:
        if not self._forgotten():
            return
        params = {**self._key, "delivery": {"url": self._endpoint.url}}
        try:
            self._request(UNSUBSCRIBE, params, deadline or Deadline(self._session.timeouts.close))
        except EventNotFound:
            pass
        except SynclineError as error:
            self.feed.last_error = error
            log.warning("%r: the server was not told, and posts until %s: %s", self, self.refresh_before, error)

    def _forgotten(self) -> bool:
        """The server has no need to be told of the end any more; whether it had."""
        with self._lock:
            known, self._known = self._known, False
        return known

    def _release(self) -> None:
        """Give the turn back. Whoever wanted it meanwhile did not wait for it: to unsubscribe, or for a refresh."""
        self._turn.release()
        if self.feed.state == "closed":
            self._timer.after(0, self._unsubscribe)
        elif not self.feed.finished:
            self._look_later()

    # On the timer's thread

    def _look_later(self) -> None:
        """See again when something is due; an earlier arrangement is off."""
        with self._lock:
            self._looks += 1
            number = self._looks
        pause = 0.0 if self._is_due() else min(GLANCE, self._due - self._clock())
        self._timer.after(max(0.0, pause), lambda: self._look(number))

    def _look(self, number: int) -> None:
        if number != self._looks or self.feed.finished:
            return
        if not self._is_due():
            self._look_later()
        elif self._turn.acquire(blocking=False):
            self._refresh_in_turn()

    def _is_due(self) -> bool:
        return self._ended is not None or self._clock() >= self._due

    def _refresh_in_turn(self) -> None:
        ended, self._ended = self._ended, None
        self._due = self._clock() + webhooks.LEAST  # should this end in something unforeseen
        try:
            if ended is not None:
                self._failed(ended, ended=True)
            else:
                self._subscribe(Deadline(PATIENCE))
        except SynclineError as error:
            self._failed(error)
        finally:
            self._release()

    def _failed(self, error: SynclineError, *, ended: bool = False) -> None:
        """Arrange for another try, or end it."""
        if self._session.closed:
            self._end(error)
            return
        meaning = Verdict.RETRY if isinstance(error, CallbackEndpointError) else verdict(error)
        again = meaning is Verdict.RETRY and not ended
        if meaning is Verdict.RELIST:
            again = not self._relisted and self._still_listed()
            self._relisted, self._lapse = True, -math.inf
        wait = self._backoff.next(time.monotonic(), random.random(), patience(error))
        if not again or wait is None:
            self._forgotten()
            self._endpoint.close()
            self.feed.terminate(error)
            return
        now = self._clock()
        self._due = now + wait
        if now >= self._lapse:
            self.feed.interrupted(error)
        else:
            self.feed.last_error = error

    def _still_listed(self) -> bool:
        """Whether there is reason to try again: the type is listed, or that cannot be found out now."""
        try:
            return self._listed()
        except SynclineError:
            return True

    # On the receiver's threads

    def _deliver(self, delivery: Occurrence | Gap | Terminated) -> bool:
        if self.feed.finished:
            self._endpoint.close()
            return False
        if isinstance(delivery, Terminated):
            self._ended = self.feed.frame(PREFIX + "terminated", {"error": delivery.error}).ended
            self._look_later()
            return True
        if self.feed.mailbox.full:
            return False
        if isinstance(delivery, Occurrence):
            self._relisted = False
            self.feed.frame(PREFIX + "event", delivery.event)
        else:
            self.feed.frame(PREFIX + "active", {"cursor": delivery.cursor, "truncated": True})
        return True

    def _end(self, error: SynclineError | None = None) -> None:
        """Take nothing more."""
        self._endpoint.close()
        self.feed.close(error)


class WebhookStream(EventStream):
    """An event subscription by webhook: an ``EventStream`` with what only webhooks have.

    It is refreshed at about half of what the server grants; one that lapsed is made again from where it stood, with a gap
    where something may have been missed. ``close()`` unsubscribes; where the server cannot be told, ``last_error`` says so, and
    it goes on posting, in vain, until ``refresh_before``.
    """

    def __init__(self, webhook: Webhook, deadline: Callable[[float | Timeouts | None], Deadline]) -> None:
        super().__init__(webhook)
        self._webhook = webhook
        self._deadline = deadline

    @property
    def id(self) -> str | None:
        """What the server calls the subscription. It may be logged, and authorises nothing."""
        return self._webhook.id

    @property
    def refresh_before(self) -> str | None:
        """Until when the server keeps it without a refresh, as the server wrote it (ISO 8601); None for ever."""
        return self._webhook.refresh_before

    @property
    def delivery_status(self) -> DeliveryStatus | None:
        """How posting had been going at the last refresh; None where the server does not say. ``throttled`` means late only."""
        return self._webhook.delivery_status

    def refresh(self, *, timeout: float | Timeouts | None = None) -> None:
        """Refresh it now, which makes a server post again that had given up, and brings ``delivery_status`` up to date.

        Source: SEP-3415, ``events/subscribe``. Blocks for the answer, ``timeout`` seconds (by default ``Timeouts.call``), or
        ``close()`` of the client. Raises ``EventError`` and what any request does; the subscription stays what it was.
        """
        self._webhook.refresh(self._deadline(timeout))

    def rotate_secret(self, *, timeout: float | Timeouts | None = None) -> None:
        """Have the server sign with another secret. The one before is accepted for an hour longer.

        Blocks and raises like ``refresh``. After a failure both are accepted, and the next refresh tells the server.
        """
        self._webhook.rotate_secret(self._deadline(timeout))

"""An event subscription by webhook: subscribe, refresh in time, hand on what is posted, unsubscribe (SEP-3415, webhooks)."""

from __future__ import annotations

import json
import logging
import math
import random
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, cast

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.errors import (
    CallbackEndpointError,
    ConnectFailed,
    ConnectionClosed,
    EventNotFound,
    HttpStatusError,
    LocalProtocolError,
    RequestTimeout,
    ServerError,
    SynclineError,
)
from syncline.protocol import webhooks
from syncline.protocol.event_errors import EXTENSION, Verdict, typed, verdict
from syncline.protocol.events import Notification
from syncline.protocol.occurrences import PREFIX, StateChange, Trouble
from syncline.protocol.webhooks import Gap, Occurrence, Terminated
from syncline.session.session import json_object

if TYPE_CHECKING:
    from typing import TypeAlias

    from syncline.config import Timeouts
    from syncline.protocol.event_errors import Dialect
    from syncline.protocol.occurrences import StreamState
    from syncline.session.session import Session
    from syncline_wire.events import DeliveryStatus, SubscribeEventsResult

    from .webhook_receiver import WebhookReceiver

    #: Takes what the subscription brings, one after the other; False if there is no room for it. Must not block.
    OnItem: TypeAlias = Callable[[Notification | Trouble | StateChange], bool]

log = logging.getLogger("syncline.webhooks")

#: Seconds that a refresh waits for its answer.
REFRESHING = 30.0
#: Seconds after which the clock is looked at again: it may have been put right, or the machine been asleep.
GLANCE = 60.0


class Timer(Protocol):
    """Does work later, on a thread of its own."""

    def after(self, seconds: float, work: Callable[[], None], /) -> None:
        """Do something so many seconds from now; never blocks."""


class WebhookSubscription:
    """Has occurrences of one event type posted to a receiver. Safe to share between threads.

    What arrives is handed on as if it had been pushed: as ``notifications/events/event``, ``active`` (with ``truncated``
    where something may have been missed), ``heartbeat`` (a refresh moved the position) and ``terminated``. A refresh that
    fails is a ``Trouble``, the first of several in a row; one that came too late is a ``StateChange`` to ``reconnecting``;
    one that will never succeed is a ``StateChange`` to ``terminated``.

    Args:
        session: Where it is subscribed.
        receiver: Where it is posted to.
        timer: Calls for the refreshes; they block its thread for up to half a minute.
        name: The event type.
        arguments: What to watch it with. The same JSON is sent each time, since it is part of the subscription's identity.
        dialect: Which codes errors have.
        on_item: See ``OnItem``; called by the receiver's threads and the timer's, never by two at once.
        cursor: Where the subscription stands, None for now. Asked before each request.
        ttl_ms: How long the server should keep the subscription without a refresh, in milliseconds; it may choose otherwise.
        max_age_ms: How old the first events may be, in milliseconds.
        skew: Seconds that the server's clock is ahead of ours, 0 where that is not known.

    Attributes:
        state: ``starting``, ``active``, ``reconnecting`` (the server may have dropped it), ``terminated`` or ``closed``.
        refresh_before: When the server drops it, as the server wrote it (ISO 8601); None for never.
        delivery_status: How posting has been going, by the latest answer; None where the server does not say.
        last_error: What failed last.
    """

    def __init__(
        self,
        session: Session,
        receiver: WebhookReceiver,
        timer: Timer,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        dialect: Dialect = "sep3415",
        on_item: OnItem,
        cursor: Callable[[], str | None] = lambda: None,
        ttl_ms: int | Literal["default", "never"] = "default",
        max_age_ms: int | None = None,
        skew: Callable[[], float] = lambda: 0.0,
    ) -> None:
        given = json_object(arguments or {}, "arguments", session.name, "events/subscribe")
        self.state: StreamState = "starting"
        self.refresh_before: str | None = None
        self.delivery_status: DeliveryStatus | None = None
        self.last_error: SynclineError | None = None
        self._session = session
        self._timer = timer
        self._dialect: Dialect = dialect
        self._on_item = on_item
        self._cursor = cursor
        self._skew = skew
        self._clock = receiver.clock
        self._endpoint = receiver.endpoint(self._deliver)
        self._key: dict[str, object] = {"name": name, "arguments": json.loads(json.dumps(given))}
        self._wishes: dict[str, object] = {}
        if ttl_ms != "default":
            self._wishes["ttlMs"] = None if ttl_ms == "never" else ttl_ms
        if max_age_ms is not None:
            self._wishes["maxAgeMs"] = max_age_ms
        self._lock = new_lock()  # guards the state
        self._order = new_lock()  # held while an item is handed on
        self._turn = new_lock()  # held across requests
        self._due = self._lapse = math.inf
        self._failures = 0
        self._told = False  # that it is over

    def __repr__(self) -> str:
        return f"<syncline.WebhookSubscription {self._key['name']} at {self._session.name}: {self.state}>"

    @property
    def id(self) -> str | None:
        """What the server calls it; None before it has answered."""
        return self._endpoint.id

    def start(self, *, timeout: float | Timeouts | None = None) -> None:
        """Subscribe. Source: ``events/subscribe``.

        Blocks until the server has answered, which may post a challenge to the receiver first; the timeout, or ``close()``
        of the session, ends it. Raises ``CallbackEndpointError`` where the server does not reach the receiver
        (``data["reason"]``), ``EventForbidden``, ``EventNotFound``, ``EventUnsupported``, ``EventsExhausted``, and whatever
        any request does. Nothing is left behind then.
        """
        try:
            self.refresh(timeout=timeout)
        except BaseException as error:
            self._end("closed")
            if not isinstance(error, (ServerError, LocalProtocolError, ConnectFailed)):
                self._timer.after(0, self._unsubscribe)  # it may have got through
            raise
        self._timer.after(self._pause(), self._look)

    def refresh(self, *, timeout: float | Timeouts | None = None) -> None:
        """Refresh it now, which also makes a server post again that had given up. Blocks and raises as ``start()``."""
        deadline = self._session.deadline(timeout)
        taken: list[bool] = []
        try:
            if not take(self._turn, deadline, taken):
                raise RequestTimeout("another refresh was under way").at(self._session.name, "events/subscribe")
            if self._over:
                raise LocalProtocolError(f"the subscription is {self.state}").at(self._session.name, "events/subscribe")
            self._subscribe(deadline)
        finally:
            if True in taken:
                self._release()

    def rotate_secret(self, *, timeout: float | Timeouts | None = None) -> None:
        """Sign with another secret from now on. The one before is accepted for an hour longer. Blocks and raises as ``start()``.

        Where that fails, the next refresh tells the server; until then both are accepted.
        """
        self._endpoint.rotate()
        self.refresh(timeout=timeout)

    def close(self, *, timeout: float | Timeouts | None = None) -> None:
        """Take nothing more, and unsubscribe. Source: ``events/unsubscribe``.

        From any thread; again does no harm. Blocks for the answer, at most ``Timeouts.close``. Where the server cannot be told,
        ``last_error`` says so, and it goes on posting, in vain, until ``refresh_before``.
        """
        if not self._end("closed"):
            return
        taken: list[bool] = []
        try:
            deadline = self._session.deadline(timeout).sooner(self._session.timeouts.close)
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
        secret, cursor, lapsed = self._endpoint.secret, self._cursor(), self._clock() >= self._lapse
        delivery = {"mode": "webhook", "url": self._endpoint.url, "secret": secret}
        params = {**self._key, "delivery": delivery, **self._wishes}
        if cursor is not None:
            params["cursor"] = cursor
        raw = self._request("events/subscribe", params, deadline)
        answer = cast("SubscribeEventsResult", self._session.lift("events/subscribe", raw))
        now = self._clock()
        granted = webhooks.grant(answer.refresh_before, now + self._skew())
        self._lapse = math.inf if granted is None else now + granted
        self._due = now + webhooks.refresh_after(granted, random.random())
        self._failures = 0
        self._endpoint.id = answer.id
        self._endpoint.rotated(secret, now)
        self.refresh_before, self.delivery_status = answer.refresh_before, answer.delivery_status
        with self._lock:
            began = self.state != "active"
            if not self._over:
                self.state = "active"
        missed = answer.truncated is True or (lapsed and cursor is None)
        if began or missed:
            self._hand_on(Notification(PREFIX + "active", {"cursor": answer.cursor, "truncated": missed}))
        else:
            self._hand_on(Notification(PREFIX + "heartbeat", {"cursor": answer.cursor}))

    def _release(self) -> None:
        """Give the turn back. Whoever closed the subscription meanwhile may have been too impatient to unsubscribe."""
        self._turn.release()
        if self.state == "closed":
            self._timer.after(0, self._unsubscribe)

    def _unsubscribe(self, deadline: Deadline | None = None) -> None:
        with self._lock:
            told, self._told = self._told, True
        if told:
            return
        params = {**self._key, "delivery": {"url": self._endpoint.url}}
        try:
            self._request("events/unsubscribe", params, deadline or Deadline(self._session.timeouts.close))
        except EventNotFound:
            pass
        except SynclineError as error:
            self.last_error = error
            log.warning("%r: the server could not be told, and posts until %s: %s", self, self.refresh_before, error)

    # On the timer's thread

    def _pause(self) -> float:
        return min(GLANCE, max(0.0, self._due - self._clock()))

    def _look(self) -> None:
        """See whether a refresh is due."""
        if self._over:
            return
        try:
            if self._clock() >= self._due and self._turn.acquire(blocking=False):
                self._refresh_in_turn()
        finally:
            if not self._over:
                self._timer.after(self._pause(), self._look)

    def _refresh_in_turn(self) -> None:
        self._due = self._clock() + webhooks.LEAST  # should this end in something unforeseen
        try:
            self._subscribe(Deadline(REFRESHING))
        except SynclineError as error:
            self._failed(error)
        finally:
            self._release()

    def _failed(self, error: SynclineError) -> None:
        if isinstance(error, ConnectionClosed):
            self._end("closed")
            return
        self.last_error = error
        if verdict(error) is not Verdict.RETRY and not isinstance(error, CallbackEndpointError):
            if self._end("terminated"):
                self._hand_on(StateChange("terminated", error))
            return
        self._failures += 1
        asked = error.retry_after if isinstance(error, HttpStatusError) else None
        now = self._clock()
        self._due = now + max(webhooks.retry_after(self._failures, random.random()), asked or 0.0)
        with self._lock:
            lapsed = now >= self._lapse and self.state == "active"
            if lapsed:
                self.state = "reconnecting"
        if lapsed:
            self._hand_on(StateChange("reconnecting", error))
        elif self._failures == 1:
            self._hand_on(Trouble(error))

    # On the receiver's threads

    def _deliver(self, delivery: Occurrence | Gap | Terminated) -> bool:
        if isinstance(delivery, Occurrence):
            return self._hand_on(Notification(PREFIX + "event", dict(delivery.event)))
        if isinstance(delivery, Gap):
            return self._hand_on(Notification(PREFIX + "active", {"cursor": delivery.cursor, "truncated": True}))
        kept = self._hand_on(Notification(PREFIX + "terminated", {"error": dict(delivery.error)}))
        if kept:
            self._end("terminated")
        return kept

    # Everywhere

    def _hand_on(self, item: Notification | Trouble | StateChange) -> bool:
        with self._order:
            return self.state != "closed" and self._on_item(item)

    @property
    def _over(self) -> bool:
        return self.state in ("terminated", "closed")

    def _end(self, state: Literal["terminated", "closed"]) -> bool:
        """It is over; False if it was before."""
        with self._lock:
            if self._over:
                return False
            self.state = state
        self._endpoint.close()
        return True

"""The Events extension (SEP-3415): what ``client.events`` is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, cast, overload

from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.schedule import Schedule
from syncline.errors import (
    ConfigError,
    EventsExhausted,
    EventUnsupported,
    InvalidResult,
    ListingLimit,
    LocalProtocolError,
    NoCompatibleDelivery,
    SubscriptionLimit,
    SynclineError,
)
from syncline.protocol.event_errors import EXTENSION, Dialect, advertised, typed
from syncline.protocol.occurrences import Subscription
from syncline.protocol.pace import Reconnect
from syncline.session.listing import Page, follow
from syncline.session.session import json_object

from .cursors import CursorStore, Stored, SubscriptionKey
from .event_stream import EventStream
from .feed import Feed
from .poll import Poll
from .push import Push
from .webhook_receiver import WebhookReceiver
from .webhooks import Webhook, WebhookStream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from syncline.config import Timeouts
    from syncline.session.session import Session
    from syncline_wire.events import EventType, PollEventsResult

Delivery: TypeAlias = Literal["push", "poll"]

#: Seconds for a subscription to become active, connecting included.
START = 90.0
#: Seconds for looking up whether an event type is still there.
LISTING = 30.0
#: Items that wait to be taken from one stream before the server is slowed down, or cut off.
WAITING = 1000
#: Threads that poll, for all subscriptions of a client.
POLLERS = 4


class StreamOptions(TypedDict, total=False):
    """The options of a subscription.

    Attributes:
        cursors: Keeps what was acknowledged for the next process: ``SqliteCursors``, ``MemoryCursors`` or your own.
        max_age_ms: With a cursor: nothing older than so many milliseconds is wanted.
        meta: Sent as ``_meta``; keys of the protocol itself win.
        timeout: Seconds to wait for the subscription to become active; 90.
        reconnect: How a pushed stream is made again; by default without end, after 1 to 30 seconds.
        waiting: How many items may wait to be taken, 1000. When more come, polls pause, and over HTTP the server is slowed
            down; over a shared channel (stdio) the stream is cut off, and made again from where it stood once there is room; a
            webhook does not accept them, so that they are posted again later.
        ttl_ms: Webhooks: how long the server should keep the subscription without a refresh, ``never`` to have it kept
            until ``close()``; the server may choose otherwise.
    """

    cursors: CursorStore | None
    max_age_ms: int | None
    meta: Mapping[str, object] | None
    timeout: float
    reconnect: Reconnect | None
    waiting: int
    ttl_ms: int | Literal["default", "never"]


class Events:
    """The events of one server: its event types, polls, and subscriptions.

    Nothing is sent to a server that does not advertise events (``LocalProtocolError``), in either dialect: SEP-3415, or the
    earlier sketch. Errors of the extension are ``EventError``; those of the connection are raised as ever.

    Args:
        session: The session with the server.
        dialect: ``auto`` goes by what the server advertises; naming one assumes it, whatever the server says.
        principal: Who we are at the server, where stored cursors are to be kept apart by that.
    """

    def __init__(
        self, session: Session, *, dialect: Dialect | Literal["auto"] = "auto", principal: str | None = None
    ) -> None:
        self.principal = principal
        self._session = session
        self._wanted: Dialect | Literal["auto"] = dialect
        self._lock = new_lock()
        self._workers: list[Push | Poll | Webhook] = []
        self._schedules: dict[str, Schedule] = {}

    @property
    def dialect(self) -> Dialect:
        """How the server speaks of events. Raises ``LocalProtocolError`` where it does not."""
        if self._wanted != "auto":
            return self._wanted
        found = advertised(self._session.agreement.capabilities)
        if found is None:
            problem = f"the server does not offer events: no {EXTENSION} among its extensions"
            raise LocalProtocolError(problem).at(self._session.name)
        return found

    # Asking

    def list(self, *, timeout: float | Timeouts | None = None) -> list[EventType]:
        """All event types, every page followed: ``name``, ``description``, ``delivery``, ``input_schema``, ``payload_schema``.

        Source: SEP-3415, ``events/list``. Blocks for ``timeout`` seconds at most, by default ``Timeouts.call``. Raises
        ``ListingLimit`` when a listing goes over ``Limits``.
        """
        deadline = self._session.deadline(timeout)

        def fetch(cursor: str | None) -> Page[EventType]:
            raw = self._call("events/list", {} if cursor is None else {"cursor": cursor}, deadline)
            following = raw.get("nextCursor")
            if following is not None and not isinstance(following, str):
                problem = f"nextCursor is {type(following).__name__}, not text"
                raise InvalidResult(problem, raw=raw, errors=[problem]).at(self._session.name, "events/list")
            return Page(self._session.lift("events/list", raw).events, following)

        try:
            pages = list(follow(fetch, lambda entry: entry.name, self._session.limits))
        except ListingLimit as error:
            error.at(self._session.name, "events/list")
            raise
        return [entry for page in pages for entry in page.items]

    def poll(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        cursor: str | None = None,
        *,
        max_events: int | None = None,
        max_age_ms: int | None = None,
        meta: Mapping[str, object] | None = None,
        timeout: float | Timeouts | None = None,
    ) -> PollEventsResult:
        """What has happened since ``cursor``: ``events``, the next ``cursor``, ``has_more``, ``next_poll_ms``, ``truncated``.

        Source: SEP-3415, ``events/poll``. Without a cursor the result has no events, only the cursor to begin with.
        ``max_age_ms`` leaves out what is older than so many milliseconds. Blocks like ``list``.
        """
        params: dict[str, object] = {"name": name, "arguments": self._arguments(arguments, "events/poll")}
        wishes = {"cursor": cursor, "maxEvents": max_events, "maxAgeMs": max_age_ms}
        params.update({key: value for key, value in wishes.items() if value is not None})
        raw = self._call("events/poll", params, self._session.deadline(timeout), meta)
        return cast("PollEventsResult", self._session.lift("events/poll", raw))

    # Subscribing

    def stream(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        cursor: str | None = None,
        **options: Unpack[StreamOptions],
    ) -> EventStream:
        """Have events pushed as they happen. Source: SEP-3415, ``events/stream``.

        Returns once the server says that the stream is active, or raises what came instead: ``EventError``,
        ``RequestTimeout`` and others; ``SubscriptionLimit`` when ``Limits.subscriptions`` are open. A stream that breaks off
        later is made again, from where it stood; events that come twice are left out.

        Args:
            name: The event type.
            arguments: What to watch, by the event type's ``input_schema``.
            cursor: Where to start; None for where ``cursors`` has it, or else now.
            options: See ``StreamOptions``.
        """
        dialect = self.dialect
        feed = self._feed(name, self._arguments(arguments, "events/stream"), cursor, dialect, options)
        worker = Push(
            self._session,
            feed,
            lambda: self._lists(name),
            dialect,
            policy=options.get("reconnect") or Reconnect(),
            max_age_ms=options.get("max_age_ms"),
            meta=options.get("meta"),
        )
        self._start(worker, options)
        return EventStream(worker)

    @overload
    def subscribe(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        delivery: Delivery | None = None,
        cursor: str | None = None,
        **options: Unpack[StreamOptions],
    ) -> EventStream: ...

    @overload
    def subscribe(
        self,
        name: str,
        arguments: Mapping[str, object] | None,
        delivery: WebhookReceiver,
        cursor: str | None = None,
        **options: Unpack[StreamOptions],
    ) -> WebhookStream: ...

    def subscribe(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        delivery: Delivery | WebhookReceiver | None = None,
        cursor: str | None = None,
        **options: Unpack[StreamOptions],
    ) -> EventStream:
        """Watch an event type in a way that it offers: pushed where that can be had, else polled for; or by webhook.

        Otherwise like ``stream``. Only pushed streams take a thread each, and count for ``Limits.subscriptions``.

        Args:
            name: The event type.
            arguments: What to watch, by the event type's ``input_schema``.
            delivery: ``push`` or ``poll`` to have it no other way; or the receiver that a webhook is posted to.
            cursor: Where to start; None for where ``cursors`` has it, or else now.
            options: See ``StreamOptions``.

        Raises ``NoCompatibleDelivery`` where the type offers neither, or not what was asked for, besides what ``stream`` does.
        """
        offered = self._offered(name)
        if isinstance(delivery, WebhookReceiver):
            if "webhook" not in offered:
                raise NoCompatibleDelivery(f"{name} offers {', '.join(offered)}, not webhook").at(self._session.name)
            return self._posted(name, arguments, delivery, cursor, options)
        ways = [way for way in ("push", "poll") if way in offered and delivery in (None, way)]
        if not ways:
            problem = f"{name} offers {', '.join(offered)}, not {delivery or 'push or poll'}"
            raise NoCompatibleDelivery(problem).at(self._session.name)
        if ways[0] == "push":
            try:
                return self.stream(name, arguments, cursor, **options)
            except (EventUnsupported, EventsExhausted, SubscriptionLimit):
                if "poll" not in ways:
                    raise
        return self._polled(name, arguments, cursor, options)

    def _polled(
        self, name: str, arguments: Mapping[str, object] | None, cursor: str | None, options: StreamOptions
    ) -> EventStream:
        dialect = self.dialect
        feed = self._feed(name, self._arguments(arguments, "events/poll"), cursor, dialect, options)
        worker = Poll(
            self._session,
            feed,
            lambda: self._lists(name),
            dialect,
            self._clock("poll", POLLERS),
            max_age_ms=options.get("max_age_ms"),
            meta=options.get("meta"),
        )
        self._start(worker, options)
        return EventStream(worker)

    def _posted(
        self,
        name: str,
        arguments: Mapping[str, object] | None,
        receiver: WebhookReceiver,
        cursor: str | None,
        options: StreamOptions,
    ) -> WebhookStream:
        dialect = self.dialect
        feed = self._feed(name, self._arguments(arguments, "events/subscribe"), cursor, dialect, options)
        worker = Webhook(
            self._session,
            feed,
            lambda: self._lists(name),
            dialect,
            self._clock("webhooks", 1),
            receiver,
            ttl_ms=options.get("ttl_ms", "default"),
            max_age_ms=options.get("max_age_ms"),
        )
        self._start(worker, options)
        return WebhookStream(worker, self._session.deadline)

    def close(self, timeout: float | None = None) -> None:
        """Close all streams, within ``timeout`` seconds."""
        deadline = Deadline(timeout)
        with self._lock:
            workers, self._workers = self._workers, []
            schedules, self._schedules = self._schedules, {}
        for worker in workers:
            worker.close(deadline)
        for schedule in schedules.values():
            schedule.stop(deadline)
        lifecycle.closed(self)

    def forked(self) -> None:
        """We are in a forked child: every stream belongs to the parent."""
        self._schedules = {}
        for worker in self._workers:
            worker.feed.forked()
        self._workers = []

    # Inside

    def _call(
        self, method: str, params: Mapping[str, object], deadline: Deadline, meta: Mapping[str, object] | None = None
    ) -> dict[str, object]:
        dialect = self.dialect
        try:
            return self._session.request(method, params, deadline, meta, extensions={EXTENSION: {}})
        except SynclineError as error:
            meant = typed(error, dialect)
            if meant is error:
                raise
            raise meant from error

    def _arguments(self, arguments: Mapping[str, object] | None, method: str) -> dict[str, object]:
        return json_object(arguments or {}, "arguments", self._session.name, method)

    def _offered(self, name: str) -> tuple[str, ...]:
        for entry in self.list():
            if entry.name == name:
                return tuple(entry.delivery)
        raise NoCompatibleDelivery(f"the server lists no event type {name}").at(self._session.name, "events/list")

    def _lists(self, name: str) -> bool:
        return any(entry.name == name for entry in self.list(timeout=LISTING))

    def _feed(
        self,
        name: str,
        arguments: Mapping[str, object],
        cursor: str | None,
        dialect: Dialect,
        options: StreamOptions,
    ) -> Feed:
        limits, cursors = self._session.limits, options.get("cursors")
        session = self._session
        key = SubscriptionKey.of(session.name, self.principal, name, arguments, dialect, session.program)
        if cursors is not None and not hasattr(cursors, "load"):
            raise ConfigError(f"cursors is a store, such as SqliteCursors(path), not {cursors!r}").at(key.server)
        stored = cursors.load(key) if cursors is not None else Stored()
        subscription = Subscription(
            name,
            arguments,
            dialect,
            cursor=cursor if cursor is not None else stored.cursor,
            seen=stored.seen,
            limit=limits.notification_bytes,
            record=self._session.findings.record,
        )
        waiting = options.get("waiting", WAITING)
        return Feed(subscription, key, cursors, waiting=waiting, pending_bytes=limits.pending_bytes)

    def _start(self, worker: Push | Poll | Webhook, options: StreamOptions) -> None:
        limit = self._session.limits.subscriptions
        with self._lock:
            self._workers = [each for each in self._workers if not each.feed.finished]
            if isinstance(worker, Push) and sum(isinstance(each, Push) for each in self._workers) >= limit:
                raise SubscriptionLimit(f"{limit} streams are open (Limits.subscriptions)").at(self._session.name)
            self._workers.append(worker)
        lifecycle.opened(self)
        worker.start(Deadline(options.get("timeout", START)))

    def _clock(self, role: str, size: int) -> Schedule:
        session = self._session
        with self._lock:
            if role not in self._schedules:
                name = f"syncline:{session.name}:{role}"
                self._schedules[role] = Schedule(name, size, lambda: session.closed, self._end_scheduled)
            return self._schedules[role]

    def _end_scheduled(self) -> None:
        """The client is closed; streams that are pushed see that for themselves."""
        with self._lock:
            workers = list(self._workers)
        for worker in workers:
            if not isinstance(worker, Push):
                worker.feed.close()

"""One event subscription: what the server sends in, items in order out (SEP-3415). Pure; whoever drives it has the clock.

Where the subscription stands (``cursor``) moves with every frame: what was handed out is in the application's queue and
safe while the process lives. What may be stored for the next process is the ledger's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from pydantic_core import to_json

from syncline.errors import InvalidMessage, InvalidResult, StreamTerminated, SynclineError, server_error

from .event_errors import Dialect, typed
from .positions import Ledger, Position, Ticket, Window

PREFIX = "notifications/events/"
#: Event ids that are remembered for each subscription.
WINDOW = 10_000
#: Seconds until the next poll where the server does not say.
NEXT_POLL = 30.0
#: Milliseconds that a server can ask for; an integer of JSON may be too large to reckon with.
LONGEST_DELAY = 1e12

StreamState: TypeAlias = Literal["starting", "active", "reconnecting", "terminated", "closed"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something happened.

    Attributes:
        name: The event type.
        data: The payload, by the event type's schema. No more to be trusted than any other input.
        event_id: The same for each delivery of the same occurrence.
        timestamp: When it happened (ISO 8601), as the server wrote it.
        cursor: The position after it; None where the server gave none, as in polls.
        meta: Metadata under anybody's keys.
        size: Bytes that all of it has as JSON.
    """

    name: str
    data: dict[str, Any]
    event_id: str
    timestamp: str
    cursor: str | None
    meta: Mapping[str, Any]
    size: int = field(repr=False, compare=False)
    ticket: Ticket = field(repr=False, compare=False)
    kind: Literal["event"] = "event"


@dataclass(frozen=True, slots=True)
class Gap:
    """Something may have been missed before this point; ``cursor`` is where the subscription goes on, None if unknown."""

    cursor: str | None
    ticket: Ticket = field(repr=False, compare=False)
    kind: Literal["gap"] = "gap"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something went wrong and passed: the server says so, or an event could not be used. The stream goes on."""

    error: SynclineError
    kind: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class StateChange:
    """The stream is in another state, from this point on; ``error`` is what led to it, where something did."""

    state: StreamState
    error: SynclineError | None = None
    kind: Literal["state"] = "state"


StreamItem: TypeAlias = "Event | Gap | Trouble | StateChange"


class Taken(NamedTuple):
    """What one frame led to.

    Attributes:
        items: What is to be handed out, in order.
        active: It said that the stream is running; it proves nothing else.
        ended: The server ended the subscription, for this reason.
    """

    items: list[StreamItem] = []  # noqa: RUF012 - never changed
    active: bool = False
    ended: SynclineError | None = None


class Page(NamedTuple):
    """What one poll brought.

    Attributes:
        items: What is to be handed out, in order.
        more: More is waiting, and the position has moved.
        next_poll: Seconds until the server wants to be asked again.
    """

    items: list[StreamItem]
    more: bool
    next_poll: float


class Subscription:
    """What is known of one subscription.

    Args:
        name: The event type.
        arguments: What it is watched with.
        dialect: Which codes errors have.
        cursor: Where to start; None for now.
        seen: Ids of events that were acknowledged in an earlier process.
        limit: Bytes of one event.
        record: Told of what was wrong and forgiven.

    Attributes:
        cursor: From where to go on.
        ledger: Which cursor may be stored.
    """

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, object],
        dialect: Dialect,
        *,
        cursor: str | None,
        seen: tuple[str, ...],
        limit: int,
        record: Callable[[str, str, object], None],
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.cursor = cursor
        self.ledger = Ledger(cursor)
        self._dialect: Dialect = dialect
        self._window = Window(WINDOW, seen)
        self._limit = limit
        self._record = record
        self._asked: str | None = None
        self._opened = False
        self._running = False
        self._again = False

    def request(self, max_age_ms: int | None = None) -> dict[str, object]:
        """The parameters that ask for what comes next. Absent and null are the same; absent it is."""
        self._asked = self.cursor
        self._again, self._opened, self._running = self._opened, self._opened, False
        params: dict[str, object] = {"name": self.name, "arguments": self.arguments}
        if self.cursor is not None:
            params["cursor"] = self.cursor
        if max_age_ms is not None:
            params["maxAgeMs"] = max_age_ms
        return params

    # Push

    def frame(self, method: str, params: Mapping[str, object]) -> Taken:
        """Take one notification. Never raises: what cannot be used is skipped, and told (E-45)."""
        kind = method.removeprefix(PREFIX)
        if kind == "event":
            return Taken(self._pushed(params))
        if kind == "heartbeat":
            self._move(self._cursor(params))
            return Taken()
        if kind == "active":
            return Taken(self._active(params), active=True)
        if kind == "error":
            return Taken([Trouble(self._error(params) or InvalidMessage("trouble without an error", raw=params))])
        if kind == "terminated":
            return Taken(ended=self._error(params) or StreamTerminated("the server ended it without saying why"))
        self._record("event-frame", method, params)
        return Taken()

    def _active(self, params: Mapping[str, object]) -> list[StreamItem]:
        """Delivery begins, or goes on after a gap."""
        cursor, first = self._cursor(params), not self._running
        self._opened = self._running = True
        if first and self._asked is None:
            missed = self._again  # there was no position to go on from
        else:
            missed = params.get("truncated") is True and (cursor is not None or self.cursor is not None)
        if missed:
            return [self._gap(cursor, self.ledger.position(cursor))]
        if self.cursor is None:
            self._move(cursor)
        return []

    def _pushed(self, params: Mapping[str, Any]) -> list[StreamItem]:
        cursor = self._cursor(params)
        size = self._size(params)
        if isinstance(size, Trouble):
            self._move(cursor)
            return [size]
        if not self._window.add(params["eventId"]):
            return []
        self.cursor = cursor if cursor is not None else self.cursor
        return [self._event(params, cursor, size, self.ledger.position(cursor))]

    # Poll

    def page(self, result: Mapping[str, object]) -> Page:
        """Take one result of ``events/poll``. Raises ``InvalidResult`` for one that is none."""
        events, cursor, before = result.get("events"), self._cursor(result), self.cursor
        if not isinstance(events, list):
            raise InvalidResult("the result of a poll has no list of events", raw=result, errors=["events"])
        position = self.ledger.position(cursor)
        items: list[StreamItem] = []
        if result.get("truncated") is True and self._asked is not None:
            items.append(self._gap(cursor, position))
        for raw in events:
            size = self._size(raw)
            if isinstance(size, Trouble):
                items.append(size)
            elif self._window.add(raw["eventId"]):
                items.append(self._event(raw, None, size, position))
        self.ledger.advance()
        self.cursor = cursor if cursor is not None else before
        delay = result.get("nextPollMs")
        seconds = NEXT_POLL
        if isinstance(delay, (int, float)) and not isinstance(delay, bool):
            seconds = min(max(delay, 0), LONGEST_DELAY) / 1000
        return Page(items, result.get("hasMore") is True and self.cursor != before, seconds)

    # Both

    def _event(self, raw: Mapping[str, Any], cursor: str | None, size: int, position: Position) -> Event:
        name, timestamp, meta = raw.get("name"), raw.get("timestamp"), raw.get("_meta")
        return Event(
            name if isinstance(name, str) else self.name,
            raw["data"],
            raw["eventId"],
            timestamp if isinstance(timestamp, str) else "",
            cursor,
            meta if isinstance(meta, dict) else {},
            size,
            self.ledger.ticket(position),
        )

    def _size(self, raw: object) -> int | Trouble:
        """The size of an event; what to hand out in its place where it cannot be used."""
        if not (isinstance(raw, dict) and isinstance(raw.get("eventId"), str) and isinstance(raw.get("data"), dict)):
            return self._unusable("event-malformed", "an event without an id or data", raw)
        size = len(to_json(raw))
        if size > self._limit:
            reason = f"an event of {size} bytes, more than Limits.notification_bytes"
            return self._unusable("event-too-large", reason, raw["eventId"])
        return size

    def _unusable(self, code: str, reason: str, raw: object) -> Trouble:
        self._record(code, self.name, raw)
        return Trouble(InvalidMessage(f"{reason}, was left out", raw=raw))

    def _gap(self, cursor: str | None, position: Position) -> Gap:
        self.cursor = cursor if cursor is not None else self.cursor
        return Gap(cursor, self.ledger.ticket(position, implied=True))

    def _move(self, cursor: str | None) -> None:
        if cursor is not None:
            self.cursor = cursor
            self.ledger.passed(cursor)

    def _cursor(self, params: Mapping[str, object]) -> str | None:
        cursor = params.get("cursor")
        if cursor is not None and not isinstance(cursor, str):
            self._record("event-cursor", self.name, cursor)
            return None
        return cursor

    def _error(self, params: Mapping[str, object]) -> SynclineError | None:
        error = params.get("error")
        if not isinstance(error, dict):
            return None
        code, message = error.get("code"), error.get("message")
        number = code if isinstance(code, int) and not isinstance(code, bool) else 0
        return typed(server_error(number, str(message or "no message"), error.get("data")), self._dialect)

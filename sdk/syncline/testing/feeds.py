"""What a fake server tells unasked: occurrences of events, and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from syncline.concurrency.deadline import Deadline
from syncline.serving import INVALID_PARAMS, JSON, META, Refused, arguments_of, field, page

from .call import Call, Gone

if TYPE_CHECKING:
    from syncline.concurrency.monitor import Monitor

SUBSCRIPTION = META + "subscriptionId"
EXTENSION = META + "events"
NOT_FOUND = -32023
#: Members of a ``subscriptions/listen`` filter → the notification that each lets through.
FILTERS: Mapping[str, str] = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
    "eventsListChanged": "notifications/events/list_changed",
}
UPDATED = "notifications/resources/updated"


@dataclass
class EventType:
    """An event type: how ``events/list`` describes it, whom an occurrence concerns, and what there was."""

    about: JSON
    concerns: Callable[[JSON, JSON], bool]
    occurrences: list[JSON]
    ended: JSON | None = None

    def start(self, cursor: object) -> int:
        """The place of a cursor; where nothing is known of it, the end."""
        known = isinstance(cursor, str) and cursor.isdecimal() and int(cursor) <= len(self.occurrences)
        return int(str(cursor)) if known else len(self.occurrences)

    def since(self, start: int, end: int, arguments: JSON) -> list[tuple[int, JSON]]:
        """The occurrences between two places that concern a subscription, each with the place after it."""
        found = enumerate(self.occurrences[start:end], start + 1)
        return [(after, one) for after, one in found if self.concerns(arguments, one["data"])]


class Feeds:
    """Keeps what was told, and answers those who ask for it or listen to it."""

    def __init__(self, monitor: Monitor, heartbeat: float) -> None:
        self.heartbeat = heartbeat
        self._monitor = monitor
        self._events: dict[str, EventType] = {}
        self._changes: list[tuple[str, JSON]] = []

    @property
    def extensions(self) -> JSON:
        """What there is, as the server declares it."""
        return {EXTENSION: {"listChanged": True}} if self._events else {}

    def add(self, name: str, about: JSON, concerns: Callable[[JSON, JSON], bool]) -> None:
        """Offer an event type."""
        with self._monitor:
            self._events[name] = EventType({"name": name, **about}, concerns, [])

    def emit(self, name: str, data: Mapping[str, object], event_id: str | None) -> None:
        """Let an event happen."""
        with self._monitor:
            happened = self._named(name).occurrences
            now = datetime.now(timezone.utc).isoformat()
            number = len(happened) + 1
            happened.append(
                {"eventId": event_id or f"{name}-{number}", "name": name, "timestamp": now, "data": dict(data)}
            )

    def terminate(self, name: str, error: JSON) -> None:
        """End the subscriptions of an event type, those to come too."""
        with self._monitor:
            self._named(name).ended = error

    def _named(self, name: str) -> EventType:
        if name not in self._events:
            raise ValueError(f"there is no event type {name!r}: offer it with event({name!r}) first")
        return self._events[name]

    def change(self, method: str, params: JSON) -> None:
        """Tell everybody who listens of a change."""
        with self._monitor:
            self._changes.append((method, params))

    def methods(self) -> dict[str, Callable[[Call], JSON]]:
        """The methods that are answered here, in 2026-07-28."""
        events: dict[str, Callable[[Call], JSON]] = {
            "events/list": lambda call: page(
                "events", [kind.about for kind in self._events.values()], call.params, 1000
            ),
            "events/poll": self._poll,
            "events/stream": self._stream,
        }
        return {"subscriptions/listen": self._listen} | (events if self._events else {})

    @property
    def position(self) -> int:
        """How many changes there were so far."""
        return len(self._changes)

    def changes(
        self, start: int, ended: Callable[[], bool], wanted: Callable[[str, JSON], bool]
    ) -> Iterator[tuple[str, JSON]]:
        """The changes from a position on that are wanted, until nobody listens any more. Blocks between them."""
        while True:
            self._monitor.wait(lambda: ended() or len(self._changes) > start, Deadline(None))  # noqa: B023
            if ended():
                return
            fresh, start = self._changes[start:], len(self._changes)
            yield from ((method, params) for method, params in fresh if wanted(method, params))

    def _event(self, call: Call) -> tuple[EventType, JSON]:
        name = field(call.params, "name")
        if name not in self._events:
            raise Refused(NOT_FOUND, f"no such event: {name}", {"kind": "event"})
        return self._events[name], arguments_of(call.params)

    def _poll(self, call: Call) -> JSON:
        kind, arguments = self._event(call)
        if kind.ended is not None:
            raise Refused(kind.ended["code"], kind.ended["message"])
        most = call.params.get("maxEvents", 1000)
        if not isinstance(most, int):
            raise Refused(INVALID_PARAMS, "maxEvents must be of type integer")
        end = len(kind.occurrences)
        found = kind.since(kind.start(call.params.get("cursor")), end, arguments)
        taken = found[:most]
        more = len(found) > len(taken)
        cursor = str(taken[-1][0] if more and taken else end)
        events = [occurrence for _, occurrence in taken]
        return {"events": events, "cursor": cursor, "truncated": False, "hasMore": more, "nextPollMs": 1000}

    def _stream(self, call: Call) -> JSON:
        kind, arguments = self._event(call)

        def send(what: str, **params: Any) -> None:
            call.notify(f"notifications/events/{what}", {**params, "_meta": {SUBSCRIPTION: call.message.id}})

        place = kind.start(call.params.get("cursor"))
        send("active", cursor=str(place), truncated=False)
        while True:
            news = self._monitor.wait(lambda: self._news(kind, call, place), Deadline(self.heartbeat))  # noqa: B023
            if call.cancelled:
                raise Gone
            start, place = place, len(kind.occurrences)
            for after, occurrence in kind.since(start, place, arguments):
                send("event", **occurrence, cursor=str(after))
            if kind.ended is not None:
                send("terminated", error=kind.ended)
                return {"_meta": {SUBSCRIPTION: call.message.id}}
            if not news:
                send("heartbeat", cursor=str(place))

    @staticmethod
    def _news(kind: EventType, call: Call, place: int) -> bool:
        return call.cancelled or kind.ended is not None or len(kind.occurrences) > place

    def _listen(self, call: Call) -> JSON:
        asked = field(call.params, "notifications", "object")
        methods = {method for member, method in FILTERS.items() if asked.get(member) is True}
        uris = asked.get("resourceSubscriptions") or []
        marked = {SUBSCRIPTION: call.message.id}
        granted = {member: asked[member] for member in (*FILTERS, "resourceSubscriptions") if asked.get(member)}

        def wanted(method: str, params: JSON) -> bool:
            return method in methods or (method == UPDATED and params["uri"] in uris)

        changes = self.changes(self.position, lambda: call.cancelled, wanted)
        call.notify("notifications/subscriptions/acknowledged", {"notifications": granted, "_meta": marked})
        for method, params in changes:
            call.notify(method, {**params, "_meta": marked})
        raise Gone

"""A server of the Events extension over HTTP: event types, a log of what happened, push and poll from any cursor, faults.

An `EventSource` outlives its server, so a server can be restarted: what happened meanwhile is delivered after that.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import Literal

from .catalogue import META, Catalogue, Json
from .mcp_http import McpHttpServer
from .samples import sample_catalogue
from .scripted import Exchange

EXTENSION = META + "events"
SLICE = 0.2  # seconds between two looks at whether the client is still there
STATUS = {-32601: 404, -32602: 400}

#: What a stream or a poll can be made to do, once each:
Fault = Literal[
    "drop",  # the connection ends in an orderly way, without an answer
    "reset",  # it ends with a reset
    "truncate",  # it ends in the middle of a frame
    "finish",  # the request is answered, with nothing said before
    "silence",  # nothing is sent any more, not even heartbeats, until the client hangs up
    "error",  # an error that passes: a frame on a stream, an answer to a poll
    "gap",  # it says that something may have been missed
    "again",  # the last events are sent once more
    "busy",  # 503 with Retry-After: 1 to the next request
]


class Topic:
    """What happened for one event type and one set of arguments; an event's place in the log is its cursor.

    Attributes:
        log: Every event, oldest first.
        oldest: Events before this place are not delivered any more.
        opened: How many streams were opened.
        polls: How many polls came.
    """

    def __init__(self) -> None:
        self.log: list[Json] = []
        self.oldest = 0
        self.opened = 0
        self.polls = 0
        self.refusal: Json | None = None
        self.termination: Json | None = None
        self.faults: deque[Fault] = deque()
        self.changed = threading.Condition()

    def place(self, cursor: object) -> tuple[int, bool]:
        """Where delivery starts, and whether something before that is gone."""
        if cursor is None:
            return len(self.log), False
        wanted = int(str(cursor).removeprefix("c"))
        return max(wanted, self.oldest), wanted < self.oldest


class EventSource:
    """The events of a server.

    Args:
        heartbeat: Seconds of silence after which a stream gets a heartbeat.
        next_poll_ms: What polls are told.
        cursors: Whether cursors are given out.
    """

    def __init__(self, *, heartbeat: float = 30.0, next_poll_ms: int = 1000, cursors: bool = True) -> None:
        self.heartbeat = heartbeat
        self.next_poll_ms = next_poll_ms
        self.cursors = cursors
        self.types: dict[str, Json] = {}
        self.faulted: Counter[str] = Counter()
        self._topics: dict[str, Topic] = {}
        self._lock = threading.Lock()

    def offer(self, name: str, *delivery: str) -> None:
        """List an event type."""
        schema = {"type": "object"}
        about = {"description": "Things happen.", "inputSchema": schema, "payloadSchema": schema}
        self.types[name] = {"name": name, "delivery": list(delivery or ("push", "poll")), **about}

    def topic(self, name: str, arguments: Json | None = None) -> Topic:
        key = json.dumps([name, arguments or {}], sort_keys=True)
        with self._lock:
            return self._topics.setdefault(key, Topic())

    def emit(self, name: str, arguments: Json | None = None, data: Json | None = None) -> str:
        """Something happens; its event id."""
        topic = self.topic(name, arguments)
        with topic.changed:
            number = len(topic.log)
            event: Json = {
                "eventId": f"e{number}",
                "name": name,
                "timestamp": "2026-11-03T10:11:12Z",
                "data": data or {},
            }
            topic.log.append(event)
            topic.changed.notify_all()
        return f"e{number}"

    def fault(self, kind: Fault, name: str, arguments: Json | None = None) -> None:
        """Make the topic's stream, or its next poll, do this."""
        topic = self.topic(name, arguments)
        with topic.changed:
            topic.faults.append(kind)
            topic.changed.notify_all()

    def terminate(self, name: str, arguments: Json | None = None, error: Json | None = None) -> None:
        """End the topic's subscriptions, once for each."""
        topic = self.topic(name, arguments)
        with topic.changed:
            topic.termination = error or {}
            topic.changed.notify_all()

    def cursor(self, place: int) -> str | None:
        return f"c{place}" if self.cursors else None


class EventServer(McpHttpServer):
    """A `McpHttpServer` with events.

    Args:
        source: What happens.
        sketch: Whether events are advertised the way of the earlier sketch.
    """

    def __init__(
        self,
        source: EventSource | None = None,
        *,
        sketch: bool = False,
        versions: Sequence[str] = ("2026-07-28",),
        port: int = 0,
        catalogue: Catalogue | None = None,
    ) -> None:
        self.source = source or EventSource()
        catalogue = catalogue or sample_catalogue(versions)
        if sketch:
            catalogue.capabilities["events"] = {}
        else:
            catalogue.capabilities["extensions"] = {EXTENSION: {}}
        catalogue.methods["events/list"] = lambda call: catalogue.page("events", list(self.source.types.values()), call)
        super().__init__(catalogue, port=port)

    def _run(self, exchange: Exchange, message: Json, headers: list[tuple[str, str]], statuses: dict[int, int]) -> None:
        method = message.get("method")
        if method not in ("events/stream", "events/poll"):
            super()._run(exchange, message, headers, statuses)
            return
        params = message["params"]
        topic = self.source.topic(params["name"], params.get("arguments"))
        if topic.refusal is not None:
            error = {"jsonrpc": "2.0", "id": message["id"], "error": topic.refusal}
            exchange.json(error, STATUS.get(topic.refusal["code"], 200))
        elif topic.faults and topic.faults[0] == "busy":
            self._next_fault(topic)
            exchange.respond(503, b"busy", "text/plain", [("Retry-After", "1")])
        elif method == "events/poll":
            self._poll(exchange, message, topic)
        else:
            Stream(self, exchange, message["id"], topic, params.get("cursor")).run()

    def _next_fault(self, topic: Topic) -> Fault | None:
        with topic.changed:
            fault = topic.faults.popleft() if topic.faults else None
        if fault is not None:
            self.source.faulted[fault] += 1
        return fault

    def _poll(self, exchange: Exchange, message: Json, topic: Topic) -> None:
        params, source = message["params"], self.source
        topic.polls += 1
        at, truncated = topic.place(params.get("cursor"))
        fault = self._next_fault(topic)
        if fault in ("drop", "reset", "truncate"):
            exchange.reset() if fault == "reset" else exchange.close()
            return
        if fault == "silence":
            exchange.hold()
            return
        if fault == "error":
            error = {"code": -32603, "message": "upstream is away"}
            exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "error": error})
            return
        if fault == "again":
            at = max(at - 3, topic.oldest)
        end = min(len(topic.log), at + params.get("maxEvents", 100))
        exchange.result(
            {
                "events": topic.log[at:end],
                "cursor": source.cursor(end),
                "truncated": truncated or fault == "gap",
                "hasMore": end < len(topic.log),
                "nextPollMs": source.next_poll_ms,
            }
        )


class Stream:
    """One `events/stream` request while it is answered."""

    def __init__(self, server: EventServer, exchange: Exchange, ident: object, topic: Topic, cursor: object) -> None:
        self._server = server
        self._source = server.source
        self._exchange = exchange
        self._id = ident
        self._topic = topic
        self._at, self._truncated = topic.place(cursor)

    def run(self) -> None:
        topic = self._topic
        topic.opened += 1
        self._exchange.sse()
        self._notify("active", truncated=self._truncated, cursor=self._source.cursor(self._at))
        last = time.monotonic()
        while self._exchange.open:
            with topic.changed:
                topic.changed.wait_for(lambda: self._due() or topic.faults or topic.termination is not None, SLICE)
                due = self._due()
            if due:
                self._deliver(due)
                last = time.monotonic()
            elif topic.faults:
                self._fault(self._server._next_fault(topic))
            elif topic.termination is not None:
                error, topic.termination = topic.termination, None
                self._notify("terminated", **({"error": error} if error else {}))
                self._finish()
            elif self._exchange.gone():
                self._exchange.close()
            elif time.monotonic() - last > self._source.heartbeat:
                self._notify("heartbeat", cursor=self._source.cursor(self._at))
                last = time.monotonic()
            self._server.check()

    def _due(self) -> list[Json]:
        return self._topic.log[self._at : self._at + 50]

    def _deliver(self, events: list[Json]) -> None:
        for event in events:
            self._at += 1
            self._notify("event", **event, cursor=self._source.cursor(self._at))

    def _fault(self, fault: Fault | None) -> None:
        if fault == "truncate":
            text = json.dumps(self._message("event", {"eventId": "never", "name": "x", "timestamp": "", "data": {}}))
            self._exchange.chunk(f"data: {text[: len(text) // 2]}".encode())
            self._exchange.close()
        elif fault == "reset":
            self._exchange.reset()
        elif fault == "drop":
            self._exchange.close()
        elif fault == "finish":
            self._finish()
        elif fault == "silence":
            self._exchange.hold()
        elif fault == "error":
            self._notify("error", error={"code": -32603, "message": "upstream is away"})
        elif fault == "gap":
            self._notify("active", cursor=self._source.cursor(self._at), truncated=True)
        elif fault == "again":
            self._at = max(self._at - 3, self._topic.oldest)

    def _finish(self) -> None:
        self._exchange.event({"jsonrpc": "2.0", "id": self._id, "result": {"resultType": "complete"}})
        self._exchange.last_chunk()
        self._exchange.close()

    def _message(self, kind: str, params: Json) -> Json:
        tagged = {**params, "_meta": {META + "subscriptionId": self._id}}
        return {"jsonrpc": "2.0", "method": f"notifications/events/{kind}", "params": tagged}

    def _notify(self, kind: str, **params: object) -> None:
        self._exchange.event(self._message(kind, params))

"""What happens to a message: noted, answered, or gone wrong on purpose."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from syncline.serving import (
    HANDSHAKE,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    JSON,
    METHOD_NOT_FOUND,
    REVISIONS,
    STATELESS,
    Refused,
    dressed,
    field,
    is_id,
    log_level,
    read,
    trim,
)

from . import tasks
from .call import ANSWERING, Call, Gone, InputNeeded, Received, Session, Wire, answer_of
from .faults import Faults, Late
from .feeds import Feeds
from .offer import Offer


class Core:
    """What all ways to the clients of one server share.

    Attributes:
        monitor: Guards everything here, and tells those who wait.
        closed: Nothing is served any more.
        received: What came in.
        sessions: The sessions of handshake clients over HTTP, by id.
        wires: The connections and requests that are open.
    """

    def __init__(
        self, name: str, versions: Sequence[str], instructions: str | None, offer: Offer, heartbeat: float
    ) -> None:
        self.name = name
        self.monitor = Monitor()
        self.closed = False
        self.feeds = Feeds(self.monitor, heartbeat)
        self.faults = Faults(self.monitor)
        self.received: list[Received] = []
        self.sessions: dict[str, Session] = {}
        self.wires: list[Wire] = []
        self._offer = offer
        self._tasks = tasks.Tasks(self)
        self._about = {"name": name, "version": "1"}
        self._versions = tuple(version for version in REVISIONS if version in versions)
        self._instructions = {} if instructions is None else {"instructions": instructions}
        self._answers: dict[object, JSON] = {}
        self._questions = self._numbered = 0

    def opened(self, wire: Wire) -> None:
        """A connection or a request is open, until ``done()``."""
        with self.monitor:
            self.wires.append(wire)

    def new_session(self) -> tuple[str, Session]:
        """A session, and the id that it is kept under in ``sessions``."""
        with self.monitor:
            self._numbered += 1
            name = f"session-{self._numbered}"
            session = self.sessions[name] = Session()
        return name, session

    def done(self, wire: Wire) -> None:
        """It is over."""
        with self.monitor:
            self.wires.remove(wire)

    def take(self, decoded: Any, wire: Wire, session: Session, headers: Mapping[str, str]) -> Call | None:
        """Note a message; a request is to be answered by ``answer()``, everything else is done with."""
        try:
            message = read(decoded, self._versions)
        except Refused as refused:
            number = decoded.get("id") if isinstance(decoded, dict) else None
            _send(wire, number if is_id(number) else None, error=refused.error)
            return None
        with self.monitor:
            if message is None:
                self._answers[decoded.get("id")] = decoded
                return None
            params = {key: value for key, value in message.params.items() if key != "_meta"}
            self.received.append(Received(message.method, params, message.meta, message.id, headers))
            if message.method == "notifications/cancelled":
                session.cancelled.add(message.params.get("requestId"))
        return None if message.id is None else Call(self, message, wire, session)

    def answer(self, call: Call) -> None:
        """Answer a request, unless its client has gone. Blocks for as long as a function of the user's or a fault does."""
        number = call.message.id
        try:
            fault = self.faults.take(call.message.method)
            if fault is not None:
                fault(call)
            result = self._result(call)
            if isinstance(fault, Late) or not call.cancelled:
                _send(call.wire, number, result=result)
        except Gone:
            return
        except Refused as refused:
            _send(call.wire, number, error=refused.error)
        except Exception as error:
            _send(call.wire, number, error={"code": INTERNAL_ERROR, "message": f"{type(error).__name__}: {error}"})

    def ask(self, call: Call, question: JSON) -> JSON:
        """Ask a client of the handshake era, and wait for its answer."""
        with self.monitor:
            self._questions += 1
            number = f"question-{self._questions}"
        call.wire.send({"jsonrpc": "2.0", "id": number, **question})
        self.monitor.wait(lambda: call.cancelled or number in self._answers, Deadline(ANSWERING))
        if number not in self._answers:
            raise Gone
        return answer_of(self._answers[number])

    # Answers

    def _result(self, call: Call) -> JSON:
        method = call.message.method
        run = self._methods(call.stateless).get(method)
        if run is None:
            raise Refused(METHOD_NOT_FOUND, f"Method not found: {method}")
        if not call.stateless and call.session.revision is None and method not in ("initialize", "ping"):
            raise Refused(INVALID_REQUEST, "initialize first, or name the revision in params._meta")
        try:
            result = run(call)
        except InputNeeded as needed:
            result = needed.result
        if call.stateless:
            return dressed(result, method, self._about, 0, "private")
        return result if method == "initialize" else trim(result, call.session.revision or HANDSHAKE[0])

    def _methods(self, stateless: bool) -> Mapping[str, Callable[[Call], JSON]]:
        both = {**self._offer.methods(), "tools/call": self._call_tool}
        if self._offer.has_tasks:
            both |= self._tasks.methods(stateless)
        if stateless:
            return {**both, **self.feeds.methods(), "server/discover": self._discover}
        return {
            **both,
            "initialize": self._initialize,
            "logging/setLevel": self._set_level,
            "ping": lambda _: {},
            "resources/subscribe": lambda _: {},
            "resources/unsubscribe": lambda _: {},
        }

    def _call_tool(self, call: Call) -> JSON:
        work = self._offer.call_tool
        return self._tasks.begin(call, work) if self._offer.becomes_task(call) and tasks.wanted(call) else work(call)

    def _initialize(self, call: Call) -> JSON:
        offered = field(call.params, "protocolVersion")
        spoken = [version for version in self._versions if version != STATELESS]
        if not spoken:
            raise Refused(METHOD_NOT_FOUND, "Method not found: initialize")
        call.session.revision = offered if offered in spoken else spoken[0]
        about = {"protocolVersion": call.session.revision, "serverInfo": self._about}
        return {**about, "capabilities": {**self._offer.capabilities, **self._tasks_declared()}, **self._instructions}

    def _discover(self, _: Call) -> JSON:
        extensions = self.feeds.extensions | ({tasks.EXTENSION: {}} if self._offer.has_tasks else {})
        declared = {**self._offer.capabilities, **({"extensions": extensions} if extensions else {})}
        return {"supportedVersions": list(self._versions), "capabilities": declared, **self._instructions}

    def _tasks_declared(self) -> JSON:
        requests: JSON = {"tools": {"call": {}}}
        return {"tasks": {"list": {}, "cancel": {}, "requests": requests}} if self._offer.has_tasks else {}

    def _set_level(self, call: Call) -> JSON:
        call.session.level = log_level(call.params, "level")
        return {}


def _send(wire: Wire, number: object, **members: object) -> None:
    """Answer, if there still is somebody."""
    with contextlib.suppress(Gone):
        wire.send({"jsonrpc": "2.0", "id": number, **members})

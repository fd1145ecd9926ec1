"""The fake server: what it is told to offer and to get wrong, and what came in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from syncline.serving import (
    HANDSHAKE,
    INTERNAL_ERROR,
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

from .call import ANSWERING, Call, Gone, InputNeeded, Received, Session, Wire, answer_of
from .faults import Faults, Late, delaying, dropping, failing
from .feeds import FILTERS, UPDATED, Feeds
from .offer import Offer

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from syncline.client import Client, ClientOptions
    from syncline.transport.base import Transport

    from .http import HttpFront


class FakeServer(Offer):
    """An MCP server in plain Python, for tests: in memory or over HTTP, in both eras.

    Tools, resources, templates, prompts and events are functions of yours; ``fail_next`` and its siblings let things go
    wrong, each for the next requests of one method; ``received`` and ``calls`` tell what came in. Everything may be used from any
    thread. Each request is answered on a thread of its own, so that a function may block. ``close()``, or ``with``, ends all
    connections; in-memory clients that are closed themselves leave nothing behind either.

    Args:
        name: What errors call the server, and who it says it is.
        versions: The revisions that it speaks.
        instructions: What it says about its use.
        page_size: How many items a page of a listing has.
        heartbeat: Seconds between the heartbeats of an event stream.
    """

    def __init__(
        self,
        name: str = "fake",
        *,
        versions: Sequence[str] = REVISIONS,
        instructions: str | None = None,
        page_size: int = 50,
        heartbeat: float = 30.0,
    ) -> None:
        unknown = set(versions) - set(REVISIONS)
        if unknown or not versions:
            raise ValueError(f"versions are some of {', '.join(REVISIONS)}, not {', '.join(sorted(unknown)) or 'none'}")
        super().__init__(page_size)
        self.name = name
        self.monitor = Monitor()
        self.closed = False
        self.sessions: dict[str, Session] = {}
        self._about = {"name": name, "version": "1"}
        self._versions = tuple(version for version in REVISIONS if version in versions)
        self._instructions = {} if instructions is None else {"instructions": instructions}
        self._feeds = Feeds(self.monitor, heartbeat)
        self._faults = Faults(self.monitor)
        self._received: list[Received] = []
        self._answers: dict[object, JSON] = {}
        self._questions = self._numbered = 0
        self._open: list[Wire] = []
        self._fronts: list[HttpFront] = []

    def __repr__(self) -> str:
        return f"<syncline.testing.FakeServer {self.name}>"

    # Connecting

    def connect(self, **options: Unpack[ClientOptions]) -> Client:
        """A client that is connected to this server in memory; the options are those of ``syncline.connect``."""
        from syncline.client import Client

        return Client(self, **options).open()

    def __call__(self) -> Transport:
        """A new way to this server in memory, for one connection: what ``syncline.connect(server)`` uses."""
        from .memory import FakeTransport

        return FakeTransport(self)

    @contextlib.contextmanager
    def http(self, *, answers: Literal["json", "sse"] = "json", sessions: bool = True) -> Iterator[str]:
        """Serve over Streamable HTTP on a free port of this machine, and give the URL; closed at the end of the ``with``.

        ``answers`` is the form of an answer that nothing comes before; ``sessions`` says whether clients of the
        handshake era get a session id, and need it from then on.
        """
        from .http import HttpFront

        front = HttpFront(self, answers=answers, sessions=sessions)
        self._fronts.append(front)
        try:
            yield front.url
        finally:
            front.close()
            self._fronts.remove(front)

    def close(self) -> None:
        """End all connections and whatever waits."""
        with self.monitor:
            self.closed = True
        self.drop_connection()
        for front in list(self._fronts):
            front.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What came in

    @property
    def received(self) -> list[Received]:
        """All requests and notifications that came in, in order."""
        return list(self._received)

    def calls(self, tool: str) -> list[Mapping[str, Any]]:
        """The arguments of each call of a tool, in order; also of those that went wrong."""
        named = [one for one in self.received if one.method == "tools/call" and one.params.get("name") == tool]
        return [one.params.get("arguments") or {} for one in named]

    def wait_for(self, method: str, count: int = 1, timeout: float = 10) -> Received:
        """The latest of ``count`` messages of a method. Blocks until so many came in; ``TimeoutError`` after ``timeout`` seconds."""

        def latest() -> Received | None:
            found = [one for one in self._received if one.method == method]
            return found[count - 1] if len(found) >= count else None

        found = self.monitor.wait(latest, Deadline(timeout))
        if found is None:
            raise TimeoutError(f"{self.name}: {method} did not come {count} times within {timeout:g} s")
        return found

    # Events and changes

    def event(
        self,
        name: str,
        *,
        description: str = "",
        delivery: Sequence[str] = ("push", "poll"),
        input_schema: Mapping[str, object] | None = None,
        payload_schema: Mapping[str, object] | None = None,
        concerns: Callable[[JSON, JSON], bool] = lambda _arguments, _data: True,
    ) -> None:
        """Offer an event type (2026-07-28). ``concerns(arguments, data)`` says which subscription an occurrence is for."""
        anything = {"type": "object"}
        about = {"description": description, "delivery": list(delivery)}
        schemas = {"inputSchema": dict(input_schema or anything), "payloadSchema": dict(payload_schema or anything)}
        self._feeds.add(name, {**about, **schemas}, concerns)

    def emit(self, name: str, data: Mapping[str, object], *, event_id: str | None = None) -> None:
        """Let an event happen: open streams get it at once, polls the next time. Occurrences are kept, for cursors."""
        self._feeds.emit(name, data, event_id)

    def terminate(self, name: str, code: int = INTERNAL_ERROR, message: str = "the subscription is over") -> None:
        """End the subscriptions of an event type for good, with an error."""
        self._feeds.terminate(name, {"code": code, "message": message})

    def changed(self, kind: Literal["tools", "prompts", "resources", "events"]) -> None:
        """Tell those who listen that a list has changed."""
        self._tell(FILTERS[f"{kind}ListChanged"], {})

    def updated(self, uri: str) -> None:
        """Tell those who listen that a resource has changed."""
        self._tell(UPDATED, {"uri": uri})

    def _tell(self, method: str, params: JSON) -> None:
        self._feeds.change(method, params)
        with self.monitor:
            wires = list(self._open)
        for wire in wires:
            with contextlib.suppress(Gone):
                wire.tell({"jsonrpc": "2.0", "method": method, "params": params})

    # What goes wrong

    def fail_next(
        self,
        method: str,
        *,
        code: int = INTERNAL_ERROR,
        message: str = "the test wants it so",
        data: object = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
    ) -> None:
        """Answer the next requests of a method with a JSON-RPC error; over HTTP with a bare ``status`` if one is given."""
        self._faults.add(method, times, failing(code, message, data, status, headers or {}))

    def delay(self, method: str, seconds: float, *, times: int = 1) -> None:
        """Answer the next requests of a method later."""
        self._faults.add(method, times, delaying(seconds))

    def answer_late(self, method: str) -> Late:
        """Hold the next request of a method back until ``release()``; it is answered then even if nobody waits any more."""
        late = Late(self.monitor)
        self._faults.add(method, 1, late)
        return late

    def drop_connection(self, method: str | None = None, *, times: int = 1) -> None:
        """Break the connection of the next requests of a method, unanswered; without a method break all that are open, now.

        In memory a broken connection is the end of its client; over HTTP the next request makes a new one.
        """
        if method is not None:
            self._faults.add(method, times, dropping)
            return
        with self.monitor:
            wires = list(self._open)
        for wire in wires:
            wire.drop()

    def expire_session(self) -> None:
        """Forget all sessions, as a restart would (handshake era over HTTP): the next request with one gets 404."""
        with self.monitor:
            self.sessions.clear()

    # What the ways to clients deliver

    def opened(self, wire: Wire) -> None:
        """A connection or a request is open, until ``done()``."""
        with self.monitor:
            self._open.append(wire)

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
            self._open.remove(wire)

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
            self._received.append(Received(message.method, params, message.meta, message.id, headers))
            if message.method == "notifications/cancelled":
                session.cancelled.add(message.params.get("requestId"))
        return None if message.id is None else Call(self, message, wire, session)

    def answer(self, call: Call) -> None:
        """Answer a request, unless its client has gone. Blocks for as long as a function of the user's or a fault does."""
        number = call.message.id
        try:
            fault = self._faults.take(call.message.method)
            if fault is not None:
                fault(call)
            _send(call.wire, number, result=self._result(call))
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
            raise Refused(-32600, "initialize first, or name the revision in params._meta")
        try:
            result = run(call)
        except InputNeeded as needed:
            result = needed.result
        if call.stateless:
            return dressed(result, method, self._about, 0, "private")
        return result if method == "initialize" else trim(result, call.session.revision or HANDSHAKE[0])

    def _methods(self, stateless: bool) -> Mapping[str, Callable[[Call], JSON]]:
        if stateless:
            return {**self.methods(), **self._feeds.methods(), "server/discover": self._discover}
        return {
            **self.methods(),
            "initialize": self._initialize,
            "logging/setLevel": self._set_level,
            "ping": lambda _: {},
            "resources/subscribe": lambda _: {},
            "resources/unsubscribe": lambda _: {},
        }

    def _initialize(self, call: Call) -> JSON:
        offered = field(call.params, "protocolVersion")
        spoken = [version for version in self._versions if version != STATELESS]
        if not spoken:
            raise Refused(METHOD_NOT_FOUND, "Method not found: initialize")
        call.session.revision = offered if offered in spoken else spoken[0]
        about = {"protocolVersion": call.session.revision, "serverInfo": self._about}
        return {**about, "capabilities": self.capabilities, **self._instructions}

    def _discover(self, _: Call) -> JSON:
        declared = {**self.capabilities, **self._feeds.capabilities}
        return {"supportedVersions": list(self._versions), "capabilities": declared, **self._instructions}

    def _set_level(self, call: Call) -> JSON:
        call.session.level = log_level(call.params, "level")
        return {}


def _send(wire: Wire, number: object, **members: object) -> None:
    """Answer, if there still is somebody."""
    with contextlib.suppress(Gone):
        wire.send({"jsonrpc": "2.0", "id": number, **members})

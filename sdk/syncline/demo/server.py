"""JSON-RPC in both eras, one line at a time; tools that take their time take turns."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import spawn
from syncline.demo.methods import CAPABILITIES, COMMON, STATELESS_METHODS, Method
from syncline.demo.offer import ABOUT, INSTRUCTIONS, Steps
from syncline.serving import (
    HANDSHAKE,
    INVALID_PARAMS,
    INVALID_REQUEST,
    JSON,
    LEVELS,
    META,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REVISIONS,
    STATELESS,
    Message,
    Refused,
    dressed,
    field,
    is_id,
    log_level,
    read,
    trim,
)

BATCHES = "2025-03-26"


@dataclass
class Request:
    """A request being served: by which revision, and what the client wants to hear on the way."""

    id: int | str
    method: str
    revision: str
    level: str | None
    token: object
    due: float = 0.0


class Server:
    """Takes lines and writes messages; waits for nothing itself."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._revision: str | None = None
        self._level = "warning"
        self._running: dict[object, tuple[Request, Steps]] = {}
        self._handshake_methods: dict[str, Method] = {
            **COMMON,
            "initialize": self._initialize,
            "logging/setLevel": self._set_level,
            "ping": lambda _: {},
        }

    def pause(self) -> float | None:
        """Seconds until a running tool wants to go on; None while none runs."""
        due = min((request.due for request, _ in self._running.values()), default=None)
        return None if due is None else max(0.0, due - time.monotonic())

    def step(self) -> None:
        """Let the running tools go on whose time has come."""
        now = time.monotonic()
        for request, steps in list(self._running.values()):
            if request.due <= now:
                self._advance(request, steps)

    def receive(self, line: bytes) -> None:
        """Take one line; whatever it holds, the connection goes on."""
        if not line.strip():
            return
        try:
            message = json.loads(line.decode(), parse_constant=int)  # int() refuses NaN and its kin
        except (ValueError, RecursionError):
            self._send(error={"code": PARSE_ERROR, "message": "not JSON in UTF-8"})
            return
        for item in message if isinstance(message, list) and message and self._revision == BATCHES else [message]:
            self._receive(item)

    def _receive(self, message: Any) -> None:
        try:
            self._dispatch(message)
        except Refused as refused:
            number = message.get("id") if isinstance(message, dict) else None
            self._send(**({"id": number} if is_id(number) else {}), error=refused.error)

    def _dispatch(self, decoded: Any) -> None:
        message = read(decoded, REVISIONS)
        if message is None:
            return  # an answer, though nothing was asked
        if message.id is None:
            if message.method == "notifications/cancelled" and is_id(message.params.get("requestId")):
                self._running.pop(message.params["requestId"], None)
            return
        if message.id in self._running:
            raise Refused(INVALID_REQUEST, "an id is a string or an integer, and not in use")
        self._serve(message.id, message)

    def _serve(self, number: int | str, message: Message) -> None:
        method, params, meta, stateless = message.method, message.params, message.meta, message.stateless
        methods = STATELESS_METHODS if stateless else self._handshake_methods
        if method not in methods:
            raise Refused(METHOD_NOT_FOUND, f"Method not found: {method}")
        if not stateless and self._revision is None and method not in ("initialize", "ping"):
            raise Refused(INVALID_PARAMS, f"initialize first, or send {META}protocolVersion in params._meta")
        outcome = methods[method](params)
        revision = STATELESS if stateless else self._revision or HANDSHAKE[0]
        level = meta.get(META + "logLevel") if stateless else self._level
        request = Request(number, method, revision, level, meta.get("progressToken"))
        if isinstance(outcome, dict):
            self._finish(request, outcome)
        else:
            self._running[number] = request, outcome
            self._advance(request, outcome)

    def _advance(self, request: Request, steps: Steps) -> None:
        try:
            while isinstance(said := next(steps), tuple):
                self._notify(request, *said)
            request.due = time.monotonic() + said
        except StopIteration as end:
            del self._running[request.id]
            self._finish(request, end.value)

    def _notify(self, request: Request, method: str, params: JSON) -> None:
        if method == "notifications/progress":
            if request.token is None:
                return
            params["progressToken"] = request.token
        elif request.level is None or LEVELS.index(params["level"]) < LEVELS.index(request.level):
            return
        self._send(method=method, params=trim(params, request.revision))

    def _finish(self, request: Request, result: JSON) -> None:
        result = trim(result, request.revision)
        if request.revision == STATELESS:
            result = dressed(result, request.method, ABOUT, 60_000, "public")
        self._send(id=request.id, result=result)

    def _initialize(self, params: JSON) -> JSON:
        offered = field(params, "protocolVersion")
        self._revision = offered if offered in HANDSHAKE else HANDSHAKE[0]
        about = {"protocolVersion": self._revision, "serverInfo": ABOUT}
        return {**about, "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}

    def _set_level(self, params: JSON) -> JSON:
        self._level = log_level(params, "level")
        return {}

    def _send(self, **fields: object) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n")


def serve(lines: Iterable[bytes], write: Callable[[bytes], object]) -> None:
    """Serve until the lines end. Blocks; a tool that still runs then is dropped."""
    incoming: ReplySlot[bytes] = ReplySlot()

    def read() -> None:
        for line in lines:
            incoming.put(line)
        incoming.put(b"")

    spawn("syncline:demo:reader", read)
    server = Server(write)
    while True:
        line = incoming.take(Deadline(server.pause()))
        if line is None:
            server.step()
        elif line:
            server.receive(line)
        else:
            return

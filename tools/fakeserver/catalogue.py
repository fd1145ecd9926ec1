"""What an MCP server does, without a transport: one message comes in, messages go out.

Both eras: the handshake revisions, where `initialize` comes first, and 2026-07-28, where each request describes itself.
`samples.py` fills a catalogue with tools, resources and prompts; `mcp_http.py` and `stdio_main.py` put it on a wire.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
Send = Callable[[Json], None]

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)
ALL = HANDSHAKE + STATELESS

META = "io.modelcontextprotocol/"
CACHEABLE = {
    "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
}  # fmt: skip
HANDSHAKE_ONLY = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
SLICE = 0.02  # seconds between two looks at whether anybody still waits for a call


def versions(names: str) -> tuple[str, ...]:
    """The revisions that a word names: one revision, several with commas, `handshake`, `stateless` or `all`."""
    words: Mapping[str, tuple[str, ...]] = {"handshake": HANDSHAKE, "stateless": STATELESS, "all": ALL}
    return words.get(names) or tuple(names.split(","))


class RpcError(Exception):
    """A JSON-RPC error to answer with."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


@dataclass
class Call:
    """One request while it is handled."""

    catalogue: Catalogue
    message: Json
    send: Send
    gone: Callable[[], bool]
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def params(self) -> Json:
        params = self.message.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def meta(self) -> Json:
        return self.params.get("_meta") or {}

    @property
    def arguments(self) -> Json:
        """The arguments of a tools/call."""
        return self.params.get("arguments") or {}

    @property
    def revision(self) -> str | None:
        """The revision that the request itself names; None in the handshake era."""
        return self.meta.get(META + "protocolVersion")

    def notify(self, method: str, params: Json) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        token = self.meta.get("progressToken")
        if token is not None:
            more = {"total": total, "message": message}
            params = {"progressToken": token, "progress": progress}
            self.notify("notifications/progress", params | {k: v for k, v in more.items() if v is not None})

    def log(self, level: str, data: object) -> None:
        """A log message; in the stateless era only to a request that asked for some."""
        if self.revision is None or META + "logLevel" in self.meta:
            self.notify("notifications/message", {"level": level, "logger": "fakeserver", "data": data})

    def ask(self, method: str, params: Json, timeout: float = 10) -> Json:
        """Send a request to the client (handshake era) and wait for its response."""
        return self.catalogue.ask(method, params, self.send, timeout)

    def wait(self, opened: Callable[[float], bool], timeout: float = 30) -> None:
        """Wait until `opened(seconds)` is true, as `Event.wait` is; raises `Cancelled` when nobody waits any more."""
        limit = time.monotonic() + timeout
        while not opened(SLICE):
            if self.cancelled.is_set() or self.gone():
                raise Cancelled
            if time.monotonic() > limit:
                raise RpcError(-32603, "the gate was never opened")


@dataclass
class Tool:
    definition: Json
    run: Callable[[Call], object]


class Catalogue:
    """The tools, resources and prompts of a server, and what came in.

    Attributes:
        methods: Method to function(call) -> result; replace or add an entry to change how it is answered.
        received: Every message, in order.
        executions: Tool name to the times that it ran.
        cancelled: The request ids of the notifications/cancelled that came.
        completions: What completion/complete offers.
    """

    def __init__(self, versions: Sequence[str] = ALL, *, page_size: int = 50, instructions: str | None = None) -> None:
        self.versions = tuple(versions)
        self.page_size = page_size
        self.instructions = instructions
        self.info: Json = {"name": "fakeserver", "version": "1.0"}
        self.capabilities: Json = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}}
        self.tools: dict[str, Tool] = {}
        self.resources: dict[str, tuple[Json, Json]] = {}
        self.templates: list[Json] = []
        self.prompts: dict[str, tuple[Json, Callable[[Json], Json]]] = {}
        self.completions: list[str] = []
        self.received: list[Json] = []
        self.executions: Counter[str] = Counter()
        self.cancelled: list[object] = []
        self.log_level: str | None = None
        self.methods: dict[str, Callable[[Call], Json]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "ping": lambda _: {},
            "logging/setLevel": self._set_level,
            "tools/list": lambda call: self.page("tools", [tool.definition for tool in self.tools.values()], call),
            "tools/call": self._call_tool,
            "resources/list": lambda call: self.page(
                "resources", [about for about, _ in self.resources.values()], call
            ),
            "resources/templates/list": lambda call: self.page("resourceTemplates", self.templates, call),
            "resources/read": self._read,
            "resources/subscribe": lambda _: {},
            "resources/unsubscribe": lambda _: {},
            "prompts/list": lambda call: self.page("prompts", [about for about, _ in self.prompts.values()], call),
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
        }
        self._changed = threading.Condition()
        self._running: dict[object, Call] = {}
        self._asked = 0
        self._answers: dict[object, Json] = {}

    # ------------------------------------------------------------------------------------------------ what is offered
    @property
    def handshake_versions(self) -> list[str]:
        return [version for version in self.versions if version in HANDSHAKE]

    @property
    def stateless_versions(self) -> list[str]:
        return [version for version in self.versions if version in STATELESS]

    def negotiated(self, initialize: Json) -> str:
        """The revision that an initialize request leads to."""
        wanted = (initialize.get("params") or {}).get("protocolVersion")
        return str(wanted) if wanted in self.handshake_versions else self.handshake_versions[-1]

    def tool(self, name: str, run: Callable[[Call], object], **definition: object) -> None:
        """Offer a tool. It gets the `Call` and returns a text, or a whole result as a dict."""
        self.tools[name] = Tool({"name": name, "inputSchema": {"type": "object"}, **definition}, run)

    def resource(self, uri: str, content: Json, **about: object) -> None:
        """Offer a resource: `content` has `text` or `blob`."""
        self.resources[uri] = {"uri": uri, "name": uri.rpartition("/")[2], **about}, {"uri": uri, **content}

    def prompt(self, name: str, render: Callable[[Json], Json], **definition: object) -> None:
        """Offer a prompt: it gets the arguments and returns a prompts/get result."""
        self.prompts[name] = {"name": name, **definition}, render

    # -------------------------------------------------------------------------------------------------------- messages
    def handle(self, message: Json, send: Send, gone: Callable[[], bool] = lambda: False) -> None:
        """Handle one message; whatever it leads to is sent before this returns.

        `gone` tells whether the other side has hung up. A call that is cancelled or hung up on gets no answer.
        """
        with self._changed:
            self.received.append(message)
            if "method" not in message:
                self._answers[message.get("id")] = message
            self._changed.notify_all()
        if "method" not in message:
            return
        if "id" not in message:
            self._notified(message)
            return
        call = self._running[message["id"]] = Call(self, message, send, gone)
        try:
            send({"jsonrpc": "2.0", "id": message["id"], "result": self._result(call)})
        except RpcError as error:
            send({"jsonrpc": "2.0", "id": message["id"], "error": error.error})
        except Cancelled:
            pass
        finally:
            self._running.pop(message["id"], None)

    def calls(self, method: str) -> list[Json]:
        """The messages received so far with that method."""
        with self._changed:
            return [message for message in self.received if message.get("method") == method]

    def wait_for(self, method: str, count: int = 1, timeout: float = 10) -> Json:
        """Wait for the nth message with that method and return it."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.calls(method)) >= count, timeout):
                raise AssertionError(f"{method} did not come {count} times within {timeout} s")
        return self.calls(method)[count - 1]

    def ask(self, method: str, params: Json, send: Send, timeout: float = 10) -> Json:
        """Send a request to the client and wait for its response."""
        with self._changed:
            self._asked += 1
            ident = f"server-{self._asked}"
        send({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
        with self._changed:
            if not self._changed.wait_for(lambda: ident in self._answers, timeout):
                raise RpcError(-32603, f"the client did not answer {method}")
            return self._answers.pop(ident)

    def cancel_all(self) -> None:
        """End every call that is under way."""
        for call in list(self._running.values()):
            call.cancelled.set()

    def page(self, key: str, items: Sequence[Json], call: Call) -> Json:
        """One page of a listing."""
        cursor = call.params.get("cursor", "0")
        if not (isinstance(cursor, str) and cursor.isdigit()):
            raise RpcError(-32602, f"no such cursor: {cursor!r}")
        start, end = int(cursor), int(cursor) + self.page_size
        return {key: list(items[start:end])} | ({"nextCursor": str(end)} if end < len(items) else {})

    def _notified(self, message: Json) -> None:
        if message["method"] == "notifications/cancelled":
            ident = (message.get("params") or {}).get("requestId")
            self.cancelled.append(ident)
            if call := self._running.get(ident):
                call.cancelled.set()

    def _result(self, call: Call) -> Json:
        method, revision = call.message["method"], call.revision
        if revision is None:
            self._check_handshake(method, call.params)
        else:
            self._check_stateless(call, revision)
        run = self.methods.get(method)
        if run is None or (revision is not None and method in HANDSHAKE_ONLY):
            raise RpcError(-32601, f"no such method: {method}")
        result = run(call)
        return result if revision is None else self._described(method, result)

    def _check_handshake(self, method: str, params: Json) -> None:
        if not self.handshake_versions:
            supported = {"supported": self.stateless_versions, "requested": params.get("protocolVersion")}
            raise RpcError(-32022, "unsupported protocol version", supported)
        if method == "server/discover":
            raise RpcError(-32601, f"no such method: {method}")

    def _check_stateless(self, call: Call, revision: str) -> None:
        if not self.stateless_versions:
            raise RpcError(-32601, f"no such method: {call.message['method']}")
        if revision not in self.stateless_versions:
            supported = {"supported": self.stateless_versions, "requested": revision}
            raise RpcError(-32022, "unsupported protocol version", supported)
        if META + "clientCapabilities" not in call.meta:
            raise RpcError(-32602, f"_meta lacks {META}clientCapabilities")

    def _described(self, method: str, result: Json) -> Json:
        """The result with what 2026-07-28 adds to it."""
        extra: Json = {"resultType": "complete"}
        if method in CACHEABLE:
            extra |= {"ttlMs": 0, "cacheScope": "private"}
        meta = {META + "serverInfo": self.info} | (result.get("_meta") or {})
        return extra | result | {"_meta": meta}

    # --------------------------------------------------------------------------------------------------------- methods
    def _about(self) -> Json:
        return {"capabilities": self.capabilities} | ({"instructions": self.instructions} if self.instructions else {})

    def _initialize(self, call: Call) -> Json:
        return {"protocolVersion": self.negotiated(call.message), "serverInfo": self.info} | self._about()

    def _discover(self, _: Call) -> Json:
        return {"supportedVersions": self.stateless_versions} | self._about()

    def _set_level(self, call: Call) -> Json:
        self.log_level = call.params.get("level")
        return {}

    def _call_tool(self, call: Call) -> Json:
        name = call.params.get("name")
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise RpcError(-32602, f"unknown tool: {name}")
        with self._changed:
            self.executions[tool.definition["name"]] += 1
        result = tool.run(call)
        return result if isinstance(result, dict) else text(str(result))

    def _read(self, call: Call) -> Json:
        uri = str(call.params.get("uri"))
        if uri in self.resources:
            return {"contents": [self.resources[uri][1]]}
        for template in self.templates:
            prefix = template["uriTemplate"].partition("{")[0]
            if uri.startswith(prefix) and uri != prefix:
                return {"contents": [{"uri": uri, "text": f"{template['name']}: {uri.removeprefix(prefix)}"}]}
        raise RpcError(-32002 if call.revision is None else -32602, f"no such resource: {uri}", {"uri": uri})

    def _get_prompt(self, call: Call) -> Json:
        name = str(call.params.get("name"))
        if name not in self.prompts:
            raise RpcError(-32602, f"unknown prompt: {name}")
        return self.prompts[name][1](call.params.get("arguments") or {})

    def _complete(self, call: Call) -> Json:
        typed = str((call.params.get("argument") or {}).get("value", ""))
        found = [value for value in self.completions if value.startswith(typed)]
        return {"completion": {"values": found[:100], "total": len(found), "hasMore": len(found) > 100}}


def text(*parts: str, error: bool = False) -> Json:
    """A tools/call result of text parts."""
    return {"content": [{"type": "text", "text": part} for part in parts], "isError": error}


def object_schema(properties: Mapping[str, object], required: Iterable[str] = ()) -> Json:
    """A JSON Schema for an object."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}

"""A well-behaved MCP server over Streamable HTTP, both eras, with answers that can be armed to go wrong.

It checks what a server must check: media types, session and revision headers, and in 2026-07-28 the headers that mirror
the message. `arm` puts something else in the place of the next answers; `hold` makes them wait for a gate.
"""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from .catalogue import ALL, META, Catalogue, Json, Tool
from .samples import sample_catalogue
from .scripted import Exchange, Headers, Script, ScriptedServer

ERROR_STATUS = {-32601: 404, -32602: 400, -32020: 400, -32021: 400, -32022: 400}  # 2026-07-28
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
VERSION_HEADER = ("2025-06-18", "2025-11-25")  # the handshake revisions whose servers insist on it


@dataclass
class _Armed:
    matches: Callable[[Exchange], bool]
    act: Script
    left: int


class McpHttpServer(ScriptedServer):
    """See the module.

    Args:
        catalogue: What is offered; by default the samples.
        versions: The revisions that the samples are offered in.
        answer: `json` sends an answer that nothing comes before as JSON, `sse` always as an event stream.
        sessions: Whether handshake revisions get a session id, and need it from then on.
        delete: Whether a client may end its session.

    Attributes:
        sessions: Session id to the revision negotiated in it.
        disconnected: The JSON-RPC ids of the requests whose client hung up before the answer.
    """

    def __init__(
        self,
        catalogue: Catalogue | None = None,
        *,
        versions: Sequence[str] = ALL,
        answer: Literal["json", "sse"] = "json",
        sessions: bool = True,
        delete: bool = True,
        tls: bool = False,
        port: int = 0,
    ) -> None:
        self.catalogue = catalogue or sample_catalogue(versions)
        self.sessions: dict[str, str] = {}
        self.disconnected: list[object] = []
        self._answer, self._with_sessions, self._delete = answer, sessions, delete
        self._armed: list[_Armed] = []
        self._lock = threading.Lock()
        self._numbers = 0
        super().__init__(self._exchange, tls=tls, port=port)

    # ------------------------------------------------------------------------------------------------------ for tests
    def tool(self, name: str, run: Callable[..., object], **definition: object) -> None:
        """Offer a tool; see `Catalogue.tool`."""
        self.catalogue.tool(name, run, **definition)

    def arm(
        self,
        answer: int | Script,
        count: int = 1,
        *,
        method: str | None = None,
        http: str = "POST",
        body: bytes | str = b"",
        media_type: str | None = "text/plain",
        headers: Headers = (),
    ) -> None:
        """Answer the next `count` requests that match with a status and a body, or by a function(exchange).

        `method` is the JSON-RPC method, None for any; `http` the HTTP method.
        """
        if isinstance(answer, int):
            status, typed, more = answer, media_type if body else None, list(headers)
            act: Script = lambda exchange: exchange.respond(status, body, typed, more)  # noqa: E731
        else:
            act = answer

        def matches(exchange: Exchange) -> bool:
            return exchange.request.method == http and method in (None, exchange.request.rpc)

        with self._lock:
            self._armed.append(_Armed(matches, act, count))

    def hold(self, gate: threading.Event, count: int = 1, *, method: str | None = None, http: str = "POST") -> None:
        """Let the next `count` requests that match wait for the gate, then answer them as ever."""

        def wait(exchange: Exchange) -> None:
            exchange.wait(gate)
            self._serve_mcp(exchange)

        self.arm(wait, count, method=method, http=http)

    def expire_sessions(self) -> None:
        """Forget every session, as a restart would."""
        self.sessions.clear()

    def close(self, *, quiet: bool = False) -> None:
        self.catalogue.cancel_all()
        super().close(quiet=quiet)

    # ------------------------------------------------------------------------------------------------------- requests
    def _exchange(self, exchange: Exchange) -> None:
        with self._lock:
            armed = next((armed for armed in self._armed if armed.matches(exchange)), None)
            if armed:
                armed.left -= 1
                if not armed.left:
                    self._armed.remove(armed)
        (armed.act if armed else self._serve_mcp)(exchange)

    def _serve_mcp(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.path.rstrip("/") != self.url.removeprefix(self.origin):
            exchange.respond(404)
        elif request.method == "DELETE" and self._delete:
            known = self.sessions.pop(request.header("Mcp-Session-Id") or "", None)
            exchange.respond(200 if known else 404)
        elif request.method != "POST":
            exchange.respond(405, headers=[("Allow", "POST")])
        elif request.header("Content-Type") != "application/json":
            exchange.respond(415)
        elif not {"application/json", "text/event-stream"} <= set((request.header("Accept") or "").split(", ")):
            exchange.respond(406)
        elif not isinstance(message := request.json(), dict):
            _refuse(exchange, -32700, "not a JSON-RPC message")
        elif META + "protocolVersion" in ((message.get("params") or {}).get("_meta") or {}):
            self._stateless(exchange, message)
        else:
            self._handshake(exchange, message)

    def _handshake(self, exchange: Exchange, message: Json) -> None:
        headers: list[tuple[str, str]] = []
        ident = exchange.request.header("Mcp-Session-Id") or ""
        if not self._with_sessions:
            refused = None
        elif message.get("method") == "initialize":
            refused = None
            if self.catalogue.handshake_versions:
                headers = [("Mcp-Session-Id", self._new_session(self.catalogue.negotiated(message)))]
        else:
            refused = self._refused(exchange, ident)
        if refused:
            _refuse(exchange, -32600, refused, 400 if ident in ("", *self.sessions) else 404)
        elif "method" not in message or "id" not in message:
            self.catalogue.handle(message, lambda _: None)
            exchange.respond(202)
        else:
            self._run(exchange, message, headers, {})

    def _refused(self, exchange: Exchange, ident: str) -> str | None:
        """Why a request with this session id is refused, if it is."""
        if ident not in self.sessions:
            return "no such session" if ident else "no session id"
        named = exchange.request.header("MCP-Protocol-Version")
        optional = self.sessions[ident] not in VERSION_HEADER
        fine = named in self.catalogue.versions or (named is None and optional)
        return None if fine else "MCP-Protocol-Version is missing or unknown"

    def _new_session(self, revision: str) -> str:
        with self._lock:
            self._numbers += 1
            ident = f"session-{self._numbers}"
            self.sessions[ident] = revision
        return ident

    def _stateless(self, exchange: Exchange, message: Json) -> None:
        wrong = _header_mismatch(exchange, message, self.catalogue.tools)
        if wrong:
            _refuse(exchange, -32020, wrong)
        else:
            self._run(exchange, message, [], ERROR_STATUS)

    def _run(self, exchange: Exchange, message: Json, headers: list[tuple[str, str]], statuses: dict[int, int]) -> None:
        """Let the catalogue answer: as JSON if the response comes first, else as an event stream."""
        streaming = False
        answered = False

        def send(out: Json) -> None:
            nonlocal streaming, answered
            final = "method" not in out
            if final and not streaming and self._answer == "json":
                status = statuses.get(out.get("error", {}).get("code", 0), 200)
                exchange.json(out, status, headers)
            else:
                if not streaming:
                    exchange.sse(headers)
                    streaming = True
                exchange.event(out)
                if final:
                    exchange.last_chunk()
            answered = answered or final

        try:
            self.catalogue.handle(message, send, exchange.gone)
        finally:
            if not answered:
                with self._changed:
                    self.disconnected.append(message["id"])
                    self._changed.notify_all()
                exchange.close()


def _refuse(exchange: Exchange, code: int, message: str, status: int = 400) -> None:
    error = {"code": code, "message": message}
    exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "error": error}, status)


def decoded(value: str) -> str:
    """A mirrored header's value; raises `ValueError` for bad Base64 (2026-07-28, streamable HTTP)."""
    if value.startswith("=?base64?") and value.endswith("?="):
        try:
            return base64.b64decode(value[9:-2], validate=True).decode()
        except binascii.Error as error:
            raise ValueError(f"bad Base64: {value}") from error
    return value


def _header_mismatch(exchange: Exchange, message: Json, tools: dict[str, Tool]) -> str | None:
    """What is wrong with the headers that mirror the message, if anything is."""
    params, method = message["params"], message.get("method")
    expected = {"MCP-Protocol-Version": str(params["_meta"][META + "protocolVersion"]), "Mcp-Method": str(method)}
    if method in NAMED:
        expected["Mcp-Name"] = str(params.get(NAMED[method]))
    if method == "tools/call" and params.get("name") in tools:
        schema = tools[params["name"]].definition["inputSchema"]
        expected |= _mirrored(schema, params.get("arguments") or {})
    for name, value in expected.items():
        got = exchange.request.header(name)
        if got is None:
            return f"{name} is missing"
        try:
            if decoded(got) != value:
                return f"{name} is {got!r}, the message says {value!r}"
        except ValueError as error:
            return str(error)
    extra = [name for name, _ in exchange.request.headers if name.lower().startswith("mcp-param-")]
    unexpected = {name.lower() for name in extra} - {name.lower() for name in expected}
    return f"nothing to mirror in {sorted(unexpected)}" if unexpected else None


def _mirrored(schema: Json, arguments: Json) -> dict[str, str]:
    """The Mcp-Param-* headers that these arguments need, not encoded."""
    found: dict[str, str] = {}
    for name, sub in (schema.get("properties") or {}).items():
        value = arguments.get(name)
        if value is None or not isinstance(sub, dict):
            continue
        if "x-mcp-header" in sub:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            found[f"Mcp-Param-{sub['x-mcp-header']}"] = text
        elif isinstance(value, dict):
            found |= _mirrored(sub, value)
    return found

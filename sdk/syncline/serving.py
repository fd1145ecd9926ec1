"""What every MCP server checks and adds, as plain functions, for the servers in this package: the demo and the fake one.

Of the standard library alone, since the demo starts as a program of its own and should do so at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

JSON: TypeAlias = dict[str, Any]

META = "io.modelcontextprotocol/"
STATELESS = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS = (STATELESS, *HANDSHAKE)
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
RESOURCE_NOT_FOUND, UNSUPPORTED_REVISION = -32002, -32022
#: What 2026-07-28 lets a client keep for a while.
CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
    }
)
#: Fields that older revisions do not know, and the revision that brought them.
SINCE = {
    "annotations": "2025-03-26",
    "completions": "2025-03-26",
    "message": "2025-03-26",
    "outputSchema": "2025-06-18",
    "structuredContent": "2025-06-18",
    "title": "2025-06-18",
}
TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "object": (dict,)}


class Refused(Exception):
    """The request is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error: JSON = {"code": code, "message": message} | ({} if data is None else {"data": data})


@dataclass
class Message:
    """A request or a notification of a client; ``id`` is None for a notification.

    Attributes:
        stateless: It names its revision itself, and so belongs to 2026-07-28.
    """

    id: int | str | None
    method: str
    params: JSON

    @property
    def meta(self) -> JSON:
        """What goes with it, ``params._meta``."""
        meta: JSON = self.params.get("_meta", {})
        return meta

    @property
    def stateless(self) -> bool:
        """Whether it names its revision itself, and so belongs to 2026-07-28."""
        return META + "protocolVersion" in self.meta


def read(message: object, supported: Sequence[str]) -> Message | None:
    """A decoded message; None for an answer, ``Refused`` for one that cannot be served."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, "not a JSON-RPC 2.0 message")
    if "result" in message or "error" in message:
        return None
    number, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise Refused(INVALID_REQUEST, "a message has a method")
    if "id" not in message:
        return Message(None, method, params if isinstance(params, dict) else {})
    if not is_id(number):
        raise Refused(INVALID_REQUEST, "an id is a string or an integer, and not in use")
    if not isinstance(params, dict) or not isinstance(params.get("_meta", {}), dict):
        raise Refused(INVALID_PARAMS, "params and params._meta are objects")
    request = Message(number, method, params)
    if request.stateless:
        check_envelope(request.meta, supported)
    return request


def check_envelope(meta: JSON, supported: Sequence[str]) -> None:
    """Refuse the ``_meta`` of a stateless request unless it is whole."""
    asked = meta[META + "protocolVersion"]
    if asked != STATELESS or asked not in supported:
        data = {"supported": list(supported), "requested": asked}
        raise Refused(UNSUPPORTED_REVISION, "Unsupported protocol version", data)
    field(meta, META + "clientCapabilities", "object")
    if META + "logLevel" in meta:
        log_level(meta, META + "logLevel")


def fits(value: object, kind: str) -> bool:
    """Whether a value has a JSON type, by the name that JSON Schema gives it."""
    return isinstance(value, TYPES[kind]) and not isinstance(value, bool)


def is_id(value: object) -> bool:
    """Whether this can be the id of a request."""
    return fits(value, "string") or fits(value, "integer")


def field(params: Mapping[str, Any], name: str, kind: str = "string") -> Any:
    """A member that must be there."""
    if not fits(params.get(name), kind):
        raise Refused(INVALID_PARAMS, f"{name} must be of type {kind}")
    return params[name]


def arguments_of(params: JSON) -> JSON:
    """The arguments of a tool or prompt, which may be left out."""
    arguments: JSON = field({"arguments": {}} | params, "arguments", "object")
    return arguments


def log_level(params: JSON, name: str) -> str:
    """A log level."""
    level: str = field(params, name)
    if level not in LEVELS:
        raise Refused(INVALID_PARAMS, f"a log level is one of {', '.join(LEVELS)}")
    return level


def page(key: str, items: Sequence[JSON], params: JSON, size: int) -> JSON:
    """One page of a list; a cursor is the number of items before it."""
    starts = {str(start): start for start in range(size, len(items), size)}
    start = starts.get(field(params, "cursor")) if "cursor" in params else 0
    if start is None:
        raise Refused(INVALID_PARAMS, "no such cursor")
    following = str(start + size)
    return {key: items[start : start + size]} | ({"nextCursor": following} if following in starts else {})


def completion(values: Sequence[str], typed: str) -> JSON:
    """The values that begin with what was typed."""
    found = [value for value in values if value.lower().startswith(typed.lower())]
    return {"completion": {"values": found[:100], "total": len(found), "hasMore": len(found) > 100}}


def trim(value: Any, revision: str) -> Any:
    """A value without the fields that came after a revision (dates of one form sort by age)."""
    if isinstance(value, dict):
        return {k: trim(v, revision) for k, v in value.items() if SINCE.get(k, "") <= revision}
    return [trim(v, revision) for v in value] if isinstance(value, list) else value


def dressed(result: JSON, method: str, about: JSON, ttl_ms: int, scope: str) -> JSON:
    """A result with what 2026-07-28 adds to it."""
    meta = {META + "serverInfo": about} | result.get("_meta", {})
    cached = {"ttlMs": ttl_ms, "cacheScope": scope} if method in CACHEABLE else {}
    return {"resultType": "complete"} | cached | result | {"_meta": meta}


def text(value: str) -> JSON:
    """A text part."""
    return {"type": "text", "text": value}


def structured(value: Any) -> JSON:
    """A result with structured content, also as text for older clients."""
    return {"content": [text(json.dumps(value, allow_nan=False))], "structuredContent": value}


def failed(reason: str) -> JSON:
    """The result of a tool that failed."""
    return {"content": [text(reason)], "isError": True}

"""The bytes of the bench server's event streams: what comes first on one, and events in bulk."""

from __future__ import annotations

import json
from typing import Any

META = "io.modelcontextprotocol/"
URI = "bench://e"
EVENT_TYPE = "bench.e"
#: The requests that open a stream; a GET opens one too, which has no id.
STREAMS = ("subscriptions/listen", "events/stream")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
CAPABILITIES = {
    "25": {"tools": {}, "resources": {"subscribe": True}},
    "26": {"tools": {}, "resources": {"subscribe": True}, "extensions": {META + "events": {}}},
}
EVENT_TYPES = [{"name": EVENT_TYPE, "delivery": ["push"], "inputSchema": {"type": "object"}, "payloadSchema": {}}]


class Feed:
    """One stream: the method that opened it, empty for a GET, and its id; ``sent`` events came before on others."""

    def __init__(self, method: str = "", ident: object = None, sent: int = 0) -> None:
        self._method = method
        self._tag = {"_meta": {META + "subscriptionId": ident}} if method else {}
        self._sent = sent

    def opening(self) -> bytes:
        """The head of the answer, and the server's confirmation where there is one."""
        if self._method == "subscriptions/listen":
            accepted = {"notifications": {"resourceSubscriptions": [URI]}}
            return HEAD + self._frame("notifications/subscriptions/acknowledged", accepted)
        if self._method == "events/stream":
            return HEAD + self._frame("notifications/events/active", {"cursor": "c0", "truncated": False})
        return HEAD

    def events(self, count: int) -> bytes:
        """The next events, each in a chunk of its own as servers send them."""
        start, self._sent = self._sent, self._sent + count
        return b"".join(self._event(number) for number in range(start, self._sent))

    def _event(self, number: int) -> bytes:
        if self._method == "events/stream":
            event = {"eventId": f"e{number}", "name": EVENT_TYPE, "timestamp": "2026-11-03T10:11:12Z", "data": {}}
            return self._frame("notifications/events/event", {**event, "cursor": f"c{number}"})
        return self._frame(
            "notifications/resources/updated", {"uri": URI}, b"" if self._method else b"id: %d\n" % number
        )

    def _frame(self, method: str, params: dict[str, Any], ident: bytes = b"") -> bytes:
        message = json.dumps({"jsonrpc": "2.0", "method": method, "params": {**params, **self._tag}})
        block = ident + b"data: " + message.encode() + b"\n\n"
        return b"%x\r\n%s\r\n" % (len(block), block)

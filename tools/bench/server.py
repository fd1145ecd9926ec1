"""A fast, minimal MCP server, so that the client is what a benchmark measures. It checks nothing.

`python -m tools.bench.server [--tools N] [--page N]` prints its port and serves http://127.0.0.1:PORT/ERA/ANSWER, where
ERA is 25 or 26 and ANSWER json or sse, until it is killed; GET /stats tells the connections and messages so far.
`python -m tools.bench.server --stdio --era ERA` does the same on a pipe.

Tools: echo {text}, blob {bytes}, sleep {ms, text}; over HTTP also emit {count}: so many events on each stream that is open.
With --cut, a stream breaks off after its first event, which comes unasked; with --late, the server starts so many seconds
later.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any

from tools.bench.feeds import CAPABILITIES, EVENT_TYPES, STREAMS, Feed

VERSION = {"25": "2025-11-25", "26": "2026-07-28"}
SESSION = b"Mcp-Session-Id: bench\r\n"
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
STRING = {"type": "string", "description": "A text; surrounding blanks are removed before it is used."}


def tool(number: int) -> dict[str, Any]:
    """A tool of the size that real servers list, about 1.1 kB."""
    fields = dict.fromkeys(("query", "owner", "region", "labels", "assignee", "project", "sort"), STRING)
    limit = {"type": "integer", "minimum": 1, "maximum": 100, "default": 30, "description": "How many to return."}
    state = {"type": "string", "enum": ["open", "closed", "all"], "default": "open"}
    return {
        "name": f"search_records_{number:05}",
        "title": f"Search records of kind {number}",
        "description": "Finds the records that match and returns their identifiers, owners and times, newest first.",
        "inputSchema": {
            "type": "object",
            "properties": {**fields, "limit": limit, "state": state},
            "required": ["query"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": True},
    }


def small(name: str, argument: str, kind: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": {argument: {"type": kind}}}}


class Answers:
    """The JSON-RPC answer to each request, in pieces of bytes."""

    def __init__(self, tools: int, page: int) -> None:
        self._count, self._page = tools, page

    @cached_property
    def _tools(self) -> list[dict[str, Any]]:
        own = [small("echo", "text", "string"), small("blob", "bytes", "integer"), small("sleep", "ms", "integer")]
        return own + [tool(number) for number in range(self._count - len(own))]

    @lru_cache(maxsize=256)  # noqa: B019 - one object a process
    def listing(self, start: int, tail: bytes) -> bytes:
        end = start + self._page
        more = b',"nextCursor":"%d"' % end if end < len(self._tools) else b""
        return b'{"tools":%s%s%s}' % (json.dumps(self._tools[start:end]).encode(), more, tail)

    @lru_cache(maxsize=8)  # noqa: B019
    def text(self, size: int) -> bytes:
        """A JSON string of so many characters, not all of them ASCII."""
        line = 'The quick brown fox jumps over the "lazy" dog, café and\nall. '
        return json.dumps((line * (size // len(line) + 1))[:size], ensure_ascii=False).encode()

    def answer(self, message: dict[str, Any], era: str) -> list[bytes]:
        head = b'{"jsonrpc":"2.0","id":%s,' % json.dumps(message["id"]).encode()
        method, params = message["method"], message.get("params") or {}
        done = b',"resultType":"complete"' if era == "26" else b""
        fresh = done and done + b',"ttlMs":0,"cacheScope":"private"'
        if method == "tools/call":
            arguments = params["arguments"]
            blob = params["name"] == "blob"
            text = self.text(arguments["bytes"]) if blob else json.dumps(arguments.get("text", "")).encode()
            return [head + b'"result":{"content":[{"type":"text","text":', text, b'}],"isError":false%s}}' % done]
        if method == "tools/list":
            result = self.listing(int(params.get("cursor", 0)), fresh)
        elif method == "initialize" and era == "25":
            about = {"protocolVersion": VERSION[era], "serverInfo": {"name": "bench", "version": "1"}}
            result = self._about(about, era, b"")
        elif method == "server/discover" and era == "26":
            result = self._about({"supportedVersions": [VERSION[era]]}, era, fresh)
        elif method == "events/list":
            result = json.dumps({"events": EVENT_TYPES}).encode()[:-1] + fresh + b"}"
        elif method in ("initialize", "server/discover"):
            return [head + b'"error":{"code":-32601,"message":"no such method"}}']
        else:
            result = b"{%s}" % done[1:]
        return [head + b'"result":', result, b"}"]

    @staticmethod
    def _about(result: dict[str, Any], era: str, tail: bytes) -> bytes:
        return json.dumps(result | {"capabilities": CAPABILITIES[era]}).encode()[:-1] + tail + b"}"


class Connection:
    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.received = b""
        self.waiting: deque[memoryview] = deque()
        self.feed: Feed | None = None


class HttpServer:
    """One loop over all connections."""

    def __init__(self, answers: Answers, cut: bool = False) -> None:
        self._answers = answers
        self._cut = cut
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._timers: list[tuple[float, int, Connection, list[bytes]]] = []
        self._counts: Counter[str] = Counter()
        self.port: int = self._listener.getsockname()[1]

    def run(self) -> None:
        while True:
            timeout = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
            for key, events in self._selector.select(timeout):
                connection = key.data
                if connection is None:
                    self._accept()
                    continue
                try:
                    if events & selectors.EVENT_READ and not self._read(connection):
                        self._drop(connection)
                    elif events & selectors.EVENT_WRITE:
                        self._flush(connection)
                except OSError:
                    self._drop(connection)
            while self._timers and self._timers[0][0] <= time.monotonic():
                _, _, connection, pieces = heapq.heappop(self._timers)
                if connection.sock.fileno() >= 0:
                    self._write(connection, pieces)

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._counts["connections"] += 1
        self._selector.register(sock, selectors.EVENT_READ, Connection(sock))

    def _drop(self, connection: Connection) -> None:
        self._selector.unregister(connection.sock)
        connection.sock.close()

    def _read(self, connection: Connection) -> bool:
        """Take in what has come and answer what is whole; false at the end of the connection."""
        data = connection.sock.recv(1 << 18)
        connection.received += data
        while (end := connection.received.find(b"\r\n\r\n")) >= 0:
            verb, path, length = _head(connection.received[:end])
            body, rest = connection.received[end + 4 : end + 4 + length], connection.received[end + 4 + length :]
            if len(body) < length:
                break
            connection.received = rest
            self._request(connection, verb, path, body)
        return bool(data)

    def _request(self, connection: Connection, verb: bytes, path: str, body: bytes) -> None:
        if verb == b"GET" and path.startswith("25/"):
            self._stream(connection)
            return
        if verb != b"POST":
            text = json.dumps(self._counts).encode() if path == "stats" else b""
            status = b"200 OK" if text or verb == b"DELETE" else b"405 Not Allowed"
            head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(text))
            self._write(connection, [head, text])
            return
        message = json.loads(body)
        self._counts[message["method"]] += 1
        if "id" not in message:
            self._write(connection, [ACCEPTED])
            return
        if message["method"] in STREAMS:
            self._stream(connection, message["method"], message["id"])
            return
        era, way = path.split("/")
        pieces = self._answers.answer(message, era)
        framed = _as_sse(pieces, era) if way == "sse" else _as_json(pieces, era)
        arguments = (message.get("params") or {}).get("arguments") or {}
        if "ms" in arguments:
            heapq.heappush(self._timers, (time.monotonic() + arguments["ms"] / 1000, id(message), connection, framed))
        else:
            self._write(connection, framed)
        if "count" in arguments:
            for key in self._selector.get_map().values():
                if key.data is not None and key.data.feed is not None:
                    self._write(key.data, [key.data.feed.events(arguments["count"])])

    def _stream(self, connection: Connection, method: str = "", ident: object = None) -> None:
        connection.feed = feed = Feed(method, ident, self._counts["cut"])
        self._write(connection, [feed.opening()])
        if self._cut:
            self._write(connection, [feed.events(1)])
            connection.sock.shutdown(socket.SHUT_WR)
            self._counts["cut"] += 1

    def _write(self, connection: Connection, pieces: list[bytes]) -> None:
        idle = not connection.waiting
        joined = [b"".join(pieces)] if sum(map(len, pieces)) < 1 << 16 else pieces
        connection.waiting.extend(memoryview(piece) for piece in joined if piece)
        if idle:
            self._flush(connection)

    def _flush(self, connection: Connection) -> None:
        waiting = connection.waiting
        try:
            while waiting:
                sent = connection.sock.send(waiting[0])
                if sent == len(waiting[0]):
                    waiting.popleft()
                else:
                    waiting[0] = waiting[0][sent:]
        except BlockingIOError:
            pass
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if waiting else 0)
        if self._selector.get_key(connection.sock).events != events:
            self._selector.modify(connection.sock, events, connection)


@lru_cache(maxsize=4096)
def _head(head: bytes) -> tuple[bytes, str, int]:
    """The method, path and body length of a request."""
    first, *lines = head.split(b"\r\n")
    verb, path, _ = first.split()
    fields = dict(line.lower().split(b":", 1) for line in lines)
    return verb, path.decode().strip("/"), int(fields.get(b"content-length", 0))


def _session(era: str) -> bytes:
    return SESSION if era == "25" else b""


def _as_json(pieces: list[bytes], era: str) -> list[bytes]:
    length = sum(map(len, pieces))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n" % (
        _session(era),
        length,
    )
    return [head, *pieces]


def _as_sse(pieces: list[bytes], era: str) -> list[bytes]:
    before, after = b"event: message\ndata: ", b"\n\n"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%sTransfer-Encoding: chunked\r\n\r\n" % _session(era)
    size = len(before) + sum(map(len, pieces)) + len(after)
    return [head + b"%x\r\n" % size + before, *pieces, after + b"\r\n0\r\n\r\n"]


def run_stdio(answers: Answers, era: str) -> None:
    """Read lines, write lines; all answers to what came in one read leave in one write."""
    rest = b""
    while data := os.read(0, 1 << 20):
        *lines, rest = (rest + data).split(b"\n")
        messages = [json.loads(line) for line in lines]
        pieces = [piece for message in messages if "id" in message for piece in [*answers.answer(message, era), b"\n"]]
        _write_all(pieces if sum(map(len, pieces)) > 1 << 16 else [b"".join(pieces)])


def _write_all(pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(1, view) :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stdio", action="store_true")
    parser.add_argument("--era", choices=sorted(VERSION), default="25")
    parser.add_argument("--tools", type=int, default=3)
    parser.add_argument("--page", type=int, default=500)
    parser.add_argument("--cut", action="store_true")
    parser.add_argument("--late", type=float, default=0)
    options = parser.parse_args()
    time.sleep(options.late)
    answers = Answers(options.tools, options.page)
    if options.stdio:
        run_stdio(answers, options.era)
    else:
        server = HttpServer(answers, options.cut)
        print(server.port, flush=True)
        server.run()


if __name__ == "__main__":
    main()

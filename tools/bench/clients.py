"""The clients that are compared: this one, the raw loop that does the least which is correct, and a script with requests.

Their modules are imported by the class that needs them, so that each process pays for its own alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from tools.bench.feeds import EVENT_TYPE, URI

Target = str | list[str]
VERSION = {"25": "2025-11-25", "26": "2026-07-28"}
ABOUT = {"name": "bench", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION["26"],
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": ABOUT,
}


class Client(Protocol):
    def open(self, target: Target, era: str) -> None: ...
    def list_tools(self) -> int: ...
    def call(self, name: str, arguments: dict[str, Any]) -> str: ...
    def stream(self, kind: str, on_event: Callable[[], object]) -> None: ...
    def close(self) -> None: ...


class Syncline:
    """The client of the project."""

    def open(self, target: Target, era: str) -> None:
        import syncline

        self._client = syncline.connect(target, protocol_version=VERSION["25"] if era == "25" else "auto")

    def list_tools(self) -> int:
        return len(self._client.list_tools())

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        return self._client.call_tool(name, arguments).text

    def stream(self, kind: str, on_event: Callable[[], object]) -> None:
        if kind == "push":
            from syncline import Reconnect

            at_once = Reconnect(first=0.001, jitter=False)  # by default it is up to a second, by chance
            events = self._client.events.stream(EVENT_TYPE, reconnect=at_once)
            events.run_in_thread(lambda item: item.kind == "event" and on_event())
        else:
            changes = self._client.subscribe(resources=[URI])
            changes.run_in_thread(lambda change: change.kind == "resource_updated" and on_event())

    def close(self) -> None:
        self._client.close()


@dataclass(frozen=True)
class Sent:
    """A message on its way out; without an answer where it is a notification."""

    body: bytes
    method: str
    name: str = ""
    answered: bool = True


class Raw:
    """Messages as dicts; a subclass moves them."""

    era: str
    _number = 0

    def open(self, target: Target, era: str) -> None:
        self.era = era
        self.start(target)
        if era == "26":
            self.rpc("server/discover", {})
        else:
            self.rpc("initialize", {"protocolVersion": VERSION[era], "capabilities": {}, "clientInfo": ABOUT})
            method = "notifications/initialized"
            self.exchange(Sent(self.message(method, {}, None), method, answered=False))

    def start(self, target: Target) -> None:
        raise NotImplementedError

    def exchange(self, sent: Sent) -> Any:
        raise NotImplementedError

    def message(self, method: str, params: dict[str, Any], ident: int | None) -> bytes:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if ident is not None:
            message["id"] = ident
        message["params"] = params if self.era == "25" else {**params, "_meta": META}
        return json.dumps(message).encode()

    def rpc(self, method: str, params: dict[str, Any]) -> Any:
        self._number = ident = self._number + 1
        return self.exchange(Sent(self.message(method, params, ident), method, params.get("name", "")))["result"]

    def list_tools(self) -> int:
        page = self.rpc("tools/list", {})
        count = len(page["tools"])
        while cursor := page.get("nextCursor"):
            page = self.rpc("tools/list", {"cursor": cursor})
            count += len(page["tools"])
        return count

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        text: str = self.rpc("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]
        return text

    def stream(self, kind: str, on_event: Callable[[], object]) -> None:
        raise NotImplementedError

    def headers(self, sent: Sent) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": VERSION[self.era],
        }
        if self.era == "25":
            headers["Mcp-Session-Id"] = "bench"
        else:
            headers["Mcp-Method"] = sent.method
            if sent.name:
                headers["Mcp-Name"] = sent.name
        return headers


def of_stream(body: bytes) -> Any:
    """The message of a whole event stream that holds one event."""
    return json.loads(body[body.index(b"data:") + 5 : body.rindex(b"\n\n")])


class RawHttp(Raw):
    """http.client, one kept connection a thread."""

    _closed = False

    def start(self, target: Target) -> None:
        self._url = urlsplit(str(target))
        self._local = threading.local()

    def exchange(self, sent: Sent) -> Any:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            import http.client

            connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port)
            self._local.connection = connection
        connection.request("POST", self._url.path, sent.body, self.headers(sent))
        answer = connection.getresponse()
        received = answer.read()
        if not sent.answered:
            return None
        typed = answer.headers["Content-Type"]
        return json.loads(received) if typed == "application/json" else of_stream(received)

    def stream(self, kind: str, on_event: Callable[[], object]) -> None:
        """A thread that reads a stream, and opens it again whenever it ends; returns when it is open."""
        opened = threading.Event()
        threading.Thread(target=self._read, args=(kind, on_event, opened), daemon=True).start()
        opened.wait(30)

    def _read(self, kind: str, on_event: Callable[[], object], opened: threading.Event) -> None:
        import http.client

        events = {"get": "resources/updated", "listen": "resources/updated", "push": "events/event"}[kind]
        wanted = {"notifications": {"resourceSubscriptions": [URI]}}
        requests: dict[str, tuple[str, dict[str, Any]]] = {
            "listen": ("subscriptions/listen", wanted),
            "push": ("events/stream", {"name": EVENT_TYPE, "arguments": {}}),
        }
        while not self._closed:
            connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port)
            if kind == "get":
                connection.request("GET", self._url.path, headers=self.headers(Sent(b"", "")))
            else:
                method, params = requests[kind]
                body = self.message(method, params, threading.get_ident())
                connection.request("POST", self._url.path, body, self.headers(Sent(body, method)))
            answer = connection.getresponse()
            opened.set()
            rest = b""
            with contextlib.suppress(http.client.IncompleteRead):
                while piece := answer.read1(1 << 16):
                    *blocks, rest = (rest + piece).split(b"\n\n")
                    for block in blocks:
                        if json.loads(block[block.index(b"data:") + 5 :])["method"].endswith(events):
                            on_event()
            connection.close()

    def close(self) -> None:
        self._closed = True
        if connection := getattr(self._local, "connection", None):
            connection.close()


class RawPipe(Raw):
    """A pipe, read in large pieces."""

    def start(self, target: Target) -> None:
        self._process = subprocess.Popen(target, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self._process.stdin
        assert self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._rest = b""

    def exchange(self, sent: Sent) -> Any:
        os.write(self._in, sent.body + b"\n")
        if not sent.answered:
            return None
        parts = [self._rest]
        while True:
            head, newline, rest = os.read(self._out, 1 << 20).partition(b"\n")
            parts.append(head)
            if newline:
                self._rest = rest
                return json.loads(b"".join(parts))

    def pipelined(self, workers: int, arguments: dict[str, Any]) -> Iterator[None]:
        """Keep so many calls under way on the one pipe, and tell of each answer."""
        params = {"name": "echo", "arguments": arguments}
        os.write(self._in, b"".join(self.message("tools/call", params, n) + b"\n" for n in range(workers)))
        number, rest = workers, self._rest
        while True:
            *lines, rest = (rest + os.read(self._out, 1 << 16)).split(b"\n")
            for line in lines:
                assert json.loads(line)["result"]["content"][0]["text"]
                number += 1
                os.write(self._in, self.message("tools/call", params, number) + b"\n")
                yield

    def close(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Requests(Raw):
    """What a script with requests would do: one Session, `post(json)`, `json()`."""

    def start(self, target: Target) -> None:
        import requests

        self._url = str(target)
        self._session = requests.Session()

    def exchange(self, sent: Sent) -> Any:
        answer = self._session.post(self._url, data=sent.body, headers=self.headers(sent), timeout=30)
        if not sent.answered:
            return None
        return answer.json() if answer.headers["Content-Type"] == "application/json" else of_stream(answer.content)

    def close(self) -> None:
        self._session.close()


def client(name: str, way: str) -> Client:
    """`syncline`, `raw` or `requests`, for a way of `rows.Row`."""
    if name == "syncline":
        return Syncline()
    if name == "requests":
        return Requests()
    return RawPipe() if way == "stdio" else RawHttp()


def imported(name: str) -> None:
    """Import what the client needs before it can be used."""
    if name == "syncline":
        from syncline import connect

        assert callable(connect)
    else:
        __import__("requests" if name == "requests" else "http.client")

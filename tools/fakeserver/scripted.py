"""An HTTP server on raw sockets that does exactly what a script says, byte for byte.

A script is a function(exchange), called for each request, or a list of such functions, one for each request in the order
of arrival; requests past its end get 405. What a function does not do does not happen: if it returns without `close`,
`reset` or `hold`, the connection is kept for the next request. As a context manager the server ends all its threads and
raises if one did not end, or if a script failed.
"""

from __future__ import annotations

import json
import select
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Headers = Iterable[tuple[str, str]]
Script = Callable[["Exchange"], object]

CERTIFICATE = Path(__file__).with_name("tls") / "cert.pem"
KEY = Path(__file__).with_name("tls") / "key.pem"
REASONS = {
    200: "OK",
    202: "Accepted",
    204: "No Content",
    307: "Temporary Redirect",
    400: "Bad Request",
    404: "Not Found",
}
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: no waiting
PATIENCE = 30.0  # seconds that a script waits for anything before it counts as failed
SLICE = 0.02


S = TypeVar("S", bound="ScriptedServer")


class Stopping(Exception):
    """The server is being closed while a script waits."""


@dataclass(frozen=True)
class Request:
    """One HTTP request as it came; header names as they were written."""

    connection: int
    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def json(self) -> Any:
        """The body, decoded from JSON; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def rpc(self) -> str | None:
        """The JSON-RPC method in the body."""
        message = self.json()
        return message.get("method") if isinstance(message, dict) else None

    @property
    def id(self) -> Any:
        """The JSON-RPC id in the body."""
        message = self.json()
        return message.get("id") if isinstance(message, dict) else None


@dataclass
class Exchange:
    """One request, and the ways to answer it."""

    server: ScriptedServer
    request: Request
    sock: socket.socket
    open: bool = True

    # ----------------------------------------------------------------------------------------------------- raw bytes
    def send(self, data: bytes) -> None:
        """Send bytes as they are; they leave at once."""
        self.sock.sendall(data)

    def head(self, status: int = 200, headers: Headers = ()) -> None:
        """The status line and these headers, nothing else."""
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers)]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def chunk(self, data: bytes) -> None:
        """One chunk of a chunked body."""
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def last_chunk(self) -> None:
        """The end of a chunked body."""
        self.send(b"0\r\n\r\n")

    # ------------------------------------------------------------------------------------------------- whole answers
    def respond(
        self, status: int, body: bytes | str = b"", media_type: str | None = None, headers: Headers = ()
    ) -> None:
        """A whole answer with its length."""
        data = body.encode() if isinstance(body, str) else body
        typed = [("Content-Type", media_type)] if media_type else []
        length = [] if status == 204 else [("Content-Length", str(len(data)))]
        self.head(status, [*typed, *length, *headers])
        if data:
            self.send(data)

    def json(self, value: object, status: int = 200, headers: Headers = ()) -> None:
        """A whole JSON answer."""
        self.respond(status, json.dumps(value), "application/json", headers)

    def result(self, value: object, headers: Headers = ()) -> None:
        """A JSON-RPC result for this request."""
        self.json({"jsonrpc": "2.0", "id": self.request.id, "result": value}, headers=headers)

    def sse(self, headers: Headers = ()) -> None:
        """Begin an event stream in chunks."""
        self.head(200, [("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"), *headers])

    def event(
        self, data: object, *, ident: str | None = None, name: str | None = None, retry: int | None = None
    ) -> None:
        """One event in one chunk; anything but a text is sent as JSON."""
        text = data if isinstance(data, str) else json.dumps(data)
        fields = [("id", ident), ("event", name), ("retry", retry), *(("data", line) for line in text.split("\n"))]
        block = "".join(f"{key}: {value}\n" for key, value in fields if value is not None) + "\n"
        self.chunk(block.encode())

    # ------------------------------------------------------------------------------------------------- waits and ends
    def wait(self, gate: threading.Event, patience: float = PATIENCE) -> None:
        """Wait until the gate opens; ends when the server is closed."""
        limit = time.monotonic() + patience
        while not gate.wait(SLICE):
            self.server.check()
            if time.monotonic() > limit:
                raise AssertionError("a gate was never opened")

    def gone(self) -> bool:
        """True once the client has hung up."""
        try:
            if not select.select([self.sock], [], [], 0)[0]:
                return False
            return isinstance(self.sock, ssl.SSLSocket) or not self.sock.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True

    def hold(self) -> None:
        """Do nothing until the client hangs up or the server is closed."""
        while not self.gone():
            self.server.check()
            time.sleep(SLICE)
        self.close()

    def half_close(self) -> None:
        """Say that nothing more will come, and keep reading."""
        self.sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End the connection in an orderly way."""
        self.open = False

    def reset(self) -> None:
        """End the connection with a reset (RST)."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.open = False


@dataclass
class _Log:
    """What has happened, for tests to look at and wait for."""

    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    executions: Counter[str] = field(default_factory=Counter)
    errors: list[BaseException] = field(default_factory=list)


class ScriptedServer:
    """See the module.

    Attributes:
        requests: Every request that came in whole, in order.
        connections: How many connections were accepted.
        executions: How often each JSON-RPC method (for tools/call: each tool) was asked for.
        errors: What went wrong in scripts; raised when the server is closed.
    """

    def __init__(
        self, script: Script | Sequence[Script] = (), *, tls: bool = False, port: int = 0, path: str = "/mcp"
    ) -> None:
        self._script = script
        self._log = _Log()
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._tls: ssl.SSLContext | None = None
        if tls:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(CERTIFICATE, KEY)
        self._listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self._wake, self._waker = socket.socketpair()
        self._sockets: dict[int, socket.socket] = {}
        self._threads: list[threading.Thread] = []
        self.port: int = self._listener.getsockname()[1]
        self.origin = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.url = self.origin + path
        self._acceptor = threading.Thread(target=self._accept, name=f"fakeserver:{self.port}", daemon=True)
        self._acceptor.start()

    # ------------------------------------------------------------------------------------------------------- the log
    @property
    def requests(self) -> list[Request]:
        with self._changed:
            return list(self._log.requests)

    @property
    def connections(self) -> int:
        return self._log.connections

    @property
    def open_connections(self) -> int:
        """How many connections are open now."""
        with self._changed:
            return len(self._sockets)

    @property
    def executions(self) -> Counter[str]:
        with self._changed:
            return Counter(self._log.executions)

    @property
    def errors(self) -> list[BaseException]:
        return self._log.errors

    def calls(self, rpc: str) -> list[Request]:
        """The requests so far that carried this JSON-RPC method."""
        return [request for request in self.requests if request.rpc == rpc]

    def wait_until(self, true: Callable[[], bool], timeout: float = 10) -> None:
        """Wait until something about the log is true: a request has come, a connection was opened or closed."""
        with self._changed:
            if not self._changed.wait_for(true, timeout):
                raise AssertionError(f"it did not happen within {timeout} s")

    # -------------------------------------------------------------------------------------------------- start and end
    def __enter__(self: S) -> S:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close(quiet=error is not None)

    def check(self) -> None:
        """Raises when the server is being closed: called by scripts that wait."""
        if self._stopping.is_set():
            raise Stopping

    def stop_listening(self) -> None:
        """Refuse new connections from now on; open ones go on."""
        self._waker.send(b"x")
        self._acceptor.join(PATIENCE)

    def drop_connections(self, *, reset: bool = False) -> None:
        """Cut every open connection, as a crash would."""
        with self._changed:
            sockets = list(self._sockets.values())
        for sock in sockets:
            with suppress(OSError):  # it has ended in the meantime
                if reset:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                sock.shutdown(socket.SHUT_RDWR)

    def close(self, *, quiet: bool = False) -> None:
        """End everything; raises if a thread did not end or, unless `quiet`, if a script failed."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self.stop_listening()
        self.drop_connections()
        with self._changed:
            threads = [self._acceptor, *self._threads]
        for thread in threads:
            thread.join(PATIENCE)
        self._wake.close()
        self._waker.close()
        alive = [thread.name for thread in threads if thread.is_alive()]
        if alive:
            raise AssertionError(f"threads of the fake server did not end: {alive}")
        if self.errors and not quiet:
            raise AssertionError(f"a script failed: {self.errors[0]!r}") from self.errors[0]

    # ---------------------------------------------------------------------------------------------------- connections
    def _accept(self) -> None:
        while self._wake not in select.select([self._listener, self._wake], [], [])[0]:
            sock, _ = self._listener.accept()
            with self._changed:
                self._log.connections += 1
                number = self._log.connections
                thread = threading.Thread(
                    target=self._serve, args=(number, sock), name=f"fakeserver:{self.port}:{number}", daemon=True
                )
                self._threads = [*(t for t in self._threads if t.is_alive()), thread]
                self._sockets[number] = sock
                self._changed.notify_all()
            thread.start()
        self._listener.close()

    def _serve(self, number: int, sock: socket.socket) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True)
                with self._changed:
                    self._sockets[number] = sock
            with sock.makefile("rb") as reader:
                while not self._stopping.is_set() and (request := _read_request(reader, number)):
                    exchange = Exchange(self, request, sock)
                    self._record(request)(exchange)
                    if not exchange.open:
                        break
        except (OSError, Stopping):
            pass
        except BaseException as error:
            self._log.errors.append(error)
        finally:
            sock.close()
            with self._changed:
                self._sockets.pop(number, None)
                self._changed.notify_all()

    def _record(self, request: Request) -> Script:
        """Note a request and find what is to be done with it."""
        with self._changed:
            number = len(self._log.requests)
            self._log.requests.append(request)
            if request.rpc:
                name = (request.json().get("params") or {}).get("name") if request.rpc == "tools/call" else None
                self._log.executions[name or request.rpc] += 1
            self._changed.notify_all()
        if callable(self._script):
            return self._script
        return self._script[number] if number < len(self._script) else lambda exchange: exchange.respond(405)


def _read_request(reader: Any, connection: int) -> Request | None:
    """The next request of a connection; None at its end, or when it is not HTTP."""
    first = reader.readline(65536).split()
    if len(first) != 3:
        return None
    headers = []
    while (line := reader.readline(1 << 20).rstrip(b"\r\n")) != b"":
        name, _, value = line.decode("latin-1").partition(":")
        headers.append((name, value.strip()))
    request = Request(connection, first[0].decode(), first[1].decode(), headers, b"")
    if (request.header("Transfer-Encoding") or "").lower() == "chunked":
        parts = []
        while size := int(reader.readline(1024).split(b";")[0], 16):
            parts.append(reader.read(size))
            reader.readline(1024)
        reader.readline(1024)
        body = b"".join(parts)
    else:
        body = reader.read(int(request.header("Content-Length") or 0))
    return Request(connection, request.method, request.path, headers, body)

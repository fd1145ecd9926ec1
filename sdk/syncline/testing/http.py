"""A fake server over Streamable HTTP, on a port of this machine."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Literal, cast

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.workers import join, spawn
from syncline.serving import INVALID_PARAMS, INVALID_REQUEST, JSON, META, METHOD_NOT_FOUND, UNSUPPORTED_REVISION

from .call import Gone, Session, Wire

if TYPE_CHECKING:
    from syncline.concurrency.workers import Thread

    from .core import Core

#: The HTTP status of a JSON-RPC error, in 2026-07-28 (basic/transports).
STATUS = {METHOD_NOT_FOUND: 404, INVALID_PARAMS: 400, INVALID_REQUEST: 400, UNSUPPORTED_REVISION: 400}
#: Seconds between two looks at whether the front is to close; for its threads to end.
LOOK, ENDING = 0.05, 5.0
NO_HEADERS: Mapping[str, str] = {}


class HttpFront(socketserver.TCPServer):
    """Listens, and answers each connection on a thread of its own."""

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, core: Core, *, answers: Literal["json", "sse"], sessions: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.core = core
        self.answers = answers
        self.sessions: dict[str, Session] | None = core.sessions if sessions else None
        self.alone = Session()  # of all clients together, where there are no sessions
        self.url = f"http://127.0.0.1:{self.server_address[1]}/mcp"
        self._lock = new_lock()
        self._connections: dict[Thread, socket.socket] = {}
        self._thread = spawn(f"syncline:{core.name}:http", lambda: self.serve_forever(LOOK))

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection."""
        with self._lock:
            self._connections = {thread: one for thread, one in self._connections.items() if thread.is_alive()}
            thread = spawn(f"syncline:{self.core.name}:http-connection", lambda: self._serve(request, client_address))
            self._connections[thread] = request

    def _serve(self, request: socket.socket, client_address: Any) -> None:
        with contextlib.suppress(OSError, Gone):
            self.finish_request(request, client_address)
        self.shutdown_request(request)

    def close(self) -> None:
        """Stop listening, end all connections and their threads."""
        self.shutdown()
        self.server_close()
        with self._lock:
            connections = dict(self._connections)
        for connection in connections.values():
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        with self.core.monitor:
            pass  # those who wait look again, and see that their client is gone
        join([*connections, self._thread], Deadline(ENDING))


class HttpWire(Wire):
    """One request's answer: JSON, or an event stream where something comes before it."""

    def __init__(self, exchange: _Exchange, *, stateless: bool, headers: Mapping[str, str], stream: bool) -> None:
        self.begun = False
        self._exchange = exchange
        self._headers = headers
        self._statuses = STATUS if stateless else {}
        self._stream = stream
        self._over = False
        self._lock = new_lock()  # held across writing, so that events do not mix

    def send(self, message: JSON) -> None:
        """See ``Wire``."""
        final = "method" not in message
        frame = json.dumps(message).encode()
        with self._lock, self._writing():
            if final and not self.begun and not self._stream:
                status = self._statuses.get(message.get("error", {}).get("code"), 200)
                self._exchange.reply(status, self._headers, frame, "application/json")
                self.begun = True
                return
            self._begin()
            self._chunk(b"data: " + frame + b"\n\n")
            if final:
                self._chunk(b"")

    def listen(self) -> None:
        """Begin an event stream that nothing is to be answered on."""
        with self._lock, self._writing():
            self._begin()

    def refuse(self, status: int, headers: Mapping[str, str], body: str) -> bool:
        """See ``Wire``."""
        with self._lock, self._writing():
            self._exchange.reply(status, headers, body.encode(), "text/plain")
            self.begun = True
        return True

    def drop(self) -> None:
        """See ``Wire``."""
        self._over = True
        with contextlib.suppress(OSError):
            self._exchange.connection.shutdown(socket.SHUT_RDWR)

    def ended(self) -> bool:
        """See ``Wire``."""
        if not self._over:
            try:
                self._over = not self._exchange.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
            except OSError:
                self._over = True
        return self._over

    @contextlib.contextmanager
    def _writing(self) -> Any:
        try:
            yield
        except OSError:
            self._over = True
            raise Gone from None

    def _begin(self) -> None:
        if not self.begun:
            self.begun = True
            self._exchange.start(200, {**self._headers, "Transfer-Encoding": "chunked"}, "text/event-stream")

    def _chunk(self, data: bytes) -> None:
        self._exchange.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


class _Listening(HttpWire):
    """The stream of a handshake client for what belongs to no request."""

    def tell(self, message: JSON) -> None:
        """See ``Wire``."""
        self.send(message)


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def front(self) -> HttpFront:
        return cast("HttpFront", self.server)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: what came in is in ``FakeServer.received``."""

    def do_POST(self) -> None:
        core = self.front.core
        try:
            decoded = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        except ValueError:
            self.reply(400, {}, b"not JSON", "text/plain")
            return
        stateless = META + "protocolVersion" in _meta(decoded)
        session, headers = (Session(), NO_HEADERS) if stateless else self._session(decoded)
        if session is None:
            return
        stream = self.front.answers == "sse"
        wire = HttpWire(self, stateless=stateless, headers=headers, stream=stream)
        core.opened(wire)
        try:
            call = core.take(decoded, wire, session, {name.lower(): value for name, value in self.headers.items()})
            if call is not None:
                core.answer(call)
                self.close_connection = self.close_connection or not wire.begun or wire.ended()
            elif not wire.begun:
                self.reply(202, {}, b"", None)
        finally:
            core.done(wire)

    def do_GET(self) -> None:
        core = self.front.core
        if self.front.sessions is None or self._known() is None:
            self.reply(405, {"Allow": "POST"}, b"", None)
            return
        wire = _Listening(self, stateless=False, headers={}, stream=True)
        core.opened(wire)  # first, so that nothing is missed from the moment that the client sees the stream
        try:
            wire.listen()
            core.monitor.wait(lambda: core.closed or wire.ended(), Deadline(None))
        finally:
            core.done(wire)
            self.close_connection = True

    def do_DELETE(self) -> None:
        known = (self.front.sessions or {}).pop(self.headers.get("Mcp-Session-Id", ""), None)
        self.reply(200 if known else 404, {}, b"", None)

    def _known(self) -> Session | None:
        sessions = self.front.sessions
        return None if sessions is None else sessions.get(self.headers.get("Mcp-Session-Id", ""))

    def _session(self, decoded: Any) -> tuple[Session | None, Mapping[str, str]]:
        """The session of a handshake client, and the headers that name a new one; None if it was refused."""
        sessions = self.front.sessions
        if sessions is None:
            return self.front.alone, NO_HEADERS
        if isinstance(decoded, dict) and decoded.get("method") == "initialize":
            name, fresh = self.front.core.new_session()
            return fresh, {"Mcp-Session-Id": name}
        session = self._known()
        if session is None:
            named = "Mcp-Session-Id" in self.headers
            self.reply(404 if named else 400, {}, b"no such session" if named else b"no session id", "text/plain")
        return session, NO_HEADERS

    def reply(self, status: int, headers: Mapping[str, str], body: bytes, media_type: str | None) -> None:
        """A whole answer."""
        self.start(status, {**headers, "Content-Length": str(len(body))}, media_type)
        self.wfile.write(body)

    def start(self, status: int, headers: Mapping[str, str], media_type: str | None) -> None:
        """The head of an answer."""
        self.send_response(status)
        for name, value in {**headers, **({} if media_type is None else {"Content-Type": media_type})}.items():
            self.send_header(name, value)
        self.end_headers()


def _meta(decoded: Any) -> Mapping[str, object]:
    params = decoded.get("params") if isinstance(decoded, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}

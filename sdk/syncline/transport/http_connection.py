"""urllib3's connections and pools, for exchanges: see ``http_exchange``."""

from __future__ import annotations

import io
import os
import socket
import time
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.response import HTTPResponse
from urllib3.util.connection import allowed_gai_family

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.idle import Idle

from .http_exchange import FOREVER, Exchange, Exchanges
from .http_head import Answer, EncodedHeaders

#: Seconds for which the limit last set on a socket is good enough: setting it is a system call.
SLACK = 0.05
#: A request up to this many bytes leaves in one piece with its head.
ONE_PIECE = 1 << 16
#: Bytes asked of the socket at a time.
BUFFER = 1 << 12
#: Seconds of silence before the system checks a connection, seconds between checks, how many may fail. A peer that
#: vanished without a word would else leave a stream open for ever.
_CHECKS = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
KEEP_ALIVE = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in _CHECKS if hasattr(socket, name)),
)


class _Source(io.RawIOBase):
    """What a response reads from: the socket, under the exchange's deadline."""

    _file: Any = None  # Ctrl-C may come before there is one

    def __init__(self, sock: Any, exchange: Exchange) -> None:
        self._exchange = exchange
        self._socket = sock
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open for as long as the response lives
        exchange.armed = time.monotonic()  # urllib3 has just set the limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        exchange = self._exchange
        while True:
            now = time.monotonic()
            if now - exchange.armed > SLACK:
                self._socket.settimeout(exchange.nap())
                exchange.armed = now
            try:
                count: int = self._socket.recv_into(buffer)
            except TimeoutError:
                exchange.armed = 0.0  # the deadline may have been extended meanwhile
                continue
            if count:
                exchange.answered = True
            elif exchange.aborted:
                raise ConnectionAbortedError("closed from another thread")  # not an end that the server made
            else:
                exchange.ended = True
            return count

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._exchange.file = None  # else the two would hold each other, and the request
        super().close()


class _Readable:
    """The socket as ``http.client`` wants it: something with ``makefile``."""

    __slots__ = ("_exchange", "_socket")

    def __init__(self, sock: Any, exchange: Exchange) -> None:
        self._socket = sock
        self._exchange = exchange

    def makefile(self, _mode: str) -> io.BufferedReader:
        file = self._exchange.file = io.BufferedReader(_Source(self._socket, self._exchange), BUFFER)
        return file


class Connection(HTTPConnection):
    """A connection that serves one exchange after the other."""

    _table: Exchanges | None = None
    _generation = 0
    _process = 0
    _served = False
    _held: list[bytes] | None = None
    _HTTPConnection__response: Any
    query = ""

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that uses the connection; None if there is none, or it was not made through our sessions."""
        return getattr(self.timeout, "exchange", None)

    @property
    def is_connected(self) -> bool:
        """Whether it can be used again."""
        current = self._table is None or self._table.generation == self._generation
        return current and self._process == os.getpid() and super().is_connected

    def connect(self) -> None:
        """Connect, and be seen by the exchange."""
        exchange = self.exchange
        self._served = False
        self._process = os.getpid()
        self._table = None
        if exchange is None:
            super().connect()
        else:
            exchange.connected = False
            super().connect()
            self._belong(exchange.table)
            exchange.table.opened(self.sock)
            exchange.attach(self.sock)
            exchange.connected = True
            self.sock.settimeout(exchange.left())

    def _belong(self, table: Exchanges) -> None:
        """Be out of date when the connections of that table are."""
        self._table, self._generation = table, table.generation

    def _new_conn(self) -> socket.socket:
        exchange = self.exchange
        if exchange is None:
            return super()._new_conn()
        limit = exchange.deadline
        if exchange.connect_limit is not None:
            limit = limit.sooner(exchange.connect_limit)
        try:
            return self._dial(exchange, limit)
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"no connection to {self.host} in time") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection to {self.host}: {error}") from error

    def _dial(self, exchange: Exchange, limit: Deadline) -> socket.socket:
        """Try each address of the host with its share of the time."""
        host = self._dns_host.strip("[]")
        try:
            addresses = socket.getaddrinfo(host, self.port, allowed_gai_family(), socket.SOCK_STREAM)
        except UnicodeError as error:
            raise socket.gaierror(socket.EAI_NONAME, "not a host name") from error
        if exchange.admit is not None:
            admitted = exchange.admit([str(address[0]) for *_, address in addresses])
            addresses = [each for each in addresses if str(each[-1][0]) in admitted]
        failure = OSError(f"{host} has no address")
        for tried, (family, kind, proto, _, address) in enumerate(addresses):
            left = limit.remaining()
            sock = socket.socket(family, kind, proto)
            try:
                for option in (*KEEP_ALIVE, *(self.socket_options or ())):
                    sock.setsockopt(*option)
                if self.source_address:
                    sock.bind(self.source_address)
                sock.settimeout(FOREVER if left is None else max(left, 0.001) / (len(addresses) - tried))
                exchange.attach(sock)
                sock.connect(address)
            except OSError as error:
                sock.close()
                failure = error
                if exchange.aborted:
                    break
            except BaseException:
                sock.close()
                raise
            else:
                exchange.peer = str(address[0])
                return sock
        raise failure

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **options: Any) -> None:
        """Send a request, its head and a small body in one piece."""
        exchange = self.exchange
        if exchange is not None and self.sock is not None:
            exchange.reused = self._served
            exchange.connected = True
            exchange.attach(self.sock)
            if self._table is not exchange.table:  # opened by somebody else who uses the session
                self._belong(exchange.table)
        held: list[bytes] = []
        self._held = held
        try:
            super().request(method, url, body, headers, **options)
        finally:
            self._held = None
        if isinstance(headers, EncodedHeaders):
            held[0] = b"%b%b\r\n" % (held[0][:-2], headers.block)
        if sum(len(piece) for piece in held) <= ONE_PIECE:
            held = [b"".join(held)]
        for piece in held:
            self.send(piece)

    def putrequest(self, method: str, url: str, *args: Any, **options: Any) -> None:
        """Begin a request, with the query that urllib3 was not told."""
        super().putrequest(method, url + self.query, *args, **options)

    def send(self, data: Any) -> None:
        """Send bytes, or hold them while a request is being put together."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]
        """The response. One that ends within its headers, which ``http.client`` puts up with, is an error."""
        response = super().getresponse()
        if self.exchange is not None and self.exchange.ended:
            response.close()
            raise ConnectionResetError("the connection ended within the headers")
        return response

    def _new_response(self, sock: Any, *args: Any, **options: Any) -> Any:
        exchange = self.exchange
        source: Any = sock if exchange is None else _Readable(sock, exchange)
        return Answer(source, *args, **options)

    response_class: Any = _new_response

    def released(self) -> None:
        """Its exchange is over and it goes back to the pool."""
        self._served = True
        if self.exchange is not None:
            self.exchange.detach()
            self.timeout = None  # with it goes the exchange, and its request
        answer = self._HTTPConnection__response
        if answer is not None and answer.isclosed():
            self._HTTPConnection__response = None  # what http.client does on the next request


class TlsConnection(Connection, HTTPSConnection):
    """The same over TLS."""

    def connect(self) -> None:
        """Connect, and be seen by the exchange."""
        self._handle: socket.socket | None = None
        try:
            super().connect()
        finally:
            if self._handle is not None:
                self._handle.close()

    def _new_conn(self) -> socket.socket:
        sock = super()._new_conn()
        if self.exchange is not None:
            # The ssl module takes the socket away for the handshake; with a second handle it can still be ended.
            self._handle = sock.dup()
            try:
                self.exchange.attach(self._handle)
            except OSError:
                sock.close()
                raise
        return sock


class Pool(HTTPConnectionPool):
    """A pool of such connections. It never lets anybody wait for one: a stream may have it for days."""

    ConnectionCls: Any = Connection
    QueueCls: Any = Idle

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**options, "block": False})

    def _make_request(self, conn: Any, method: str, url: str, *args: Any, **options: Any) -> Any:
        path, mark, query = url.partition("?")
        conn.query = mark + query  # urllib3 logs what it knows of the URL, and there may be secrets in a query
        return super()._make_request(conn, method, path, *args, **options)

    def _validate_conn(self, conn: Any) -> None:
        if conn.is_closed:
            conn.connect()  # before anything is sent, so that a failure to connect can be told from a lost request
        super()._validate_conn(conn)

    def _put_conn(self, conn: Any) -> None:
        if conn is not None:
            conn.released()
        super()._put_conn(conn)


class TlsPool(Pool, HTTPSConnectionPool):
    """The same over TLS."""

    ConnectionCls: Any = TlsConnection


POOLS: dict[str, type] = {"http": Pool, "https": TlsPool}

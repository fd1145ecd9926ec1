"""urllib3 connections under one deadline, which another thread can end.

urllib3 has a limit for connecting and one for each read: a server that drips bytes outlasts both. And it has no handle on
a request that still waits for its headers. So each attempt at a request is an ``Exchange``: it travels through requests
and urllib3 in the place of their timeout, down to the connection, which asks it for the time left before every read and
shows it the socket in use.
"""

from __future__ import annotations

import contextlib
import io
import os
import socket
import time
import weakref
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.response import HTTPResponse
from urllib3.util import Timeout
from urllib3.util.connection import allowed_gai_family

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.errors import ConnectionClosed, ForkedConnection

from .http_head import Answer, EncodedHeaders

#: Seconds that stand for "no limit"; a socket refuses more than 24 days.
FOREVER = 1e6
#: Seconds for which the limit last set on a socket is good enough: setting it is a system call.
SLACK = 0.05
#: A request up to this many bytes leaves in one piece with its head.
ONE_PIECE = 1 << 16
#: Bytes asked of the socket at a time.
BUFFER = 1 << 16


class Seconds(float):
    """A number of seconds for urllib3, which carries the exchange to our connections."""

    exchange: Exchange


class Exchange(Timeout):
    """One attempt at a request: its deadline, how far it got, and the socket that it holds.

    Attributes:
        deadline: When it must be over; may be replaced or extended while it runs.
        connected: There was a connection, so something may have been sent; None while nobody knows.
        reused: The connection had served before.
        answered: Bytes of an answer have arrived.
        ended: The server has ended the connection.
    """

    def __init__(self, deadline: Deadline, connect_timeout: float | None, table: Exchanges) -> None:
        super().__init__()
        self.deadline = deadline
        self.table = table
        self.connect_limit = connect_timeout
        self.connected: bool | None = None
        self.reused = False
        self.answered = False
        self.ended = False
        self.armed = 0.0
        self.aborted = False
        self._socket: socket.socket | None = None

    def clone(self) -> Exchange:
        """Itself: urllib3 makes a copy for each request, and this is one request."""
        return self

    def start_connect(self) -> float:
        """Nothing: the clock has been running since the call began."""
        return 0.0

    @property
    def connect_timeout(self) -> Seconds:
        """The time left; the limit for connecting is applied by the connection."""
        seconds = Seconds(self.left())
        seconds.exchange = self
        return seconds

    @property
    def read_timeout(self) -> Seconds:
        """The time left."""
        return self.connect_timeout

    def left(self) -> float:
        """Seconds until the deadline; raises ``TimeoutError`` when it has passed."""
        left = self.deadline.remaining()
        if left is None:
            return FOREVER
        if left == 0.0:
            raise TimeoutError("the deadline has passed")
        return min(left, FOREVER)

    def hurry(self, seconds: float) -> None:
        """Have only so much time from now on."""
        self.deadline = self.deadline.sooner(seconds)
        self.armed = 0.0

    def attach(self, sock: Any) -> None:
        """``sock`` is in use for this exchange from now on. Raises ``ConnectionAbortedError`` if it is to end."""
        with self.table.lock:
            if self.aborted:
                raise ConnectionAbortedError("closed from another thread")
            self._socket = getattr(sock, "socket", sock)  # TLS inside TLS has no shutdown() of its own

    def detach(self) -> None:
        """The connection went back to its pool, where somebody else may take it."""
        with self.table.lock:
            self._socket = None

    def abort(self) -> None:
        """End it, whatever it waits for. The caller holds the table's lock, so the socket cannot change hands."""
        self.aborted = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                # Not SSLSocket's own shutdown(): that one takes the TLS state away from under the reading thread.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Exchanges:
    """The exchanges under way and the sockets open on one transport."""

    def __init__(self) -> None:
        self.lock = new_lock()
        #: Connections made in an earlier generation are not used again.
        self.generation = 0
        self._closed: type[ConnectionClosed] | None = None
        self._running: set[Exchange] = set()
        self._sockets: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def closed(self) -> bool:
        """Whether no further exchange may begin."""
        return self._closed is not None

    def begin(self, deadline: Deadline, connect_timeout: float | None, farewell: bool = False) -> Exchange:
        """A new exchange. Raises ``ConnectionClosed`` after ``abort()``, except for a farewell."""
        exchange = Exchange(deadline, connect_timeout, self)
        with self.lock:
            if self._closed is not None and not farewell:
                raise self._closed("the client is closed")
            self._running.add(exchange)
        return exchange

    def end(self, exchange: Exchange) -> None:
        """It is over, one way or the other."""
        with self.lock:
            self._running.discard(exchange)

    def opened(self, sock: object) -> None:
        """Remember an open socket for as long as it lives."""
        with self.lock:
            self._sockets.add(sock)

    def abort(self) -> bool:
        """End all exchanges and refuse further ones; False if that had been done before."""
        with self.lock:
            if self._closed is not None:
                return False
            self._closed = ConnectionClosed
            for exchange in self._running:
                exchange.abort()
        return True

    def disown(self) -> None:
        """In a forked child: close our copies of the sockets and say nothing on them, which would reach the server."""
        self.lock = new_lock()  # a thread that does not exist here may have held the old one
        self._closed = ForkedConnection
        for sock in list(self._sockets):
            with contextlib.suppress(OSError):
                os.close(getattr(sock, "socket", sock).detach())


class _Source(io.RawIOBase):
    """What a response reads from: the socket, under the exchange's deadline."""

    def __init__(self, sock: Any, exchange: Exchange) -> None:
        self._socket = sock
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open for as long as the response lives
        self._exchange = exchange
        exchange.armed = time.monotonic()  # urllib3 has just set the limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        exchange = self._exchange
        while True:
            now = time.monotonic()
            if now - exchange.armed > SLACK:
                self._socket.settimeout(exchange.left())
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
        self._file.close()
        super().close()


class _Readable:
    """The socket as ``http.client`` wants it: something with ``makefile``."""

    __slots__ = ("_exchange", "_socket")

    def __init__(self, sock: Any, exchange: Exchange) -> None:
        self._socket = sock
        self._exchange = exchange

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Source(self._socket, self._exchange), BUFFER)


class Connection(HTTPConnection):
    """A connection that serves one exchange after the other."""

    _generation = 0
    _served = False
    _held: list[bytes] | None = None
    query = ""

    @property
    def exchange(self) -> Exchange | None:
        """The exchange that uses the connection, or used it last; None if it was not made through our sessions."""
        return getattr(self.timeout, "exchange", None)

    @property
    def is_connected(self) -> bool:
        """Whether it can be used again."""
        exchange = self.exchange
        current = exchange is None or exchange.table.generation == self._generation
        return current and super().is_connected

    def connect(self) -> None:
        """Connect, and be seen by the exchange."""
        exchange = self.exchange
        self._served = False
        if exchange is None:
            super().connect()
        else:
            exchange.connected = False
            super().connect()
            self._generation = exchange.table.generation
            exchange.table.opened(self.sock)
            exchange.attach(self.sock)
            exchange.connected = True
            self.sock.settimeout(exchange.left())

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
        failure = OSError(f"{host} has no address")
        for tried, (family, kind, proto, _, address) in enumerate(addresses):
            left = limit.remaining()
            sock = socket.socket(family, kind, proto)
            try:
                for option in self.socket_options or ():
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
                return sock
        raise failure

    def request(self, method: str, url: str, body: Any = None, headers: Any = None, **options: Any) -> None:
        """Send a request, its head and a small body in one piece."""
        exchange = self.exchange
        if exchange is not None and self.sock is not None:
            exchange.reused = self._served
            exchange.connected = True
            exchange.attach(self.sock)
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
    """A pool of such connections."""

    ConnectionCls: Any = Connection

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


POOLS = {"http": Pool, "https": TlsPool}

"""Attempts at HTTP requests: each under one deadline, all of them to be ended by another thread.

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
import weakref
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from urllib3.util import Timeout

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.slot import ReplySlot
from syncline.errors import ConnectionClosed, ForkedConnection

if TYPE_CHECKING:
    from .base import Outgoing

#: Seconds that stand for "no limit"; a socket refuses more than 24 days.
FOREVER = 1e6


class Seconds(float):
    """A number of seconds for urllib3, which carries the exchange to our connections."""

    exchange: Exchange


class Exchange(Timeout):
    """One attempt at a request: its deadline, how far it got, and the socket that it holds.

    Attributes:
        deadline: When it must be over; may be replaced or extended while it runs.
        message: What it is for; None for what is not a message.
        connected: There was a connection, so something may have been sent; None while nobody knows.
        reused: The connection had served before.
        answered: Bytes of an answer have arrived.
        ended: The server has ended the connection.
        file: What its response is read from, while it can be.
        admit: Called with the addresses of the host before one of them is connected to; returns those that may be, and raises
            where none may. None for all. Not called where a proxy does that.
        peer: The address that was connected to for it; None where there was a connection already.
    """

    def __init__(
        self, deadline: Deadline, connect_timeout: float | None, table: Exchanges, message: Outgoing | None = None
    ) -> None:
        super().__init__()
        self.deadline = deadline
        self.message = message
        self.table = table
        self.connect_limit = connect_timeout
        self.connected: bool | None = None
        self.reused = False
        self.answered = False
        self.ended = False
        self.armed = 0.0
        self.aborted = False
        self.file: io.BufferedReader | None = None
        self.admit: Callable[[list[str]], Collection[str]] | None = None
        self.peer: str | None = None
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
        """How long to read in one piece."""
        seconds = Seconds(self.nap())
        seconds.exchange = self
        return seconds

    def left(self) -> float:
        """Seconds until the deadline; raises ``TimeoutError`` when it has passed."""
        left = self.deadline.remaining()
        if left is None:
            return FOREVER
        if left == 0.0:
            raise TimeoutError("the deadline has passed")
        return min(left, FOREVER)

    def nap(self) -> float:
        """How long to wait in one piece; raises ``TimeoutError`` when the deadline has passed."""
        self.left()
        return self.deadline.nap() or 0.001

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


class Pause:
    """The time between two attempts: ended like an exchange."""

    def __init__(self, message: Outgoing) -> None:
        self.message = message
        self._ended: ReplySlot[bool] = ReplySlot()

    def abort(self) -> None:
        """End it."""
        self._ended.put(True)

    def wait(self, seconds: float, deadline: Deadline) -> bool:
        """Wait so long, or until the deadline; True if it was ended before."""
        limit = Deadline(seconds)
        while not limit.expired and not deadline.expired:
            if self._ended.take(Deadline(min(limit.nap(), deadline.nap()))):
                return True
        return False


class Exchanges:
    """The exchanges under way and the sockets open on one transport."""

    def __init__(self) -> None:
        self.lock = new_lock()
        #: Connections made in an earlier generation are not used again.
        self.generation = 0
        self._closed: type[ConnectionClosed] | None = None
        self._running: set[Exchange | Pause] = set()
        self._sockets: list[weakref.ref[Any]] = []

    @property
    def closed(self) -> bool:
        """Whether no further exchange may begin."""
        return self._closed is not None

    def begin(
        self,
        deadline: Deadline,
        connect_timeout: float | None,
        message: Outgoing | None = None,
        *,
        farewell: bool = False,
    ) -> Exchange:
        """A new exchange. Raises ``ConnectionClosed`` after ``abort()``, except for a farewell, and after ``abandon()``."""
        exchange = Exchange(deadline, connect_timeout, self, message)
        self._begin(exchange, farewell)
        return exchange

    def pause(self, seconds: float, deadline: Deadline, message: Outgoing) -> None:
        """Wait before the next attempt for a message, no longer than its deadline.

        Raises ``ConnectionClosed`` when ``abort()`` or ``abandon()`` end it.
        """
        pause = Pause(message)
        self._begin(pause)
        try:
            if pause.wait(seconds, deadline):
                self._refuse(message)
        finally:
            self.end(pause)

    def _begin(self, part: Exchange | Pause, farewell: bool = False) -> None:
        with self.lock:
            self._refuse(part.message, farewell)
            self._running.add(part)

    def _refuse(self, message: Outgoing | None, farewell: bool = False) -> None:
        if self._closed is not None and not farewell:
            raise self._closed("the client is closed")
        if message is not None and message.abandoned:
            raise ConnectionClosed("the request was given up")

    def end(self, part: Exchange | Pause) -> None:
        """It is over, one way or the other."""
        with self.lock:
            self._running.discard(part)

    def abandon(self, message: Outgoing) -> None:
        """End the exchange that is under way for a message, and let no other one begin for it."""
        with self.lock:
            message.abandoned = True
            for exchange in self._running:
                if exchange.message is message:
                    exchange.abort()

    def interrupt(self) -> None:
        """End what is under way for listening streams; they may begin again."""
        with self.lock:
            for part in self._running:
                if part.message is not None and part.message.kind == "listen":
                    part.abort()

    def opened(self, sock: object) -> None:
        """Remember an open socket for as long as it lives."""
        with self.lock:
            self._sockets = [*(one for one in self._sockets if one() is not None), weakref.ref(sock)]

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
        self._closed = ForkedConnection
        for one in self._sockets:
            sock = one()
            if sock is not None:
                with contextlib.suppress(OSError):
                    os.close(getattr(sock, "socket", sock).detach())

"""The standard library's WSGI server on a thread of its own: for trying a receiver out, not for the open internet."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.wakeup import Wakeup, watch
from syncline.concurrency.workers import join, spawn

if TYPE_CHECKING:
    from types import TracebackType

    from _typeshed.wsgi import WSGIApplication
    from typing_extensions import Self

log = logging.getLogger("syncline.webhooks")

#: Seconds that a client may be silent, and for ``close()``, which waits for the request that is being answered.
SILENCE, ENDING = 2.0, 3.0


class LocalServer:
    """Serves one WSGI application until ``close()``; requests are answered one after the other.

    Attributes:
        url: Where it is reached.
    """

    def __init__(self, application: WSGIApplication, host: str, port: int) -> None:
        self._server = make_server(host, port, application, _Server, _Handler)
        self._server.timeout = 0.5  # where the wait below returns at once (Windows)
        self._stop = Wakeup()
        self._poll = watch(self._server.fileno(), self._stop.fileno())
        self.url = f"http://{host}:{self._server.server_port}/"
        self._thread = spawn(f"syncline:{host}:{self._server.server_port}:receiver", self._run)

    def close(self) -> None:
        """Stop serving. From any thread; waits at most 3 seconds for the request that is being answered."""
        self._stop.set()
        join([self._thread], Deadline(ENDING))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        with self._server:
            while not self._stop.is_set:
                self._poll(None)
                if not self._stop.is_set:
                    self._server.handle_request()
        self._stop.close()


class _Server(WSGIServer):
    request_queue_size = 128  # deliveries come in bursts


class _Handler(WSGIRequestHandler):
    timeout = SILENCE

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, ARG002
        """The address is not logged: its last part is the subscription's own."""
        log.debug("a request from %s", self.client_address[0])

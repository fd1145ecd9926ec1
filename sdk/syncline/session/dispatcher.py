"""Questions that a server asks over the connection (handshake era): each to a handler thread, its answer back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syncline.concurrency.locks import new_lock
from syncline.concurrency.workers import Pool
from syncline.protocol import jsonrpc
from syncline.protocol.events import ServerRequest
from syncline.protocol.questions import Refusal

if TYPE_CHECKING:
    from syncline.concurrency.deadline import Deadline

    from .handlers import Handlers

#: Handlers that run at the same time; further questions wait for a free thread.
HANDLER_THREADS = 4


class Dispatcher:
    """Takes questions on whatever thread received them, and never blocks it.

    Args:
        name: The server, for the names of threads.
        handlers: Who answers.
        respond: Queues an answer for sending: the request and the encoded message.
    """

    def __init__(self, name: str, handlers: Handlers, respond: Callable[[ServerRequest, bytes], None]) -> None:
        self._handlers = handlers
        self._respond = respond
        self._pool = Pool(f"syncline:{name}:handler", HANDLER_THREADS)
        self._lock = new_lock()
        self._asked: set[int | str] = set()

    def take(self, request: ServerRequest, waiting: Sequence[Deadline]) -> None:
        """Answer a question; the clocks of the calls that wait for it stand still meanwhile."""
        if request.method == "ping":
            self._respond(request, jsonrpc.encode_result(request.id, {}))
            return
        if not self._handlers.handles(request.method):
            text = f"the client does not offer {request.method}"
            self._respond(request, jsonrpc.encode_error(request.id, -32601, text))
            return
        with self._lock:
            self._asked.add(request.id)
            for deadline in waiting:
                deadline.pause()
        self._pool.submit(lambda: self._handle(request, waiting))

    def cancelled(self, request_id: object) -> bool:
        """The server has lost interest: no answer will be sent (CAN-5). False if it is not waiting for one."""
        with self._lock:
            known = isinstance(request_id, (int, str)) and request_id in self._asked
            if known and isinstance(request_id, (int, str)):
                self._asked.discard(request_id)
            return known

    def stop(self, deadline: Deadline) -> list[str]:
        """Take no more questions; the names of handler threads that are still busy at the deadline."""
        return self._pool.stop(deadline)

    def _handle(self, request: ServerRequest, waiting: Sequence[Deadline]) -> None:
        try:
            result = self._handlers.answer_or_refuse(request.method, request.params)
            jsonrpc.check_json(result, "the answer")
            frame = jsonrpc.encode_result(request.id, result)
        except Refusal as refusal:
            frame = jsonrpc.encode_error(request.id, refusal.code, refusal.message)
        except ValueError as error:
            frame = jsonrpc.encode_error(request.id, -32603, f"the client's handler failed ({type(error).__name__})")
        finally:
            with self._lock:
                wanted = request.id in self._asked
                self._asked.discard(request.id)
                for deadline in waiting:
                    deadline.resume()
        if wanted:
            self._respond(request, frame)

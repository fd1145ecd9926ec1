"""A request that stays open: a subscription, an event stream. What belongs to it is handed on in order, on its own thread.

Over HTTP the thread reads the answer's body itself, so that a consumer that is slow slows the server down and nobody else.
Over a shared channel the connection's reader must not wait, so notifications queue up, within a limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import among, join, spawn
from syncline.errors import RequestTimeout, StreamError, StreamOverflow, SynclineError
from syncline.protocol.events import Notification, Progress, Reply

if TYPE_CHECKING:
    from syncline.concurrency.workers import Thread

    from .connection import Connection

#: Seconds for the thread to end once its channel is closed; it may be in a callback.
ENDING = 2.0


class Channel:
    """One open request.

    Args:
        connection: Where it is sent.
        method: Its method.
        params: Its parameters, without the envelope.
        meta: What the caller puts into ``_meta``.
        extensions: What is declared for this request (stateless era).
        on_notice: Called with each notification that belongs to it. May block, over HTTP for as long as it likes.
        on_end: Called once, with the reply that ended it, after the last notification; not after ``close()``.
        silence: Seconds without any notification after which it counts as lost; None for no limit.
        waiting: How many notifications may wait over a shared channel.
    """

    def __init__(
        self,
        connection: Connection,
        method: str,
        params: Mapping[str, object],
        *,
        meta: Mapping[str, object] | None = None,
        extensions: Mapping[str, object] | None = None,
        on_notice: Callable[[Notification], None],
        on_end: Callable[[Reply], None],
        silence: float | None = None,
        waiting: int = 10_000,
    ) -> None:
        self.deadline = Deadline(silence, math.inf if silence is not None else None)
        self._connection = connection
        self._on_notice = on_notice
        self._on_end = on_end
        self._waiting = waiting
        self._queued = 0
        self._shared = connection.transport.shared
        self._slot: ReplySlot[Notification | Reply | None] = ReplySlot()
        self._call, self._message = connection.prepare(
            method, params, self, meta=meta, extensions=extensions, stream=True
        )
        self._thread: Thread = spawn(f"syncline:{connection.name}:stream-{self._call.id}", self._run)

    @property
    def id(self) -> int:
        """The JSON-RPC id of the request, which its notifications bear."""
        return self._call.id

    def own_thread(self) -> bool:
        """Whether this is its thread, and it has a connection to itself: then nobody else waits for what comes next."""
        return not self._shared and among([self._thread])

    def close(self, timeout: float = ENDING) -> None:
        """End it: nothing is handed on any more, the server is told. From any thread; waits for the thread a little."""
        try:
            self._connection.forsake(self._call, self._message)
        finally:  # Ctrl-C included: nobody else will tell the thread
            self._slot.put(None)
        join([self._thread], Deadline(timeout))

    # What the connection delivers (Owner)

    def reply(self, event: Reply) -> None:
        """The request has been answered: it is over."""
        self._slot.put(event)

    def progress(self, _event: Progress, _here: bool) -> bool:
        """Nothing: streams report no progress."""
        return False

    def notice(self, event: Notification) -> None:
        """A notification that belongs to the request."""
        self.deadline.extend()
        if not self._shared:
            self._on_notice(event)
            return
        self._queued += 1
        if self._queued > self._waiting:
            self._connection.forsake(self._call, self._message)
            problem = f"more than {self._waiting} notifications were waiting to be taken"
            self._slot.put(Reply(error=StreamOverflow(problem)))
        else:
            self._slot.put(event)

    # On the thread

    def _run(self) -> None:
        connection = self._connection
        try:
            connection.put(self._message, self.deadline)
            ended = self._pump()
        except SynclineError as error:
            failure = self._silent() if isinstance(error, RequestTimeout) else error
            ended = None if connection.forsake(self._call, self._message) is False else Reply(error=failure)
            if ended is None:
                ended = self._pump()
        except Exception as error:  # somebody may wait for what this thread would have brought
            logs.wire.exception("%s: taking what %s brought failed", connection.name, self._call.method)
            connection.forsake(self._call, self._message)
            ended = Reply(error=StreamError(f"taking what came failed: {error!r}"))
        if ended is not None:
            if ended.error is not None:
                ended.error.at(connection.name, self._call.method, self._call.id)
            self._on_end(ended)

    def _pump(self) -> Reply | None:
        """Hand on what comes until the end; None when closed."""
        while True:
            event = self._slot.take(self.deadline)
            if isinstance(event, Notification):
                self._queued -= 1
                self._on_notice(event)
            elif event is None and self.deadline.expired:
                self._connection.forsake(self._call, self._message)
                return Reply(error=self._silent())
            else:
                return event

    def _silent(self) -> RequestTimeout:
        return RequestTimeout(f"nothing came for {self.deadline.seconds:g} s")

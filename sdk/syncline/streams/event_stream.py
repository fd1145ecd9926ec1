"""What the application holds of an event subscription: an iterator that blocks, and a context manager."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.concurrency.workers import join, spawn
from syncline.errors import ConcurrencyError, SynclineError

from .feed import Feed

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from syncline.protocol.occurrences import StreamItem, StreamState

log = logging.getLogger("syncline.events")


class Worker(Protocol):
    """Whatever fills the feed."""

    feed: Feed

    def close(self) -> None:
        """End it, and the feed with it; from any thread."""


class EventStream:
    """An event subscription that is running: items in order, until it is closed or ends.

    ::

        with client.events.stream("incident.created", {"severity": "P1"}) as stream:
            for item in stream:
                if item.kind == "event":
                    handle(item.name, item.data)
                stream.ack(item)

    Items are told apart by ``kind``: ``event`` (``name``, ``data``, ``event_id``, ``timestamp``, ``cursor``, ``meta``), ``gap``
    (something may have been missed here), ``error`` (trouble that passed), ``state`` (``state`` and ``error``). One thread
    at a time takes them; another one that tries gets ``ConcurrencyError``. Everything else is for any thread.

    A subscription that the server ends, or that cannot be had again, raises ``StreamTerminated`` once all items before that
    are taken. After ``close()``, of the stream or of its client, iteration just ends.
    """

    def __init__(self, worker: Worker) -> None:
        self.name = worker.feed.key.name
        self._worker = worker
        self._feed = worker.feed
        self._taking = new_lock()

    # Taking

    def get(self, timeout: float | None = None) -> StreamItem | None:
        """The next item; None when none came within ``timeout`` seconds (None: no limit), or the stream was closed.

        Blocks until an item, the timeout, the end, ``close()`` from another thread, or Ctrl-C. Raises ``StreamTerminated``
        at the end, ``ConcurrencyError`` while another thread is in here, ``ForkedConnection`` in a forked child.
        """
        taken: list[bool] = []
        try:
            if not take(self._taking, Deadline(0), taken):
                raise ConcurrencyError("another thread is taking from this stream").at(self._feed.key.server)
            return self._feed.take(Deadline(timeout))
        finally:
            if True in taken:
                self._taking.release()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamItem:
        item = self.get()
        if item is None:
            raise StopIteration
        return item

    def ack(self, item: StreamItem) -> None:
        """The item has been dealt with, so that it need not come again after a restart.

        What is stored is the cursor before which everything was acknowledged, in whatever order that happens. A gap counts
        as acknowledged with the first item after it that is; ``error`` and ``state`` need no acknowledgement. Returns when the
        store has it, and raises what the store raises; ``ValueError`` for an item of another stream.
        """
        self._feed.acknowledge(item)

    def run_in_thread(
        self, handle: Callable[[StreamItem], object], on_error: Callable[[Exception], object] | None = None
    ) -> StreamThread:
        """Give each item to ``handle`` on a thread of its own, and acknowledge it when ``handle`` returns.

        What ``handle`` raises goes to ``on_error`` (by default to the log), and the thread goes on; the item stays
        unacknowledged, so that it comes again after a restart. So does ``StreamTerminated``, which ends the thread.
        """
        return StreamThread(self, handle, on_error or self._report)

    def _report(self, error: Exception) -> None:
        log.error("%s: %s: %s", self._feed.key.server, self.name, error, exc_info=error)

    # What is known, and the end

    @property
    def state(self) -> StreamState:
        """``starting``, ``active``, ``reconnecting``, and at the end ``terminated`` or ``closed``."""
        return self._feed.state

    @property
    def last_error(self) -> SynclineError | None:
        """What went wrong last, None if nothing has."""
        return self._feed.last_error

    @property
    def cursor(self) -> str | None:
        """Where another stream would have to start so that nothing unacknowledged is missed; None if that is unknown."""
        return self._feed.committed

    def close(self) -> None:
        """End the subscription, from any thread; a thread that waits for an item is woken. Again does no harm.

        Items that were not taken are dropped, and come again where the cursor is kept. Blocks for a moment at most.
        """
        self._worker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing():  # first, and by no global name: modules may have been emptied by then
            return
        feed: Feed | None = self.__dict__.get("_feed")
        if feed is not None and not feed.finished:
            text = f"{self!r} was deleted while still open; use 'with' or close()"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)
            spawn(f"syncline:{feed.key.server}:close", self._worker.close)

    def __repr__(self) -> str:
        return f"<syncline.EventStream {self.name} at {self._feed.key.server}: {self.state}>"


class StreamThread:
    """A thread that takes from a stream; see ``EventStream.run_in_thread``."""

    def __init__(
        self, stream: EventStream, handle: Callable[[StreamItem], object], on_error: Callable[[Exception], object]
    ) -> None:
        self._stream = stream
        self._handle = handle
        self._on_error = on_error
        self._thread = spawn(f"syncline:{stream.name}:consumer", self._run)

    def stop(self) -> None:
        """Close the stream; the thread ends when the item in hand is done. Never waits for it."""
        self._stream.close()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the thread has ended, for ``timeout`` seconds at most (None: no limit); whether it has."""
        return not join([self._thread], Deadline(timeout))

    def _run(self) -> None:
        try:
            for item in self._stream:
                try:
                    self._handle(item)
                    self._stream.ack(item)
                except Exception as error:
                    self._on_error(error)
        except SynclineError as error:
            self._on_error(error)

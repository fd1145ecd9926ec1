"""Threads: always daemons, always named, always with an owner that joins them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .condition import Condition
from .deadline import Deadline

if TYPE_CHECKING:
    from typing import TypeAlias

    Thread: TypeAlias = threading.Thread

log = logging.getLogger("syncline.threads")


def spawn(name: str, target: Callable[[], None]) -> threading.Thread:
    """Start a daemon thread. Name it ``syncline:<server>:<role>``."""
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread


def join(threads: Iterable[threading.Thread], deadline: Deadline) -> list[str]:
    """Wait for threads until the deadline; the names of those that did not stop, which are also logged.

    The calling thread is skipped, so that a callback may close its own connection. Nothing is logged where there was no time to
    wait, as at the end of the interpreter after Ctrl-C.
    """
    late: list[str] = []
    waits = not deadline.expired
    for thread in threads:
        if thread is threading.current_thread():
            continue
        thread.join(deadline.remaining())
        if thread.is_alive():
            late.append(thread.name)
    for name in late if waits else ():
        log.warning("thread %s did not stop in time; a callback that never returns keeps it alive", name)
    return late


def among(threads: Iterable[threading.Thread]) -> bool:
    """Whether the calling thread is one of them, and so cannot wait for them."""
    return threading.current_thread() in threads


class Lane:
    """One ordered lane of work on a thread of its own, started by the first piece of work.

    Holds at most ``limit`` pieces: the oldest makes room and is counted in ``dropped``, so that a slow callback never
    holds up whoever brings the work. A piece of work that raises is logged; the lane goes on.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.dropped = 0
        self._limit = limit
        self._work: list[Callable[[], None]] = []  # mostly empty, and then a deque takes ten times as much
        self._changed = Condition()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def submit(self, work: Callable[[], None]) -> bool:
        """Queue a piece of work; never blocks. False if the lane has been stopped, or no thread can be started (at exit)."""
        with self._changed.lock:
            if self._stopped:
                return False
            if self._thread is None:
                try:
                    self._thread = spawn(self.name, self._run)
                except RuntimeError:
                    return False
            if len(self._work) >= self._limit:
                self._work.pop(0)
                self.dropped += 1
                if self.dropped == 1:
                    log.warning("%s: a slow callback; the oldest pieces of work are being dropped", self.name)
            self._work.append(work)
            self._changed.tell()
        return True

    def stop(self, deadline: Deadline) -> list[str]:
        """Take no more work, finish what is queued until the deadline, end the thread; the name of a thread that stays."""
        with self._changed.lock:
            self._stopped = True
            self._changed.tell()
            thread = self._thread
        late = join([thread], deadline) if thread is not None else []
        if late:
            with self._changed.lock:
                self._work.clear()
        return late

    def _run(self) -> None:
        forever = Deadline(None)
        while (found := self._changed.wait(self._next, forever)) and (work := found[0]):
            try:
                work()
            except Exception:
                log.exception("%s: a callback failed", self.name)

    def _next(self) -> tuple[Callable[[], None] | None] | tuple[()]:
        """The next piece of work, None for the end; empty while there is neither. Requires the lock."""
        if self._work:
            return (self._work.pop(0),)
        return (None,) if self._stopped else ()


class Pool:
    """Up to ``size`` threads for work that may block on each other, each started by the first piece of work it is needed for.

    What is submitted while all are busy waits for its turn; nothing is dropped.
    """

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self._size = size
        self._work: list[Callable[[], None]] = []  # mostly empty, and then a deque takes ten times as much
        self._changed = Condition()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._stopped = False

    def submit(self, work: Callable[[], None]) -> bool:
        """Queue a piece of work; never blocks. False if the pool has been stopped."""
        with self._changed.lock:
            if self._stopped:
                return False
            self._work.append(work)
            if self._idle >= len(self._work):
                self._changed.tell()
            elif len(self._threads) < self._size:
                self._threads.append(spawn(f"{self.name}-{len(self._threads) + 1}", self._run))
        return True

    def stop(self, deadline: Deadline) -> list[str]:
        """Take no more work, drop what has not begun, end the threads; the names of those that stay."""
        with self._changed.lock:
            self._stopped = True
            self._work.clear()
            self._changed.tell()
            threads = list(self._threads)
        return join(threads, deadline)

    def _run(self) -> None:
        forever = Deadline(None)
        while True:
            with self._changed.lock:
                self._idle += 1
            found = self._changed.wait(self._next, forever)
            if not found or (work := found[0]) is None:
                return
            try:
                work()
            except Exception:
                log.exception("%s: a piece of work failed", self.name)

    def _next(self) -> tuple[Callable[[], None] | None] | tuple[()]:
        """The next piece of work, None for the end; empty while there is neither. Requires the lock."""
        if self._work:
            self._idle -= 1
            return (self._work.pop(0),)
        return (None,) if self._stopped else ()

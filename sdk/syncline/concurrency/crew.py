"""A crew: threads for a burst of work that may block, gone when it is done."""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable

from .deadline import Deadline
from .locks import new_lock
from .workers import join, spawn

log = logging.getLogger("syncline.threads")


class Crew:
    """Up to ``size`` threads for pieces of work, each thread started when it is needed; it ends when nothing is left to do.

    What is submitted while all are busy waits for its turn. A piece of work that raises is logged.
    """

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self._size = size
        self._work: collections.deque[Callable[[], None]] = collections.deque()
        self._lock = new_lock()
        self._threads: set[threading.Thread] = set()
        self._numbers = 0
        self._stopped = False

    @property
    def threads(self) -> int:
        """How many threads there are now."""
        return len(self._threads)

    def submit(self, work: Callable[[], None]) -> bool:
        """Queue a piece of work; never blocks. False if it will not be done: stopped, or no thread can be started (at exit)."""
        with self._lock:
            if self._stopped:
                return False
            self._work.append(work)
            if len(self._threads) < self._size:
                self._numbers += 1
                try:
                    self._threads.add(spawn(f"{self.name}-{self._numbers}", self._run))
                except RuntimeError:
                    if not self._threads:
                        self._work.remove(work)
                        return False
        return True

    def stop(self, deadline: Deadline) -> list[str]:
        """Take no more work, drop what has not begun, wait for the rest; the names of the threads that stay."""
        with self._lock:
            self._stopped = True
            self._work.clear()
        return self.join(deadline)

    def join(self, deadline: Deadline) -> list[str]:
        """Wait until nothing is left to do; the names of the threads that are not done."""
        with self._lock:
            threads = list(self._threads)
        return join(threads, deadline)

    def _run(self) -> None:
        while True:
            with self._lock:  # submit() holds it until this thread is in the set
                if not self._work:
                    self._threads.discard(threading.current_thread())
                    return
                work = self._work.popleft()
            try:
                work()
            except Exception:
                log.exception("%s: a piece of work failed", self.name)

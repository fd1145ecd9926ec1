"""Work at its time: one thread that watches the clock, and a few that do the work."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

from syncline.errors import ConnectionClosed

from .cancel import CancelToken
from .deadline import NAP, Deadline
from .workers import Pool, join, spawn

#: Seconds for work that is under way when it is over.
ENDING = 0.5


class Schedule:
    """Any number of pieces of work, each of which may ask for its next turn when it is done.

    The threads start with the first piece of work and end with ``stop()``, or when ``over`` is.

    Args:
        name: What the thread that watches the clock is called; the others get a number after it.
        size: How many threads do the work.
        over: Nothing is begun any more once this is over.
        on_over: Called then, on the thread that watches the clock.
    """

    def __init__(self, name: str, size: int, over: CancelToken, on_over: Callable[[], None]) -> None:
        self._over = over
        self._on_over = on_over
        self._pool = Pool(name, size)
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._changed = threading.Condition(threading.Lock())
        self._clock = spawn(name, self._run)

    @property
    def ended(self) -> bool:
        """Whether nothing is begun any more."""
        return self._over.cancelled

    def after(self, seconds: float, work: Callable[[], None]) -> None:
        """Do something so many seconds from now; never blocks. It is dropped if that is over by then."""
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), work))
            self._changed.notify()

    def stop(self, deadline: Deadline) -> list[str]:
        """Drop what has not begun, and end the threads; the names of those that stay."""
        self._over.cancel(ConnectionClosed("polling has been stopped"))
        with self._changed:
            self._changed.notify()
        return join([self._clock], deadline)

    def _run(self) -> None:
        while not self._over.cancelled:
            with self._changed:
                now = time.monotonic()
                while self._due and self._due[0][0] <= now:
                    self._pool.submit(heapq.heappop(self._due)[2])
                self._changed.wait(min(NAP, self._due[0][0] - now) if self._due else NAP)
        self._on_over()
        self._pool.stop(Deadline(ENDING))

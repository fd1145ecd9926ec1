"""Work at its time: one thread that watches the clock, and a few that do the work."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from functools import partial
from itertools import count

from .condition import Condition
from .deadline import NAP, Deadline
from .workers import Pool, join, spawn

#: Seconds for work that is under way when it is over.
ENDING = 0.5


class Schedule:
    """Any number of pieces of work, each of which may ask for its next turn when it is done.

    The threads start with the first piece of work, and end with ``stop()`` or when it is ``over``.

    Args:
        name: What the thread that watches the clock is called; the others get a number after it.
        size: How many threads do the work.
        over: Whether nothing is to be begun any more; asked twice a second.
        on_over: Called then, on the thread that watches the clock.
    """

    def __init__(self, name: str, size: int, over: Callable[[], bool], on_over: Callable[[], None]) -> None:
        self._over = over
        self._on_over = on_over
        self._stopped = False
        self._pool = Pool(name, size)
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._changed = Condition()
        self._clock = spawn(name, self._run)

    def after(self, seconds: float, work: Callable[[], None]) -> None:
        """Do something so many seconds from now; never blocks. It is dropped if that is over by then."""
        with self._changed.lock:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), work))
            self._changed.tell()

    def stop(self, deadline: Deadline) -> list[str]:
        """Drop what has not begun, and end the threads; the names of those that stay."""
        with self._changed.lock:
            self._stopped = True
            self._changed.tell()
        return join([self._clock], deadline)

    def _run(self) -> None:
        while not self._over() and (due := self._begin()) is not None:
            pause = Deadline(min(NAP, max(0.0, due - time.monotonic())))
            self._changed.wait(partial(self._before, due), pause)
        self._on_over()
        self._pool.stop(Deadline(ENDING))

    def _begin(self) -> float | None:
        """Hand over what is due; when the next is, None when it has been stopped."""
        with self._changed.lock:
            if self._stopped:
                return None
            while self._next() <= time.monotonic():
                self._pool.submit(heapq.heappop(self._due)[2])
            return self._next()

    def _before(self, due: float) -> bool:
        """Whether there is something to do before that. Requires the lock."""
        return self._stopped or self._next() < due

    def _next(self) -> float:
        """When the next piece of work is due. Requires the lock."""
        return self._due[0][0] if self._due else math.inf

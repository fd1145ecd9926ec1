"""State that several threads change, and wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .condition import Condition
from .deadline import Deadline

Value = TypeVar("Value")


class Monitor:
    """A lock (``with monitor:`` around each change) that tells those who wait that something may have changed.

    An exception from a signal handler leaves it free, at whatever moment it comes: it is taken in one step, and given back by C
    code alone.
    """

    def __init__(self) -> None:
        self._changed = Condition()

    def __enter__(self) -> None:
        taken: list[bool] = []
        try:
            taken.extend(map(self._changed.lock.acquire, (True,)))  # one step of the interpreter; see ``locks.take``
            self._changed.tell()  # they look once the lock is free again, and so at what has been changed by then
        except BaseException:
            if taken:
                self._changed.lock.release()
            raise

    @property
    def __exit__(self) -> Callable[..., None]:
        return self._changed.lock.__exit__

    def wait(self, ready: Callable[[], Value], deadline: Deadline) -> Value:
        """The first true value of ``ready()``, or its last one at the deadline. Blocks until either; Ctrl-C interrupts it.

        ``ready`` is called with the lock held, after each change and twice a second.
        """
        return self._changed.wait(ready, deadline)

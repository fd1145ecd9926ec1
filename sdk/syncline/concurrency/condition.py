"""Waiting for a change, in a way that Ctrl-C leaves whole at any moment."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Callable
from typing import TypeVar

from .deadline import Deadline
from .locks import new_lock

Value = TypeVar("Value")


class Condition:
    """A lock, ``with condition.lock:`` around each look and change, and those who wait for what it guards.

    Not ``threading.Condition``: an exception from a signal handler can leave that one's lock taken for ever, since it takes it
    in Python code and holds it at both ends of a wait. Here nothing is held during a wait, and only C code takes the lock.
    """

    def __init__(self) -> None:
        self.lock = new_lock()
        self._waiting: dict[queue.SimpleQueue[None], None] = {}

    def tell(self) -> None:
        """Let all who wait look again. Requires the lock; never blocks."""
        for bell in self._waiting:
            bell.put(None)
        self._waiting.clear()

    def wait(self, ready: Callable[[], Value], deadline: Deadline) -> Value:
        """The first true value of ``ready()``, or its last one at the deadline. Blocks until either; Ctrl-C interrupts it.

        ``ready`` is called with the lock held, after each ``tell()`` and twice a second.
        """
        bell: queue.SimpleQueue[None] = queue.SimpleQueue()
        try:
            while True:
                with self.lock:
                    if (value := ready()) or deadline.expired:
                        return value
                    self._waiting[bell] = None
                with contextlib.suppress(queue.Empty):
                    bell.get(timeout=deadline.nap())
        finally:
            with self.lock:
                self._waiting.pop(bell, None)

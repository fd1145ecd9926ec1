"""Items on their way from one thread to another, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from .condition import Condition
from .deadline import Deadline

Item = TypeVar("Item")


class Mailbox(Generic[Item]):
    """Items in order, each with a weight. It never refuses an item: who puts them asks for room first.

    Args:
        most: How many items may wait.
        weight: How much all that wait may weigh together.
    """

    def __init__(self, most: int, weight: int) -> None:
        self._most = most
        self._limit = weight
        self._items: deque[tuple[Item, int]] = deque()
        self._weight = 0
        self._ended = False
        self._closed = False
        self._changed = Condition()

    @property
    def weight(self) -> int:
        """How much all that waits weighs together."""
        return self._weight

    @property
    def full(self) -> bool:
        """Whether there is no room: a limit has been reached."""
        return len(self._items) >= self._most or self._weight >= self._limit

    @property
    def ended(self) -> bool:
        """Whether nothing more will be taken from it."""
        return self._closed or (self._ended and not self._items)

    def put(self, item: Item, weight: int = 0) -> None:
        """Add an item; nothing once it has ended. Never blocks."""
        with self._changed.lock:
            if not (self._ended or self._closed):
                self._items.append((item, weight))
                self._weight += weight
                self._changed.tell()

    def wait_for_room(self, over: Callable[[], bool]) -> bool:
        """Block until there is room, it ends, or it is ``over``, which is asked twice a second; whether there is room."""
        self._changed.wait(lambda: self._ended or self._closed or over() or not self.full, Deadline(None))
        return not (self._ended or self._closed or over())

    def take(self, deadline: Deadline) -> Item | None:
        """The next item; None at the deadline or once it has ended. Blocks until one of them; Ctrl-C interrupts it."""
        found = self._changed.wait(self._next, deadline)
        return found[0] if found else None

    def end(self) -> None:
        """Nothing more will come; what is there can still be taken."""
        with self._changed.lock:
            self._ended = True
            self._changed.tell()

    def close(self) -> None:
        """Nothing more will be taken."""
        with self._changed.lock:
            self._closed = True
            self._items.clear()
            self._weight = 0
            self._changed.tell()

    def _next(self) -> tuple[Item | None] | tuple[()]:
        """The next item, None for the end; empty while there is neither. Requires the lock."""
        if not self._items:
            return (None,) if self._ended or self._closed else ()
        item, weight = self._items.popleft()
        self._weight -= weight
        self._changed.tell()
        return (item,)

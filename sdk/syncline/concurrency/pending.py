"""What waits to be taken, each thing once."""

from __future__ import annotations

from typing import Generic, TypeVar

from .condition import Condition
from .deadline import Deadline

Item = TypeVar("Item")


class Pending(Generic[Item]):
    """Items in order, in which one that waits already is not added again: for news, not for counting.

    So it holds no more than there are different items, however little is taken.
    """

    def __init__(self) -> None:
        self._items: dict[Item, None] = {}
        self._ended = False
        self._changed = Condition()

    def put(self, item: Item) -> None:
        """Add an item, unless it waits already; never blocks."""
        with self._changed.lock:
            if not self._ended:
                self._items[item] = None
                self._changed.tell()

    def take(self, deadline: Deadline) -> Item | None:
        """The next item; None at the deadline, or when it has ended and nothing is left. Ctrl-C interrupts the wait."""
        found = self._changed.wait(self._next, deadline)
        return found[0] if found else None

    def end(self) -> None:
        """Nothing more will come; what waits can still be taken."""
        with self._changed.lock:
            self._ended = True
            self._changed.tell()

    def _next(self) -> tuple[Item | None] | tuple[()]:
        """The next item, None for the end; empty while there is neither. Requires the lock."""
        if not self._items:
            return (None,) if self._ended else ()
        item = next(iter(self._items))
        del self._items[item]
        return (item,)

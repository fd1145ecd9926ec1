"""What waits to be taken, each thing once."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

from .deadline import Deadline
from .locks import new_lock

Item = TypeVar("Item")


class Pending(Generic[Item]):
    """Items in order, in which one that waits already is not added again: for news, not for counting.

    So it holds no more than there are different items, however little is taken.
    """

    def __init__(self) -> None:
        self._items: dict[Item, None] = {}
        self._ended = False
        self._changed = threading.Condition(new_lock())

    def put(self, item: Item) -> None:
        """Add an item, unless it waits already; never blocks."""
        with self._changed:
            if not self._ended:
                self._items[item] = None
                self._changed.notify()

    def take(self, deadline: Deadline) -> Item | None:
        """The next item; None at the deadline, or when it has ended and nothing is left. Ctrl-C interrupts the wait."""
        with self._changed:
            while not self._items:
                if self._ended or deadline.expired:
                    return None
                self._changed.wait(deadline.nap())
            item = next(iter(self._items))
            del self._items[item]
            return item

    def end(self) -> None:
        """Nothing more will come; what waits can still be taken."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

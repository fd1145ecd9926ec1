"""Where one caller waits for what arrives for it."""

from __future__ import annotations

import queue
from typing import Generic, TypeVar

from .deadline import Deadline

Item = TypeVar("Item")


class ReplySlot(Generic[Item]):
    """One waiter, any number of senders; whatever comes is kept until it is taken."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: queue.SimpleQueue[Item] = queue.SimpleQueue()

    def put(self, item: Item) -> None:
        """Hand over an item; never blocks."""
        self._items.put(item)

    def take(self, deadline: Deadline) -> Item | None:
        """The next item, or None when the deadline has passed. Blocks until either; Ctrl-C interrupts it.

        The deadline may be extended while we wait, so it is looked at again before giving up.
        """
        while True:
            try:
                return self._items.get(timeout=deadline.nap())
            except queue.Empty:
                if deadline.expired:
                    return None

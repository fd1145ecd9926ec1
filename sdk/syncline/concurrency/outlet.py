"""Handing things over to somebody else: to a queue of theirs, or to a function."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from .cancel import CancelToken
    from .deadline import Deadline

Item = TypeVar("Item")
Given = TypeVar("Given", contravariant=True)

#: Seconds of a wait for room in one piece: so soon it is noticed that there is no need to wait any more.
PIECE = 0.05


class QueueLike(Protocol[Given]):
    """``queue.Queue``, and whatever is used like it: raises ``queue.Full`` when there is no room within the timeout."""

    def put(self, item: Given, block: bool = ..., timeout: float | None = ..., /) -> object:
        """Leave an item."""


class Outlet(Generic[Item]):
    """Where items go. Raises what the queue or the function raises."""

    def __init__(self, target: QueueLike[Item] | Callable[[Item], object]) -> None:
        self._target = target

    def leave(self, item: Item, deadline: Deadline, over: CancelToken) -> bool:
        """Hand an item over; False if there was no room until the deadline, or until it was over. Tries once at least.

        A function is just called, and takes as long as it takes.
        """
        target = self._target
        if callable(target):
            target(item)
            return True
        wait = 0.0
        while True:
            try:
                target.put(item, wait > 0, wait)
                return True
            except queue.Full:
                if over.cancelled or deadline.expired:
                    return False
                wait = min(PIECE, deadline.nap()) or 0.001

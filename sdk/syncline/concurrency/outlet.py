"""Handing things over to a queue that somebody else made."""

from __future__ import annotations

import queue
from typing import Protocol, TypeVar

from .cancel import CancelToken
from .deadline import Deadline

Item = TypeVar("Item", contravariant=True)

#: Seconds of a wait for room in one piece: so soon it is noticed that there is no need to wait any more.
PIECE = 0.05


class QueueLike(Protocol[Item]):
    """``queue.Queue``, and whatever is used like it: raises ``queue.Full`` when there is no room within the timeout."""

    def put(self, item: Item, block: bool = ..., timeout: float | None = ..., /) -> object:
        """Leave an item."""


def leave(target: QueueLike[Item], item: Item, deadline: Deadline, over: CancelToken) -> bool:
    """Put an item into a queue; False if there was no room until the deadline, or until it was over. Tries once at least."""
    wait = 0.0
    while True:
        try:
            target.put(item, wait > 0, wait)
            return True
        except queue.Full:
            if over.cancelled or deadline.expired:
                return False
            wait = min(PIECE, deadline.nap()) or 0.001

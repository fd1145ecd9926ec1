"""Things that wait to be used again."""

from __future__ import annotations

import queue
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Idle(Generic[Item]):
    """A pool's idle connections, the latest first: what urllib3 uses of ``queue.LifoQueue``, without a lock.

    Args:
        maxsize: How many are kept; 0 for no limit.
    """

    def __init__(self, maxsize: int) -> None:
        self._most = maxsize
        self._waiting: list[Item] = []

    def put(self, item: Item | None, block: bool = False) -> None:  # noqa: ARG002
        """Keep one; ``queue.Full`` when there are enough. None stands for one that can still be made."""
        if item is not None:
            if 0 < self._most <= len(self._waiting):
                raise queue.Full
            self._waiting.append(item)

    def get(self, block: bool = False, timeout: float | None = None) -> Item:  # noqa: ARG002
        """The latest one; ``queue.Empty`` where none waits, and one is to be made. Never blocks."""
        try:
            return self._waiting.pop()
        except IndexError:
            raise queue.Empty from None

    def qsize(self) -> int:
        """How many wait."""
        return len(self._waiting)

"""Waiting for file descriptors, and being called away from it."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    #: Waits at most so many milliseconds (None: without limit) and returns the descriptors that are ready, with their events.
    Poll: TypeAlias = Callable[[float | None], list[tuple[int, int]]]


class Wakeup:
    """A pipe that is silent until ``set()`` and readable ever after, so it ends every wait that it is part of.

    Whoever closes it sees to it that nobody sets it afterwards.
    """

    def __init__(self) -> None:
        self._ends = list(os.pipe())
        self.is_set = False

    def fileno(self) -> int:
        """The end to wait for."""
        return self._ends[0]

    def set(self) -> None:
        """End the waits, those to come too; never blocks."""
        if not self.is_set:
            self.is_set = True
            os.write(self._ends[1], b"\0")

    def close(self) -> None:
        """Close the pipe. Takes no lock, so it can be called in a forked child."""
        self.is_set = True
        while self._ends:
            os.close(self._ends.pop())


def watch(fd: int, *others: int, write: bool = False) -> Poll:
    """A wait for room (``write``) or data in ``fd``, or for data in one of the others. For one thread at a time.

    Windows cannot wait for pipes: there ``fd`` is reported at once, and the read or write that follows blocks.
    """
    if sys.platform == "win32":
        return lambda _timeout: [(fd, 0)]
    poll = select.poll()
    poll.register(fd, select.POLLOUT if write else select.POLLIN)
    for other in others:
        poll.register(other, select.POLLIN)
    return poll.poll

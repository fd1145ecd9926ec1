"""State that several threads change, and wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from .condition import Condition
from .deadline import Deadline

if TYPE_CHECKING:
    from types import TracebackType

Value = TypeVar("Value")


class Monitor:
    """A lock (``with monitor:`` around each change) whose release tells those who wait that something may have changed."""

    def __init__(self) -> None:
        self._changed = Condition()

    def __enter__(self) -> None:
        self._changed.lock.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._changed.tell()
        self._changed.lock.release()

    def wait(self, ready: Callable[[], Value], deadline: Deadline) -> Value:
        """The first true value of ``ready()``, or its last one at the deadline. Blocks until either; Ctrl-C interrupts it.

        ``ready`` is called with the lock held, after each change and twice a second.
        """
        return self._changed.wait(ready, deadline)

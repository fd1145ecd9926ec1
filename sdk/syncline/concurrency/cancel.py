"""Saying that something is over, to any number of waits."""

from __future__ import annotations

from .condition import Condition
from .deadline import Deadline


class CancelToken:
    """Says once that something is over, and why; what was derived from it with ``child()`` is over then, too."""

    def __init__(self, parent: CancelToken | None = None) -> None:
        self._parent = parent
        self._reason: BaseException | None = None
        self._changed: Condition = Condition() if parent is None else parent._changed  # one for the whole family

    @property
    def reason(self) -> BaseException | None:
        """Why it is over, as it was said first; None while it is not."""
        if self._reason is None and self._parent is not None:
            return self._parent.reason
        return self._reason

    @property
    def cancelled(self) -> bool:
        """Whether it is over."""
        return self.reason is not None

    def child(self) -> CancelToken:
        """A token that ends with this one, or by itself."""
        return CancelToken(self)

    def cancel(self, reason: BaseException) -> None:
        """It is over: ends all waits, those to come too. Never blocks; the first reason stays."""
        with self._changed.lock:
            if self.reason is None:
                self._reason = reason
                self._changed.tell()

    def wait(self, deadline: Deadline) -> bool:
        """Whether it is over. Blocks until it is, or the deadline; Ctrl-C interrupts it."""
        return self._changed.wait(lambda: self.cancelled, deadline)

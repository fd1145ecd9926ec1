"""Saying that something is over, to any number of waits."""

from __future__ import annotations

import weakref

from .condition import Condition
from .deadline import Deadline


class CancelToken:
    """Says once that something is over, and why; what was derived from it with ``child()`` is over then, too."""

    def __init__(self) -> None:
        self.reason: BaseException | None = None
        self._changed = Condition()
        self._children: weakref.WeakSet[CancelToken] = weakref.WeakSet()

    @property
    def cancelled(self) -> bool:
        """Whether it is over."""
        return self.reason is not None

    def child(self) -> CancelToken:
        """A token that ends with this one, or by itself."""
        token = CancelToken()
        with self._changed.lock:
            self._children.add(token)
            reason = self.reason
        if reason is not None:
            token.cancel(reason)
        return token

    def cancel(self, reason: BaseException) -> None:
        """It is over: ends all waits, those to come too. Never blocks; the first reason stays."""
        with self._changed.lock:
            if self.reason is not None:
                return
            self.reason = reason
            children = list(self._children)
            self._changed.tell()
        for token in children:
            token.cancel(reason)

    def wait(self, deadline: Deadline) -> bool:
        """Whether it is over. Blocks until it is, or the deadline; Ctrl-C interrupts it."""
        return self._changed.wait(lambda: self.reason is not None, deadline)

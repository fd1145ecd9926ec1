"""Saying that something is over, to any number of waits."""

from __future__ import annotations

import weakref

from .condition import Condition
from .deadline import Deadline


class CancelToken:
    """Says once that something is over, and why; what was derived from it with ``child()`` is over then, too.

    Attributes:
        reason: Why it is over, as it was said first; None while it is not.
    """

    def __init__(self, changed: Condition | None = None) -> None:
        self.reason: BaseException | None = None
        self._changed = changed or Condition()  # one for the whole family
        self._children: list[weakref.ref[CancelToken]] = []

    @property
    def cancelled(self) -> bool:
        """Whether it is over."""
        return self.reason is not None

    def child(self) -> CancelToken:
        """A token that ends with this one, or by itself."""
        token = CancelToken(self._changed)
        with self._changed.lock:
            token.reason = self.reason
            self._children = [*(one for one in self._children if one() is not None), weakref.ref(token)]
        return token

    def cancel(self, reason: BaseException) -> None:
        """It is over: ends all waits, those to come too. Never blocks; the first reason stays."""
        with self._changed.lock:
            self._end(reason)
            self._changed.tell()

    def wait(self, deadline: Deadline) -> bool:
        """Whether it is over. Blocks until it is, or the deadline; Ctrl-C interrupts it."""
        return self._changed.wait(lambda: self.cancelled, deadline)

    def _end(self, reason: BaseException) -> None:
        """Requires the lock."""
        if self.reason is None:
            for one in self._children:
                token = one()
                if token is not None:
                    token._end(reason)
            self.reason = reason  # last: after Ctrl-C in between, whoever says it again reaches all of them

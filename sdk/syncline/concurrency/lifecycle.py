"""What happens to open connections when the process forks or ends."""

from __future__ import annotations

import atexit
import logging
import os
import weakref
from typing import Protocol

from .deadline import Deadline
from .locks import free_all

#: Seconds that all connections together may take to close when the interpreter exits.
EXIT_BUDGET = 2.0

log = logging.getLogger("syncline.threads")


class Owned(Protocol):
    """Something that owns threads, processes or sockets."""

    def close(self, timeout: float | None = None) -> None:
        """Give everything back within so many seconds; safe to call again and from any thread."""

    def forked(self) -> None:
        """We are in a forked child: refuse all use, and touch nothing that the parent still owns."""


_open: weakref.WeakSet[Owned] = weakref.WeakSet()


def opened(owner: Owned) -> None:
    """Remember a connection, to close it at exit and to disown it after a fork."""
    _open.add(owner)


def closed(owner: Owned) -> None:
    """Forget it."""
    _open.discard(owner)


def _close_all() -> None:
    deadline = Deadline(EXIT_BUDGET)
    owners = list(_open)
    while owners:
        try:
            owners[-1].close(deadline.remaining())
        except KeyboardInterrupt:  # all that it can mean now is to hurry; no server is to stay behind
            deadline = Deadline(0)
            continue
        except Exception:
            log.exception("%r could not be closed at exit", owners[-1])
        owners.pop()


def _disown_all() -> None:
    free_all()
    for owner in list(_open):
        owner.forked()
    _open.clear()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)

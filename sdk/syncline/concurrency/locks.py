"""Locks. Made here, so that every lock in syncline can be found."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from .deadline import Deadline
from .slot import FOREVER

if TYPE_CHECKING:
    from typing import TypeAlias

    Lock: TypeAlias = threading.Lock


def new_lock() -> Lock:
    """A plain lock. Held for state changes only, never across I/O, callbacks or waits; the exceptions go through ``take``."""
    return threading.Lock()


def take(lock: Lock, deadline: Deadline) -> bool:
    """Take a lock that is held across I/O; False when the deadline passes first. Ctrl-C interrupts the wait."""
    left = deadline.remaining()
    return lock.acquire(timeout=FOREVER if left is None else left)

"""Locks. Made here, so that every lock in syncline can be found."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    Lock: TypeAlias = threading.Lock


def new_lock() -> Lock:
    """A plain lock, for state changes only: never held across I/O, callbacks or waits."""
    return threading.Lock()

"""Locks. Made or adopted here, so that each of them can be found: a forked child needs them all."""

from __future__ import annotations

import threading
import time
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from .deadline import Deadline

    Lock: TypeAlias = threading.Lock
    AnyLock: TypeAlias = threading.Lock | threading.RLock

#: Seconds between two looks at a lock that must not be waited for.
LOOK = 0.01

_known: weakref.WeakSet[AnyLock] = weakref.WeakSet()


def new_lock() -> Lock:
    """A plain lock. Held for state changes only, never across I/O, callbacks or waits; the exceptions go through ``take``.

    In a forked child it is free: the thread that held it does not exist there, and would never release it.
    """
    lock = threading.Lock()
    adopt(lock)
    return lock


def adopt(lock: AnyLock) -> None:
    """A lock that a library made and that a forked child comes across: it is free there, too."""
    _known.add(lock)


def free_all() -> None:
    """In a forked child: no lock is taken."""
    for lock in list(_known):
        lock._at_fork_reinit()  # type: ignore[union-attr]  # as the standard library does with its own


def take(lock: Lock, deadline: Deadline, taken: list[bool]) -> bool:
    """Take a lock that is held across I/O; False when the deadline passes first. Ctrl-C interrupts the wait.

    The outcome is also added to ``taken``, in the same step of the interpreter: begin the ``try`` before this call and release
    in its ``finally`` if ``True in taken``, and not even Ctrl-C at the worst moment leaves the lock taken for ever. Python 3.10
    has one worse moment, for every ``with lock`` too: just as another exception reaches the ``finally``.
    """
    # A wait for a lock from before gevent patched the process would stop all greenlets, and so the one that holds it.
    ours = type(lock) is type(threading.Lock())
    while True:
        taken.extend(map(lock.acquire, (ours,), (deadline.nap() if ours else -1,)))
        if taken[-1] or deadline.expired:
            return taken[-1]
        if not ours:
            time.sleep(LOOK)

"""A lock between processes, which ends with the one that holds it."""

from __future__ import annotations

import os
import sys
import time

from . import lifecycle
from .deadline import Deadline
from .locks import LOOK

if sys.platform == "win32":
    import msvcrt

    def _try(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _free(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    # Not lockf(): its locks do not exclude threads, and end when any descriptor of the file is closed.
    def _try(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _free(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """An advisory lock on an open file, among processes and among threads. It ends with its process, however that ends.

    Nobody deletes the file: a deleted one could be locked a second time under the same name.

    Args:
        descriptor: The file, open for writing. It is closed by ``release()``.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor
        self._held = False
        lifecycle.opened(self)

    def take(self, deadline: Deadline) -> bool:
        """Take the lock; False when the deadline passes first. Tries once at least; Ctrl-C interrupts the wait.

        Raises ``OSError`` where the file system has no locks.
        """
        assert self._descriptor is not None
        while not (held := _try(self._descriptor)):
            if deadline.expired:
                return False
            time.sleep(LOOK)
        self._held = held
        return True

    def release(self) -> None:
        """Give it back, if it is held, and close the file; safe to call again."""
        descriptor, self._descriptor = self._descriptor, None
        lifecycle.closed(self)
        if descriptor is None:
            return
        try:
            if self._held:
                _free(descriptor)  # closing would not be enough while a forked child has the file open
        finally:
            os.close(descriptor)

    def close(self, timeout: float | None = None) -> None:
        """At exit: nothing, since what it guards may still be under way."""

    def forked(self) -> None:
        """We are in a forked child: the lock is the parent's, and is not to outlive it here."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

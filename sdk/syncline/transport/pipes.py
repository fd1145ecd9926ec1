"""Bytes through non-blocking pipes: whole lines out, whatever comes in. Knows nothing of processes."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.concurrency.wakeup import Wakeup, watch

#: Bytes of one read while much comes, and otherwise: Python sets aside the whole size each time, which is slow if large.
READ_BYTES = 1 << 18
SMALL_READ = 1 << 13
#: Bytes that a pipe is made to hold where that can be set (Linux); long messages then take far fewer reads.
PIPE_BYTES = 1 << 20


class PipeWriter:
    """Lines into a pipe, from any thread, each whole before the next begins.

    Args:
        fd: The writing end, non-blocking.
        closing: Ends every write under way and refuses those to come.
    """

    def __init__(self, fd: int, closing: Wakeup) -> None:
        self._fd = fd
        self._closing = closing
        self._turn = new_lock()
        self._line = b""
        self._written: list[int] = []

    def write(self, line: bytes, deadline: Deadline) -> bool:
        """Write one line, LF included; False if ``closing`` came first. Blocks while others write and while nobody reads.

        Raises ``TimeoutError`` at the deadline, ``BrokenPipeError`` if the other end is closed. A line that was written in
        part by then is completed by the next write, before its own, so the stream stays whole; a line of which nothing was
        written is dropped.
        """
        taken: list[bool] = []
        try:
            if not take(self._turn, deadline, taken):
                raise TimeoutError
            if self._line and not self._flush(deadline):
                return False
            self._line = line
            return self._flush(deadline)
        finally:
            if True in taken:
                if not self._written:
                    self._line = b""
                self._turn.release()

    def _flush(self, deadline: Deadline) -> bool:
        while rest := memoryview(self._line)[sum(self._written) :]:
            if self._closing.is_set:
                return False
            try:
                # Written and counted in one call into C, so that Ctrl-C cannot come between the two.
                self._written.extend(map(os.write, (self._fd,), (rest,)))
            except BlockingIOError:
                self._wait(deadline)
        self._line, self._written = b"", []
        return True

    def _wait(self, deadline: Deadline) -> None:
        if deadline.expired:
            raise TimeoutError
        watch(self._fd, self._closing.fileno(), write=True)(math.ceil(deadline.nap() * 1000))

    def settle(self, deadline: Deadline) -> bool:
        """After ``closing`` was set: wait until nobody writes, which then stays so."""
        taken: list[bool] = []
        try:
            return take(self._turn, deadline, taken)
        finally:
            if True in taken:
                self._turn.release()


def pump(
    fd: int,
    handle: Callable[[bytes], bool],
    *wakers: int,
    ended: Callable[[], bool],
    timeout_ms: int | None = None,
) -> None:
    """Hand over what comes out of a pipe until it ends or ``handle`` returns False.

    When one of ``wakers`` becomes readable, or nothing came for ``timeout_ms``, ``ended`` is asked; if it says so, what the
    pipe still holds is handed over, and no more than that, because a writer that stayed behind may never stop.
    """
    poll = watch(fd, *wakers)
    size = SMALL_READ
    pid = os.getpid()
    while True:
        ready = poll(timeout_ms)
        if os.getpid() != pid:
            return  # gevent takes its threads along into a forked child, where the descriptor may be another pipe by now
        if len(ready) == 1 and ready[0][0] == fd:
            data = os.read(fd, size)
            if not data or not handle(data):
                return
            size = READ_BYTES if len(data) >= SMALL_READ else SMALL_READ
        elif ended():
            break
    left = PIPE_BYTES
    while left > 0:
        try:
            data = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        if not data or not handle(data):
            return
        left -= len(data)

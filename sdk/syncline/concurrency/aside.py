"""Calls into what may never answer, on a thread that nobody waits for longer than agreed."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from .crew import Crew
from .deadline import Deadline
from .locks import new_lock
from .slot import ReplySlot

Result = TypeVar("Result")


class Aside:
    """One thread for one call at a time, for libraries that block, prompt, or must not be entered twice.

    A call that does not return keeps the thread. Those who wait behind it give up at their own deadlines, and what nobody waits
    for any more is not begun. The thread is there while there is work.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = new_lock()
        self._pid = os.getpid()
        self._crew = Crew(name, 1)
        self._running: Deadline | None = None

    def run(self, work: Callable[[], Result], deadline: Deadline) -> Result:
        """What a call returns, or raises; ``TimeoutError`` when the deadline passes first, and then the call may go on.

        Raised at once where a call before it is overdue. Ctrl-C interrupts the wait, and not the call.
        """
        with self._lock:
            if self._pid != os.getpid():  # the parent's thread is not here
                self._pid, self._crew, self._running = os.getpid(), Crew(self._name, 1), None
            crew, running = self._crew, self._running
        if running is not None and running.expired:
            raise TimeoutError(f"{self._name}: an earlier call has not returned")
        results: list[Result] = []
        slot: ReplySlot[BaseException | bool] = ReplySlot()

        def piece() -> None:
            if deadline.expired:
                return
            self._running = deadline
            try:
                results.append(work())
                slot.put(True)
            except BaseException as error:
                slot.put(error)
            finally:
                self._running = None

        if not crew.submit(piece):
            raise TimeoutError(f"{self._name}: no thread can be started any more")
        done = slot.take(deadline)
        if done is None:
            raise TimeoutError(f"{self._name}: no answer in time")
        if isinstance(done, BaseException):
            raise done
        return results[0]

"""State that several threads change: told, and interrupted at any moment."""

from __future__ import annotations

import gc
import signal
import sys
import threading

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from tests.fixtures.partner import Background


def test_a_change_is_seen_by_those_who_wait_and_not_before_it_is_complete() -> None:
    monitor, state, seen = Monitor(), [0], list[int]()

    def ready() -> bool:
        seen.append(state[0])
        return state[0] == 2

    waiting = Background(lambda: monitor.wait(ready, Deadline(None)))
    while not monitor._changed._waiting:
        threading.Event().wait(0.01)
    with monitor:
        state[0] = 1
        threading.Event().wait(0.01)  # time to look too early
        state[0] = 2
    assert waiting.result()
    assert 1 not in seen


def test_an_error_within_leaves_it_free() -> None:
    monitor = Monitor()
    with pytest.raises(ZeroDivisionError), monitor:
        raise ZeroDivisionError
    with monitor:
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="no timer signals")
def test_interrupts_at_any_moment_leave_it_free() -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    def use(monitor: Monitor, seconds: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, seconds, 5)
        while True:
            with monitor:
                pass

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # what is raised in a callback of the collector is lost, and there are some
    try:
        for turn in range(500):
            monitor = Monitor()
            with pytest.raises(Interrupted):
                use(monitor, 0.0001 + (turn % 50) / 1_000_000)
            assert not monitor._changed.lock.locked()
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

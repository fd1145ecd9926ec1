"""Waiting for a change: told, timed out, interrupted at any moment."""

from __future__ import annotations

import gc
import signal
import sys
import threading

import pytest

from syncline.concurrency.condition import Condition
from syncline.concurrency.deadline import Deadline
from tests.fixtures.partner import Background

SOON = 20.0


def test_a_change_ends_the_wait_and_a_deadline_too() -> None:
    changed, found = Condition(), list[int]()
    assert changed.wait(lambda: found, Deadline(0)) == []
    waiting = Background(lambda: changed.wait(lambda: list(found), Deadline(SOON)))
    while not changed._waiting:
        threading.Event().wait(0.01)
    with changed.lock:
        found.append(1)
        changed.tell()
    assert waiting.result() == [1]
    assert not changed._waiting


def test_a_change_that_is_not_told_is_seen_all_the_same() -> None:
    looks = iter([False, True])
    assert Condition().wait(lambda: next(looks), Deadline(SOON))


@pytest.mark.skipif(sys.platform == "win32", reason="no timer signals")
def test_interrupts_at_any_moment_leave_the_lock_free() -> None:
    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        if waiting:
            raise Interrupted

    changed, waiting, interrupted = Condition(), False, 0
    done = threading.Event()

    def tell() -> None:
        while not done.wait(0.0002):
            with changed.lock:
                changed.tell()

    teller = threading.Thread(target=tell)
    teller.start()
    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # what is raised in a callback of the collector is lost, and there are some
    try:
        for turn in range(500):
            try:
                waiting = True
                signal.setitimer(signal.ITIMER_REAL, 0.0001 + (turn % 50) / 100_000)
                changed.wait(lambda: False, Deadline(SOON))
            except Interrupted:
                interrupted += 1
            waiting = False
            assert changed.lock.acquire(timeout=SOON)
            changed.lock.release()
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        done.set()
        teller.join()
    assert interrupted == 500

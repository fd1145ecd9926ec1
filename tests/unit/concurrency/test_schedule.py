"""Work at its time."""

from __future__ import annotations

import queue
import threading

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.schedule import Schedule
from tests.fixtures.partner import SOON


def test_work_is_done_in_the_order_of_its_time() -> None:
    done: queue.SimpleQueue[str] = queue.SimpleQueue()
    schedule = Schedule("syncline:test:clock", 1, lambda: False, lambda: None)
    schedule.after(0.2, lambda: done.put("late"))
    schedule.after(0.0, lambda: done.put("early"))
    assert [done.get(timeout=SOON), done.get(timeout=SOON)] == ["early", "late"]
    assert schedule.stop(Deadline(SOON)) == []


def test_work_that_blocks_holds_up_only_its_own_thread() -> None:
    gate, done = threading.Event(), threading.Event()
    schedule = Schedule("syncline:test:clock", 2, lambda: False, lambda: None)

    def block() -> None:
        gate.wait(SOON)

    schedule.after(0, block)
    schedule.after(0, done.set)
    assert done.wait(SOON)
    gate.set()
    assert schedule.stop(Deadline(SOON)) == []


def test_what_has_not_begun_when_it_is_over_is_dropped() -> None:
    over, told, begun = threading.Event(), threading.Event(), threading.Event()
    schedule = Schedule("syncline:test:clock", 1, over.is_set, told.set)
    schedule.after(3600, begun.set)
    over.set()
    assert told.wait(SOON)
    assert schedule.stop(Deadline(SOON)) == []
    assert not begun.is_set()

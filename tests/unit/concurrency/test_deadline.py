"""Deadlines that several threads push back, pause and resume."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from syncline.concurrency.deadline import Deadline

SOON = 20.0


class Clock:
    """Shows what it is told to; one thread can be stopped in the middle of looking at it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stopped: threading.Thread | None = None
        self.reached, self.gate = threading.Event(), threading.Event()

    def __call__(self) -> float:
        if threading.current_thread() is self.stopped:
            self.reached.set()
            assert self.gate.wait(SOON)
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


@pytest.mark.parametrize("first", [Deadline.resume, Deadline.extend], ids=["resume", "extend"])
def test_a_pause_that_begins_while_the_clock_is_set(clock: Clock, first: Callable[[Deadline], None]) -> None:
    """A handler thread is done, or progress comes, at the moment when a login begins to wait for a person."""
    deadline = Deadline(10, total=1000)
    if first is Deadline.resume:
        deadline.pause()
    paused = threading.Event()

    def pause() -> None:
        deadline.pause()
        paused.set()

    setting = threading.Thread(target=first, args=(deadline,))
    pausing = threading.Thread(target=pause)
    clock.stopped = setting
    setting.start()
    assert clock.reached.wait(SOON)
    pausing.start()
    if first is Deadline.resume:
        assert not paused.wait(0.05), "neither can be in the middle of the other"
    else:
        assert paused.wait(SOON), "news of a stream wait for nobody"
    clock.gate.set()
    for thread in (setting, pausing):
        thread.join(SOON)
    clock.now = 500.0
    assert deadline.remaining() == 500.0, "only the total goes on"
    deadline.resume()
    assert deadline.remaining() == 10.0


def test_pauses_within_pauses(clock: Clock) -> None:
    deadline = Deadline(10)
    clock.now = 4.0
    deadline.pause()
    deadline.pause()
    clock.now = 100.0
    deadline.resume()
    assert deadline.remaining() is None
    deadline.resume()
    assert deadline.remaining() == 6.0


def test_the_total_goes_on_during_a_pause(clock: Clock) -> None:
    deadline = Deadline(10, total=30)
    deadline.pause()
    deadline.extend()
    clock.now = 25.0
    deadline.resume()
    assert deadline.remaining() == 5.0

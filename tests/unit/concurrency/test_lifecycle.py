"""The end of the interpreter, and of threads."""

from __future__ import annotations

import threading
import weakref

import pytest

from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.workers import join, spawn


class Owner:
    """Each close but the last is interrupted."""

    def __init__(self, interrupts: int) -> None:
        self.interrupts = interrupts
        self.timeouts: list[float | None] = []

    def close(self, timeout: float | None = None) -> None:
        self.timeouts.append(timeout)
        if len(self.timeouts) <= self.interrupts:
            raise KeyboardInterrupt

    def forked(self) -> None:
        raise AssertionError


def test_ctrl_c_hurries_the_end_however_often_it_is_pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    owners = [Owner(3), Owner(2), Owner(0)]
    monkeypatch.setattr(lifecycle, "_open", weakref.WeakSet(owners))
    lifecycle._close_all()
    assert [len(owner.timeouts) for owner in owners] == [4, 3, 1]
    assert all(owner.timeouts[1:] == [0] * owner.interrupts for owner in owners)


def test_a_thread_is_late_only_where_somebody_waited(caplog: pytest.LogCaptureFixture) -> None:
    go = threading.Event()

    def wait() -> None:
        go.wait()

    thread = spawn("syncline:test:slow", wait)
    assert join([thread], Deadline(0)) == ["syncline:test:slow"]
    assert caplog.text == ""
    assert join([thread], Deadline(0.01)) == ["syncline:test:slow"]
    assert "syncline:test:slow did not stop in time" in caplog.text
    go.set()
    assert join([thread], Deadline(None)) == []

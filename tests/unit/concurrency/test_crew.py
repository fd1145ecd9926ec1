"""Threads for a burst of work."""

from __future__ import annotations

import logging
import queue
import threading

import pytest

from syncline.concurrency.crew import Crew
from syncline.concurrency.deadline import Deadline
from tests.fixtures.partner import SOON


def test_it_is_gone_when_nothing_is_left_to_do() -> None:
    done: queue.SimpleQueue[str] = queue.SimpleQueue()
    crew = Crew("syncline:test:crew", 3)
    for _ in range(20):
        assert crew.submit(lambda: done.put(threading.current_thread().name))
    names = {done.get(timeout=SOON) for _ in range(20)}
    assert all(name.startswith("syncline:test:crew-") for name in names)
    assert crew.join(Deadline(SOON)) == []
    assert crew.threads == 0


def test_no_more_threads_than_its_size() -> None:
    gate, busy, crew = threading.Event(), threading.Semaphore(0), Crew("syncline:test:crew", 2)

    def block() -> None:
        busy.release()
        gate.wait(SOON)

    for _ in range(5):
        crew.submit(block)
    assert busy.acquire(timeout=SOON)
    assert busy.acquire(timeout=SOON)
    assert (crew.threads, busy.acquire(blocking=False)) == (2, False)
    gate.set()
    assert crew.join(Deadline(SOON)) == []
    assert all(busy.acquire(blocking=False) for _ in range(3))


def test_stopping_drops_what_has_not_begun() -> None:
    gate, busy, done = threading.Event(), threading.Event(), threading.Event()
    crew = Crew("syncline:test:crew", 1)

    def block() -> None:
        busy.set()
        gate.wait(SOON)

    crew.submit(block)
    assert busy.wait(SOON)
    crew.submit(done.set)
    assert crew.stop(Deadline(0)) == ["syncline:test:crew-1"]
    assert not crew.submit(done.set)
    gate.set()
    assert crew.stop(Deadline(SOON)) == []
    assert not done.is_set()


def test_work_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    crew, done = Crew("syncline:test:crew", 1), threading.Event()

    def fail() -> None:
        raise RuntimeError("no")

    with caplog.at_level(logging.ERROR):
        crew.submit(fail)
        crew.submit(done.set)
        assert done.wait(SOON)
    assert "a piece of work failed" in caplog.text
    assert crew.join(Deadline(SOON)) == []


def test_where_no_thread_can_be_started_nothing_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the exit of an interpreter."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    crew = Crew("syncline:test:crew", 2)
    assert not crew.submit(lambda: None)
    assert crew.stop(Deadline(0)) == []

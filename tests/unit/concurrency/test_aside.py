"""Calls that may never return."""

from __future__ import annotations

import os
import threading

import pytest

from syncline.concurrency.aside import Aside
from syncline.concurrency.deadline import Deadline


def test_what_the_call_returns_or_raises_comes_back() -> None:
    aside = Aside("syncline:test")
    assert aside.run(lambda: threading.current_thread().name, Deadline(60)) == "syncline:test-1"
    assert aside.run(lambda: None, Deadline(60)) is None
    with pytest.raises(SystemExit):
        aside.run(lambda: exit(3), Deadline(60))


def test_a_call_that_blocks_is_left_behind() -> None:
    aside, go, begun, done = Aside("syncline:test"), threading.Event(), threading.Event(), threading.Event()

    def block() -> None:
        begun.set()
        go.wait()
        done.set()

    while not begun.is_set():
        with pytest.raises(TimeoutError):
            aside.run(block, Deadline(0.02))
    with pytest.raises(TimeoutError, match="has not returned"):
        aside.run(block, Deadline(3600))
    go.set()
    assert done.wait(60), "it goes on"
    while True:  # its thread has gone, or is about to
        try:
            assert aside.run(lambda: 7, Deadline(60)) == 7
            break
        except TimeoutError:
            continue


def test_what_nobody_waits_for_is_not_begun() -> None:
    aside, go, begun, calls = Aside("syncline:test"), threading.Event(), threading.Event(), []

    def block() -> None:
        begun.set()
        go.wait()

    first = threading.Thread(target=lambda: aside.run(block, Deadline(60)))
    first.start()
    assert begun.wait(60)
    with pytest.raises(TimeoutError):
        aside.run(lambda: calls.append(1), Deadline(0.02))
    go.set()
    first.join()
    assert aside.run(lambda: list(calls), Deadline(60)) == []


def test_one_call_at_a_time() -> None:
    aside, inside, most = Aside("syncline:test"), [0], [0]

    def enter() -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        inside[0] -= 1

    threads = [threading.Thread(target=lambda: aside.run(enter, Deadline(60))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_a_thread_of_its_own() -> None:
    aside, go = Aside("syncline:test"), threading.Event()
    with pytest.raises(TimeoutError):
        aside.run(go.wait, Deadline(0.02))
    child = os.fork()
    if child == 0:
        os._exit(0 if aside.run(lambda: 7, Deadline(60)) == 7 else 1)
    go.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

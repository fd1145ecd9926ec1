"""Saying that something is over; and state that is waited for."""

from __future__ import annotations

import threading

from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from tests.fixtures.partner import Background


def test_a_wait_ends_when_it_is_over() -> None:
    token = CancelToken()
    assert not token.wait(Deadline(0))
    waiting = Background(lambda: token.wait(Deadline(None)))
    first, second = ValueError("first"), ValueError("second")
    token.cancel(first)
    token.cancel(second)
    assert waiting.result()
    assert token.cancelled
    assert token.reason is first
    assert token.wait(Deadline(0))


def test_children_end_with_their_parent_and_not_the_other_way_round() -> None:
    parent = CancelToken()
    one, other = parent.child(), parent.child()
    alone, all_of_them = ValueError("alone"), ValueError("all")
    one.cancel(alone)
    assert (one.cancelled, other.cancelled, parent.cancelled) == (True, False, False)
    parent.cancel(all_of_them)
    assert (one.reason, other.reason) == (alone, all_of_them)
    assert parent.child().reason is all_of_them


def test_a_monitor_wakes_those_who_wait_for_its_state() -> None:
    monitor, numbers, looked = Monitor(), list[int](), threading.Event()

    def ready() -> int:
        looked.set()
        return sum(numbers)

    assert monitor.wait(ready, Deadline(0)) == 0
    looked.clear()
    waiting = Background(lambda: monitor.wait(ready, Deadline(None)))
    assert looked.wait(10)
    with monitor:
        numbers.append(7)
    assert waiting.result() == 7

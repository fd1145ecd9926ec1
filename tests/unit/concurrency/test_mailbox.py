"""Items on their way from one thread to another."""

from __future__ import annotations

import pytest

from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.mailbox import Mailbox
from tests.fixtures.partner import SOON, Background


def test_items_come_out_in_order_and_make_room() -> None:
    box: Mailbox[str] = Mailbox(2, 100)
    box.put("a")
    assert not box.full
    box.put("b", 10)
    assert (box.full, box.weight) == (True, 10)
    assert [box.take(Deadline(0)) for _ in range(3)] == ["a", "b", None]
    assert (box.full, box.weight) == (False, 0)


def test_weight_fills_it_too() -> None:
    box: Mailbox[str] = Mailbox(100, 10)
    box.put("a", 10)
    assert box.full


def test_what_is_there_can_be_taken_after_the_end_but_nothing_added() -> None:
    box: Mailbox[str] = Mailbox(10, 10)
    box.put("a")
    box.end()
    box.put("b")
    assert not box.ended
    assert (box.take(Deadline(None)), box.take(Deadline(None))) == ("a", None)
    assert box.ended


def test_closing_drops_what_is_there() -> None:
    box: Mailbox[str] = Mailbox(10, 10)
    box.put("a", 5)
    box.close()
    assert (box.take(Deadline(None)), box.ended, box.weight) == (None, True, 0)


@pytest.mark.parametrize("end", ["end", "close"])
def test_the_end_wakes_whoever_takes(end: str) -> None:
    box: Mailbox[str] = Mailbox(10, 10)
    waiting = Background(lambda: box.take(Deadline(SOON)))
    getattr(box, end)()
    assert waiting.result() is None


@pytest.mark.parametrize("how", ["take", "end", "close", "over"])
def test_what_ends_a_wait_for_room(how: str) -> None:
    box: Mailbox[str] = Mailbox(1, 10)
    over = CancelToken()
    box.put("a")
    waiting = Background(lambda: box.wait_for_room(lambda: over.cancelled))
    if how == "take":
        box.take(Deadline(0))
    elif how == "over":
        over.cancel(ValueError())
    else:
        getattr(box, how)()
    assert waiting.result() is (how == "take")

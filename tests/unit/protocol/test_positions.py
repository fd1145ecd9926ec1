"""Which cursor may be stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.protocol.positions import Ledger, Ticket, Window


def test_a_cursor_counts_once_everything_before_it_is_acknowledged() -> None:
    """E-15."""
    ledger = Ledger("c0")
    first, second, third = (ledger.ticket(ledger.position(cursor)) for cursor in ("c1", "c2", "c3"))
    ledger.acknowledge(third)
    ledger.acknowledge(second)
    assert ledger.committed == "c0"
    ledger.acknowledge(first)
    assert ledger.committed == "c3"
    ledger.acknowledge(first)
    assert ledger.committed == "c3"


def test_a_cursor_without_an_item_waits_for_the_items_before_it() -> None:
    """E-12: heartbeats move the position too."""
    ledger = Ledger(None)
    ledger.passed("c1")
    assert ledger.committed == "c1"
    ticket = ledger.ticket(ledger.position("c2"))
    ledger.passed("c3")
    assert ledger.committed == "c1"
    ledger.acknowledge(ticket)
    assert ledger.committed == "c3"


def test_items_that_share_a_position_pass_it_together() -> None:
    """E-15: a poll's cursor stands after its whole batch."""
    ledger = Ledger("c0")
    position = ledger.position("c9")
    tickets = [ledger.ticket(position) for _ in range(3)]
    for ticket in tickets[:2]:
        ledger.acknowledge(ticket)
    assert ledger.committed == "c0"
    ledger.acknowledge(tickets[2])
    assert ledger.committed == "c9"


def test_a_position_without_items_is_passed_at_once() -> None:
    ledger = Ledger("c0")
    ledger.position("c1")
    ledger.advance()
    assert ledger.committed == "c1"


def test_an_item_without_a_cursor_repeats_the_latest_one() -> None:
    ledger = Ledger("c0")
    first, second = ledger.ticket(ledger.position("c1")), ledger.ticket(ledger.position(None))
    ledger.acknowledge(first)
    ledger.acknowledge(second)
    assert ledger.committed == "c1"


def test_a_gap_is_acknowledged_with_what_comes_after_it() -> None:
    ledger = Ledger("c0")
    gap = ledger.ticket(ledger.position("c5"), implied=True)
    event = ledger.ticket(ledger.position("c6"))
    assert ledger.committed == "c0"
    ledger.acknowledge(event)
    assert ledger.committed == "c6"
    other = ledger.ticket(ledger.position("c7"), implied=True)
    ledger.acknowledge(other)
    assert ledger.committed == "c7"
    assert not gap.open


def test_an_item_of_another_stream_is_refused() -> None:
    mine, other = Ledger(None), Ledger(None)
    with pytest.raises(ValueError, match="another stream"):
        mine.acknowledge(other.ticket(other.position("c1")))


@given(st.integers(1, 5), st.data())
def test_the_cursor_is_never_ahead_of_what_was_acknowledged(most: int, data: st.DataObject) -> None:
    """Whatever the order, however few positions are told apart; and at the end it is where it should be."""
    ledger = Ledger("0", most)
    outstanding: dict[int, Ticket] = {}
    place = 0
    for step in data.draw(st.lists(st.sampled_from(["item", "cursor", "ack"]), max_size=60)):
        if step == "ack" and outstanding:
            ledger.acknowledge(outstanding.pop(data.draw(st.sampled_from(sorted(outstanding)))))
        elif step == "cursor":
            place += 1
            ledger.passed(str(place))
        elif step == "item":
            place += 1
            outstanding[place] = ledger.ticket(ledger.position(str(place)))
        assert int(ledger.committed or 0) < min(outstanding, default=place + 1)
    for ticket in outstanding.values():
        ledger.acknowledge(ticket)
    assert ledger.committed == str(place)


def test_ids_are_known_until_so_many_others_have_come() -> None:
    window = Window(2, ["a"])
    assert [window.add(each) for each in ("a", "b", "b", "c", "a")] == [False, True, False, True, True]

"""The life of a connection."""

from __future__ import annotations

import pytest

from syncline.errors import LocalProtocolError
from syncline.protocol.states import TRANSITIONS, State, Step, advance


def test_the_usual_life() -> None:
    state = State.NEW
    for step, expected in [(Step.OPEN, State.OPENING), (Step.OPENED, State.READY), (Step.CLOSE, State.CLOSED)]:
        state = advance(state, step)
        assert state is expected


def test_nothing_leaves_closed() -> None:
    assert {after for (before, _), after in TRANSITIONS.items() if before is State.CLOSED} == {State.CLOSED}


def test_everything_can_be_closed() -> None:
    assert {advance(state, Step.CLOSE) for state in State} == {State.CLOSED}


@pytest.mark.parametrize(
    ("state", "step", "text"),
    [
        (State.OPENING, Step.OPEN, "is being opened; it cannot be opened"),
        (State.READY, Step.OPEN, "is open; it cannot be opened"),
        (State.CLOSED, Step.OPEN, "is closed; it cannot be opened"),
        (State.CLOSED, Step.OPENED, "is closed; it cannot finish opening"),
        (State.NEW, Step.OPENED, r"is not open yet: use .*open\(\)"),
    ],
)
def test_an_impossible_step_says_why(state: State, step: Step, text: str) -> None:
    """Behaviours 4.02: a second opening is refused, by name."""
    with pytest.raises(LocalProtocolError, match=text):
        advance(state, step)

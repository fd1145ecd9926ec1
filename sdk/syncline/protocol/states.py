"""The life of a connection, as a table.

Two rules. Everything that changes a connection's state is a row here. And nothing leaves ``CLOSED``: a connection is
used up by closing, by a failed start, and by a fork, and a new one has to be made.
"""

from __future__ import annotations

from enum import Enum

from syncline.errors import LocalProtocolError


class State(Enum):
    """Where a connection is; the value completes the sentence "the connection ..."."""

    NEW = "is not open yet: use 'with', or open()"
    OPENING = "is being opened"
    READY = "is open"
    CLOSED = "is closed"


class Step(Enum):
    """What happens to it; the value completes the sentence "it cannot ..."."""

    OPEN = "be opened"
    OPENED = "finish opening"
    CLOSE = "be closed"


TRANSITIONS: dict[tuple[State, Step], State] = {
    (State.NEW, Step.OPEN): State.OPENING,
    (State.OPENING, Step.OPENED): State.READY,
    (State.NEW, Step.CLOSE): State.CLOSED,
    (State.OPENING, Step.CLOSE): State.CLOSED,
    (State.READY, Step.CLOSE): State.CLOSED,
    (State.CLOSED, Step.CLOSE): State.CLOSED,
}


def advance(state: State, step: Step) -> State:
    """The next state; ``LocalProtocolError`` if the step is not possible from here."""
    try:
        return TRANSITIONS[state, step]
    except KeyError:
        raise LocalProtocolError(f"the connection {state.value}; it cannot {step.value}") from None

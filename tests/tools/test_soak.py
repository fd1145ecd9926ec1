"""The soak run, in small: that it runs, tells losses and doubles, and says so."""

from __future__ import annotations

import argparse

import pytest

from syncline.protocol.occurrences import Event
from syncline.protocol.positions import Ledger
from tools.soak import __main__ as soak


def test_a_few_seconds_with_a_few_subscriptions(capsys: pytest.CaptureFixture[str]) -> None:
    failed = soak.run(argparse.Namespace(seconds=3, seed=5, push=4, poll=6))
    shown = capsys.readouterr().out
    assert failed == 0, shown
    assert "passed" in shown


class Replay:
    """A stream that hands out events of these numbers."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def get(self, timeout: float) -> Event | None:
        if not self._numbers:
            return None
        ledger = Ledger(None)
        ticket = ledger.ticket(ledger.position(None))
        return Event("a.b", {}, f"e{self._numbers.pop(0)}", "", None, {}, 0, ticket)

    def ack(self, item: object) -> None:
        pass


@pytest.mark.parametrize(
    ("numbers", "lost", "doubled"), [((0, 1, 2), 0, 0), ((0, 2, 3), 1, 0), ((0, 1, 1, 2), 0, 1), ((3, 0), 3, 1)]
)
def test_losses_and_doubles_are_counted(numbers: tuple[int, ...], lost: int, doubled: int) -> None:
    subscriber = soak.Subscriber("a.b", 0, Replay(*numbers))  # type: ignore[arg-type]
    while subscriber.take():
        pass
    assert (subscriber.lost, subscriber.doubled, subscriber.delivered) == (lost, doubled, len(numbers))

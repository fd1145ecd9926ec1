"""Which cursor may be stored: the last one before which everything was acknowledged (SEP-3415, cursors).

A cursor that is stored too early loses events silently when the process dies; one that is stored late repeats some.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Position:
    """A place in the subscription: it is passed when none of its items is outstanding."""

    cursor: str | None
    outstanding: int = 0


@dataclass(eq=False, slots=True)
class Ticket:
    """One item's acknowledgement, which counts once.

    Attributes:
        number: Its place in the order of items.
        position: Where the subscription stands once this item and all before it are acknowledged.
        ledger: Whose it is.
    """

    number: int
    position: Position
    ledger: Ledger
    open: bool = True


class Ledger:
    """The positions of one subscription that are not passed yet.

    Attributes:
        committed: The cursor that may be stored.
        latest: The last cursor that came, however much is outstanding.

    Args:
        cursor: Where the subscription starts.
        most: Positions that are told apart. Later ones are taken together, which commits later but never too early; so an
            application that never acknowledges costs no more memory than this.
    """

    def __init__(self, cursor: str | None, most: int = 10_000) -> None:
        self.committed = self.latest = cursor
        self._most = most
        self._positions: deque[Position] = deque()
        self._implied: deque[Ticket] = deque()
        self._numbers = 0

    def position(self, cursor: str | None) -> Position:
        """A place for items that are about to be handed out. Without a cursor of its own it repeats the latest one."""
        if cursor is not None:
            self.latest = cursor
        if len(self._positions) >= self._most:
            self._positions[-1].cursor = self.latest
        else:
            self._positions.append(Position(self.latest))
        return self._positions[-1]

    def ticket(self, position: Position, *, implied: bool = False) -> Ticket:
        """An item is handed out at this place, the latest. ``implied``: acknowledging a later one acknowledges it too."""
        position.outstanding += 1
        self._numbers += 1
        ticket = Ticket(self._numbers, position, self)
        if implied:
            self._implied.append(ticket)
        return ticket

    def passed(self, cursor: str) -> None:
        """A cursor came without an item: it counts as soon as everything before it is acknowledged."""
        self.latest = cursor
        if self._positions:
            self._positions[-1].cursor = cursor
        else:
            self.committed = cursor

    def acknowledge(self, ticket: Ticket) -> None:
        """An item has been dealt with; saying so again does no harm. Raises ``ValueError`` for an item of another ledger."""
        if ticket.ledger is not self:
            raise ValueError("the item came from another stream")
        while self._implied and self._implied[0].number < ticket.number:
            self._close(self._implied.popleft())
        self._close(ticket)
        self.advance()

    def advance(self) -> None:
        """Commit what has nothing outstanding before it."""
        while self._positions and not self._positions[0].outstanding:
            self.committed = self._positions.popleft().cursor

    @staticmethod
    def _close(ticket: Ticket) -> None:
        if ticket.open:
            ticket.open = False
            ticket.position.outstanding -= 1


class Window:
    """The ids that were seen last, so that what a server sends again is known."""

    def __init__(self, most: int, ids: Iterable[str] = ()) -> None:
        self._most = most
        self._order = deque(ids)
        self._known = set(self._order)

    def add(self, event_id: str) -> bool:
        """Whether it is new; it is known from now on, until so many others have come."""
        if event_id in self._known:
            return False
        self._known.add(event_id)
        self._order.append(event_id)
        if len(self._order) > self._most:
            self._known.discard(self._order.popleft())
        return True

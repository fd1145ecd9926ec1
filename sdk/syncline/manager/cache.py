"""What servers offered last, remembered for the time until they have started again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock

from .catalogue import Offered

if TYPE_CHECKING:
    from syncline.types import Tool

#: How many deadlines of servers that are waited for are remembered.
WAITS = 256


@dataclass(frozen=True)
class _Entry:
    """Attributes: ticket: when it was asked for; offered: None if the server does not want to be remembered."""

    ticket: int
    offered: Offered | None
    until: Deadline


class CatalogueCache:
    """Catalogues of servers that are starting: shown meanwhile, never called. One for all managers of a process by default.

    Safe to share between threads. A catalogue is remembered by the whole configuration of its server, credentials included,
    and without annotations: what a server says about the harm that its tools can do has to come from the server.

    Args:
        entries: How many servers are remembered; the one that was used least lately goes first. 0: none.
        ttl: Seconds for which a catalogue holds.
    """

    shared: ClassVar[CatalogueCache]

    def __init__(self, entries: int = 32, ttl: float = 1800.0) -> None:
        self._most = entries
        self._ttl = ttl
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._waits: OrderedDict[tuple[str, float], Deadline] = OrderedDict()
        self._tickets = count(1)
        self._lock = new_lock()

    def ticket(self) -> int:
        """To be taken before a catalogue is asked for: the one that was asked for last is the one that counts."""
        with self._lock:
            return next(self._tickets)

    def put(self, key: str | None, ticket: int, offered: Offered | None) -> None:
        """Remember a catalogue; None forgets it until the server offers one again. What was asked for earlier is ignored."""
        if key is None or self._most < 1:
            return
        kept = None if offered is None else replace(offered, tools=tuple(map(_unannotated, offered.tools)))
        with self._lock:
            known = self._entries.get(key)
            if known is not None and known.ticket > ticket:
                return
            self._entries[key] = _Entry(ticket, kept, Deadline(self._ttl))
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
            for wait in [wait for wait in self._waits if wait[0] == key]:
                del self._waits[wait]

    def get(self, key: str | None) -> Offered | None:
        """What a server offered last; None if nobody knows, or knows of no tools."""
        if key is None:
            return None
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.until.expired or entry.offered is None or not entry.offered.tools:
                return None
            self._entries.move_to_end(key)
            return entry.offered

    def refused(self, key: str | None) -> bool:
        """Whether the server has said that it does not want to be remembered."""
        with self._lock:
            entry = self._entries.get(key) if key is not None else None
            return entry is not None and entry.offered is None

    def grace(self, key: str | None, seconds: float) -> Deadline | None:
        """Until when a server is waited for, whoever waits; None if that is not to be shared.

        The first who asks starts the clock, another length another one; a catalogue that comes in ends it.
        """
        if key is None or self._most < 1:
            return None
        with self._lock:
            deadline = self._waits.setdefault((key, seconds), Deadline(seconds))
            while len(self._waits) > WAITS:
                self._waits.popitem(last=False)
            return deadline


CatalogueCache.shared = CatalogueCache()


def _unannotated(tool: Tool) -> Tool:
    return tool.model_copy(update={"annotations": None})

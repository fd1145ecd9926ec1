"""The rights to open event streams that a manager has given out, and their end."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

from syncline.concurrency.locks import new_lock

if TYPE_CHECKING:
    from syncline.subscriptions.access import Access

    from .identity import Identity


class Openers:
    """Streams have connections of their own and outlive the manager; what ends them is that their server is not configured any more.

    One object may serve several managers, one after the other.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._given: list[tuple[Identity, weakref.ref[Access]]] = []

    def add(self, identity: Identity, access: Access) -> None:
        """A right was given out, for a server as it is configured now. Whoever uses it keeps it alive."""
        with self._lock:
            self._given = [(each, ref) for each, ref in self._given if ref() is not None]
            self._given.append((identity, weakref.ref(access)))

    def keep(self, configured: Mapping[str, Identity]) -> None:
        """Take away the rights at all servers but these. Streams end by it; never blocks."""
        with self._lock:
            stays = [(each, ref) for each, ref in self._given if configured.get(each.name) == each]
            gone = [ref() for each, ref in self._given if configured.get(each.name) != each]
            self._given = stays
        for access in gone:
            if access is not None:
                access.remove()

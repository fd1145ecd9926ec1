"""Taking stock: what all servers offer at one moment, and who is waited for before that."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from syncline.concurrency.deadline import Deadline
from syncline.errors import SynclineError

from . import names
from .cache import CatalogueCache
from .catalogue import Catalogue, Offered, merged
from .fleet import Fleet
from .snapshot import Snapshot, unknown
from .status import CANCELLED, READY, STARTING, Status, cancelled


class Catalogues:
    """The catalogues of a manager, one after the other.

    Attributes:
        unusable: Servers of files that cannot be used, by name; their errors are in each catalogue.
    """

    def __init__(self, fleet: Fleet, cache: CatalogueCache, prefix: str, grace: float) -> None:
        self._fleet = fleet
        self._cache = cache
        self._prefix = prefix
        self._grace = grace
        self.unusable: Mapping[str, Status] = {}
        self._wait: Deadline | None = None  # for the servers whose grace is not shared
        self._last: Snapshot | None = None

    def forget(self) -> None:
        """The next one is made anew."""
        self._last = None

    def begin(self, unusable: Mapping[str, Status]) -> None:
        """Another configuration: the grace begins again."""
        self.unusable = unusable
        self._wait = self._last = None

    def complete(self, deadline: Deadline) -> Snapshot:
        """One for which every server is waited for of which nothing is remembered. Blocks until the deadline at most."""
        self._revive()
        remembered = self._remembered()
        self._settle([name for name in self._fleet.links if name not in remembered], deadline)
        return self._take(remembered)

    def current(self, needed: Collection[str]) -> Snapshot:
        """One for which those needed are started and waited for, and the others until their grace is over."""
        self._revive(needed)
        remembered = self._remembered()
        self._settle(needed)
        self._settle_within_grace([name for name in self._fleet.links if name not in needed and name not in remembered])
        return self._take(remembered)

    def find(self, name: str, wait: bool) -> tuple[str, str]:
        """The server and the tool that a qualified name stands for; servers that have not said yet what they offer are waited for."""
        catalogue = self._known()
        starts = [(space + names.SEPARATOR, server) for server, space in catalogue.spaces.items()]
        behind = [(start, server) for start, server in starts if name.startswith(start)]
        for start, server in sorted(behind, key=lambda each: -len(each[0])):
            link = self._fleet.links.get(server)
            if name in catalogue.by_name:
                break
            if link is not None and link.status is not READY:
                link.settings.filter.check_cleaned(server, name[len(start) :])
                self._fleet.use(server, Deadline(None), wait=wait)
            catalogue = self._known()  # it may just have started
        tool = catalogue.by_name.get(name)
        if tool is None:
            unknown(name, catalogue)
        return tool.server, tool.name

    # Inside

    def _revive(self, needed: Collection[str] = ()) -> None:
        """Make connections again that were lost, and those that are needed now."""
        with self._fleet.monitor:
            self._fleet.check()  # here, or something might be started that close() does not see any more
            for name, link in list(self._fleet.links.items()):
                if link.lost or name in needed:
                    self._fleet.begin_again(name)

    def _known(self) -> Catalogue:
        self._revive()
        return self._take(self._remembered()).catalogue

    def _remembered(self) -> dict[str, Offered]:
        """What is known of servers that have not started."""
        known = {name: link.known() for name, link in self._fleet.links.items() if link.status is not READY}
        return {name: offered for name, offered in known.items() if offered is not None}

    def _settle(self, wanted: Collection[str], deadline: Deadline | None = None) -> None:
        """Wait until these have started or failed."""
        fleet = self._fleet

        def settled() -> bool:
            links = fleet.links
            return fleet.ended or all(links[name].status.settled for name in wanted if name in links)

        fleet.monitor.wait(settled, deadline or Deadline(None))
        fleet.check()

    def _settle_within_grace(self, wanted: list[str]) -> None:
        if not self._grace:
            self._settle(wanted)
            return
        own = self._wait = self._wait or Deadline(self._grace)
        links = self._fleet.links
        shared = {name: self._cache.grace(links[name].key, self._grace) for name in wanted if name in links}
        for name, deadline in shared.items():
            self._settle([name], deadline or own)

    def _take(self, remembered: Mapping[str, Offered]) -> Snapshot:
        """What there is now."""
        fleet = self._fleet
        parts, missing = [], []
        errors: dict[str, SynclineError] = {}
        with fleet.monitor:
            links, revision, last = fleet.links, fleet.revision, self._last
            stable = all(link.settled for link in links.values())
            if stable and last is not None and last.revision == revision:
                return last
            for name, status in self.unusable.items():
                if status.error is not None and name not in links:
                    errors[name] = status.error
            for name, link in links.items():
                offered = link.offered if link.status is READY else remembered.get(name)
                if self._cache.refused(link.key) and link.status is not READY:
                    offered = None  # the server has said meanwhile that nobody should remember
                error = cancelled(name) if link.status is CANCELLED else link.shown.error
                if error is not None:
                    errors[name] = error
                elif offered is not None:
                    parts.append(link.part(offered))
                elif link.status is STARTING:
                    missing.append(name)
            held = [link.hold() for link in links.values() if link.live]
        catalogue = merged(links, parts, self._prefix)
        fresh = Snapshot(catalogue, held, errors, tuple(missing), revision if stable else None)
        with fleet.monitor:
            if stable and fleet.revision == revision:
                self._last = fresh
        return fresh

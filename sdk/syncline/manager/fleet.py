"""The connections of one manager: started together, watched, replaced, ended together."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from syncline import logs
from syncline.concurrency import lifecycle
from syncline.concurrency.crew import Crew
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from syncline.concurrency.schedule import Schedule
from syncline.concurrency.workers import Lane, spawn
from syncline.errors import (
    ConnectionClosed,
    ForkedConnection,
    NotReady,
    RequestTimeout,
    SynclineError,
    UnknownServer,
)

from .status import CANCELLED, READY, STARTING, StartupEvent, StartupSummary, Status, cancelled, may_pass

if TYPE_CHECKING:
    from .link import Link

    Startup = StartupEvent | StartupSummary

Result = TypeVar("Result")

#: Threads at most that start servers, that list what they offer, and that close them; each kind is there only while needed.
CREW = 128
#: Events of a start that wait for a slow callback.
EVENTS = 65_536
#: Seconds for the threads of a fleet to end once its connections have.
ENDING = 2.0


@dataclass
class Round:
    """One start of several servers, until the last of them has started.

    Attributes:
        number: Counts them.
        order: Its servers, those first that were there already.
        reused: How many these are.
        pending: The connections that have not settled.
        outcomes: How the others did.
    """

    number: int
    order: list[str]
    reused: int
    pending: set[Link]
    outcomes: dict[str, Status] = field(default_factory=dict)

    def summary(self) -> StartupSummary:
        """How it went."""
        found = [(name, self.outcomes[name]) for name in self.order if name in self.outcomes]
        return StartupSummary(
            self.number,
            tuple(name for name, status in found if status is READY),
            {name: status.error for name, status in found if status.error is not None},
            tuple(name for name, status in found if status is CANCELLED),
        )


class Fleet:
    """See the module. ``monitor`` guards everything here and tells those who wait.

    Attributes:
        revision: Counts whatever may change the catalogue.
    """

    def __init__(
        self,
        on_startup: Callable[[Startup], object] | None,
        on_change: Callable[[str], object] | None,
        *,
        watching: bool,
    ) -> None:
        self.monitor = Monitor()
        self.revision = 0
        self._on_startup = on_startup
        self._on_change = on_change
        self._watching = watching
        self._links: dict[str, Link] = {}
        #: Retired ones until they are closed, and those that try to take a failed one's place.
        self._others: set[Link] = set()
        self._rounds: list[Round] = []
        self._published = 0
        self._ended: ConnectionClosed | None = None
        self._starters = Crew("syncline:manager:start", CREW)
        self._listers = Crew("syncline:manager:list", CREW)
        self._closers = Crew("syncline:manager:close", CREW)
        self._events = Lane("syncline:manager:events", EVENTS)
        self._clock: Schedule | None = None

    # What there is

    @property
    def links(self) -> Mapping[str, Link]:
        """The connections by name; replaced as a whole, so that it can be read without a lock."""
        return self._links

    @property
    def ended(self) -> bool:
        """Whether it was closed, or stayed with the parent of a fork."""
        return self._ended is not None

    def check(self) -> None:
        """Raise ``ConnectionClosed`` or ``ForkedConnection`` if it cannot be used any more."""
        if self._ended is not None:
            raise self._ended.again()

    # Starting

    def publish(self, links: dict[str, Link], deferred: Collection[str] = ()) -> None:
        """Take over a configuration: start what is new in it, let go what is not in it any more. Never blocks.

        What is ``deferred`` is started when it is needed.
        """
        with self.monitor:
            self.check()
            dropped = [link for name, link in self._links.items() if links.get(name) is not link]
            self._others = {*self._others, *dropped}  # first: where Ctrl-C ends this, close() finds them
            self._links = links
            self._published += 1
            self.revision += 1
            reused = [name for name, link in links.items() if link.status is READY]
            begun = [
                link for link in links.values() if link.status.state == "not started" and link.name not in deferred
            ]
            waiting = [link for link in links.values() if link.status is STARTING]
            order = [*reused, *(name for name in links if name not in reused)]
            current = Round(self._published, order, len(reused), {*begun, *waiting}, dict.fromkeys(reused, READY))
            self._rounds.append(current)
            for link in begun:
                self._begin(link)
            for link in dropped:
                self._retire(link)
            self._finish(current)

    def use(self, name: str, deadline: Deadline, *, wait: bool = True) -> Link:
        """The connection to a server, ready. Blocks until its start has ended, or the deadline.

        A connection that was lost is made again; one that nobody has needed yet, for the first time. Raises
        ``UnknownServer``, ``NotReady`` where the caller does not wait, ``RequestTimeout``, and what the start failed with.
        """
        with self.monitor:
            self.check()
            self.begin_again(name)
        found: list[Link] = []

        def settled() -> bool:
            link = self._links.get(name)
            found[:] = [] if link is None else [link]
            return self._ended is not None or link is None or link.status.settled or not wait

        self.monitor.wait(settled, deadline)
        self.check()
        if not found:
            raise UnknownServer(f"no server is called {name!r}; there are {', '.join(self._links) or 'none'}")
        [link] = found
        status = link.status
        if status is READY:
            return link
        if status is CANCELLED:
            raise cancelled(name)
        if status.error is not None:
            raise status.error.again()
        if not wait:
            raise NotReady("the server is starting").at(name)
        raise RequestTimeout("the server is still starting").at(name)

    def begin_again(self, name: str) -> None:
        """Start a server that was lost, or that nobody has needed yet. Requires the monitor."""
        link = self._links.get(name)
        if link is None:
            return
        if link.lost:
            fresh = link.successor()
            fresh.round = link.round
            self._links = {**self._links, name: fresh}
            self._retire(link)
            link = fresh
        if link.status.state == "not started":
            self._begin(link)

    def cancel(self) -> None:
        """Cancel what is starting; what has started goes on. Never blocks."""
        with self.monitor:
            for link in self._links.values():
                self._cancel(link)

    # Listing

    def gather(self, work: Mapping[str, Callable[[], Result]]) -> tuple[dict[str, Result], dict[str, SynclineError]]:
        """Do something for several servers at once: the results, and the errors of the others, by name.

        Blocks until all are done: each has its own limit, and ``close()`` ends them.
        """
        done: dict[str, Result] = {}
        errors: dict[str, SynclineError] = {}

        def run(name: str, each: Callable[[], Result]) -> None:
            try:
                result = each()
            except Exception as error:
                if not isinstance(error, SynclineError):
                    logs.wire.exception("%s: could not be asked", name)
                    error = SynclineError(f"{type(error).__name__}: {error}").at(name)
                with self.monitor:
                    errors[name] = error
            else:
                with self.monitor:
                    done[name] = result

        for name, each in work.items():
            self._listers.submit(lambda name=name, each=each: run(name, each))  # type: ignore[misc]
        self.monitor.wait(lambda: len(done) + len(errors) == len(work) or self.ended, Deadline(None))
        self.check()
        return {name: done[name] for name in work if name in done}, {
            name: errors[name] for name in work if name in errors
        }

    def refresh(self, link: Link) -> None:
        """List a server's tools again; raises what that raises."""
        link.refresh()
        with self.monitor:
            self.revision += 1
            if self._on_change is not None and self._links.get(link.name) is link:
                on_change = self._on_change
                self._events.submit(lambda: _call(on_change, link.name))

    # Ending

    def close(self, timeout: float | None = None) -> None:
        """End everything, in parallel; from any thread, and again. Blocks until it is done, or for so many seconds.

        Whoever gives up waiting does not stop it: the connections are closed on threads of their own.
        """
        if isinstance(self._ended, ForkedConnection):
            return
        deadline = Deadline(timeout)
        with self.monitor:
            self._ended = self._ended or ConnectionClosed("the connection manager was closed")
            links = [*self._links.values(), *self._others]
            for link in links:
                self._cancel(link)
            clock = self._clock
        for link in links:
            if not self._closers.submit(lambda link=link: link.close(timeout)):  # type: ignore[misc]
                link.close(deadline.remaining())  # no thread can be started at exit
        self.monitor.wait(lambda: all(link.closed for link in links), deadline)
        ending = deadline.sooner(ENDING)
        if clock is not None:
            clock.stop(ending)
        for crew in (self._starters, self._listers):
            crew.stop(ending)
        self._closers.join(ending)  # whoever is closing goes on
        self._events.stop(ending)
        lifecycle.closed(self)

    def forked(self) -> None:
        """In a forked child: the connections are the parent's."""
        self._ended = ForkedConnection(
            "the connections were made before a fork and belong to the parent; make new ones"
        )
        self._links, self._others, self._rounds, self._clock = {}, set(), [], None

    def abandon(self) -> None:
        """Whoever had it has let it go: close it without waiting for that."""
        spawn("syncline:manager:close", self.close)

    def drop(self, link: Link) -> None:
        """Close a connection without waiting for that. Requires the monitor."""
        self._closers.submit(link.close)

    # Inside; all but what runs on the crews requires the monitor

    def _begin(self, link: Link) -> None:
        link.status = STARTING
        link.round = link.round or self._published
        self._tell(StartupEvent(link.name, STARTING, link.round))
        if not self._starters.submit(lambda: self._start(link)):
            self._settle(link, CANCELLED)

    def _start(self, link: Link) -> None:
        """On a starter."""
        outcome = link.connect()
        with self.monitor:
            if link.status is STARTING:  # or it was cancelled meanwhile, and somebody closes it
                self._settle(link, outcome)
        self._after(link)

    def _settle(self, link: Link, status: Status) -> None:
        link.status = status
        self.revision += 1
        self._tell(StartupEvent(link.name, status, link.round))
        for each in list(self._rounds):
            if link in each.pending:
                each.pending.discard(link)
                each.outcomes[link.name] = status
                self._finish(each)

    def _finish(self, current: Round) -> None:
        if not current.pending and current in self._rounds:
            self._rounds.remove(current)
            for name in current.order[: current.reused]:
                self._tell(StartupEvent(name, READY, current.number))
            self._tell(current.summary())

    def _after(self, link: Link) -> None:
        """On a starter: what follows a start."""
        if link.live and self._watching:
            changed = partial(self._changed, link)
            link.watch(changed, lambda: _ignore(self._listers.submit(changed)))
        elif link.status.error is not None:
            self._later(link)

    def _later(self, link: Link) -> None:
        """Try to take the place of a failed connection, after a while, if that can help."""
        error, attempts = link.status.error, link.attempts
        if error is None or attempts is None or not may_pass(error):
            return
        wait = attempts.next(time.monotonic(), random.random(), getattr(error, "retry_after", None))
        with self.monitor:
            if wait is None or self._ended is not None or self._links.get(link.name) is not link:
                return
            if self._clock is None:
                self._clock = Schedule("syncline:manager:clock", 1, lambda: self._ended is not None, lambda: None)
            self._clock.after(wait, lambda: _ignore(self._starters.submit(lambda: self._again(link))))

    def _again(self, failed: Link) -> None:
        """On a starter: one attempt to take the place of a failed connection; only a success is told."""
        with self.monitor:
            if self._ended is not None or self._links.get(failed.name) is not failed:
                return
            fresh = failed.successor()
            fresh.round = failed.round
            self._others.add(fresh)
        outcome = fresh.connect()
        with self.monitor:
            wanted = self._ended is None and self._links.get(failed.name) is failed
            if not wanted:
                self.drop(fresh)
                return
            self._others.discard(fresh)
            fresh.status = outcome
            self._links = {**self._links, failed.name: fresh}
            if outcome is READY:
                if fresh.attempts is not None:
                    fresh.attempts.reset()
                self.revision += 1
                self._tell(StartupEvent(fresh.name, READY, fresh.round))
        self._after(fresh)

    def _changed(self, link: Link) -> None:
        """On a thread of the connection: its server says that its tools have changed."""
        logs.wire.info("%s: the tools have changed", link.name)
        try:
            if link.rest():
                self.refresh(link)
        except SynclineError as error:
            logs.wire.warning("%s: the changed tools could not be listed: %s", link.name, error)

    def _cancel(self, link: Link) -> None:
        if link.status is STARTING:
            link.cancel()
            self._settle(link, CANCELLED)
            self.drop(link)

    def _retire(self, link: Link) -> None:
        self._cancel(link)
        link.retired = True
        self._others = {link, *(other for other in self._others if not other.closed)}
        if not link.holds:
            self.drop(link)

    def _tell(self, event: Startup) -> None:
        if self._on_startup is not None:
            on_startup = self._on_startup
            self._events.submit(lambda: _call(on_startup, event))


def _call(callback: Callable[[Result], object], value: Result) -> None:
    callback(value)


def _ignore(_: object) -> None:
    """Nothing."""

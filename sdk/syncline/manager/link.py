"""One connection to one server, from before its start until it is closed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.concurrency.workers import spawn
from syncline.errors import ConnectFailed, ConnectionClosed, RequestTimeout, SynclineError
from syncline.protocol.pace import Attempts

from .catalogue import Offered, Part, origin
from .status import CANCELLED, NOT_STARTED, READY, STARTING, Status, failed, lost

if TYPE_CHECKING:
    from syncline.client import Target
    from syncline.concurrency.monitor import Monitor
    from syncline.protocol.events import Notification
    from syncline.streams.changes import Changes

    from .cache import CatalogueCache
    from .identity import Identity
    from .server_client import ServerClient
    from .settings import Settings

    #: Makes the client of a connection, not open yet.
    Make = Callable[["Link"], ServerClient]

#: The experimental capability of servers that may not want their tools to be remembered.
OPT_OUT = "codex/tool-catalog-cache"
CHANGED = "notifications/tools/list_changed"
#: Seconds between two listings because of changes: a server that tells of one with each listing would be listed for ever.
PACE = 0.5


class Link:
    """A connection is started once, and whoever needs it waits for that start; one that failed or was lost is replaced.

    What is under ``monitor`` is changed with it held, and read by anybody.

    Attributes:
        name: The configured name of the server.
        settings: May be changed while the connection lives.
        status: How it is doing; under ``monitor``.
        offered: What the server offers, once it is ready; under ``monitor``.
        client: The client, once there is one; under ``monitor``.
        retired: It belongs to the configuration no longer, and goes when the last snapshot does that has it.
        holds: One item for each such snapshot.
        round: Which start it belongs to.
    """

    def __init__(
        self,
        name: str,
        server: Target,
        settings: Settings,
        identity: Identity,
        make: Make,
        cache: CatalogueCache,
        monitor: Monitor,
        attempts: Attempts | None,
    ) -> None:
        self.name = name
        self.server = server
        self.settings = settings
        self.identity = identity
        self.key = identity.cache_key()
        self.status: Status = NOT_STARTED
        self.offered: Offered | None = None
        self.client: ServerClient | None = None
        self.retired = False
        self.closed = False
        self.holds: list[object] = []
        self.round = 0
        self.attempts = attempts
        self._make = make
        self._cache = cache
        self._monitor = monitor
        self._changes: Changes | None = None
        self._stale = False  # it was told of a change, and the tools have not been listed since
        self._rest = Deadline(0)
        self._tell: Callable[[], None] = lambda: None
        self._cancelled = False
        self._closing = False
        self._refreshing = new_lock()  # held while the tools are listed again

    def successor(self) -> Link:
        """Another connection to the same server, to take the place of this one."""
        return Link(
            self.name,
            self.server,
            self.settings,
            self.identity,
            self._make,
            self._cache,
            self._monitor,
            self.attempts,
        )

    @property
    def lost(self) -> bool:
        """Whether it was there and has ended by itself."""
        return self.status is READY and self.client is not None and self.client.is_closed

    @property
    def shown(self) -> Status:
        """Its status, or that it was lost."""
        return lost(self.name) if self.lost else self.status

    @property
    def live(self) -> bool:
        """Whether calls can go out."""
        return self.status is READY and self.client is not None and not self.client.is_closed

    @property
    def settled(self) -> bool:
        """Whether a catalogue with it is worth keeping: nothing is expected of it."""
        return self.status is not STARTING and not self.lost and (self.live or not self.settings.required)

    def hold(self) -> Link:
        """Keep it open for a snapshot, until ``let_go()``. Requires the monitor."""
        self.holds.append(None)
        return self

    def known(self) -> Offered | None:
        """What the server offers, or, before it is ready, offered last."""
        if self.status is READY:
            return self.offered
        return self._cache.get(self.key) if self.status.state in ("starting", "not started") else None

    def part(self, offered: Offered) -> Part:
        """Its part in the catalogue of all servers."""
        return Part(self.name, offered, self.settings.filter, origin(self.server), self.live)

    def gone(self) -> bool:
        """Whether nobody waits any more for what is asked on it."""
        return self._closing or (self.client is not None and self.client.is_closed)

    def govern(self, settings: Settings) -> None:
        """Work under other settings from now on."""
        self.settings = settings
        if self.client is not None:
            self.client.govern(settings)

    # On threads of the fleet

    def connect(self) -> Status:
        """Start it: connect, and list the tools, each within the limit. Blocks until that is done; ``cancel()`` ends it.

        The status that this leads to, which is for the caller to set; nothing is left open unless it is ready.
        """
        settings = self.settings
        limit = settings.timeouts.startup
        try:
            self._open(limit)
            return READY
        except SynclineError as error:
            failure = error.at(self.name)
        except Exception as error:
            logs.wire.exception("%s: could not be started", self.name)
            failure = ConnectFailed(f"{type(error).__name__}: {error}").at(self.name)
            failure.__cause__ = error
        self.close()
        return CANCELLED if self._cancelled else failed(self.name, failure, limit)

    def _open(self, limit: float | None) -> None:
        client = self._make(self)
        client.govern(self.settings)
        with self._monitor:
            self.client = client
            cancelled = self._cancelled or self._closing
        if cancelled:
            client.close()
            raise ConnectionClosed("the start was cancelled").at(self.name)
        client.open()
        client._session.inbox.taps.add(self._noticed)
        offered = self._fetch(client, limit)
        with self._monitor:
            self.offered = offered
        client.govern(self.settings)  # they may have changed meanwhile

    def _fetch(self, client: ServerClient, limit: float | None) -> Offered:
        ticket = self._cache.ticket()
        timeouts = replace(self.settings.timeouts, call=limit, call_total=limit)
        tools = client.list_all_tools(timeouts)
        offered = Offered.of(tools, client.instructions, client.server_info)
        experimental = client.capabilities.experimental or {}
        wish = experimental.get(OPT_OUT)
        refused = isinstance(wish, dict) and wish.get("cacheable") is False
        self._cache.put(self.key, ticket, None if refused else offered)
        return offered

    def refresh(self) -> None:
        """List the tools again, within the server's own timeout; one thread at a time does. Blocks for that, and raises it."""
        client, limit = self.client, self.settings.timeouts.call
        if client is None or self.status is not READY:
            raise ConnectionClosed("the server is not connected").at(self.name, "tools/list")
        deadline = Deadline(limit)
        taken: list[bool] = []
        try:
            if not take(self._refreshing, deadline, taken):
                raise RequestTimeout("the tools are being listed by somebody else").at(self.name, "tools/list")
            self._stale = False
            left = deadline.remaining()
            offered = self._fetch(client, left if left is None else max(left, 0.001))
            with self._monitor:
                self.offered = offered
        finally:
            if True in taken:
                self._refreshing.release()

    def rest(self) -> bool:
        """Before a listing because of a change: wait until ``PACE`` is over since the last one; False if it ends meanwhile."""
        gone = self._monitor.wait(self.gone, self._rest)
        self._rest = Deadline(PACE)
        return not gone

    def watch(self, changed: Callable[[], None], later: Callable[[], None]) -> None:
        """Hear of changes to the list of tools, those since it was listed too, on a stream where that takes one.

        ``changed`` may block; ``later`` must not: it is called where there is no stream, on the thread that hears of it.
        """
        client = self.client
        if client is None:
            return
        tools, taps = client.capabilities.tools, client._session.inbox.taps
        try:
            if tools is not None and tools.list_changed:
                changes = client.subscribe(tools=True)
                changes.run_in_thread(lambda _: changed())
                taps.discard(self._noticed)
                with self._monitor:
                    self._changes = changes
                    late = self._closing
                if late:
                    changes.close()
        except SynclineError as error:
            logs.wire.info("%s: there is no stream of changes: %s", self.name, error)
        self._tell = later
        if self._stale:
            changed()

    def _noticed(self, notification: Notification) -> None:
        """On the thread that receives it."""
        if notification.method == CHANGED and not self._stale:
            self._stale = True
            self._tell()

    # From any thread

    def cancel(self) -> None:
        """Let its start end without a result. Never blocks; to be closed afterwards."""
        self._cancelled = True

    def close(self, timeout: float | None = None) -> None:
        """End it. Blocks as ``Client.close()`` does, or for so many seconds; whoever calls it second does not wait."""
        with self._monitor:
            if self._closing:
                return
            self._closing = True
            client, changes = self.client, self._changes
        try:
            if changes is not None:
                changes.close(timeout)
            if client is not None and timeout is None:
                client.close()
            elif client is not None:
                client._session.connection.close(timeout)
        except Exception:
            logs.wire.exception("%s: could not be closed", self.name)
        with self._monitor:
            self.closed = True

    def let_go(self) -> None:
        """A snapshot that held it is no more. Takes no lock: it may be called anywhere, by the garbage collector."""
        self.holds.pop()
        if self.retired and not self.holds and not self._closing:
            with contextlib.suppress(
                RuntimeError
            ):  # no thread can be started at exit, when connections are closed anyway
                spawn(f"syncline:{self.name}:close", self.close)

"""The connection manager: many servers, started together, one catalogue."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NoReturn, TypeVar

from syncline import logs
from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.errors import (
    ConfigError,
    LocalProtocolError,
    RequestTimeout,
    RequiredServersFailed,
    SynclineError,
    UnknownServer,
)
from syncline.protocol.pace import Attempts, Reconnect

from . import names
from .cache import CatalogueCache
from .catalogue import Listing, Offered, ServerItem, ServerTool
from .configfiles.load import load_config
from .configfiles.loaded import LoadedConfig
from .configuration import checked, enabled, unusable
from .elicitation import Router
from .fleet import Fleet
from .link import Link
from .maker import Maker
from .openers import Openers
from .server_client import ServerClient
from .settings import Settings
from .status import DISABLED, NOT_STARTED, READY, STARTING, Status
from .taking import Catalogues

if TYPE_CHECKING:
    import os
    from types import TracebackType
    from typing import Literal

    from typing_extensions import Self, Unpack

    from syncline.client import Target
    from syncline.config import Timeouts
    from syncline.session.waiter import OnProgress
    from syncline.subscriptions.access import CredentialChanges
    from syncline.subscriptions.opener import StreamOpener
    from syncline.types import (
        CallToolResult,
        Prompt,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
    )

    from .configfiles.inputs import Answers
    from .elicitation import Elicitation, Handler, Policy
    from .fleet import Startup
    from .maker import Options, SharedOptions
    from .snapshot import Snapshot

Item = TypeVar("Item")

#: How servers that could not be started are tried again: after about 1, 2, 4 ... 30 seconds, for as long as it takes.
RECONNECT = Reconnect(first=1, most=30)


class ConnectionManager:
    """Connections to many servers, by name, and one catalogue of what they offer.

    A context manager, safe to share between threads::

        with ConnectionManager({"github": HttpServer(...), "git": StdioServer(...)}) as servers:
            for tool in servers.list_tools():
                print(tool.qualified_name, tool.server)
            servers.call_tool("mcp__git__log", {"count": 3})
            servers["github"].read_resource("repo://a/b")

    ``open()``, or ``with``, starts all of them at once, each with its own limit (``startup_timeout``), and waits for those that
    are ``required``. What could not be started is tried again in the background where that can help; a connection that was lost
    is made again when it is used next. None of that holds up the other servers. A manager belongs to its process: after a fork
    the child gets ``ForkedConnection``.

    Args:
        servers: What to connect to, by name: as for ``Client``, but no transport, which serves one connection only. Or what
            ``load_config()`` has read; servers that it left out are failed ones, with the reason.
        on_startup: Called with each ``StartupEvent`` and, when all have settled, one ``StartupSummary``, in order, on a thread
            of its own.
        prefix: What the names of tools begin with; empty for none.
        grace: Seconds for which snapshots wait for servers that are not required, counted once, from the first one on. 0: until
            each has started or failed.
        elicitation: What happens when a server asks a person something: ``never`` declines, ``ask`` asks ``on_elicitation``, a
            function ``(server, request)`` returns ``"decline"``, ``"ask"`` or the answer. Can be set while the manager runs.
        on_elicitation: Called with each ``Elicitation``, as ``Client``'s is; one for all servers. ``Elicitations`` is one for
            programs that answer from elsewhere.
        cache: What servers offered last, for the time until they have started; by default one for the whole process.
        reconnect: How often servers that could not be started are tried again; None: not at all.
        deferred: Servers that start when they are first used, and are shown only as far as they are remembered until then.
        watch: Whether to hear of changed tools, where servers tell of them (over HTTP on a thread for each such server).
        on_change: Called with the name of a server whose tools have been listed again.
        follows: The manager, closed by now perhaps, whose place this one takes: event streams of its ``opener()`` that are still
            open end when their server is not in this one's configuration.
        options: Those of ``Client``, for all of them. ``auth`` is for servers over HTTP that bring no credentials of their own.
            ``Limits.items`` is 2,048 by default.
    """

    def __init__(
        self,
        servers: Mapping[str, Target] | LoadedConfig,
        *,
        on_startup: Callable[[Startup], object] | None = None,
        prefix: str = names.PREFIX,
        grace: float = 1.0,
        elicitation: Policy = "ask",
        on_elicitation: Handler | None = None,
        cache: CatalogueCache | None = None,
        reconnect: Reconnect | None = RECONNECT,
        deferred: Collection[str] = (),
        watch: bool = True,
        on_change: Callable[[str], object] | None = None,
        follows: ConnectionManager | None = None,
        **options: Unpack[SharedOptions],
    ) -> None:
        if not grace >= 0:
            raise ConfigError(f"grace is a number of seconds, not {grace!r}")
        self._router = Router(elicitation, on_elicitation)
        self._cache = cache or CatalogueCache.shared
        self._reconnect = reconnect
        self._deferred = frozenset(deferred)
        self._make = Maker(options, self._router)
        self._fleet = Fleet(on_startup, on_change, watching=watch)
        self._openers: Openers = Openers() if follows is None else follows._openers
        self._catalogues = Catalogues(self._fleet, self._cache, names.checked_prefix(prefix), grace)
        self._servers, self._unusable = checked(servers), unusable(servers)
        self._opened = False
        self._publishing = new_lock()

    @classmethod
    def from_config(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        scopes: Collection[Literal["project", "user"]] = ("project", "user"),
        inputs: Answers = None,
        **options: Unpack[Options],
    ) -> Self:
        """A manager of the servers in configuration files, those of other programs too; see ``load_config`` for which.

        Reads them and starts nothing; ``open()`` runs the programs that they name. A server that cannot be used as it stands there
        is a failed one, with the reason. Raises ``ConfigError`` for what is broken, as ``load_config`` does, and where a server
        that is ``required`` cannot be used.

        Args:
            path: The only file to read.
            scopes: Which files are searched for; the user's alone, for a folder whose files are not to be trusted.
            inputs: Answers to the inputs of VS Code.
            options: Those of the manager.
        """
        config = load_config(path, scopes=scopes, inputs=inputs)
        for skipped in config.skipped:
            if skipped.server is None:  # so there is no name under which it could be shown
                logs.wire.warning("left out: %s", skipped.error)
        return cls(config, **options)

    # Starting and ending

    def open(self) -> Self:
        """Start all servers.

        Blocks until the required ones have started or failed; ``close()`` and Ctrl-C end it. Raises ``RequiredServersFailed`` for
        all of them together, and nothing is left running then; ``LocalProtocolError`` the second time.
        """
        if self._opened:
            raise LocalProtocolError("the connection manager was opened before; make another one")
        self._opened = True
        lifecycle.opened(self._fleet)
        try:
            self._publish(self._servers, self._unusable, reuse=True)
            self.require()
        except BaseException:
            self.close()
            raise
        return self

    def require(self) -> None:
        """Wait for the required servers. Blocks until each has started or failed; raises ``RequiredServersFailed``."""
        failed: dict[str, SynclineError] = {}
        for name in self._required():
            try:
                self._fleet.use(name, Deadline(None))
            except SynclineError as error:
                failed[name] = error
        if failed:
            raise RequiredServersFailed(failed)

    def reconcile(self, servers: Mapping[str, Target] | LoadedConfig, *, reconnect: bool = False) -> None:
        """Go over to another configuration. Never blocks; nothing has changed if it raises ``ConfigError``.

        A connection stays where nothing has changed that it depends on: how the server is reached, the values of the environment
        variables that its configuration names, its credentials, what is declared to it. Filters, timeouts and ``required`` hold at
        once. Everything else is started, or closed in the background; also what failed or was lost. ``reconnect`` keeps nothing.
        """
        self._check()
        self._publish(checked(servers), unusable(servers), reuse=not reconnect)

    def cancel_startup(self) -> None:
        """Cancel what is starting; servers that are ready go on. Never blocks."""
        self._fleet.cancel()

    def close(self) -> None:
        """Close all connections, in parallel; from any thread. Calling it again is harmless.

        Blocks until each has ended as ``Client.close()`` ends it: no program is left behind. Whoever gives up waiting (Ctrl-C)
        does not stop it.
        """
        self._fleet.close()
        self._catalogues.forget()

    def __enter__(self) -> Self:
        return self if self._opened else self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self.__dict__.get("_opened") and not self._fleet.ended and not sys.is_finalizing():
            text = f"{self!r} was deleted while still open; use 'with' or close()"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)
            self._fleet.abandon()

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle a syncline.ConnectionManager: its connections belong to their process")

    def __repr__(self) -> str:
        return f"<syncline.ConnectionManager of {', '.join(self._servers) or 'no servers'}>"

    # How the servers are doing

    def status(self) -> dict[str, Status]:
        """How each configured server is doing, the disabled ones too, and those of files that cannot be used; starts nothing,
        waits for nothing.
        """
        links = self._fleet.links
        there = {
            name: links[name].shown if name in links else NOT_STARTED if enabled(server) else DISABLED
            for name, server in self._servers.items()
        }
        return {**there, **{name: status for name, status in self._unusable.items() if name not in there}}

    @property
    def errors(self) -> dict[str, SynclineError]:
        """Why servers have failed, by name."""
        return {name: status.error for name, status in self.status().items() if status.error is not None}

    def wait_ready(self, name: str, timeout: float | None = None) -> bool:
        """Whether a server is ready. Blocks until its start has ended, for ``timeout`` seconds at most; False if it failed, is
        late, or is not known. Starts one that was lost or deferred.
        """
        try:
            self._fleet.use(name, Deadline(timeout))
        except SynclineError:
            return False
        return True

    # Single servers

    def client(self, name: str, timeout: float | None = None) -> ServerClient:
        """The client of a server: its own verbs and names, under the manager's filters and timeouts.

        Blocks until the server has started, for ``timeout`` seconds at most. Raises ``UnknownServer``, ``RequestTimeout``, and what
        its start failed with. A client whose connection was lost is replaced by a new one.
        """
        client = self._use(name, Deadline(timeout)).client
        assert client is not None
        return client

    def __getitem__(self, name: str) -> ServerClient:
        return self.client(name)

    def __contains__(self, name: object) -> bool:
        return name in self._fleet.links

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._fleet.links))

    def __len__(self) -> int:
        return len(self._fleet.links)

    def opener(
        self,
        name: str,
        *,
        principal: Callable[[], object] | None = None,
        changes: CredentialChanges | None = None,
        require_advertisement: bool = True,
    ) -> StreamOpener:
        """What opens event streams at a server, each on a connection of its own; ``Subscriptions`` takes it, too.

        Starts nothing. The streams outlive the manager. They end, with ``AccessChanged``, and no more are opened, when a new
        configuration does not have the server any more, or reaches it in another way or with other credentials. Raises
        ``UnknownServer``. The arguments are those of ``StreamOpener``.
        """
        with self._publishing:  # or it might be given out for a server that is just being removed
            self._check()
            if name not in self._fleet.links:
                self._unknown(name)
            server = self._servers[name]
            opener = self._make.opener(name, server, principal, changes, advertised=require_advertisement)
            self._openers.add(self._make.identity(name, server, streams=True), opener._access)
        return opener

    def about(self, name: str) -> Offered | None:
        """What is known of a server: its instructions, and who it says it is. While it starts and after it failed, what it said
        last; None if nobody knows.
        """
        link = self._fleet.links.get(name)
        if link is None:
            return None
        return link.offered if link.status is READY else self._cache.get(link.key)

    def refresh(self, name: str) -> None:
        """List a server's tools again. Blocks for that, within its ``tool_timeout``; raises what a listing raises."""
        self._fleet.refresh(self._use(name, Deadline(None)))

    # Tools

    def list_tools(self, *, timeout: float | None = None) -> Listing[ServerTool]:
        """The tools of all servers, under names that none shares; ``errors`` of the result says what is missing and why.

        Blocks until each server has started or failed, each within its own limit, or for ``timeout`` seconds; one of which an
        earlier catalogue is remembered is not waited for. Nothing is sent: each server is asked when it starts, and when it
        tells of a change.
        """
        self._check()
        found = self._catalogues.complete(Deadline(timeout))
        late: dict[str, SynclineError] = {
            name: RequestTimeout("the server is still starting").at(name, "tools/list") for name in found.missing
        }
        return Listing(found.tools, {**found.errors, **late})

    def snapshot(self, *, require: Collection[str] = ()) -> Snapshot:
        """The catalogue as it is now, frozen; the same object while nothing has changed.

        Blocks until the required servers, and those named here, have started or failed; for the others until the grace that they
        share is over, after which they are left out. Raises ``UnknownServer``.
        """
        self._check()
        for name in require:
            if name not in self._fleet.links:
                self._unknown(name)
        return self._catalogues.current({*self._required(), *require})

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        server: str | None = None,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
        wait: bool = True,
    ) -> CallToolResult:
        """Call a tool by its qualified name, or, with ``server``, by its own; see ``Client.call_tool``.

        Blocks until the server has started, which is not part of ``timeout``; with ``wait=False`` a server that is not ready is an
        error at once. Also raises ``UnknownServer``, ``UnknownTool``, ``ToolDisabled``, ``NotReady``, and what the server's start
        failed with; nothing was sent then.
        """
        self._check()
        target, tool = (server, name) if server is not None else self._catalogues.find(name, wait)
        link = self._fleet.links.get(target)
        if link is None:
            self._unknown(target)
        link.settings.filter.check(target, tool)
        client = self._use(target, Deadline(None), wait=wait).client
        assert client is not None
        return client.call_tool(tool, arguments, timeout=timeout, on_progress=on_progress, meta=meta)

    # Resources and prompts

    def list_resources(self, servers: Collection[str] | None = None) -> Listing[ServerItem[Resource]]:
        """The resources of all servers that are ready now, asked at once, or of these, which are waited for.

        Blocks until all have answered, each within its ``tool_timeout``. Those that fail are left out, with a warning and an entry
        in ``errors``.
        """
        return self._list(servers, lambda client: client.list_resources())

    def list_resource_templates(self, servers: Collection[str] | None = None) -> Listing[ServerItem[ResourceTemplate]]:
        """The resource templates; see ``list_resources()``."""
        return self._list(servers, lambda client: client.list_resource_templates())

    def list_prompts(self, servers: Collection[str] | None = None) -> Listing[ServerItem[Prompt]]:
        """The prompts; see ``list_resources()``."""
        return self._list(servers, lambda client: client.list_prompts())

    def read_resource(self, server: str, uri: str, *, timeout: float | Timeouts | None = None) -> ReadResourceResult:
        """Read a resource of a server, which is waited for; see ``Client.read_resource``. Errors name the URI."""
        try:
            return self.client(server).read_resource(uri, timeout=timeout)
        except SynclineError as error:
            error.message = f"{uri}: {error.message}"
            raise

    # What servers ask

    @property
    def elicitation(self) -> Policy:
        """What happens when a server asks a person something; can be set, for the requests that come from then on.

        Servers are told that they may ask if there was a handler, or a function here, when they were started.
        """
        return self._router.policy

    @elicitation.setter
    def elicitation(self, policy: Policy) -> None:
        self._router.policy = policy

    @property
    def outstanding(self) -> tuple[Elicitation, ...]:
        """The requests that ``on_elicitation`` is dealing with."""
        return self._router.outstanding

    # Inside

    def _check(self) -> None:
        self._fleet.check()
        if not self._opened:
            raise LocalProtocolError("the connection manager is not open; use 'with' or open()")

    def _publish(self, servers: Mapping[str, Target], broken: Mapping[str, Status], *, reuse: bool) -> None:
        with self._publishing:
            links = {name: self._link(name, server, reuse) for name, server in servers.items() if enabled(server)}
            self._servers, self._unusable = dict(servers), dict(broken)
            self._catalogues.begin(self._unusable)
            self._fleet.publish(links, self._deferred)
            self._catalogues.forget()  # what somebody has taken meanwhile is out of date
            self._openers.keep({name: self._make.identity(name, servers[name], streams=True) for name in links})

    def _link(self, name: str, server: Target, reuse: bool) -> Link:
        """The connection that there is, if it can be kept, or another one."""
        fleet = self._fleet
        settings, identity = Settings.of(server, self._make.timeouts), self._make.identity(name, server)
        old = fleet.links.get(name) if reuse else None
        if old is not None and old.identity == identity and (old.live or old.status is STARTING):
            old.govern(settings)
            return old
        attempts = None if self._reconnect is None else Attempts(self._reconnect)
        return Link(name, server, settings, identity, self._make, self._cache, fleet.monitor, attempts)

    def _unknown(self, name: str) -> NoReturn:
        if name in self._servers:
            raise UnknownServer(f"the server {name!r} is disabled in the configuration")
        status = self._unusable.get(name)
        if status is not None and status.error is not None:
            raise status.error.again()
        raise UnknownServer(f"no server is called {name!r}; there are {', '.join(self._servers) or 'none'}")

    def _use(self, name: str, deadline: Deadline, *, wait: bool = True) -> Link:
        self._check()
        if name not in self._fleet.links:
            self._unknown(name)
        return self._fleet.use(name, deadline, wait=wait)

    def _required(self) -> list[str]:
        return sorted(name for name, link in self._fleet.links.items() if link.settings.required)

    def _list(
        self, servers: Collection[str] | None, ask: Callable[[ServerClient], list[Item]]
    ) -> Listing[ServerItem[Item]]:
        chosen: dict[str, Callable[[], list[Item]]] = {}
        if servers is None:
            snapshot = self.snapshot()
            for name in snapshot.ready:
                chosen[name] = lambda name=name: ask(snapshot.client(name))  # type: ignore[misc]
        else:
            for name in servers:
                chosen[name] = lambda name=name: ask(self.client(name))  # type: ignore[misc]
        found, errors = self._fleet.gather(chosen)
        for name, error in errors.items():
            logs.wire.warning("%s: left out of a listing: %s", name, error)
        return Listing([ServerItem(name, item) for name, items in found.items() for item in items], errors)

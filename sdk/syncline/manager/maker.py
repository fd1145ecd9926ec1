"""What all connections of a manager are made with."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from syncline.client import Client
from syncline.config import HttpServer, Limits, Timeouts
from syncline.subscriptions.opener import StreamOpener

from .identity import Identity, has_credentials
from .server_client import ServerClient
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from syncline.client import Target
    from syncline.config import AuthLike, RetryPolicy, TimeoutLike
    from syncline.logs import TraceLike
    from syncline.protocol.events import Notification
    from syncline.protocol.pace import Reconnect
    from syncline.session.handlers import OnSampling, Roots
    from syncline.subscriptions.access import CredentialChanges
    from syncline.subscriptions.opener import Target as StreamTarget
    from syncline.types import LoggingMessageNotificationParams

    from .cache import CatalogueCache
    from .connections import ConnectionManager
    from .elicitation import Handler, Policy, Router
    from .fleet import Startup
    from .link import Link

    class SharedOptions(TypedDict, total=False):
        """The options of ``Client`` that hold for all servers."""

        timeout: TimeoutLike
        protocol_version: str
        retry: RetryPolicy
        limits: Limits
        auth: AuthLike | None
        on_sampling: OnSampling | None
        roots: Roots | Callable[[], Roots] | None
        on_log: Callable[[LoggingMessageNotificationParams], object] | None
        on_notification: Callable[[Notification], object] | None
        validate_output: Literal["raise", "warn", "off"]
        client_info: Mapping[str, object] | None
        capabilities: Mapping[str, object] | None
        trace: TraceLike

    class Options(SharedOptions, total=False):
        """The options of a manager."""

        on_startup: Callable[[Startup], object] | None
        prefix: str
        grace: float
        elicitation: Policy
        on_elicitation: Handler | None
        cache: CatalogueCache | None
        reconnect: Reconnect | None
        deferred: Collection[str]
        watch: bool
        on_change: Callable[[str], object] | None
        follows: ConnectionManager | None


#: What is taken from each server's listings.
LIMITS = Limits(items=2048)
#: What ``SharedOptions`` may hold.
OPTIONS = inspect.signature(Client.__init__).parameters.keys() - {"self", "server", "name"}


class Maker:
    """Makes clients. Knows nothing of the manager, so that connections that are starting do not keep it alive.

    Raises ``TypeError`` for an option that ``Client`` does not have.
    """

    def __init__(self, options: SharedOptions, router: Router) -> None:
        if strangers := options.keys() - OPTIONS:
            raise TypeError(f"ConnectionManager() got unexpected keyword arguments: {', '.join(sorted(strangers))}")
        self.timeouts = Timeouts.of(options.get("timeout"))
        self._options: SharedOptions = {"limits": LIMITS, **options}
        self._router = router
        handlers = (options.get("on_sampling"), options.get("roots"))
        self._told = (
            options.get("protocol_version", "auto"),
            options.get("client_info"),
            options.get("capabilities"),
            *(handler is not None for handler in handlers),
        )

    def __call__(self, link: Link) -> ServerClient:
        """The client of a connection, not open yet. Raises ``ConfigError``."""
        handler = self._router.door(link.name, link.gone) if self._router.answers else None
        options = self._for(link.server, link.settings)
        return ServerClient(link.server, name=link.name, on_elicitation=handler, **options)

    def opener(
        self,
        name: str,
        server: Target,
        principal: Callable[[], object] | None,
        changes: CredentialChanges | None,
        *,
        advertised: bool,
    ) -> StreamOpener:
        """What opens event streams at a server, each on a connection of its own. Raises ``ConfigError``."""
        options = self._for(server, Settings.of(server, self.timeouts))
        target = cast("StreamTarget", server)  # no transport: the manager takes none
        return StreamOpener(
            target, principal=principal, changes=changes, require_advertisement=advertised, name=name, **options
        )

    def identity(self, name: str, server: Target, *, streams: bool = False) -> Identity:
        """What a connection would be now; those of event streams ask nobody anything, and offer nothing that we list."""
        if streams:
            return Identity(name, server, self._auth(server), asks=False)
        return Identity(name, server, self._auth(server), asks=self._router.answers, told=self._told)

    def _for(self, server: Target, settings: Settings) -> dict[str, Any]:
        return {**self._options, "auth": self._auth(server), "timeout": settings.timeouts}

    def _auth(self, server: Target) -> AuthLike | None:
        """The authentication of all servers, for those over HTTP that bring none."""
        alone = isinstance(server, HttpServer) and not has_credentials(server)
        return self._options.get("auth") if alone else None

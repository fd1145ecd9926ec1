"""Opening event streams, each on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from syncline.client import Client, is_transport
from syncline.concurrency.deadline import Deadline
from syncline.config import Limits, Timeouts, as_server
from syncline.errors import ConfigError, RequestTimeout
from syncline.protocol.event_errors import EXTENSION
from syncline.protocol.events import Notification
from syncline.session.session import json_object

from .access import Access
from .frames import PREFIX
from .stream import METHOD, NotificationStream

if TYPE_CHECKING:
    from typing import TypeAlias

    from typing_extensions import Unpack

    from syncline.client import ClientOptions
    from syncline.config import ServerLike
    from syncline.errors import AccessChanged
    from syncline.transport.base import Transport

    from .access import CredentialChanges

    #: A server, a client of it, or a function that names it anew for each connection.
    Target: TypeAlias = ServerLike | Client | Callable[[], ServerLike | Transport]


class StreamOpener:
    """Opens event streams at one server, for as long as it may.

    Each stream has a connection of its own: it opens, and lives, whatever becomes of other clients of that server.
    Credentials are those of the moment of opening; whom they belong to is what it was when the opener was made. Safe to share
    between threads; holds nothing that would have to be closed.

    Args:
        server: As for ``Client``; or a client, whose server and options are taken over and whose connection is left alone; or
            a function that returns the server, called for each connection. A transport serves once only, so it needs the
            function.
        principal: Tells who we are now: anything that can be compared, or a ``Principal``. A stream is opened, and goes on,
            for the principal that the opener was made for. By default nobody asks.
        changes: Where changed credentials are announced; streams of somebody else end then.
        require_advertisement: Refuse servers that do not say that they offer events.
        name: What errors call the server; by default what ``Client`` calls it.
        options: Those of ``Client``. ``on_notification`` gets what does not belong to the stream; elicitation is declined.
    """

    def __init__(
        self,
        server: Target,
        *,
        principal: Callable[[], object] | None = None,
        changes: CredentialChanges | None = None,
        require_advertisement: bool = True,
        name: str | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        target: ServerLike | Transport | Callable[[], ServerLike | Transport]
        if isinstance(server, Client):
            target, given = server._recipe
            name, options = name or server.name, {**given, **options}
        else:
            target = server
        if is_transport(target):
            raise ConfigError("a transport serves one connection; pass a function that makes it")
        self._server, self._called = target, name
        self._timeouts = Timeouts.of(options.get("timeout"))
        self._limits = replace(options.get("limits") or Limits(), message_bytes=None)  # a stream has no size
        self._options = _for_a_stream(options, self._limits)
        self._access = Access(principal, changes)
        self._require_advertisement = require_advertisement
        self.name = name or ("server" if callable(target) else as_server(target).name)

    def __repr__(self) -> str:
        return f"<syncline.StreamOpener {self.name}>"

    def open(
        self,
        event_name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        meta: Mapping[str, object] | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> NotificationStream:
        """Open a stream; see ``stream()`` and ``NotificationStream.open()``."""
        return self.stream(event_name, arguments, meta=meta, cursor=cursor, timeout=timeout).open()

    def stream(
        self,
        event_name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        meta: Mapping[str, object] | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> NotificationStream:
        """A stream that is still to be opened, so that another thread can close it meanwhile.

        Args:
            event_name: The event type.
            arguments: What it wants to know; sent even if there are none.
            meta: For the request's ``_meta``.
            cursor: Where to go on from, if not from now.
            timeout: Seconds for opening, if less than ``Timeouts.startup``.
        """
        params: dict[str, object] = {
            "name": event_name,
            "arguments": json_object(arguments or {}, "arguments", self.name),
        }
        if cursor is not None:
            params["cursor"] = cursor
        startup = Deadline(self._timeouts.startup)
        if timeout is not None:
            startup = startup.sooner(timeout)
        seconds = startup.remaining()
        if seconds == 0:
            raise RequestTimeout("no time is left for opening").at(self.name, METHOD)
        server = self._server() if callable(self._server) else self._server
        options: ClientOptions = {**self._options, "timeout": replace(self._timeouts, startup=seconds)}
        return NotificationStream(
            Client(server, name=self._called, **options),
            params,
            None if meta is None else json_object(meta, "meta", self.name, METHOD),
            access=self._access,
            limits=self._limits,
            require_advertisement=self._require_advertisement,
        )

    def remove(self) -> None:
        """The server is not to be used any more: ends all its streams, and every ``open()``, now and later."""
        self._access.remove()

    def watch(self, ended: Callable[[AccessChanged], None]) -> Callable[[], None]:
        """Call a function, which must not block, when streams end because of ``remove()`` or a change of account.

        Returns the function that ends this.
        """
        return self._access.watch(ended)


def _for_a_stream(options: ClientOptions, limits: Limits) -> ClientOptions:
    """The options of a connection that nobody but a stream uses: it asks no person and no model anything."""
    capabilities = dict(options.get("capabilities") or {})
    declared = capabilities.get("extensions")
    capabilities["extensions"] = {**(declared if isinstance(declared, Mapping) else {}), EXTENSION: {}}
    capabilities["elicitation"] = {}
    chosen: ClientOptions = {
        **options,
        "capabilities": capabilities,
        "on_elicitation": lambda _: None,
        "on_sampling": None,
        "roots": None,
        "limits": limits,
    }
    callback = options.get("on_notification")
    if callback is not None:
        chosen["on_notification"] = _without_events(callback)
    return chosen


def _without_events(callback: Callable[[Notification], object]) -> Callable[[Notification], None]:
    def pass_on(notification: Notification) -> None:
        if not notification.method.startswith(PREFIX):
            callback(notification)

    return pass_on

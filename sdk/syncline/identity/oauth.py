"""OAuth, for ``auth=``: tokens from the store, refreshed, or from a login where somebody can be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syncline.auth.clients import OAuthClient
from syncline.auth.settings import Browser, Device, Grant
from syncline.errors import ConfigError

from .logins import Logins
from .server_login import Wishes

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode

    from .running import Visit


class OAuth(Logins):
    """OAuth 2.1 as MCP has it, for ``auth=`` (specification, basic/authorization). One object serves any number of servers.

    A token that is stored is sent, and refreshed before it ends and when the server refuses it: once for all threads, and for all
    processes that share the store. Where that does not help, a person has to log in: here, if ``visit`` says how; otherwise the
    call raises ``AuthRequired``, with the URL of the authorization server and the scopes.

    Args:
        scopes: What to ask for; by default what the server says.
        client_metadata_url: The URL of a client ID metadata document, for authorization servers that read them.
        redirect_port: Where the browser comes back to on this machine; 0 for any port that is free.
        store: Where tokens are kept: ``auto``, ``keyring``, ``file``, ``memory``, or a ``CredentialStore``.
        client_id: A client that you have registered.
        client_secret: Its secret, if it has one.
        issuer: The only authorization server to use. Without it a client that you have registered, secret and all, is shown to the
            first one that a server names.
        client_name: What people are shown when the program registers itself.
        device: Let a person type a code elsewhere, instead of coming back to this machine (RFC 8628).
        visit: Called with a ``Visit`` when a person has to do something with a browser, on the thread of the call, whose clock
            stands still; one at a time, however many servers want it. Returns None if the browser comes back by itself (as with
            ``syncline.open_browser``), now or later, or the URL that it came back to, where the person brings that along. None:
            nobody is asked.
        dpop: Bind tokens to a key that is made for them and kept with them (extension DPoP; RFC 9449). Needs the extra ``jwt``.
        trusted_hosts: Hosts that authorization servers may have although they are on a private network and the server is not.

    Raises ``ConfigError`` for what cannot be meant. What calls raise is in ``docs/credentials.md``.
    """

    def __init__(
        self,
        scopes: Sequence[str] | None = None,
        *,
        client_metadata_url: str | None = None,
        redirect_port: int = 0,
        store: Mode | CredentialStore = "auto",
        client_id: str | None = None,
        client_secret: str | None = None,
        issuer: str | None = None,
        client_name: str = "syncline",
        device: bool = False,
        visit: Callable[[Visit], str | None] | None = None,
        dpop: bool = False,
        trusted_hosts: Sequence[str] = (),
    ) -> None:
        if not isinstance(redirect_port, int) or not 0 <= redirect_port <= 65_535:
            raise ConfigError(f"redirect_port is a port, or 0 for any that is free, not {redirect_port!r}")
        if visit is not None and not callable(visit):
            raise ConfigError(f"visit is a function that is called with a Visit, or None, not {type(visit).__name__}")
        if client_secret is not None and client_id is None:
            raise ConfigError("client_secret needs the client_id that it belongs to")
        grant: Grant = Device() if device else Browser()
        client = None if client_id is None else OAuthClient(client_id, issuer=issuer, secret=client_secret)
        wishes = Wishes(
            grant=grant,
            scopes=scopes,
            client=client,
            client_document=client_metadata_url,
            client_name=client_name,
            issuer=issuer,
            redirect_port=redirect_port,
            visit=visit,
            trusted=trusted_hosts,
            dpop=dpop,
        )
        super().__init__(wishes, store)

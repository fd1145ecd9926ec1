"""Who is logged in, without asking anybody but the store, and without the tokens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syncline.auth.metadata import covers
from syncline.auth.stores.base import best_first
from syncline.auth.stores.choice import name_of, open_store
from syncline.auth.tokens import Damaged, DamagedKey
from syncline.config import HttpServer, as_server
from syncline.errors import ConfigError, CredentialStoreError

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode
    from syncline.auth.tokens import CredentialKey, Credentials


@dataclass(frozen=True)
class AuthStatus:
    """A login that is stored. It says nothing about whether the server would take the token.

    Attributes:
        issuer: The authorization server.
        resource: What the tokens are for (RFC 8707): the URL of the server, or the beginning of it.
        scopes: The scopes granted.
        expires_at: When the access token ends, in seconds since the epoch; None where nobody said.
        can_refresh: Whether another one can be had without a person.
        store: Where the tokens are, in words.
        principal: Who this is: the same after a refresh, another one after another login.
        client: The client that was configured for the login; empty for one that registered itself.
        damage: Why it cannot be used any more; what it was may be empty then, as nobody knows. None if it can.
    """

    issuer: str
    resource: str
    scopes: tuple[str, ...]
    expires_at: float | None
    can_refresh: bool
    store: str
    principal: str
    client: str = ""
    damage: str | None = None

    @property
    def login_needed(self) -> bool:
        """Whether a person has to log in again: the access token has ended, and nothing is there to get another one with."""
        ended = not self.can_refresh and self.expires_at is not None and self.expires_at <= time.time()
        return ended or self.damage is not None


def auth_status(server: str | HttpServer, *, store: Mode | CredentialStore = "auto") -> AuthStatus | None:
    """Who is logged in at a server; None if nobody is. Of several, the one who logged in last, if that login has not ended.

    Nothing is sent. Blocks while the store is read, which a keyring may take 3 seconds for.

    Args:
        server: Its URL, or an ``HttpServer``.
        store: Where to look, as in ``OAuth``.

    Raises:
        ConfigError: There is no such store, or no such server.
        CredentialStoreError: The store cannot be read, or holds what is damaged.
    """
    opened = open_store(store)
    found = stored(opened, http_server(server).url)
    return status_of(found[0], opened) if found else None


def auth_statuses(*, store: Mode | CredentialStore = "auto") -> list[AuthStatus]:
    """All logins that are stored, by resource, and what is damaged. Blocks and raises as ``auth_status`` does, but for damage."""
    opened = open_store(store)
    found = [each for key in _logins(opened) if (each := _found(key, opened)) is not None]
    return sorted(found, key=lambda each: (each.resource, each.issuer, each.client))


def _found(key: CredentialKey, store: CredentialStore) -> AuthStatus | None:
    try:
        credentials = store.load(key)
    except CredentialStoreError as error:
        if not isinstance(key, DamagedKey) and not isinstance(error, Damaged):
            raise
        return AuthStatus(key.issuer, key.resource, (), None, False, error.store, "", key.client, damage=error.message)
    return None if credentials is None else status_of(credentials, store)


def status_of(credentials: Credentials, store: CredentialStore) -> AuthStatus:
    """What may be told of credentials that a store has just loaded or saved."""
    return AuthStatus(
        issuer=credentials.issuer,
        resource=credentials.resource,
        scopes=credentials.scopes,
        expires_at=credentials.expires_at,
        can_refresh=credentials.refresh_token is not None,
        store=name_of(store, credentials.key),
        principal=credentials.principal,
        client=credentials.client,
    )


def keys_for(store: CredentialStore, url: str) -> list[CredentialKey]:
    """The logins that a store may have for a server, whatever the client."""
    return [key for key in _logins(store) if covers(key.resource, url)]


def stored(store: CredentialStore, url: str) -> Sequence[Credentials]:
    """The logins that a store has for a server, the best first."""
    return best_first(store, keys_for(store, url))


def _logins(store: CredentialStore) -> list[CredentialKey]:
    """What people have logged in for, and not what programs have got by themselves."""
    return [key for key in list(store.keys()) if not key.of_program]


def http_server(server: str | HttpServer) -> HttpServer:
    """A server that people can log in at. Raises ``ConfigError`` for any other."""
    meant = as_server(server)
    if not isinstance(meant, HttpServer):
        raise ConfigError(
            f"nobody can log in at {meant.name}, which is a command: it gets its credentials from its environment (env, env_vars); "
            "a URL begins with https:// or http://"
        )
    return meant

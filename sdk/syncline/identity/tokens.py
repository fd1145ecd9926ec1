"""The tokens for one server: found in the store, kept fresh, replaced by those of a login."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from syncline.auth.clients import OAuthClient
from syncline.auth.flow import Authorized
from syncline.auth.metadata import canonical, covers
from syncline.auth.refreshing import Refresher
from syncline.auth.scopes import Upgrades
from syncline.auth.steps import Forget, Kept, Recall
from syncline.auth.stores.base import best_first
from syncline.auth.tokens import CredentialKey, Credentials, DamagedKey
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.errors import AuthRequired, CredentialStoreError

if TYPE_CHECKING:
    from syncline.auth.settings import Budget
    from syncline.auth.stores.base import CredentialStore

    #: Gets new tokens for a refresh token, at the authorization server that gave it.
    Exchange = Callable[[Credentials], Credentials]


class Tokens:
    """See the module. For all threads, and all connections to the server.

    Args:
        url: The URL of the server.
        client: Who we are, as the store has it; see ``CredentialKey``.
        store: Where they are kept.

    Attributes:
        turn: Held while somebody logs in, so that nobody else has to.
        upgrades: Which scopes were asked for in vain. Requires the turn.
    """

    def __init__(self, url: str, client: str, store: CredentialStore) -> None:
        self._url = url
        self._client = client
        self._store = store
        self.turn = new_lock()
        self.upgrades = Upgrades()
        self._lock = new_lock()
        self._looked = False
        self._refresher: Refresher | None = None
        self._brought: tuple[Budget, Credentials] | None = None
        self._unsent = False

    def current(
        self,
        exchange: Exchange,
        deadline: Deadline,
        over: CancelToken,
        rejected: str | None = None,
        *,
        look: bool = False,
    ) -> Credentials | None:
        """Credentials that can be sent; None if there are none, or they are of no use without a login.

        Blocks while they are read or refreshed, until the deadline or until it is ``over``. Raises what
        ``Refresher.credentials`` does.

        Args:
            exchange: Refreshes them.
            deadline: How long to wait.
            over: Ends the wait.
            rejected: See ``Refresher.credentials``.
            look: Whether somebody else may have logged in, so that the store is to be looked at again.
        """
        refresher = self._find(exchange, look=look)
        if refresher is None:
            return None
        try:
            return refresher.credentials(deadline, rejected, over)
        except AuthRequired:
            return self._brought_now(rejected)

    def keep(
        self,
        authorized: Authorized,
        exchange: Exchange,
        private_key: str | None = None,
        *,
        with_secret: bool = False,
    ) -> Credentials:
        """Keep what a login has brought, with the private key that it is bound to.

        The secret of a client that registered itself is kept in any case, and that of a configured one ``with_secret``.
        """
        now, token = time.time(), authorized.token
        client = authorized.client or OAuthClient("")
        credentials = Credentials(
            issuer=authorized.issuer,
            resource=authorized.resource or canonical(self._url),
            client_id=client.client_id,
            access_token=token.access_token,
            client=self._client,
            client_secret=client.secret if with_secret or client.source == "registered" else None,
            client_secret_expires_at=client.secret_expires_at,
            auth_method=client.auth_method,
            redirect_uri=next(iter(client.redirect_uris), None),
            client_scopes=client.scopes,
            token_type=token.token_type,
            refresh_token=token.refresh_token,
            scopes=authorized.granted,
            requested=authorized.requested,
            expires_at=token.expires_at(now),
            obtained_at=now,
            principal=secrets.token_hex(8),
            legacy=authorized.resource is None,
            private_key=private_key,
        )
        with self._lock:
            if self._refresher is None or self._refresher.key != credentials.key:
                self._refresher = Refresher(credentials.key, self._store, exchange)
            refresher = self._refresher
            self._brought, self._unsent = (authorized.budget, credentials), True
        refresher.login(credentials)
        return credentials

    def left(self, token: str | None) -> Budget | None:
        """What the latest login left of its budget, if a token is the one that it brought."""
        brought = self._brought
        return brought[0] if brought is not None and brought[1].access_token == token else None

    def stored(self) -> list[Credentials]:
        """What is in the store for the server, the best first."""
        return best_first(self._store, self._keys())

    def issuers(self) -> list[str]:
        """The authorization servers that something is kept of."""
        return [key.issuer for key in self._keys()]

    # What a flow asks

    def recall(self, step: Recall) -> Kept:
        """What is kept for an authorization server; nothing where that cannot be read: a login replaces it."""
        credentials = None
        with contextlib.suppress(CredentialStoreError):
            credentials = self._store.load(self._key(step.issuer, step.resource))
        if credentials is None:
            return Kept()
        client = None
        ended = credentials.client_secret_expires_at
        if credentials.client_id != self._client and (ended is None or ended > time.time()):
            client = OAuthClient(
                credentials.client_id,
                issuer=credentials.issuer,
                secret=credentials.client_secret,
                auth_method=credentials.auth_method,
                redirect_uris=(credentials.redirect_uri,) if credentials.redirect_uri else (),
                scopes=credentials.client_scopes,
                source="registered",
                secret_expires_at=ended,
            )
        return Kept(client, credentials.requested, credentials.scopes)

    def prepare(self, step: Recall, deadline: Deadline) -> Kept:
        """The same for a login that people are asked for: raises ``CredentialStoreError`` where it could not be kept."""
        with self._store.lock(self._key(step.issuer, step.resource), deadline):
            return self.recall(step)

    def forget(self, step: Forget) -> None:
        """A registration that was refused is kept no longer, if it still is what is kept."""
        for key in self._keys():
            credentials = self._store.load(key) if key.issuer == step.issuer else None
            if credentials is not None and credentials.client_id == step.client_id:
                self._store.delete(key, only=credentials)

    # Inside

    def _brought_now(self, rejected: str | None) -> Credentials | None:
        """What the latest login brought, to its very end and at least once, where no refresh brings anything better."""
        brought = None if self._brought is None else self._brought[1]
        if brought is None or brought.refresh_token or brought.access_token == rejected:
            return None
        unsent, self._unsent = self._unsent, False
        return brought if unsent or not brought.expires_within(time.time(), 0) else None

    def _key(self, issuer: str, resource: str | None) -> CredentialKey:
        return CredentialKey(issuer, resource or canonical(self._url), self._client)

    def _keys(self) -> list[CredentialKey]:
        """What is kept for the server. What cannot be read is as good as none: a login replaces it."""
        keys = [key for key in list(self._store.keys()) if not isinstance(key, DamagedKey)]
        return [key for key in keys if key.client == self._client and covers(key.resource, self._url)]

    def _find(self, exchange: Exchange, *, look: bool) -> Refresher | None:
        """What keeps the newest tokens fresh. The store is read without the lock: it may block, and prompt."""
        with self._lock:
            if self._looked and not look:
                return self._refresher
        newest = next(iter(self.stored()), None)
        with self._lock:
            self._looked = True
            if newest is not None and (self._refresher is None or self._refresher.key != newest.key):
                self._refresher = Refresher(newest.key, self._store, exchange)
            return self._refresher

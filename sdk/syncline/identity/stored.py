"""Going by what people have logged in with before: for programs that serve them, such as the command line."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from syncline.auth.stores.choice import open_store
from syncline.concurrency.locks import new_lock
from syncline.errors import CredentialStoreError

from .status import keys_for, stored

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode
    from syncline.config import Authorization, HttpServer

    from .oauth import OAuth

log = logging.getLogger("syncline.auth")


class StoredLogins:
    """An ``Authorizer``: the newest login that is stored for a server, as whatever client that was; nobody is asked.

    A server that nothing is stored for gets no credentials, and what it refuses stays refused.
    """

    extensions: ClassVar[Mapping[str, object]] = {}

    def __init__(self, store: Mode | CredentialStore = "auto") -> None:
        self._store = open_store(store)
        self._lock = new_lock()
        self._by_client: dict[str, OAuth] = {}

    def at(self, server: HttpServer) -> Authorization | None:
        """Speak for us at a server; see ``Authorizer``. Blocks while the store is read."""
        try:
            client = self._client(server.url)
        except CredentialStoreError as error:
            log.warning("%s: stored logins are not used: %s", server.name, error)
            client = None
        if client is None:
            return None
        from .oauth import OAuth

        with self._lock:
            if client not in self._by_client:
                self._by_client[client] = OAuth(client_id=client or None, store=self._store)
            return self._by_client[client].at(server)

    def _client(self, url: str) -> str | None:
        """The client of the newest login; None if there is none. Reads secrets only where there are several."""
        clients = list({key.client for key in keys_for(self._store, url)})
        if len(clients) > 1:
            clients = [each.client for each in stored(self._store, url)]
        return clients[0] if clients else None

    def __repr__(self) -> str:
        return f"<StoredLogins {self._store.name}>"

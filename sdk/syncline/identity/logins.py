"""What all ways of logging in have in common: one object for any number of servers, one store of tokens behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from syncline.auth.stores.choice import open_store
from syncline.concurrency.locks import new_lock

from .server_login import ServerLogin, Wishes
from .tokens import Tokens

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode
    from syncline.config import HttpServer


class Logins:
    """An ``Authorizer`` that gets tokens by a flow.

    Attributes:
        store: Where they are kept.
        extensions: See ``Authorizer``.
    """

    extensions: ClassVar[Mapping[str, object]] = {}

    def __init__(self, wishes: Wishes, store: Mode | CredentialStore) -> None:
        self._wishes = wishes
        self.store = open_store(store)
        self._lock = new_lock()
        self._tokens: dict[str, Tokens] = {}

    def at(self, server: HttpServer) -> ServerLogin:
        """Speak for us at a server; see ``Authorizer``."""
        return ServerLogin(server, self._wishes, self.tokens(server.url))

    def shared(self, server: HttpServer) -> ServerLogin:
        """The same, to log in for programs that use the store and have none of our settings."""
        return ServerLogin(server, replace(self._wishes, shared=True), self.tokens(server.url))

    def tokens(self, url: str) -> Tokens:
        """What is kept for a server."""
        with self._lock:
            if url not in self._tokens:
                self._tokens[url] = Tokens(url, self._wishes.stored_as, self.store)
            return self._tokens[url]

    def __repr__(self) -> str:
        return f"<syncline.{type(self).__name__} {self.store.name}>"

"""Which store is meant by a word, and moving from one to another."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from syncline.auth.tokens import CredentialKey
from syncline.concurrency.deadline import Deadline
from syncline.errors import ConfigError, CredentialStoreError

from .auto import AutoStore
from .base import CredentialStore, newer
from .file import FileStore
from .keyring import KeyringStore
from .memory import MemoryStore

if TYPE_CHECKING:
    from typing import TypeAlias

    Mode: TypeAlias = Literal["auto", "keyring", "file", "memory"]

#: Mode → store. ``auto``: the keyring, or files where none answers within 3 seconds. ``memory``: that of this process.
MODES: dict[str, Callable[[], CredentialStore]] = {
    "auto": lambda: AutoStore(KeyringStore(), FileStore()),
    "keyring": KeyringStore,
    "file": FileStore,
    "memory": lambda: MemoryStore.shared,
}

_METHODS = ("load", "save", "delete", "keys", "lock")

log = logging.getLogger("syncline.auth")


def open_store(store: Mode | CredentialStore) -> CredentialStore:
    """The store for a mode; a store is itself. Nothing is read or made yet.

    Raises ``ConfigError`` for what is neither.
    """
    if isinstance(store, str) and store in MODES:
        return MODES[store]()
    if isinstance(store, str) or not all(hasattr(store, method) for method in _METHODS):
        given = repr(store) if isinstance(store, str) else type(store).__name__
        raise ConfigError(f"store is one of {', '.join(map(repr, MODES))}, or a CredentialStore, not {given}")
    return store


def name_of(store: CredentialStore, key: CredentialKey) -> str:
    """Where credentials are that a store has just loaded or saved, in words."""
    return (store.home(key) if isinstance(store, AutoStore) else store).name


def migrate(source: CredentialStore, target: CredentialStore, *, timeout: float = 60.0) -> list[CredentialKey]:
    """Move all credentials to another store. Each leaves its old place when it can be read from the new one.

    Of two for the same purpose the newer ones are kept. Damaged ones stay where they are, with a warning. What has been moved when
    an error comes stays moved, and the rest stays where it was.

    Args:
        source: Where they are.
        target: Where they go.
        timeout: Seconds to wait for a refresh that is under way.

    Returns:
        What is in the target now and was in the source before.

    Raises ``ConfigError`` for a store that is two, ``CredentialStoreError`` for what cannot be read or written.
    """
    if source is target or isinstance(source, AutoStore) or isinstance(target, AutoStore):
        raise ConfigError("credentials are moved from one store to another one; auto is two at once")
    moved = []
    for key in list(source.keys()):
        with source.lock(key, Deadline(timeout)), target.lock(key, Deadline(timeout)):
            try:
                found = source.load(key)
            except CredentialStoreError as error:
                log.warning("not moved: %s", error)
                continue
            if found is None:
                continue
            if newer(found, target.load(key)):
                target.save(found)
                if target.load(key) != found:
                    raise CredentialStoreError(f"{target.name} did not keep what was written", store=target.name)
            if source.delete(key, only=found):
                moved.append(key)
    return moved

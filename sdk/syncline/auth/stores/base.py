"""What a store of credentials can do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from syncline.auth.tokens import CredentialKey, Credentials
from syncline.concurrency.deadline import Deadline


class CredentialStore(Protocol):
    """Keeps credentials. Called from any thread, by any number of processes where the store outlives one.

    Each change is made whole or not at all, and a change with a condition is one step: nothing comes between the look and the
    change. All methods raise ``CredentialStoreError`` when that cannot be done; each is bounded in time by the store.
    """

    @property
    def name(self) -> str:
        """The store in words, for messages: ``the keyring (SecretService)``."""
        ...

    def load(self, key: CredentialKey) -> Credentials | None:
        """What is kept; None if nothing is. Whatever is there and cannot be used is an error, never None."""
        ...

    def save(self, credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        """Keep credentials under their key. Nothing is lost if that fails.

        Args:
            credentials: What to keep.
            instead_of: Save only if these are what is kept now, by ``same_tokens``. None: whatever is kept.

        Returns:
            Whether they are kept now.
        """
        ...

    def delete(self, key: CredentialKey, *, only: Credentials | None = None) -> bool:
        """Keep nothing under a key any more.

        Args:
            key: What they are for.
            only: Delete only these, by ``same_tokens``. None: whatever is kept, damaged or not.

        Returns:
            Whether there was something that is gone now.
        """
        ...

    def keys(self) -> Sequence[CredentialKey]:
        """What there may be credentials for, in no order, with a ``DamagedKey`` for each that cannot be read.

        Reads no secret where that could ask a person for permission.
        """
        ...

    def lock(self, key: CredentialKey, deadline: Deadline) -> AbstractContextManager[None]:
        """To be held by whoever refreshes, so that nobody else does; it guards nothing else.

        Blocks until it is free or the deadline, which raises ``CredentialStoreError``. It ends with the process that holds it.
        """
        ...


def newer(one: Credentials | None, other: Credentials | None) -> bool:
    """Whether the first were obtained after the second, or there are no second ones."""
    return one is not None and (other is None or (one.obtained_at or 0) > (other.obtained_at or 0))


def best_first(store: CredentialStore, keys: Iterable[CredentialKey]) -> list[Credentials]:
    """What a store has for some keys, in the order in which to use it: the newest first, and logins that have ended last."""
    found = [credentials for key in keys if (credentials := store.load(key)) is not None]
    return sorted(found, key=lambda each: (not each.access_token, -(each.obtained_at or 0)))

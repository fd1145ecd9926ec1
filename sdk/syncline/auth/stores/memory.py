"""Credentials for as long as the process lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from syncline.auth.tokens import CredentialKey, Credentials
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.errors import CredentialStoreError

if TYPE_CHECKING:
    from syncline.concurrency.locks import Lock


class MemoryStore:
    """See ``CredentialStore``. ``MemoryStore.shared`` is the one of this process."""

    shared: ClassVar[MemoryStore]
    name = "memory"

    def __init__(self) -> None:
        self._kept: dict[CredentialKey, Credentials] = {}
        self._lock = new_lock()
        self._refreshing: dict[CredentialKey, Lock] = {}

    def load(self, key: CredentialKey) -> Credentials | None:
        """See ``CredentialStore``."""
        with self._lock:
            return self._kept.get(key)

    def save(self, credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        """See ``CredentialStore``."""
        with self._lock:
            if instead_of is not None and not instead_of.same_tokens(self._kept.get(credentials.key)):
                return False
            self._kept[credentials.key] = credentials
            return True

    def delete(self, key: CredentialKey, *, only: Credentials | None = None) -> bool:
        """See ``CredentialStore``."""
        with self._lock:
            if only is not None and not only.same_tokens(self._kept.get(key)):
                return False
            return self._kept.pop(key, None) is not None

    def keys(self) -> Sequence[CredentialKey]:
        """See ``CredentialStore``."""
        with self._lock:
            return list(self._kept)

    @contextmanager
    def lock(self, key: CredentialKey, deadline: Deadline) -> Iterator[None]:
        """See ``CredentialStore``. Free in a forked child, whose refreshes are its own."""
        with self._lock:
            refreshing = self._refreshing.setdefault(key, new_lock())
        taken: list[bool] = []
        try:
            if not take(refreshing, deadline, taken):
                raise CredentialStoreError(
                    f"another thread is still refreshing the credentials for {key.resource}; try again", store=self.name
                )
            yield
        finally:
            if True in taken:
                refreshing.release()


MemoryStore.shared = MemoryStore()

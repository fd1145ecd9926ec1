"""Credentials for as long as the process lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

from syncline.auth.tokens import CredentialKey, Credentials
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.monitor import Monitor
from syncline.errors import CredentialStoreError


class MemoryStore:
    """See ``CredentialStore``. ``MemoryStore.shared`` is the one of this process."""

    shared: ClassVar[MemoryStore]
    name = "memory"

    def __init__(self) -> None:
        self._kept: dict[CredentialKey, Credentials] = {}
        self._lock = new_lock()
        self._refreshing: set[CredentialKey] = set()
        self._refreshes = Monitor()

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
        """See ``CredentialStore``."""
        if not self._refreshes.wait(lambda: self._claim(key), deadline):
            raise CredentialStoreError(
                f"another thread is still refreshing the credentials for {key.resource}; try again", store=self.name
            )
        try:
            yield
        finally:
            with self._refreshes:
                self._refreshing.discard(key)

    def _claim(self, key: CredentialKey) -> bool:
        """Take a key if nobody has it. Requires the monitor's lock."""
        if key in self._refreshing:
            return False
        self._refreshing.add(key)
        return True


MemoryStore.shared = MemoryStore()

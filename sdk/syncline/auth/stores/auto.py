"""The keyring where one answers, files where none does."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager

from syncline.auth.tokens import CredentialKey, Credentials
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.errors import CredentialStoreError

from .base import CredentialStore, newer
from .file import FileStore
from .keyring import KeyringStore, NoKeyring

log = logging.getLogger("syncline.auth")


class AutoStore:
    """See ``CredentialStore``. Files are the second choice, and a warning says when it is made.

    Where credentials were found, or put by a login, is where they are refreshed as long as they are there: a failure is an error,
    never a reason to look elsewhere. If both have some, the newer ones count.
    """

    def __init__(self, keyring: KeyringStore, files: FileStore) -> None:
        self._keyring = keyring
        self._files = files
        self._lock = new_lock()
        self._homes: dict[CredentialKey, CredentialStore] = {}
        self._asked = False
        self._why: CredentialStoreError | None = None

    @property
    def name(self) -> str:
        """See ``CredentialStore``."""
        return f"{self._keyring.name} or {self._files.name}"

    def home(self, key: CredentialKey) -> CredentialStore:
        """Which of the two has credentials that were loaded or saved here; both, where that is not known."""
        return self._home(key) or self

    def load(self, key: CredentialKey) -> Credentials | None:
        """See ``CredentialStore``."""
        home = self._home(key)
        if home is not None and (found := home.load(key)) is not None:
            return found
        kept = None
        reason = self._reason()
        if reason is None:
            try:
                kept = self._keyring.load(key)
            except CredentialStoreError as error:
                reason = error
                log.warning("%s; looking in %s", error, self._files.name)
        in_file = None
        try:
            in_file = self._files.load(key)
        except CredentialStoreError as error:
            if kept is None:
                raise
            log.warning("%s", error)
        if newer(in_file, kept):
            return self._at_home(key, self._files, in_file)
        if reason is not None and self._keyring.remembers(key):
            log.warning("%s. The credentials for %s that it keeps are not used", reason, key.resource)
        return self._at_home(key, self._keyring, kept) if kept is not None else None

    def save(self, credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        """See ``CredentialStore``. With a condition, where they are; else in the keyring, or in a file if that fails."""
        key = credentials.key
        if instead_of is not None:
            self.load(key)
            home = self._home(key)
            return home is not None and home.save(credentials, instead_of=instead_of)
        reason = self._reason()
        if reason is None:
            try:
                self._keyring.save(credentials)
            except CredentialStoreError as error:
                reason = error
            else:
                self._at_home(key, self._keyring, credentials)
                self._clear_files(key)
                return True
        self._files.save(credentials)
        self._at_home(key, self._files, credentials)
        log.warning(
            "the credentials for %s are kept as plain text in %s, which only this user can read: %s",
            *(key.resource, self._files.name, reason),
        )
        return True

    def delete(self, key: CredentialKey, *, only: Credentials | None = None) -> bool:
        """See ``CredentialStore``. From both; what a keyring does not delete is left in the file, too."""
        try:
            kept = self._keyring.delete(key, only=only)
        except NoKeyring:
            if self._keyring.remembers(key):
                raise
            kept = False
        in_file = self._files.delete(key, only=only)
        if kept or in_file:
            with self._lock:
                self._homes.pop(key, None)
        return kept or in_file

    def keys(self) -> Sequence[CredentialKey]:
        """See ``CredentialStore``."""
        return list(dict.fromkeys([*self._keyring.keys(), *self._files.keys()]))

    def lock(self, key: CredentialKey, deadline: Deadline) -> AbstractContextManager[None]:
        """See ``CredentialStore``."""
        return (self._home(key) or self._files).lock(key, deadline)

    def _reason(self) -> CredentialStoreError | None:
        """Why the keyring is not used; None if it is. It is asked once."""
        if not self._asked:
            try:
                self._keyring.check()
            except CredentialStoreError as error:
                self._why = error
            self._asked = True
        return self._why

    def _clear_files(self, key: CredentialKey) -> None:
        try:
            self._files.delete(key)
        except CredentialStoreError as error:
            log.warning("older credentials for %s stay as plain text: %s", key.resource, error)

    def _home(self, key: CredentialKey) -> CredentialStore | None:
        with self._lock:
            return self._homes.get(key)

    def _at_home(self, key: CredentialKey, home: CredentialStore, found: Credentials | None) -> Credentials | None:
        with self._lock:
            self._homes[key] = home
        return found

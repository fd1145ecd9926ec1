"""Credentials in files, each of them ours alone."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from syncline.auth.tokens import CredentialKey, Credentials, DamagedKey, belonging
from syncline.concurrency.deadline import Deadline
from syncline.errors import CredentialStoreError

from .folder import Folder
from .places import credentials_directory

#: Reasons why a lock could not be had.
CHANGING = "another process has been writing these credentials for too long; try again"
REFRESHING = "another process has been refreshing these credentials for too long; try again"

log = logging.getLogger("syncline.auth")


class FileStore:
    """See ``CredentialStore``. One file of mode 0600 for each key, in plain text, in a folder of mode 0700.

    A file is replaced whole and is on the disk before ``save()`` returns; whoever is killed at any moment leaves the old one or the
    new one. Nothing but a change needs the folder to be writable.

    Args:
        directory: The folder; None for ``credentials`` in the folder that ``SYNCLINE_STATE_DIR`` names, or the platform's.
        timeout: Seconds to wait for another process that is writing.
    """

    def __init__(self, directory: Path | None = None, *, timeout: float = 5.0) -> None:
        self._folder = Folder(directory or credentials_directory())
        self._timeout = timeout

    @property
    def name(self) -> str:
        """See ``CredentialStore``."""
        return f"files in {self._folder.path}"

    def load(self, key: CredentialKey) -> Credentials | None:
        """See ``CredentialStore``. Waits for nobody."""
        name = f"{key.digest}.json"
        data = self._folder.read(name)
        if data is None:
            return None
        place = str(self._folder.path / name)
        return belonging(Credentials.from_json(data, place), key, place)

    def save(self, credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        """See ``CredentialStore``."""
        key = credentials.key
        with self._changing(key):
            if instead_of is not None and not instead_of.same_tokens(self.load(key)):
                return False
            self._folder.write(f"{key.digest}.json", credentials.to_json().encode())
            return True

    def delete(self, key: CredentialKey, *, only: Credentials | None = None) -> bool:
        """See ``CredentialStore``."""
        if not self._folder.has(f"{key.digest}.json"):
            return False
        with self._changing(key):
            if only is not None and not only.same_tokens(self.load(key)):
                return False
            return self._folder.delete(f"{key.digest}.json")

    def keys(self) -> Sequence[CredentialKey]:
        """See ``CredentialStore``. A warning tells of a file that cannot be read."""
        found: list[CredentialKey] = []
        for digest in self._folder.names(".json"):
            place = str(self._folder.path / f"{digest}.json")
            data = None
            try:
                if (data := self._folder.read(f"{digest}.json")) is not None:
                    found.append(Credentials.from_json(data, place).key)
            except CredentialStoreError as error:
                log.warning("%s", error)
                found.append(DamagedKey.of(data, digest))
        return found

    def lock(self, key: CredentialKey, deadline: Deadline) -> AbstractContextManager[None]:
        """See ``CredentialStore``."""
        return self._folder.locked(f"{key.digest}.refresh", deadline, REFRESHING)

    def _changing(self, key: CredentialKey) -> AbstractContextManager[None]:
        return self._folder.locked(f"{key.digest}.lock", Deadline(self._timeout), CHANGING)

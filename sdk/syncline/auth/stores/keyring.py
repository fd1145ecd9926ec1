"""Credentials in the system's keyring. The one door to the library ``keyring``, which is imported when it is first used."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from syncline.auth.tokens import CredentialKey, Credentials, DamagedKey, belonging, damaged
from syncline.concurrency.aside import Aside
from syncline.concurrency.deadline import Deadline
from syncline.errors import CredentialStoreError

from .file import CHANGING, REFRESHING
from .folder import Folder
from .pieces import GENERATIONS, Manifest, join, other, split
from .places import keyring_directory

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

#: Every entry is named ``syncline:…``. A service name for each, since Windows moves entries about that share one.
SERVICE = "syncline"
#: How often a value is read again that is being replaced meanwhile.
TRIES = 5
#: What the library of Secret Service raises for an entry that it has found, and that is not there any more when it is read.
GONE = "ItemNotFoundException"
#: What to do about a keyring that does not do what it should; most are only locked.
ADVICE = 'unlock it, or keep credentials elsewhere (store="file")'

Result = TypeVar("Result")

log = logging.getLogger("syncline.auth")
#: Keyrings misbehave when several threads enter them at once, and may block for ever: one thread for the whole process.
_aside = Aside("syncline:keyring")


class NoKeyring(CredentialStoreError):
    """There is no keyring here and now. What was kept in one may be there for those who log in another way."""


class KeyringStore:
    """See ``CredentialStore``. Never plain text: where there is no keyring, everything raises.

    Every operation is bounded in time, whatever the keyring does: it runs on a thread of its own, one at a time, and no lock is held
    by anybody who waits for it. What came too late may have been done nevertheless; the lock file that orders changes among
    processes is kept until the keyring has finished, so it never undoes what was done later.

    Long values are split, since keyrings have limits. Which keys there are cannot be asked of a keyring, so that is noted in a
    folder, without secrets.

    Args:
        timeout: Seconds for one operation. A person who has to unlock the keyring needs more than the default of 3.
        directory: The folder for notes and lock files; None for ``keyring`` in the folder that ``SYNCLINE_STATE_DIR`` names, or the
            platform's.
    """

    def __init__(self, *, timeout: float = 3.0, directory: Path | None = None) -> None:
        self._timeout = timeout
        self._folder = Folder(directory or keyring_directory())
        self._backend = ""

    @property
    def name(self) -> str:
        """See ``CredentialStore``."""
        return f"the keyring ({self._backend})" if self._backend else "the keyring"

    def check(self) -> None:
        """Raise ``CredentialStoreError`` unless a keyring answers that the library recommends; others may keep plain text."""

        def probe(ring: _Ring, _: Deadline) -> None:
            if not ring.recommended:
                raise CredentialStoreError(f"{self.name} is not one that is safe without being chosen", store=self.name)
            ring.get("probe")

        self._ask(probe)

    def load(self, key: CredentialKey) -> Credentials | None:
        """See ``CredentialStore``. Blocks for ``timeout`` at most."""
        value = self._ask(lambda ring, _: ring.value(key.digest, ring.get(key.digest)))
        return None if value is None else self._parsed(value, key)

    def save(self, credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        """See ``CredentialStore``. Blocks for ``timeout`` at most. What is kept already is not written again."""
        key = credentials.key
        value = credentials.to_json()

        def change(ring: _Ring, deadline: Deadline) -> bool:
            with self._changing(key, deadline):
                entry = ring.get(key.digest)
                if instead_of is not None and not instead_of.same_tokens(self._held(ring, key, entry)):
                    return False
                if entry == value:
                    return True
                self._note(key)
                ring.replace(key.digest, entry, value, deadline)
                return True

        return self._ask(change)

    def delete(self, key: CredentialKey, *, only: Credentials | None = None) -> bool:
        """See ``CredentialStore``. Blocks for ``timeout`` at most."""

        def change(ring: _Ring, deadline: Deadline) -> bool:
            if ring.get(key.digest) is None and not self.remembers(key):
                return False
            with self._changing(key, deadline):
                entry = ring.get(key.digest)
                if only is not None and not only.same_tokens(self._held(ring, key, entry)):
                    return False
                ring.forget(key.digest)
                self._folder.delete(f"{key.digest}.json")
                return entry is not None

        return self._ask(change)

    def keys(self) -> Sequence[CredentialKey]:
        """See ``CredentialStore``. Asks the folder, and not the keyring."""
        notes = ((digest, self._folder.read(f"{digest}.json")) for digest in self._folder.names(".json"))
        return [_noted(note, digest) for digest, note in notes if note is not None]

    def remembers(self, key: CredentialKey) -> bool:
        """Whether credentials were put there and not deleted since, whatever the keyring would say now; it is not asked."""
        return self._folder.has(f"{key.digest}.json")

    def lock(self, key: CredentialKey, deadline: Deadline) -> AbstractContextManager[None]:
        """See ``CredentialStore``."""
        return self._folder.locked(f"{key.digest}.refresh", deadline, REFRESHING)

    def _ask(self, work: Callable[[_Ring, Deadline], Result]) -> Result:
        deadline = Deadline(self._timeout)
        try:
            return _aside.run(lambda: work(self._ring(), deadline), deadline)
        except TimeoutError as error:
            raise CredentialStoreError(
                f"{self.name} did not answer within {self._timeout:g} seconds; it may be waiting for somebody to unlock it:"
                f" {ADVICE}",
                store=self.name,
            ) from error

    def _ring(self) -> _Ring:
        """The keyring of this machine and user. Called on the thread that may block: looking for one may."""
        try:
            import keyring
            from keyring.backends import fail, null

            backend = keyring.get_keyring()
        except Exception as error:  # of the library, of the backend that is configured, of any plug-in
            raise NoKeyring(f"{self.name} cannot be used: {_said(error)}", store=self.name) from error
        self._backend = f"{type(backend).__module__}.{type(backend).__qualname__}"
        if isinstance(backend, (fail.Keyring, null.Keyring)) or not getattr(backend, "backends", (backend,)):
            raise NoKeyring(
                f"there is no keyring here ({self._backend}); keep credentials elsewhere"
                ' (store="file" or "memory"), or see the documentation of the library keyring',
                store=self.name,
            )
        return _Ring(backend, self.name)

    def _held(self, ring: _Ring, key: CredentialKey, entry: str | None) -> Credentials | None:
        value = ring.value(key.digest, entry)
        return None if value is None else self._parsed(value, key)

    def _parsed(self, value: str, key: CredentialKey) -> Credentials:
        return belonging(Credentials.from_json(value, self.name), key, self.name)

    def _changing(self, key: CredentialKey, deadline: Deadline) -> AbstractContextManager[None]:
        return self._folder.locked(f"{key.digest}.lock", deadline, CHANGING)

    def _note(self, key: CredentialKey) -> None:
        if not self.remembers(key):
            note = {"version": 1, "issuer": key.issuer, "resource": key.resource, "client": key.client}
            self._folder.write(f"{key.digest}.json", json.dumps(note).encode())


class _Ring:
    """A keyring, whose entries are short texts, as a place for values of any length."""

    def __init__(self, backend: KeyringBackend, name: str) -> None:
        self._backend = backend
        self._name = name

    @property
    def recommended(self) -> bool:
        """Whether the library would choose it by itself for anybody."""
        return self._try("used", lambda: float(self._backend.priority)) >= 1

    def get(self, entry: str) -> str | None:
        found: object = self._try("read", lambda: self._read(f"{SERVICE}:{entry}"))
        if found is None or isinstance(found, str):
            return found
        raise damaged(self._name, "what the keyring returns is no text")

    def _read(self, service: str) -> object:
        """Once more where it vanished between being found and being read: another process has deleted it, or replaced it."""
        try:
            return self._backend.get_password(service, SERVICE)
        except Exception as error:
            if type(error).__name__ != GONE:
                raise
            return self._backend.get_password(service, SERVICE)

    def value(self, entry: str, found: str | None) -> str | None:
        """The whole value of which an entry was found; None if there is none. One that is replaced meanwhile is read again."""
        for _ in range(TRIES):
            manifest = Manifest.of(found)
            if found is None or manifest is None:
                return found
            pieces = [self.get(_piece(entry, manifest.generation, number)) for number in range(manifest.pieces)]
            if (value := join(manifest, pieces)) is not None:
                return value
            before, found = found, self.get(entry)
            if found == before:
                break
        raise damaged(self._name, "a part of them is missing")

    def replace(self, entry: str, found: str | None, value: str, deadline: Deadline) -> None:
        """Write a value beside the one that an entry holds now, switch over in one write, and tidy up.

        Raises ``TimeoutError`` instead of the switch when nobody waits for it any more.
        """
        before = Manifest.of(found)
        try:
            head, pieces = split(value, before)
        except ValueError:
            raise CredentialStoreError(f"the credentials are too long for {self._name}", store=self._name) from None
        fresh = other(before)
        for number, piece in enumerate(pieces):
            self._set(_piece(entry, fresh, number), piece)
        if deadline.expired:
            raise TimeoutError
        self._set(entry, head)
        try:
            self._trim(entry, fresh, len(pieces))
            self._trim(entry, other(Manifest(fresh, 1, "")), 0)
        except CredentialStoreError as error:
            log.warning("a part of replaced credentials stays until they are replaced again: %s", error)

    def forget(self, entry: str) -> None:
        """Delete a value, and all that crashes may have left of others."""
        self._delete(entry)
        for generation in GENERATIONS:
            self._trim(entry, generation, 0)

    def _trim(self, entry: str, generation: str, first: int) -> None:
        """Delete pieces from one on. The last one goes first, so that a crash leaves no gap."""
        end = first
        while self.get(_piece(entry, generation, end)) is not None:
            end += 1
        for number in reversed(range(first, end)):
            self._delete(_piece(entry, generation, number))

    def _set(self, entry: str, value: str) -> None:
        try:
            self._backend.set_password(f"{SERVICE}:{entry}", SERVICE, value)
        except Exception as error:  # its text, and what caused it, may repeat the value
            raise CredentialStoreError(
                f"{self._name} cannot be written: {type(error).__name__}; {ADVICE}", store=self._name
            ) from None

    def _delete(self, entry: str) -> None:
        if self.get(entry) is not None:
            self._try("changed", lambda: self._backend.delete_password(f"{SERVICE}:{entry}", SERVICE))

    def _try(self, done: str, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except Exception as error:  # not only KeyringError: backends raise whatever their systems do
            raise CredentialStoreError(
                f"{self._name} cannot be {done}: {_said(error)}; {ADVICE}", store=self._name
            ) from error


def _piece(entry: str, generation: str, number: int) -> str:
    return f"{entry}.{generation}.{number}"


def _said(error: Exception) -> str:
    said = str(error).rstrip(".!")
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _noted(note: bytes, digest: str) -> CredentialKey:
    try:
        members = json.loads(note)
        return CredentialKey(members["issuer"], members["resource"], members["client"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return DamagedKey.of(note, digest)

"""A folder that only we can look into, with files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.file_lock import FileLock
from syncline.errors import CredentialStoreError

from .places import VARIABLE

#: Bytes of a file that are read at most; nothing that is kept here comes near.
MOST = 1 << 20
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # for a pipe that somebody put there
_NO_SUCH_THING = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)


class Folder:
    """A folder of mode 0700 with files of mode 0600, all of them ours; it is made when something is first written.

    Symbolic links, files of others and files that others can read are refused, never followed or repaired: whatever they hold may
    be somebody else's, or known to somebody else. All methods raise ``CredentialStoreError``, which names the file.

    On Windows the folder's access list is what protects it; nothing is checked there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, name: str) -> bytes | None:
        """What is in a file; None if there is none."""
        with self._explaining(name, "read"), self._opened() as inside:
            if inside is None:
                return None
            try:
                descriptor = inside.open(name, os.O_RDONLY | _NO_WAIT)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                return file.read(MOST)

    def write(self, name: str, data: bytes) -> None:
        """Replace a file; when this returns, it is on the disk. Requires the lock that its writers share.

        Whoever reads it meanwhile, and whoever comes after a crash at any moment, finds the old file or the new one.
        """
        if len(data) > MOST:
            raise CredentialStoreError(f"{self._at(name)}: {len(data)} bytes are too many", store=self._at(name))
        temporary = f".{name}.{secrets.token_hex(4)}"
        with self._explaining(name, "written"), self._opened(make=True) as inside:
            assert inside is not None
            for leftover in inside.names():
                if leftover.startswith(f".{name}."):  # of a writer that was killed
                    inside.delete(leftover)
            try:
                with os.fdopen(inside.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                inside.rename(temporary, name)
            except BaseException:
                with contextlib.suppress(OSError):
                    inside.delete(temporary)
                raise
            inside.sync()

    def delete(self, name: str) -> bool:
        """Delete a file, whatever it is; False if there is none."""
        with self._explaining(name, "deleted"), self._opened() as inside:
            if inside is None:
                return False
            try:
                inside.delete(name)
            except FileNotFoundError:
                return False
            inside.sync()
            return True

    def has(self, name: str) -> bool:
        """Whether there is such a file, whatever it is."""
        return os.path.lexists(self._at(name))

    def names(self, suffix: str) -> list[str]:
        """The files whose names end so, without the end."""
        with self._explaining("", "read"), self._opened() as inside:
            found = inside.names() if inside is not None else []
            return [name[: -len(suffix)] for name in found if name.endswith(suffix) and not name.startswith(".")]

    @contextmanager
    def locked(self, name: str, deadline: Deadline, busy: str) -> Iterator[None]:
        """Hold a lock, by the name of its file, among all threads and processes.

        Blocks until it is free or the deadline, which raises with ``busy`` as the reason.
        """
        with self._explaining(name, "locked"), self._opened(make=True) as inside:
            assert inside is not None
            lock = FileLock(inside.open(name, os.O_RDWR | os.O_CREAT))
        try:
            with self._explaining(name, "locked"):
                if not lock.take(deadline):
                    raise CredentialStoreError(f"{self._at(name)}: {busy}", store=self._at(name))
            yield
        finally:
            lock.release()

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[_Inside | None]:
        """The folder; None if there is none."""
        if make:
            _make(self.path)
        elif not os.path.lexists(self.path):
            yield None
            return
        if sys.platform == "win32":
            yield _Inside(self.path, None)
            return
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | _NO_FOLLOW)
        try:
            _check(os.fstat(descriptor), str(self.path), "700")
            yield _Inside(self.path, descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def _explaining(self, name: str, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            for path in (self._at(name), str(self.path)):
                if os.path.islink(path):  # noqa: PTH114 - Path.is_symlink() raises where it cannot look
                    raise CredentialStoreError(
                        f"{path} is a symbolic link, which is not followed; remove it", store=path
                    ) from error
            what, advice = f"{self._at(name)} cannot be {done}", ""
            if done != "read":
                what = what if os.path.lexists(self.path) else f"the folder {self.path} cannot be made"
                advice = f"; set {VARIABLE} to a folder that can be written"
            raise CredentialStoreError(f"{what}: {error.strerror or error}{advice}", store=self._at(name)) from error

    def _at(self, name: str) -> str:
        return str(self.path / name)


class _Inside:
    """The folder, held open: what is done here is done in it, whatever becomes of its name meanwhile."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self._path = path
        self._descriptor = descriptor

    def open(self, name: str, flags: int) -> int:
        descriptor = os.open(self._at(name), flags | _NO_FOLLOW, 0o600, dir_fd=self._descriptor)
        try:
            _check(os.fstat(descriptor), str(self._path / name), "600")
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def rename(self, name: str, other: str) -> None:
        os.replace(self._at(name), self._at(other), src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def delete(self, name: str) -> None:
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def names(self) -> list[str]:
        return os.listdir(self._path if self._descriptor is None else self._descriptor)  # noqa: PTH208 - takes descriptors

    def sync(self) -> None:
        """Have it on the disk which files there are, where the system can."""
        try:
            if self._descriptor is not None:
                os.fsync(self._descriptor)
        except OSError as error:
            if error.errno not in _NO_SUCH_THING:
                raise

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else str(self._path / name)


def _make(folder: Path) -> None:
    """Make a folder, and those above it that are not there: ours alone, too, as the XDG base directory specification has it."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        _make(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _check(found: os.stat_result, path: str, mode: str) -> None:
    """Refuse what is not ours alone."""
    folder = mode == "700"
    if not (stat.S_ISDIR if folder else stat.S_ISREG)(found.st_mode):
        raise CredentialStoreError(f"{path} is not a {'folder' if folder else 'file'}; remove it", store=path)
    if sys.platform == "win32":
        return
    if found.st_uid != os.geteuid():
        raise CredentialStoreError(
            f"{path} belongs to another user (id {found.st_uid}, we are {os.geteuid()}); give it to us, or set"
            f" {VARIABLE} to a folder of ours",
            store=path,
        )
    if found.st_mode & 0o077:
        known = "" if folder else "; if they have looked into it, log out and in again"
        raise CredentialStoreError(
            f"{path} is open to other users (mode {stat.S_IMODE(found.st_mode):o}): chmod {mode} it{known}", store=path
        )

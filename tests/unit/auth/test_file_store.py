"""The store of files: whose they are, who may read them, and what a crash leaves."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from syncline.auth.stores.file import FileStore
from syncline.auth.stores.places import something_is_kept, state_directory
from syncline.auth.tokens import DamagedKey
from syncline.concurrency.deadline import Deadline
from syncline.errors import ConfigError, CredentialStoreError
from tests.unit.auth.samples import KEY, OTHER_KEY, some

#: Where programs find the samples.
ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "state" / "credentials"


@pytest.fixture
def store(home: Path) -> FileStore:
    return FileStore(home, timeout=60)


@pytest.fixture
def file(home: Path, store: FileStore) -> Path:
    """Where credentials are that have been saved."""
    store.save(some(1))
    return home / f"{KEY.digest}.json"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_folder_and_files_are_ours_alone_whatever_the_umask(home: Path, store: FileStore, umask: int) -> None:
    """G-1, F-1."""
    before = os.umask(umask)
    try:
        store.save(some(1))
        with store.lock(KEY, Deadline(1)):
            pass
    finally:
        os.umask(before)
    assert mode(home) == mode(home.parent) == 0o700
    assert {path.name: mode(path) for path in home.iterdir()} == dict.fromkeys(
        (f"{KEY.digest}.json", f"{KEY.digest}.lock", f"{KEY.digest}.refresh"), 0o600
    )


def test_looking_makes_nothing(home: Path, store: FileStore) -> None:
    """4.133: no writable home is needed."""
    assert store.load(KEY) is None
    assert list(store.keys()) == []
    assert not store.delete(KEY)
    assert not home.parent.exists()


def test_reading_works_in_a_folder_that_cannot_be_written(home: Path, store: FileStore, file: Path) -> None:
    """4.133."""
    home.chmod(0o500)
    try:
        assert store.load(KEY) == some(1)
    finally:
        home.chmod(0o700)


@pytest.mark.parametrize("loose", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_can_open_is_refused(store: FileStore, file: Path, loose: int) -> None:
    file.chmod(loose)
    with pytest.raises(CredentialStoreError, match=f"mode {loose:o}.*chmod 600") as caught:
        store.load(KEY)
    assert caught.value.store == str(file)
    assert store.save(some(2)), "a new login mends it"
    assert mode(file) == 0o600
    assert store.load(KEY) == some(2)


def test_a_folder_that_others_can_open_is_refused(home: Path, store: FileStore, file: Path) -> None:
    home.chmod(0o755)
    for use in (lambda: store.load(KEY), lambda: store.save(some(2)), lambda: store.delete(KEY), store.keys):
        with pytest.raises(CredentialStoreError, match=r"mode 755.*chmod 700"):
            use()
    home.chmod(0o700)
    assert store.load(KEY) == some(1)


@pytest.mark.parametrize("what", ["file", "lock", "folder"])
def test_a_symbolic_link_is_not_followed(tmp_path: Path, home: Path, what: str) -> None:
    store, target = FileStore(home), tmp_path / "target"
    if what == "folder":
        target.mkdir(mode=0o700)
        home.parent.mkdir()
        home.symlink_to(target)
        link = home
    else:
        target.write_bytes(b"untouched")
        target.chmod(0o600)
        home.mkdir(mode=0o700, parents=True)
        link = home / f"{KEY.digest}.{'json' if what == 'file' else 'lock'}"
        link.symlink_to(target)
    with pytest.raises(CredentialStoreError, match=f"{link} is a symbolic link"):
        store.load(KEY) if what != "lock" else store.save(some(1))
    if what == "file":
        assert store.save(some(1)), "the link is replaced, its target is not written"
        assert store.load(KEY) == some(1)
    if what == "folder":
        with pytest.raises(CredentialStoreError, match="symbolic link"):
            store.save(some(1))
        assert list(target.iterdir()) == []
    else:
        assert target.read_bytes() == b"untouched"


def test_files_of_another_user_are_refused(store: FileStore, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    us = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: us + 1)
    with pytest.raises(CredentialStoreError, match=rf"another user \(id {us}, we are {us + 1}\)"):
        store.load(KEY)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: Path(path).mkdir()], ids=["fifo", "folder"])
def test_what_is_not_a_file_is_refused_at_once(store: FileStore, file: Path, make: object) -> None:
    file.unlink()
    make(str(file))  # type: ignore[operator]
    file.chmod(0o700 if file.is_dir() else 0o600)
    with pytest.raises(CredentialStoreError, match="is not a file"):
        store.load(KEY)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "credentials").touch()
    store = FileStore(tmp_path / "credentials")
    for use in (lambda: store.load(KEY), lambda: store.save(some(1))):
        with pytest.raises(CredentialStoreError, match=str(tmp_path / "credentials")):
            use()


def test_a_damaged_file_is_an_error_and_no_more(store: FileStore, file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """4.127."""
    store.save(some(1, OTHER_KEY))
    file.write_bytes(b'{"version": 1, "access_token": "planted"')
    with pytest.raises(CredentialStoreError, match=f"{file} are damaged"):
        store.load(KEY)
    damaged = DamagedKey("", "", name=KEY.digest)
    assert set(store.keys()) == {OTHER_KEY, damaged}
    assert "damaged" in caplog.text
    assert "planted" not in caplog.text
    assert store.delete(damaged), "it can be deleted"
    assert list(store.keys()) == [OTHER_KEY]
    file.write_bytes(b"\x00")
    file.chmod(0o600)
    assert store.save(some(2)), "and replaced"


def test_a_file_under_the_name_of_another_is_not_used(home: Path, store: FileStore, file: Path) -> None:
    file.rename(home / f"{OTHER_KEY.digest}.json")
    with pytest.raises(CredentialStoreError, match=f"not for {OTHER_KEY.resource}"):
        store.load(OTHER_KEY)


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_save_that_fails_loses_nothing(
    home: Path, store: FileStore, file: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class Full:
        def __init__(self, descriptor: int, _: str) -> None:
            self._descriptor = descriptor

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self._descriptor)

        write = full

    with monkeypatch.context() as patch:
        patch.setattr("os.fdopen" if step == "write" else f"os.{step}", Full if step == "write" else full)
        with pytest.raises(CredentialStoreError, match="cannot be written: No space left") as caught:
            store.save(some(2))
    assert "planted-refresh-2" not in str(caught.value)
    assert store.load(KEY) == some(1)
    assert [path.name for path in home.iterdir() if path.name.startswith(".")] == []
    assert store.save(some(2))


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    store = FileStore(tmp_path / "home" / "state")
    for change in (lambda: store.save(some(1)), lambda: store.lock(KEY, Deadline(5)).__enter__()):
        with pytest.raises(CredentialStoreError) as caught:
            change()
        assert str(caught.value) == (
            f"the folder {tmp_path}/home/state cannot be made: Not a directory; "
            "set SYNCLINE_STATE_DIR to a folder that can be written"
        )


def test_what_could_not_be_read_again_is_not_written(store: FileStore, file: Path) -> None:
    with pytest.raises(CredentialStoreError, match="too many"):
        store.save(some(2, access_token="x" * 2_000_000))
    assert store.load(KEY) == some(1)


def test_the_wait_for_another_writer_is_bounded(home: Path, file: Path) -> None:
    with FileStore(home)._changing(KEY):
        with pytest.raises(CredentialStoreError, match="another process has been writing"):
            FileStore(home, timeout=0.02).save(some(2))
        assert FileStore(home).load(KEY) == some(1), "readers do not wait"
        assert FileStore(home, timeout=0.02).save(some(1, OTHER_KEY)), "nor do others"


WRITER = """
import sys
from pathlib import Path
from syncline.auth.stores.file import FileStore
from tests.unit.auth.samples import some
store, turn = FileStore(Path(sys.argv[1])), 0
while True:
    turn += 1
    store.save(some(turn, access_token=f"{turn}" * 50_000))
    print(turn, flush=True)
"""


def test_a_writer_that_is_killed_leaves_old_or_new(home: Path, store: FileStore) -> None:
    """What was saved is there; what was being saved is there whole, or not at all."""
    for turn in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(home)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        last = 0
        with writer.stdout:
            while last < 5 + turn:
                last = int(writer.stdout.readline())
            os.kill(writer.pid, signal.SIGKILL)
            writer.wait()
            last = int((writer.stdout.read().split() or [str(last)])[-1])
        found = store.load(KEY)
        assert found is not None
        assert found.refresh_token in (f"planted-refresh-{last}", f"planted-refresh-{last + 1}")
    assert store.save(some(1)), "the lock has ended with its process"
    assert [path.name for path in home.iterdir() if path.name.startswith(".")] == []


SAVER = """
import sys
from pathlib import Path
from syncline.auth.stores.file import FileStore
from syncline.auth.tokens import CredentialKey
from tests.unit.auth.samples import some
store, number = FileStore(Path(sys.argv[1]), timeout=60), sys.argv[2]
sys.stdin.readline()
assert store.save(some(number, CredentialKey("https://id.example", f"https://{number}.example")))
print(store.save(some(number), instead_of=some(0)))
"""


def test_many_processes_save_at_once(home: Path, store: FileStore) -> None:
    """4.132: nobody's credentials are lost; of those who replace the same ones, one does."""
    store.save(some(0))
    savers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, str(home), str(number)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(1, 13)
    ]
    for saver in savers:
        assert saver.stdin is not None
        saver.stdin.write("\n")
        saver.stdin.flush()
    said = [saver.communicate()[0].strip() for saver in savers]
    assert sorted(said) == ["False"] * 11 + ["True"]
    assert store.load(KEY) == some(said.index("True") + 1)
    assert len(store.keys()) == 13


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"SYNCLINE_STATE_DIR": "/srv/state"}, "linux", "/srv/state"),
        ({"XDG_STATE_HOME": "/x"}, "linux", "/x/syncline"),
        ({"XDG_STATE_HOME": "relative"}, "linux", "~/.local/state/syncline"),
        ({}, "linux", "~/.local/state/syncline"),
        ({}, "freebsd14", "~/.local/state/syncline"),
        ({"XDG_STATE_HOME": "/x"}, "darwin", "~/Library/Application Support/syncline"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/syncline"),
        ({}, "win32", "~/AppData/Local/syncline"),
    ],
)
def test_the_folder_is_where_the_platform_has_such(environ: dict[str, str], platform: str, expected: str) -> None:
    assert state_directory(environ, platform) == Path(expected).expanduser()


@pytest.mark.parametrize("chosen", ["state", "~/state", "./state"])
def test_a_folder_that_depends_on_where_a_program_runs(chosen: str) -> None:
    with pytest.raises(ConfigError, match=r"SYNCLINE_STATE_DIR is .*whole path"):
        state_directory({"SYNCLINE_STATE_DIR": chosen}, "linux")


def test_whether_there_may_be_anything_is_a_look_at_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNCLINE_STATE_DIR", str(tmp_path))
    assert not something_is_kept()
    store = FileStore()
    with store.lock(KEY, Deadline(5)):
        assert not something_is_kept()
    store.save(some())
    assert something_is_kept()
    store.delete(KEY)
    assert not something_is_kept()


def test_what_cannot_be_looked_at_may_hold_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keyring").write_text("in the way")
    monkeypatch.setenv("SYNCLINE_STATE_DIR", str(tmp_path))
    assert something_is_kept()

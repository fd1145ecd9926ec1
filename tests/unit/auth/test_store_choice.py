"""Which store is used, and moving to another one."""

from __future__ import annotations

import re
from pathlib import Path

import keyring.core
import pytest
from keyring.backends import fail

from syncline.auth.stores.auto import AutoStore
from syncline.auth.stores.base import CredentialStore
from syncline.auth.stores.choice import MODES, migrate, open_store
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.keyring import KeyringStore
from syncline.auth.stores.memory import MemoryStore
from syncline.concurrency.deadline import Deadline
from syncline.errors import ConfigError, CredentialStoreError
from tests.fixtures.keyrings import FakeKeyring
from tests.unit.auth.samples import KEY, OTHER_KEY, some


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "credentials", timeout=60)


@pytest.fixture
def ring(tmp_path: Path, fake_keyring: FakeKeyring) -> KeyringStore:
    return KeyringStore(directory=tmp_path / "keyring", timeout=60)


@pytest.fixture
def auto(ring: KeyringStore, files: FileStore) -> AutoStore:
    return AutoStore(ring, files)


def again(auto: AutoStore) -> AutoStore:
    """The same, as the next process finds it."""
    return AutoStore(auto._keyring, auto._files)


@pytest.fixture
def no_keyring(fake_keyring: FakeKeyring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", fail.Keyring())  # type: ignore[no-untyped-call]


def test_modes_are_four_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_keyring: FakeKeyring) -> None:
    """4.120."""
    monkeypatch.setenv("SYNCLINE_STATE_DIR", str(tmp_path / "state"))
    assert list(MODES) == ["auto", "keyring", "file", "memory"]
    assert [type(choose()).__name__ for choose in MODES.values()] == [
        "AutoStore",
        "KeyringStore",
        "FileStore",
        "MemoryStore",
    ]
    assert open_store("memory") is MemoryStore.shared
    assert not (tmp_path / "state").exists()
    assert fake_keyring.calls == {}
    open_store("file").save(some(1))
    open_store("keyring").save(some(1))
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["credentials", "keyring"]
    other = MemoryStore()
    assert open_store(other) is other
    for wrong, shown in (("disk", "'disk'"), (None, "NoneType"), (Path("/srv"), "PosixPath")):
        with pytest.raises(ConfigError, match=r"one of 'auto', 'keyring', 'file', 'memory', or a .*, not " + shown):
            open_store(wrong)  # type: ignore[arg-type]


def test_a_keyring_is_preferred(auto: AutoStore, ring: KeyringStore, files: FileStore) -> None:
    """4.122: what was in a file is gone when the keyring has it."""
    files.save(some(1))
    assert auto.save(some(2))
    assert (ring.load(KEY), files.load(KEY)) == (some(2), None)
    assert again(auto).load(KEY) == some(2)


@pytest.mark.usefixtures("no_keyring")
def test_without_a_keyring_a_file_is_used_and_said_to_be(
    auto: AutoStore, files: FileStore, caplog: pytest.LogCaptureFixture
) -> None:
    """B165."""
    assert auto.load(KEY) is None
    assert caplog.text == "", "nothing is kept, so there is nothing to warn of"
    assert auto.save(some(1))
    assert files.load(KEY) == some(1)
    assert "there is no keyring here" in caplog.text
    assert f"plain text in {files.name}" in caplog.text
    assert "planted-refresh-1" not in caplog.text
    assert again(auto).load(KEY) == some(1)
    caplog.clear()
    assert auto.save(some(2), instead_of=some(1))
    assert auto.delete(KEY)
    assert caplog.text == "", "said once"


def test_a_keyring_that_blocks_is_none(auto: AutoStore, files: FileStore, fake_keyring: FakeKeyring) -> None:
    """B167: asked once, and not again by every call."""
    asked = []

    def silent(*_: object) -> None:
        asked.append(1)
        raise CredentialStoreError("did not answer within 3 seconds", store="the keyring")

    fake_keyring.before = silent
    for turn in (1, 2, 3):
        assert auto.load(OTHER_KEY) is None
        assert auto.save(some(turn))
    assert len(asked) == 1
    assert files.load(KEY) == some(3)


def test_a_keyring_that_went_away_is_none(
    auto: AutoStore, files: FileStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Some say so when they are asked how good they are, by errors of any kind."""

    def gone(_: object) -> float:
        raise RuntimeError("the bus is gone")

    monkeypatch.setattr(FakeKeyring, "priority", property(gone))
    assert auto.save(some(1))
    assert files.load(KEY) == some(1)
    assert "FakeKeyring) cannot be used: RuntimeError: the bus is gone; unlock it, or keep" in caplog.text


def test_a_login_in_a_keyring_that_is_not_to_be_had_is_not_forgotten(
    auto: AutoStore,
    ring: KeyringStore,
    fake_keyring: FakeKeyring,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Somebody logs in at the desktop, and comes back by ssh."""
    ring.save(some(1))
    with monkeypatch.context() as by_ssh:
        by_ssh.setattr(keyring.core, "_keyring_backend", fail.Keyring())  # type: ignore[no-untyped-call]
        assert auto.load(OTHER_KEY) is None
        assert caplog.text == ""
        assert auto.load(KEY) is None
        assert f"The credentials for {KEY.resource} that it keeps are not used" in caplog.text
        with pytest.raises(CredentialStoreError, match="there is no keyring here"):
            auto.delete(KEY)
    assert again(auto).delete(KEY)
    assert fake_keyring.entries == {}


@pytest.mark.parametrize(("old", "new"), [("ring", "files"), ("files", "ring")])
def test_of_two_the_newer_one_counts(auto: AutoStore, old: str, new: str, ring: KeyringStore, files: FileStore) -> None:
    """A keyring that was locked during the last login holds what is of no use any more."""
    stores: dict[str, CredentialStore] = {"ring": ring, "files": files}
    stores[old].save(some(1, obtained_at=100.0))
    stores[new].save(some(2, obtained_at=200.0))
    assert auto.load(KEY) == some(2, obtained_at=200.0)


def test_a_keyring_that_fails_later_is_warned_of(
    auto: AutoStore, files: FileStore, fake_keyring: FakeKeyring, caplog: pytest.LogCaptureFixture
) -> None:
    """4.121, 4.122."""
    files.save(some(1))
    auto.load(OTHER_KEY)
    fake_keyring.failing = {"get", "set"}
    assert auto.load(KEY) == some(1)
    assert "looking in files" in caplog.text
    fake_keyring.failing = {"set"}
    assert auto.save(some(1, OTHER_KEY))
    assert files.load(OTHER_KEY) == some(1, OTHER_KEY)
    assert re.search(
        r"the credentials for \S+ are kept as plain text in files in .*: .* cannot be written: KeyringLocked; unlock it, or",
        caplog.text,
    )


def test_where_they_were_found_is_where_they_stay(
    auto: AutoStore, ring: KeyringStore, files: FileStore, fake_keyring: FakeKeyring
) -> None:
    """4.131: a failure there is no reason to take others from elsewhere, or to put them there."""
    ring.save(some(1))
    assert auto.load(KEY) == some(1)
    files.save(some(9))
    fake_keyring.failing = {"get", "set"}
    with pytest.raises(CredentialStoreError, match="KeyringLocked"):
        auto.load(KEY)
    with pytest.raises(CredentialStoreError, match="KeyringLocked"):
        auto.save(some(2), instead_of=some(1))
    fake_keyring.failing = set()
    assert auto.save(some(2), instead_of=some(1))
    assert (ring.load(KEY), files.load(KEY)) == (some(2), some(9))


def test_where_nothing_is_any_more_is_no_place_to_stay(auto: AutoStore, ring: KeyringStore, files: FileStore) -> None:
    ring.save(some(1))
    assert auto.load(KEY) == some(1)
    ring.delete(KEY)
    files.save(some(2))
    assert auto.load(KEY) == some(2)


def test_a_login_counts_though_older_credentials_cannot_be_deleted(
    auto: AutoStore, files: FileStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files.save(some(1))
    (tmp_path / "credentials").chmod(0o755)
    assert auto.save(some(2))
    assert auto.load(KEY) == some(2)
    assert "older credentials for https://notes.example/mcp stay as plain text" in caplog.text


def test_a_damaged_file_matters_where_the_keyring_has_nothing(
    auto: AutoStore, ring: KeyringStore, files: FileStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files.save(some(1))
    (tmp_path / "credentials" / f"{KEY.digest}.json").write_bytes(b"{")
    with pytest.raises(CredentialStoreError, match="damaged"):
        auto.load(KEY)
    ring.save(some(2))
    assert auto.load(KEY) == some(2)
    assert "damaged" in caplog.text


def test_a_refresh_is_locked_where_the_credentials_are(auto: AutoStore, ring: KeyringStore) -> None:
    """So a program that uses the keyring alone does not refresh them at the same time."""
    ring.save(some(1))
    auto.load(KEY)
    with auto.lock(KEY, Deadline(60)), pytest.raises(CredentialStoreError), ring.lock(KEY, Deadline(0)):
        raise AssertionError


@pytest.mark.parametrize("kept", [(), ("ring",), ("files",), ("ring", "files")])
def test_a_logout_leaves_nothing_anywhere(
    auto: AutoStore, ring: KeyringStore, files: FileStore, kept: tuple[str, ...]
) -> None:
    """4.124."""
    stores: dict[str, CredentialStore] = {"ring": ring, "files": files}
    for name, store in stores.items():
        if name in kept:
            store.save(some(1))
    assert auto.delete(KEY) is bool(kept)
    assert (ring.load(KEY), files.load(KEY), auto.load(KEY)) == (None, None, None)


def test_a_logout_that_the_keyring_refuses_is_an_error(
    auto: AutoStore, ring: KeyringStore, files: FileStore, fake_keyring: FakeKeyring
) -> None:
    """4.124: nobody is to believe that there is nothing any more."""
    ring.save(some(1))
    files.save(some(1))
    fake_keyring.failing = {"delete"}
    with pytest.raises(CredentialStoreError):
        auto.delete(KEY)
    assert files.load(KEY) == some(1)


def test_a_conditional_delete_leaves_what_is_newer(auto: AutoStore, ring: KeyringStore) -> None:
    ring.save(some(2))
    assert not auto.delete(KEY, only=some(1))
    assert auto.load(KEY) == some(2)
    assert not auto.save(some(3), instead_of=some(1))


def test_keys_are_those_of_both(auto: AutoStore, ring: KeyringStore, files: FileStore) -> None:
    ring.save(some(1))
    files.save(some(1))
    files.save(some(1, OTHER_KEY))
    assert sorted(auto.keys(), key=lambda key: key.resource) == [KEY, OTHER_KEY]


def test_a_conditional_save_of_what_nobody_knows_is_refused(auto: AutoStore) -> None:
    assert not auto.save(some(2), instead_of=some(1))
    assert auto.load(KEY) is None


@pytest.mark.parametrize("way", ["to file", "to keyring", "to memory"])
def test_credentials_move_whole(ring: KeyringStore, files: FileStore, way: str) -> None:
    source: CredentialStore = files if way == "to keyring" else ring
    targets: dict[str, CredentialStore] = {"to file": files, "to keyring": ring, "to memory": MemoryStore()}
    target = targets[way]
    source.save(some(1, access_token="x" * 5000, extra={"later": 1}))
    source.save(some(1, OTHER_KEY))
    assert set(migrate(source, target)) == {KEY, OTHER_KEY}
    assert target.load(KEY) == some(1, access_token="x" * 5000, extra={"later": 1})
    assert target.load(OTHER_KEY) == some(1, OTHER_KEY)
    assert list(source.keys()) == []
    assert migrate(source, target) == []


@pytest.mark.parametrize(("there", "kept"), [(50.0, 1), (150.0, 2)])
def test_a_move_keeps_the_newer_ones(files: FileStore, there: float, kept: int) -> None:
    target = MemoryStore()
    files.save(some(1, obtained_at=100.0))
    target.save(some(2, obtained_at=there))
    assert migrate(files, target) == [KEY]
    assert target.load(KEY) == some(kept, obtained_at=100.0 if kept == 1 else there)
    assert files.load(KEY) is None


def test_a_move_that_fails_loses_nothing(ring: KeyringStore, files: FileStore, fake_keyring: FakeKeyring) -> None:
    files.save(some(1))
    fake_keyring.failing = {"set"}
    with pytest.raises(CredentialStoreError):
        migrate(files, ring)
    assert files.load(KEY) == some(1)


def test_a_store_that_forgets_at_once_is_found_out(files: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    target = MemoryStore()
    monkeypatch.setattr(target, "save", lambda _: True)
    files.save(some(1))
    with pytest.raises(CredentialStoreError, match="memory did not keep"):
        migrate(files, target)
    assert files.load(KEY) == some(1)


def test_damaged_ones_stay_and_do_not_hold_up_others(
    ring: KeyringStore, files: FileStore, fake_keyring: FakeKeyring, caplog: pytest.LogCaptureFixture
) -> None:
    ring.save(some(1))
    ring.save(some(1, OTHER_KEY))
    fake_keyring.entries[f"syncline:{KEY.digest}", "syncline"] = "{"
    assert migrate(ring, files) == [OTHER_KEY]
    assert "not moved" in caplog.text
    assert (f"syncline:{KEY.digest}", "syncline") in fake_keyring.entries


def test_a_move_waits_for_a_refresh(files: FileStore) -> None:
    files.save(some(1))
    with files.lock(KEY, Deadline(60)), pytest.raises(CredentialStoreError, match="refreshing"):
        migrate(files, MemoryStore(), timeout=0.02)
    assert files.load(KEY) == some(1)


def test_auto_is_no_place_to_move_from_or_to(auto: AutoStore, files: FileStore) -> None:
    for source, target in ((auto, files), (files, auto), (files, files)):
        with pytest.raises(ConfigError):
            migrate(source, target)

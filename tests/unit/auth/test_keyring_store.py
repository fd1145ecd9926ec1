"""The store in the system's keyring, on keyrings that fail, block, prompt and have limits."""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring.core
import pytest
from keyring.backends import chainer, fail, null

from syncline.auth.stores.folder import Folder
from syncline.auth.stores.keyring import KeyringStore
from syncline.auth.tokens import Credentials, DamagedKey
from syncline.concurrency.deadline import Deadline
from syncline.errors import CredentialStoreError
from tests.fixtures.keyrings import FakeKeyring
from tests.fixtures.processes import eventually
from tests.unit.auth.samples import KEY, OTHER_KEY, some

HEAD = (f"syncline:{KEY.digest}", "syncline")


def long(turn: int) -> Credentials:
    """Credentials that need four pieces and a manifest."""
    return some(turn, access_token=f"planted-access-{turn}" + "x" * 4000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "keyring"


@pytest.fixture
def store(folder: Path, fake_keyring: FakeKeyring) -> KeyringStore:
    fake_keyring.limit = 2560
    return KeyringStore(directory=folder, timeout=60)


class Gate:
    """What a keyring waits for that blocks."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        self.method: str | None = None

    def block(self, method: str, _: str) -> None:
        if self.method in (None, method):
            self.reached.set()
            self.opened.wait()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """It opens at the end."""
    gate = Gate()
    yield gate
    gate.opened.set()


def test_a_short_value_is_one_entry_under_a_name_of_its_own(store: KeyringStore, fake_keyring: FakeKeyring) -> None:
    """4.126."""
    store.save(some(1))
    store.save(some(1, OTHER_KEY))
    assert list(fake_keyring.entries) == [HEAD, (f"syncline:{OTHER_KEY.digest}", "syncline")]


def test_nothing_is_left_of_long_values(store: KeyringStore, fake_keyring: FakeKeyring) -> None:
    for turn in (1, 2, 3):
        store.save(long(turn))
        assert len(fake_keyring.entries) == 5
        assert store.load(KEY) == long(turn)
    store.save(some(4))
    assert list(fake_keyring.entries) == [HEAD]
    store.save(long(5))
    assert store.delete(KEY)
    assert fake_keyring.entries == {}


def test_what_is_kept_already_is_not_written_again(store: KeyringStore, fake_keyring: FakeKeyring) -> None:
    """B170: each write makes a new item on macOS, which asks again."""
    store.save(some(1))
    store.save(some(1))
    assert fake_keyring.calls["set"] == 1


def test_a_listing_does_not_touch_the_keyring(store: KeyringStore, fake_keyring: FakeKeyring, folder: Path) -> None:
    """B170."""
    store.save(some(1))
    before = dict(fake_keyring.calls)
    (folder / "damaged.json").write_bytes(b"{")
    (folder / "damaged.json").chmod(0o600)
    assert set(store.keys()) == {KEY, DamagedKey("", "", name="damaged")}
    assert dict(fake_keyring.calls) == before
    assert all("planted-access-1" not in path.read_text() for path in folder.iterdir())


def test_notes_that_are_lost_lose_no_login(store: KeyringStore, folder: Path) -> None:
    store.save(some(1))
    (folder / f"{KEY.digest}.json").unlink()
    assert list(store.keys()) == []
    assert store.load(KEY) == some(1)
    assert store.delete(KEY)


@pytest.mark.parametrize("before", [None, some(1), long(1)], ids=["nothing", "short", "long"])
@pytest.mark.parametrize("after", [some(2), long(2)], ids=["short", "long"])
def test_a_write_that_stops_anywhere_leaves_old_or_new(
    store: KeyringStore, fake_keyring: FakeKeyring, before: Credentials | None, after: Credentials
) -> None:
    """B168. And what it leaves besides is gone after the next one."""
    stopped = 0
    while True:
        fake_keyring.entries.clear()
        if before is not None:
            store.save(before)
        left = [stopped]

        def stop(method: str, _: str, left: list[int] = left) -> None:
            if method != "get":
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt

        fake_keyring.before = stop
        try:
            store.save(after)
            whole = True
        except KeyboardInterrupt:
            whole = False
        fake_keyring.before = lambda *_: None
        found = store.load(KEY)
        assert found in ((after,) if whole else (before, after))
        if whole:
            assert stopped > 0
            break
        store.save(long(3))
        assert store.load(KEY) == long(3)
        assert len(fake_keyring.entries) == 5
        stopped += 1


@pytest.mark.parametrize("harm", ["lost", "changed"])
@pytest.mark.parametrize("piece", range(4))
def test_a_torn_value_is_an_error_and_can_be_replaced(
    store: KeyringStore, fake_keyring: FakeKeyring, harm: str, piece: int
) -> None:
    store.save(long(1))
    (entry,) = [entry for entry in fake_keyring.entries if entry[0].endswith(f".{piece}")]
    if harm == "lost":
        del fake_keyring.entries[entry]
    else:
        fake_keyring.entries[entry] = fake_keyring.entries[entry].replace("x", "y").replace("f", "g")
    with pytest.raises(CredentialStoreError, match=r"FakeKeyring\) are damaged: a part .* Log in again"):
        store.load(KEY)
    assert store.save(long(2))
    assert store.load(KEY) == long(2)


@pytest.mark.parametrize("after", range(1, 6))
def test_a_value_that_is_replaced_while_it_is_read_is_read_again(
    store: KeyringStore, fake_keyring: FakeKeyring, after: int
) -> None:
    """By another process, whose keyring calls come in between."""
    store.save(long(1))
    store.save(long(2))
    new = dict(fake_keyring.entries)
    fake_keyring.entries.clear()
    store.save(long(1))
    reads = [0]

    def replace(method: str, _: str) -> None:
        reads[0] += 1
        if reads[0] == after:
            fake_keyring.entries = new

    fake_keyring.before = replace
    assert store.load(KEY) == long(2)


@pytest.mark.parametrize(
    "backend", [fail.Keyring, null.Keyring, chainer.ChainerBackend], ids=["fail", "null", "chain of none"]
)
def test_a_keyring_that_is_none_is_said_to_be_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, backend: type[object]
) -> None:
    """B165. The null keyring would lose everything without a word."""
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [])
    monkeypatch.setattr(keyring.core, "_keyring_backend", backend())
    store = KeyringStore(directory=folder, timeout=60)
    for use in (store.check, lambda: store.load(KEY), lambda: store.save(some(1)), lambda: store.delete(KEY)):
        with pytest.raises(CredentialStoreError, match=r'there is no keyring here .*store="file"'):
            use()
    assert not folder.exists()


@pytest.mark.parametrize("name", ["no_such_module.Keyring", "keyring.backends.fail.NoSuchClass"])
def test_a_keyring_that_cannot_be_loaded_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", name)
    with pytest.raises(CredentialStoreError, match=r"the keyring cannot be used: (ModuleNotFound|Attribute)Error"):
        KeyringStore(directory=folder, timeout=60).load(KEY)


def test_without_the_library_there_is_no_keyring(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(CredentialStoreError, match="the keyring cannot be used: ModuleNotFoundError"):
        KeyringStore(directory=folder, timeout=60).load(KEY)


def test_a_keyring_that_only_its_user_would_choose_is_not_chosen(
    store: KeyringStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G-1: some keep plain text; the library gives those a low priority."""
    store.check()
    monkeypatch.setattr(FakeKeyring, "priority", 0.5)
    with pytest.raises(CredentialStoreError, match="not one that is safe without being chosen"):
        store.check()
    assert store.save(some(1)), "whoever asks for it gets it"


@pytest.mark.parametrize("method", ["get", "set", "delete"])
def test_a_keyring_that_fails_is_an_error_that_names_it(
    store: KeyringStore, fake_keyring: FakeKeyring, method: str
) -> None:
    """4.123: nothing else is tried."""
    store.save(long(1))
    fake_keyring.failing = {method}
    uses: dict[str, Callable[[], object]]
    uses = {"get": lambda: store.load(KEY), "set": lambda: store.save(some(2)), "delete": lambda: store.delete(KEY)}
    with pytest.raises(
        CredentialStoreError, match=r"keyring \(tests.*FakeKeyring\) cannot be .*KeyringLocked"
    ) as caught:
        uses[method]()
    assert caught.value.store == store.name
    fake_keyring.failing = set()
    assert store.load(KEY) == long(1)


@pytest.mark.parametrize("times", [1, 2])
def test_an_entry_that_vanishes_between_search_and_reading_is_looked_for_again(
    store: KeyringStore, fake_keyring: FakeKeyring, times: int
) -> None:
    """As with Secret Service, when another process has just replaced it."""
    store.save(some(1))
    gone = [type("ItemNotFoundException", (Exception,), {})("Item does not exist") for _ in range(times)]

    def vanish(*_: object) -> None:
        if gone:
            raise gone.pop()

    fake_keyring.before = vanish
    if times == 1:
        assert store.load(KEY) == some(1)
    else:
        with pytest.raises(CredentialStoreError, match="Item does not exist"):
            store.load(KEY)


def test_a_keyring_that_returns_anything_else_is_an_error(store: KeyringStore, fake_keyring: FakeKeyring) -> None:
    fake_keyring.entries[HEAD] = b"planted-access-1"  # type: ignore[assignment]
    with pytest.raises(CredentialStoreError, match="no text"):
        store.load(KEY)


def test_an_error_that_repeats_the_secret_is_not_passed_on(store: KeyringStore, fake_keyring: FakeKeyring) -> None:
    fake_keyring.limit = 100
    with pytest.raises(CredentialStoreError, match="cannot be written: OSError") as caught:
        store.save(some(1))
    assert "planted-refresh-1" not in "".join(traceback.format_exception(caught.value))


def test_what_is_too_long_for_any_keyring_is_an_error(store: KeyringStore) -> None:
    store.save(some(1))
    with pytest.raises(CredentialStoreError, match="too long"):
        store.save(some(2, access_token="x" * 2_000_000))
    assert store.load(KEY) == some(1)


def test_a_keyring_that_blocks_is_left_behind(folder: Path, fake_keyring: FakeKeyring, gate: Gate) -> None:
    """B167: it may wait for somebody who unlocks it, and nobody sees the prompt."""
    patient, store = KeyringStore(directory=folder, timeout=3600), KeyringStore(directory=folder, timeout=0.02)
    patient.save(some(1))
    fake_keyring.before = gate.block
    uses = (lambda: store.load(KEY), lambda: store.save(some(2)), lambda: store.delete(KEY), store.check)
    while not gate.reached.is_set():
        for use in uses:
            with pytest.raises(CredentialStoreError, match=r"did not answer within 0\.02 seconds.*unlock it"):
                use()
    for use in (lambda: patient.load(KEY), *uses):
        with pytest.raises(CredentialStoreError, match="did not answer"):
            use()  # at once: it is known to block
    assert fake_keyring.calls["get"] == 3 + 1, "whoever gave up is not served later"
    gate.opened.set()
    assert eventually(lambda: _loaded(patient) == some(1), 60), "and it is back when it has been unlocked"


def _loaded(store: KeyringStore) -> Credentials | None:
    try:
        return store.load(KEY)
    except CredentialStoreError:
        return None


def test_a_save_that_nobody_waits_for_any_more_is_not_finished(
    folder: Path, fake_keyring: FakeKeyring, gate: Gate
) -> None:
    patient = KeyringStore(directory=folder, timeout=60)
    patient.save(some(1))
    gate.method = "set"
    fake_keyring.before = gate.block
    while not gate.reached.is_set():
        with pytest.raises(CredentialStoreError, match="did not answer"):
            KeyringStore(directory=folder, timeout=0.02).save(long(2))
    assert not _free(folder), "until it has finished, nobody else changes these credentials"
    gate.opened.set()
    assert eventually(lambda: _free(folder), 60)
    assert patient.load(KEY) == some(1)
    assert patient.save(long(3))
    assert len(fake_keyring.entries) == 5


def _free(folder: Path) -> bool:
    try:
        with Folder(folder).locked(f"{KEY.digest}.lock", Deadline(0), "busy"):
            return True
    except CredentialStoreError:
        return False


def test_threads_enter_the_keyring_one_at_a_time(folder: Path, fake_keyring: FakeKeyring) -> None:
    """B171: the fake one fails when it is entered twice at once."""
    stores = [KeyringStore(directory=folder, timeout=60) for _ in range(20)]
    failed: list[BaseException] = []

    def use(number: int) -> None:
        try:
            stores[number].save(long(number))
            assert stores[number].load(KEY) is not None
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_the_library_is_imported_when_it_is_used() -> None:
    program = "import sys, syncline.auth.stores.keyring as k; k.KeyringStore().keys(); print('keyring' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "False\n"

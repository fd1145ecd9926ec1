"""What every store of credentials promises."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from syncline.auth.stores.base import CredentialStore
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.keyring import KeyringStore
from syncline.auth.stores.memory import MemoryStore
from syncline.concurrency.deadline import Deadline
from syncline.errors import CredentialStoreError
from tests.fixtures.keyrings import FakeKeyring
from tests.unit.auth.samples import KEY, OTHER_KEY, some

STORES: dict[str, Callable[[Path], CredentialStore]] = {
    "memory": lambda _: MemoryStore(),
    "file": lambda folder: FileStore(folder / "credentials", timeout=60),
    "keyring": lambda folder: KeyringStore(directory=folder / "keyring", timeout=60),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, fake_keyring: FakeKeyring) -> CredentialStore:
    fake_keyring.limit = 2560
    return STORES[request.param](tmp_path)


def test_what_was_saved_last_is_kept(store: CredentialStore) -> None:
    assert store.load(KEY) is None
    assert store.save(some(1))
    assert store.save(some(2))
    assert store.load(KEY) == some(2)
    assert store.load(OTHER_KEY) is None


def test_members_of_a_later_version_survive(store: CredentialStore) -> None:
    store.save(some(extra={"dpop_key": {"kty": "EC"}}))
    loaded = store.load(KEY)
    assert loaded is not None
    assert loaded.extra == {"dpop_key": {"kty": "EC"}}


@pytest.mark.parametrize("length", [1279, 1280, 1281, 6000, 60_000])
@pytest.mark.parametrize("letter", ["a", "ä", "\U0001f511", "\ud83d"])
def test_tokens_of_any_length_and_alphabet_are_kept(store: CredentialStore, length: int, letter: str) -> None:
    """B168."""
    long = some(access_token=letter * length)
    assert store.save(long)
    assert store.load(KEY) == long
    assert store.save(some(2))
    assert store.load(KEY) == some(2)
    assert store.delete(KEY)
    assert store.load(KEY) is None


def test_a_save_with_a_condition_wants_the_very_same_tokens(store: CredentialStore) -> None:
    assert not store.save(some(2), instead_of=some(1))
    assert store.load(KEY) is None
    store.save(some(1))
    assert store.save(some(2), instead_of=some(1))
    assert not store.save(some(3), instead_of=some(1))
    assert store.load(KEY) == some(2)


def test_a_delete_with_a_condition_leaves_what_is_newer(store: CredentialStore) -> None:
    """B147: whoever was refused does not delete what another one has refreshed meanwhile."""
    assert not store.delete(KEY, only=some(1))
    store.save(some(2))
    assert not store.delete(KEY, only=some(1))
    assert store.load(KEY) == some(2)
    assert store.delete(KEY, only=some(2))
    assert store.load(KEY) is None


def test_a_delete_says_whether_there_was_anything(store: CredentialStore) -> None:
    assert not store.delete(KEY)
    store.save(some(1))
    assert store.delete(KEY)
    assert not store.delete(KEY)


def test_keys_are_those_that_are_kept(store: CredentialStore) -> None:
    assert list(store.keys()) == []
    store.save(some(1))
    store.save(some(1, OTHER_KEY))
    store.save(some(2))
    assert set(store.keys()) == {KEY, OTHER_KEY}
    store.delete(KEY)
    assert list(store.keys()) == [OTHER_KEY]
    assert store.load(OTHER_KEY) == some(1, OTHER_KEY)


def test_of_many_who_replace_the_same_tokens_one_does(store: CredentialStore) -> None:
    store.save(some(0))
    start, won = threading.Barrier(8), []

    def replace(turn: int) -> None:
        start.wait()
        if store.save(some(turn), instead_of=some(0)):
            won.append(turn)

    threads = [threading.Thread(target=replace, args=(turn,)) for turn in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 1
    assert store.load(KEY) == some(won[0])


def test_one_refreshes_at_a_time(store: CredentialStore) -> None:
    inside, most = [0], [0]

    def refresh() -> None:
        with store.lock(KEY, Deadline(60)):
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            store.load(KEY)
            inside[0] -= 1

    threads = [threading.Thread(target=refresh) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == [1]


def test_the_wait_for_another_refresh_is_bounded(store: CredentialStore) -> None:
    """4.144."""
    with store.lock(KEY, Deadline(60)):
        with pytest.raises(CredentialStoreError, match="refreshing"), store.lock(KEY, Deadline(0.02)):
            raise AssertionError
        with store.lock(OTHER_KEY, Deadline(0.02)):
            pass
    with store.lock(KEY, Deadline(0.02)):
        pass


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_does_not_wait_for_a_thread_that_is_not_there() -> None:
    """What is in memory is the child's own copy; files and keyrings are shared, and so are their locks."""
    store = MemoryStore()
    with store.lock(KEY, Deadline(60)):
        child = os.fork()
        if child == 0:
            try:
                with store.lock(KEY, Deadline(0.02)):
                    os._exit(0)
            except CredentialStoreError:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with pytest.raises(CredentialStoreError, match="refreshing"), store.lock(KEY, Deadline(0.02)):
            raise AssertionError


def test_a_refresh_that_fails_gives_the_lock_back(store: CredentialStore) -> None:
    """4.148."""
    with pytest.raises(ZeroDivisionError), store.lock(KEY, Deadline(60)):
        _ = 1 / 0
    with store.lock(KEY, Deadline(0.02)):
        pass


def test_saving_and_deleting_need_no_refresh_to_end(store: CredentialStore) -> None:
    """4.152: a logout does not wait for a refresh."""
    store.save(some(1))
    with store.lock(KEY, Deadline(60)):
        assert store.delete(KEY)
        assert not store.save(some(2), instead_of=some(1))
    assert store.load(KEY) is None


def test_every_store_has_a_name_and_keeps_secrets_to_itself(store: CredentialStore) -> None:
    store.save(some(1))
    assert store.name
    assert "planted-access-1" not in f"{store!r} {store.name} {store.keys()}"

"""Refreshes among threads: one at a time, nothing lost, and whoever gives up leaves it to the others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from syncline.auth.refreshing import UNKNOWN_CLIENT, Refresher
from syncline.auth.stores.base import CredentialStore
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.keyring import KeyringStore
from syncline.auth.stores.memory import MemoryStore
from syncline.auth.tokens import CredentialKey, Credentials
from syncline.concurrency.deadline import Deadline
from syncline.errors import AuthRequired, CredentialStoreError, RefreshFailed, RequestTimeout, SynclineError
from tests.fixtures.keyrings import FakeKeyring
from tests.unit.auth.samples import KEY, some

NOW = 500.0
VALID, EXPIRED = some(0), some(0, expires_at=NOW)
ROOT = Path(__file__).parents[2]


class Endpoint:
    """A token endpoint that waits at a gate, and answers as it is told to."""

    def __init__(self) -> None:
        self.sent: list[str | None] = []
        self.reached, self.gate = threading.Event(), threading.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.lifetime: float | None = 3600.0

    def __call__(self, spent: Credentials) -> Credentials:
        self.sent.append(spent.refresh_token)
        turn = len(self.sent)
        self.reached.set()
        assert self.gate.wait(60)
        if self.error is not None:
            raise self.error
        ends = None if self.lifetime is None else NOW + self.lifetime
        return spent.refreshed(
            f"planted-access-{turn}", now=NOW, expires_at=ends, refresh_token=f"planted-refresh-{turn}"
        )


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    store.save(EXPIRED)
    return store


def refresher(store: CredentialStore, endpoint: Endpoint) -> Refresher:
    return Refresher(KEY, store, endpoint, clock=lambda: NOW)


def together(count: int, work: Callable[[], Credentials]) -> list[Credentials | BaseException]:
    """What came of the same work on many threads at once."""
    start, outcomes = threading.Barrier(count), []

    def run() -> None:
        start.wait()
        try:
            outcomes.append(work())
        except BaseException as error:
            outcomes.append(error)  # type: ignore[arg-type]

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return list(outcomes)


@pytest.mark.parametrize(("left", "refreshes"), [(29.0, 1), (60.0, 0), (None, 0)])
def test_a_refresh_comes_thirty_seconds_ahead(
    store: MemoryStore, endpoint: Endpoint, left: float | None, refreshes: int
) -> None:
    """4.140."""
    store.save(replace(VALID, expires_at=None if left is None else NOW + left))
    refresher(store, endpoint).credentials(Deadline(60))
    assert len(endpoint.sent) == refreshes


def test_a_token_that_lasts_seconds_is_used_more_than_once(store: MemoryStore, endpoint: Endpoint) -> None:
    endpoint.lifetime = 20.0
    shared = refresher(store, endpoint)
    for _ in range(3):
        assert shared.credentials(Deadline(60)).access_token == "planted-access-1"
    assert endpoint.sent == ["planted-refresh-0"]


def test_threads_share_one_refresh(store: MemoryStore, endpoint: Endpoint) -> None:
    shared = refresher(store, endpoint)
    outcomes = together(8, lambda: shared.credentials(Deadline(60)))
    assert {outcome.access_token for outcome in outcomes if isinstance(outcome, Credentials)} == {"planted-access-1"}
    assert endpoint.sent == ["planted-refresh-0"]
    assert store.load(KEY) == outcomes[0]


def test_many_rejections_of_one_token_are_one_refresh(store: MemoryStore, endpoint: Endpoint) -> None:
    """4.163, F-7."""
    store.save(VALID)
    shared = refresher(store, endpoint)
    assert shared.credentials(Deadline(60)) == VALID
    outcomes = together(10, lambda: shared.credentials(Deadline(60), rejected="planted-access-0"))
    assert {outcome.access_token for outcome in outcomes if isinstance(outcome, Credentials)} == {"planted-access-1"}
    assert endpoint.sent == ["planted-refresh-0"]


@pytest.mark.parametrize("kind", ["memory", "file", "keyring"])
def test_several_refreshers_of_one_store_get_along(
    tmp_path: Path, endpoint: Endpoint, fake_keyring: FakeKeyring, kind: str
) -> None:
    stores: dict[str, Callable[[], CredentialStore]] = {
        "memory": lambda: MemoryStore.shared,
        "file": lambda: FileStore(tmp_path / "files", timeout=60),
        "keyring": lambda: KeyringStore(directory=tmp_path / "keyring", timeout=60),
    }
    stores[kind]().save(EXPIRED)
    try:
        outcomes = together(8, lambda: refresher(stores[kind](), endpoint).credentials(Deadline(60)))
        assert {outcome.access_token for outcome in outcomes if isinstance(outcome, Credentials)} == {
            "planted-access-1"
        }
        assert len(outcomes) == 8
        assert endpoint.sent == ["planted-refresh-0"]
    finally:
        MemoryStore.shared.delete(KEY)


def test_a_newer_stored_token_is_adopted(store: MemoryStore, endpoint: Endpoint) -> None:
    """4.160: somebody else has refreshed it."""
    store.save(VALID)
    ours = refresher(store, endpoint)
    ours.credentials(Deadline(60))
    store.save(some("newer"))
    assert ours.credentials(Deadline(60), rejected="planted-access-0") == some("newer")
    assert ours.credentials(Deadline(60)) == some("newer")
    assert endpoint.sent == []


def test_a_rejection_of_what_somebody_is_reading_is_not_answered_with_it(
    store: MemoryStore, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save(VALID)
    ours, reading, read = refresher(store, endpoint), threading.Event(), threading.Event()
    load = store.load

    def slow(key: CredentialKey) -> Credentials | None:
        reading.set()
        assert read.wait(60)
        return load(key)

    monkeypatch.setattr(store, "load", slow)
    first: list[Credentials] = []
    thread = threading.Thread(target=lambda: first.append(ours.credentials(Deadline(60))))
    thread.start()
    assert reading.wait(60)
    threading.Timer(0, read.set).start()
    assert ours.credentials(Deadline(60), rejected="planted-access-0").access_token == "planted-access-1"
    thread.join()
    assert first == [VALID]


def test_a_caller_that_gives_up_leaves_the_refresh_to_the_others(store: MemoryStore, endpoint: Endpoint) -> None:
    """4.147, 4.166."""
    endpoint.gate.clear()
    ours = refresher(store, endpoint)
    with pytest.raises(RequestTimeout, match="the refresh goes on"):
        ours.credentials(Deadline(0.02))
    assert store.load(KEY) == EXPIRED
    endpoint.gate.set()
    assert ours.credentials(Deadline(60)).access_token == "planted-access-1"
    assert endpoint.sent == ["planted-refresh-0"]


def test_an_interrupt_ends_the_wait_and_not_the_refresh(store: MemoryStore, endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    ours = refresher(store, endpoint)

    def interrupt() -> None:
        assert endpoint.reached.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        ours.credentials(Deadline(60))
    interrupter.join()
    endpoint.gate.set()
    assert ours.credentials(Deadline(60)).access_token == "planted-access-1"
    assert endpoint.sent == ["planted-refresh-0"]


def test_what_was_refreshed_is_stored_before_anybody_uses_it(
    store: MemoryStore, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-3: a rotated token that is lost logs the user out."""
    ours, saving, saved = refresher(store, endpoint), threading.Event(), threading.Event()
    save = store.save

    def slow(credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        saving.set()
        assert saved.wait(60)
        return save(credentials, instead_of=instead_of)

    monkeypatch.setattr(store, "save", slow)
    with pytest.raises(RequestTimeout):
        ours.credentials(Deadline(0.02))
    assert saving.wait(60)
    with pytest.raises(RequestTimeout):
        ours.credentials(Deadline(0.02))
    saved.set()
    assert ours.credentials(Deadline(60)) == store.load(KEY)


def test_a_logout_wins_over_a_refresh(store: MemoryStore, endpoint: Endpoint) -> None:
    """4.152: it does not wait, and what the refresh brings is dropped."""
    endpoint.gate.clear()
    ours = refresher(store, endpoint)
    outcomes: list[Credentials | BaseException] = []
    waiting = threading.Thread(target=lambda: outcomes.extend(together(3, lambda: ours.credentials(Deadline(60)))))
    waiting.start()
    assert endpoint.reached.wait(60)
    assert store.delete(KEY)
    endpoint.gate.set()
    waiting.join()
    assert [type(outcome) for outcome in outcomes] == [AuthRequired] * 3
    assert store.load(KEY) is None
    with pytest.raises(AuthRequired, match="nobody is logged in; log in: syncline auth login https://notes"):
        ours.credentials(Deadline(60))


def test_a_login_wins_over_a_refresh(store: MemoryStore, endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    ours = refresher(store, endpoint)
    with pytest.raises(RequestTimeout):
        ours.credentials(Deadline(0.02))
    assert endpoint.reached.wait(60)
    ours.login(some("login"))
    assert ours.credentials(Deadline(0)) == some("login")
    endpoint.gate.set()
    ours.close()
    assert ours.credentials(Deadline(60)) == store.load(KEY) == some("login")


def test_a_login_elsewhere_wins_as_well(store: MemoryStore, endpoint: Endpoint) -> None:
    endpoint.gate.clear()
    ours = refresher(store, endpoint)
    with pytest.raises(RequestTimeout):
        ours.credentials(Deadline(0.02))
    assert endpoint.reached.wait(60)
    assert store.save(some("login"))
    endpoint.gate.set()
    assert ours.credentials(Deadline(60)) == store.load(KEY) == some("login")


@pytest.mark.parametrize(
    "error",
    [
        "invalid_grant",
        "bad_refresh_token",
        "interaction_required",
        "invalid_scope",
        "invalid_client",
        "unauthorized_client",
    ],
)
def test_a_refused_refresh_token_is_deleted_and_a_login_asked_for(
    store: MemoryStore, endpoint: Endpoint, error: str
) -> None:
    """F-5, C-9, 4.149: whatever it is called; who we are is kept for that, unless the authorization server does not know it."""
    endpoint.error = RefreshFailed("revoked", error=error)
    ours = refresher(store, endpoint)
    outcomes = together(4, lambda: ours.credentials(Deadline(60)))
    assert {type(outcome) for outcome in outcomes} == {AuthRequired}
    assert any("the login has ended" in str(outcome) for outcome in outcomes)
    assert all("syncline auth login https://notes.example/mcp" in str(outcome) for outcome in outcomes)
    left = None if error in UNKNOWN_CLIENT else EXPIRED.ended(NOW)
    assert store.load(KEY) == left
    assert endpoint.sent == ["planted-refresh-0"]
    with pytest.raises(AuthRequired, match="the login has ended" if left else "nobody is logged in"):
        ours.credentials(Deadline(60))
    assert endpoint.sent == ["planted-refresh-0"]


def test_a_refusal_does_not_delete_what_is_newer(store: MemoryStore) -> None:
    """B147: a program that does not know of the lock was faster."""

    def overtaken(_: Credentials) -> Credentials:
        store.save(some("newer"))
        raise RefreshFailed("used twice", error="invalid_grant")

    ours = Refresher(KEY, store, overtaken, clock=lambda: NOW)
    assert ours.credentials(Deadline(60)) == store.load(KEY) == some("newer")


def test_a_store_that_changes_all_the_time_ends_a_refresh(store: MemoryStore) -> None:
    turns = iter(range(1, 1000))

    def overtaken(_: Credentials) -> Credentials:
        store.save(some(next(turns), expires_at=NOW))
        raise RefreshFailed("used twice", error="invalid_grant")

    with pytest.raises(RefreshFailed, match="changed by somebody else"):
        Refresher(KEY, store, overtaken, clock=lambda: NOW).credentials(Deadline(60))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RefreshFailed("busy", error="server_error"), "server_error"),
        (RefreshFailed("what is this", error="invalid_request"), "invalid_request"),
        (RefreshFailed("not reached"), None),
        (OSError("the answer was planted-refresh-0"), None),
        (SystemExit(), None),
    ],
)
def test_another_failure_leaves_everything_as_it_was(
    store: MemoryStore, endpoint: Endpoint, error: Exception, code: str | None
) -> None:
    """4.148, 4.149, 4.151: it can be tried again at once, and nobody is asked to log in."""
    endpoint.error = error
    ours = refresher(store, endpoint)
    outcomes = together(3, lambda: ours.credentials(Deadline(60)))
    assert {type(outcome) for outcome in outcomes} == {RefreshFailed}
    assert {outcome.error for outcome in outcomes if isinstance(outcome, RefreshFailed)} == {code}
    assert len({id(outcome) for outcome in outcomes}) == 3, "threads do not share a traceback"
    assert "planted-refresh-0" not in "".join(map(str, outcomes))
    assert store.load(KEY) == EXPIRED
    endpoint.error = None
    assert ours.credentials(Deadline(60)).refresh_token == store.load(KEY).refresh_token  # type: ignore[union-attr]


def test_what_cannot_be_saved_is_kept_and_saved_later(
    store: MemoryStore, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4.150: an error, and the refresh token is not sent a second time."""

    def full(*_: object, **__: object) -> bool:
        raise CredentialStoreError("memory: no space left", store="memory")

    ours = refresher(store, endpoint)
    with monkeypatch.context() as patch:
        patch.setattr(store, "save", full)
        for _ in range(2):
            with pytest.raises(CredentialStoreError, match="no space left"):
                ours.credentials(Deadline(60))
        other = Refresher(KEY, store, endpoint, patience=0.02, clock=lambda: NOW)
        with pytest.raises(CredentialStoreError, match="refreshing"):
            other.credentials(Deadline(60))  # it would send what has been sent, and end the login for all
    assert store.load(KEY) == EXPIRED
    assert ours.credentials(Deadline(60)).access_token == "planted-access-1"
    assert store.load(KEY) == ours.credentials(Deadline(60)) == other.credentials(Deadline(60))
    assert endpoint.sent == ["planted-refresh-0"]
    with store.lock(KEY, Deadline(0)):
        pass


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_what_could_not_be_saved_is_not_a_forked_childs(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> bool:
        raise CredentialStoreError("no space left", store="files")

    store = FileStore(tmp_path / "files", timeout=60)
    store.save(EXPIRED)
    ours = Refresher(KEY, store, endpoint, patience=0.02, clock=lambda: NOW)
    with monkeypatch.context() as patch:
        patch.setattr(store, "save", full)
        with pytest.raises(CredentialStoreError, match="no space left"):
            ours.credentials(Deadline(60))
    child = os.fork()
    if child == 0:
        try:
            ours.credentials(Deadline(60))
        except CredentialStoreError as error:
            os._exit(0 if "refreshing" in str(error) else 1)  # the lock is its parent's
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ours.credentials(Deadline(60)) == store.load(KEY)
    assert endpoint.sent == ["planted-refresh-0"]


@pytest.mark.parametrize("change", ["logout", "login", "our login"])
def test_what_could_not_be_saved_does_not_undo_what_came_later(
    store: MemoryStore, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    def full(*_: object, **__: object) -> bool:
        raise CredentialStoreError("memory: no space left", store="memory")

    ours = refresher(store, endpoint)
    with monkeypatch.context() as patch:
        patch.setattr(store, "save", full)
        with pytest.raises(CredentialStoreError):
            ours.credentials(Deadline(60))
    if change == "logout":
        assert store.delete(KEY)
        with pytest.raises(AuthRequired):
            ours.credentials(Deadline(60))
        assert store.load(KEY) is None
    else:
        enter: Callable[[Credentials], object] = ours.login if change.startswith("our") else store.save
        enter(some("login"))
        assert ours.credentials(Deadline(60)) == some("login")
    with store.lock(KEY, Deadline(0)):
        pass


@pytest.mark.parametrize("token", [None, ""])
def test_without_a_refresh_token_nothing_is_sent(store: MemoryStore, endpoint: Endpoint, token: str | None) -> None:
    """4.143."""
    store.save(replace(EXPIRED, refresh_token=token))
    with pytest.raises(AuthRequired, match="no refresh token"):
        refresher(store, endpoint).credentials(Deadline(60))
    assert endpoint.sent == []


def test_a_token_that_ends_with_its_refresh_is_used_once(store: MemoryStore, endpoint: Endpoint) -> None:
    endpoint.lifetime = 0.0
    ours = refresher(store, endpoint)
    assert ours.credentials(Deadline(60)).access_token == "planted-access-1"
    assert ours.credentials(Deadline(60)).access_token == "planted-access-2"


def test_a_store_that_cannot_be_read_is_an_error(tmp_path: Path, endpoint: Endpoint) -> None:
    store = FileStore(tmp_path / "files")
    store.save(EXPIRED)
    (tmp_path / "files" / f"{KEY.digest}.json").write_bytes(b"{")
    with pytest.raises(CredentialStoreError, match="damaged"):
        refresher(store, endpoint).credentials(Deadline(60))
    assert endpoint.sent == []


def test_a_wait_for_another_process_is_bounded(tmp_path: Path, endpoint: Endpoint) -> None:
    """4.144."""
    store = FileStore(tmp_path / "files")
    store.save(EXPIRED)
    ours = Refresher(KEY, store, endpoint, patience=0.02, clock=lambda: NOW)
    with store.lock(KEY, Deadline(60)), pytest.raises(CredentialStoreError, match="another process"):
        ours.credentials(Deadline(60))
    assert ours.credentials(Deadline(60)).access_token == "planted-access-1"


def test_a_keyring_is_not_asked_for_what_is_at_hand(
    tmp_path: Path, endpoint: Endpoint, fake_keyring: FakeKeyring
) -> None:
    """B170: twenty refreshes are twenty writes, and two hundred calls are one look."""
    store = KeyringStore(directory=tmp_path, timeout=60)
    store.save(VALID)
    ours = refresher(store, endpoint)
    fake_keyring.calls.clear()
    token = ""
    for _ in range(200):
        token = ours.credentials(Deadline(60)).access_token
    assert dict(fake_keyring.calls) == {"get": 1}
    for _ in range(20):
        token = ours.credentials(Deadline(60), rejected=token).access_token
    assert token == "planted-access-20"
    assert fake_keyring.calls["set"] == 20
    assert fake_keyring.reads == 1 + 20 * 3, "before the lock, under it, and in the place of what"


def test_secrets_are_in_no_error(store: MemoryStore, endpoint: Endpoint) -> None:
    endpoint.error = RefreshFailed("revoked", error="invalid_grant")
    with pytest.raises(SynclineError) as caught:
        refresher(store, endpoint).credentials(Deadline(60))
    text = "".join(traceback.format_exception(caught.value))
    assert "planted-access-0" not in text
    assert "planted-refresh-0" not in text


LEAVER = """
import sys, threading
from pathlib import Path
from syncline.auth.refreshing import Refresher
from syncline.auth.stores.file import FileStore
from syncline.concurrency.deadline import Deadline
from syncline.errors import RequestTimeout
from tests.unit.auth.samples import KEY, some
store, ending = FileStore(Path(sys.argv[1])), threading.Event()
store.save(some(0, expires_at=0.0))

class Leaving(Refresher):
    def close(self, timeout=None):
        ending.set()
        super().close(timeout)

def exchange(spent):
    ending.wait()
    return spent.refreshed("planted-access-1", now=0.0, expires_at=None, refresh_token="planted-refresh-1")

try:
    ours = Leaving(KEY, store, exchange)
    ours.credentials(Deadline(0.05))
except RequestTimeout:
    print("gave up")
"""


def test_a_refresh_is_finished_before_python_ends(tmp_path: Path) -> None:
    """The refresh token was sent, so what comes back is worth a moment at exit."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVER, str(tmp_path / "files")], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    assert done.stdout == "gave up\n"
    kept = FileStore(tmp_path / "files").load(KEY)
    assert kept is not None
    assert kept.refresh_token == "planted-refresh-1"


FORKER = """
import os, sys, threading
from pathlib import Path
from syncline.auth.refreshing import Refresher
from syncline.auth.stores.file import FileStore
from syncline.concurrency.deadline import Deadline
from tests.unit.auth.samples import KEY, some
store, reached, gate = FileStore(Path(sys.argv[1])), threading.Event(), threading.Event()
store.save(some(0, expires_at=0.0))
parent = os.getpid()

def exchange(spent):
    if os.getpid() == parent:
        reached.set()
        gate.wait()
    print("sent by", "the parent" if os.getpid() == parent else "the child", flush=True)
    return spent.refreshed("planted-access-1", now=0.0, expires_at=None, refresh_token="planted-refresh-1")

ours = Refresher(KEY, store, exchange)
waiting = threading.Thread(target=lambda: ours.credentials(Deadline(60)))
waiting.start()
reached.wait()
child = os.fork()
if child == 0:
    token = ours.credentials(Deadline(60)).access_token
    print("the child has", token.removeprefix("planted-"), flush=True)
    os._exit(0)
gate.set()
waiting.join()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_waits_for_its_parents_refresh(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKER, str(tmp_path / "files")],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.stdout.splitlines() == ["sent by the parent", "the child has access-1"]

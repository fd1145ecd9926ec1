"""Credentials in a real keyring: gnome-keyring, as it is found, locked, killed and without a bus."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import secretstorage
from keyring.backends.SecretService import Keyring

from syncline.auth.stores.choice import open_store
from syncline.auth.stores.keyring import KeyringStore
from syncline.auth.tokens import CredentialKey, Credentials
from syncline.errors import CredentialStoreError
from tests.fixtures.logins import SOON
from tests.fixtures.processes import eventually
from tests.fixtures.secret_service import MISSING, SecretService
from tests.unit.auth.samples import KEY, OTHER_KEY, some
from tools.fakeserver.authorization import ProtectedMcpServer

from .test_cli import failure, syncline
from .test_cli_auth import BROWSER
from .test_refresh_race import play

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(MISSING is not None, reason=str(MISSING)),
    # When it fails, the library keyring leaves its connection to the bus to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
NAMED = r"the keyring \(keyring\.backends\.SecretService\.Keyring\)"
TO_DO = r'unlock it, or keep credentials elsewhere \(store="file"\)'
LONG = some(2, access_token="planted-access" + "x" * 12_000)
#: Keeps credentials in the store that is named, and finds them.
SAVED = """
import sys
from syncline.auth.stores.choice import open_store
from tests.unit.auth.samples import KEY, some

store = open_store(sys.argv[1])
store.save(some(1))
print(store.load(KEY) == some(1))
"""


@pytest.fixture
def store(secret_service: SecretService) -> KeyringStore:
    """A keyring that is unlocked, with time for a busy machine."""
    secret_service.start()
    return KeyringStore(timeout=SOON)


def entries() -> int:
    """How many entries the real keyring has."""
    with closing(secretstorage.dbus_init()) as connection:
        return len(list(secretstorage.get_default_collection(connection).get_all_items()))


# Kept, found, gone


@pytest.mark.parametrize(
    "kept", [some(1), LONG, some(3, extra={"wer": "Zoë 🗝"}, principal="Ω")], ids=["short", "long", "Ω"]
)
def test_what_is_kept_is_found_and_gone(secret_service: SecretService, store: KeyringStore, kept: Credentials) -> None:
    store.check()
    assert store.load(KEY) is None
    assert store.save(kept)
    assert store.load(KEY) == kept
    secret_service.restart()
    assert store.load(KEY) == kept, "it is on the disk"
    assert not [
        path for path in secret_service.folder.rglob("*") if path.is_file() and b"planted-acc" in path.read_bytes()
    ]
    assert store.delete(KEY)
    assert not store.delete(KEY)
    assert (store.load(KEY), entries()) == (None, 0)


def test_keys_do_not_meet(store: KeyringStore) -> None:
    keys = [KEY, OTHER_KEY, *(CredentialKey(f"https://id.example/{n}", "https://notes.example/Zoë") for n in range(5))]
    for turn, key in enumerate(keys):
        store.save(some(turn, key, access_token=f"planted-{turn}" + "x" * 3000))
    store.save(some("new"))
    assert set(store.keys()) == set(keys)
    assert [store.load(key) for key in keys[1:]] == [
        some(turn, key, access_token=f"planted-{turn}" + "x" * 3000) for turn, key in enumerate(keys) if turn
    ]
    assert store.load(KEY) == some("new")
    for key in keys:
        store.delete(key)
    assert (list(store.keys()), entries()) == ([], 0)


def test_all_processes_share_one_refresh(secret_service: SecretService, tmp_path: Path) -> None:
    """Those find the keyring by themselves. No more than the daemon can take, which ends when eighty threads ask it at once."""
    secret_service.start()
    play(4, "keyring", processes=3, threads=4)
    assert entries() == 4


# From the command line


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program, page = tmp_path / "browser.py", tmp_path / "page"
    program.write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{sys.executable} {program} {page} %s &")
    return page


def logins(*arguments: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(syncline("auth", "list", "--json", *arguments).stdout)["logins"]
    return found


@pytest.mark.parametrize("chosen", ["auto", "keyring"])
def test_a_login_on_the_command_line(
    secret_service: SecretService, protected: Callable[..., ProtectedMcpServer], page: Path, chosen: str
) -> None:
    secret_service.start()
    server = protected(scopes=["read"])
    ran = syncline("auth", "login", server.url, "--store", chosen, "--json")
    assert (ran.returncode, json.loads(ran.stdout)["store"]) == (
        0,
        "the keyring (keyring.backends.SecretService.Keyring)",
    )
    assert not list(secret_service.folder.glob("state/credentials/*.json")), "nothing is in plain text"
    assert [login["state"] for login in logins()] == ["logged in"]
    assert logins("--store", "file") == []
    assert json.loads(syncline("auth", "status", server.url, "--json").stdout)["state"] == "logged in"
    server.authorities[0].end_access()
    assert syncline("call", server.url, "echo", "text=hello").stdout == "hello\n"
    assert server.authorities[0].grants == {"authorization_code": 1, "refresh_token": 1}
    assert syncline("auth", "logout", server.url).returncode == 0
    assert (logins(), entries()) == ([], 0)
    assert failure(syncline("auth", "status", server.url, "--json"))["code"] == "auth_required"


def test_a_login_in_a_keyring_that_is_locked_is_not_said_to_be_none(secret_service: SecretService) -> None:
    """It is looked for, nobody answers, and the program ends."""
    secret_service.start()
    KeyringStore(timeout=SOON).save(some(1, expires_at=None))
    secret_service.lock()
    secret_service.nobody_answers()
    ran = syncline("auth", "status", KEY.resource, "--json")
    assert failure(ran)["code"] == "auth_required"
    assert "did not answer within 3 seconds" in ran.stderr
    assert f"The credentials for {KEY.resource} that it keeps are not used" in ran.stderr
    ran = syncline("auth", "list", "--store", "keyring", "--json")
    assert (ran.returncode, failure(ran)["code"]) == (3, "auth_failed")
    ran = syncline("auth", "logout", KEY.resource)
    assert ran.returncode == 3
    assert "did not answer within 3 seconds" in ran.stderr
    secret_service.restart()
    assert logins()[0]["state"] == "logged in", "nothing is lost"


def test_a_logout_where_the_keyring_is_not_to_be_had(secret_service: SecretService) -> None:
    """Nobody is to believe that there is nothing any more."""
    secret_service.start()
    KeyringStore(timeout=SOON).save(some(1, expires_at=None))
    secret_service.kill()
    for arguments in (["--all"], [KEY.resource]):
        ran = syncline("auth", "logout", *arguments)
        assert ran.returncode == 3, ran.stdout
        assert "there is no keyring here" in ran.stderr
    secret_service.start()
    assert len(logins()) == 1


# Locked, away, killed


def uses(store: KeyringStore) -> list[Callable[[], object]]:
    return [store.check, lambda: store.load(KEY), lambda: store.save(some(9)), lambda: store.delete(KEY)]


def test_locked_and_nobody_to_ask(secret_service: SecretService, store: KeyringStore) -> None:
    store.save(LONG)
    secret_service.lock()
    for use in uses(store):
        with pytest.raises(CredentialStoreError, match=f"{NAMED} cannot be read: KeyringLocked: .*; {TO_DO}"):
            use()
    secret_service.restart()
    assert store.load(KEY) == LONG


def test_locked_and_nobody_answers(secret_service: SecretService, store: KeyringStore) -> None:
    """It ends in time, and goes on by itself once somebody has answered."""
    store.save(LONG)
    secret_service.lock()
    asked = secret_service.nobody_answers()
    hasty = KeyringStore(timeout=0.5)
    for use in uses(hasty):
        with pytest.raises(CredentialStoreError, match=f"{NAMED} did not answer within 0.5 seconds; .*: {TO_DO}"):
            use()
    asked.close()
    assert eventually(lambda: "KeyringLocked" in str(trouble(store))), "the question is gone"
    secret_service.restart()
    assert store.load(KEY) == LONG


def trouble(store: KeyringStore) -> CredentialStoreError | None:
    try:
        store.load(KEY)
    except CredentialStoreError as error:
        return error
    return None


def test_no_keyring_was_ever_made(secret_service: SecretService) -> None:
    secret_service.start(locked=True)
    for use in uses(KeyringStore(timeout=SOON))[:3]:
        with pytest.raises(CredentialStoreError, match=f"{NAMED} cannot be read: InitError: .*; {TO_DO}"):
            use()


@pytest.mark.parametrize("gone", ["service", "bus"])
def test_away(secret_service: SecretService, store: KeyringStore, gone: str, caplog: pytest.LogCaptureFixture) -> None:
    """What was found in the keyring is not looked for elsewhere; who comes later is told."""
    store.save(LONG)
    auto = open_store("auto")
    assert auto.load(KEY) == LONG
    (secret_service.kill if gone == "service" else secret_service.end_bus)()
    here: list[Callable[[], object]] = [lambda: auto.load(KEY), lambda: auto.save(some(9), instead_of=LONG)]
    for use in uses(store) + here:
        with pytest.raises(CredentialStoreError, match=f"{NAMED} cannot be (read|used): .*; {TO_DO}"):
            use()
    later = open_store("auto")
    with caplog.at_level(logging.WARNING):
        assert later.load(KEY) is None
    assert "cannot be used: " in caplog.text
    assert f"The credentials for {KEY.resource} that it keeps are not used" in caplog.text
    caplog.clear()
    assert later.save(some(3, obtained_at=5.0))
    assert "kept as plain text in" in caplog.text
    if gone == "service":
        secret_service.start()
        assert store.load(KEY) == LONG


@pytest.mark.parametrize("gone", ["service", "bus"])
def test_never_there(secret_service: SecretService, gone: str) -> None:
    """Programs find no keyring, and keep files where they may."""
    if gone == "bus":
        secret_service.end_bus()

    def run(mode: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", SAVED, mode]
        return subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=Path(__file__).parents[2])

    ran = run("auto")
    assert ran.stdout == "True\n"
    assert "there is no keyring here" in ran.stderr
    assert "kept as plain text in" in ran.stderr
    assert (
        'there is no keyring here (keyring.backends.fail.Keyring); keep credentials elsewhere (store="file"'
        in run("keyring").stderr
    )


@pytest.mark.parametrize("before", [None, some(1), LONG], ids=["nothing", "short", "long"])
@pytest.mark.parametrize("after", range(0, 12, 2))
def test_killed_in_the_middle_of_a_write(
    secret_service: SecretService,
    store: KeyringStore,
    monkeypatch: pytest.MonkeyPatch,
    before: Credentials | None,
    after: int,
) -> None:
    """Old or new, whole, and what is left over is gone after the next write."""
    if before is not None:
        store.save(before)
    new = some(5, access_token="planted-access-5" + "y" * 12_000)
    written: list[tuple[str, ...]] = []
    usual = Keyring.set_password

    def set_password(self: Keyring, *arguments: str) -> None:
        if len(written) == after:
            secret_service.kill()
        written.append(arguments)
        usual(self, *arguments)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(Keyring, "set_password", set_password)
    if after < 11:
        with pytest.raises(CredentialStoreError, match=f"{NAMED} cannot be written: [A-Za-z]+; {TO_DO}"):
            store.save(new)
    else:
        assert store.save(new)
    secret_service.start()
    assert store.load(KEY) == before
    assert store.save(new)
    assert store.load(KEY) == new
    assert entries() == 11

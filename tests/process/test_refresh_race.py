"""Ten processes with eight threads each share credentials that have expired: one refresh, and all of them go on."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import keyring.core
import pytest

from syncline.auth.stores.file import FileStore
from syncline.auth.stores.keyring import KeyringStore
from tests.fixtures.folder_keyring import chosen
from tests.fixtures.tokens import TokenEndpoint
from tests.unit.auth.samples import KEY, some

PROCESSES, THREADS = 10, 8

#: Goes one round for each line that it is sent: ``new`` as a program that starts, ``rejected`` as one that meets a 401, both with
#: all threads at once. Answers with the tokens, or the errors.
PROGRAM = """
import json, sys, threading, time, urllib.error, urllib.request
from syncline.auth.refreshing import Refresher
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.keyring import KeyringStore
from syncline.concurrency.deadline import Deadline
from syncline.errors import RefreshFailed
from tests.unit.auth.samples import KEY

mode, url, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

def exchange(spent):
    try:
        with opener.open(url, spent.refresh_token.encode(), 60) as answer:
            members = json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            raise RefreshFailed("refused", error=json.load(error)["error"]) from None
    now = time.time()
    return spent.refreshed(
        members["access_token"], now=now, expires_at=now + 3600, refresh_token=members["refresh_token"]
    )

def started():
    return Refresher(KEY, {"file": FileStore, "keyring": KeyringStore}[mode](timeout=60), exchange)

shared, token = started(), None
for line in sys.stdin:
    if line == "new\\n":
        shared, token = started(), None
    barrier, found = threading.Barrier(threads), []

    def run():
        barrier.wait()
        try:
            found.append(shared.credentials(Deadline(60), token).access_token)
        except Exception as error:
            found.append(repr(error))

    crew = [threading.Thread(target=run) for _ in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    token = found[0]
    print(json.dumps(found), flush=True)
"""


class Party:
    """The processes, which go round by round."""

    def __init__(self, mode: str, url: str, processes: int, threads: int) -> None:
        command = [sys.executable, "-c", PROGRAM, mode, url, str(threads)]
        self._all = [
            subprocess.Popen(
                command,
                cwd=Path(__file__).parents[2],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(processes)
        ]

    def round(self, kind: str) -> list[str]:
        """What all threads of all processes got."""
        for process in self._all:
            assert process.stdin is not None
            process.stdin.write(f"{kind}\n")
            process.stdin.flush()
        found: list[str] = []
        for process in self._all:
            assert process.stdout is not None
            found += json.loads(process.stdout.readline())
        return found

    def __enter__(self) -> Party:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        for process in self._all:
            if kind is not None:
                process.kill()
            process.communicate()


def in_a_folder(rounds: int, mode: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With files, or a keyring that is none of the system's."""
    (folder / "entries").mkdir()
    environ = {**chosen(folder / "entries"), "SYNCLINE_STATE_DIR": str(folder / "state")}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(keyring.core, "_keyring_backend", None)
    play(rounds, mode)
    assert len(list((folder / "entries").iterdir())) == (0 if mode == "file" else 4), "nothing is left over"


def play(rounds: int, mode: str, processes: int = PROCESSES, threads: int = THREADS) -> None:
    """Go so many rounds with the store that this process and its children find."""
    store = FileStore(timeout=60) if mode == "file" else KeyringStore(timeout=60)
    store.save(some(0, expires_at=0.0, requested=("x" * 3000,)))
    with TokenEndpoint() as endpoint, Party(mode, endpoint.url, processes, threads) as party:
        for turn in range(1, rounds + 1):
            kind = "new" if turn % 2 else "rejected"
            if kind == "new":
                kept = store.load(KEY)
                assert kept is not None
                store.save(replace(kept, expires_at=0.0))
            assert party.round(kind) == [f"planted-access-{turn}"] * processes * threads
            assert (endpoint.answers, endpoint.reused) == (turn, 0)
            kept = store.load(KEY)
            assert kept is not None
            assert kept.refresh_token == f"planted-refresh-{turn}"


@pytest.mark.parametrize("mode", ["file", "keyring"])
def test_one_refresh_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """4.145, F-7."""
    in_a_folder(4, mode, tmp_path, monkeypatch)


@pytest.mark.process
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["file", "keyring"])
def test_one_refresh_for_all_a_hundred_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    in_a_folder(100, mode, tmp_path, monkeypatch)

"""Locks between processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.file_lock import FileLock

HOLDER = """
import os, sys
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.file_lock import FileLock
lock = FileLock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT))
print(lock.take(Deadline(60)), flush=True)
sys.stdin.readline()
"""


def lock_of(path: Path) -> FileLock:
    return FileLock(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def free(path: Path) -> bool:
    lock = lock_of(path)
    try:
        return lock.take(Deadline(0))
    finally:
        lock.release()


def test_one_holds_it_in_this_process(tmp_path: Path) -> None:
    lock = lock_of(tmp_path / "lock")
    assert lock.take(Deadline(0))
    assert not free(tmp_path / "lock")
    assert (tmp_path / "lock").exists()
    lock.release()
    lock.release()
    assert free(tmp_path / "lock")


def test_whoever_waits_gets_it(tmp_path: Path) -> None:
    first, second, got = lock_of(tmp_path / "lock"), lock_of(tmp_path / "lock"), []
    assert first.take(Deadline(0))
    waiter = threading.Thread(target=lambda: got.append(second.take(Deadline(60))))
    waiter.start()
    first.release()
    waiter.join()
    assert got == [True]
    second.release()


def test_it_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert not free(tmp_path / "lock")
    os.kill(holder.pid, signal.SIGKILL)
    holder.communicate()
    assert free(tmp_path / "lock")


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_does_not_hold_it(tmp_path: Path) -> None:
    """Neither can the child release what is the parent's, nor does it keep it when the parent is gone."""
    lock = lock_of(tmp_path / "lock")
    assert lock.take(Deadline(0))
    told, tell = os.pipe()
    go, run = os.pipe()
    child = os.fork()
    if child == 0:
        lock.release()
        os.write(tell, b"1" if free(tmp_path / "lock") else b"0")
        os.read(go, 1)
        os._exit(0)
    try:
        assert os.read(told, 1) == b"0"
        assert not free(tmp_path / "lock")
        lock.close()
        assert not free(tmp_path / "lock"), "what runs at exit may still need it"
        os.close(lock._descriptor or 0)  # what the end of this process would do
        assert free(tmp_path / "lock"), "the child has no part in it"
        lock._descriptor = None
    finally:
        os.write(run, b"1")
        os.waitpid(child, 0)
        for descriptor in (told, tell, go, run):
            os.close(descriptor)
        lock.release()


def test_an_interrupted_wait_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = lock_of(tmp_path / "lock"), lock_of(tmp_path / "lock")
    assert first.take(Deadline(0))

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("syncline.concurrency.file_lock.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        second.take(Deadline(60))
    second.release()
    first.release()
    assert free(tmp_path / "lock")

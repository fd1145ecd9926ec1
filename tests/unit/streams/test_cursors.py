"""Where subscriptions stand, kept for the next process."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syncline.concurrency import lifecycle
from syncline.protocol.occurrences import WINDOW
from syncline.streams import cursors
from syncline.streams.cursors import CursorStore, MemoryCursors, SqliteCursors, Stored, SubscriptionKey


def key(**parts: Any) -> SubscriptionKey:
    given = {"server": "s", "principal": None, "name": "a.b", "arguments": {"n": 1}, "dialect": "sep3415"}
    return SubscriptionKey.of(**{**given, **parts})


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteCursors]:
    with SqliteCursors(tmp_path / "events.db") as store:
        yield store


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, database: SqliteCursors) -> CursorStore:
    return MemoryCursors() if request.param == "memory" else database


def test_what_is_saved_is_loaded(store: CursorStore) -> None:
    assert store.load(key()) == Stored()
    store.save(key(), "c1", ["e1"])
    store.save(key(), "c3", ["e3", "e2"])
    store.save(key(), "c3", [])
    assert store.load(key()) == Stored("c3", ("e1", "e3", "e2"))
    store.save(key(), None, ["e3"])
    assert store.load(key()) == Stored(None, ("e1", "e3", "e2"))


@pytest.mark.parametrize(
    "other",
    [
        {"server": "t"},
        {"principal": "p"},
        {"name": "c.d"},
        {"arguments": {"n": 2}},
        {"dialect": "sketch"},
        {"program": "npx another-server"},
    ],
)
def test_subscriptions_are_kept_apart(store: CursorStore, other: dict[str, Any]) -> None:
    """E-16: anything else is another subscription."""
    store.save(key(), "c1", ["e1"])
    assert store.load(key(**other)) == Stored()


def test_the_order_of_arguments_makes_no_difference() -> None:
    assert key(arguments={"a": 1, "b": [2]}) == key(arguments={"b": [2], "a": 1})


def test_only_so_many_ids_are_kept(store: CursorStore) -> None:
    store.save(key(), "c1", [f"e{number}" for number in range(WINDOW + 5)])
    store.save(key(), "c2", ["last"])
    seen = store.load(key()).seen
    assert (len(seen), seen[0], seen[-1]) == (WINDOW, "e6", "last")


def test_old_ids_leave_the_file(database: SqliteCursors, tmp_path: Path) -> None:
    database.save(key(), "c1", [f"e{number}" for number in range(3 * WINDOW)])
    with sqlite3.connect(tmp_path / "events.db") as direct:
        assert direct.execute("SELECT count(*) FROM seen").fetchone() == (WINDOW,)
    direct.close()


def rows(path: Path) -> dict[int, int]:
    with sqlite3.connect(path) as direct:
        found = dict(direct.execute("SELECT position, count(*) FROM seen GROUP BY position").fetchall())
    direct.close()
    return found


def test_old_ids_of_every_subscription_leave_the_file(
    database: SqliteCursors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However the writing of several subscriptions alternates."""
    monkeypatch.setattr(cursors, "WINDOW", 10)
    monkeypatch.setattr(cursors, "PRUNED_EVERY", 20)
    for number in range(200):
        for name in ("a.b", "c.d"):
            database.save(key(name=name), None, [f"e{number}"])
    assert all(count < 30 for count in rows(tmp_path / "events.db").values())


def test_old_ids_leave_the_file_of_short_lived_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursors, "WINDOW", 10)
    for run in range(5):
        with SqliteCursors(tmp_path / "events.db") as store:
            for number in range(10):
                store.save(key(), None, [f"e{run}-{number}"])
    assert rows(tmp_path / "events.db") == {1: 19}


def test_the_file_outlives_the_store(tmp_path: Path) -> None:
    with SqliteCursors(tmp_path / "events.db") as first:
        first.save(key(), "c1", ["e1"])
    with SqliteCursors(str(tmp_path / "events.db")) as second:
        assert second.load(key()) == Stored("c1", ("e1",))


def test_it_opens_again_after_it_was_closed(database: SqliteCursors) -> None:
    database.save(key(), "c1", [])
    database.close()
    database.close()
    assert database.load(key()).cursor == "c1"


def test_many_threads_and_stores_write_to_one_file(tmp_path: Path) -> None:
    stores = [SqliteCursors(tmp_path / "events.db", timeout=30) for _ in range(2)]
    failed: list[Exception] = []

    def write(number: int) -> None:
        try:
            for turn in range(50):
                stores[number % 2].save(key(name=f"n{number}"), f"c{turn}", [f"e{turn}"])
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    for number in range(4):
        assert stores[0].load(key(name=f"n{number}")).cursor == "c49"
    for store in stores:
        store.close()


def test_many_open_a_new_file_at_the_same_moment(tmp_path: Path) -> None:
    for attempt in range(20):
        stores = [SqliteCursors(tmp_path / f"{attempt}.db", timeout=30) for _ in range(4)]
        together, failed = threading.Barrier(len(stores)), list[Exception]()

        def write(store: SqliteCursors) -> None:
            together.wait(20)  # noqa: B023 - all are done before the next attempt
            try:
                store.save(key(), "c1", ["e1"])
            except Exception as error:
                failed.append(error)  # noqa: B023

        threads = [threading.Thread(target=write, args=(store,)) for store in stores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for store in stores:
            store.close()
        assert failed == []


def test_a_file_that_stays_locked_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            SqliteCursors(path, timeout=0.05).load(key())


def test_a_forked_child_opens_the_file_for_itself(database: SqliteCursors) -> None:
    database.save(key(), "c1", [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            database.save(key(), f"{database.load(key()).cursor}+", [])
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert database.load(key()).cursor == "c1+"


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    path.write_text("not a database, by far " * 100)
    with pytest.raises(sqlite3.Error):
        SqliteCursors(path).load(key())


def test_a_save_that_fails_leaves_all_as_it_was(database: SqliteCursors) -> None:
    database.save(key(), "c1", ["e1"])
    with pytest.raises(sqlite3.Error):
        database.save(key(), "c2", ["e2", object()])  # type: ignore[list-item]
    assert database.load(key()) == Stored("c1", ("e1",))


def test_the_end_of_the_process_closes_the_file(database: SqliteCursors) -> None:
    database.save(key(), "c1", [])
    assert database in lifecycle._open
    database.close(1.0)
    assert database not in lifecycle._open

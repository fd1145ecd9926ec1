"""Where subscriptions stand, kept for the next process: the interface, one in memory, one in SQLite."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import LOOK, new_lock
from syncline.protocol.occurrences import WINDOW

if TYPE_CHECKING:
    from typing_extensions import Self

#: Ids written for one subscription between two prunings; the first one comes with the first write of a process.
PRUNED_EVERY = 1000
#: Connections of a parent process: SQLite's cannot be used on the other side of a fork, nor even closed there.
_LEFT: list[sqlite3.Connection] = []


@dataclass(frozen=True)
class SubscriptionKey:
    """What makes two subscriptions the same, so that one goes on where the other stopped.

    Attributes:
        server: The server's name.
        principal: Who we are at the server; None where there is no such thing. Cursors never pass to another principal.
        name: The event type.
        arguments: The arguments as canonical JSON: other arguments, another subscription.
        dialect: How the server speaks of events.
        program: A digest of the server's command line, since many are called ``npx``; empty for a URL.
    """

    server: str
    principal: str | None
    name: str
    arguments: str
    dialect: str
    program: str = ""

    @classmethod
    def of(
        cls,
        server: str,
        principal: str | None,
        name: str,
        arguments: Mapping[str, object],
        dialect: str,
        program: str = "",
    ) -> SubscriptionKey:
        """With the arguments as they are given."""
        canonical = json.dumps(arguments, sort_keys=True, separators=(",", ":"))
        return cls(server, principal, name, canonical, dialect, program)

    def text(self) -> str:
        """All of it as one text."""
        return json.dumps([self.server, self.principal, self.name, self.arguments, self.dialect, self.program])


@dataclass(frozen=True)
class Stored:
    """What is known of a subscription.

    Attributes:
        cursor: Where to go on; None for now.
        seen: Ids of acknowledged events, oldest first; those that come again are left out.
    """

    cursor: str | None = None
    seen: tuple[str, ...] = ()


class CursorStore(Protocol):
    """Keeps positions. Called from any thread; for one subscription one call at a time. What it raises reaches ``ack()``."""

    def load(self, key: SubscriptionKey) -> Stored:
        """What was saved last; ``Stored()`` for a subscription that is not known."""
        ...

    def save(self, key: SubscriptionKey, cursor: str | None, seen: Sequence[str]) -> None:
        """Keep a position, and the ids of events that were acknowledged since the last time, all of it or nothing."""


class MemoryCursors:
    """Positions for as long as the process lives: for one client after another."""

    def __init__(self) -> None:
        self._kept: dict[SubscriptionKey, tuple[str | None, OrderedDict[str, None]]] = {}
        self._lock = new_lock()

    def load(self, key: SubscriptionKey) -> Stored:
        """See ``CursorStore``."""
        with self._lock:
            cursor, seen = self._kept.get(key, (None, OrderedDict[str, None]()))
            return Stored(cursor, tuple(seen))

    def save(self, key: SubscriptionKey, cursor: str | None, seen: Sequence[str]) -> None:
        """See ``CursorStore``."""
        with self._lock:
            ids = self._kept.get(key, (None, OrderedDict[str, None]()))[1]
            ids.update(dict.fromkeys(seen))
            while len(ids) > WINDOW:
                ids.popitem(last=False)
            self._kept[key] = cursor, ids


_TABLES = (
    "CREATE TABLE IF NOT EXISTS position (id INTEGER PRIMARY KEY, key TEXT UNIQUE NOT NULL, cursor TEXT)",
    """CREATE TABLE IF NOT EXISTS seen (
         n INTEGER PRIMARY KEY, position INTEGER NOT NULL, event_id TEXT NOT NULL, UNIQUE (position, event_id))""",
)


class SqliteCursors:
    """Positions in a file, for any number of threads and processes.

    A process that dies at any moment loses no event that was not acknowledged: a position is written in one transaction,
    with a write-ahead log. After a power failure the last acknowledgements may be missing, so that their events come again.

    Args:
        path: The file; it is made when it is first needed.
        timeout: Seconds to wait for another process that is writing.

    Raises ``sqlite3.Error`` when the file cannot be used, from ``load()`` and ``save()``.
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = 5.0) -> None:
        self._path = os.fspath(path)
        self._timeout = timeout
        self._lock = new_lock()
        self._writes: dict[int, int] = {}
        self._connection: sqlite3.Connection | None = None

    def load(self, key: SubscriptionKey) -> Stored:
        """See ``CursorStore``. Blocks while another process writes, for ``timeout`` at most."""
        with self._lock:
            database = self._open()
            row = database.execute("SELECT id, cursor FROM position WHERE key = ?", (key.text(),)).fetchone()
            if row is None:
                return Stored()
            seen = database.execute(
                "SELECT event_id FROM seen WHERE position = ? ORDER BY n DESC LIMIT ?", (row[0], WINDOW)
            ).fetchall()
            return Stored(row[1], tuple(event_id for (event_id,) in reversed(seen)))

    def save(self, key: SubscriptionKey, cursor: str | None, seen: Sequence[str]) -> None:
        """See ``CursorStore``. Blocks while another process writes, for ``timeout`` at most."""
        with self._lock, self._open() as database:  # one transaction
            database.execute(
                "INSERT INTO position (key, cursor) VALUES (?, ?)"
                " ON CONFLICT (key) DO UPDATE SET cursor = excluded.cursor",
                (key.text(), cursor),
            )
            (ident,) = database.execute("SELECT id FROM position WHERE key = ?", (key.text(),)).fetchone()
            database.executemany(
                "INSERT OR IGNORE INTO seen (position, event_id) VALUES (?, ?)", [(ident, each) for each in seen]
            )
            writes = self._writes.get(ident, PRUNED_EVERY) + len(seen)
            self._writes[ident] = 0 if writes >= PRUNED_EVERY else writes
            if writes >= PRUNED_EVERY:
                database.execute(
                    "DELETE FROM seen WHERE position = :position AND n <="
                    " (SELECT n FROM seen WHERE position = :position ORDER BY n DESC LIMIT 1 OFFSET :window)",
                    {"position": ident, "window": WINDOW},
                )

    def close(self, timeout: float | None = None) -> None:  # noqa: ARG002
        """Close the file. It is opened again when it is needed again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        lifecycle.closed(self)

    def forked(self) -> None:
        """We are in a forked child: leave the parent's connection alone, and make another one when it is needed."""
        if self._connection is not None:
            _LEFT.append(self._connection)
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def _open(self) -> sqlite3.Connection:
        """The connection. Requires the lock."""
        if self._connection is not None:
            return self._connection
        database = sqlite3.connect(self._path, timeout=self._timeout, check_same_thread=False)
        try:
            self._write_ahead(database)
            database.execute("PRAGMA synchronous = NORMAL")
            with database:
                for statement in _TABLES:
                    database.execute(statement)
        except BaseException:
            database.close()
            raise
        self._connection = database
        lifecycle.opened(self)
        return database

    def _write_ahead(self, database: sqlite3.Connection) -> None:
        """Switch to a write-ahead log: the one step for which SQLite does not wait for others that open the file as well."""
        deadline = Deadline(self._timeout)
        while True:
            try:
                database.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if deadline.expired or "locked" not in str(error):
                    raise
            time.sleep(LOOK)

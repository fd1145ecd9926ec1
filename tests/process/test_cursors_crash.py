"""A consumer that is killed at any moment, again and again: nothing is lost, next to nothing comes twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.fixtures.processes import eventually
from tools.fakeserver.events import EventServer, EventSource

KILLS, SEED = 50, 7

#: Consumes on a fresh process for each line that it is sent; its pid is the answer.
PROGRAM = """
import os, sys
import syncline
from syncline.streams.cursors import SqliteCursors
from syncline.streams.events import Events

url, store, out = sys.argv[1:]

def consume():
    handled = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with syncline.connect(url) as client, Events(client._session).stream("a.b", cursors=SqliteCursors(store)) as stream:
        for item in stream:
            if item.kind == "event":
                os.write(handled, item.event_id.encode() + b"\\n")
                stream.ack(item)

for _ in sys.stdin:
    pid = os.fork()
    if pid == 0:
        try:
            consume()
        finally:
            os._exit(1)
    print(pid, flush=True)
    os.waitpid(pid, 0)
"""


class Consumers:
    """One consumer after another, each a process of its own."""

    def __init__(self, *arguments: str) -> None:
        self._pid = 0
        self._parent = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self) -> None:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write("\n")
        self._parent.stdin.flush()
        self._pid = int(self._parent.stdout.readline())

    def kill(self) -> None:
        pid, self._pid = self._pid, 0
        if pid:
            os.kill(pid, signal.SIGKILL)

    def __enter__(self) -> Consumers:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._parent.communicate(timeout=20)


def test_fifty_kills_lose_nothing(tmp_path: Path) -> None:
    """E-15: what was handled is repeated only if its acknowledgement had not been stored: at most one event each time."""
    chance, source, done = random.Random(SEED), EventSource(), threading.Event()
    source.offer("a.b")
    topic, out = source.topic("a.b"), tmp_path / "handled"
    out.touch()

    def handled() -> list[str]:
        return out.read_text().split()

    def emit() -> None:
        while not done.wait(0.001):
            source.emit("a.b")

    with EventServer(source) as server, Consumers(server.url, str(tmp_path / "events.db"), str(out)) as consumers:
        consumers.start()
        assert eventually(lambda: topic.opened == 1)
        emitter = threading.Thread(target=emit, daemon=True)
        emitter.start()
        try:
            for turn in range(KILLS):
                wanted = len(handled()) + chance.choice([1, 3, 10, 30])
                assert eventually(lambda: len(handled()) >= wanted, 20)  # noqa: B023 - it is called here
                consumers.kill()
                consumers.start()
                if turn % 5 == 0:  # somewhere while it starts, too
                    done.wait(chance.uniform(0, 0.1))
                    consumers.kill()
                    consumers.start()
        finally:
            done.set()
            emitter.join()
        assert eventually(lambda: len(set(handled())) == len(topic.log), 20)

    found = handled()
    kept = list(dict.fromkeys(found))
    assert kept == [event["eventId"] for event in topic.log], "lost, or out of order"
    assert len(found) - len(kept) <= KILLS + KILLS // 5

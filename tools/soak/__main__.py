"""`python -m tools.soak --seconds 60 --seed 1`: 64 pushed and 200 polled subscriptions, and a server that drops, restarts,
truncates, floods and goes silent. Prints a table; fails when an event was lost or came twice, or memory grew.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import syncline
from syncline.streams.cursors import SqliteCursors
from syncline.streams.event_stream import EventStream
from syncline.streams.events import Events

from .server import POLLED, PUSHED, UNREAD

#: Threads of this program that take from the streams; seconds between two rounds that brought nothing.
CONSUMERS, IDLE = 4, 0.01
#: Seconds after the end within which all must have arrived: silence is noticed after 65 s.
DRAIN = 150.0
#: Bytes that memory may grow by between a third of the run and its end.
GROWTH = 64 << 20


class Subscriber:
    """One subscription and what came of it. Ids are counted up by the server, so that one number says what comes next."""

    def __init__(self, kind: str, number: int, stream: EventStream) -> None:
        self.kind = kind
        self.number = number
        self.stream = stream
        self.next = self.delivered = self.doubled = self.lost = self.gaps = self.troubles = self.reconnects = 0

    def take(self) -> bool:
        """Take one item, if there is one."""
        item = self.stream.get(0)
        if item is None:
            return False
        if item.kind == "event":
            place = int(item.event_id[1:])
            self.delivered += 1
            self.doubled += place < self.next
            self.lost += max(0, place - self.next)
            self.next = max(self.next, place + 1)
        elif item.kind == "gap":
            self.gaps += 1
        elif item.kind == "error":
            self.troubles += 1
        elif item.state == "reconnecting":
            self.reconnects += 1
        self.stream.ack(item)
        return True


class Gauge:
    """Threads and memory of this process, looked at four times a second."""

    def __init__(self) -> None:
        self.threads = 0
        self.memory: list[int] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._done.wait(0.25):
            names = [thread.name for thread in threading.enumerate()]
            self.threads = max(self.threads, sum(name.startswith("syncline:") for name in names))
            self.memory.append(resident())


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Consumer:
    """A thread that takes from its share of the streams until it is stopped, or fails."""

    def __init__(self, subscribers: list[Subscriber]) -> None:
        self.error: Exception | None = None
        self._subscribers = subscribers
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._done.is_set():
                found = [subscriber.take() for subscriber in self._subscribers]
                if True not in found:
                    self._done.wait(IDLE)
        except Exception as error:
            self.error = error


@contextlib.contextmanager
def server(options: argparse.Namespace) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tools.soak.server"]
    for name in ("seconds", "seed", "push", "poll"):
        command += [f"--{name}", str(getattr(options, name))]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.communicate(timeout=60)


def run(options: argparse.Namespace) -> int:
    limits = syncline.Limits(subscriptions=options.push + 1)
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteCursors(Path(folder, "events.db")) as cursors,
        server(options) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        url = f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        with syncline.connect(url, limits=limits) as client:
            events = Events(client._session)
            subscribers = [
                Subscriber(name, number, events.subscribe(name, {"n": number}, cursors=cursors))
                for name, count in ((PUSHED, options.push), (POLLED, options.poll))
                for number in range(count)
            ]
            unread = events.stream(UNREAD)
            gauge = Gauge()
            consumers = [Consumer(subscribers[start::CONSUMERS]) for start in range(CONSUMERS)]
            process.stdin.write("go\n")
            process.stdin.flush()
            told = json.loads(process.stdout.readline())
            settled = settle(subscribers, told["sent"], consumers)
            gauge.stop()
            for each in consumers:
                each.stop()
            state = unread.state
            events.close()
    for each in consumers:
        if each.error is not None:
            raise each.error
    return report(subscribers, told, gauge, settled, state)


def settle(subscribers: list[Subscriber], sent: dict[str, list[int]], consumers: list[Consumer]) -> float | None:
    """Wait until everything that was sent has arrived; how long that took, None if it did not happen or never will."""
    begin = time.monotonic()
    while time.monotonic() - begin < DRAIN and not any(consumer.error for consumer in consumers):
        if all(each.next == sent[each.kind][each.number] for each in subscribers):
            return time.monotonic() - begin
        time.sleep(0.05)
    return None


def report(
    subscribers: list[Subscriber],
    told: dict[str, dict[str, list[int]]],
    gauge: Gauge,
    settled: float | None,
    unread: str,
) -> int:
    columns = "sent", "delivered", "doubled", "lost", "gaps", "errors", "reconnects"
    print(f"{'':14}" + "".join(f"{column:>12}" for column in columns))
    failed = settled is None
    for kind in (PUSHED, POLLED):
        each = [subscriber for subscriber in subscribers if subscriber.kind == kind]
        sent = sum(told["sent"][kind])
        missing = sum(told["sent"][kind][one.number] - one.next + one.lost for one in each)
        doubled = sum(one.doubled for one in each)
        row = (
            sent,
            sum(one.delivered for one in each),
            doubled,
            missing,
            *(sum(getattr(one, name) for one in each) for name in ("gaps", "troubles", "reconnects")),
        )
        print(f"{kind.rpartition('.')[2]} {len(each):<6}".ljust(14) + "".join(f"{value:>12,}" for value in row))
        failed = failed or bool(missing or doubled)
        for one in each:
            if one.next != told["sent"][kind][one.number]:
                where = f"{one.next} of {told['sent'][kind][one.number]}"
                print(f"  {kind} {one.number}: {where}, {one.stream.state}, {one.stream.last_error}")
    third = gauge.memory[len(gauge.memory) // 3 :]
    growth = third[-1] - third[0]
    failed = failed or growth > GROWTH or unread in ("terminated", "closed")
    print(f"faults: {', '.join(f'{name} {count}' for name, count in sorted(told['faults'].items()))}", end="; ")
    print(f"floods {told['floods']}, restarts {told['restarts']}")
    print(
        f"all arrived {'never' if settled is None else f'{settled:.1f} s'} after the end; the unread stream is {unread}"
    )
    print(f"peak threads of syncline: {gauge.threads}")
    shown = [f"{value / 1e6:.0f}" for value in (gauge.memory[0], third[0], third[-1], max(gauge.memory))]
    print("memory in MB: {} at the start, {} after a third, {} at the end, {} at most".format(*shown))
    print("FAILED" if failed else "passed")
    return int(failed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--push", type=int, default=64)
    parser.add_argument("--poll", type=int, default=200)
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()

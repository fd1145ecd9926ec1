"""The server of a soak run, in a process of its own: `python -m tools.soak.server --seconds 60 --seed 1`.

It prints its port. After a line on its standard input things happen for so many seconds, well and badly, by chance from the
seed; then it prints what it sent, as JSON, and serves on until its standard input ends.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time

from tools.fakeserver.events import EventServer, EventSource, Fault

PUSHED, POLLED, UNREAD = "soak.pushed", "soak.polled", "soak.unread"
#: Seconds without anything until a stream gets a heartbeat, and until the next poll.
HEARTBEAT, NEXT_POLL = 2.0, 2.0
#: Seconds between two events, and two faults, of one subscription; between two floods; between two restarts.
EVENT_EVERY, FAULT_EVERY, FLOOD_EVERY, RESTART_EVERY = 0.66, 13.0, 5.0, 15.0
#: Seconds before the end from which on nothing goes silent any more: that takes 65 s to be noticed.
LAST_SILENCE = 45.0
#: How often each fault comes, among all.
STREAM_FAULTS: dict[Fault, int] = {
    "drop": 4, "reset": 4, "truncate": 4, "finish": 4, "error": 4, "gap": 4, "again": 4, "busy": 2, "silence": 1,
}  # fmt: skip
POLL_FAULTS: dict[Fault, int] = {"drop": 20, "reset": 20, "error": 20, "gap": 20, "again": 20, "busy": 20, "silence": 1}


class Chaos:
    """Makes things happen."""

    def __init__(self, source: EventSource, server: EventServer, chance: random.Random, push: int, poll: int) -> None:
        self._source = source
        self.server = server
        self._chance = chance
        self._names = [(PUSHED, number) for number in range(push)] + [(POLLED, number) for number in range(poll)]
        self.restarts = self.floods = 0
        self._end = 0.0

    def run(self, seconds: float) -> None:
        begin = time.monotonic()
        self._end = begin + seconds
        turns = {"event": 0.0, "fault": 0.0, "flood": 0.0, "restart": RESTART_EVERY}
        each = len(self._names)
        every = {
            "event": EVENT_EVERY / each,
            "fault": FAULT_EVERY / each,
            "flood": FLOOD_EVERY,
            "restart": RESTART_EVERY,
        }
        while (now := time.monotonic() - begin) < seconds:
            for what, due in turns.items():
                if now >= due:
                    turns[what] = max(due + every[what], now - 1)
                    getattr(self, what)()
            time.sleep(0.001)

    def event(self) -> None:
        name, number = self._chance.choice(self._names)
        self._source.emit(name, {"n": number}, {"text": "x" * self._chance.choice([10, 100, 1000])})

    def fault(self) -> None:
        name, number = self._chance.choice(self._names)
        table = STREAM_FAULTS if name == PUSHED else POLL_FAULTS
        kind = self._chance.choices(list(table), list(table.values()))[0]
        if self._source.topic(name, {"n": number}).faults:
            return  # one at a time: a poll that finds one each time is made once a minute, and would never find the last
        if kind != "silence" or time.monotonic() < self._end - LAST_SILENCE:
            self._source.fault(kind, name, {"n": number})

    def flood(self) -> None:
        """Many small events and some large ones, for one subscription; and for the one that nobody reads."""
        self.floods += 1
        name, number = self._chance.choice(self._names)
        for arguments, topic in (({"n": number}, name), ({}, UNREAD)):
            for _ in range(2000):
                self._source.emit(topic, arguments, {"text": "x" * 100})
            for _ in range(10):
                self._source.emit(topic, arguments, {"text": "x" * 100_000})

    def restart(self) -> None:
        self.restarts += 1
        port = self.server.port
        self.server.close()
        time.sleep(self._chance.uniform(0.2, 2.0))
        self.server = EventServer(self._source, port=port)

    def sent(self) -> dict[str, list[int]]:
        """How many events there were for each subscription."""
        found: dict[str, list[int]] = {PUSHED: [], POLLED: []}
        for name, number in self._names:
            found[name].append(len(self._source.topic(name, {"n": number}).log))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--push", type=int, default=64)
    parser.add_argument("--poll", type=int, default=200)
    options = parser.parse_args()
    source = EventSource(heartbeat=HEARTBEAT, next_poll_ms=int(NEXT_POLL * 1000))
    source.offer(PUSHED, "push")
    source.offer(POLLED, "poll")
    source.offer(UNREAD, "push")
    chaos = Chaos(source, EventServer(source), random.Random(options.seed), options.push, options.poll)
    print(chaos.server.port, flush=True)
    sys.stdin.readline()
    chaos.run(options.seconds)
    report = {"sent": chaos.sent(), "faults": dict(source.faulted), "floods": chaos.floods, "restarts": chaos.restarts}
    print(json.dumps(report), flush=True)
    sys.stdin.read()
    chaos.server.close()


if __name__ == "__main__":
    main()

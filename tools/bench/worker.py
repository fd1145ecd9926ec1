"""One workload with one client, in a process of its own: `python -m tools.bench.worker SPECIFICATION`, both ways JSON."""

from __future__ import annotations

import itertools
import json
import resource
import statistics
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.bench import fleet
from tools.bench.clients import Client, RawPipe, client, imported

NOW = time.perf_counter
TEXT = "a small echo payload, of sixty-four characters; it fits anywhere"
Result = dict[str, float]


def peak_mb() -> float:
    """The peak memory of this process."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def resident_kb() -> float:
    """The memory of this process now, as far as the system tells."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * resource.getpagesize() / 1024 if statm.exists() else 0.0


def rate(latencies: list[float], wall: float, cpu: float) -> Result:
    ordered = sorted(latencies)
    count = len(ordered)
    return {
        "calls/s": count / wall,
        "calls": count,
        "p50_us": ordered[count // 2] * 1e6,
        "p99_us": ordered[count * 99 // 100] * 1e6,
        "cpu_us": cpu / count * 1e6,
    }


def loop(call: Callable[[], object], until: float) -> list[float]:
    """The time that each call took, one after the other."""
    latencies, before = [], NOW()
    while before < until:
        call()
        after = NOW()
        latencies.append(after - before)
        before = after
    return latencies


def calls(subject: Client, seconds: float) -> Result:
    def echo() -> None:
        assert subject.call("echo", {"text": TEXT}) == TEXT

    for _ in range(20):
        echo()
    cpu, start = time.process_time(), NOW()
    latencies = loop(echo, start + seconds)
    return rate(latencies, NOW() - start, time.process_time() - cpu)


def concurrent(subject: Client, seconds: float, workers: int, ms: int = 0) -> Result:
    arguments: dict[str, Any] = {"text": TEXT} | ({"ms": ms} if ms else {})
    subject.call("echo", {"text": TEXT})
    if isinstance(subject, RawPipe):
        cpu, start, before = time.process_time(), NOW(), NOW()
        latencies = []
        for _ in subject.pipelined(workers, arguments):
            now = NOW()
            latencies.append(now - before)
            before = now
            if now > start + seconds:
                break
        return rate(latencies, NOW() - start, time.process_time() - cpu)
    found: list[float] = []
    ready = threading.Barrier(workers + 1)
    until = [0.0]

    def work() -> None:
        def one() -> None:
            subject.call("sleep" if ms else "echo", arguments)

        one()  # opens this thread's connection, where it has one of its own
        ready.wait(30)
        ready.wait(30)
        found.extend(loop(one, until[0]))

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    ready.wait(30)
    cpu, start = time.process_time(), NOW()
    until[0] = start + seconds
    ready.wait(30)
    for thread in threads:
        thread.join(60)
    return rate(found, NOW() - start, time.process_time() - cpu)


def repeated(run: Callable[[], None], seconds: float) -> Result:
    cpu, start = time.process_time(), NOW()
    times = loop(run, start + seconds)
    used = time.process_time() - cpu
    return {"ms": statistics.median(times) * 1e3, "times": len(times), "cpu_us": used / len(times) * 1e6}


def listing(subject: Client, seconds: float, tools: int) -> Result:
    def once() -> None:
        assert subject.list_tools() == tools

    return repeated(once, seconds)


def blob(subject: Client, seconds: float, bytes: int) -> Result:  # noqa: A002
    def once() -> None:
        assert len(subject.call("blob", {"bytes": bytes})) == bytes

    subject.call("blob", {"bytes": 1000})
    if bytes <= 1 << 20:
        once()
    return repeated(once, seconds)


class Arrivals:
    """Counts events, on whatever threads they come, up to the last one that is expected."""

    def __init__(self, expected: int) -> None:
        self.times: deque[float] = deque()
        self._done = threading.Event()
        self._left = iter(range(expected - 1, -1, -1))

    def __call__(self) -> None:
        self.times.append(NOW())
        if next(self._left, None) == 0:
            self._done.set()

    def wait(self) -> None:
        assert self._done.wait(60), f"only {len(self.times)} events came"


def streams(subject: Client, seconds: float, kind: str, streams: int, events: int) -> Result:  # noqa: ARG001
    """So many streams at once, with so many events each."""
    arrivals = Arrivals(streams * events)
    idle = resident_kb()
    for _ in range(streams):
        subject.stream(kind, arrivals)
    opened = resident_kb()
    cpu = time.process_time()
    subject.call("emit", {"count": events})
    arrivals.wait()
    used = time.process_time() - cpu
    count = len(arrivals.times)
    return {
        "events/s": count / (arrivals.times[-1] - arrivals.times[0]), "events": count, "cpu_us": used / count * 1e6,
        "threads": threading.active_count(), "kb_a_stream": (opened - idle) / streams,
    }  # fmt: skip


def drops(subject: Client, seconds: float, kind: str, cuts: int) -> Result:  # noqa: ARG001
    """A server that breaks each stream off after one event: the time from one event to the next."""
    arrivals = Arrivals(cuts + 1)
    subject.stream(kind, arrivals)
    arrivals.wait()
    times = list(arrivals.times)
    between = sorted(after - before for before, after in itertools.pairwise(times))
    return {"ms": statistics.median(between) * 1e3, "p99_ms": between[len(between) * 99 // 100] * 1e3, "cuts": cuts}


WORKLOADS: dict[str, Callable[..., Result]] = {
    f.__name__: f for f in (calls, concurrent, listing, blob, streams, drops)
}


def main() -> None:
    given = json.loads(sys.argv[1])
    if given["workload"] == "importing":
        start = NOW()
        imported(given["client"])
        print(json.dumps({"ms": (NOW() - start) * 1e3, "peak_mb": peak_mb()}))
        return
    if given["workload"] == "fleet":
        options = given["options"]
        alone = given["client"] == "slowest"
        figures = fleet.slowest(options["tools"], options["late"]) if alone else fleet.many(given["target"], **options)
        print(json.dumps(figures | {"peak_mb": peak_mb()}))
        return
    subject = client(given["client"], given["way"])
    subject.open(given["target"], given["era"])
    if given["workload"] == "cold":
        assert subject.list_tools() > 0
        assert subject.call("echo", {"text": TEXT}) == TEXT
        result: Result = {}
    else:
        result = WORKLOADS[given["workload"]](subject, given["seconds"], **given["options"])
    result["peak_mb"] = peak_mb()
    subject.close()
    print(json.dumps(result))


if __name__ == "__main__":
    main()

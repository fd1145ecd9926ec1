"""Two hundred connections, each killed at a random moment in a random way while several threads use it.

Nothing hangs past its deadline by more than a second, only the project's own errors come out, answers are never mixed
up, and no thread, process, file descriptor or pending call is left. `SYNCLINE_CHAOS_SEED` repeats a run.
"""

from __future__ import annotations

import gc
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import syncline
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

KILLS = 200
CALLERS = 3
TIMEOUTS = syncline.Timeouts(connect=4, startup=6, call=5, call_total=6, close=3, probe=1)
SLACK = 1.0
RELEASE = 2.0  # seconds for a call to end once the client is closed: well before its own limit
ERAS = ("2025-11-25", "2026-07-28", "auto")
Kill = Callable[[syncline.Client], object]


@dataclass
class Findings:
    """What was seen, over all kills."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    longest: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, outcome: str) -> None:
        with self.lock:
            self.outcomes[outcome] += 1

    def fault(self, text: str) -> None:
        with self.lock:
            self.wrong.append(text)

    def timed(self, what: str, run: Callable[[], object], limit: float) -> bool:
        """Run it; false if it raised one of our errors. Anything else, and taking longer than it may, is a fault."""
        start = time.monotonic()
        try:
            run()
            self.note(f"{what}: ok")
            return True
        except syncline.SynclineError as error:
            self.note(f"{what}: {type(error).__name__}")
            return False
        except BaseException as error:
            self.fault(f"{what}: {error!r}")
            return False
        finally:
            took = time.monotonic() - start
            self.longest = max(self.longest, took - limit)
            if took > limit + SLACK:
                self.fault(f"{what} took {took:.1f} s of {limit} s")


class Caller:
    """One thread that uses the client until a call fails or it is told to stop."""

    def __init__(self, client: syncline.Client, number: int, rng: random.Random, findings: Findings) -> None:
        self._client, self._number, self._findings = client, number, findings
        self._plan = [rng.choice((self._echo, self._list, self._big, self._slow, self._progress)) for _ in range(200)]
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._run, name=f"caller-{number}")

    def _run(self) -> None:
        for action in self._plan:
            limit = TIMEOUTS.call_total if action == self._progress else TIMEOUTS.call
            assert limit
            if self.stop.is_set() or not self._findings.timed("call", action, limit):
                return

    def _same(self, got: str, wanted: str) -> None:
        if got != wanted:
            self._findings.fault(f"caller {self._number} wanted {wanted[:40]!r} and got {got[:40]!r}")

    def _echo(self) -> None:
        word = f"{self._number}-{time.monotonic_ns()}"
        self._same(self._client.call_tool("echo", {"text": word}).text, word)

    def _list(self) -> None:
        names = [tool.name for tool in self._client.list_tools()]
        self._same(str("echo" in names), "True")

    def _big(self) -> None:
        size = 300_000 + self._number
        self._same(str(len(self._client.call_tool("big", {"size": size}).text)), str(size))

    def _slow(self) -> None:
        word = f"slow-{self._number}"
        self._same(self._client.call_tool("slow", {"seconds": 0.05, "text": word}).text, word)

    def _progress(self) -> None:
        seen: list[float] = []
        result = self._client.call_tool("progress", {"n": 3}, on_progress=lambda done, *_: seen.append(done))
        self._same(result.text, "3 steps")
        self._same(str(seen), "[1, 2, 3]")


def one_kill(client: syncline.Client, kill: Kill, delay: float, rng: random.Random, findings: Findings) -> None:
    """Open, call from several threads, kill after the delay, close; then look for what is left."""
    callers = [Caller(client, number, rng, findings) for number in range(CALLERS)]

    def life() -> None:
        if findings.timed("open", client.open, TIMEOUTS.startup or 0):
            for caller in callers:
                caller.thread.start()

    opener = threading.Thread(target=life, name="opener")
    opener.start()
    time.sleep(delay)
    kill(client)
    opener.join(30)
    time.sleep(0.02)
    for caller in callers:
        caller.stop.set()
    findings.timed("close", client.close, TIMEOUTS.close)
    for thread in [opener, *(caller.thread for caller in callers if caller.thread.ident)]:
        thread.join(RELEASE)
        if thread.is_alive():
            findings.fault(f"{thread.name} hangs after close()")
    if pending := client._session.connection.engine.pending:
        findings.fault(f"pending calls are left: {list(pending.values())}")
    if left := own_threads(TIMEOUTS.close):
        findings.fault(f"threads are left: {left}")


def own_threads(patience: float) -> list[str]:
    """The client's threads that are still there after waiting for them."""
    limit = time.monotonic() + patience
    while True:
        names = [thread.name for thread in threading.enumerate() if thread.name.startswith("syncline")]
        if not names or time.monotonic() > limit:
            return names
        time.sleep(0.005)


def children() -> set[int]:
    """The processes that this one has started and that have not been waited for."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread has just ended
            found |= set(map(int, (task / "children").read_text().split()))
    return found


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def nothing_left(findings: Findings) -> Iterator[None]:
    gc.collect()
    before, processes = descriptors(), children()
    yield
    gc.collect()
    if descriptors() > before:
        findings.fault(f"{descriptors() - before} file descriptors are left")
    if left := children() - processes:
        findings.fault(f"processes are left: {left}")


@dataclass
class Report:
    """Prints what happened, whether or not the output of tests is captured."""

    capsys: pytest.CaptureFixture[str]
    seed: int

    def __call__(self, what: str, kills: Counter[str], findings: Findings) -> None:
        lines = [f"\n{sum(kills.values())} kills over {what}, seed {self.seed}: {dict(sorted(kills.items()))}"]
        lines += [f"  {count:5} {outcome}" for outcome, count in sorted(findings.outcomes.items())]
        lines.append(f"  the longest wait ended {findings.longest:+.2f} s from its deadline\n")
        with self.capsys.disabled():
            sys.stdout.write("\n".join(lines))
        assert not findings.wrong, f"seed {self.seed}: " + "; ".join(findings.wrong[:5])


@pytest.fixture
def seed() -> int:
    return int(os.environ.get("SYNCLINE_CHAOS_SEED") or random.randrange(1 << 32))


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str], seed: int) -> Report:
    return Report(capsys, seed)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc to see what is left")
def test_kills_of_a_program(seed: int, report: Report, stdio_command: StdioCommand) -> None:
    rng, findings, kills = random.Random(seed), Findings(), Counter[str]()

    def by_signal(number: signal.Signals) -> Kill:
        def kill(_: syncline.Client) -> None:
            for pid in children() - others:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

        return kill

    ways: dict[str, tuple[Callable[[], list[str]], Kill]] = {
        "killed": (list, by_signal(signal.SIGKILL)),
        "terminated": (list, by_signal(signal.SIGTERM)),
        "dies by itself": (lambda: [f"die-after={rng.randrange(12)}"], lambda _: None),
        "cut in a line": (lambda: ["cut"], lambda _: None),
        "closed here": (list, lambda client: findings.timed("close", client.close, TIMEOUTS.close)),
    }  # fmt: skip
    with nothing_left(findings):
        others = children()
        for _ in range(KILLS * 2 // 5):
            way = rng.choice(sorted(ways))
            kills[way] += 1
            faults, kill = ways[way]
            client = syncline.Client(stdio_command(*faults()), timeout=TIMEOUTS, protocol_version=rng.choice(ERAS))
            one_kill(client, kill, rng.random() ** 2 * 0.25, rng, findings)
    report("stdio", kills, findings)


def cut_answer(rng: random.Random, server: McpHttpServer) -> Callable[[Exchange], None]:
    """Part of an answer, then the end: as the headers, a JSON body or an event stream stop in the middle."""
    length, way = rng.randrange(300), rng.choice(("close", "reset"))
    body = b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"half"}]}}'
    heads = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n" + body,
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nid: 1\ndata: "
        + body,
    )
    data = rng.choice(heads)[:length]

    def cut(exchange: Exchange) -> None:
        exchange.send(data)
        getattr(exchange, way)()

    return cut


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc to see what is left")
def test_kills_over_http(seed: int, report: Report) -> None:
    rng, findings, kills = random.Random(seed), Findings(), Counter[str]()
    ways: dict[str, Callable[[McpHttpServer], Kill]] = {
        "connections reset": lambda server: lambda _: server.drop_connections(reset=True),
        "connections closed": lambda server: lambda _: server.drop_connections(),
        "server gone": lambda server: lambda _: server.close(quiet=True),
        "session gone": lambda server: lambda _: server.expire_sessions(),
        "answers cut": lambda server: lambda _: server.arm(cut_answer(rng, server), rng.randrange(1, 4)),
        "silent": lambda server: lambda _: server.arm(Exchange.hold, 1),
        "closed here": lambda _: lambda client: findings.timed("close", client.close, TIMEOUTS.close),
    }
    with nothing_left(findings):
        for _ in range(KILLS * 3 // 5):
            way = rng.choice(sorted(ways))
            kills[way] += 1
            with McpHttpServer(answer=rng.choice(("json", "sse")), sessions=rng.random() < 0.7) as server:
                kill = ways[way](server)
                client = syncline.Client(server.url, timeout=TIMEOUTS, protocol_version=rng.choice(ERAS))
                one_kill(client, kill, rng.random() ** 2 * 0.15, rng, findings)
    report("HTTP", kills, findings)

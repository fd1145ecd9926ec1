"""Measure the client beside a raw loop: `python -m tools.bench [NAME...] [--quick] [--rounds N] [--json FILE]`.

Every figure comes from a fresh server and a fresh client process. Rounds alternate client and reference, and a ratio is
taken within one round, so that a machine that is busy or slows down spoils neither. NAME is a row, with wildcards.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import statistics
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.bench.rows import ROWS, Row

LIMIT = 120.0  # seconds for one process
#: What a row may tell besides, and how that is shown.
NOTES = {
    "threads": "{:.0f} threads", "kb_a_stream": "{:.0f} kB a stream", "idle_threads": "{:.0f} when idle",
    "list_ms": "listed in {:.0f} ms", "close_ms": "closed in {:.0f} ms",
}  # fmt: skip
Figures = dict[str, float]


class Server:
    """A server for one run; the target of a pipe is the command itself."""

    def __init__(self, row: Row) -> None:
        command = [sys.executable, "-m", "tools.bench.server", *row.server]
        self._process: subprocess.Popen[bytes] | None = None
        self.target: str | list[str] = [*command, "--stdio", "--era", row.era]
        if row.way in ("json", "sse"):
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
            assert self._process.stdout
            self._origin = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
            self.target = f"{self._origin}/{row.era}/{row.way}"

    def stats(self) -> Figures:
        if self._process is None:
            return {}
        with urllib.request.urlopen(self._origin + "/stats") as answer:
            stats: Figures = json.load(answer)
        return stats | {"connections": stats["connections"] - 1}

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()


@dataclass
class Measured:
    """The figures of all rounds of one row, and what they come to."""

    row: Row
    client: list[Figures] = field(default_factory=list)
    reference: list[Figures] = field(default_factory=list)
    failure: str = ""

    def ratios(self, figure: str) -> list[float]:
        """The client's cost over the reference's, a round each: above 1 it costs more."""
        pairs = [(a[figure], b[figure]) for a, b in zip(self.client, self.reference, strict=True) if figure in a]
        return [b / a if figure == self.row.figure and self.row.is_rate else a / b for a, b in pairs]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios(self.row.figure))

    def median(self, side: str, figure: str) -> float | None:
        rounds = self.client if side == "client" else self.reference
        found = [figures[figure] for figures in rounds if figure in figures]
        return statistics.median(found) if found else None

    def missed(self) -> list[str]:
        """The targets that were not met."""
        row, peak, connections = self.row, self.median("client", "peak_mb"), self.median("client", "connections")
        missed = [f"ratio {self.ratio:.2f}"] if self.ratio > row.target else []
        if row.peak_mb and peak and peak > row.peak_mb:
            missed.append(f"peak {peak:.0f} MB > {row.peak_mb:.0f}")
        if row.connections and connections and connections > row.connections:
            missed.append(f"{connections:.0f} connections > {row.connections}")
        return missed


def run(row: Row, client: str, seconds: float) -> Figures:
    """One client, one workload, once."""
    server = Server(row)
    given: dict[str, Any] = {
        "workload": row.workload, "client": client, "way": row.way, "era": row.era, "target": server.target,
        "options": row.options, "seconds": seconds,
    }  # fmt: skip
    try:
        start = time.perf_counter()
        command = [sys.executable, "-m", "tools.bench.worker", json.dumps(given)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        wall = (time.perf_counter() - start) * 1e3
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
        figures: Figures = json.loads(done.stdout)
        stats = server.stats()
    finally:
        server.close()
    return {"ms": wall} | figures | {key: stats[key] for key in ("connections", "tools/call") if key in stats}


def measure(row: Row, client: str, rounds: int, seconds: float) -> Measured:
    measured = Measured(row)
    try:
        for _ in range(rounds):
            measured.client.append(run(row, client, seconds))
            measured.reference.append(run(row, row.reference, seconds))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        measured.failure = str(error)
    return measured


HEAD = f"{'row':<22} {'client':>14} {'reference':>14} {'ratio':>6} {'min..max':>12} {'cpu':>5} {'peak MB':>8} {'target':>7}  met"


def line(measured: Measured) -> str:
    row = measured.row
    if measured.failure:
        return f"{row.name:<22} failed: {measured.failure}"

    def shown(side: str) -> str:
        return f"{measured.median(side, row.figure) or 0:,.{0 if row.is_rate else 1}f} {row.figure}"

    ratios, cpus = measured.ratios(row.figure), measured.ratios("cpu_us")
    cpu = f"{statistics.median(cpus):.2f}" if cpus else ""
    spread = f"{min(ratios):.2f}..{max(ratios):.2f}"
    peak = measured.median("client", "peak_mb") or 0
    missed = measured.missed()
    verdict = "no: " + ", ".join(missed) if missed else "yes"
    told = {figure: measured.median("client", figure) for figure in NOTES}
    notes = ", ".join(NOTES[figure].format(value) for figure, value in told.items() if value is not None)
    return (
        f"{row.name:<22} {shown('client'):>14} {shown('reference'):>14} {measured.ratio:>6.2f} {spread:>12} "
        f"{cpu:>5} {peak:>8.0f} {row.target:>7.1f}  {verdict}{f' ({notes})' if notes else ''}"
    )


def as_data(measured: Measured) -> dict[str, Any]:
    row = measured.row
    data: dict[str, Any] = {"name": row.name, "reference": row.reference, "figure": row.figure, "target": row.target}
    if measured.failure:
        return data | {"failure": measured.failure}
    return data | {
        "ratio": measured.ratio, "missed": measured.missed(), "client": measured.client,
        "reference_figures": measured.reference,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("names", nargs="*", default=["*"])
    parser.add_argument("--quick", action="store_true", help="one short round, without the largest answers")
    parser.add_argument(
        "--client", choices=["syncline", "raw", "requests"], default="syncline", help="what is measured"
    )
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    rows = [row for row in ROWS if any(fnmatch.fnmatch(row.name, name) for name in options.names)]
    if not rows:
        parser.error(f"no such row; there are: {', '.join(row.name for row in ROWS)}")
    if options.quick:
        rows = [row for row in rows if not row.long]
    rounds, seconds = options.rounds or (1 if options.quick else 3), 0.15 if options.quick else 0.6
    print(HEAD)
    results = []
    for row in rows:
        results.append(measure(row, options.client, rounds, seconds))
        print(line(results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps([as_data(result) for result in results], indent=1) + "\n")
    met = sum(not result.failure and not result.missed() for result in results)
    print(
        f"{met} of {len(results)} met; the ratio is the client's cost over that of its reference: the raw loop, if not said otherwise"
    )
    return 1 if any(result.failure for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

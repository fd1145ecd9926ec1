"""Programs in processes of their own, with a time limit; at the end a table of what was run, how it went and how long."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fixtures.processes import alive, eventually
from tests.process.server import prepare
from tools.fakeserver.mcp_http import McpHttpServer

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "threads-and-processes.md"
#: Seconds for any one program.
LIMIT = 60.0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [
        report
        for outcome in ("passed", "failed", "skipped")
        for report in terminalreporter.getreports(outcome)
        if report.nodeid.startswith("tests/process/test_host_") and (report.when == "call" or report.skipped)
    ]
    if not reports:
        return
    terminalreporter.section("life in a process")
    for report in sorted(reports, key=lambda report: report.nodeid):
        module, _, name = report.nodeid.partition("::")
        what = f"{Path(module).stem.removeprefix('test_host_')}: {name.removeprefix('test_').replace('_', ' ')}"
        terminalreporter.line(f"{what:<100} {report.outcome:<8} {report.duration:6.1f} s")


@dataclass(frozen=True)
class Served:
    """A server that programs find in the environment variable ``MCP_SERVER``.

    Attributes:
        address: A URL or a command line.
        http: The server, if it runs in this process.
        pids: The file with the process ids of all that were started, otherwise.
    """

    address: str
    http: McpHttpServer | None
    pids: Path

    def started(self) -> list[int]:
        return [int(pid) for pid in self.pids.read_text().split()] if self.pids.exists() else []

    def gone(self) -> bool:
        """Whether no server process is left, and none is left over when the system has caught up."""
        return eventually(lambda: not any(alive(pid) for pid in self.started()))


@pytest.fixture
def offer(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Makes servers: ``offer("stdio", *options)`` or ``offer("http")``; see ``tests/process/server.py``."""
    with ExitStack() as stack:

        def make(transport: str, *options: str) -> Served:
            pids = tmp_path / "pids"
            if transport == "http":
                server = stack.enter_context(McpHttpServer())
                prepare(server.catalogue)
                return Served(server.url, server, pids)
            words = ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.process.server", str(pids), *options]
            return Served(shlex.join(words), None, pids)

        yield make
        for pid in filter(alive, Served("", None, tmp_path / "pids").started()):
            os.kill(pid, signal.SIGKILL)


def environment(served: Served, more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "MCP_SERVER": served.address, "PYTHONUNBUFFERED": "1", **(more or {})}


class Run:
    """Runs a program that must end by itself, well and in silence; gives the lines that it printed.

    The program may use ``os``, ``sys`` and ``SERVER``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self,
        served: Served,
        program: str,
        *args: str,
        first: str = "",
        strict: bool = True,
        seconds: float = LIMIT,
        errors: str = "",
    ) -> list[str]:
        file = self.folder / "program.py"
        opening = "import os, sys, syncline\nSERVER = os.environ['MCP_SERVER']\n"
        file.write_text(first + opening + textwrap.dedent(program))
        words = [sys.executable, *(["-W", "error"] if strict else []), str(file), *args]
        done = subprocess.run(
            words, cwd=self.folder, env=environment(served, {"PYTHONPATH": str(ROOT)}),
            capture_output=True, text=True, timeout=seconds,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        assert re.fullmatch(errors, done.stderr, re.DOTALL), done.stderr
        return done.stdout.splitlines()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def example(name: str) -> str:
    """The code of the documentation that begins with the comment ``# name``."""
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    [block] = [block for block in blocks if block.startswith(f"# {name}\n")]
    return block

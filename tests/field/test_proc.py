"""Programs that start badly, stop badly, or leave something behind."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from pathlib import Path

import pytest

import syncline
from tests.fixtures.processes import alive, eventually
from tests.fixtures.servers import StdioCommand


def test_a_program_that_ends_at_once_says_why(stdio_command: StdioCommand) -> None:
    """B091."""
    with pytest.raises(syncline.ServerExited) as caught:
        syncline.connect(stdio_command("exit-at-once=7"), timeout=60)
    assert caught.value.returncode == 7
    assert caught.value.stderr_tail == ["error: no such file: config.toml"]
    assert "config.toml" in str(caught.value)


def test_a_program_that_does_not_exist() -> None:
    """B091."""
    with pytest.raises(syncline.ConnectFailed, match="no-such-program-here"):
        syncline.connect(["no-such-program-here"])


def test_a_program_may_finish_what_it_does(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B093: it needs a second once its input has ended."""
    marker = tmp_path / "marker"
    with syncline.connect(stdio_command(f"slow-exit={marker}")) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert marker.read_text() == "flushed"


def test_a_program_behind_a_shell_does_not_stay(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B094: neither the shell's child nor the child's child."""
    pid = tmp_path / "pid"
    command = shlex.join(stdio_command(f"grandchild={pid}")) + "; true"
    with syncline.connect(["sh", "-c", command]) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        grandchild = int(pid.read_text())
        assert alive(grandchild)
    assert eventually(lambda: not alive(grandchild))


def test_a_program_that_does_not_want_to_stop(stdio_command: StdioCommand) -> None:
    """B094: it ignores the end of its input and SIGTERM."""
    timeouts = syncline.Timeouts(close=1)
    with syncline.connect(stdio_command("ignore-term"), timeout=timeouts) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"


def test_a_program_is_found_on_its_own_path(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B097: PATH is given in the program's environment only."""
    tool = tmp_path / "my-own-server"
    tool.write_text(f"#!/bin/sh\nexec {shlex.join(stdio_command())}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    path = f"{tmp_path}{os.pathsep}{os.defpath}"
    with syncline.connect(syncline.StdioServer("my-own-server", env={"PATH": path})) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    with pytest.raises(syncline.ConnectFailed, match="my-own-server"):
        syncline.connect(syncline.StdioServer("my-own-server", env={"PATH": os.defpath}))


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_many_connections_leave_nothing(stdio_command: StdioCommand) -> None:
    """B099: every fifth fails while it opens. The guard of every test looks for threads and processes."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(25):
        if number % 5:
            with syncline.connect(stdio_command()) as client:
                assert client.call_tool("echo", {"text": "x"}).text == "x"
        else:
            with pytest.raises(syncline.ServerExited):
                syncline.connect(stdio_command("exit-at-once"))
    assert len(list(Path("/proc/self/fd").iterdir())) <= before

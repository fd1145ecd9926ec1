"""Programs that start badly, stop badly, or leave something behind."""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
from pathlib import Path

import pytest

import syncline
from tests.fixtures.http import within
from tests.fixtures.processes import alive, eventually
from tests.fixtures.servers import StdioCommand
from tests.fixtures.threads import Holdings, left_behind

from .shared import ERAS, HANDSHAKE


@pytest.mark.parametrize("era", ["auto", *ERAS])
def test_a_program_that_ends_at_once_says_why(stdio_command: StdioCommand, era: str) -> None:
    """B091: with its exit status and its last words, long before the deadline."""
    with within(5), pytest.raises(syncline.ServerExited) as caught:
        syncline.connect(stdio_command("exit-at-once=7"), protocol_version=era, timeout=60)
    assert caught.value.returncode == 7
    assert caught.value.stderr_tail == ["error: no such file: config.toml"]
    assert "the server ended with exit status 7" in str(caught.value)
    assert "config.toml" in str(caught.value)


def test_a_program_that_does_not_exist() -> None:
    """B091."""
    with within(1), pytest.raises(syncline.ConnectFailed, match="no program 'no-such-program-here' in /"):
        syncline.connect(["no-such-program-here"])


def test_a_program_may_finish_what_it_does(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B093: it needs a second once its input has ended."""
    marker = tmp_path / "marker"
    with syncline.connect(stdio_command(f"slow-exit={marker}")) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert marker.read_text() == "flushed"


def test_a_program_behind_a_shell_does_not_stay(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B094: neither the shell's child nor the child's child, though the shell itself has gone first."""
    pids = [tmp_path / "child", tmp_path / "grandchild"]
    server = shlex.join(stdio_command(f"grandchild={pids[1]}"))
    command = f"exec 3<&0; {server} <&3 & echo $! > {pids[0]}; wait"
    with syncline.connect(["sh", "-c", command]) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        child, grandchild = (int(pid.read_text()) for pid in pids)
        assert alive(child)
        assert alive(grandchild)
    assert eventually(lambda: not alive(child))
    assert eventually(lambda: not alive(grandchild))


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_is_given_up_does_not_cost_the_program(
    stdio_command: StdioCommand, tmp_path: Path, era: str
) -> None:
    """B096: the next call reaches the same process, opened once."""
    log = tmp_path / "log"
    with syncline.connect(stdio_command(log=log), protocol_version=era) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    methods = [json.loads(line)["method"] for line in log.read_text().splitlines()]
    opening = ["initialize", "notifications/initialized"] if era == HANDSHAKE else ["server/discover"]
    assert methods[: len(opening)] == opening
    assert sorted(methods[len(opening) :]) == ["notifications/cancelled", "tools/call", "tools/call"]


def test_a_program_that_does_not_want_to_stop(stdio_command: StdioCommand) -> None:
    """B094: it ignores the end of its input and SIGTERM."""
    client = syncline.connect(stdio_command("ignore-term"), timeout=syncline.Timeouts(close=1))
    assert client.call_tool("echo", {"text": "x"}).text == "x"
    with within(1):
        client.close()


def test_a_program_is_found_on_its_own_path(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B097: PATH is given in the program's environment only; where it is not found the error says where it was sought."""
    tool = tmp_path / "my-own-server"
    tool.write_text(f"#!/bin/sh\nexec {shlex.join(stdio_command())}\n")
    tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
    path = f"{tmp_path}{os.pathsep}{os.defpath}"
    with syncline.connect(syncline.StdioServer("my-own-server", env={"PATH": path})) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    with pytest.raises(syncline.ConnectFailed, match=f"no program 'my-own-server' in {os.defpath}"):
        syncline.connect(syncline.StdioServer("my-own-server", env={"PATH": os.defpath}))


#: The smallest server that there is: it takes part in the handshake and then waits for its end.
SMALLEST = """read line
echo '{"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "capabilities": {},
 "serverInfo": {"name": "s", "version": "1"}}}'
cat > /dev/null""".replace("\n ", " ")


@pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")
def test_many_connections_leave_nothing() -> None:
    """B099: a hundred, every fifth of which fails while it opens; no process, zombie, descriptor or thread is left."""
    before = Holdings.now()
    for number in range(100):
        if number % 5:
            with syncline.connect(["sh", "-c", SMALLEST], protocol_version=HANDSHAKE) as client:
                assert client.server_info.name == "s"
        else:
            with pytest.raises(syncline.ServerExited, match="exit status 2"):
                syncline.connect(["sh", "-c", "read line; exit 2"], protocol_version=HANDSHAKE)
    assert left_behind(before) == []

"""`syncline servers` and configured names as a shell sees them: a live table, one document, Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.processes import alive, eventually

from .test_cli import PROGRAM, RECORDED, failure, read_terminal

DEMO = {"command": sys.executable, "args": ["-m", "syncline.demo"]}
#: Writes its process id to a file, then says nothing.
SILENT = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); sys.stdin.read()"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of a user without files."""
    return {
        **{name: value for name, value in os.environ.items() if name not in ("XDG_CONFIG_HOME", "CODEX_HOME")},
        "HOME": str(tmp_path),
        "TERM": "xterm-256color",
        "COLUMNS": "100",
    }


def write(folder: Path, **servers: object) -> Path:
    file = folder / "work" / "mcp.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"mcpServers": servers}))
    return file.parent


def recorded(pids: Path, program: str = RECORDED) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-c", program, str(pids)]}


def test_status_is_one_document_and_leaves_nothing_running(tmp_path: Path, environment: dict[str, str]) -> None:
    work = write(tmp_path, good=recorded(tmp_path / "pid"), bad={"command": "/no/such/program"})
    command = [PROGRAM, "servers", "status", "--json"]
    ran = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=60)
    assert {row["name"]: row["state"] for row in json.loads(ran.stdout)["servers"]} == {
        "good": "ready",
        "bad": "failed",
    }
    assert (ran.returncode, failure(ran)["code"]) == (4, "not_ready")
    assert not alive(int((tmp_path / "pid").read_text()))


def test_the_table_is_there_while_they_start(tmp_path: Path, environment: dict[str, str]) -> None:
    """And Ctrl-C ends it, with the servers that have started and those that have not."""
    started, silent = tmp_path / "started", tmp_path / "silent"
    work = write(tmp_path, good=recorded(started), slow=recorded(silent, SILENT))
    ours, theirs = pty.openpty()
    command = [PROGRAM, "servers", "status"]
    with subprocess.Popen(command, cwd=work, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"ready" not in shown or not silent.exists():
            data = read_terminal(ours)
            assert data, shown
            shown += data
        assert b"starting" in shown
        assert b"\x1b[1A" in shown  # drawn over what was there
        process.send_signal(signal.SIGINT)
        while data := read_terminal(ours):
            shown += data
    os.close(ours)
    assert process.returncode == 130
    assert b'"interrupted"' in shown
    assert shown.rindex(b"\x1b[?25h") > shown.rindex(b"\x1b[?25l")  # the cursor is back
    assert eventually(lambda: not any(alive(int(file.read_text())) for file in (started, silent)))


def test_a_name_is_asked_for_its_input_at_a_terminal(tmp_path: Path, environment: dict[str, str]) -> None:
    work = write(tmp_path, weather=DEMO | {"env": {"KEY": "${input:key}"}}, other={"command": "${input:other}"})
    ours, theirs = pty.openpty()
    command = [PROGRAM, "call", "weather", "add", "a:=2", "b:=3"]
    with subprocess.Popen(command, cwd=work, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"key: " not in shown:
            shown += read_terminal(ours)
        os.write(ours, b"1234\n")
        while data := read_terminal(ours):
            shown += data
    os.close(ours)
    assert process.returncode == 0
    assert b'{"sum": 5}' in shown
    assert b"other" not in shown

"""The program `syncline` as a shell sees it: exit statuses, streams, Ctrl-C, a terminal."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.processes import alive, eventually
from tools.checks.importtime import imported, over_budget
from tools.fakeserver.scripted import Exchange, ScriptedServer

PROGRAM = str(Path(sysconfig.get_path("scripts"), "syncline"))
#: Writes its process id to a file, then serves as the demo server does.
RECORDED = """
import os, pathlib, runpy, sys
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
runpy.run_module("syncline.demo", run_name="__main__")
"""


def syncline(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], input=given, capture_output=True, text=True, timeout=60)


def failure(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(ran.stderr.splitlines()[-1])["error"]
    return error


def with_socket(listening: bool) -> tuple[socket.socket, str]:
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    if listening:
        taken.listen()
    return taken, f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["tools", "demo", "--json"], 0, None),
        (["tools"], 2, "usage"),
        (["tools", "no-such-server-anywhere"], 2, "usage"),
        (["tools", "/no/such/program"], 4, "unreachable"),
        (["tools", "no-such-program --serve"], 4, "unreachable"),
        (["tools", f"{sys.executable} -c 'import sys; sys.exit(\"no key\")'"], 4, "server_exited"),
        (["tools", f"{sys.executable} -c 'import time; time.sleep(600)'", "--timeout", "0.5"], 4, "timeout"),
        (["call", "demo", "countdown", "delay:=60", "--timeout", "0.5", "--json"], 4, "timeout"),
        (["call", "demo", "nothing"], 5, "invalid_params"),
        (["call", "demo", "fail", "--json"], 5, "tool_error"),
        (["read", "demo", "demo://none"], 5, "invalid_params"),
    ],
)
def test_exit_statuses(arguments: list[str], status: int, code: str | None) -> None:
    ran = syncline(*arguments)
    assert ran.returncode == status
    assert (failure(ran)["code"] if code else None) == code
    if "--json" in arguments and ran.stdout:
        json.loads(ran.stdout)


def test_the_module_is_the_same_program() -> None:
    command = [sys.executable, "-m", "syncline", "call", "demo", "nothing"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (5, "", syncline("call", "demo", "nothing").stderr)


def test_a_server_that_dies_is_quoted() -> None:
    ran = syncline("tools", f"{sys.executable} -c 'import sys; sys.exit(\"no key\")'")
    assert "no key" in failure(ran)["message"]


def test_a_url_that_refuses() -> None:
    taken, url = with_socket(listening=False)
    with taken:
        ran = syncline("tools", url)
    assert ran.returncode == 4
    assert failure(ran)["code"] == "unreachable"
    assert failure(ran)["url"] == url


def test_a_url_that_never_answers() -> None:
    taken, url = with_socket(listening=True)
    with taken:
        ran = syncline("tools", url, "--timeout", "0.5")
    assert ran.returncode == 4
    assert failure(ran)["code"] == "timeout"


@pytest.mark.parametrize(("answer", "code"), [(401, "auth_required"), (403, "auth_refused")])
def test_a_server_that_wants_somebody_else(
    scripted_server: Callable[..., ScriptedServer], answer: int, code: str
) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.respond(answer, headers=[("WWW-Authenticate", "Bearer")])

    server = scripted_server(refuse)
    ran = syncline("tools", server.url, "--header", "Authorization: Bearer planted-token")
    assert ran.returncode == 3
    assert failure(ran) == failure(ran) | {"code": code, "status": answer, "url": server.url}
    assert "planted-token" not in ran.stderr + ran.stdout


def test_arguments_from_standard_input() -> None:
    ran = syncline("call", "demo", "add", "--args-json", "-", "--json", given='{"a": 2, "b": 3}')
    assert json.loads(ran.stdout)["structuredContent"] == {"sum": 5}


def test_binary_data_survives_a_pipe() -> None:
    ran = subprocess.run([PROGRAM, "read", "demo", "demo://pixel"], capture_output=True, timeout=60)
    assert ran.stdout.startswith(b"\x89PNG\r\n\x1a\n")


def test_ctrl_c_ends_the_call_and_the_server(tmp_path: Path) -> None:
    trace, pid_file = tmp_path / "trace", tmp_path / "pid"
    server = shlex.join([sys.executable, "-c", RECORDED, str(pid_file)])
    command = [PROGRAM, "call", server, "countdown", "delay:=60", "--trace", str(trace)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert eventually(lambda: trace.exists() and '"tools/call"' in trace.read_text(), 60)
        server_pid = int(pid_file.read_text())
        assert alive(server_pid)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert json.loads(err.splitlines()[-1])["error"]["code"] == "interrupted"
    assert eventually(lambda: not alive(server_pid))


def test_sigterm_ends_the_call_and_a_server_that_does_not_notice(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    program = "import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(300)"
    command = [PROGRAM, "tools", shlex.join([sys.executable, "-c", program, str(pid_file)])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert eventually(lambda: pid_file.exists() and pid_file.read_text() != "", 60)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (143, "", "")
    assert eventually(lambda: not alive(int(pid_file.read_text())))


def test_ctrl_c_while_connecting() -> None:
    taken, url = with_socket(listening=True)
    with (
        taken,
        subprocess.Popen([PROGRAM, "tools", url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
    ):
        connection, _ = taken.accept()
        with connection:
            connection.recv(1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    (said,) = [line for line in err.splitlines() if line.startswith("{")]  # Python may speak of what is half made
    assert json.loads(said)["error"]["code"] == "interrupted"


def test_nobody_reads_on() -> None:
    command = [PROGRAM, "tools", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "")


def test_colours_and_a_bar_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
    environment.pop("NO_COLOR", None)
    command = [PROGRAM, "call", "demo", "countdown", "start:=3"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while data := read_terminal(ours):
            shown += data
    os.close(ours)
    assert process.returncode == 0
    assert "━".encode() in shown
    assert b"\x1b[" in shown
    assert b"lift-off" in shown


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65_536)
    except OSError:  # how Linux says that the other side is closed
        return b""


def test_what_is_not_needed_is_not_loaded() -> None:
    names = {name.partition(".")[0] for name in over_budget([module.name for module in imported("syncline.cli.app")])}
    assert names == {"typer"}


def test_rich_is_for_people() -> None:
    script = "import sys; from syncline.cli import main; main(['tools', 'demo']); sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode == 0

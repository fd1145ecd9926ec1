"""Programs around the client: those that forget to close it, and those that fork."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.fixtures.processes import alive, eventually
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.mcp_http import McpHttpServer

from .shared import HANDSHAKE, Http

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and forks")

ROOT = Path(__file__).parents[2]


def run(program: str, *args: object) -> list[str]:
    """Run a program that uses the client; what it printed. It must end by itself, well and without a word of complaint."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "import json, os, sys, syncline\n" + textwrap.dedent(program)]
        + [json.dumps(arg) for arg in args],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize("holder", ["kept = client", "client.itself = client; del client"], ids=["global", "cycle"])
@pytest.mark.parametrize("fault", ["", "ignore-term"])
def test_a_program_that_never_closes_ends(stdio_command: StdioCommand, tmp_path: Path, fault: str, holder: str) -> None:
    """B100: and its server, though that does not want to stop."""
    pid = tmp_path / "pid"
    faults = [f"grandchild={pid}", *filter(None, [fault])]
    run(
        f"""
        client = syncline.connect(json.loads(sys.argv[1]))
        assert client.call_tool("echo", {{"text": "x"}}).text == "x"
        {holder}
        """,
        stdio_command(*faults),
    )
    assert eventually(lambda: not alive(int(pid.read_text())))


FORK = """
    target = json.loads(sys.argv[1])
    client = syncline.connect(target, protocol_version="2025-11-25")
    assert client.call_tool("echo", {"text": "before"}).text == "before"
    child = os.fork()
    if child == 0:
        try:
            client.call_tool("echo", {"text": "from the child"})
        except syncline.ForkedConnection:
            print("refused", flush=True)
        client.close()
        with syncline.connect(target) as own:
            print(own.call_tool("echo", {"text": "own"}).text, flush=True)
        sys.exit()
    assert os.waitpid(child, 0)[1] == 0
    print(client.call_tool("echo", {"text": "after"}).text)
    client.close()
"""


def test_a_fork_leaves_the_program_to_the_parent(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B103: the child is refused, may connect by itself, and ends as programs end; the parent notices nothing."""
    log = tmp_path / "log"
    assert run(FORK, stdio_command(log=log)) == ["refused", "own", "after"]
    assert "from the child" not in log.read_text()


def test_a_fork_leaves_the_session_to_the_parent(http_server: Http) -> None:
    """B103: the child neither uses nor ends it."""
    server: McpHttpServer = http_server(versions=[HANDSHAKE])
    assert run(FORK, server.url) == ["refused", "own", "after"]
    sent = [(request.rpc or request.method, request.header("Mcp-Session-Id")) for request in server.requests]
    assert sent[-2:] == [("tools/call", "session-1"), ("DELETE", "session-1")]
    assert [what for what, session in sent if session == "session-1"].count("DELETE") == 1
    assert all(b"from the child" not in request.body for request in server.requests)

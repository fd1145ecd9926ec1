"""Logging in as a shell sees it: one process logs in with a browser of its own, others go by that."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import requests

from tests.fixtures.logins import SOON
from tests.fixtures.processes import eventually
from tools.fakeserver.authorization import AuthorizationServer, ProtectedMcpServer

from .test_cli import PROGRAM, failure, syncline

pytestmark = pytest.mark.usefixtures("state")
#: Goes to a URL, follows redirects and writes down what it sees in the end.
BROWSER = """
import pathlib, sys, urllib.request
try:
    page = urllib.request.urlopen(sys.argv[2], timeout=60).read().decode()
except OSError as error:
    page = str(error)
pathlib.Path(sys.argv[1]).write_text(page)
"""


@pytest.fixture
def server(protected: Callable[..., ProtectedMcpServer]) -> ProtectedMcpServer:
    return protected(scopes=["read"])


@pytest.fixture
def issuer(server: ProtectedMcpServer) -> AuthorizationServer:
    return server.authorities[0]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the person's browser shows in the end."""
    program, page = tmp_path / "browser.py", tmp_path / "page"
    program.write_text(BROWSER)
    monkeypatch.setenv("BROWSER", f"{shlex.join([sys.executable, str(program), str(page)])} %s &")
    return page


def test_a_browser_is_opened_without_a_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Z-7: what a shell would take for a command is a part of the URL, and arrives as one word."""
    program, seen, mark = tmp_path / "browser.py", tmp_path / "seen", tmp_path / "mark"
    program.write_text("import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(repr(sys.argv[2:]))")
    monkeypatch.setenv("BROWSER", f"{shlex.join([sys.executable, str(program), str(seen)])} %s")
    url = f"https://id.example/a;>{mark};$(>{mark})`>{mark}`&>{mark}|'\"?x=$HOME"
    visit = "import sys, syncline; syncline.open_browser(syncline.Visit(sys.argv[1], 'https://notes.example/mcp'))"
    subprocess.run([sys.executable, "-c", visit, url], check=True, timeout=SOON)
    assert seen.read_text() == repr([url])
    assert not mark.exists()


def test_one_process_logs_in_for_all(server: ProtectedMcpServer, issuer: AuthorizationServer, page: Path) -> None:
    ran = syncline("auth", "login", server.url, "--store", "file", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["state"] == "logged in"
    assert eventually(lambda: page.exists() and "You are logged in" in page.read_text())
    issuer.end_access()  # so that the next ones refresh
    assert syncline("call", server.url, "echo", "text=hello").stdout == "hello\n"
    assert syncline("tools", server.url, "--json").returncode == 0
    assert issuer.grants == {"authorization_code": 1, "refresh_token": 1}
    assert syncline("auth", "logout", server.url).returncode == 0
    ran = syncline("tools", server.url)
    assert (ran.returncode, failure(ran)["code"]) == (3, "auth_required")


def test_a_browser_that_runs_in_the_foreground(
    server: ProtectedMcpServer, page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those without windows do, which end with the person."""
    monkeypatch.setenv("BROWSER", f"{shlex.join([sys.executable, str(page.parent / 'browser.py'), str(page)])} %s")
    ran = syncline("auth", "login", server.url, "--store", "file", "--json")
    assert json.loads(ran.stdout)["state"] == "logged in"
    assert "the program goes on" in page.read_text()


def test_ctrl_c_while_the_browser_is_away(server: ProtectedMcpServer, issuer: AuthorizationServer, page: Path) -> None:
    gate = threading.Event()
    issuer.hold("authorize", gate)
    words = [PROGRAM, "auth", "login", server.url, "--store", "file"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            issuer.wait_until(lambda: any(r.path.startswith("/authorize") for r in issuer.requests), SOON)
            process.send_signal(signal.SIGINT)
            assert process.wait(SOON) == 130
        finally:
            process.kill()
            gate.set()
        _, err = process.communicate(timeout=SOON)
    assert json.loads(err.splitlines()[-1])["error"]["code"] == "interrupted"
    assert json.loads(syncline("auth", "list", "--json").stdout) == {"logins": []}


def test_pasting_down_a_pipe(server: ProtectedMcpServer) -> None:
    words = [PROGRAM, "auth", "login", server.url, "--paste", "--store", "file"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert process.stdin is not None
            assert process.stderr is not None
            visit = json.loads(process.stderr.readline())["visit"]
            came_back = requests.get(visit["url"], allow_redirects=False, timeout=SOON).headers["Location"]
            out, _ = process.communicate(came_back + "\n", timeout=SOON)
        finally:
            process.kill()
    assert process.returncode == 0
    assert out.startswith(f"logged in: {server.url}, with read; ")

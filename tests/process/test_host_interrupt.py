"""Ctrl-C at twenty points of a program's life: from its first instruction to its last."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.process.conftest import LIMIT, ROOT, Served, environment

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and sends signals"),
]

POINTS = 20
SEED = 2026
#: What Python writes between an error that was being handled, perhaps deep in a library, and the interrupt of that.
CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"
#: Says what it is about to do, and whether Ctrl-C reached it where it could be caught.
PROGRAM = """
import os, sys
def now(what): os.write(1, what.encode() + b"\\n")
now("import")
import syncline
now("connect")
with syncline.connect(os.environ["MCP_SERVER"]) as client:
    now("call")
    client.call_tool("slow", {"seconds": 0.2})
    now("progress")
    client.call_tool("progress", {"n": 10, "pause": 0.02}, on_progress=lambda *_: None)
    now("subscribe")
    with client.subscribe(tools=True) as changes:
        now("stream")
        changes.get(0.3)
        now("unsubscribe")
    now("close")
now("connect again")
client = syncline.connect(os.environ["MCP_SERVER"])
client.call_tool("echo", {"text": "x"})
now("exit")
"""


def start(served: Served, file: Path) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    env = environment(served, {"PYTHONPATH": str(ROOT)})
    return subprocess.Popen([sys.executable, str(file)], env=env, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_at_twenty_points(offer: Callable[..., Served], tmp_path: Path, transport: str) -> None:
    """No process is left, and nothing is said but KeyboardInterrupt; how long the program takes is measured first."""
    served = offer(transport)
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    began = time.monotonic()
    with start(served, file) as whole:
        assert whole.communicate(timeout=LIMIT)[1] == ""
    lasts = time.monotonic() - began
    chance = random.Random(SEED)
    reached = []
    for point in range(POINTS):
        with start(served, file) as process:
            try:
                process.wait((point + chance.random()) / POINTS * lasts)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=LIMIT)
        steps = out.split("\n")[:-1]
        reached.append(steps[-1] if steps else "start")
        where = f"point {point}, {reached[-1]}: {process.returncode}, {err}"
        if reached[-1] != "start":  # before its first line it is Python's own
            # Neither exit hooks nor finalizers can pass an interrupt on: Python tells of it, or not, and goes on.
            dropped = reached[-1] == "exit" or err.startswith("Exception ignored in")
            assert process.returncode == -signal.SIGINT or (dropped and process.returncode == 0), where
            told = r"((Traceback|Exception ignored in:?) .*\n)?KeyboardInterrupt(: )?\n|"
            said = err.split(CONTEXT)[-1]
            assert re.fullmatch(told, said, re.DOTALL), where
            assert err or dropped, where
            others = r"^(?!KeyboardInterrupt|Exception ignored)[\w.]*(Error|Exception|Warning)\b"
            assert not re.search(others, said, re.MULTILINE), where
        assert served.gone(), where
    assert len(set(reached)) > 2


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_twice(offer: Callable[..., Served], tmp_path: Path, transport: str) -> None:
    """The second Ctrl-C comes while the first one closes the client, whose server does not want to end."""
    served = offer(transport, *(["stubborn"] if transport == "stdio" else []))
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.replace('"seconds": 0.2', '"seconds": 60'))
    with start(served, file) as process:
        assert process.stdout is not None
        while process.stdout.readline() != "call\n":
            pass
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=LIMIT)
    assert process.returncode == -signal.SIGINT
    assert err.endswith("KeyboardInterrupt\n")
    assert served.gone()

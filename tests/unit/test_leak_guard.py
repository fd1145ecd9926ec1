from __future__ import annotations

import os
import subprocess
import sys
import threading

from syncline.concurrency.workers import spawn
from tests.fixtures.threads import Holdings, left_behind


def test_it_sees_a_thread_a_process_and_a_pipe() -> None:
    before = Holdings.now()
    gate = threading.Event()
    spawn("syncline:test:reader", gate.wait)  # type: ignore[arg-type]
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    reading, writing = os.pipe()
    try:
        added = left_behind(before, 0)
    finally:
        gate.set()
        process.communicate(b"\n")
        os.close(reading)
        os.close(writing)
    assert "thread syncline:test:reader" in added
    assert f"child process {process.pid}" in added
    assert any(entry.startswith(f"descriptor {reading} (pipe:") for entry in added)
    assert not left_behind(before)

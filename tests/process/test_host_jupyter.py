"""Cells of a Jupyter kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.process.conftest import Run, Served, example

pytestmark = pytest.mark.process

#: Runs cells and tells how each of them went: ``CELLS`` are code, how long to wait before an interrupt, or None.
NOTEBOOK = """
import threading
from jupyter_client.manager import start_new_kernel

manager, kernel = start_new_kernel()
try:
    for code, interrupt in CELLS:
        said = []

        def heard(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                said.append(content["text"].strip())
                if interrupt and content["text"].startswith("waiting"):
                    threading.Timer(0.5, manager.interrupt_kernel).start()
            elif message["msg_type"] == "execute_result":
                said.append(content["data"]["text/plain"])
            elif message["msg_type"] == "error":
                said.append(content["ename"])

        reply = kernel.execute_interactive(code, output_hook=heard, timeout=40, store_history=True)
        print(reply["content"]["status"], *said)
finally:
    kernel.stop_channels()
    manager.shutdown_kernel()
"""


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_cells(run: Run, offer: Callable[..., Served], transport: str) -> None:
    """Connect, call, interrupt a call, go on; at last the kernel ends with the client open."""
    served = offer(transport)
    cells = [
        (example("cell.py"), False),
        ('print("waiting", flush=True); client.call_tool("slow", {"seconds": 60})', True),
        ('client.call_tool("echo", {"text": "after"}).text', False),
        ("changes = client.subscribe(tools=True); changes.state", False),
        ('print("waiting", flush=True); changes.get()', True),
        ('client.call_tool("change").text, changes.get(20).kind', False),
    ]
    assert run(served, NOTEBOOK, first=f"CELLS = {cells!r}\n", strict=False, errors=".*") == [
        "ok {'sum': 3}",
        "error waiting KeyboardInterrupt",
        "ok 'after'",
        "ok 'active'",
        "error waiting KeyboardInterrupt",
        "ok ('changed', 'tools_changed')",
    ]
    assert served.gone()

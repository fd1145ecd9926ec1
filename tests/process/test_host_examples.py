"""The examples of docs/threads-and-processes.md that are whole programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.process.conftest import Served, environment, example

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("threads.py", list(range(1, 21))),
        ("pool.py", [1, 2, 3, 4, 5]),
        pytest.param(
            "greenlets.py",
            list(range(1, 11)),
            marks=pytest.mark.skipif(find_spec("gevent") is None, reason="gevent is not installed"),
        ),
    ],
)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_example(offer: Callable[..., Served], tmp_path: Path, transport: str, name: str, shown: list[int]) -> None:
    served = offer(transport)
    file = tmp_path / name
    file.write_text(example(name))
    done = subprocess.run(
        [sys.executable, str(file)], env=environment(served), capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{shown}\n", "")
    assert served.gone()

"""A Celery worker of two preforked processes, over a broker of files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.process.conftest import Run, Served, environment, example

pytestmark = pytest.mark.process

Serve = Callable[..., Served]
CONFIGURATION = """
from pathlib import Path
folder = Path(__file__).parent
for name in ("messages", "done", "control", "results"):
    folder.joinpath(name).mkdir(exist_ok=True)
broker_url = "filesystem://"
broker_transport_options = {{
    "data_folder_in": str(folder / "messages"),
    "data_folder_out": str(folder / "messages"),
    "processed_folder": str(folder / "done"),
    "control_folder": str(folder / "control"),
}}
result_backend = f"file://{{folder}}/results"
result_serializer = "{serializer}"
result_accept_content = ["json", "pickle"]
worker_pool = "prefork"
"""
#: One client, made before the worker forks.
INHERITED = """
import os, syncline
from celery import Celery

app = Celery("tasks")
app.config_from_envvar("CELERY_CONFIG_MODULE")
client = syncline.connect(os.environ["MCP_SERVER"], retry=syncline.RetryPolicy(restart=RESTART))
client.call_tool("echo", {"text": "parent"})

@app.task
def add(a, b):
    return client.call_tool("add", {"a": a, "b": b}).structured_content["sum"]
"""


@contextmanager
def worker(folder: Path, served: Served, tasks: str, serializer: str = "json") -> Iterator[None]:
    (folder / "celeryconfig.py").write_text(CONFIGURATION.format(serializer=serializer))
    (folder / "tasks.py").write_text(tasks)
    os.environ["CELERY_CONFIG_MODULE"] = "celeryconfig"
    words = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--concurrency", "2", "--loglevel", "INFO"]
    words += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    with (folder / "worker.log").open("w") as log:
        process = subprocess.Popen(words, cwd=folder, env=environment(served), stdout=log, stderr=log)
        try:
            yield
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            del os.environ["CELERY_CONFIG_MODULE"]


def ask(run: Run, served: Served, program: str) -> list[str]:
    """What somebody who sends tasks prints; they import the tasks, and so may make a client of their own."""
    return run(served, "import syncline.errors, tasks\n" + textwrap.dedent(program), strict=False)


@pytest.mark.parametrize("serializer", ["json", "pickle"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_made_by_each_process(run: Run, offer: Serve, tmp_path: Path, transport: str, serializer: str) -> None:
    served = offer(transport)
    with worker(tmp_path, served, example("tasks.py"), serializer):
        lines = ask(
            run,
            served,
            """
            answers = [tasks.add.delay(number, 1) for number in range(10)]
            print([answer.get(timeout=40) for answer in answers])
            try:
                tasks.fail.delay().get(timeout=40)
            except Exception as error:
                print(type(error).__name__, error)
            """,
        )
    assert lines[0] == str(list(range(1, 11)))
    assert lines[1].startswith("ToolError " if serializer == "pickle" else "Exception ")
    assert "it failed" in lines[1]
    assert served.gone()


@pytest.mark.parametrize("serializer", ["json", "pickle"])
def test_the_parents_client_is_refused(run: Run, offer: Serve, tmp_path: Path, serializer: str) -> None:
    """B103."""
    served = offer("stdio")
    with worker(tmp_path, served, INHERITED.replace("RESTART", "0"), serializer):
        lines = ask(
            run,
            served,
            """
            for _ in range(3):
                try:
                    tasks.add.delay(1, 2).get(timeout=40)
                except syncline.ForkedConnection as error:
                    print("refused", "made before a fork" in str(error))
            tasks.client.close()
            """,
        )
    assert lines == ["refused True"] * 3
    assert served.gone()


def test_the_parents_client_reconnects_by_its_policy(run: Run, offer: Serve, tmp_path: Path) -> None:
    served = offer("http")
    with worker(tmp_path, served, INHERITED.replace("RESTART", "1")):
        lines = ask(
            run,
            served,
            """
            answers = [tasks.add.delay(number, 1) for number in range(10)]
            print([answer.get(timeout=40) for answer in answers])
            tasks.client.close()
            """,
        )
    assert lines == [str(list(range(1, 11)))]

"""Views of Flask and Django under gunicorn: two workers of each kind, the application loaded before and after the fork."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.fixtures.processes import eventually
from tests.process.conftest import LIMIT, Served, environment, example

pytestmark = pytest.mark.process

#: What surrounds the view of the documentation.
SITE = """
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["127.0.0.1"], SECRET_KEY="for this test")

from django.core.wsgi import get_wsgi_application
from django.urls import path
import views

urlpatterns = [path("add/<int:a>/<int:b>", views.add)]
application = get_wsgi_application()
"""
#: Tells which workers are ready: one that is still starting does not hear that it is to end.
CONFIGURATION = """
def post_worker_init(worker):
    open(f"ready.{worker.pid}", "w").close()
"""


@contextmanager
def gunicorn(folder: Path, served: Served, application: str, *options: str) -> Iterator[str]:
    """A running server, its URL; the socket listens before it starts, so nobody waits for it in vain."""
    (folder / "gunicorn.conf.py").write_text(CONFIGURATION)
    with socket.create_server(("127.0.0.1", 0)) as listening, (folder / "gunicorn.log").open("w") as log:
        words = [sys.executable, "-m", "gunicorn", application, "--bind", f"fd://{listening.fileno()}", *options]
        process = subprocess.Popen(
            [*words, "--workers", "2", "--graceful-timeout", "10"],
            cwd=folder, env=environment(served), stdout=log, stderr=log, pass_fds=[listening.fileno()],
        )  # fmt: skip
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield url
            assert eventually(lambda: len(list(folder.glob("ready.*"))) == 2, LIMIT)
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("preload", [(), ("--preload",)], ids=["", "preload"])
@pytest.mark.parametrize("kind", ["sync", "gthread", "gevent"])
@pytest.mark.parametrize("framework", ["flask", "django"])
def test_a_view(
    offer: Callable[..., Served],
    tmp_path: Path,
    framework: str,
    kind: str,
    preload: tuple[str, ...],
    transport: str,
) -> None:
    """B103, B105, B106: sixteen requests at once, each answered with its own result."""
    served = offer(transport)
    if framework == "flask":
        (tmp_path / "web.py").write_text(example("web.py"))
    else:
        (tmp_path / "views.py").write_text(example("views.py"))
        (tmp_path / "site_.py").write_text(SITE)
    application = "web:app" if framework == "flask" else "site_:application"
    answers: dict[int, object] = {}

    def ask(number: int) -> None:
        answers[number] = requests.get(f"{url}/add/{number}/1", timeout=LIMIT / 2).json()

    with gunicorn(tmp_path, served, application, "-k", kind, *preload) as url:
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    log = (tmp_path / "gunicorn.log").read_text()
    assert answers == {number: {"sum": number + 1} for number in range(16)}, log
    assert "Traceback" not in log
    assert served.gone()

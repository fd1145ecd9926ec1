"""The examples of docs/webhooks.md, run as they stand."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import syncline
from syncline.protocol.webhooks import Occurrence
from tests.fixtures.event_server import EventServer
from tests.fixtures.partner import Background
from tests.fixtures.webhooks import Caller, event, signed, surroundings

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"


@pytest.fixture(scope="module")
def examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_every_example_is_run(examples: list[str]) -> None:
    assert len(examples) == 4


def test_subscribing(
    examples: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a receiver on loopback in the place of the one under a public address."""
    monkeypatch.chdir(tmp_path)
    receiver = syncline.WebhookReceiver(allow_http=True)
    monkeypatch.setattr(syncline, "WebhookReceiver", lambda _: receiver)
    with EventServer(name="build.finished") as server, receiver.serve():
        running = Background(lambda: exec(examples[0], {"URL": server.http.url}))
        server.wait_until(lambda: server.subscribed == 1)
        for number in range(3):
            server.happen(number)
        server.wait()
        server.terminate({"code": -32024, "message": "Forbidden"})
        with pytest.raises(syncline.StreamTerminated):
            running.result()
    printed = sorted(capsys.readouterr().out.splitlines())
    assert printed == [f"build.finished {{'n': {number}}}" for number in range(3)]
    receiver.close()


class Mounted:
    """A receiver with one endpoint, for an example to mount."""

    def __init__(self) -> None:
        self.kept: list[object] = []
        self.receiver = syncline.WebhookReceiver("https://hooks.example/mcp-in")
        self.endpoint = self.receiver.endpoint(self.keep)

    def keep(self, delivery: object) -> bool:
        self.kept.append(delivery)
        return True

    def run(self, example: str) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "example", "receiver": self.receiver}
        exec(example, names)
        return names

    def check(self, application: Any) -> None:
        path = urlsplit(self.endpoint.url).path
        caller = Caller(application, environ=surroundings(PATH_INFO=path, SCRIPT_NAME=""))
        answer = caller.post("", *signed(self.endpoint.secret, {"type": "verification", "challenge": "n0nce"}))
        assert (answer.status, answer.body) == (200, {"challenge": "n0nce"})
        assert caller.post("", *signed(self.endpoint.secret, event(1))).status == 202
        assert caller.post("", *signed("whsec_" + "A" * 44, event(2))).status == 401
        assert self.kept == [Occurrence("e-1", event(1))]


@pytest.fixture
def mounted() -> Iterator[Mounted]:
    mounted = Mounted()
    yield mounted
    mounted.receiver.close()


def test_in_flask(examples: list[str], mounted: Mounted) -> None:
    pytest.importorskip("flask", reason="Flask is not installed")
    mounted.check(mounted.run(examples[1])["site"])


def test_in_django(examples: list[str], mounted: Mounted) -> None:
    def django(name: str) -> Any:
        return pytest.importorskip(f"django.{name}", reason="Django is not installed")

    settings = django("conf").settings
    if not settings.configured:
        settings.configure(
            ALLOWED_HOSTS=["*"],
            LOGGING_CONFIG=None,
            MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
            SECRET_KEY="for-this-test-only",
        )
    view = mounted.run(examples[2])["mcp_events"]
    settings.ROOT_URLCONF = (django("urls").path("mcp-in/<token>", view),)
    mounted.check(django("core.handlers.wsgi").WSGIHandler())


def test_on_one_machine(examples: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    exec(examples[3], {})
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", capsys.readouterr().out)
    assert not [thread for thread in threading.enumerate() if thread.name.endswith(":receiver")]

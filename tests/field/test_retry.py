"""Limits of time, progress, and what is sent a second time."""

from __future__ import annotations

import json
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import syncline
from tests.fixtures.http import within
from tests.fixtures.processes import eventually
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.scripted import Exchange

from .shared import ERAS, HANDSHAKE, Http, answer, progress


@pytest.mark.parametrize("era", ERAS)
def test_progress_keeps_a_call_alive(http_server: Http, era: str) -> None:
    """B172: twice as long as its limit without progress."""
    server = http_server(versions=[era])
    steps: list[float] = []
    with syncline.connect(server.url, protocol_version=era) as client:
        timeouts = syncline.Timeouts(call=1, call_total=30)
        arguments = {"n": 8, "pause": 0.25}
        result = client.call_tool(
            "progress", arguments, timeout=timeouts, on_progress=lambda done, *_: steps.append(done)
        )
    assert result.text == "8 steps"
    assert steps == list(range(1, 9))


@pytest.mark.parametrize("era", ERAS)
def test_progress_keeps_no_call_alive_for_ever(http_server: Http, era: str) -> None:
    """B172: the total is a limit whatever is reported."""
    server = http_server(versions=[era])
    timeouts = syncline.Timeouts(call=0.5, call_total=1)
    with syncline.connect(server.url, protocol_version=era) as client:
        with within(1), pytest.raises(syncline.RequestTimeout):
            client.call_tool("progress", {"n": 600, "pause": 0.1}, timeout=timeouts)
        server.wait_until(lambda: bool(server.disconnected))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("method", ["tools/call", "resources/read"])
def test_a_call_that_timed_out_is_called_off_and_not_sent_again(http_server: Http, era: str, method: str) -> None:
    """B174, B175: the server hears of it as its era has it, and was asked once."""
    server = http_server(versions=[era])
    with syncline.connect(server.url, protocol_version=era) as client:
        server.arm(Exchange.hold, method=method)
        call = (
            partial(client.call_tool, "echo", {"text": "x"})
            if method == "tools/call"
            else partial(client.read_resource, "memo://greeting")
        )
        with within(0.3), pytest.raises(syncline.RequestTimeout, match=method):
            call(timeout=0.3)
        if era == HANDSHAKE:
            server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        server.wait_until(lambda: server.open_connections <= 1)
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    asked, *again = server.calls(method)
    told = [request.json()["params"]["requestId"] for request in server.calls("notifications/cancelled")]
    assert told == ([asked.id] if era == HANDSHAKE else [])
    assert [request.json()["params"].get("name") for request in again] == (["echo"] if method == "tools/call" else [])


@pytest.mark.parametrize("era", ERAS)
def test_opening_is_never_called_off(http_server: Http, era: str) -> None:
    """B174: neither initialize nor discovery; nothing is said any more."""
    server = http_server(versions=[era])
    server.arm(Exchange.hold)
    with pytest.raises(syncline.RequestTimeout):
        syncline.connect(server.url, protocol_version=era, timeout=syncline.Timeouts(startup=0.3))
    server.wait_until(lambda: server.open_connections == 0)
    assert len(server.requests) == 1


@pytest.mark.parametrize("era", ERAS)
def test_a_program_is_told_of_a_call_that_timed_out(stdio_command: StdioCommand, tmp_path: Path, era: str) -> None:
    """B174, B175: which one, and it is not asked again."""
    log = tmp_path / "log"

    def received() -> list[dict[str, Any]]:
        return [json.loads(line) for line in log.read_text().splitlines()]

    with syncline.connect(stdio_command(log=log), protocol_version=era) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        assert eventually(lambda: any(m["method"] == "notifications/cancelled" for m in received()))
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    slow = [message["id"] for message in received() if message.get("params", {}).get("name") == "slow"]
    told = [m["params"]["requestId"] for m in received() if m["method"] == "notifications/cancelled"]
    assert len(slow) == 1
    assert told == slow


@pytest.mark.parametrize("status", [429, 503])
def test_a_delay_that_is_too_long_is_told_and_not_slept(http_server: Http, status: int) -> None:
    """B177."""
    server = http_server()
    with syncline.connect(server.url) as client:
        server.arm(status, method="tools/call", headers=[("Retry-After", "3600")])
        with within(1), pytest.raises(syncline.HttpStatusError) as caught:
            client.call_tool("echo", {"text": "x"}, timeout=20)
    assert (caught.value.status, caught.value.retry_after) == (status, 3600)
    assert server.executions["echo"] == 1


@pytest.mark.parametrize("era", ERAS)
def test_odd_progress_is_delivered_or_dropped(http_server: Http, era: str) -> None:
    """B180: in one stream, before and after the answer."""
    server = http_server(versions=[era])
    seen: list[object] = []
    ended = threading.Event()

    def script(exchange: Exchange) -> None:
        def report(**params: object) -> None:
            message = progress(exchange)
            exchange.event(message | {"params": message["params"] | params})

        token = exchange.request.json()["params"]["_meta"]["progressToken"]
        exchange.sse()
        report(progress=1, total=None)
        report(progressToken=str(token), progress=2.5, total=2.75)
        report(progressToken="who?", progress=3)
        report(progressToken=None, progress=3)
        report(progress=2)  # backwards
        report(progress="much")
        report(progress=True)
        report(progress=4, message=["not", "text"], total="?")
        exchange.event(answer(exchange, "done"))
        report(progress=5)
        exchange.last_chunk()
        ended.set()

    with syncline.connect(server.url, protocol_version=era) as client:
        server.arm(script, method="tools/call")
        result = client.call_tool("echo", {"text": "x"}, on_progress=lambda *said: seen.append(said))
        assert ended.wait(20)
        assert client.call_tool("echo", {"text": "after"}).text == "after"
        found = {finding.code for finding in client.findings}
    assert result.text == "done"
    assert seen == [(1, None, None), (2.5, 2.75, None), (4, None, None)]
    assert found == {"progress-token", "progress-backwards", "progress-value"}

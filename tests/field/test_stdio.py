"""Programs on a pipe that misbehave, as users of other clients met them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import syncline
from tests.fixtures.servers import StdioCommand

EMOJI = "grüße 你好 🎉"


def codes(client: syncline.Client) -> set[str]:
    return {finding.code for finding in client.findings}


@pytest.mark.parametrize("fault", ["banner", "noise"])
def test_print_on_standard_output_is_skipped(stdio_command: StdioCommand, fault: str) -> None:
    """B081."""
    with syncline.connect(stdio_command(fault)) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert codes(client)


@pytest.mark.parametrize("size", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 24])
def test_long_lines_arrive_whole(stdio_command: StdioCommand, size: int) -> None:
    """B083: both ways."""
    with syncline.connect(stdio_command()) as client:
        assert len(client.call_tool("big", {"size": size}).text) == size
        text = "y" * size
        assert client.call_tool("echo", {"text": text}).text == text


def test_a_line_without_an_end_is_given_up(stdio_command: StdioCommand) -> None:
    """B084: 64 MiB without a line end, of which a small limit keeps little."""
    limits = syncline.Limits(message_bytes=1 << 20)
    with syncline.connect(stdio_command("huge-line=64"), limits=limits) as client:
        with pytest.raises(syncline.SynclineError):
            client.call_tool("echo", {"text": "x"}, timeout=5)
        assert "message-too-long" in codes(client)


def test_text_does_not_depend_on_the_locale(stdio_command: StdioCommand) -> None:
    """B086."""
    script = f"""
import syncline
with syncline.connect({stdio_command()!r}) as client:
    print(ascii(client.call_tool("echo", {{"text": {EMOJI!a}}}).text))
"""
    plain = os.environ | {
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
        "PYTHONCOERCECLOCALE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=plain, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == ascii(EMOJI)


@pytest.mark.parametrize("fault", ["bad-utf8", "bad-json", "bom"])
def test_a_bad_line_is_contained(stdio_command: StdioCommand, fault: str) -> None:
    """B087."""
    with syncline.connect(stdio_command(fault)) as client:
        for word in ("one", "two"):
            assert client.call_tool("echo", {"text": word}).text == word
        assert codes(client)


def test_standard_error_is_read_though_nobody_wants_it(stdio_command: StdioCommand) -> None:
    """B089: 2 MiB before each answer, half of it without a line end."""
    with syncline.connect(stdio_command("stderr-flood")) as client:
        for word in ("one", "two"):
            assert client.call_tool("echo", {"text": word}, timeout=30).text == word


def test_messages_of_several_threads_do_not_mix(stdio_command: StdioCommand) -> None:
    """B090: 20 threads, 200 KiB each."""
    wrong: list[object] = []
    with syncline.connect(stdio_command()) as client:

        def call(number: int) -> None:
            text = str(number) * (200 * 1024 // len(str(number)))
            try:
                if client.call_tool("echo", {"text": text}).text != text:
                    wrong.append(number)
            except syncline.SynclineError as error:
                wrong.append(error)

        threads = [threading.Thread(target=call, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
    assert not wrong


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
def test_an_id_that_comes_back_as_text(stdio_command: StdioCommand, era: str) -> None:
    """B114."""
    with syncline.connect(stdio_command("string-id"), protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert "id-as-string" in codes(client)


def test_notifications_that_make_no_sense(stdio_command: StdioCommand) -> None:
    """B117."""
    with syncline.connect(stdio_command("bad-notifications")) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"


def test_an_answer_that_comes_twice(stdio_command: StdioCommand) -> None:
    """B120."""
    with syncline.connect(stdio_command("dup-answer")) as client:
        for word in ("one", "two", "three"):
            assert client.call_tool("echo", {"text": word}).text == word
        assert not client._session.connection.engine.pending


@pytest.mark.parametrize("era", ["2025-03-26", "2025-11-25"])
def test_a_batch(stdio_command: StdioCommand, era: str) -> None:
    """B122: part of 2025-03-26, a finding elsewhere."""
    with syncline.connect(stdio_command("batch"), protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert ("batch" in codes(client)) is (era != "2025-03-26")


def test_a_call_that_is_given_up_is_cancelled_there(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B096, B174: the program is told which call, and keeps running."""
    log = tmp_path / "log"
    with syncline.connect(stdio_command(log=log)) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        end = time.monotonic() + 10
        while not (cancelled := [m for m in received(log) if m["method"] == "notifications/cancelled"]):
            assert time.monotonic() < end
            time.sleep(0.01)
    slow = next(m for m in received(log) if m.get("params", {}).get("name") == "slow")
    assert [m["params"]["requestId"] for m in cancelled] == [slow["id"]]


def received(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]

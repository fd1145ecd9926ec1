"""Programs on a pipe that misbehave, as users of other clients met them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc

import pytest

import syncline
from tests.fixtures.http import within
from tests.fixtures.partner import Background
from tests.fixtures.servers import StdioCommand

from .shared import ERAS, HANDSHAKE, codes

EMOJI = "grüße 你好 🎉"
#: An answer of the server as it writes it, without the text.
LINE = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": ""}], "isError": False}})
LINE += "\n"


@pytest.mark.parametrize("fault", ["banner", "noise"])
def test_print_on_standard_output_is_skipped(stdio_command: StdioCommand, fault: str) -> None:
    """B081, behaviours 4.110: at the start and before each answer; findings show it."""
    with syncline.connect(stdio_command(fault)) as client:
        for word in ("one", "two"):
            assert client.call_tool("echo", {"text": word}).text == word
        assert "not-a-message" in codes(client)
        assert "Server ready!" in {finding.raw for finding in client.findings}


@pytest.mark.parametrize("size", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 24])
def test_long_lines_arrive_whole(stdio_command: StdioCommand, size: int) -> None:
    """B083: both ways; the answer's line, line end included, has exactly this size."""
    text = "y" * (size - len(LINE))
    with syncline.connect(stdio_command(), protocol_version=HANDSHAKE) as client:
        assert client.call_tool("echo", {"text": text}).text == text


def test_a_line_without_an_end_is_given_up_in_bounded_memory(stdio_command: StdioCommand) -> None:
    """B084: 64 MiB without a line end, a limit of 1 MiB; the error says why no answer came."""
    limits = syncline.Limits(message_bytes=1 << 20)
    with syncline.connect(stdio_command("huge-line=64"), limits=limits) as client:
        tracemalloc.start()
        try:
            with within(2), pytest.raises(syncline.RequestTimeout, match="what came instead: message-too-long"):
                client.call_tool("echo", {"text": "x"}, timeout=2)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 8 << 20


def test_text_does_not_depend_on_the_locale(stdio_command: StdioCommand) -> None:
    """B086: the program gets our environment, not its own."""
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
    """B087: before each answer, or at the start of it; findings show it."""
    with syncline.connect(stdio_command(fault)) as client:
        for word in ("one", "two"):
            assert client.call_tool("echo", {"text": word}).text == word
        assert codes(client)


@pytest.mark.parametrize("era", ERAS)
def test_standard_error_is_read_though_nobody_wants_it(stdio_command: StdioCommand, era: str) -> None:
    """B089: 2 MiB before each answer, half of it without a line end."""
    with syncline.connect(stdio_command("stderr-flood"), protocol_version=era) as client:
        for word in ("one", "two"):
            assert client.call_tool("echo", {"text": word}, timeout=30).text == word


def test_messages_of_several_threads_do_not_mix(stdio_command: StdioCommand) -> None:
    """B090: 20 threads, 200 KiB each."""
    with syncline.connect(stdio_command()) as client:

        def call(letter: str) -> str:
            return client.call_tool("echo", {"text": letter * (200 << 10)}).text

        callers = {letter: Background(lambda letter=letter: call(letter)) for letter in "abcdefghijklmnopqrst"}  # type: ignore[misc]
        for letter, caller in callers.items():
            assert caller.result() == letter * (200 << 10)

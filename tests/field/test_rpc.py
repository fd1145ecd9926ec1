"""Messages that are nearly right, over real pipes."""

from __future__ import annotations

import pytest

import syncline
from tests.fixtures.servers import StdioCommand

from .shared import ERAS, HANDSHAKE, codes


@pytest.mark.parametrize("era", ERAS)
def test_an_id_that_comes_back_as_text(stdio_command: StdioCommand, era: str) -> None:
    """B114: of results and of errors, each with a finding."""
    with syncline.connect(stdio_command("string-id"), protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        with pytest.raises(syncline.InvalidParams, match="tools/call: unknown tool: nothing"):
            client.call_tool("nothing", timeout=20)
        assert codes(client) == {"id-as-string"}


@pytest.mark.parametrize("era", ERAS)
def test_notifications_that_make_no_sense(stdio_command: StdioCommand, era: str) -> None:
    """B117: before each answer, the one to the opening included."""
    with syncline.connect(stdio_command("bad-notifications"), protocol_version=era) as client:
        for word in ("one", "two"):
            assert client.call_tool("echo", {"text": word}).text == word
        assert {"not-a-message", "notification-params", "progress-token"} <= codes(client)


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_that_comes_twice(stdio_command: StdioCommand, era: str) -> None:
    """B120."""
    with syncline.connect(stdio_command("dup-answer"), protocol_version=era) as client:
        for word in ("one", "two", "three"):
            assert client.call_tool("echo", {"text": word}).text == word
        assert client._session.connection.engine.pending == {}


def test_an_answer_that_comes_late(stdio_command: StdioCommand) -> None:
    """B120: the timeout has passed, and the next call waits."""
    with syncline.connect(stdio_command("no-answer=notifications/cancelled"), protocol_version=HANDSHAKE) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 0.4, "text": "late"}, timeout=0.2)
        assert client.call_tool("slow", {"seconds": 0.6, "text": "in time"}).text == "in time"
        assert client.findings == []
        assert client._session.connection.engine.pending == {}


@pytest.mark.parametrize("era", ["2025-03-26", HANDSHAKE])
def test_a_batch(stdio_command: StdioCommand, era: str) -> None:
    """B122: part of 2025-03-26, a finding elsewhere."""
    with syncline.connect(stdio_command("batch"), protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert ("batch" in codes(client)) is (era != "2025-03-26")

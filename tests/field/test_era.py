"""Servers that are picky about revisions, from the first connection on."""

from __future__ import annotations

from pathlib import Path

import pytest

import syncline
from tests.fixtures.http import within
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.scripted import Exchange

from .shared import HANDSHAKE, STATELESS, Http


def refusal(exchange: Exchange, code: int, data: object) -> None:
    error = {"code": code, "message": "unsupported protocol version"} | ({} if data is None else {"data": data})
    exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "error": error}, 400)


@pytest.mark.parametrize("data", [{"supported": ["2025-06-18"]}, None])
def test_a_refused_handshake_leads_to_an_older_revision(http_server: Http, data: object) -> None:
    """B196: the listed one, else the next; the header then carries what was agreed."""
    server = http_server(versions=["2025-06-18"])
    server.arm(lambda exchange: refusal(exchange, -32602, data), method="initialize")
    with syncline.connect(server.url, protocol_version=HANDSHAKE) as client:
        assert client.protocol_version == "2025-06-18"
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    offered = [request.json()["params"]["protocolVersion"] for request in server.calls("initialize")]
    assert offered == [HANDSHAKE, "2025-06-18"]
    assert server.calls("tools/call")[0].header("MCP-Protocol-Version") == "2025-06-18"


def test_a_server_that_nothing_pleases_is_asked_a_few_times(http_server: Http) -> None:
    """B196: then the error has the server's words and its list."""
    server = http_server(versions=[HANDSHAKE])
    data = {"supported": ["2099-01-01"]}
    server.arm(lambda exchange: refusal(exchange, -32602, data), 100, method="initialize")
    with within(1), pytest.raises(syncline.InvalidParams, match="initialize: unsupported") as caught:
        syncline.connect(server.url, protocol_version=HANDSHAKE)
    assert caught.value.data == data
    assert len(server.calls("initialize")) <= 5


@pytest.mark.parametrize("answered", ["2024-11-05", "2025-03-26"])
def test_an_older_revision_is_taken(http_server: Http, answered: str) -> None:
    """B198: and its name goes nowhere before there was a header for it."""
    server = http_server(versions=[answered])
    with syncline.connect(server.url, protocol_version=HANDSHAKE) as client:
        assert client.protocol_version == answered
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert {request.header("MCP-Protocol-Version") for request in server.requests} == {None}


@pytest.mark.parametrize("answered", ["2099-01-01", "", None, 7])
def test_a_revision_that_we_do_not_speak_is_a_clear_end(http_server: Http, answered: object) -> None:
    """B198: the session that the server opened is ended, too."""
    server = http_server(versions=[HANDSHAKE])
    whole = server.catalogue.methods["initialize"]
    server.catalogue.methods["initialize"] = lambda call: whole(call) | {"protocolVersion": answered}
    with pytest.raises(syncline.NoCommonRevision, match=r"initialize: "):
        syncline.connect(server.url, protocol_version=HANDSHAKE)
    assert [request.method for request in server.requests] == ["POST", "DELETE"]
    assert server.sessions == {}


def test_a_refused_stateless_revision_is_chosen_from_the_list(http_server: Http) -> None:
    """B199: asked again with one from there; no handshake."""
    server = http_server(versions=[STATELESS])
    data = {"supported": ["2099-01-01", STATELESS], "requested": STATELESS}
    server.arm(lambda exchange: refusal(exchange, -32022, data), method="server/discover")
    with syncline.connect(server.url) as client:
        server.arm(lambda exchange: refusal(exchange, -32022, data), method="tools/call")
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    asked = ["server/discover", "server/discover", "tools/call", "tools/call"]
    assert [request.rpc for request in server.requests] == asked


def test_no_revision_in_common_is_told_with_both_lists(http_server: Http) -> None:
    """B199."""
    server = http_server()
    data = {"supported": ["2099-01-01"], "requested": STATELESS}
    server.arm(lambda exchange: refusal(exchange, -32022, data), method="server/discover")
    with pytest.raises(syncline.NoCommonRevision, match=r"the server speaks 2099-01-01, we speak 2026-07-28"):
        syncline.connect(server.url)
    assert server.calls("initialize") == []


def test_a_program_that_is_silent_to_the_probe(stdio_command: StdioCommand, tmp_path: Path) -> None:
    """B201: and floods standard error; the handshake follows on the same process."""
    log = tmp_path / "log"
    command = stdio_command("no-answer=server/discover", "stderr-flood", era="handshake", log=log)
    with syncline.connect(command, timeout=syncline.Timeouts(probe=0.1)) as client:
        assert client.protocol_version == HANDSHAKE
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    lines = log.read_text().splitlines()
    assert ["server/discover" in lines[0], '"initialize"' in lines[1]] == [True, True]


def test_a_result_that_asks_for_input_is_not_the_end(http_server: Http) -> None:
    """B202: without a handler an error that says what is asked for, at once and once."""
    server = http_server(versions=[STATELESS])
    asked = {"k": {"method": "elicitation/create", "params": {"message": "Sure?"}}}
    server.tool("asks", lambda _: {"resultType": "input_required", "inputRequests": asked, "requestState": "s"})
    with syncline.connect(server.url) as client:
        with pytest.raises(syncline.InputRequired, match=r"tools/call: .*elicitation/create") as caught:
            client.call_tool("asks")
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert (caught.value.requests, caught.value.request_state) == (asked, "s")
    assert server.executions["asks"] == 1


def test_a_result_without_a_kind_is_complete(http_server: Http) -> None:
    """B202: from a server of the handshake era, and from a forgetful one."""
    server = http_server(versions=[STATELESS])
    server.arm(lambda exchange: exchange.result({"content": [{"type": "text", "text": "x"}]}), method="tools/call")
    with syncline.connect(server.url) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert [(finding.code, finding.place) for finding in client.findings] == [
            ("missing-member", "tools/call: resultType")
        ]

"""The client over HTTP: what its headers mirror, what gives a call up, what comes before an answer."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

import syncline
from tests.fixtures.partner import SOON, Background
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, ScriptedServer

Http = Callable[..., McpHttpServer]
Scripted = Callable[..., ScriptedServer]
MODERN, LEGACY = "2026-07-28", "2025-11-25"


def connect(server: McpHttpServer, revision: str, **options: Any) -> syncline.Client:
    return syncline.connect(server.url, protocol_version=revision, **options)


# Mirrored headers


def test_annotated_arguments_are_mirrored(http_server: Http) -> None:
    """HDR-5, B069: the server refuses a call whose headers do not agree."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN) as client:
        client.list_tools()
        client.call_tool("routed", {"region": " Ω\r\nEvil: 1", "limit": -7, "dry": True, "query": "q"})
        client.call_tool("routed", {"region": None, "query": "q"})

    first, second = server.calls("tools/call")
    assert first.header("Mcp-Param-Region") == "=?base64?IM6pDQpFdmlsOiAx?="
    assert (first.header("Mcp-Param-Limit"), first.header("Mcp-Param-Dry")) == ("-7", "true")
    assert first.header("Mcp-Param-Query") is None
    assert first.header("Evil") is None
    assert second.header("Mcp-Param-Region") is None
    assert (first.header("Mcp-Method"), first.header("Mcp-Name")) == ("tools/call", "routed")


def test_a_tool_that_was_never_listed_is_looked_up_when_the_server_misses_its_headers(http_server: Http) -> None:
    """HDR-16, trap 19: sent without first, then once more with what the list says."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN) as client:
        assert "eu" in client.call_tool("routed", {"region": "eu"}).text

    assert [request.rpc for request in server.requests][1:] == ["tools/call", "tools/list", "tools/call"]


def test_a_server_that_is_never_satisfied_gets_no_third_try(http_server: Http) -> None:
    server = http_server(versions=[MODERN])
    refusal = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32020, "message": "no"}}).encode()
    server.arm(400, 2, method="tools/call", body=refusal, media_type="application/json")

    with connect(server, MODERN) as client, pytest.raises(syncline.HeaderMismatch):
        client.call_tool("routed", {"region": "eu"})
    assert len(server.calls("tools/call")) == 2


def test_a_tool_with_a_bad_annotation_is_left_out_and_the_rest_stays(http_server: Http) -> None:
    """HDR-6, B069, trap 17."""
    server = http_server(versions=[MODERN])
    bad = {"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}
    server.tool("bad", lambda _: {"content": []}, inputSchema=bad)

    with connect(server, MODERN) as client:
        names = [tool.name for tool in client.list_tools()]
        assert names == [tool.name for tool in client.iter_tools()]
        assert "routed" in names
        assert "bad" not in names
        assert [finding.place for finding in client.findings][:1] == ["tools/list: bad"]


def test_the_handshake_era_mirrors_nothing(http_server: Http) -> None:
    """HDR-8."""
    server = http_server(versions=[LEGACY])
    with connect(server, LEGACY) as client:
        client.list_tools()
        client.call_tool("routed", {"region": "eu"})

    assert server.calls("tools/call")[0].header("Mcp-Param-Region") is None
    assert server.calls("tools/call")[0].header("Mcp-Method") is None


# Giving up


@pytest.mark.parametrize("answer", ["json", "sse"])
def test_a_timeout_in_the_stateless_era_hangs_up(http_server: Http, answer: str) -> None:
    """MH-6, B174: no notifications/cancelled; the server sees the connection go."""
    server = http_server(versions=[MODERN], answer=answer)
    with connect(server, MODERN) as client:
        with pytest.raises(syncline.RequestTimeout, match="tools/call"):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        server.wait_until(lambda: bool(server.disconnected))
        assert client.call_tool("echo", {"text": "after"}).text == "after"

    assert server.calls("notifications/cancelled") == []


def test_a_timeout_in_the_handshake_era_says_so(http_server: Http) -> None:
    """B174, RES-8: a disconnect means nothing there."""
    server = http_server(versions=[LEGACY])
    with connect(server, LEGACY) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        assert client.call_tool("echo", {"text": "after"}).text == "after"

    [cancelled] = server.calls("notifications/cancelled")
    assert cancelled.json()["params"]["requestId"] == server.calls("tools/call")[0].id


def test_a_cancellation_that_is_never_answered_holds_up_nothing(http_server: Http) -> None:
    """B065."""
    server = http_server(versions=[LEGACY])
    gate = threading.Event()
    server.hold(gate, method="notifications/cancelled")
    with connect(server, LEGACY) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    gate.set()


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_close_from_another_thread_ends_a_call_that_waits(http_server: Http, revision: str) -> None:
    server = http_server(versions=[revision])
    client = connect(server, revision)
    calling = Background(lambda: client.call_tool("slow", {"seconds": 60}))
    server.wait_until(lambda: bool(server.calls("tools/call")))

    client.close()

    with pytest.raises(syncline.ConnectionClosed, match="tools/call"):
        calling.result()


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_ctrl_c_ends_a_call_that_waits(http_server: Http, revision: str) -> None:
    """B108 over HTTP."""
    server = http_server(versions=[revision])

    def interrupt() -> None:
        server.wait_until(lambda: bool(server.calls("tools/call")))
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with connect(server, revision) as client:
        interrupting = Background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("slow", {"seconds": 60})
        interrupting.result()
        server.wait_until(lambda: bool(server.disconnected))
        assert client.call_tool("echo", {"text": "after"}).text == "after"
        assert client._session.connection.engine.pending == {}


# What comes before an answer


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_progress_is_reported_in_the_calling_thread_while_the_answer_is_awaited(
    http_server: Http, revision: str
) -> None:
    server = http_server(versions=[revision])
    seen: list[object] = []
    with connect(server, revision) as client:
        result = client.call_tool(
            "progress", {"n": 3}, on_progress=lambda *said: seen.append((*said, threading.current_thread()))
        )

    assert result.text == "3 steps"
    assert seen == [(step, 3, f"step {step}", threading.main_thread()) for step in (1, 2, 3)]


def test_progress_extends_a_call(http_server: Http) -> None:
    """B172: the whole call takes longer than its timeout."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN) as client:
        assert client.call_tool("progress", {"n": 8, "pause": 0.2}, timeout=1.0).text == "8 steps"


def test_what_a_progress_callback_raises_ends_the_call(http_server: Http) -> None:
    server = http_server(versions=[MODERN])

    def stop(*_: object) -> None:
        raise OSError("enough")

    with connect(server, MODERN) as client:
        with pytest.raises(OSError, match=r"^enough$"):
            client.call_tool("progress", {"n": 1000, "pause": 0.05}, on_progress=stop)
        server.wait_until(lambda: bool(server.disconnected))
        assert client.call_tool("echo", {"text": "after"}).text == "after"


def test_a_request_within_a_stream_is_answered_by_a_post_of_its_own(http_server: Http) -> None:
    """B109, B119: the answer to the call comes only after our reply."""
    server = http_server(versions=[LEGACY])
    replied = threading.Event()
    replies: list[Any] = []

    def ask(exchange: Exchange) -> None:
        ident = exchange.request.id
        exchange.sse()
        exchange.event({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}})
        exchange.wait(replied)
        exchange.event({"jsonrpc": "2.0", "id": ident, "result": {"content": [{"type": "text", "text": "so be it"}]}})
        exchange.last_chunk()

    def reply(exchange: Exchange) -> None:
        replies.append(exchange.request.json())
        exchange.respond(202)
        replied.set()

    with connect(server, LEGACY) as client:
        server.arm(lambda exchange: reply(exchange) if exchange.request.rpc is None else ask(exchange), 2)
        assert client.call_tool("echo", {"text": "x"}).text == "so be it"

    assert replies[0]["id"] == "q"
    assert replies[0]["error"]["code"] == -32601


@pytest.mark.parametrize("streamed", [False, True])
def test_a_batch_as_an_answer(http_server: Http, streamed: bool) -> None:
    """B122: a notification and the response in one array, as 2025-03-26 allows."""
    server = http_server(versions=["2025-03-26"])
    seen: list[str] = []
    done = threading.Event()

    def batch(exchange: Exchange) -> None:
        messages = [
            {"jsonrpc": "2.0", "method": "notifications/x"},
            {"jsonrpc": "2.0", "id": exchange.request.id, "result": {"content": []}},
        ]
        if streamed:
            exchange.sse()
            exchange.chunk(b"data: " + json.dumps(messages).encode() + b"\n\n")
            exchange.last_chunk()
        else:
            exchange.json(messages)

    def take(notification: syncline.Notification) -> None:
        seen.append(notification.method)
        done.set()

    with connect(server, "2025-03-26", on_notification=take) as client:
        server.arm(batch, method="tools/call")
        client.call_tool("echo", {"text": "x"})
        assert done.wait(SOON)
        assert client.findings == []
    assert seen == ["notifications/x"]


def test_a_stream_event_that_is_no_message_is_skipped(http_server: Http) -> None:
    """Malformed messages never end a call that can still be answered."""
    server = http_server(versions=[MODERN])

    def stumble(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b"data: {not json\n\n")
        exchange.event(
            {"jsonrpc": "2.0", "id": exchange.request.id, "result": {"content": [], "resultType": "complete"}}
        )
        exchange.last_chunk()

    with connect(server, MODERN) as client:
        server.arm(stumble, method="tools/call")
        assert client.call_tool("echo", {"text": "x"}).content == []
        assert [finding.code for finding in client.findings] == ["not-a-message"]


def test_a_script_that_gets_json_needs_no_thread(http_server: Http) -> None:
    """The calling thread does everything."""
    server = http_server(versions=[MODERN])
    before = {thread for thread in threading.enumerate() if "syncline" in thread.name}
    with connect(server, MODERN) as client:
        client.list_tools()
        client.call_tool("echo", {"text": "x"})
        started = {thread for thread in threading.enumerate() if thread.name.startswith("syncline:")} - before

    assert started == set()


@pytest.mark.parametrize("answer", ["json", "sse"])
@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_calls_in_a_row_share_a_connection_and_are_single_requests(
    http_server: Http, revision: str, answer: str
) -> None:
    """N calls are N requests over at most two connections."""
    server = http_server(versions=[revision], answer=answer)
    with connect(server, revision) as client:
        for number in range(50):
            assert client.call_tool("echo", {"text": str(number)}).text == str(number)

    assert len(server.calls("tools/call")) == 50
    assert server.connections <= 2


def test_the_session_is_ended_when_the_client_is(http_server: Http) -> None:
    """B051, SES-3: DELETE with the id, and the id on each request before."""
    server = http_server(versions=[LEGACY])
    with connect(server, LEGACY) as client:
        client.call_tool("echo", {"text": "x"})

    assert server.sessions == {}
    last = server.requests[-1]
    assert (last.method, last.header("Mcp-Session-Id")) == ("DELETE", "session-1")
    assert all(request.header("Mcp-Session-Id") == "session-1" for request in server.requests[1:])


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_close_gives_the_socket_back_at_once(http_server: Http, revision: str) -> None:
    """Not only when the client is collected."""
    server = http_server(versions=[revision])
    client = connect(server, revision)
    client.call_tool("echo", {"text": "x"})
    client.close()

    server.wait_until(lambda: server.open_connections == 0)
    assert client.is_closed

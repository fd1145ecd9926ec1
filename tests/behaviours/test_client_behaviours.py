"""One client and its server: questions, trying again, sessions, operations, what servers say unasked, limits (3I, 4D to 4I)."""

from __future__ import annotations

import json
import logging
import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import syncline
from syncline.prompts import terminal_prompts
from syncline.protocol.events import Notification
from tests.fixtures.partner import SOON, Background, Meet, Partner
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

Http = Callable[..., McpHttpServer]
LEGACY, MODERN = "2025-11-25", "2026-07-28"
QUICK = syncline.RetryPolicy(backoff=syncline.Backoff(base=0.01, cap=0.02))
FORM = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}
EMPTY = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e-1"}


def connect(server: McpHttpServer, revision: str = LEGACY, **options: Any) -> syncline.Client:
    return syncline.connect(server.url, protocol_version=revision, **options)


def ask(partner: Partner, method: str, params: object = None) -> dict[str, Any]:
    partner.send(id="q1", method=method, **({} if params is None else {"params": params}))
    return partner.next()


# 3I Elicitation


@pytest.mark.parametrize("params", [FORM, EMPTY, URL], ids=["form", "empty form", "url"])
@pytest.mark.parametrize("handler", [False, True], ids=["no handler", "nobody at the terminal"])
def test_nothing_is_accepted_by_itself(
    meet: Meet, params: object, handler: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.130, 3.131: without a handler nothing is declared, and nothing accepted; without a person it is declined."""
    monkeypatch.setattr(sys, "stdin", None)
    _, partner = meet(on_elicitation=terminal_prompts() if handler else None)
    answer = ask(partner, "elicitation/create", params)
    if handler:
        assert answer["result"] == {"action": "decline"}
    else:
        assert answer["error"]["code"] == -32601


def test_a_request_is_handed_over_with_all_that_it_has(meet: Meet) -> None:
    """3.140, 4.81: kind, message, form or address with its id, who asks, and metadata without the progress token."""
    seen: list[syncline.ElicitRequest] = []
    _, partner = meet(on_elicitation=seen.append)
    meta = {"_meta": {"progressToken": 7, "acme/trace": "t"}}
    for params in (FORM, URL):
        ask(partner, "elicitation/create", {**params, **meta})
    assert [(request.mode, request.message, request.server) for request in seen] == [
        ("form", "Sure?", "partner"),
        ("url", "Sign in", "partner"),
    ]
    assert [(request.schema, request.url, request.elicitation_id) for request in seen] == [
        (FORM["requestedSchema"], None, None),
        (None, "https://example.com/in", "e-1"),
    ]
    assert [request.meta for request in seen] == [{"acme/trace": "t"}] * 2


@pytest.mark.parametrize(
    ("given", "params", "result"),
    [
        ({"x": "y"}, FORM, {"action": "accept", "content": {"x": "y"}}),
        (True, URL, {"action": "accept"}),
        (None, FORM, {"action": "decline"}),
        (syncline.Cancel(), FORM, {"action": "cancel"}),
    ],
)
def test_what_is_absent_is_not_sent(meet: Meet, given: object, params: object, result: object) -> None:
    """3.141"""

    def answer(_: syncline.ElicitRequest) -> Any:
        if isinstance(given, Exception):
            raise given
        return given

    _, partner = meet(on_elicitation=answer)
    assert ask(partner, "elicitation/create", params) == {"jsonrpc": "2.0", "id": "q1", "result": result}


# 4D Retries


def test_what_is_tried_again_while_opening(http_server: Http) -> None:
    """4.51: the initialized notification too; but not a stream that ends before the answer to initialize."""
    server = http_server(versions=[LEGACY])
    server.arm(503, 1, method="notifications/initialized")
    with connect(server, retry=QUICK) as client:
        assert client.call_tool("echo", {"text": "a"}).text == "a"

    def opened_and_closed(exchange: Exchange) -> None:
        exchange.sse()
        exchange.last_chunk()

    server = http_server(versions=[LEGACY])
    server.arm(opened_and_closed, 9, method="initialize")
    with pytest.raises(syncline.SynclineError):
        connect(server, retry=QUICK)
    assert len(server.calls("initialize")) == 1


def test_programs_are_not_started_again_by_themselves(tmp_path: Path) -> None:
    """4.54: the one that offers another revision after a failed probe is no repetition, and not looked at here."""
    log = tmp_path / "starts"
    script = "import sys; open(sys.argv[1], 'a').write('x'); sys.stdin.readline()"
    with pytest.raises(syncline.ServerExited):
        syncline.connect([sys.executable, "-c", script, str(log)], protocol_version=LEGACY, retry=QUICK)
    assert log.read_text() == "x"


def test_attempts_share_one_deadline(http_server: Http) -> None:
    """4.55: and the failure that was there is told instead of a timeout, as soon as waiting cannot help."""
    server = http_server(versions=[MODERN])
    policy = syncline.RetryPolicy(list=9, backoff=syncline.Backoff(base=0.2, factor=1, jitter=False))
    with connect(server, MODERN, retry=policy) as client:
        server.arm(503, 99, method="tools/list")
        start = time.monotonic()
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.list_tools(timeout=0.5)
        assert time.monotonic() - start < SOON
    assert caught.value.status == 503
    assert 1 <= len(server.calls("tools/list")) <= 3


# 4E Session recovery


def test_a_handler_is_asked_in_the_new_session(http_server: Http) -> None:
    """4.66"""
    server = http_server(versions=[LEGACY])
    question = {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": FORM}

    def with_a_question(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event(question)
        server.wait_until(lambda: any(b'"action"' in request.body for request in server.requests))
        content = {"content": [{"type": "text", "text": "done"}]}
        exchange.event({"jsonrpc": "2.0", "id": exchange.request.id, "result": content})
        exchange.last_chunk()

    with connect(server, on_elicitation=lambda _: {"x": "here"}) as client:
        server.expire_sessions()
        client.ping()
        server.arm(with_a_question, method="tools/call")
        assert client.call_tool("echo", {"text": "a"}).text == "done"
    [answer] = [request for request in server.requests if b'"action"' in request.body]
    assert answer.header("Mcp-Session-Id") == "session-2"
    assert answer.json()["result"] == {"action": "accept", "content": {"x": "here"}}


def test_nothing_is_recovered_before_opening_and_after_closing(http_server: Http) -> None:
    """4.68"""
    server = http_server(versions=[LEGACY])
    server.arm(404, 9, method="initialize")
    with pytest.raises(syncline.SynclineError):
        connect(server, retry=QUICK)
    assert len(server.calls("initialize")) == 1

    server = http_server(versions=[LEGACY])
    client = connect(server)
    client.close()
    server.expire_sessions()
    with pytest.raises(syncline.ConnectionClosed):
        client.ping()
    assert len(server.calls("initialize")) == 1


# 4F Operations


@pytest.mark.parametrize(
    ("method", "use"),
    [
        ("tools/list", lambda client: client.list_tools(timeout=0.1)),
        ("resources/list", lambda client: client.list_resources(timeout=0.1)),
        ("resources/templates/list", lambda client: client.list_resource_templates(timeout=0.1)),
        ("resources/read", lambda client: client.read_resource("x:1", timeout=0.1)),
        ("tools/call", lambda client: client.call_tool("t", timeout=0.1)),
        ("prompts/get", lambda client: client.get_prompt("p", timeout=0.1)),
        ("acme/odd", lambda client: client.request("acme/odd", timeout=0.1)),
    ],
)
def test_a_timeout_names_the_method_and_the_time(
    meet: Meet, method: str, use: Callable[[syncline.Client], object]
) -> None:
    """4.70"""
    client, partner = meet()
    calling = Background(lambda: use(client))
    partner.next(method)
    with pytest.raises(syncline.RequestTimeout, match=rf"{method}: no answer within 0\.1 s"):
        calling.result()


def test_metadata_of_tools_is_handed_on_as_it_is(meet: Meet) -> None:
    """4.77: what a host looks for there is the host's business."""
    client, partner = meet()
    listing = Background(client.list_tools)
    tool = {"name": "t", "inputSchema": {"type": "object"}, "_meta": {"connector_id": " c1 ", "other": 7}}
    partner.serve("tools/list", {"tools": [tool]})
    [found] = listing.result()
    assert found.to_wire()["_meta"] == {"connector_id": " c1 ", "other": 7}


# 4G What servers say unasked


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list", "acme/odd", "openai/form"])
def test_what_is_not_offered_is_refused_by_name(meet: Meet, method: str) -> None:
    """4.80, 4.82: roots too, which are not declared then."""
    _, partner = meet()
    assert ask(partner, "ping") == {"jsonrpc": "2.0", "id": "q1", "result": {}}
    error = ask(partner, method, {})["error"]
    assert error["code"] == -32601
    assert method in error["message"]


def test_notifications_reach_the_callback_and_disturb_nothing(meet: Meet, caplog: pytest.LogCaptureFixture) -> None:
    """4.84, 4.85: known and unknown ones alike."""
    caplog.set_level(logging.WARNING)
    seen: queue.SimpleQueue[Notification] = queue.SimpleQueue()
    client, partner = meet(on_notification=seen.put)
    sent = [
        ("notifications/cancelled", {"requestId": 99}),
        ("notifications/progress", {"progressToken": 99, "progress": 1}),
        ("notifications/resources/updated", {"uri": "x:1"}),
        ("notifications/tools/list_changed", {}),
        ("notifications/prompts/list_changed", {}),
        ("notifications/resources/list_changed", {}),
        ("notifications/acme", {"a": 1}),
    ]
    for method, params in sent:
        partner.send(method=method, params=params)
    calling = Background(lambda: client.call_tool("t"))
    partner.serve("tools/call", {"content": []})
    calling.result()
    heard = [seen.get(timeout=SOON).method]
    while heard[-1] != "notifications/acme":
        heard.append(seen.get(timeout=SOON).method)
    assert {method for method, _ in sent[2:]} <= set(heard)
    assert caplog.records == []


# 4H Limits


def padded(size: int) -> Callable[[Exchange], None]:
    """An answer to a tool call that has so many bytes, as JSON."""

    def script(exchange: Exchange) -> None:
        result = {"resultType": "complete", "content": [{"type": "text", "text": ""}]}
        whole = {"jsonrpc": "2.0", "id": exchange.request.id, "result": result}
        result["content"] = [{"type": "text", "text": "x" * (size - len(json.dumps(whole)))}]
        exchange.respond(200, json.dumps(whole).encode(), "application/json")

    return script


def test_an_answer_has_a_limit(http_server: Http) -> None:
    """4.90: just as many bytes are fine, one more is not; the client goes on."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN, limits=syncline.Limits(message_bytes=20_000)) as client:
        for size, fits in ((20_000, True), (20_001, False), (20_000, True)):
            server.arm(padded(size), method="tools/call")
            if fits:
                assert client.call_tool("echo").text.startswith("x")
            else:
                with pytest.raises(syncline.InvalidMessage, match="over 20000 bytes"):
                    client.call_tool("echo")


def test_a_length_over_the_limit_is_not_waited_for(http_server: Http) -> None:
    """4.91: nor tried again."""
    server = http_server(versions=[LEGACY])

    def declared(exchange: Exchange) -> None:
        exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "20001")])
        exchange.hold()

    server.arm(declared, 9, method="initialize")
    with pytest.raises(syncline.InvalidMessage, match="over 20000 bytes"):
        connect(server, limits=syncline.Limits(message_bytes=20_000), retry=QUICK)
    assert len(server.calls("initialize")) == 1


@pytest.mark.parametrize("how", ["json", "sse"])
def test_crossing_the_limit_ends_the_call(http_server: Http, how: str) -> None:
    """4.92: in the middle of chunks, and by comments and padding."""
    server = http_server(versions=[MODERN])

    def endless(exchange: Exchange) -> None:
        if how == "sse":
            exchange.sse()
        else:
            exchange.head(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
        while not exchange.gone():
            exchange.chunk(b": comment\n\n" if how == "sse" else b" " * 1000)

    with connect(server, MODERN, limits=syncline.Limits(message_bytes=20_000)) as client:
        server.arm(endless, method="tools/call")
        with pytest.raises(syncline.InvalidMessage, match="over 20000 bytes"):
            client.call_tool("echo")
        assert client.list_tools()


def test_large_answers_pass_by_default(http_server: Http) -> None:
    """4.93: ten megabytes and more."""
    server = http_server(versions=[MODERN])
    server.arm(padded(12 << 20), method="tools/call")
    with connect(server, MODERN) as client:
        assert len(client.call_tool("echo").text) > 10 << 20

"""Sessions over HTTP: how they end, and what is not their end."""

from __future__ import annotations

import json

import pytest

import syncline
from tests.fixtures.http import within
from tools.fakeserver.scripted import Exchange

from .shared import HANDSHAKE, Http


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, ""),  # B045
        (404, '{"jsonrpc": "2.0", "id": null, "error": {"code": -32001, "message": "no such session"}}'),  # B045
        (400, '{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no valid session"}}'),  # B048
    ],
)
def test_a_session_that_the_server_has_forgotten(http_server: Http, status: int, body: str) -> None:
    """B045, B047, B048: a new one without the old id, and the refused request once more; but only once, in no loop."""
    server = http_server(versions=[HANDSHAKE])
    with syncline.connect(server.url) as client:
        server.arm(status, method="tools/call", body=body, media_type="application/json")
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        server.arm(status, 2, method="tools/call", body=body, media_type="application/json")
        with (
            within(1),
            pytest.raises(syncline.SessionExpired, match="tools/call: the server does not know the session"),
        ):
            client.call_tool("echo", {"text": "y"})
        assert client.call_tool("echo", {"text": "z"}).text == "z"
    assert [request.header("Mcp-Session-Id") for request in server.calls("initialize")] == [None] * 3
    assert [request.json()["params"]["arguments"]["text"] for request in server.calls("tools/call")] == list("xxyyz")


@pytest.mark.parametrize("sessions", [True, False])
def test_a_method_that_is_not_there_is_not_the_end_of_the_session(http_server: Http, sessions: bool) -> None:
    """B053: 404, but the body says what is missing."""
    server = http_server(versions=[HANDSHAKE], sessions=sessions)
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no prompts here"}})
    with syncline.connect(server.url) as client:
        server.arm(404, method="prompts/list", body=body, media_type="application/json")
        with pytest.raises(syncline.MethodNotFound, match="prompts/list: no prompts here") as caught:
            client.list_prompts()
        assert caught.value.status == 404
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert len(server.calls("initialize")) == 1


@pytest.mark.parametrize("status", [200, 204, 404, 405, 500])
def test_the_session_is_ended_with_the_client(http_server: Http, status: int) -> None:
    """B050, B051: by DELETE with its id; what comes of that is nobody's problem."""
    server = http_server(versions=[HANDSHAKE])
    server.arm(status, http="DELETE")
    with within(1), syncline.connect(server.url) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    deletes = [request.header("Mcp-Session-Id") for request in server.requests if request.method == "DELETE"]
    assert deletes == ["session-1"]


def test_the_end_of_the_session_is_not_waited_for(http_server: Http) -> None:
    """B050: a server that never answers it holds close() up for no longer than that may take."""
    server = http_server(versions=[HANDSHAKE])
    client = syncline.connect(server.url, timeout=syncline.Timeouts(close=0.5))
    server.arm(Exchange.hold, http="DELETE")
    with within(0.5):
        client.close()


def test_the_end_of_the_session_may_be_refused(http_server: Http) -> None:
    """B050: the server is gone."""
    server = http_server(versions=[HANDSHAKE])
    client = syncline.connect(server.url)
    server.close()
    with within(1):
        client.close()

"""Calls that never end, as other clients had them: here each ends by itself, with an error that says why."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

import syncline
from tests.fixtures.http import within
from tests.fixtures.partner import Background
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, Script

from .shared import ERAS, HANDSHAKE, STATELESS, Http, answer, foreign_json, half_json

LONG = 60.0  # the calls' own limit; what is tested must end well before


@pytest.fixture(params=ERAS)
def server(request: pytest.FixtureRequest, http_server: Http) -> McpHttpServer:
    return http_server(versions=[request.param])


@pytest.fixture
def client(server: McpHttpServer) -> Iterator[syncline.Client]:
    with syncline.connect(server.url, timeout=LONG) as client:
        yield client


def failure(client: syncline.Client, timeout: float | None = None) -> syncline.SynclineError:
    """The error of a call that must fail soon, after which the client still works and nothing is pending."""
    with within(1), pytest.raises(syncline.SynclineError) as caught:
        client.call_tool("echo", {"text": "x"}, timeout=timeout)
    assert not client._session.connection.engine.pending
    assert client.call_tool("echo", {"text": "again"}).text == "again"
    assert str(caught.value).startswith(f"{client.name}: tools/call: ")
    return caught.value


def ends(exchange: Exchange) -> None:
    exchange.sse()
    exchange.last_chunk()


def ends_after_an_id(exchange: Exchange) -> None:
    exchange.sse()
    exchange.event("", ident="1")
    exchange.last_chunk()


def breaks_off(exchange: Exchange) -> None:
    exchange.sse()
    exchange.close()


@pytest.mark.parametrize("script", [ends, ends_after_an_id, breaks_off])
def test_a_stream_that_ends_without_an_answer(server: McpHttpServer, client: syncline.Client, script: Script) -> None:
    """B001: no timeout but an error that says so, however it ends; what broke off may have run."""
    server.arm(script, method="tools/call")
    error = failure(client)
    if script is breaks_off:
        assert isinstance(error, syncline.OutcomeUnknown)
        assert "the connection broke during the answer" in str(error)
    elif script is ends_after_an_id and client.protocol_version == HANDSHAKE:
        assert isinstance(error, syncline.OutcomeUnknown)
        assert "the answer was cut off, and the server does not resume it" in str(error)
    else:
        assert isinstance(error, syncline.UnexpectedMessage)
        assert "the stream ended without a response" in str(error)


@pytest.mark.parametrize("status", [403, 500, 502, 503])
def test_a_status_is_told(server: McpHttpServer, client: syncline.Client, status: int) -> None:
    """B003."""
    server.arm(status, method="tools/call", body="the database is down")
    error = failure(client)
    assert isinstance(error, syncline.HttpStatusError)
    assert (error.status, error.url, error.body_preview) == (status, server.url, "the database is down")
    assert f"HTTP {status}: the database is down" in str(error)


def test_credentials_that_are_missing_have_an_error_of_their_own(
    server: McpHttpServer, client: syncline.Client
) -> None:
    """B003."""
    server.arm(401, method="tools/call", headers=[("WWW-Authenticate", "Bearer")])
    error = failure(client)
    assert isinstance(error, syncline.AuthRequired)
    assert error.www_authenticate == "Bearer"


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("with_id", [True, False])
def test_an_error_in_the_body_counts_more_than_the_status(
    server: McpHttpServer, client: syncline.Client, status: int, with_id: bool
) -> None:
    """B004."""

    def refuse(exchange: Exchange) -> None:
        ident = {"id": exchange.request.id} if with_id else {}
        error = {"code": -32602, "message": "no such city", "data": {"city": "Atlantis"}}
        exchange.json({"jsonrpc": "2.0", **ident, "error": error}, status)

    server.arm(refuse, method="tools/call")
    error = failure(client)
    assert isinstance(error, syncline.InvalidParams)
    assert (error.message, error.data, error.status) == ("no such city", {"city": "Atlantis"}, status)


@pytest.mark.parametrize("media", ["text/html", "text/plain", ""])
def test_another_media_type(server: McpHttpServer, client: syncline.Client, media: str) -> None:
    """B006: it is quoted, and what came is shown."""
    server.arm(200, method="tools/call", body="<html>log in</html>", media_type=media or None)
    error = failure(client)
    assert isinstance(error, syncline.HttpStatusError)
    assert f"HTTP 200 with {media or 'no media type'}" in str(error)
    assert error.body_preview == "<html>log in</html>"


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_is_gone_and_comes_back(http_server: Http, era: str) -> None:
    """B007: what is refused is an error of that call, and the next one finds the new server."""
    first = http_server(versions=[era], sessions=False)
    with syncline.connect(first.url, timeout=LONG) as client:
        first.close()
        with within(1), pytest.raises(syncline.ConnectFailed, match="tools/call: cannot connect: Connection refused"):
            client.call_tool("echo", {"text": "x"})
        http_server(versions=[era], port=first.port, sessions=False)
        assert client.call_tool("echo", {"text": "back"}).text == "back"


def test_a_reset_in_the_middle_of_an_answer(server: McpHttpServer, client: syncline.Client) -> None:
    """B007."""

    def reset(exchange: Exchange) -> None:
        half_json(exchange)
        exchange.reset()

    server.arm(reset, method="tools/call")
    error = failure(client)
    assert isinstance(error, syncline.OutcomeUnknown)
    assert isinstance(error.__cause__, syncline.ConnectionLost)


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_never_answers_the_opening(http_server: Http, era: str) -> None:
    """B009: opening has a limit of its own, and the next one starts clean."""
    server = http_server(versions=[era])
    server.arm(Exchange.hold)
    method = "initialize" if era == HANDSHAKE else "server/discover"
    short = syncline.Timeouts(startup=0.5)
    with within(0.5), pytest.raises(syncline.RequestTimeout, match=rf"{method}: no answer within 0\.5 s"):
        syncline.connect(server.url, protocol_version=era, timeout=short)
    with syncline.connect(server.url, protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "clean"}).text == "clean"


def test_a_program_that_never_answers_the_opening(stdio_command: StdioCommand) -> None:
    """B009: the same; the program that was silent is gone."""
    with within(1), pytest.raises(syncline.RequestTimeout, match="initialize: no answer within 1 s"):
        syncline.connect(stdio_command("no-answer"), timeout=syncline.Timeouts(startup=1, probe=0.2, close=5))
    with syncline.connect(stdio_command()) as client:
        assert client.call_tool("echo", {"text": "clean"}).text == "clean"


@pytest.mark.parametrize("other", ["pending", "unknown"])
def test_an_answer_to_another_call(server: McpHttpServer, client: syncline.Client, other: str) -> None:
    """B010: an error of the call whose answer it was; the call that it names goes on to its own."""
    gate = threading.Event()
    server.tool("gated", lambda call: call.wait(gate.wait) or "its own")
    pending = Background(lambda: client.call_tool("gated"))
    server.wait_until(lambda: bool(server.calls("tools/call")))

    server.arm(foreign_json(server.calls("tools/call")[0].id if other == "pending" else 0), method="tools/call")
    with within(1), pytest.raises(syncline.UnexpectedMessage, match="tools/call: the answer belongs to another"):
        client.call_tool("echo", {"text": "x"})

    gate.set()
    assert pending.result().text == "its own"


def test_a_program_that_answers_another_call(stdio_command: StdioCommand) -> None:
    """B010: it is waited on, since the right one may still come; the error tells what came instead."""
    with syncline.connect(stdio_command("wrong-id")) as client:
        expected = "tools/call: no answer within 0.3 s; what came instead: foreign-answer, id 1000000"
        with within(0.3), pytest.raises(syncline.RequestTimeout, match=expected):
            client.call_tool("echo", {"text": "x"}, timeout=0.3)
        assert client.list_tools()


def test_ids_are_never_used_twice(server: McpHttpServer, client: syncline.Client) -> None:
    """B012: by 10 threads, and by calls that timed out."""
    server.arm(Exchange.hold, 3, method="tools/call")

    def work() -> None:
        for _ in range(10):
            client.list_prompts()
            with suppress(syncline.RequestTimeout):
                client.call_tool("echo", {"text": "x"}, timeout=0.2)

    for worker in [Background(work) for _ in range(10)]:
        worker.result()
    ids = [request.id for request in server.requests if request.id is not None]
    assert len(set(ids)) == len(ids) > 200


def test_a_body_without_an_end(server: McpHttpServer, client: syncline.Client) -> None:
    """B013."""

    def endless(exchange: Exchange) -> None:
        exchange.head(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
        exchange.chunk(json.dumps(answer(exchange)).encode())
        exchange.hold()

    server.arm(endless, method="tools/call")
    assert isinstance(failure(client, timeout=0.3), syncline.RequestTimeout)


WHOLE = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"x"}],"resultType":"complete"}}'
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("form", ["json", "stream"])
def test_wherever_an_answer_is_cut_the_call_ends(http_server: Http, form: str, how: str) -> None:
    """B001, B007: every seventh byte of a whole answer; what comes after the message itself may be missing."""
    server = http_server(versions=[STATELESS])

    def whole(ident: int) -> bytes:
        body = WHOLE % ident
        if form == "json":
            return JSON_HEAD % len(body) + body
        event = b"data: " + body + b"\n\n"
        return STREAM_HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(event), event)

    with syncline.connect(server.url, timeout=LONG) as client:
        for cut in range(0, len(whole(10)) - 12, 7):

            def part(exchange: Exchange, cut: int = cut) -> None:
                exchange.send(whole(exchange.request.id)[:cut])
                getattr(exchange, how)()

            server.arm(part, method="tools/call")
            failure(client)

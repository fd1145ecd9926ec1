"""Calls that never end, as other clients had them: here each ends by itself, with an error that says why."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest

import syncline
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, Script

LONG = 60.0  # the calls' own limit; what is tested must end well before
SOON = 10.0
ERAS = ("2025-11-25", "2026-07-28")
HttpFactory = Callable[..., McpHttpServer]


@pytest.fixture(params=ERAS)
def server(request: pytest.FixtureRequest, http_server: HttpFactory) -> McpHttpServer:
    return http_server(versions=[request.param])


@pytest.fixture
def client(server: McpHttpServer) -> Iterator[syncline.Client]:
    with syncline.connect(server.url, timeout=LONG) as client:
        yield client


def failure(client: syncline.Client, timeout: float | None = None) -> syncline.SynclineError:
    """The error of a call that must fail soon, after which the client still works and nothing is pending."""
    start = time.monotonic()
    with pytest.raises(syncline.SynclineError) as caught:
        client.call_tool("echo", {"text": "x"}, timeout=timeout)
    assert time.monotonic() - start < SOON
    assert not client._session.connection.engine.pending
    assert client.call_tool("echo", {"text": "again"}).text == "again"
    assert caught.value.method == "tools/call"
    assert caught.value.server
    return caught.value


def answer(body: bytes, *headers: str) -> Script:
    head = "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]).encode()
    return lambda exchange: exchange.send(head + body)


def silent_stream(exchange: Exchange) -> None:
    exchange.sse()
    exchange.last_chunk()


def test_a_stream_that_ends_without_an_answer(server: McpHttpServer, client: syncline.Client) -> None:
    """B001."""
    server.arm(silent_stream, method="tools/call")
    assert isinstance(failure(client), syncline.UnexpectedMessage | syncline.ConnectionLost)


@pytest.mark.parametrize("status", [403, 500, 502, 503])
def test_a_status_is_told(server: McpHttpServer, client: syncline.Client, status: int) -> None:
    """B003."""
    server.arm(status, method="tools/call", body="the database is down")
    error = failure(client)
    assert isinstance(error, syncline.HttpStatusError)
    assert (error.status, error.body_preview) == (status, "the database is down")
    assert server.url.removeprefix("http://") in error.url


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
    """B006."""
    server.arm(answer(b"<html>log in</html>", *([f"Content-Type: {media}"] if media else [])), method="tools/call")
    error = failure(client)
    assert media in str(error)


def test_a_server_that_is_gone_and_comes_back(http_server: HttpFactory) -> None:
    """B007."""
    first = http_server(versions=["2026-07-28"])
    with syncline.connect(first.url, timeout=LONG) as client:
        first.close()
        with pytest.raises(syncline.TransportError):
            client.call_tool("echo", {"text": "x"})
        http_server(versions=["2026-07-28"], port=first.port)
        assert client.call_tool("echo", {"text": "back"}).text == "back"


def test_a_reset_in_the_middle_of_an_answer(server: McpHttpServer, client: syncline.Client) -> None:
    """B007."""

    def half(exchange: Exchange) -> None:
        exchange.send(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"jsonrpc"')
        exchange.reset()

    server.arm(half, method="tools/call")
    assert isinstance(failure(client), syncline.ConnectionLost)


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_never_answers_the_opening(http_server: HttpFactory, era: str) -> None:
    """B009."""
    server = http_server(versions=[era])
    server.arm(Exchange.hold)
    short = syncline.Timeouts(startup=0.5)
    with pytest.raises(syncline.RequestTimeout):
        syncline.connect(server.url, protocol_version=era, timeout=short)
    with syncline.connect(server.url, protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "clean"}).text == "clean"


def test_a_program_that_never_answers_the_opening(stdio_command: StdioCommand) -> None:
    """B009."""
    with pytest.raises(syncline.RequestTimeout):
        syncline.connect(stdio_command("no-answer"), timeout=syncline.Timeouts(startup=1, probe=0.2, close=5))
    with syncline.connect(stdio_command()) as client:
        assert client.call_tool("echo", {"text": "clean"}).text == "clean"


def test_an_answer_to_another_call_ends_only_its_own(server: McpHttpServer, client: syncline.Client) -> None:
    """B010."""

    def foreign(exchange: Exchange) -> None:
        exchange.json({"jsonrpc": "2.0", "id": 0, "result": {"content": [{"type": "text", "text": "not yours"}]}})

    server.arm(foreign, method="tools/call")
    assert isinstance(failure(client), syncline.UnexpectedMessage)


def test_a_program_that_answers_another_call(stdio_command: StdioCommand) -> None:
    """B010."""
    with syncline.connect(stdio_command("wrong-id")) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("echo", {"text": "x"}, timeout=0.3)
        assert "foreign-answer" in {finding.code for finding in client.findings}
        assert client.list_tools()


def test_a_body_without_an_end(server: McpHttpServer, client: syncline.Client) -> None:
    """B013."""

    def endless(exchange: Exchange) -> None:
        exchange.head(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
        exchange.chunk(json.dumps({"jsonrpc": "2.0", "id": exchange.request.id, "result": {"content": []}}).encode())
        exchange.hold()

    server.arm(endless, method="tools/call")
    assert isinstance(failure(client, timeout=0.3), syncline.RequestTimeout)


WHOLE = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"x"}],"resultType":"complete"}}'
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("how", ["close", "reset"])
@pytest.mark.parametrize("form", ["json", "stream"])
def test_wherever_an_answer_is_cut_the_call_ends(http_server: HttpFactory, form: str, how: str) -> None:
    """B001, B007: every seventh byte of a whole answer; what comes after the message itself may be missing."""
    server = http_server(versions=["2026-07-28"])

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

"""What other clients got wrong about HTTP, checked from the server's side of a whole connection."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

import syncline
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import CERTIFICATE, Exchange, ScriptedServer

ERAS = ("2025-11-25", "2026-07-28")
HttpFactory = Callable[..., McpHttpServer]


@pytest.mark.parametrize("status", [200, 202, 204])
def test_a_notification_may_be_accepted_in_several_ways(http_server: HttpFactory, status: int) -> None:
    """B054."""
    server = http_server(versions=["2025-11-25"])
    server.arm(status, method="notifications/initialized")
    with syncline.connect(server.url) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"


def test_requests_name_the_bare_media_type(http_server: HttpFactory) -> None:
    """B059: the server insists on it."""
    server = http_server()
    with syncline.connect(server.url) as client:
        client.list_tools()
    assert {request.header("Content-Type") for request in server.requests} == {"application/json"}


def test_a_redirect_to_the_slash_form(http_server: HttpFactory) -> None:
    """B062: method, body and headers go along."""
    server = http_server(versions=["2025-11-25"])
    with syncline.connect(syncline.HttpServer(server.url, headers={"X-Mine": "1"})) as client:
        server.arm(307, method="tools/call", headers=[("Location", "/mcp/")])
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    first, second = server.calls("tools/call")
    assert (second.path, second.body) == ("/mcp/", first.body)
    for name in ("Mcp-Session-Id", "MCP-Protocol-Version", "X-Mine", "Content-Type"):
        assert second.header(name) == first.header(name) is not None


def test_a_redirect_to_another_origin_is_not_followed(http_server: HttpFactory) -> None:
    """B063: nothing is sent there."""
    server, other = http_server(), http_server()
    with syncline.connect(syncline.HttpServer(server.url, headers={"Authorization": "Bearer secret"})) as client:
        server.arm(307, method="tools/call", headers=[("Location", other.url)])
        with pytest.raises(syncline.SynclineError, match=str(other.port)):
            client.call_tool("echo", {"text": "x"})
    assert other.connections == 0


def test_a_notification_that_is_never_answered_holds_up_nobody(http_server: HttpFactory) -> None:
    """B065: a call is given up, and the server takes the cancellation but never answers it."""
    server = http_server(versions=["2025-11-25"])
    with syncline.connect(server.url) as client:
        server.arm(Exchange.hold, method="notifications/cancelled")
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        start = time.monotonic()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert time.monotonic() - start < 10
        server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        client.close()
        server.catalogue.cancel_all()


@pytest.mark.parametrize("value", [" x\r\nEvil: 1", "héllo", "", "=?base64?x?=", "plain"])
def test_arguments_in_headers_are_encoded(http_server: HttpFactory, value: str) -> None:
    """B069: the server decodes them and compares."""
    server = http_server(versions=["2026-07-28"])
    with syncline.connect(server.url) as client:
        client.list_tools()
        arguments = {"region": value, "limit": -7, "dry": True, "query": None}
        assert client.call_tool("routed", arguments).text == repr(sorted(arguments.items()))
    assert all(request.header("Evil") is None for request in server.requests)


def test_an_idle_connection_that_the_server_dropped(http_server: HttpFactory) -> None:
    """B070: invisible for what may be repeated."""
    server = http_server(versions=["2026-07-28"])
    with syncline.connect(server.url) as client:
        for _ in range(3):
            server.drop_connections()
            server.wait_until(lambda: server.open_connections == 0)
            assert client.list_tools()
    assert server.executions["tools/list"] == 3


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("started", [False, True])
def test_close_ends_a_call_that_waits_in_another_thread(http_server: HttpFactory, tls: bool, started: bool) -> None:
    """B072: before the headers and in the middle of a stream."""
    server = http_server(versions=["2026-07-28"], tls=tls)
    outcome: list[BaseException] = []

    def wait(exchange: Exchange) -> None:
        if started:
            exchange.sse()
            exchange.chunk(b": here\n\n")
        exchange.hold()

    client = syncline.connect(syncline.HttpServer(server.url, verify=str(CERTIFICATE)))
    server.arm(wait, method="tools/call")

    def call() -> None:
        try:
            client.call_tool("echo", {"text": "x"}, timeout=60)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    server.wait_until(lambda: server.executions["echo"] == 1)
    start = time.monotonic()
    client.close()
    thread.join(10)
    assert time.monotonic() - start < 5
    assert [type(error) for error in outcome] == [syncline.ConnectionClosed]


def test_answers_of_many_threads_do_not_cross(http_server: HttpFactory) -> None:
    """B075: 20 threads, cookies with each answer, none of which comes back."""
    server = http_server(versions=["2026-07-28"])
    wrong: list[object] = []

    def with_cookie(exchange: Exchange) -> None:
        text = exchange.request.json()["params"]["arguments"]["text"]
        result = {"content": [{"type": "text", "text": text}], "resultType": "complete"}
        exchange.result(result, headers=[("Set-Cookie", f"last={text}")])

    server.arm(with_cookie, 400, method="tools/call")
    with syncline.connect(server.url) as client:

        def work(number: int) -> None:
            for turn in range(20):
                word = f"{number}-{turn}"
                if client.call_tool("echo", {"text": word}).text != word:
                    wrong.append(word)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not wrong
    assert server.executions["echo"] == 400
    assert all(request.header("Cookie") is None for request in server.requests)


def test_settings_reach_every_request(scripted_server: Callable[..., ScriptedServer]) -> None:
    """B078: through a proxy, which sees all of them and the configured header."""

    def proxy(exchange: Exchange) -> None:
        revisions = {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "private",
        }
        listing = {"tools": [], "ttlMs": 0, "cacheScope": "private"}
        result = revisions if exchange.request.rpc == "server/discover" else listing
        exchange.result({"resultType": "complete", **result})

    server = scripted_server(proxy)
    target = syncline.HttpServer(
        "http://mcp.example/endpoint", headers={"X-Mine": "1"}, proxies={"http": f"http://127.0.0.1:{server.port}"}
    )
    with syncline.connect(target) as client:
        assert client.list_tools() == []
    assert {(r.path, r.header("X-Mine")) for r in server.requests} == {("http://mcp.example/endpoint", "1")}
    assert len(server.requests) == 2


def test_a_certificate_that_is_not_trusted_fails_at_once(http_server: HttpFactory) -> None:
    """B079: no second attempt."""
    server = http_server(tls=True)
    start = time.monotonic()
    with pytest.raises(syncline.ConnectFailed, match="certificate"):
        syncline.connect(server.url)
    assert time.monotonic() - start < 10
    assert server.connections == 1
    assert server.requests == []


def test_a_delay_that_is_too_long_is_told_and_not_slept(http_server: HttpFactory) -> None:
    """B177."""
    server = http_server()
    with syncline.connect(server.url) as client:
        server.arm(429, method="tools/call", headers=[("Retry-After", "3600")])
        start = time.monotonic()
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.call_tool("echo", {"text": "x"}, timeout=2)
        assert time.monotonic() - start < 10
    assert (caught.value.status, caught.value.retry_after) == (429, 3600)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_timed_out_is_not_sent_again(http_server: HttpFactory, era: str) -> None:
    """B174, B175: and the server hears of it as its era has it."""
    server = http_server(versions=[era])
    with syncline.connect(server.url) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.3)
        ident = server.calls("tools/call")[0].id
        server.wait_until(lambda: server.disconnected == [ident])
        if era == "2025-11-25":
            server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
    told = [request.json()["params"]["requestId"] for request in server.calls("notifications/cancelled")]
    assert told == ([ident] if era == "2025-11-25" else [])
    assert server.executions["slow"] == 1


def test_progress_keeps_a_call_alive(http_server: HttpFactory) -> None:
    """B172: far longer than its limit without progress, though never past the total."""
    server = http_server()
    steps: list[float] = []
    with syncline.connect(server.url) as client:
        timeouts = syncline.Timeouts(call=1, call_total=30)
        arguments = {"n": 8, "pause": 0.25}
        result = client.call_tool(
            "progress", arguments, timeout=timeouts, on_progress=lambda done, *_: steps.append(done)
        )
        assert result.text == "8 steps"
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("progress", {"n": 100, "pause": 0.1}, timeout=syncline.Timeouts(call=0.5, call_total=1))
    assert steps == list(range(1, 9))

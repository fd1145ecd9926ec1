"""The client over streams that are cut, streams that listen, and the transport of 2024-11-05."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

import syncline
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.session.negotiation import EraMemory
from syncline.transport.base import Outgoing
from syncline.transport.legacy_sse import LegacySseTransport
from tests.fixtures.http import within
from tests.fixtures.partner import SOON, Background
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.mcp_sse import McpSseServer
from tools.fakeserver.scripted import CERTIFICATE, Exchange, Script, ScriptedServer

Http = Callable[..., McpHttpServer]
Sse = Callable[..., McpSseServer]
Scripted = Callable[..., ScriptedServer]

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
MODERN, LEGACY = "2026-07-28", "2025-11-25"


# A cut answer


class Cuts:
    """Answers ``tools/call`` in parts: one report of progress on each connection, the answer on the last."""

    def __init__(self, server: McpHttpServer, count: int, retry: int | None = None) -> None:
        self.count, self.retry, self.sent = count, retry, 0
        self.call: Any = None
        self.resumed: list[tuple[str | None, ...]] = []
        server.arm(self.part, method="tools/call")
        server.arm(self.part, count, http="GET")

    def part(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.method == "POST":
            self.call = request.json()
        else:
            names = ("Last-Event-ID", "Mcp-Session-Id", "MCP-Protocol-Version")
            self.resumed.append(tuple(request.header(name) for name in names))
        exchange.sse()
        if self.sent == self.count:
            result = {"content": [{"type": "text", "text": "done"}]}
            exchange.event({"jsonrpc": "2.0", "id": self.call["id"], "result": result}, ident="end")
            exchange.last_chunk()
            return
        self.sent += 1
        for step in (self.sent - 1, self.sent):  # the last one again, and a new one
            params = {"progressToken": self.call["params"]["_meta"]["progressToken"], "progress": step}
            report = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            if step:
                exchange.event(report, ident=str(step), retry=self.retry)
        exchange.close()


def test_a_call_survives_cuts(http_server: Http) -> None:
    """B039: the tool runs once, each report comes once, in the calling thread."""
    server = http_server(versions=[LEGACY])
    with syncline.connect(server.url) as client:
        cuts = Cuts(server, 5)
        seen: list[tuple[float, str]] = []
        here = threading.current_thread().name
        result = client.call_tool(
            "echo",
            {"text": "x"},
            on_progress=lambda done, total, message: seen.append((done, threading.current_thread().name)),
        )
        assert result.text == "done"
        assert seen == [(step, here) for step in range(1, 6)]
        assert cuts.resumed == [(str(step), "session-1", LEGACY) for step in range(1, 6)]
        assert client.findings == []
    assert len(server.calls("tools/call")) == 1


def test_the_stateless_era_never_resumes(http_server: Http) -> None:
    """RES-9: the call may have run, and that is what the caller is told."""
    server = http_server(versions=[MODERN])
    with syncline.connect(server.url, protocol_version=MODERN) as client:
        Cuts(server, 1, retry=0)
        with pytest.raises(syncline.SynclineError, match="tools/call"):
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert not any(request.method == "GET" for request in server.requests)


def test_a_timeout_while_waiting_to_resume_cancels_the_call(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])
    with syncline.connect(server.url) as client:
        Cuts(server, 1, retry=60_000)
        with within(0.3), pytest.raises(syncline.RequestTimeout, match="tools/call"):
            client.call_tool("echo", {"text": "x"}, timeout=0.3)
        server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        assert client.call_tool("echo", {"text": "after"}).text == "after"


def test_close_ends_the_waiting(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])
    client = syncline.connect(server.url)
    seen = threading.Event()
    Cuts(server, 1, retry=60_000)
    calling = Background(lambda: client.call_tool("echo", {"text": "x"}, on_progress=lambda *_: seen.set()))
    assert seen.wait(SOON)
    with within(0.5):
        client.close()
        with pytest.raises(syncline.ConnectionClosed, match="tools/call"):
            calling.result()


def test_ctrl_c_ends_the_waiting(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])
    with syncline.connect(server.url) as client:
        seen = threading.Event()
        Cuts(server, 1, retry=60_000)

        def interrupt() -> None:
            assert seen.wait(SOON)
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        interrupting = Background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("echo", {"text": "x"}, on_progress=lambda *_: seen.set())
        interrupting.result()
        server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        assert client.call_tool("echo", {"text": "after"}).text == "after"
        assert client._session.connection.engine.pending == {}


# The listening stream


def test_an_answer_over_the_listening_stream(http_server: Http) -> None:
    """B057: it is the answer to that call, and other notifications of the stream go where they always go."""
    server = http_server(versions=[LEGACY])
    noticed: ReplySlot[str] = ReplySlot()
    answered = threading.Event()

    def listen(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event({"jsonrpc": "2.0", "method": "notifications/hello"})
        exchange.wait(answered)
        [call] = server.calls("tools/call")
        result = {"content": [{"type": "text", "text": "late"}]}
        exchange.event({"jsonrpc": "2.0", "id": call.id, "result": result})
        exchange.hold()

    def accept(exchange: Exchange) -> None:
        exchange.respond(202)
        answered.set()

    with syncline.connect(server.url, on_notification=lambda note: noticed.put(note.method)) as client:
        server.arm(listen, http="GET")
        server.arm(accept, method="tools/call")
        transport = client._session.connection.transport
        message = Outgoing(b"", "listen", "listen", headers={"MCP-Protocol-Version": LEGACY})
        opened = threading.Event()
        listening = Background(lambda: transport.listen(message, lambda missed: opened.set(), lambda error: None))
        assert opened.wait(SOON)
        assert noticed.take(Deadline(SOON)) == "notifications/hello"
        assert client.call_tool("echo", {"text": "x"}).text == "late"
        transport.abandon(message)
        with pytest.raises(syncline.ConnectionClosed):
            listening.result()
        server.arm(202, method="tools/call")
        with within(1), pytest.raises(syncline.UnexpectedMessage, match="there will be no answer"):
            client.call_tool("echo", {"text": "x"})


# HTTP+SSE of 2024-11-05


def over_sse(client: syncline.Client) -> bool:
    return isinstance(client._session.connection.transport, LegacySseTransport)


@pytest.mark.parametrize(
    "refusal",
    [
        (404, ""),
        (405, ""),
        (400, ""),
        (405, "<html>no</html>"),
        (404, '{"detail": "Not Found"}'),
        (400, '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "no"}}'),
        (405, '{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Method not allowed."}}'),
    ],
)
@pytest.mark.parametrize("wanted", ["auto", *HANDSHAKE])
def test_the_older_transport_is_found(sse_server: Sse, refusal: tuple[int, str], wanted: str) -> None:
    """ERA-20, ERA-21, OLD-4, B068: whatever revision of the handshake is spoken over it."""
    server = sse_server(refusal=refusal)
    with syncline.connect(server.url, protocol_version=wanted) as client:
        assert over_sse(client)
        assert client.protocol_version == (HANDSHAKE[-1] if wanted == "auto" else wanted)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert [tool.name for tool in client.list_tools()] == list(server.catalogue.tools)
        assert client.findings == []
    posts = [request.path for request in server.requests if request.method == "POST"]
    assert set(posts[posts.index("/messages?session=s1") :]) == {"/messages?session=s1"}
    server.wait_until(lambda: not server.streams)


def test_what_was_found_is_remembered(sse_server: Sse) -> None:
    """ERA-30: the second time nothing is posted in vain."""
    server = sse_server()
    with syncline.connect(server.url):
        pass
    before = len(server.requests)
    with syncline.connect(server.url) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert [(request.method, request.path.partition("?")[0]) for request in server.requests[before:]] == [
        ("GET", "/sse"),
        *[("POST", "/messages")] * 3,
    ]


@pytest.mark.parametrize("versions", [[MODERN], [LEGACY]])
def test_a_memory_that_is_no_longer_true(http_server: Http, versions: list[str]) -> None:
    """ERA-30: the server has been brought up to date."""
    server = http_server(versions=versions)
    EraMemory.shared.remember(server.url, "sse", shared=False)
    with syncline.connect(server.url) as client:
        assert client.protocol_version == versions[0]
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert EraMemory.shared.era(server.url) == ("stateless" if versions == [MODERN] else "handshake")


def test_the_memory_holds_for_the_handshake_only(http_server: Http) -> None:
    server = http_server(versions=[MODERN])
    EraMemory.shared.remember(server.url, "sse", shared=False)
    with syncline.connect(server.url, protocol_version=MODERN):
        pass
    assert [request.method for request in server.requests] == ["POST"]


@pytest.mark.parametrize("wanted", ["auto", "2024-11-05"])
def test_the_older_transport_may_be_asked_for(sse_server: Sse, wanted: str) -> None:
    server = sse_server()
    target = syncline.HttpServer(server.url, transport="sse")
    with syncline.connect(target, protocol_version=wanted) as client:
        assert over_sse(client)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert server.requests[0].method == "GET"


def test_asking_for_what_is_not_there(http_server: Http, sse_server: Sse) -> None:
    http, sse = http_server(), sse_server()
    with pytest.raises(syncline.HttpStatusError, match="HTTP 405"):
        syncline.connect(syncline.HttpServer(http.url, transport="sse"))
    with pytest.raises(syncline.HttpStatusError, match="HTTP 405"):
        syncline.connect(syncline.HttpServer(sse.url, transport="streamable"))
    assert not any(request.method == "GET" for request in sse.requests)
    with pytest.raises(syncline.NoCommonRevision, match=f"HTTP\\+SSE has no revision {MODERN}"):
        syncline.connect(syncline.HttpServer(sse.url, transport="sse"), protocol_version=MODERN)
    with pytest.raises(syncline.ConfigError, match="transport is auto, streamable or sse, not 'websocket'"):
        syncline.HttpServer(sse.url, transport="websocket")  # type: ignore[arg-type]


def refusing(status: int, body: str, get: Script) -> Script:
    def script(exchange: Exchange) -> None:
        if exchange.request.method == "GET":
            get(exchange)
        else:
            exchange.respond(status, body, "application/json")

    return script


def endpoint(exchange: Exchange) -> None:
    exchange.sse()
    exchange.event("/messages", name="endpoint")
    exchange.hold()


def json_rpc(code: int, **data: object) -> str:
    error = {"code": code, "message": "refused", **({"data": data} if data else {})}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error})


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, ""),
        (403, ""),
        (406, ""),
        (410, ""),
        (415, ""),
        (500, ""),
        (503, ""),
        (400, json_rpc(-32022, supported=["2030-01-01"])),
        (400, json_rpc(-32020)),
        (400, json_rpc(-32021, requiredCapabilities={})),
        (404, json_rpc(-32601)),
    ],
)
def test_other_refusals_do_not_lead_there(scripted_server: Scripted, status: int, body: str) -> None:
    """ERA-20, ERA-22, B068: three statuses only, and never with an error of the modern era."""
    server = scripted_server(refusing(status, body, endpoint))
    options: Any = {"retry": syncline.RetryPolicy(connect=1)} if status in (500, 503) else {}
    with pytest.raises(syncline.SynclineError):
        syncline.connect(server.url, protocol_version=LEGACY, **options)
    assert {request.method for request in server.requests} == {"POST"}


@pytest.mark.parametrize(
    "get",
    [
        lambda exchange: exchange.respond(404),
        lambda exchange: exchange.respond(401),
        lambda exchange: exchange.respond(200, "<html>", "text/html"),
        lambda exchange: (exchange.sse(), exchange.event("{}"), exchange.hold()),
        lambda exchange: (exchange.sse(), exchange.event("http://elsewhere.example/", name="endpoint")),
        Exchange.reset,
    ],
    ids=["404", "401", "page", "message", "elsewhere", "reset"],
)
def test_the_original_failure_is_told(scripted_server: Scripted, get: Script) -> None:
    """ERA-21, B068."""
    server = scripted_server(refusing(404, '{"detail": "nothing here"}', get))
    with within(1), pytest.raises(syncline.HttpStatusError, match=r"initialize: HTTP 404: .*nothing here"):
        syncline.connect(server.url, protocol_version=LEGACY)


def test_close_ends_the_search(scripted_server: Scripted) -> None:
    server = scripted_server(refusing(404, "", Exchange.hold))
    client = syncline.Client(server.url)
    opening = Background(client.open)
    server.wait_until(lambda: any(request.method == "GET" for request in server.requests))
    with within(0.5):
        client.close()
        with pytest.raises(syncline.ConnectionClosed):
            opening.result()


def test_a_stream_that_is_lost_is_the_end_of_its_session(sse_server: Sse) -> None:
    """B042, OLD-3: calls that wait fail at once, later ones too, until somebody connects anew: with a new handshake."""
    server = sse_server()
    with syncline.connect(server.url) as client:
        calling = Background(lambda: client.call_tool("slow", {"seconds": 60}))
        server.catalogue.wait_for("tools/call")
        with within(1):
            server.cut()
            with pytest.raises(syncline.ConnectionLost, match="tools/call: the event stream has ended"):
                calling.result()
            with pytest.raises(syncline.ConnectionLost):
                client.call_tool("echo", {"text": "x"})
        assert client.is_closed
        client.reconnect()
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert len(server.catalogue.calls("initialize")) == 2
    paths = {request.path for request in server.requests if request.method == "POST"}
    assert paths == {"/sse", "/messages?session=s1", "/messages?session=s2"}


def test_a_server_may_ask_over_it(sse_server: Sse) -> None:
    server = sse_server()
    server.catalogue.tool("ask", lambda call: str("result" in call.ask("ping", {})))
    with syncline.connect(server.url) as client:
        assert client.call_tool("ask").text == "True"


def test_progress_and_cancellation_over_it(sse_server: Sse) -> None:
    server = sse_server()
    with syncline.connect(server.url) as client:
        seen: list[float] = []
        client.call_tool("progress", {"n": 3}, on_progress=lambda done, total, message: seen.append(done))
        assert seen == [1, 2, 3]
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        server.catalogue.wait_for("notifications/cancelled")
        assert client.call_tool("echo", {"text": "after"}).text == "after"


def test_threads_share_it(sse_server: Sse) -> None:
    server = sse_server()
    with syncline.connect(server.url) as client:
        calls = [
            Background(lambda name=str(number): [client.call_tool("echo", {"text": name}).text for _ in range(10)])  # type: ignore[misc]
            for number in range(8)
        ]
        for number, call in enumerate(calls):
            assert call.result() == [str(number)] * 10
        names = {thread.name for thread in threading.enumerate() if thread.name.startswith("syncline:")}
        assert names == {f"syncline:127.0.0.1:{server.port}/sse:sse"}


def test_over_tls_with_a_token(sse_server: Sse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "planted-t0ken")
    server = sse_server(tls=True)
    target = syncline.HttpServer(server.url, bearer_env="TOKEN", verify=str(CERTIFICATE))
    with syncline.connect(target) as client:
        assert over_sse(client)
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert {request.header("Authorization") for request in server.requests} == {"Bearer planted-t0ken"}

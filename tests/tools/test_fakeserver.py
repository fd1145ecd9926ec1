"""The servers that other tests lean on: they do what they say."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import subprocess
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.fixtures.servers import StdioCommand
from tools.fakeserver.catalogue import META, Json
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import CERTIFICATE, Exchange, ScriptedServer

ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
STATELESS = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


def request(method: str, params: Json | None = None, ident: int = 1) -> Json:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params or {}}


def stateless(method: str, **params: object) -> Json:
    return request(method, {**params, "_meta": STATELESS})


def mirrored(message: Json, **more: str) -> dict[str, str]:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": message["method"]}
    name = message["params"].get("name")
    return headers | ({"Mcp-Name": name} if name else {}) | {k.replace("_", "-"): v for k, v in more.items()}


class Http:
    """One keep-alive connection."""

    def __init__(self, server: ScriptedServer) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)

    def post(self, message: object, headers: dict[str, str] | None = None) -> tuple[int, Any, dict[str, str]]:
        self._connection.request("POST", "/mcp", json.dumps(message), ACCEPT | (headers or {}))
        answer = self._connection.getresponse()
        body = answer.read()
        typed = answer.headers.get("Content-Type", "")
        return answer.status, json.loads(body) if typed == "application/json" else body, dict(answer.headers)

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def server(http_server: Callable[..., McpHttpServer]) -> McpHttpServer:
    return http_server()


@pytest.fixture
def client(server: McpHttpServer) -> Http:
    return Http(server)


def test_handshake_needs_the_session_and_the_revision(server: McpHttpServer, client: Http) -> None:
    status, answer, headers = client.post(request("initialize", {"protocolVersion": "2025-11-25"}))
    assert (status, answer["result"]["protocolVersion"]) == (200, "2025-11-25")
    session = {"Mcp-Session-Id": headers["Mcp-Session-Id"]}
    whole = session | {"MCP-Protocol-Version": "2025-11-25"}
    assert client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, whole)[0] == 202
    assert client.post(request("tools/list"))[0] == 400
    assert client.post(request("tools/list"), session)[0] == 400
    assert client.post(request("tools/list"), whole | {"Mcp-Session-Id": "other"})[0] == 404
    names = [tool["name"] for tool in client.post(request("tools/list"), whole)[1]["result"]["tools"]]
    assert {"echo", "add", "slow"} <= set(names)
    server.expire_sessions()
    assert client.post(request("tools/list"), whole)[0] == 404
    client.close()
    assert server.connections == 1


def test_stateless_revision_checks_the_mirrored_headers(client: Http) -> None:
    call = stateless("tools/call", name="routed", arguments={"region": "é", "dry": True})
    right = mirrored(
        call, Mcp_Param_Region=f"=?base64?{base64.b64encode('é'.encode()).decode()}?=", Mcp_Param_Dry="true"
    )
    status, answer, _ = client.post(call, right)
    assert (status, answer["result"]["resultType"]) == (200, "complete")
    for wrong in ({"Mcp-Name": "other"}, {"Mcp-Param-Dry": "True"}, {"Mcp-Param-Limit": "1"}, {"Mcp-Method": "x"}):
        status, answer, _ = client.post(call, right | wrong)
        assert (status, answer["error"]["code"]) == (400, -32020)
    unknown = stateless("tools/forget")
    assert client.post(unknown, mirrored(unknown))[0] == 404
    client.close()


def test_discover_and_unsupported_revisions(client: Http, http_server: Callable[..., McpHttpServer]) -> None:
    discover = stateless("server/discover")
    assert client.post(discover, mirrored(discover))[1]["result"]["supportedVersions"] == ["2026-07-28"]
    client.close()
    old = Http(http_server(versions=["2025-06-18"], sessions=False))
    assert old.post(discover, mirrored(discover))[1]["error"]["code"] == -32601
    assert (
        old.post(request("initialize", {"protocolVersion": "2025-11-25"}))[1]["result"]["protocolVersion"]
        == "2025-06-18"
    )
    old.close()
    new = Http(http_server(versions=["2026-07-28"]))
    assert new.post(request("initialize"))[1]["error"]["data"]["supported"] == ["2026-07-28"]
    new.close()


def test_what_comes_before_the_answer_makes_it_a_stream(client: Http) -> None:
    call = stateless("tools/call", name="progress", arguments={"n": 2})
    call["params"]["_meta"] = STATELESS | {"progressToken": "p"}
    status, body, headers = client.post(call, mirrored(call))
    assert (status, headers["Content-Type"]) == (200, "text/event-stream")
    messages = [json.loads(line.removeprefix(b"data: ")) for line in body.split(b"\n") if line]
    assert [m.get("params", {}).get("progress") for m in messages] == [1, 2, None]
    client.close()


def test_arm_and_hold(server: McpHttpServer, client: Http) -> None:
    server.arm(503, 2, method="tools/list", body="later", headers=[("Retry-After", "3")])
    listing = stateless("tools/list")
    for _ in range(2):
        status, body, headers = client.post(listing, mirrored(listing))
        assert (status, body, headers["Retry-After"]) == (503, b"later", "3")
    gate = threading.Event()
    server.hold(gate, method="tools/list")
    opener = threading.Timer(0.05, gate.set)
    opener.start()
    assert client.post(listing, mirrored(listing))[0] == 200
    assert gate.is_set()
    opener.join()
    client.close()


def test_a_client_that_hangs_up_is_noticed(server: McpHttpServer, client: Http) -> None:
    call = stateless("tools/call", name="slow", arguments={"seconds": 60})
    client._connection.request("POST", "/mcp", json.dumps(call), ACCEPT | mirrored(call))
    server.wait_until(lambda: server.executions["slow"] == 1)
    client.close()
    server.wait_until(lambda: server.disconnected == [1])


def test_a_script_is_followed_to_the_byte(scripted_server: Callable[..., ScriptedServer]) -> None:
    def half(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event({"a": 1}, ident="7", name="message", retry=5)
        exchange.close()

    server = scripted_server(lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), half)
    client = Http(server)
    assert client.post({})[:2] == (200, b"{}")
    with pytest.raises(http.client.IncompleteRead) as caught:
        client.post({})
    assert caught.value.partial == b'id: 7\nevent: message\nretry: 5\ndata: {"a": 1}\n\n'
    client.close()
    client.post({})
    client.close()
    assert [r.method for r in server.requests] == ["POST"] * 3


def test_reset_and_failing_scripts() -> None:
    with ScriptedServer([lambda exchange: exchange.reset()]) as server:
        client = Http(server)
        with pytest.raises(ConnectionResetError):
            client.post({})
        client.close()

    def fail(_: Exchange) -> None:
        raise ValueError("oh")

    server = ScriptedServer(fail)
    client = Http(server)
    with pytest.raises(http.client.RemoteDisconnected):
        client.post({})
    client.close()
    with pytest.raises(AssertionError, match="a script failed"):
        server.close()


def test_tls(http_server: Callable[..., McpHttpServer]) -> None:
    server = http_server(tls=True)
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=10)
    connection.request("GET", "/mcp")
    assert connection.getresponse().status == 405
    connection.close()


def talk(command: list[str], *messages: Json) -> tuple[list[bytes], bytes, int]:
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    done = subprocess.run(command, input=lines, capture_output=True, timeout=30, check=False)
    return done.stdout.splitlines(), done.stderr, done.returncode


def test_stdio_speaks_both_eras(stdio_command: StdioCommand) -> None:
    lines, errors, code = talk(
        stdio_command(), request("initialize", {"protocolVersion": "2025-03-26"}), stateless("server/discover")
    )
    first, second = map(json.loads, lines)
    assert first["result"]["protocolVersion"] == "2025-03-26"
    assert second["result"]["supportedVersions"] == ["2026-07-28"]
    assert (errors, code) == (b"", 0)


def test_stdio_faults(stdio_command: StdioCommand) -> None:
    ping = request("ping")
    lines, _, _ = talk(stdio_command("noise", "string-id"), ping)
    assert lines[0] == b"Server ready!"
    assert json.loads(lines[-1]) == {"jsonrpc": "2.0", "id": "1", "result": {}}
    lines, errors, _ = talk(stdio_command("stderr-flood=1000"), ping)
    assert len(lines) == 1
    assert len(errors) > 1500
    assert talk(stdio_command("exit-at-once=9"))[1:] == (b"error: no such file: config.toml\n", 9)
    assert talk(stdio_command("die-after=1"), ping, ping)[1:] == (b"fatal: out of luck\n", 3)
    assert talk(stdio_command("no-answer=ping"), ping)[0] == []

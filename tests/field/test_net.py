"""Traps of HTTP libraries and networks: dropped connections, blocked reads, shared state, settings that get lost."""

from __future__ import annotations

from pathlib import Path

import pytest

import syncline
from tests.fixtures.http import within
from tests.fixtures.partner import Background
from tools.fakeserver.samples import sample_catalogue
from tools.fakeserver.scripted import CERTIFICATE, Exchange

from .shared import ERAS, STATELESS, Http, Scripted, answer


@pytest.mark.parametrize("era", ERAS)
def test_an_idle_connection_that_the_server_dropped(http_server: Http, era: str) -> None:
    """B070: noticed before it is used, so that not even a tool call fails."""
    server = http_server(versions=[era])
    with syncline.connect(server.url, protocol_version=era) as client:
        for word in ("one", "two"):
            server.drop_connections()
            server.wait_until(lambda: server.open_connections == 0)
            assert client.list_tools()
            server.drop_connections()
            server.wait_until(lambda: server.open_connections == 0)
            assert client.call_tool("echo", {"text": word}).text == word
    assert (server.executions["tools/list"], server.executions["echo"]) == (2, 2)


@pytest.mark.parametrize("era", ERAS)
def test_a_connection_that_is_dropped_as_it_is_used_again(http_server: Http, era: str) -> None:
    """B070: a listing is asked for once more on a fresh connection; a tool call is not, and the error says why."""
    server = http_server(versions=[era])
    with syncline.connect(server.url, protocol_version=era) as client:
        server.arm(Exchange.close, method="tools/list")
        assert client.list_tools()
        server.arm(Exchange.close, method="tools/call")
        with pytest.raises(syncline.OutcomeUnknown, match=r"tools/call: .* the request may have run"):
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert (server.executions["tools/list"], server.executions["echo"]) == (2, 2)


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("started", [False, True])
def test_close_ends_a_call_that_waits_in_another_thread(http_server: Http, tls: bool, started: bool) -> None:
    """B072: before the headers and in the middle of a silent stream; close() returns and the reader is gone."""
    server = http_server(versions=[STATELESS], tls=tls)

    def wait(exchange: Exchange) -> None:
        if started:
            exchange.sse()
            exchange.chunk(b": here\n\n")
        exchange.hold()

    client = syncline.connect(syncline.HttpServer(server.url, verify=str(CERTIFICATE)))
    server.arm(wait, method="tools/call")
    calling = Background(lambda: client.call_tool("echo", {"text": "x"}, timeout=60))
    server.wait_until(lambda: server.executions["echo"] == 1)
    with within(1):
        client.close()
        with pytest.raises(syncline.ConnectionClosed, match="tools/call"):
            calling.result()
    server.wait_until(lambda: server.open_connections == 0)


def test_answers_of_many_threads_do_not_cross(http_server: Http) -> None:
    """B075: 20 threads, cookies with each answer, none of which comes back."""
    server = http_server(versions=[STATELESS])

    def with_cookie(exchange: Exchange) -> None:
        text = exchange.request.json()["params"]["arguments"]["text"]
        exchange.json(answer(exchange, text), headers=[("Set-Cookie", f"last={text}")])

    server.arm(with_cookie, 400, method="tools/call")
    with syncline.connect(server.url) as client:

        def work(number: int) -> list[str]:
            return [client.call_tool("echo", {"text": f"{number}-{turn}"}).text for turn in range(20)]

        workers = [Background(lambda number=number: work(number)) for number in range(20)]  # type: ignore[misc]
        for number, worker in enumerate(workers):
            assert worker.result() == [f"{number}-{turn}" for turn in range(20)]
    assert server.executions["echo"] == 400
    assert all(request.header("Cookie") is None for request in server.requests)


@pytest.mark.parametrize("era", ERAS)
def test_a_netrc_file_does_not_take_the_place_of_a_token(
    http_server: Http, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, era: str
) -> None:
    """B076: of no request, the last one of a session included."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    netrc.chmod(0o600)
    monkeypatch.delenv("NETRC", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MY_TOKEN", "planted")
    server = http_server(versions=[era])
    with syncline.connect(syncline.HttpServer(server.url, bearer_env="MY_TOKEN"), protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert {request.header("Authorization") for request in server.requests} == {"Bearer planted"}


def test_a_proxy_sees_every_request(scripted_server: Scripted) -> None:
    """B078: also the headers that were configured."""
    catalogue = sample_catalogue([STATELESS])
    proxy = scripted_server(lambda exchange: catalogue.handle(exchange.request.json(), exchange.json))
    target = syncline.HttpServer(
        "http://mcp.example/endpoint", headers={"X-Mine": "1"}, proxies={"http": f"http://127.0.0.1:{proxy.port}"}
    )
    with syncline.connect(target) as client:
        assert client.list_tools()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    seen = {(request.path, request.header("X-Mine")) for request in proxy.requests}
    assert seen == {("http://mcp.example/endpoint", "1")}
    assert [request.rpc for request in proxy.requests] == ["server/discover", "tools/list", "tools/call"]


@pytest.mark.parametrize("era", ERAS)
def test_certificates_and_headers_reach_every_request(http_server: Http, era: str) -> None:
    """B078: the end of the session included."""
    server = http_server(versions=[era], tls=True)
    target = syncline.HttpServer(server.url, headers={"X-Mine": "1"}, verify=str(CERTIFICATE))
    with syncline.connect(target, protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert {request.header("X-Mine") for request in server.requests} == {"1"}
    assert (server.requests[-1].method == "DELETE") is (era != STATELESS)


def test_a_certificate_that_is_not_trusted_fails_at_once(http_server: Http) -> None:
    """B079: while connecting, once, and before anything was sent."""
    server = http_server(tls=True)
    with within(1), pytest.raises(syncline.ConnectFailed, match=r"cannot connect: .*certificate verify failed"):
        syncline.connect(server.url)
    assert server.connections == 1
    assert server.requests == []

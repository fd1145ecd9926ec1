"""Streamable HTTP: connections that are reused, break, are refused, and are ended by another thread."""

from __future__ import annotations

import gc
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.errors import (
    AuthRequired,
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    ForkedConnection,
    RequestTimeout,
    SynclineError,
)
from syncline.transport import http_exchange
from syncline.transport.base import Outgoing
from syncline.transport.http_head import Answer
from tests.fixtures.http import SOON, Peer, reach, within
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import CERTIFICATE, KEY, Exchange, Script, ScriptedServer

Serve = Callable[..., ScriptedServer]


def by_json(exchange: Exchange) -> None:
    exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "result": exchange.request.json()["params"]})


def then_close(exchange: Exchange) -> None:
    """A whole answer, after which the connection ends without a word about it."""
    by_json(exchange)
    exchange.close()


# -------------------------------------------------------------------------------------------------------------- reuse
@pytest.mark.parametrize("tls", [False, True])
def test_a_connection_is_reused(scripted_server: Serve, tls: bool) -> None:
    server = scripted_server(by_json, tls=tls)
    with reach(server.url) as peer:
        for ident in range(5):
            assert peer.send(ident)["id"] == ident
    assert server.connections == 1


@pytest.mark.parametrize("tls", [False, True])
def test_a_connection_that_waits_keeps_nothing_of_its_last_request(scripted_server: Serve, tls: bool) -> None:
    """Neither for as long as it waits, nor until the garbage collector comes by: a request may be large."""

    def alive() -> int:
        return sum(isinstance(thing, (http_exchange.Exchange, Outgoing, Answer)) for thing in gc.get_objects())

    server = scripted_server(by_json, tls=tls)
    with reach(server.url) as peer:
        gc.collect()
        before = alive()
        gc.disable()
        try:
            for ident in range(3):
                peer.send(ident)
            assert alive() == before
        finally:
            gc.enable()
    assert server.connections == 1


@pytest.mark.parametrize(("size", "connections"), [(60_000, 1), (1_500_000, 2)])
def test_a_page_of_no_interest(scripted_server: Serve, size: int, connections: int) -> None:
    """It is read to its end to keep the connection, unless that would cost more than a new one."""

    def script(exchange: Exchange) -> None:
        if exchange.request.id == 1:
            exchange.head(401, [("Content-Type", "text/html"), ("Transfer-Encoding", "chunked")])
            for _ in range(size // 5000):
                exchange.chunk(b"x" * 5000)
            exchange.last_chunk()
        else:
            by_json(exchange)

    server = scripted_server(script)
    with reach(server.url) as peer:
        with pytest.raises(AuthRequired):
            peer.send(1)
        peer.send(2)
    assert server.connections == connections


def test_more_connections_at_once_than_are_kept(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("syncline.transport.http_session.POOL_SIZE", 2)
    everybody = threading.Barrier(4)

    def script(exchange: Exchange) -> None:
        everybody.wait(SOON)
        by_json(exchange)

    server = scripted_server(script)
    with reach(server.url) as peer:
        calls = [Background(lambda ident=ident: peer.send(ident)) for ident in range(4)]  # type: ignore[misc]
        assert [call.result()["id"] for call in calls] == [0, 1, 2, 3]
        server.wait_until(lambda: server.open_connections == 2)
    assert server.connections == 4


def test_a_connection_that_the_server_closes_by_header(scripted_server: Serve) -> None:
    def script(exchange: Exchange) -> None:
        exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "result": {}}, headers=[("Connection", "close")])
        exchange.close()

    server = scripted_server(script)
    with reach(server.url) as peer:
        peer.send(1)
        peer.send(2)
    assert server.connections == 2


def test_a_connection_that_was_dropped_while_idle(scripted_server: Serve) -> None:
    """B070: seen before it is used again, so that not even a tool call notices."""
    server = scripted_server(then_close, by_json)
    with reach(server.url) as peer:
        peer.send(1)
        server.wait_until(lambda: server.open_connections == 0)
        assert peer.send(2)["id"] == 2
    assert len(server.requests) == 2


def dead_when_used_again(exchange: Exchange) -> None:
    """Only a connection's first request is answered."""
    first = next(request for request in exchange.server.requests if request.connection == exchange.request.connection)
    if first == exchange.request:
        by_json(exchange)
    else:
        exchange.close()


def test_a_stale_connection_and_a_message_that_may_be_repeated(scripted_server: Serve) -> None:
    """B070: no byte of an answer on a connection that had served before: once more, on a fresh one."""
    server = scripted_server(dead_when_used_again)
    with reach(server.url) as peer:
        peer.send(1)
        assert peer.send(2, repeatable=True)["id"] == 2
    assert [(request.connection, request.id) for request in server.requests] == [(1, 1), (1, 2), (2, 2)]


def test_a_stale_connection_and_a_message_that_may_not(scripted_server: Serve) -> None:
    """B070: a tool call is not sent twice; the error says that it may have run."""
    server = scripted_server(dead_when_used_again)
    with reach(server.url) as peer:
        peer.send(1)
        with pytest.raises(ConnectionLost, match="may have run"):
            peer.send(2)
        assert peer.send(3)["id"] == 3
    assert [request.id for request in server.requests] == [1, 2, 3]


def test_stale_neighbours_are_not_tried_in_turn(scripted_server: Serve) -> None:
    """What ended one idle connection has ended the others as well."""
    together = threading.Barrier(3)

    def script(exchange: Exchange) -> None:
        if exchange.request.rpc == "meet":
            together.wait(SOON)
        dead_when_used_again(exchange)

    server = scripted_server(script)
    with reach(server.url) as peer:
        calls = [Background(lambda ident=ident: peer.send(ident, method="meet")) for ident in range(3)]  # type: ignore[misc]
        assert [call.result()["id"] for call in calls] == [0, 1, 2]
        assert server.connections == 3
        assert peer.send(7, repeatable=True)["id"] == 7
    assert [request.id for request in server.requests[3:]] == [7, 7]


def test_a_fresh_connection_that_breaks_is_not_repeated(scripted_server: Serve) -> None:
    server = scripted_server(Exchange.close)
    with reach(server.url) as peer, pytest.raises(ConnectionLost, match="before an answer came"):
        peer.send(repeatable=True)
    assert len(server.requests) == 1


def test_an_answer_that_breaks_off_is_not_repeated(scripted_server: Serve) -> None:
    """Once bytes of an answer have come, the request has been processed."""

    def script(exchange: Exchange) -> None:
        if exchange.request.id == 1:
            by_json(exchange)
        else:
            exchange.send(b"HTTP/1.1 200 OK\r\n")
            exchange.close()

    server = scripted_server(script)
    with reach(server.url) as peer:
        peer.send(1)
        with pytest.raises(ConnectionLost, match="during the answer"):
            peer.send(2, repeatable=True)
    assert len(server.requests) == 2


def test_many_threads(scripted_server: Serve) -> None:
    """B075: each call gets what belongs to it, though the server sets cookies with each answer."""
    threads, calls = 20, 50

    def script(exchange: Exchange) -> None:
        params = exchange.request.json()["params"]
        headers = [("Set-Cookie", f"token={params['token']}")]
        message = {"jsonrpc": "2.0", "id": exchange.request.id, "result": params}
        if exchange.request.id % 2:
            exchange.json(message, headers=headers)
        else:
            exchange.sse(headers)
            exchange.event(message)
            exchange.last_chunk()

    server = scripted_server(script)
    with reach(server.url) as peer:
        answers: dict[int, Any] = {}
        peer.inbox.on_message = lambda message: answers.__setitem__(message["id"], message["result"]["token"])

        def work(thread: int) -> None:
            for ident in range(thread * calls, (thread + 1) * calls):
                peer.send(ident, params={"token": f"token-{ident}"})

        for worker in [Background(lambda thread=thread: work(thread)) for thread in range(threads)]:  # type: ignore[misc]
            worker.result()
    assert answers == {ident: f"token-{ident}" for ident in range(threads * calls)}
    assert all(request.header("Cookie") is None for request in server.requests)
    assert server.connections <= threads


def test_no_deadline(scripted_server: Serve) -> None:
    server = scripted_server(by_json)
    with reach(server.url, connect_timeout=None) as peer:
        assert peer.send(1, seconds=Deadline(None))["id"] == 1


# ----------------------------------------------------------------------------------------------------- broken, refused
def test_a_server_that_goes_away_and_comes_back(scripted_server: Serve) -> None:
    """B007: refused is an error of that call; a later call finds the new server."""
    server = scripted_server(by_json)
    with reach(server.url) as peer:
        peer.send(1)
        server.close()
        with within(1), pytest.raises(ConnectFailed, match="cannot connect: Connection refused") as caught:
            peer.send(2)
        assert isinstance(caught.value, OSError)
        assert caught.value.__cause__ is not None
        again = scripted_server(by_json, port=server.port)
        assert peer.send(3)["id"] == 3
    assert [request.id for request in again.requests] == [3]


def resets(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "100")])
    exchange.send(b"{")
    exchange.reset()


def test_a_reset_in_the_middle_of_an_answer(scripted_server: Serve) -> None:
    """B007, for an answer that had begun."""
    with reach(scripted_server(resets, by_json).url) as peer:
        with within(1), pytest.raises(ConnectionLost):
            peer.send(1)
        assert peer.send(2)["id"] == 2


@pytest.mark.parametrize("noise", [b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\x00" * 100_000])
def test_something_that_is_not_http(scripted_server: Serve, noise: bytes) -> None:
    def script(exchange: Exchange) -> None:
        exchange.send(noise)
        exchange.close()

    with reach(scripted_server(script).url) as peer, within(1), pytest.raises(ConnectionLost):
        peer.send()


def test_a_host_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with reach("http://no-such-host.invalid/mcp") as peer, pytest.raises(ConnectFailed, match="not known"):
        peer.send()


def test_a_host_name_that_is_none() -> None:
    with reach(f"http://{'a' * 64}.invalid/mcp") as peer, pytest.raises(ConnectFailed, match="too long"):
        peer.send()


def test_each_address_of_a_host_is_tried(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        refusing = listener.getsockname()
    server = scripted_server(by_json)
    tcp = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(*tcp, refusing), (*tcp, ("127.0.0.1", server.port))])
    with reach(server.url) as peer:
        assert peer.send()["id"] == 1


def test_an_interrupt_while_connecting(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes through, leaves nothing open, and the transport goes on."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    server = scripted_server(by_json)
    with reach(server.url) as peer:
        with monkeypatch.context() as patch:
            patch.setattr(socket.socket, "connect", interrupted)
            with pytest.raises(KeyboardInterrupt):
                peer.send(1)
        assert peer.send(2)["id"] == 2


def address(port: int, scheme: str = "http") -> str:
    return f"{scheme}://127.0.0.1:{port}/mcp"


def silent_listener() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@contextmanager
def deaf_listener() -> Iterator[int]:
    """A port whose queue is full: who connects to it waits."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
        for sock in waiting:
            sock.close()


def test_the_limit_for_connecting() -> None:
    failing = pytest.raises(ConnectFailed, match="cannot connect")
    with deaf_listener() as port, reach(address(port), connect_timeout=0.3) as peer, within(0.3), failing:
        peer.send()


def test_the_deadline_while_connecting() -> None:
    failing = pytest.raises(RequestTimeout)
    with deaf_listener() as port, reach(address(port), connect_timeout=None) as peer, within(0.3), failing:
        peer.send(seconds=0.3)


# ---------------------------------------------------------------------------------------------------------------- TLS
def test_an_unknown_certificate(scripted_server: Serve) -> None:
    """B079: an error of connecting, at once; nothing was sent."""
    server = scripted_server(by_json, tls=True)
    failing = pytest.raises(ConnectFailed, match=r"cannot connect: .*certificate verify failed")
    with reach(server.url, verify=True) as peer, within(1), failing:
        peer.send(repeatable=True)
    assert server.requests == []
    assert server.connections == 1


def test_tls_to_a_server_without() -> None:
    with silent_listener() as listener, reach(address(listener.getsockname()[1], "https")) as peer:
        call = Background(peer.send)
        sock, _ = listener.accept()
        with sock:
            assert sock.recv(1)
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            with within(1), pytest.raises(ConnectFailed, match="cannot connect"):
                call.result()


def test_no_verification(scripted_server: Serve) -> None:
    server = scripted_server(by_json, tls=True)
    with reach(server.url, verify=False) as peer, pytest.warns(match="Unverified HTTPS request"):
        assert peer.send()["id"] == 1


def test_a_client_certificate(scripted_server: Serve) -> None:
    """B078: it reaches the handshake."""
    server = scripted_server(by_json, tls=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    context.load_verify_locations(CERTIFICATE)
    context.verify_mode = ssl.CERT_REQUIRED
    server._tls = context
    with reach(server.url, cert=(str(CERTIFICATE), str(KEY))) as peer:
        assert peer.send()["id"] == 1
    with reach(server.url) as peer, pytest.raises(SynclineError):
        peer.send()


# ------------------------------------------------------------------------------------------------------------- closing
def waits_in_json(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "100")])
    exchange.send(b"{")
    exchange.hold()


def waits_in_a_stream(exchange: Exchange) -> None:
    exchange.sse()
    exchange.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}})
    exchange.hold()


def waits_in_a_stream_without_keep_alive(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "text/event-stream"), ("Connection", "close")])
    exchange.send(b": hello\n\n")
    exchange.hold()


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "script",
    [Exchange.hold, waits_in_json, waits_in_a_stream, waits_in_a_stream_without_keep_alive],
    ids=lambda script: script.__name__,
)
def test_closing_ends_a_blocked_call(scripted_server: Serve, script: Script, tls: bool) -> None:
    """B072: wherever it waits; neither the call nor close() hangs."""
    server = scripted_server(script, tls=tls)
    peer = Peer(server.url)
    call = Background(lambda: peer.send(5))
    server.wait_until(lambda: len(server.requests) == 1)
    with within(1):
        peer.close()
        with pytest.raises(ConnectionClosed) as caught:
            call.result()
    assert (caught.value.server, caught.value.request_id) == ("host/mcp", 5)
    server.wait_until(lambda: server.open_connections == 0)
    with pytest.raises(ConnectionClosed):
        peer.send()


def test_closing_ends_a_call_that_connects() -> None:
    with deaf_listener() as port:
        peer = Peer(address(port), connect_timeout=None)
        call = Background(peer.send)
        _until(lambda: bool(peer.transport._exchanges._running))
        with within(1):
            peer.close()
            with pytest.raises(ConnectionClosed):
                call.result()


def test_closing_ends_a_call_in_the_tls_handshake() -> None:
    with silent_listener() as listener:
        peer = Peer(address(listener.getsockname()[1], "https"), connect_timeout=None)
        call = Background(peer.send)
        sock, _ = listener.accept()
        with sock:
            assert sock.recv(1)  # the client's hello: it now waits for ours
            with within(1):
                peer.close()
                with pytest.raises(ConnectionClosed):
                    call.result()


def test_closing_just_before_the_tls_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_listener() as listener:
        peer = Peer(address(listener.getsockname()[1], "https"))
        duplicate = socket.socket.dup

        def closing_first(sock: socket.socket) -> socket.socket:
            peer.close()
            return duplicate(sock)

        monkeypatch.setattr(socket.socket, "dup", closing_first)
        with pytest.raises(ConnectionClosed):
            peer.send()


def test_closing_ends_a_call_whose_request_nobody_reads() -> None:
    with silent_listener() as listener:
        peer = Peer(address(listener.getsockname()[1]))
        call = Background(lambda: peer.send(params={"text": "x" * (64 << 20)}))
        sock, _ = listener.accept()
        with sock:
            assert sock.recv(1)
            with within(1):
                peer.close()
                with pytest.raises(ConnectionClosed):
                    call.result()


def test_closing_before_anything_was_sent(scripted_server: Serve) -> None:
    server = scripted_server(by_json)
    peer = Peer(server.url)
    peer.close()
    assert server.connections == 0
    with pytest.raises(ConnectionClosed):
        peer.send()


def test_the_session_is_ended_though_calls_are_blocked(scripted_server: Serve) -> None:
    """B051: the DELETE goes out on a connection of its own."""

    def script(exchange: Exchange) -> None:
        if exchange.request.id == 1:
            exchange.json({"jsonrpc": "2.0", "id": 1, "result": {}}, headers=[("Mcp-Session-Id", "s")])
        elif exchange.request.method == "DELETE":
            exchange.respond(200)
        else:
            exchange.hold()

    server = scripted_server(script)
    peer = Peer(server.url)
    peer.send(1)
    call = Background(lambda: peer.send(2))
    server.wait_until(lambda: len(server.requests) == 2)
    peer.close()
    with pytest.raises(ConnectionClosed):
        call.result()
    assert server.requests[-1].method == "DELETE"


def test_an_exchange_that_is_over_cannot_end_the_next_one(scripted_server: Serve) -> None:
    """B073: once its connection is back in the pool, an exchange has no hold on it."""
    gate = threading.Event()

    def script(exchange: Exchange) -> None:
        if exchange.request.id == 2:
            exchange.wait(gate)
        by_json(exchange)

    server = scripted_server(script)
    with reach(server.url) as peer:
        table = peer.transport._exchanges
        begun: list[http_exchange.Exchange] = []
        begin = table.begin

        def spy(*args: Any, **options: Any) -> http_exchange.Exchange:
            begun.append(begin(*args, **options))
            return begun[-1]

        table.begin = spy  # type: ignore[method-assign]
        peer.send(1)
        call = Background(lambda: peer.send(2))
        server.wait_until(lambda: len(server.requests) == 2)
        with table.lock:
            begun[0].abort()
        gate.set()
        assert call.result()["id"] == 2
    assert server.connections == 1


# ---------------------------------------------------------------------------------------------------------------- fork
def test_a_disowned_transport_says_nothing(scripted_server: Serve) -> None:
    """In a forked child: no DELETE, no further call, and its descriptors are closed."""
    server = scripted_server(
        lambda exchange: exchange.json({"jsonrpc": "2.0", "id": 1, "result": {}}, 200, [("Mcp-Session-Id", "s")])
    )
    peer = Peer(server.url)
    peer.send(1)
    peer.transport.disown()
    server.wait_until(lambda: server.open_connections == 0)
    with pytest.raises(ForkedConnection):
        peer.send(2)
    peer.close()
    assert len(server.requests) == 1


def _until(true: Callable[[], bool]) -> None:
    deadline = Deadline(SOON)
    while not true():
        assert not deadline.expired
        threading.Event().wait(0.01)

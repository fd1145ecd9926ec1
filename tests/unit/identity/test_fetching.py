"""Requests of a flow: as they are, within their limits, and ended from outside."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from syncline.auth.steps import Fetch
from syncline.auth.urls import Reach
from syncline.concurrency.deadline import Deadline
from syncline.config import HttpServer
from syncline.errors import ConnectionClosed, DiscoveryFailed, RefreshFailed, RequestTimeout
from syncline.identity.fetching import Fetcher
from syncline.transport.http_exchange import Exchanges
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import CERTIFICATE, Exchange, ScriptedServer

Scripted = Callable[..., ScriptedServer]


def fetcher(exchanges: Exchanges | None = None, **options: Any) -> Fetcher:
    defaults = {"url": "http://127.0.0.1:9/mcp", "verify": str(CERTIFICATE), "proxies": {}, "trust_env": False}
    return Fetcher(HttpServer(**{**defaults, **options}), Reach(frozenset({"loopback"})), exchanges)


def on_the_internet() -> Fetcher:
    """For a server that is there."""
    return Fetcher(HttpServer("https://notes.test/mcp", proxies={}, trust_env=False), Reach(frozenset({"public"})))


def get(url: str, **changes: Any) -> Fetch:
    return Fetch("GET", url, {"Accept": "application/json"}, **changes)


def drip(exchange: Exchange) -> None:
    """A byte now and then, for ever: no single read takes long."""
    exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "100000")])
    gate = threading.Event()
    while not exchange.gone():
        exchange.send(b" ")
        exchange.server.check()
        gate.wait(0.02)
    exchange.close()


def test_an_answer(scripted_server: Scripted) -> None:
    """Names of headers are small; cookies are not kept; nothing is added that would say who we are."""

    def answer(exchange: Exchange) -> None:
        exchange.respond(400, b"{}", "application/json", [("DPoP-Nonce", "n"), ("Set-Cookie", "a=b")])

    server, ours = scripted_server(answer), fetcher()
    post = Fetch("POST", server.url, {"Content-Type": "x/y"}, b"body")
    _, fetched = (ours.fetch(post, Deadline(20)) for _ in range(2))
    assert (fetched.status, fetched.body, fetched.headers["dpop-nonce"]) == (400, b"{}", "n")
    for request in server.requests:
        assert request.body == b"body"
        assert request.header("Content-Type") == "x/y"
        assert request.header("Cookie") is request.header("Authorization") is None


@pytest.mark.parametrize(
    "body",
    [b" " * 1001, gzip.compress(b" " * 50_000_000)],
    ids=["long", "compressed"],
)
def test_an_answer_over_the_limit(scripted_server: Scripted, body: bytes) -> None:
    coding = [("Content-Encoding", "gzip")] if body[:1] == b"\x1f" else []
    server = scripted_server(lambda exchange: exchange.respond(200, body, "application/json", coding))
    with pytest.raises(DiscoveryFailed, match=f"no answer from {server.origin}/mcp: the answer has over 1000 bytes"):
        fetcher().fetch(get(server.url + "?planted=1", limit=1000), Deadline(20))


def test_an_answer_that_drips(scripted_server: Scripted) -> None:
    """The limit is for all of it; what a token endpoint was sent may have been taken, and can be tried later."""
    server = scripted_server(drip)
    with pytest.raises(DiscoveryFailed, match="no answer within") as caught:
        fetcher().fetch(get(server.url, timeout=0.3), Deadline(20))
    assert caught.value.passing
    with pytest.raises(RefreshFailed, match="try again later"):
        fetcher().fetch(Fetch("POST", server.url, {}, b"", timeout=0.3), Deadline(20))


def test_what_is_no_http_is_not_repeated(scripted_server: Scripted) -> None:
    """It could be long, and steer a terminal."""

    def answer(exchange: Exchange) -> None:
        exchange.send(b"\x1b[2J" + b"x" * 10_000 + b"\r\n\r\n")
        exchange.close()

    with pytest.raises(DiscoveryFailed, match="no answer from") as caught:
        fetcher().fetch(get(scripted_server(answer).url), Deadline(20))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_the_deadline_of_the_call_comes_first(scripted_server: Scripted) -> None:
    server = scripted_server(drip)
    with pytest.raises(RequestTimeout):
        fetcher().fetch(get(server.url), Deadline(0.3))


def test_closing_ends_what_is_under_way_and_what_comes_later(scripted_server: Scripted) -> None:
    server, exchanges = scripted_server(lambda exchange: exchange.hold()), Exchanges()
    ours = fetcher(exchanges)
    fetching = Background(lambda: ours.fetch(get(server.url), Deadline(20)))
    server.wait_until(lambda: bool(server.requests))
    exchanges.abort()
    for fetch in (fetching.result, lambda: ours.fetch(get(server.url), Deadline(20))):
        with pytest.raises(ConnectionClosed):
            fetch()
    assert len(server.requests) == 1


def test_addresses_are_looked_at_before_anything_connects(scripted_server: Scripted) -> None:
    """A name that resolves to this machine, for a server that is not on it."""
    server = scripted_server()
    ours = on_the_internet()
    with pytest.raises(DiscoveryFailed, match="nothing is sent there"):
        ours.fetch(get(server.url), Deadline(20))
    assert server.connections == 0


class Names:
    """A directory of names that says something else each time that it is asked, and what was connected to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, *answers: list[str]) -> None:
        self.asked = 0
        self.dialled: list[str] = []
        look_up, names = socket.getaddrinfo, self

        def answer(host: Any, port: Any, *args: Any, **options: Any) -> Any:
            if host != name:
                return look_up(host, port, *args, **options)
            addresses = answers[min(self.asked, len(answers) - 1)]
            self.asked += 1
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

        class Watched(socket.socket):
            def connect(self, address: Any) -> None:
                names.dialled.append(address[0])
                if not address[0].startswith("127."):
                    raise OSError("nobody is there")
                super().connect(address)

        monkeypatch.setattr(socket, "getaddrinfo", answer)
        monkeypatch.setattr(socket, "socket", Watched)


def test_a_name_is_looked_up_once_for_each_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Z-5: what would be said the next time, when the addresses have been looked at, does not matter."""
    names = Names(monkeypatch, "rebound.test", ["93.184.216.34", "93.184.216.35"], ["127.0.0.1"])
    ours = on_the_internet()
    with pytest.raises(DiscoveryFailed, match=r"no answer from https://rebound\.test"):
        ours.fetch(get("https://rebound.test/token"), Deadline(20))
    assert (names.asked, names.dialled) == (1, ["93.184.216.34", "93.184.216.35"])


@pytest.mark.parametrize(
    ("addresses", "reason", "dialled"),
    [
        (["10.0.0.7"], "nothing is sent there: it leads to a private address", 1),
        (["127.0.0.1", "::1"], "nothing is sent there: it leads to a loopback address", 1),
        (["10.0.0.7", "93.184.216.34"], "no answer from", 2),
        (["93.184.216.34", "127.0.0.1"], "no answer from", 2),
    ],
)
def test_a_name_that_leads_to_somewhere_else_by_now(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str], reason: str, dialled: int
) -> None:
    """Z-5: each connection is looked at, and goes to none of the addresses that are where the server is not."""
    names = Names(monkeypatch, "rebound.test", ["93.184.216.34"], addresses)
    ours = on_the_internet()
    for expected in ("no answer from", reason):
        with pytest.raises(DiscoveryFailed, match=expected):
            ours.fetch(get("https://rebound.test/token"), Deadline(20))
    assert names.dialled == ["93.184.216.34"] * dialled


def test_the_name_is_still_the_one_that_is_meant(scripted_server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Z-5: the certificate has to be for it, and the server is told of it."""
    server = scripted_server(lambda exchange: exchange.respond(200, b"{}"), tls=True)
    port = server.origin.rpartition(":")[2]
    Names(monkeypatch, "localhost", ["127.0.0.1"])
    assert fetcher().fetch(get(f"https://localhost:{port}/x"), Deadline(20)).status == 200
    assert server.requests[0].header("Host") == f"localhost:{port}"
    Names(monkeypatch, "rebound.test", ["127.0.0.1"])
    with pytest.raises(DiscoveryFailed, match="certificate"):
        fetcher().fetch(get(f"https://rebound.test:{port}/x"), Deadline(20))
    assert len(server.requests) == 1


def test_headers_of_the_server_go_to_its_origin_only(
    scripted_server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4.18: a gateway may want them for all that is behind it; those that prove who we are, and those of a request, are not theirs."""
    server, other = (scripted_server(lambda exchange: exchange.respond(200, b"{}")) for _ in range(2))
    monkeypatch.setenv("TENANT", "planted-tenant")
    headers = {"X-Key": "planted", "authorization": "Basic planted", "ACCEPT": "text/html", "Mcp-Session-Id": "planted"}
    ours = fetcher(url=server.url, headers=headers, env_headers={"X-Tenant": "TENANT"})
    for place in (server.origin, other.origin):
        ours.fetch(get(f"{place}/.well-known/oauth-protected-resource"), Deadline(20))
    (request,) = server.requests
    assert (request.header("X-Key"), request.header("X-Tenant")) == ("planted", "planted-tenant")
    assert [value for name, value in request.headers if name.lower() == "accept"] == ["application/json"]
    assert request.header("Authorization") is request.header("Mcp-Session-Id") is None
    assert "planted" not in str(other.requests[0].headers)


def test_a_proxy_looks_names_up_by_itself(scripted_server: Scripted) -> None:
    proxy = scripted_server(lambda exchange: exchange.respond(200, b"{}"))
    ours = fetcher(proxies={"http": proxy.origin})
    assert ours.fetch(get("http://nowhere.invalid/x"), Deadline(20)).status == 200
    assert proxy.requests[0].path == "http://nowhere.invalid/x"


def test_certificates_are_checked(scripted_server: Scripted) -> None:
    server = scripted_server(lambda exchange: exchange.respond(200, b"{}"), tls=True)
    assert fetcher().fetch(get(server.url), Deadline(20)).status == 200
    with pytest.raises(DiscoveryFailed, match="certificate"):
        fetcher(verify=True).fetch(get(server.url), Deadline(20))
    assert len(server.requests) == 1

"""Streamable HTTP: headers, credentials, cookies, redirects, proxies, certificates, sessions that are handed in."""

from __future__ import annotations

import logging
import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase, HTTPDigestAuth
from requests.exceptions import InvalidSchema

from syncline.errors import (
    ConfigError,
    ConnectFailed,
    ConnectionClosed,
    HttpStatusError,
    LocalProtocolError,
    RequestTimeout,
)
from tests.fixtures.http import OPTIONS, SOON, Peer, reach, within
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import CERTIFICATE, Exchange, Script, ScriptedServer

Serve = Callable[..., ScriptedServer]


def by_json(exchange: Exchange) -> None:
    exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "result": {}})


class Token(AuthBase):
    """Credentials that differ with each request."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        self.count += 1
        request.headers["Authorization"] = f"Bearer planted-{self.count}"
        return request


# ------------------------------------------------------------------------------------------------------------ headers
@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
def test_whose_header_counts(
    scripted_server: Serve, monkeypatch: pytest.MonkeyPatch, auth: AuthBase | None, caplog: pytest.LogCaptureFixture
) -> None:
    """Configured headers < those from the environment < those of the message < what the protocol fixes, in any case."""
    monkeypatch.setenv("FROM_ENV", "  env ")
    configured = {
        "X-Own": "own",
        "x-both": "own",
        "ACCEPT": "text/html",
        "content-type": "text/plain",
        "mcp-method": "own",
        "Mcp-Session-Id": "secret",
        "Content-Length": "1",
        "User-Agent": "agent/1",
        "host": "virtual.example",
    }
    server = scripted_server(by_json)
    with reach(server.url, headers=configured, env_headers={"X-Both": "FROM_ENV"}, auth=auth) as peer:
        peer.send(headers={"Mcp-Method": "tools/call"})
    (request,) = server.requests
    names = [name.lower() for name, _ in request.headers]
    assert len(names) == len(set(names))
    found = {name: request.header(name) for name in ("x-own", "x-both", "mcp-method", "user-agent", "host")}
    assert found == {
        "x-own": "own",
        "x-both": "env",
        "mcp-method": "tools/call",
        "user-agent": "agent/1",
        "host": "virtual.example",
    }
    assert request.header("Accept") == "text/event-stream, application/json"
    assert request.header("Content-Type") == "application/json"
    assert request.header("Mcp-Session-Id") is None
    assert "secret" not in caplog.text


def test_headers_from_variables_that_are_not_set(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSET", raising=False)
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("BLANK", "  ")
    server = scripted_server(by_json)
    with reach(server.url, env_headers={"X-A": "UNSET", "X-B": "EMPTY", "X-C": "BLANK"}) as peer:
        peer.send()
    assert not [name for name, _ in server.requests[0].headers if name.startswith("X-")]


@pytest.mark.parametrize(
    ("name", "value"),
    [("X Space", "v"), ("", "v"), ("X:Y", "v"), ("X-Bad", "a\r\nEvil: 1"), ("X-Bad", "a\0"), ("X-Bad", "日本")],
)
def test_headers_that_cannot_be_sent(
    scripted_server: Serve, caplog: pytest.LogCaptureFixture, name: str, value: str
) -> None:
    """They are left out with a warning that does not show the value; the rest stays."""
    server = scripted_server(by_json)
    with reach(server.url, headers={name: value, "X-Good": "good"}) as peer:
        peer.send()
    (request,) = server.requests
    assert request.header("X-Good") == "good"
    assert request.header("Evil") is None
    assert repr(name) in caplog.text
    assert value not in caplog.text or len(value) == 1


@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
@pytest.mark.parametrize("value", ["a\r\nEvil: 1", "a\nEvil: 1", "a\rEvil: 1"])
def test_no_message_can_add_a_header(scripted_server: Serve, value: str, auth: AuthBase | None) -> None:
    """B069: the last line of defence; values are encoded long before."""
    server = scripted_server(by_json)
    with reach(server.url, auth=auth) as peer, pytest.raises(LocalProtocolError):
        peer.send(headers={"Mcp-Name": value})
    assert server.requests == []


def test_latin_1_is_allowed(scripted_server: Serve) -> None:
    server = scripted_server(by_json)
    with reach(server.url, headers={"X-Name": "Zoë"}) as peer:
        peer.send()
    assert server.requests[0].header("X-Name") == "Zoë"


def test_credentials_are_asked_for_each_request(scripted_server: Serve) -> None:
    """What the authentication object says wins over a configured header."""
    server = scripted_server(by_json)
    with reach(server.url, headers={"Authorization": "Basic own"}, auth=Token()) as peer:
        peer.send(1)
        peer.send(2)
    assert [request.header("Authorization") for request in server.requests] == ["Bearer planted-1", "Bearer planted-2"]
    assert server.connections == 1


def test_credentials_that_need_a_second_request(scripted_server: Serve) -> None:
    """An authentication object may answer a challenge by itself."""

    def script(exchange: Exchange) -> None:
        if exchange.request.header("Authorization"):
            by_json(exchange)
        else:
            challenge = 'Digest realm="r", nonce="n", qop="auth", algorithm=MD5'
            exchange.respond(401, "who?", "text/plain", [("WWW-Authenticate", challenge)])

    server = scripted_server(script)
    with reach(server.url, auth=HTTPDigestAuth("user", "planted")) as peer:
        assert peer.send()["result"] == {}
    assert len(server.requests) == 2


def test_credentials_in_the_url(scripted_server: Serve) -> None:
    """They are sent as basic authentication and shown nowhere."""
    server = scripted_server(lambda exchange: exchange.respond(403, "no"))
    with reach(server.url.replace("//", "//user:planted@")) as peer, pytest.raises(HttpStatusError) as caught:
        peer.send()
    assert server.requests[0].header("Authorization") == "Basic dXNlcjpwbGFudGVk"
    assert caught.value.url == server.url
    assert "planted" not in repr(vars(caught.value))


@pytest.mark.parametrize("how", ["header", "auth", "session", "nothing"])
def test_netrc_is_never_read(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str) -> None:
    """B076: an entry there must not take the place of a token, nor be sent without being asked for."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login netrc password netrc\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    choices: dict[str, dict[str, Any]] = {
        "header": {"headers": {"Authorization": "Bearer planted-own"}},
        "auth": {"auth": Token()},
        "session": {"headers": {"Authorization": "Bearer planted-own"}, "session": requests.Session()},
        "nothing": {},
    }
    options = choices[how]
    server = scripted_server(by_json)
    with reach(server.url, trust_env=True, **options) as peer:
        peer.send()
    sent = server.requests[0].header("Authorization")
    assert sent == {"auth": "Bearer planted-1", "nothing": None}.get(how, "Bearer planted-own")


@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
def test_cookies_are_refused(scripted_server: Serve, auth: AuthBase | None) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "result": {}}
    server = scripted_server(lambda exchange: exchange.json(message, headers=[("Set-Cookie", "a=b; Path=/")]))
    with reach(server.url, auth=auth) as peer:
        peer.send(1)
        peer.send(1)
    assert server.requests[1].header("Cookie") is None


@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
def test_a_query_is_sent_and_not_logged(
    scripted_server: Serve, caplog: pytest.LogCaptureFixture, auth: AuthBase | None
) -> None:
    caplog.set_level(logging.DEBUG)
    server = scripted_server(by_json, Exchange.close)
    with reach(server.url + "?token=secret", auth=auth) as peer:
        peer.send(1)
        with pytest.raises(OSError, match="broke") as caught:
            peer.send(2)
    assert server.requests[0].path == "/mcp?token=secret"
    assert "secret" not in caplog.text + str(caught.value)


# ---------------------------------------------------------------------------------------------------------- redirects
def redirect(to: str, status: int = 307, body: str = "moved") -> Script:
    return lambda exchange: exchange.respond(status, body, "text/plain", [("Location", to)])


@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin(scripted_server: Serve, status: int, auth: AuthBase | None) -> None:
    """B062: method, body and headers arrive there, on the same connection."""
    server = scripted_server(redirect("/mcp/?a=1", status), by_json)
    with reach(server.url, headers={"X-Own": "own"}, auth=auth) as peer:
        assert peer.send(5, headers={"Mcp-Method": "tools/call"})["id"] == 5
    first, second = server.requests
    assert (second.method, second.path, second.body) == ("POST", "/mcp/?a=1", first.body)
    credentials = ("authorization",)
    assert [header for header in second.headers if header[0].lower() not in credentials] == [
        header for header in first.headers if header[0].lower() not in credentials
    ]
    assert server.connections == 1


def test_redirects_without_end(scripted_server: Serve) -> None:
    server = scripted_server(lambda exchange: redirect(exchange.request.path + "x")(exchange))
    with reach(server.url) as peer, pytest.raises(HttpStatusError, match="more than 5 redirects"):
        peer.send()
    assert len(server.requests) == 6


@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_elsewhere(scripted_server: Serve, status: int, auth: AuthBase | None) -> None:
    """B063: nothing is sent there, and the error names the target."""
    other = scripted_server(by_json)
    server = scripted_server(redirect(other.url, status))
    with reach(server.url, auth=auth) as peer, pytest.raises(HttpStatusError) as caught:
        peer.send()
    assert other.url in str(caught.value)
    assert caught.value.status == status
    assert other.connections == 0


def test_a_redirect_from_tls_to_none(scripted_server: Serve) -> None:
    """B063: the same host without TLS is another origin."""
    server = scripted_server(
        lambda exchange: redirect(exchange.server.url.replace("https", "http"), 308)(exchange), tls=True
    )
    with reach(server.url) as peer, pytest.raises(HttpStatusError, match="another origin"):
        peer.send()


# ------------------------------------------------------------------------------------------------------------- proxies
def tunnels(exchange: Exchange) -> None:
    """A proxy that does what CONNECT asks."""
    assert exchange.request.method == "CONNECT"
    host, _, port = exchange.request.path.rpartition(":")
    with socket.create_connection((host, int(port))) as target:
        exchange.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
        pairs = {exchange.sock: target, target: exchange.sock}
        while True:
            for source in select.select(list(pairs), [], [], 0.02)[0]:
                data = source.recv(65536)
                if not data:
                    exchange.close()
                    return
                pairs[source].sendall(data)
            exchange.server.check()


def test_a_forwarding_proxy(scripted_server: Serve) -> None:
    """B078: plain HTTP goes to the proxy with the whole address, and with its credentials."""
    proxy = scripted_server(by_json)
    with reach("http://mcp.invalid/mcp?a=1", proxies={"http": proxy.origin.replace("//", "//me:planted@")}) as peer:
        peer.send(1)
        peer.send(2)
    (first, _) = proxy.requests
    assert (first.method, first.path, first.header("Host")) == ("POST", "http://mcp.invalid/mcp?a=1", "mcp.invalid")
    assert first.header("Proxy-Authorization") == "Basic bWU6cGxhbnRlZA=="
    assert proxy.connections == 1


def test_a_tunnel(scripted_server: Serve) -> None:
    """B078: TLS goes through a tunnel, which is kept."""
    server, proxy = scripted_server(by_json, tls=True), scripted_server(tunnels)
    with reach(server.url, proxies={"https": proxy.origin}) as peer:
        assert peer.send(1)["id"] == 1
        assert peer.send(2)["id"] == 2
    assert server.connections == proxy.connections == 1
    assert proxy.requests[0].header("Mcp-Session-Id") is None


def test_a_proxy_that_refuses_to_tunnel(scripted_server: Serve) -> None:
    server, proxy = scripted_server(by_json, tls=True), scripted_server(lambda exchange: exchange.respond(403))
    with reach(server.url, proxies={"https": proxy.origin}) as peer, pytest.raises(ConnectFailed, match="403"):
        peer.send()


def test_a_proxy_that_is_not_there(scripted_server: Serve) -> None:
    with scripted_server() as gone:
        proxy = gone.origin
    failing = pytest.raises(ConnectFailed, match="cannot connect to the proxy: Connection refused")
    with reach("http://mcp.invalid/mcp", proxies={"http": proxy}) as peer, failing:
        peer.send()


@pytest.mark.parametrize("where", ["proxy", "server"])
def test_deadline_and_close_reach_through_a_tunnel(scripted_server: Serve, where: str) -> None:
    """B072, through a proxy: a proxy that never answers, or a server behind it."""
    server = scripted_server(Exchange.hold, tls=True)
    proxy = scripted_server(tunnels if where == "server" else Exchange.hold)
    waiting = server if where == "server" else proxy
    peer = Peer(server.url, proxies={"https": proxy.origin})
    with within(0.5), pytest.raises(RequestTimeout):
        peer.send(1, seconds=0.5)
    waiting.wait_until(lambda: len(waiting.requests) == 1)
    call = Background(lambda: peer.send(2))
    waiting.wait_until(lambda: len(waiting.requests) == 2)
    with within(1):
        peer.close()
        with pytest.raises(ConnectionClosed):
            call.result()


def test_proxies_from_the_environment(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked up once, when the transport is made, where the environment is trusted."""
    proxy = scripted_server(by_json)
    server = scripted_server(by_json)
    for name in ("no_proxy", "NO_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy.origin)
    with reach(server.url, trust_env=True, proxies=None) as peer:
        monkeypatch.delenv("http_proxy")
        peer.send()
    assert (len(proxy.requests), len(server.requests)) == (1, 0)
    monkeypatch.setenv("http_proxy", proxy.origin)
    options: list[dict[str, Any]] = [{"trust_env": False, "proxies": None}, {"trust_env": True, "proxies": {}}]
    for option in options:
        with reach(server.url, **option) as peer:
            peer.send()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with reach(server.url, trust_env=True, proxies=None) as peer:
        peer.send()
    assert (len(proxy.requests), len(server.requests)) == (1, 3)


# -------------------------------------------------------------------------------------------------------- certificates
def test_a_ca_bundle_from_the_environment(scripted_server: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = scripted_server(by_json, tls=True)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(CERTIFICATE))
    with reach(server.url, verify=True, trust_env=True) as peer:
        assert peer.send()["id"] == 1
    with reach(server.url, verify=True, trust_env=False) as peer, pytest.raises(ConnectFailed):
        peer.send()


@pytest.mark.parametrize("auth", [None, Token()], ids=["direct", "whole"])
@pytest.mark.parametrize("options", [{"verify": "/no/such/bundle"}, {"cert": "/no/such/certificate"}])
def test_certificates_that_are_not_there(options: dict[str, Any], auth: AuthBase | None) -> None:
    with pytest.raises(ConfigError, match="/no/such/"):
        Peer("https://127.0.0.1:1/mcp", auth=auth, **options)


def test_a_proxy_that_requests_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise InvalidSchema("Missing dependencies for SOCKS support.")  # as without PySocks, which may be there

    monkeypatch.setattr("requests.adapters.SOCKSProxyManager", missing)
    with pytest.raises(ConfigError, match="SOCKS"):
        Peer("http://mcp.invalid/mcp", proxies={"http": "socks5://127.0.0.1:1"})


def test_a_url_that_requests_refuses() -> None:
    with pytest.raises(ConfigError) as caught:
        Peer("http://user:secret@*.invalid/mcp?token=secret")
    assert "secret" not in str(caught.value)


# --------------------------------------------------------------------------------------------- a session handed in
def test_a_session_with_settings_of_its_own(scripted_server: Serve) -> None:
    """Headers, authentication, parameters, cookies and hooks are used, and the session is not closed with the client."""
    session = requests.Session()
    session.headers["X-Own"] = "own"
    session.auth = ("user", "planted")
    session.params = {"key": "value"}
    session.cookies.set("c", "d")
    session.hooks["response"].append(lambda response, **_: seen.append(response.status_code))
    seen: list[int] = []
    server = scripted_server(by_json)
    with reach(server.url, session=session) as peer:
        peer.send(1)
        peer.send(2)
    (first, _) = server.requests
    assert first.path == "/mcp?key=value"
    assert first.header("X-Own") == "own"
    assert first.header("Authorization") == "Basic dXNlcjpwbGFudGVk"
    assert first.header("Cookie") == "c=d"
    assert first.header("Content-Type") == "application/json"
    assert seen == [200, 200]
    assert server.connections == 1
    assert session.get(server.origin, timeout=10).status_code == 200
    session.close()


@pytest.mark.parametrize("how", ["json", "sse"])
def test_a_hook_that_reads_the_answer(scripted_server: Serve, how: str) -> None:
    """What it has read is still there for the client."""
    session = requests.Session()
    texts: list[str] = []
    session.hooks["response"].append(lambda response, **_: texts.append(response.text))

    def script(exchange: Exchange) -> None:
        message = {"jsonrpc": "2.0", "id": exchange.request.id, "result": {}}
        if how == "json":
            exchange.json(message)
        else:
            exchange.sse()
            exchange.event(message)
            exchange.last_chunk()

    with session, reach(scripted_server(script).url, session=session) as peer:
        assert peer.send(3)["id"] == 3
    assert '"id": 3' in texts[0]


def test_the_deadline_and_close_hold_for_a_session_handed_in(scripted_server: Serve) -> None:
    server = scripted_server(Exchange.hold)
    with requests.Session() as session:
        peer = Peer(server.url, session=session)
        with within(0.4), pytest.raises(RequestTimeout):
            peer.send(seconds=0.4)
        call = Background(peer.send)
        server.wait_until(lambda: len(server.requests) == 2)
        with within(1):
            peer.close()
            with pytest.raises(ConnectionClosed):
                call.result()


def test_a_session_that_is_in_use_already(scripted_server: Serve) -> None:
    """Its open connections are not ours: a request that is lost on one may have run."""

    def script(exchange: Exchange) -> None:
        if exchange.request.id == 2:
            exchange.close()
        else:
            by_json(exchange)

    server = scripted_server(script)
    with requests.Session() as session:
        session.post(server.url, json={"id": 0}, timeout=10)
        with reach(server.url, session=session) as peer:
            assert peer.send(1)["id"] == 1
            with pytest.raises(OSError, match="may have run"):
                peer.send(2)
    assert server.connections == 1


class FromAddress(HTTPAdapter):
    """An adapter that a user made."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, source_address=("127.0.0.2", 0), **options)


def test_a_session_with_an_adapter_of_its_own(scripted_server: Serve) -> None:
    """Its settings hold, and so does the deadline; the session also goes on serving its owner."""
    sources: list[str] = []

    def script(exchange: Exchange) -> None:
        sources.append(exchange.sock.getpeername()[0])
        if exchange.request.id == 2:
            exchange.hold()
        by_json(exchange)

    server = scripted_server(script)
    with requests.Session() as session:
        session.mount("http://", FromAddress())
        with reach(server.url, session=session) as peer:
            assert peer.send(1)["id"] == 1
            with within(0.4), pytest.raises(RequestTimeout):
                peer.send(2, seconds=0.4)
        assert session.get(server.url, timeout=10).status_code == 200
    assert sources == ["127.0.0.2"] * 3


@pytest.mark.parametrize("first", ["owner", "transport"])
def test_stale_connections_that_somebody_else_opened(scripted_server: Serve, first: str) -> None:
    """One that is used and found dead says that all others are, whoever opened them; the owner's own are not touched."""
    both, dead = threading.Barrier(2), set[int]()

    def script(exchange: Exchange) -> None:
        if exchange.request.connection in dead:
            exchange.close()
            return
        if not dead:
            both.wait(SOON)
        by_json(exchange)

    def twice(send: Callable[[int], object]) -> None:
        for call in [Background(lambda ident=ident: send(ident)) for ident in (1, 2)]:  # type: ignore[misc]
            call.result()

    server = scripted_server(script)
    with requests.Session() as session, reach(server.url, session=session) as peer:

        def by_owner(ident: int) -> None:
            assert session.post(server.url, json={"id": ident}, timeout=SOON).json()["id"] == ident

        twice(by_owner if first == "owner" else Peer(server.url, session=session).send)
        twice(peer.send)
        assert server.connections == 2
        dead.update((1, 2))
        assert peer.send(3, repeatable=True)["id"] == 3
        assert server.connections == 3
        for ident in range(4, 8):
            by_owner(ident)
        assert server.connections == 3


def test_a_session_that_keeps_any_number_of_connections(scripted_server: Serve) -> None:
    server = scripted_server(by_json)
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(pool_maxsize=0))
        with reach(server.url, session=session) as peer:
            for ident in range(3):
                peer.send(ident)
    assert server.connections == 1


def test_a_session_that_has_only_so_many_connections(scripted_server: Serve) -> None:
    """No call waits for another one to give its connection back: that may be a stream."""
    everybody = threading.Barrier(3)

    def script(exchange: Exchange) -> None:
        everybody.wait(SOON)
        by_json(exchange)

    server = scripted_server(script)
    with requests.Session() as session:
        session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=1, pool_block=True))
        with reach(server.url, session=session) as peer:
            calls = [Background(lambda ident=ident: peer.send(ident)) for ident in range(3)]  # type: ignore[misc]
            assert [call.result()["id"] for call in calls] == [0, 1, 2]
            server.wait_until(lambda: server.open_connections == 1)


def test_the_options_of_these_tests_are_those_of_the_transport() -> None:
    """Nothing is left to a default that a caller could not see."""
    assert set(OPTIONS) == {
        *("headers", "env_headers", "auth", "verify", "cert", "proxies", "trust_env"),
        *("connect_timeout", "message_bytes", "event_bytes", "name"),
    }

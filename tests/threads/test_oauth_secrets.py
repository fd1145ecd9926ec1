"""OAuth keeps its secrets: nothing of them is shown, and nobody gets them whom they are not for."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import syncline
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.memory import MemoryStore
from syncline.concurrency.deadline import Deadline
from tests.fixtures.guarded import guarded
from tests.fixtures.logins import Someone, oauth
from tests.fixtures.managers import LEGACY, MODERN
from tools.fakeserver.authorization import RESOURCE, AuthorizationServer, ProtectedMcpServer
from tools.fakeserver.scripted import Exchange, ScriptedServer

Protected = Callable[..., ProtectedMcpServer]
Authority = Callable[..., AuthorizationServer]
Scripted = Callable[..., ScriptedServer]


def chain(error: BaseException | None) -> str:
    """An error and all that it comes from, as people see it."""
    return "" if error is None else f"{error!s} {error!r} {vars(error)} " + chain(error.__cause__ or error.__context__)


# Shown to nobody


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_nothing_secret_is_shown(
    protected: Protected, someone: Someone, tmp_path: Path, caplog: pytest.LogCaptureFixture, era: str
) -> None:
    """Logs at their most talkative, those of the libraries below too; the trace; what objects and errors say."""
    caplog.set_level(logging.DEBUG)
    server = protected(versions=[era], needs={"add": "write"})
    (issuer,) = server.authorities
    issuer.secret = "planted-client-secret"
    auth = oauth(visit=someone, store=FileStore(tmp_path / "store"))
    trace = tmp_path / "trace.jsonl"
    shown = []
    with syncline.connect(server.url, auth=auth, trace=trace) as client:
        client.call_tool("echo", {"text": "x"})
        issuer.end_access()
        client.call_tool("echo", {"text": "x"})
        for trouble in (503, lambda exchange: exchange.json({"error": "invalid_request"}, 400)):
            issuer.end_access()
            issuer.arm("token", trouble)
            with pytest.raises(syncline.AuthError) as caught:
                client.call_tool("echo", {"text": "x"})
            shown.append(chain(caught.value))
        issuer.granted = "read"
        with pytest.raises(syncline.AuthError) as caught:
            client.call_tool("add", {"a": 1, "b": 2})
        shown += [chain(caught.value), repr(client)]
        login = auth.at(syncline.HttpServer(server.url))
        shown += map(repr, (auth, auth.tokens(server.url), login, login._wishes, *someone.visits))
        shown += map(str, (auth, login, *someone.visits))
    someone.join()
    everything = "\n".join([*shown, *someone.pages, caplog.text, trace.read_text()])
    assert "planted" not in everything
    assert "tools/call" in trace.read_text()
    states = [visit["state"] for visit in issuer.visits]
    verifiers = [form["code_verifier"] for form in issuer.forms if "code_verifier" in form]
    assert states
    assert verifiers
    assert not [secret for secret in states + verifiers if secret in everything]


# Sent to nobody else


def test_a_redirect_to_another_origin(protected: Protected, someone: Someone, scripted_server: Scripted) -> None:
    server, other = protected(versions=[MODERN]), scripted_server()
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        server.arm(307, headers=[("Location", other.url)], method="tools/call")
        with pytest.raises(syncline.HttpStatusError, match="another origin"):
            client.call_tool("echo", {"text": "x"})
    assert other.connections == 0


def test_an_endpoint_of_another_origin(protected: Protected, someone: Someone, scripted_server: Scripted) -> None:
    """HTTP+SSE: the server says where messages go."""
    other, issuer = scripted_server(), protected().authorities[0]
    tokens: list[str] = []

    def stream(exchange: Exchange) -> None:
        token = (exchange.request.header("Authorization") or "").removeprefix("Bearer ")
        if exchange.request.path.startswith(RESOURCE):
            exchange.json({"resource": server.url, "authorization_servers": [issuer.issuer]})
        elif issuer.accepted(token) is None:
            exchange.respond(401)
        else:
            tokens.append(token)
            exchange.sse()
            exchange.event(other.url, name="endpoint")
            exchange.hold()

    server = scripted_server(stream)
    config = syncline.HttpServer(server.url, transport="sse")
    with pytest.raises(syncline.SynclineError, match="another origin"):
        syncline.connect(config, auth=oauth(visit=someone))
    assert tokens
    assert other.connections == 0


def test_headers_of_a_server_stay_at_its_origin(protected: Protected, someone: Someone) -> None:
    """4.18: they are there when it is asked who gives tokens; an authorization server elsewhere sees nothing of them."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    config = syncline.HttpServer(server.url, headers={"X-Key": "planted"})
    store = MemoryStore()
    with syncline.connect(config, auth=oauth(visit=someone, store=store)) as client:
        issuer.end_access()
        client.call_tool("echo", {"text": "x"})
    syncline.logout(config, store=store)
    assert any(request.path.startswith(RESOURCE) for request in server.requests)
    assert {request.header("X-Key") for request in server.requests} == {"planted"}
    assert {request.header("X-Key") for request in issuer.requests} == {None}


def test_headers_of_a_server_that_gives_its_tokens_itself() -> None:
    """4.18: the same origin, so that it sees them there too."""
    with guarded() as guard:
        config = syncline.HttpServer(guard.url, headers={"X-Key": "key", "Authorization": "Basic cGxhbnRlZA=="})
        auth = syncline.ClientCredentials("app", "planted-secret")
        syncline.connect(config, auth=auth, protocol_version=LEGACY).close()
    (asked,) = guard.asked
    assert (asked.headers["X-Key"], asked.basic) == ("key", "app:planted-secret")


def test_two_servers_share_nothing(protected: Protected, someone: Someone) -> None:
    """T-4, Z-10, 1.17: one object for both of them, and one authorization server."""
    first = protected(versions=[MODERN])
    second = protected(first.authorities[0], versions=[MODERN])
    auth = oauth(visit=someone)
    for server in (first, second):
        assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=auth).text == "x"
    assert not set(first.sent()[1:]) & set(second.sent()[1:])
    assert [visit["resource"] for visit in first.authorities[0].visits] == [first.url, second.url]


@pytest.mark.parametrize(
    ("member", "place"),
    [
        ("authorization_endpoint", "https://10.0.0.1/authorize"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "http://login.test/authorize"),
        ("registration_endpoint", "https://169.254.169.254/register"),
        ("registration_endpoint", "https://rebound.test/register"),
        ("token_endpoint", "http://[fd00::1]/token"),
        ("token_endpoint", "http://token.test/token"),
        ("token_endpoint", "file:///etc/passwd"),
    ],
)
def test_metadata_that_leads_elsewhere(
    protected: Protected, someone: Someone, monkeypatch: pytest.MonkeyPatch, member: str, place: str
) -> None:
    """To a private network, to this scheme or that one, in the clear: nothing is sent there, and nobody."""
    looked_up = socket.getaddrinfo
    dialled: list[Any] = []

    def lookup(host: Any, *args: Any, **options: Any) -> Any:
        if host == "rebound.test":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 443))]
        assert host in ("127.0.0.1", None), host
        return looked_up(host, *args, **options)

    class Watched(socket.socket):
        def connect(self, address: Any) -> None:
            dialled.append(address)
            super().connect(address)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(socket, "socket", Watched)
    server = protected(versions=[MODERN])
    server.authorities[0].document[member] = place
    with pytest.raises(syncline.DiscoveryFailed) as caught:
        syncline.connect(server.url, auth=oauth(visit=someone))
    assert any(
        word in str(caught.value) for word in ("address", "neither https nor http", "http, and not on this machine")
    )
    assert {address[0] for address in dialled} == {"127.0.0.1"}
    if member == "authorization_endpoint":
        assert not someone.visits


def test_a_server_whose_name_leads_elsewhere_once_it_has_answered(
    protected: Protected, someone: Someone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Z-5: it is where it has answered, and leads us nowhere that only its name leads to."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.issuer = "https://10.0.0.7/idp"
    looked_up = socket.getaddrinfo
    answers = ["127.0.0.1"]

    def lookup(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host != "notes.localhost":
            return looked_up(host, port, *args, **options)
        address, answers[0] = answers[0], "10.0.0.7"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    named = server.url.replace("127.0.0.1", "notes.localhost")
    server.document["resource"] = named
    with pytest.raises(syncline.DiscoveryFailed, match="it leads to a private address"):
        syncline.connect(named, auth=oauth(visit=someone))
    assert issuer.counts["metadata"] == 0


def test_an_authorization_server_in_a_private_network(protected: Protected, someone: Someone) -> None:
    """The server may name it; it is not asked."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.issuer = "https://10.0.0.1/idp"
    with pytest.raises(syncline.DiscoveryFailed, match="it leads to a private address"):
        syncline.connect(server.url, auth=oauth(visit=someone))
    assert issuer.counts["metadata"] == 0


def test_an_authorization_server_that_the_user_trusts(
    protected: Protected, someone: Someone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be anywhere, and spoken to in the clear."""
    looked_up = socket.getaddrinfo

    def lookup(host: Any, *args: Any, **options: Any) -> Any:
        return looked_up("127.0.0.1" if host == "login.test" else host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    place = issuer.issuer.replace("127.0.0.1", "login.test")
    issuer.document = json.loads(json.dumps(issuer.document).replace(issuer.issuer, place))
    issuer.issuer = place
    with pytest.raises(syncline.DiscoveryFailed, match="it is http, and not on this machine"):
        syncline.connect(server.url, auth=oauth(visit=someone))
    auth = oauth(visit=someone, trusted_hosts=["login.test"])
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=auth).text == "x"
    assert someone.visits[0].url.startswith(f"{place}/authorize")


def test_metadata_of_another_resource(protected: Protected, someone: Someone) -> None:
    """B145: nobody is registered, nobody is asked."""
    server = protected(versions=[MODERN])
    server.document["resource"] = "https://bank.example/mcp"
    with pytest.raises(syncline.DiscoveryFailed, match="tokens for it would be asked for in another name"):
        syncline.connect(server.url, auth=oauth(visit=someone))
    assert server.authorities[0].counts["metadata"] == 0
    assert not someone.visits


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://mcp.test/mcp", "use its https URL"),
        ("https://user:planted@mcp.test/mcp", "https://mcp.test/mcp: it has a user name"),
        ("http://127.1/mcp", "no proper host"),
    ],
    ids=["in the clear", "user", "odd"],
)
def test_servers_that_no_tokens_are_sent_to(url: str, problem: str) -> None:
    with pytest.raises(syncline.ConfigError, match=problem) as caught:
        oauth().at(syncline.HttpServer(url)).log_in(Deadline(20))
    assert "planted" not in chain(caught.value)

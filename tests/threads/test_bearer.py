"""Bearer tokens: with each request, taken again when they are refused, never shown."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

import syncline
from syncline import BearerToken, HttpServer
from tests.fixtures.managers import LEGACY, MODERN, Manage
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

Http = Callable[..., McpHttpServer]
CHALLENGE = [("WWW-Authenticate", "Bearer")]


def sent(server: McpHttpServer) -> list[str | None]:
    return [request.header("Authorization") for request in server.requests]


class Turning:
    """A token that is another one each time, or whenever it is told."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)

    def __call__(self) -> str:
        return self.tokens[0]


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_it_goes_with_every_request(http_server: Http, era: str) -> None:
    """The stream and the end of the session among them; other headers of that name give way."""
    server = http_server(versions=[era])

    def listen(exchange: Exchange) -> None:
        exchange.sse()
        exchange.hold()

    server.arm(listen, http="GET")
    config = HttpServer(server.url, headers={"authorization": "Basic other"})
    with syncline.connect(config, auth=BearerToken("planted-1"), on_notification=lambda _: None) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        if era == LEGACY:
            server.wait_until(lambda: any(request.method == "GET" for request in server.requests))
    expected = {"POST", "GET", "DELETE"} if era == LEGACY else {"POST"}
    assert {request.method for request in server.requests} == expected
    assert set(sent(server)) == {"Bearer planted-1"}


def test_a_token_that_was_refused_is_replaced_once(http_server: Http) -> None:
    """A refused request was not processed, so that not even a tool call is at risk."""
    server, tokens = http_server(versions=[MODERN]), Turning("planted-old", "planted-new")

    def refuse(exchange: Exchange) -> None:
        tokens.tokens.pop(0)
        exchange.respond(401, headers=CHALLENGE)

    with syncline.connect(HttpServer(server.url, auth=BearerToken(tokens))) as client:
        server.arm(refuse, method="tools/call")
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    calls = server.calls("tools/call")
    assert [call.header("Authorization") for call in calls] == ["Bearer planted-old", "Bearer planted-new"]
    assert server.catalogue.executions["echo"] == 1


@pytest.mark.parametrize(
    ("token", "status", "requests"),
    [
        ("planted", 401, 1),
        (Turning("planted"), 401, 1),
        (Turning("planted"), 403, 1),
        (map("planted-{}".format, range(12)).__next__, 401, 3),
    ],
    ids=["fixed", "unchanged", "forbidden", "always another"],
)
def test_the_same_token_is_not_sent_again(
    http_server: Http, token: str | Callable[[], str], status: int, requests: int
) -> None:
    server = http_server(versions=[MODERN])
    with syncline.connect(server.url, auth=BearerToken(token)) as client:
        server.arm(status, 9, method="tools/call", headers=CHALLENGE)
        with pytest.raises(syncline.SynclineError) as caught:
            client.call_tool("echo", {"text": "x"})
        assert getattr(caught.value, "status", None) == status
        assert isinstance(caught.value, syncline.AuthRequired) == (status == 401)
        assert len(server.calls("tools/call")) == requests


def test_what_the_function_raises_is_raised_by_the_call(http_server: Http) -> None:
    """Before anything is sent; and closing does not fail by it."""
    server, tokens = http_server(versions=[LEGACY]), Turning("planted")
    with syncline.connect(server.url, auth=BearerToken(tokens)) as client:
        tokens.tokens.clear()
        with pytest.raises(IndexError):
            client.call_tool("echo", {"text": "x"})
        tokens.tokens.append("two words")
        with pytest.raises(syncline.ConfigError, match="characters that no token has"):
            client.call_tool("echo", {"text": "x"})
        tokens.tokens.append("planted")
    assert len(server.calls("tools/call")) == 0
    server.wait_until(lambda: server.open_connections == 0)


@pytest.mark.parametrize(
    ("token", "problem"), [("", "is empty"), ("a b", "no token has"), ("ä", "no token has"), (7, "not int")]
)
def test_what_is_no_token(token: str, problem: str) -> None:
    with pytest.raises(syncline.ConfigError, match=problem) as caught:
        BearerToken(token)
    assert str(token) not in str(caught.value) or not token


def test_it_is_never_shown() -> None:
    token = BearerToken("planted-1")
    assert "planted" not in repr(token) + str(token) + repr(HttpServer("https://a.example", auth=token))
    assert pickle.loads(pickle.dumps(token)) == token
    assert token == BearerToken("planted-1") != BearerToken("planted-2")
    assert len({token, BearerToken("planted-1")}) == 1


def test_a_manager_keeps_the_connection_while_the_token_is_the_same(http_server: Http, manage: Manage) -> None:
    server = http_server(versions=[MODERN])
    servers = manage({"s": HttpServer(server.url, auth=BearerToken("planted-a"))})
    client = servers["s"]
    servers.reconcile({"s": HttpServer(server.url, auth=BearerToken("planted-a"))})
    assert servers["s"] is client
    servers.reconcile({"s": HttpServer(server.url, auth=BearerToken("planted-b"))})
    assert servers["s"] is not client
    assert set(sent(server)) == {"Bearer planted-a", "Bearer planted-b"}

"""Streams that are cut and servers that come back, through the whole client."""

from __future__ import annotations

import threading

import pytest

import syncline
from syncline.protocol import trail
from tests.fixtures.http import SOON
from tools.fakeserver.scripted import Exchange

from .shared import ERAS, HANDSHAKE, STATELESS, Http


def primed(exchange: Exchange) -> None:
    """An id to resume from, and the end."""
    exchange.sse()
    exchange.event("", ident="1")
    exchange.last_chunk()


def test_a_server_that_opens_and_drops_is_given_up(http_server: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    """B033: a typed error after a few attempts; it may have run, so nobody sends it again."""
    monkeypatch.setattr(trail, "FIRST", 0.0)
    server = http_server(versions=[HANDSHAKE])
    with syncline.connect(server.url) as client:
        server.arm(primed, method="tools/call")
        server.arm(primed, 100, http="GET")
        with pytest.raises(syncline.OutcomeUnknown, match="5 attempts to resume it brought nothing new"):
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert len(server.calls("tools/call")) == 2
    assert len([request for request in server.requests if request.method == "GET"]) == 5


@pytest.mark.parametrize("status", [405, 404, 406, 400, 501])
def test_a_server_without_a_listening_stream(http_server: Http, status: int) -> None:
    """B035, B036: it is asked once, and calls go on."""
    server = http_server(versions=[HANDSHAKE], sessions=False)
    server.arm(status, 100, http="GET")
    with syncline.connect(server.url) as client:
        with pytest.raises(syncline.StreamError, match="offers no stream"):
            client.subscribe(tools=True)
        assert client.call_tool("echo", {"text": "after"}).text == "after"
        assert client.findings == []
    assert len([request for request in server.requests if request.method == "GET"]) == 1


def test_a_server_that_finds_no_stream_in_any_session(http_server: Http) -> None:
    """B036: 404 is also what an expired session looks like, so a new one is tried, once."""
    server = http_server(versions=[HANDSHAKE])
    server.arm(404, 100, http="GET")
    with syncline.connect(server.url) as client:
        with pytest.raises(syncline.StreamError, match="offers no stream"):
            client.subscribe(tools=True)
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert len(server.calls("initialize")) == 2


def test_sessions_that_expire_leave_nothing_behind(http_server: Http) -> None:
    """B041: the stream of each is closed, on both sides, and one thread listens."""
    server = http_server(versions=[HANDSHAKE])
    opened = threading.Semaphore(0)

    def listen(exchange: Exchange) -> None:
        exchange.sse()
        opened.release()
        exchange.hold()

    server.arm(listen, 1000, http="GET")
    with syncline.connect(server.url) as client, client.subscribe(tools=True):
        for number in range(30):
            assert opened.acquire(timeout=SOON)
            server.expire_sessions()
            assert client.call_tool("echo", {"text": str(number)}).text == str(number)
        assert opened.acquire(timeout=SOON)
        server.wait_until(lambda: server.open_connections <= 3)
        names = [thread.name for thread in threading.enumerate() if thread.name.endswith(":listen")]
        assert len(names) == 1
    assert len(server.calls("initialize")) == 31
    assert server.catalogue.executions["echo"] == 30


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("status", [502, 503, 404])
def test_one_bad_answer_is_not_the_end(http_server: Http, era: str, status: int) -> None:
    """B044: that call fails and the next one just works."""
    server = http_server(versions=[era], sessions=False)
    with syncline.connect(server.url, protocol_version=era) as client:
        assert client.call_tool("echo", {"text": "before"}).text == "before"
        for _ in range(3):
            server.arm(status, method="tools/call")
            with pytest.raises(syncline.HttpStatusError, match=f"HTTP {status}"):
                client.call_tool("echo", {"text": "x"})
            assert client.call_tool("echo", {"text": "after"}).text == "after"
        assert not client.is_closed
    assert len(server.calls("initialize")) == (0 if era == STATELESS else 1)

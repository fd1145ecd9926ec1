"""Requests that stay open; the test plays the server."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

import syncline
from syncline.errors import StreamOverflow
from syncline.protocol.events import Notification, Reply
from syncline.protocol.revisions import META
from syncline.session.channel import Channel
from tests.fixtures.partner import SOON, Meet, Partner
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

SUBSCRIPTION = META + "subscriptionId"


class Taken:
    """What a channel handed on."""

    def __init__(self) -> None:
        self.items: queue.SimpleQueue[Notification | Reply] = queue.SimpleQueue()

    def next(self) -> Notification | Reply:
        return self.items.get(timeout=SOON)


def subscribe(client: syncline.Client, taken: Taken, **options: Any) -> Channel:
    connection = client._session.connection
    put = taken.items.put
    return Channel(connection, "acme/listen", {"what": 1}, on_notice=put, on_end=put, **options)


def notice(partner: Partner, channel_id: object, number: int) -> None:
    partner.send(method="notifications/acme", params={"number": number, "_meta": {SUBSCRIPTION: channel_id}})


def number(item: Notification | Reply) -> object:
    assert isinstance(item, Notification), item
    return item.params["number"]


def test_notifications_are_told_apart_by_their_stream(meet: Meet) -> None:
    """STD-6, SUB-5: two streams on one channel, and traffic that belongs to neither."""
    seen: list[str] = []
    client, partner = meet("2026-07-28", on_notification=lambda notification: seen.append(notification.method))
    first, second = Taken(), Taken()
    one, two = subscribe(client, first), subscribe(client, second)
    assert {partner.next("acme/listen")["id"], partner.next("acme/listen")["id"]} == {one.id, two.id}

    notice(partner, two.id, 2)
    notice(partner, one.id, 1)
    notice(partner, 999, 3)
    assert (number(first.next()), number(second.next())) == (1, 2)
    assert [finding.code for finding in client.findings] == ["foreign-subscription"]
    one.close()
    two.close()
    assert first.items.empty()


@pytest.mark.parametrize("ending", ["result", "cancelled", "error"])
def test_the_server_ends_it(meet: Meet, ending: str) -> None:
    """SUB-7: by a result, by a cancellation, or by an error; what came before is handed on first."""
    client, partner = meet("2026-07-28")
    taken = Taken()
    channel = subscribe(client, taken)
    request = partner.next("acme/listen")
    notice(partner, channel.id, 1)
    if ending == "result":
        partner.answer(request, {"resultType": "complete"})
    elif ending == "cancelled":
        partner.send(method="notifications/cancelled", params={"requestId": channel.id})
    else:
        partner.answer(request, error={"code": -32603, "message": "gone"})

    assert number(taken.next()) == 1
    end = taken.next()
    assert isinstance(end, Reply)
    assert (end.error is not None) is (ending == "error")
    channel.close()


def test_closing_it_tells_the_server_and_hands_on_nothing_more(meet: Meet) -> None:
    client, partner = meet("2026-07-28")
    taken = Taken()
    channel = subscribe(client, taken)
    partner.next("acme/listen")
    channel.close()

    assert partner.next("notifications/cancelled")["params"]["requestId"] == channel.id
    notice(partner, channel.id, 1)
    channel.close()
    assert taken.items.empty()
    assert client.findings == []


def test_losing_the_connection_ends_it(meet: Meet) -> None:
    client, partner = meet("2026-07-28")
    taken = Taken()
    subscribe(client, taken)
    partner.next("acme/listen")
    partner.peer.close()

    end = taken.next()
    assert isinstance(end, Reply)
    assert isinstance(end.error, syncline.ConnectionLost)
    assert "partner: acme/listen" in str(end.error)


def test_silence_ends_it_and_notifications_do_not_let_it_come_to_that(meet: Meet) -> None:
    client, partner = meet("2026-07-28")
    taken = Taken()
    channel = subscribe(client, taken, silence=0.4)
    partner.next("acme/listen")
    for turn in range(4):
        assert not threading.Event().wait(0.2)
        notice(partner, channel.id, turn)
        assert number(taken.next()) == turn

    end = taken.next()
    assert isinstance(end, Reply)
    assert isinstance(end.error, syncline.RequestTimeout)
    assert partner.next("notifications/cancelled")["params"]["requestId"] == channel.id


def test_one_that_is_not_read_takes_down_only_itself(meet: Meet) -> None:
    client, partner = meet("2026-07-28")
    gate = threading.Event()
    ends: queue.SimpleQueue[Reply] = queue.SimpleQueue()

    def hold(_: Notification) -> None:
        gate.wait(SOON)

    stuck = Channel(
        client._session.connection,
        "acme/listen",
        {},
        on_notice=hold,
        on_end=ends.put,
        waiting=10,
    )
    partner.next("acme/listen")
    taken = Taken()
    other = subscribe(client, taken)
    partner.next("acme/listen")
    for turn in range(20):
        notice(partner, stuck.id, turn)
    notice(partner, other.id, 7)

    assert number(taken.next()) == 7
    gate.set()
    assert isinstance(ends.get(timeout=SOON).error, StreamOverflow)
    other.close()


# Over HTTP


def streaming(server: McpHttpServer, script: Callable[[Exchange], None]) -> None:
    server.arm(script, 1, method="acme/listen")


def event(exchange: Exchange, turn: int) -> None:
    meta = {SUBSCRIPTION: exchange.request.id}
    exchange.event({"jsonrpc": "2.0", "method": "notifications/acme", "params": {"number": turn, "_meta": meta}})


def test_over_http_it_reads_its_own_answer(http_server: Callable[..., McpHttpServer]) -> None:
    server = http_server(versions=["2026-07-28"])

    def script(exchange: Exchange) -> None:
        exchange.sse()
        for turn in range(3):
            event(exchange, turn)
        exchange.event({"jsonrpc": "2.0", "id": exchange.request.id, "result": {"resultType": "complete"}})
        exchange.last_chunk()

    streaming(server, script)
    with syncline.connect(server.url) as client:
        taken = Taken()
        channel = subscribe(client, taken)
        assert [number(taken.next()) for _ in range(3)] == [0, 1, 2]
        end = taken.next()
        assert isinstance(end, Reply)
        assert end.error is None
        assert client.call_tool("echo", {"text": "meanwhile"}).text == "meanwhile"
        channel.close()


def test_a_consumer_that_fails_ends_it_with_an_error(
    http_server: Callable[..., McpHttpServer], caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody waits for ever for what a thread that has died would have brought; the request is not left open."""
    server = http_server(versions=["2026-07-28"])

    def script(exchange: Exchange) -> None:
        exchange.sse()
        event(exchange, 0)
        exchange.hold()

    streaming(server, script)
    with syncline.connect(server.url) as client:
        taken = Taken()

        def fail(_notice: Notification) -> None:
            raise ZeroDivisionError("bad luck")

        connection = client._session.connection
        channel = Channel(connection, "acme/listen", {}, on_notice=fail, on_end=taken.items.put)
        end = taken.next()
        assert isinstance(end, Reply)
        assert "bad luck" in str(end.error)
        assert isinstance(end.error, syncline.StreamError)
        assert connection.engine.pending == {}
        channel.close()
    assert "bad luck" in caplog.text


def test_over_http_closing_it_hangs_up_at_once(http_server: Callable[..., McpHttpServer]) -> None:
    """MH-6: no message; the server sees the connection go while it is silent."""
    server = http_server(versions=["2026-07-28"])
    gone = threading.Event()

    def script(exchange: Exchange) -> None:
        exchange.sse()
        event(exchange, 1)
        exchange.hold()
        gone.set()

    streaming(server, script)
    with syncline.connect(server.url) as client:
        taken = Taken()
        channel = subscribe(client, taken)
        assert number(taken.next()) == 1
        channel.close()
        assert gone.wait(SOON)
        assert taken.items.empty()
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert server.calls("notifications/cancelled") == []


@pytest.mark.parametrize("cut", ["clean", "reset"])
def test_over_http_a_drop_ends_it_with_an_error(http_server: Callable[..., McpHttpServer], cut: str) -> None:
    server = http_server(versions=["2026-07-28"])

    def script(exchange: Exchange) -> None:
        exchange.sse()
        event(exchange, 1)
        exchange.reset() if cut == "reset" else exchange.close()

    streaming(server, script)
    with syncline.connect(server.url) as client:
        taken = Taken()
        subscribe(client, taken)
        items = [taken.next()]
        while not isinstance(items[-1], Reply):
            items.append(taken.next())
        assert items[-1].error is not None

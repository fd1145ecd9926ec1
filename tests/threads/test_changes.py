"""Being told of changes, in both eras and over both kinds of transports."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

import syncline
from syncline.concurrency.deadline import Deadline
from syncline.protocol.revisions import META
from syncline.streams import change_sources
from syncline.streams.changes import Changes
from syncline.streams.wanted import Change
from tests.fixtures.partner import SOON, Background, Meet, Partner
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

Http = Callable[..., McpHttpServer]
MODERN, LEGACY = "2026-07-28", "2025-11-25"
SUBSCRIPTION = META + "subscriptionId"


def acknowledge(partner: Partner, request: dict[str, Any], accepted: object = None) -> None:
    notifications = request["params"]["notifications"] if accepted is None else accepted
    meta = {SUBSCRIPTION: request["id"]}
    partner.send(
        method="notifications/subscriptions/acknowledged", params={"notifications": notifications, "_meta": meta}
    )


def subscribe(client: syncline.Client, partner: Partner, **asked: Any) -> tuple[Changes, dict[str, Any]]:
    opening = Background(lambda: client.subscribe(**asked))
    request = partner.next("subscriptions/listen")
    acknowledge(partner, request)
    return opening.result(), request


def tell(partner: Partner, request: dict[str, Any], method: str, **params: object) -> None:
    partner.send(method=f"notifications/{method}", params={**params, "_meta": {SUBSCRIPTION: request["id"]}})


# Stateless era, shared channel


def test_what_was_asked_for_is_asked_for_and_handed_over(meet: Meet) -> None:
    """SUB-1, SUB-5, SUB-9."""
    client, partner = meet(MODERN)
    changes, request = subscribe(client, partner, tools=True, resources=["file:///orders"])
    assert request["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": ["file:///orders"],
    }
    assert (changes.state, changes.accepted) == ("active", request["params"]["notifications"])
    tell(partner, request, "tools/list_changed")
    tell(partner, request, "prompts/list_changed")
    tell(partner, request, "resources/updated", uri="file:///orders/7")

    assert changes.get(SOON) == Change("tools_changed")
    assert changes.get(SOON) == Change("resource_updated", "file:///orders/7")
    assert changes.get(0.05) is None
    changes.close()
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]
    assert (changes.state, list(changes)) == ("closed", [])


def test_it_is_open_only_when_the_server_has_confirmed_it(meet: Meet) -> None:
    """SUB-3, SUB-4: what the server agreed to can be seen."""
    client, partner = meet(MODERN)
    opening = Background(lambda: client.subscribe(tools=True, prompts=True))
    request = partner.next("subscriptions/listen")
    acknowledge(partner, request, {"toolsListChanged": True})
    with opening.result() as changes:
        assert changes.accepted == {"toolsListChanged": True}


@pytest.mark.parametrize("ending", ["error", "result", "lost"])
def test_a_refusal_is_an_error_at_once(meet: Meet, ending: str) -> None:
    """SUB-7."""
    client, partner = meet(MODERN)
    opening = Background(lambda: client.subscribe(tools=True))
    request = partner.next("subscriptions/listen")
    if ending == "error":
        partner.answer(request, error={"code": -32601, "message": "no such thing"})
    elif ending == "result":
        partner.answer(request, {"resultType": "complete"})
    else:
        partner.peer.close()

    with pytest.raises(syncline.SynclineError, match=r"subscriptions/listen|before it confirmed|peer has closed"):
        opening.result()


@pytest.mark.parametrize("ending", ["result", "cancelled", "both"])
def test_a_stream_that_the_server_ends_is_made_again_and_says_so(meet: Meet, ending: str) -> None:
    """SUB-7, SUB-8: both forms of teardown; then everything may have changed."""
    client, partner = meet(MODERN)
    changes, request = subscribe(client, partner, tools=True)
    if ending in ("result", "both"):
        partner.answer(request, {"resultType": "complete", "_meta": {SUBSCRIPTION: request["id"]}})
    if ending in ("cancelled", "both"):
        partner.send(method="notifications/cancelled", params={"requestId": request["id"]})
    again = partner.next("subscriptions/listen")
    acknowledge(partner, again)

    assert again["id"] != request["id"]
    assert again["params"]["notifications"] == request["params"]["notifications"]
    assert changes.get(SOON) == Change("resubscribed")
    tell(partner, again, "tools/list_changed")
    assert changes.get(SOON) == Change("tools_changed")
    assert client.findings == []
    changes.close()


def test_an_error_in_place_of_a_new_stream_ends_it_for_good(meet: Meet) -> None:
    client, partner = meet(MODERN)
    changes, request = subscribe(client, partner, tools=True)
    tell(partner, request, "tools/list_changed")
    partner.answer(request, error={"code": -32603, "message": "enough"})

    events = changes.events(SOON)
    assert next(events) == Change("tools_changed")
    with pytest.raises(syncline.StreamTerminated, match="enough"):
        next(events)
    assert changes.state == "terminated"
    changes.close()


def test_what_waits_is_kept_once(meet: Meet) -> None:
    """However little is read, no more is kept than there are different changes."""
    client, partner = meet(MODERN)
    changes, request = subscribe(client, partner, tools=True, resources=["x:"])
    for _ in range(1000):
        tell(partner, request, "tools/list_changed")
        tell(partner, request, "resources/updated", uri="x:1")
    calling = Background(lambda: client.call_tool("t"))
    partner.serve("tools/call", {"resultType": "complete", "content": []})
    calling.result()  # whatever came before has been taken in

    assert {changes.get(1.0), changes.get(1.0)} == {Change("tools_changed"), Change("resource_updated", "x:1")}
    changes.close()


def test_a_thread_gets_each_one(meet: Meet) -> None:
    client, partner = meet(MODERN)
    changes, request = subscribe(client, partner, tools=True)
    tell(partner, request, "tools/list_changed")
    seen: queue.SimpleQueue[object] = queue.SimpleQueue()
    failures: queue.SimpleQueue[object] = queue.SimpleQueue()

    def handle(change: Change) -> None:
        seen.put(change.kind)
        if seen.qsize() == 2:
            raise ValueError("bad luck")

    worker = changes.run_in_thread(handle, failures.put)
    for _ in range(4):
        tell(partner, request, "tools/list_changed")
    assert [seen.get(timeout=SOON) for _ in range(3)] == ["tools_changed"] * 3
    assert isinstance(failures.get(timeout=SOON), ValueError)
    worker.stop()
    assert worker.join(SOON)


def test_close_lets_a_waiting_consumer_go_and_only_one_may_wait(meet: Meet) -> None:
    client, partner = meet(MODERN)
    changes, _ = subscribe(client, partner, tools=True)
    waiting = Background(lambda: changes.get(SOON))
    while not changes._taking:
        threading.Event().wait(0.01)
    with pytest.raises(syncline.ConcurrencyError):
        changes.get(0)
    changes.close()
    assert waiting.result() is None


def test_closing_the_client_ends_it(meet: Meet) -> None:
    client, partner = meet(MODERN)
    changes, _ = subscribe(client, partner, tools=True)
    waiting = Background(lambda: list(changes))
    client.close()

    with pytest.raises(syncline.StreamTerminated):
        waiting.result()
    changes.close()


def test_closing_the_client_between_two_tries_ends_it_at_once(
    http_server: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_sources, "AGAIN", syncline.Backoff(base=600, cap=600))
    server = http_server(versions=[MODERN])

    def cut(exchange: Exchange) -> None:
        acknowledged(exchange)
        exchange.reset()

    for _ in range(2):
        stream(server, cut)
    with syncline.connect(server.url) as client:
        changes = client.subscribe(tools=True)
        while len(server.calls("subscriptions/listen")) < 2:
            threading.Event().wait(0.01)
        waiting = Background(lambda: list(changes))
    with pytest.raises(syncline.StreamTerminated):
        waiting.result()
    changes.close()


def test_ctrl_c_while_subscribing_leaves_nothing_open(meet: Meet, monkeypatch: pytest.MonkeyPatch) -> None:
    client, partner = meet(MODERN)

    def interrupted(_seconds: float | None) -> Deadline:
        raise KeyboardInterrupt

    monkeypatch.setattr(change_sources, "Deadline", interrupted)
    with pytest.raises(KeyboardInterrupt):
        client.subscribe(tools=True)
    request = partner.next("subscriptions/listen")
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]


def test_a_thread_of_a_stream_that_has_ended_has_ended(meet: Meet) -> None:
    client, partner = meet(MODERN)
    changes, request = subscribe(client, partner, tools=True)
    partner.answer(request, error={"code": -32603, "message": "enough"})
    with pytest.raises(syncline.StreamTerminated, match="enough"):
        changes.get(SOON)
    assert changes.run_in_thread(lambda _change: None).join(SOON)
    changes.close()


def test_kept_lists_are_dropped(meet: Meet) -> None:
    """CCH-6."""
    client, partner = meet(MODERN)
    kept = {"resultType": "complete", "ttlMs": 600_000, "cacheScope": "private", "tools": []}
    changes, request = subscribe(client, partner, tools=True)
    for _ in range(2):
        listing = Background(lambda: client.list_tools(cache=True))
        partner.serve("tools/list", kept)
        listing.result()
        assert client.list_tools(cache=True) == []
        tell(partner, request, "tools/list_changed")
        assert changes.get(SOON) == Change("tools_changed")
    changes.close()


@pytest.mark.parametrize("asked", [{}, {"resources": "file:///x"}])
def test_asking_for_nothing_is_a_mistake(meet: Meet, asked: dict[str, Any]) -> None:
    client, partner = meet(MODERN)
    with pytest.raises(syncline.ConfigError):
        client.subscribe(**asked)
    assert partner.silent()


# Handshake era, shared channel


def test_the_handshake_era_subscribes_to_each_resource(meet: Meet) -> None:
    """RSC-8, CHG-1."""
    client, partner = meet(LEGACY)
    opening = Background(lambda: client.subscribe(tools=True, resources=["x:1", "x:2"]))
    assert [partner.serve("resources/subscribe")["params"]["uri"] for _ in range(2)] == ["x:1", "x:2"]
    changes = opening.result()
    partner.send(method="notifications/tools/list_changed")
    partner.send(method="notifications/prompts/list_changed")
    partner.send(method="notifications/resources/updated", params={"uri": "x:2"})
    partner.send(method="notifications/resources/updated", params={"uri": "y:unplaceable"})

    assert [changes.get(SOON), changes.get(SOON), changes.get(SOON), changes.get(0.05)] == [
        Change("tools_changed"),
        Change("resource_updated", "x:2"),
        Change("resource_updated", "y:unplaceable"),
        None,
    ]
    changes.close()
    assert {partner.serve("resources/unsubscribe")["params"]["uri"] for _ in range(2)} == {"x:1", "x:2"}


def test_closing_the_client_ends_it_in_the_handshake_era(meet: Meet) -> None:
    client, partner = meet(LEGACY)
    changes = client.subscribe(tools=True)
    partner.send(method="notifications/tools/list_changed")
    client.close()

    events = changes.events(SOON)
    assert next(events) == Change("tools_changed")
    with pytest.raises(syncline.StreamTerminated, match="the client was closed"):
        next(events)
    changes.close()


def test_a_server_that_went_away_is_told_of(meet: Meet) -> None:
    client, partner = meet(LEGACY)
    with client.subscribe(tools=True) as changes:
        partner.peer.close()
        assert changes.state == "reconnecting"
        assert isinstance(changes.last_error, syncline.ConnectionLost)


def test_a_resource_of_two_streams_is_unsubscribed_with_the_second(meet: Meet) -> None:
    client, partner = meet(LEGACY)
    streams = []
    for _ in range(2):
        opening = Background(lambda: client.subscribe(resources=["x:1"]))
        partner.serve("resources/subscribe")
        streams.append(opening.result())
    first, second = streams
    first.close()
    assert partner.silent()
    partner.send(method="notifications/resources/updated", params={"uri": "x:1"})
    assert second.get(SOON) == Change("resource_updated", "x:1")
    second.close()
    partner.serve("resources/unsubscribe")


def test_a_resource_that_was_also_subscribed_to_by_hand_stays_so(meet: Meet) -> None:
    client, partner = meet(LEGACY)
    for subscribing in (lambda: client.subscribe_resource("x:1"), lambda: client.subscribe(resources=["x:1"])):
        opening: Background[Any] = Background(subscribing)
        partner.serve("resources/subscribe")
        changes = opening.result()
    changes.close()
    assert partner.silent()


# Over HTTP


def stream(server: McpHttpServer, script: Callable[[Exchange], None]) -> None:
    server.arm(script, 1, method="subscriptions/listen")


def acknowledged(exchange: Exchange) -> None:
    exchange.sse()
    params = {"notifications": {"toolsListChanged": True}, "_meta": {SUBSCRIPTION: exchange.request.id}}
    exchange.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})


def test_a_stream_over_http_survives_being_cut(http_server: Http) -> None:
    """SUB-8, SUB-10: on a connection of its own, made again at once, and once more after a pause."""
    server = http_server(versions=[MODERN])
    held = threading.Event()

    def cut(exchange: Exchange) -> None:
        acknowledged(exchange)
        exchange.reset()

    def hold(exchange: Exchange) -> None:
        acknowledged(exchange)
        params = {"_meta": {SUBSCRIPTION: exchange.request.id}}
        exchange.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params})
        held.set()
        exchange.hold()

    for script in (cut, cut, hold):
        stream(server, script)
    with syncline.connect(server.url) as client, client.subscribe(tools=True) as changes:
        kinds = []
        while "tools_changed" not in kinds:
            change = changes.get(SOON)
            assert change is not None
            kinds.append(change.kind)
        assert set(kinds) == {"resubscribed", "tools_changed"}
        assert held.wait(SOON)
        assert client.call_tool("echo", {"text": "meanwhile"}).text == "meanwhile"
    assert len(server.calls("subscriptions/listen")) == 3


def test_the_get_stream_brings_changes_in_the_handshake_era(http_server: Http) -> None:
    """GET-1, CHG-1."""
    server = http_server(versions=[LEGACY])
    go = threading.Event()

    def listen(exchange: Exchange) -> None:
        exchange.sse()
        exchange.wait(go)
        exchange.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        exchange.hold()

    server.arm(listen, 1, http="GET")
    with syncline.connect(server.url, protocol_version=LEGACY) as client:
        with client.subscribe(tools=True) as changes:
            names = {thread.name for thread in threading.enumerate()}
            assert any(name.endswith(":listen") for name in names)
            go.set()
            assert changes.get(SOON) == Change("tools_changed")
        assert not any(thread.name.endswith(":listen") for thread in threading.enumerate())


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_stream_that_is_silent_for_too_long_is_made_again(http_server: Http, era: str) -> None:
    """``Timeouts.stream_idle``."""
    server = http_server(versions=[era])

    def silent(exchange: Exchange) -> None:
        exchange.sse()
        if era == MODERN:
            params = {"notifications": {"toolsListChanged": True}, "_meta": {SUBSCRIPTION: exchange.request.id}}
            exchange.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
        exchange.hold()

    server.arm(silent, 99, http="GET")
    server.arm(silent, 99, method="subscriptions/listen")
    timeouts = syncline.Timeouts(stream_idle=0.5)
    with syncline.connect(server.url, timeout=timeouts) as client, client.subscribe(tools=True) as changes:
        assert changes.get(SOON) == Change("resubscribed")
        assert "nothing came for 0.5 s" in str(changes.last_error)


def test_the_state_says_that_the_get_stream_is_down(http_server: Http) -> None:
    """Calls go on meanwhile."""
    server = http_server(versions=[LEGACY])
    cut, refuse, back = threading.Event(), threading.Event(), threading.Event()

    def first(exchange: Exchange) -> None:
        exchange.sse()
        exchange.wait(cut)
        exchange.reset()

    def down(exchange: Exchange) -> None:
        refuse.set()
        exchange.wait(back)
        exchange.respond(503)

    def again(exchange: Exchange) -> None:
        exchange.sse()
        exchange.hold()

    for script in (first, down, again):
        server.arm(script, 1, http="GET")
    with syncline.connect(server.url) as client, client.subscribe(tools=True) as changes:
        states = [changes.state]
        cut.set()
        assert refuse.wait(SOON)
        states.append(changes.state)
        assert isinstance(changes.last_error, syncline.ConnectionLost)
        assert client.call_tool("echo", {"text": "meanwhile"}).text == "meanwhile"
        back.set()
        assert changes.get(SOON) == Change("resubscribed")
        states.append(changes.state)
    assert states == ["active", "reconnecting", "active"]


def test_a_server_without_a_stream_says_so(http_server: Http) -> None:
    """B035: 405 means that there is none; it is asked once."""
    server = http_server(versions=[LEGACY])
    with syncline.connect(server.url, protocol_version=LEGACY) as client:
        with pytest.raises(syncline.StreamError, match="offers no stream"):
            client.subscribe(tools=True)
        assert client.call_tool("echo", {"text": "still"}).text == "still"
    assert len([request for request in server.requests if request.method == "GET"]) == 1


def test_an_expired_session_is_renewed_for_the_stream_too(http_server: Http) -> None:
    """SES-5 on the GET stream: the change stream says that something may have been missed, until the stream is there."""
    server = http_server(versions=[LEGACY])
    expire, told = threading.Event(), threading.Event()

    def first(exchange: Exchange) -> None:
        exchange.sse()
        exchange.wait(expire)
        exchange.close()

    def second(exchange: Exchange) -> None:
        exchange.respond(404)

    def third(exchange: Exchange) -> None:
        exchange.wait(told)
        exchange.sse()
        exchange.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        exchange.hold()

    for script in (first, second, third):
        server.arm(script, 1, http="GET")
    with syncline.connect(server.url, protocol_version=LEGACY) as client, client.subscribe(tools=True) as changes:
        server.expire_sessions()
        expire.set()
        assert changes.get(SOON) == Change("resubscribed")
        told.set()
        assert [changes.get(SOON), changes.get(SOON)] == [Change("resubscribed"), Change("tools_changed")]
    assert len(server.calls("initialize")) == 2


def test_a_client_that_reconnects_takes_its_change_streams_along(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])
    go = threading.Event()

    def first(exchange: Exchange) -> None:
        exchange.sse()
        exchange.hold()

    def second(exchange: Exchange) -> None:
        exchange.sse()
        exchange.wait(go)
        exchange.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        exchange.hold()

    for script in (first, second):
        server.arm(script, 1, http="GET")
    with syncline.connect(server.url, protocol_version=LEGACY) as client, client.subscribe(tools=True) as changes:
        client.reconnect()
        assert changes.get(SOON) == Change("resubscribed")
        go.set()
        while (change := changes.get(SOON)) == Change("resubscribed"):
            pass
        assert change == Change("tools_changed")
        assert changes.state == "active"


def test_closing_the_client_ends_the_get_stream(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])

    def listen(exchange: Exchange) -> None:
        exchange.sse()
        exchange.hold()

    server.arm(listen, 1, http="GET")
    with syncline.connect(server.url, protocol_version=LEGACY) as client:
        changes = client.subscribe(tools=True)
        waiting = Background(lambda: list(changes))
    with pytest.raises(syncline.StreamTerminated):
        waiting.result()
    changes.close()


def test_a_thread_of_a_stream_that_is_closed_has_ended(meet: Meet) -> None:
    client, partner = meet(MODERN)
    changes, _ = subscribe(client, partner, tools=True)
    changes.close()
    assert changes.run_in_thread(lambda _change: None).join(SOON)

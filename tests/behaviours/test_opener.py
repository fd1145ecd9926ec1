"""Event streams, each on a connection of its own (section 1)."""

from __future__ import annotations

import functools
import gc
import json
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import syncline
from syncline.config import HttpServer, Timeouts
from syncline.errors import AccessChanged, AuthRequired, StreamOverflow
from syncline.protocol.event_errors import EXTENSION
from syncline.protocol.events import Notification
from syncline.session.channel import Channel
from syncline.subscriptions.access import CredentialChanges, Principal, same
from syncline.subscriptions.opener import StreamOpener
from syncline.subscriptions.stream import NotificationStream
from syncline.transport.memory import MemoryTransport, pair
from tests.fixtures.managers import Manage
from tests.fixtures.partner import Background, Partner
from tools.fakeserver.scripted import Exchange

from .shared import ERAS, EVENTS, SOON, SUBSCRIPTION, A, B, EventServer, Feed, Identity

Servers = Callable[..., EventServer]


def opened(opener: StreamOpener, server: EventServer) -> tuple[NotificationStream, Feed]:
    """A live stream, and the server's side of it."""
    return opener.open("tick"), server.next()


def taken(stream: NotificationStream) -> Notification:
    notification = stream.receive(SOON)
    assert notification is not None
    return notification


def number(stream: NotificationStream) -> object:
    return taken(stream).params["data"]["number"]  # type: ignore[index]


# What an opening is


def test_each_stream_has_a_connection_and_a_handshake_of_its_own(server: EventServer) -> None:
    """1.01"""
    opener = StreamOpener(server.url, protocol_version="2025-11-25")
    with opener.open("tick") as first, opener.open("tick") as second:
        feeds = server.next(), server.next()
        methods = [request.rpc for request in server.requests if request.method == "POST"]
        assert sorted(map(str, methods)) == sorted(["initialize", "notifications/initialized", "events/stream"] * 2)
        assert len({feed.exchange.request.header("Mcp-Session-Id") for feed in feeds}) == 2
        assert first.error is second.error is None


@pytest.mark.parametrize("era", ERAS)
def test_it_outlives_the_client_that_it_was_made_from(event_server: Servers, era: str) -> None:
    """1.02: its server and options are taken over, its connection is not."""
    server = event_server(era)
    with syncline.connect(server.url, protocol_version=era, client_info={"name": "me", "version": "1"}) as client:
        opener = StreamOpener(client)
    del client
    stream, feed = opened(opener, server)
    feed.event(1)
    assert number(stream) == 1
    stream.close()
    starts = server.calls("initialize" if era == "2025-11-25" else "server/discover")
    assert len(starts) == 2
    assert all('"name":"me"' in request.body.decode() for request in starts)


def test_a_transport_needs_a_function_that_makes_it() -> None:
    transport, _ = pair()
    with pytest.raises(syncline.ConfigError, match="function"):
        StreamOpener(transport)  # type: ignore[arg-type]


def test_credentials_are_those_of_the_moment(server: EventServer) -> None:
    """1.03: a token that was rotated between making the opener and opening; 1.17: of the server that was configured."""
    token = ["planted-old"]
    opener = StreamOpener(
        lambda: HttpServer(server.url, headers={"Authorization": f"Bearer {token[0]}"}), principal=lambda: A
    )
    token[0] = "planted-new"
    with opener.open("tick"):
        assert server.next().exchange.request.header("Authorization") == "Bearer planted-new"
    assert {request.header("Authorization") for request in server.requests} == {"Bearer planted-new"}


@pytest.mark.parametrize("give", [None, {"trace": "t-1"}])
def test_the_request_says_what_was_asked_for(server: EventServer, give: dict[str, object] | None) -> None:
    """1.15: `_meta` only where the caller gave some, `arguments` always."""
    with StreamOpener(server.url).open("tick", meta=give):
        expected: dict[str, object] = {"name": "tick", "arguments": {}}
        assert server.next().params == (expected if give is None else {**expected, "_meta": give})


def test_it_declares_elicitation_and_events(server: EventServer) -> None:
    """1.14: the empty form, and what the host declares."""
    with StreamOpener(server.url, capabilities={"extensions": {"acme/x": {}}}, roots=["/srv"]).open("tick"):
        [initialize] = server.calls("initialize")
        declared = initialize.json()["params"]["capabilities"]
        assert declared == {"elicitation": {}, "extensions": {"acme/x": {}, EXTENSION: {}}}


def test_elicitation_is_declined(server: EventServer) -> None:
    """1.13: on the stream's own connection, and nobody is asked."""
    asked: list[object] = []
    stream, feed = opened(StreamOpener(server.url, on_elicitation=asked.append), server)
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    feed.message(id="q-1", method="elicitation/create", params={"message": "who?", "requestedSchema": schema})
    server.wait_until(lambda: any(request.id == "q-1" for request in server._log.requests))
    [answer] = [request.json() for request in server.requests if request.id == "q-1"]
    assert answer["result"] == {"action": "decline"}
    stream.close()
    assert asked == []


@pytest.mark.parametrize("era", ERAS)
def test_a_server_that_offers_no_events_is_not_asked_for_any(event_server: Servers, era: str) -> None:
    """1.32"""
    server = event_server(era, advertised=False)
    with pytest.raises(syncline.LocalProtocolError, match="does not offer events"):
        StreamOpener(server.url).open("tick")
    assert server.streams == 0
    with StreamOpener(server.url, require_advertisement=False).open("tick") as stream:
        server.next().event(1)
        assert number(stream) == 1


def test_opening_is_limited(server: EventServer) -> None:
    """1.11: one limit for connecting and the handshake together."""
    gate = threading.Event()
    server.hold(gate, method="initialize")
    start = time.monotonic()
    with pytest.raises(syncline.RequestTimeout, match="initialize"):
        StreamOpener(server.url, timeout=Timeouts(startup=0.3), protocol_version="2025-11-25").open("tick")
    assert time.monotonic() - start < SOON
    gate.set()


def test_there_must_be_time_left(server: EventServer) -> None:
    """1.11"""
    with pytest.raises(syncline.RequestTimeout, match="no time is left"):
        StreamOpener(server.url).open("tick", timeout=0)
    assert server.requests == []


@pytest.mark.parametrize("era", ERAS)
def test_opening_does_not_wait_for_the_stream(event_server: Servers, era: str) -> None:
    """1.12: the server is silent; open returns, receive waits."""
    server = event_server(era)
    stream, feed = opened(StreamOpener(server.url), server)
    with pytest.raises(syncline.RequestTimeout, match=r"within 0\.05 s"):
        stream.receive(0.05)
    feed.event(1)
    assert number(stream) == 1
    stream.close()


@pytest.mark.parametrize(("status", "error"), [(401, AuthRequired), (404, syncline.SessionExpired)])
def test_nothing_is_tried_again(server: EventServer, status: int, error: type[Exception]) -> None:
    """1.33: neither credentials nor the session are renewed; one request, and its failure."""
    server.instead.append(lambda exchange: exchange.respond(status))
    with StreamOpener(server.url, protocol_version="2025-11-25").open("tick") as stream:
        with pytest.raises(error):
            stream.receive(SOON)
        assert stream.receive(SOON) is None
    assert server.streams == len(server.calls("initialize")) == 1


# For whom it is opened


@pytest.mark.parametrize(
    ("before", "now", "equal"),
    [
        (None, None, True),
        (None, A, False),
        (A, None, False),
        (A, Principal("a", "refreshed"), True),
        (A, B, False),
        (Principal(None, "s"), Principal(None, "s"), True),
        (Principal(None, "s"), Principal(None, "t"), False),
        (Principal("a", "s"), Principal(None, "s"), False),
        (Principal(None, "s"), Principal("a", "s"), False),
        (Principal(("agent", "a")), Principal(("user", "a")), False),
        ("x", "x", True),
        ("x", "y", False),
    ],
)
def test_principals_are_compared(server: EventServer, before: object, now: object, equal: bool) -> None:
    """1.05: by what is stable about them, else by the whole credential."""
    assert same(before, now) is equal
    identity = Identity(before)
    opener = StreamOpener(server.url, principal=identity)
    identity.principal = now
    if equal:
        opener.open("tick").close()
    else:
        with pytest.raises(AccessChanged):
            opener.open("tick")


def test_another_principal_is_refused_before_anything_is_sent(server: EventServer) -> None:
    """1.04"""
    identity = Identity(A)
    opener = StreamOpener(server.url, principal=identity)
    identity.principal = B
    with pytest.raises(AccessChanged, match="account has changed"):
        opener.open("tick")
    assert server.requests == []
    assert "secret" not in repr((A, B, opener))


def test_without_a_principal_nothing_is_compared_or_watched(server: EventServer) -> None:
    """1.06"""
    changes = CredentialChanges()
    stream, feed = opened(StreamOpener(server.url, changes=changes), server)
    changes.announce(5)
    changes.close()
    feed.event(1)
    assert number(stream) == 1
    stream.close()


@pytest.mark.parametrize("cause", ["account", "removal"])
def test_an_opening_under_way_is_broken_off(server: EventServer, cause: str) -> None:
    """1.07: while the server holds initialize."""
    gate = threading.Event()
    server.hold(gate, method="initialize")
    identity = Identity(A)
    opener = StreamOpener(server.url, principal=identity, changes=identity.changes, protocol_version="2025-11-25")
    opening = Background(lambda: opener.open("tick"))
    server.wait_until(lambda: any(request.rpc == "initialize" for request in server._log.requests))
    identity.become(B) if cause == "account" else opener.remove()
    with pytest.raises(AccessChanged) as caught:
        opening.result()
    assert str(caught.value.server) in server.url
    gate.set()
    assert server.streams == 0


def test_a_change_counts_more_than_an_opening_that_has_finished(server: EventServer) -> None:
    """1.07: the account changed during the handshake, and nobody announced it."""
    identity = Identity(A)
    server.hold(gate := threading.Event(), method="notifications/initialized")
    opener = StreamOpener(server.url, principal=identity, protocol_version="2025-11-25")
    opening = Background(lambda: opener.open("tick"))
    server.wait_until(lambda: any(request.rpc == "notifications/initialized" for request in server._log.requests))
    identity.principal = B
    gate.set()
    with pytest.raises(AccessChanged):
        opening.result()
    assert server.streams == 0


@pytest.mark.parametrize("cause", ["removal", "account", "no more news", "nobody knows"])
def test_a_live_stream_ends_with_the_access(server: EventServer, cause: str) -> None:
    """1.08, 1.20: receive, which waits, raises; the server sees the client go."""
    identity = Identity(A)
    opener = StreamOpener(server.url, principal=identity, changes=identity.changes)
    stream, feed = opened(opener, server)
    feed.event(1)
    assert number(stream) == 1
    receiving = Background(stream.receive)
    if cause == "removal":
        opener.remove()
    elif cause == "account":
        identity.become(B)
    elif cause == "no more news":
        identity.changes.close()
    else:
        identity.become(RuntimeError("the keyring is locked"))
    with pytest.raises(AccessChanged):
        receiving.result()
    feed.wait_gone()
    assert isinstance(stream.error, AccessChanged)
    assert stream.receive() is None
    stream.close()


def test_letting_go_of_the_opener_is_not_a_change(server: EventServer) -> None:
    """1.08"""
    stream, feed = opened(StreamOpener(server.url, principal=lambda: A, changes=CredentialChanges()), server)
    gc.collect()
    feed.event(1)
    assert number(stream) == 1
    stream.close()


def test_a_removal_is_seen_for_ever_after(server: EventServer) -> None:
    """1.09"""
    opener = StreamOpener(server.url)
    opener.remove()
    for _ in range(2):
        with pytest.raises(AccessChanged, match="removed"):
            opener.open("tick")
    assert server.requests == []


def test_a_refreshed_token_changes_nothing(server: EventServer) -> None:
    """1.10: five of them, then somebody else."""
    identity = Identity(A)
    stream, feed = opened(StreamOpener(server.url, principal=identity, changes=identity.changes), server)
    for turn in range(5):
        identity.become(Principal("a", f"token-{turn}"))
    feed.event(1)
    assert number(stream) == 1
    identity.become(B)
    with pytest.raises(AccessChanged):
        stream.receive(SOON)
    stream.close()


# What is received


@pytest.mark.parametrize("era", ERAS)
def test_notifications_come_as_they_were_sent(event_server: Servers, era: str) -> None:
    """1.18: with their metadata; params are there even if the server sent none."""
    server = event_server(era)
    stream, feed = opened(StreamOpener(server.url), server)
    feed.send("event", data={"x": None}, _meta={"acme/k": [1]})
    feed.send("acme_own")
    first = taken(stream)
    assert first.method == EVENTS + "event"
    assert first.params["data"] == {"x": None}
    assert first.params["_meta"] == {SUBSCRIPTION: feed.exchange.request.id, "acme/k": [1]}
    assert taken(stream).method == EVENTS + "acme_own"
    stream.close()


def test_what_came_before_the_end_is_delivered_first(server: EventServer) -> None:
    """1.19: an event and the result in one chunk."""
    stream, feed = opened(StreamOpener(server.url), server)
    ident = feed.exchange.request.id
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "method": EVENTS + "event", "params": feed.tagged({"data": {"number": 1}})},
        {"jsonrpc": "2.0", "id": ident, "result": {}},
    ]
    chunk = "".join(f"data: {json.dumps(message)}\n\n" for message in messages).encode()
    feed.do(lambda: feed.exchange.chunk(chunk))
    assert number(stream) == 1
    assert stream.receive(SOON) is None
    stream.close()


def test_a_removal_counts_more_than_what_is_waiting(server: EventServer) -> None:
    """1.19"""
    opener = StreamOpener(server.url)
    stream, feed = opened(opener, server)
    feed.event(1)
    feed.event(2)
    assert number(stream) == 1
    opener.remove()
    with pytest.raises(AccessChanged):
        stream.receive(SOON)
    stream.close()


@pytest.mark.parametrize("end", ["result", "close", "reset"])
def test_a_plain_end(server: EventServer, end: str) -> None:
    """1.21, 1.22: a result, or a connection that ended; from then on nothing, and no traffic."""
    stream, feed = opened(StreamOpener(server.url), server)
    feed.event(1)
    assert number(stream) == 1
    ends: dict[str, Callable[[], object]] = {"close": feed.cut, "reset": lambda: feed.do(feed.exchange.reset)}
    ends.get(end, feed.result)()
    assert stream.receive(SOON) is None
    before = len(server.requests)
    assert [stream.receive(SOON) for _ in range(3)] == [None, None, None]
    assert list(stream) == []
    assert len(server.requests) == before
    stream.close()


@pytest.mark.parametrize("status", [None, 500])
def test_an_error_is_raised(server: EventServer, status: int | None) -> None:
    """1.21: a JSON-RPC error, an HTTP status; once, and nothing after it."""
    if status is not None:
        server.instead.append(lambda exchange: exchange.respond(status))
        stream = StreamOpener(server.url).open("tick")
    else:
        stream, feed = opened(StreamOpener(server.url), server)
        feed.error()
    expected = syncline.ServerError if status is None else syncline.HttpStatusError
    with pytest.raises(expected, match="on fire" if status is None else "500") as caught:
        stream.receive(SOON)
    assert caught.value.method == "events/stream"
    assert stream.receive(SOON) is None
    stream.close()


def test_closing_it_ends_everything_at_once(server: EventServer) -> None:
    """1.23: the server is told, sees the connection go, and is not waited for."""
    stream, feed = opened(StreamOpener(server.url, protocol_version="2025-11-25"), server)
    feed.event(1)
    feed.event(2)
    assert number(stream) == 1
    receiving = Background(lambda: [stream.receive(), stream.receive()][-1])
    server.hold(gate := threading.Event(), method="notifications/cancelled")
    closing = Background(stream.close)
    closing.result()
    feed.wait_gone()
    assert receiving.result() is None
    assert stream.receive() is None
    gate.set()
    [cancelled] = server.calls("notifications/cancelled")
    assert cancelled.json()["params"]["requestId"] == feed.exchange.request.id
    stream.close()


def test_events_stay_off_the_ordinary_path(server: EventServer, caplog: pytest.LogCaptureFixture) -> None:
    """1.24: neither callbacks nor logs see them; other notifications are none of the stream's."""
    caplog.set_level(logging.DEBUG)
    seen: queue.SimpleQueue[Notification] = queue.SimpleQueue()
    stream, feed = opened(StreamOpener(server.url, on_notification=seen.put), server)
    feed.event(1, note="payload-of-mine")
    feed.message(method="notifications/acme", params={})
    feed.event(2)
    assert [number(stream), number(stream)] == [1, 2]
    assert seen.get(timeout=SOON).method == "notifications/acme"
    stream.close()
    assert seen.empty()
    assert "payload-of-mine" not in caplog.text


def test_events_of_nobody_are_dropped(server: EventServer) -> None:
    """1.25: without a subscription id, and with a foreign one."""
    stream, feed = opened(StreamOpener(server.url), server)
    feed.message(method=EVENTS + "event", params={"data": {"number": 1}})
    feed.message(method=EVENTS + "event", params={"data": {"number": 2}, "_meta": {SUBSCRIPTION: "other"}})
    feed.message(method=EVENTS + "event")
    feed.event(4)
    assert number(stream) == 4
    stream.close()


def test_a_notification_that_is_too_large_is_dropped(server: EventServer, caplog: pytest.LogCaptureFixture) -> None:
    """1.26: over 1 MiB; the stream goes on."""
    stream, feed = opened(StreamOpener(server.url), server)
    feed.event(1, blob="x" * (1 << 20))
    feed.event(2)
    assert number(stream) == 2
    assert "is dropped" in caplog.text
    stream.close()


def blobs(feed: Feed, count: int) -> None:
    for turn in range(count):
        feed.event(turn, blob="x" * (64 << 10))


def test_one_that_is_not_read_is_given_up(server: EventServer) -> None:
    """1.27: at 2 MiB; `terminated` without params comes last, and neighbours notice nothing."""
    opener = StreamOpener(server.url)
    stream, feed = opened(opener, server)
    other, neighbour = opened(opener, server)
    blobs(feed, 48)
    feed.wait_gone()
    neighbour.event(7)
    assert number(other) == 7
    other.close()

    read = [taken(stream)]
    while read[-1].method != EVENTS + "terminated":
        read.append(taken(stream))
    assert read[-1].params == {}
    assert [item.params["data"]["number"] for item in read[:-1]] == list(range(len(read) - 1))  # type: ignore[index]
    assert 28 < len(read) < 34
    with pytest.raises(StreamOverflow, match="2097152 bytes"):
        stream.receive(SOON)
    assert stream.receive(SOON) is None
    stream.close()


def test_reading_makes_room(server: EventServer) -> None:
    """1.28: 10 MiB, read as they come."""
    stream, feed = opened(StreamOpener(server.url), server)
    for turn in range(160):
        feed.event(turn, blob="x" * (64 << 10))
        assert number(stream) == turn
    stream.close()


# Over a shared channel


class Partners:
    """A server in memory for each connection."""

    def __init__(self) -> None:
        self._partners: queue.SimpleQueue[Partner] = queue.SimpleQueue()

    def __call__(self) -> MemoryTransport:
        transport, peer = pair("partner")
        self._partners.put(Partner(peer))
        return transport

    def open(self, opener: StreamOpener, era: str) -> tuple[NotificationStream, Partner, dict[str, Any]]:
        """A live stream, its server, and the request."""
        opening = Background(lambda: opener.open("tick"))
        partner = self._partners.get(timeout=SOON)
        partner.open(era, {"extensions": {EXTENSION: {}}})
        return opening.result(), partner, partner.next("events/stream")


def event(partner: Partner, request: dict[str, Any], turn: int) -> None:
    params = {"data": {"number": turn}, "_meta": {SUBSCRIPTION: request["id"]}}
    partner.send(method=EVENTS + "event", params=params)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("end", ["result", "error"])
def test_the_final_answer_closes_the_route(era: str, end: str) -> None:
    """1.29: what bears its id afterwards is not delivered."""
    partners = Partners()
    stream, partner, request = partners.open(StreamOpener(partners, protocol_version=era), era)
    event(partner, request, 1)
    partner.answer(request, **({"error": {"code": -32603, "message": "no"}} if end == "error" else {"result": {}}))
    event(partner, request, 2)
    assert number(stream) == 1
    if end == "error":
        with pytest.raises(syncline.ServerError):
            stream.receive(SOON)
    assert stream.receive(SOON) is None
    stream.close()


def test_streams_on_one_connection_are_told_apart() -> None:
    """1.30: by their ids, whatever the order of arrival; nothing gets into the wrong one."""
    partners = Partners()
    stream, partner, request = partners.open(StreamOpener(partners, protocol_version="2026-07-28"), "2026-07-28")
    taken_by: dict[str, list[object]] = {"one": [], "two": []}
    ended: queue.SimpleQueue[object] = queue.SimpleQueue()
    requests = {}
    for name, numbers in taken_by.items():
        take = functools.partial(lambda numbers, notice: numbers.append(notice.params["data"]["number"]), numbers)
        Channel(stream._client._session.connection, "events/stream", {"name": name}, on_notice=take, on_end=ended.put)
        requests[name] = partner.next("events/stream")
    for turn in range(10):
        event(partner, requests["two" if turn % 3 else "one"], turn)
        event(partner, request, turn)
    for each in requests.values():
        partner.answer(each, {"resultType": "complete"})
    assert [ended.get(timeout=SOON) is not None for _ in requests] == [True, True]
    assert taken_by == {"one": [0, 3, 6, 9], "two": [1, 2, 4, 5, 7, 8]}
    assert [number(stream) for _ in range(10)] == list(range(10))
    stream.close()


@pytest.mark.parametrize("end", ["cancelled", "lost"])
def test_a_plain_end_over_a_shared_channel(end: str) -> None:
    """1.21: the server cancels the stream, or goes away."""
    partners = Partners()
    era = "2026-07-28"
    stream, partner, request = partners.open(StreamOpener(partners, protocol_version=era), era)
    event(partner, request, 1)
    if end == "cancelled":
        partner.send(method="notifications/cancelled", params={"requestId": request["id"]})
    else:
        partner.peer.close()
    assert number(stream) == 1
    assert stream.receive(SOON) is None
    stream.close()


def test_streams_over_shared_channels_are_given_up_one_by_one() -> None:
    """1.27: the reader of a shared channel is never held up."""
    partners = Partners()
    opener = StreamOpener(
        partners, protocol_version="2026-07-28", limits=syncline.Limits(pending_bytes=2000, notification_bytes=500)
    )
    stream, partner, request = partners.open(opener, "2026-07-28")
    for turn in range(40):
        event(partner, request, turn)
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]
    assert EVENTS + "terminated" in iter(lambda: taken(stream).method, None)
    with pytest.raises(StreamOverflow):
        stream.receive(SOON)
    stream.close()


# Of a manager's servers


CHANGES: dict[str, Callable[[HttpServer], dict[str, HttpServer]]] = {
    "removed": lambda _: {},
    "disabled": lambda server: {"s": replace(server, enabled=False)},
    "other credentials": lambda server: {"s": replace(server, headers={"X-Key": "another"})},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_streams_end_when_their_server_leaves_the_configuration(
    server: EventServer, manage: Manage, change: Callable[[HttpServer], dict[str, HttpServer]]
) -> None:
    """2.50"""
    config = HttpServer(server.url)
    servers = manage({"s": config})
    opener = servers.opener("s")
    stream, feed = opened(opener, server)
    servers.reconcile({"s": replace(config, disabled_tools=("x",)), "t": HttpServer(server.url)})
    feed.event(1)
    assert number(stream) == 1
    servers.reconcile(change(config))
    with pytest.raises(AccessChanged, match="the server was removed"):
        stream.receive(SOON)
    feed.wait_gone()
    with pytest.raises(AccessChanged):
        opener.open("tick")


def test_streams_outlive_their_manager_until_another_one_lacks_the_server(server: EventServer, manage: Manage) -> None:
    """2.50"""
    servers = manage({"s": HttpServer(server.url), "t": HttpServer(server.url)})
    stream, feed = opened(servers.opener("s"), server)
    other, other_feed = opened(servers.opener("t"), server)
    servers.close()
    feed.event(1)
    assert number(stream) == 1
    manage({"t": HttpServer(server.url)}, follows=servers)
    with pytest.raises(AccessChanged):
        stream.receive(SOON)
    other_feed.event(2)
    assert number(other) == 2
    other.close()


def test_an_opener_of_a_manager_goes_by_the_configured_name(event_server: Servers, manage: Manage) -> None:
    server = event_server(advertised=False)
    servers = manage({"the server": HttpServer(server.url), "off": HttpServer(server.url, enabled=False)})
    with pytest.raises(syncline.SynclineError, match=r"^the server: "):
        servers.opener("the server").open("tick")
    with pytest.raises(syncline.UnknownServer, match="'off' is disabled"):
        servers.opener("off")


def test_the_event_types_of_one_of_many_servers(event_server: Servers, manage: Manage) -> None:
    """1.31: what a client lists is its server's, within its ``tool_timeout``; a result of another shape is an error."""
    server = event_server("2026-07-28")
    about = {"delivery": ["push"], "inputSchema": {"type": "object"}, "payloadSchema": {"type": "string"}}
    types = [{"name": name, "description": f"Says {name}", **about} for name in ("tick", "tock")]
    found: list[dict[str, Any]] = [{"events": types}, {"events": {"name": "tick"}}]
    server.catalogue.methods["events/list"] = lambda _: found.pop(0)
    client = manage({"s": HttpServer(server.url, tool_timeout=0.5)})["s"]
    listed = client.events.list(timeout=SOON)
    assert [(each.name, each.description) for each in listed] == [("tick", "Says tick"), ("tock", "Says tock")]
    assert [each.delivery for each in listed] == [["push"], ["push"]]
    assert [each.payload_schema for each in listed] == [{"type": "string"}] * 2
    with pytest.raises(syncline.InvalidResult, match=r"^s: events/list: "):
        client.events.list(timeout=SOON)
    server.arm(Exchange.hold, method="events/list")
    with pytest.raises(syncline.RequestTimeout, match=r"^s: events/list: "):
        client.events.list()

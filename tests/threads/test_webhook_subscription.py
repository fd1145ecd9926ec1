"""Webhook subscriptions over real sockets: a server that posts, a receiver that is served, and a timer."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

import pytest

import syncline
from syncline import errors
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.schedule import Schedule
from syncline.protocol import webhooks
from syncline.protocol.occurrences import Event, StateChange, StreamItem, Subscription
from syncline.protocol.pace import Reconnect
from syncline.streams import webhooks as streams
from syncline.streams.cursors import SubscriptionKey
from syncline.streams.feed import Feed
from syncline.streams.webhook_receiver import WebhookReceiver
from syncline.streams.webhooks import Timer, Webhook, WebhookStream
from tests.fixtures.event_server import EventServer
from tests.fixtures.partner import SOON, Background
from tests.fixtures.webhooks import ManualTimer, event, until
from tools.fakeserver.scripted import Exchange


@dataclass
class Scene:
    server: EventServer
    client: syncline.Client
    receiver: WebhookReceiver
    timer: Schedule

    def webhook(self, *, cursor: str | None = None, waiting: int = 1000, timer: Timer | None = None) -> Webhook:
        session, arguments = self.client._session, {"room": 1}
        record = session.findings.record
        known = Subscription("tick", arguments, "sep3415", cursor=cursor, seen=(), limit=1 << 20, record=record)
        key = SubscriptionKey.of(session.name, None, "tick", arguments, "sep3415")
        feed = Feed(known, key, None, waiting=waiting, pending_bytes=1 << 20)
        return Webhook(session, feed, lambda: True, "sep3415", timer or self.timer, self.receiver)

    def stream(self, **options: Any) -> WebhookStream:
        webhook = self.webhook(**options)
        webhook.start(Deadline(SOON))
        return WebhookStream(webhook, self.client._session.deadline)


@pytest.fixture
def scene() -> Iterator[Scene]:
    with ExitStack() as stack:
        server = stack.enter_context(EventServer())
        receiver = WebhookReceiver(allow_http=True)
        stack.callback(receiver.close)
        stack.enter_context(receiver.serve())
        client = stack.enter_context(syncline.connect(server.http.url))
        timer = Schedule(f"syncline:{client.name}:webhooks", 1, lambda: False, lambda: None)
        stack.callback(lambda: timer.stop(Deadline(SOON)))
        yield Scene(server, client, receiver, timer)


def soon(stream: WebhookStream) -> StreamItem:
    item = stream.get(SOON)
    assert item is not None
    return item


def numbers(stream: WebhookStream, count: int) -> list[int]:
    """The next events, in the order of what they are about; they are posted in any order."""
    found: list[int] = []
    while len(found) < count:
        item = soon(stream)
        if isinstance(item, Event):
            found.append(item.data["n"])
        stream.ack(item)
    return sorted(found)


def test_the_server_verifies_posts_and_is_told_the_end(scene: Scene) -> None:
    with scene.stream() as stream:
        assert stream.id == scene.server.sole.id
        for number in range(20):
            scene.server.happen(number)
        assert numbers(stream, 20) == list(range(20))
    assert scene.server.subscriptions == {}
    assert list(stream) == []


def test_many_at_once_out_of_order_and_doubled_are_each_kept_once(scene: Scene) -> None:
    with scene.stream() as stream:
        scene.server.log = [event(number, name="tick", data={"n": number}) for number in range(30)]
        for number in sorted([*range(30), *range(30)], key=lambda number: number * 7 % 30):
            scene.server.deliver(scene.server.sole, number)
        scene.server.wait()
        assert numbers(stream, 30) == list(range(30))
        assert stream.get(0) is None
        assert set(scene.server.sole.statuses) <= {202, 503}


def test_a_full_queue_makes_the_server_come_again_and_loses_nothing(scene: Scene) -> None:
    with scene.stream(waiting=3) as stream:
        for number in range(10):
            scene.server.happen(number)
        scene.server.wait_until(lambda: 503 in scene.server.sole.statuses)
        assert numbers(stream, 10) == list(range(10))
        scene.server.wait()
        assert stream.get(0) is None
        assert scene.server.sole.statuses.count(202) == 10


def test_a_receiver_that_cannot_be_reached_is_an_error_with_a_reason(scene: Scene) -> None:
    """E-59c."""
    scene.receiver = WebhookReceiver(scene.receiver.public_url, allow_http=True)
    with pytest.raises(errors.CallbackEndpointError) as caught:
        scene.stream()
    assert caught.value.data == {"reason": "challenge_failed"}
    assert scene.server.subscriptions == {}
    scene.receiver.close()


def test_it_is_refreshed_in_time_again_and_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "LEAST", 0.01)
    scene.server.grant = 0.4
    with scene.stream() as stream:
        scene.server.wait_until(lambda: scene.server.subscribed >= 5)
        assert stream.state == "active"
        bodies = [request.body for request in scene.server.http.calls("events/subscribe")]
    identities = {
        part for body in bodies for part in re.findall(rb'"name":.*"arguments":\{.*?\}|"delivery":\{.*?\}', body)
    }
    assert len(identities) == 2, "E-52: the same bytes each time"


def test_what_lapsed_is_made_again_and_what_happened_meanwhile_follows(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "LEAST", 0.01)
    monkeypatch.setattr(streams, "AGAIN", Reconnect(0.02, 0.05))
    scene.server.grant = 0.3
    scene.server.happen(0)
    with scene.stream(cursor="p:0") as stream:
        assert numbers(stream, 1) == [0]
        scene.server.down = True
        scene.server.subscriptions.clear()
        scene.server.happen(1)
        while not (isinstance(item := soon(stream), StateChange) and item.state == "reconnecting"):
            pass

        scene.server.grant = 3600.0
        scene.server.down = False
        assert numbers(stream, 1) == [1]
        assert stream.state == "active"


def test_the_server_is_left_alone_for_as_long_as_it_asks(scene: Scene) -> None:
    now = [time.time()]
    scene.receiver.clock = lambda: now[0]
    timer = ManualTimer()
    with scene.stream(timer=timer):
        scene.server.http.arm(503, headers=[("Retry-After", "40")], method="events/subscribe")
        now[0] += 1800
        timer.fire()
        assert [seconds for seconds, _ in timer.waiting] == [40.0]


def test_clocks_that_differ_do_not_matter(scene: Scene) -> None:
    """E-55: the server is an hour behind, so what it grants looks as if it had passed."""

    def answer(exchange: Exchange) -> None:
        there = time.time() - 3600
        result = {"resultType": "complete", "id": "sub_1", "refreshBefore": until(there + 40), "cursor": None}
        exchange.result(result, [("Date", formatdate(there, usegmt=True))])

    scene.server.http.arm(answer, method="events/subscribe")
    timer = ManualTimer()
    with scene.stream(timer=timer):
        assert all(14 <= seconds <= 21 for seconds, _ in timer.waiting)


def test_the_secret_is_changed_without_losing_anything(scene: Scene) -> None:
    """E-59: the server signs with both for a while, or still with the old one."""
    with scene.stream() as stream:
        old = scene.server.sole.secrets[0]
        for number in range(10):
            scene.server.happen(number)
        stream.rotate_secret()
        for number in range(10, 20):
            scene.server.happen(number)
        assert numbers(stream, 20) == list(range(20))
        new, before = scene.server.sole.secrets
        assert before == old
        assert new != old
        scene.server.sole.secrets = ["whsec_" + "A" * 43 + "="]
        assert scene.server.post(scene.server.sole, event(99), "e-99")[0] == 401


def test_the_server_ends_it(scene: Scene) -> None:
    with scene.stream() as stream:
        scene.server.terminate({"code": -32024, "message": "Forbidden"})
        with pytest.raises(errors.StreamTerminated) as caught:
            list(stream)
        assert isinstance(caught.value.error, errors.EventForbidden)
    assert scene.server.http.calls("events/unsubscribe") == []


def test_closing_the_client_ends_a_start_that_waits(scene: Scene) -> None:
    gate = threading.Event()
    scene.server.http.hold(gate, method="events/subscribe")
    webhook = scene.webhook()
    starting = Background(lambda: webhook.start(Deadline(SOON)))
    scene.server.http.wait_until(lambda: bool(scene.server.http.calls("events/subscribe")))
    scene.client.close()
    with pytest.raises(syncline.ConnectionClosed):
        starting.result()
    gate.set()
    assert webhook.feed.state == "closed"


def test_a_stream_that_is_dropped_is_said_and_unsubscribed(scene: Scene) -> None:
    stream: WebhookStream | None = scene.stream()
    with pytest.warns(ResourceWarning, match="still open"):
        stream = None
    assert stream is None
    scene.server.http.wait_until(lambda: bool(scene.server.http.calls("events/unsubscribe")), SOON)

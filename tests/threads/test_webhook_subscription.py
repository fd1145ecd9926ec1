"""Webhook subscriptions over real sockets: a server that posts, a receiver that is served, and a timer."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

import syncline
from syncline import errors
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.schedule import Schedule
from syncline.protocol import webhooks
from syncline.protocol.events import Notification
from syncline.protocol.occurrences import StateChange, Trouble
from syncline.streams.webhook_receiver import WebhookReceiver
from syncline.streams.webhooks import WebhookSubscription
from tests.fixtures.event_server import EventServer
from tests.fixtures.partner import SOON, Background
from tests.fixtures.webhooks import ManualTimer, event

Item = Notification | Trouble | StateChange


@dataclass
class Consumer:
    """A queue with room for so many items."""

    room: int = 1000
    items: queue.Queue[Item] = field(init=False)
    cursor: str | None = None

    def __post_init__(self) -> None:
        self.items = queue.Queue(self.room)

    def offer(self, item: Item) -> bool:
        try:
            self.items.put_nowait(item)
        except queue.Full:
            return False
        return True

    def next(self, method: str) -> dict[str, Any]:
        """The next item that is no heartbeat, which must be this notification."""
        while True:
            item = self.items.get(timeout=SOON)
            assert isinstance(item, Notification), item
            if not item.method.endswith("heartbeat"):
                assert item.method == f"notifications/events/{method}", item
                return item.params

    def state(self) -> str:
        """The next state, past anything else."""
        while True:
            item = self.items.get(timeout=SOON)
            if isinstance(item, StateChange):
                return item.state

    def numbers(self, count: int) -> list[int]:
        return [self.next("event")["data"]["n"] for _ in range(count)]


@dataclass
class Scene:
    server: EventServer
    client: syncline.Client
    receiver: WebhookReceiver
    timer: Schedule

    def subscription(self, consumer: Consumer, **options: Any) -> WebhookSubscription:
        return WebhookSubscription(
            self.client._session,
            self.receiver,
            options.pop("timer", self.timer),
            "tick",
            {"room": 1},
            on_item=consumer.offer,
            cursor=lambda: consumer.cursor,
            **options,
        )


@pytest.fixture
def scene() -> Iterator[Scene]:
    with ExitStack() as stack:
        server = stack.enter_context(EventServer())
        receiver = WebhookReceiver(allow_http=True)
        stack.callback(receiver.close)
        stack.enter_context(receiver.serve())
        client = stack.enter_context(syncline.connect(server.http.url))
        timer = Schedule(f"syncline:{client.name}:webhooks", 1, CancelToken())
        stack.callback(lambda: timer.stop(Deadline(SOON)))
        yield Scene(server, client, receiver, timer)


def test_the_server_verifies_posts_and_is_told_the_end(scene: Scene) -> None:
    consumer = Consumer()
    subscription = scene.subscription(consumer)
    subscription.start()
    assert consumer.next("active") == {"cursor": "p:0", "truncated": False}
    assert subscription.id == scene.server.sole.id
    for number in range(20):
        scene.server.happen(number)
    assert sorted(consumer.numbers(20)) == list(range(20))
    subscription.close()
    assert scene.server.subscriptions == {}
    assert consumer.items.empty()


def test_many_at_once_out_of_order_and_doubled_are_each_kept_once(scene: Scene) -> None:
    consumer = Consumer()
    subscription = scene.subscription(consumer)
    subscription.start()
    consumer.next("active")
    scene.server.log = [event(number, name="tick", data={"n": number}) for number in range(30)]
    chance = random.Random(7)
    order = [*range(30), *range(30)]
    chance.shuffle(order)
    for number in order:
        scene.server.deliver(scene.server.sole, number)
    scene.server.wait()
    assert sorted(consumer.numbers(30)) == list(range(30))
    assert consumer.items.empty()
    assert set(scene.server.sole.statuses) <= {202, 503}
    subscription.close()


def test_a_full_queue_makes_the_server_come_again_and_loses_nothing(scene: Scene) -> None:
    consumer = Consumer(room=3)
    subscription = scene.subscription(consumer)
    subscription.start()
    consumer.next("active")
    for number in range(10):
        scene.server.happen(number)
    scene.server.http.wait_until(lambda: 503 in scene.server.sole.statuses)
    assert sorted(consumer.numbers(10)) == list(range(10))
    scene.server.wait()
    assert consumer.items.empty()
    assert scene.server.sole.statuses.count(202) == 10
    subscription.close()


def test_a_receiver_that_cannot_be_reached_is_an_error_with_a_reason(scene: Scene) -> None:
    """E-59c."""
    closed = WebhookReceiver(scene.receiver.public_url, allow_http=True)
    scene.receiver = closed
    with pytest.raises(errors.CallbackEndpointError) as caught:
        scene.subscription(Consumer()).start()
    assert caught.value.data == {"reason": "challenge_failed"}
    assert scene.server.subscriptions == {}
    closed.close()


def test_it_is_refreshed_in_time_again_and_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "LEAST", 0.01)
    scene.server.grant = 0.4
    consumer = Consumer()
    subscription = scene.subscription(consumer)
    subscription.start()
    scene.server.http.wait_until(lambda: scene.server.subscribed >= 5, SOON)
    assert subscription.state == "active"
    requests = [request.json()["params"] for request in scene.server.http.calls("events/subscribe")]
    for request in requests:
        request.pop("_meta")
    assert all(request == requests[0] for request in requests)
    subscription.close()


def test_what_lapsed_is_made_again_and_what_happened_meanwhile_follows(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "LEAST", 0.01)
    monkeypatch.setattr(webhooks, "RETRY", (0.02, 0.05))
    scene.server.grant = 0.3
    consumer = Consumer()
    subscription = scene.subscription(consumer)
    subscription.start()
    first = consumer.next("active")
    consumer.cursor = first["cursor"]
    scene.server.down = True
    scene.server.subscriptions.clear()
    scene.server.happen(1)
    assert consumer.state() == "reconnecting"

    scene.server.grant = 3600.0
    scene.server.down = False
    again = [consumer.items.get(timeout=SOON) for _ in range(2)]
    assert {item.method.rpartition("/")[2] for item in again if isinstance(item, Notification)} == {"active", "event"}
    assert subscription.state == "active"
    subscription.close()


def test_the_server_is_left_alone_for_as_long_as_it_asks(scene: Scene) -> None:
    began = time.time()
    now = [began]
    scene.receiver.clock = lambda: now[0]
    timer = ManualTimer()
    subscription = scene.subscription(Consumer(), timer=timer)
    subscription.start()
    scene.server.http.arm(503, headers=[("Retry-After", "40")], method="events/subscribe")
    now[0] += 1800
    timer.fire()
    assert [seconds for seconds, _ in timer.waiting] == [40.0]
    subscription.close()


def test_the_secret_is_changed_without_losing_anything(scene: Scene) -> None:
    """E-59: the server signs with both for a while, or still with the old one."""
    consumer = Consumer()
    subscription = scene.subscription(consumer)
    subscription.start()
    consumer.next("active")
    old = scene.server.sole.secrets[0]
    for number in range(10):
        scene.server.happen(number)
    subscription.rotate_secret()
    for number in range(10, 20):
        scene.server.happen(number)
    assert sorted(consumer.numbers(20)) == list(range(20))
    new, before = scene.server.sole.secrets
    assert before == old
    assert new != old
    scene.server.sole.secrets = ["whsec_" + "A" * 43 + "="]
    assert scene.server.post(scene.server.sole, event(99), "e-99")[0] == 401
    subscription.close()


def test_the_server_ends_it(scene: Scene) -> None:
    consumer = Consumer()
    subscription = scene.subscription(consumer)
    subscription.start()
    consumer.next("active")
    error = {"code": -32024, "message": "Forbidden"}
    scene.server.terminate(error)
    assert consumer.next("terminated") == {"error": error}
    scene.server.wait()
    assert subscription.state == "terminated"
    subscription.close()
    assert scene.server.http.calls("events/unsubscribe") == []


def test_closing_the_client_ends_a_start_that_waits(scene: Scene) -> None:
    gate = threading.Event()
    scene.server.http.hold(gate, method="events/subscribe")
    subscription = scene.subscription(Consumer())
    starting = Background(subscription.start)
    scene.server.http.wait_until(lambda: bool(scene.server.http.calls("events/subscribe")))
    scene.client.close()
    with pytest.raises(syncline.ConnectionClosed):
        starting.result()
    gate.set()
    assert subscription.state == "closed"

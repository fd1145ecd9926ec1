"""Subscribing, refreshing, rotating and ending a webhook subscription; the test is the server, the clock and the timer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import syncline
from syncline import errors
from syncline.concurrency.deadline import Deadline
from syncline.protocol.occurrences import Subscription
from syncline.protocol.revisions import META
from syncline.streams.cursors import MemoryCursors, SubscriptionKey
from syncline.streams.feed import Feed
from syncline.streams.webhook_receiver import GRACE, WebhookReceiver
from syncline.streams.webhooks import GLANCE, Webhook, WebhookStream
from tests.fixtures.partner import SOON, Background, Meet, Partner
from tests.fixtures.webhooks import Caller, ManualTimer, event, signed, until

NOW = 1_793_000_000.0
HOUR = 3600.0
ARGUMENTS = {"repo": "acme/shop", "é": [1.0, {"b": None, "a": 10**20}]}


@dataclass
class Scene:
    """A client, its server (the test), a receiver, and one subscription."""

    client: syncline.Client
    partner: Partner
    now: float = NOW
    listed: Callable[[], bool] = lambda: True
    timer: ManualTimer = field(default_factory=ManualTimer)
    store: MemoryCursors = field(default_factory=MemoryCursors)

    def __post_init__(self) -> None:
        self.receiver = WebhookReceiver("https://hooks.example/in", clock=lambda: self.now)

    def webhook(
        self,
        *,
        cursor: str | None = None,
        arguments: dict[str, Any] = ARGUMENTS,
        dialect: Any = "sep3415",
        waiting: int = 100,
        **options: Any,
    ) -> Webhook:
        session, name = self.client._session, "build.finished"
        record = session.findings.record
        known = Subscription(name, arguments, dialect, cursor=cursor, seen=(), limit=1 << 20, record=record)
        key = SubscriptionKey.of(session.name, None, name, arguments, dialect)
        self.feed = Feed(known, key, self.store, waiting=waiting, pending_bytes=1 << 20)
        listed = lambda: self.listed()  # noqa: E731
        return Webhook(session, self.feed, listed, dialect, self.timer, self.receiver, **options)

    def granted(self, seconds: float | None = HOUR, **more: object) -> dict[str, object]:
        end = None if seconds is None else until(self.now + seconds)
        return {"resultType": "complete", "id": "sub_1", "refreshBefore": end, "cursor": "p:1", **more}

    def starting(self, webhook: Webhook) -> Background[None]:
        return Background(lambda: webhook.start(Deadline(SOON)))

    def started(self, granted: dict[str, object] | None = None, **options: Any) -> Webhook:
        webhook = self.webhook(**options)
        starting = self.starting(webhook)
        self.request = self.partner.serve("events/subscribe", granted or self.granted())
        starting.result()
        assert self.said() == [("active", None), *([("gap", "p:1")] if granted and granted.get("truncated") else [])]
        return webhook

    def look(self) -> Background[list[float]]:
        """The timer's time has come."""
        return Background(self.timer.fire)

    def refreshed(self, granted: dict[str, object] | None = None, **members: object) -> dict[str, Any]:
        looking = self.look()
        request = self.partner.serve("events/subscribe", granted or self.granted(), **members)
        looking.result()
        return request

    def failing(self, code: int = -32603, **more: object) -> None:
        self.refreshed(error={"code": code, "message": "no", **more})

    def unsubscribed(self, act: Callable[[], object], **answer: Any) -> dict[str, Any]:
        """Do something; the request to unsubscribe that it leads to."""
        acting = Background(act)
        request = self.partner.serve("events/unsubscribe", **(answer or {"result": {}}))
        acting.result()
        params: dict[str, Any] = request["params"]
        return params

    def post(self, value: object, secret: str | None = None, **more: Any) -> int:
        """What a delivery to the address of the first request is answered with."""
        delivery = self.request["params"]["delivery"]
        body, headers = signed(secret or delivery["secret"], value, **{"timestamp": int(self.now), **more})
        return Caller(self.receiver).post(delivery["url"].rpartition("/")[2], body, headers).status

    def said(self) -> list[tuple[str, object]]:
        """The items since the last time, in short; all are acknowledged."""
        said: list[tuple[str, object]] = []
        while True:
            try:
                item = self.feed.take(Deadline(0))
            except (errors.ConnectionClosed, errors.StreamTerminated):
                item = None
            if item is None:
                return said
            self.feed.acknowledge(item)
            if item.kind == "event":
                said.append(("event", item.data["number"]))
            elif item.kind == "gap":
                said.append(("gap", item.cursor))
            elif item.kind == "state":
                said.append((item.state, None if item.error is None else type(item.error)))
            else:
                said.append(("error", type(item.error)))

    def stored(self) -> str | None:
        return self.store.load(self.feed.key).cursor


@pytest.fixture
def scene(meet: Meet) -> Scene:
    return Scene(*meet("2026-07-28", capabilities={"extensions": {META + "events": {}}}))


# ------------------------------------------------------------------------------------------------------------- subscribing


def test_the_request_names_the_event_the_address_and_the_secret(scene: Scene) -> None:
    """E-51, E-52."""
    webhook = scene.started(cursor="p:0", ttl_ms=7_200_000, max_age_ms=5)
    params = scene.request["params"]
    meta, delivery = params.pop("_meta"), params.pop("delivery")
    assert params == {
        "name": "build.finished",
        "arguments": ARGUMENTS,
        "cursor": "p:0",
        "ttlMs": 7_200_000,
        "maxAgeMs": 5,
    }
    assert delivery["mode"] == "webhook"
    assert delivery["url"].startswith("https://hooks.example/in/")
    assert delivery["secret"].startswith("whsec_")
    assert meta[META + "clientCapabilities"]["extensions"] == {META + "events": {}}
    assert (webhook.id, webhook.feed.state) == ("sub_1", "active")


@pytest.mark.parametrize(("ttl_ms", "sent"), [("default", {}), ("never", {"ttlMs": None}), (1, {"ttlMs": 1})])
def test_how_long_it_should_be_kept(scene: Scene, ttl_ms: Any, sent: dict[str, object]) -> None:
    """E-54: left out, null, and a number mean different things."""
    scene.started(ttl_ms=ttl_ms)
    params = scene.request["params"]
    assert {name: params[name] for name in params if name not in ("name", "arguments", "delivery", "_meta")} == sent


def test_the_identity_stays_the_same_whatever_happens_to_the_arguments(scene: Scene) -> None:
    """E-52."""
    arguments: dict[str, Any] = {"labels": ["a"]}
    webhook = scene.started(arguments=arguments)
    first = scene.request["params"]
    arguments["labels"].append("b")
    scene.now += HOUR / 2
    again = scene.refreshed()["params"]
    last = scene.unsubscribed(webhook.close)
    assert first["arguments"] == again["arguments"] == last["arguments"] == {"labels": ["a"]}
    assert first["delivery"] == again["delivery"]
    assert last["delivery"] == {"url": first["delivery"]["url"]}


def test_a_challenge_is_answered_while_the_server_has_not_answered_yet(scene: Scene) -> None:
    """E-59b."""
    webhook = scene.webhook()
    starting = scene.starting(webhook)
    scene.request = scene.partner.next("events/subscribe")
    challenge = {"type": "verification", "challenge": "n0nce"}
    assert scene.post(challenge) == 200
    assert scene.post(event(1, "p:1")) == 202
    assert webhook.feed.state == "starting"
    scene.partner.answer(scene.request, scene.granted())
    starting.result()
    assert scene.post(challenge) == 200
    assert scene.said() == [("event", 1), ("active", None)]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (-32602, errors.InvalidParams),
        (-32023, errors.EventNotFound),
        (-32024, errors.EventForbidden),
        (-32025, errors.EventsExhausted),
        (-32026, errors.EventUnsupported),
        (-32027, errors.CallbackEndpointError),
        (-32603, errors.ServerError),
    ],
)
def test_a_refusal_is_raised_and_leaves_nothing_behind(scene: Scene, code: int, kind: type[errors.ServerError]) -> None:
    """E-59c."""
    webhook = scene.webhook()
    starting = scene.starting(webhook)
    error = {"code": code, "message": "no", "data": {"reason": "challenge_failed"}}
    scene.request = scene.partner.serve("events/subscribe", error=error)
    with pytest.raises(kind, match="partner: events/subscribe: no") as caught:
        starting.result()
    assert caught.value.data == {"reason": "challenge_failed"}
    assert scene.post(event(1)) == 503
    scene.timer.fire()
    webhook.close()
    assert scene.partner.silent()
    assert (webhook.feed.state, scene.timer.waiting, scene.said()) == ("closed", [], [])


def test_the_sketch_has_codes_of_its_own(scene: Scene) -> None:
    starting = scene.starting(scene.webhook(dialect="sketch"))
    scene.partner.serve("events/subscribe", error={"code": -32015, "message": "no"})
    with pytest.raises(errors.CallbackEndpointError):
        starting.result()


def test_a_subscription_that_may_have_come_about_is_taken_back(scene: Scene) -> None:
    webhook = scene.webhook()
    starting = Background(lambda: webhook.start(Deadline(0.2)))
    scene.request = scene.partner.next("events/subscribe")
    with pytest.raises(errors.RequestTimeout):
        starting.result()
    scene.partner.next("notifications/cancelled")
    url = scene.unsubscribed(scene.timer.fire)["delivery"]["url"]
    assert url == scene.request["params"]["delivery"]["url"]
    assert scene.post(event(1)) == 503


# -------------------------------------------------------------------------------------------------------------- refreshing


def test_it_is_refreshed_at_about_half_of_the_grant(scene: Scene) -> None:
    """E-55, E-56: the same call, with the position of now; E-12: the answer moves it."""
    webhook = scene.started(cursor="p:0")
    assert scene.timer.fire() == [GLANCE]
    scene.now += HOUR * 0.39
    assert scene.timer.fire() == [GLANCE]
    assert scene.partner.silent()

    assert scene.post(event(1, "p:7")) == 202
    assert scene.said() == [("event", 1)]
    scene.now = NOW + HOUR / 2
    request = scene.refreshed(scene.granted(cursor="p:9"))["params"]
    assert request.pop("cursor") == "p:7"
    first = dict(scene.request["params"])
    assert first.pop("cursor") == "p:0"
    assert request == first
    assert scene.said() == []
    assert scene.stored() == "p:9"
    assert webhook.refresh_before == until(NOW + 1.5 * HOUR)
    scene.now += HOUR * 0.39
    assert scene.timer.fire() == [GLANCE]
    assert scene.partner.silent()


def test_a_short_grant_is_refreshed_in_time(scene: Scene) -> None:
    """E-54: the server grants what it likes."""
    scene.started(scene.granted(20.0), ttl_ms=7_200_000)
    ((seconds, _),) = scene.timer.waiting
    assert 8 <= seconds <= 10


def test_a_grant_without_end_is_refreshed_now_and_then(scene: Scene) -> None:
    """E-58."""
    webhook = scene.started(scene.granted(None), ttl_ms="never")
    assert webhook.refresh_before is None
    scene.now += 6 * HOUR
    assert scene.refreshed(scene.granted(None))["params"]["ttlMs"] is None


def test_what_may_have_been_missed_is_said(scene: Scene) -> None:
    """E-14."""
    scene.started(scene.granted(truncated=True), cursor="p:0")
    scene.now += HOUR / 2
    scene.refreshed(scene.granted(truncated=True, cursor="p:5"))
    assert scene.said() == [("gap", "p:5")]


def test_a_type_without_positions_has_nothing_to_miss_while_it_lives(scene: Scene) -> None:
    """E-14: truncated says nothing there."""
    scene.started(scene.granted(cursor=None))
    scene.now += HOUR / 2
    scene.refreshed(scene.granted(cursor=None, truncated=True))
    assert scene.said() == []


def test_how_posting_has_been_going_is_shown_and_no_error(scene: Scene) -> None:
    """E-57."""
    webhook = scene.started()
    assert webhook.delivery_status is None
    status = {"active": False, "lastError": "http_5xx", "failedSince": "2026-11-03T10:00:00Z", "throttled": True}
    scene.now += HOUR / 2
    scene.refreshed(scene.granted(deliveryStatus=status))
    assert webhook.delivery_status is not None
    assert webhook.delivery_status.to_wire() == status
    assert (webhook.feed.state, webhook.feed.last_error) == ("active", None)


def test_a_refresh_that_fails_is_tried_again(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 1.0)
    webhook = scene.started()
    scene.now += HOUR / 2
    waits = []
    for _ in range(8):
        scene.failing()
        waits.append(scene.timer.waiting[0][0])
        scene.now += GLANCE
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert (webhook.feed.state, type(webhook.feed.last_error), scene.said()) == ("active", errors.ServerError, [])

    scene.refreshed()
    scene.now += HOUR / 2
    scene.failing()
    assert scene.timer.waiting[0][0] == 1


def test_one_that_lapsed_is_made_again_from_the_position(scene: Scene) -> None:
    """E-55, after the deadline; and the state says so."""
    webhook = scene.started(cursor="p:4")
    scene.now += HOUR / 2
    scene.failing()
    assert scene.said() == []
    scene.now += HOUR
    scene.failing()
    scene.now += HOUR
    scene.failing()
    assert scene.said() == [("reconnecting", errors.ServerError)]
    assert webhook.feed.state == "reconnecting"

    scene.now += GLANCE
    assert scene.refreshed(scene.granted(cursor="p:8"))["params"]["cursor"] == "p:4"
    assert scene.said() == [("active", None)]


@pytest.mark.parametrize("failures", [0, 1])
def test_without_a_position_what_happened_after_it_lapsed_is_lost_and_that_is_said(scene: Scene, failures: int) -> None:
    """E-11; also where the machine was asleep."""
    scene.started(scene.granted(cursor=None))
    for _ in range(failures):
        scene.now += 2 * HOUR
        scene.failing()
        assert scene.said() == [("reconnecting", errors.ServerError)]
    scene.now += 2 * HOUR
    scene.refreshed(scene.granted(cursor=None))
    assert scene.said() == [*([("active", None)] * failures), ("gap", None)]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(-32024, errors.EventForbidden), (-32023, errors.EventNotFound), (-32602, errors.InvalidParams)],
)
def test_a_refresh_that_is_refused_for_good_ends_it(scene: Scene, code: int, kind: type[errors.ServerError]) -> None:
    scene.listed = lambda: False
    webhook = scene.started()
    scene.now += HOUR / 2
    scene.failing(code)
    assert scene.said() == [("terminated", kind)]
    assert scene.post(event(1)) == 503
    with pytest.raises(errors.StreamTerminated, match=r"build\.finished is over"):
        scene.feed.take(Deadline(0))
    scene.timer.fire()
    webhook.close()
    assert scene.partner.silent()
    assert scene.timer.waiting == []


@pytest.mark.parametrize("code", [-32025, -32027])
def test_a_refresh_that_may_succeed_later_does_not(scene: Scene, code: int) -> None:
    webhook = scene.started()
    scene.now += HOUR / 2
    scene.failing(code)
    assert webhook.feed.state == "active"
    scene.now += GLANCE
    scene.refreshed()
    assert webhook.feed.state == "active"


@pytest.mark.parametrize("told", ["by a refresh", "by a delivery"])
def test_a_type_that_changed_and_is_still_listed_is_subscribed_to_again_once(scene: Scene, told: str) -> None:
    """E-62: NotFound and schema_changed; twice in a row without an event between them is enough."""
    scene.started(cursor="p:0")
    gone = {"code": -32026, "message": "changed", "data": {"reason": "schema_changed"}}
    for last in (False, True):
        if told == "by a refresh":
            scene.now += HOUR / 2
            scene.refreshed(error=gone)
        else:
            message_id = f"msg_terminated_{last}"
            assert scene.post({"type": "terminated", "error": gone}, message_id=message_id) == 202
            scene.timer.fire()
        if not last:
            assert scene.said() == [("reconnecting", errors.EventUnsupported)]
            scene.now += GLANCE
            assert scene.refreshed()["params"]["cursor"] == "p:0"
            assert scene.said() == [("active", None)]
    assert scene.said() == [("terminated", errors.EventUnsupported)]


def test_after_an_event_it_may_change_again(scene: Scene) -> None:
    scene.started()
    for number in range(3):
        scene.now += HOUR / 2
        scene.failing(-32023)
        scene.now += GLANCE
        scene.refreshed()
        assert scene.post(event(number)) == 202
        assert scene.said()[-1] == ("event", number)


def test_a_listing_that_fails_is_no_reason_to_give_up(scene: Scene) -> None:
    def listed() -> bool:
        raise errors.ConnectFailed("refused")

    scene.listed = listed
    scene.started()
    scene.now += HOUR / 2
    scene.failing(-32023)
    assert scene.said() == [("reconnecting", errors.EventNotFound)]


def test_a_session_that_is_closed_ends_it_quietly(scene: Scene) -> None:
    webhook = scene.started()
    scene.client.close()
    scene.now += HOUR / 2
    scene.timer.fire()
    scene.timer.fire()
    assert (webhook.feed.state, scene.said(), scene.timer.waiting) == ("closed", [], [])
    assert scene.post(event(1)) == 503


def test_something_unforeseen_does_not_end_the_refreshing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> dict[str, object]:
        raise MemoryError

    webhook = scene.started()
    scene.now += HOUR / 2
    with monkeypatch.context() as broken:
        broken.setattr(scene.feed, "request", fail)
        with pytest.raises(MemoryError):
            scene.timer.fire()
    assert scene.timer.waiting[0][0] > 1
    scene.now += GLANCE
    scene.refreshed()
    assert webhook.feed.state == "active"


# --------------------------------------------------------------------------------------------------------------- receiving


def test_what_is_posted_comes_out_in_order(scene: Scene) -> None:
    webhook = scene.started(cursor="p:0")
    error = {"code": -32024, "message": "Forbidden", "data": {"reason": "left team"}}
    assert scene.post(event(2, "p:2")) == 202
    assert scene.post(event(2, "p:2"), message_id="msg_other") == 202
    assert scene.post({"type": "gap", "cursor": "p:140"}, message_id="msg_gap_1") == 202
    assert scene.post({"type": "terminated", "error": error}, message_id="msg_terminated_1") == 202
    scene.timer.fire()
    assert scene.said() == [("event", 2), ("gap", "p:140"), ("terminated", errors.EventForbidden)]
    assert scene.stored() == "p:140"
    assert scene.post(event(3)) == 503
    webhook.close()
    scene.timer.fire()
    assert scene.partner.silent()


def test_the_end_needs_no_reason(scene: Scene) -> None:
    scene.started()
    assert scene.post({"type": "terminated"}) == 202
    scene.timer.fire()
    assert scene.said() == [("terminated", errors.StreamTerminated)]


def test_without_room_nothing_is_accepted_and_nothing_lost(scene: Scene) -> None:
    scene.started(waiting=1, cursor="p:0")
    assert scene.post(event(1)) == 202
    assert scene.post(event(2)) == 503
    assert scene.post({"type": "gap", "cursor": "p:9"}, message_id="msg_g") == 503
    assert scene.said() == [("event", 1)]
    assert scene.post(event(2)) == 202
    assert scene.said() == [("event", 2)]
    assert scene.post({"type": "gap", "cursor": "p:9"}, message_id="msg_g") == 202
    assert scene.said() == [("gap", "p:9")]


# ---------------------------------------------------------------------------------------------------------------- rotation


def test_the_secret_can_be_changed_and_the_old_one_runs_out(scene: Scene) -> None:
    """E-59."""
    stream = WebhookStream(scene.started(), scene.client._session.deadline)
    old = scene.request["params"]["delivery"]["secret"]
    rotating = Background(stream.rotate_secret)
    request = scene.partner.next("events/subscribe")
    new = request["params"]["delivery"]["secret"]
    assert new != old
    assert scene.post(event(1), old) == 202
    assert scene.post(event(2), new) == 202
    scene.partner.answer(request, scene.granted())
    rotating.result()
    assert scene.post(event(3), old) == 202
    scene.now += GRACE + 1
    assert scene.post(event(4), old) == 401
    assert scene.post(event(4), new) == 202
    scene.unsubscribed(stream.close)


def test_a_change_that_was_not_heard_is_told_with_the_next_refresh(scene: Scene) -> None:
    webhook = scene.started()
    old = scene.request["params"]["delivery"]["secret"]
    rotating = Background(lambda: webhook.rotate_secret(Deadline(SOON)))
    failed = scene.partner.serve("events/subscribe", error={"code": -32603, "message": "no"})
    new = failed["params"]["delivery"]["secret"]
    with pytest.raises(errors.ServerError):
        rotating.result()
    assert webhook.feed.state == "active"
    scene.now += HOUR / 2
    assert scene.post(event(1), old) == scene.post(event(2), new) == 202
    assert scene.refreshed()["params"]["delivery"]["secret"] == new
    scene.now += GRACE + 1
    assert (scene.post(event(3), old), scene.post(event(3), new)) == (401, 202)


def test_what_the_stream_shows_and_how_it_is_refreshed_by_hand(scene: Scene) -> None:
    stream = WebhookStream(scene.started(), scene.client._session.deadline)
    assert (stream.id, stream.refresh_before, stream.delivery_status) == ("sub_1", until(NOW + HOUR), None)
    scene.now += 60
    refreshing = Background(stream.refresh)
    scene.partner.serve("events/subscribe", scene.granted(10.0, deliveryStatus={"active": True}))
    refreshing.result()
    assert stream.refresh_before == until(NOW + 70)
    assert stream.delivery_status is not None
    assert stream.delivery_status.active
    assert min(seconds for seconds, _ in scene.timer.waiting) <= 5.0
    scene.now += 5
    scene.refreshed()
    scene.unsubscribed(stream.close)


def test_two_do_not_refresh_at_once(scene: Scene) -> None:
    webhook = scene.started()
    scene.now += HOUR / 2
    looking = scene.look()
    request = scene.partner.next("events/subscribe")
    with pytest.raises(errors.RequestTimeout, match="another refresh was under way"):
        webhook.refresh(Deadline(0.05))
    scene.timer.fire()
    assert scene.partner.silent()
    scene.partner.answer(request, scene.granted())
    looking.result()
    assert webhook.feed.state == "active"


# ------------------------------------------------------------------------------------------------------------------ ending


def test_where_nobody_takes_it_any_more_nothing_is_accepted(scene: Scene) -> None:
    """The client ended all streams at once."""
    scene.started()
    scene.feed.close()
    assert [scene.post(event(1)), scene.post(event(1))] == [503, 503]
    assert "0 subscriptions" in repr(scene.receiver)


@pytest.mark.parametrize(
    "answer", [{"result": {}}, {"error": {"code": -32023, "message": "no", "data": {"kind": "subscription"}}}]
)
def test_closing_unsubscribes_and_a_server_that_knows_nothing_of_it_is_fine(
    scene: Scene, answer: dict[str, Any]
) -> None:
    """E-59a."""
    webhook = scene.started()
    scene.unsubscribed(webhook.close, **answer)
    assert (webhook.feed.state, webhook.feed.last_error) == ("closed", None)
    assert scene.post(event(1)) == 503
    webhook.close()
    scene.timer.fire()
    assert scene.partner.silent()
    with pytest.raises(errors.LocalProtocolError, match="is closed"):
        webhook.refresh(Deadline(SOON))


def test_a_server_that_cannot_be_told_is_no_reason_not_to_close(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    webhook = scene.started()
    closing = Background(lambda: webhook.close(Deadline(0.1)))
    scene.partner.next("events/unsubscribe")
    closing.result()
    assert webhook.feed.state == "closed"
    assert isinstance(webhook.feed.last_error, errors.RequestTimeout)
    assert "the server was not told" in caplog.text


@pytest.mark.parametrize("how", ["start", "refresh"])
def test_closing_while_a_request_is_under_way_unsubscribes_after_it(scene: Scene, how: str) -> None:
    """Else the refresh would bring to life what was just ended."""
    webhook = scene.webhook() if how == "start" else scene.started()
    scene.now += HOUR / 2
    asking: Background[Any] = scene.starting(webhook) if how == "start" else scene.look()
    request = scene.partner.next("events/subscribe")
    webhook.close(Deadline(0.05))
    assert webhook.feed.state == "closed"
    assert scene.partner.silent()
    scene.partner.answer(request, scene.granted())
    asking.result()
    scene.unsubscribed(scene.timer.fire)
    scene.timer.fire()
    assert scene.partner.silent()
    assert scene.said() == []


def test_no_secret_is_shown_anywhere(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    webhook = scene.started()
    secret = scene.request["params"]["delivery"]["secret"]
    scene.now += HOUR / 2
    scene.failing()
    scene.post(event(1), "whsec_" + "A" * 44)
    scene.unsubscribed(webhook.close, error={"code": -32603, "message": "no"})
    shown = f"{caplog.text} {webhook!r} {webhook.feed.last_error!r} {scene.receiver!r}"
    assert "build.finished at partner: closed" in shown
    assert secret.removeprefix("whsec_") not in shown

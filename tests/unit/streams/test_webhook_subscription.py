"""Subscribing, refreshing, rotating and ending a webhook subscription; the test is the server, the clock and the timer."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import syncline
from syncline import errors
from syncline.protocol.events import Notification
from syncline.protocol.occurrences import StateChange, Trouble
from syncline.protocol.revisions import META
from syncline.streams.webhook_receiver import GRACE, WebhookReceiver
from syncline.streams.webhooks import GLANCE, WebhookSubscription
from tests.fixtures.partner import Background, Meet, Partner
from tests.fixtures.webhooks import Caller, ManualTimer, event, signed, until

NOW = 1_793_000_000.0
HOUR = 3600.0
ARGUMENTS = {"repo": "acme/shop", "é": [1.0, {"b": None, "a": 10**20}]}
Item = Notification | Trouble | StateChange


@dataclass
class Scene:
    """A client, its server (the test), a receiver, and one subscription."""

    client: syncline.Client
    partner: Partner
    now: float = NOW
    cursor: str | None = None
    room: bool = True
    items: list[Item] = field(default_factory=list)
    timer: ManualTimer = field(default_factory=ManualTimer)

    def __post_init__(self) -> None:
        self.receiver = WebhookReceiver("https://hooks.example/in", clock=lambda: self.now)

    def subscription(self, **options: Any) -> WebhookSubscription:
        return WebhookSubscription(
            self.client._session,
            self.receiver,
            self.timer,
            "build.finished",
            options.pop("arguments", ARGUMENTS),
            on_item=self.keep,
            cursor=lambda: self.cursor,
            **options,
        )

    def keep(self, item: Item) -> bool:
        if self.room:
            self.items.append(item)
        return self.room

    def granted(self, seconds: float | None = HOUR, **more: object) -> dict[str, object]:
        end = None if seconds is None else until(self.now + seconds)
        return {"resultType": "complete", "id": "sub_1", "refreshBefore": end, "cursor": "p:1", **more}

    def started(self, granted: dict[str, object] | None = None, **options: Any) -> WebhookSubscription:
        subscription = self.subscription(**options)
        starting = Background(subscription.start)
        self.request = self.partner.serve("events/subscribe", granted or self.granted())
        starting.result()
        return subscription

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

    def post(self, value: object, secret: str | None = None, **more: Any) -> int:
        """What a delivery to the address of the latest request is answered with."""
        delivery = self.request["params"]["delivery"]
        body, headers = signed(secret or delivery["secret"], value, **{"timestamp": int(self.now), **more})
        return Caller(self.receiver).post(delivery["url"].rpartition("/")[2], body, headers).status

    def said(self) -> list[tuple[str, object]]:
        """The items since the last time, in short."""
        items, self.items = self.items, []
        return [
            (item.method.rpartition("/")[2], item.params)
            if isinstance(item, Notification)
            else (item.state if isinstance(item, StateChange) else "trouble", type(item.error))
            for item in items
        ]


@pytest.fixture
def scene(meet: Meet) -> Scene:
    return Scene(*meet("2026-07-28", capabilities={"extensions": {META + "events": {}}}))


def position(cursor: str | None, *, truncated: bool = False) -> dict[str, object]:
    return {"cursor": cursor, "truncated": truncated}


# ------------------------------------------------------------------------------------------------------------- subscribing


def test_the_request_names_the_event_the_address_and_the_secret(scene: Scene) -> None:
    """E-51, E-52."""
    scene.cursor = "p:0"
    subscription = scene.started(ttl_ms=7_200_000, max_age_ms=5)
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
    assert (subscription.id, subscription.state) == ("sub_1", "active")
    assert scene.said() == [("active", position("p:1"))]


@pytest.mark.parametrize(("ttl_ms", "sent"), [("default", {}), ("never", {"ttlMs": None}), (1, {"ttlMs": 1})])
def test_how_long_it_should_be_kept(scene: Scene, ttl_ms: Any, sent: dict[str, object]) -> None:
    """E-54: left out, null, and a number mean different things."""
    scene.started(ttl_ms=ttl_ms)
    params = scene.request["params"]
    assert {name: params[name] for name in params if name not in ("name", "arguments", "delivery", "_meta")} == sent


def test_arguments_are_always_sent(scene: Scene) -> None:
    scene.started(arguments=None)
    assert scene.request["params"]["arguments"] == {}


def test_the_arguments_stay_what_they_were(scene: Scene) -> None:
    """E-52: they are part of the subscription's identity, whatever their owner does with them later."""
    arguments: dict[str, Any] = {"labels": ["a"]}
    subscription = scene.started(arguments=arguments)
    first = scene.request["params"]
    arguments["labels"].append("b")
    scene.now += HOUR / 2
    again = scene.refreshed()["params"]
    closing = Background(subscription.close)
    last = scene.partner.serve("events/unsubscribe", {"resultType": "complete"})["params"]
    closing.result()
    assert first["arguments"] == again["arguments"] == last["arguments"] == {"labels": ["a"]}
    assert first["delivery"] == again["delivery"]
    assert last["delivery"] == {"url": first["delivery"]["url"]}


def test_a_challenge_is_answered_while_the_server_has_not_answered_yet(scene: Scene) -> None:
    """E-59b."""
    subscription = scene.subscription()
    starting = Background(subscription.start)
    scene.request = scene.partner.next("events/subscribe")
    challenge = {"type": "verification", "challenge": "n0nce"}
    assert scene.post(challenge) == 200
    assert scene.post(event(1, "p:1")) == 202
    assert subscription.state == "starting"
    scene.partner.answer(scene.request, scene.granted())
    starting.result()
    assert scene.post(challenge) == 200
    assert scene.said() == [("event", event(1, "p:1")), ("active", position("p:1"))]


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
    subscription = scene.subscription()
    starting = Background(subscription.start)
    error = {"code": code, "message": "no", "data": {"reason": "challenge_failed"}}
    scene.request = scene.partner.serve("events/subscribe", error=error)
    with pytest.raises(kind, match="partner: events/subscribe: no") as caught:
        starting.result()
    assert caught.value.data == {"reason": "challenge_failed"}
    assert scene.post(event(1)) == 503
    assert (subscription.state, scene.timer.waiting, scene.items) == ("closed", [], [])


def test_the_sketch_has_codes_of_its_own(scene: Scene) -> None:
    starting = Background(scene.subscription(dialect="sketch").start)
    scene.partner.serve("events/subscribe", error={"code": -32015, "message": "no"})
    with pytest.raises(errors.CallbackEndpointError):
        starting.result()


def test_a_subscription_that_may_have_come_about_is_taken_back(scene: Scene) -> None:
    subscription = scene.subscription()
    starting = Background(lambda: subscription.start(timeout=0.2))
    scene.request = scene.partner.next("events/subscribe")
    with pytest.raises(errors.RequestTimeout):
        starting.result()
    scene.partner.next("notifications/cancelled")
    looking = scene.look()
    url = scene.partner.serve("events/unsubscribe", {})["params"]["delivery"]["url"]
    looking.result()
    assert url == scene.request["params"]["delivery"]["url"]
    assert scene.post(event(1)) == 503


def test_arguments_that_are_not_json_are_refused(scene: Scene) -> None:
    with pytest.raises(errors.LocalProtocolError, match="arguments"):
        scene.subscription(arguments={"a": object()})


# -------------------------------------------------------------------------------------------------------------- refreshing


def test_it_is_refreshed_at_about_half_of_the_grant(scene: Scene) -> None:
    """E-55, E-56: the same call, with the position of now; E-12: the answer moves it."""
    subscription = scene.started()
    assert scene.timer.fire() == [GLANCE]
    scene.now += HOUR * 0.39
    assert scene.timer.fire() == [GLANCE]
    assert scene.partner.silent()

    scene.said()
    scene.now, scene.cursor = NOW + HOUR / 2, "p:7"
    request = scene.refreshed(scene.granted(cursor="p:9"))["params"]
    assert request.pop("cursor") == "p:7"
    assert {**request, "_meta": None} == {**scene.request["params"], "_meta": None}
    assert scene.said() == [("heartbeat", {"cursor": "p:9"})]
    assert subscription.refresh_before == until(NOW + 1.5 * HOUR)
    scene.now += HOUR * 0.39
    assert scene.timer.fire() == [GLANCE]
    assert scene.partner.silent()


def test_a_short_grant_is_refreshed_in_time(scene: Scene) -> None:
    """E-54: the server grants what it likes."""
    scene.started(scene.granted(20.0), ttl_ms=7_200_000)
    ((seconds, _),) = scene.timer.waiting
    assert 8 <= seconds <= 10


def test_clocks_that_differ_do_not_matter_where_the_difference_is_known(scene: Scene) -> None:
    """E-55: the server is an hour behind, so what it grants looks as if it had passed."""
    subscription = scene.subscription(skew=lambda: -HOUR)
    starting = Background(subscription.start)
    scene.partner.serve("events/subscribe", scene.granted(20.0 - HOUR))
    starting.result()
    ((seconds, _),) = scene.timer.waiting
    assert 8 <= seconds <= 10


def test_a_grant_without_end_is_refreshed_now_and_then(scene: Scene) -> None:
    """E-58."""
    subscription = scene.started(scene.granted(None), ttl_ms="never")
    assert subscription.refresh_before is None
    scene.now += 6 * HOUR
    assert scene.refreshed(scene.granted(None))["params"]["ttlMs"] is None


def test_what_may_have_been_missed_is_said(scene: Scene) -> None:
    """E-14."""
    scene.cursor = "p:0"
    scene.started(scene.granted(truncated=True))
    scene.now += HOUR / 2
    scene.refreshed(scene.granted(truncated=True, cursor="p:5"))
    assert scene.said() == [("active", position("p:1", truncated=True)), ("active", position("p:5", truncated=True))]


def test_how_posting_has_been_going_is_shown_and_no_error(scene: Scene) -> None:
    """E-57."""
    subscription = scene.started()
    assert subscription.delivery_status is None
    status = {"active": False, "lastError": "http_5xx", "failedSince": "2026-11-03T10:00:00Z", "throttled": True}
    scene.now += HOUR / 2
    scene.refreshed(scene.granted(deliveryStatus=status))
    assert subscription.delivery_status is not None
    assert subscription.delivery_status.to_wire() == status
    assert (subscription.state, subscription.last_error) == ("active", None)


def test_a_refresh_that_fails_is_tried_again(scene: Scene) -> None:
    subscription = scene.started()
    scene.said()
    scene.now += HOUR / 2
    waits = []
    for _ in range(8):
        scene.failing()
        waits.append(scene.timer.waiting[0][0])
        scene.now += GLANCE
    assert all(2**n / 2 <= wait <= 2**n for n, wait in enumerate(waits[:6]))
    assert max(waits) <= GLANCE
    assert scene.said() == [("trouble", errors.ServerError)]
    assert subscription.state == "active"

    scene.refreshed(scene.granted(cursor="p:2"))
    scene.now += HOUR / 2
    scene.failing()
    assert scene.said() == [("heartbeat", {"cursor": "p:2"}), ("trouble", errors.ServerError)]
    assert scene.timer.waiting[0][0] <= 1.0


def test_one_that_lapsed_is_made_again_from_the_position(scene: Scene) -> None:
    """E-55, after the deadline; and the state says so."""
    scene.cursor = "p:4"
    subscription = scene.started()
    scene.said()
    scene.now += HOUR / 2
    scene.failing()
    scene.now += HOUR
    scene.failing()
    assert (subscription.state, type(subscription.last_error)) == ("reconnecting", errors.ServerError)
    scene.now += HOUR
    scene.failing()
    assert scene.said() == [("trouble", errors.ServerError), ("reconnecting", errors.ServerError)]

    scene.now += GLANCE
    assert scene.refreshed(scene.granted(cursor="p:8"))["params"]["cursor"] == "p:4"
    assert scene.said() == [("active", position("p:8"))]
    assert subscription.state == "active"


def test_without_a_position_what_happened_after_it_lapsed_is_lost_and_that_is_said(scene: Scene) -> None:
    """E-11."""
    scene.started(scene.granted(cursor=None))
    scene.now += 2 * HOUR
    scene.refreshed(scene.granted(cursor=None))
    assert scene.said() == [("active", position(None)), ("active", position(None, truncated=True))]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(-32024, errors.EventForbidden), (-32023, errors.EventNotFound), (-32602, errors.InvalidParams)],
)
def test_a_refresh_that_is_refused_for_good_ends_it(scene: Scene, code: int, kind: type[errors.ServerError]) -> None:
    subscription = scene.started()
    scene.said()
    scene.now += HOUR / 2
    scene.failing(code)
    assert scene.said() == [("terminated", kind)]
    assert subscription.state == "terminated"
    assert scene.post(event(1)) == 503
    scene.timer.fire()
    subscription.close()
    assert scene.partner.silent()
    assert scene.timer.waiting == []


@pytest.mark.parametrize("code", [-32025, -32027])
def test_a_refresh_that_may_succeed_later_does_not(scene: Scene, code: int) -> None:
    subscription = scene.started()
    scene.now += HOUR / 2
    scene.failing(code)
    assert subscription.state == "active"
    scene.now += GLANCE
    scene.refreshed()
    assert subscription.state == "active"


def test_a_session_that_is_closed_ends_it_quietly(scene: Scene) -> None:
    subscription = scene.started()
    scene.said()
    scene.client.close()
    scene.now += HOUR / 2
    scene.timer.fire()
    scene.timer.fire()
    assert (subscription.state, scene.items, scene.timer.waiting) == ("closed", [], [])


def test_a_store_that_fails_does_not_end_the_refreshing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    subscription = scene.started()
    good: Callable[[], str | None] = subscription._cursor

    def fail() -> str | None:
        raise OSError("no disk")

    scene.now += HOUR / 2
    monkeypatch.setattr(subscription, "_cursor", fail)
    with pytest.raises(OSError, match="no disk"):
        scene.timer.fire()
    assert scene.timer.waiting[0][0] > 1
    monkeypatch.setattr(subscription, "_cursor", good)
    scene.now += GLANCE
    scene.refreshed()
    assert subscription.state == "active"


# --------------------------------------------------------------------------------------------------------------- receiving


def test_what_is_posted_is_handed_on_as_if_it_had_been_pushed(scene: Scene) -> None:
    subscription = scene.started()
    scene.said()
    error = {"code": -32024, "message": "Forbidden", "data": {"reason": "left team"}}
    assert scene.post(event(2, "p:2")) == 202
    assert scene.post({"type": "gap", "cursor": "p:140"}, message_id="msg_gap_1") == 202
    assert scene.post({"type": "terminated", "error": error}, message_id="msg_terminated_1") == 202
    assert scene.said() == [
        ("event", event(2, "p:2")),
        ("active", position("p:140", truncated=True)),
        ("terminated", {"error": error}),
    ]
    assert subscription.state == "terminated"
    assert scene.post(event(3)) == 503
    subscription.close()
    scene.timer.fire()
    assert scene.partner.silent()


def test_without_room_nothing_is_accepted_and_nothing_lost(scene: Scene) -> None:
    subscription = scene.started()
    scene.said()
    scene.room = False
    assert scene.post(event(1)) == 503
    assert scene.post({"type": "terminated"}, message_id="msg_t") == 503
    assert subscription.state == "active"
    scene.room = True
    assert scene.post(event(1)) == 202
    assert scene.post({"type": "terminated"}, message_id="msg_t") == 202
    assert scene.said() == [("event", event(1)), ("terminated", {"error": {}})]


# ---------------------------------------------------------------------------------------------------------------- rotation


def test_the_secret_can_be_changed_and_the_old_one_runs_out(scene: Scene) -> None:
    """E-59."""
    subscription = scene.started()
    old = scene.request["params"]["delivery"]["secret"]
    rotating = Background(subscription.rotate_secret)
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


def test_a_change_that_was_not_heard_is_told_with_the_next_refresh(scene: Scene) -> None:
    subscription = scene.started()
    old = scene.request["params"]["delivery"]["secret"]
    rotating = Background(subscription.rotate_secret)
    new = scene.partner.serve("events/subscribe", error={"code": -32603, "message": "no"})["params"]["delivery"][
        "secret"
    ]
    with pytest.raises(errors.ServerError):
        rotating.result()
    scene.now += HOUR / 2
    assert scene.post(event(1), old) == scene.post(event(2), new) == 202
    assert scene.refreshed()["params"]["delivery"]["secret"] == new
    scene.now += GRACE + 1
    assert (scene.post(event(3), old), scene.post(event(3), new)) == (401, 202)


# ------------------------------------------------------------------------------------------------------------------ ending


@pytest.mark.parametrize(
    "answer", [{"result": {}}, {"error": {"code": -32023, "message": "no", "data": {"kind": "subscription"}}}]
)
def test_closing_unsubscribes_and_a_server_that_knows_nothing_of_it_is_fine(
    scene: Scene, answer: dict[str, Any]
) -> None:
    """E-59a."""
    subscription = scene.started()
    closing = Background(subscription.close)
    scene.partner.serve("events/unsubscribe", **answer)
    closing.result()
    assert (subscription.state, subscription.last_error) == ("closed", None)
    assert scene.post(event(1)) == 503
    subscription.close()
    scene.timer.fire()
    assert scene.partner.silent()
    with pytest.raises(errors.LocalProtocolError, match="is closed"):
        subscription.refresh()


def test_a_server_that_cannot_be_told_is_no_reason_not_to_close(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    subscription = scene.started()
    closing = Background(lambda: subscription.close(timeout=0.1))
    scene.partner.next("events/unsubscribe")
    closing.result()
    assert subscription.state == "closed"
    assert isinstance(subscription.last_error, errors.RequestTimeout)
    assert "could not be told" in caplog.text


@pytest.mark.parametrize("how", ["start", "refresh"])
def test_closing_while_a_request_is_under_way_unsubscribes_after_it(scene: Scene, how: str) -> None:
    """Else the refresh would bring to life what was just ended."""
    subscription = scene.subscription() if how == "start" else scene.started()
    scene.said()
    scene.now += HOUR / 2
    asking = Background(subscription.start) if how == "start" else scene.look()
    request = scene.partner.next("events/subscribe")
    subscription.close(timeout=0.05)
    assert subscription.state == "closed"
    assert scene.partner.silent()
    scene.partner.answer(request, scene.granted())
    asking.result()
    telling = scene.look()
    scene.partner.serve("events/unsubscribe", {})
    telling.result()
    scene.timer.fire()
    assert scene.partner.silent()
    assert scene.items == []


def test_no_secret_is_shown_anywhere(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    subscription = scene.started()
    secret = scene.request["params"]["delivery"]["secret"]
    scene.now += HOUR / 2
    scene.failing(data={"secret": "whatever"})
    scene.post(event(1), "whsec_" + "A" * 44)
    closing = Background(subscription.close)
    scene.partner.serve("events/unsubscribe", error={"code": -32603, "message": "no"})
    closing.result()
    shown = f"{caplog.text} {subscription!r} {subscription.last_error!r} {scene.items} {scene.receiver!r}"
    assert "build.finished at partner: closed" in shown
    assert secret.removeprefix("whsec_") not in shown

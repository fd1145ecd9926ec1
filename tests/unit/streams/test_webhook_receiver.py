"""What the receiver answers to whoever posts to it."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

from syncline.errors import ConfigError
from syncline.protocol.webhooks import Gap, Occurrence, Terminated
from syncline.streams.webhook_receiver import GRACE, REMEMBERED, WebhookReceiver
from tests.fixtures.partner import Background
from tests.fixtures.webhooks import Caller, Posted, event, signed

NOW = 1_793_000_000.0
URL = "https://hooks.example/mcp-in/"


@dataclass
class Hook:
    """A receiver with one subscription, whose queue is the list of what it kept."""

    kept: list[object] = field(default_factory=list)
    room: bool = True
    now: float = NOW
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.receiver = WebhookReceiver(URL, clock=lambda: self.now, **self.options)
        self.endpoint = self.receiver.endpoint(self.keep)
        self.caller = Caller(self.receiver)
        self.token = self.endpoint.url.rpartition("/")[2]

    def keep(self, delivery: object) -> bool:
        if self.room:
            self.kept.append(delivery)
        return self.room

    def post(
        self, value: object, secret: str | list[str] | None = None, token: str | None = None, **more: Any
    ) -> Posted:
        body, headers = signed(secret or self.endpoint.secret, value, **{"timestamp": int(self.now), **more})
        return self.caller.post(self.token if token is None else token, body, headers)


def test_an_event_is_kept_and_accepted() -> None:
    hook = Hook()
    sent = event(1, "p:1", added=True)
    assert hook.post(sent).status == 202
    assert hook.kept == [Occurrence("e-1", sent)]


def test_each_subscription_has_an_address_and_a_secret_of_its_own() -> None:
    hook = Hook()
    other = hook.receiver.endpoint(hook.keep)
    assert hook.endpoint.url.startswith(URL)
    assert (other.url, other.secret) != (hook.endpoint.url, hook.endpoint.secret)
    assert hook.post(event(1), other.secret).status == 401
    assert hook.post(event(1), other.secret, other.url.rpartition("/")[2]).status == 202


def test_a_challenge_is_sent_back_each_time_even_before_the_subscription_has_a_name() -> None:
    """E-59b: the server has not answered `events/subscribe` yet; a duplicate gets the same answer."""
    hook = Hook(room=False)
    assert hook.endpoint.id is None
    for _ in range(3):
        answer = hook.post({"type": "verification", "challenge": "n0nce"}, message_id="msg_verification_1")
        assert (answer.status, answer.body) == (200, {"challenge": "n0nce"})
        assert answer.headers["Content-Type"] == "application/json"
    assert hook.kept == []


def test_envelopes_are_handed_on_and_unknown_ones_skipped(caplog: pytest.LogCaptureFixture) -> None:
    hook = Hook()
    error = {"code": -32024, "message": "Forbidden"}
    assert hook.post({"type": "gap", "cursor": "p:140"}, message_id="msg_gap_1").status == 202
    assert hook.post({"type": "terminated", "error": error}, message_id="msg_terminated_1").status == 202
    assert hook.post({"type": "moved"}, message_id="msg_moved_1").status == 202
    assert hook.kept == [Gap("p:140"), Terminated(error)]
    assert "'moved'" in caplog.text


def test_what_comes_twice_is_kept_once() -> None:
    """An event by its id, whatever the message is called; an envelope by the message's."""
    hook = Hook()
    for message_id in ("msg_1", "msg_1", "msg_2"):
        assert hook.post(event(1), message_id=message_id).status == 202
    for message_id in ("msg_gap_1", "msg_gap_1", "msg_gap_2"):
        assert hook.post({"type": "gap", "cursor": "p:1"}, message_id=message_id).status == 202
    assert hook.kept == [Occurrence("e-1", event(1)), Gap("p:1"), Gap("p:1")]


def test_only_so_many_ids_are_remembered() -> None:
    hook = Hook()
    for number in range(REMEMBERED + 1):
        assert hook.endpoint.take(("event", str(number)), Gap(None))
    assert hook.endpoint.take(("event", str(REMEMBERED)), Gap(None))
    assert len(hook.kept) == REMEMBERED + 1
    assert hook.endpoint.take(("event", "0"), Gap(None))
    assert len(hook.kept) == REMEMBERED + 2


def test_without_room_the_server_is_to_come_again() -> None:
    hook = Hook(room=False)
    assert hook.post(event(1)).status == 503
    hook.room = True
    assert hook.post(event(1)).status == 202
    assert hook.post(event(1)).status == 202
    assert len(hook.kept) == 1


def test_a_consumer_that_fails_has_kept_nothing() -> None:
    hook = Hook()

    def fail(_: object) -> bool:
        raise RuntimeError("no disk")

    hook.endpoint.on_delivery = fail
    with pytest.raises(RuntimeError):
        hook.post(event(1))
    hook.endpoint.on_delivery = hook.keep
    assert hook.post(event(1)).status == 202
    assert len(hook.kept) == 1


def test_a_duplicate_is_not_accepted_while_the_first_may_still_fail() -> None:
    """A 2xx for the second would be the end of the event if the first then finds no room."""
    hook = Hook()
    answers: list[int] = []

    def keep(_: object) -> bool:
        answers.append(Background(lambda: hook.post(event(1)).status).result())
        return False

    hook.endpoint.on_delivery = keep
    assert hook.post(event(1)).status == 503
    assert answers == [503]


# ------------------------------------------------------------------------------------------------------------ signatures


def test_any_signature_may_match_and_unknown_kinds_are_skipped() -> None:
    hook = Hook()
    other = Hook().endpoint.secret
    assert hook.post(event(1), [other, hook.endpoint.secret]).status == 202
    body, headers = signed(hook.endpoint.secret, event(2), timestamp=int(NOW))
    headers["webhook-signature"] = f"v1a,AAAA {headers['webhook-signature']}"
    assert hook.caller.post(hook.token, body, headers).status == 202
    assert len(hook.kept) == 2


@pytest.mark.parametrize("tampered", ["body", "webhook-id", "webhook-timestamp", "webhook-signature", "space"])
def test_what_was_changed_on_the_way_is_refused(tampered: str) -> None:
    hook = Hook()
    body, headers = signed(hook.endpoint.secret, event(1), timestamp=int(NOW))
    if tampered in headers:
        headers[tampered] += "0"
    else:
        body += b" " if tampered == "space" else b'"'
    assert hook.caller.post(hook.token, body, headers).status == 401
    assert hook.kept == []


def test_a_challenge_with_a_bad_signature_is_not_sent_back() -> None:
    hook = Hook()
    answer = hook.post({"type": "verification", "challenge": "n0nce"}, Hook().endpoint.secret)
    assert answer.status == 401
    assert "n0nce" not in str(answer)


def test_the_body_is_not_even_looked_at_before_the_signature() -> None:
    assert Hook().post(b"{", Hook().endpoint.secret).status == 401


@pytest.mark.parametrize(("seconds", "status"), [(-301, 401), (-300, 202), (300, 202), (301, 401)])
def test_a_delivery_that_is_not_of_now_is_refused(seconds: int, status: int) -> None:
    hook = Hook()
    assert hook.post(event(1), timestamp=int(NOW) + seconds).status == status


def test_a_timestamp_that_is_none_is_refused() -> None:
    assert Hook().post(event(1), timestamp="noon").status == 401


def test_header_text_beyond_ascii_is_signed_as_its_bytes() -> None:
    hook = Hook()
    body, headers = signed(hook.endpoint.secret, event(1), message_id="évé", timestamp=int(NOW))
    headers["webhook-id"] = "évé".encode().decode("latin-1")
    assert hook.caller.post(hook.token, body, headers).status == 202
    body, headers = signed(hook.endpoint.secret, event(2), message_id="\udcff", timestamp=int(NOW))
    headers["webhook-id"] = "\xff"
    assert hook.caller.post(hook.token, body, headers).status == 202


def test_both_secrets_are_good_while_they_change_and_the_old_one_an_hour_longer() -> None:
    """E-59."""
    hook = Hook()
    old = hook.endpoint.secret
    hook.endpoint.rotate()
    new = hook.endpoint.secret
    assert new != old
    assert hook.post(event(1), old).status == 202
    assert hook.post(event(2), new).status == 202
    assert hook.post(event(3), [new, old]).status == 202

    hook.endpoint.rotated(new, hook.now)
    hook.now += GRACE - 1
    assert hook.post(event(4), old).status == 202
    hook.endpoint.rotated(new, hook.now)
    hook.now += 2
    assert hook.post(event(5), old).status == 401
    assert hook.post(event(5), new).status == 202


# --------------------------------------------------------------------------------------------------------- other requests


@pytest.mark.parametrize("header", ["webhook-id", "webhook-timestamp", "webhook-signature", "x-mcp-subscription-id"])
@pytest.mark.parametrize("value", [None, ""])
def test_each_header_is_needed(header: str, value: str | None) -> None:
    answer = Hook().post(event(1), **{header.replace("-", "_"): value})
    assert answer.status == 400
    assert header in answer.body["error"]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_only_post_is_taken(method: str) -> None:
    hook = Hook()
    answer = hook.caller.post(hook.token, *signed(hook.endpoint.secret, event(1)), method)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("media_type", ["text/plain", "application/json5", None, ""])
def test_only_json_is_taken(media_type: str | None) -> None:
    assert Hook().post(event(1), content_type=media_type).status == 415


def test_json_may_say_its_charset() -> None:
    assert Hook().post(event(1), content_type="Application/JSON; charset=utf-8").status == 202


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"type": "gap", "cursor": 5}'])
def test_a_signed_body_that_means_nothing_is_refused(body: bytes) -> None:
    hook = Hook()
    assert hook.post(body).status == 400
    assert hook.kept == []


def test_a_body_may_be_so_large_and_no_larger() -> None:
    def padded(size: int) -> bytes:
        start = b'{"type": "moved", "to": "'
        return start + b"x" * (size - len(start) - 2) + b'"}'

    hook = Hook(options={"body_bytes": 1000})
    assert hook.post(padded(1000)).status == 202
    assert hook.post(padded(1001)).status == 413
    assert hook.post(padded(500_000)).status == 413
    hook.caller.environ = {"CONTENT_LENGTH": "", "wsgi.input_terminated": True}
    assert hook.post(padded(1000)).status == 202
    assert hook.post(padded(1001)).status == 413


def test_the_default_limit_is_one_mebibyte() -> None:
    hook = Hook()
    assert hook.post(b" " * (1 << 20)).status == 400
    assert hook.post(b" " * ((1 << 20) + 1)).status == 413


@pytest.mark.parametrize(("length", "status"), [("", 411), ("many", 400), ("-5", 400), ("\u00b2", 400), ("1000", 400)])
def test_a_length_that_does_not_fit_is_refused(length: str, status: int) -> None:
    hook = Hook()
    hook.caller.environ["CONTENT_LENGTH"] = length
    assert hook.post(event(1)).status == status


def test_an_unknown_subscription_is_for_later() -> None:
    hook = Hook()
    for token in ("", "elsewhere", hook.token.lower()[:-1]):
        assert hook.post(event(1), token=token).status == 503
    hook.endpoint.close()
    hook.endpoint.close()
    assert hook.post(event(1)).status == 503


def test_a_subscription_is_also_found_by_the_servers_name_for_it() -> None:
    """A gateway that rewrites paths; for a pending one there is no name yet."""
    hook = Hook()
    assert hook.post(event(1), token="", subscription_id="sub_1").status == 503
    hook.endpoint.id = "sub_1"
    assert hook.post(event(1), token="", subscription_id="sub_1").status == 202


def test_after_closing_nothing_is_taken() -> None:
    hook = Hook()
    hook.receiver.close()
    assert hook.post(event(1)).status == 503


def test_a_forked_child_takes_nothing_for_its_parent() -> None:
    """The child of a preforking server has a copy of the queue that nobody reads."""
    hook = Hook()
    hook.receiver.forked()
    assert hook.post(event(1)).status == 503
    assert hook.kept == []


# --------------------------------------------------------------------------------------------------- settings and secrets


@pytest.mark.parametrize(
    "url", ["", "hooks", "ftp://a/", "https:///x", "https://a/?x=s3cret", "https://a/#s3cret", "https://me:s3cret@a/"]
)
def test_the_public_address_is_checked(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        WebhookReceiver(url)
    assert "s3cret" not in str(caught.value)


def test_an_address_without_tls_must_be_asked_for() -> None:
    """E-51."""
    with pytest.raises(ConfigError, match="allow_http"):
        WebhookReceiver("http://127.0.0.1/").endpoint(lambda _: True)
    assert WebhookReceiver("http://127.0.0.1/", allow_http=True).endpoint(lambda _: True).url.startswith("http://127")


def test_an_address_there_must_be() -> None:
    with pytest.raises(ConfigError, match="public_url"):
        WebhookReceiver().endpoint(lambda _: True)


def test_neither_logs_nor_representations_show_secrets(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    hook = Hook()
    secret = hook.endpoint.secret
    hook.endpoint.rotate()
    answers = [
        hook.post(event(1)),
        hook.post(event(2), Hook().endpoint.secret),
        hook.post(event(3), token="elsewhere"),
        hook.post(b"{"),
        hook.post({"type": "moved"}),
    ]
    assert [answer.status for answer in answers] == [202, 401, 503, 400, 202]
    assert len(caplog.records) == 4
    shown = f"{caplog.text} {hook.endpoint!r} {hook.receiver!r} {answers}"
    for hidden in (secret, hook.endpoint.secret, hook.token, secret.removeprefix("whsec_")):
        assert hidden not in shown

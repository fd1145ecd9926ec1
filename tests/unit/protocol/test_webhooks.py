"""Secrets, signatures, bodies and refresh times of webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import InvalidMessage
from syncline.protocol import webhooks
from syncline.protocol.webhooks import Gap, Occurrence, Terminated, Unknown, Verification

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()
EVENT = {"eventId": "e-1", "name": "build.finished", "timestamp": "2026-11-03T10:11:12Z", "data": {"status": "red"}}

bodies = st.binary(max_size=200)
texts = st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=30)


def parse(value: object) -> webhooks.Delivery:
    return webhooks.parse(json.dumps(value).encode())


# ---------------------------------------------------------------------------------------------------------------- secrets


def test_a_secret_is_32_random_bytes_in_padded_base64() -> None:
    """E-51."""
    made = {webhooks.new_secret() for _ in range(20)}
    assert len(made) == 20
    for secret in made:
        assert secret.startswith("whsec_")
        encoded = secret.removeprefix("whsec_")
        assert len(base64.b64decode(encoded, validate=True)) == 32
        assert len(encoded) % 4 == 0


@pytest.mark.parametrize("size", [24, 64])
def test_secrets_of_24_to_64_bytes_are_used(size: int) -> None:
    secret = "whsec_" + base64.b64encode(b"k" * size).decode()
    assert webhooks.verify([secret], "m", "1", b"", webhooks.sign(secret, "m", "1", b""))


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "whsec_",
        SECRET.removeprefix("whsec_"),
        SECRET.rstrip("="),
        "whsec_" + base64.b64encode(b"k" * 23).decode(),
        "whsec_" + base64.b64encode(b"k" * 65).decode(),
        "whsec_" + "é" * 44,
        SECRET.replace("A", "*"),
    ],
)
def test_anything_else_is_no_secret_and_is_not_shown(secret: str) -> None:
    with pytest.raises(ValueError, match="24 to 64 bytes") as caught:
        webhooks.sign(secret, "m", "1", b"")
    assert len(secret) < 10 or secret not in str(caught.value)


# ------------------------------------------------------------------------------------------------------------- signatures


def test_a_signature_is_the_hmac_of_id_timestamp_and_body() -> None:
    expected = hmac.new(bytes(range(32)), b'msg_1.1730000000.{"a": 1}', hashlib.sha256).digest()
    assert webhooks.sign(SECRET, "msg_1", "1730000000", b'{"a": 1}') == "v1," + base64.b64encode(expected).decode()


def test_the_published_example_of_standard_webhooks() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    body = b'{"test": 2432232314}'
    assert webhooks.verify([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body, signature)


@given(texts, texts, bodies)
def test_what_was_signed_is_verified(message_id: str, timestamp: str, body: bytes) -> None:
    assert webhooks.verify([SECRET], message_id, timestamp, body, webhooks.sign(SECRET, message_id, timestamp, body))


@given(st.binary(min_size=1, max_size=200), st.integers(min_value=0), st.integers(min_value=1, max_value=255))
def test_one_changed_byte_is_noticed(body: bytes, place: int, change: int) -> None:
    signature = webhooks.sign(SECRET, "m", "1", body)
    changed = bytearray(body)
    changed[place % len(changed)] ^= change
    assert not webhooks.verify([SECRET], "m", "1", bytes(changed), signature)
    assert not webhooks.verify([SECRET], "M", "1", body, signature)
    assert not webhooks.verify([SECRET], "m", "01", body, signature)
    assert not webhooks.verify([OTHER], "m", "1", body, signature)


@given(st.text(max_size=100))
def test_any_text_as_a_signature_is_refused(signatures: str) -> None:
    assert not webhooks.verify([SECRET], "m", "1", b"body", signatures)


def test_any_signature_and_any_secret_may_match() -> None:
    """E-59: during a rotation the server signs with both secrets, or still with the old one."""
    good, other = (webhooks.sign(secret, "m", "1", b"x") for secret in (SECRET, OTHER))
    for signatures in (good, f"{other} {good}", f"v1a,AAAA v1,AAAA {good}", f"{good}  v2,{good[3:]}"):
        assert webhooks.verify([SECRET], "m", "1", b"x", signatures), signatures
    assert webhooks.verify([SECRET, OTHER], "m", "1", b"x", other)
    assert webhooks.verify([OTHER, SECRET], "m", "1", b"x", other)


def test_signatures_of_unknown_versions_alone_are_not_enough() -> None:
    digest = webhooks.sign(SECRET, "m", "1", b"x")[3:]
    for signatures in ("", digest, f"v1a,{digest}", f"v2,{digest}", f"V1,{digest}", f"v1,{digest[:-2]}", "v1,"):
        assert not webhooks.verify([SECRET], "m", "1", b"x", signatures), signatures
    assert not webhooks.verify([], "m", "1", b"x", f"v1,{digest}")


@pytest.mark.parametrize(
    ("timestamp", "timely"),
    [
        ("1000", True),
        ("700", True),
        ("1300", True),
        ("699", False),
        ("1301", False),
        ("-1000", False),
        ("1000.0", False),
        (" 1000", False),
        ("", False),
        ("\N{ARABIC-INDIC DIGIT ONE}", False),
        ("9" * 5000, False),
    ],
)
def test_a_timestamp_may_be_five_minutes_off(timestamp: str, timely: bool) -> None:
    """5.9: not older, and not further ahead."""
    assert webhooks.is_timely(timestamp, 1000.0) is timely


# ----------------------------------------------------------------------------------------------------------------- bodies


def test_a_body_without_a_type_is_an_occurrence() -> None:
    event = {**EVENT, "cursor": "p:91", "_meta": {"a": 1}, "added": True}
    assert parse(event) == Occurrence("e-1", event)
    assert parse({**EVENT, "cursor": None}) == Occurrence("e-1", {**EVENT, "cursor": None})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"type": "verification", "challenge": "n0nce"}, Verification("n0nce")),
        ({"type": "gap", "cursor": "p:140"}, Gap("p:140")),
        ({"type": "gap", "cursor": None}, Gap(None)),
        ({"type": "gap"}, Gap(None)),
        (
            {"type": "terminated", "error": {"code": -32024, "message": "no"}},
            Terminated({"code": -32024, "message": "no"}),
        ),
        ({"type": "terminated"}, Terminated(None)),
        ({"type": "terminated", "error": None}, Terminated(None)),
        ({"type": "renamed", "to": "x"}, Unknown("renamed")),
        ({"type": "", **EVENT}, Unknown("")),
    ],
)
def test_a_body_with_a_type_is_an_envelope(body: dict[str, Any], expected: webhooks.Delivery) -> None:
    assert parse(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b'{"type": 1}',
        b'{"type": "verification"}',
        b'{"type": "verification", "challenge": 7}',
        b'{"type": "gap", "cursor": 7}',
        b'{"eventId": "e", "name": "n", "timestamp": "t", "data": NaN}',
        b"[" * 100_000,
        *(json.dumps({key: value for key, value in EVENT.items() if key != left_out}).encode() for left_out in EVENT),
        *(json.dumps({**EVENT, key: 5}).encode() for key in (*EVENT, "cursor")),
    ],
    ids=lambda body: body[:40].decode("latin-1"),
)
def test_anything_else_is_malformed(body: bytes) -> None:
    with pytest.raises(InvalidMessage):
        webhooks.parse(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
members = st.sampled_from(["type", "challenge", "cursor", "error", *EVENT])


@given(st.dictionaries(members, json_values | st.sampled_from(["verification", "gap", "terminated"]), max_size=8))
def test_any_object_is_one_thing_or_malformed(value: dict[str, Any]) -> None:
    try:
        delivery = parse(value)
    except InvalidMessage:
        return
    assert isinstance(delivery, Occurrence) is ("type" not in value)


@given(bodies)
def test_any_other_bytes_are_malformed(body: bytes) -> None:
    with pytest.raises(InvalidMessage):
        webhooks.parse(b"\0" + body)


# ------------------------------------------------------------------------------------------------------------------ times

NOON = datetime(2026, 11, 3, 12, tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("refresh_before", "seconds"),
    [
        ("2026-11-03T12:11:12Z", 672.0),
        ("2026-11-03T12:11:12+00:00", 672.0),
        ("2026-11-03T14:11:12.5+02:00", 672.5),
        ("2026-11-03T06:41:12-0530", 672.0),
        ("2026-11-03 12:11:12.123456789z", 672.123456789),
        ("2026-11-03T12:11:12", 672.0),
        ("2026-11-03T11:00:00Z", 0.0),
        ("2026-13-03T12:00:00Z", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        (None, None),
    ],
)
def test_the_grant_is_counted_from_the_servers_now(refresh_before: str | None, seconds: float | None) -> None:
    """E-54."""
    granted = webhooks.grant(refresh_before, NOON)
    assert granted == (None if seconds is None else pytest.approx(seconds))


@given(st.integers(min_value=10**8, max_value=10**10), st.integers(min_value=-14 * 60, max_value=14 * 60))
def test_any_time_zone_means_the_same(moment: int, minutes: int) -> None:
    there = datetime.fromtimestamp(moment, timezone(timedelta(minutes=minutes)))
    assert webhooks.grant(there.isoformat(), moment - 60.0) == 60.0


@given(st.text(max_size=40))
def test_any_text_as_a_time_is_read_or_counts_as_over(text: str) -> None:
    granted = webhooks.grant(text, NOON)
    assert granted is not None
    assert granted >= 0


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Tue, 03 Nov 2026 12:00:00 GMT", 0.0),
        ("Tue, 03 Nov 2026 12:01:40 GMT", 100.0),
        ("Tue, 03 Nov 2026 11:59:00 GMT", -60.0),
        ("Tuesday, 03-Nov-26 12:00:10 GMT", 10.0),
        ("Tue, 03 Nov 99999 12:00:00 GMT", 0.0),
        ("noon", 0.0),
        ("", 0.0),
        (None, 0.0),
    ],
)
def test_the_servers_clock_is_read_from_its_answers(date: str | None, seconds: float) -> None:
    """E-55."""
    assert webhooks.skew(date, NOON) == seconds


chances = st.floats(min_value=0, max_value=1)


@given(st.floats(min_value=0, max_value=1e9), chances)
def test_a_refresh_comes_at_about_half_of_the_grant_but_never_in_a_hurry(granted: float, chance: float) -> None:
    """E-55; a grant that is over already, by clocks that differ, must not make us hammer."""
    delay = webhooks.refresh_after(granted, chance)
    assert max(5.0, 0.4 * granted) <= delay <= max(5.0, 0.5 * granted)


def test_a_grant_without_end_is_refreshed_now_and_then() -> None:
    """E-58."""
    assert 3600 < webhooks.refresh_after(None, 1.0) < webhooks.refresh_after(None, 0.0) <= 24 * 3600

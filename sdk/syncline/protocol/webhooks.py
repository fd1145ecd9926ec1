"""Webhooks of the Events extension (SEP-3415): secrets, signatures, bodies, and when to refresh. Pure; the time is passed in.

Signatures follow Standard Webhooks: HMAC-SHA256 over ``id.timestamp.body``, the bytes exactly as they were received.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from syncline.errors import InvalidMessage

SECRET_PREFIX = "whsec_"
#: Random bytes of a secret that is made here, and how many one may have.
SECRET_BYTES = 32
SECRET_RANGE = range(24, 65)
#: Signatures of this version are checked; those of others are skipped.
VERSION = "v1,"
#: Seconds that a delivery's timestamp may be off, in either direction.
WINDOW = 300.0
#: A grant is refreshed after this part of it, less a random share of as much as the second figure.
REFRESH = 0.5, 0.1
#: Seconds that a grant which never ends is taken for.
ENDLESS = 12 * 3600.0
#: The least seconds between two refreshes, whatever the grant and the clocks say.
LEAST = 5.0

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?(?:([Zz])|([+-]\d\d):?(\d\d))?")
_SECONDS = re.compile(r"[0-9]{1,12}")


def new_secret() -> str:
    """A fresh secret: ``whsec_`` and the base64 of 32 random bytes."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    """The signature of one delivery, ``v1,`` and base64.

    Raises:
        ValueError: It is not a secret. The error does not show it.
    """
    head = f"{message_id}.{timestamp}.".encode("utf-8", "surrogateescape")
    return VERSION + base64.b64encode(hmac.new(_key(secret), head + body, hashlib.sha256).digest()).decode()


def verify(accepted: Iterable[str], message_id: str, timestamp: str, body: bytes, signatures: str) -> bool:
    """Whether one of the signatures was made with one of the accepted secrets.

    Args:
        accepted: Secrets: the current one, and during a rotation the one before.
        message_id: The ``webhook-id`` header.
        timestamp: The ``webhook-timestamp`` header, verbatim.
        body: The raw body.
        signatures: The ``webhook-signature`` header: signatures, separated by spaces.
    """
    given = [item.encode("utf-8", "surrogateescape") for item in signatures.split() if item.startswith(VERSION)]
    matched = False
    for secret in accepted:
        expected = sign(secret, message_id, timestamp, body).encode()
        for item in given:
            matched |= hmac.compare_digest(expected, item)
    return matched


def is_timely(timestamp: str, now: float) -> bool:
    """Whether a ``webhook-timestamp`` (seconds since 1970) is at most five minutes away from now, either way."""
    return _SECONDS.fullmatch(timestamp) is not None and abs(int(timestamp) - now) <= WINDOW


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(SECRET_PREFIX) or len(key) not in SECRET_RANGE:
        raise ValueError(f"a webhook secret is {SECRET_PREFIX} and the base64 of 24 to 64 bytes") from None
    return key


@dataclass(frozen=True)
class Occurrence:
    """Something happened; ``event`` is the EventOccurrence as it was sent."""

    event_id: str
    event: Mapping[str, object]


@dataclass(frozen=True)
class Verification:
    """The server wants its challenge back."""

    challenge: str


@dataclass(frozen=True)
class Gap:
    """Occurrences before this cursor may have been missed."""

    cursor: str | None


@dataclass(frozen=True)
class Terminated:
    """The subscription is over; ``error`` is the JSON-RPC error object, None where none was sent."""

    error: Mapping[str, object] | None


@dataclass(frozen=True)
class Unknown:
    """An envelope of a type that is not known here, to be accepted and skipped."""

    type: str


Delivery = Occurrence | Verification | Gap | Terminated | Unknown


def parse(body: bytes) -> Delivery:
    """What a delivery says: an envelope has a ``type``, anything else is an occurrence.

    Raises:
        InvalidMessage: It is neither.
    """
    try:
        value = json.loads(body, parse_constant=int)  # int() refuses NaN and its kin
    except (ValueError, RecursionError) as error:
        raise InvalidMessage("the body is not JSON", raw=body) from error
    if not isinstance(value, dict):
        raise InvalidMessage("the body is not a JSON object", raw=body)
    if "type" in value:
        return _envelope(value)
    for member, kind in (("eventId", str), ("name", str), ("timestamp", str), ("data", dict)):
        if not isinstance(value.get(member), kind):
            raise InvalidMessage(f"an occurrence without a proper {member!r}", raw=value)
    if not isinstance(value.get("cursor"), (str, type(None))):
        raise InvalidMessage("a cursor that is not a string", raw=value)
    return Occurrence(value["eventId"], value)


def _envelope(value: dict[str, object]) -> Delivery:
    kind, cursor, challenge, error = (value.get(member) for member in ("type", "cursor", "challenge", "error"))
    if kind == "verification" and isinstance(challenge, str):
        return Verification(challenge)
    if kind == "gap" and (cursor is None or isinstance(cursor, str)):
        return Gap(cursor)
    if kind == "terminated":
        return Terminated(error if isinstance(error, dict) else None)
    if not isinstance(kind, str) or kind in ("verification", "gap"):
        raise InvalidMessage(f"a malformed envelope of type {kind!r:.50}", raw=value)
    return Unknown(kind)


def grant(refresh_before: str | None, now: float) -> float | None:
    """Seconds until a subscription lapses; None where it never does. A time that cannot be read counts as over.

    Args:
        refresh_before: ``refreshBefore`` of the answer (ISO 8601; without an offset it is UTC).
        now: Seconds since 1970 **by the server's clock** when the answer was made.
    """
    if refresh_before is None:
        return None
    match = _TIME.fullmatch(refresh_before.strip())
    if match is None:
        return 0.0
    day, hour, fraction, _, hours, minutes = match.groups()
    offset = f"{hours}:{minutes}" if hours else "+00:00"
    try:
        end = datetime.fromisoformat(f"{day}T{hour}{offset}").timestamp() + float(fraction or 0)
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, end - now)


def skew(date: str | None, received: float) -> float:
    """Seconds that the server's clock is ahead of ours, by the ``Date`` of an answer (RFC 9110, 6.6.1); 0 without one.

    Args:
        date: The header.
        received: When the answer came, in seconds since 1970 by our clock.
    """
    try:
        return parsedate_to_datetime(date or "").timestamp() - received
    except (TypeError, ValueError, OverflowError):
        return 0.0


def refresh_after(granted: float | None, chance: float) -> float:
    """Seconds from the answer to the next refresh: half of the grant or a little less.

    Args:
        granted: See ``grant``.
        chance: A random number from 0 to 1, so that many subscriptions do not come at once.
    """
    half, spread = REFRESH
    return max(LEAST, (ENDLESS if granted is None else granted) * (half - spread * chance))

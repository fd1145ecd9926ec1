"""What a server offers, and what its errors mean for a subscription."""

from __future__ import annotations

import pytest

from syncline import errors
from syncline.protocol.event_errors import EXTENSION, Dialect, Verdict, advertised, patience, typed, verdict


@pytest.mark.parametrize(
    ("capabilities", "dialect"),
    [
        ({"extensions": {EXTENSION: {}}}, "sep3415"),
        ({"extensions": {EXTENSION: {"listChanged": True}}, "events": {}}, "sep3415"),
        ({"events": {}}, "sketch"),
        ({"experimental": {"events": {}}}, "sketch"),
        ({}, None),
        ({"extensions": {"x/y": {}}}, None),
        ({"extensions": [], "experimental": 7}, None),
        ({"experimental": {}}, None),
    ],
)
def test_how_servers_advertise(capabilities: dict[str, object], dialect: str | None) -> None:
    """E-1, 5.16."""
    assert advertised(capabilities) == dialect


def error(code: int, data: object = None, status: int | None = None) -> errors.ServerError:
    return errors.server_error(code, "m", data, status)


@pytest.mark.parametrize(
    ("sep", "sketch", "kind"),
    [
        (-32023, -32011, errors.EventNotFound),
        (-32024, -32012, errors.EventForbidden),
        (-32025, -32013, errors.EventsExhausted),
        (-32026, -32014, errors.EventUnsupported),
        (-32027, -32015, errors.CallbackEndpointError),
    ],
)
def test_codes_mean_what_their_dialect_says(sep: int, sketch: int, kind: type[errors.EventError]) -> None:
    """5.10."""
    assert type(typed(error(sep, {"kind": "event"}), "sep3415")) is kind
    assert type(typed(error(sketch), "sketch")) is kind
    assert type(typed(error(sep), "sketch")) is errors.ServerError
    assert type(typed(error(sketch), "sep3415")) is errors.ServerError


def test_typed_errors_keep_what_they_know() -> None:
    before = error(-32023, {"kind": "event"}, 404).at("s", "events/poll", 7)
    after = typed(before, "sep3415")
    assert isinstance(after, errors.EventNotFound)
    assert vars(after) == vars(before)


@pytest.mark.parametrize("dialect", ["sep3415", "sketch"])
@pytest.mark.parametrize("other", [error(-32602), errors.ConnectionLost("m")], ids=["params", "lost"])
def test_other_errors_stay_what_they_are(other: errors.SynclineError, dialect: Dialect) -> None:
    assert typed(other, dialect) is other


@pytest.mark.parametrize(
    ("problem", "meaning"),
    [
        (errors.EventNotFound("m", code=-32023), Verdict.RELIST),
        (errors.EventUnsupported("m", code=-32026, data={"reason": "schema_changed"}), Verdict.RELIST),
        (errors.EventUnsupported("m", code=-32026, data={"feature": "push"}), Verdict.STOP),
        (errors.EventUnsupported("m", code=-32026), Verdict.STOP),
        (errors.EventForbidden("m", code=-32024), Verdict.STOP),
        (errors.EventsExhausted("m", code=-32025), Verdict.RETRY),
        (error(-32602), Verdict.STOP),
        (error(-32601, status=404), Verdict.STOP),
        (error(-32603), Verdict.RETRY),
        (error(-1, status=500), Verdict.RETRY),
        (error(-1), Verdict.STOP),
        (errors.HttpStatusError("m", status=503), Verdict.RETRY),
        (errors.HttpStatusError("m", status=429), Verdict.RETRY),
        (errors.HttpStatusError("m", status=403), Verdict.STOP),
        (errors.AuthRequired("m", www_authenticate=None), Verdict.STOP),
        (errors.LocalProtocolError("m"), Verdict.STOP),
        (errors.ConnectionLost("m"), Verdict.RETRY),
        (errors.RequestTimeout("m"), Verdict.RETRY),
        (errors.SessionExpired("m"), Verdict.RETRY),
        (errors.UnexpectedMessage("m"), Verdict.RETRY),
        (errors.StreamOverflow("m"), Verdict.RETRY),
    ],
)
def test_what_errors_mean_for_a_subscription(problem: errors.SynclineError, meaning: Verdict) -> None:
    """5.10, E-25."""
    assert verdict(problem) is meaning


def test_how_long_a_server_wants_to_be_left_alone() -> None:
    assert patience(errors.HttpStatusError("m", status=503, retry_after=7.0)) == 7.0
    assert patience(errors.EventsExhausted("m", code=-32025)) == 30.0
    assert patience(errors.ConnectionLost("m")) is None

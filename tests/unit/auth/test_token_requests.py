"""What is sent to a token endpoint, and what it answers."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import token_requests
from syncline.auth.token_requests import DeviceCodes, Form, TokenAnswer, TokenRefusal

MCP = "https://notes.test/v2/mcp"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
FULL = {
    "access_token": "planted",
    "token_type": "Bearer",
    "expires_in": 3600,
    "refresh_token": "planted",
    "scope": "a b",
}


def answer(document: object, status: int = 200, kind: str = "bearer") -> TokenAnswer | TokenRefusal:
    return token_requests.read_answer(status, json.dumps(document).encode(), kind)


# ----------------------------------------------------------------------------------------------------------------- requests


@pytest.mark.parametrize(
    ("form", "sent"),
    [
        (
            token_requests.code_form("c", "http://127.0.0.1:1/cb", "v", MCP),
            {
                "grant_type": "authorization_code",
                "code": "c",
                "redirect_uri": "http://127.0.0.1:1/cb",
                "code_verifier": "v",
            },
        ),
        (token_requests.refresh_form("r", MCP), {"grant_type": "refresh_token", "refresh_token": "r"}),
        (token_requests.client_credentials_form(MCP, ("a", "b")), {"grant_type": "client_credentials", "scope": "a b"}),
        (
            token_requests.device_form("d", MCP),
            {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "d"},
        ),
        (token_requests.device_authorization_form(MCP, ("a",)), {"scope": "a"}),
        (
            token_requests.assertion_form("j", MCP, ("a",)),
            {"grant_type": JWT_BEARER, "assertion": "j", "scope": "a"},
        ),
        (
            token_requests.exchange_form(
                "s", token_requests.ID_TOKEN, audience="https://id.test", resource=MCP, scopes=("a",)
            ),
            {
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
                "subject_token": "s",
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
                "audience": "https://id.test",
                "scope": "a",
            },
        ),
    ],
)
def test_what_is_sent(form: Form, sent: dict[str, str]) -> None:
    """K-3, R-1, R-2, F-4, CC-4, EM-2, EM-4, WI-1: the resource is in each of them; a refresh asks for no scopes."""
    assert form == {**sent, "resource": MCP}


def test_what_is_not_there_is_not_sent() -> None:
    """H-4, S-1."""
    assert token_requests.client_credentials_form(None, ()) == {"grant_type": "client_credentials"}
    assert token_requests.refresh_form("r", None) == {"grant_type": "refresh_token", "refresh_token": "r"}


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=5), st.text(st.characters(codec="utf-8"), max_size=10)
    )
)
def test_bodies_are_forms(form: Form) -> None:
    """K-3."""
    body = token_requests.encode(form).decode("ascii")
    assert parse_qsl(body, keep_blank_values=True) == list(form.items())


# ------------------------------------------------------------------------------------------------------------------ answers


def test_a_whole_answer() -> None:
    """K-5, S-7."""
    assert answer(FULL) == TokenAnswer("planted", "bearer", 3600.0, "planted", ("a", "b"))


@pytest.mark.parametrize(
    ("change", "expires_in", "refresh_token", "scopes"),
    [
        ({"expires_in": "3600", "scope": None}, 3600.0, "planted", None),
        ({"expires_in": None, "refresh_token": None, "scope": ""}, None, None, None),
        ({"expires_in": -1, "scope": "a  b"}, None, "planted", None),
        ({"expires_in": 0, "scope": " a "}, 0.0, "planted", ("a",)),
        ({"expires_in": True}, None, "planted", ("a", "b")),
        ({"expires_in": 2**63 - 1}, 3_153_600_000.0, "planted", ("a", "b")),
        ({"expires_in": 59.5, "token_type": "BEARER"}, 59.5, "planted", ("a", "b")),
        ({"expires_in": "soon", "error": None, "id_token": None}, None, "planted", ("a", "b")),
    ],
)
def test_odd_answers(
    change: dict[str, object], expires_in: float | None, refresh_token: str | None, scopes: tuple[str, ...] | None
) -> None:
    """K-5, F-2, S-7, B159: null is absent, numbers may be text, and no time is neither never nor now."""
    assert answer({**FULL, **change}) == TokenAnswer("planted", "bearer", expires_in, refresh_token, scopes)


@pytest.mark.parametrize(
    "change",
    [
        {"access_token": None},
        {"access_token": ""},
        {"access_token": "planted\r\nX-Key: 1"},
        {"access_token": "planted planted"},
        {"access_token": "plänted"},
        {"access_token": 5},
        {"token_type": None},
        {"token_type": "mac"},
        {"token_type": "DPoP"},
        {"token_type": "N_A"},
    ],
)
def test_a_token_that_cannot_be_used(change: dict[str, object]) -> None:
    """K-5, EM-3: nothing that would break a header, and no kind that was not asked for."""
    refused = answer({**FULL, **change})
    assert isinstance(refused, TokenRefusal)
    assert refused.error == "invalid_answer"
    assert not refused.passing
    assert "planted" not in repr(refused)


def test_kinds_of_tokens_that_were_asked_for() -> None:
    """DP-2, EM-3."""
    assert answer({**FULL, "token_type": "DPoP"}, kind="dpop") == TokenAnswer(
        "planted", "dpop", 3600.0, "planted", ("a", "b")
    )
    assert isinstance(answer(FULL, kind="dpop"), TokenRefusal)
    found = answer({"access_token": "j", "token_type": "N_A", "issued_token_type": token_requests.ID_JAG}, kind="n_a")
    assert found == TokenAnswer("j", "n_a", issued_token_type=token_requests.ID_JAG)


@pytest.mark.parametrize(
    ("status", "document", "error", "passing"),
    [
        (400, {"error": "invalid_grant"}, "invalid_grant", False),
        (401, {"error": "invalid_client"}, "invalid_client", False),
        (400, {"error": "authorization_pending"}, "authorization_pending", False),
        (400, {"error": "slow_down"}, "slow_down", True),
        (400, {"error": "temporarily_unavailable"}, "temporarily_unavailable", True),
        (500, {"error": "invalid_grant"}, "invalid_grant", True),
        (503, {}, "http_503", True),
        (429, {"error": 7}, "http_429", True),
        (408, {}, "http_408", True),
        (404, {"detail": "planted"}, "http_404", False),
        (302, FULL, "http_302", False),
        (200, {"error": "invalid_grant"}, "invalid_grant", False),
        (200, {**FULL, "error": "invalid_grant"}, "invalid_grant", False),
    ],
)
def test_refusals(status: int, document: object, error: str, passing: bool) -> None:
    """K-5, F-5: the error that is named, else the status; what passes is told from what does not."""
    refused = answer(document, status)
    assert isinstance(refused, TokenRefusal)
    assert (refused.error, refused.passing, refused.status) == (error, passing, status)
    assert "planted" not in repr(refused)


@pytest.mark.parametrize(
    ("status", "error"), [(200, "invalid_answer"), (204, "invalid_answer"), (502, "http_502"), (403, "http_403")]
)
def test_pages_of_html(status: int, error: str) -> None:
    """Z-11."""
    for read in (token_requests.read_answer, token_requests.read_device_codes):
        refused = read(status, b"<html>planted</html>")
        assert refused == TokenRefusal(error, "it is not JSON", status)


def test_refusals_in_words() -> None:
    assert str(TokenRefusal("invalid_grant", "", 400)) == "invalid_grant"
    refused = answer({"error": "invalid_\x1b[1mgrant", "error_description": "gone\r\nplease log in" + "!" * 300}, 400)
    assert str(refused).startswith("invalid_ [1mgrant: gone please log in!")
    assert len(str(refused)) < 250


@settings(deadline=None)
@given(st.binary(max_size=60) | st.builds(lambda value: json.dumps(value).encode(), st.dictionaries(
    st.sampled_from([*FULL, "error", "error_description", "device_code", "user_code", "verification_uri"]),
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["Bearer", "a b"]) | st.lists(st.none()),
)), st.integers(100, 599))  # fmt: skip
def test_any_answer_is_read_or_refused(body: bytes, status: int) -> None:
    found = token_requests.read_answer(status, body)
    if isinstance(found, TokenAnswer):
        assert 200 <= status < 300
        assert found.access_token.isascii()
        assert found.access_token.isprintable()
    assert token_requests.read_device_codes(status, body)


def test_secrets_are_not_shown() -> None:
    """G-4."""
    assert "planted" not in repr(answer(FULL))


# ------------------------------------------------------------------------------------------------------------------ devices

CODES = {
    "device_code": "planted",
    "user_code": "WDJB-MJHT",
    "verification_uri": "https://id.test/device",
    "expires_in": 600,
}


def test_codes_of_a_device() -> None:
    """RFC 8628, 3.2."""
    complete = {**CODES, "verification_uri_complete": "https://id.test/device?user_code=WDJB-MJHT", "interval": "7"}
    assert token_requests.read_device_codes(200, json.dumps(complete).encode()) == DeviceCodes(
        "planted", "WDJB-MJHT", "https://id.test/device", "https://id.test/device?user_code=WDJB-MJHT", 600.0, 7.0
    )
    found = token_requests.read_device_codes(200, json.dumps({**CODES, "interval": 0}).encode())
    assert isinstance(found, DeviceCodes)
    assert (found.verification_uri_complete, found.interval) == (None, 5.0)
    assert "planted" not in repr(found)


def test_a_device_asks_neither_all_the_time_nor_for_ever() -> None:
    """What it asks may be somebody else's token endpoint."""
    told = {**CODES, "interval": 0.001, "expires_in": 1e12}
    found = token_requests.read_device_codes(200, json.dumps(told).encode())
    assert isinstance(found, DeviceCodes)
    assert (found.interval, found.expires_in) == (1.0, 3600.0)


@pytest.mark.parametrize("name", CODES)
def test_codes_that_are_not_whole(name: str) -> None:
    refused = token_requests.read_device_codes(200, json.dumps({**CODES, name: None}).encode())
    assert isinstance(refused, TokenRefusal)
    assert "planted" not in repr(refused)


def test_codes_that_are_refused() -> None:
    refused = token_requests.read_device_codes(400, b'{"error": "invalid_scope", "error_description": "no"}')
    assert refused == TokenRefusal("invalid_scope", "no", 400)

"""Tokens for a workload, against a server and an authorization server on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import syncline
from tests.fixtures.guarded import Guarded, guarded

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@pytest.fixture
def guard(caplog: pytest.LogCaptureFixture) -> Iterator[Guarded]:
    caplog.set_level(1)
    with guarded(metadata={"grant_types_supported": [JWT_BEARER]}) as guard:
        yield guard
    assert "planted" not in caplog.text
    assert "PRIVATE KEY" not in caplog.text


def connect(guard: Guarded, auth: syncline.WorkloadIdentity) -> syncline.Client:
    return syncline.connect(guard.url, auth=auth, protocol_version="2025-11-25", timeout=20)


@pytest.mark.parametrize("audience", [None, "https://id.test/token"])
def test_the_jwt_of_the_platform_is_fresh_for_each_token(guard: Guarded, audience: str | None) -> None:
    """WI-1, WI-2, WI-5: no client, no secret, no registration; the issuer is the audience unless another one is named."""
    made: list[str] = []

    def assertion(audience: str) -> str:
        made.append(audience)
        return f"planted-jwt-{len(made)}"

    with connect(guard, syncline.WorkloadIdentity(assertion, audience=audience)) as client:
        guard.valid.clear()
        client.ping()
    common = {"grant_type": JWT_BEARER, "resource": guard.url, "scope": "notes"}
    assert [asked.form for asked in guard.asked] == [common | {"assertion": f"planted-jwt-{turn}"} for turn in (1, 2)]
    assert not any("Authorization" in asked.headers for asked in guard.asked)
    assert made == [audience or guard.origin] * 2


def test_a_jwt_may_be_a_text(guard: Guarded) -> None:
    with connect(guard, syncline.WorkloadIdentity("planted-jwt", scopes=["a", "b"])) as client:
        client.ping()
    assert guard.asked[0].form["assertion"] == "planted-jwt"
    assert guard.asked[0].form["scope"] == "a b"


@pytest.mark.parametrize("error", ["invalid_grant", "invalid_scope", "unauthorized_client"])
def test_a_refusal_is_raised_and_nothing_else_is_tried(guard: Guarded, error: str) -> None:
    """WI-4."""
    guard.scripted.append((400, {"error": error}, {}))
    with pytest.raises(syncline.AuthDenied) as caught:
        connect(guard, syncline.WorkloadIdentity("planted-jwt"))
    assert caught.value.error == error
    assert "planted" not in str(caught.value)
    assert len(guard.asked) == 1


def test_an_authorization_server_that_takes_no_jwts_is_shown_none(guard: Guarded) -> None:
    """WI-3."""
    guard.metadata["grant_types_supported"] = ["authorization_code"]
    with pytest.raises(syncline.ConfigError, match="grant_types_supported"):
        connect(guard, syncline.WorkloadIdentity("planted-jwt"))
    assert guard.asked == []


def test_what_the_function_raises_is_raised_by_the_call(guard: Guarded) -> None:
    def assertion(audience: str) -> str:
        raise FileNotFoundError("/var/run/token")

    with pytest.raises(FileNotFoundError):
        connect(guard, syncline.WorkloadIdentity(assertion))


def test_workloads_share_no_tokens(guard: Guarded) -> None:
    for jwt in ("planted-one", "planted-two"):
        with connect(guard, syncline.WorkloadIdentity(jwt)) as client:
            client.ping()
    assert [asked.form["assertion"] for asked in guard.asked] == ["planted-one", "planted-two"]


def test_an_empty_jwt_is_refused_at_once() -> None:
    with pytest.raises(syncline.ConfigError, match="the assertion is empty"):
        syncline.WorkloadIdentity("")


def test_it_shows_no_jwt() -> None:
    assert repr(syncline.WorkloadIdentity("planted")) == "<syncline.WorkloadIdentity memory>"

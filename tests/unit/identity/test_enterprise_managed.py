"""Tokens for a person whom an identity provider vouches for, with all three parties on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jwt
import pytest

import syncline
from syncline.identity.signing import SigningKey
from tests.fixtures.guarded import Guarded, guarded

ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


@pytest.fixture
def guard(caplog: pytest.LogCaptureFixture) -> Iterator[Guarded]:
    caplog.set_level(1)
    metadata = {
        "grant_types_supported": [JWT_BEARER],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt"],
    }
    with guarded(metadata=metadata) as guard:
        yield guard
    assert "planted" not in caplog.text
    assert "PRIVATE KEY" not in caplog.text


@pytest.fixture
def idp() -> Iterator[Guarded]:
    with guarded() as idp:
        yield idp


def vouched(jag: str = "planted-jag", **changes: object) -> tuple[int, object, dict[str, str]]:
    return 200, {"issued_token_type": ID_JAG, "access_token": jag, "token_type": "N_A", "expires_in": 60, **changes}, {}


def enterprise(idp: Guarded, **changes: Any) -> syncline.EnterpriseManaged:
    options = {
        "idp_token_endpoint": f"{idp.origin}/idp/token",
        "idp_client_id": "sso",
        "subject_token": "planted-id-token",
        **changes,
    }
    return syncline.EnterpriseManaged("app", options.pop("secret", "planted-secret"), **options)


def connect(guard: Guarded, auth: syncline.EnterpriseManaged) -> syncline.Client:
    return syncline.connect(guard.url, auth=auth, protocol_version="2025-11-25", timeout=20)


def test_an_id_token_becomes_an_id_jag_and_that_an_access_token(guard: Guarded, idp: Guarded) -> None:
    """EM-1, EM-2, EM-3, EM-4, EM-7, EM-9: at the provider that is configured; the grant's profile need not be announced."""
    idp.scripted.append(vouched())
    with connect(guard, enterprise(idp)) as client:
        client.ping()
    (exchanged,), (granted,) = idp.asked, guard.asked
    assert guard.declared == [{"extensions": {"io.modelcontextprotocol/enterprise-managed-authorization": {}}}]
    assert exchanged.path == "/idp/token"
    assert exchanged.form == {
        "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
        "requested_token_type": ID_JAG,
        "audience": guard.origin,
        "resource": guard.url,
        "scope": "notes",
        "subject_token": "planted-id-token",
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
        "client_id": "sso",
    }
    assert granted.form == {
        "grant_type": JWT_BEARER,
        "assertion": "planted-jag",
        "resource": guard.url,
        "client_id": "app",
    }
    assert granted.basic == "app:planted-secret"
    assert set(guard.proofs) == {("Bearer planted-token-1", None)}


def test_both_steps_are_done_again_for_each_token(guard: Guarded, idp: Guarded) -> None:
    """EM-6, EM-10: an ID-JAG is good for one use."""
    idp.scripted.extend([vouched("planted-1"), vouched("planted-2")])
    tokens = iter(["planted-id-1", "planted-id-2"])
    with connect(guard, enterprise(idp, subject_token=lambda: next(tokens))) as client:
        guard.valid.clear()
        client.ping()
    assert [asked.form["subject_token"] for asked in idp.asked] == ["planted-id-1", "planted-id-2"]
    assert [asked.form["assertion"] for asked in guard.asked] == ["planted-1", "planted-2"]


def test_the_program_proves_itself_at_the_identity_provider(guard: Guarded, idp: Guarded) -> None:
    """EM-2: with its secret there, and never with the one of the authorization server."""
    idp.scripted.append(vouched())
    with connect(guard, enterprise(idp, idp_secret_or_private_key="planted-idp")) as client:
        client.ping()
    assert idp.asked[0].basic == "sso:planted-idp"


def test_keys_in_the_place_of_secrets(guard: Guarded, idp: Guarded) -> None:
    key, idp_key = SigningKey.generate(), SigningKey.generate()
    idp.scripted.append(vouched())
    with connect(guard, enterprise(idp, secret=key.pem, idp_secret_or_private_key=idp_key.pem)) as client:
        client.ping()
    for asked, signed_with, audience in (
        (idp.asked[0], idp_key, f"{idp.origin}/idp/token"),
        (guard.asked[0], key, guard.origin),
    ):
        public = jwt.PyJWK(dict(signed_with.public), algorithm="ES256")
        jwt.decode(asked.form["client_assertion"], public, ["ES256"], audience=audience)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ((400, {"error": "invalid_grant"}, {}), "does not vouch for us .invalid_grant"),
        (vouched(issued_token_type="urn:ietf:params:oauth:token-type:access_token"), "something else than an ID-JAG"),
        (vouched(token_type="Bearer"), "token_type is not n_a"),
    ],
)
def test_an_identity_provider_that_does_not_vouch(guard: Guarded, idp: Guarded, answer: Any, reason: str) -> None:
    idp.scripted.append(answer)
    with pytest.raises(syncline.AuthDenied, match=reason) as caught:
        connect(guard, enterprise(idp))
    assert "planted" not in str(caught.value)
    assert guard.asked == []


def test_an_authorization_server_that_does_not_believe_it(guard: Guarded, idp: Guarded) -> None:
    idp.scripted.append(vouched())
    guard.scripted.append((400, {"error": "invalid_grant"}, {}))
    with pytest.raises(syncline.AuthDenied) as caught:
        connect(guard, enterprise(idp))
    assert caught.value.error == "invalid_grant"
    assert "planted" not in str(caught.value)
    assert (len(idp.asked), len(guard.asked)) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"idp_token_endpoint": "http://idp.test/token?planted"}, "http://idp.test/token cannot be used"),
        ({"idp_token_endpoint": "javascript:alert(1)"}, "cannot be used"),
        ({"subject_token": ""}, "subject_token is empty"),
        ({"idp_client_id": ""}, "client_id is empty"),
        ({"idp_secret_or_private_key": ""}, "secret or private key of 'sso' is empty"),
    ],
)
def test_what_cannot_be_used_is_refused_at_once(idp: Guarded, changes: dict[str, str], reason: str) -> None:
    with pytest.raises(syncline.ConfigError, match=reason):
        enterprise(idp, **changes)


def test_it_shows_nothing_of_the_person(idp: Guarded) -> None:
    assert repr(enterprise(idp)) == "<syncline.EnterpriseManaged memory>"

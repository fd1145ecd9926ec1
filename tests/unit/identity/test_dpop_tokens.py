"""Tokens that are bound to a key, against a server and an authorization server on this machine that want proofs and nonces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest

import syncline
from syncline.auth.stores.file import FileStore
from syncline.auth.stores.memory import MemoryStore
from tests.fixtures.guarded import Guarded, claims, guarded


@pytest.fixture
def guard(caplog: pytest.LogCaptureFixture) -> Iterator[Guarded]:
    caplog.set_level(1)
    with guarded(token_type="DPoP", metadata={"dpop_signing_alg_values_supported": ["ES256"]}) as guard:
        yield guard
    assert "planted" not in caplog.text
    assert "PRIVATE KEY" not in caplog.text


def oauth(guard: Guarded, **options: object) -> syncline.OAuth:
    chosen = {"client_id": "app", "store": MemoryStore(), "visit": guard.agree, "dpop": True, **options}
    return syncline.OAuth(**chosen)  # type: ignore[arg-type]


def connect(guard: Guarded, auth: syncline.OAuth | syncline.ClientCredentials) -> syncline.Client:
    return syncline.connect(guard.url, auth=auth, protocol_version="2025-11-25", timeout=20)


def proofs(guard: Guarded) -> list[str]:
    return [proof for _, proof in guard.proofs if proof is not None]


def key_of(proof: str) -> object:
    return jwt.get_unverified_header(proof)["jwk"]


def test_every_request_has_a_proof_of_its_own(guard: Guarded) -> None:
    """DP-2, DP-3: one key for the token request and all others."""
    with connect(guard, oauth(guard)) as client:
        client.ping()
        client.ping()
    said = [claims(proof) for proof in proofs(guard)]
    assert len(said) == len(guard.proofs) >= 4
    assert {token for token, _ in guard.proofs} == {"DPoP planted-token-1"}
    assert len({each["jti"] for each in said}) == len(said)
    assert {(each["htm"], each["htu"]) for each in said} == {("POST", guard.url)}
    assert all(each["ath"] for each in said)
    asked = guard.asked[0].headers["DPoP"]
    assert claims(asked)["htu"] == f"{guard.origin}/token"
    assert "ath" not in claims(asked)
    assert {str(key_of(proof)) for proof in [asked, *proofs(guard)]} == {str(key_of(asked))}


def test_nonces_of_both_are_taken_up(guard: Guarded) -> None:
    """DP-4: one more request for each, and none after that."""
    guard.nonce, guard.token_nonce = "server-nonce", "token-nonce"
    with connect(guard, oauth(guard)) as client:
        client.ping()
    assert [claims(asked.headers["DPoP"]).get("nonce") for asked in guard.asked] == [None, "token-nonce"]
    assert [claims(proof).get("nonce") for proof in proofs(guard)][1:] == ["server-nonce"] * (len(guard.proofs) - 1)
    assert {token for token, _ in guard.proofs} == {"DPoP planted-token-2"}


def test_the_nonce_of_a_login_is_used_for_the_refresh(guard: Guarded) -> None:
    """DP-4: the latest nonce of each origin is remembered."""
    guard.token_nonce = "token-nonce"
    with connect(guard, oauth(guard)) as client:
        guard.valid.clear()
        client.ping()
    assert [asked.form["grant_type"] for asked in guard.asked] == ["authorization_code"] * 2 + ["refresh_token"]
    assert claims(guard.asked[-1].headers["DPoP"])["nonce"] == "token-nonce"


def test_a_nonce_that_comes_with_an_answer_is_used_for_the_next_request(guard: Guarded) -> None:
    """RFC 9449, 8.2: nothing is refused in between."""
    with connect(guard, oauth(guard)) as client:
        guard.nonce = "first"
        client.ping()
        guard.next_nonce = "second"
        before = len(guard.proofs)
        client.ping()
        client.ping()
    assert [claims(proof)["nonce"] for proof in proofs(guard)[before : before + 2]] == ["first", "second"]


def test_a_refusal_for_want_of_a_nonce_costs_no_login(guard: Guarded) -> None:
    with connect(guard, oauth(guard)) as client:
        guard.nonce = "another"
        client.ping()
    assert len(guard.asked) == 1


def test_a_server_that_wants_a_nonce_and_names_none_ends_the_call(guard: Guarded) -> None:
    guard.refusals.extend([(401, 'DPoP error="use_dpop_nonce"')] * 20)
    with pytest.raises(syncline.SynclineError) as caught:
        connect(guard, oauth(guard))
    assert len(guard.asked) == 1
    assert "planted" not in str(caught.value)


def test_a_token_that_is_refused_after_a_nonce_is_replaced(guard: Guarded) -> None:
    """A person is asked once more, though the message was refused before."""
    auth = oauth(guard)
    connect(guard, auth).close()
    guard.valid.clear()
    guard.nonce = "nonce"
    guard.scripted.append((400, {"error": "invalid_grant"}, {}))  # for the refresh token
    with connect(guard, auth) as client:
        client.ping()
    assert [asked.form["grant_type"] for asked in guard.asked] == [
        "authorization_code",
        "refresh_token",
        "authorization_code",
    ]


def test_a_refreshed_token_is_bound_to_the_same_key(guard: Guarded) -> None:
    with connect(guard, oauth(guard)) as client:
        guard.token_nonce = "token-nonce"
        guard.valid.clear()
        client.ping()
    first, *refreshes = guard.asked
    assert {asked.form["grant_type"] for asked in refreshes} == {"refresh_token"}
    assert {str(key_of(asked.headers["DPoP"])) for asked in refreshes} == {str(key_of(first.headers["DPoP"]))}
    assert guard.proofs[-1][0] == f"DPoP planted-token-{len(guard.asked)}"


def test_the_key_is_kept_with_the_tokens(guard: Guarded, tmp_path: Path) -> None:
    """DP-6: another process uses both; nothing shows the key."""
    for _ in range(2):
        auth = oauth(guard, store=FileStore(directory=tmp_path))
        with connect(guard, auth) as client:
            client.ping()
        (credentials,) = auth.tokens(guard.url).stored()
        assert "PRIVATE KEY" in (credentials.private_key or "")
        assert "PRIVATE KEY" not in repr(credentials)
        assert credentials.token_type == "dpop"
    assert len(guard.asked) == 1
    assert {str(key_of(proof)) for proof in proofs(guard)} == {str(key_of(guard.asked[0].headers["DPoP"]))}


def test_bearer_tokens_that_are_kept_are_not_used(guard: Guarded) -> None:
    store = MemoryStore()
    guard.token_type = "Bearer"
    connect(guard, oauth(guard, store=store, dpop=False)).close()
    guard.token_type = "DPoP"
    guard.proofs.clear()
    with connect(guard, oauth(guard, store=store)) as client:
        client.ping()
    assert {token for token, _ in guard.proofs} == {"DPoP planted-token-2"}


def test_bound_tokens_that_are_kept_are_used_as_such(guard: Guarded) -> None:
    store = MemoryStore()
    connect(guard, oauth(guard, store=store)).close()
    with connect(guard, oauth(guard, store=store, dpop=False, visit=None)) as client:
        client.ping()
    assert {token for token, _ in guard.proofs} == {"DPoP planted-token-1"}


@pytest.mark.parametrize("algorithms", [None, [], ["RS256"]])
def test_an_authorization_server_that_takes_no_such_proofs_is_a_setting_to_change(
    guard: Guarded, algorithms: list[str] | None
) -> None:
    """DP-1: it has to announce the algorithm of the key, too; it is told nothing, and nobody is asked."""
    guard.metadata["dpop_signing_alg_values_supported"] = algorithms
    with pytest.raises(syncline.ConfigError, match="log in without DPoP"):
        connect(guard, oauth(guard))
    assert guard.asked == []


def test_a_bearer_token_in_the_answer_is_refused(guard: Guarded) -> None:
    """DP-2: the token would be of use to whoever finds it."""
    guard.scripted.append((200, {"access_token": "planted", "token_type": "Bearer"}, {}))
    with pytest.raises(syncline.AuthDenied, match="token_type is not dpop"):
        connect(guard, oauth(guard))


def test_logging_in_beforehand(guard: Guarded) -> None:
    """The server is asked whether it takes the new token, with the nonce that it wants."""
    store = MemoryStore()
    guard.nonce = guard.token_nonce = "nonce"
    status = syncline.login(guard.url, visit=guard.agree, client_id="app", store=store, dpop=True)
    assert status.resource == guard.url
    assert claims(proofs(guard)[-1])["nonce"] == "nonce"
    before = len(guard.asked)
    with connect(guard, oauth(guard, store=store, visit=None)) as client:
        client.ping()
    assert len(guard.asked) == before


def test_more_scopes_for_a_bound_token(guard: Guarded) -> None:
    with connect(guard, oauth(guard)) as client:
        guard.refusals.append((403, 'DPoP error="insufficient_scope", scope="more"'))
        client.ping()
    assert len(guard.asked) == 2
    assert guard.proofs[-1][0] == "DPoP planted-token-2"


def test_a_program_binds_its_tokens_too(guard: Guarded) -> None:
    guard.nonce = guard.token_nonce = "nonce"
    with connect(guard, syncline.ClientCredentials("app", "planted", dpop=True)) as client:
        client.ping()
    assert guard.proofs[-1][0] == "DPoP planted-token-2"
    assert claims(proofs(guard)[-1])["nonce"] == "nonce"

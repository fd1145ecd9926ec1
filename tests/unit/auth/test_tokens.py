"""Credentials: compared, shown, written and read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.auth.tokens import CredentialKey, Credentials, belonging
from syncline.errors import CredentialStoreError

SAMPLE = Credentials(
    issuer="https://id.example/acme",
    resource="https://notes.example/mcp",
    client_id="client-1",
    access_token="planted-access-secret",
    client_secret="planted-client-secret",
    refresh_token="planted-refresh-secret",
    scopes=("notes:read",),
    requested=("notes:read", "notes:write"),
    expires_at=1000.0,
    obtained_at=400.0,
    principal="login-1",
    extra={"later": "later-secret"},
)
SECRETS = ("planted-access-secret", "planted-client-secret", "planted-refresh-secret", "later-secret")

texts = st.text(st.characters(codec=None, categories=None), max_size=30)
times = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 2**53)
credentials = st.builds(
    Credentials,
    issuer=texts,
    resource=texts,
    client_id=texts,
    access_token=texts,
    client=texts,
    client_secret=st.none() | texts,
    client_secret_expires_at=times,
    auth_method=st.none() | texts,
    redirect_uri=st.none() | texts,
    token_type=texts,
    refresh_token=st.none() | texts,
    scopes=st.lists(texts, max_size=3).map(tuple),
    requested=st.lists(texts, max_size=3).map(tuple),
    expires_at=times,
    obtained_at=times,
    principal=texts,
)


@given(credentials)
def test_what_is_written_is_read_again(written: Credentials) -> None:
    text = written.to_json()

    assert text.isascii()
    assert Credentials.from_json(text, "the test") == written
    assert Credentials.from_json(text, "the test").key.digest == written.key.digest


def test_members_of_a_later_version_are_kept() -> None:
    text = json.dumps({**json.loads(SAMPLE.to_json()), "dpop_key": {"kty": "EC"}})

    read = Credentials.from_json(text, "the test")

    assert json.loads(replace(read, access_token="new").to_json())["dpop_key"] == {"kty": "EC"}


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_is_shown(secret: str) -> None:
    assert secret not in repr(SAMPLE)
    assert secret not in f"{SAMPLE} {SAMPLE.key}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("planted-access-secret", "not JSON"),
        ("[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not JSON"),
        ('["planted-access-secret"]', "not a JSON object"),
        ("{}", "no version"),
        ('{"version": true}', "no version"),
        ('{"version": 0}', "no version"),
        ('{"version": 1}', "'issuer' is missing"),
        (SAMPLE.to_json()[:-1], "not JSON"),
    ],
)
def test_damage_names_the_store_and_the_way_out(text: str | bytes, reason: str) -> None:
    with pytest.raises(CredentialStoreError, match=reason) as caught:
        Credentials.from_json(text, "the drawer")

    assert caught.value.store == "the drawer"
    assert "the drawer" in str(caught.value)
    assert "syncline auth login" in str(caught.value)
    assert "planted-access-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("member", "value", "reason"),
    [
        ("access_token", 7, "'access_token' is not a text"),
        ("issuer", None, "'issuer' is not a text"),
        ("refresh_token", ["planted-access-secret"], "'refresh_token' is not a text or null"),
        ("scopes", "planted-access-secret", "'scopes' is not a list of texts"),
        ("scopes", [1], "'scopes' is not a list of texts"),
        ("expires_at", "1000", "'expires_at' is not a time"),
        ("expires_at", True, "'expires_at' is not a time"),
        ("expires_at", float("nan"), "'expires_at' is not a time"),
        ("expires_at", float("inf"), "'expires_at' is not a time"),
        ("expires_at", 10**400, "'expires_at' is not a time"),
    ],
)
def test_a_member_of_another_kind_is_damage(member: str, value: object, reason: str) -> None:
    text = json.dumps({**json.loads(SAMPLE.to_json()), member: value})

    with pytest.raises(CredentialStoreError, match=reason) as caught:
        Credentials.from_json(text, "the drawer")

    assert "planted-access-secret" not in str(caught.value)


def test_a_later_form_asks_for_an_update() -> None:
    text = json.dumps({**json.loads(SAMPLE.to_json()), "version": 2})

    with pytest.raises(CredentialStoreError, match="later version of syncline"):
        Credentials.from_json(text, "the drawer")


def test_credentials_for_something_else_are_damage() -> None:
    """B-2, G-3: nothing is used unless issuer, resource and client are those that were asked for."""
    assert belonging(SAMPLE, SAMPLE.key, "the drawer") is SAMPLE
    for other in (
        replace(SAMPLE.key, issuer="https://id.example/acme/"),
        replace(SAMPLE.key, resource="https://notes.example/other"),
        replace(SAMPLE.key, client="client-1"),
    ):
        with pytest.raises(CredentialStoreError, match="not for"):
            belonging(SAMPLE, other, "the drawer")


def test_digests_do_not_change_from_release_to_release() -> None:
    assert CredentialKey("https://id.example", "https://h.example/mcp").digest == "1738a9d45adf49ee93db1ac237ddae6c"


@given(st.lists(st.tuples(texts, texts, texts), min_size=2, max_size=2, unique=True))
def test_different_keys_have_different_digests(parts: list[tuple[str, str, str]]) -> None:
    assert CredentialKey(*parts[0]).digest != CredentialKey(*parts[1]).digest


@pytest.mark.parametrize(
    ("expires_at", "due"), [(1029.0, True), (1030.0, True), (1060.0, False), (900.0, True), (None, False)]
)
def test_expiry_is_looked_at_ahead(expires_at: float | None, due: bool) -> None:
    """4.140, B148: due when there are 30 seconds left; never, where nobody said when it ends."""
    assert replace(SAMPLE, expires_at=expires_at).expires_within(1000.0, 30.0) is due


def test_an_answer_without_refresh_token_or_scopes_leaves_them() -> None:
    """F-3, 4.146."""
    after = SAMPLE.refreshed("new", now=2000.0, expires_at=5600.0)

    assert after == replace(SAMPLE, access_token="new", expires_at=5600.0, obtained_at=2000.0)


def test_a_rotated_refresh_token_replaces_the_old_one() -> None:
    after = SAMPLE.refreshed("new", now=2000.0, expires_at=None, refresh_token="rotated", scopes=("notes:write",))

    assert (after.refresh_token, after.scopes, after.expires_at) == ("rotated", ("notes:write",), None)
    assert after.principal == SAMPLE.principal


def test_a_login_that_has_ended_leaves_no_secret_of_a_person() -> None:
    left = replace(SAMPLE, private_key="planted-key").ended(2000.0)
    assert (left.access_token, left.refresh_token, left.private_key) == ("", None, None)
    assert left.expires_within(2000.0, 0)
    assert (left.key, left.client_id, left.client_secret) == (SAMPLE.key, SAMPLE.client_id, SAMPLE.client_secret)
    assert not left.same_tokens(SAMPLE)


def test_the_same_tokens_are_those_of_the_same_refresh() -> None:
    assert SAMPLE.same_tokens(replace(SAMPLE, expires_at=None, principal="another"))
    assert not SAMPLE.same_tokens(replace(SAMPLE, access_token="new"))
    assert not SAMPLE.same_tokens(replace(SAMPLE, refresh_token=None))
    assert not SAMPLE.same_tokens(None)

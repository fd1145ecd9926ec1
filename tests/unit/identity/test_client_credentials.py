"""Tokens for a program, against a server and an authorization server on this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator

import jwt
import pytest

import syncline
from syncline.auth.stores.memory import MemoryStore
from syncline.identity.signing import SigningKey
from tests.fixtures.guarded import Guarded, guarded
from tests.fixtures.partner import Background

KEY = SigningKey.generate()
CLIENT_CREDENTIALS = "client_credentials"


@pytest.fixture
def guard(caplog: pytest.LogCaptureFixture) -> Iterator[Guarded]:
    caplog.set_level(1)
    with guarded(
        metadata={"token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt"]}
    ) as guard:
        yield guard
    assert "planted" not in caplog.text
    assert "PRIVATE KEY" not in caplog.text


def connect(guard: Guarded, auth: syncline.ClientCredentials) -> syncline.Client:
    return syncline.connect(guard.url, auth=auth, protocol_version="2025-11-25", timeout=20)


def test_a_secret_gets_a_token_that_goes_with_every_request(guard: Guarded) -> None:
    """CC-1, CC-2, CC-3, CC-7, R-1."""
    with connect(guard, syncline.ClientCredentials("app", "planted:secret")) as client:
        client.ping()
    (asked,) = guard.asked
    assert asked.form == {
        "grant_type": CLIENT_CREDENTIALS,
        "resource": guard.url,
        "scope": "notes",
        "client_id": "app",
    }
    assert asked.basic == "app:planted%3Asecret"
    assert guard.anonymous == 1
    assert set(guard.proofs) == {("Bearer planted-token-1", None)}
    assert len(guard.proofs) >= 3


@pytest.mark.parametrize(("revision", "messages"), [("2025-11-25", 1), ("2026-07-28", 2)])
def test_the_extension_is_declared(guard: Guarded, revision: str, messages: int) -> None:
    """CC-9: in the handshake, or with each request; beside what is declared by hand, whose settings count."""
    auth, extension = syncline.ClientCredentials("app", "planted"), "io.modelcontextprotocol/oauth-client-credentials"
    by_hand = {"roots": {}, "extensions": {"example.com/own": {"a": 1}}}
    with syncline.connect(guard.url, auth=auth, protocol_version=revision, capabilities=by_hand) as client:
        client.request("example/own")
    extensions = {extension: {}, "example.com/own": {"a": 1}}
    assert guard.declared == [{"roots": {}, "extensions": extensions}] * messages
    guard.declared.clear()
    server = syncline.HttpServer(guard.url, auth=auth)
    by_hand = {"extensions": {extension: {"b": 2}}}
    with syncline.connect(server, protocol_version=revision, capabilities=by_hand):
        assert guard.declared == [by_hand]


def test_what_is_not_in_use_is_not_declared(guard: Guarded) -> None:
    auth = syncline.OAuth(client_id="app", store=MemoryStore(), visit=guard.agree)
    with syncline.connect(guard.url, auth=auth, protocol_version="2025-11-25"):
        assert guard.declared == [{}]


@pytest.mark.parametrize("audience", [None, "https://id.test/token"])
def test_a_private_key_signs_a_fresh_assertion_for_each_token(guard: Guarded, audience: str | None) -> None:
    """CC-3, CC-4, CC-5, CC-6."""
    auth = syncline.ClientCredentials("app", KEY.pem, key_id="k1", audience=audience)
    before = time.time()
    with connect(guard, auth) as client:
        guard.valid.clear()
        client.ping()
    first, second = (asked.form for asked in guard.asked)
    assert set(first) == {"grant_type", "resource", "scope", "client_assertion_type", "client_assertion"}
    public = jwt.PyJWK(dict(KEY.public), algorithm="ES256")
    said = []
    for form in (first, second):
        assert jwt.get_unverified_header(form["client_assertion"]) == {"typ": "JWT", "alg": "ES256", "kid": "k1"}
        said.append(jwt.decode(form["client_assertion"], public, ["ES256"], audience=audience or guard.origin))
    assert {(each["iss"], each["sub"]) for each in said} == {("app", "app")}
    assert all(before < each["exp"] <= time.time() + 300 for each in said)
    assert said[0]["jti"] != said[1]["jti"]


@pytest.mark.parametrize(("listed", "fits"), [(["ES256", "RS256"], True), (["RS256", "PS256"], False), ([], False)])
def test_the_authorization_server_lists_the_algorithms_that_it_takes(
    guard: Guarded, listed: list[str], fits: bool
) -> None:
    """CC-3, CC-5: an assertion that it cannot check is not made."""
    guard.metadata["token_endpoint_auth_signing_alg_values_supported"] = listed
    auth = syncline.ClientCredentials("app", KEY.pem)
    if fits:
        connect(guard, auth).close()
    else:
        with pytest.raises(syncline.ConfigError, match="are signed with ES256: choose another algorithm"):
            connect(guard, auth)
    assert len(guard.asked) == fits


def test_a_token_that_has_ended_is_replaced_before_the_server_says_so(guard: Guarded) -> None:
    """CC-8."""
    guard.expires_in = 0
    with connect(guard, syncline.ClientCredentials("app", "planted")) as client:
        guard.expires_in = 3600
        client.ping()
        client.ping()
    assert guard.anonymous == 1
    assert len(guard.asked) >= 2
    assert "refresh_token" not in [asked.form["grant_type"] for asked in guard.asked]
    used = list(dict.fromkeys(token for token, _ in guard.proofs))
    assert used[-1] == f"Bearer planted-token-{len(guard.asked)}"


def test_one_object_serves_all_connections_with_one_token(guard: Guarded) -> None:
    auth = syncline.ClientCredentials("app", "planted")
    for _ in range(2):
        with connect(guard, auth) as client:
            client.ping()
    assert len(guard.asked) == 1
    assert guard.anonymous == 1


def test_threads_that_find_a_token_refused_get_one_between_them(guard: Guarded) -> None:
    with connect(guard, syncline.ClientCredentials("app", "planted")) as client:
        guard.valid.clear()
        for call in [Background(client.ping) for _ in range(8)]:
            call.result()
    assert len(guard.asked) == 2


def test_another_object_does_not_use_its_token(guard: Guarded) -> None:
    for name in ("one", "two"):
        with connect(guard, syncline.ClientCredentials(name, "planted")) as client:
            client.ping()
    assert [asked.basic for asked in guard.asked] == ["one:planted", "two:planted"]


def test_in_a_store_its_tokens_are_not_those_of_people(guard: Guarded) -> None:
    store = MemoryStore()
    with connect(guard, syncline.ClientCredentials("app", "planted", store=store)) as client:
        client.ping()
    person = syncline.OAuth(client_id="app", store=store)
    with pytest.raises(syncline.AuthRequired):
        syncline.connect(guard.url, auth=person, protocol_version="2025-11-25", timeout=20).close()
    (key,) = store.keys()
    assert key.client == "client credentials: app"


def test_a_refusal_names_what_to_check_and_no_secret(guard: Guarded) -> None:
    guard.scripted.append((401, {"error": "invalid_client"}, {}))
    with pytest.raises(syncline.AuthDenied, match="check the client_id") as caught:
        connect(guard, syncline.ClientCredentials("app", "planted"))
    assert "planted" not in str(caught.value)
    assert caught.value.error == "invalid_client"


def test_a_token_that_the_server_does_not_take_is_not_fetched_for_ever(guard: Guarded) -> None:
    guard.refusals.extend([(401, "Bearer")] * 20)
    with pytest.raises(syncline.AuthDenied, match="does not take the token that was just given"):
        connect(guard, syncline.ClientCredentials("app", "planted"))
    assert len(guard.asked) == 1


def test_the_client_belongs_to_one_authorization_server(guard: Guarded) -> None:
    """CC-2, trap 21."""
    auth = syncline.ClientCredentials("app", "planted", issuer="https://id.test")
    with pytest.raises(syncline.SynclineError):
        connect(guard, auth)
    assert guard.asked == []


@pytest.mark.parametrize(
    ("arguments", "options", "reason"),
    [
        (("", "planted"), {}, "client_id is empty"),
        (("app", " "), {}, "secret or private key of 'app' is empty"),
        (("app", "planted"), {"algorithm": "ES256"}, "this is a secret"),
        (("app", "planted"), {"key_id": "k1"}, "this is a secret"),
        (("app", KEY.pem), {"algorithm": "RS256"}, "signs with ES256"),
        (("app", "-----BEGIN PRIVATE KEY-----\nplanted"), {}, "cannot be read"),
        (("app", "planted"), {"scopes": "notes"}, "scopes is a sequence"),
    ],
)
def test_what_cannot_be_used_is_refused_at_once(
    arguments: tuple[str, str], options: dict[str, str], reason: str
) -> None:
    with pytest.raises(syncline.ConfigError, match=reason) as caught:
        syncline.ClientCredentials(*arguments, **options)  # type: ignore[arg-type]
    assert "planted" not in str(caught.value)


def test_it_shows_no_secret() -> None:
    shown = repr(syncline.ClientCredentials("app", "planted")), repr(syncline.ClientCredentials("app", KEY.pem))
    assert shown == ("<syncline.ClientCredentials memory>",) * 2

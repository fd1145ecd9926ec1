"""Speaking with an authorization server's endpoints."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qsl

import pytest

from syncline.auth import metadata, token_endpoint, token_requests
from syncline.auth.clients import OAuthClient
from syncline.auth.metadata import ServerMetadata
from syncline.auth.steps import Fetch, Fetched
from syncline.auth.token_requests import DeviceCodes, TokenAnswer, TokenRefusal
from syncline.errors import AuthDenied, ConfigError, DiscoveryFailed, RefreshFailed
from tests.fixtures.oauth import ISSUER, MCP, REDIRECT, Prover, World, page, settings

TOKEN = "https://id.test/acme/token"
SERVER = ServerMetadata(ISSUER, TOKEN, auth_methods=("client_secret_basic", "none"))
CLIENT = OAuthClient("app", issuer=ISSUER, secret="planted:%")
GIVEN = {"access_token": "planted-access", "token_type": "Bearer"}
FORM = token_requests.client_credentials_form(MCP, ())


@pytest.fixture
def world() -> World:
    world = World()
    world.pages[f"POST {TOKEN}"] = page(GIVEN)
    return world


def ask_token(world: World, server: ServerMetadata = SERVER, **changes: Any) -> TokenAnswer | TokenRefusal:
    return world.run(token_endpoint.request_token(settings(**changes), server, CLIENT, FORM))


def test_a_request(world: World) -> None:
    """K-1, K-2, K-3, CC-7, B162: a form, JSON wanted, one way of proving who we are."""
    assert ask_token(world) == TokenAnswer("planted-access")
    (fetch,) = world.of(Fetch)
    pair = base64.b64decode(fetch.headers["Authorization"].removeprefix("Basic "))
    assert pair == b"app:planted%3A%25"
    assert fetch.headers["Accept"] == "application/json"
    assert fetch.headers["Content-Type"] == "application/x-www-form-urlencoded"
    form = {"grant_type": "client_credentials", "resource": MCP, "client_id": "app"}
    assert dict(parse_qsl((fetch.body or b"").decode())) == form


def test_a_request_of_nobody(world: World) -> None:
    """WI-1."""
    assert world.run(token_endpoint.request_token(settings(), SERVER, None, FORM)) == TokenAnswer("planted-access")
    (fetch,) = world.of(Fetch)
    assert "Authorization" not in fetch.headers
    assert b"client_id" not in (fetch.body or b"")


@pytest.mark.parametrize(
    "place", ["http://id.test/token", "https://10.0.0.1/token", "https://user@id.test/token", "token"]
)
def test_secrets_go_to_safe_places_only(world: World, place: str) -> None:
    """K-4, Z-1, Z-2, Z-3: nothing is sent."""
    with pytest.raises(DiscoveryFailed, match="nothing is sent"):
        ask_token(world, ServerMetadata(ISSUER, place))
    with pytest.raises(DiscoveryFailed, match="nothing is sent"):
        world.run(
            token_endpoint.register(
                settings(), ServerMetadata(ISSUER, TOKEN, registration_endpoint=place), REDIRECT, ()
            )
        )
    assert world.steps == []


def test_a_client_that_cannot_prove_itself(world: World) -> None:
    with pytest.raises(ConfigError):
        ask_token(world, ServerMetadata(ISSUER, TOKEN, auth_methods=("tls_client_auth",)))
    assert world.steps == []


def test_nothing_is_sent_twice(world: World) -> None:
    """Spec digest, section 7: what a request carries may be good for one use."""
    for status in (302, 400, 401, 500, 503):
        world.steps.clear()
        world.pages[f"POST {TOKEN}"] = Fetched(status, b"", {"location": "https://evil.test/", "dpop-nonce": "n"})
        assert isinstance(ask_token(world), TokenRefusal)
        assert len(world.steps) == 1


# ------------------------------------------------------------------------------------------------------------------- refresh


def refresh(world: World) -> TokenAnswer | TokenRefusal:
    return world.run(token_endpoint.refresh(settings(), SERVER, CLIENT, "planted-refresh", MCP))


def test_a_refresh(world: World) -> None:
    """F-4, R-1: with the resource, and without scopes."""
    assert refresh(world) == TokenAnswer("planted-access")
    (fetch,) = world.of(Fetch)
    form = {"grant_type": "refresh_token", "refresh_token": "planted-refresh", "resource": MCP, "client_id": "app"}
    assert dict(parse_qsl((fetch.body or b"").decode())) == form


@pytest.mark.parametrize(
    ("status", "error"), [(500, "invalid_grant"), (503, "x"), (429, "x"), (400, "temporarily_unavailable")]
)
def test_a_refresh_that_may_work_later(world: World, status: int, error: str) -> None:
    """F-5, 4.149: the refresh token may still be good."""
    world.pages[f"POST {TOKEN}"] = page({"error": error}, status)
    with pytest.raises(RefreshFailed, match="try again later") as caught:
        refresh(world)
    assert caught.value.error == error
    assert "planted" not in str(caught.value)


def test_a_refresh_that_is_refused(world: World) -> None:
    """F-5."""
    world.pages[f"POST {TOKEN}"] = page({"error": "invalid_grant", "error_description": "expired"}, 400)
    assert refresh(world) == TokenRefusal("invalid_grant", "expired", 400)


# ---------------------------------------------------------------------------------------------------------------------- DPoP


def test_a_proof_goes_with_each_request(world: World) -> None:
    """DP-2: and the token has to be bound."""
    prover = Prover()
    assert isinstance(ask_token(world, prover=prover), TokenRefusal)
    world.pages[f"POST {TOKEN}"] = page({**GIVEN, "token_type": "DPoP"})
    assert ask_token(world, prover=prover) == TokenAnswer("planted-access", "dpop")
    assert [fetch.headers["DPoP"] for fetch in world.of(Fetch)] == ["planted proof 1", "planted proof 2"]
    assert prover.asked == [("POST", TOKEN, None)] * 2


def test_a_nonce_is_taken_up_once(world: World) -> None:
    """DP-4, DP-7: with a new proof; a second demand is a refusal."""
    prover = Prover()
    answers = [page({"error": "use_dpop_nonce"}, 400, dpop_nonce="n1"), page({**GIVEN, "token_type": "DPoP"})]
    world.pages[f"POST {TOKEN}"] = lambda fetch: answers.pop(0)
    assert ask_token(world, prover=prover) == TokenAnswer("planted-access", "dpop")
    assert prover.asked == [("POST", TOKEN, None), ("POST", TOKEN, "n1")]
    assert [fetch.headers["DPoP"] for fetch in world.of(Fetch)] == ["planted proof 1", "planted proof 2"]
    world.pages[f"POST {TOKEN}"] = page({"error": "use_dpop_nonce"}, 400, dpop_nonce="n2")
    assert ask_token(world, prover=prover) == TokenRefusal("use_dpop_nonce", "", 400)
    assert len(prover.asked) == 4


@pytest.mark.parametrize(
    "answer", [page({"error": "use_dpop_nonce"}, 400), page({"error": "invalid_grant"}, 400, dpop_nonce="n")]
)
def test_a_nonce_is_not_made_up(world: World, answer: Fetched) -> None:
    prover = Prover()
    world.pages[f"POST {TOKEN}"] = answer
    assert isinstance(ask_token(world, prover=prover), TokenRefusal)
    assert len(prover.asked) == 1


# ---------------------------------------------------------------------------------------------------------- other endpoints


def test_an_exchange(world: World) -> None:
    """EM-2, EM-3, CC-6: at the provider, whose assertions are for its own endpoint; what comes back is no access token."""
    place = "https://idp.test/token"
    world.pages[f"POST {place}"] = page({"access_token": "planted-jag", "token_type": "N_A", "issued_token_type": "x"})
    client = OAuthClient("ours", signer=lambda audience: f"signed for {audience}")
    form = token_requests.exchange_form("s", token_requests.ID_TOKEN, audience=ISSUER, resource=MCP, scopes=())
    answer = world.run(token_endpoint.exchange(settings(prover=Prover()), client, place, form))
    assert answer == TokenAnswer("planted-jag", "n_a", issued_token_type="x")
    (fetch,) = world.of(Fetch)
    assert dict(parse_qsl((fetch.body or b"").decode()))["client_assertion"] == f"signed for {place}"
    assert "DPoP" not in fetch.headers
    world.pages[f"POST {place}"] = page(GIVEN)
    assert isinstance(world.run(token_endpoint.exchange(settings(), client, place, form)), TokenRefusal)


def test_codes_of_a_device(world: World) -> None:
    """RFC 8628, 3.1: the client says who it is."""
    place = "https://id.test/acme/device"
    world.pages[f"POST {place}"] = page(
        {"device_code": "d", "user_code": "u", "verification_uri": "https://id.test/", "expires_in": 9}
    )
    form = token_requests.device_authorization_form(MCP, ("a",))
    codes = world.run(token_endpoint.device_codes(settings(), SERVER, OAuthClient("app"), place, form))
    assert codes == DeviceCodes("d", "u", "https://id.test/", None, 9.0, 5.0)
    (fetch,) = world.of(Fetch)
    assert dict(parse_qsl((fetch.body or b"").decode())) == {"client_id": "app", "resource": MCP, "scope": "a"}


@pytest.mark.parametrize(("status", "gone"), [(200, True), (503, False), (400, False)])
def test_giving_a_token_back(world: World, status: int, gone: bool) -> None:
    """G-5: RFC 7009, 2.1."""
    place = "https://id.test/acme/revoke"
    server = ServerMetadata(ISSUER, TOKEN, revocation_endpoint=place)
    world.pages[f"POST {place}"] = Fetched(status, b"")
    form = token_requests.revocation_form("planted-refresh", "refresh_token")
    assert world.run(token_endpoint.revoke(settings(), server, OAuthClient("app"), form)) is gone
    (fetch,) = world.of(Fetch)
    sent = {"token": "planted-refresh", "token_type_hint": "refresh_token", "client_id": "app"}
    assert dict(parse_qsl((fetch.body or b"").decode())) == sent


def test_an_authorization_server_that_takes_nothing_back(world: World) -> None:
    """G-5."""
    form = token_requests.revocation_form("planted", "access_token")
    assert world.run(token_endpoint.revoke(settings(), SERVER, CLIENT, form)) is False
    assert world.steps == []


def test_a_registration(world: World) -> None:
    """C-5, C-6."""
    place = "https://id.test/acme/register"
    server = ServerMetadata(ISSUER, TOKEN, registration_endpoint=place)
    world.pages[f"POST {place}"] = page({"client_id": "c"}, 201)
    client = world.run(token_endpoint.register(settings(client_name="notes tool"), server, REDIRECT, ("a",)))
    assert client == OAuthClient("c", ISSUER, auth_method="none", redirect_uris=(REDIRECT,), source="registered")
    (fetch,) = world.of(Fetch)
    assert fetch.headers["Content-Type"] == "application/json"
    assert b"notes tool" in (fetch.body or b"")
    with pytest.raises(ConfigError, match="by hand"):
        world.run(token_endpoint.register(settings(), SERVER, REDIRECT, ()))


@pytest.mark.parametrize(
    ("status", "problem"),
    [(404, r"nothing about logging in is found .* https://notes\.test/register is not there"), (400, "by hand")],
)
def test_nobody_is_there_to_register_at(world: World, status: int, problem: str) -> None:
    """A server that publishes nothing may be one of 2025-03-26, or know no logins at all."""
    world.pages["POST https://notes.test/register"] = Fetched(status, b"<html>")
    server = metadata.legacy_server("https://notes.test/mcp")
    with pytest.raises((DiscoveryFailed, AuthDenied), match=problem):
        world.run(token_endpoint.register(settings(), server, REDIRECT, ()))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_registration_that_has_to_wait(world: World, status: int) -> None:
    server = ServerMetadata(ISSUER, TOKEN, registration_endpoint="https://id.test/register")
    world.pages["POST https://id.test/register"] = Fetched(status, b"busy")
    with pytest.raises(RefreshFailed, match=rf"registers nobody now .HTTP {status}.: try again later"):
        world.run(token_endpoint.register(settings(), server, REDIRECT, ()))


def test_refusals_name_the_authorization_server_and_the_next_step() -> None:
    error = token_endpoint.denied(SERVER, TokenRefusal("invalid_grant", "expired", 400), "log in again")
    assert isinstance(error, AuthDenied)
    assert str(error) == "https://id.test/acme gave no token (invalid_grant: expired): log in again"
    assert error.error == "invalid_grant"

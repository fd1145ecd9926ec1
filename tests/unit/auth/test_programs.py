"""Tokens without a person."""

from __future__ import annotations

from typing import Any

import pytest

from syncline.auth import challenge, token_requests
from syncline.auth.clients import OAuthClient
from syncline.auth.flow import Authorized, authorize
from syncline.auth.settings import Budget, ClientCredentials, Enterprise, Workload
from syncline.auth.steps import Fetch, Listen
from syncline.errors import AuthDenied, ConfigError, RefreshFailed
from tests.fixtures.oauth import ISSUER, MCP, Authority, World, page, refusals, settings

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
CLIENT = OAuthClient("app", issuer=ISSUER, secret="planted")
IDP = "https://idp.test/token"


@pytest.fixture
def world() -> World:
    world = World()
    world.resource(scopes_supported=["a"])
    return world


def run(world: World, header: str | None = None, budget: Budget | None = None, **changes: Any) -> Authorized:
    picked = challenge.pick(challenge.parse(header)) if header else None
    flow = authorize(settings(**changes), entropy=world.entropy, challenge=picked, budget=budget, interactive=False)
    return world.run(flow)


# --------------------------------------------------------------------------------------------------------- client credentials


def test_client_credentials_with_a_secret(world: World) -> None:
    """CC-1, CC-2, CC-3, CC-4, CC-7, CC-10, R-1: no registration and no person; the secret as the server lists."""
    authority = Authority(world, token_endpoint_auth_methods_supported=["client_secret_basic"])
    authority.clients["app"] = {"client_secret": "planted"}
    result = run(world, grant=ClientCredentials(), client=CLIENT)
    form = {"grant_type": "client_credentials", "resource": MCP, "scope": "a", "client_id": "app"}
    assert authority.requests == [{**form, "Authorization": "Basic YXBwOnBsYW50ZWQ="}]
    assert (result.issuer, result.resource, result.client) == (ISSUER, MCP, CLIENT)
    assert (result.requested, result.granted, result.token.expires_in) == (("a",), ("a",), 3600)
    assert authority.registrations == []
    assert not world.asked
    assert not world.of(Listen)


def test_a_program_at_a_server_of_2025_03_26() -> None:
    """H-5, H-4: which is its own authorization server, and is told of no resource."""
    world = World()
    authority = Authority(world, "https://notes.test", token_endpoint_auth_methods_supported=["client_secret_basic"])
    authority.clients["app"] = {"client_secret": "planted"}
    result = run(world, grant=ClientCredentials(), client=OAuthClient("app", secret="planted"))
    assert authority.requests == [
        {"grant_type": "client_credentials", "client_id": "app", "Authorization": "Basic YXBwOnBsYW50ZWQ="}
    ]
    assert (result.issuer, result.resource) == ("https://notes.test", None)


def test_client_credentials_with_a_key(world: World) -> None:
    """CC-3, CC-4, CC-5, CC-6: the assertion is for the issuer, and says who the client is."""
    authority = Authority(world, token_endpoint_auth_methods_supported=["private_key_jwt"])
    client = OAuthClient("app", signer=lambda audience: f"signed for {audience}")
    result = run(world, grant=ClientCredentials(), client=client)
    assert authority.requests[0]["client_assertion"] == f"signed for {ISSUER}"
    assert "client_id" not in authority.requests[0]
    assert result.client is not None
    assert result.client.issuer == ISSUER


def test_a_program_needs_a_client(world: World) -> None:
    """CC-2."""
    Authority(world)
    with pytest.raises(ConfigError, match="client_id"):
        run(world, grant=ClientCredentials())


def test_the_client_of_a_program_is_shown_to_nobody_else(world: World) -> None:
    """B-5, trap 21."""
    Authority(world, "https://new.test")
    world.resource(authorization_servers=["https://new.test"])
    with pytest.raises(ConfigError, match=r"belongs to https://id\.test/acme"):
        run(world, grant=ClientCredentials(), client=CLIENT)
    assert not any(step.method == "POST" for step in world.of(Fetch))


def test_a_program_asks_for_more_scopes_once(world: World) -> None:
    """X-1, X-2, W-9."""
    authority = Authority(world)
    authority.clients["app"] = {}
    client = OAuthClient("app")
    first = run(world, grant=ClientCredentials(), client=client)
    more = run(
        world, 'Bearer error="insufficient_scope", scope="b"', first.budget, grant=ClientCredentials(), client=client
    )
    assert authority.requests[1]["scope"] == "b"
    with pytest.raises(AuthDenied, match="more scopes") as caught:
        run(
            world, 'Bearer error="insufficient_scope", scope="c"', more.budget, grant=ClientCredentials(), client=client
        )
    assert caught.value.error == "insufficient_scope"


def test_a_new_token_that_is_refused_ends_it(world: World) -> None:
    """W-6, W-9: no loop of tokens."""
    authority = Authority(world)
    authority.clients["app"] = {}
    first = run(world, grant=ClientCredentials(), client=OAuthClient("app"))
    with pytest.raises(AuthDenied, match="does not take the token"):
        run(world, 'Bearer error="invalid_token"', first.budget, grant=ClientCredentials(), client=OAuthClient("app"))
    assert len(authority.requests) == 1


def test_refusals(world: World) -> None:
    """F-5: what passes is told from what does not."""
    authority = Authority(world)
    authority.scripted.extend(refusals("temporarily_unavailable"))
    with pytest.raises(RefreshFailed, match="later"):
        run(world, grant=ClientCredentials(), client=OAuthClient("app"))
    with pytest.raises(AuthDenied, match="check the client_id") as caught:
        run(world, grant=ClientCredentials(), client=OAuthClient("app"))
    assert caught.value.error == "invalid_client"


# ------------------------------------------------------------------------------------------------------------------ workloads


def test_a_workload_shows_what_its_platform_gives_it(world: World) -> None:
    """WI-1, WI-2, WI-5, T-4: for the issuer, freshly, and without a client."""
    authority = Authority(world, grant_types_supported=[JWT_BEARER])
    made: list[str] = []

    def assertion(audience: str) -> str:
        made.append(audience)
        return f"planted-{len(made)}"

    result = run(world, grant=Workload(assertion))
    run(world, grant=Workload(assertion, audience="https://id.test/acme/token"))
    assert authority.requests == [
        {"grant_type": JWT_BEARER, "assertion": f"planted-{number}", "resource": MCP, "scope": "a"} for number in (1, 2)
    ]
    assert made == [ISSUER, "https://id.test/acme/token"]
    assert result.client is None


def test_a_workload_asks_only_where_assertions_are_taken(world: World) -> None:
    """WI-3."""
    authority = Authority(world, grant_types_supported=["authorization_code"])
    with pytest.raises(ConfigError, match="grant_types_supported"):
        run(world, grant=Workload(lambda audience: "planted"))
    assert authority.requests == []


@pytest.mark.parametrize("error", ["invalid_grant", "invalid_scope", "unauthorized_client"])
def test_a_workload_that_is_refused_tries_nothing_else(world: World, error: str) -> None:
    """WI-4: no retry, and no other grant."""
    authority = Authority(world)
    authority.scripted.extend(refusals(error))
    with pytest.raises(AuthDenied, match=error) as caught:
        run(world, grant=Workload(lambda audience: "planted"))
    assert caught.value.error == error
    assert len(authority.requests) == 1
    assert "planted" not in str(caught.value)


# ----------------------------------------------------------------------------------------------------------------- enterprise


def enterprise(world: World, answer: dict[str, object]) -> Enterprise:
    world.pages[f"POST {IDP}"] = page(answer)
    return Enterprise(IDP, OAuthClient("at-idp", secret="planted"), lambda: "planted-id-token")


GIVEN = {
    "access_token": "planted-jag",
    "token_type": "N_A",
    "issued_token_type": token_requests.ID_JAG,
    "expires_in": 300,
}


def test_the_provider_of_an_organisation_vouches_for_a_person(world: World) -> None:
    """EM-1, EM-2, EM-3, EM-4: the ID token goes to the provider, the ID-JAG to the authorization server, each once."""
    authority = Authority(world, token_endpoint_auth_methods_supported=["client_secret_basic"])
    authority.clients["app"] = {"client_secret": "planted"}
    result = run(world, grant=enterprise(world, GIVEN), client=CLIENT)
    exchange = world.of(Fetch)[-2]
    form = token_requests.exchange_form(
        "planted-id-token", token_requests.ID_TOKEN, audience=ISSUER, resource=MCP, scopes=("a",)
    )
    assert (exchange.url, exchange.body) == (IDP, token_requests.encode({**form, "client_id": "at-idp"}))
    assert "Authorization" in exchange.headers
    assert authority.requests == [
        {
            "grant_type": JWT_BEARER,
            "assertion": "planted-jag",
            "resource": MCP,
            "client_id": "app",
            "Authorization": "Basic YXBwOnBsYW50ZWQ=",
        }
    ]
    assert result.token.access_token == "planted-access-2"
    assert authority.visits == authority.registrations == []


def test_an_id_jag_is_used_once(world: World) -> None:
    """EM-6, EM-10: renewing takes a new exchange."""
    authority = Authority(world)
    authority.clients["app"] = {}
    grant = enterprise(world, GIVEN)
    for _ in range(2):
        run(world, grant=grant, client=OAuthClient("app"))
    assert world.fetched.count(f"POST {IDP}") == 2


@pytest.mark.parametrize(
    ("answer", "reason", "code"),
    [
        ({"error": "invalid_grant", "error_description": "expired"}, "invalid_grant: expired", "invalid_grant"),
        ({**GIVEN, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}, "ID-JAG", None),
        ({**GIVEN, "issued_token_type": None}, "ID-JAG", None),
        ({**GIVEN, "token_type": "Bearer"}, "token_type", "invalid_answer"),
    ],
)
def test_a_provider_that_does_not_vouch(world: World, answer: dict[str, object], reason: str, code: str | None) -> None:
    """EM-3, EM-8, T-4: nothing goes to the authorization server, and nothing secret into the error."""
    authority = Authority(world)
    with pytest.raises(AuthDenied, match=reason) as caught:
        run(world, grant=enterprise(world, answer), client=CLIENT)
    assert caught.value.error == code
    assert authority.requests == []
    assert "planted" not in str(caught.value)

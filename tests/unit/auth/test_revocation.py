"""Giving tokens back (RFC 7009), in a world without a network."""

from __future__ import annotations

import pytest

from syncline.auth.clients import OAuthClient
from syncline.auth.flow import revoke
from syncline.auth.steps import Fetched
from syncline.errors import DiscoveryFailed
from tests.fixtures.oauth import ISSUER, MCP, Authority, World, page, settings

CLIENT = OAuthClient("id.test-0", ISSUER, auth_method="none")
PLACE = f"{ISSUER}/revoke"
METADATA = "GET https://id.test/.well-known/oauth-authorization-server/acme"


@pytest.fixture
def world() -> World:
    return World()


def give_back(world: World, refresh_token: str | None = "planted-refresh", issuer: str = ISSUER) -> bool:
    flow = revoke(
        settings(),
        issuer=issuer,
        resource=MCP if issuer == ISSUER else None,
        client=CLIENT,
        access_token="planted-access",
        refresh_token=refresh_token,
    )
    return world.run(flow)


@pytest.mark.parametrize("refresh_token", ["planted-refresh", None])
def test_all_tokens_are_given_back(world: World, refresh_token: str | None) -> None:
    Authority(world, revocation_endpoint=PLACE)
    world.pages[f"POST {PLACE}"] = page({})
    assert give_back(world, refresh_token)
    assert world.fetched == [METADATA, *[f"POST {PLACE}"] * (1 if refresh_token is None else 2)]


def test_the_first_one_counts(world: World) -> None:
    """An authorization server need not revoke access tokens, and those end by themselves."""
    Authority(world, revocation_endpoint=PLACE)
    answers = [page({}), page({"error": "unsupported_token_type"}, 400)]
    world.pages[f"POST {PLACE}"] = lambda fetch: answers.pop(0)
    assert give_back(world)
    answers += [Fetched(503, b""), page({})]
    assert not give_back(world)


def test_an_authorization_server_that_does_not_offer_it_is_sent_no_tokens(world: World) -> None:
    Authority(world)
    assert not give_back(world)
    assert world.fetched == [METADATA]


def test_nobody_else_is_shown_them(world: World) -> None:
    Authority(world, "https://new.test", place=METADATA.removeprefix("GET "), revocation_endpoint=PLACE)
    with pytest.raises(DiscoveryFailed, match="another issuer"):
        give_back(world)
    Authority(world, "https://notes.test", revocation_endpoint="https://notes.test/revoke")
    with pytest.raises(DiscoveryFailed, match="any more"):
        give_back(world, issuer="https://somebody.test")
    assert all(fetched.startswith("GET ") for fetched in world.fetched)

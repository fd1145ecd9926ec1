"""Finding out who gives tokens for a server."""

from __future__ import annotations

import pytest

from syncline.auth import challenge
from syncline.auth.clients import OAuthClient
from syncline.auth.discovery import Found, discover
from syncline.auth.metadata import legacy_server
from syncline.auth.steps import Fetch, Fetched
from syncline.errors import ConfigError, DiscoveryFailed
from tests.fixtures.oauth import ISSUER, MCP, PRM, Authority, Prover, World, page, settings

ROOT = "https://notes.test/.well-known/oauth-protected-resource"
ASM = "https://id.test/.well-known/oauth-authorization-server/acme"
LEGACY = "https://notes.test/.well-known/oauth-authorization-server"
CUSTOM = "https://notes.test/custom/location.json"


@pytest.fixture
def world() -> World:
    return World()


def find(world: World, header: str | None = None, known: tuple[str, ...] = (), **changes: object) -> Found:
    picked = challenge.pick(challenge.parse(header)) if header else None
    return world.run(discover(settings(**changes), picked, known))  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------------- the way there


def test_the_place_in_the_challenge_is_the_only_one_that_is_asked(world: World) -> None:
    """W-1, P-1, P-2, P-3, M-2: no other place is tried before it."""
    world.resource(CUSTOM, scopes_supported=["a", "b"])
    Authority(world)
    found = find(world, f'Bearer resource_metadata="{CUSTOM}"')
    assert world.fetched == [f"GET {CUSTOM}", f"GET {ASM}"]
    assert (found.server.issuer, found.resource, found.scopes_supported) == (ISSUER, MCP, ("a", "b"))


@pytest.mark.parametrize("header", [None, "Bearer", 'Basic realm="x"', 'Bearer realm="a", error="invalid_token"'])
def test_without_a_place_in_the_challenge_the_well_known_ones_are_asked(world: World, header: str | None) -> None:
    """W-2, P-2, B139: the path first, then the root."""
    world.resource(ROOT, resource="https://notes.test")
    Authority(world)
    assert find(world, header).resource == "https://notes.test"
    assert world.fetched == [f"GET {PRM}", f"GET {ROOT}", f"GET {ASM}"]


@pytest.mark.parametrize(
    "answer",
    [Fetched(404, b""), Fetched(401, b""), Fetched(502, b""), Fetched(302, b""), page([]), Fetched(200, b"<html>")],
)
def test_where_nothing_usable_is_the_next_place_is_asked(world: World, answer: Fetched) -> None:
    """P-4, M-6, B142, B154, B160: also when the challenge names a place that does not exist; redirects are not followed."""
    Authority(world, place="https://id.test/acme/.well-known/openid-configuration")
    world.resource(PRM)
    world.pages[f"GET {CUSTOM}"] = world.pages[f"GET {ASM}"] = answer
    assert find(world, f'Bearer resource_metadata="{CUSTOM}"').server.issuer == ISSUER
    assert world.fetched == [
        f"GET {CUSTOM}",
        f"GET {PRM}",
        f"GET {ASM}",
        "GET https://id.test/.well-known/openid-configuration/acme",
        "GET https://id.test/acme/.well-known/openid-configuration",
    ]


@pytest.mark.parametrize("status", [500, 503, 504, 408, 429])
@pytest.mark.parametrize("place", [PRM, ASM])
def test_a_server_that_is_not_well_is_not_one_without_metadata(world: World, status: int, place: str) -> None:
    """P-4, M-6, H-3: nothing else is tried instead."""
    world.resource()
    Authority(world)
    world.pages[f"GET {place}"] = Fetched(status, b"planted")
    with pytest.raises(DiscoveryFailed, match=f"HTTP {status}; try again later") as caught:
        find(world)
    assert caught.value.passing
    assert "planted" not in str(caught.value)
    assert world.fetched[-1] == f"GET {place}"


def test_what_is_sent_along(world: World) -> None:
    """M-7, Z-11, B160: the revision where it is known, servers of 2025-03-26 their own, small limits, nothing else."""
    world.resource()
    Authority(world)
    find(world, protocol_version="2026-07-28")
    legacy = World()
    find(legacy, protocol_version="2026-07-28")
    *others, last = world.of(Fetch) + legacy.of(Fetch)
    newest = {"Accept": "application/json", "MCP-Protocol-Version": "2026-07-28"}
    assert all(fetch.headers == newest for fetch in others)
    assert last.headers == {"Accept": "application/json", "MCP-Protocol-Version": "2025-03-26"}
    assert all(fetch.timeout <= 10 and fetch.limit <= 1 << 20 for fetch in [*others, last])


# ----------------------------------------------------------------------------------------------------------------- the choice


def test_of_several_authorization_servers_one_that_is_known_is_chosen(world: World) -> None:
    """B-1."""
    world.resource(authorization_servers=["https://a.test", ISSUER, "https://c.test"])
    for issuer in ("https://a.test", ISSUER, "https://c.test"):
        Authority(world, issuer)
    assert find(world).server.issuer == "https://a.test"
    assert find(world, known=(ISSUER,)).server.issuer == ISSUER
    assert find(world, client=OAuthClient("c", issuer="https://c.test")).server.issuer == "https://c.test"
    assert find(world, issuer=ISSUER, known=("https://a.test",)).server.issuer == ISSUER


def test_the_configured_authorization_server_is_the_only_one(world: World) -> None:
    """B-5."""
    world.resource()
    Authority(world)
    with pytest.raises(DiscoveryFailed, match=r"https://other\.test is configured"):
        find(world, issuer="https://other.test")
    assert world.fetched == [f"GET {PRM}"]


def test_a_configured_authorization_server_is_used_where_the_server_names_none(world: World) -> None:
    """P-8, R-2, R-4, R-6: with the server's own URL as the resource."""
    Authority(world)
    found = find(world, issuer=ISSUER, server_url="https://notes.test/")
    assert (found.server.issuer, found.resource) == (ISSUER, "https://notes.test")


def test_no_document_no_authorization_server(world: World) -> None:
    """B142."""
    world.resource()
    with pytest.raises(DiscoveryFailed, match=r"https://id\.test/acme publishes no metadata .*HTTP 404") as caught:
        find(world)
    assert not caught.value.passing
    assert "planted" not in str(caught.value)


def test_metadata_of_somebody_else_end_the_search(world: World) -> None:
    """I-1, I-2: nothing of it is used and the next place is not asked."""
    world.resource()
    Authority(world, issuer=ISSUER, place="https://id.test/acme/.well-known/openid-configuration")
    Authority(world, issuer="https://evil.test", place=ASM)
    with pytest.raises(DiscoveryFailed, match="another issuer"):
        find(world)
    assert world.fetched == [f"GET {PRM}", f"GET {ASM}"]


def test_another_resource_ends_the_search(world: World) -> None:
    """R-5, P-7, B145: before anybody is asked for anything."""
    world.resource(resource="https://evil.test/v2/mcp")
    world.resource(ROOT)
    Authority(world)
    with pytest.raises(DiscoveryFailed, match="which is not"):
        find(world)
    assert world.fetched == [f"GET {PRM}"]


# ------------------------------------------------------------------------------------------------------------------- security


@pytest.mark.parametrize(
    "place", ["http://notes.test/prm", "https://10.0.0.1/prm", "http://169.254.169.254/latest", "file:///etc/passwd"]
)
def test_a_challenge_leads_nowhere_else(world: World, place: str) -> None:
    """Z-1, Z-2, Z-3: such a place is not asked; the server's own places are."""
    world.resource()
    world.resource(place)
    Authority(world)
    assert find(world, f'Bearer resource_metadata="{place}"').server.issuer == ISSUER
    assert world.fetched[0] == f"GET {PRM}"
    del world.pages[f"GET {PRM}"]
    with pytest.raises(DiscoveryFailed, match="does not say who gives tokens"):
        find(world, f'Bearer resource_metadata="{place}"')


@pytest.mark.parametrize(
    "issuer",
    ["http://id.test", "https://127.0.0.1", "https://[::ffff:10.0.0.1]", "ldap://id.test", "https://id.test?x"],
)
def test_a_resource_leads_nowhere_else(world: World, issuer: str) -> None:
    """Z-1, Z-2, Z-3, M-8."""
    world.resource(authorization_servers=[issuer])
    with pytest.raises(DiscoveryFailed, match="may be used"):
        find(world)
    with pytest.raises(DiscoveryFailed, match="may not be used"):
        find(World(), issuer=issuer)
    assert world.fetched == [f"GET {PRM}"]


def test_a_server_on_this_machine_may_lead_to_this_machine(world: World) -> None:
    """Z-2: development, and the conformance suite."""
    world.resource(
        "http://localhost:4711/.well-known/oauth-protected-resource/mcp",
        resource="http://localhost:4711/mcp",
        authorization_servers=["http://localhost:4712"],
    )
    Authority(world, "http://localhost:4712")
    assert find(world, server_url="http://localhost:4711/mcp").server.issuer == "http://localhost:4712"


# -------------------------------------------------------------------------------------------------------------- DPoP, legacy


def test_tokens_that_are_bound_to_a_key(world: World) -> None:
    """DP-1: asked for where they are needed, and only where they can be had."""
    world.resource(dpop_bound_access_tokens_required=True)
    Authority(world)
    with pytest.raises(ConfigError, match="with DPoP"):
        find(world)
    with pytest.raises(ConfigError, match="to no keys: log in without DPoP"):
        find(world, prover=Prover())
    Authority(world, dpop_signing_alg_values_supported=["RS256", "EdDSA"])
    with pytest.raises(ConfigError, match="only to keys for RS256 or EdDSA, and ours signs with ES256"):
        find(world, prover=Prover())
    Authority(world, dpop_signing_alg_values_supported=["RS256", "ES256"])
    assert find(world, prover=Prover()).server.dpop_algorithms == ("RS256", "ES256")


def test_a_server_of_2025_03_26_with_metadata(world: World) -> None:
    """H-1, H-2, H-4, I-3, R-6: at the root of the server, with endpoints anywhere; no resource is sent."""
    Authority(world, "https://notes.test/", LEGACY, authorization_endpoint="https://notes.test/oauth/authorize")
    found = find(world)
    assert (found.resource, found.server.issuer, found.server.legacy) == (None, "https://notes.test/", True)
    assert found.server.authorization_endpoint == "https://notes.test/oauth/authorize"
    assert world.fetched == [f"GET {PRM}", f"GET {ROOT}", f"GET {LEGACY}"]


def test_a_server_of_2025_03_26_without_metadata(world: World) -> None:
    """H-2."""
    assert find(world) == Found(legacy_server(MCP), None)


def test_a_server_of_2025_03_26_must_say_clearly_that_there_is_nothing(world: World) -> None:
    """H-2, H-3: a page of something else is not an absence."""
    world.pages[f"GET {LEGACY}"] = Fetched(200, b"<html>")
    with pytest.raises(DiscoveryFailed, match="publishes no metadata"):
        find(world)


@pytest.mark.parametrize(
    ("header", "answer"),
    [
        (f'Bearer resource_metadata="{CUSTOM}"', Fetched(404, b"")),
        (None, Fetched(502, b"")),
        (None, Fetched(200, b"<html>")),
        (None, Fetched(301, b"")),
    ],
)
def test_nobody_makes_us_fall_back(world: World, header: str | None, answer: Fetched) -> None:
    """H-3, P-8, trap 20: only after a clear absence, where the server has not shown that it knows better."""
    world.pages[f"GET {PRM}"] = answer
    with pytest.raises(DiscoveryFailed, match="does not say who gives tokens") as caught:
        find(world, header)
    assert f"GET {LEGACY}" not in world.fetched
    assert PRM in str(caught.value)

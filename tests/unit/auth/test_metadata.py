"""What is published about logging in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import metadata
from syncline.auth.documents import Unusable
from syncline.auth.metadata import ResourceMetadata, ServerMetadata
from syncline.auth.urls import Reach
from syncline.errors import DiscoveryFailed

MCP = "https://notes.test/v2/mcp"
ISSUER = "https://id.test/acme"
REACH = Reach.of(MCP, ["9.9.9.9"])
RESOURCE = {"resource": MCP, "authorization_servers": [ISSUER]}
SERVER = {"issuer": ISSUER, "token_endpoint": "https://id.test/acme/token"}
CODE = {
    **SERVER,
    "authorization_endpoint": "https://id.test/acme/authorize",
    "response_types_supported": ["code"],
    "code_challenge_methods_supported": ["S256"],
}

SEGMENTS = st.lists(st.text("abc.%2", min_size=1, max_size=3), max_size=3)


def body(document: object) -> bytes:
    return json.dumps(document).encode()


# ------------------------------------------------------------------------------------------------------- where to look first


@pytest.mark.parametrize(
    ("server", "places"),
    [
        ("https://h.test/public/mcp", ["/.well-known/oauth-protected-resource/public/mcp", "/.well-known/oauth-protected-resource"]),
        ("https://h.test/mcp/", ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]),
        ("https://h.test/", ["/.well-known/oauth-protected-resource"]),
        ("https://h.test", ["/.well-known/oauth-protected-resource"]),
        (
            "https://h.test/mcp?tenant=1",
            ["/.well-known/oauth-protected-resource/mcp?tenant=1", "/.well-known/oauth-protected-resource"],
        ),
        (
            "https://h.test?tenant=1",
            ["/.well-known/oauth-protected-resource?tenant=1", "/.well-known/oauth-protected-resource"],
        ),
    ],
)  # fmt: skip
def test_where_the_metadata_of_a_resource_is(server: str, places: list[str]) -> None:
    """P-2, P-5, B139: the path first, then the root."""
    assert metadata.resource_urls(server, None) == tuple("https://h.test" + place for place in places)


def test_the_place_that_a_challenge_names_comes_first() -> None:
    """P-2, P-3: any path; the others are on the server's own origin."""
    named = "https://h.test/custom/metadata/location.json"
    assert metadata.resource_urls("https://h.test/mcp", named)[0] == named
    well_known = metadata.resource_urls("https://h.test/mcp", None)
    assert metadata.resource_urls("https://h.test/mcp", named)[1:] == well_known
    assert metadata.resource_urls("https://h.test/mcp", well_known[1]) == (well_known[1], well_known[0])


@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (
            "https://as.test/t1",
            [
                "/.well-known/oauth-authorization-server/t1",
                "/.well-known/openid-configuration/t1",
                "/t1/.well-known/openid-configuration",
            ],
        ),
        (
            "https://as.test/a/b/",
            [
                "/.well-known/oauth-authorization-server/a/b",
                "/.well-known/openid-configuration/a/b",
                "/a/b/.well-known/openid-configuration",
            ],
        ),
        ("https://as.test", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]),
        ("https://as.test/", ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]),
    ],
)
def test_where_the_metadata_of_an_authorization_server_is(issuer: str, places: list[str]) -> None:
    """M-1, M-2, M-3, M-4, M-5, B141, B142: on the issuer's own origin, and never at the root of one with a path."""
    assert metadata.server_urls(issuer) == tuple("https://as.test" + place for place in places)


# ------------------------------------------------------------------------------------------------------------------ resources


def test_a_resource() -> None:
    """P-1, P-6."""
    found = metadata.read_resource(
        body(
            {
                **RESOURCE,
                "scopes_supported": [" a", "b", "", "a", "é", "c d"],
                "dpop_bound_access_tokens_required": True,
            }
        ),
        MCP,
    )
    assert found == ResourceMetadata(MCP, (ISSUER,), ("a", "b", "c", "d"), True)
    assert metadata.read_resource(body({**RESOURCE, "scopes_supported": None}), MCP) == ResourceMetadata(MCP, (ISSUER,))


@pytest.mark.parametrize(
    "document",
    [[], {}, {"authorization_servers": [ISSUER]}, {"resource": MCP}, {**RESOURCE, "authorization_servers": []},
     {**RESOURCE, "authorization_servers": [1]}, {**RESOURCE, "resource": None}],
)  # fmt: skip
def test_a_document_about_no_resource(document: object) -> None:
    """P-6: without an authorization server it is of no use; there may be another one elsewhere."""
    with pytest.raises(Unusable):
        metadata.read_resource(body(document), MCP)


@pytest.mark.parametrize(
    ("resource", "server", "covered"),
    [
        (MCP, MCP, True),
        ("HTTPS://NOTES.test:443/v2/mcp", MCP, True),
        ("https://notes.test/v2/mcp/", MCP, True),
        ("https://notes.test/v2", MCP, True),
        ("https://notes.test/", MCP, True),
        ("https://notes.test", MCP, True),
        (MCP, MCP + "?tenant=1", True),
        (MCP + "?tenant=1", MCP + "?tenant=1", True),
        (MCP + "?tenant=2", MCP + "?tenant=1", False),
        ("https://notes.test/v2/mc", MCP, False),
        ("https://notes.test/v2/mcp/x", MCP, False),
        ("https://notes.test/v1", MCP, False),
        ("https://notes.test/v2/../v2", MCP, False),
        ("https://notes.test:8443/v2/mcp", MCP, False),
        ("http://notes.test/v2/mcp", MCP, False),
        ("https://evil.test/v2/mcp", MCP, False),
        ("https://notes.test@evil.test/v2/mcp", MCP, False),
        ("https://notes.test/v2/mcp#x", MCP, False),
        ("urn:notes", MCP, False),
    ],
)
def test_the_resource_must_be_the_server(resource: str, server: str, covered: bool) -> None:
    """R-5, P-7, B145: the same origin, and whole segments of the path; anything else stops before anybody is asked."""
    document = body({**RESOURCE, "resource": resource})
    if covered:
        assert metadata.read_resource(document, server).resource == resource
    else:
        with pytest.raises(DiscoveryFailed, match="which is not") as caught:
            metadata.read_resource(document, server)
        assert not caught.value.passing


@settings(deadline=None)
@given(SEGMENTS, SEGMENTS)
def test_a_resource_covers_whole_segments(base: list[str], path: list[str]) -> None:
    """R-5."""
    resource, server = ("/".join(["https://h.test", *each]) for each in (base, path))
    assert metadata.covers(resource, server) is (path[: len(base)] == base)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTPS://Notes.Test/Mcp", "https://notes.test/Mcp"),
        ("https://notes.test/", "https://notes.test"),
        ("https://notes.test", "https://notes.test"),
        ("https://notes.test/mcp/", "https://notes.test/mcp/"),
        ("https://notes.test/?a=B", "https://notes.test/?a=B"),
        ("https://notes.test:8443/mcp#x", "https://notes.test:8443/mcp"),
    ],
)
def test_the_identifier_of_a_server_that_publishes_none(url: str, canonical: str) -> None:
    """R-3, R-4, B144."""
    assert metadata.canonical(url) == canonical


# -------------------------------------------------------------------------------------------------------- choosing an issuer


def test_choosing_an_authorization_server() -> None:
    """B-1: one that we know, else the first."""
    issuers = ["https://a.test", "https://b.test", "https://c.test/"]
    assert metadata.choose(issuers, (), REACH) == "https://a.test"
    assert metadata.choose(issuers, {"https://c.test/", "https://b.test"}, REACH) == "https://b.test"
    assert metadata.choose(issuers, {"https://c.test"}, REACH) == "https://a.test"


def test_an_authorization_server_that_may_not_be_used_is_passed_over() -> None:
    """Z-1, M-8."""
    issuers = ["http://a.test", "https://10.0.0.1", "https://b.test?x=1", "https://c.test"]
    assert metadata.choose(issuers, {"http://a.test"}, REACH) == "https://c.test"
    with pytest.raises(DiscoveryFailed, match="private address") as caught:
        metadata.choose(issuers[:3], (), REACH)
    assert "https://b.test: an issuer has no query" in str(caught.value)


# ------------------------------------------------------------------------------------------------------ authorization servers


def test_an_authorization_server() -> None:
    found = metadata.read_server(
        body(
            {
                **CODE,
                "registration_endpoint": "https://id.test/acme/register",
                "device_authorization_endpoint": "https://id.test/acme/device",
                "revocation_endpoint": "https://id.test/acme/revoke",
                "scopes_supported": ["a"],
                "grant_types_supported": ["authorization_code"],
                "token_endpoint_auth_methods_supported": ["none"],
                "token_endpoint_auth_signing_alg_values_supported": ["ES256"],
                "dpop_signing_alg_values_supported": ["ES256"],
                "authorization_response_iss_parameter_supported": True,
                "client_id_metadata_document_supported": True,
                "jwks_uri": None,
            }
        ),
        ISSUER,
    )
    assert found == ServerMetadata(
        issuer=ISSUER,
        token_endpoint="https://id.test/acme/token",
        authorization_endpoint="https://id.test/acme/authorize",
        registration_endpoint="https://id.test/acme/register",
        device_authorization_endpoint="https://id.test/acme/device",
        revocation_endpoint="https://id.test/acme/revoke",
        scopes_supported=("a",),
        response_types_supported=("code",),
        grant_types_supported=("authorization_code",),
        code_challenge_methods_supported=("S256",),
        auth_methods=("none",),
        auth_algorithms=("ES256",),
        dpop_algorithms=("ES256",),
        iss_supported=True,
        client_documents_supported=True,
    )
    assert metadata.read_server(body(SERVER), ISSUER) == ServerMetadata(ISSUER, "https://id.test/acme/token")


@pytest.mark.parametrize(
    "issuer",
    [
        "https://id.test/acme/",
        "https://ID.test/acme",
        "https://id.test:443/acme",
        "https://id.test/%61cme",
        "https://id.test",
    ],
)
def test_the_issuer_is_compared_to_the_byte(issuer: str) -> None:
    """I-1, I-2, Z-8, B144."""
    with pytest.raises(DiscoveryFailed, match="another issuer"):
        metadata.read_server(body({**SERVER, "issuer": issuer}), ISSUER)


def test_only_a_made_up_issuer_has_slack() -> None:
    """I-3."""
    document = {**SERVER, "issuer": "https://h.test/"}
    assert metadata.read_server(body(document), "https://h.test", legacy=True).issuer == "https://h.test/"
    with pytest.raises(DiscoveryFailed):
        metadata.read_server(body(document), "https://h.test")
    with pytest.raises(DiscoveryFailed):
        metadata.read_server(body({**SERVER, "issuer": "https://h.test/x"}), "https://h.test", legacy=True)


@pytest.mark.parametrize("document", [[], {}, {"issuer": ISSUER}, {"token_endpoint": "https://id.test/token"}])
def test_a_document_about_no_authorization_server(document: object) -> None:
    with pytest.raises(Unusable):
        metadata.read_server(body(document), ISSUER)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"response_types_supported": None}, None),
        ({"response_types_supported": ["token"]}, "response type"),
        ({"authorization_endpoint": None}, "authorization_endpoint"),
        ({"code_challenge_methods_supported": None}, "S256"),
        ({"code_challenge_methods_supported": []}, "S256"),
        ({"code_challenge_methods_supported": ["plain"]}, "S256"),
        ({"code_challenge_methods_supported": ["plain", "S256"]}, None),
    ],
)
def test_people_log_in_only_where_it_is_safe(change: dict[str, object], reason: str | None) -> None:
    """A-3, M-8, B163: S256 has to be announced."""
    refusal = metadata.read_server(body({**CODE, **change}), ISSUER).code_refusal()
    assert (refusal is None) if reason is None else (reason in str(refusal))


def test_what_2025_03_26_did_not_announce_is_not_asked_for() -> None:
    """H-4: but who announces other methods only is believed."""
    document = {**CODE, "issuer": "https://h.test"}
    for methods, usable in ((None, True), (["plain"], False)):
        changed = body({**document, "code_challenge_methods_supported": methods})
        found = metadata.read_server(changed, "https://h.test", legacy=True)
        assert (found.code_refusal() is None) is usable


def test_grants_that_are_not_listed() -> None:
    """WI-3."""
    found = metadata.read_server(body({**SERVER, "grant_types_supported": ["authorization_code"]}), ISSUER)
    assert found.supports_grant("authorization_code")
    assert not found.supports_grant("client_credentials")
    assert metadata.read_server(body(SERVER), ISSUER).supports_grant("client_credentials")


def test_a_server_of_2025_03_26_is_its_own_authorization_server() -> None:
    """H-1, H-2."""
    assert metadata.legacy_server_urls(MCP) == ("https://notes.test/.well-known/oauth-authorization-server",)
    found = metadata.legacy_server(MCP)
    assert found == ServerMetadata(
        issuer="https://notes.test",
        token_endpoint="https://notes.test/token",
        authorization_endpoint="https://notes.test/authorize",
        registration_endpoint="https://notes.test/register",
        legacy=True,
        made_up=True,
    )
    assert found.code_refusal() is None


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*CODE, "scopes_supported", "resource", "authorization_servers"]),
                       st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=5) | st.none(), max_size=3)))  # fmt: skip
def test_any_document_is_read_or_refused(document: dict[str, object]) -> None:
    for read, place in ((metadata.read_resource, MCP), (metadata.read_server, ISSUER)):
        try:
            found = read(body(document), place)
        except (Unusable, DiscoveryFailed):
            continue
        assert found

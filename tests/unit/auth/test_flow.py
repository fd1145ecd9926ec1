"""Getting a token for a server, in a world without a network."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.auth import challenge, pkce
from syncline.auth.clients import OAuthClient
from syncline.auth.flow import Authorized, authorize, renew
from syncline.auth.settings import Browser, Budget, Device
from syncline.auth.steps import AskPerson, Fetch, Fetched, Forget, Kept, Listen, Recall, ShowCode, Wait
from syncline.auth.token_requests import DEVICE, TokenAnswer, TokenRefusal
from syncline.errors import AuthDenied, AuthError, AuthRequired, ConfigError, DiscoveryFailed
from tests.fixtures.oauth import ISSUER, MCP, REDIRECT, Authority, World, page, refusals, settings

ASKED = 'Bearer resource_metadata="https://notes.test/.well-known/oauth-protected-resource/v2/mcp", scope="notes:list"'
STEP_UP = 'Bearer error="insufficient_scope", scope="notes:write"'
REGISTERED = OAuthClient("id.test-0", ISSUER, auth_method="none", redirect_uris=(REDIRECT,), source="registered")
DOCUMENT = "https://tool.test/oauth/client.json"
OTHER = "https://new.test"


@pytest.fixture
def world() -> World:
    world = World()
    world.resource()
    return world


def run(world: World, header: str | None = ASKED, *, known: tuple[str, ...] = (), budget: Budget | None = None,
        interactive: bool = True, **changes: Any) -> Authorized:  # fmt: skip
    picked = challenge.pick(challenge.parse(header)) if header else None
    flow = authorize(
        settings(**changes),
        entropy=world.entropy,
        challenge=picked,
        known=known,
        budget=budget,
        interactive=interactive,
    )
    return world.run(flow)


def keep(world: World, authority: Authority, **changes: Any) -> None:
    """A login from before is kept."""
    authority.clients[REGISTERED.client_id] = {}
    authority.refresh_tokens.add("planted-old")
    kept = Kept(REGISTERED, ("notes:list",), ("notes:list",))
    world.kept[ISSUER, MCP] = replace(kept, **changes)


# ------------------------------------------------------------------------------------------------------------- a first login


def test_a_first_login(world: World) -> None:
    """W-1, A-1, A-2, A-6, R-1, R-2, K-3, C-5, C-6, S-1, B-7, B144: the whole way, with the same resource and redirect URI at each step."""
    authority = Authority(world)
    result = run(world)

    assert [type(step) for step in world.steps] == [Fetch, Fetch, Recall, Listen, Fetch, AskPerson, Fetch]
    assert world.of(Recall) == [Recall(ISSUER, MCP)]
    (visit,), (request,), (body,) = authority.visits, authority.requests, authority.registrations
    assert visit["client_id"] == "id.test-1"
    assert (visit["scope"], visit["resource"], visit["redirect_uri"]) == ("notes:list", MCP, REDIRECT)
    assert body["application_type"] == "native"
    assert request == {
        "grant_type": "authorization_code",
        "code": "planted-code-2",
        "redirect_uri": REDIRECT,
        "code_verifier": request["code_verifier"],
        "resource": MCP,
        "client_id": "id.test-1",
    }
    assert pkce.challenge(request["code_verifier"]) == visit["code_challenge"]
    assert result == Authorized(
        issuer=ISSUER,
        resource=MCP,
        client=replace(REGISTERED, client_id="id.test-1", scopes=("notes:list",)),
        token=result.token,
        requested=("notes:list",),
        granted=("notes:list",),
        budget=Budget(registrations=0, logins=0),
    )
    assert (result.token.access_token, result.token.refresh_token) == ("planted-access-4", "planted-refresh-3")


def test_a_login_that_nobody_asked_for(world: World) -> None:
    """W-2: without a challenge, as from the command line."""
    Authority(world)
    assert run(world, None).requested == ()


@pytest.mark.parametrize(
    ("header", "supported", "configured", "offline", "scope"),
    [
        (ASKED, ["x"], None, False, "notes:list"),
        ("Bearer", ["x", "y"], None, False, "x y"),
        ("Bearer", None, None, False, None),
        ("Bearer", ["x"], ("z",), False, "z"),
        (ASKED, None, None, True, "notes:list offline_access"),
        ("Bearer", ["x", "offline_access"], None, False, "x"),
        ("Bearer", None, None, True, None),
    ],
)
def test_scopes(
    world: World,
    header: str,
    supported: list[str] | None,
    configured: tuple[str, ...] | None,
    offline: bool,
    scope: str | None,
) -> None:
    """S-1, S-4, S-5, P-9, B153."""
    authority = Authority(world, scopes_supported=["offline_access"] if offline else ["openid"])
    world.resource(scopes_supported=supported)
    run(world, header, scopes=configured)
    assert authority.visits[0].get("scope") == scope


def test_what_is_granted_may_be_less(world: World) -> None:
    """S-7: it is written down, and ends nothing; so is what was asked for."""
    authority = Authority(world)
    authority.granted = "notes:read"
    result = run(world)
    assert (result.requested, result.granted) == (("notes:list",), ("notes:read",))


def test_registering_for_all_that_may_be_asked_for(world: World) -> None:
    authority = Authority(world)
    world.resource(scopes_supported=["notes:list", "notes:write"])
    run(world)
    assert authority.registrations[0]["scope"] == "notes:list notes:write"
    assert authority.visits[0]["scope"] == "notes:list"


def test_the_document_of_the_client(world: World) -> None:
    """C-1, C-3: no registration."""
    authority = Authority(world, client_id_metadata_document_supported=True)
    authority.clients[DOCUMENT] = {}
    result = run(world, client_document=DOCUMENT)
    assert authority.visits[0]["client_id"] == authority.requests[0]["client_id"] == DOCUMENT
    assert authority.registrations == []
    assert result.client is not None
    assert result.client.source == "document"


def test_a_configured_client(world: World) -> None:
    """C-1, C-2, K-1, B-8: it is bound to where it was used."""
    authority = Authority(
        world, token_endpoint_auth_methods_supported=["client_secret_post"], registration_endpoint=None
    )
    authority.clients["mine"] = {"client_secret": "planted"}
    result = run(world, client=OAuthClient("mine", secret="planted"))
    assert authority.requests[0]["client_secret"] == "planted"
    assert result.client == OAuthClient("mine", ISSUER, secret="planted")


def test_a_configured_client_that_comes_back_elsewhere(world: World) -> None:
    """A-6."""
    authority = Authority(world)
    with pytest.raises(ConfigError, match="another URI"):
        run(world, client=OAuthClient("mine", redirect_uris=("http://127.0.0.1:1/cb",)))
    assert authority.visits == authority.registrations == []


@pytest.mark.parametrize("uri", ["http://tool.test/cb", "http://0.0.0.0:1/cb", "cb:/x", "https://tool.test/cb#x"])
def test_nobody_is_sent_back_to_an_unsafe_place(world: World, uri: str) -> None:
    """L-1, T-5."""
    authority = Authority(world)
    world.redirect_uri = uri
    with pytest.raises(ConfigError, match="sent back"):
        run(world)
    assert authority.visits == authority.registrations == []


def test_a_registration_that_is_refused(world: World) -> None:
    """C-7."""
    Authority(world)
    world.pages[f"POST {ISSUER}/register"] = page({"error": "invalid_redirect_uri"}, 400)
    with pytest.raises(AuthDenied, match="choose a port"):
        run(world)
    assert world.asked == []


@pytest.mark.parametrize("change", [{"code_challenge_methods_supported": None}, {"code_challenge_methods_supported": ["plain"]},
    {"response_types_supported": ["token"]}, {"authorization_endpoint": None}, {"authorization_endpoint": "javascript:alert(1)"},
    {"authorization_endpoint": "http://id.test/authorize"}, {"authorization_endpoint": "https://10.0.0.1/authorize"}])  # fmt: skip
def test_nobody_logs_in_where_it_is_not_safe(world: World, change: dict[str, Any]) -> None:
    """A-3, M-8, Z-6, B163: nobody is asked and nothing is registered."""
    authority = Authority(world, **change)
    with pytest.raises(DiscoveryFailed, match="safely"):
        run(world)
    assert world.asked == []
    assert authority.registrations == []


# ------------------------------------------------------------------------------------------------------- what comes back


@pytest.mark.parametrize("iss", [None, ISSUER + "/", OTHER])
def test_an_answer_from_somewhere_else(world: World, iss: str | None) -> None:
    """V-1, V-2, V-3, V-4, A-5, Z-8: no token request, and its words are not shown."""
    authority = Authority(world, authorization_response_iss_parameter_supported=True)

    def person(step: AskPerson) -> str:
        back = authority.visit(dict(parse_qsl(urlsplit(step.request.url).query)))
        return f"{back}&error_description=planted" + (f"&iss={iss}" if iss else "")

    world.person = person
    with pytest.raises(AuthDenied, match="9207") as caught:
        run(world)
    assert authority.requests == []
    assert "planted" not in str(caught.value)


def test_an_authorization_server_that_says_who_it_is(world: World) -> None:
    """V-1."""
    authority = Authority(world, authorization_response_iss_parameter_supported=True)
    authority.says_iss = True
    assert run(world).issuer == ISSUER


def test_a_person_who_says_no(world: World) -> None:
    """B157."""
    authority = Authority(world)
    world.person = lambda step: f"{REDIRECT}?state={step.request.state}&error=access_denied"
    with pytest.raises(AuthDenied, match="allow it") as caught:
        run(world)
    assert caught.value.error == "access_denied"
    assert authority.requests == []


def test_the_driver_gives_up_waiting(world: World) -> None:
    """L-5: what it throws ends the flow, which has nothing to clean up."""
    Authority(world)
    flow = authorize(settings(), entropy=world.entropy)

    def person(step: AskPerson) -> str:
        raise TimeoutError

    world.person = person
    with pytest.raises(TimeoutError):
        world.run(flow)
    assert list(flow) == []


@pytest.mark.parametrize("error", ["invalid_grant", "temporarily_unavailable"])
def test_a_code_is_redeemed_once(world: World, error: str) -> None:
    """Spec digest, section 7: not even after what passes."""
    authority = Authority(world)
    authority.scripted.extend(refusals(error))
    with pytest.raises(AuthDenied, match="log in again") as caught:
        run(world)
    assert caught.value.error == error
    assert len(authority.requests) == 1
    assert world.of(Forget) == []


def test_a_registration_that_is_not_known_any_more(world: World) -> None:
    """C-9: found out after the login; it is given up, so that the next login begins with a new one."""
    authority = Authority(world)
    keep(world, authority)
    authority.clients.clear()
    with pytest.raises(AuthDenied, match="invalid_client"):
        run(world)
    assert world.of(Forget) == [Forget(ISSUER, client_id=REGISTERED.client_id)]


# -------------------------------------------------------------------------------------------------------------- what is kept


def test_a_login_asks_for_all_that_was_asked_for_before(world: World) -> None:
    """As the client that is registered."""
    authority = Authority(world)
    keep(world, authority, requested=("notes:read",))
    result = run(world)
    assert authority.registrations == []
    assert (result.client, result.requested) == (REGISTERED, ("notes:read", "notes:list"))
    assert result.budget == Budget(logins=0)


def test_where_nobody_can_be_asked_it_says_so(world: World) -> None:
    """X-6, 4.149: with where to log in and for what."""
    authority = Authority(world)
    keep(world, authority)
    with pytest.raises(AuthRequired, match=r"syncline auth login https://notes\.test/v2/mcp") as caught:
        run(world, interactive=False)
    assert (caught.value.login_url, caught.value.scopes) == (f"{ISSUER}/authorize", ["notes:list"])
    assert world.of(Listen) == []
    assert authority.registrations == []


def test_no_unsafe_place_is_named_to_log_in_at(world: World) -> None:
    """Z-6."""
    for place in (None, "javascript:alert(1)"):
        Authority(world, authorization_endpoint=place)
        with pytest.raises(AuthRequired) as caught:
            run(world, interactive=False)
        assert caught.value.login_url is None


def test_a_configured_client_that_is_not_known_is_an_error(world: World) -> None:
    """C-9: a registration in its place is not what the user wants."""
    authority = Authority(world)
    with pytest.raises(AuthDenied, match="check the client_id"):
        run(world, client=OAuthClient("mine"))
    assert world.of(Forget) == []
    assert authority.registrations == []


def test_another_port_takes_another_registration(world: World) -> None:
    """A-6, trap 9: the registered one is preferred."""
    authority = Authority(world)
    keep(world, authority)
    run(world)
    assert world.of(Listen) == [Listen((REDIRECT,))]
    assert authority.registrations == []
    world.redirect_uri = "http://127.0.0.1:52118/cb"
    result = run(world)
    assert authority.registrations[0]["redirect_uris"] == [world.redirect_uri]
    assert result.client is not None
    assert result.client.redirect_uris == (world.redirect_uri,)


@pytest.fixture
def ahead(world: World) -> Authority:
    authority = Authority(world)
    keep(world, authority)
    return authority


def renewed(world: World, resource: str | None = MCP, issuer: str = ISSUER) -> TokenAnswer | TokenRefusal:
    flow = renew(settings(), issuer=issuer, resource=resource, client=REGISTERED, refresh_token="planted-old")
    return world.run(flow)


def test_a_refresh_ahead_of_time(world: World, ahead: Authority) -> None:
    """F-6, I-1: the authorization server is the one that gave the refresh token; the server is not asked."""
    found = renewed(world)
    assert isinstance(found, TokenAnswer)
    assert found.refresh_token == "planted-refresh-1"
    assert world.fetched == ["GET https://id.test/.well-known/oauth-authorization-server/acme", f"POST {ISSUER}/token"]
    assert renewed(world) == TokenRefusal("invalid_grant", "", 400)


def test_a_refresh_ahead_of_time_of_an_authorization_server_that_is_somebody_else_now(
    world: World, ahead: Authority
) -> None:
    """F-6, I-2."""
    Authority(world, OTHER, place="https://id.test/.well-known/oauth-authorization-server/acme")
    with pytest.raises(DiscoveryFailed, match="another issuer"):
        renewed(world)
    assert ahead.requests == []


def test_a_refresh_ahead_of_time_for_2025_03_26(world: World) -> None:
    """H-4, F-6."""
    authority = Authority(world, "https://notes.test")
    keep(world, authority)
    assert isinstance(renewed(world, None, "https://notes.test"), TokenAnswer)
    assert "resource" not in authority.requests[0]
    with pytest.raises(DiscoveryFailed, match="log in again"):
        renewed(world, None, ISSUER)
    assert len(authority.requests) == 1


# ------------------------------------------------------------------------------------------- another authorization server


def test_another_authorization_server_is_shown_nothing_of_the_first(world: World) -> None:
    """B-2, B-3, B-4, F-6, G-2, W-7: asked anew at each 401; the client registers again."""
    first, second = Authority(world), Authority(world, OTHER)
    keep(world, first)
    world.resource(authorization_servers=[OTHER])
    result = run(world, known=(ISSUER,))
    assert result.issuer == OTHER
    assert result.client is not None
    assert result.client.client_id == "new.test-1"
    assert world.of(Recall) == [Recall(OTHER, MCP)]
    assert first.visits == first.requests == []
    seen = json.dumps([second.visits, second.requests, second.registrations])
    assert REGISTERED.client_id not in seen


def test_a_registration_of_another_authorization_server_is_not_used(world: World) -> None:
    """B-4, G-3: even if the driver hands it over."""
    second = Authority(world, OTHER)
    world.resource(authorization_servers=[OTHER])
    world.kept[OTHER, MCP] = Kept(REGISTERED)
    run(world)
    assert second.visits[0]["client_id"] == "new.test-1"
    assert [form["grant_type"] for form in second.requests] == ["authorization_code"]


@pytest.mark.parametrize("bound", [ISSUER, None])
def test_a_configured_client_does_not_move(world: World, bound: str | None) -> None:
    """B-5, trap 21: also if the user did not say where it belongs, but it was used elsewhere."""
    second = Authority(world, OTHER)
    world.resource(authorization_servers=[OTHER])
    with pytest.raises(ConfigError, match=r"belongs to https://id\.test/acme"):
        run(world, client=OAuthClient("mine", bound, secret="planted"), known=(ISSUER,))
    assert second.visits == second.requests == []


def test_a_document_moves_along(world: World) -> None:
    """B-6."""
    second = Authority(world, OTHER, client_id_metadata_document_supported=True)
    second.clients[DOCUMENT] = {}
    world.resource(authorization_servers=[OTHER])
    run(world, client_document=DOCUMENT, known=(ISSUER,))
    assert second.visits[0]["client_id"] == DOCUMENT


# -------------------------------------------------------------------------------------------------------------------- step-up


def test_a_step_up_asks_for_the_union(world: World) -> None:
    """W-8, X-1, X-2, F-4: never by a refresh, which cannot widen anything."""
    authority = Authority(world)
    keep(world, authority)
    result = run(world, STEP_UP)
    assert authority.visits[0]["scope"] == "notes:list notes:write"
    assert [form["grant_type"] for form in authority.requests] == ["authorization_code"]
    assert authority.visits[0]["client_id"] == REGISTERED.client_id
    assert result.requested == ("notes:list", "notes:write")
    assert result.budget == Budget(step_ups=0)


@pytest.mark.parametrize(
    "header", ['Bearer error="insufficient_scope"', 'Bearer error="insufficient_scope", scope="notes:list"']
)
def test_a_step_up_that_would_add_nothing(world: World, header: str) -> None:
    """X-4, X-5: nobody is asked."""
    authority = Authority(world)
    keep(world, authority)
    with pytest.raises(AuthDenied, match="more cannot be asked for") as caught:
        run(world, header)
    assert caught.value.error == "insufficient_scope"
    assert authority.visits == authority.requests == []


def test_a_step_up_to_what_the_server_lists(world: World) -> None:
    """S-1, X-1: where the challenge does not name what is missing."""
    authority = Authority(world)
    keep(world, authority)
    world.resource(scopes_supported=["notes:list", "notes:write"])
    result = run(world, 'Bearer error="insufficient_scope"')
    assert authority.visits[0]["scope"] == "notes:list notes:write"
    assert result.requested == ("notes:list", "notes:write")


@pytest.mark.parametrize("grant", [Browser(), Device()])
def test_a_client_that_may_not_ask_for_more_registers_again(world: World, grant: Browser | Device) -> None:
    """C-9, X-2: for all that was asked for so far, and what is missing; nobody is asked in vain."""
    authority = Authority(world, device_authorization_endpoint=f"{ISSUER}/device")
    keep(world, authority, client=replace(REGISTERED, scopes=("notes:list",)))
    result = run(world, STEP_UP, grant=grant)
    assert [each["scope"] for each in authority.registrations] == ["notes:list notes:write"]
    assert result.client is not None
    assert result.client.client_id != REGISTERED.client_id
    assert result.client.scopes == ("notes:list", "notes:write")
    assert result.budget == Budget(registrations=0, step_ups=0)


def test_a_step_up_needs_a_person_too(world: World) -> None:
    """X-6."""
    authority = Authority(world)
    keep(world, authority)
    with pytest.raises(AuthRequired) as caught:
        run(world, STEP_UP, interactive=False)
    assert caught.value.scopes == ["notes:list", "notes:write"]


def test_a_server_that_is_never_content(world: World) -> None:
    """W-9, X-3, X-4: one login and one step-up in a call, however often it asks."""
    authority = Authority(world)
    budget = Budget()
    for header in (ASKED, STEP_UP):
        result = run(world, header, budget=budget)
        world.keep(result)
        budget = result.budget
    with pytest.raises(AuthDenied, match="still wants more scopes") as caught:
        run(world, 'Bearer error="insufficient_scope", scope="notes:all"', budget=budget)
    assert caught.value.error == "insufficient_scope"
    assert len(authority.visits) == 2
    assert [each["scope"] for each in authority.registrations] == ["notes:list", "notes:list notes:write"]


def test_a_new_token_that_is_refused_ends_it(world: World) -> None:
    """W-6, W-9."""
    authority = Authority(world)
    with pytest.raises(AuthDenied, match="does not take the token"):
        run(world, budget=run(world).budget)
    assert len(authority.visits) == 1


def test_a_call_registers_once(world: World) -> None:
    """C-9."""
    authority = Authority(world)
    with pytest.raises(AuthDenied, match="just registered"):
        run(world, budget=Budget(registrations=0))
    assert authority.registrations == []


# -------------------------------------------------------------------------------------------------------------------- devices


@pytest.fixture
def codes(world: World) -> Authority:
    return Authority(world, device_authorization_endpoint=f"{ISSUER}/device")


def test_a_device(world: World, codes: Authority) -> None:
    """RFC 8628: registers, shows a code, and asks until somebody has typed it, more slowly when told so."""
    codes.scripted.extend(refusals("authorization_pending", "slow_down", "authorization_pending"))
    result = run(world, grant=Device())
    assert codes.registrations[0]["grant_types"] == [DEVICE, "refresh_token"]
    assert [step.codes.user_code for step in world.of(ShowCode)] == ["WDJB-MJHT"]
    assert [step.seconds for step in world.of(Wait)] == [5, 5, 10, 10]
    first, *polls = codes.requests
    assert first == {"resource": MCP, "scope": "notes:list", "client_id": "id.test-1"}
    assert (
        polls
        == [{"grant_type": DEVICE, "device_code": "planted-device", "resource": MCP, "client_id": "id.test-1"}] * 4
    )
    assert result.token.access_token.startswith("planted-access")
    assert not world.asked
    assert not world.of(Listen)


def test_a_device_with_a_client(world: World, codes: Authority) -> None:
    keep(world, codes)
    assert run(world, grant=Device()).client == REGISTERED
    assert codes.registrations == []


def test_nobody_types_the_code(world: World, codes: Authority) -> None:
    codes.scripted.extend(refusals(*["authorization_pending"] * 9))
    with pytest.raises(AuthDenied, match="in time") as caught:
        run(world, grant=Device())
    assert caught.value.error == "expired_token"
    assert sum(step.seconds for step in world.of(Wait)) == 30


@pytest.mark.parametrize("error", ["access_denied", "expired_token", "invalid_grant"])
def test_a_device_that_is_refused(world: World, codes: Authority, error: str) -> None:
    codes.scripted.extend(refusals(error))
    with pytest.raises(AuthDenied) as caught:
        run(world, grant=Device())
    assert caught.value.error == error
    assert codes.polls == 0


def test_codes_that_are_refused(world: World, codes: Authority) -> None:
    world.pages[f"POST {ISSUER}/device"] = page({"error": "unauthorized_client"}, 400)
    with pytest.raises(AuthDenied, match="unauthorized_client"):
        run(world, grant=Device())


@pytest.mark.parametrize("name", ["verification_uri", "verification_uri_complete"])
@pytest.mark.parametrize("place", ["javascript:alert(1)", "http://id.test/device", "https://192.168.1.1/"])
def test_nobody_types_a_code_in_an_unsafe_place(world: World, codes: Authority, name: str, place: str) -> None:
    """Z-6."""
    answer = {
        "device_code": "d",
        "user_code": "u",
        "verification_uri": "https://id.test/",
        "expires_in": 30,
        name: place,
    }
    world.pages[f"POST {ISSUER}/device"] = page(answer)
    with pytest.raises(DiscoveryFailed, match="with a code"):
        run(world, grant=Device())
    assert world.of(ShowCode) == []


def test_no_codes_for_devices(world: World) -> None:
    Authority(world)
    with pytest.raises(ConfigError, match="with a browser"):
        run(world, grant=Device())


# --------------------------------------------------------------------------------------------------------- 2025-03-26, secrets


def test_a_server_of_2025_03_26(world: World) -> None:
    """H-1, H-2, H-4: PKCE, but no resource; registered and asked at the root of the server."""
    authority = Authority(world, "https://notes.test")
    del world.pages["GET https://notes.test/.well-known/oauth-protected-resource/v2/mcp"]
    del world.pages["GET https://notes.test/.well-known/oauth-authorization-server"]
    result = run(world, "Bearer")
    (visit,), (form,) = authority.visits, authority.requests
    assert "resource" not in visit
    assert "resource" not in form
    assert visit["code_challenge_method"] == "S256"
    assert (result.issuer, result.resource) == ("https://notes.test", None)


def test_the_same_metadata_after_the_server_was_asked_anew(world: World) -> None:
    """W-7: nothing of an earlier answer is used."""
    Authority(world)
    run(world)
    before = len(world.fetched)
    run(world)
    assert world.fetched[before:][:2] == world.fetched[:2]


def test_no_step_and_no_result_shows_a_secret(world: World) -> None:
    """G-4, F-1."""
    authority = Authority(world, token_endpoint_auth_methods_supported=["client_secret_basic"])
    authority.clients["mine"] = {"client_secret": "planted"}
    url = f"{MCP}?key=planted"
    world.resource("https://notes.test/.well-known/oauth-protected-resource/v2/mcp?key=planted")
    result = run(world, "Bearer", client=OAuthClient("mine", secret="planted"), server_url=url)
    shown = repr([world.steps, result, settings(server_url=url)])
    assert "planted" not in shown
    request = world.asked[0].request
    assert request.state not in shown
    assert request.verifier not in shown


CHANCE = st.binary(max_size=30) | st.builds(
    lambda value: json.dumps(value).encode(),
    st.dictionaries(
        st.sampled_from(["resource", "authorization_servers", "issuer", "token_endpoint", "authorization_endpoint", "error",
                         "access_token", "token_type", "client_id", "code_challenge_methods_supported", "registration_endpoint"]),
        st.sampled_from([MCP, ISSUER, [ISSUER], f"{ISSUER}/x", "Bearer", ["S256"], "http://x", None, 7]),
    ),
)  # fmt: skip


@hypothesis.settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([200, 200, 200, 201, 302, 400, 404, 500]), CHANCE), max_size=8), st.booleans()
)
def test_whatever_is_answered_a_flow_ends_well(answers: list[tuple[int, bytes]], interactive: bool) -> None:
    """A token or an error of ours; within the budget; and nothing goes anywhere but to https."""
    world = World()
    world.resource()
    left = iter(answers)
    real = world._answer

    def answer(step: object) -> object:
        if isinstance(step, Fetch):
            status, body = next(left, (0, b""))
            return Fetched(status, body) if status else Fetched(404, b"")
        return real(step)  # type: ignore[arg-type]

    world._answer = answer  # type: ignore[method-assign]
    world.person = lambda step: f"{REDIRECT}?code=c&state={step.request.state}"
    try:
        result = run(world, "Bearer", interactive=interactive)
    except (AuthError, ConfigError):
        pass
    else:
        assert result.token.access_token
        assert not parse_qs(result.token.access_token)
    assert all(fetch.startswith(("GET https://", "POST https://")) for fetch in world.fetched)
    assert len(world.asked) <= int(interactive)

"""A person's login: the URL to visit and what comes back."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import authorization, pkce
from syncline.auth.authorization import AuthorizationRequest
from syncline.auth.metadata import ServerMetadata
from syncline.errors import AuthDenied

ISSUER = "https://id.test/acme"
METADATA = ServerMetadata(
    issuer=ISSUER,
    token_endpoint="https://id.test/acme/token",
    authorization_endpoint="https://id.test/acme/authorize",
)
REDIRECT = "http://127.0.0.1:52117/cb"
MCP = "https://notes.test/v2/mcp"


class Entropy:
    """Bytes that are different each time, and the same in each run."""

    def __init__(self) -> None:
        self.given = 0

    def __call__(self, size: int) -> bytes:
        self.given += 1
        return bytes([self.given]) * size


def begin(metadata: ServerMetadata = METADATA, **changes: object) -> AuthorizationRequest:
    arguments: dict[str, object] = {
        "client_id": "client & co",
        "redirect_uri": REDIRECT,
        "resource": MCP,
        "scopes": ("notes:list", "a&b"),
        "entropy": Entropy(),
    }
    return authorization.begin(metadata, **{**arguments, **changes})  # type: ignore[arg-type]


def answer(request: AuthorizationRequest, **parameters: str) -> str:
    return f"{request.redirect_uri}?{urlencode({'state': request.state, **parameters})}"


# ------------------------------------------------------------------------------------------------------------------- the URL


def test_the_url_to_visit() -> None:
    """A-1, A-2, A-4, A-7, R-1: each parameter once, resource among them, escaped."""
    request = begin()
    parts = urlsplit(request.url)
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == METADATA.authorization_endpoint
    assert parse_qsl(parts.query) == [
        ("response_type", "code"),
        ("client_id", "client & co"),
        ("redirect_uri", REDIRECT),
        ("code_challenge", pkce.challenge(request.verifier)),
        ("code_challenge_method", "S256"),
        ("state", request.state),
        ("resource", MCP),
        ("scope", "notes:list a&b"),
    ]
    assert "+" not in parts.query


def test_what_is_not_there_is_not_sent() -> None:
    """S-1, H-4: no scope parameter rather than an empty one; no resource for 2025-03-26."""
    sent = parse_qs(urlsplit(begin(scopes=(), resource=None).url).query, keep_blank_values=True)
    assert not {"scope", "resource", "prompt"} & sent.keys()


def test_offline_access_asks_for_consent() -> None:
    """S-6."""
    assert parse_qs(urlsplit(begin(scopes=("a", "offline_access")).url).query)["prompt"] == ["consent"]


def test_the_query_of_the_endpoint_is_kept_but_for_our_names() -> None:
    """A-7: an endpoint cannot put a state or a redirect of its own beside ours."""
    endpoint = "https://id.test/az?tenant=a%20b&flag&state=evil&redirect%5Furi=https://evil.test/&scope=all"
    request = begin(replace(METADATA, authorization_endpoint=endpoint), scopes=())
    query = urlsplit(request.url).query
    assert query.startswith("tenant=a%20b&flag&response_type=code&")
    sent = parse_qs(query)
    assert (sent["state"], sent["redirect_uri"], sent["tenant"]) == ([request.state], [REDIRECT], ["a b"])
    assert "scope" not in sent


def test_each_login_has_a_state_and_a_verifier_of_its_own() -> None:
    """A-4, A-5: 256 bits each, and who was asked is kept with them."""
    entropy = Entropy()
    first, second = begin(entropy=entropy), begin(entropy=entropy)
    assert len({first.state, first.verifier, second.state, second.verifier}) == 4
    assert len(first.state) == len(first.verifier) == 43
    assert first.issuer == ISSUER


def test_nothing_secret_is_shown() -> None:
    """G-4."""
    request = begin()
    for secret in (request.state, request.verifier, pkce.challenge(request.verifier)):
        assert secret not in repr(request)


@settings(deadline=None)
@given(st.text(max_size=10), st.lists(st.text(min_size=1, max_size=5), max_size=3).map(tuple), st.text(max_size=20))
def test_nothing_breaks_out_of_a_parameter(client_id: str, scopes: tuple[str, ...], query: str) -> None:
    """A value cannot add a parameter, a header or a fragment."""
    endpoint = "https://id.test/az?" + quote(query, safe="=&")
    url = begin(
        replace(METADATA, authorization_endpoint=endpoint), client_id=_utf8(client_id), scopes=scopes and ("a",)
    ).url
    assert url.isascii()
    assert url.isprintable()
    assert " " not in url
    assert "#" not in url
    sent = parse_qs(urlsplit(url).query, keep_blank_values=True)
    assert all(len(sent[name]) == 1 for name in ("state", "client_id", "redirect_uri", "code_challenge", "resource"))
    assert sent["client_id"] == [_utf8(client_id)]


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


# ----------------------------------------------------------------------------------------------------------------- the answer


def test_a_good_answer() -> None:
    request = begin()
    for given_answer in (
        answer(request, code="c+/=&"),
        answer(request, code="c+/=&", iss=ISSUER),
        answer(request, code="c+/=&") + "#_=_",
        "  " + answer(request, code="c+/=&").partition("?")[2] + "\n",
    ):
        assert authorization.belongs(request, given_answer)
        assert authorization.read_code(request, given_answer) == "c+/=&"


@pytest.mark.parametrize(
    ("advertised", "iss", "accepted"),
    [
        (True, ISSUER, True),
        (True, None, False),
        (False, ISSUER, True),
        (False, None, True),
        (True, "https://evil.test", False),
        (False, "https://evil.test", False),
        (True, "", False),
        (True, ISSUER + "/", False),
        (True, "https://ID.test/acme", False),
        (True, "https://id.test:443/acme", False),
        (True, "https://id.test/%61cme", False),
    ],
)
@pytest.mark.parametrize("outcome", [{"code": "c"}, {"error": "access_denied", "error_description": "no, thanks"}])
def test_who_sends_people_back(advertised: bool, iss: str | None, accepted: bool, outcome: dict[str, str]) -> None:
    """V-1, V-2, V-3, V-4, V-5, Z-8: the table of RFC 9207, to the byte; for errors, too, whose text is not shown then."""
    request = begin(replace(METADATA, iss_supported=advertised))
    back = answer(request, **outcome, **({} if iss is None else {"iss": iss}))
    if accepted and "code" in outcome:
        assert authorization.read_code(request, back) == "c"
        return
    with pytest.raises(AuthDenied) as caught:
        authorization.read_code(request, back)
    assert ("no, thanks" in str(caught.value)) is accepted
    assert caught.value.error == ("access_denied" if accepted else None)


@pytest.mark.parametrize("parameters", ["", "state=", "state=wrong", "state={}&state={}", "state={}x", "STATE={}"])
@pytest.mark.parametrize("outcome", ["&code=c", "&error=planted"])
def test_an_answer_to_another_login(parameters: str, outcome: str) -> None:
    """A-4, L-3, B157: it does not end the wait, and nothing of it is used or shown."""
    request = begin()
    back = f"{REDIRECT}?{parameters.replace('{}', request.state)}{outcome}&iss={ISSUER}"
    assert not authorization.belongs(request, back)
    with pytest.raises(AuthDenied, match="another login") as caught:
        authorization.read_code(request, back)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("parameters", ["", "&code=", "&code=a&code=b"])
def test_an_answer_that_says_nothing(parameters: str) -> None:
    request = begin()
    with pytest.raises(AuthDenied, match="neither one code nor an error"):
        authorization.read_code(request, f"{REDIRECT}?state={request.state}{parameters}")


@pytest.mark.parametrize("issuers", [f"&iss={ISSUER}&iss={ISSUER}", f"&iss={ISSUER}&iss=https://evil.test"])
def test_an_answer_that_names_two_servers(issuers: str) -> None:
    """V-1."""
    request = begin()
    with pytest.raises(AuthDenied, match="9207"):
        authorization.read_code(request, f"{REDIRECT}?state={request.state}&code=c{issuers}")


def test_refusals_say_what_to_do() -> None:
    """4.178, B157: the error and its description, in one line and without what steers a terminal."""
    request = begin()
    for error, advice in (
        ("access_denied", "allow it"),
        ("invalid_scope", "other scopes"),
        ("made_up", "log in again"),
    ):
        with pytest.raises(AuthDenied, match=advice) as caught:
            authorization.read_code(request, answer(request, error=error, error_description="No\r\n\x1b[31m, sorry"))
        assert caught.value.error == error
        assert "No [31m, sorry" in str(caught.value)
    with pytest.raises(AuthDenied, match=r"\(access_denied\)"):
        authorization.read_code(request, answer(request, error="access_denied"))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_answer_is_read_or_refused(text: str) -> None:
    request = begin()
    assert not authorization.belongs(request, text)
    with pytest.raises(AuthDenied):
        authorization.read_code(request, text)


def test_a_flood_of_parameters_is_no_answer() -> None:
    request = begin()
    flood = answer(request, code="c") + "&x=1" * authorization.MOST
    assert not authorization.belongs(request, flood)
    with pytest.raises(AuthDenied):
        authorization.read_code(request, flood)


@settings(deadline=None)
@given(st.text(min_size=1, max_size=30))
def test_codes_arrive_as_they_were_sent(code: str) -> None:
    request = begin()
    code = _utf8(code)
    assert authorization.read_code(request, answer(request, code=code)) == code

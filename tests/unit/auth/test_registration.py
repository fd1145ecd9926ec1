"""How we become known at an authorization server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import registration
from syncline.auth.clients import OAuthClient
from syncline.auth.metadata import ServerMetadata
from syncline.errors import AuthDenied, ConfigError

ISSUER = "https://id.test/acme"
BARE = ServerMetadata(ISSUER, "https://id.test/acme/token")
ALL = replace(BARE, registration_endpoint="https://id.test/acme/register", client_documents_supported=True)
OPEN = replace(ALL, client_documents_supported=False)
DOCUMENT = "https://tool.test/oauth/client.json"
REDIRECT = "http://127.0.0.1:52117/cb"
CONFIGURED = OAuthClient("mine", issuer=ISSUER, secret="planted")
KEPT = OAuthClient("kept", issuer=ISSUER, source="registered", redirect_uris=(REDIRECT,))


def choose(
    metadata: ServerMetadata,
    configured: OAuthClient | None = None,
    document: str | None = None,
    kept: OAuthClient | None = None,
) -> OAuthClient | None:
    return registration.choose(metadata, configured=configured, document=document, kept=kept)


def registered(document: Mapping[str, object], status: int = 201) -> OAuthClient:
    return registration.read_client(
        status, json.dumps(document).encode(), issuer=ISSUER, redirect_uri=REDIRECT, scopes=()
    )


# ------------------------------------------------------------------------------------------------------------------ the order


def test_the_order() -> None:
    """C-1, C-2, C-3, C-5: configured, then the document, then registration."""
    assert choose(ALL, CONFIGURED, DOCUMENT, KEPT) == CONFIGURED
    document = OAuthClient(DOCUMENT, issuer=ISSUER, auth_method="none", source="document")
    assert choose(ALL, None, DOCUMENT, KEPT) == document
    assert choose(OPEN, None, DOCUMENT, KEPT) == KEPT
    assert choose(ALL, None, None, KEPT) == KEPT
    assert choose(OPEN, None, DOCUMENT, None) is None


def test_where_nothing_is_left_the_user_is_told() -> None:
    """C-1, and no registration where the metadata have no endpoint for it."""
    with pytest.raises(ConfigError, match=r"client_id$"):
        choose(BARE, None, DOCUMENT, None)
    with pytest.raises(ConfigError, match="client ID metadata document"):
        choose(replace(BARE, client_documents_supported=True))


def test_a_configured_client_is_shown_to_nobody_else() -> None:
    """B-3, B-4, B-5: a clear error, and it is not tried."""
    assert registration.bind(CONFIGURED, ISSUER, ()) == CONFIGURED
    with pytest.raises(ConfigError, match=r"belongs to https://id\.test/acme") as caught:
        registration.bind(CONFIGURED, "https://new.test", ["https://new.test"])
    assert "planted" not in str(caught.value)


def test_a_configured_client_belongs_to_where_it_is_first_used() -> None:
    """B-4, B-8."""
    loose = replace(CONFIGURED, issuer=None)
    assert registration.bind(loose, ISSUER, ()) == CONFIGURED
    assert registration.bind(loose, ISSUER, [ISSUER, "https://old.test"]) == CONFIGURED
    with pytest.raises(ConfigError, match=r"belongs to https://id\.test/acme"):
        registration.bind(loose, "https://new.test", [ISSUER, "https://old.test"])


@pytest.mark.parametrize("issuer", ["https://id.test/acme/", "https://old.test", None])
def test_a_registration_is_good_at_its_issuer_only(issuer: str | None) -> None:
    """B-2, B-4, G-2."""
    assert choose(OPEN, kept=replace(KEPT, issuer=issuer)) is None


def test_a_document_that_is_no_longer_configured_is_not_kept() -> None:
    """B-6."""
    assert choose(OPEN, kept=OAuthClient(DOCUMENT, issuer=ISSUER, source="document")) is None


@pytest.mark.parametrize(
    ("url", "fit"),
    [
        (DOCUMENT, True),
        ("https://tool.test/x?y=1", True),
        ("https://tool.test/", False),
        ("https://tool.test", False),
        ("http://tool.test/client.json", False),
        ("http://127.0.0.1/client.json", False),
        ("https://tool.test/a/../client.json", False),
        ("https://tool.test/./client.json", False),
        ("https://tool.test/client.json#x", False),
        ("https://user@tool.test/client.json", False),
        ("client.json", False),
    ],
)
def test_the_url_of_a_document(url: str, fit: bool) -> None:
    """C-3."""
    assert (registration.document_refusal(url) is None) is fit
    if fit:
        chosen = choose(ALL, document=url)
        assert chosen is not None
        assert chosen.client_id == url
    else:
        with pytest.raises(ConfigError, match="cannot be"):
            choose(ALL, document=url)


def test_where_people_may_be_sent_back_to() -> None:
    """A-6: as text; a client of which nothing is known may be right."""
    assert registration.suits(KEPT, REDIRECT, ("a",))
    assert not registration.suits(KEPT, "http://127.0.0.1:52118/cb", ())
    assert registration.suits(CONFIGURED, REDIRECT, ("a",))


@pytest.mark.parametrize("redirect_uri", [REDIRECT, None])
def test_what_a_client_may_ask_for(redirect_uri: str | None) -> None:
    """C-9."""
    limited = replace(KEPT, scopes=("a", "b"))
    assert registration.suits(limited, redirect_uri, ("b",))
    assert not registration.suits(limited, redirect_uri, ("b", "c"))
    assert not registration.suits(replace(KEPT, scopes=()), redirect_uri, ("a",))


@pytest.mark.parametrize(("given", "limit"), [("a b", ("a", "b")), ("a", ("a", "b")), (None, None), ("", None)])
def test_a_registration_may_limit_the_scopes(given: str | None, limit: tuple[str, ...] | None) -> None:
    """C-9: to those that it is for; what was not given is not asked for again and again."""
    body = json.dumps({"client_id": "c", "scope": given}).encode()
    client = registration.read_client(201, body, issuer=ISSUER, redirect_uri=REDIRECT, scopes=("a", "b"))
    assert client.scopes == limit


# ---------------------------------------------------------------------------------------------------------------- the request


def test_what_is_registered() -> None:
    """C-5, C-6, C-8: native, with refresh tokens, public."""
    body = registration.request(OPEN, client_name="x", redirect_uri=REDIRECT, scopes=("a", "b"))
    assert json.loads(body) == {
        "client_name": "x",
        "redirect_uris": [REDIRECT],
        "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": "a b",
    }


@pytest.mark.parametrize(
    ("redirect", "kind"),
    [
        (REDIRECT, "native"),
        ("http://localhost:3000/cb", "native"),
        ("http://[::1]:1/cb", "native"),
        ("https://tool.test/cb", "web"),
    ],
)
def test_kinds_of_applications(redirect: str, kind: str) -> None:
    """C-6."""
    sent = json.loads(registration.request(OPEN, client_name="x", redirect_uri=redirect, scopes=()))
    assert sent["application_type"] == kind
    assert "scope" not in sent


@pytest.mark.parametrize(
    ("methods", "method"),
    [
        (None, "none"),
        (("client_secret_basic", "none"), "none"),
        (("client_secret_post", "client_secret_basic"), "client_secret_post"),
        (("private_key_jwt", "client_secret_basic", "client_secret_post"), "client_secret_basic"),
        (("client_secret_post",), "client_secret_post"),
        (("private_key_jwt",), "none"),
    ],
)
def test_the_way_of_proving_ourselves_is_one_that_is_offered(methods: tuple[str, ...] | None, method: str) -> None:
    """K-1."""
    sent = json.loads(
        registration.request(replace(OPEN, auth_methods=methods), client_name="x", redirect_uri=REDIRECT, scopes=())
    )
    assert sent["token_endpoint_auth_method"] == method


def test_refresh_tokens_are_not_asked_for_where_there_are_none() -> None:
    """C-8, F-2."""
    metadata = replace(OPEN, grant_types_supported=("authorization_code",))
    sent = json.loads(registration.request(metadata, client_name="x", redirect_uri=REDIRECT, scopes=()))
    assert sent["grant_types"] == ["authorization_code"]


def test_a_device_is_sent_back_to_by_nobody() -> None:
    """RFC 8628, 3.4."""
    sent = json.loads(registration.request(OPEN, client_name="x", redirect_uri=None, scopes=()))
    assert sent["grant_types"] == ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
    assert (sent["redirect_uris"], sent["response_types"], sent["application_type"]) == ([], [], "native")
    body = b'{"client_id": "c", "redirect_uris": ["https://x.test/cb"]}'
    assert registration.read_client(201, body, issuer=ISSUER, redirect_uri=None, scopes=()).redirect_uris == ()


# ----------------------------------------------------------------------------------------------------------------- the answer


def test_what_the_authorization_server_made_of_it_counts() -> None:
    """C-9, B-8, B159: its method and its secret, null is absent, and the issuer is not its to say."""
    document = {
        "client_id": "https://looks.test/like/a/document",
        "client_secret": "planted",
        "client_secret_expires_at": "1800000000",
        "token_endpoint_auth_method": "client_secret_post",
        "issuer": "https://evil.test",
        "redirect_uris": None,
        "logo_uri": None,
    }
    assert registered(document) == OAuthClient(
        "https://looks.test/like/a/document",
        issuer=ISSUER,
        secret="planted",
        auth_method="client_secret_post",
        redirect_uris=(REDIRECT,),
        source="registered",
        secret_expires_at=1800000000.0,
    )
    assert "planted" not in repr(registered(document))


@pytest.mark.parametrize(
    ("document", "method"),
    [
        ({"client_secret": "s", "client_secret_expires_at": 0}, "client_secret_basic"),
        ({"client_secret": None}, "none"),
        ({"token_endpoint_auth_method": "none", "client_secret": "s"}, "none"),
    ],
)
def test_answers_that_say_little(document: dict[str, object], method: str) -> None:
    """C-9: 200 is taken for 201, and 0 for never."""
    client = registered({"client_id": "c", **document}, 200)
    assert (client.auth_method, client.secret_expires_at) == (method, None)


@pytest.mark.parametrize(
    "method", ["client_secret_basic", "client_secret_post", "private_key_jwt", "tls_client_auth\x1b"]
)
def test_a_method_that_we_cannot_do_is_found_out_at_once(method: str) -> None:
    """C-10."""
    with pytest.raises(AuthDenied, match="got nothing for that") as caught:
        registered({"client_id": "c", "token_endpoint_auth_method": method})
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("uris", "fit"),
    [
        ([REDIRECT], True),
        (["https://x.test/", REDIRECT], True),
        ([], True),
        (["http://127.0.0.1/cb"], True),
        (["http://127.0.0.1:1/cb"], True),
        (["http://localhost:52117/cb"], False),
        (["http://127.0.0.1:52117/cb2"], False),
        (["https://evil.test/cb"], False),
        (["http://[", "x"], False),
    ],
)
def test_where_people_are_sent_back_to(uris: list[str], fit: bool) -> None:
    """A-6, C-9, Z-9: as we asked; on this machine the port may be another one."""
    if fit:
        assert registered({"client_id": "c", "redirect_uris": uris}).redirect_uris == (REDIRECT,)
    else:
        with pytest.raises(AuthDenied, match="sends people back elsewhere"):
            registered({"client_id": "c", "redirect_uris": uris})


def test_the_port_matters_elsewhere() -> None:
    with pytest.raises(AuthDenied):
        registration.read_client(
            201,
            b'{"client_id": "c", "redirect_uris": ["https://tool.test:8443/cb"]}',
            issuer=ISSUER,
            redirect_uri="https://tool.test/cb",
            scopes=(),
        )


@pytest.mark.parametrize(
    ("status", "document", "text"),
    [
        (400, {"error": "invalid_redirect_uri"}, "choose a port"),
        (400, {"error": "invalid_client_metadata", "error_description": "too old\n"}, "too old"),
        (403, {"error": "access_denied"}, "by hand"),
        (403, {}, "HTTP 403"),
        (500, {"client_id": "c"}, "HTTP 500"),
        (201, {}, "HTTP 201"),
    ],
)
def test_refusals_say_what_to_do(status: int, document: dict[str, object], text: str) -> None:
    """C-7."""
    with pytest.raises(AuthDenied, match=text) as caught:
        registered(document, status)
    assert caught.value.error == document.get("error")
    assert "https://id.test/acme" in str(caught.value)


@settings(deadline=None)
@given(st.binary(max_size=30) | st.builds(lambda value: json.dumps(value).encode(), st.dictionaries(
    st.sampled_from(["client_id", "client_secret", "redirect_uris", "token_endpoint_auth_method", "error"]),
    st.none() | st.integers() | st.text(max_size=5) | st.lists(st.text(max_size=5) | st.just(REDIRECT), max_size=2),
)), st.sampled_from([200, 201, 400, 500]))  # fmt: skip
def test_any_answer_is_a_client_or_a_refusal(body: bytes, status: int) -> None:
    try:
        client = registration.read_client(status, body, issuer=ISSUER, redirect_uri=REDIRECT, scopes=())
    except AuthDenied:
        return
    assert (client.issuer, client.source) == (ISSUER, "registered")
    assert client.can(client.auth_method or "")

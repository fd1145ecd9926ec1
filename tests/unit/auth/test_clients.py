"""Who we are at an authorization server, and how we prove it."""

from __future__ import annotations

import base64
from urllib.parse import unquote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import clients
from syncline.auth.clients import BASIC, JWT, NONE, POST, OAuthClient
from syncline.errors import ConfigError

PUBLIC = OAuthClient("app")
SECRET = OAuthClient("app", secret="planted")
KEY = OAuthClient("app", signer=lambda audience: f"signed for {audience}")
BOTH = OAuthClient("app", secret="planted", signer=lambda audience: f"signed for {audience}")

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)


@pytest.mark.parametrize(
    ("client", "agreed", "supported", "method"),
    [
        (SECRET, BASIC, None, BASIC),
        (SECRET, POST, None, POST),
        (SECRET, POST, (BASIC, POST), POST),
        (SECRET, POST, (BASIC,), BASIC),
        (SECRET, NONE, (NONE,), NONE),
        (SECRET, JWT, (JWT, POST), POST),
        (SECRET, None, (NONE, POST, BASIC), POST),
        (SECRET, None, (NONE, BASIC, POST), BASIC),
        (SECRET, None, (POST,), POST),
        (SECRET, None, (NONE,), NONE),
        (SECRET, None, None, BASIC),
        (PUBLIC, None, None, NONE),
        (PUBLIC, None, (NONE,), NONE),
        (PUBLIC, NONE, (BASIC,), NONE),
        (PUBLIC, BASIC, (BASIC,), NONE),
        (KEY, None, None, JWT),
        (KEY, JWT, (BASIC, JWT), JWT),
        (KEY, None, (NONE,), NONE),
        (BOTH, None, (BASIC, JWT), JWT),
        (BOTH, None, (BASIC,), BASIC),
    ],
)
def test_how_a_client_proves_itself(
    client: OAuthClient, agreed: str | None, supported: tuple[str, ...] | None, method: str
) -> None:
    """K-1, C-4, CC-3, CC-7, B162: as agreed, else as listed, else Basic with a secret and nothing without."""
    client = OAuthClient(client.client_id, secret=client.secret, auth_method=agreed, signer=client.signer)
    assert clients.choose_method(client, supported) == method


@pytest.mark.parametrize("client", [SECRET, KEY])
@pytest.mark.parametrize("supported", [(), ("tls_client_auth",)])
def test_a_client_that_cannot_do_what_is_asked(client: OAuthClient, supported: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="give it a secret or a key"):
        clients.choose_method(client, supported)


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_basic_escapes_before_it_joins(client_id: str, secret: str) -> None:
    """K-2, B162: secrets with ":" and "%" come out as they were. Some authorization servers look for the id in the form."""
    headers, form = clients.prove(OAuthClient(client_id, secret=secret), BASIC, "")
    assert form == {"client_id": client_id}
    name, _, value = headers["Authorization"].partition(" ")
    first, _, second = base64.b64decode(value).decode("ascii").partition(":")
    assert (name, unquote_plus(first), unquote_plus(second)) == ("Basic", client_id, secret)
    assert headers["Authorization"].isascii()
    assert headers["Authorization"].isprintable()


def test_a_known_basic_header() -> None:
    """K-2."""
    headers, _ = clients.prove(OAuthClient("a:b", secret="c%d e"), BASIC, "")
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")) == b"a%3Ab:c%25d+e"


def test_the_other_ways() -> None:
    """K-2, CC-4, CC-5, CC-6: one way at a time; the subject of an assertion is the client, so it is not named again."""
    assert clients.prove(SECRET, POST, "") == ({}, {"client_id": "app", "client_secret": "planted"})
    assert clients.prove(SECRET, NONE, "") == ({}, {"client_id": "app"})
    assert clients.prove(PUBLIC, NONE, "") == ({}, {"client_id": "app"})
    kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    assert clients.prove(KEY, JWT, "https://id.test") == (
        {},
        {"client_assertion_type": kind, "client_assertion": "signed for https://id.test"},
    )
    told = OAuthClient("app", signer=KEY.signer, audience="https://id.test/token")
    assert clients.prove(told, JWT, "https://id.test")[1]["client_assertion"] == "signed for https://id.test/token"


def test_each_request_has_an_assertion_of_its_own() -> None:
    """CC-5, DP-7."""
    made: list[str] = []

    def sign(audience: str) -> str:
        made.append(audience)
        return f"assertion {len(made)}"

    client = OAuthClient("app", signer=sign)
    sent = [clients.prove(client, JWT, "a")[1]["client_assertion"] for _ in range(2)]
    assert sent == ["assertion 1", "assertion 2"]


def test_secrets_are_not_shown() -> None:
    """G-4."""
    assert "planted" not in repr(BOTH)
    assert "lambda" not in repr(BOTH)

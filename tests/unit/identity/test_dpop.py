"""Proofs of possession (DP-1 to DP-7; RFC 9449)."""

from __future__ import annotations

import base64
import hashlib
import time

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.identity.dpop import Possession
from syncline.identity.signing import SigningKey
from tests.fixtures.guarded import claims

KEY = SigningKey.generate()
URL = "https://notes.test/mcp"


@pytest.fixture
def possession() -> Possession:
    return Possession(KEY)


def test_a_proof_says_what_it_is_for(possession: Possession) -> None:
    """DP-3, DP-5: the claims of RFC 9449, and no others."""
    before = int(time.time())
    said = claims(proof := possession.prove("POST", URL + "?secret=planted#there", token="planted-token"))
    header = jwt.get_unverified_header(proof)
    assert (header["typ"], header["alg"], header["jwk"]) == ("dpop+jwt", "ES256", dict(KEY.public))
    ath = base64.urlsafe_b64encode(hashlib.sha256(b"planted-token").digest()).rstrip(b"=").decode()
    assert before <= said.pop("iat") <= time.time()
    assert len(said.pop("jti")) >= 16
    assert said == {"htm": "POST", "htu": URL, "ath": ath}


def test_each_proof_is_another_one(possession: Possession) -> None:
    assert len({claims(possession.prove("POST", URL))["jti"] for _ in range(20)}) == 20


def test_a_request_to_the_server_has_the_scheme_and_the_proof(possession: Possession) -> None:
    headers = possession.headers("GET", URL, "t")
    assert headers["Authorization"] == "DPoP t"
    assert claims(headers["DPoP"])["htm"] == "GET"


def test_nonces_belong_to_origins(possession: Possession) -> None:
    assert claims(possession.prove("POST", "https://id.test/token", "n1"))["nonce"] == "n1"
    possession.heard(URL, {"DPoP-Nonce": "n2"})
    possession.heard("https://notes.test:8443/", {"DPoP-Nonce": "n3"})
    possession.heard(URL, {})
    assert claims(possession.prove("POST", "https://id.test/token"))["nonce"] == "n1"
    assert claims(possession.prove("GET", "https://NOTES.test:443/other"))["nonce"] == "n2"
    assert "nonce" not in claims(possession.prove("POST", "http://notes.test/mcp"))


def test_a_proof_is_behind_when_another_nonce_has_come(possession: Possession) -> None:
    first = possession.prove("POST", URL)
    assert not possession.is_behind(first)
    possession.heard(URL, {"DPoP-Nonce": "n1"})
    assert possession.is_behind(first)
    assert not possession.is_behind(possession.prove("POST", URL))


@given(st.lists(st.tuples(st.sampled_from(["https://a.test/x", "https://b.test/y"]), st.text(min_size=1)), max_size=20))
def test_the_latest_nonce_of_each_origin_is_used(heard: list[tuple[str, str]]) -> None:
    possession = Possession(KEY)
    for url, nonce in heard:
        possession.heard(url, {"DPoP-Nonce": nonce})
    for url in ("https://a.test/x", "https://b.test/y"):
        assert claims(possession.prove("POST", url)).get("nonce") == dict(heard).get(url)


def test_the_key_is_in_no_repr(possession: Possession) -> None:
    assert repr(possession) == "<Possession ES256>"

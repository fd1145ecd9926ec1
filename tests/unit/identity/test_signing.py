"""Private keys that sign."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import ConfigError
from syncline.identity.signing import SigningKey

P256 = ec.generate_private_key(ec.SECP256R1())


def pem(key: Any, encryption: KeySerializationEncryption | None = None) -> str:
    text: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())
    return text.decode()


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (P256, "ES256"),
        (ec.generate_private_key(ec.SECP384R1()), "ES384"),
        (ec.generate_private_key(ec.SECP521R1()), "ES512"),
        (ed25519.Ed25519PrivateKey.generate(), "EdDSA"),
        (rsa.generate_private_key(65537, 2048), "RS256"),
    ],
)
def test_what_a_key_signs_can_be_verified_with_its_public_half(key: Any, algorithm: str) -> None:
    signing = SigningKey(pem(key))
    token = signing.sign({"iss": "app"}, {"typ": "x+jwt", "kid": "k1"})
    assert jwt.get_unverified_header(token) == {"typ": "x+jwt", "kid": "k1", "alg": algorithm}
    public = jwt.PyJWK(dict(signing.public), algorithm=algorithm)
    assert jwt.decode(token, public, [algorithm]) == {"iss": "app"}


@pytest.mark.parametrize("key", [P256, rsa.generate_private_key(65537, 2048), ed25519.Ed25519PrivateKey.generate()])
def test_the_public_half_has_nothing_private(key: Any) -> None:
    assert not {"d", "p", "q", "dp", "dq", "qi"} & SigningKey(pem(key)).public.keys()


def test_an_rsa_key_signs_with_what_is_asked() -> None:
    signing = SigningKey(pem(rsa.generate_private_key(65537, 2048)), "PS256")
    assert jwt.get_unverified_header(signing.sign({}, {}))["alg"] == "PS256"


def test_a_key_that_is_made_can_be_kept() -> None:
    made = SigningKey.generate()
    again = SigningKey(made.pem)
    assert (again.algorithm, again.public, again.pem) == ("ES256", made.public, made.pem)
    assert made.public != SigningKey.generate().public


@pytest.mark.parametrize(
    ("text", "algorithm", "reason"),
    [
        (pem(P256), "RS256", r"signs with ES256, not with 'RS256'"),
        (pem(P256), "HS256", "ES256"),
        (pem(P256), "none", "ES256"),
        (pem(P256, BestAvailableEncryption(b"planted")), None, "encrypted"),
        (pem(ec.generate_private_key(ec.SECP256K1())), None, "secp256k1"),
        (pem(rsa.generate_private_key(65537, 1024)), None, "1024 bits is too short"),
        (pem(dsa.generate_private_key(2048)), None, "signs no JWTs"),
        (P256.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(), None, "cannot be read"),
        (pem(P256).replace("M", "N"), None, "cannot be read"),
    ],
)  # fmt: skip
def test_keys_that_cannot_be_used(text: str, algorithm: str | None, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason) as caught:
        SigningKey(text, algorithm)
    assert text.split("\n")[1] not in str(caught.value)


@given(st.text(max_size=200))
def test_any_text_is_a_key_or_a_config_error_that_does_not_show_it(text: str) -> None:
    planted = f"-----BEGIN PRIVATE KEY-----\nplanted{text}\n-----END PRIVATE KEY-----"
    with pytest.raises(ConfigError) as caught:
        SigningKey(planted)
    assert "planted" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_key_is_in_no_repr() -> None:
    signing = SigningKey(pem(P256))
    assert repr(signing) == "<SigningKey ES256>"


@pytest.mark.parametrize("absent", ["jwt", "cryptography"])
def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == absent]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, absent, None)
    for make in (SigningKey.generate, lambda: SigningKey(pem(P256))):
        with pytest.raises(ConfigError, match=r"pip install 'syncline\[jwt\]'"):
            make()


def test_it_is_loaded_for_the_first_key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = []
    true_import = builtins.__import__

    def watched(name: str, *args: Any, **kwargs: Any) -> Any:
        wanted.append(name.partition(".")[0])
        return true_import(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "syncline.identity.signing")
    monkeypatch.setattr(builtins, "__import__", watched)
    __import__("syncline.identity.signing")
    assert "syncline" in wanted
    assert not {"jwt", "cryptography"} & set(wanted)

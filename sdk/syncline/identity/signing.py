"""Private keys that sign JWTs. The one door to PyJWT and cryptography, which are imported when the first key is read or made."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from syncline.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    _Private: TypeAlias = EllipticCurvePrivateKey | Ed25519PrivateKey | RSAPrivateKey

#: What starts a private key in PEM (RFC 7468), after which no secret is taken for one.
PEM = "-----BEGIN "
#: Curve → its algorithm (RFC 7518, 3.4).
CURVES = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
#: For RSA keys. The shortest that may sign has 2048 bits (RFC 7518, 3.3).
RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
RSA_BITS = 2048


class SigningKey:
    """A private key, and the algorithm that it signs with.

    Args:
        pem: The key in PEM, unencrypted: P-256, P-384, P-521, Ed25519 or RSA with 2048 bits or more.
        algorithm: As in RFC 7518, section 3.1; None for the one that belongs to the curve, or RS256.

    Raises:
        ConfigError: The key cannot be read, or cannot sign so, or the extra ``jwt`` is not installed.
    """

    def __init__(self, pem: str, algorithm: str | None = None) -> None:
        _load("jwt.algorithms")
        self._key = _read(pem)
        fitting = _algorithms(self._key)
        if algorithm is not None and algorithm not in fitting:
            raise ConfigError(f"the private key signs with {' or '.join(fitting)}, not with {algorithm!r}")
        self.algorithm = algorithm or fitting[0]

    @classmethod
    def generate(cls) -> SigningKey:
        """A new key for ES256."""
        _load("jwt.algorithms")
        from cryptography.hazmat.primitives.asymmetric import ec

        made = cls.__new__(cls)
        made._key, made.algorithm = ec.generate_private_key(ec.SECP256R1()), "ES256"
        return made

    @property
    def pem(self) -> str:
        """The private key itself (PKCS #8), to be kept like a token."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    @property
    def public(self) -> Mapping[str, str]:
        """The public key as a JWK (RFC 7517)."""
        from jwt.algorithms import get_default_algorithms

        to_jwk = get_default_algorithms()[self.algorithm].to_jwk
        members: dict[str, str] = to_jwk(self._key.public_key(), as_dict=True)
        return {name: members[name] for name in ("kty", "crv", "x", "y", "n", "e") if name in members}

    def sign(self, claims: Mapping[str, object], header: Mapping[str, object]) -> str:
        """A JWT (RFC 7519) with these claims, and these members of its header besides ``alg``."""
        from jwt import encode

        return encode(dict(claims), self._key, self.algorithm, dict(header))

    def __repr__(self) -> str:
        return f"<SigningKey {self.algorithm}>"


def _load(module: str) -> None:
    try:
        import_module(module)
        import_module("cryptography")
    except ImportError as error:
        raise ConfigError(
            f"private keys need packages that are not installed ({error.name}): pip install 'syncline[jwt]'"
        ) from None


def _read(pem: str) -> _Private:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except TypeError:
        raise ConfigError("the private key is encrypted: give it without a password") from None
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigError("the private key cannot be read: it has to be one in PEM") from None
    if isinstance(key, (EllipticCurvePrivateKey, Ed25519PrivateKey, RSAPrivateKey)):
        return key
    raise ConfigError("the private key is of a kind that signs no JWTs: take one for ES256, EdDSA or RS256")


def _algorithms(key: _Private) -> tuple[str, ...]:
    """What a key can sign with, the usual one first."""
    curve = getattr(key, "curve", None)
    if curve is not None:
        if curve.name not in CURVES:
            raise ConfigError(f"the curve {curve.name} signs no JWTs: take a key for P-256")
        return (CURVES[curve.name],)
    bits = getattr(key, "key_size", None)
    if bits is None:
        return ("EdDSA",)
    if bits < RSA_BITS:
        raise ConfigError(f"an RSA key of {bits} bits is too short: take one of {RSA_BITS} or more")
    return RSA

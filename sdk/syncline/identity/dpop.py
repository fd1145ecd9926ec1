"""Proof of possession (RFC 9449; extension DPoP): tokens that are bound to a private key, which signs for each request."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Mapping

from syncline.auth import urls

from .signing import SigningKey

NONCE = "DPoP-Nonce"
#: The error that asks for a nonce.
USE_NONCE = "use_dpop_nonce"

_Origin = tuple[str, str, int]


class Possession:
    """A key that tokens are bound to, and the latest nonce of each origin. A ``Prover``, for any number of threads.

    Args:
        key: The key.

    Attributes:
        pem: The key in PEM.
        algorithm: What it signs with.
    """

    def __init__(self, key: SigningKey) -> None:
        self.pem = key.pem
        self.algorithm = key.algorithm
        self._key = key
        self._header = {"typ": "dpop+jwt", "jwk": dict(key.public)}
        self._nonces: dict[_Origin, str] = {}

    def prove(self, method: str, url: str, nonce: str | None = None, token: str | None = None) -> str:
        """A proof for one request, and for no other one (RFC 9449, 4.2).

        Args:
            method: Its method.
            url: Where it goes.
            nonce: What was just asked for there; None for the latest, if there was any.
            token: The access token that goes with it; None at a token endpoint.
        """
        target = _target(url)
        place = urls.origin(target)
        if nonce is not None:
            self._nonces[place] = nonce
        claims: dict[str, object] = {
            "jti": secrets.token_urlsafe(16),
            "htm": method,
            "htu": target,
            "iat": int(time.time()),
        }
        latest = self._nonces.get(place)
        if latest is not None:
            claims["nonce"] = latest
        if token is not None:
            claims["ath"] = _encoded(hashlib.sha256(token.encode()).digest())
        return self._key.sign(claims, self._header)

    def headers(self, method: str, url: str, token: str) -> Mapping[str, str]:
        """What goes with a request to the server (RFC 9449, 7.1)."""
        return {"Authorization": f"DPoP {token}", "DPoP": self.prove(method, url, token=token)}

    def heard(self, url: str, headers: Mapping[str, str]) -> None:
        """Use the nonce of an answer from now on, if it has one (RFC 9449, 8.2)."""
        nonce = headers.get(NONCE)
        if nonce:
            self._nonces[urls.origin(_target(url))] = nonce

    def is_behind(self, proof: str) -> bool:
        """Whether there is another nonce by now than the one in a proof of ours."""
        claims = json.loads(_decoded(proof.split(".")[1]))
        sent: str | None = claims.get("nonce")
        return self._nonces.get(urls.origin(claims["htu"])) != sent

    def __repr__(self) -> str:
        return f"<Possession {self.algorithm}>"


def _target(url: str) -> str:
    """What a proof says about a URL: no query, no fragment (RFC 9449, 4.2)."""
    return re.split("[?#]", url, maxsplit=1)[0]


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

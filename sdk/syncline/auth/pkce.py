"""Proof that the same program began and finishes a login (RFC 7636). Only S256 is used."""

from __future__ import annotations

import base64
import hashlib

#: Random bytes of a verifier, and of a ``state``: 43 characters each.
BYTES = 32


def token(entropy: bytes) -> str:
    """Random bytes as text that a URL can carry: a verifier (RFC 7636, 4.1) or a ``state``. At least ``BYTES`` of them.

    Raises:
        ValueError: There are fewer, or more than the 96 that a verifier can have.
    """
    if not BYTES <= len(entropy) <= 96:
        raise ValueError(f"a verifier is made of {BYTES} to 96 random bytes")
    return _encode(entropy)


def challenge(verifier: str) -> str:
    """The ``code_challenge`` of a verifier (RFC 7636, 4.2)."""
    return _encode(hashlib.sha256(verifier.encode("ascii")).digest())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")

"""Proof that the same program began and finishes a login."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import pkce


def test_the_published_example() -> None:
    """A-2: RFC 7636, appendix B."""
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert pkce.challenge(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@settings(deadline=None)
@given(st.binary(min_size=pkce.BYTES, max_size=96))
def test_verifiers(entropy: bytes) -> None:
    """A-2: 43 to 128 characters of those that nothing escapes, one for each 32 bytes."""
    verifier = pkce.token(entropy)
    assert re.fullmatch(r"[A-Za-z0-9_.~-]{43,128}", verifier)
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", pkce.challenge(verifier))


@pytest.mark.parametrize("size", [0, 31, 97])
def test_too_little_or_too_much_chance(size: int) -> None:
    with pytest.raises(ValueError, match="32 to 96"):
        pkce.token(b"x" * size)

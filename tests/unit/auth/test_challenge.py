"""The WWW-Authenticate header, as the RFCs have it and as servers send it."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import challenge
from syncline.auth.challenge import Challenge

METADATA = "https://notes.test/.well-known/oauth-protected-resource/mcp"
TOKENS = st.text(string.ascii_letters + string.digits + "!#$%&'*+.^_`|~-", min_size=1, max_size=8)
VALUES = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20)


def only(header: str) -> Challenge:
    (found,) = challenge.parse(header)
    return found


@pytest.mark.parametrize(
    ("header", "parameters"),
    [
        ("Bearer", {}),
        ("bEARER  ", {}),
        ('Bearer realm="notes"', {"realm": "notes"}),
        ('BEARER Realm="notes" , ERROR = "invalid_token"', {"realm": "notes", "error": "invalid_token"}),
        (f"Bearer resource_metadata={METADATA}, scope=read", {"resource_metadata": METADATA, "scope": "read"}),
        ('Bearer realm="a, b; c=\\"d\\" \\\\", error=x', {"realm": 'a, b; c="d" \\', "error": "x"}),
        ('Bearer realm="a" error="x"', {"realm": "a", "error": "x"}),
        ('Bearer realm="a"; error="x";', {"realm": "a", "error": "x"}),
        ('Bearer, realm="a"', {"realm": "a"}),
        (', ,Bearer ,, realm="a",,', {"realm": "a"}),
        ("Bearer error=x, realm=", {"realm": "", "error": "x"}),
        ('Bearer error="a", scope="x", error="b"', {"scope": "x"}),
        ('Bearer {} realm="a"', {"realm": "a"}),
        ('Bearer scope="é"', {"scope": "é"}),
    ],
)
def test_one_challenge(header: str, parameters: dict[str, str]) -> None:
    """W-3, W-4, B154: names in any case, token or quoted value, escapes; what is given twice is not believed."""
    assert only(header) == Challenge("bearer", parameters)


def test_several_challenges_in_one_header() -> None:
    """W-3, B154."""
    found = challenge.parse('Basic realm="scope=x", Negotiate YWJj==, Bearer scope="read", Digest, Newauth a=1, b="2"')
    assert found == (
        Challenge("basic", {"realm": "scope=x"}),
        Challenge("negotiate", {}, "YWJj=="),
        Challenge("bearer", {"scope": "read"}),
        Challenge("digest", {}),
        Challenge("newauth", {"a": "1", "b": "2"}),
    )


def test_several_headers() -> None:
    """W-3, B154, 4.32: the challenge may be in a later header line."""
    found = challenge.parse(['Basic realm="a"', 'DPoP algs="ES256", Bearer error="insufficient_scope"'])
    assert [each.scheme for each in found] == ["basic", "dpop", "bearer"]


@pytest.mark.parametrize(
    "header", ['Bearer realm="a', 'Bearer realm="a\\"', 'Bearer realm=a"b"', 'Bearer realm="a"b"', 'Bearer "a"']
)
def test_a_quote_that_is_not_closed_ends_the_header(header: str) -> None:
    """4.33: no challenge, rather than half of one; those before it and other headers stay."""
    assert challenge.parse(header) == ()
    assert challenge.parse([f'Basic realm="x", {header}', "Bearer"]) == (
        Challenge("basic", {"realm": "x"}),
        Challenge("bearer", {}),
    )


@pytest.mark.parametrize("header", ["", " ,; ", 'realm="a"', "=", "{}", "é", '"', 'Basic realm="x", "'])
def test_what_is_no_challenge(header: str) -> None:
    assert challenge.parse(header) == ()


def test_what_a_challenge_says() -> None:
    """W-4."""
    found = only(
        f'Bearer resource_metadata="{METADATA}", scope="a b a", error="insufficient_scope", error_description="more, please"'
    )
    assert found.resource_metadata == METADATA
    assert found.scope == ("a", "b")
    assert found.error == "insufficient_scope"
    assert found.error_description == "more, please"


def test_what_a_challenge_does_not_say() -> None:
    for found in (only("Bearer"), only("Bearer resource_metadata=, scope=, error=, error_description=")):
        assert (found.resource_metadata, found.scope, found.error, found.error_description) == (None, None, None, None)


@pytest.mark.parametrize("scope", ["a  b", " a", "a ", 'a\\"b', "a\\\\b", "é", "a\tb"])
def test_a_scope_that_is_none_does_not_take_the_error_with_it(scope: str) -> None:
    """4.33."""
    found = only(f'Bearer scope="{scope}", error="insufficient_scope"')
    assert (found.scope, found.error) == (None, "insufficient_scope")


def test_what_is_looked_at_has_an_end() -> None:
    """A server could keep us busy otherwise; what comes first counts."""
    found = challenge.parse(['Bearer scope="a"', *["a, " * 20_000] * 99])
    assert found[0].scope == ("a",)
    assert len(found) < 100_000


def test_a_scope_inside_of_another_parameter_is_none() -> None:
    """W-3: a search by expression would be fooled."""
    found = only('Bearer error_description="bad scope=admin, resource_metadata=https://evil.test/"')
    assert (found.scope, found.resource_metadata) == (None, None)


def test_the_challenge_to_answer() -> None:
    """W-3: Bearer, or DPoP where that is on; of several the one that says most."""
    found = challenge.parse(
        f'Basic realm="x", Bearer realm="a", Bearer resource_metadata="{METADATA}", Bearer realm="b", DPoP algs=ES256'
    )
    assert challenge.pick(found) == Challenge("bearer", {"resource_metadata": METADATA})
    assert challenge.pick(found, ("dpop", "bearer")) == Challenge("dpop", {"algs": "ES256"})
    assert challenge.pick(challenge.parse("Bearer"), ("dpop", "bearer")) == Challenge("bearer", {})
    assert challenge.pick(challenge.parse('Basic realm="x"')) is None


@settings(deadline=None)
@given(st.text(max_size=200))
def test_it_never_fails(header: str) -> None:
    """B154: never an exception."""
    challenge.pick(challenge.parse(header))


@settings(deadline=None)
@given(st.lists(st.tuples(TOKENS, st.dictionaries(TOKENS.map(str.lower), VALUES, max_size=4)), max_size=4))
def test_what_was_written_by_the_grammar_is_read(challenges: list[tuple[str, dict[str, str]]]) -> None:
    def quoted(value: str) -> str:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    written = [
        f"{scheme} " + ", ".join(f"{name}={quoted(value)}" for name, value in parameters.items())
        for scheme, parameters in challenges
    ]
    expected = tuple(Challenge(scheme.lower(), parameters) for scheme, parameters in challenges)
    assert challenge.parse(", ".join(written)) == expected
    assert challenge.parse(written) == expected

"""JSON objects from elsewhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import documents
from syncline.auth.documents import Unusable

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>planted</html>",
        b'{"planted": NaN}',
        b'{"planted": Infinity}',
        b'{"planted"',
        b"\xff\xfe\xfd",
        b"[" * 100_000,
        b'{"planted": ' + b"9" * 5000 + b"}",
        b'["planted"]',
        b'"planted"',
        b"null",
    ],
)
def test_what_is_no_object_is_not_shown(body: bytes) -> None:
    """Z-11, G-4: bodies can hold secrets."""
    with pytest.raises(Unusable, match="it is not") as caught:
        documents.read(body)
    assert "planted" not in repr(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_members() -> None:
    """B159: null is absent, numbers may be text."""
    found = documents.read(
        b'\xef\xbb\xbf{"t": "x ", "e": "", "n": null, "l": ["a", 1, null, "b"], "yes": true, "no": false, "one": 1, "s": "3600"}'
    )
    assert [documents.text(found, name) for name in ("t", "e", "n", "l", "one", "-")] == [
        "x ",
        None,
        None,
        None,
        None,
        None,
    ]
    assert [documents.texts(found, name) for name in ("l", "t", "n", "-")] == [("a", "b"), None, None, None]
    assert [documents.flag(found, name) for name in ("yes", "no", "one", "t", "-")] == [
        True,
        False,
        False,
        False,
        False,
    ]
    assert [documents.number(found, name) for name in ("one", "s", "t", "yes", "n")] == [1.0, 3600.0, None, None, None]


@pytest.mark.parametrize("value", [-1, "-1", "nan", "inf", "1e999", 10**400, "", [], {}])
def test_numbers_that_are_none(value: object) -> None:
    assert documents.number({"n": value}, "n") is None


def test_half_a_character_is_no_text() -> None:
    """JSON can escape what no request can carry."""
    found = documents.read(rb'{"half": "a\ud800", "whole": "\ud83d\ude00", "list": ["\udfff", "b"]}')
    assert [documents.text(found, name) for name in ("half", "whole")] == [None, "\U0001f600"]
    assert documents.texts(found, "list") == ("b",)


@settings(deadline=None)
@given(JSON)
def test_any_json_is_read_or_refused(value: object) -> None:
    body = json.dumps(value).encode()
    if not isinstance(value, dict):
        with pytest.raises(Unusable):
            documents.read(body)
        return
    found = documents.read(body)
    assert found == value
    for name in found:
        documents.text(found, name)
        documents.texts(found, name)
        documents.flag(found, name)
        documents.number(found, name)


@settings(deadline=None)
@given(st.text(max_size=400))
def test_words_of_others_do_not_steer(words: str) -> None:
    line = documents.shown(words)
    assert len(line) <= documents.SHOWN + 3
    assert line.isprintable()
    assert "\n" not in line


def test_words_of_others_stay_readable() -> None:
    assert documents.shown(" Größe 10 ") == "Größe 10"
    assert documents.shown("a\r\nb\x1b[31mc\u202ed") == "a b [31mc d"
    assert documents.shown("x" * 300) == "x" * 200 + "..."

"""Arguments as they are typed: text, JSON, and what is neither."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.cli.arguments import load_object, mistyped, parse
from syncline.errors import ConfigError

KEYS = st.text(min_size=1).filter(lambda key: "=" not in key and not key.endswith(":"))
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = SCALARS | st.lists(SCALARS, max_size=3) | st.dictionaries(st.text(), SCALARS, max_size=3)


@given(st.dictionaries(KEYS, st.text()))
def test_key_value_is_text_whatever_it_looks_like(arguments: dict[str, str]) -> None:
    assert parse(f"{key}={value}" for key, value in arguments.items()) == arguments


@given(st.dictionaries(KEYS, VALUES, max_size=3))
def test_key_json_is_the_value(arguments: dict[str, Any]) -> None:
    assert parse(f"{key}:={json.dumps(value)}" for key, value in arguments.items()) == arguments


@pytest.mark.parametrize(
    ("pairs", "arguments"),
    [
        (["a=1"], {"a": "1"}),
        (["a:=1"], {"a": 1}),
        (["a="], {"a": ""}),
        (["a=b:=c"], {"a": "b:=c"}),
        (["url=http://x/?a=b"], {"url": "http://x/?a=b"}),
        (["a::=1"], {"a:": 1}),
        (['a:={"b": [null]}'], {"a": {"b": [None]}}),
    ],
)
def test_the_first_equals_sign_decides(pairs: list[str], arguments: dict[str, Any]) -> None:
    assert parse(pairs) == arguments


def test_pairs_go_over_the_object() -> None:
    assert parse(["a=2"], {"a": 1, "b": 1}) == {"a": "2", "b": 1}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("city", "neither key=value nor key:=json"),
        ("=Oslo", "neither key=value nor key:=json"),
        (":=1", "neither key=value nor key:=json"),
        ("n:=", "the value of 'n' is not JSON"),
        ("n:=NaN", "the value of 'n' is not JSON"),
        ("n:=" + "[" * 100_000, "the value of 'n' is not JSON"),
    ],
)
def test_what_is_neither_is_refused(pair: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse([pair])


def test_a_key_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="'a' is given twice"):
        parse(["a=1", "a:=2"])


@pytest.mark.parametrize("text", ["", "[]", "7", "{"])
def test_all_arguments_are_one_object(text: str) -> None:
    with pytest.raises(ConfigError, match="--args-json is not"):
        load_object(text, "--args-json")


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"properties": {"a": {"type": "number"}, "b": {"type": "string"}, "c": {"type": "array"}}}, {"a": "number"}),
        ({"properties": {"a": {"type": ["number", "string"]}}}, {}),
        ({"properties": {"a": {"enum": ["1"]}, "b": True}}, {}),
        ({"properties": ["a"]}, {}),
        ({}, {}),
    ],
)
def test_text_where_the_schema_plainly_wants_something_else(schema: dict[str, Any], wrong: dict[str, str]) -> None:
    assert mistyped({"a": "1", "b": "2", "c": [3]}, schema) == wrong

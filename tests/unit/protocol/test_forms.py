"""Forms of elicitation: every shape of a field, and what typed text means."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.protocol.forms import Choice, Field, fields


def field(**schema: Any) -> Field:
    [found] = fields({"type": "object", "properties": {"x": schema}})
    return found


def test_the_fields_of_a_form_in_its_order() -> None:
    """ELI-3."""
    form = {
        "properties": {
            "b": {"type": "string", "title": "The B", "description": "About it"},
            "a": {"type": "integer"},
            "not a schema": True,
        },
        "required": ["a"],
    }
    described = [(each.name, each.title, each.description, each.required) for each in fields(form)]
    assert described == [("b", "The B", "About it", False), ("a", "a", "", True)]


@pytest.mark.parametrize("form", [{}, {"properties": []}, {"properties": {"x": {}}, "required": "x"}])
def test_forms_that_are_none(form: dict[str, Any]) -> None:
    assert [each.required for each in fields(form)] == [False] * len(form.get("properties", ()))


RED, BLUE = Choice("r", "Red"), Choice("b", "Blue")


@pytest.mark.parametrize(
    ("schema", "choices", "several"),
    [
        ({"type": "string", "enum": ["r", "b"]}, (Choice("r", "r"), Choice("b", "b")), False),
        ({"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]}, (RED, BLUE), False),
        (
            {"type": "string", "enum": ["r", "b"], "enumNames": ["Red"]},
            (Choice("r", "r"), Choice("b", "b")),
            False,
        ),
        (
            {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
            (RED, BLUE),
            False,
        ),
        ({"type": "string", "oneOf": [{"const": "r"}, {"title": "nothing"}, 7]}, (Choice("r", "r"),), False),
        ({"type": "array", "items": {"type": "string", "enum": ["r"]}}, (Choice("r", "r"),), True),
        (
            {"type": "array", "items": {"anyOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]}},
            (RED, BLUE),
            True,
        ),
        ({"type": "array", "items": 7}, (), False),
        ({"type": "string", "oneOf": "x"}, (), False),
        ({"type": "string"}, (), False),
    ],
)
def test_every_shape_of_a_choice(schema: dict[str, Any], choices: tuple[Choice, ...], several: bool) -> None:
    """ELI-4: untitled, titled, with names, several."""
    found = field(**schema)
    assert (found.choices, found.several) == (choices, several)


TITLED = {"type": "string", "oneOf": [{"const": "1", "title": "One"}, {"const": "one", "title": "Other"}]}
SEVERAL = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2}
NUMBERED = {"enum": [10, 20]}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, " as it is ", " as it is "),
        ({"type": "integer"}, " 7 ", 7),
        ({"type": "integer"}, "7.0", 7.0),
        ({"type": "number"}, "95.5", 95.5),
        ({"type": "number"}, ".5", 0.5),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "1" + "0" * 400, 10**400),
        ({"type": "boolean"}, "Yes", True),
        ({"type": "boolean"}, "off", False),
        ({"type": "string", "enum": ["a", "b"]}, "b", "b"),
        ({"type": "string", "enum": ["a", "b"]}, "2", "b"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["Aye", "Bee"]}, "bEE", "b"),
        (TITLED, "1", "1"),
        (TITLED, "one", "one"),
        (TITLED, "ONE", "1"),
        (TITLED, "2", "one"),
        (NUMBERED, "20", 20),
        (NUMBERED, "1", 10),
        (SEVERAL, "a, 3", ["a", "c"]),
        (SEVERAL, "b,", ["b"]),
        ({"type": "array"}, "[1]", [1]),
        ({"type": ["string", "null"]}, "null", None),
        ({"type": "string", "format": "email"}, "ada@example.com", "ada@example.com"),
        ({"type": "string", "format": "uri"}, "mailto:ada", "mailto:ada"),
        ({"type": "string", "format": "date"}, "2026-07-28", "2026-07-28"),
        ({"type": "string", "format": "date-time"}, "2026-07-28T12:00:00Z", "2026-07-28T12:00:00Z"),
        ({"type": "string", "format": "date-time"}, "2026-07-28t12:00:00+02:00", "2026-07-28t12:00:00+02:00"),
        ({"type": "string", "format": "made-up"}, "x", "x"),
        ({"type": "string", "pattern": "("}, "x", "x"),
    ],
)
def test_what_is_typed(schema: dict[str, Any], text: str, value: object) -> None:
    parsed = field(**schema).parse(text)
    assert parsed == value
    assert isinstance(parsed, bool) == isinstance(value, bool)


@pytest.mark.parametrize(
    ("schema", "text", "problem"),
    [
        ({"type": "integer"}, "seven", "no number"),
        ({"type": "integer"}, "7.5", "not of type"),
        ({"type": "number"}, "nan", "no number"),
        ({"type": "number"}, "inf", "no number"),
        ({"type": "number"}, "1e999", "no number"),
        ({"type": "number", "minimum": 3}, "2", "minimum"),
        ({"type": "boolean"}, "maybe", "yes or no"),
        ({"type": "string", "minLength": 3}, "ab", "shorter"),
        ({"type": "string", "enum": ["a"]}, "b", "none of the choices"),
        ({"type": "string", "enum": ["a", "b"], "enumNames": ["Same", "same"]}, "same", "none of the choices"),
        (SEVERAL, "a,b,c", "more than 2 items"),
        (SEVERAL, ",", "less than 1 item"),
        (SEVERAL, "a,x", "'x' is none of"),
        ({"type": "array"}, "[", "not JSON"),
        ({"type": "array"}, "[NaN]", "not JSON"),
        ({"type": "array"}, "[" * 100_000, "not JSON"),
        ({"type": "string", "format": "email"}, "ada", "e-mail"),
        ({"type": "string", "format": "email"}, "a b@example.com", "e-mail"),
        ({"type": "string", "format": "uri"}, "example.com", "no URI"),
        ({"type": "string", "format": "uri"}, "http://[x", "no URI"),
        ({"type": "string", "format": "date"}, "28.7.2026", "no date"),
        ({"type": "string", "format": "date-time"}, "2026-07-28", "no date and time"),
        ({"type": "string", "format": "date-time"}, "2026-07-28T12:00:00", "no date and time"),
        ({"type": "string", "format": "date-time"}, "T", "no date and time"),
    ],
)
def test_what_does_not_fit_says_why(schema: dict[str, Any], text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        field(**schema).parse(text)


@pytest.mark.parametrize(
    ("value", "shown"), [("x", "x"), (True, "yes"), (False, "no"), (95.5, "95.5"), (["a", "b"], "a, b"), (None, "null")]
)
def test_values_are_shown_as_they_would_be_typed(value: object, shown: str) -> None:
    assert field(type="string").show(value) == shown


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_can_be_typed(value: float) -> None:
    number = field(type="number")
    assert math.isclose(float(str(number.parse(number.show(value)))), value)


@given(st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=3))
def test_any_choice_can_be_typed(value: list[str]) -> None:
    several = field(type="array", items={"enum": ["a", "b", "c"]})
    assert several.parse(several.show(value)) == value

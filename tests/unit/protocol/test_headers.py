from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.errors import LocalProtocolError
from syncline.protocol.headers import (
    MAX_INTEGER,
    InvalidAnnotation,
    Mirror,
    encode_value,
    mirrored,
    mirrors,
    standard_headers,
)

VERSION = "2026-07-28"


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        # the specification's own vectors (HDR-15)
        ("us-west1", "us-west1"),
        (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
        ("us west 1", "us west 1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("\tindented", "=?base64?CWluZGVudGVk?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        # HDR-10: the other types
        (42, "42"),
        (-7, "-7"),
        (0, "0"),
        (True, "true"),
        (False, "false"),
        # the edges (HDR-11 to HDR-14)
        ("", ""),
        ("~", "~"),
        (" ", "=?base64?IA==?="),
        ("x ", "=?base64?eCA=?="),
        ("a\tb", "=?base64?YQli?="),
        ("a\x7f", "=?base64?YX8=?="),
        ("x\r\nEvil: 1", "=?base64?eA0KRXZpbDogMQ==?="),
        ("x\n", "=?base64?eAo=?="),
        ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
        ("=?base64?open", "=?base64?open"),
        ("=?BASE64?x?=", "=?BASE64?x?="),
    ],
)
def test_values_are_plain_or_base64(value: str | int | bool, encoded: str) -> None:
    """B069: nothing in a value can end the header line."""
    assert encode_value(value) == encoded


def decoded(value: str) -> str:
    match = re.fullmatch(r"=\?base64\?(.*)\?=", value)
    return base64.b64decode(match[1], validate=True).decode() if match else value


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.text("=?base64 \t").map(lambda inner: f"=?base64?{inner}?=")
    | st.text(" ~!\t")
)
def test_values_survive_the_round_trip(value: str) -> None:
    encoded = encode_value(value)
    assert re.fullmatch("[ -~]*", encoded)
    assert encoded == encoded.strip()
    assert decoded(encoded) == value


def test_a_lone_surrogate_is_our_own_error() -> None:
    with pytest.raises(LocalProtocolError):
        encode_value("\ud800")


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "run"}, "run"),
        ("tools/call", {"name": "héllo"}, "=?base64?aMOpbGxv?="),
        ("prompts/get", {"name": "p", "uri": "u"}, "p"),
        ("resources/read", {"name": "p", "uri": "file:///a b"}, "file:///a b"),
        ("tasks/get", {"taskId": "t-9f"}, "t-9f"),
        ("tasks/update", {"taskId": "t"}, "t"),
        ("tasks/cancel", {"taskId": "t"}, "t"),
        ("tools/list", {"name": "x"}, None),
        ("tools/call", {}, None),
        ("tools/call", {"name": 7}, None),
        ("tools/call", None, None),
        ("server/discover", None, None),
    ],
)
def test_every_request_carries_version_and_method(
    method: str, params: dict[str, object] | None, name: str | None
) -> None:
    expected = {"MCP-Protocol-Version": VERSION, "Mcp-Method": method}
    if name is not None:
        expected["Mcp-Name"] = name
    assert standard_headers(method, params, VERSION) == expected


def test_a_method_cannot_bring_in_a_header() -> None:
    assert standard_headers("x\r\nEvil: 1", None, VERSION)["Mcp-Method"].startswith("=?base64?")


def schema(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


def marked(name: object, kind: object = "string") -> dict[str, object]:
    return {"type": kind, "x-mcp-header": name}


@pytest.mark.parametrize(
    ("input_schema", "expected"),
    [
        ("x-mcp-header", ()),
        (["x-mcp-header", {"enum": ["x-mcp-header"]}], ()),
        ({"allOf": ["x-mcp-header", {"type": "object"}]}, ()),
        (schema(), ()),
        (None, ()),
        (True, ()),
        ({"properties": []}, ()),
        (schema(a={"type": "string"}, b=True), ()),
        (schema(a=marked("A")), (Mirror(("a",), "Mcp-Param-A"),)),
        (schema(a=marked("Method")), (Mirror(("a",), "Mcp-Param-Method"),)),
        (
            schema(a=marked("A"), n=marked("N", "integer"), b=marked("!#$%&'*+-.^_`|~", "boolean")),
            (
                Mirror(("a",), "Mcp-Param-A"),
                Mirror(("n",), "Mcp-Param-N"),
                Mirror(("b",), "Mcp-Param-!#$%&'*+-.^_`|~"),
            ),
        ),
        (schema(o=schema(p=schema(q=marked("Q")))), (Mirror(("o", "p", "q"), "Mcp-Param-Q"),)),
        (schema(a=marked("A", ["string", "null"])), (Mirror(("a",), "Mcp-Param-A"),)),
        (schema(a=marked("A", ["null", "integer"])), (Mirror(("a",), "Mcp-Param-A"),)),
        # a property may be called like a keyword or like the annotation, and data is not a schema
        (schema(items=marked("A")), (Mirror(("items",), "Mcp-Param-A"),)),
        (schema(**{"x-mcp-header": {"type": "string"}}), ()),
        (schema(a={"type": "string", "default": marked("A"), "enum": [marked("A")], "const": marked("A")}), ()),
        ({"type": "object", "examples": [marked("")], "required": ["x-mcp-header"]}, ()),
    ],
)
def test_annotated_arguments_are_found(input_schema: object, expected: tuple[Mirror, ...]) -> None:
    assert mirrors(input_schema) == expected


@pytest.mark.parametrize(
    ("input_schema", "reason"),
    [
        # 1 to 3: the name
        (schema(a=marked("")), "not a header name"),
        (schema(a=marked(None)), "not a header name"),
        (schema(a=marked(["A"])), "not a header name"),
        (schema(a=marked("a b")), "not a header name"),
        (schema(a=marked("a:b")), "not a header name"),
        (schema(a=marked("é")), "not a header name"),
        (schema(a=marked("a\r\nb")), "not a header name"),
        (schema(a=marked("a\n")), "not a header name"),
        # 4: twice
        (schema(a=marked("Region"), b=marked("REGION")), "at b is taken"),
        (schema(a=marked("R"), o=schema(b=marked("r"))), "at o.b is taken"),
        # 5: the type
        *(
            (schema(a=marked("A", kind)), "at a is not on a string")
            for kind in ("number", "object", "array", "null", 1)
        ),
        (schema(a={"x-mcp-header": "A"}), "at a is not on a string"),
        (schema(a={"enum": ["x"], "x-mcp-header": "A"}), "at a is not on a string"),
        (schema(a=marked("A", ["string", "integer"])), "at a is not on a string"),
        (schema(a=marked("A", ["null"])), "at a is not on a string"),
        (schema(a=marked("A", ["number", "null"])), "at a is not on a string"),
        # 6: the way
        ({"type": "string", "x-mcp-header": "A"}, "not on a plain property"),
        ({"type": "object", "$defs": {"d": marked("A")}}, "not on a plain property"),
        ({"type": "object", "definitions": {"d": schema(a=marked("A"))}}, "not on a plain property"),
        ({"type": "object", "patternProperties": {"^x": marked("A")}}, "not on a plain property"),
        ({"type": "object", "additionalProperties": marked("A")}, "not on a plain property"),
        ({"type": "object", "if": schema(a=marked("A"))}, "not on a plain property"),
        ({"type": "object", "then": schema(a=marked("A"))}, "not on a plain property"),
        ({"type": "object", "else": schema(a=marked("A"))}, "not on a plain property"),
        ({"type": "object", "dependentSchemas": {"b": schema(a=marked("A"))}}, "not on a plain property"),
        (schema(a={"type": "array", "items": marked("A")}), "not on a plain property"),
        (schema(a={"type": "array", "prefixItems": [marked("A")]}), "not on a plain property"),
        (schema(a={"oneOf": [{"type": "null"}, marked("A")]}), "not on a plain property"),
        (schema(a={"anyOf": [schema(b=marked("A"))]}), "not on a plain property"),
        (schema(a={"allOf": [marked("A")]}), "not on a plain property"),
        (schema(a={"not": marked("A")}), "not on a plain property"),
    ],
)
def test_annotations_that_break_the_rules_say_which(input_schema: object, reason: str) -> None:
    with pytest.raises(InvalidAnnotation, match=re.escape(reason)):
        mirrors(input_schema)


MIRRORS = mirrors(schema(s=marked("S"), n=marked("N", "integer"), b=marked("B", "boolean"), o=schema(p=marked("P"))))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (None, {}),
        ({}, {}),
        ({"s": None, "other": "x"}, {}),
        ({"s": "x", "n": 42, "b": False}, {"Mcp-Param-S": "x", "Mcp-Param-N": "42", "Mcp-Param-B": "false"}),
        ({"s": ""}, {"Mcp-Param-S": ""}),
        ({"s": " x\r\nEvil: 1"}, {"Mcp-Param-S": "=?base64?IHgNCkV2aWw6IDE=?="}),
        ({"o": {"p": "deep"}}, {"Mcp-Param-P": "deep"}),
        ({"o": {"p": None}}, {}),
        ({"o": "flat"}, {}),
        ({"o": None}, {}),
        # another type than declared travels as what it is, where a header can say so
        ({"s": 7, "n": "seven", "b": 1}, {"Mcp-Param-S": "7", "Mcp-Param-N": "seven", "Mcp-Param-B": "1"}),
        ({"n": 42.0}, {"Mcp-Param-N": "42"}),
        ({"n": 1.5, "s": ["x"], "b": {}}, {}),
        ({"n": MAX_INTEGER}, {"Mcp-Param-N": "9007199254740991"}),
        ({"n": -MAX_INTEGER}, {"Mcp-Param-N": "-9007199254740991"}),
    ],
)
def test_arguments_are_mirrored(arguments: dict[str, object] | None, expected: dict[str, str]) -> None:
    assert mirrored(MIRRORS, arguments) == expected


def test_without_mirrors_nothing_is_mirrored() -> None:
    assert mirrored((), {"s": "x"}) == {}


@pytest.mark.parametrize("value", [MAX_INTEGER + 1, -MAX_INTEGER - 1, 1e300])
def test_an_integer_that_peers_would_round_is_our_own_error(value: float) -> None:
    with pytest.raises(LocalProtocolError, match=r"o\.p is beyond 2\^53-1"):
        mirrored(MIRRORS, {"o": {"p": value}})

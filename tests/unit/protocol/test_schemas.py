"""Output schemas, without a network."""

from __future__ import annotations

import http.server
import threading

import pytest

from syncline.protocol.schemas import ERRORS, OutputSchema, UnusableSchema


def test_a_value_that_fits_has_no_errors() -> None:
    schema = OutputSchema({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]})

    assert schema.errors({"sum": 3}) == []


def test_errors_name_the_place() -> None:
    schema = OutputSchema({"type": "object", "properties": {"rows": {"items": {"type": "integer"}}}})

    assert schema.errors({"rows": [1, "x"]}) == ['[\'rows\'][1]: "x" is not of type "integer"']
    assert schema.errors([])[0].startswith("the value: ")


def test_only_so_many_errors_are_collected() -> None:
    assert len(OutputSchema({"items": {"type": "integer"}}).errors(["x"] * 1000)) == ERRORS


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "integer"}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array"},
        {"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}},
        {
            "$defs": {"n": {"$id": "https://example.com/n", "type": "integer"}},
            "items": {"$ref": "https://example.com/n"},
        },
        {"$defs": {"n": {"$anchor": "n", "type": "integer"}}, "items": {"$ref": "#n"}},
        {"items": {"$ref": "#/$defs/tree"}, "$defs": {"tree": {"items": {"$ref": "#/$defs/tree"}, "type": "integer"}}},
    ],
)
def test_references_inside_the_document_and_other_dialects_work(schema: object) -> None:
    """JSC-1, JSC-2."""
    assert OutputSchema(schema).errors([1, 2]) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nope"},
        {"$schema": "https://example.com/no-such-dialect"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "file:///etc/hostname"},
        {"type": "string", "pattern": "["},
        7,
    ],
)
def test_a_schema_that_cannot_be_used_says_so_at_once(schema: object) -> None:
    """JSC-2, JSC-5: it is refused, not taken for permissive."""
    with pytest.raises(UnusableSchema):
        OutputSchema(schema)


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_network_reference_is_never_fetched(keyword: str) -> None:
    """B134: not even one in a branch that no value reaches."""
    hits = []

    class Counting(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_error(404)

    server = http.server.HTTPServer(("127.0.0.1", 0), Counting)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/s.json"
        with pytest.raises(UnusableSchema):
            OutputSchema({"anyOf": [{"type": "integer"}, {keyword: url}]})
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert hits == []

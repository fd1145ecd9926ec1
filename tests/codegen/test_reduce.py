from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.codegen.problems import Problem
from tools.codegen.reduce import DROPPED, dump, reduce, share

PUBLISHED = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": {
        "Tool": {
            "description": "words",
            "type": "object",
            "properties": {
                "description": {"description": "words about the member", "type": "string"},
                "schema": {"$ref": "#/definitions/Cursor", "description": "a sibling"},
            },
            "required": ["description"],
        },
        "Cursor": {"description": "more words", "type": "string", "examples": ["a"]},
    },
}


def test_sentences_go_and_facts_stay() -> None:
    facts = reduce(PUBLISHED, "published.json")
    assert facts["$defs"] == {
        "Tool": {
            "type": "object",
            "properties": {"description": {"type": "string"}, "schema": {"$ref": "#/$defs/Cursor"}},
            "required": ["description"],
        },
        "Cursor": {"type": "string"},
    }
    assert facts["$schema"].endswith("2020-12/schema")


def test_reducing_a_reduction_changes_nothing() -> None:
    facts = reduce(PUBLISHED, "published.json")
    assert reduce(facts, "facts.json") == facts


NAMES = st.sampled_from(["description", "title", "examples", "type", "properties", "name", "$comment"])
SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": st.just("string"), "description": st.text()}),
    lambda inner: st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner), "description": st.text()}
    ),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, SCHEMAS, min_size=1))
def test_members_may_be_called_like_keywords(definitions: dict[str, Any]) -> None:
    def members(node: dict[str, Any]) -> dict[str, Any]:
        return {name: members(child) for name, child in node.get("properties", {}).items()}

    def words(node: dict[str, Any]) -> bool:
        return bool(node.keys() & DROPPED) or any(words(child) for child in node.get("properties", {}).values())

    facts = reduce({"$defs": definitions}, "any.json")["$defs"]
    assert {name: members(node) for name, node in facts.items()} == {
        name: members(node) for name, node in definitions.items()
    }
    assert not any(words(node) for node in facts.values())


@pytest.mark.parametrize(
    ("published", "place"),
    [
        ({}, "published.json: not a JSON schema"),
        ({"$defs": []}, "published.json: not a JSON schema"),
        ({"$defs": {"A": 3}}, "published.json: /$defs/A: not a JSON schema"),
        ({"$defs": {"A": {"properties": []}}}, "published.json: /$defs/A/properties: not a JSON schema"),
        ({"$defs": {"A": {"anyOf": [{}, 1]}}}, "published.json: /$defs/A/anyOf/1: not a JSON schema"),
        (
            {"$defs": {"A": {"properties": {"a/b": {"if": {}}}}}},
            "published.json: /$defs/A/properties/a~1b/if: a keyword",
        ),
    ],
)
def test_what_is_no_schema_is_refused_at_its_place(published: dict[str, Any], place: str) -> None:
    with pytest.raises(Problem) as caught:
        reduce(published, "published.json")
    assert str(caught.value).startswith(place)
    assert "\n" not in str(caught.value)


def test_an_extension_refers_to_what_it_copies() -> None:
    task = {"type": "object", "properties": {"id": {"$ref": "#/$defs/Id"}}}
    core = {"$defs": {"Id": {"type": "string"}, "Other": {"type": "integer"}}}
    extension = {"$defs": {"Id": {"type": "string"}, "Task": task, "Result": {"allOf": [task, {"type": "object"}]}}}
    assert share(extension, core, "core.json")["$defs"] == {
        "Task": {"type": "object", "properties": {"id": {"$ref": "core.json#/$defs/Id"}}},
        "Result": {"allOf": [{"$ref": "#/$defs/Task"}, {"type": "object"}]},
    }


def test_the_bytes_do_not_depend_on_the_order_of_members() -> None:
    turned = json.loads(json.dumps(PUBLISHED, sort_keys=True))
    assert dump(reduce(turned, "")) == dump(reduce(PUBLISHED, ""))

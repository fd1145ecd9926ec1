from __future__ import annotations

from typing import Any

import pytest

from tools.codegen.normalize import NULLABLE, OWNER, normalize
from tools.codegen.problems import Problem


def run(definitions: dict[str, Any], **rest: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"names": {}, "absent": {}, "shared": {}, "file": "facts.json"} | rest
    result: dict[str, Any] = normalize({"$schema": "", "$defs": definitions}, **settings)["$defs"]
    return result


def record(required: str = "", **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "required": required.split()}


TEXT = {"type": "string"}
NOTE = record(text=TEXT)


def test_inline_objects_are_named_after_owner_and_member() -> None:
    found = run({"Call": record(params=record(_meta=NOTE, more={"type": "array", "items": record(a=TEXT)}))})
    assert sorted(found) == ["Call", "CallParams", "CallParamsMeta", "CallParamsMore"]
    assert found["Call"]["properties"]["params"] == {"$ref": "#/$defs/CallParams"}
    assert found["CallParams"]["properties"]["more"]["items"] == {"$ref": "#/$defs/CallParamsMore"}
    assert found["CallParamsMeta"][OWNER] == "Call"


def test_equal_inline_objects_share_a_name() -> None:
    found = run({"A": record(note=NOTE), "B": record(note=NOTE)}, names={"*Note": "Note"})
    assert sorted(found) == ["A", "B", "Note"]


def test_different_objects_never_share_a_name() -> None:
    with pytest.raises(Problem, match=r"^facts.json: /\$defs/Note: two different objects get this name"):
        run({"A": record(note=NOTE), "B": record(note=record(other=TEXT))}, names={"*Note": "Note"})
    with pytest.raises(Problem, match=r"^facts.json: /\$defs/ANote: two different objects"):
        run({"A": record(note=NOTE), "ANote": record(other=TEXT)})


@pytest.mark.parametrize("values", [{}, True, {"type": "object", "properties": {}}])
def test_objects_without_members_are_maps(values: Any) -> None:
    node = {"type": "object", "properties": {}, "additionalProperties": values}
    found = run({"A": record(map=node)})
    assert found["A"]["properties"]["map"]["type"] == "object"
    assert "properties" not in found["A"]["properties"]["map"]
    assert sorted(found) == ["A"]


def test_whole_numbers_stay_whole() -> None:
    found = run(
        {"A": record(a={"type": "number", "minimum": 0}, b={"type": ["string", "number"]}, c={"type": "integer"})}
    )
    members = found["A"]["properties"]
    assert members["a"] == {"type": ["integer", "number"], "minimum": 0}
    assert members["b"] == {"type": ["integer", "number", "string"]}
    assert members["c"] == {"type": "integer"}


def tagged(kind: str) -> dict[str, Any]:
    return record("kind", kind={"const": kind, "type": "string"})


def refs(*names: str) -> dict[str, Any]:
    return {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}


def test_a_union_is_tagged_where_each_branch_has_a_constant_of_its_own() -> None:
    found = run({"A": tagged("a"), "B": tagged("b"), "Either": refs("A", "B")})
    assert found["Either"]["discriminator"] == {"propertyName": "kind"}


@pytest.mark.parametrize("other", [tagged("a"), record(kind={"const": "b"}), NOTE])
def test_a_union_is_not_tagged_otherwise(other: dict[str, Any]) -> None:
    assert "discriminator" not in run({"A": tagged("a"), "B": other, "Either": refs("A", "B")})["Either"]


def test_all_of_with_an_inline_part_becomes_one_object() -> None:
    base = record("code", code={"type": "integer"}, message=TEXT)
    found = run(
        {"Base": base, "E": {"allOf": [{"$ref": "#/$defs/Base"}, record("data", code={"const": 5}, data=TEXT)]}}
    )
    assert found["E"]["properties"] == {"code": {"const": 5}, "message": TEXT, "data": TEXT}
    assert found["E"]["required"] == ["code", "data"]


def test_all_of_between_definitions_stays_inheritance() -> None:
    both = {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}
    assert run({"A": NOTE, "B": record(b=TEXT), "Both": both})["Both"] == both


def test_absence_gets_its_meaning() -> None:
    found = run(
        {
            "ListResult": record("ttlMs", ttlMs={"type": "integer"}, kind=TEXT),
            "Other": record(ttlMs={"type": "integer"}),
        },
        absent={"*Result.ttlMs": 0},
    )
    assert found["ListResult"]["properties"]["ttlMs"] == {"type": "integer", "default": 0}
    assert "default" not in found["Other"]["properties"]["ttlMs"]


def test_members_for_which_null_is_a_value_are_marked() -> None:
    found = run(
        {"A": record(any={}, ttl={"type": ["integer", "null"]}, either={"anyOf": [TEXT, {"type": "null"}]}, text=TEXT)}
    )
    marked = [name for name, node in found["A"]["properties"].items() if NULLABLE in node]
    assert marked == ["any", "ttl", "either"]


def test_constants_side_by_side_are_an_enumeration() -> None:
    found = run({"A": {"anyOf": [{"type": "string", "const": "b"}, {"type": "string", "const": "a"}]}})
    assert found["A"] == {"type": "string", "enum": ["a", "b"]}


def test_a_reference_into_nothing_is_refused_at_its_place() -> None:
    with pytest.raises(Problem, match=r"^facts.json: /\$defs/A/properties/x/items/\$ref: refers to #/\$defs/Gone"):
        run({"A": record(x={"type": "array", "items": {"$ref": "#/$defs/Gone"}})})

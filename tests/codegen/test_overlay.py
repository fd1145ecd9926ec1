from __future__ import annotations

from typing import Any

import pytest

from tools.codegen.overlay import apply
from tools.codegen.problems import Problem

FACTS = {"$defs": {"A": {"type": "string", "anyOf": [{"type": "integer"}], "properties": {"x/y": {"type": "null"}}}}}


def patch(pointer: str, **rest: Any) -> dict[str, Any]:
    return {"pointer": pointer, "reason": "a test"} | rest


def test_a_patch_replaces_adds_and_removes() -> None:
    patches = [
        patch("/$defs/A/type", expect="string", replace="number"),
        patch("/$defs/A/anyOf/0/type", expect="integer", replace=["integer", "null"]),
        patch("/$defs/A/properties/x~1y", expect={"type": "null"}),
        patch("/$defs/B", replace={"type": "object"}),
    ]
    fixed = apply(FACTS, patches, "overlay.toml")["$defs"]
    assert fixed == {
        "A": {"type": "number", "anyOf": [{"type": ["integer", "null"]}], "properties": {}},
        "B": {"type": "object"},
    }
    assert FACTS["$defs"]["A"]["type"] == "string"


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (patch("/$defs/A/type", expect="number", replace="x"), "/$defs/A/type: expected 'number', found 'string'"),
        (patch("/$defs/A/type", replace="x"), "/$defs/A/type: expected nothing, found 'string'"),
        (patch("/$defs/A/format", expect="uri", replace="x"), "/$defs/A/format: expected 'uri', found nothing"),
        (patch("/$defs/Gone/type", expect="x", replace="y"), "/$defs/Gone/type: the pointer leads nowhere"),
        (patch("/$defs/A/anyOf/7/type", expect="x"), "/$defs/A/anyOf/7/type: the pointer leads nowhere"),
        (patch("/$defs/A/type/x", expect="x"), "/$defs/A/type/x: the pointer leads to no object"),
        (patch("/$defs/A/type", expect="string", replce="x"), "/$defs/A/type: a patch has"),
        ({"pointer": "/$defs/A", "expect": 1}, "/$defs/A: a patch has"),
    ],
)
def test_a_patch_that_does_not_fit_breaks_the_build_at_its_place(bad: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Problem) as caught:
        apply(FACTS, [bad], "overlay.toml")
    assert str(caught.value).startswith(f"overlay.toml: {complaint}")

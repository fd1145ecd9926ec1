"""Valid JSON for every definition, drawn from the reductions in ``schema/``."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SCHEMA = Path(__file__).parents[2] / "schema"
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
EXTENSIONS = ("tasks", "events")
LOCAL = "#/$defs/"

TEXTS = st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


@functools.cache
def definitions(module: str) -> dict[str, Any]:
    """The definitions of a revision or extension, as reduced."""
    path = SCHEMA / module / "schema.json" if module in REVISIONS else SCHEMA / "extensions" / f"{module}.json"
    found: dict[str, Any] = json.loads(path.read_text())["$defs"]
    return found


def instances(module: str, name: str) -> st.SearchStrategy[Any]:
    """Valid instances of a definition."""
    return _node(definitions(module)[name], module, 4)


def _node(node: dict[str, Any], module: str, depth: int) -> st.SearchStrategy[Any]:
    if "$ref" in node:
        file, _, name = node["$ref"].partition(LOCAL)
        home = file.removesuffix(".json") or module
        return st.deferred(lambda: _node(definitions(home)[name], home, depth - 1))
    if "const" in node:
        return st.just(node["const"])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if "anyOf" in node:
        branches = [branch for branch in node["anyOf"] if depth > 0 or not _nests(branch)]
        return st.one_of([_node(branch, module, depth) for branch in branches or node["anyOf"][:1]])
    if "allOf" in node:
        parts = [_node(part, module, depth) for part in node["allOf"]]
        return st.tuples(*parts).map(lambda drawn: functools.reduce(lambda one, other: one | other, drawn))
    types = node.get("type")
    if types is None:
        return JSON
    return st.one_of([_typed(kind, node, module, depth) for kind in (types if isinstance(types, list) else [types])])


def _typed(kind: str, node: dict[str, Any], module: str, depth: int) -> st.SearchStrategy[Any]:
    low, high = node.get("minimum"), node.get("maximum")
    scalars: dict[str, st.SearchStrategy[Any]] = {
        "null": st.none(),
        "boolean": st.booleans(),
        "string": TEXTS,
        "integer": st.integers(low, high),
        "number": st.floats(low, high, allow_nan=False, allow_infinity=False) | st.integers(low, high),
    }
    if kind in scalars:
        return scalars[kind]
    if kind == "array":
        return st.lists(_node(node.get("items", {}), module, depth - 1), min_size=node.get("minItems", 0), max_size=2)
    return _object(node, module, depth)


def _object(node: dict[str, Any], module: str, depth: int) -> st.SearchStrategy[Any]:
    members = node.get("properties", {})
    required = {name: _node(members[name], module, depth - 1) for name in node.get("required", ())}
    optional = {name: _node(members[name], module, depth - 1) for name in members.keys() - required.keys() if depth > 0}
    known = st.fixed_dictionaries(required, optional=dict(sorted(optional.items())))
    values = node.get("additionalProperties")
    if not members:
        rest = _node(values, module, depth - 1) if isinstance(values, dict) and values else JSON
        return st.dictionaries(TEXTS, rest, max_size=2) if node.get("propertyNames") is None else st.just({})
    unknown = st.dictionaries(st.sampled_from(["x-one", "x-two"]), JSON, max_size=1)
    return st.tuples(known, unknown).map(lambda drawn: drawn[0] | drawn[1])


def _nests(branch: dict[str, Any]) -> bool:
    return "$ref" in branch or branch.get("type") in ("array", "object")

"""A published schema, reduced to its facts.

What stays: names, types, required members, enums, constants, bounds, formats, references. What goes: every sentence
(descriptions, comments, examples). Containers and references are spelled the 2020-12 way, members are sorted, and
definitions that an extension merely copies from a core revision become references to it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .inputs import JsonObject, pointer
from .problems import Problem

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DROPPED = frozenset({"$comment", "$id", "$schema", "deprecated", "description", "examples", "title"})
#: Keyword → how its value is reduced.
FACTS = {
    **dict.fromkeys(("$defs", "definitions", "properties"), "map"),
    **dict.fromkeys(("additionalProperties", "items", "not", "propertyNames"), "schema"),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), "list"),
    **dict.fromkeys(("const", "default", "enum", "format", "pattern", "required", "type"), "value"),
    **dict.fromkeys(("maxItems", "maxLength", "maximum", "minItems", "minLength", "minimum"), "value"),
    "$ref": "ref",
}


def reduce(published: JsonObject, file: Path | str) -> JsonObject:
    """The facts of a published schema. ``file`` is named in errors."""
    definitions = published.get("$defs", published.get("definitions"))
    if not isinstance(definitions, dict) or not definitions:
        raise Problem(file, "", "not a JSON schema: it has neither $defs nor definitions")
    container = "$defs" if "$defs" in published else "definitions"
    facts = {name: _schema(node, file, [container, name]) for name, node in definitions.items()}
    return {"$schema": DIALECT, "$defs": facts}


def share(facts: JsonObject, core: JsonObject, core_file: str) -> JsonObject:
    """An extension without its copies: of definitions of ``core``, and of its own ones inside one another.

    Both become references, to ``core_file`` and to the definition that was copied.
    """
    common = {name for name, node in facts["$defs"].items() if core["$defs"].get(name) == node}
    own = {name: node for name, node in facts["$defs"].items() if name not in common}
    copies = {_key(node): {"$ref": f"#/$defs/{name}"} for name, node in own.items() if len(node) > 1 or "anyOf" in node}

    def point(node: Any) -> Any:
        if isinstance(node, list):
            return [below(item) for item in node]
        if not isinstance(node, dict):
            return node
        target = node.get("$ref")
        if isinstance(target, str) and target.removeprefix("#/$defs/") in common:
            return {"$ref": core_file + target}
        return {key: below(value) for key, value in node.items()}

    def below(node: Any) -> Any:
        return copies.get(_key(node)) or point(node)

    return facts | {"$defs": {name: point(node) for name, node in own.items()}}


def dump(facts: JsonObject) -> bytes:
    """The bytes that are committed."""
    return (json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _key(node: Any) -> str:
    return json.dumps(node, sort_keys=True)


def _schema(node: Any, file: Path | str, place: list[str | int]) -> Any:
    if isinstance(node, bool):
        return node
    if not isinstance(node, dict):
        raise Problem(file, pointer(*place), "not a JSON schema: an object is expected here")
    facts = {}
    for keyword, value in node.items():
        if keyword in DROPPED:
            continue
        if keyword not in FACTS:
            raise Problem(file, pointer(*place, keyword), "a keyword that the reduction does not know")
        facts[keyword] = _value(FACTS[keyword], value, file, [*place, keyword])
    return facts


def _value(kind: str, value: Any, file: Path | str, place: list[str | int]) -> Any:
    if kind == "schema":
        return _schema(value, file, place)
    if kind == "map" and isinstance(value, dict):
        return {name: _schema(node, file, [*place, name]) for name, node in value.items()}
    if kind == "list" and isinstance(value, list):
        return [_schema(node, file, [*place, index]) for index, node in enumerate(value)]
    if kind == "ref" and isinstance(value, str):
        return value.replace("#/definitions/", "#/$defs/")
    if kind == "value":
        return value
    raise Problem(file, pointer(*place), f"not a JSON schema: unexpected {type(value).__name__}")

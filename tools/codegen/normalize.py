"""From facts to what the model generator understands best: every object named, every union tagged where it can be.

Each step is a function from definitions to definitions; ``normalize`` runs them in order. The steps never look at a
revision's name: what differs between revisions is in the files of ``schema/``.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from .inputs import JsonObject, pointer
from .problems import Problem

#: The way from a node to one below it, as the tokens of a JSON pointer.
Place = tuple[str | int, ...]

LOCAL = "#/$defs/"
#: Key of a hoisted definition that keeps the name of the published one it was found in.
OWNER = "x-owner"
#: Key of a member for which null is a value.
NULLABLE = "x-nullable"
#: The bounds that some generators write for every integer: what a double holds exactly, no limit of the protocol.
SAFE_INTEGER = {"minimum": -(2**53) + 1, "maximum": 2**53 - 1}


def normalize(
    facts: JsonObject,
    *,
    names: dict[str, str],
    absent: dict[str, Any],
    shared: dict[str, JsonObject],
    file: str,
) -> JsonObject:
    """Definitions ready for the generator.

    Args:
        facts: A reduction, its overlay applied.
        names: Pattern of a hoisted object's name → the name it gets. Objects that get the same name must be equal.
        absent: Member of a result → what it means when a server leaves it out.
        shared: Definitions of the files that ``facts`` refers to, by ``file#/$defs/Name``.
        file: Named in errors.
    """
    definitions = copy.deepcopy(facts["$defs"])
    check_references(definitions, shared, file)
    steps: list[Callable[[JsonObject], JsonObject]] = [
        functools.partial(_everywhere, simplify),
        functools.partial(merge_all_of, shared=shared),
        functools.partial(hoist, names=names, file=file),
        functools.partial(fill_absent, absent=absent),
        functools.partial(tag_unions, shared=shared),
        functools.partial(_everywhere, mark_nullable),
    ]
    for step in steps:
        definitions = step(definitions)
    return {"$schema": facts["$schema"], "$defs": dict(sorted(definitions.items()))}


def check_references(definitions: JsonObject, shared: dict[str, JsonObject], file: str) -> None:
    """Every reference leads somewhere."""
    for place, node in nodes(definitions):
        target = node.get("$ref")
        if target is None:
            continue
        known = target.removeprefix(LOCAL) in definitions if target.startswith(LOCAL) else target in shared
        if not known:
            raise Problem(file, pointer("$defs", *place, "$ref"), f"refers to {target}, which is not there")


def simplify(node: JsonObject) -> JsonObject:
    """One schema node, without what says nothing to a model."""
    if {key: node[key] for key in SAFE_INTEGER if key in node} == SAFE_INTEGER:
        node = {key: value for key, value in node.items() if key not in SAFE_INTEGER}
    constants = [branch.get("const") for branch in node.get("anyOf", ())]
    if constants and all(isinstance(constant, str) for constant in constants):
        node = {"type": "string", "enum": sorted(constants)}
    if node.get("type") == "number" or (isinstance(node.get("type"), list) and "number" in node["type"]):
        # An integer stays an integer on the way through a model: 50 is not 50.0.
        types = node["type"] if isinstance(node["type"], list) else ["number"]
        node = node | {"type": sorted({*types, "integer"} - {"null"}) + [name for name in types if name == "null"]}
    if node.get("type") == "object":
        node = {key: value for key, value in node.items() if key != "propertyNames"}
        if node.get("properties"):
            node.pop("additionalProperties", None)  # every model keeps unknown members
        else:
            values = node.get("additionalProperties")
            node = {"type": "object", "additionalProperties": values if _says_something(values) else {}}
    return node


def merge_all_of(definitions: JsonObject, *, shared: dict[str, JsonObject]) -> JsonObject:
    """``allOf`` with an inline part becomes one object; between definitions alone it stays: that is inheritance."""

    def merge(node: JsonObject) -> JsonObject:
        parts = node.get("allOf")
        if not parts or all("$ref" in part for part in parts):
            return node
        merged: JsonObject = {"type": "object", "properties": {}, "required": []}
        for part in parts:
            source = merge(resolve(part, definitions, shared))
            merged["properties"] |= source.get("properties", {})
            merged["required"] = sorted({*merged["required"], *source.get("required", ())})
        return merged

    return _everywhere(merge, definitions)


def hoist(definitions: JsonObject, *, names: dict[str, str], file: str) -> JsonObject:
    """Every inline object with members becomes a definition, called after its owner and the member that holds it."""
    hoisted: JsonObject = {}

    def below(node: JsonObject, name: str, owner: str) -> JsonObject:
        return _children(node, lambda child, place: move(child, name + _pascal(_member(place)), owner))

    def move(node: JsonObject, default: str, owner: str) -> JsonObject:
        if not node.get("properties"):
            return below(node, default, owner)
        name = next((name for pattern, name in names.items() if fnmatchcase(default, pattern)), default)
        node = below(node, name, owner)
        known: JsonObject = hoisted.get(name) or definitions.get(name) or node
        if _key(known, OWNER) != _key(node):
            raise Problem(file, pointer("$defs", name), "two different objects get this name; see schema/names.toml")
        if name not in definitions:
            hoisted.setdefault(name, node | {OWNER: owner})
        return {"$ref": LOCAL + name}

    return {name: below(node, name, name) for name, node in definitions.items()} | hoisted


def fill_absent(definitions: JsonObject, *, absent: dict[str, Any]) -> JsonObject:
    """Members that a client must be able to do without get the value that their absence means."""

    def fill(owner: str, node: JsonObject) -> JsonObject:
        members = node.get("properties", {})
        values = {
            member: next(value for pattern, value in absent.items() if fnmatchcase(f"{owner}.{member}", pattern))
            for member in members
            if any(fnmatchcase(f"{owner}.{member}", pattern) for pattern in absent)
        }
        if not values:
            return node
        filled = {member: members[member] | {"default": value} for member, value in values.items()}
        return node | {"properties": members | filled, "required": sorted({*node.get("required", ()), *values})}

    return {name: fill(name, node) for name, node in definitions.items()}


def tag_unions(definitions: JsonObject, *, shared: dict[str, JsonObject]) -> JsonObject:
    """Add a discriminator to each union whose branches all require a member with a constant of their own."""

    def constants(branch: JsonObject) -> dict[str, Any]:
        node = resolve(branch, definitions, shared)
        members = node.get("properties", {})
        return {name: members[name]["const"] for name in node.get("required", ()) if "const" in members.get(name, {})}

    def tag(node: JsonObject) -> JsonObject:
        branches = [constants(branch) for branch in node.get("anyOf", ())]
        for member in sorted(branches[0] if branches else ()):
            tags = [branch.get(member) for branch in branches]
            if None not in tags and len(set(tags)) == len(tags) > 1:
                return node | {"discriminator": {"propertyName": member}}
        return node

    return _everywhere(tag, definitions)


def mark_nullable(node: JsonObject) -> JsonObject:
    """Say on each member for which null is a value that it is: elsewhere null stands for a member that is not there."""
    members = node.get("properties", {})
    marked = {member: child | {NULLABLE: True} for member, child in members.items() if admits_null(child)}
    return node | {"properties": members | marked} if marked else node


def admits_null(node: JsonObject) -> bool:
    types = node.get("type", [])
    return (
        not _says_something(node)
        or "null" in (types if isinstance(types, list) else [types])
        or any(admits_null(branch) for branch in node.get("anyOf", ()))
    )


def resolve(node: JsonObject, definitions: JsonObject, shared: dict[str, JsonObject]) -> JsonObject:
    """The definition that a node refers to, else the node itself."""
    target = node.get("$ref")
    if target is None:
        return node
    found: JsonObject = definitions[target.removeprefix(LOCAL)] if target.startswith(LOCAL) else shared[target]
    return found


def nodes(definitions: JsonObject) -> Iterator[tuple[Place, JsonObject]]:
    """Every schema node below the definitions, with its place."""

    def walk(node: JsonObject, place: Place) -> Iterator[tuple[Place, JsonObject]]:
        yield place, node
        below: list[tuple[Place, JsonObject]] = []

        def note(child: JsonObject, step: Place) -> JsonObject:
            below.append((place + step, child))
            return child

        _children(node, note)
        for where, child in below:
            yield from walk(child, where)

    for name, node in definitions.items():
        yield from walk(node, (name,))


def _everywhere(change: Callable[[JsonObject], JsonObject], definitions: JsonObject) -> JsonObject:
    return {name: _below(change(node), change) for name, node in definitions.items()}


def _below(node: JsonObject, change: Callable[[JsonObject], JsonObject]) -> JsonObject:
    """Apply ``change`` to all nodes below this one, the outer ones first."""
    return _children(node, lambda child, _place: _below(change(child), change))


def _children(node: JsonObject, change: Callable[[JsonObject, Place], JsonObject]) -> JsonObject:
    """Apply ``change`` to the schemas directly below a node; it is told the way to each."""
    changed = dict(node)
    for key in ("additionalProperties", "items"):
        if isinstance(node.get(key), dict):
            changed[key] = change(node[key], (key,))
    for key in ("allOf", "anyOf"):
        if key in node:
            changed[key] = [change(branch, (key, index)) for index, branch in enumerate(node[key])]
    members = node.get("properties", {})
    if members:
        changed["properties"] = {member: change(child, ("properties", member)) for member, child in members.items()}
    return changed


def _member(place: Place) -> str:
    """The member at the end of a place; nothing where that is a branch or the items."""
    return str(place[1]) if place[0] == "properties" else ""


def _says_something(node: Any) -> bool:
    """False for the schemas that admit everything, and for the empty ones that an object's values get."""
    return isinstance(node, dict) and bool(set(node) - {"default"})


def _key(node: JsonObject, without: str = "") -> str:
    """The same text for equal nodes."""
    return json.dumps({key: value for key, value in node.items() if key != without}, sort_keys=True)


def _pascal(name: str) -> str:
    """``_meta`` → ``Meta``, ``inputSchema`` → ``InputSchema``."""
    parts = [part for part in name.replace("/", "_").replace(".", "_").replace("$", "_").split("_") if part]
    return "".join(part[:1].upper() + part[1:] for part in parts)

"""Fixes to a schema, as data: each says what it expects to find, so a fix that is no longer needed breaks the build."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from .inputs import JsonObject, split_pointer
from .problems import Problem

KEYS = {"pointer", "expect", "replace", "reason"}


def apply(facts: JsonObject, patches: list[JsonObject], file: Path | str) -> JsonObject:
    """``facts`` with every patch applied.

    A patch has ``pointer`` (RFC 6901), ``expect`` (what is there, left out where nothing is), ``replace`` (what goes
    there, left out to remove it) and ``reason``.
    """
    fixed = copy.deepcopy(facts)
    for patch in patches:
        _apply(fixed, patch, file)
    return fixed


def _apply(facts: JsonObject, patch: JsonObject, file: Path | str) -> None:
    where = patch.get("pointer", "")
    if set(patch) - KEYS or not {"pointer", "reason"} <= set(patch) or not {"expect", "replace"} & set(patch):
        raise Problem(file, where, "a patch has pointer, expect, replace and reason, and nothing else")
    *parents, last = split_pointer(where) or [""]
    node: Any = facts
    for part in parents:
        node = _step(node, part, file, where)
    if not isinstance(node, dict):
        raise Problem(file, where, "the pointer leads to no object")
    found, expected = ({"": table[key]} if key in table else {} for table, key in ((node, last), (patch, "expect")))
    if found != expected:
        raise Problem(file, where, f"expected {_shown(expected)}, found {_shown(found)}: is the fix still needed?")
    node.pop(last, None)
    if "replace" in patch:
        node[last] = patch["replace"]


def _step(node: Any, part: str, file: Path | str, where: str) -> Any:
    if isinstance(node, dict) and part in node:
        return node[part]
    if isinstance(node, list) and part.isdigit() and int(part) < len(node):
        return node[int(part)]
    raise Problem(file, where, f"the pointer leads nowhere: there is no {part!r}")


def _shown(found: JsonObject) -> str:
    return repr(found[""]) if found else "nothing"

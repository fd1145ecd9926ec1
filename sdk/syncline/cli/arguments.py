"""Arguments on the command line: ``key=value`` is text, ``key:=json`` is JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from syncline.errors import ConfigError

#: The types of JSON Schema that text is not.
OTHERS = ("integer", "number", "boolean", "array", "object", "null")


def parse(pairs: Iterable[str], base: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The arguments of pairs, over those of ``base``. Raises ``ConfigError`` for what is neither, or is given twice."""
    given: dict[str, Any] = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        is_json = key.endswith(":")
        key = key[:-1] if is_json else key
        if not found or not key:
            raise ConfigError(f"{pair!r} is neither key=value nor key:=json")
        if key in given:
            raise ConfigError(f"{key!r} is given twice")
        given[key] = load(value, f"the value of {key!r}") if is_json else value
    return {**(base or {}), **given}


def load(text: str, what: str) -> Any:
    """JSON, strictly. Raises ``ConfigError``."""
    try:
        return json.loads(text, parse_constant=int)  # int() refuses NaN and its kin
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{what} is not JSON: {error}") from error


def load_object(text: str, what: str) -> dict[str, Any]:
    """A JSON object. Raises ``ConfigError``."""
    value = load(text, what)
    if not isinstance(value, dict):
        raise ConfigError(f"{what} is not a JSON object")
    return value


def mistyped(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, str]:
    """The arguments that are text though the tool's input schema plainly wants something else, and what it wants."""
    properties = schema.get("properties")
    wrong = {}
    for key, rule in properties.items() if isinstance(properties, Mapping) else ():
        kind = rule.get("type") if isinstance(rule, Mapping) else None
        if kind in OTHERS and isinstance(arguments.get(key), str):
            wrong[key] = str(kind)
    return wrong

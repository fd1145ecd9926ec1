"""HTTP headers that mirror a message (specification, basic/transports/streamable-http and server/tools, 2026-07-28)."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic_core import to_json

from syncline.errors import LocalProtocolError

VERSION_HEADER = "MCP-Protocol-Version"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"
PARAM_PREFIX = "Mcp-Param-"
ANNOTATION = "x-mcp-header"
_MENTION = ANNOTATION.encode()

#: The member of ``params`` that ``Mcp-Name`` carries, by method.
NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}

#: Integers beyond this lose digits in peers whose numbers are doubles.
MAX_INTEGER = 2**53 - 1

_PLAIN = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES = ("string", "integer", "boolean")
#: Keywords whose values are data or names, not schemas.
_DATA = frozenset({"const", "default", "enum", "examples", "required", "type", ANNOTATION})
#: Keywords whose values map names, which are not keywords, to schemas.
_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})


class InvalidAnnotation(ValueError):
    """An ``x-mcp-header`` that breaks the rules; the tool is left out of the listing, for the reason given."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """One argument that travels as a header too: the keys that lead to it, and the header's full name."""

    path: tuple[str, ...]
    header: str


def standard_headers(method: str, params: Mapping[str, object] | None, version: str) -> dict[str, str]:
    """The headers that every request of the modern era carries; ``Mcp-Name`` for the methods of ``NAMED_BY``."""
    headers = {VERSION_HEADER: version, METHOD_HEADER: encode_value(method)}
    member = NAMED_BY.get(method)
    if member is not None and params is not None:
        name = params.get(member)
        if isinstance(name, str):
            headers[NAME_HEADER] = encode_value(name)
    return headers


def encode_value(value: str | int | bool) -> str:
    """A header value: as it is where it is printable ASCII without blanks at its ends, else ``=?base64?...?=``.

    A value that looks encoded itself is encoded. Raises ``LocalProtocolError`` for text with a lone surrogate.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _PLAIN.fullmatch(value) and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return f"=?base64?{base64.b64encode(value.encode()).decode()}?="
    except UnicodeEncodeError as error:
        raise LocalProtocolError("a lone surrogate cannot be put into a header") from error


def mirrors(input_schema: object) -> tuple[Mirror, ...]:
    """The annotated arguments of a tool, from its input schema as it came over the wire.

    Raises ``InvalidAnnotation`` for an annotation that is empty or not an RFC 9110 token; that another one matches but
    for case; on a type other than string, integer or boolean; or that can be reached by other ways than ``properties``
    alone. Not said by the specification and decided here: ``["string", "null"]`` is a string, as null is never sent; a
    property without a ``type`` has none of the three.
    """
    if _MENTION not in to_json(input_schema):  # a fifth of what the walk costs, and almost no schema has any
        return ()
    found: dict[str, Mirror] = {}
    for path, schema in _annotated(input_schema, (), reachable=True):
        place = ".".join(path or ())
        name = schema[ANNOTATION]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidAnnotation(f"{ANNOTATION} {name!r} is not a header name")
        if not path:
            raise InvalidAnnotation(f"{ANNOTATION} {name!r} is not on a plain property")
        if not _is_mirrored_type(schema.get("type")):
            raise InvalidAnnotation(f"{ANNOTATION} {name!r} at {place} is not on a string, an integer or a boolean")
        if name.lower() in found:
            raise InvalidAnnotation(f"{ANNOTATION} {name!r} at {place} is taken")
        found[name.lower()] = Mirror(path, PARAM_PREFIX + name)
    return tuple(found.values())


def _annotated(
    schema: object, path: tuple[str, ...], *, reachable: bool
) -> Iterator[tuple[tuple[str, ...] | None, Mapping[str, object]]]:
    """All annotated schemas with the path to them, which is None where more than ``properties`` leads there."""
    if isinstance(schema, list):
        for item in schema:
            yield from _annotated(item, path, reachable=False)
    if not isinstance(schema, dict):
        return
    if ANNOTATION in schema:
        yield path if reachable else None, schema
    for keyword, value in schema.items():
        if keyword in _DATA:
            continue
        if keyword in _MAPS and isinstance(value, dict):
            for name, item in value.items():
                yield from _annotated(item, (*path, name), reachable=reachable and keyword == "properties")
        else:
            yield from _annotated(value, path, reachable=False)


def _is_mirrored_type(declared: object) -> bool:
    if isinstance(declared, list):
        kinds = [kind for kind in declared if kind != "null"]
        return len(kinds) == 1 and kinds[0] in _TYPES
    return declared in _TYPES


def mirrored(mirrors: Sequence[Mirror], arguments: Mapping[str, object] | None) -> dict[str, str]:
    """The headers for the arguments of one call.

    An argument that is absent or null has no header; nor has one that is neither text, an integer nor a boolean. Raises
    ``LocalProtocolError`` for an integer beyond ``MAX_INTEGER``.
    """
    headers: dict[str, str] = {}
    for mirror in mirrors:
        value: object = arguments
        for key in mirror.path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            raise LocalProtocolError(f"{'.'.join(mirror.path)} is beyond 2^53-1, which {mirror.header} cannot carry")
        if isinstance(value, (str, int)):
            headers[mirror.header] = encode_value(value)
    return headers

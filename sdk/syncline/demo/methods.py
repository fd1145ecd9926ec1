"""What the demo server's methods answer, for params that are an object."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from syncline.demo.offer import (
    COMPLETIONS,
    CONTENTS,
    INSTRUCTIONS,
    JSON,
    PROMPTS,
    RESOURCES,
    RUN,
    TEMPLATES,
    TOOLS,
    Steps,
    failed,
    text,
)

Method: TypeAlias = Callable[[JSON], "JSON | Steps"]

STATELESS = "2026-07-28"
HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
REVISIONS = (STATELESS, *HANDSHAKE)
CAPABILITIES: JSON = {"completions": {}, "logging": {}, "prompts": {}, "resources": {}, "tools": {}}
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
INVALID_PARAMS, RESOURCE_NOT_FOUND = -32602, -32002
PAGE = 3
TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float), "object": (dict,)}


class Refused(Exception):
    """The request is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: JSON | None = None) -> None:
        self.error = {"code": code, "message": message} | ({} if data is None else {"data": data})


def fits(value: object, kind: str) -> bool:
    """Whether a value has a JSON type, by the name that JSON Schema gives it."""
    return isinstance(value, TYPES[kind]) and not isinstance(value, bool)


def field(params: JSON, name: str, kind: str = "string") -> Any:
    """A member that must be there."""
    if not fits(params.get(name), kind):
        raise Refused(INVALID_PARAMS, f"{name} must be of type {kind}")
    return params[name]


def arguments_of(params: JSON) -> JSON:
    """The arguments of a tool or prompt, which may be left out."""
    arguments: JSON = field({"arguments": {}} | params, "arguments", "object")
    return arguments


def log_level(params: JSON, name: str) -> str:
    """A log level."""
    level: str = field(params, name)
    if level not in LEVELS:
        raise Refused(INVALID_PARAMS, f"a log level is one of {', '.join(LEVELS)}")
    return level


def page(key: str, items: Sequence[JSON], params: JSON) -> JSON:
    """One page of a list; a cursor is the number of items before it."""
    starts = {str(start): start for start in range(PAGE, len(items), PAGE)}
    start = starts.get(field(params, "cursor")) if "cursor" in params else 0
    if start is None:
        raise Refused(INVALID_PARAMS, "no such cursor")
    following = str(start + PAGE)
    return {key: items[start : start + PAGE]} | ({"nextCursor": following} if following in starts else {})


def call_tool(params: JSON) -> JSON | Steps:
    """Run a tool; bad arguments are its failure, an unknown name is an error."""
    name, arguments = field(params, "name"), arguments_of(params)
    if name not in RUN:
        raise Refused(INVALID_PARAMS, f"Unknown tool: {name}")
    takes = next(tool["inputSchema"] for tool in TOOLS if tool["name"] == name)
    kinds = {key: rule["type"] for key, rule in takes["properties"].items()}
    faults = [f"{key} is missing" for key in takes["required"] if key not in arguments]
    for key, value in arguments.items():
        if key not in kinds:
            faults.append(f"{key} is not known")
        elif not fits(value, kinds[key]):
            faults.append(f"{key} is not of type {kinds[key]}")
    return failed(f"Bad arguments: {'; '.join(faults)}") if faults else RUN[name](arguments)


def read_resource(params: JSON, missing: int = RESOURCE_NOT_FOUND) -> JSON:
    """The contents of a resource; ``missing`` is the error code when there is none."""
    uri = field(params, "uri")
    if uri not in CONTENTS:
        raise Refused(missing, f"No such resource: {uri}", {"uri": uri})
    return {"contents": [{"uri": uri, **CONTENTS[uri]}]}


def get_prompt(params: JSON) -> JSON:
    """The messages of the one prompt."""
    if field(params, "name") != "brief":
        raise Refused(INVALID_PARAMS, f"Unknown prompt: {params['name']}")
    arguments = arguments_of(params)
    ask = f"How is the weather in {field(arguments, 'city')}?"
    if "tone" in arguments:
        ask += f" Keep it {field(arguments, 'tone')}."
    return {"description": PROMPTS[0]["description"], "messages": [{"role": "user", "content": text(ask)}]}


def complete(params: JSON) -> JSON:
    """The values that a prompt's argument or a template's variable can take."""
    ref, argument = field(params, "ref", "object"), field(params, "argument", "object")
    target = field(ref, "uri" if ref.get("type") == "ref/resource" else "name")
    known = COMPLETIONS.get((field(ref, "type"), target, field(argument, "name")))
    if known is None:
        raise Refused(INVALID_PARAMS, "nothing can be completed there")
    values = [value for value in known if value.lower().startswith(field(argument, "value").lower())]
    return {"completion": {"values": values, "total": len(values), "hasMore": False}}


def discover(_: JSON) -> JSON:
    """What the server is, for the stateless revision."""
    return {"supportedVersions": list(REVISIONS), "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}


COMMON: dict[str, Method] = {
    "tools/list": functools.partial(page, "tools", TOOLS),
    "tools/call": call_tool,
    "resources/list": functools.partial(page, "resources", RESOURCES),
    "resources/templates/list": functools.partial(page, "resourceTemplates", TEMPLATES),
    "resources/read": read_resource,
    "prompts/list": functools.partial(page, "prompts", PROMPTS),
    "prompts/get": get_prompt,
    "completion/complete": complete,
}
STATELESS_METHODS: dict[str, Method] = {
    **COMMON,
    "server/discover": discover,
    "resources/read": functools.partial(read_resource, missing=INVALID_PARAMS),
}
CACHEABLE = {name for name in STATELESS_METHODS if name.endswith(("/list", "/read", "/discover"))}

"""What the demo server's methods answer, for params that are an object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

from syncline.demo.offer import (
    COMPLETIONS,
    CONTENTS,
    INSTRUCTIONS,
    PROMPTS,
    RESOURCES,
    RUN,
    TEMPLATES,
    TOOLS,
    Steps,
)
from syncline.serving import (
    INVALID_PARAMS,
    JSON,
    RESOURCE_NOT_FOUND,
    REVISIONS,
    Refused,
    arguments_of,
    completion,
    failed,
    field,
    fits,
    page,
    text,
)

Method: TypeAlias = Callable[[JSON], "JSON | Steps"]

CAPABILITIES: JSON = {"completions": {}, "logging": {}, "prompts": {}, "resources": {}, "tools": {}}
#: Items on a page, so that there is something to follow.
PAGE = 3


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
    return completion(known, field(argument, "value"))


def discover(_: JSON) -> JSON:
    """What the server is, for the stateless revision."""
    return {"supportedVersions": list(REVISIONS), "capabilities": CAPABILITIES, "instructions": INSTRUCTIONS}


COMMON: dict[str, Method] = {
    "tools/list": functools.partial(page, "tools", TOOLS, size=PAGE),
    "tools/call": call_tool,
    "resources/list": functools.partial(page, "resources", RESOURCES, size=PAGE),
    "resources/templates/list": functools.partial(page, "resourceTemplates", TEMPLATES, size=PAGE),
    "resources/read": read_resource,
    "prompts/list": functools.partial(page, "prompts", PROMPTS, size=PAGE),
    "prompts/get": get_prompt,
    "completion/complete": complete,
}
STATELESS_METHODS: dict[str, Method] = {
    **COMMON,
    "server/discover": discover,
    "resources/read": functools.partial(read_resource, missing=INVALID_PARAMS),
}

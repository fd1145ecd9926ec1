"""From plain functions to what a listing says about them, and from what they return to results."""

from __future__ import annotations

import base64
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union

from syncline.serving import JSON, structured, text

from .call import Call

VAR_POSITIONAL, VAR_KEYWORD = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
#: The annotations that JSON Schema has a word for.
SIMPLE: Mapping[object, JSON] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    list: {"type": "array"},
    dict: {"type": "object"},
    type(None): {"type": "null"},
}


def hints_of(function: Callable[..., object]) -> dict[str, object]:
    """The annotation of each parameter; ``Any`` where it has none, or one that only makes sense where it was written."""
    known = getattr(function, "__globals__", {})
    return {name: _resolved(parameter, known) for name, parameter in inspect.signature(function).parameters.items()}


def _resolved(parameter: inspect.Parameter, known: dict[str, Any]) -> object:
    hint = parameter.annotation
    if isinstance(hint, str):
        try:
            hint = eval(hint, known)
        except NameError:
            return Any
    return Any if hint is inspect.Parameter.empty else hint


def schema_of(function: Callable[..., object]) -> JSON:
    """A JSON Schema for the parameters of a function; what has a default is not required."""
    parameters = inspect.signature(function).parameters
    named = {name for name, parameter in parameters.items() if parameter.kind not in (VAR_POSITIONAL, VAR_KEYWORD)}
    taken = {name: hint for name, hint in hints_of(function).items() if name in named and hint is not Call}
    required = [name for name in taken if parameters[name].default is inspect.Parameter.empty]
    return {"type": "object", "properties": {k: schema(hint) for k, hint in taken.items()}, "required": required}


def schema(hint: Any) -> JSON:
    """A JSON Schema for an annotation; anything goes where the annotation says more than can be told simply."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema(argument) for argument in arguments]}
    if origin is list:
        return {"type": "array", "items": schema(arguments[0])}
    return dict(SIMPLE.get(origin or hint, {}))


def run(function: Callable[..., Any], arguments: Mapping[str, Any], call: Call) -> Any:
    """Call a function with the arguments of a request, and with the request itself where it wants that."""
    extra = {name: call for name, hint in hints_of(function).items() if hint is Call}
    bound = inspect.signature(function).bind(**{**arguments, **extra})
    return function(*bound.args, **bound.kwargs)


def tool_result(value: Any) -> JSON:
    """The result of a tool, from what its function returned; see ``FakeServer.tool``."""
    if hasattr(value, "to_wire"):
        wire: JSON = value.to_wire()
        return wire
    if isinstance(value, dict):
        return value if isinstance(value.get("content"), list) else structured(value)
    if isinstance(value, list) and all(isinstance(part, dict) and "type" in part for part in value):
        return {"content": value}
    if value is None:
        return {"content": []}
    return {"content": [text(value if isinstance(value, str) else json.dumps(value))]}


def contents(uri: str, value: Any, mime_type: str | None) -> JSON:
    """The result of reading a resource: text, bytes, or a whole result."""
    if isinstance(value, dict):
        return value
    about = {"uri": uri} | ({} if mime_type is None else {"mimeType": mime_type})
    if isinstance(value, bytes):
        return {"contents": [{**about, "blob": base64.b64encode(value).decode()}]}
    return {"contents": [{**about, "text": str(value)}]}


def prompt_result(value: Any, description: str | None) -> JSON:
    """The result of a prompt: one text of the user, a list of messages, or a whole result."""
    if isinstance(value, dict):
        return value
    messages = value if isinstance(value, list) else [{"role": "user", "content": text(str(value))}]
    return {"messages": messages} | ({} if description is None else {"description": description})

"""The method table: what each revision's unions of requests and notifications say."""

from __future__ import annotations

from typing import NamedTuple

from .inputs import JsonObject, pointer
from .normalize import LOCAL
from .problems import Problem

#: Union → kind of its members, who sends them.
UNIONS = {
    "ClientRequest": ("request", "client"),
    "ServerRequest": ("request", "server"),
    "InputRequest": ("input", "server"),
    "ClientNotification": ("notification", "client"),
    "ServerNotification": ("notification", "server"),
}
#: Requests whose result is not called after them.
RESULTS: dict[str, str] = {
    "PingRequest": "EmptyResult",
    "SetLevelRequest": "EmptyResult",
    "SubscribeRequest": "EmptyResult",
    "UnsubscribeRequest": "EmptyResult",
}


class Entry(NamedTuple):
    kind: str
    sender: str
    params: str | None
    result: str | None
    asks: bool


def method_table(definitions: JsonObject, file: str) -> dict[str, Entry]:
    """Method → entry, sorted by method, from normalised definitions."""
    table: dict[str, Entry] = {}
    for union, (kind, sender) in UNIONS.items():
        for name in _members(definitions, union):
            members = definitions[name]["properties"]
            method = members["method"]["const"]
            params = members.get("params", {}).get("$ref", "").removeprefix(LOCAL) or None
            result = None if kind == "notification" else _result(definitions, name, file)
            both = method in table and table[method].sender != sender
            asks = "InputRequiredResult" in str(
                definitions.get(f"{result}Response", {}).get("properties", {}).get("result")
            )
            table[method] = Entry(kind, "both" if both else sender, _local(params), result, asks)
    return dict(sorted(table.items()))


def _members(definitions: JsonObject, union: str) -> list[str]:
    node = definitions.get(union, {})
    branches = node.get("anyOf", [node] if "$ref" in node else [])
    return [branch["$ref"].removeprefix(LOCAL) for branch in branches if branch["$ref"].startswith(LOCAL)]


def _local(params: str | None) -> str | None:
    """The class name, also of params that another file defines."""
    return params.rpartition("/")[2] if params else None


def _result(definitions: JsonObject, request: str, file: str) -> str:
    result = RESULTS.get(request, request.removesuffix("Request") + "Result")
    if result not in definitions:
        raise Problem(
            file, pointer("$defs", request), f"its result is not called {result}; see tools/codegen/methods.py"
        )
    return result

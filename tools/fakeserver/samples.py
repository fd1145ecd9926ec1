"""A catalogue with a bit of everything: what the tests of a client want to see at the other end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from .catalogue import ALL, Call, Catalogue, Json, object_schema, text

STRING, INTEGER, NUMBER, BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def sample_catalogue(versions: Sequence[str] = ALL, *, page_size: int = 50, tools: int = 0) -> Catalogue:
    """The sample catalogue, with so many more tools that only fill the listing."""
    catalogue = Catalogue(versions, page_size=page_size, instructions="A server for tests.")
    _add_tools(catalogue)
    for number in range(tools):
        catalogue.tool(f"filler_{number:05}", _echo, **_filler(number))
    catalogue.resource("memo://greeting", {"text": "hello", "mimeType": "text/plain"}, title="A greeting")
    catalogue.resource("memo://pixel", {"blob": PIXEL, "mimeType": "image/png"})
    for number in range(3):
        catalogue.resource(f"memo://numbers/{number}", {"text": str(number)})
    catalogue.templates.append({"uriTemplate": "user://{name}", "name": "user"})
    arguments = [{"name": "topic", "description": "What about.", "required": True}, {"name": "tone"}]
    catalogue.prompt("brief", _brief, description="A short text.", arguments=arguments)
    catalogue.completions = ["amber", "amethyst", "azure", "beige"]
    return catalogue


def _add_tools(catalogue: Catalogue) -> None:
    tool = catalogue.tool
    tool("echo", _echo, description="The text again.", inputSchema=object_schema({"text": STRING}, ["text"]))
    numbers = object_schema({"a": NUMBER, "b": NUMBER}, ["a", "b"])
    tool("add", _add, inputSchema=numbers, outputSchema=object_schema({"sum": NUMBER}, ["sum"]))
    tool("fail", lambda call: text(str(call.arguments.get("message", "it failed")), error=True))
    tool("big", _big, inputSchema=object_schema({"size": INTEGER}, ["size"]))
    tool("slow", _slow, inputSchema=object_schema({"seconds": NUMBER, "gate": STRING, "text": STRING}))
    tool("progress", _progress, inputSchema=object_schema({"n": INTEGER, "pause": NUMBER}, ["n"]))
    tool("chatty", _chatty, inputSchema=object_schema({"n": INTEGER}, ["n"]))
    tool("mixed", lambda _: {"content": _every_kind()})
    tool("wrong_output", lambda _: text("no") | {"structuredContent": {"sum": "three"}},
         outputSchema=object_schema({"sum": NUMBER}, ["sum"]))  # fmt: skip
    routed = {
        "region": STRING | {"x-mcp-header": "Region"},
        "limit": INTEGER | {"x-mcp-header": "Limit"},
        "dry": BOOLEAN | {"x-mcp-header": "Dry"},
        "query": STRING,
    }
    tool("routed", lambda call: text(repr(sorted(call.arguments.items()))), inputSchema=object_schema(routed))


def _echo(call: Call) -> object:
    return text(str(call.arguments.get("text", "")))


def _add(call: Call) -> object:
    total = call.arguments["a"] + call.arguments["b"]
    return text(str(total)) | {"structuredContent": {"sum": total}}


def _big(call: Call) -> object:
    line = 'The quick brown fox jumps over the lazy dog, "quoted".\n'
    size = int(call.arguments["size"])
    return text((line * (size // len(line) + 1))[:size])


def _slow(call: Call) -> object:
    """Answer after so many seconds, or once the file named by `gate` exists."""
    gate = Path(call.arguments["gate"]) if "gate" in call.arguments else None
    end = time.monotonic() + call.arguments.get("seconds", 0)

    def opened(seconds: float) -> bool:
        if gate.exists() if gate else time.monotonic() >= end:
            return True
        time.sleep(seconds)
        return False

    call.wait(opened, 120)
    return text(str(call.arguments.get("text", "done")))


def _progress(call: Call) -> object:
    count = int(call.arguments["n"])
    for step in range(1, count + 1):
        if pause := call.arguments.get("pause"):
            time.sleep(pause)
        call.progress(step, count, f"step {step}")
    return text(f"{count} steps")


def _chatty(call: Call) -> object:
    for number in range(int(call.arguments["n"])):
        call.log("info", {"number": number})
    return text("said it")


def _every_kind() -> list[Json]:
    return [
        {"type": "text", "text": "see below", "annotations": {"audience": ["user"], "priority": 0.5}},
        {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "memo://greeting", "name": "greeting"},
        {"type": "resource", "resource": {"uri": "memo://greeting", "text": "hello"}},
    ]


def _brief(arguments: Json) -> Json:
    words = f"Write about {arguments.get('topic')} in a {arguments.get('tone', 'plain')} tone."
    return {"description": "A short text.", "messages": [{"role": "user", "content": {"type": "text", "text": words}}]}


def _filler(number: int) -> Json:
    """A definition of the size that real servers have, about 1 kB."""
    properties = {
        f"field_{letter}": {"type": "string", "description": f"Field {letter} of record {number}; free text, trimmed."}
        for letter in "abcdefgh"
    }
    return {"description": f"Looks up record {number} and its neighbours.", "inputSchema": object_schema(properties)}

"""A server written with the official Python SDK: `sdk_server.py stdio`, `sdk_server.py http PORT [json]`, or `sdk_server.py sse PORT`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import Completion
from pydantic import BaseModel

server = MCPServer("sdk", instructions="Ask for the weather.", version="1.0", log_level="ERROR")
CITIES = ["Oslo", "Osaka", "Lima"]


class Forecast(BaseModel):
    """What `forecast` answers."""

    city: str
    degrees: float


@server.tool()
def echo(text: str) -> str:
    """Give the text back."""
    return text


@server.tool()
def forecast(city: str) -> Forecast:
    """The weather as structured content."""
    return Forecast(city=city, degrees=-3.5)


@server.tool(structured_output=False)
def large(size: int) -> str:
    """A text of that many characters."""
    return "x" * size


@server.tool()
def fail(reason: str) -> str:
    """Fail as a tool does."""
    raise ToolError(reason)


@server.tool(structured_output=False)
async def count(to: int, ctx: Context[Any, Any]) -> str:
    """Count, reporting each step."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to, f"step {step}")
    return f"counted to {to}"


@server.tool(structured_output=False)
async def count_in_parts(to: int, ctx: Context[Any, Any]) -> str:
    """Count, hanging up after each step; the client is to come back for the rest."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to)
        await ctx.close_sse_stream()
        await asyncio.sleep(0.05)
    return f"counted to {to}"


@server.resource("weather://cities", mime_type="text/plain")
def cities() -> str:
    """The cities, one a line."""
    return "\n".join(CITIES)


@server.resource("weather://icon", mime_type="image/png")
def icon() -> bytes:
    """Some bytes."""
    return bytes(range(256))


@server.resource("weather://{city}/now", mime_type="text/plain")
def now(city: str) -> str:
    """The weather of one city."""
    return f"{city}: snow"


@server.prompt()
def brief(tone: str) -> str:
    """Ask for a brief."""
    return f"Tell me about the weather, in a {tone} tone."


async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    """Complete cities and tones by prefix."""
    values = CITIES if argument.name == "city" else ["dry", "warm"]
    return Completion(values=[value for value in values if value.startswith(argument.value)])


cast("Any", server).completion()(complete)  # a decorator without types


class Events(EventStore):
    """Keeps every event, for clients that come back for what they have missed."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        """Keep an event; its place is its id."""
        self.kept.append((stream_id, message))
        return str(len(self.kept) - 1)

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came after an event on its stream."""
        last = int(last_event_id)
        stream = self.kept[last][0]
        for place, (of, message) in enumerate(self.kept):
            if place > last and of == stream and message is not None:
                await send_callback(EventMessage(message, str(place)))
        return stream


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio")
    elif sys.argv[1] == "sse":
        server.run("sse", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run(
            "streamable-http",
            host="127.0.0.1",
            port=int(sys.argv[2]),
            json_response="json" in sys.argv[3:],
            event_store=Events(),
            retry_interval=10,
        )

"""The server that the documentation talks to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from syncline.testing import Call, FakeServer
from syncline.testing.faults import dropping, failing

TRAVEL = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "default": 2}},
    "required": ["city"],
}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Write."}}], "maxTokens": 100}


def example_server() -> FakeServer:
    """Everything that an example asks for."""
    server = FakeServer("weather")
    paid: list[int] = []

    @server.tool
    def forecast(city: str) -> dict[str, Any]:
        return {"city": city, "degrees": -3}

    @server.tool
    def import_rows(call: Call, file: str) -> str:
        call.progress(1, 2, file)
        return "2 rows"

    @server.tool
    def slow(call: Call) -> None:
        call.sleep(None)

    @server.tool
    def busy(call: Call) -> None:
        failing(-32000, "later", None, 429, {"Retry-After": "3600"})(call)

    @server.tool
    def pay(call: Call, amount: int) -> None:
        paid.append(amount)
        dropping(call)

    @server.tool
    def payments() -> dict[str, Any]:
        return {"amounts": paid}

    @server.tool
    def travel(call: Call) -> str:
        answer = call.elicit("Where to?", TRAVEL)
        return f"{answer['action']}: {_words(answer.get('content') or {})}"

    @server.tool
    def write(call: Call) -> str:
        text: str = call.ask("sampling/createMessage", SAMPLE)["content"]["text"]
        return text

    @server.tool
    def folders(call: Call) -> str:
        uri: str = call.ask("roots/list", {})["roots"][0]["uri"]
        return uri

    @server.tool(task=True)
    def build(call: Call, target: str) -> str:
        if target == "ask":
            call.elicit("Which region?", {"type": "object", "properties": {"region": {"type": "string"}}})
        if target == "forever":
            call.sleep(None)
        return "built"

    server.resource("file:///report.md", "# Report")
    server.event("incident.created")

    @server.prompt
    def summary(tone: str) -> str:
        return f"Sum it up. Keep it {tone}."

    return server


def _words(content: Mapping[str, Any]) -> str:
    return f"{content.get('city')}, {content.get('days')} days"

"""What the demo server offers: its tools, resources and prompts, as data and plain functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

from syncline.serving import JSON, failed, structured, text

#: What a tool that takes its time does: it yields seconds to wait or a notification to send, and returns its result.
Steps: TypeAlias = Generator["float | tuple[str, JSON]", None, JSON]
Run: TypeAlias = Callable[[JSON], "JSON | Steps"]

ABOUT = {"name": "syncline-demo", "title": "Syncline demo", "version": "1.0"}
INSTRUCTIONS = "Harmless things to try: add numbers, watch a countdown, ask for the weather of three cities."
WEATHER = {"Lima": (19, "fog"), "Osaka": (24, "sun"), "Oslo": (-3, "snow")}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP438AAAAQBAYD718vxAAAAAElFTkSuQmCC"


def log(level: str, data: str) -> tuple[str, JSON]:
    """A log notification."""
    return "notifications/message", {"level": level, "logger": "demo", "data": data}


# The tools: the docstring is the description that clients see.


def add(arguments: JSON) -> JSON:
    """Add the numbers `a` and `b`."""
    try:
        return structured({"sum": arguments["a"] + arguments["b"]})
    except (ArithmeticError, ValueError):
        return failed("the sum is more than JSON can carry")


def countdown(arguments: JSON) -> Steps:
    """Count down from `start` (5), waiting `delay` seconds (0.1) before each step, and report progress."""
    start, delay = arguments.get("start", 5), min(max(0.0, arguments.get("delay", 0.1)), 60.0)
    yield log("info", f"counting down from {start}")
    for done in range(1, start + 1):
        yield float(delay)
        yield "notifications/progress", {"progress": done, "total": start, "message": f"{start - done} to go"}
    return {"content": [text("lift-off")]}


def fail(arguments: JSON) -> Steps:
    """Fail, for the `reason` given."""
    reason = arguments.get("reason", "it was asked to")
    yield log("error", reason)
    return failed(f"The tool failed: {reason}")


def forecast(arguments: JSON) -> JSON:
    """The weather in a `city`: Lima, Osaka or Oslo."""
    city = arguments["city"]
    if city not in WEATHER:
        return failed(f"No forecast for {city}; there is one for {', '.join(WEATHER)}")
    degrees, sky = WEATHER[city]
    return structured({"city": city, "degrees": degrees, "sky": sky})


def shape(*required: str, **properties: str) -> JSON:
    """A JSON Schema: an object with properties of simple types."""
    return {"type": "object", "properties": {k: {"type": v} for k, v in properties.items()}, "required": list(required)}


def describe(run: Run, takes: JSON, **more: Any) -> JSON:
    """A tool as ``tools/list`` shows it."""
    return {"name": run.__name__, "description": run.__doc__, "inputSchema": takes, **more}


READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}
RUN: dict[str, Run] = {run.__name__: run for run in (add, countdown, fail, forecast)}
TOOLS = [
    describe(
        add,
        shape("a", "b", a="number", b="number"),
        title="Addition",
        outputSchema=shape("sum", sum="number"),
        annotations=READ_ONLY,
    ),
    describe(countdown, shape(start="integer", delay="number")),
    describe(fail, shape(reason="string")),
    describe(
        forecast,
        shape("city", city="string"),
        outputSchema=shape("city", "degrees", "sky", city="string", degrees="integer", sky="string"),
        annotations=READ_ONLY,
    ),
]
RESOURCES = [
    {"uri": "demo://greeting", "name": "greeting", "title": "A greeting", "mimeType": "text/plain"},
    {"uri": "demo://pixel", "name": "pixel", "title": "One orange pixel", "mimeType": "image/png"},
]
FORECASTS = "demo://forecast/"
TEMPLATES = [{"uriTemplate": FORECASTS + "{city}", "name": "forecast", "mimeType": "application/json"}]
CONTENTS: dict[str, JSON] = {
    "demo://greeting": {"mimeType": "text/plain", "text": "Hello from the demo server."},
    "demo://pixel": {"mimeType": "image/png", "blob": PIXEL},
    **{
        FORECASTS + city: {"mimeType": "application/json", "text": json.dumps({"degrees": degrees, "sky": sky})}
        for city, (degrees, sky) in WEATHER.items()
    },
}
PROMPTS = [
    {
        "name": "brief",
        "title": "Weather brief",
        "description": "Ask for a short weather report.",
        "arguments": [
            {"name": "city", "description": "Which city", "required": True},
            {"name": "tone", "description": "How it should sound"},
        ],
    }
]
#: (kind of reference, its name or URI, argument) → values
COMPLETIONS: dict[tuple[str, str, str], Sequence[str]] = {
    ("ref/prompt", "brief", "city"): list(WEATHER),
    ("ref/prompt", "brief", "tone"): ["cheerful", "dry", "solemn"],
    ("ref/resource", FORECASTS + "{city}", "city"): list(WEATHER),
}

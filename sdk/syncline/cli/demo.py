"""``demo``: a first walk, against the server inside the package."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from syncline.cli import show
from syncline.cli.options import Options, command

if TYPE_CHECKING:
    from syncline import Client


@dataclass(frozen=True)
class Step:
    """One step: what it shows, the Python that does the same, and how to do it."""

    title: str
    python: str
    run: Callable[[Client], Any]


def about(client: Client) -> dict[str, Any]:
    """What the server said of itself."""
    info = client.server_info
    return {"server": info.name, "protocolVersion": client.protocol_version}


def count_down(client: Client) -> str:
    """A call that reports progress."""
    reports: list[float] = []
    with show.ProgressBar() as bar:

        def follow(progress: float, total: float | None, message: str | None) -> None:
            reports.append(progress)
            bar(progress, total, message)

        result = client.call_tool("countdown", {"start": 5, "delay": 0.2}, on_progress=follow)
    result.raise_for_error()
    return f"{result.text}, after {len(reports)} reports"


STEPS = [
    Step(
        "Start a server as a child process and agree on a protocol revision",
        'client = syncline.connect([sys.executable, "-m", "syncline.demo"])',
        about,
    ),
    Step("List its tools", "client.list_tools()", lambda client: [tool.name for tool in client.list_tools()]),
    Step(
        "Call one; its result is structured, and checked against the schema that the tool declares",
        'client.call_tool("forecast", {"city": "Oslo"}).structured_content',
        lambda client: client.call_tool("forecast", {"city": "Oslo"}).structured_content,
    ),
    Step(
        "Read a resource",
        'client.read_resource("demo://greeting").text',
        lambda client: client.read_resource("demo://greeting").text,
    ),
    Step(
        "Call a tool that takes its time and reports progress",
        'client.call_tool("countdown", {"start": 5, "delay": 0.2}, on_progress=print)',
        count_down,
    ),
]


def demo(*, options: Options) -> None:
    """See it work, without a network.

    Connects to the server inside the package, lists its tools, calls one, reads a resource, and shows for each step the
    Python that does the same.
    """
    done: list[dict[str, Any]] = []
    tell: Callable[[str], None] = (lambda _: None) if options.json else show.line
    start = time.perf_counter()
    with options.connect("demo") as client:
        for number, step in enumerate(STEPS, 1):
            tell(f"{number}. {step.title}\n   >>> {step.python}")
            result = step.run(client)
            seconds, start = time.perf_counter() - start, time.perf_counter()
            tell(f"   {result}  ({seconds * 1000:.0f} ms)\n")
            done.append({"title": step.title, "python": step.python, "result": result, "seconds": round(seconds, 4)})
    tell("The connection is closed and the server has ended. Next: syncline tools demo, syncline doctor SERVER.")
    if options.json:
        show.document({"ok": True, "steps": done})


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, demo, "syncline demo")

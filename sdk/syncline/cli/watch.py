"""``watch``."""

from __future__ import annotations

from typing import Annotated

import typer

from syncline.cli import show
from syncline.cli.options import Options, Server, command
from syncline.config import StdioServer

#: Seconds between two looks at how the stream does, while nothing changes.
LOOK = 0.5


def watch(
    server: Server,
    tools: Annotated[bool, typer.Option("--tools", help="Changes of the list of tools.")] = False,
    prompts: Annotated[bool, typer.Option("--prompts", help="Changes of the list of prompts.")] = False,
    resource_list: Annotated[bool, typer.Option("--resource-list", help="Changes of the list of resources.")] = False,
    resources: Annotated[
        list[str] | None,
        typer.Option("--resources", metavar="URI", help="Changes of this resource; repeatable.", show_default=False),
    ] = None,
    *,
    options: Options,
) -> None:
    """Tell of changes as they happen, one JSON object a line.

    Without a choice, of all three lists. A stream that breaks off is made again, and "resubscribed" says that something may
    have been missed. How the stream does is told on standard error. Ends with Ctrl-C, or with the program that is watched.
    """
    everything = not (tools or prompts or resource_list or resources)
    is_program = isinstance(options.target(server), StdioServer)
    with (
        options.connect(server) as client,
        client.subscribe(
            tools=tools or everything,
            prompts=prompts or everything,
            resource_list=resource_list or everything,
            resources=resources or (),
        ) as changes,
    ):
        told = None
        while True:
            change = changes.get(LOOK)
            if told != (told := changes.state):
                show.state(told, changes.last_error if told == "reconnecting" else None)
            if change is not None and change.kind == "resubscribed":
                show.state("resubscribed", changes.last_error)
            if change is not None:
                show.item({"kind": change.kind} | ({} if change.uri is None else {"uri": change.uri}))
            elif changes.state == "closed":
                return
            elif is_program and client.is_closed:  # nobody starts it again
                client.request("tools/list")  # raises what became of it


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(
        app,
        watch,
        "syncline watch https://weather.example/mcp",
        'syncline watch "uvx weather-server" --resources weather://oslo --resources weather://rome',
    )

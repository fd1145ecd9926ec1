"""``prompts`` and ``prompt``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from syncline.cli import arguments, show
from syncline.cli.options import Options, Server, command


def prompts(server: Server, *, options: Options) -> None:
    """List the prompts of a server."""
    with options.connect(server) as client:
        found = [prompt.to_wire() for prompt in client.list_prompts()]
    if options.json:
        show.document({"prompts": found})
    else:
        show.table(
            ("PROMPT", "ARGUMENTS", "DESCRIPTION"),
            ((prompt["name"], signature(prompt), prompt.get("description") or "") for prompt in found),
        )


def signature(prompt: Mapping[str, Any]) -> str:
    """The arguments of a prompt, optional ones in brackets."""
    takes = prompt.get("arguments") or ()
    return " ".join(item["name"] if item.get("required") else f"[{item['name']}]" for item in takes)


def prompt(
    server: Server,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which prompt.")],
    pairs: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Its arguments, which are text.", show_default=False),
    ] = None,
    *,
    options: Options,
) -> None:
    """Get the messages of a prompt."""
    given = arguments.parse(pairs or ())
    with options.connect(server, show.asker()) as client:
        result = client.get_prompt(name, given).to_wire()
    if options.json:
        show.document(result)
        return
    for message in result["messages"]:
        show.line(f"{message['role']}: {show.part(message['content'])}")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, prompts, "syncline prompts demo")
    command(app, prompt, "syncline prompt demo brief city=Oslo tone=dry")

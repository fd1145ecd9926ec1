"""``tools`` and ``call``."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syncline.cli import arguments, failures, show
from syncline.cli.options import Options, Server, command
from syncline.errors import InvalidParams, SynclineError, ToolError

if TYPE_CHECKING:
    from syncline import Client


def tools(server: Server, *, options: Options) -> None:
    """List the tools of a server."""
    with options.connect(server) as client:
        found = [tool.to_wire() for tool in client.list_tools()]
    if options.json:
        show.document({"tools": found})
    else:
        show.table(
            ("TOOL", "ARGUMENTS", "DESCRIPTION"),
            ((tool["name"], signature(tool["inputSchema"]), tool.get("description") or "") for tool in found),
        )


def signature(schema: Mapping[str, Any]) -> str:
    """The properties of an input schema, optional ones in brackets."""
    required, properties = schema.get("required"), schema.get("properties")
    needed = required if isinstance(required, list) else []
    return " ".join(name if name in needed else f"[{name}]" for name in properties or ())


def call(
    server: Server,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="Its name.")],
    pairs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KEY=VALUE", help="Its arguments: key=value is text, key:=json is any JSON.", show_default=False
        ),
    ] = None,
    args_json: Annotated[
        str | None,
        typer.Option(metavar="OBJECT", help="All arguments as one JSON object; - reads it from standard input."),
    ] = None,
    *,
    options: Options,
) -> None:
    """Call a tool. Exit status 5 when the tool reports a failure."""
    base = None
    if args_json is not None:
        base = arguments.load_object(sys.stdin.read() if args_json == "-" else args_json, "--args-json")
    given = arguments.parse(pairs or (), base)
    bar = show.ProgressBar()
    with options.connect(server, bar.asker()) as client:
        try:
            with bar:
                result = client.call_tool(tool, given, on_progress=bar)
        except InvalidParams as error:
            raise failures.Explained(error, hint=advice(client, tool, given)) from error
        hint = advice(client, tool, given) if result.is_error else None
    if options.json:
        show.document(result.to_wire())
    else:
        show_result(result.to_wire())
    if result.is_error:
        raise failures.Explained(ToolError(result), hint=hint, shown=() if options.json else ("message",))


def show_result(result: Mapping[str, Any]) -> None:
    """The content of a result, or what is structured where there is no content."""
    for block in result.get("content") or ():
        show.line(show.part(block))
    if not result.get("content") and "structuredContent" in result:
        show.document(result["structuredContent"])


def advice(client: Client, name: str, given: Mapping[str, Any]) -> str | None:
    """What may have been meant, from the tools that the server lists."""
    schemas: dict[str, Mapping[str, Any]] = {}
    with contextlib.suppress(SynclineError):
        schemas = {tool.name: tool.input_schema for tool in client.list_tools()}
    if name in schemas:
        wrong = arguments.mistyped(given, schemas[name])
        written = ", ".join(f"{key}:=({kind})" for key, kind in wrong.items())
        return f"key=value is text; for other types write {written}" if wrong else None
    near = difflib.get_close_matches(name, schemas, cutoff=0.5) or list(schemas)[:10]
    return f"the server has {', '.join(near)}" if near else None


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, tools, "syncline tools demo", "syncline tools https://weather.example/mcp --json")
    command(
        app,
        call,
        "syncline call demo forecast city=Oslo",
        "syncline call demo add a:=2 b:=3 --json",
        'echo \'{"a": 2, "b": 3}\' | syncline call demo add --args-json -',
    )

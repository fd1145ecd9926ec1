"""``events list``, ``events poll`` and ``events stream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from syncline.cli import arguments, show
from syncline.cli.options import Options, Server, command, command_group
from syncline.errors import ServerExited
from syncline.protocol.revisions import META

if TYPE_CHECKING:
    from syncline.protocol.occurrences import StreamItem

Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="Which event type.")]
Pairs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="What of it: key=value is text, key:=json any JSON.", show_default=False),
]
Cursor: TypeAlias = Annotated[
    str | None, typer.Option(metavar="CURSOR", help="Where to go on; by default now.", show_default=False)
]

#: What a poll says besides events.
POSITION = ("cursor", "hasMore", "truncated", "nextPollMs")


def list_(server: Server, *, options: Options) -> None:
    """List the event types of a server."""
    with options.connect(server) as client:
        found = [entry.to_wire() for entry in client.events.list()]
    if options.json:
        show.document({"events": found})
    else:
        show.table(
            ("EVENT", "DELIVERY", "DESCRIPTION"),
            ((entry["name"], " ".join(entry["delivery"]), entry.get("description") or "") for entry in found),
        )


def poll(
    server: Server,
    name: Name,
    pairs: Pairs = None,
    cursor: Cursor = None,
    max_events: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="No more than this.", min=1, show_default=False)
    ] = None,
    *,
    options: Options,
) -> None:
    """Ask once what has happened since a cursor, one JSON object a line.

    The last line, of the kind "position", has the cursor for the next time. Without a cursor there is only that line.
    """
    given = arguments.parse(pairs or ())
    with options.connect(server) as client:
        found = client.events.poll(name, given, cursor, max_events=max_events).to_wire()
    if options.json:
        show.document(found)
        return
    for event in found["events"]:
        show.item({"kind": "event", **event})
    show.item({"kind": "position"} | {key: found[key] for key in POSITION if key in found})


def stream(
    server: Server,
    name: Name,
    pairs: Pairs = None,
    cursor: Cursor = None,
    cursors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Remember there what has been printed, and go on from it.", show_default=False
        ),
    ] = None,
    delivery: Annotated[
        Literal["push", "poll"] | None, typer.Option(help="In no other way than this.", show_default=False)
    ] = None,
    *,
    options: Options,
) -> None:
    """Print events as they happen, one JSON object a line.

    Events are pushed where the server does that, else polled for. A stream that breaks off goes on where it stood; "gap" says
    that something may have been missed. How the stream does is told on standard error. Ends with Ctrl-C, or with the server
    where that is a command.
    """
    from syncline.streams.cursors import SqliteCursors

    given = arguments.parse(pairs or ())
    store = None if cursors is None else SqliteCursors(cursors)
    with (
        options.connect(server) as client,
        client.events.subscribe(name, given, delivery, cursor, cursors=store) as items,
    ):
        for item in items:
            tell(item)
            items.ack(item)
            if item.kind == "state" and isinstance(item.error, ServerExited):
                raise item.error  # nobody starts it again


def tell(item: StreamItem) -> None:
    """Events and gaps to standard output, all else to standard error."""
    if item.kind == "event":
        meta = {key: value for key, value in item.meta.items() if not key.startswith(META)}
        about: dict[str, Any] = {"eventId": item.event_id, "name": item.name, "timestamp": item.timestamp}
        show.item(
            {"kind": "event", **about, "data": item.data}
            | ({} if item.cursor is None else {"cursor": item.cursor})
            | ({"_meta": meta} if meta else {})
        )
    elif item.kind == "gap":
        show.item({"kind": "gap"} | ({} if item.cursor is None else {"cursor": item.cursor}))
    else:
        show.state("error" if item.kind == "error" else item.state, item.error)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = command_group("Events that a server offers.")
    command(group, list_, "syncline events list https://desk.example/mcp")
    command(group, poll, "syncline events poll https://desk.example/mcp incident.created severity=P1 --cursor c7")
    command(
        group,
        stream,
        "syncline events stream https://desk.example/mcp incident.created severity=P1 --cursors seen.db",
        "syncline events stream https://desk.example/mcp incident.created | jq .data",
    )
    app.add_typer(group, name="events")

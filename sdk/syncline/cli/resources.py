"""``resources`` and ``read``."""

from __future__ import annotations

import base64
import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from syncline.cli import show
from syncline.cli.options import Options, Server, command
from syncline.errors import ConfigError, MethodNotFound, RemoteProtocolError


def resources(server: Server, *, options: Options) -> None:
    """List the resources of a server, and its templates."""
    templates: list[dict[str, Any]] = []
    with options.connect(server) as client:
        found = [resource.to_wire() for resource in client.list_resources()]
        with contextlib.suppress(MethodNotFound):  # many servers have resources and know nothing of templates
            templates = [template.to_wire() for template in client.list_resource_templates()]
    if options.json:
        show.document({"resources": found, "resourceTemplates": templates})
    else:
        show.table(
            ("URI", "TYPE", "NAME", "DESCRIPTION"),
            (
                (item.get("uri") or item["uriTemplate"], item.get("mimeType") or "", *names(item))
                for item in (*found, *templates)
            ),
        )


def names(item: Mapping[str, Any]) -> tuple[str, str]:
    """The name to show, and the description."""
    return item.get("title") or item["name"], item.get("description") or ""


def read(
    server: Server,
    uri: Annotated[str, typer.Argument(metavar="URI", help="Which resource.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to a file.", show_default=False)
    ] = None,
    *,
    options: Options,
) -> None:
    """Read a resource.

    Text comes as it is, binary data as raw bytes; on a terminal those are only described.
    """
    with options.connect(server, show.asker()) as client:
        result = client.read_resource(uri).to_wire()
    parts = result["contents"]
    if output is not None:
        try:
            output.write_bytes(b"".join(map(raw, parts)))
        except OSError as error:
            raise ConfigError(f"--output: {error}") from error
    if options.json:
        show.document(result)
    elif output is None and sys.stdout.isatty():
        for part in parts:
            show.line(show.part(part))
        if any("blob" in part for part in parts):
            typer.echo("--output FILE saves binary data", err=True)
    elif output is None:
        sys.stdout.buffer.write(b"".join(map(raw, parts)))
        sys.stdout.buffer.flush()


def raw(part: Mapping[str, Any]) -> bytes:
    """The bytes of one part of a resource."""
    if "blob" not in part:
        return str(part.get("text", "")).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(part["blob"])
    except ValueError as error:
        raise RemoteProtocolError(f"the blob of {part.get('uri')} is not Base64: {error}") from error


def register(app: typer.Typer) -> None:
    """Add the commands."""
    command(app, resources, "syncline resources demo", "syncline resources https://weather.example/mcp --json")
    command(app, read, "syncline read demo demo://greeting", "syncline read demo demo://pixel --output pixel.png")

"""The program: its groups of commands, and how it runs one."""

from __future__ import annotations

import contextlib
import io
import logging
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import syncline
from syncline.cli import auth, demo, doctor, events, failures, prompts, resources, servers, tools, watch
from syncline.cli.options import help_without_command, with_examples

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for group in (demo, tools, resources, prompts, watch, events, servers, auth, doctor):
    group.register(app)


@app.callback(
    invoke_without_command=True,
    help=with_examples(
        "Talk to MCP servers.",
        [
            "syncline demo",
            "syncline tools https://weather.example/mcp",
            "syncline auth login https://notes.example/mcp",
            "syncline servers list",
            'syncline call "uvx weather-server" forecast city=Oslo days:=3',
        ],
    ),
)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """What happens before a command, or without one."""
    if version:
        typer.echo(f"syncline {syncline.__version__}")
        raise typer.Exit
    help_without_command(context)


def _ended(number: int, _: object) -> None:
    """SIGTERM, as from ``timeout``: end as any program does, so that no server is left behind."""
    raise SystemExit(128 + number)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; see ``syncline.cli.main``."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # what it cannot hold is no reason to show nothing
        sys.stdout.reconfigure(errors="backslashreplace")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    command = typer.main.get_command(app)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with contextlib.suppress(ValueError):  # not in the main thread: the program is somebody else's
            signal.signal(signal.SIGTERM, _ended)
        status: int | None = command.main(arguments, prog_name="syncline", standalone_mode=False)
    except failures.UsageError as error:
        return failures.report(error)
    finally:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGTERM, before)
    return status or 0

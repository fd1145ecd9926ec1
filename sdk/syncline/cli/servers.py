"""``servers``: those of the configuration files, and the project's own file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Collection
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syncline.cli import failures, show
from syncline.cli.meaning import answer, written_out
from syncline.cli.options import Options, command, command_group, secrets_of, stored_logins, url_of
from syncline.config import HttpServer, StdioServer, Timeouts, as_server
from syncline.errors import ConfigError, NotReady, SynclineError

if TYPE_CHECKING:
    from syncline import ConnectionManager, LoadedConfig, StartupEvent, StartupSummary
    from syncline.cli.board import Board, Row
    from syncline.manager.configfiles import Origin

#: Seconds between two drawings of a table in which nothing happens but that time passes.
TICK = 0.1
#: Events that may wait to be shown: more than there are.
EVENTS = sys.maxsize
#: What people see where there are no servers.
NONE = "no servers are configured; syncline servers add NAME SERVER adds one"


def list_(*, options: Options) -> None:
    """List the configured servers, and where each comes from. Starts and reaches none of them."""
    from syncline.manager.configfiles import load_config

    config = load_config(options.config)
    if options.json:
        show.document(
            {
                "servers": [
                    {"name": name, **_about(server), "enabled": server.enabled, "required": server.required}
                    | {"configured": vars(config.origins[name])}
                    for name, server in config.servers.items()
                ],
                "leftOut": [
                    {"name": each.server, "reason": each.reason, "configured": vars(each.origin)}
                    for each in config.skipped
                ],
                "unknown": [
                    {"name": each.server, "key": each.key, "configured": vars(each.origin)} for each in config.unknown
                ],
                "files": list(config.files),
            }
        )
        return
    there = [
        (name, "enabled" if server.enabled else "disabled", server.name, _place(config.origins[name]))
        for name, server in config.servers.items()
    ]
    first = {each.server: each for each in reversed(config.skipped)}
    there += [(name, "left out", first[name].reason, _place(first[name].origin)) for name in config.errors]
    show.table(("SERVER", "STATE", "ABOUT", "FROM"), there, empty=NONE)
    for skipped in config.skipped:
        if skipped.server is None:
            show.note(f"left out: {skipped.error}")
    for key in config.unknown:
        show.note(str(key))


def status(*, options: Options) -> None:
    """Start all configured servers, and tell how each is doing. Exit status 4 when one of them cannot be used.

    Runs the programs that the files name. On a terminal the table is there at once and changes while they start.
    """
    import syncline
    from syncline.cli.board import COLUMNS, Board
    from syncline.concurrency.mailbox import Mailbox

    config = _to_start(options)
    news: Mailbox[StartupEvent | StartupSummary] = Mailbox(EVENTS, EVENTS)
    servers = syncline.ConnectionManager(
        config,
        on_startup=news.put,
        reconnect=None,
        watch=False,
        timeout=options.timeout,
        auth=stored_logins(),
        **options.shared(),
    )
    secrets = secrets_of(*config.servers.values())
    board = Board(config.servers, servers.status(), secrets)
    live = bool(board.by_name) and sys.stdout.isatty() and not options.json
    with servers:
        with show.live_table(COLUMNS, board.rows) if live else nullcontext(_nothing) as draw:
            _follow(news.take, servers, config, board, draw)
            board.look(servers.status())
            draw()
        page = [_row(name, row, servers, config, options, secrets) for name, row in board.by_name.items()]
    if options.json:
        show.document({"ok": not board.failed, "servers": page})
    elif not live:
        show.table(COLUMNS, board.rows(), empty=NONE)
    if board.failed:
        text = f"{len(board.failed)} of {len(page)} servers cannot be used: {', '.join(board.failed)}"
        hint = "syncline doctor NAME examines one of them"
        raise failures.Explained(NotReady(text), hint=hint, shown=("message", "hint") if options.json else ())


def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it.")],
    words: Annotated[
        list[str],
        typer.Argument(metavar="SERVER", help="A URL, a command, or demo. Put -- before a command's options."),
    ],
    *,
    options: Options,
) -> None:
    """Put a server into the project's own mcp.json.

    Or into --config FILE. --header, --env, --bearer-env and --timeout go into the file, as they are: ${NAME} stands for an environment variable when
    the file is read.
    """
    from syncline.manager.configfiles import add_server, own_file

    if name == "demo" or "://" in name:
        raise ConfigError(f"{name!r} means something else where SERVER is asked for; use another name")
    if options.trace or options.protocol_version:
        raise ConfigError("--trace and --protocol-version cannot be written to a file")
    if len(words) > 1 and "://" in words[0]:
        raise ConfigError("a URL has no arguments")
    given = options.dressed(written_out(words[0]) if len(words) == 1 else as_server(words))
    file = options.config or own_file()
    add_server(file, name, replace(given, startup_timeout=options.timeout, tool_timeout=options.timeout))
    if isinstance(given, StdioServer) and shutil.which(given.command) is None:
        show.note(f"there is no program {given.command!r} here")
    _done(options, name, file, "added to")


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which server.")],
    *,
    options: Options,
) -> None:
    """Take a server out of the project's own mcp.json.

    Or out of --config FILE.
    """
    from syncline.manager.configfiles import load_config, own_file, remove_server

    file = options.config or own_file()
    try:
        remove_server(file, name)
    except ConfigError as error:
        origin = None
        with suppress(ConfigError):
            origin = load_config(names=[name]).origins.get(name)
        if origin is None or Path(origin.file) == Path(file).absolute():
            raise
        hint = f"it comes from {origin} ({origin.program}): take it out there"
        raise failures.Explained(error, hint=hint) from error
    _done(options, name, file, "removed from")


def _done(options: Options, name: str, file: Path | str, what: str) -> None:
    if options.json:
        show.document({"name": name, "file": str(file)})
    else:
        show.line(f"{name} was {what} {file}")


def _to_start(options: Options) -> LoadedConfig:
    """The configured servers, as they are started here: none is waited for more than the others."""
    from syncline.manager.configfiles import load_config

    if options.header or options.env or options.bearer_env:
        raise ConfigError("--header, --env and --bearer-env are for one server; these have theirs in the files")
    config = load_config(options.config, inputs=answer)
    ready = {name: replace(options.hurried(server), required=False) for name, server in config.servers.items()}
    return replace(config, servers=ready)


def _follow(
    take: Callable[[Any], StartupEvent | StartupSummary | None],
    servers: ConnectionManager,
    config: LoadedConfig,
    board: Board,
    draw: Callable[[], None],
) -> None:
    """Keep the board up to date until all servers have started or failed. Blocks for that; Ctrl-C ends it."""
    from syncline import StartupEvent, StartupSummary
    from syncline.concurrency.deadline import Deadline

    while not isinstance(event := take(Deadline(TICK)), StartupSummary):
        if isinstance(event, StartupEvent):
            board.tell(event, _tools(event.server, servers, config))
        draw()


def _tools(name: str, servers: ConnectionManager, config: LoadedConfig) -> int | None:
    """How many tools of a server are used; None while it is not ready."""
    from syncline.manager.settings import Settings

    offered = servers.about(name) if servers.status()[name].state == "ready" else None
    if offered is None:
        return None
    allows = Settings.of(config.servers[name], Timeouts()).filter.allows
    return sum(allows(tool.name) for tool in offered.tools)


def _row(
    name: str,
    row: Row,
    servers: ConnectionManager,
    config: LoadedConfig,
    options: Options,
    secrets: Collection[str],
) -> dict[str, Any]:
    """A server for programs."""
    server = config.servers.get(name)
    page: dict[str, Any] = {"name": name, "state": row.status.state} | ({} if server is None else _about(server))
    if row.seconds is not None:
        page["seconds"] = round(row.seconds, 4)
    if row.status.state == "ready":
        with suppress(SynclineError):  # it may be lost by now
            client = servers.client(name)
            about = client.server_info.to_wire()
            page |= {"tools": row.tools, "protocolVersion": client.protocol_version, "serverInfo": about}
    if row.status.error is not None:
        url = None if server is None else url_of(server)
        page["error"] = failures.describe(row.status.error, url=url, server=options.words(name), secrets=secrets)
    origin = config.origins.get(name) or next(each.origin for each in config.skipped if each.server == name)
    return page | {"configured": vars(origin)}


def _about(server: StdioServer | HttpServer) -> dict[str, str]:
    """What a server is, without what may be secret."""
    return {"transport": "http" if isinstance(server, HttpServer) else "stdio", "server": server.name}


def _place(origin: Origin) -> str:
    """Where a server comes from, for people."""
    return f"{origin} ({origin.program})"


def _nothing() -> None:
    """No table."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = command_group("The servers in configuration files.")
    command(group, list_, "syncline servers list", "syncline servers list --config mcp.json --json")
    command(group, status, "syncline servers status", "syncline servers status --timeout 10 --json")
    command(
        group,
        add,
        "syncline servers add weather https://weather.example/mcp --header 'Authorization: Bearer ${WEATHER_TOKEN}'",
        "syncline servers add files --env LEVEL=debug -- npx -y @modelcontextprotocol/server-filesystem .",
    )
    command(group, remove, "syncline servers remove weather")
    app.add_typer(group, name="servers")

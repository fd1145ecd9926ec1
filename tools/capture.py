"""The table of `syncline servers status`, as a terminal shows it, for docs/cli.md: `python -m tools.capture [--check]`.

What happens to the servers is written down here, with a clock of its own, so that the pictures are the same each time. They are
drawn by what draws them for people.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from syncline.cli import show
from syncline.cli.board import COLUMNS, Board
from syncline.config import HttpServer, StdioServer
from syncline.errors import ConfigError, ConnectFailed, RequestTimeout
from syncline.manager import status
from syncline.manager.status import StartupEvent, Status

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
BLOCK = re.compile(r"(<!-- python -m tools\.capture -->\n```text\n)(.*?)^```$", re.DOTALL | re.MULTILINE)
WIDTH = 100

SERVERS: dict[str, StdioServer | HttpServer] = {
    "weather": StdioServer("uvx", ["weather-server"]),
    "issues": HttpServer("https://issues.example/mcp"),
    "search": HttpServer("https://search.example/mcp"),
    "files": StdioServer("npx", ["-y", "files-server"], startup_timeout=5),
    "old": StdioServer("old-server", enabled=False),
}
UNSET = ConfigError(".mcp.json, line 12: mcpServers.notes: the environment variable NOTES_KEY is not set; set it")
BEFORE = {
    **{name: status.NOT_STARTED if server.enabled else status.DISABLED for name, server in SERVERS.items()},
    "notes": status.unusable("notes", UNSET),
}
REFUSED = status.failed("search", ConnectFailed("cannot connect: Connection refused"), 30)
LATE = status.failed("files", RequestTimeout("the server is still starting"), 5)
#: What happens: seconds, server, state, tools. A number alone is a picture.
STORY: list[tuple[float, str, Status, int | None] | float] = [
    *((0.0, name, status.STARTING, None) for name, server in SERVERS.items() if server.enabled),
    0.1,
    (0.4, "issues", status.READY, 12),
    (0.9, "search", REFUSED, None),
    (1.3, "weather", status.READY, 3),
    2.0,
    (5.0, "files", LATE, None),
    5.0,
]


def pictures() -> str:
    """The pictures, one below the other."""
    now = 0.0
    board = Board(SERVERS, BEFORE, clock=lambda: now)
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    for happening in STORY:
        if isinstance(happening, tuple):
            now, server, how, tools = happening
            board.tell(StartupEvent(server, how, 1), tools)
        else:
            now = happening
            console.print(f"after {now:g} s", show.drawn(console, COLUMNS, board.rows()), "", sep="\n")
    return "\n".join(line.rstrip() for line in console.export_text().rstrip().splitlines()) + "\n"


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    fresh = BLOCK.sub(lambda found: f"{found[1]}{pictures()}```", page)
    if "--check" in sys.argv[1:]:
        return int(fresh != page)
    PAGE.write_text(fresh, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

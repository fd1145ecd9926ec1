"""How the servers of a manager are doing while they start: what ``servers status`` shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from syncline.cli import failures
from syncline.config import HttpServer, StdioServer
from syncline.manager.status import StartupEvent, Status

COLUMNS = ("SERVER", "STATE", "TIME", "TOOLS", "ABOUT")


@dataclass
class Row:
    """One server.

    Attributes:
        about: What it is: a host and a path, or a program.
        status: How it is doing.
        begun: When it began to start; None if it has not.
        seconds: How long that took; None until it has ended.
        tools: How many tools it offers; None while nobody knows.
    """

    about: str
    status: Status
    begun: float | None = None
    seconds: float | None = None
    tools: int | None = None


class Board:
    """Told of everything that happens to servers, it says how they are doing.

    Args:
        servers: The servers that can be used.
        statuses: How each is doing before it starts, those too that cannot be used.
        secrets: Words that are not shown.
        clock: Seconds.
    """

    def __init__(
        self,
        servers: Mapping[str, StdioServer | HttpServer],
        statuses: Mapping[str, Status],
        secrets: Collection[str] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.by_name = {
            name: Row(servers[name].name if name in servers else "", status) for name, status in statuses.items()
        }
        self._secrets = secrets
        self._clock = clock

    def tell(self, event: StartupEvent, tools: int | None = None) -> None:
        """Something happened to a server, which by now offers so many tools."""
        row = self.by_name[event.server]
        row.status, row.tools = event.status, tools
        if event.status.state == "starting":
            row.begun = self._clock()
        elif row.begun is not None and row.seconds is None:
            row.seconds = self._clock() - row.begun

    def look(self, statuses: Mapping[str, Status]) -> None:
        """How the servers are doing by now: one that was ready may have been lost."""
        for name, status in statuses.items():
            self.by_name[name].status = status

    def rows(self) -> Iterator[tuple[str, ...]]:
        """For people: the cells under ``COLUMNS``."""
        for name, row in self.by_name.items():
            seconds = self._clock() - row.begun if row.seconds is None and row.begun is not None else row.seconds
            taken = "" if seconds is None else f"{seconds:.1f} s"
            tools = "" if row.tools is None else str(row.tools)
            yield name, row.status.state, taken, tools, failures.redact(row.status.text, self._secrets) or row.about

    @property
    def failed(self) -> list[str]:
        """The servers that cannot be used, though their configuration wants them."""
        return [name for name, row in self.by_name.items() if row.status.state in ("failed", "cancelled")]

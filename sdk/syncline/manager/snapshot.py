"""The catalogue as it was at one moment, with the connections that it came from."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from syncline.errors import NotReady, SynclineError, ToolDisabled, UnknownTool

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.session.waiter import OnProgress
    from syncline.types import CallToolResult

    from .catalogue import Catalogue, ServerTool
    from .link import Link
    from .server_client import ServerClient
    from .settings import Settings


class Snapshot:
    """Tools that stay what they are, whatever happens to the configuration: their names, their servers, their limits.

    A call goes to the connection that the tool was listed on. A connection that the configuration has lost meanwhile stays open
    for as long as a snapshot has it.

    Attributes:
        tools: Those that are used, in the order of the configuration.
        errors: For each server that could not be started: why.
        missing: The servers that had not started yet, and of which no earlier catalogue is known.
        revision: Grows with each change of the catalogue; None where the catalogue is not complete: a server is starting, has
            been lost, or a required one has failed.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        held: Sequence[Link],
        errors: Mapping[str, SynclineError],
        missing: tuple[str, ...],
        revision: int | None,
    ) -> None:
        self.tools = catalogue.tools
        self.errors = dict(errors)
        self.missing = missing
        self.revision = revision
        self.catalogue = catalogue
        self._clients: dict[str, tuple[ServerClient, Settings]] = {
            link.name: (link.client, link.settings) for link in held if link.client is not None
        }
        weakref.finalize(self, _let_go, held).atexit = False

    @property
    def ready(self) -> tuple[str, ...]:
        """The servers that can be called."""
        return tuple(self._clients)

    def __iter__(self) -> Iterator[ServerTool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return name in self.catalogue.by_name and name not in self.catalogue.disabled

    def __getitem__(self, name: str) -> ServerTool:
        """A tool by its qualified name. Raises ``UnknownTool``, and ``ToolDisabled`` for one that is filtered out."""
        tool = self.catalogue.by_name.get(name)
        if tool is None:
            unknown(name, self.catalogue)
        if name in self.catalogue.disabled:
            raise ToolDisabled(f"the tool {tool.name!r} is disabled in the configuration").at(tool.server, "tools/call")
        return tool

    def client(self, server: str) -> ServerClient:
        """The client of a server. Raises ``NotReady`` for one that could not be called at that moment."""
        if server not in self._clients:
            raise NotReady("the server was not connected when the snapshot was taken").at(server)
        return self._clients[server][0]

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> CallToolResult:
        """Call a tool by its qualified name, on the connection that it was listed on; see ``Client.call_tool``.

        Also raises ``UnknownTool``, ``ToolDisabled``, and ``NotReady`` for a tool of a server that had not started.
        """
        tool = self[name]
        client = self.client(tool.server)
        settings = self._clients[tool.server][1]
        return client.call_under(settings, tool.name, arguments, timeout=timeout, on_progress=on_progress, meta=meta)

    def __repr__(self) -> str:
        return f"<syncline.Snapshot of {len(self._clients)} servers: {len(self.tools)} tools, revision {self.revision}>"


def unknown(name: str, catalogue: Catalogue) -> NoReturn:
    """Raise ``UnknownTool``, with what may have been meant, or which servers there are."""
    if similar := catalogue.similar(name):
        hint = f"did you mean {' or '.join(similar)}?"
    else:
        hint = f"the servers are {', '.join(catalogue.spaces)}" if catalogue.spaces else "there are no servers"
    raise UnknownTool(f"no tool is called {name!r}; {hint}")


def _let_go(held: Sequence[Link]) -> None:
    for link in held:
        link.let_go()

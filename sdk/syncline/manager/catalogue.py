"""What many servers offer, as one list. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from syncline.config import HttpServer, StdioServer

from . import names
from .settings import ToolFilter

if TYPE_CHECKING:
    from typing_extensions import Self

    from syncline.client import Target
    from syncline.errors import SynclineError
    from syncline.types import Implementation, Tool, ToolAnnotations

Item = TypeVar("Item")
Model = TypeVar("Model")


@dataclass(frozen=True)
class Offered:
    """What one server offers.

    Attributes:
        tools: As it lists them, the first of each name.
        instructions: What it says about its use.
        server_info: Who it says it is.
    """

    tools: tuple[Tool, ...] = ()
    instructions: str | None = None
    server_info: Implementation | None = None

    @classmethod
    def of(
        cls, tools: Iterable[Tool], instructions: str | None = None, server_info: Implementation | None = None
    ) -> Offered:
        """From a listing, which may have a tool twice."""
        first: dict[str, Tool] = {}
        for tool in tools:
            first.setdefault(tool.name, tool)
        return cls(tuple(first.values()), instructions, server_info)


@dataclass(frozen=True)
class ServerTool:
    """A tool of one of many servers.

    Attributes:
        qualified_name: Its name among all tools, for ``call_tool()``.
        server: The configured name of its server.
        tool: The tool as its server lists it.
        origin: Where the server is: scheme, host and port of its URL, ``stdio`` for a program, ``custom`` for anything else.
        live: Whether its server is there; if not, this is what it offered last, without annotations.
    """

    qualified_name: str
    server: str
    tool: Tool
    origin: str
    live: bool = True

    @property
    def name(self) -> str:
        """Its name at the server."""
        return self.tool.name

    @property
    def title(self) -> str | None:
        """Its name for people."""
        return self.tool.title

    @property
    def description(self) -> str | None:
        """What it does."""
        return self.tool.description

    @property
    def input_schema(self) -> Mapping[str, object]:
        """The JSON Schema of its arguments."""
        return self.tool.input_schema

    @property
    def output_schema(self) -> Mapping[str, object] | None:
        """The JSON Schema of its structured content."""
        return self.tool.output_schema

    @property
    def annotations(self) -> ToolAnnotations | None:
        """What the server says about its harm; never there while the server is not."""
        return self.tool.annotations

    @property
    def meta(self) -> Mapping[str, object]:
        """``_meta`` of the listing, as the server sent it."""
        return self.tool.meta or {}

    @property
    def for_model(self) -> bool:
        """Whether a model should see it: unless ``_meta.ui.visibility`` lists who should, and the model is not among them."""
        ui = self.meta.get("ui")
        seen_by = ui.get("visibility") if isinstance(ui, Mapping) else None
        return not isinstance(seen_by, (list, tuple)) or "model" in seen_by


@dataclass(frozen=True)
class ServerItem(Generic[Model]):
    """A resource, a template or a prompt of one of many servers.

    Attributes:
        server: The configured name of its server.
        item: What the server lists.
    """

    server: str
    item: Model


class Listing(tuple[Item, ...], Generic[Item]):
    """What the servers list that could be asked, and why the others could not.

    Attributes:
        errors: For each server that is missing here: why.
    """

    errors: Mapping[str, SynclineError]

    def __new__(cls, items: Iterable[Item] = (), errors: Mapping[str, SynclineError] | None = None) -> Self:
        """A listing of these items."""
        self = super().__new__(cls, items)
        self.errors = dict(errors or {})
        return self


@dataclass(frozen=True)
class Part:
    """One server's part in the whole: what it offers, what of it is used, where it is, and whether it is there."""

    server: str
    offered: Offered
    filter: ToolFilter
    origin: str
    live: bool


@dataclass(frozen=True)
class Catalogue:
    """The tools of all servers.

    Attributes:
        tools: Those that are used, in the order of servers and of their listings.
        disabled: Qualified names of the others.
        by_name: Qualified name → tool, for all of both.
        spaces: Server → what the names of its tools begin with, also where they are not known.
    """

    tools: tuple[ServerTool, ...] = ()
    disabled: frozenset[str] = frozenset()
    by_name: Mapping[str, ServerTool] = field(default_factory=dict)
    spaces: Mapping[str, str] = field(default_factory=dict)

    def similar(self, name: str) -> list[str]:
        """The qualified names of tools that are called so by their own servers; if there is none, the one most like it."""
        own = [tool.qualified_name for tool in self.tools if name in (tool.name, names.clean(tool.name))]
        return own or get_close_matches(name, [tool.qualified_name for tool in self.tools], 1, cutoff=0.8)


def merged(servers: Collection[str], parts: Iterable[Part], prefix: str) -> Catalogue:
    """One catalogue. Names depend on all configured ``servers``, there or not, and on no filter, so that they stay what they are."""
    parts = list(parts)
    spaces = names.namespaces(servers, prefix)
    called = names.qualified([(part.server, tool.name) for part in parts for tool in part.offered.tools], spaces)
    used: list[ServerTool] = []
    by_name: dict[str, ServerTool] = {}
    disabled: set[str] = set()
    for part in parts:
        for tool in part.offered.tools:
            name = called[part.server, tool.name]
            by_name[name] = entry = ServerTool(name, part.server, tool, part.origin, part.live)
            if part.filter.allows(tool.name):
                used.append(entry)
            else:
                disabled.add(name)
    return Catalogue(tuple(used), frozenset(disabled), by_name, spaces)


def origin(server: Target) -> str:
    """Where a server is, without path, query and credentials."""
    if isinstance(server, StdioServer):
        return "stdio"
    if not isinstance(server, HttpServer):
        return "custom"
    parts = urlsplit(server.url)
    host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")

"""What can be changed about a server without connecting to it again: filters, limits, whether it is needed. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from syncline.config import HttpServer, StdioServer, Timeouts
from syncline.errors import ToolDisabled

from .names import clean, is_hashed

if TYPE_CHECKING:
    from syncline.client import Target


@dataclass(frozen=True)
class ToolFilter:
    """Which tools are shown and may be called, by their names on the wire.

    Attributes:
        enabled: These; None: all.
        disabled: Not these, whatever ``enabled`` says.
    """

    enabled: frozenset[str] | None = None
    disabled: frozenset[str] = frozenset()

    def allows(self, tool: str) -> bool:
        """Whether a tool is shown and may be called."""
        return tool not in self.disabled and (self.enabled is None or tool in self.enabled)

    def check(self, server: str, tool: str) -> None:
        """``ToolDisabled`` for a tool that may not be called."""
        if not self.allows(tool):
            raise ToolDisabled(f"the tool {tool!r} is disabled in the configuration").at(server, "tools/call")

    def check_cleaned(self, server: str, tool: str) -> None:
        """As ``check()``, for a tool of which only what is left of its name in a qualified one is known; with a hash, nothing is."""
        if is_hashed(tool):
            return
        enabled = None if self.enabled is None else {clean(name) for name in self.enabled}
        if tool in {clean(name) for name in self.disabled} or (enabled is not None and tool not in enabled):
            raise ToolDisabled(f"the tool {tool!r} is disabled in the configuration").at(server, "tools/call")


@dataclass(frozen=True)
class Settings:
    """See the module.

    Attributes:
        required: Whether the program cannot do without the server.
        filter: Which of its tools are used.
        timeouts: The client's, with the server's own limits in them.
    """

    required: bool = False
    filter: ToolFilter = ToolFilter()
    timeouts: Timeouts = field(default_factory=Timeouts)

    @classmethod
    def of(cls, server: Target, timeouts: Timeouts) -> Settings:
        """Those of a server, over the limits that hold for all of them."""
        if not isinstance(server, (StdioServer, HttpServer)):
            return cls(timeouts=timeouts)
        return cls(
            server.required,
            ToolFilter(
                None if server.enabled_tools is None else frozenset(server.enabled_tools),
                frozenset(server.disabled_tools),
            ),
            replace(
                timeouts,
                startup=timeouts.startup if server.startup_timeout is None else server.startup_timeout,
                call=timeouts.call if server.tool_timeout is None else server.tool_timeout,
            ),
        )

    def limited(self, timeout: float | Timeouts | None) -> Timeouts:
        """The limits of one call that asks for others: they can only be shorter than the server's."""
        wanted = self.timeouts.for_call(timeout)
        own = self.timeouts.call
        return wanted if own is None or (wanted.call is not None and wanted.call <= own) else replace(wanted, call=own)

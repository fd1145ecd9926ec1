"""The client of one of many servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from syncline.client import Client
from syncline.errors import SynclineError

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.session.waiter import OnProgress
    from syncline.streams.tasks import Tasks
    from syncline.types import CallToolResult, Tool

    from .settings import Settings


class ServerClient(Client):
    """A client under the settings of its manager: tools that are filtered out are neither listed nor called, and the timeout
    of a tool call is the server's own or a shorter one. ``request()`` takes no notice of filters.
    """

    _settings: Settings

    def govern(self, settings: Settings) -> None:
        """Work under these settings from now on."""
        self._settings = settings
        self._session.timeouts = settings.timeouts

    def list_tools(self, *, timeout: float | Timeouts | None = None, cache: bool = False) -> list[Tool]:
        """The tools that are used; see ``Client.list_tools``."""
        allows = self._settings.filter.allows
        return [tool for tool in super().list_tools(timeout=timeout, cache=cache) if allows(tool.name)]

    def iter_tools(self, *, timeout: float | Timeouts | None = None) -> Iterator[Tool]:
        """The tools that are used; see ``Client.iter_tools``."""
        return (tool for tool in super().iter_tools(timeout=timeout) if self._settings.filter.allows(tool.name))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> CallToolResult:
        """Call a tool; see ``Client.call_tool``. Also raises ``ToolDisabled``, and sends nothing then."""
        self._check(name)
        return self.call_under(self._settings, name, arguments, timeout=timeout, on_progress=on_progress, meta=meta)

    @property
    def tasks(self) -> Tasks:
        """Calls that become tasks; see ``Client.tasks``."""
        if self._tasks is None:
            from .server_tasks import ServerTasks

            session = self._session
            answer = session.answer if session.answers else None
            self._tasks = ServerTasks(session, self.list_tools, answer, self._check)
        return self._tasks

    def list_all_tools(self, timeout: float | Timeouts | None = None) -> list[Tool]:
        """The tools, whatever the filters say."""
        return super().list_tools(timeout=timeout)

    def call_under(
        self,
        settings: Settings,
        name: str,
        arguments: Mapping[str, object] | None,
        *,
        timeout: float | Timeouts | None,
        on_progress: OnProgress | None,
        meta: Mapping[str, object] | None,
    ) -> CallToolResult:
        """Call a tool within the limits of other settings, whatever their filters say. Errors name the tool."""
        limits = settings.limited(timeout)
        try:
            return super().call_tool(name, arguments, timeout=limits, on_progress=on_progress, meta=meta)
        except SynclineError as error:
            error.message = f"{name}: {error.message}"
            raise

    def _check(self, tool: str) -> None:
        self._settings.filter.check(self.name, tool)

"""The tasks of one of many servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from syncline.streams.tasks import Tasks

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.session.session import Session
    from syncline.session.waiter import OnProgress
    from syncline.streams.task import Task
    from syncline.streams.task_input import Answer
    from syncline.types import CallToolResult


class ServerTasks(Tasks):
    """Tasks under the filters of a manager.

    Args:
        session: See ``Tasks``, as for ``list_tools`` and ``answer``.
        list_tools: See ``session``.
        answer: See ``session``.
        check: Raises for a tool that may not be called.
    """

    def __init__(
        self,
        session: Session,
        list_tools: Callable[..., object],
        answer: Answer | None,
        check: Callable[[str], None],
    ) -> None:
        super().__init__(session, list_tools, answer)
        self._check = check

    def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        ttl: float | None = None,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> Task | CallToolResult:
        """Call a tool; see ``Tasks.call``. Also raises ``ToolDisabled``, and sends nothing then."""
        self._check(name)
        return super().call(name, arguments, ttl=ttl, timeout=timeout, on_progress=on_progress, meta=meta)

"""Tool calls that become tasks: ``client.tasks``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from syncline.concurrency.deadline import Deadline
from syncline.errors import HeaderMismatch, LocalProtocolError
from syncline.protocol.tasks import DECLARED, EITHER
from syncline.session.listing import Page, follow
from syncline.session.session import COMPLETE, json_object

from .task import ExperimentalTask, ExtensionTask, Task, task_state

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.session.session import Session
    from syncline.session.waiter import OnProgress
    from syncline.types import CallToolResult

    from .task_input import Answer


class Tasks:
    """Calls that may take long, and the tasks that come of them, in whichever way the server's revision has them.

    From 2026-07-28 on this is the extension ``io.modelcontextprotocol/tasks``, which is declared for the requests that are
    made here and for no others: the server decides whether a call becomes a task. In 2025-11-25 it is the experimental
    ``tasks`` capability: we ask for a task wherever the server and the tool allow one. Older revisions have no tasks.

    Args:
        session: Where it is asked.
        list_tools: Lists the tools within ``timeout=`` seconds, so that what is known of them is known to the session.
        answer: What answers the questions of a task; None where nobody does.
    """

    def __init__(self, session: Session, list_tools: Callable[..., object], answer: Answer | None = None) -> None:
        self._session = session
        self._list_tools = list_tools
        self._answer = answer

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
        """Call a tool, and return the task that it becomes; or its result, where it becomes none.

        Source: extension tasks, ``tools/call``; specification 2025-11-25, basic/utilities/tasks. ``ttl`` is how many
        seconds the task should be kept after it was made; the server decides (and alone, from 2026-07-28 on: it is not
        sent there). ``timeout`` is for the answer to the call, not for the task. The rest is as with ``call_tool``,
        errors too. The call is never sent a second time behind your back.
        """
        session = self._session
        deadline = session.deadline(timeout)
        if not isinstance(name, str):
            raise self._refusal("tools/call", f"the name of a tool is text, not {type(name).__name__}")
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = json_object(arguments, "arguments", session.name, "tools/call")
        stateless = session.agreement.revision.era == "stateless"
        if not stateless and self._wanted(name, deadline):
            params["task"] = {} if ttl is None else {"ttl": round(ttl * 1000)}

        def exchange() -> dict[str, object]:
            mirrored = session.book.mirrored(name, arguments)
            extensions, accepts = (DECLARED, EITHER) if stateless else (None, COMPLETE)
            return session.call("tools/call", params, deadline, meta, on_progress, mirrored, extensions, accepts)

        try:
            raw = exchange()
        except HeaderMismatch:
            # The server refused before running it: our picture of the tool is out of date (specification, transports).
            if not session.book.mirroring:
                raise
            self._list_tools(timeout=deadline.remaining())
            raw = exchange()
        if stateless and raw.get("resultType") == "task":
            return ExtensionTask(session, task_state(session, raw), name, self._answer)
        if "task" in params and isinstance(task := raw.get("task"), dict):
            return ExperimentalTask(session, task_state(session, task), name, self._answer)
        result = cast("CallToolResult", session.lift("tools/call", raw))
        session.check_output(name, result)
        return result

    def get(self, task_id: str, *, tool: str | None = None, timeout: float | Timeouts | None = None) -> Task:
        """Take a task up again by its id, also one that another process began as the same user of the same server.

        Source: ``tasks/get``. ``tool`` is what was called; with it the result is held against the tool's output schema.
        Blocks for the answer, the timeout, or ``close()``. Raises ``InvalidParams`` where the server does not know the
        task (any more), ``LocalProtocolError`` where the server has no tasks.
        """
        session = self._session
        if session.agreement.revision.era == "stateless":
            kind: type[Task] = ExtensionTask
        else:
            self._require("tasks/get")
            kind = ExperimentalTask
        params, deadline = {"taskId": task_id}, session.deadline(timeout)
        raw = session.request("tasks/get", params, deadline, extensions=kind.declared, accepts=EITHER)
        return kind(session, task_state(session, raw), tool, self._answer)

    def list(self, *, timeout: float | Timeouts | None = None) -> list[Task]:
        """The tasks that the server keeps for us, every page followed (2025-11-25 only, where the server offers it).

        Source: specification 2025-11-25, ``tasks/list``. Raises ``LocalProtocolError`` where it is not there, and what
        ``list_tools`` raises. ``timeout`` is for the whole listing.
        """
        session, method = self._session, "tasks/list"
        deadline = session.deadline(timeout)
        self._require(method, "list")

        def fetch(cursor: str | None) -> Page[Mapping[str, object]]:
            raw = session.request(method, None if cursor is None else {"cursor": cursor}, deadline)
            page = session.lift(method, raw)
            return Page([task.to_wire() for task in page.tasks], page.next_cursor)

        pages = follow(fetch, lambda task: task["taskId"], session.limits)
        return [
            ExperimentalTask(session, task_state(session, task), None, self._answer)
            for page in pages
            for task in page.items
        ]

    def _wanted(self, name: str, deadline: Deadline) -> bool:
        """Whether to ask for a task (2025-11-25): both the server and the tool must allow it."""
        if not self._declared("requests", "tools", "call"):
            return False
        book = self._session.book
        if book.task_support(name) is None:
            self._list_tools(timeout=deadline.remaining())
        return book.task_support(name) in ("required", "optional")

    def _require(self, method: str, *path: str) -> None:
        if not self._declared(*path):
            raise self._refusal(method, f"the server does not offer {'.'.join(('tasks', *path))}")

    def _declared(self, *path: str) -> bool:
        """Whether the server declared ``tasks``, and a member within it."""
        value: object = self._session.agreement.capabilities
        for member in ("tasks", *path):
            value = value.get(member) if isinstance(value, Mapping) else None
        return value is not None

    def _refusal(self, method: str, problem: str) -> LocalProtocolError:
        return LocalProtocolError(problem).at(self._session.name, method)

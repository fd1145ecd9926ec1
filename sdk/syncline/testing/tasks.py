"""Tool calls that a fake server answers with a task, in both ways that the protocol has had them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.workers import spawn
from syncline.serving import INVALID_PARAMS, JSON, META, Refused, field

from .call import Call, Gone

if TYPE_CHECKING:
    from .core import Core

EXTENSION = META + "tasks"
FINAL = ("completed", "failed", "cancelled")
#: Milliseconds that a client is asked to wait between questions.
INTERVAL = 50


class TaskCall(Call):
    """A call whose answer was a task: what it reports is the task's message, what it asks are the task's questions."""

    def __init__(self, call: Call, name: str) -> None:
        super().__init__(call.core, call.message, call.wire, call.session)
        self.name = name
        self.status = "working"
        self.text: str | None = None
        self.outcome: JSON = {}
        self.questions: JSON = {}
        self.answers: JSON = {}
        self.fetching: Call | None = None  # who waits for the result, and can be asked (2025-11-25)
        self._created = self._updated = _now()

    @property
    def ended(self) -> bool:
        """Whether the task was stopped, or the server is closing; the connection does not matter."""
        return self.core.closed or self.status == "cancelled"

    @property
    def related(self) -> JSON:
        """What messages about the task carry (2025-11-25)."""
        return {META + "related-task": {"taskId": self.name}}

    def become(self, status: str, text: str | None = None, **outcome: JSON) -> None:
        """Change, unless it has ended. Requires the monitor."""
        if self.status not in FINAL:
            self.status, self.text, self.outcome, self._updated = status, text, outcome, _now()

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Nothing: the call has been answered."""

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:  # noqa: ARG002
        """Make the message the task's."""
        with self.core.monitor:
            self.become(self.status, message)

    def ask(self, method: str, params: Mapping[str, object]) -> JSON:
        """Ask the client, with the task in ``input_required`` meanwhile."""
        question: JSON = {"method": method, "params": dict(params)}
        with self.core.monitor:
            key = f"question-{len(self.questions) + 1}"
            self.questions[key] = question
            self.become("input_required", self.text)
        if self.stateless:
            answer: JSON | None = self._until(lambda: self.answers.get(key))
        else:
            question["params"]["_meta"] = self.related
            fetching = self._until(lambda: self.fetching)
            answer = None if fetching is None else self.core.ask(fetching, question)
        if answer is None:
            raise Gone
        with self.core.monitor:
            self.become("working", self.text)
        return answer

    def described(self) -> JSON:
        """The task, as the revision has it."""
        new = self.stateless
        task: JSON = {
            "taskId": self.name,
            "status": self.status,
            "createdAt": self._created,
            "lastUpdatedAt": self._updated,
        }
        task |= {"ttlMs" if new else "ttl": None, "pollIntervalMs" if new else "pollInterval": INTERVAL}
        return task | ({} if self.text is None else {"statusMessage": self.text})

    def detailed(self) -> JSON:
        """With what its status brings (2026-07-28)."""
        asked = {key: question for key, question in self.questions.items() if key not in self.answers}
        return self.described() | ({"inputRequests": asked} if self.status == "input_required" else self.outcome)

    def run(self, work: Callable[[Call], JSON]) -> None:
        """Do it, on the task's own thread."""
        try:
            result = work(self)
            status = "failed" if result.get("isError") and not self.stateless else "completed"
            outcome = {"result": result}
        except Gone:
            return
        except Refused as refused:
            status, outcome = "failed", {"error": refused.error}
        with self.core.monitor:
            self.become(status, self.text, **outcome)

    def _until(self, ready: Callable[[], Any]) -> Any:
        self.core.monitor.wait(lambda: self.ended or ready(), Deadline(None))
        return None if self.ended else ready()


class Tasks:
    """The tasks of one server."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._tasks: dict[str, TaskCall] = {}

    def begin(self, call: Call, work: Callable[[Call], JSON]) -> JSON:
        """Answer a call with a task."""
        with self._core.monitor:
            task = TaskCall(call, f"task-{len(self._tasks) + 1}")
            self._tasks[task.name] = task
        made = {"resultType": "task", **task.described()} if call.stateless else {"task": task.described()}
        spawn(f"syncline:{self._core.name}:task", lambda: task.run(work))
        return made

    def methods(self, stateless: bool) -> Mapping[str, Callable[[Call], JSON]]:
        """The methods that are answered here."""
        if stateless:
            return {
                "tasks/get": lambda call: self._find(call).detailed(),
                "tasks/update": self._update,
                "tasks/cancel": lambda call: self._cancel(call) and {},
            }
        return {
            "tasks/get": lambda call: self._find(call).described(),
            "tasks/result": self._result,
            "tasks/cancel": self._cancel,
            "tasks/list": lambda _: {"tasks": [task.described() for task in self._tasks.values()]},
        }

    def _find(self, call: Call) -> TaskCall:
        name = field(call.params, "taskId")
        if name not in self._tasks:
            raise Refused(INVALID_PARAMS, f"no such task: {name}")
        return self._tasks[name]

    def _update(self, call: Call) -> JSON:
        task = self._find(call)
        with self._core.monitor:
            task.answers |= field(call.params, "inputResponses", "object")
        return {}

    def _cancel(self, call: Call) -> JSON:
        task = self._find(call)
        with self._core.monitor:
            if task.status in FINAL and not call.stateless:
                raise Refused(INVALID_PARAMS, "the task has ended")
            task.become("cancelled")
        return task.described()

    def _result(self, call: Call) -> JSON:
        task = self._find(call)
        with self._core.monitor:
            task.fetching = call
        self._core.monitor.wait(lambda: task.status in FINAL or call.cancelled, Deadline(None))
        if call.cancelled:
            raise Gone
        if "result" not in task.outcome:
            error = task.outcome.get("error") or {"code": INVALID_PARAMS, "message": f"the task was {task.status}"}
            raise Refused(error["code"], error["message"], error.get("data"))
        return {**task.outcome["result"], "_meta": task.related}


def wanted(call: Call) -> bool:
    """Whether the client can take a task for an answer."""
    if not call.stateless:
        return "task" in call.params
    capabilities: JSON = call.message.meta[META + "clientCapabilities"]
    return EXTENSION in capabilities.get("extensions", {})


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()

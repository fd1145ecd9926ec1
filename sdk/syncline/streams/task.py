"""A task that a server runs, as a handle that can be waited for."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, cast

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.errors import (
    InputRequired,
    InvalidParams,
    InvalidResult,
    LocalProtocolError,
    RequestTimeout,
    ServerError,
    SynclineError,
    TaskCancelled,
    TaskExpired,
    server_error,
)
from syncline.protocol.tasks import DECLARED, EITHER, FINAL, TaskState, pace, read_state
from syncline.session.session import json_object

from .task_input import Questions

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.session.session import Session
    from syncline.session.waiter import OnProgress
    from syncline.types import CallToolResult

    from .task_input import Answer


class Task(ABC):
    """A tool call that goes on at the server. Made by ``client.tasks``; safe to share between threads.

    The server keeps it, not the connection: its ``id`` is enough to come back to it later (``client.tasks.get``), from
    another process too. Nothing that ends a wait ends the task; ``cancel()`` asks the server to.

    Attributes:
        tool: The tool that was called; None if the task was taken up by its id alone.
    """

    def __init__(self, session: Session, state: TaskState, tool: str | None, answer: Answer | None) -> None:
        self.tool = tool
        self._session = session
        self._lock = new_lock()  # guards what follows
        self._state = state
        self._news = time.monotonic()
        self._asked = 0
        self._due = Deadline(pace(state.interval, 0))
        self._stopped = False
        self._polling = new_lock()  # held across tasks/get, so that several waits do not ask more often than one
        self._trouble = session.connection.ending.child()
        self._questions = Questions(f"syncline:{session.name}:task-input", answer, self._update, self._fail)

    def __repr__(self) -> str:
        return f"<syncline.Task {self.id} of {self._session.name}: {self.status}>"

    @property
    def id(self) -> str:
        """Its name, chosen by the server."""
        return self._state.id

    @property
    def status(self) -> str:
        """What the server said last: ``working``, ``input_required``, ``completed``, ``failed`` or ``cancelled``."""
        return self._state.status

    @property
    def state(self) -> TaskState:
        """All that the server said last."""
        return self._state

    def refresh(self, *, timeout: float | Timeouts | None = None) -> TaskState:
        """Ask the server how the task is doing, now. Source: ``tasks/get``.

        Blocks for the answer, the timeout, or ``close()``. Raises ``TaskExpired`` where the server does not know the task.
        """
        return self._look(self._session.deadline(timeout))

    def wait(self, timeout: float | Timeouts | None = None, on_progress: OnProgress | None = None) -> CallToolResult:
        """Wait for the result, asking the server no more often than it wishes.

        ``timeout`` is in seconds; it starts again whenever the task has news, up to ``Timeouts.call_total``, and stands
        still while a person is being asked. ``on_progress(progress, total, message)`` is called in this thread with each
        new status and message of the task; these come without numbers: progress is 0 and total None, except for
        what a server of 2025-11-25 reports while it is asked for the result.
        What the task asks goes to the handlers of the client, on a thread of its own. Without them ``InputRequired`` is
        raised: ``respond()``, and wait again.

        Blocks until the task has ended, the timeout, or ``close()`` from another thread; Ctrl-C interrupts it. The task
        goes on then. Raises ``RequestTimeout``, ``ConnectionClosed``, ``TaskCancelled``, ``TaskExpired``, the
        ``ServerError`` that the task ended in, and what a handler raised.
        """
        deadline = self._session.deadline(timeout)
        news: tuple[str, str | None] | None = None
        paused = False
        self._take_heart()
        while True:
            state = self._state
            if news != (state.status, state.message):
                if news is not None:
                    deadline.extend()
                news = state.status, state.message
                if on_progress is not None:
                    on_progress(0.0, None, state.message)
            if state.status in self._settled:
                return self._outcome(state, deadline, on_progress)
            if state.status == "input_required":
                self._ask(state)
            busy = self._questions.busy
            if busy is not paused:
                paused = busy
                (deadline.pause if busy else deadline.resume)()
            self._rest(deadline)
            self._poll(deadline)

    def cancel(self, *, timeout: float | Timeouts | None = None) -> None:
        """Ask the server to stop the task. Source: ``tasks/cancel``.

        Blocks until the server has taken note, the timeout, or ``close()``. The task may still complete, or fail, and a wait
        ends with whatever it came to: ``TaskCancelled`` where it was stopped. A task that has ended is left alone. Raises
        ``TaskExpired`` where the server does not know it.
        """
        if self._state.final:
            return
        deadline = self._session.deadline(timeout)
        self._stopped = True
        try:
            raw = self._request("tasks/cancel", deadline)
        except InvalidParams:
            self._stopped = False
            self._look(deadline)  # it has ended meanwhile, or is not known
        else:
            if "taskId" in raw:
                self._adopt(task_state(self._session, raw))

    def respond(self, answers: Mapping[str, object], *, timeout: float | Timeouts | None = None) -> None:
        """Answer questions of the task (``state.questions``) by hand, some or all: ``{key: result}``.

        Source: ``tasks/update`` of the extension. Tasks of 2025-11-25 ask over the connection instead, so that these
        cannot be answered here (``LocalProtocolError``). Blocks until the server has taken note, the timeout, or ``close()``.
        """
        if self.declared is None:
            problem = "tasks of this revision ask over the connection, and the client's handlers answer"
            raise self._error(LocalProtocolError(problem), "tasks/update")
        self._update(answers, timeout)
        self._questions.answered(answers)

    # What the dialects do differently

    #: What requests about the task declare.
    declared: Mapping[str, object] | None = None
    #: With which status there is something to fetch, or to wait for at the server.
    _settled: frozenset[str] = FINAL

    @abstractmethod
    def _outcome(self, state: TaskState, deadline: Deadline, on_progress: OnProgress | None) -> CallToolResult:
        """What the task came to."""

    # Asking and waiting

    def _request(
        self, method: str, deadline: Deadline, on_progress: OnProgress | None = None, **params: object
    ) -> dict[str, object]:
        given = {"taskId": self.id, **params}
        return self._session.request(
            method, given, deadline, on_progress=on_progress, extensions=self.declared, accepts=EITHER
        )

    def _update(self, answers: Mapping[str, object], timeout: float | Timeouts | None = None) -> None:
        given = json_object(answers, "answers", self._session.name, "tasks/update")
        self._request("tasks/update", self._session.deadline(timeout), inputResponses=given)

    def _ask(self, state: TaskState) -> None:
        unanswered = self._questions.take(state.questions)
        if unanswered:
            problem = f"the task {self.id} asks for input, and there is no handler; respond() and wait again"
            raise self._error(InputRequired(problem, requests=unanswered, request_state=None), "tools/call")

    def _look(self, deadline: Deadline) -> TaskState:
        limit = self._session.timeouts.call
        try:
            raw = self._request("tasks/get", deadline if limit is None else deadline.sooner(limit))
        except InvalidParams as error:
            if self._stopped:
                return self._adopt(replace(self._state, status="cancelled"))  # dropped, as we asked
            problem = f"the server does not know the task {self.id} (any more): {error.message}"
            raise self._error(TaskExpired(problem, task_id=self.id), "tasks/get") from error
        if raw.get("resultType") == "task":
            self._session.connection.finding("task-result-type", "tasks/get", "task")
        return self._adopt(task_state(self._session, raw))

    def _adopt(self, state: TaskState) -> TaskState:
        with self._lock:
            before = self._state
            if before.final and not state.final:
                return before  # an answer that was overtaken
            if (state.status, state.message, state.updated_at) != (before.status, before.message, before.updated_at):
                self._news, self._asked = time.monotonic(), 0
            else:
                self._asked += 1
            self._state = state
            self._due = Deadline(pace(state.interval, self._asked))
        return state

    def _poll(self, deadline: Deadline) -> None:
        """Ask, if nobody has since it was due; once more at the end of the time for which the task is kept."""
        taken: list[bool] = []
        try:
            if not take(self._polling, deadline, taken):
                return
            expired = self._left() == 0
            state = self._look(deadline) if self._due.expired or expired else self._state
            if expired and not state.final and self._left() == 0:
                problem = f"the time for which the server keeps the task has passed ({state.ttl:g} s)"
                raise self._error(TaskExpired(problem, task_id=self.id), "tasks/get")
        finally:
            if True in taken:
                self._polling.release()

    def _left(self) -> float | None:
        """Seconds for which the server still keeps the task, if nothing new is heard; None for ever."""
        with self._lock:
            state, since = self._state, time.monotonic() - self._news
        return None if state.ttl is None else max(0.0, state.ttl - state.age - since)

    def _rest(self, deadline: Deadline) -> None:
        """Wait until it is time to ask. Raises what ends the wait."""
        until, left = deadline.sooner(self._due.remaining() or 0.0), self._left()
        if self._trouble.wait(until if left is None else until.sooner(left)):
            self._complain()
        if deadline.expired:
            problem = f"the task {self.id} is still {self.status}; it goes on"
            raise self._error(RequestTimeout(problem), "tools/call")

    def _take_heart(self) -> None:
        """A new wait: what failed an earlier one is over, but for the end of the connection."""
        with self._lock:
            if self._trouble.cancelled:
                self._trouble = self._session.connection.ending.child()

    def _fail(self, error: BaseException) -> None:
        self._trouble.cancel(error)

    def _complain(self) -> NoReturn:
        reason = self._trouble.reason
        assert reason is not None
        if isinstance(reason, SynclineError):
            raise self._error(reason.again(), "tools/call")
        raise reason

    def _error(self, error: SynclineError, method: str) -> SynclineError:
        return error.at(self._session.name, method)

    def _finish(self, raw: Mapping[str, object]) -> CallToolResult:
        result = cast("CallToolResult", self._session.lift("tools/call", {"resultType": "complete", **raw}))
        if self.tool is not None:
            self._session.check_output(self.tool, result)
        return result

    def _refuse_if_cancelled(self, state: TaskState) -> None:
        if state.status == "cancelled":
            problem = f"the task {self.id} was cancelled" + (f": {state.message}" if state.message else "")
            raise self._error(TaskCancelled(problem, task_id=self.id), "tools/call")


class ExtensionTask(Task):
    """A task of the extension ``io.modelcontextprotocol/tasks``: its description brings questions, result and error."""

    declared = DECLARED

    def _outcome(self, state: TaskState, deadline: Deadline, on_progress: OnProgress | None) -> CallToolResult:  # noqa: ARG002
        self._refuse_if_cancelled(state)
        if state.result is None and state.error is None:
            state = self._look(deadline)  # the answer to the call itself has neither
        if state.status == "completed" and state.result is not None:
            return self._finish(state.result)
        error = state.error or {}
        code, message = error.get("code"), error.get("message")
        if state.status == "failed" and isinstance(code, int):
            raise self._error(server_error(code, str(message), error.get("data")), "tools/call")
        problem = f"the task {state.status} without {'a result' if state.status == 'completed' else 'an error'}"
        raise self._error(InvalidResult(problem, raw=vars(state), errors=[problem]), "tasks/get")


class ExperimentalTask(Task):
    """A task of 2025-11-25: the result is fetched by a request of its own, on which the server also asks its questions."""

    _settled = FINAL | {"input_required"}

    def _outcome(self, state: TaskState, deadline: Deadline, on_progress: OnProgress | None) -> CallToolResult:
        self._refuse_if_cancelled(state)
        try:
            return self._finish(self._request("tasks/result", deadline, on_progress))
        except ServerError:
            self._refuse_if_cancelled(self._look(deadline))
            raise  # what the call itself would have raised


def task_state(session: Session, raw: Mapping[str, object]) -> TaskState:
    """A task as the server describes it; ``InvalidResult`` where it does not fit."""
    era = session.agreement.revision.era
    described = {**raw, "resultType": "complete"} if era == "stateless" else dict(raw)
    return read_state(session.lift("tasks/get", described), raw, era)

"""Requests that go on after their answer: what a task's description means, and how often to ask for it.

Two dialects: the extension ``io.modelcontextprotocol/tasks`` (from 2026-07-28 on; the server decides whether a call becomes
a task) and the experimental tasks of 2025-11-25 (the caller asks for one). They differ in the names of two members.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from syncline.protocol.revisions import META

EXTENSION = META + "tasks"
#: What a request declares to get a task, or to speak of one.
DECLARED: Mapping[str, object] = {EXTENSION: {}}
#: The kinds of result that it can have then. Some servers use the second one for ``tasks/get``, too.
EITHER = ("complete", "task")
FINAL = frozenset({"completed", "failed", "cancelled"})
#: Seconds between two questions where the server names none: at first, by how much more each time, at most; never fewer than.
FIRST, FACTOR, LONGEST, LEAST = 1.0, 1.5, 10.0, 0.05
#: era → the members for the time that a task is kept, and for the time between questions
MEMBERS: Mapping[str, tuple[str, str]] = {
    "stateless": ("ttl_ms", "poll_interval_ms"),
    "handshake": ("ttl", "poll_interval"),
}


@dataclass(frozen=True)
class TaskState:
    """What the server said about a task.

    Attributes:
        id: Its name, chosen by the server. Together with the server and who we are there it is all that is needed to
            come back to the task later.
        status: ``working``, ``input_required``, ``completed``, ``failed`` or ``cancelled``.
        message: Where it stands, for people.
        created_at: When it was made, as the server wrote it (ISO 8601).
        updated_at: When it last changed, as the server wrote it.
        ttl: Seconds that it is kept after it was made; None for ever.
        interval: Seconds to wait between questions; None where the server does not say.
        questions: What it asks, by its own keys: ``{key: {"method": ..., "params": ...}}``.
        result: What it produced, as JSON.
        error: The JSON-RPC error that it ended in, as JSON.
    """

    id: str
    status: Literal["working", "input_required", "completed", "failed", "cancelled"]
    message: str | None
    created_at: str
    updated_at: str
    ttl: float | None
    interval: float | None
    questions: Mapping[str, Mapping[str, Any]]
    result: Mapping[str, object] | None
    error: Mapping[str, object] | None

    @property
    def final(self) -> bool:
        """Whether it changes no more."""
        return self.status in FINAL

    @property
    def age(self) -> float:
        """Seconds between its making and its last change, by the server's clock; 0 where that cannot be told."""
        try:
            return max(0.0, (_time(self.updated_at) - _time(self.created_at)).total_seconds())
        except (TypeError, ValueError):  # not dates, or one with a zone and one without
            return 0.0


def read_state(model: Any, raw: Mapping[str, object], era: str) -> TaskState:
    """A task from its model and from the JSON that it was made of."""
    ttl, interval = (getattr(model, member) for member in MEMBERS[era])
    return TaskState(
        id=model.task_id,
        status=model.status,
        message=model.status_message,
        created_at=model.created_at,
        updated_at=model.last_updated_at,
        ttl=None if ttl is None else ttl / 1000,
        interval=None if interval is None else interval / 1000,
        questions=_plain(model, raw, "input_requests", "inputRequests") or {},
        result=_plain(model, raw, "result"),
        error=_plain(model, raw, "error"),
    )


def pace(interval: float | None, asked: int) -> float:
    """Seconds until the next question, after so many that brought nothing new."""
    chosen = min(FIRST * FACTOR ** min(asked, 10), LONGEST) if interval is None else interval
    return max(chosen, LEAST)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _plain(model: Any, raw: Mapping[str, object], member: str, name: str | None = None) -> Any:
    """A member as the JSON that it came in, if it passed as what the model wants."""
    return None if getattr(model, member, None) is None else raw[name or member]

"""One request while it is being answered, and what is remembered of it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from syncline.concurrency.deadline import Deadline
from syncline.serving import INTERNAL_ERROR, JSON, LEVELS, META, Message, Refused

if TYPE_CHECKING:
    from .core import Core

#: Seconds for the client to answer a question.
ANSWERING = 60.0


class Gone(Exception):
    """The client is not there any more, or has lost interest: there is nobody to answer."""


class Wire(ABC):
    """The way back to one client: a connection, or over HTTP one request."""

    @abstractmethod
    def send(self, message: JSON) -> None:
        """Send a message. Raises ``Gone``."""

    @abstractmethod
    def drop(self) -> None:
        """Break the connection."""

    @abstractmethod
    def ended(self) -> bool:
        """Whether the client is not there any more."""

    def tell(self, message: JSON) -> None:  # noqa: B027
        """Send what belongs to no request, where there is a way for that (handshake era). Raises ``Gone``."""

    def refuse(self, status: int, headers: Mapping[str, str], body: str) -> bool:  # noqa: ARG002
        """Answer with an HTTP status and no message, where there is such a thing; False where there is not."""
        return False


@dataclass
class Session:
    """What is remembered between the messages of one client.

    Attributes:
        revision: What was settled on in the handshake; None without one.
        level: The least severe log messages that it wants to hear (handshake era).
        cancelled: The ids of the requests that it has lost interest in.
    """

    revision: str | None = None
    level: str = "debug"
    cancelled: set[object] = field(default_factory=set)


@dataclass(frozen=True)
class Received:
    """A message that came in.

    Attributes:
        method: Its method.
        params: Its params, without ``_meta``.
        meta: ``params._meta``.
        id: The JSON-RPC id; None for a notification.
        headers: The HTTP headers, names in lower case; none in memory.
    """

    method: str
    params: Mapping[str, Any]
    meta: Mapping[str, Any]
    id: int | str | None
    headers: Mapping[str, str]


@dataclass
class Call:
    """A request that is being answered. A function whose parameter is annotated with this class is given it.

    Attributes:
        message: The request.
    """

    core: Core
    message: Message
    wire: Wire
    session: Session
    _asked: int = field(default=0, init=False)

    @property
    def params(self) -> JSON:
        """The params of the request."""
        return self.message.params

    @property
    def stateless(self) -> bool:
        """Whether it came in 2026-07-28."""
        return self.message.stateless

    @property
    def cancelled(self) -> bool:
        """Whether the client has lost interest."""
        return self.message.id in self.session.cancelled or self.ended

    @property
    def ended(self) -> bool:
        """Whether the client is not there any more, or the server is closing."""
        return self.core.closed or self.wire.ended()

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification that belongs to this request."""
        self.wire.send({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress, if the client wants to hear of it."""
        token = self.message.meta.get("progressToken")
        if token is not None:
            told = {"progress": progress, "total": total, "message": message}
            known = {key: value for key, value in told.items() if value is not None}
            self.notify("notifications/progress", {"progressToken": token, **known})

    def log(self, level: str, data: object) -> None:
        """Send a log message, if the client wants any as unimportant as that."""
        wanted = self.message.meta.get(META + "logLevel") if self.stateless else self.session.level
        if wanted is not None and LEVELS.index(level) >= LEVELS.index(wanted):
            self.notify("notifications/message", {"level": level, "data": data, "logger": self.core.name})

    def ask(self, method: str, params: Mapping[str, object]) -> JSON:
        """Ask the client something (``elicitation/create``, ``sampling/createMessage``, ``roots/list``); its result.

        Blocks until the client answers. In 2026-07-28 a question ends the request, and the answer comes with the next one:
        the function is run again from its beginning, and its earlier questions are answered as they were.
        Raises ``Refused`` with the client's error.
        """
        self._asked += 1
        question = {"method": method, "params": dict(params)}
        if not self.stateless:
            return self.core.ask(self, question)
        key = f"question-{self._asked}"
        answered: JSON = json.loads(self.params.get("requestState") or "{}") | self.params.get("inputResponses", {})
        if key not in answered:
            raise InputNeeded({key: question}, json.dumps(answered))
        answer: JSON = answered[key]
        return answer

    def elicit(self, message: str, schema: Mapping[str, object]) -> JSON:
        """Ask the person a form; ``{"action": "accept", "content": {...}}``, or another action."""
        return self.ask("elicitation/create", {"mode": "form", "message": message, "requestedSchema": dict(schema)})

    def sleep(self, seconds: float | None) -> None:
        """Wait; None for ever. Raises ``Gone`` as soon as nobody waits for the answer any more."""
        self.core.monitor.wait(lambda: self.cancelled, Deadline(seconds))
        if self.cancelled:
            raise Gone


class InputNeeded(Exception):
    """The request ends with questions (2026-07-28)."""

    def __init__(self, questions: JSON, state: str) -> None:
        self.result: JSON = {"resultType": "input_required", "inputRequests": questions, "requestState": state}


def answer_of(message: Mapping[str, Any]) -> JSON:
    """The result in a client's answer; ``Refused`` with its error."""
    if "error" in message:
        error = message["error"]
        raise Refused(error.get("code", INTERNAL_ERROR), error.get("message", ""), error.get("data"))
    result: JSON = message["result"]
    return result

"""Who answers what servers ask: a policy, and one handler for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Literal

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from syncline.errors import ConfigError
from syncline.protocol.questions import ElicitRequest, answered

if TYPE_CHECKING:
    from typing import TypeAlias

    #: The filled-in form, True for a URL that is agreed to, None to decline.
    Answer: TypeAlias = Mapping[str, object] | bool | None
    #: Decides about one request of a server: ``decline``, ``ask`` the handler, or the answer itself.
    Decide: TypeAlias = Callable[[str, "Elicitation"], Answer | Literal["decline", "ask"]]
    Policy: TypeAlias = Literal["never", "ask"] | Decide
    Handler: TypeAlias = Callable[["Elicitation"], Answer]

_numbers = count(1)


@dataclass(frozen=True)
class Elicitation(ElicitRequest):
    """A server asks a person something, one of many servers.

    Attributes:
        id: Its own among those of all servers and managers of this process.
        gone: Tells whether the connection that it came on has ended, so that nobody waits for the answer.
    """

    id: str = ""
    gone: Callable[[], bool] = field(default=lambda: False, repr=False, compare=False)


class Router:
    """Decides for each request, and keeps count of those that are with the handler."""

    def __init__(self, policy: Policy, handler: Handler | None) -> None:
        self.policy = policy
        self._handler = handler
        self._monitor = Monitor()
        self._outstanding: dict[str, Elicitation] = {}

    @property
    def policy(self) -> Policy:
        """What happens to requests from now on."""
        return self._policy

    @policy.setter
    def policy(self, policy: Policy) -> None:
        if not callable(policy) and policy not in ("never", "ask"):
            raise ConfigError(f"elicitation is never, ask or a function, not {policy!r}")
        self._policy: Policy = policy

    @property
    def answers(self) -> bool:
        """Whether servers are told that they may ask."""
        return self._handler is not None or callable(self._policy)

    @property
    def outstanding(self) -> tuple[Elicitation, ...]:
        """The requests that the handler has and somebody waits for, oldest first."""
        with self._monitor:
            requests = tuple(self._outstanding.values())
        return tuple(request for request in requests if not request.gone())

    def door(self, server: str, gone: Callable[[], bool]) -> Callable[[ElicitRequest], Answer]:
        """The handler for the connection to one server."""
        return lambda request: self._answer(server, request, gone)

    def _answer(self, server: str, asked: ElicitRequest, gone: Callable[[], bool]) -> Answer:
        policy = self._policy  # read once: a change counts for the next request
        about = {**vars(asked), "server": server}
        request = Elicitation(**about, id=f"elicitation-{next(_numbers)}", gone=gone)
        if policy == "never":
            return None
        if callable(policy):
            verdict = policy(server, request)
            if verdict == "decline":
                return None
            if not isinstance(verdict, str):
                return verdict
            if verdict != "ask":
                raise ValueError(f"an elicitation policy says decline, ask, or the answer itself, not {verdict!r}")
        if self._handler is None:
            return None
        with self._monitor:
            self._outstanding[request.id] = request
        try:
            return self._handler(request)
        finally:
            with self._monitor:
                del self._outstanding[request.id]


class Elicitations:
    """A handler for programs whose people answer from elsewhere: it keeps requests until ``resolve()``, from any thread.

    ::

        asked = Elicitations(on_request=show)
        servers = ConnectionManager(config, on_elicitation=asked)
        ...
        asked.resolve(request.id, {"confirmed": True})

    Several managers may share one. A request whose connection ends is dropped.

    Args:
        on_request: Called with each request as it comes, on the thread that will wait for its answer.
    """

    def __init__(self, on_request: Callable[[Elicitation], object] | None = None) -> None:
        self._on_request = on_request
        self._monitor = Monitor()
        self._waiting: dict[str, Elicitation] = {}
        self._answers: dict[str, Answer | Exception] = {}

    @property
    def pending(self) -> tuple[Elicitation, ...]:
        """The requests that wait for an answer, oldest first."""
        with self._monitor:
            requests = tuple(self._waiting.values())
        return tuple(request for request in requests if not request.gone())

    def resolve(self, ident: str, answer: Answer | Exception) -> None:
        """Answer a request by its id; never blocks. ``Cancel()`` cancels.

        Raises ``LookupError`` for one that is unknown, has been answered, or whose connection has ended; ``ValueError`` for an
        answer that does not fit the form and ``TypeError`` for what is no answer, and the request waits for another one.
        """
        with self._monitor:
            request = self._waiting.get(ident)
            if request is None or ident in self._answers or request.gone():
                raise LookupError(f"no request {ident!r} waits for an answer")
            if not isinstance(answer, Exception):
                answered(request, answer)
            self._answers[ident] = answer

    def __call__(self, request: Elicitation) -> Answer:
        """As a handler: waits for ``resolve()``, or for the end of the connection, which is noticed within half a second."""
        with self._monitor:
            self._waiting[request.id] = request
        try:
            if self._on_request is not None:
                self._on_request(request)
            self._monitor.wait(lambda: request.id in self._answers or request.gone(), Deadline(None))
        finally:
            with self._monitor:
                del self._waiting[request.id]
                answer = self._answers.pop(request.id, None)
        if isinstance(answer, Exception):
            raise answer
        return answer

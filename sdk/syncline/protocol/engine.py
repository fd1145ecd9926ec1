"""The pending table and what happens to each received message. Never blocks. Called under the connection's lock, but ``notice``.

The table is the truth: whoever takes a call out of it owns the outcome of that call. The driver takes one out when its
caller gives up; the engine takes one out when the answer comes. Nobody else can then end that call a second time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, Union

from syncline.errors import InvalidMessage, LocalProtocolError, server_error

from .events import Event, Notification, Progress, Reply, ServerRequest, Tolerated, Withdrawn
from .jsonrpc import Answer, Malformed, Message
from .revisions import META, Revision

if TYPE_CHECKING:
    from typing import TypeGuard

Owner = TypeVar("Owner")

#: The key in ``_meta`` that says which stream a notification belongs to.
SUBSCRIPTION_ID = META + "subscriptionId"
#: Notifications that may change what is known of a call.
OF_CALLS = frozenset({"notifications/progress", "notifications/cancelled"})
#: Ids of calls that were given up, kept to tell a late answer (normal) from an answer to nothing (a fault).
REMEMBERED = 256


@dataclass(eq=False)
class Call(Generic[Owner]):
    """A request that waits for its answer.

    Attributes:
        id: Its JSON-RPC id, unique for the life of the engine; also its progress token.
        method: Its method.
        owner: Whatever the driver needs to hand the outcome over.
        stream: It stays open, and the notifications that bear its id belong to it.
        progress: The last progress that was reported.
    """

    id: int
    method: str
    owner: Owner
    stream: bool = False
    progress: float | None = None


#: An event, with the call that it concerns where it concerns one.
Happening = tuple[Event, Union["Call[Owner]", None]]


class Engine(Generic[Owner]):
    """One connection's requests."""

    def __init__(self, pending_limit: int) -> None:
        self.pending: dict[int, Call[Owner]] = {}
        self.revision: Revision | None = None
        self._limit = pending_limit
        self._last_id = 0
        self._abandoned: list[int] = []

    def start_call(self, method: str, owner: Owner, *, stream: bool = False) -> Call[Owner]:
        """Register a call; its id was never used before on this connection."""
        if len(self.pending) >= self._limit:
            raise LocalProtocolError(f"{self._limit} calls are waiting for an answer already (Limits.pending_calls)")
        self._last_id += 1
        call = Call(self._last_id, method, owner, stream)
        self.pending[call.id] = call
        return call

    def abandon(self, call: Call[Owner]) -> bool:
        """Give a call up. False if its outcome has been decided: it is on its way to the owner."""
        if self.pending.pop(call.id, None) is None:
            return False
        self._remember(call.id)
        return True

    def drain(self) -> list[Call[Owner]]:
        """Give all calls up; the driver ends them."""
        calls = list(self.pending.values())
        self.pending.clear()
        self._remember(*[call.id for call in calls])
        return calls

    def _remember(self, *ids: int) -> None:
        self._abandoned += ids
        del self._abandoned[:-REMEMBERED]

    def receive(
        self, message: Message, origin: int | None = None, status: int | None = None
    ) -> Happening[Owner] | None:
        """What a received message means; None for nothing that concerns anybody any more.

        ``origin`` is the id of the call whose own HTTP answer carried it; such an answer can end no other call.
        ``status`` is given where it is the whole of that answer: then a text which is no message ends the call.
        """
        if isinstance(message, Answer):
            return self._answer(message, origin, status)
        if isinstance(message, Malformed):
            return self._malformed(message, origin, sole=status is not None)
        if isinstance(message, ServerRequest):
            stateless = self.revision is not None and self.revision.era == "stateless"
            return (Tolerated("server-request", message.method, message.params) if stateless else message), None
        if isinstance(message, Tolerated):
            expected = message.code == "batch" and (self.revision is None or self.revision.batches)
            return None if expected else (message, None)
        if message.method == "notifications/progress":
            return self._progress(message.params)
        if message.method == "notifications/cancelled":
            return self._cancelled(message)
        return self.notice(message, origin)

    def notice(self, notification: Notification, origin: int | None) -> Happening[Owner] | None:
        """What a notification that is not in ``OF_CALLS`` means.

        It looks at the table once and changes nothing, so it needs no lock: all streams of a connection would share it.
        """
        meta = notification.params.get("_meta")
        named = meta.get(SUBSCRIPTION_ID) if isinstance(meta, dict) else None
        if named is None:
            return notification, self._stream(origin)
        key = _our_id(named)
        call = self._stream(key) if origin in (None, key) else None
        if call is not None:
            return notification, call
        finished = key is not None and key <= self._last_id
        return None if finished else (Tolerated("foreign-subscription", notification.method, named), None)

    def _answer(self, answer: Answer, origin: int | None, status: int | None) -> Happening[Owner] | None:
        key, tolerated = _our_id(answer.id), "id-as-string" if isinstance(answer.id, str) else None
        if key is None and answer.id is None and answer.error is not None:
            key = origin
        call = self.pending.get(key) if key is not None else None
        if call is None or (origin is not None and key != origin):
            if key in self._abandoned:
                return None
            return Tolerated("foreign-answer", f"id {answer.id!r}", answer.error or answer.result), None
        del self.pending[call.id]
        if answer.error is None:
            return Reply(answer.result, None, tolerated), call
        error = server_error(answer.error.code, answer.error.message, answer.error.data, status)
        return Reply(None, error, tolerated), call

    def _malformed(self, message: Malformed, origin: int | None, *, sole: bool) -> Happening[Owner]:
        key = origin if sole else message.id
        call = self.pending.pop(key, None) if isinstance(key, int) and origin in (None, key) else None
        if call is None:
            return Tolerated("not-a-message", message.reason, message.raw), None
        return Reply(error=InvalidMessage(message.reason, raw=message.raw)), call

    def _stream(self, key: int | None) -> Call[Owner] | None:
        call = self.pending.get(key) if key is not None else None
        return call if call is not None and call.stream else None

    def _cancelled(self, notification: Notification) -> Happening[Owner] | None:
        """In the handshake era a server cancels what it asked itself; in the stateless one only a stream of ours (CAN-4)."""
        named = notification.params.get("requestId")
        if self.revision is None or self.revision.era == "handshake":
            return Withdrawn(named, notification), None
        key = _our_id(named)
        call = self.pending.get(key) if key is not None else None
        if call is None or not call.stream:
            finished = call is None and key is not None and key <= self._last_id
            return None if finished else (Tolerated("server-cancels", f"id {named!r}", notification.params), None)
        del self.pending[call.id]
        return Reply({}), call

    def _progress(self, params: dict[str, object]) -> Happening[Owner] | None:
        token, progress, total, message = (params.get(key) for key in ("progressToken", "progress", "total", "message"))
        key = _our_id(token)
        call = self.pending.get(key) if key is not None else None
        if call is None:
            finished = key is not None and key <= self._last_id
            return None if finished else (Tolerated("progress-token", f"token {token!r}", params), None)
        if not _is_number(progress):
            return Tolerated("progress-value", call.method, params), None
        if call.progress is not None and progress <= call.progress:
            return Tolerated("progress-backwards", call.method, params), None
        call.progress = progress
        return Progress(
            progress, total if _is_number(total) else None, message if isinstance(message, str) else None
        ), call


def _our_id(value: object) -> int | None:
    """The id of ours that a server means: some send integers back as text."""
    if type(value) is int:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

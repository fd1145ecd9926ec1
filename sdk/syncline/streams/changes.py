"""Change streams: being told that lists and resources have changed, in either era.

(Specification: ``subscriptions/listen`` of 2026-07-28; before, ``list_changed`` notifications and ``resources/subscribe``.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from syncline import logs
from syncline.concurrency import lifecycle
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.pending import Pending
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import join, spawn
from syncline.config import Backoff
from syncline.errors import (
    ConcurrencyError,
    ConfigError,
    ForkedConnection,
    RequestTimeout,
    ServerError,
    StreamError,
    StreamTerminated,
    SynclineError,
)
from syncline.protocol.events import Notification, Reply
from syncline.session.channel import Channel
from syncline.session.retry import pause

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from syncline.concurrency.workers import Thread
    from syncline.session.session import Session

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
UPDATED = "notifications/resources/updated"
CHANGED: Mapping[str, Kind] = {
    "notifications/tools/list_changed": "tools_changed",
    "notifications/prompts/list_changed": "prompts_changed",
    "notifications/resources/list_changed": "resources_changed",
}
#: Pauses before a stream that was lost is made again; the first attempt comes at once.
AGAIN = Backoff(base=1, factor=2, cap=30)
#: Seconds to wait for the acknowledgement of a stream, and for a stream to end.
OPENING, ENDING = 30.0, 2.0

if TYPE_CHECKING:
    from typing import TypeAlias

    Kind: TypeAlias = Literal[
        "tools_changed", "prompts_changed", "resources_changed", "resource_updated", "resubscribed"
    ]


class Change(NamedTuple):
    """Something is not as it was.

    Attributes:
        kind: ``tools_changed``, ``prompts_changed``, ``resources_changed``: that list. ``resource_updated``: the resource
            ``uri``, or one below it. ``resubscribed``: the stream was lost and made again; anything may have changed.
        uri: Of the resource, for ``resource_updated``.
    """

    kind: Kind
    uri: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What to be told of."""

    tools: bool
    prompts: bool
    resource_list: bool
    resources: tuple[str, ...]

    def filter(self) -> dict[str, object]:
        """As ``subscriptions/listen`` has it: what is left out is not wanted."""
        asked: dict[str, object] = {
            "toolsListChanged": self.tools,
            "promptsListChanged": self.prompts,
            "resourcesListChanged": self.resource_list,
            "resourceSubscriptions": list(self.resources),
        }
        return {key: value for key, value in asked.items() if value}

    def change(self, notification: Notification) -> Change | None:
        """What a notification says; None if it is of no interest."""
        if notification.method == UPDATED:
            uri = notification.params.get("uri")
            return Change("resource_updated", uri) if self.resources and isinstance(uri, str) else None
        kind = CHANGED.get(notification.method)
        if kind is None:
            return None
        wanted = {"tools_changed": self.tools, "prompts_changed": self.prompts}.get(kind, self.resource_list)
        return Change(kind) if wanted else None

    def ours(self, uri: str, others: Collection[str]) -> bool:
        """Whether news of a resource are for us and not for ``others``, where all subscriptions share one stream.

        A server may name a resource below the one that was subscribed to; one that nobody can place is for everybody.
        """
        if uri.startswith(self.resources):
            return True
        return not any(uri.startswith(other) for other in others)


class Changes:
    """The changes that were subscribed to: an iterator, and a context manager.

    Changes that wait to be taken are kept once each: a list that changed twice has changed. A stream that is lost is made
    again, with growing pauses, for as long as it takes; then ``resubscribed`` comes first. What the client keeps of lists is
    dropped by each change.
    """

    def __init__(self, session: Session, wanted: Wanted) -> None:
        if not wanted.filter():
            raise ConfigError("subscribe to something: tools, prompts, resource_list or resources").at(session.name)
        self._session = session
        self._wanted = wanted
        self._waiting: Pending[Change] = Pending()
        self._put: Callable[[Change], None] | None = None
        self._finish: Callable[[], None] = self._waiting.end
        self._over = session.closing.child()
        self._lock = new_lock()  # where changes go
        self._taking = False
        self._source: Listening | Standing = (Listening if _stateless(session) else Standing)(session, wanted, self)
        self.accepted: Mapping[str, object] = wanted.filter()
        self.last_error: SynclineError | None = None
        self.state: Literal["starting", "active", "reconnecting", "terminated", "closed"] = "starting"

    def open(self) -> Self:
        """Subscribe. Blocks until the server has confirmed; raises what a request raises, and ``StreamError``."""
        self._source.open()
        self.state = "active"
        lifecycle.opened(self)
        return self

    def events(self, timeout: float | None = None) -> Iterator[Change]:
        """The changes, until none comes for ``timeout`` seconds (None: no limit) or the stream is closed.

        Raises ``StreamTerminated`` if the server ended it for good, once everything before was taken.
        """
        while True:
            change = self.get(timeout)
            if change is None:
                return
            yield change

    def __iter__(self) -> Iterator[Change]:
        return self.events()

    def get(self, timeout: float | None = None) -> Change | None:
        """The next change; None after ``timeout`` seconds, or when the stream is closed. One thread at a time."""
        if self._taking:
            raise ConcurrencyError("another thread takes from this stream").at(self._session.name)
        self._taking = True
        try:
            change = self._waiting.take(Deadline(timeout))
        finally:
            self._taking = False
        if change is None and self.state == "terminated" and self.last_error is not None:
            raise self.last_error.again()
        return change

    def run_in_thread(
        self, handle: Callable[[Change], object], on_error: Callable[[Exception], object] | None = None
    ) -> ChangesThread:
        """Give each change to ``handle`` on a thread of its own, each one that comes, in order.

        What ``handle`` raises goes to ``on_error`` (by default to the log), and the thread goes on.
        """
        return ChangesThread(self, handle, on_error or self._report)

    def close(self, timeout: float | None = None) -> None:
        """Unsubscribe, from any thread; whoever waits is let go. Blocks for ``timeout`` seconds at most, by default 2."""
        if self.state not in ("terminated", "closed"):
            self.state = "closed"
        self._over.cancel(StreamError("the stream was closed"))
        self._finish()
        self._source.close(ENDING if timeout is None else min(timeout, ENDING))
        lifecycle.closed(self)

    def forked(self) -> None:
        """In a forked child: whoever takes is told so."""
        text = "the stream was opened before a fork and belongs to the parent; subscribe again"
        error = ForkedConnection(text).at(self._session.name)
        self.state, self.last_error = "terminated", error
        self._over.cancel(error)
        self._waiting = Pending()
        self._waiting.end()
        self._source.forked()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<syncline.Changes {self._session.name}: {self.state}>"

    # What the source tells

    def told(self, notification: Notification) -> None:
        """A notification that may be a change."""
        change = self._wanted.change(notification)
        if change is not None:
            self._hand_on(change)

    def missed(self) -> None:
        """The stream was made again: nobody knows what was missed."""
        if not self.finished:
            self.state = "active"
        self._session.inbox.forget()
        self._hand_on(Change("resubscribed"))

    def lost(self, error: SynclineError | None) -> None:
        """The stream is gone, and will be made again."""
        if not self.finished:
            self.state = "reconnecting"
            self.last_error = error

    def terminated(self, error: SynclineError) -> None:
        """The stream is gone for good."""
        if not self.finished:
            ended = StreamTerminated(f"the stream has ended: {error.message}").at(self._session.name)
            ended.__cause__ = error
            self.last_error = ended
            self.state = "terminated"
        self._finish()

    def redirect(self, put: Callable[[Change], None], finish: Callable[[], None]) -> None:
        """Hand changes to somebody else from now on, beginning with those that wait."""
        with self._lock:
            self._put, self._finish = put, finish
        while (change := self._waiting.take(Deadline(0.0))) is not None:
            put(change)
        if self.finished:
            finish()

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("terminated", "closed")

    @property
    def uris(self) -> Collection[str]:
        """The resources that are subscribed to."""
        return self._wanted.resources

    def _hand_on(self, change: Change) -> None:
        with self._lock:
            put = self._put
            if put is None:
                self._waiting.put(change)
        if put is not None:
            put(change)  # may run what the user handles it with

    @property
    def name(self) -> str:
        """The server's."""
        return self._session.name

    def own_thread(self) -> bool:
        """Whether this is a thread that does nothing but read this stream, and may be held up."""
        return self._source.own_thread()

    @property
    def over(self) -> CancelToken:
        """Cancelled when the stream is closed."""
        return self._over

    def _report(self, error: Exception) -> None:
        logs.wire.error("%s: a change could not be handled: %s", self._session.name, error, exc_info=error)


class ChangesThread:
    """Changes being handled; see ``Changes.run_in_thread``.

    What the stream's own thread brings is handled there, which saves handing it over and lets a slow handler slow down the
    server; what other threads bring (a shared channel, the answers of other requests) on a thread for that, which the first
    of them starts. Never both at once.
    """

    def __init__(
        self, changes: Changes, handle: Callable[[Change], object], on_error: Callable[[Exception], object]
    ) -> None:
        self._changes = changes
        self._handle = handle
        self._on_error = on_error
        self._slot: ReplySlot[Change | None] = ReplySlot()
        self._ended = CancelToken()
        self._turn = new_lock()
        self._starting = new_lock()
        self._thread: Thread | None = None
        changes.redirect(self._take, self._end)

    def stop(self) -> None:
        """Close the stream; nothing more is handled when the change in hand is done. Never waits for it."""
        self._changes.close()

    def join(self, timeout: float | None = None) -> bool:
        """Wait until the stream has ended, for ``timeout`` seconds at most (None: no limit); whether it has."""
        deadline = Deadline(timeout)
        if not self._ended.wait(deadline):
            return False
        with self._starting:
            thread = self._thread
        return thread is None or not join([thread], deadline)

    def _take(self, change: Change) -> None:
        if self._changes.own_thread():
            self._work(change)
            return
        with self._starting:
            if self._thread is None:
                self._thread = spawn(f"syncline:{self._changes.name}:changes", self._run)
        self._slot.put(change)

    def _end(self) -> None:
        self._slot.put(None)
        self._ended.cancel(StreamError("the stream has ended"))

    def _run(self) -> None:
        forever = Deadline(None)
        while (change := self._slot.take(forever)) is not None:
            self._work(change)

    def _work(self, change: Change) -> None:
        with self._turn:
            if self._changes.over.cancelled:
                return
            try:
                self._handle(change)
            except Exception as error:
                self._on_error(error)


class Listening:
    """The stateless era: one ``subscriptions/listen`` request, made again whenever it ends."""

    def __init__(self, session: Session, wanted: Wanted, changes: Changes) -> None:
        self._session = session
        self._wanted = wanted
        self._changes = changes
        self._channel: Channel | None = None
        self._answer: ReplySlot[Reply] = ReplySlot()
        self._acknowledged = False
        self._again = False
        self._turn = 0

    def open(self) -> None:
        """Send it, and wait for the acknowledgement."""
        try:
            self._listen()
            answer = self._answer.take(Deadline(OPENING))
            if answer is None:
                problem = f"no acknowledgement within {OPENING:g} s"
                raise RequestTimeout(problem).at(self._session.name, "subscriptions/listen")
            if answer.error is not None:
                raise answer.error
        except BaseException:
            self.close()
            raise

    def own_thread(self) -> bool:
        """See ``Changes``: over HTTP the stream has a connection to itself."""
        channel = self._channel
        return channel is not None and channel.own_thread()

    def close(self, timeout: float = ENDING) -> None:
        """Hang up, or cancel."""
        channel = self._channel
        if channel is not None:
            channel.close(timeout)

    def forked(self) -> None:
        """The request is the parent's."""
        self._channel = None

    def _listen(self) -> None:
        self._acknowledged = False
        self._channel = Channel(
            self._session.connection,
            "subscriptions/listen",
            {"notifications": self._wanted.filter()},
            on_notice=self._notice,
            on_end=self._ended,
        )

    def _notice(self, notification: Notification) -> None:
        if notification.method != ACKNOWLEDGED:
            self._turn = 0
            self._changes.told(notification)
            return
        accepted = notification.params.get("notifications")
        if isinstance(accepted, dict):
            self._changes.accepted = accepted
        self._acknowledged = True
        if self._again:
            self._changes.missed()
        else:
            self._answer.put(Reply({}))

    def _ended(self, reply: Reply) -> None:
        """On the channel's thread, which has nothing else to do any more."""
        if not self._again and not self._acknowledged:
            unconfirmed = StreamError("the server ended the stream before it confirmed it")
            self._answer.put(Reply(error=reply.error or unconfirmed))
            return
        self._again = True
        changes = self._changes
        error: SynclineError | None = reply.error
        while not changes.over.cancelled:
            if isinstance(error, ServerError):
                changes.terminated(error)
                return
            changes.lost(error)
            if self._turn and changes.over.wait(Deadline(pause(AGAIN, self._turn))):
                break
            self._turn += 1
            try:
                self._listen()
            except SynclineError as failure:
                error = failure
                continue
            if not changes.over.cancelled:
                return
            self.close(0.0)
        changes.terminated(error or StreamError("the client was closed"))


class Standing:
    """The handshake era: notifications come unasked, over the shared channel or the session's GET stream."""

    def __init__(self, session: Session, wanted: Wanted, changes: Changes) -> None:
        self._session = session
        self._wanted = wanted
        self._changes = changes

    def open(self) -> None:
        """Listen, then subscribe to each resource."""
        session = self._session
        session.inbox.taps.add(self._told)
        session.audience.add(self._changes)
        try:
            session.listener.join(self._changes)
            for uri in self._wanted.resources:
                session.call("resources/subscribe", {"uri": uri}, session.deadline(None))
        except BaseException:
            self.close()
            raise

    def own_thread(self) -> bool:
        """See ``Changes``: the thread of the GET stream."""
        return self._session.listener.own_thread()

    def close(self, timeout: float = ENDING) -> None:
        """Stop listening, and unsubscribe as far as the server can be reached."""
        session = self._session
        self._forget()
        session.listener.leave(self._changes, timeout)
        for uri in self._wanted.resources if session.connection.is_open else ():
            session.connection.later(lambda uri=uri: self._unsubscribe(uri))  # type: ignore[misc]

    def forked(self) -> None:
        """The parent goes on; a connection that the child makes has nothing to do with it."""
        self._forget()
        self._session.listener.forked()

    def _forget(self) -> None:
        session = self._session
        session.inbox.taps.discard(self._told)
        session.audience.discard(self._changes)

    def _told(self, notification: Notification) -> None:
        uri = notification.params.get("uri") if notification.method == UPDATED else None
        if not isinstance(uri, str) or self._wanted.ours(uri, self._session.resources()):
            self._changes.told(notification)

    def _unsubscribe(self, uri: str) -> None:
        if uri in self._session.resources():
            return  # somebody else is still subscribed to it
        try:
            self._session.call("resources/unsubscribe", {"uri": uri}, Deadline(ENDING))
        except SynclineError as error:
            logs.wire.info("%s: %s could not be unsubscribed: %s", self._session.name, uri, error)


def _stateless(session: Session) -> bool:
    return session.agreement.revision.era == "stateless"


def wanted(tools: bool, prompts: bool, resource_list: bool, resources: Sequence[str]) -> Wanted:
    """What ``client.subscribe()`` was asked for."""
    if isinstance(resources, str):
        raise ConfigError("resources is a sequence of URIs")
    return Wanted(tools, prompts, resource_list, tuple(resources))

"""Where change streams come from: a request that stays open, or notifications that come unasked, by the era."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.config import Backoff
from syncline.errors import RequestTimeout, ServerError, StreamError, SynclineError
from syncline.protocol.events import Notification, Reply
from syncline.session.channel import Channel
from syncline.session.retry import pause

from .wanted import UPDATED, Wanted

if TYPE_CHECKING:
    from syncline.session.session import Session

    from .changes import Changes

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
#: Pauses before a stream that was lost is made again; the first attempt comes at once.
AGAIN = Backoff(base=1, factor=2, cap=30)
#: Seconds to wait for the acknowledgement of a stream, and for a stream to end.
OPENING, ENDING = 30.0, 2.0


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
            silence=self._session.timeouts.stream_idle,
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
        if not isinstance(uri, str) or self._wanted.ours(uri, self._session.resources):
            self._changes.told(notification)

    def _unsubscribe(self, uri: str) -> None:
        if uri in self._session.resources():
            return  # somebody else is still subscribed to it
        try:
            self._session.call("resources/unsubscribe", {"uri": uri}, Deadline(ENDING))
        except SynclineError as error:
            logs.wire.info("%s: %s could not be unsubscribed: %s", self._session.name, uri, error)

"""One subscription, on a thread of its own, from the first attempt to the last update."""

from __future__ import annotations

import random
import time
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Protocol

from syncline import logs
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import spawn
from syncline.errors import (
    AccessChanged,
    RequestTimeout,
    StreamError,
    StreamOverflow,
    StreamTerminated,
    SynclineError,
    server_error,
)
from syncline.protocol.pace import Attempts

from .frames import ACTIVE, TERMINATED, position
from .stream import METHOD
from .update import Update, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncline.concurrency.outlet import Outlet
    from syncline.protocol.events import Notification
    from syncline.protocol.pace import Reconnect

    from .opener import StreamOpener
    from .stream import NotificationStream

#: Seconds past the activation limit for which ``wait()`` lets the thread report it.
REPORTING = 2.0


class MakeStream(Protocol):
    """Prepares the stream of a subscription, from a cursor on, to be open within so many seconds."""

    def __call__(self, *, cursor: str | None, timeout: float | None) -> NotificationStream:
        """The stream, not open yet."""
        ...


class Worker:
    """See the module.

    Args:
        key: The owner, and the subscription's id.
        attempt: Tags every update.
        opener: Says when access changes.
        make: Makes its streams; always for the same event and arguments.
        outlet: Where updates go.
        activation: Seconds until it must be active.
        reconnect: What happens after a plain end; None: nothing.
        retire: Called on its thread when the id is free again, before the last update.
    """

    def __init__(
        self,
        key: tuple[Hashable, str],
        attempt: int,
        opener: StreamOpener,
        make: MakeStream,
        outlet: Outlet[Update],
        *,
        activation: float,
        reconnect: Reconnect | None,
        retire: Callable[[Worker], None],
    ) -> None:
        self.key = key
        self.attempt = attempt
        self._opener = opener
        self._make = make
        self._outlet = outlet
        self._activation = activation
        self._reconnect = reconnect
        self._retire = retire
        self._backoff = None if reconnect is None else Attempts(reconnect)
        self._outage: Deadline | None = None
        self._cursor: str | None = None
        self._stream: NotificationStream | None = None
        self._active = self._terminated = False
        self._started: ReplySlot[SynclineError | bool] = ReplySlot()
        self._abandoned = False
        self._quit = CancelToken()  # it is to end, whatever it waits for
        self._deaf = CancelToken()  # nobody is to hear anything more
        self.thread = spawn(f"syncline:{opener.name}:sub-{key[1]}", self._run)

    def wait(self) -> None:
        """Wait until it is active; raises what came instead. Whoever stops waiting leaves it running."""
        try:
            outcome = self._started.take(Deadline(self._activation + REPORTING))
        except BaseException:
            self._abandoned = True
            raise
        if outcome is None:
            outcome = self._too_late()
            self.stop(outcome)
        if isinstance(outcome, SynclineError):
            raise outcome

    def stop(self, reason: SynclineError) -> None:
        """Let it end without a word; does not wait for that."""
        self._deaf.cancel(reason)
        self._end(reason)

    def _end(self, reason: SynclineError) -> None:
        self._quit.cancel(reason)
        if self._stream is not None:
            self._stream.abort(reason)

    # On the thread

    def _run(self) -> None:
        unwatch = self._opener.watch(self._end)
        try:
            ended = self._serve()
        except SynclineError as error:
            ended = error
        except BaseException as error:
            logs.wire.exception("%s: the subscription %s failed", self._opener.name, self.key[1])
            ended = StreamError(f"it failed: {error!r}")
            ended.__cause__ = error
        unwatch()
        self._close_stream()
        self._retire(self)
        self._report(None if ended is None else ended.at(self._opener.name, METHOD))

    def _serve(self) -> SynclineError | None:
        """Run to the end; why it ended, None for a plain end. Raises, too."""
        activation = Deadline(self._activation)
        try:
            self._connect(activation)
            while True:
                deadline = Deadline(None) if self._active else activation
                notification = self._receive(deadline) or self._open_again()
                if notification is None:
                    return None
                why = self._why(notification)
                self._forward(notification, why, deadline)
                if self._terminated:
                    return why
        except RequestTimeout as error:
            if not self._active and activation.expired:
                raise self._too_late() from error
            raise

    def _connect(self, deadline: Deadline) -> None:
        self._stream = self._make(cursor=self._cursor, timeout=deadline.remaining())
        self._check()  # it may have been stopped before there was a stream to abort
        self._stream.open()

    def _receive(self, deadline: Deadline) -> Notification | None:
        assert self._stream is not None
        notification = self._stream.receive(deadline.remaining())
        self._check()
        return notification

    def _open_again(self) -> Notification | None:
        """The first notification of a new stream in place of one that ended; None if there is not to be one."""
        assert self._stream is not None
        lost = self._stream.error
        if not self._active:
            raise StreamError("the stream ended before it was active") from lost
        if self._backoff is None or self._reconnect is None:
            return None
        self._outage = self._outage or Deadline(self._reconnect.budget)
        while True:
            self._close_stream()
            wait = self._backoff.next(time.monotonic(), random.random())
            if wait is None:
                raise StreamError("the stream was lost and could not be had again") from lost
            self._quit.wait(Deadline(wait))
            self._check()
            try:
                self._connect(self._outage)
                notification = self._receive(self._outage)
                lost = self._stream.error
            except AccessChanged:
                raise
            except SynclineError as error:
                self._check()
                lost, notification = error, None
            if notification is not None:
                return notification

    def _forward(self, notification: Notification, why: SynclineError | None, deadline: Deadline) -> None:
        method, params = notification.method, notification.params
        update = self._update(method, params, why)
        delivered = False
        if method == ACTIVE and not self._active:
            delivered = self._leave(update, Deadline(0), self._quit)
            self._check()
            self._active = True  # even if there is no room: a full queue is no reason to fail
            self._started.put(True)
            deadline = Deadline(None)
        if not delivered and not self._leave(update, deadline, self._quit):
            self._check()
            raise RequestTimeout("there was no room for updates")
        self._terminated = method == TERMINATED
        self._cursor = position(self._cursor, method, params)
        if method != ACTIVE and self._backoff is not None:
            self._backoff.reset()
            self._outage = None

    def _report(self, ended: SynclineError | None) -> None:
        """Say how it ended: to whoever waits in ``wait()``, or else in updates."""
        heard = self._active or self._abandoned
        if not heard:
            self._started.put(ended or StreamError("the stream ended before it was active"))
            return
        if self._active and not self._terminated and not self._leave(self._update(TERMINATED, {}, ended)):
            return
        self._leave(Update(*self.key, self.attempt, "ended", error=ended))

    def _leave(self, update: Update, deadline: Deadline | None = None, over: CancelToken | None = None) -> bool:
        if self._deaf.cancelled:
            return False
        try:
            return self._outlet.leave(update, deadline or Deadline(None), over or self._deaf)
        except Exception as error:
            logs.wire.exception("%s: updates of %s cannot be delivered", self._opener.name, self.key[1])
            failure = StreamError(f"updates cannot be delivered: {error!r}")
            failure.__cause__ = error
            self._deaf.cancel(failure)
            self._quit.cancel(failure)
            return False

    def _update(self, method: str, params: Mapping[str, object], error: SynclineError | None) -> Update:
        return Update(*self.key, self.attempt, kind_of(method), method, params, error)

    def _why(self, notification: Notification) -> SynclineError | None:
        """The error that a notification speaks of."""
        assert self._stream is not None
        kind, said = kind_of(notification.method), notification.params.get("error")
        error = None
        if kind in ("error", "terminated") and isinstance(said, Mapping):
            code, message = said.get("code"), str(said.get("message") or "")
            error = server_error(code if isinstance(code, int) else 0, message, said.get("data"))
            error.at(self._opener.name, METHOD)
        if kind != "terminated":
            return error
        if isinstance(self._stream.error, StreamOverflow):
            return self._stream.error
        text = f": {error.message}" if error is not None else ""
        return StreamTerminated(f"the server ended the subscription{text}", error=error)

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()

    def _check(self) -> None:
        if isinstance(self._quit.reason, SynclineError):
            raise self._quit.reason.again()

    def _too_late(self) -> RequestTimeout:
        return RequestTimeout(f"it was not active within {self._activation:g} s").at(self._opener.name, METHOD)

"""One event stream on a connection of its own: what the server sends, as it sends it, and how it ended."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.mailbox import Mailbox
from syncline.concurrency.workers import join, spawn
from syncline.errors import (
    ConnectionLost,
    ForkedConnection,
    LocalProtocolError,
    RequestTimeout,
    StreamOverflow,
    SynclineError,
    UnexpectedMessage,
)
from syncline.protocol import jsonrpc
from syncline.protocol.engine import SUBSCRIPTION_ID
from syncline.protocol.event_errors import EXTENSION, advertised
from syncline.protocol.events import Notification, Reply
from syncline.session.channel import Channel

from .frames import PREFIX, TERMINATED

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from syncline.client import Client
    from syncline.concurrency.workers import Thread
    from syncline.config import Limits

    from .access import Access

METHOD = "events/stream"
#: Seconds for the thread that reads the stream to notice that it is to end.
HANGING_UP = 2.0
#: The stream is over without the server having refused it: it hung up.
LOST = (ConnectionLost, UnexpectedMessage)


class NotificationStream:
    """The notifications of one ``events/stream`` request. Made by ``StreamOpener``.

    A context manager and an iterator; ``open()`` comes first. Nothing is repeated or made again here: when the stream is over,
    it is over. One that nobody reads is given up at ``Limits.pending_bytes``; its last item is then a ``terminated``
    without params.

    Attributes:
        error: Why it ended, where that was not a plain end: what ``receive()`` raised, or what became of the connection.
    """

    def __init__(
        self,
        client: Client,
        params: Mapping[str, object],
        meta: Mapping[str, object] | None,
        *,
        access: Access,
        limits: Limits,
        require_advertisement: bool,
    ) -> None:
        self.error: SynclineError | None = None
        self._client = client
        self._params = params
        self._meta = meta
        self._access = access
        self._limits = limits
        self._require_advertisement = require_advertisement
        self._mailbox: Mailbox[Notification] = Mailbox(limits.pending_bytes, limits.pending_bytes)
        self._lock = new_lock()  # guards how it ends
        self._over = False
        self._failure: SynclineError | None = None
        self._channel: Channel | None = None
        self._releasing: Thread | None = None
        self._unwatch: Callable[[], None] = lambda: None

    @property
    def name(self) -> str:
        """What errors and logs call the server."""
        return self._client.name

    def open(self) -> Self:
        """Connect and send the request; does not wait for the server to say anything about it.

        Blocks for ``Timeouts.startup`` at most; ``close()`` from another thread, a change of account, the removal of the
        server and Ctrl-C end it. Raises ``AccessChanged`` (before anything is sent, if it is known by then),
        ``LocalProtocolError`` for a server that offers no events, and what ``Client.open()`` raises.
        """
        self._unwatch = self._access.watch(self.abort)
        try:
            self._require_access()
            self._client.open()
            self._require_access()
            self._require_events()
            lifecycle.opened(self)
            self._channel = Channel(
                self._client._session.connection,
                METHOD,
                self._params,
                meta=self._meta,
                extensions={EXTENSION: {}},
                on_notice=self._take,
                on_end=self._answered,
            )
        except BaseException as error:
            self.close()
            ended = self.error
            if ended is not None and ended is not error:
                raise ended from error
            raise
        return self

    def receive(self, timeout: float | None = None) -> Notification | None:
        """The next notification, as the server sent it; None once the stream is over.

        Blocks until one comes, the stream is over, or so many seconds have passed; ``close()`` from another thread ends it.
        A result, a cancellation and a connection that ended are a plain end, after everything that came before. Anything
        else is raised, once: a JSON-RPC error, an HTTP status, ``AccessChanged`` (at once, whatever is waiting),
        ``StreamOverflow``; and ``RequestTimeout`` where nothing came in time.
        """
        item = self._mailbox.take(Deadline(timeout))
        if item is not None:
            return item
        if not self._mailbox.ended:
            raise RequestTimeout(f"nothing came within {timeout:g} s").at(self.name, METHOD)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        return None

    def close(self, timeout: float | None = None) -> None:
        """End it, from any thread: nothing is delivered any more, the server is told, the connection is closed.

        Blocks for so many seconds at most, by default ``Timeouts.close``. Again does no harm.
        """
        self._end(None, at_once=True)
        self._failure = None
        if self._releasing is None:
            self._release(timeout)
        else:
            join([self._releasing], Deadline(self._client._session.timeouts.close if timeout is None else timeout))

    def abort(self, reason: SynclineError) -> None:
        """End it, from any thread, without waiting for that; ``receive()`` raises the reason."""
        if self._end(reason.at(self.name, METHOD), at_once=True):
            self._release_later()

    def forked(self) -> None:
        """In a forked child: refuse all use."""
        self._mailbox = Mailbox(0, 0)
        self._end(
            ForkedConnection("the stream was opened before a fork and belongs to the parent").at(self.name, METHOD)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[Notification]:
        return iter(self.receive, None)

    # What may end it before it begins

    def _require_access(self) -> None:
        change = self.error or self._access.check()
        if change is not None:
            self.error = change
            raise change.at(self.name, METHOD)

    def _require_events(self) -> None:
        if self._require_advertisement and advertised(self._client._session.agreement.capabilities) is None:
            raise LocalProtocolError("the server does not offer events").at(self.name, METHOD)

    # What the channel and the watch deliver; none of this blocks

    def _take(self, notification: Notification) -> None:
        meta = notification.params.get("_meta")
        named = isinstance(meta, dict) and SUBSCRIPTION_ID in meta
        if self._over or not named or not notification.method.startswith(PREFIX):
            return
        size = len(jsonrpc.encode_notification(notification.method, notification.params))
        if size > self._limits.notification_bytes:
            logs.wire.warning("%s: a notification of %d bytes is dropped", self.name, size)
        elif self._mailbox.weight + size <= self._limits.pending_bytes:
            self._mailbox.put(notification, size)
        else:
            self._mailbox.put(Notification(TERMINATED, {}))
            problem = f"more than {self._limits.pending_bytes} bytes were waiting to be taken"
            self._end(StreamOverflow(problem).at(self.name, METHOD))
            self._release_later()

    def _answered(self, reply: Reply) -> None:
        if isinstance(reply.error, LOST):
            self.error = self.error or reply.error
            self._end(None)
        else:
            self._end(reply.error)

    def _end(self, failure: SynclineError | None, *, at_once: bool = False) -> bool:
        """Let it be over, after what waits to be taken or instead of it; False if it was over before."""
        with self._lock:
            if self._mailbox.ended or (self._over and not at_once):
                return False
            self._over = True
            self._failure = failure
            self.error = failure or self.error
        if at_once:
            self._mailbox.close()
        else:
            self._mailbox.end()
        return True

    def _release_later(self) -> None:
        with contextlib.suppress(RuntimeError):  # no thread can be started at exit, when connections are closed anyway
            self._releasing = spawn(f"syncline:{self.name}:release", self._release)

    def _release(self, timeout: float | None = None) -> None:
        self._unwatch()
        if self._channel is not None:
            self._channel.close(HANGING_UP if timeout is None else min(timeout, HANGING_UP))
        if timeout is None:
            self._client.close()
        else:
            self._client._session.connection.close(timeout)
        lifecycle.closed(self)

"""The subscription manager: many event streams, their owners, and one place where updates arrive."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING

from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.outlet import Outlet
from syncline.concurrency.workers import join
from syncline.errors import ConnectionClosed, ForkedConnection, LocalProtocolError, SubscriptionLimit
from syncline.protocol.pace import Reconnect
from syncline.session.session import json_object

from .opener import StreamOpener
from .update import Update
from .worker import Worker

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self, Unpack

    from syncline.client import ClientOptions
    from syncline.concurrency.outlet import QueueLike

    from .access import CredentialChanges
    from .opener import Target

#: Three attempts in a row, after 1, 2 and 4 seconds, and 90 seconds for them all together.
RECONNECT = Reconnect(first=1, most=4, jitter=False, tries=3, budget=90)
#: Seconds that ``stop()`` and its siblings wait; all streams end at the same time.
ENDING = 10.0


class Subscriptions:
    """Event subscriptions, each on a connection and a thread of its own, and their updates in one place.

    A context manager, safe to share between threads. A subscription ends when its server ends it, when its stream fails or is
    lost for good, when the account changes or the server is removed, and when it is stopped. In the first cases its owner
    gets a ``terminated`` update (the server's, or one with empty params in its place) and then ``ended``, once each; where
    it is stopped here, nothing more. A stream whose connection just ended is opened again by ``reconnect``, with the same
    request, and with the last cursor where the server sends cursors.

    Args:
        updates: A queue (``queue.Queue``), or a function. A full queue holds up nothing but the subscriptions that have
            something to say, and those only up to ``Limits.pending_bytes`` each. A function is called on the threads of the
            subscriptions, by several at the same time; it may call the methods here. A queue that is shut down or a function
            that raises ends the subscription without a word.
        limit: How many may run at the same time.
        activation: Seconds that ``start()`` takes at most.
        reconnect: How streams that just ended are opened again: by default 3 times in a row, after 1, 2 and 4 seconds, within
            90 seconds. None leaves it to the owner.
        principal: Tells who we are, and ``changes`` when that may have changed; see ``StreamOpener``.
        changes: See ``principal``.
        options: Those of ``Client``, for the connections.
    """

    def __init__(
        self,
        updates: QueueLike[Update] | Callable[[Update], object],
        *,
        limit: int = 64,
        activation: float = 90,
        reconnect: Reconnect | None = RECONNECT,
        principal: Callable[[], object] | None = None,
        changes: CredentialChanges | None = None,
        **options: Unpack[ClientOptions],
    ) -> None:
        self._outlet = Outlet(updates)
        self._limit = limit
        self._activation = activation
        self._reconnect = reconnect
        self._principal = principal
        self._changes = changes
        self._options = options
        self._lock = new_lock()  # guards what follows
        self._running: dict[tuple[Hashable, str], Worker] = {}
        self._workers: list[Worker] = []  # those that run, and those that have something left to say
        self._attempts = 0
        self._closed: ConnectionClosed | None = None
        lifecycle.opened(self)

    @property
    def running(self) -> list[tuple[Hashable, str]]:
        """Owner and id of each subscription that runs or starts, oldest first."""
        with self._lock:
            return list(self._running)

    def start(
        self,
        owner: Hashable,
        subscription_id: str,
        server: Target | StreamOpener,
        event_name: str,
        arguments: Mapping[str, object] | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> int:
        """Start a subscription; returns the number of this attempt, which its updates bear, once it is active.

        Args:
            owner: Whose it is: anything that can be a key.
            subscription_id: Its name, unique among those of the owner that run.
            server: As for ``StreamOpener``; a client of it; or an opener, whose principal counts then.
            event_name: The event type.
            arguments: For the server.
            meta: For the request's ``_meta``.

        Blocks for ``activation`` seconds at most, opening included; ``stop()`` from another thread ends it. Ctrl-C ends the
        wait only: the subscription goes on. Raises, and nothing is left then: ``LocalProtocolError`` for an id that is in use
        or a server that offers no events, ``SubscriptionLimit``, ``RequestTimeout`` when it was not active in time,
        ``StreamError`` when it ended before that, ``AccessChanged``, ``ConnectionClosed``, and what opening and the server's
        refusal raise.
        """
        key = _key(owner, subscription_id)
        opener = server if isinstance(server, StreamOpener) else self._opener(server)
        make = functools.partial(
            opener.stream, event_name, dict(json_object(arguments or {}, "arguments", opener.name)), meta=meta
        )
        with self._lock:
            if self._closed is not None:
                raise self._closed.again()
            if key in self._running:
                raise LocalProtocolError(f"{owner!r} has a subscription {subscription_id!r} already")
            if len(self._running) >= self._limit:
                raise SubscriptionLimit(f"{self._limit} subscriptions are running already")
            self._attempts += 1
            worker = Worker(
                key,
                self._attempts,
                opener,
                make,
                self._outlet,
                activation=self._activation,
                reconnect=self._reconnect,
                retire=self._retire,
            )
            self._running[key] = worker
            self._workers = [*(other for other in self._workers if other.thread.is_alive()), worker]
        worker.wait()
        return worker.attempt

    def stop(self, owner: Hashable, subscription_id: str) -> None:
        """Stop a subscription; nothing is heard of it any more, and its connection is closed.

        Blocks until that is done, 10 seconds at most. One that does not run is no error.
        """
        self._stop(lambda key: key == (owner, subscription_id))

    def stop_owner(self, owner: Hashable) -> None:
        """Stop all of an owner's subscriptions; see ``stop()``."""
        self._stop(lambda key: key[0] == owner)

    def clear(self) -> None:
        """Stop all subscriptions; see ``stop()``."""
        self._stop(lambda _: True)

    def close(self, timeout: float | None = None) -> None:
        """Stop all subscriptions and refuse new ones for good. Blocks for so many seconds at most, by default 10."""
        with self._lock:
            self._closed = self._closed or ConnectionClosed("the subscriptions were closed")
        self._stop(lambda _: True, ENDING if timeout is None else timeout)
        lifecycle.closed(self)

    def forked(self) -> None:
        """In a forked child: the subscriptions stayed with the parent."""
        if self._running:
            self._closed = ForkedConnection("the subscriptions were started before a fork and belong to the parent")
        self._running, self._workers = {}, []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _opener(self, server: Target) -> StreamOpener:
        return StreamOpener(server, principal=self._principal, changes=self._changes, **self._options)

    def _stop(self, chosen: Callable[[tuple[Hashable, str]], bool], seconds: float = ENDING) -> None:
        with self._lock:
            workers = [worker for worker in self._workers if chosen(worker.key)]
        for worker in workers:
            worker.stop(ConnectionClosed(f"the subscription {worker.key[1]!r} was stopped"))
        join((worker.thread for worker in workers), Deadline(seconds))

    def _retire(self, worker: Worker) -> None:
        with self._lock:
            if self._running.get(worker.key) is worker:
                del self._running[worker.key]


def _key(owner: Hashable, subscription_id: str) -> tuple[Hashable, str]:
    if not isinstance(subscription_id, str) or not subscription_id:
        raise LocalProtocolError(f"a subscription's id is a text, not {subscription_id!r}")
    try:
        hash(owner)
    except TypeError:
        raise LocalProtocolError(f"an owner can be a key of a dict; {type(owner).__name__} cannot") from None
    return owner, subscription_id

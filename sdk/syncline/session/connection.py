"""One connection: the engine, a transport, and the threads that serve them, joined by one lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency import lifecycle
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.concurrency.workers import Lane
from syncline.errors import (
    ConnectionClosed,
    ForkedConnection,
    LocalProtocolError,
    RequestTimeout,
    SynclineError,
    last_words,
)
from syncline.findings import Findings
from syncline.protocol import headers, jsonrpc
from syncline.protocol.engine import OF_CALLS, Call, Engine, Happening
from syncline.protocol.events import Notification, Progress, Reply, ServerRequest, Withdrawn
from syncline.protocol.revisions import REPEATABLE, Identity, Revision, envelope
from syncline.protocol.states import State, Step, advance
from syncline.transport.base import Outgoing, Transport

from .dispatcher import Dispatcher
from .waiter import Owner, Waiter

if TYPE_CHECKING:
    from .handlers import Handlers
    from .waiter import OnProgress

#: Seconds for telling the server that a call was given up; for answering what it asks; for undoing a failed start.
COURTESY = 0.5
ANSWERING = 10.0
UNDOING = 1.0
#: Characters of what came instead of an answer that an error shows.
EXCERPT = 100
#: Work that waits for a lane: user callbacks that are not keeping up, replies that cannot be written.
LANE_LIMIT = 256


class Connection:
    """A connection to one server, for any number of threads.

    ``lock`` guards the engine and the state; it is held for state changes only. Answers are handed over by the thread that
    receives them: the calling thread itself over HTTP, a reader thread over a shared channel. ``on_notification`` is called
    on that thread too and must not block; ``later()`` runs what may.
    """

    def __init__(
        self,
        name: str,
        make_transport: Callable[[], Transport],
        *,
        identity: Identity,
        pending_limit: int,
        findings: Findings,
        handlers: Handlers,
        on_notification: Callable[[Notification], None],
        on_lost: Callable[[SynclineError], None] = lambda _: None,
        trace: logs.Tracer | None = None,
    ) -> None:
        self.name = name
        self.identity = identity
        self.log_level: str | None = None
        self.findings = findings
        self.lock = new_lock()
        self.engine: Engine[Owner] = Engine(pending_limit)
        self.state = State.NEW
        self.transport = make_transport()
        self.ending = CancelToken()  # for what waits, but not for an answer
        self._make_transport = make_transport
        self._on_notification = on_notification
        self._on_lost = on_lost
        self._trace = trace
        self._ended: SynclineError | None = None
        self._callbacks = Lane(f"syncline:{name}:notify", LANE_LIMIT)
        self._outbox = Lane(f"syncline:{name}:outbox", LANE_LIMIT)
        self._dispatcher = Dispatcher(name, handlers, self._respond)

    # Opening and closing

    def start(self, deadline: Deadline) -> None:
        """Open the transport. Blocks until the deadline at most; ``close()`` from another thread ends it."""
        with self.lock:
            self._refuse_if_ended()
            self.state = advance(self.state, Step.OPEN)
        lifecycle.opened(self)
        try:
            self.transport.start(self, deadline)
        except BaseException:
            self.close(UNDOING)
            raise

    def restart(self, deadline: Deadline) -> None:
        """While opening: a new transport in place of one that has ended."""
        self.transport.close(deadline)
        fresh = self._make_transport()
        with self.lock:
            if self.state is not State.OPENING:
                raise ConnectionClosed("the client was closed while it was being opened")
            self.transport = fresh
            self._ended = None
            self.ending = CancelToken()
        fresh.start(self, deadline)

    def adopt(self, transport: Transport, deadline: Deadline) -> None:
        """While opening: start another transport, which takes over from the present one; if it fails, that one stays."""
        transport.start(self, deadline)
        with self.lock:
            opening = self.state is State.OPENING
            if opening:
                self.transport = transport
        if not opening:
            transport.close(deadline)
            raise ConnectionClosed("the client was closed while it was being opened")

    def ready(self, revision: Revision) -> None:
        """The era and revision are settled: calls may go out."""
        with self.lock:
            self._refuse_if_ended()
            self.state = advance(self.state, Step.OPENED)
            self.engine.revision = revision

    def close(self, timeout: float | None = None) -> None:
        """End everything, from any thread, within ``timeout`` seconds; calls that wait get ``ConnectionClosed``."""
        if isinstance(self._ended, ForkedConnection):
            return  # there are no threads here to end, and nothing that is ours
        deadline = Deadline(timeout)
        with self.lock:
            self.state = advance(self.state, Step.CLOSE)
            self._ended = self._ended or ConnectionClosed("the client was closed")
            calls = self.engine.drain()
        self._end(calls, self._ended)
        self.ending.cancel(self._ended)
        self._outbox.stop(deadline.sooner(COURTESY))
        self.transport.close(deadline)
        self._callbacks.stop(deadline)
        self._dispatcher.stop(deadline)
        lifecycle.closed(self)

    def forked(self) -> None:
        """In a forked child: refuse all use."""
        self.state = State.CLOSED
        self._ended = ForkedConnection("the connection was made before a fork and belongs to the parent; connect again")
        self.transport.disown()
        self._end(self.engine.drain(), self._ended)  # under gevent, those that wait are here too

    @property
    def is_open(self) -> bool:
        """Whether calls can go out."""
        return self.state is State.READY and self._ended is None

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or has ended by itself."""
        return self.state is State.CLOSED or self._ended is not None

    # Calls

    def request(
        self,
        method: str,
        params: Mapping[str, object] | None,
        deadline: Deadline,
        *,
        revision: Revision | None = None,
        meta: Mapping[str, object] | None = None,
        on_progress: OnProgress | None = None,
        mirrored: Mapping[str, str] | None = None,
        extensions: Mapping[str, object] | None = None,
    ) -> dict[str, object]:
        """Send a request and wait for its result, as decoded JSON.

        Blocks until the answer, the deadline, or ``close()``. Progress is reported in the calling thread; what the
        callback raises ends the call. ``revision`` is given only while the connection is being opened. ``mirrored`` are
        further HTTP headers, ``extensions`` what is declared for this request only (stateless era).
        """
        waiter = Waiter(deadline, on_progress, self.findings.last)
        call, message = self.prepare(
            method, params, waiter, revision=revision, meta=meta, mirrored=mirrored, extensions=extensions
        )
        try:
            self.put(message, deadline)
            reply = waiter.wait()
        except BaseException as error:
            reply = self._give_up(call, waiter, error, message)
        if reply.tolerated is not None:
            self.findings.record(reply.tolerated, method, f"id {call.id}")
        if reply.error is not None:
            raise reply.error.at(self.name, method, call.id)
        assert reply.result is not None
        return reply.result

    def prepare(
        self,
        method: str,
        params: Mapping[str, object] | None,
        owner: Owner,
        *,
        revision: Revision | None = None,
        meta: Mapping[str, object] | None = None,
        mirrored: Mapping[str, str] | None = None,
        extensions: Mapping[str, object] | None = None,
        stream: bool = False,
    ) -> tuple[Call[Owner], Outgoing]:
        """Register a request, and the message that will make it. Its owner must see to its end, with ``forsake()``."""
        with self.lock:
            if revision is None:
                self._refuse_unless_ready(method)
            else:
                self._refuse_if_ended(method)
            call = self.engine.start_call(method, owner, stream=stream)
            revision = revision or self.engine.revision
        assert revision is not None
        reports = method == "tools/call" or (isinstance(owner, Waiter) and owner.on_progress is not None)
        try:
            token = call.id if reports else None
            filled = envelope(
                revision,
                self.identity,
                params,
                meta=meta,
                extensions=extensions,
                progress_token=token,
                log_level=self.log_level,
            )
            frame = jsonrpc.encode_request(call.id, method, filled)
            extra = self._headers(revision, method, params, mirrored)
        except BaseException:
            with self.lock:
                self.engine.abandon(call)
            raise
        repeatable, opening = method in REPEATABLE, method == "initialize"
        return call, Outgoing(frame, "request", method, call.id, extra, repeatable, stream, opening)

    def listening(self) -> Outgoing:
        """The message that stands for the GET stream: it has no body, only headers, and can be abandoned."""
        with self.lock:
            self._refuse_unless_ready("listen")
            revision = self.engine.revision
        assert revision is not None
        return Outgoing(b"", "listen", "listen", headers=self._headers(revision, "listen", None))

    def put(self, message: Outgoing, deadline: Deadline) -> None:
        """Send a prepared message; see ``Transport.send`` for what that waits for."""
        if self._trace is not None:
            self._trace("sent", self.name, message.frame)
        self.transport.send(message, deadline)

    def forsake(self, call: Call[Owner], message: Outgoing) -> bool:
        """Give a request up and tell the server; its send ends too. False if its end has been decided before."""
        with self.lock:
            ours = self.engine.abandon(call)
        if ours:
            try:
                self._cancel(call)
            finally:
                self.transport.abandon(message)
        return ours

    def notify(
        self,
        method: str,
        params: Mapping[str, object] | None,
        deadline: Deadline,
        revision: Revision | None = None,
    ) -> None:
        """Send a notification. Blocks until it is out, the deadline, or ``close()``."""
        with self.lock:
            if revision is None:
                self._refuse_unless_ready(method)
            revision = revision or self.engine.revision
        assert revision is not None
        frame = jsonrpc.encode_notification(method, params)
        self._send(Outgoing(frame, "notification", method, headers=self._headers(revision, method, params)), deadline)

    def later(self, work: Callable[[], None]) -> None:
        """Run something that may block, in order, on the callback thread."""
        self._callbacks.submit(work)

    # What transports deliver (Sink)

    def received(self, data: bytes, origin: Outgoing | None = None, status: int | None = None) -> bool:
        """See ``transport.base.Sink``."""
        if self._trace is not None:
            self._trace("received", self.name, data)
        own = origin.id if origin is not None and isinstance(origin.id, int) else None
        answered = False
        for message in jsonrpc.decode(data):
            if isinstance(message, Notification) and message.method not in OF_CALLS:
                happening = self.engine.notice(message, own)
            else:
                with self.lock:
                    happening = self.engine.receive(message, own, status)
            if happening is not None and self._deliver(happening, own):
                answered = True
        return answered

    def _deliver(self, happening: Happening[Owner], own: int | None) -> bool:
        """Hand on what has happened; whether that answered the call ``own``, or ended its wait."""
        event, call = happening
        if isinstance(event, Notification):
            if call is not None:
                call.owner.notice(event)
            self._on_notification(event)
        elif isinstance(event, Reply):
            assert call is not None
            call.owner.reply(event)
            return call.id == own
        elif isinstance(event, Progress):
            assert call is not None
            return call.owner.progress(event, call.id == own)
        elif isinstance(event, ServerRequest):
            self._dispatcher.take(event, self._waiting(own))
        elif isinstance(event, Withdrawn):
            if not self._dispatcher.cancelled(event.id):
                self._on_notification(event.notification)
        else:
            self.finding(event.code, event.place, event.raw)
        return False

    def finding(self, code: str, place: str, raw: object) -> None:
        """See ``transport.base.Sink``."""
        self.findings.record(code, place, raw)
        logs.wire.info("%s: tolerated %s at %s", self.name, code, place)

    def lost(self, error: SynclineError) -> None:
        """See ``transport.base.Sink``."""
        with self.lock:
            if self._ended is not None:
                return
            self._ended = error.at(self.name)
            calls = self.engine.drain()
            transport, open_till_now = self.transport, self.state is State.READY
        self._end(calls, error)
        if open_till_now:
            self._on_lost(error)
        self.ending.cancel(error)
        self._outbox.submit(lambda: transport.close(Deadline(ANSWERING)))  # a dead server's children end with it

    # Inside

    def _refuse_if_ended(self, method: str | None = None) -> None:
        """Requires the lock."""
        if self._ended is not None:
            raise self._ended.again().at(self.name, method)

    def _refuse_unless_ready(self, method: str) -> None:
        """Requires the lock."""
        self._refuse_if_ended(method)
        if self.state is not State.READY:
            raise LocalProtocolError(f"the connection {self.state.value}").at(self.name, method)

    def _headers(
        self,
        revision: Revision,
        method: str,
        params: Mapping[str, object] | None,
        mirrored: Mapping[str, str] | None = None,
    ) -> Mapping[str, str]:
        if self.transport.shared or not revision.version_header or method == "initialize":
            return {}
        if revision.era == "handshake":
            return {"MCP-Protocol-Version": revision.name}
        standard = headers.standard_headers(method, params, revision.name)
        return {**standard, **mirrored} if mirrored else standard

    def _instead(self, waiter: Waiter) -> str:
        """What the server sent while no answer came; while opening also what it wrote to standard error."""
        last, opening = self.findings.last, self.state is State.OPENING
        told = ""
        if last is not None and (opening or last is not waiter.since):
            excerpt = " ".join(last.raw[:EXCERPT].split())
            told = f"; what came instead: {last.code}, {last.place}: {excerpt}"
        return told + (last_words(self.transport.stderr_tail) if opening else "")

    def _give_up(self, call: Call[Owner], waiter: Waiter, error: BaseException, message: Outgoing) -> Reply:
        """End a call that failed on our side; its answer after all, if that was on its way already."""
        if isinstance(error, RequestTimeout):
            error.instead = self._instead(waiter)
            error.message += error.instead
        expected = isinstance(error, SynclineError)
        if not expected or isinstance(error, RequestTimeout):
            ours = self.forsake(call, message)
        else:
            with self.lock:
                ours = self.engine.abandon(call)
        if isinstance(error, SynclineError):
            late = None if ours else waiter.late(COURTESY)
            if late is not None:
                return late
            error.at(self.name, call.method, call.id)
        raise error

    def _cancel(self, call: Call[Owner]) -> None:
        """Tell the server, where there is a message for it: the stateless era over HTTP just drops the stream."""
        revision = self.engine.revision
        if revision is None or self._ended is not None:
            return  # neither initialize nor discovery is ever cancelled
        if revision.era == "stateless" and not self.transport.shared:
            return
        method = "notifications/cancelled"
        frame = jsonrpc.encode_notification(method, {"requestId": call.id, "reason": "the caller gave up"})
        message = Outgoing(frame, "notification", method, headers=self._headers(revision, method, None))
        self._outbox.submit(lambda: self._send_quietly(message, COURTESY))

    def _waiting(self, own: int | None) -> list[Deadline]:
        """The clocks of the calls that may be waiting for a person now: the one whose stream it came on, or all of them."""
        with self.lock:
            calls = [call for call in self.engine.pending.values() if own in (None, call.id)]
        return [call.owner.deadline for call in calls]

    def _respond(self, request: ServerRequest, frame: bytes) -> None:
        revision = self.engine.revision
        extra = {} if revision is None else self._headers(revision, request.method, None)
        message = Outgoing(frame, "response", request.method, request.id, extra)
        self._outbox.submit(lambda: self._send_quietly(message, ANSWERING))

    def _send_quietly(self, message: Outgoing, seconds: float) -> None:
        try:
            self._send(message, Deadline(seconds))
        except SynclineError as error:
            logs.wire.info("%s: %s was not delivered: %s", self.name, message.method, error)

    def _send(self, message: Outgoing, deadline: Deadline) -> None:
        try:
            self.put(message, deadline)
        except SynclineError as error:
            error.at(self.name, message.method)
            raise

    def _end(self, calls: list[Call[Owner]], error: SynclineError) -> None:
        for call in calls:
            call.owner.reply(Reply(error=error.again()))

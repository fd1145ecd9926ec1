"""A connection together with what is known about the server at its other end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal

from syncline import logs
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.config import Limits, RetryPolicy, Timeouts
from syncline.errors import (
    ConnectionClosed,
    InputRequired,
    InvalidResult,
    LocalProtocolError,
    SynclineError,
    UnexpectedMessage,
    UnsupportedRevision,
)
from syncline.findings import Findings
from syncline.protocol import codec, jsonrpc
from syncline.protocol.events import Notification
from syncline.protocol.questions import Refusal, Round, next_params, round_of
from syncline.protocol.revisions import (
    CAPABILITY,
    REPEATABLE,
    REVISIONS,
    STATELESS,
    Identity,
    exists,
    may_ask_for_input,
)
from syncline.transport.base import Transport
from syncline_wire import v2026_07_28 as _models  # noqa: F401 - loaded with the session, not on the first call's time

from . import retry
from .connection import UNDOING, Connection
from .inbox import Inbox
from .listener import ENDING as LEAVING
from .listener import Ear, Listener
from .negotiation import Agreement, EraMemory, handshake, negotiate
from .recovery import Recovery
from .tools import ToolBook

if TYPE_CHECKING:
    from syncline.types import CallToolResult, LoggingMessageNotificationParams

    from .handlers import Handlers
    from .listener import Subscriber
    from .waiter import OnProgress

#: Seconds to wait, while opening, for the stream on which a server asks; it may open later.
HEARING = 1.0
#: The only result that a request has without an extension.
COMPLETE = ("complete",)
#: What does the work of requests that newer revisions have dropped.
INSTEAD = {
    "resources/subscribe": "; client.subscribe(resources=[...]) is for every revision",
    "resources/unsubscribe": "; close the stream of client.subscribe(resources=[...])",
}


class Session:
    """What the client's methods stand on."""

    def __init__(
        self,
        name: str,
        make_transport: Callable[[], Transport],
        *,
        wanted: str,
        era_key: object,
        identity: Identity,
        timeouts: Timeouts,
        limits: Limits,
        handlers: Handlers,
        retry: RetryPolicy,
        validate_output: Literal["raise", "warn", "off"],
        on_log: Callable[[LoggingMessageNotificationParams], object] | None,
        on_notification: Callable[[Notification], object] | None,
        trace: logs.Tracer | None,
    ) -> None:
        self.name = name
        self.timeouts = timeouts
        self.limits = limits
        self.findings = Findings()
        self.book = ToolBook(self.findings.record)
        self.inbox = Inbox(name, self.book, self.findings.record, on_log, on_notification)

        def connect() -> Connection:
            return Connection(
                name,
                make_transport,
                identity=identity,
                pending_limit=limits.pending_calls,
                findings=self.findings,
                handlers=handlers,
                on_notification=self.inbox,
                on_lost=self._lost,
                trace=trace,
            )

        self._connect = connect
        self.connection = self._connect()
        self.inbox.later = self._later
        self.recovery = Recovery(name, self._renew)
        self._agreement: Agreement | None = None
        self._wanted = wanted
        self._era_key = era_key
        #: A digest of the server's command line; empty where it has none.
        self.program = digest(era_key) if isinstance(era_key, tuple) else ""
        self._validate_output = validate_output
        self._handlers = handlers
        self._retry = retry
        self._log_level: str | None = None
        self._subscriptions: set[str] = set()
        self.closed = False
        self.closing = CancelToken()  # for what waits, whichever connection it waits for
        self._fresh: Connection | None = None
        #: Change streams of the handshake era, which live in the session.
        self.audience: set[Subscriber] = set()
        self.listener = Listener(self)
        told = on_log is not None or on_notification is not None
        self._ear = Ear() if told or handlers.declared({}) else None

    def open(self) -> None:
        """Start the transport and agree on a revision, within ``Timeouts.startup``. A failure uses the session up."""
        self._open(self.connection, Deadline(self.timeouts.startup))
        self._listen()

    def reconnect(self) -> None:
        """A new connection in the place of the old one, with what was set on it: log level, resource subscriptions.

        Several threads that ask for it at once get one. Blocks for ``Timeouts.startup`` at most. Raises as ``open()``
        does, and ``ConnectionClosed`` if the user closed the session.
        """
        generation, deadline = self.recovery.generation, Deadline(self.timeouts.startup)
        self.recovery.replace(generation, lambda: self._reopen(deadline), deadline)

    def _reopen(self, deadline: Deadline) -> None:
        if self.closed:
            raise ConnectionClosed("the client was closed").at(self.name)
        old = self.connection
        self._fresh = fresh = self._connect()
        if self.closed:
            fresh.close(UNDOING)
        self._open(fresh, deadline)
        self.connection = fresh
        old.close(UNDOING)
        if self.closed:
            fresh.close(UNDOING)
        try:
            self._restore(deadline)
        except BaseException:
            fresh.close(UNDOING)  # else it would pass for one on which everything is as it was
            raise
        self._listen()

    def _open(self, connection: Connection, deadline: Deadline) -> None:
        connection.start(deadline)
        try:
            shared, memory = connection.transport.shared, EraMemory.shared

            def agree() -> Agreement:
                remembered = memory.era(self._era_key)
                return negotiate(connection, self._wanted, deadline, self.timeouts.probe, remembered)

            attempts = 1 if shared else self._retry.connect
            agreement = retry.run(
                agree,
                self._retry,
                attempts=attempts,
                repeatable=True,
                deadline=deadline,
                ending=connection.ending,
            )
            self.book.mirroring = agreement.revision.era == "stateless" and not shared
            self._agreement = agreement
            connection.ready(agreement.revision)
            found = agreement.revision.era if connection.transport.shared is shared else "sse"  # it fell back
            memory.remember(self._era_key, found, shared=shared)
        except BaseException:
            connection.close(UNDOING)
            raise

    def _listen(self) -> None:
        """In the handshake era a server asks and tells on a stream of its own, too, where one is open."""
        if self._ear is None or self.agreement.revision.era == "stateless":
            return
        try:
            self.listener.join(self._ear, HEARING)
        except SynclineError as error:
            logs.wire.info("%s: there is nothing to listen to: %s", self.name, error)

    def _renew(self, deadline: Deadline) -> None:
        """A new session on the same connection, in the place of one that has expired."""
        self.connection.transport.forget_session()
        self._agreement = handshake(self.connection, self._wanted, deadline)
        self.connection.engine.revision = self._agreement.revision
        self._restore(deadline)

    def _restore(self, deadline: Deadline) -> None:
        """Set again what lived in the session: the stateless era has nothing there."""
        exchange, agreement = self.connection.request, self.agreement
        if self._log_level is not None and agreement.revision.era == "stateless":
            self.connection.log_level = self._log_level
        elif self._log_level is not None and self.offers("logging/setLevel"):
            exchange("logging/setLevel", {"level": self._log_level}, deadline)
        for uri in sorted(self.resources()) if agreement.revision.era == "handshake" else ():
            exchange("resources/subscribe", {"uri": uri}, deadline)
        for each in list(self.audience):
            each.missed()

    def renew(self, generation: int) -> None:
        """A new session in the place of one that was found expired, unless somebody has made it since that generation."""
        deadline = Deadline(self.timeouts.startup)
        self.recovery.replace(generation, lambda: self._renew(deadline), deadline)

    def _later(self, work: Callable[[], None]) -> None:
        self.connection.later(work)

    def close(self) -> None:
        """Close the connection, within ``Timeouts.close``."""
        self.closed = True
        closed = ConnectionClosed("the client was closed")
        self.closing.cancel(closed)
        for each in list(self.audience):
            each.terminated(closed)
        deadline = Deadline(self.timeouts.close)
        self.listener.close(deadline.sooner(LEAVING).remaining() or 0.0)
        for connection in (self._fresh, self.connection):
            if connection is not None:
                connection.close(deadline.remaining())

    @property
    def agreement(self) -> Agreement:
        """What was agreed when the session was opened."""
        if self._agreement is None:
            raise LocalProtocolError(f"the connection {self.connection.state.value}").at(self.name)
        return self._agreement

    def deadline(self, timeout: float | Timeouts | None) -> Deadline:
        """The clock of one call."""
        chosen = self.timeouts.for_call(timeout)
        return Deadline(chosen.call, chosen.call_total)

    def offers(self, method: str) -> bool:
        """Whether the server declared the capability that a method belongs to."""
        capability = CAPABILITY.get(method)
        if capability is None or self._agreement is None:
            return True
        if capability == "completions" and not self._agreement.revision.completions_declared:
            return True
        return self._agreement.capabilities.get(capability) is not None

    def call(
        self,
        method: str,
        params: Mapping[str, object] | None,
        deadline: Deadline,
        meta: Mapping[str, object] | None = None,
        on_progress: OnProgress | None = None,
        mirrored: Mapping[str, str] | None = None,
        extensions: Mapping[str, object] | None = None,
        accepts: Collection[str] = COMPLETE,
        repeatable: bool = False,
    ) -> dict[str, object]:
        """Send a request that the server offers, and wait for its result; see ``request``."""
        if not self.offers(method):
            problem = f"the server does not offer {CAPABILITY[method]}; client.request() sends it all the same"
            raise LocalProtocolError(problem).at(self.name, method)
        return self.request(method, params, deadline, meta, on_progress, mirrored, extensions, accepts, repeatable)

    def request(
        self,
        method: str,
        params: Mapping[str, object] | None,
        deadline: Deadline,
        meta: Mapping[str, object] | None = None,
        on_progress: OnProgress | None = None,
        mirrored: Mapping[str, str] | None = None,
        extensions: Mapping[str, object] | None = None,
        accepts: Collection[str] = COMPLETE,
        repeatable: bool = False,
    ) -> dict[str, object]:
        """Send any request of this revision, and wait for its result, as decoded JSON.

        ``accepts`` are the values of ``resultType`` that the caller can use: those that ``extensions`` add, too. What the
        server asks for first is answered by the handlers. ``repeatable`` allows a request to be sent again that may have
        run; those that change nothing always may.
        """
        if self._agreement is not None and not exists(method, self._agreement.revision.name):
            problem = f"{method} does not exist in revision {self._agreement.revision.name}{INSTEAD.get(method, '')}"
            raise LocalProtocolError(problem).at(self.name, method)
        if meta is not None:
            meta = json_object(meta, "meta", self.name, method)

        def exchange(asked: Mapping[str, object] | None) -> dict[str, object]:
            return self.connection.request(
                method,
                asked,
                deadline,
                meta=meta,
                on_progress=on_progress,
                mirrored=mirrored,
                extensions=extensions,
            )

        raw = self._attempt(method, lambda: exchange(params), deadline, repeatable)
        rounds = 0
        while (question := self._question(method, raw, accepts)) is not None:
            rounds += 1
            if rounds > self.limits.input_rounds:
                problem = f"for the {rounds}th time (Limits.input_rounds)"
                raise _input_required(problem, question).at(self.name, method)
            asked = next_params(params, self._answers(method, question, deadline), question.state)
            raw = self._attempt(method, lambda asked=asked: exchange(asked), deadline, repeatable)  # type: ignore[misc]
        return raw

    def _attempt(
        self, method: str, exchange: Callable[[], dict[str, object]], deadline: Deadline, repeatable: bool
    ) -> dict[str, object]:
        """One exchange, recovered and tried again as the policies have it."""
        self._revive(deadline)

        def recovered() -> dict[str, object]:
            try:
                return self.recovery.run(exchange, deadline)
            except UnsupportedRevision as error:
                self._switch(error)
                return exchange()

        if self.connection.transport.shared:
            return recovered()
        return retry.run(
            recovered,
            self._retry,
            attempts=self._retry.list,
            repeatable=repeatable or method in REPEATABLE,
            deadline=deadline,
            ending=self.connection.ending,
        )

    def _revive(self, deadline: Deadline) -> None:
        """Reconnect to a server that went away, where the policy allows it; else the call will say that it is gone."""
        if not self._retry.restart or self.closed or self._agreement is None or not self.connection.is_closed:
            return
        generation = self.recovery.generation
        retry.run(
            lambda: self.recovery.replace(generation, lambda: self._reopen(deadline), deadline),
            self._retry,
            attempts=self._retry.restart,
            repeatable=True,
            deadline=deadline,
            ending=self.closing,
        )

    def _answers(self, method: str, question: Round, deadline: Deadline) -> dict[str, object]:
        """Ask the handlers, here in the calling thread; nothing is under way meanwhile, so the clock stands still."""
        missing = [asked for asked, _ in question.requests.values() if not self._handlers.handles(asked)]
        if missing:
            raise _input_required(f"nothing handles {missing[0]}", question).at(self.name, method)
        deadline.pause()
        try:
            answers = {key: self._handlers.answer(asked, given) for key, (asked, given) in question.requests.items()}
        except Refusal as refusal:
            raise _input_required(refusal.message, question).at(self.name, method) from refusal
        finally:
            deadline.resume()
        json_object(answers, "the answers of the handlers", self.name, method)
        return dict(answers)

    @property
    def answers(self) -> bool:
        """Whether the user registered any handler."""
        return bool(self._handlers.declared({}))

    def answer(self, method: str, params: Mapping[str, object]) -> dict[str, object]:
        """What the user's handlers say to a question; ``Refusal`` if none does."""
        return self._handlers.answer(method, params)

    def may_resend(self, tool: str) -> bool:
        """Whether a call of this tool may be sent again although it may have run."""
        resend = self._retry.resend
        return resend(tool) if callable(resend) else resend == "annotated" and self.book.harmless(tool)

    def subscribed(self, uri: str, on: bool) -> None:
        """Remember a resource subscription, to restore it on a new session."""
        (self._subscriptions.add if on else self._subscriptions.discard)(uri)

    def resources(self) -> set[str]:
        """The resources that are subscribed to, by request or by a change stream; a new session is told of them again."""
        return self._subscriptions.union(*(each.uris for each in list(self.audience)))

    def _lost(self, error: SynclineError) -> None:
        for each in list(self.audience):
            each.lost(error)

    def notify(self, method: str, params: Mapping[str, object] | None, deadline: Deadline) -> None:
        """Send a notification; an expired session is renewed for it, too."""
        self.recovery.run(lambda: self.connection.notify(method, params, deadline), deadline)

    def set_log_level(self, level: str, deadline: Deadline) -> None:
        """Tell the server now, or with each later request, as the era has it."""
        if self.agreement.revision.era == "stateless":
            self.connection.log_level = level
        else:
            self.call("logging/setLevel", {"level": level}, deadline)
        self._log_level = level

    def lift(self, method: str, raw: dict[str, object]) -> Any:
        """The result as the newest revision's model, whatever revision it came in."""
        try:
            return codec.lift(method, raw, self.agreement.revision.name, self.findings.record)
        except InvalidResult as error:
            error.at(self.name, method)
            raise

    def check_output(self, name: str, result: CallToolResult) -> None:
        """Hold a tool's result against its output schema, as strictly as was asked for."""
        if self._validate_output == "off":
            return
        try:
            self.book.check(name, result)
        except InvalidResult as error:
            if self._validate_output == "raise":
                error.at(self.name, "tools/call")
                raise
            self.connection.finding("output-schema", f"tools/call: {name}", error.message)

    def _switch(self, error: UnsupportedRevision) -> None:
        """The server no longer speaks our revision: take another one that both know, once for each call."""
        supported = error.data.get("supported") if isinstance(error.data, dict) else None
        common = [name for name in STATELESS if isinstance(supported, list) and name in supported]
        if self.agreement.revision.era != "stateless" or not common:
            raise error
        self.connection.engine.revision = REVISIONS[common[0]]

    def _question(self, method: str, raw: dict[str, object], accepts: Collection[str]) -> Round | None:
        """What a result asks; None if it is a result that the caller can use."""
        if self.agreement.revision.era == "handshake":
            return None
        kind = codec.result_type(raw)
        if kind in accepts:
            return None
        if kind != "input_required":
            raise InvalidResult(f"unknown resultType {kind!r}", raw=raw, errors=["resultType"]).at(self.name, method)
        if not may_ask_for_input(method, self.agreement.revision.name):
            raise UnexpectedMessage(f"the server asks for input, which {method} has no place for").at(self.name, method)
        try:
            return round_of(raw)
        except InvalidResult as error:
            error.at(self.name, method)
            raise


def _input_required(why: str, question: Round) -> InputRequired:
    asked = {key: {"method": method, "params": params} for key, (method, params) in question.requests.items()}
    kinds = ", ".join(sorted({method for method, _ in question.requests.values()})) or "nothing in particular"
    text = f"the server asks for input first ({kinds}): {why}"
    return InputRequired(text, requests=asked, request_state=question.state)


def json_object(
    value: Mapping[str, object], what: str, server: str | None = None, method: str | None = None
) -> dict[str, object]:
    """A JSON object that can be sent, or ``LocalProtocolError``."""
    if not isinstance(value, Mapping):
        raise LocalProtocolError(f"{what} must be a mapping, not {type(value).__name__}").at(server, method)
    given = value if isinstance(value, dict) else dict(value)
    try:
        jsonrpc.check_json(given, what)
    except LocalProtocolError as error:
        error.at(server, method)
        raise
    return given


def digest(command: tuple[str, ...]) -> str:
    """What tells programs of one name apart, without showing arguments, which may hold secrets."""
    return hashlib.sha256("\0".join(command).encode("utf-8", "surrogateescape")).hexdigest()[:16]

"""A connection together with what is known about the server at its other end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from syncline.concurrency.deadline import Deadline
from syncline.config import Limits, Timeouts
from syncline.errors import (
    InputRequired,
    InvalidResult,
    LocalProtocolError,
    UnexpectedMessage,
    UnsupportedRevision,
)
from syncline.findings import Findings
from syncline.protocol import codec, jsonrpc
from syncline.protocol.events import Notification
from syncline.protocol.revisions import CAPABILITY, REVISIONS, STATELESS, Identity, exists, may_ask_for_input
from syncline.transport.base import Transport
from syncline_wire import v2026_07_28 as _models  # noqa: F401 - loaded with the session, not on the first call's time

from .connection import UNDOING, Connection
from .inbox import Inbox
from .negotiation import Agreement, EraMemory, negotiate
from .tools import ToolBook

if TYPE_CHECKING:
    from syncline import logs
    from syncline.types import CallToolResult, LoggingMessageNotificationParams

    from .connection import OnProgress


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
        self.connection = Connection(
            name,
            make_transport,
            identity=identity,
            pending_limit=limits.pending_calls,
            findings=self.findings,
            on_notification=self.inbox,
            trace=trace,
        )
        self.inbox.later = self.connection.later
        self._agreement: Agreement | None = None
        self._wanted = wanted
        self._era_key = era_key
        self._validate_output = validate_output

    def open(self) -> None:
        """Start the transport and agree on a revision, within ``Timeouts.startup``. A failure uses the session up."""
        deadline = Deadline(self.timeouts.startup)
        self.connection.start(deadline)
        try:
            memory = EraMemory.shared
            agreement = negotiate(
                self.connection, self._wanted, deadline, self.timeouts.probe, memory.era(self._era_key)
            )
            self.book.mirroring = agreement.revision.era == "stateless" and not self.connection.transport.shared
            self._agreement = agreement
            self.connection.ready(agreement.revision)
            memory.remember(self._era_key, agreement.revision.era, shared=self.connection.transport.shared)
        except BaseException:
            self.connection.close(UNDOING)
            raise

    def close(self) -> None:
        """Close the connection, within ``Timeouts.close``."""
        self.connection.close(self.timeouts.close)

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
    ) -> dict[str, object]:
        """Send a request that the server offers, and wait for its complete result, as decoded JSON."""
        if not self.offers(method):
            problem = f"the server does not offer {CAPABILITY[method]}; client.request() sends it all the same"
            raise LocalProtocolError(problem).at(self.name, method)
        return self.request(method, params, deadline, meta, on_progress, mirrored)

    def request(
        self,
        method: str,
        params: Mapping[str, object] | None,
        deadline: Deadline,
        meta: Mapping[str, object] | None = None,
        on_progress: OnProgress | None = None,
        mirrored: Mapping[str, str] | None = None,
    ) -> dict[str, object]:
        """Send any request of this revision, and wait for its complete result, as decoded JSON."""
        if self._agreement is not None and not exists(method, self._agreement.revision.name):
            problem = f"{method} does not exist in revision {self._agreement.revision.name}"
            raise LocalProtocolError(problem).at(self.name, method)
        if meta is not None:
            meta = json_object(meta, "meta", self.name, method)
        exchange = self.connection.request
        try:
            raw = exchange(method, params, deadline, meta=meta, on_progress=on_progress, mirrored=mirrored)
        except UnsupportedRevision as error:
            self._switch(error)
            raw = exchange(method, params, deadline, meta=meta, on_progress=on_progress, mirrored=mirrored)
        if self.agreement.revision.era == "stateless":
            self._require_complete(method, raw)
        return raw

    def set_log_level(self, level: str, deadline: Deadline) -> None:
        """Tell the server now, or with each later request, as the era has it."""
        if self.agreement.revision.era == "stateless":
            self.connection.log_level = level
        else:
            self.call("logging/setLevel", {"level": level}, deadline)

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

    def _require_complete(self, method: str, raw: dict[str, object]) -> None:
        kind = codec.result_type(raw)
        if kind == "complete":
            return
        if kind != "input_required":
            raise InvalidResult(f"unknown resultType {kind!r}", raw=raw, errors=["resultType"]).at(self.name, method)
        if not may_ask_for_input(method, self.agreement.revision.name):
            raise UnexpectedMessage(f"the server asks for input, which {method} has no place for").at(self.name, method)
        requests, state = raw.get("inputRequests"), raw.get("requestState")
        asked = requests if isinstance(requests, dict) else {}
        kinds = sorted({str(entry.get("method")) for entry in asked.values() if isinstance(entry, dict)})
        raise InputRequired(
            f"the server asks for input first ({', '.join(kinds) or 'nothing in particular'})",
            requests=asked,
            request_state=state if isinstance(state, str) else None,
        ).at(self.name, method)


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

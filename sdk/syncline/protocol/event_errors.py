"""The Events extension's capability, its two dialects, and what its errors mean for a subscription (SEP-3415, errors).

The codes mean this in answers about events only: core forbids reading anything into them elsewhere, and the dialects use
different ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Literal, TypeAlias

from syncline.errors import (
    AuthError,
    CallbackEndpointError,
    EventError,
    EventForbidden,
    EventNotFound,
    EventsExhausted,
    EventUnsupported,
    HttpStatusError,
    LocalProtocolError,
    NoCommonRevision,
    ServerError,
    SynclineError,
)

from .revisions import META

EXTENSION = META + "events"
#: The SEP as written, and the earlier sketch, which some servers still speak: a capability of its own at the top level (or
#: under ``experimental``) and other error codes; it works in handshake sessions too.
Dialect: TypeAlias = Literal["sep3415", "sketch"]

_SEP: Mapping[int, type[EventError]] = {
    -32023: EventNotFound,
    -32024: EventForbidden,
    -32025: EventsExhausted,
    -32026: EventUnsupported,
    -32027: CallbackEndpointError,
}
_SKETCH: Mapping[int, type[EventError]] = {
    -32011: EventNotFound,
    -32012: EventForbidden,
    -32013: EventsExhausted,
    -32014: EventUnsupported,
    -32015: CallbackEndpointError,
}
CODES: Mapping[Dialect, Mapping[int, type[EventError]]] = {"sep3415": _SEP, "sketch": _SKETCH}

#: Trouble behind the server, not with the request.
INTERNAL_ERROR = -32603
#: Seconds for which a server that has no room for us is left alone.
EXHAUSTED = 30.0
#: HTTP statuses below 500 that pass.
PASSING = (408, 425, 429)


class Verdict(Enum):
    """What an error means for a subscription that had been running."""

    RETRY = "it may pass"
    RELIST = "the event type has changed or gone; the listing tells"
    STOP = "it is over"


def advertised(capabilities: Mapping[str, object]) -> Dialect | None:
    """The dialect in which a server offers events, None if it offers none."""
    extensions, experimental = capabilities.get("extensions"), capabilities.get("experimental")
    if isinstance(extensions, Mapping) and extensions.get(EXTENSION) is not None:
        return "sep3415"
    if capabilities.get("events") is not None:
        return "sketch"
    if isinstance(experimental, Mapping) and experimental.get("events") is not None:
        return "sketch"
    return None


def typed(error: SynclineError, dialect: Dialect) -> SynclineError:
    """An error as the dialect means it; what is not in its table stays what it is."""
    if not isinstance(error, ServerError) or error.code not in CODES[dialect]:
        return error
    meant = CODES[dialect][error.code](error.message, code=error.code, data=error.data, status=error.status)
    return meant.at(error.server, error.method, error.request_id)


def verdict(error: SynclineError) -> Verdict:
    """What to do about an error, by the table of the SEP and, for HTTP, by status."""
    if isinstance(error, EventNotFound):
        return Verdict.RELIST
    if isinstance(error, EventUnsupported):
        changed = isinstance(error.data, Mapping) and error.data.get("reason") == "schema_changed"
        return Verdict.RELIST if changed else Verdict.STOP
    if isinstance(error, EventsExhausted):
        return Verdict.RETRY
    if isinstance(error, (ServerError, HttpStatusError)):
        status = error.status or 0
        internal = isinstance(error, ServerError) and error.code == INTERNAL_ERROR
        return Verdict.RETRY if internal or status >= 500 or status in PASSING else Verdict.STOP
    if isinstance(error, (AuthError, LocalProtocolError, NoCommonRevision)):
        return Verdict.STOP
    return Verdict.RETRY


def patience(error: SynclineError) -> float | None:
    """Seconds for which the server wants to be left alone, where it says so."""
    if isinstance(error, EventsExhausted):
        return EXHAUSTED
    return error.retry_after if isinstance(error, HttpStatusError) else None

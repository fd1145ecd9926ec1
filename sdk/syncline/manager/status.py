"""How a server is doing, and what is told about it while it starts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from syncline.auth import urls
from syncline.errors import (
    AuthRequired,
    ConfigError,
    ConnectFailed,
    ConnectionClosed,
    LocalProtocolError,
    NoCommonRevision,
    RequestTimeout,
    ServerExited,
    SynclineError,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    State: TypeAlias = Literal["disabled", "not started", "starting", "ready", "failed", "cancelled"]
    Reason: TypeAlias = Literal["authentication required", "timeout"]


@dataclass(frozen=True, repr=False)
class Status:
    """How a server is doing.

    Attributes:
        state: ``disabled`` by its configuration; ``not started``: it starts when it is needed; ``starting``; ``ready``;
            ``failed``: it could not be started, or its connection was lost; ``cancelled`` while it started.
        error: For ``failed``: why, as it was raised.
        reason: For ``failed``: what kind of failure it is, where that calls for something to be done.
        text: For ``failed``: the error as the user of a program should read it, with what can be done about it.
    """

    state: State
    error: SynclineError | None = None
    reason: Reason | None = None
    text: str | None = None

    @property
    def settled(self) -> bool:
        """Whether nothing more will come of it by itself."""
        return self.state != "starting"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return self.state if self.text is None else f"{self.state}: {self.text}"


DISABLED = Status("disabled")
NOT_STARTED = Status("not started")
STARTING = Status("starting")
READY = Status("ready")
CANCELLED = Status("cancelled")


@dataclass(frozen=True)
class StartupEvent:
    """Something happened to one server: it starts, or its start has ended.

    Attributes:
        server: Its configured name.
        status: How it is doing now.
        round: Which start it belongs to: 1 for ``open()``, one more with each ``reconcile()``.
    """

    server: str
    status: Status
    round: int


@dataclass(frozen=True)
class StartupSummary:
    """All starts of a round have ended; comes once, last.

    Attributes:
        round: Which one.
        ready: The servers that can be used; first those that could be before.
        failed: Those that cannot, with the errors as they were raised.
        cancelled: Those whose start was cancelled.
    """

    round: int
    ready: tuple[str, ...] = ()
    failed: Mapping[str, SynclineError] = field(default_factory=dict)
    cancelled: tuple[str, ...] = ()


def failed(server: str, error: SynclineError, limit: float | None) -> Status:
    """The status of a server that could not be started within its limit, in seconds."""
    return Status("failed", error, _reason(error), _advice(server, error, limit))


def unusable(server: str, error: SynclineError) -> Status:
    """The status of a server that a configuration file has, and that cannot be used as it stands there."""
    return Status("failed", error.at(server), None, f"{server} cannot be used: {error.message}")


def lost(server: str) -> Status:
    """The status of a server whose connection has ended by itself."""
    error = ConnectionClosed("the connection was lost; it is made again when the server is used next").at(server)
    return Status("failed", error, None, str(error))


def cancelled(server: str) -> SynclineError:
    """What those are told who ask for a server whose start was cancelled."""
    return ConnectionClosed("its start was cancelled; reconcile() starts it again").at(server)


def may_pass(error: SynclineError) -> bool:
    """Whether trying again later can help, without anybody having done anything about it."""
    if isinstance(error, ConnectFailed):
        return error.passing
    return not isinstance(error, (AuthRequired, ConfigError, ConnectionClosed, LocalProtocolError, NoCommonRevision))


def _reason(error: SynclineError) -> Reason | None:
    if isinstance(error, AuthRequired):
        return "authentication required"
    return "timeout" if isinstance(error, RequestTimeout) else None


def _advice(server: str, error: SynclineError, limit: float | None) -> str:
    if isinstance(error, AuthRequired) and error.login_url is not None:
        return f"{server} wants somebody to log in: syncline auth login {urls.typed(error.url or 'URL')}"
    if isinstance(error, AuthRequired):
        wanted = "auth=, bearer_env= or an Authorization header"
        return f"{server} wants credentials: log in (syncline auth login {urls.typed(error.url or 'URL')}), or give it {wanted}"
    if isinstance(error, RequestTimeout):
        within = "" if limit is None else f" within {limit:g} seconds"
        return f"{server} did not start{within}; if it needs longer, raise its startup_timeout{error.instead}"
    why = error.message if error.server == server else str(error)
    last = error.stderr_tail[-1:] if isinstance(error, ServerExited) else []
    return ": ".join([f"{server} did not start", why, *last])

"""Agreeing on a revision: which era the server belongs to, then discovery or the handshake.

The decisions are tables in ``protocol/era.py``; here is the talking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.errors import (
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    HttpStatusError,
    InvalidMessage,
    InvalidResult,
    NoCommonRevision,
    RequestTimeout,
    ServerError,
    ServerExited,
    SynclineError,
    UnsupportedRevision,
)
from syncline.protocol import era
from syncline.protocol.revisions import HANDSHAKE, META, REVISIONS, STATELESS, Revision, known_revision
from syncline.transport.base import Streamable

from .connection import Connection

#: Corrections of a refused version, in either era.
TRIES = 5
#: Seconds for which a handshake verdict about a URL is believed: servers get updated.
VERDICT_LIFE = 600.0
#: Seconds for a server that refused the handshake to begin the event stream of the older transport.
ENDPOINT = 5.0

#: What a server was found to be; ``sse`` is the handshake over the transport of 2024-11-05.
Era: TypeAlias = Literal["handshake", "stateless", "sse"]


@dataclass(frozen=True)
class Agreement:
    """What client and server agreed on.

    Attributes:
        revision: The revision that is spoken.
        server_info: The server's ``Implementation``, as JSON.
        capabilities: The server's capabilities, as JSON.
        instructions: What the server says about its use.
    """

    revision: Revision
    server_info: Mapping[str, object]
    capabilities: Mapping[str, object]
    instructions: str | None


class EraMemory:
    """Which era a server was found to belong to, for the life of this process, so that it is not probed each time.

    A wrong memory of the stateless era fails loudly; a wrong one of the handshake era would go unnoticed, since servers
    of both eras answer ``initialize``. So the latter is forgotten after a while where the server can change: over HTTP.
    """

    shared: ClassVar[EraMemory]

    def __init__(self) -> None:
        self._lock = new_lock()
        self._eras: dict[object, tuple[Era, Deadline]] = {}

    def era(self, key: object) -> Era | None:
        """What is known about a server; None if nothing is."""
        with self._lock:
            entry = self._eras.get(key)
            return None if entry is None or entry[1].expired else entry[0]

    def remember(self, key: object, era: Era, *, shared: bool) -> None:
        """Keep a verdict, unless the key is None; ``shared`` says that the server is a program and not a URL."""
        if key is None:
            return
        with self._lock:
            self._eras[key] = era, Deadline(None if shared else VERDICT_LIFE)


EraMemory.shared = EraMemory()


def negotiate(
    connection: Connection, wanted: str, deadline: Deadline, probe_seconds: float, remembered: str | None
) -> Agreement:
    """Agree on a revision. ``wanted`` is one of them, or ``auto``. Blocks until the deadline at most."""
    transport = connection.transport
    if isinstance(transport, Streamable) and transport.mode == "sse":
        if wanted in STATELESS:
            raise NoCommonRevision(f"HTTP+SSE has no revision {wanted}").at(connection.name)
        connection.adopt(transport.legacy(), deadline)
        return handshake(connection, wanted, deadline)
    if remembered == "sse" and wanted not in STATELESS and _fall_back(connection, deadline):
        return handshake(connection, wanted, deadline)
    if wanted != "auto" and known_revision(wanted).era == "handshake":
        return _handshake(connection, wanted, deadline)
    if wanted == "auto" and remembered == "handshake":
        try:
            return _handshake(connection, wanted, deadline)
        except ServerError as error:
            logs.wire.info("%s: no longer what it was remembered as: %s", connection.name, error)
    modern = STATELESS if wanted == "auto" else (wanted,)
    legacy = HANDSHAKE if wanted == "auto" else ()
    try:
        return _discover(connection, modern, legacy, deadline, probe_seconds)
    except UnsupportedRevision as error:
        # Found silent, then refusing the handshake as a server of the other era: it was only slow (ERA-4).
        listed = era.supported_versions(error.data) or []
        if wanted != "auto" or error.method != "initialize" or not set(listed) & set(STATELESS):
            raise
        return _discover(connection, modern, (), deadline, probe_seconds)


def _discover(
    connection: Connection, modern: Sequence[str], legacy: Sequence[str], deadline: Deadline, probe_seconds: float
) -> Agreement:
    transport = connection.transport
    transport.sessions = False
    version = modern[0]
    for _ in range(TRIES):
        silence = deadline.sooner(probe_seconds) if transport.shared and legacy else deadline
        raw, error, outcome = _probe(connection, REVISIONS[version], silence)
        verdict = era.judge_probe(outcome, "stdio" if transport.shared else "http", modern, legacy)
        if isinstance(verdict, era.Modern):
            return _discovered(REVISIONS[verdict.version], raw)
        if isinstance(verdict, era.Again):
            version = verdict.version
        elif isinstance(verdict, era.Raise):
            if error is not None and outcome.kind in ("http_status", "network", "timeout", "exited"):
                raise error
            raise NoCommonRevision(verdict.reason).at(connection.name, "server/discover") from error
        else:
            if isinstance(verdict, era.HandshakeAfterRestart):
                connection.restart(deadline)
            return _handshake(connection, HANDSHAKE[0], deadline)
    problem = f"the server refused {TRIES} times the versions that it named itself"
    raise NoCommonRevision(problem).at(connection.name, "server/discover")


def _probe(
    connection: Connection, revision: Revision, deadline: Deadline
) -> tuple[dict[str, object], SynclineError | None, era.Probe]:
    try:
        raw = connection.request("server/discover", None, deadline, revision=revision)
    except ServerError as error:
        status = (
            error.status if connection.transport.shared else error.status or 200
        )  # in an event stream: it began well
        return {}, error, era.Probe("rpc_error", None, error.code, error.message, error.data, status)
    except HttpStatusError as error:
        return {}, error, era.Probe("http_status", message=error.message, status=error.status)
    except RequestTimeout as error:
        return {}, error, era.Probe("timeout", message=error.message)
    except ServerExited as error:
        return {}, error, era.Probe("exited", message=str(error))
    except (ConnectFailed, ConnectionLost) as error:
        return {}, error, era.Probe("network", message=error.message)
    except (InvalidMessage, InvalidResult) as error:
        if not connection.transport.shared:
            raise
        return {}, error, era.Probe("result", {})
    return raw, None, era.Probe("result", raw)


def _discovered(revision: Revision, raw: Mapping[str, object]) -> Agreement:
    meta = _object(raw.get("_meta"))
    info = meta.get(META + "serverInfo") or raw.get("serverInfo")
    return _agreement(revision, _object(info), raw)


def _handshake(connection: Connection, wanted: str, deadline: Deadline) -> Agreement:
    """Agree by ``initialize``, over the older transport if the server turns out to know no other (ERA-20)."""
    try:
        return handshake(connection, wanted, deadline)
    except (ServerError, HttpStatusError) as error:
        code = error.code if isinstance(error, ServerError) else None
        refused = error.method == "initialize" and era.points_to_sse(error.status, code)
        if not (refused and _fall_back(connection, deadline)):
            raise
    return handshake(connection, wanted, deadline)


def _fall_back(connection: Connection, deadline: Deadline) -> bool:
    """Whether the server has the transport of 2024-11-05, which is then used for everything that follows (ERA-21)."""
    transport = connection.transport
    if not isinstance(transport, Streamable) or transport.mode != "auto":
        return False
    try:
        connection.adopt(transport.legacy(), deadline.sooner(ENDPOINT))
    except ConnectionClosed:
        raise
    except SynclineError as error:
        logs.wire.info("%s: no HTTP+SSE either: %s", connection.name, error)
        return False
    return True


def handshake(connection: Connection, wanted: str, deadline: Deadline) -> Agreement:
    """Agree by ``initialize``: ``wanted`` is offered first, the newest of that era where it is none of them."""
    offered = wanted if wanted in HANDSHAKE else HANDSHAKE[0]
    connection.transport.sessions = True
    raw = _initialize(connection, offered, deadline)
    try:
        revision = REVISIONS[era.check_negotiated(raw.get("protocolVersion"), HANDSHAKE)]
    except NoCommonRevision as error:
        error.at(connection.name, "initialize")
        raise
    info = raw.get("serverInfo")
    if not isinstance(info, dict):
        problem = "the server did not say who it is (serverInfo)"
        raise InvalidResult(problem, raw=raw, errors=["serverInfo"]).at(connection.name, "initialize")
    connection.notify("notifications/initialized", None, deadline, revision)
    return _agreement(revision, info, raw)


def _initialize(connection: Connection, offered: str, deadline: Deadline) -> dict[str, object]:
    """The result of ``initialize``, with older revisions offered in turn where the server refuses one."""
    version = offered
    while True:
        params = {
            "protocolVersion": version,
            "capabilities": connection.identity.capabilities,
            "clientInfo": connection.identity.client_info,
        }
        try:
            return connection.request("initialize", params, deadline, revision=REVISIONS[version])
        except ServerError as error:
            older = era.next_handshake_version(version, error.code, error.data, error.status, HANDSHAKE)
            if older is None:
                raise
        except HttpStatusError as error:
            older = era.next_handshake_version(version, None, None, error.status, HANDSHAKE)
            if older is None:
                raise
        version = older


def _agreement(revision: Revision, info: Mapping[str, object], raw: Mapping[str, object]) -> Agreement:
    instructions = raw.get("instructions")
    return Agreement(
        revision, info, _object(raw.get("capabilities")), instructions if isinstance(instructions, str) else None
    )


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}

"""The protocol's revisions and the two eras that they belong to, as data (specification, basic/versioning).

The *handshake* era opens with ``initialize`` and keeps state in the connection. The *stateless* era has no handshake: each
request says in ``_meta`` which revision it speaks, who asks, and what the client can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from syncline.errors import ConfigError
from syncline_wire import EXTENSIONS
from syncline_wire.methods import METHODS

META = "io.modelcontextprotocol/"
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@dataclass(frozen=True)
class Revision:
    """What one revision allows.

    Attributes:
        name: Its date.
        era: ``handshake`` or ``stateless``.
        batches: Messages may come as JSON arrays.
        version_header: HTTP requests name the revision in ``MCP-Protocol-Version``.
        completions_declared: Completion is announced by a capability of its own.
    """

    name: str
    era: Literal["handshake", "stateless"]
    batches: bool = False
    version_header: bool = True
    completions_declared: bool = True


REVISIONS: dict[str, Revision] = {
    revision.name: revision
    for revision in (
        Revision("2024-11-05", "handshake", version_header=False, completions_declared=False),
        Revision("2025-03-26", "handshake", batches=True, version_header=False),
        Revision("2025-06-18", "handshake"),
        Revision("2025-11-25", "handshake"),
        Revision("2026-07-28", "stateless"),
    )
}

#: Newest first: what is offered in ``initialize``, and what may stand in ``_meta``. A revision is in one of them only.
HANDSHAKE = tuple(name for name in reversed(REVISIONS) if REVISIONS[name].era == "handshake")
STATELESS = tuple(name for name in reversed(REVISIONS) if REVISIONS[name].era == "stateless")

#: The server capability that a method belongs to. Methods that are not listed need none.
CAPABILITY: Mapping[str, str] = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources",
    "resources/unsubscribe": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
    "logging/setLevel": "logging",
}

#: Requests that change nothing, so that sending one again is harmless.
REPEATABLE = frozenset(
    {
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "tasks/get",
        "tasks/list",
        "tasks/result",
    }
)


def known_revision(name: str) -> Revision:
    """The revision of that name; ``ConfigError`` if there is none."""
    try:
        return REVISIONS[name]
    except KeyError:
        raise ConfigError(f"unknown protocol version {name!r}; known are {', '.join(REVISIONS)}") from None


def exists(method: str, revision: str) -> bool:
    """Whether a client may send a request in this revision; methods that no revision knows are the caller's own."""
    tables = [METHODS[revision], *(METHODS[name] for name in EXTENSIONS if REVISIONS[revision].era == "stateless")]
    senders = [table[method].sender for table in tables if method in table]
    if senders:
        return senders[0] != "server"
    return not any(method in METHODS[name] for name in REVISIONS)


def may_ask_for_input(method: str, revision: str) -> bool:
    """Whether the answer to a method may be ``input_required``."""
    entry = METHODS[revision].get(method)
    return entry is not None and entry.asks


@dataclass(frozen=True)
class Identity:
    """Who we are and what we can do; said once in the handshake era, with each request in the stateless one."""

    client_info: Mapping[str, object]
    capabilities: Mapping[str, object]


def envelope(
    revision: Revision,
    identity: Identity,
    params: Mapping[str, object] | None,
    *,
    meta: Mapping[str, object] | None = None,
    extensions: Mapping[str, object] | None = None,
    progress_token: int | None = None,
    log_level: str | None = None,
) -> dict[str, object] | None:
    """The ``params`` of a request as this revision wants them; what the protocol says in ``_meta`` wins over the caller.

    ``extensions`` are declared for this request besides what the identity declares (basic/extensions).
    """
    said: dict[str, object] = dict(meta) if meta else {}
    if revision.era == "stateless":
        said[META + "protocolVersion"] = revision.name
        said[META + "clientInfo"] = identity.client_info
        said[META + "clientCapabilities"] = with_extensions(identity.capabilities, extensions)
        if log_level is not None:
            said[META + "logLevel"] = log_level
    if progress_token is not None:
        said["progressToken"] = progress_token
    if not said:
        return dict(params) if params is not None else None
    return {**(params or {}), "_meta": said}


def with_extensions(
    capabilities: Mapping[str, object], extensions: Mapping[str, object] | None
) -> Mapping[str, object]:
    """Client capabilities that declare these extensions too; one that they declare already keeps its settings."""
    if not extensions:
        return capabilities
    declared = capabilities.get("extensions")
    return {**capabilities, "extensions": {**extensions, **(declared if isinstance(declared, Mapping) else {})}}

"""Which era a server belongs to, as tables (specification, basic/versioning; basic/lifecycle for the handshake).

A server of the modern era (2026-07-28) answers ``server/discover``; one of the handshake era wants ``initialize`` first.
The functions here judge one answer each. Whoever calls them bounds the number of tries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syncline.errors import NoCommonRevision

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

#: HTTP statuses below 500 that tell nothing about the era: they speak of credentials, of a proxy or of load.
_NO_EVIDENCE = frozenset({401, 403, 407, 408, 425, 429})


@dataclass(frozen=True, slots=True)
class Probe:
    """What became of ``server/discover``.

    Attributes:
        kind: ``result``; ``rpc_error``, an error answer; ``http_status``, an HTTP answer that is no JSON-RPC message;
            ``timeout``; ``exited``, the process ended or closed its output; ``network``, the server was not reached.
        result: The result, decoded from JSON.
        code: The JSON-RPC error code.
        message: What is known of the failure, for the reason of a ``Raise``.
        data: The data of the JSON-RPC error.
        status: The HTTP status; None over stdio.
    """

    kind: Literal["result", "rpc_error", "http_status", "timeout", "exited", "network"]
    result: Mapping[str, object] | None = None
    code: int = 0
    message: str = ""
    data: object = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Modern:
    """A modern server; speak this version."""

    version: str


@dataclass(frozen=True, slots=True)
class Again:
    """A modern server that refused the version; ask once more with this one, which may be the one it refused (VER-33)."""

    version: str


@dataclass(frozen=True, slots=True)
class Handshake:
    """A server of the handshake era: send ``initialize`` over the same connection."""


@dataclass(frozen=True, slots=True)
class HandshakeAfterRestart:
    """It did not survive the probe: start it again, then send ``initialize``."""


@dataclass(frozen=True, slots=True)
class Raise:
    """The connection fails; the reason is to be told."""

    reason: str


Verdict: TypeAlias = Modern | Again | Handshake | HandshakeAfterRestart | Raise


def judge_probe(
    outcome: Probe, transport: Literal["stdio", "http"], modern: Sequence[str], legacy: Sequence[str]
) -> Verdict:
    """What the outcome of the probe says about the server (ERA-2, ERA-12).

    Args:
        outcome: What became of ``server/discover``.
        transport: Over HTTP silence, broken connections and 5xx say nothing about the era, over stdio they do.
        modern: The modern versions that we speak, best first.
        legacy: The handshake versions that we speak, best first; empty if there is to be no fallback.
    """
    verdict = _judge(outcome, transport, modern, legacy)
    if isinstance(verdict, (Handshake, HandshakeAfterRestart)) and not legacy:
        return Raise(f"the server does not speak {_listing(modern)}: {_told(outcome)}")
    return verdict


def _judge(outcome: Probe, transport: str, modern: Sequence[str], legacy: Sequence[str]) -> Verdict:
    if outcome.kind == "result":
        offered = _versions(_member(outcome.result, "supportedVersions"))
        return Handshake() if offered is None else _choose(offered, Modern, modern, legacy)
    if outcome.kind == "rpc_error":
        return _judge_error(outcome, transport, modern, legacy)
    if transport == "stdio" and outcome.kind == "timeout":
        return Handshake()
    if transport == "stdio" and outcome.kind == "exited":
        return HandshakeAfterRestart()
    if outcome.kind == "http_status" and _points_to_handshake(outcome.status):
        return Handshake()
    return Raise(_told(outcome))


def _judge_error(outcome: Probe, transport: str, modern: Sequence[str], legacy: Sequence[str]) -> Verdict:
    """Only the three errors of the modern era, in their own shape, show that era; any other code shows the older one."""
    refused = outcome.status is not None and 400 <= outcome.status < 500
    supported = supported_versions(outcome.data)
    if outcome.code == UNSUPPORTED_VERSION and supported is not None:
        return _choose(supported, Again, modern, legacy)
    if outcome.code == MISSING_CAPABILITY and isinstance(_member(outcome.data, "requiredCapabilities"), Mapping):
        return Raise(_told(outcome))
    if outcome.code == HEADER_MISMATCH and refused:
        return Raise(_told(outcome))
    if transport == "stdio" or _points_to_handshake(outcome.status):
        return Handshake()
    return Raise(_told(outcome))


def _points_to_handshake(status: int | None) -> bool:
    """A success that is no ``DiscoverResult``, or a refusal that is about the message."""
    return status is not None and (200 <= status < 300 or (400 <= status < 500 and status not in _NO_EVIDENCE))


def _choose(
    offered: Sequence[str], found: type[Modern | Again], modern: Sequence[str], legacy: Sequence[str]
) -> Verdict:
    for version in modern:
        if version in offered:
            return found(version)
    if any(version in offered for version in legacy):
        return Handshake()
    return Raise(f"no common revision: the server speaks {_listing(offered)}, we speak {_listing([*modern, *legacy])}")


def points_to_sse(status: int | None, code: int | None) -> bool:
    """Whether a refused ``initialize`` may come from a server of HTTP+SSE, the transport of 2024-11-05 (ERA-20, ERA-22).

    Args:
        status: The HTTP status; None over stdio, and in an event stream.
        code: The JSON-RPC error code in the body, None where it was no JSON-RPC error.
    """
    modern = code in (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)
    unknown_method = status == 404 and code == METHOD_NOT_FOUND
    return status in (400, 404, 405) and not modern and not unknown_method


def next_handshake_version(
    offered: str, error_code: int | None, data: object, status: int | None, legacy: Sequence[str]
) -> str | None:
    """The version to offer after the server refused ``initialize``; None if another one would not help (VER-20).

    A list of supported versions decides. Without one the next older version is worth a try where the server called the
    parameters invalid or answered HTTP 400. Only ever older ones than ``offered`` are named, so that asking ends.

    Args:
        offered: The version that was refused, one of ``legacy``.
        error_code: The JSON-RPC error code, None where the answer was not a JSON-RPC error.
        data: The data of that error.
        status: The HTTP status; None over stdio.
        legacy: The handshake versions that we speak, newest first.
    """
    older = legacy[list(legacy).index(offered) + 1 :]
    supported = supported_versions(data)
    if supported is not None:
        return next((version for version in older if version in supported), None)
    if older and (error_code in (INVALID_PARAMS, UNSUPPORTED_VERSION) or status == 400):
        return older[0]
    return None


def check_negotiated(answered: object, legacy: Sequence[str]) -> str:
    """The version in an ``InitializeResult``, if we speak it; else raises ``NoCommonRevision`` (VER-13)."""
    if isinstance(answered, str) and answered in legacy:
        return answered
    said = f"revision {answered!r}" if isinstance(answered, str) else "no revision"
    raise NoCommonRevision(f"the server answered the handshake with {said}; we speak {_listing(legacy)}")


def supported_versions(data: object) -> list[str] | None:
    """The list of versions in the data of a refusal; None if there is no proper one (ERA-13)."""
    return _versions(_member(data, "supported"))


def _member(data: object, name: str) -> object:
    return data.get(name) if isinstance(data, Mapping) else None


def _versions(value: object) -> list[str] | None:
    if isinstance(value, list) and value and all(isinstance(version, str) for version in value):
        return value
    return None


def _told(outcome: Probe) -> str:
    told = {
        "result": "its discovery names no revision",
        "rpc_error": f"it answered with error {outcome.code}",
        "http_status": f"it answered with HTTP status {outcome.status}",
        "timeout": "it did not answer in time",
        "exited": "it ended",
        "network": "it was not reached",
    }[outcome.kind]
    return f"{told}: {outcome.message}" if outcome.message else told


def _listing(versions: Sequence[str]) -> str:
    return ", ".join(versions) or "none"

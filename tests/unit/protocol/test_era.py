from __future__ import annotations

from typing import Literal

import pytest

from syncline.errors import NoCommonRevision
from syncline.protocol.era import (
    Again,
    Handshake,
    HandshakeAfterRestart,
    Modern,
    Probe,
    Raise,
    Verdict,
    check_negotiated,
    judge_probe,
    next_handshake_version,
    points_to_sse,
)

MODERN = ("2026-07-28",)
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
NEW = MODERN[0]


def discovered(*versions: object) -> Probe:
    return Probe("result", result={"resultType": "complete", "supportedVersions": list(versions), "capabilities": {}})


def error(code: int, status: int | None = None, **data: object) -> Probe:
    return Probe("rpc_error", code=code, message="said so", data=data or None, status=status)


def http(status: int) -> Probe:
    return Probe("http_status", status=status)


#: Results mean the same over both transports (ERA-2, ERA-12).
BOTH: list[tuple[Probe, Verdict | type[Raise]]] = [
    (discovered(NEW), Modern(NEW)),
    (discovered("2025-11-25", NEW, "2099-01-01"), Modern(NEW)),
    (discovered("2025-11-25"), Handshake()),
    (discovered("2099-01-01", "2024-11-05"), Handshake()),
    (discovered("2099-01-01"), Raise),
    (discovered(), Handshake()),
    (discovered(1, 2), Handshake()),
    (Probe("result", result={"supportedVersions": NEW}), Handshake()),
    (Probe("result", result={}), Handshake()),
    (Probe("result"), Handshake()),
]

STDIO: list[tuple[Probe, Verdict | type[Raise]]] = [
    *BOTH,
    (error(-32022, supported=[NEW], requested=NEW), Again(NEW)),
    (error(-32022, supported=["2025-11-25"]), Handshake()),
    (error(-32022, supported=["2099-01-01"]), Raise),
    (error(-32022, supported="2099-01-01"), Handshake()),
    (error(-32022, supported=[1]), Handshake()),
    (error(-32022, supported=[]), Handshake()),
    (error(-32022), Handshake()),
    (error(-32021, requiredCapabilities={"roots": {}}), Raise),
    (error(-32021, requiredCapabilities="roots"), Handshake()),
    (error(-32021), Handshake()),
    (error(-32020), Handshake()),
    *((error(code), Handshake()) for code in (-32601, -32602, -32600, -32000, -32603, 0, 1)),
    (error(-32602, supported=[NEW]), Handshake()),
    (Probe("timeout"), Handshake()),
    (Probe("exited"), HandshakeAfterRestart()),
    (Probe("network"), Raise),
]

HTTP: list[tuple[Probe, Verdict | type[Raise]]] = [
    *BOTH,
    (error(-32022, 400, supported=["2025-11-25", NEW]), Again(NEW)),
    (error(-32022, 200, supported=[NEW]), Again(NEW)),
    (error(-32022, 400, supported=["2025-06-18"]), Handshake()),
    (error(-32022, 400, supported=["2099-01-01"]), Raise),
    (error(-32022, 400), Handshake()),
    (error(-32020, 400), Raise),
    (error(-32020, 200), Handshake()),
    (error(-32021, 400, requiredCapabilities={}), Raise),
    (error(-32601, 404), Handshake()),
    (error(-32601, 200), Handshake()),
    (error(-32602, 400), Handshake()),
    (error(-32000, 400), Handshake()),
    (error(-32600, 406), Handshake()),
    (error(-32000, 401), Raise),
    (error(-32000, 403), Raise),
    (error(-32000, 429), Raise),
    (error(-32603, 500), Raise),
    *((http(status), Handshake()) for status in (400, 404, 405, 406, 415, 422, 200, 202)),
    *((http(status), Raise) for status in (401, 403, 407, 408, 425, 429, 301, 308, 500, 502, 503)),
    (Probe("timeout"), Raise),
    (Probe("network"), Raise),
    (Probe("exited"), Raise),
]


def agrees(verdict: Verdict, expected: Verdict | type[Raise]) -> bool:
    return verdict == expected if not isinstance(expected, type) else isinstance(verdict, expected)


@pytest.mark.parametrize(("outcome", "expected"), STDIO)
def test_the_era_over_stdio(outcome: Probe, expected: Verdict | type[Raise]) -> None:
    """B199, B201: only a recognised modern error keeps us from the handshake, never one particular other code."""
    assert agrees(judge_probe(outcome, "stdio", MODERN, LEGACY), expected)


@pytest.mark.parametrize(("outcome", "expected"), HTTP)
def test_the_era_over_http(outcome: Probe, expected: Verdict | type[Raise]) -> None:
    """B199: the body decides before the status; what tells nothing about the era is raised."""
    assert agrees(judge_probe(outcome, "http", MODERN, LEGACY), expected)


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(("outcome", "expected"), [*STDIO, *HTTP])
def test_without_handshake_versions_there_is_no_fallback(
    transport: Literal["stdio", "http"], outcome: Probe, expected: Verdict | type[Raise]
) -> None:
    assert isinstance(judge_probe(outcome, transport, MODERN, ()), (Modern, Again, Raise))


def test_our_order_of_versions_decides() -> None:
    assert judge_probe(discovered(NEW, "2027-01-01"), "http", ("2027-01-01", NEW), LEGACY) == Modern("2027-01-01")


@pytest.mark.parametrize(
    ("outcome", "parts"),
    [
        (discovered("2099-01-01", "2099-02-02"), ["2099-01-01, 2099-02-02", NEW, "2024-11-05"]),
        (error(-32020, 400), ["-32020", "said so"]),
        (http(503), ["HTTP status 503"]),
        (Probe("timeout"), ["did not answer in time"]),
        (Probe("network", message="refused"), ["not reached: refused"]),
    ],
)
def test_the_reason_says_what_the_server_said(outcome: Probe, parts: list[str]) -> None:
    verdict = judge_probe(outcome, "http", MODERN, LEGACY)
    assert isinstance(verdict, Raise)
    for part in parts:
        assert part in verdict.reason


@pytest.mark.parametrize(
    ("outcome", "part"),
    [
        (Probe("exited", message="status 1"), "it ended: status 1"),
        (Probe("result"), "its discovery names no revision"),
        (error(-32601), "error -32601"),
        (discovered("2025-11-25"), "the server speaks 2025-11-25"),
    ],
)
def test_the_reason_of_a_fallback_that_is_not_wanted(outcome: Probe, part: str) -> None:
    verdict = judge_probe(outcome, "stdio", MODERN, ())
    assert isinstance(verdict, Raise)
    assert part in verdict.reason


def supported(*versions: str) -> dict[str, object]:
    return {"supported": list(versions), "requested": LEGACY[0]}


@pytest.mark.parametrize(
    ("offered", "code", "data", "status", "expected"),
    [
        (LEGACY[0], -32602, supported("2025-06-18"), 400, "2025-06-18"),
        (LEGACY[0], -32602, supported("2024-11-05", "2025-03-26"), None, "2025-03-26"),
        (LEGACY[0], -32000, supported("2024-11-05"), 400, "2024-11-05"),
        (LEGACY[0], -32602, supported("2099-01-01"), 400, None),
        (LEGACY[0], -32602, supported(LEGACY[0]), 400, None),
        (LEGACY[1], -32602, supported(LEGACY[0]), 400, None),
        (LEGACY[0], -32022, supported(NEW), 400, None),
        (LEGACY[0], -32602, None, 400, LEGACY[1]),
        (LEGACY[0], -32602, {"supported": "x"}, None, LEGACY[1]),
        (LEGACY[1], -32022, None, None, LEGACY[2]),
        (LEGACY[0], -32000, None, 400, LEGACY[1]),
        (LEGACY[0], None, None, 400, LEGACY[1]),
        (LEGACY[3], -32602, None, 400, None),
        (LEGACY[0], -32000, None, None, None),
        (LEGACY[0], -32601, None, 404, None),
        (LEGACY[0], None, None, 500, None),
        (LEGACY[0], None, None, 401, None),
    ],
)
def test_a_refused_handshake_is_offered_an_older_version(
    offered: str, code: int | None, data: object, status: int | None, expected: str | None
) -> None:
    """B196: a listed version, else the next older one."""
    assert next_handshake_version(offered, code, data, status, LEGACY) == expected


def test_asking_ends() -> None:
    """B196: bounded, whatever the server says."""
    version: str | None = LEGACY[0]
    offered = []
    while version is not None:
        offered.append(version)
        version = next_handshake_version(version, -32602, None, 400, LEGACY)
    assert offered == list(LEGACY)


@pytest.mark.parametrize("version", LEGACY)
def test_a_version_that_we_speak_is_taken(version: str) -> None:
    """B198: older than the offered one is fine."""
    assert check_negotiated(version, LEGACY) == version


@pytest.mark.parametrize(
    ("answered", "said"),
    [("2099-01-01", "'2099-01-01'"), (NEW, NEW), ("", "''"), (None, "no revision"), (20251125, "no revision")],
)
def test_any_other_version_ends_the_handshake(answered: object, said: str) -> None:
    """B198: unknown, empty, missing."""
    with pytest.raises(NoCommonRevision) as caught:
        check_negotiated(answered, LEGACY)
    assert said in str(caught.value)
    assert "2024-11-05" in str(caught.value)


@pytest.mark.parametrize("status", [400, 404, 405])
def test_three_statuses_may_be_those_of_the_older_transport(status: int) -> None:
    """ERA-20, ERA-22."""
    assert points_to_sse(status, None)
    assert points_to_sse(status, -32600)
    assert points_to_sse(status, -32601) == (status != 404)
    assert not any(points_to_sse(status, code) for code in (-32020, -32021, -32022))


@pytest.mark.parametrize("status", [None, 200, 202, 401, 403, 406, 409, 410, 415, 429, 500, 501, 503])
def test_no_other_status_is(status: int | None) -> None:
    """ERA-22."""
    assert not points_to_sse(status, None)
    assert not points_to_sse(status, -32600)

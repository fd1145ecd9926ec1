"""What is measured, and what is expected of it, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

MIB = 1 << 20


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        workload: The function of `worker.py` that runs it.
        way: `json` or `sse` (HTTP, by how the server answers) or `stdio`.
        era: `25` for 2025-11-25, `26` for 2026-07-28.
        figure: What is compared, and its unit; the more of a rate the better, the less of anything else.
        target: The client's cost over the reference's, at most.
        peak_mb: Peak memory of the client's process, at most.
        connections: HTTP connections for the whole run, at most.
        reference: What it is compared with: the raw loop, a script that uses requests, or the slowest of many servers alone.
        options: Arguments of the workload.
        server: Arguments of the server.
        long: Left out of a quick run.
    """

    name: str
    workload: str
    way: str
    era: str
    figure: str
    target: float
    peak_mb: float | None = None
    connections: int | None = None
    reference: str = "raw"
    options: dict[str, int | str] = field(default_factory=dict)
    server: tuple[str, ...] = ()
    long: bool = False

    @property
    def is_rate(self) -> bool:
        return self.figure.endswith("/s")


def _calls() -> list[Row]:
    rows = []
    for era in ("25", "26"):
        rows += [
            Row(f"call-{way}-{era}", "calls", way, era, "calls/s", target, connections=None if way == "stdio" else 2)
            for way, target in (("json", 1.6), ("sse", 1.6), ("stdio", 1.5))
        ]
    for workers, stdio_target in ((8, 7.0), (32, 11.0)):
        rows += [
            Row(
                f"threads-{way}-{workers}", "concurrent", way, "25", "calls/s", target,
                connections=None if way == "stdio" else workers + 2, options={"workers": workers},
            )
            for way, target in (("json", 2.3), ("sse", 2.3), ("stdio", stdio_target))
        ]  # fmt: skip
    slow: dict[str, int | str] = {"workers": 32, "ms": 10}
    rows.append(Row("threads-json-32-10ms", "concurrent", "json", "25", "calls/s", 1.6, connections=34, options=slow))
    return rows


def _listings() -> list[Row]:
    return [
        Row(
            f"list-{count}-{era}", "listing", "json", era, "ms", 1.8, options={"tools": count},
            server=("--tools", str(count)), long=count > 1000,
        )
        for count in (1000, 10_000)
        for era in ("25", "26")
    ]  # fmt: skip


def _blobs() -> list[Row]:
    targets = {"json": (1.0, 1.0), "sse": (1.2, 1.3), "stdio": (1.2, 1.1)}
    return [
        Row(
            f"blob-{way}-{size}m", "blob", way, "25", "ms", target, peak_mb=190 if size > 1 else None,
            options={"bytes": size * MIB}, long=size > 1,
        )
        for way, pair in targets.items()
        for size, target in zip((1, 32), pair, strict=True)
    ]  # fmt: skip


def _starts() -> list[Row]:
    return [
        Row("import", "importing", "", "", "ms", 2.1, reference="requests"),
        Row("cold-json-25", "cold", "json", "25", "ms", 2.1, peak_mb=42, reference="requests"),
        Row("cold-stdio-25", "cold", "stdio", "25", "ms", 2.9, peak_mb=42),
    ]


def _streams() -> list[Row]:
    """`get`: the session's stream; `listen`: a change stream; `push`: an event stream, with cursors and acknowledgement."""
    kinds = {"get": "25", "listen": "26", "push": "26"}
    rows = []
    for kind, era in kinds.items():
        one: dict[str, int | str] = {"kind": kind, "streams": 1, "events": 100_000}
        rows.append(Row(f"events-{kind}-1", "streams", "sse", era, "events/s", 1.5, options=one, long=True))
        if kind != "get":
            many: dict[str, int | str] = {"kind": kind, "streams": 64, "events": 1000}
            rows.append(Row(f"events-{kind}-64", "streams", "sse", era, "events/s", 1.5, options=many, long=True))
        cuts: dict[str, int | str] = {"kind": kind, "cuts": 100}
        soon = 5.0 if kind == "push" else 2.0  # that one waits for a millisecond
        rows.append(Row(f"drop-{kind}", "drops", "sse", era, "ms", soon, options=cuts, server=("--cut",)))
    return rows


def _fleets() -> list[Row]:
    size: dict[str, int | str] = {"servers": 100, "tools": 100, "late": 5}
    server = "--tools", "100"
    return [
        Row("fleet-100", "fleet", "json", "25", "ms", 1.5, reference="slowest", options=size, server=server, long=True)
    ]


ROWS = [*_calls(), *_listings(), *_blobs(), *_streams(), *_starts(), *_fleets()]

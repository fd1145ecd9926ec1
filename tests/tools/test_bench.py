"""The benchmarks: how ratios and verdicts come about, and one real row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.bench import __main__ as bench
from tools.bench.rows import ROWS, Row

RATE = Row("rate", "calls", "json", "25", "calls/s", 1.5, peak_mb=50, connections=2)
TIME = Row("time", "blob", "json", "25", "ms", 1.5)


def test_a_ratio_is_taken_within_a_round_and_above_one_means_dearer() -> None:
    measured = bench.Measured(
        RATE,
        client=[{"calls/s": 100, "cpu_us": 30}, {"calls/s": 50, "cpu_us": 30}, {"calls/s": 100, "cpu_us": 30}],
        reference=[{"calls/s": 200, "cpu_us": 10}, {"calls/s": 100, "cpu_us": 10}, {"calls/s": 300, "cpu_us": 15}],
    )
    assert measured.ratios("calls/s") == [2, 2, 3]
    assert measured.ratio == 2
    assert measured.ratios("cpu_us") == [3, 3, 2]
    slower = bench.Measured(TIME, client=[{"ms": 3}], reference=[{"ms": 2}])
    assert slower.ratio == 1.5
    assert slower.missed() == []


def test_every_target_that_was_missed_is_named() -> None:
    client = {"calls/s": 100.0, "peak_mb": 60.0, "connections": 9.0}
    measured = bench.Measured(RATE, client=[client], reference=[{"calls/s": 200.0}])
    assert measured.missed() == ["ratio 2.00", "peak 60 MB > 50", "9 connections > 2"]
    assert "no: ratio 2.00, peak" in bench.line(measured)
    assert bench.as_data(measured)["missed"] == measured.missed()


def test_rows_have_names_of_their_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("name", ["call-sse-26", "call-stdio-25", "drop-get", "drop-listen", "drop-push"])
def test_a_row_is_measured(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    monkeypatch.setattr("sys.argv", ["bench", name, "--quick", "--json", str(file)])
    assert bench.main() == 0
    assert name in capsys.readouterr().out
    (found,) = json.loads(file.read_text())
    assert found["ratio"] > 0
    client, reference = found["client"][0], found["reference_figures"][0]
    count = "cuts" if name.startswith("drop") else "calls"
    assert client[count] > 0
    assert reference[count] > 0
    if "sse" in name:
        assert client["connections"] <= 2
        assert client["tools/call"] >= client["calls"] + 20


def test_many_servers_are_measured() -> None:
    size: dict[str, int | str] = {"servers": 4, "tools": 3, "late": 0}
    row = Row("f", "fleet", "json", "25", "ms", 9, reference="slowest", options=size, server=("--tools", "3"))
    measured = bench.measure(row, "syncline", 1, 0.1)
    assert measured.failure == ""
    assert measured.client[0]["connections"] >= 2
    assert measured.client[0]["threads"] >= measured.client[0]["idle_threads"] > 1
    assert " when idle, listed in " in bench.line(measured)

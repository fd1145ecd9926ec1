"""The wire trace and the findings."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from syncline.errors import ConfigError
from syncline.findings import KEPT, RAW_LENGTH, Finding, Findings
from syncline.logs import Trace, redact, trace_to


def test_the_trace_is_json_lines() -> None:
    file = io.StringIO()
    trace = Trace(file)
    trace("sent", "weather", b'{"id": 1, "method": "ping"}')
    trace("received", "weather", b"not json")
    trace.close()

    first, second = map(json.loads, file.getvalue().splitlines())
    assert (first["direction"], first["server"], first["message"]) == ("sent", "weather", {"id": 1, "method": "ping"})
    assert second["message"] == "[8 bytes that are not JSON]"
    assert not file.closed


@pytest.mark.parametrize(
    "key", ["token", "access_token", "Authorization", "apiKey", "api-key", "client_secret", "password", "requestState"]
)
def test_what_sounds_secret_is_masked(key: str) -> None:
    """Also deep inside, also in lists."""
    assert redact({"a": [{key: "planted"}]}) == {"a": [{key: "[redacted]"}]}


@pytest.mark.parametrize("value", [{"progressToken": "7"}, {"maxTokens": 5}, {"token": None}, {"name": "token"}])
def test_what_is_not_secret_stays(value: object) -> None:
    assert redact(value) == value


def test_a_trace_goes_to_a_path_or_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.jsonl"
    for target in (str(path), path, None):
        monkeypatch.setenv("SYNCLINE_TRACE", str(path))
        trace = trace_to(target)
        assert trace is not None
        trace("sent", "x", b"{}")
        trace.close()
    monkeypatch.delenv("SYNCLINE_TRACE")

    assert len(path.read_text().splitlines()) == 3
    assert trace_to(None) is None


def test_a_trace_that_cannot_be_written_is_a_bad_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="trace"):
        Trace(tmp_path / "missing" / "trace.jsonl")


def test_a_trace_that_fails_later_ends_no_call(caplog: pytest.LogCaptureFixture) -> None:
    file = io.StringIO()
    trace = Trace(file)
    file.close()
    trace("sent", "x", b"{}")

    assert "the trace cannot be written" in caplog.text


def test_findings_keep_the_newest_and_count_the_rest() -> None:
    findings = Findings()
    for number in range(KEPT + 5):
        findings.record("code", str(number), b"\xff" * (RAW_LENGTH + 1))

    kept = findings.snapshot()
    assert (len(kept), findings.dropped) == (KEPT, 5)
    assert kept[0] == Finding("code", "5", "\ufffd" * RAW_LENGTH)

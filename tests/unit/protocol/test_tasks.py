"""What a task's description means."""

from __future__ import annotations

import pytest

from syncline.protocol.tasks import pace, read_state
from syncline_wire import load

TASK = {
    "taskId": "t",
    "status": "working",
    "createdAt": "2026-11-02T08:00:00Z",
    "lastUpdatedAt": "2026-11-02T08:01:30Z",
}


def test_the_interval_grows_where_the_server_names_none() -> None:
    """TK-4: from one second up to ten; what a server names holds, within reason."""
    assert [round(pace(None, asked), 2) for asked in (0, 1, 2, 6, 1000)] == [1.0, 1.5, 2.25, 10.0, 10.0]
    assert (pace(0, 0), pace(-1, 0), pace(30, 5)) == (0.05, 0.05, 30)


def test_both_dialects_say_the_same() -> None:
    """Milliseconds on the wire, seconds here."""
    new, old = {**TASK, "ttlMs": 60_000, "pollIntervalMs": 500}, {**TASK, "ttl": 60_000, "pollInterval": 500}
    states = [
        read_state(load("tasks").GetTaskResult.model_validate(new), new, "stateless"),
        read_state(load("2025-11-25").GetTaskResult.model_validate(old), old, "handshake"),
    ]
    assert states[0] == states[1]
    assert (states[0].ttl, states[0].interval, states[0].age, states[0].final) == (60.0, 0.5, 90.0, False)


def test_what_is_not_said_is_none() -> None:
    raw: dict[str, object] = {**TASK, "ttlMs": None, "inputRequests": [1], "status": "completed"}
    model = load("tasks").GetTaskResult.model_construct(
        task_id="t", status="completed", created_at="", last_updated_at="", ttl_ms=None
    )
    state = read_state(model, raw, "stateless")
    assert (state.ttl, state.interval, state.questions, state.result, state.error) == (None, None, {}, None, None)
    assert state.final


@pytest.mark.parametrize("created", ["yesterday", "", "2026-11-02T08:00:00", "2027-11-02T08:00:00Z"])
def test_an_age_that_cannot_be_told_is_none_at_all(created: str) -> None:
    raw = {**TASK, "createdAt": created, "ttlMs": None}
    assert read_state(load("tasks").GetTaskResult.model_validate(raw), raw, "stateless").age == 0.0

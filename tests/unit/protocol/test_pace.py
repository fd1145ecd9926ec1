"""When to ask again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import ConfigError
from syncline.protocol.pace import Attempts, Pulse, Reconnect, poll_wait


def test_waits_double_up_to_the_most() -> None:
    """E-42."""
    backoff = Attempts(Reconnect())
    assert [backoff.next(0, 1) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    backoff.reset()
    assert backoff.next(0, 0.5) == 0.5


def test_the_server_may_ask_for_more() -> None:
    assert Attempts(Reconnect()).next(0, 1, 12.0) == 12.0


def test_tries_and_time_can_be_limited() -> None:
    """Three tries after 1, 2 and 4 s, all of it within 90 s."""
    policy = Reconnect(jitter=False, tries=3, budget=90)
    backoff = Attempts(policy)
    assert [backoff.next(now, 0) for now in (0, 1, 3, 7)] == [1, 2, 4, None]
    backoff = Attempts(policy)
    assert [backoff.next(now, 0) for now in (0, 89)] == [1, None]


@given(st.integers(1, 200), st.floats(0, 1))
def test_waits_stay_within_bounds(times: int, chance: float) -> None:
    backoff = Attempts(Reconnect(1.0, 60.0))
    assert all(0 <= (backoff.next(turn, chance) or 0.0) <= 60 for turn in range(times))


@pytest.mark.parametrize(("first", "most"), [(0, 1), (-1, 1), (2, 1)])
def test_a_policy_that_cannot_work_is_refused(first: float, most: float) -> None:
    with pytest.raises(ConfigError, match="first <= most"):
        Reconnect(first, most)


@pytest.mark.parametrize(
    ("beats", "silence"),
    [([0], 65), ([0, 30], 60), ([0, 30, 75], 90), ([0, 1], 20), ([0, 5, 300], 180)],
)
def test_silence_is_measured_against_the_heartbeats(beats: list[float], silence: float) -> None:
    """E-36: twice what was seen, between 20 and 180 s."""
    pulse = Pulse()
    for beat in beats:
        pulse.frame(beat, heartbeat=True)
    assert pulse.silence == silence


def test_heartbeats_with_events_between_them_say_nothing() -> None:
    pulse = Pulse()
    for now, heartbeat in [(0, True), (1, False), (100, True)]:
        pulse.frame(now, heartbeat=heartbeat)
    assert pulse.silence == 65


@pytest.mark.parametrize(("wanted", "chance", "wait"), [(0.01, 0, 1), (5, 0, 5), (5, 1, 5.5), (1e9, 0, 3600)])
def test_polls_keep_a_floor_and_do_not_march_in_step(wanted: float, chance: float, wait: float) -> None:
    """E-22."""
    assert poll_wait(wanted, chance) == pytest.approx(wait)

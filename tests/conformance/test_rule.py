"""The strict rule, apart from the suite."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.conformance.run import Outcome, Run, problem
from tests.conformance.scenarios import waits_for


@pytest.mark.parametrize(
    ("status", "checks", "expected"),
    [
        (0, {"SUCCESS": 2}, ""),
        (0, {"SUCCESS": 2, "INFO": 5, "SKIPPED": 1}, ""),
        (0, {}, "0 of 2 checks succeeded"),
        (0, {"SUCCESS": 1, "SKIPPED": 1}, "1 of 2 checks succeeded"),
        (0, {"SUCCESS": 2, "WARNING": 1}, "1 WARNING"),
        (0, {"SUCCESS": 2, "FAILURE": 3}, "3 FAILURE"),
        (1, {"SUCCESS": 2}, "the driver failed (harness status 1)"),
        (None, {"SUCCESS": 2}, "did not end in time"),
    ],
)
def test_a_required_scenario_passes_only_whole(status: int | None, checks: dict[str, int], expected: str) -> None:
    assert problem("tools_call", status, Counter(checks)) == expected


def test_the_list_of_what_is_not_there_yet_is_kept_honest() -> None:
    run = Run("sep-2640-client-no-prefetch", "2026-07-28", forced=True)
    assert Outcome(run, Counter(), "1 FAILURE").verdict == "not yet"
    assert Outcome(run, Counter(), "").verdict == "UNLISTED PASS"
    with pytest.raises(KeyError):
        waits_for("a-scenario-of-tomorrow")

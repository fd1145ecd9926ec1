"""Trying again, with tenacity: closing the connection ends a backoff at once, and no further attempt runs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.errors import SynclineError
from syncline.protocol.retries import Verdict, judge, unknown

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from syncline.config import Backoff, RetryPolicy

Result = TypeVar("Result")


def run(
    attempt: Callable[[], Result],
    policy: RetryPolicy,
    *,
    attempts: int,
    repeatable: bool,
    deadline: Deadline,
    ending: CancelToken,
) -> Result:
    """Make an attempt, and further ones as ``protocol.retries`` has it, all under one deadline.

    Raises the last error; ``OutcomeUnknown`` where the request may have run. A delay that would outlast the deadline is not
    begun: the error comes now, with the delay in it. ``ending`` ends the waiting.
    """

    def verdict(error: BaseException | None) -> Verdict:
        if not isinstance(error, SynclineError):
            return Verdict("raise")
        return judge(error, repeatable=repeatable, statuses=policy.statuses)

    try:
        try:
            return attempt()
        except SynclineError as error:
            if attempts < 2 or verdict(error).kind != "again":
                raise
            return _further(attempt, error, verdict, policy.backoff, attempts, deadline, ending)
    except SynclineError as error:
        if verdict(error).kind == "unknown":
            raise unknown(error) from error
        raise


def _further(
    attempt: Callable[[], Result],
    failure: SynclineError,
    verdict: Callable[[BaseException | None], Verdict],
    backoff: Backoff,
    attempts: int,
    deadline: Deadline,
    ending: CancelToken,
) -> Result:
    import tenacity  # loaded by the first failure

    failures = [failure]

    def attempt_or_replay() -> Result:
        if failures:
            raise failures.pop()  # the first attempt has been made
        return attempt()

    def outcome(state: RetryCallState) -> BaseException | None:
        return state.outcome.exception() if state.outcome is not None else None

    def delay(state: RetryCallState) -> float:
        asked = verdict(outcome(state)).delay
        return pause(backoff, state.attempt_number) if asked is None else asked

    def rest(seconds: float) -> None:
        ending.wait(deadline.sooner(seconds))

    def given_up(state: RetryCallState) -> bool:
        left = deadline.remaining()
        return state.attempt_number >= attempts or (left is not None and state.upcoming_sleep >= left)

    def still_wanted(_state: RetryCallState) -> None:
        if ending.cancelled:
            raise ending.reason or failure

    return tenacity.Retrying(
        retry=lambda state: verdict(outcome(state)).kind == "again",
        wait=delay,
        stop=given_up,
        sleep=rest,
        before=still_wanted,
        reraise=True,
    )(attempt_or_replay)


def pause(backoff: Backoff, turn: int) -> float:
    """Seconds to wait before trying for the ``turn``-th time again: growing, capped, with jitter."""
    longest = min(backoff.cap, backoff.base * backoff.factor ** (turn - 1))
    return random.uniform(longest / 2, longest) if backoff.jitter else longest

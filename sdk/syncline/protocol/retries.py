"""What may be sent again after it failed, and when: a table over the failure and the request. Nothing here waits.

===============================  ======================  =============================================
what failed                      request                 verdict
===============================  ======================  =============================================
nothing was sent                 any                     again, unless a certificate is not trusted
408 429 500 502 503 504          changes nothing         again, after ``Retry-After`` where it is given
429 with ``Retry-After``         others                  the error, with the delay in it
broken while it was under way    changes nothing         again
broken while it was under way    others                  ``OutcomeUnknown``, or again if the user allows
anything else                    any                     the error
===============================  ======================  =============================================
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from syncline.errors import ConnectFailed, ConnectionLost, HttpStatusError, OutcomeUnknown, ServerExited, SynclineError


@dataclass(frozen=True)
class Verdict:
    """What to do about a failure.

    Attributes:
        kind: ``again``, ``raise``, or ``unknown``: nobody can tell whether it ran.
        delay: Seconds that the server asks to wait first; None: as the backoff says.
    """

    kind: Literal["again", "raise", "unknown"]
    delay: float | None = None


def judge(error: SynclineError, *, repeatable: bool, statuses: Collection[int]) -> Verdict:
    """The row of the table for a failed request; ``repeatable`` says that running it twice does no harm."""
    if isinstance(error, ConnectFailed):
        return Verdict("again" if error.passing else "raise")
    if isinstance(error, ServerExited):
        return Verdict("raise")
    if isinstance(error, ConnectionLost):
        return Verdict("again" if repeatable else "unknown")
    if isinstance(error, HttpStatusError) and error.status in statuses and repeatable:
        return Verdict("again", error.retry_after)
    return Verdict("raise")


def unknown(error: SynclineError) -> OutcomeUnknown:
    """The error for a request that may have run."""
    outcome = OutcomeUnknown(
        f"it was sent and may have run; it was not sent again: {error.message}", reason=error.message
    )
    outcome.__cause__ = error
    return outcome.at(error.server, error.method, error.request_id)

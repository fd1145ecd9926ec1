"""The notifications of an event stream (SEP-3415, push)."""

from __future__ import annotations

from collections.abc import Mapping

PREFIX = "notifications/events/"
ACTIVE = PREFIX + "active"
TERMINATED = PREFIX + "terminated"


def position(before: str | None, method: str, params: Mapping[str, object]) -> str | None:
    """The cursor to go on from after a notification, given the one before it; None to begin at what happens then.

    The ``active`` that opens a stream again names where the server stands, not what it has sent: it counts only where there
    was no cursor yet, or where the server says that it cannot go back so far.
    """
    cursor = params.get("cursor")
    if not isinstance(cursor, str) or (method == ACTIVE and before is not None and params.get("truncated") is not True):
        return before
    return cursor

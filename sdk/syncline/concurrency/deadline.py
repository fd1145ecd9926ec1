"""One clock for one user call."""

from __future__ import annotations

import time

from .locks import new_lock

#: The longest wait in one piece, in seconds: a signal that comes just before a wait begins is seen when it ends.
NAP = 0.5

#: Held while a deadline is paused or resumed: a login pauses that of its call while a handler thread resumes it.
_changing = new_lock()


class Deadline:
    """A point in time that every layer under a call shares; no layer starts its own clock.

    ``Deadline(5)`` is five seconds from now, ``Deadline(None)`` never. ``Deadline(300, total=3600)`` can be pushed back by
    ``extend()``: each time to 300 seconds from then, but never past the total, which is the only limit if there are no
    seconds.
    """

    __slots__ = ("_left", "_pauses", "at", "hard", "seconds")

    def __init__(self, seconds: float | None, total: float | None = None) -> None:
        now = time.monotonic()
        self.seconds = seconds
        self._pauses = 0
        self._left: float | None = None
        self.hard = None if total is None else now + total
        self.at = self.hard if seconds is None else now + seconds
        if self.at is not None and self.hard is not None:
            self.at = min(self.at, self.hard)

    def extend(self) -> None:
        """Start the seconds again, up to the total. For a sign of life from the other side."""
        if self.seconds is not None and self.hard is not None and not self._pauses:
            self.at = min(time.monotonic() + self.seconds, self.hard)
            if self._pauses:  # just now. A lock would do as well, but all events of all streams would share it
                self.at = self.hard

    def pause(self) -> None:
        """Let the clock stand still, but for the total: a person is being asked. Each pause wants its ``resume()``."""
        with _changing:
            self._pauses += 1
            if self._pauses == 1:
                self._left = self.remaining()
                self.at = self.hard

    def resume(self) -> None:
        """Let the clock go on with what was left."""
        with _changing:
            self._pauses -= 1
            if not self._pauses and self._left is not None:
                at = time.monotonic() + self._left
                self.at = at if self.hard is None else min(at, self.hard)

    def remaining(self) -> float | None:
        """Seconds left, never negative; None if there is no limit."""
        if self.at is None:
            return None
        return max(0.0, self.at - time.monotonic())

    def nap(self) -> float:
        """How long to wait in one piece, in a loop that looks at the deadline again; so Ctrl-C is never missed for long."""
        return NAP if self.at is None else min(NAP, max(0.0, self.at - time.monotonic()))

    @property
    def expired(self) -> bool:
        """Whether the time is over."""
        return self.at is not None and time.monotonic() >= self.at

    def sooner(self, seconds: float) -> Deadline:
        """The nearer of this deadline and so many seconds from now, as a deadline of its own."""
        left = self.remaining()
        return Deadline(seconds if left is None else min(seconds, left))

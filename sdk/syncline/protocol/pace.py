"""When to ask again: after a loss, after a poll, after silence. Pure; time and chance are passed in."""

from __future__ import annotations

from dataclasses import dataclass

from syncline.errors import ConfigError

#: Seconds between polls, whatever the server says: at least, at most; up to this part of them is added at random.
POLL_FLOOR, POLL_CEILING, POLL_JITTER = 1.0, 3600.0, 0.1
#: Seconds of silence on a stream: assumed until the server's heartbeats are known (every 30 s, says the SEP), and bounds.
SILENCE, LEAST_SILENCE, MOST_SILENCE = 65.0, 20.0, 180.0


@dataclass(frozen=True)
class Reconnect:
    """How a stream that was lost is made again.

    Attributes:
        first: Seconds before the first try; they double with each further one.
        most: Seconds between tries at most.
        jitter: Each wait is a random part of its length, so that many clients do not come back at the same moment.
        tries: How many tries in a row; None for no limit.
        budget: Seconds for a row of tries, from the loss on; None for no limit.

    A row ends when the server has sent more than the word that the stream is running.
    """

    first: float = 1.0
    most: float = 30.0
    jitter: bool = True
    tries: int | None = None
    budget: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.first <= self.most:
            raise ConfigError(f"Reconnect needs 0 < first <= most, not {self.first!r} and {self.most!r}")


class Attempts:
    """One row of tries after another."""

    def __init__(self, policy: Reconnect) -> None:
        self._policy = policy
        self._tries = 0
        self._began: float | None = None

    def reset(self) -> None:
        """It works again."""
        self._tries, self._began = 0, None

    def next(self, now: float, chance: float, wanted: float | None = None) -> float | None:
        """Seconds to wait before the next try, None to give up.

        ``chance`` is a random number from 0 to 1; ``wanted`` is how long the server wants to be left alone (Retry-After).
        """
        policy = self._policy
        self._began = now if self._began is None else self._began
        if policy.tries is not None and self._tries >= policy.tries:
            return None
        length = min(policy.first * 2.0 ** min(self._tries, 60), policy.most)
        self._tries += 1
        wait = max(length * chance if policy.jitter else length, wanted or 0.0)
        if policy.budget is not None and now + wait > self._began + policy.budget:
            return None
        return wait


class Pulse:
    """How long a stream may be silent: twice the longest time between two heartbeats that had nothing between them.

    Args:
        fixed: So many seconds, whatever the heartbeats are.

    Attributes:
        silence: Seconds after which it counts as dead.
    """

    def __init__(self, fixed: float | None = None) -> None:
        self.silence = SILENCE if fixed is None else fixed
        self._learns = fixed is None
        self._longest = 0.0
        self._beat: float | None = None

    def frame(self, now: float, *, heartbeat: bool) -> None:
        """A frame has come."""
        if heartbeat and self._learns and self._beat is not None:
            self._longest = max(self._longest, now - self._beat)
            self.silence = min(max(2 * self._longest, LEAST_SILENCE), MOST_SILENCE)
        self._beat = now if heartbeat else None


def poll_wait(wanted: float, chance: float) -> float:
    """Seconds until the next poll, where the server wants ``wanted``; a little later, so that polls do not march in step."""
    return min(max(wanted, POLL_FLOOR), POLL_CEILING) * (1 + POLL_JITTER * chance)

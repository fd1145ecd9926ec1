"""What goes wrong because a test wants it to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from syncline.concurrency.deadline import Deadline
from syncline.serving import Refused

from .call import Call, Gone

if TYPE_CHECKING:
    from typing import TypeAlias

    from syncline.concurrency.monitor import Monitor

    #: Done in place of answering, or before it: returns, raises ``Refused`` or ``Gone``.
    Fault: TypeAlias = Callable[[Call], None]


class Faults:
    """Faults in the order in which they were asked for, each for so many requests of one method."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._waiting: list[tuple[str, Fault]] = []

    def add(self, method: str, times: int, fault: Fault) -> None:
        """Let the next requests of a method go wrong."""
        with self._monitor:
            self._waiting.extend([(method, fault)] * times)

    def take(self, method: str) -> Fault | None:
        """The fault of the next request of a method, if there is one."""
        with self._monitor:
            for place, (wanted, fault) in enumerate(self._waiting):
                if wanted == method:
                    del self._waiting[place]
                    return fault
        return None


def failing(code: int, message: str, data: object, status: int | None, headers: Mapping[str, str]) -> Fault:
    """Answers with an error, or with a bare HTTP status."""

    def fault(call: Call) -> None:
        if status is not None and call.wire.refuse(status, headers, message):
            raise Gone
        raise Refused(code, message, data)

    return fault


def delaying(seconds: float) -> Fault:
    """Answers later."""
    return lambda call: call.sleep(seconds)


def dropping(call: Call) -> None:
    """Breaks the connection."""
    call.wire.drop()
    raise Gone


class Late:
    """A request whose answer is held back."""

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._arrived = 0
        self._released = False

    def arrived(self, timeout: float = 10) -> bool:
        """Whether the request is there. Blocks until it is, for ``timeout`` seconds at most."""
        return self._monitor.wait(lambda: self._arrived > 0, Deadline(timeout))

    def release(self) -> None:
        """Answer now, even if nobody waits for it any more."""
        with self._monitor:
            self._released = True

    def __call__(self, call: Call) -> None:
        """Hold the request back."""
        with self._monitor:
            self._arrived += 1
        self._monitor.wait(lambda: self._released or call.ended, Deadline(None))
        if not self._released:
            raise Gone

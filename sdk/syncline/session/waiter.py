"""The caller of one request, and what the connection hands it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.errors import RequestTimeout
from syncline.findings import Finding
from syncline.protocol.events import Notification, Progress, Reply

if TYPE_CHECKING:
    from typing import TypeAlias

    #: Called with progress, total and message.
    OnProgress: TypeAlias = Callable[[float, float | None, str | None], object]


class Owner(Protocol):
    """Whoever sent a request. Called on the thread that received the message; must not block a shared channel.

    Attributes:
        deadline: When it gives up; pushed back while the server reports progress, stopped while a person is asked.
    """

    deadline: Deadline

    def reply(self, event: Reply) -> None:
        """How the request ended; at most once."""

    def progress(self, event: Progress, here: bool, /) -> bool:
        """Progress; ``here`` says that this is the owner's own thread. True if the owner wants no more."""
        ...

    def notice(self, event: Notification) -> None:
        """A notification that belongs to the request; only for one that was sent as a stream."""


@dataclass(eq=False)
class Waiter:
    """A caller that waits for the answer. ``since`` is the latest finding from before it asked."""

    deadline: Deadline
    on_progress: OnProgress | None
    since: Finding | None = None
    _slot: ReplySlot[Reply | Progress] = field(default_factory=ReplySlot)
    _failure: BaseException | None = None

    def reply(self, event: Reply) -> None:
        """See ``Owner``."""
        self._slot.put(event)

    def progress(self, event: Progress, here: bool) -> bool:
        """Report progress, in the caller's thread only; what the callback raises is kept for the caller."""
        self.deadline.extend()
        if self.on_progress is None:
            return False
        if not here:
            self._slot.put(event)
            return False
        try:
            self.on_progress(event.progress, event.total, event.message)
        except BaseException as error:
            self._failure = error
            return True
        return False

    def notice(self, event: Notification) -> None:
        """Nothing: an answer is all that is awaited."""

    def wait(self) -> Reply:
        """The reply. Blocks until it comes; raises ``RequestTimeout`` at the deadline, and what a callback raised."""
        while True:
            if self._failure is not None:
                raise self._failure
            event = self._slot.take(self.deadline)
            if event is None:
                seconds = self.deadline.seconds
                raise RequestTimeout(f"no answer within {'the time allowed' if seconds is None else f'{seconds:g} s'}")
            if isinstance(event, Reply):
                return event
            if self.on_progress is not None:
                self.on_progress(event.progress, event.total, event.message)

    def late(self, seconds: float) -> Reply | None:
        """The reply that is on its way already."""
        deadline = Deadline(seconds)
        while True:
            event = self._slot.take(deadline)
            if event is None or isinstance(event, Reply):
                return event

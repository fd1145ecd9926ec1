"""What arrives unasked: notifications, on their way to caches, loggers and the user's callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.errors import InvalidResult
from syncline.protocol import codec
from syncline.protocol.events import Notification

from .tools import ToolBook

if TYPE_CHECKING:
    from syncline.types import LoggingMessageNotificationParams

#: What a notification makes stale (specification, caching).
STALE: Mapping[str, tuple[str, ...]] = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}


class Inbox:
    """Takes notifications on whatever thread received them, and never blocks it: callbacks go to ``later``."""

    def __init__(
        self,
        name: str,
        book: ToolBook,
        record: Callable[[str, str, object], None],
        on_log: Callable[[LoggingMessageNotificationParams], object] | None,
        on_notification: Callable[[Notification], object] | None,
    ) -> None:
        self.later: Callable[[Callable[[], None]], None] = lambda work: work()
        self._name = name
        self._book = book
        self._record = record
        self._on_log = on_log
        self._on_notification = on_notification
        #: Called with each notification, on the thread that received it; they must not block.
        self.taps: set[Callable[[Notification], None]] = set()
        self._listings: dict[str, tuple[Deadline, Sequence[object]]] = {}

    def __call__(self, notification: Notification) -> None:
        """Take one notification."""
        for method in STALE.get(notification.method, ()):
            self._listings.pop(method, None)
            if method == "tools/list":
                self._book.forget()
        if notification.method == "notifications/message":
            self._log(notification.params)
        for tap in tuple(self.taps):
            tap(notification)
        callback = self._on_notification
        if callback is not None:
            self.later(lambda: _call(callback, notification))

    def forget(self) -> None:
        """Anything may have changed."""
        self._listings.clear()
        self._book.forget()

    def keep(self, method: str, items: Sequence[object], ttl_ms: float) -> None:
        """Remember a complete listing for as long as the server says that it is good."""
        if ttl_ms > 0:
            self._listings[method] = (Deadline(ttl_ms / 1000), items)

    def kept(self, method: str) -> Sequence[object] | None:
        """A listing that is still good."""
        entry = self._listings.get(method)
        return entry[1] if entry is not None and not entry[0].expired else None

    def _log(self, params: dict[str, object]) -> None:
        callback = self._on_log
        if callback is not None:
            try:
                message = codec.log_message(params, self._record)
            except InvalidResult as error:
                self._record("log-message", "notifications/message", error.message)
                return
            self.later(lambda: _call(callback, message))
            return
        level = logs.LEVELS.get(str(params.get("level")), logs.LEVELS["info"])
        if logs.server.isEnabledFor(level):
            text = (self._name, params.get("logger") or "-", params.get("data"))
            self.later(lambda: logs.server.log(level, "%s: %s: %s", *text))


def _call(callback: Callable[..., object], argument: object) -> None:
    callback(argument)

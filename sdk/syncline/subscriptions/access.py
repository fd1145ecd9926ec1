"""Who a stream was opened for, and whether that still holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from syncline.concurrency.locks import new_lock
from syncline.errors import AccessChanged


@dataclass(frozen=True)
class Principal:
    """Who we are, for comparison.

    Attributes:
        ident: What stays the same when credentials are refreshed (an account and a user, say); None if there is nothing.
        credential: The credential itself, which is what is compared where there is no ``ident``.
    """

    ident: object = None
    credential: object = field(default=None, repr=False)


def same(before: object, now: object) -> bool:
    """Whether two principals are one. None is nobody; anything but a ``Principal`` is compared as it is."""
    if isinstance(before, Principal) and isinstance(now, Principal) and before.ident is not None:
        return bool(before.ident == now.ident)
    return bool(before == now)


def identified(principal: object) -> bool:
    """Whether a principal can be told from another one whose credential happens to look the same."""
    return principal is not None and not (isinstance(principal, Principal) and principal.ident is None)


class CredentialChanges:
    """Where news of changed credentials comes from. Whoever keeps the credentials announces each change here.

    Attributes:
        count: How many changes have been announced.
        closed: There will be no more news, so nobody can know any longer for whom a stream is open.
    """

    def __init__(self) -> None:
        self.count = 0
        self.closed = False
        self._lock = new_lock()
        self._watchers: set[Callable[[], None]] = set()

    def announce(self, changes: int = 1) -> None:
        """So many changes have happened since the last time. A refreshed token counts; whether it matters is decided here.

        Streams of another principal have ended when this returns. Never blocks, but for the ``principal`` functions.
        """
        self._tell(changes)

    def close(self) -> None:
        """There will be no more news: streams that depend on it end."""
        self.closed = True
        self._tell(0)

    def watch(self, told: Callable[[], None]) -> Callable[[], None]:
        """Call a function at each announcement; returns the function that ends this."""
        with self._lock:
            self._watchers.add(told)
        return lambda: self._forget(told)

    def _forget(self, told: Callable[[], None]) -> None:
        with self._lock:
            self._watchers.discard(told)

    def _tell(self, changes: int) -> None:
        with self._lock:
            self.count += changes
            watchers = list(self._watchers)
        for told in watchers:
            told()


class Access:
    """The right to open streams at one server, as it was when this was made.

    Args:
        principal: Tells who we are now. None: nobody asks, and changes are not watched.
        changes: Where changes are announced. None: the principal is compared when a stream is opened, and not later.
    """

    def __init__(self, principal: Callable[[], object] | None, changes: CredentialChanges | None) -> None:
        self._principal = principal
        self._changes = changes if principal is not None else None
        self._removal = CredentialChanges()
        self._captured = principal() if principal is not None else None

    def remove(self) -> None:
        """Take the right away, for good."""
        self._removal.close()

    def check(self, missed: int = 0) -> AccessChanged | None:
        """What has changed, if anything has; ``missed`` is how many changes nobody has looked at."""
        if self._removal.closed:
            return AccessChanged("the server was removed")
        if self._principal is None:
            return None
        if self._changes is not None and self._changes.closed:
            return AccessChanged("nobody tells any longer whether the account has changed")
        try:
            now = self._principal()
        except Exception as error:
            unknown = AccessChanged("nobody can tell whether the account has changed")
            unknown.__cause__ = error
            return unknown
        if missed > 1 or (missed and not identified(self._captured)) or not same(self._captured, now):
            return AccessChanged("the account has changed")
        return None

    def watch(self, ended: Callable[[AccessChanged], None]) -> Callable[[], None]:
        """Call a function, which must not block, when something has changed; returns the function that ends this.

        Several changes at once count even if the principal looks the same: it may have been another one in between.
        """
        changes = self._changes
        seen = changes.count if changes is not None else 0

        def look() -> None:
            nonlocal seen
            missed = 0
            if changes is not None:
                count = changes.count
                missed, seen = count - seen, count
            change = self.check(missed)
            if change is not None:
                ended(change)

        undo = [source.watch(look) for source in (self._removal, changes) if source is not None]

        def stop() -> None:
            for each in undo:
                each()

        return stop

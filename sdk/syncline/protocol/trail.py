"""An event stream over all the connections that it takes (specification, basic/transports of 2025-11-25, resumability).

What a cut stream leaves to go on from, and when to go on, as plain calculation; whoever reads the stream has the clock.
"""

from __future__ import annotations

import re

from .sse import SseParser

#: Seconds before the second attempt that follows one in vain, and the most that doubling makes of them.
FIRST, LONGEST = 1.0, 30.0
#: Events that are remembered at least, to know them when a server sends them again.
REMEMBERED = 1024

#: What can stand in a header as it is.
_SENDABLE = re.compile(r"[^\x00-\x20\x7f]([^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?")

_NONE: frozenset[tuple[str, int]] = frozenset()


class Trail:
    """Takes in the bytes of a stream, connection by connection, with ``cut()`` between two of them.

    Args:
        event_bytes: The largest event; None for no limit.

    Attributes:
        size: Bytes taken in, all connections together.
        in_vain: Connections in a row, after the first, that brought nothing new.
    """

    def __init__(self, event_bytes: int | None) -> None:
        self.size = 0
        self.in_vain = 0
        self._parser = SseParser(event_bytes)
        self._seen: list[tuple[str, int]] = []
        self._earlier = _NONE

    @property
    def last_event_id(self) -> str | None:
        """The value of ``Last-Event-ID``, its UTF-8 as a header takes it; None where there is no id to resume from."""
        ident = self._parser.last_event_id
        return ident.encode().decode("latin-1") if _SENDABLE.fullmatch(ident) else None

    def check(self) -> None:
        """Raises what is wrong with the stream, where messages that were whole before it had to come first."""
        if self._parser.failure is not None:
            raise self._parser.failure

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that ``data`` completes, without those that an earlier connection has brought already.

        Raises ``InvalidMessage`` for an event over the limit.
        """
        self.size += len(data)
        before = self._parser.last_event_id
        messages = [
            event.data
            for event in self._parser.feed(data)
            if event.event == "message" and event.data and (event.id is None or self._is_new(event.id, event.data))
        ]
        if len(self._seen) >= 2 * REMEMBERED:
            del self._seen[:-REMEMBERED]
        # An id without a message is news only from a server that said when to come back: it wants to be polled.
        polled = self._parser.retry is not None and self._parser.last_event_id != before
        if messages or polled:
            self.in_vain = 0
        return messages

    def _is_new(self, ident: str, data: bytes) -> bool:
        """Whether an event was not there before; ids alone would not do, since a server that restarts may count anew."""
        key = ident, hash(data)
        if key in self._earlier:
            return False
        self._seen.append(key)
        return True

    def cut(self, lasted: float, chance: float) -> float:
        """A connection has ended; the seconds to wait before the next one.

        That is what the server asked for (``retry:``), else nothing; after connections in vain a growing time, counted
        from the beginning of the last one.

        Args:
            lasted: Seconds from the beginning of the attempt to its end.
            chance: A random number from 0 to 1, so that the clients of a restarted server do not all come at once.
        """
        asked = (self._parser.retry or 0) / 1000
        pace = min(FIRST * 2.0 ** min(self.in_vain - 1, 16), LONGEST) if self.in_vain else 0.0
        self.in_vain += 1  # until it brings something
        self._earlier = frozenset(self._seen)
        self._parser.restart()
        return max(asked, pace * (1 + chance) / 2 - lasted if pace else 0.0)

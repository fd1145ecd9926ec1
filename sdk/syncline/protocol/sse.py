"""Server-sent events (HTML Living Standard, 9.2): bytes in, events out.

sseclient-py parses the blocks. It is handed complete blocks only, because of its own it would dispatch a truncated last
event, stumble over a byte order mark and lose blocks that carry nothing but ``id`` or ``retry``. The commonest blocks
(any ``event`` and ``id`` lines, then ``data`` lines) are cut out here, in a few calls that each run over the whole block.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sseclient import SSEClient

from syncline.errors import InvalidMessage

#: The longest reconnection delay that is accepted, in milliseconds: one day.
MAX_RETRY = 86_400_000
#: Bytes of an event over the limit that are kept to show it.
KEPT = 8192
#: Bytes that sseclient may copy for one block: it copies what it has of a block once for each of its lines.
MAX_COPIED = 1 << 32

_BOM = b"\xef\xbb\xbf"
#: The longest text to look for runs in, in bytes: the search for one long block is quicker.
_RUN = 1 << 18
_COMMONEST = re.compile(
    rb"(?:\A|(?<=\n\n))(?:id: ?([^ \n\0][^\n\0]*)\n)?(?:event: ?([^\n]*)\n)?(?:id: ?([^ \n\0][^\n\0]*)\n)?data: ?([^\n]*)\n\n"
)
_COMMON = re.compile(rb"(?:event: ?([^\n]*)\n|id: ?([^\n\0]*)\n)*data: ?")
#: Lines that count as if they were not there: ids with NUL, retries that are not all digits.
_VOID = re.compile(rb"^(?:id:[^\n]*\0[^\n]*|retry(?!: ?[0-9]+$)[^\n]*)$", re.MULTILINE)


class SseEvent(NamedTuple):
    """One event.

    Attributes:
        event: Its type, ``message`` where it names none.
        data: Its data as UTF-8; what was not UTF-8 has become U+FFFD.
        id: The id that the event itself carries, None for none.
    """

    event: str
    data: bytes
    id: str | None


class SseParser:
    """Parses one event stream; however the bytes are cut, the same events come out, each at the end of its blank line.

    Args:
        limit: Bytes that one event may have from its first field to its last; None for no limit.

    Attributes:
        last_event_id: The id to resume from, ``""`` until one was seen; it stays over events without one.
        retry: Milliseconds to wait before connecting again, None until the server said so.
        failure: What ``feed()`` raises from now on, None as long as all is well.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.last_event_id = ""
        self.retry: int | None = None
        self._limit = limit
        self._start: bytes | None = b""  # what has come of a possible byte order mark
        self._after_cr = False
        self._parts: list[bytes] = []
        self._size = 0
        self.failure: InvalidMessage | None = None

    def restart(self) -> None:
        """The stream goes on over another connection: what was unfinished is lost, the id and the delay stay."""
        self._start, self._after_cr = b"", False
        self._parts, self._size = [], 0

    @property
    def partial(self) -> bool:
        """An unfinished block is pending. At the end of the stream it is lost: it may have been cut off anywhere."""
        return any(line and not line.startswith(b":") for line in b"".join(self._parts).split(b"\n"))

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that ``data`` completes; keep-alive comments complete none.

        Raises ``InvalidMessage`` for an event over the limit, and from then on. Events that were complete before it are
        returned first; the error then comes with the next call.
        """
        events: list[SseEvent] = []
        if self.failure is None:
            parts = self._complete(data)
            if parts and not self._take_run(parts, events):
                self._take_blocks(parts, events)
            self._check_pending()
        if self.failure is not None and not events:
            raise self.failure
        return events

    def _complete(self, data: bytes) -> list[bytes]:
        """Take in bytes; what is complete now: whole blocks with their blank lines, and LF as the only line end.

        It is in parts, of which the last one has all the blank lines.
        """
        if self._start is not None:
            data = self._start + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._start = data
                return []
            self._start = None
            data = data.removeprefix(_BOM)
        if not data:
            return []
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        self._after_cr = data.endswith(b"\r")
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if data.startswith(b"\n") and self._parts and self._parts[-1].endswith(b"\n"):
            self._parts[-1] = self._parts[-1][:-1]
            data = b"\n" + data
        parts: list[bytes] = []
        end = data.rfind(b"\n\n") + 2 if b"\n" in data else 0  # a look for one byte takes next to no time
        if end >= 2:
            parts = [*self._parts, data[:end]]
            data = data[end:]
            self._parts, self._size = [], 0
        if data:
            self._parts.append(data)
            self._size += len(data)
        return parts

    def _take_run(self, parts: list[bytes], events: list[SseEvent]) -> bool:
        """Add the events of a text in which each block is one of the commonest; False for any other."""
        if sum(map(len, parts)) > (_RUN if self._limit is None else min(_RUN, self._limit)):
            return False
        text = _utf8(b"".join(parts))
        found = _COMMONEST.findall(text)
        if len(found) != text.count(b"\n\n"):
            return False
        for before, name, after, data in found:
            own_id = None
            if ident := after or before:
                self.last_event_id = own_id = ident.decode()
            events.append(SseEvent(name.decode() if name else "message", data, own_id))
        return True

    def _take_blocks(self, parts: list[bytes], events: list[SseEvent]) -> None:
        """Add the events of any text, up to the first that is too large."""
        *blocks, _ = parts.pop().split(b"\n\n")
        blocks[0] = b"".join([*parts, blocks[0]])
        for block in blocks:
            block = block.lstrip(b"\n")
            if self._limit is not None and len(block) > self._limit:
                self._fail(block, f"an event of over {self._limit} bytes")
            elif (event := self._event(block)) is not None:
                events.append(event)
            if self.failure is not None:
                break

    def _check_pending(self) -> None:
        if self._limit is not None and self._size > self._limit:
            pending = b"".join(self._parts)
            if len(pending.strip(b"\n")) > self._limit:
                self._fail(pending, f"an event of over {self._limit} bytes")

    def _fail(self, block: bytes, reason: str) -> None:
        self.failure = InvalidMessage(reason, raw=block[:KEPT])
        self._parts, self._size = [], 0

    def _event(self, block: bytes) -> SseEvent | None:
        head = _COMMON.match(block)
        if head is not None:
            data = block[head.end() :]
            if b"\n" in data:
                if data.count(b"\n") != data.count(b"\ndata: "):
                    return self._uncommon(block)
                data = data.replace(b"\ndata: ", b"\n")
            name, ident = head.groups()
            own_id = None
            if ident is not None:
                self.last_event_id = own_id = ident.decode("utf-8", "replace")
            return SseEvent(name.decode("utf-8", "replace") if name else "message", _utf8(data), own_id)
        return self._uncommon(block)

    def _uncommon(self, block: bytes) -> SseEvent | None:
        """Any block, through sseclient. It drops a block without data, so each gets one more line of it, taken off after."""
        if block.count(b"\n") * len(block) > MAX_COPIED:
            self._fail(block, "an event of too many lines")
            return None
        source = iter([_VOID.sub(b":", _utf8(block)) + b"\ndata"])
        event = next(iter(SSEClient(source).events()))
        if event.retry is not None:
            self.retry = min(int(event.retry.lstrip("0")[:9] or "0"), MAX_RETRY)
        if event.id is not None:
            self.last_event_id = event.id
        return SseEvent(event.event, event.data[:-1].encode(), event.id) if event.data else None


def _utf8(data: bytes) -> bytes:
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data

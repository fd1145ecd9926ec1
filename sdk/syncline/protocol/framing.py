"""Newline framing of byte streams (specification, basic/transports, stdio)."""

from __future__ import annotations

#: Bytes of an overlong line that are kept to show it.
KEPT = 8192


class Overlong:
    """Stands in for a line over the limit.

    Attributes:
        prefix: Its first bytes.
    """

    __slots__ = ("prefix",)

    def __init__(self, prefix: bytes) -> None:
        self.prefix = prefix


class LineFramer:
    """Cuts a byte stream into lines, at LF only; takes time in proportion to the bytes, however they are cut.

    Args:
        limit: Bytes that a line may have, a CR before the LF included; None for no limit. A longer line is dropped up
            to its LF and reported once, as soon as it is known to be too long; at most the limit is held in memory.
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._dropping = False

    @property
    def rest(self) -> bool:
        """Bytes of an unfinished line are pending; at the end of the stream they are a message that was cut off."""
        return bool(self._parts) or self._dropping

    def feed(self, data: bytes) -> list[bytes | Overlong]:
        """The lines that ``data`` completes, without LF and without a CR before it."""
        lines: list[bytes | Overlong] = []
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._hold(piece, lines)
            if not self._dropping:
                line = b"".join(self._parts)
                lines.append(line[:-1] if line.endswith(b"\r") else line)
            self._clear(dropping=False)
        self._hold(rest, lines)
        return lines

    def _hold(self, piece: bytes, lines: list[bytes | Overlong]) -> None:
        if not piece or self._dropping:
            return
        self._parts.append(piece)
        self._size += len(piece)
        if self._limit is not None and self._size > self._limit:
            lines.append(Overlong(self._beginning()))
            self._clear(dropping=True)

    def _beginning(self) -> bytes:
        """The first bytes of the line, without a second copy of all of it."""
        beginning = b""
        for part in self._parts:
            beginning += part[: KEPT - len(beginning)]
            if len(beginning) == KEPT:
                break
        return beginning

    def _clear(self, *, dropping: bool) -> None:
        self._parts = []
        self._size = 0
        self._dropping = dropping

"""The chunked transfer coding of HTTP/1.1 (RFC 9112, 7.1), for streams of many small chunks.

The standard library reads a chunk at a time. On a stream on which each event is a chunk of its own, taking all chunks out
of what one read brought is three times as fast.
"""

from __future__ import annotations

from functools import lru_cache

from syncline.errors import InvalidMessage

#: Bytes of the line with a chunk's size.
SIZE_LINE = 4096
_CRLF = b"\r\n"
_HEX = frozenset(b"0123456789abcdefABCDEF")


class ChunkDecoder:
    """Takes the coding off, however the bytes are cut.

    Attributes:
        ended: The last chunk has come; what follows it is of no interest.
    """

    def __init__(self) -> None:
        self.ended = False
        self._due = 0  # bytes of a chunk and its line end that are still to come
        self._rest = b""  # a line with a size, cut

    def feed(self, data: bytes) -> bytes:
        """The content in some more bytes. Raises ``InvalidMessage`` for what is not chunked."""
        if self.ended:
            return b""
        if self._rest:
            data = self._rest + data
            self._rest = b""
        parts = [data[: max(self._due - len(_CRLF), 0)]] if self._due else []
        position, size = self._due, len(data)
        while position < size:
            start = data.find(_CRLF, position) + len(_CRLF)
            if start < len(_CRLF):
                self._rest = data[position:]
                if len(self._rest) > SIZE_LINE:
                    raise InvalidMessage("a chunk of the body has no size", raw=self._rest[:100])
                position = size
                break
            length = _size(data[position : start - len(_CRLF)])
            if length == 0:
                self.ended = True
                break
            parts.append(data[start : start + length])
            position = start + length + len(_CRLF)
        self._due = position - size
        return parts[0] if len(parts) == 1 else b"".join(parts)


@lru_cache(maxsize=256)  # events of one kind have the same size
def _size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip(b" \t")
    if not digits or not _HEX.issuperset(digits) or len(digits) > 16:
        raise InvalidMessage("a chunk of the body has no size", raw=line[:100])
    return int(digits, 16)

"""Reading the body of an HTTP answer, decompressed where the server compresses without being asked to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

from syncline.errors import InvalidMessage
from syncline.protocol.chunks import ChunkDecoder

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

    from .http_exchange import Exchange

#: Bytes read at a time where a body is taken as it comes.
PIECE = 1 << 16
#: Bytes read at a time where all of it is wanted; one read for nearly all bodies.
LARGE_PIECE = 1 << 26
#: Bytes of a body of no interest that are read to keep the connection.
DRAINED = 1 << 20


def pieces(response: BaseHTTPResponse) -> Iterator[bytes]:
    """A body as it comes, nothing held back."""
    encoded = "Content-Encoding" in response.headers
    while piece := response.read1(PIECE, encoded):
        yield piece


def stream(response: BaseHTTPResponse, exchange: Exchange) -> Iterator[bytes]:
    """The same for a long stream, many chunks at a time. Its connection is of no use for anything else afterwards."""
    file = exchange.file
    chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
    if file is None or not chunked or "Content-Encoding" in response.headers:
        yield from pieces(response)
        return
    decoder = ChunkDecoder()
    while not decoder.ended:
        data = file.read1(PIECE)
        if not data:
            raise ConnectionResetError("the stream broke off")
        if piece := decoder.feed(data):
            yield piece


def whole(response: BaseHTTPResponse, limit: int | None) -> bytes:
    """The whole body. Raises ``InvalidMessage`` for one over the limit, as early as that is known."""
    if response.length_remaining is not None:
        check_size(response.length_remaining, limit)
    encoded = "Content-Encoding" in response.headers
    parts = []
    size = 0
    while True:
        part = response.read(LARGE_PIECE if limit is None else min(LARGE_PIECE, limit + 1 - size), encoded)
        size += len(part)
        check_size(size, limit)
        parts.append(part)
        if not part or (not encoded and response.length_remaining == 0):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def beginning(response: BaseHTTPResponse, most: int) -> bytes:
    """About the first ``most`` bytes of a body; what there is of it if it breaks off."""
    body = b""
    try:
        for piece in pieces(response):
            body += piece
            if len(body) >= most:
                break
    except (OSError, HTTPError):
        pass
    return body


def drained(response: BaseHTTPResponse) -> bool:
    """Read what is left of a body of no interest; whether that led to its end, so that the connection is kept."""
    try:
        left = DRAINED
        for piece in pieces(response):
            left -= len(piece)
            if left < 0:
                return False
    except (OSError, HTTPError):
        return False
    return True


def check_size(size: int, limit: int | None) -> None:
    """Raises ``InvalidMessage`` for a body over the limit."""
    if limit is not None and size > limit:
        raise InvalidMessage(f"the answer has over {limit} bytes")

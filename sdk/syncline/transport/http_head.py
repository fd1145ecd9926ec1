"""Heads of requests and answers, without what they cost on the usual way.

``http.client`` sends each head of an answer through a parser for e-mail, which takes a fifth of a small call. The heads
that nearly all servers send need none of it: HTTP/1.1, no folded lines, here in one piece. Any other goes the old way.
A request's headers are encoded together rather than one by one by two libraries.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http.client import HTTPMessage, HTTPResponse, parse_headers
from typing import Any, NamedTuple

from urllib3.util import SKIP_HEADER

from syncline.errors import LocalProtocolError

#: Heads with more fields than this are for ``http.client`` to refuse.
MAX_FIELDS = 100

_STATUS = re.compile(rb"HTTP/1\.1 ([2-9][0-9][0-9]) ([ -~]*)\r\n")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t -~\x80-\xff]*)\r\n")
#: A length that is not a plain number is for ``http.client`` to make sense of.
_ODD = re.compile(rb"(?i)\r\nContent-Length:(?![ \t]*[0-9]{1,18}\r\n)")

#: What urllib3 and ``http.client`` add of their own where it is not there.
_ADDED = {"Accept-Encoding": SKIP_HEADER, "User-Agent": SKIP_HEADER}
_ADDED_WITH_HOST = {**_ADDED, "Host": SKIP_HEADER}


class Head(NamedTuple):
    """A common head: its size in bytes, the status line, the fields in order."""

    size: int
    status: int
    reason: str
    fields: list[tuple[str, str]]


def parse_head(data: bytes) -> Head | None:
    """The head at the beginning of ``data``; None if it is not whole or not a common one."""
    start = _STATUS.match(data)
    if start is None:
        return None
    fields = []
    position = start.end()
    while field := _FIELD.match(data, position):
        fields.append((field[1].decode("ascii"), field[2].decode("latin-1")))
        position = field.end()
    whole = data.startswith(b"\r\n", position)
    if not whole or len(fields) > MAX_FIELDS or _ODD.search(data, 0, position):
        return None
    return Head(position + 2, int(start[1]), start[2].decode("ascii").strip(), fields)


class EncodedHeaders(dict[str, str]):
    """Headers for urllib3, which is only told what it is not to add; ``block`` has them all, as they go on the wire.

    Raises ``LocalProtocolError`` for a name or value that would make more lines of it, or cannot be sent.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__(_ADDED_WITH_HOST if "Host" in headers else _ADDED)
        text = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        if text.count("\n") != len(headers) or text.count("\r") != len(headers):
            raise LocalProtocolError("a header with a line break")
        try:
            self.block = text.encode("latin-1")
        except UnicodeEncodeError:  # its own text would show the value
            raise LocalProtocolError("a header with characters that no header can carry") from None

    def copy(self) -> EncodedHeaders:
        """Itself: urllib3 copies headers before it adds those for a proxy, and there is none."""
        return self


class Answer(HTTPResponse):
    """An answer whose head is parsed here if it is a common one."""

    fp: Any = None  # Ctrl-C may come before there is one, and closing looks at it

    def begin(self) -> None:
        """Read the head, and see from it how the body is framed (RFC 9112, 6.3)."""
        head = parse_head(self.fp.peek()) if self.headers is None else None
        if head is None:
            super().begin()
            return
        self.fp.read(head.size)
        self.version = 11
        self.code = self.status = head.status
        self.reason = head.reason
        self.headers = self.msg = HTTPMessage()
        for name, value in head.fields:
            self.headers[name] = value
        self.length = None
        self.chunked = self.headers.get("Transfer-Encoding", "").lower() == "chunked"
        if self.chunked:
            self.chunk_left = None
        elif "Content-Length" in self.headers:
            self.length = int(self.headers["Content-Length"])
        if head.status in (204, 304) or self._method == "HEAD":  # pyright: ignore[reportAttributeAccessIssue]
            self.length = 0
        unbounded = not self.chunked and self.length is None
        self.will_close = unbounded or "close" in self.headers.get("Connection", "").lower()

    def _read_status(self) -> tuple[str, int, str]:
        """The status line; after interim answers like 103, which ``http.client`` takes for the last word (RFC 9110, 15.2)."""
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not 102 <= status < 200:
                return version, status, reason
            parse_headers(self.fp)

    def _read_next_chunk_size(self) -> int:
        """The size of the next chunk. One below zero would be read up to the end, whatever the limit."""
        size: int = super()._read_next_chunk_size()  # type: ignore[misc]
        if size < 0:
            raise ValueError("the size of a chunk is below zero")
        return size

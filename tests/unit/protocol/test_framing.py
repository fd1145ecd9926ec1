from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.protocol.framing import KEPT, LineFramer, Overlong

streams = st.lists(st.sampled_from([b"\n", b"\r", b"\r\n", b"a", b"bcd", "é\u2028\x85\x0b".encode(), b"\x00\xff"])).map(
    b"".join
)


def pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return (data[start:end] for start, end in pairwise(places))


def shown(lines: list[bytes | Overlong]) -> list[object]:
    return [("overlong", line.prefix) if isinstance(line, Overlong) else line for line in lines]


def expected(data: bytes, limit: int | None) -> list[object]:
    *ended, rest = data.split(b"\n")
    lines: list[object] = []
    for line in ended:
        over = limit is not None and len(line) > limit
        lines.append("overlong" if over else line.removesuffix(b"\r"))
    if limit is not None and len(rest) > limit:
        lines.append("overlong")
    return lines


@settings(deadline=None)
@given(streams, st.lists(st.integers(0, 1000)), st.none() | st.integers(0, 5))
def test_however_the_bytes_are_cut_the_same_lines_come_out(data: bytes, cuts: list[int], limit: int | None) -> None:
    framer = LineFramer(limit)
    lines = [line for piece in pieces(data, cuts) for line in framer.feed(piece)]
    assert ["overlong" if isinstance(line, Overlong) else line for line in lines] == expected(data, limit)
    assert framer.rest == bool(data and not data.endswith(b"\n"))


def test_only_lf_ends_a_line() -> None:
    """B018 for stdio: U+2028, U+0085, VT, FF and a bare CR are part of the text."""
    text = 'a\u2028b\u0085c\x0bd\x0ce\rf"'.encode()
    assert LineFramer(None).feed(text + b"\n\r\n\n") == [text, b"", b""]


@pytest.mark.parametrize("size", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20, 1 << 24])
def test_long_lines_arrive_whole(size: int) -> None:
    """B083: lines about and far above 64 KiB."""
    framer = LineFramer(1 << 24)
    data = b"x" * size + b"\nnext\n"
    lines = [line for start in range(0, len(data), 65536) for line in framer.feed(data[start : start + 65536])]
    assert lines == [b"x" * size, b"next"]
    assert not framer.rest


def test_an_endless_line_is_reported_once_and_costs_no_memory() -> None:
    """B084: over the limit a line is dropped up to its newline, and the stream goes on."""
    framer = LineFramer(100_000)
    piece = b"y" * 65536
    lines = framer.feed(b"first\n" + piece)
    for _ in range(50):
        lines += framer.feed(piece)
        assert sum(map(len, framer._parts)) <= 100_000
    assert framer.rest
    assert shown(lines) == [b"first", ("overlong", b"y" * KEPT)]
    assert framer.feed(b"yy\nlast\nz") == [b"last"]
    assert framer.rest


def test_a_line_of_exactly_the_limit_passes() -> None:
    assert shown(LineFramer(3).feed(b"abc\nabcd\nab\r\n")) == [b"abc", ("overlong", b"abcd"), b"ab"]

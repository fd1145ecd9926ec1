"""The chunked transfer coding, however the bytes are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import InvalidMessage
from syncline.protocol.chunks import SIZE_LINE, ChunkDecoder


def coded(*contents: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(content), content) for content in contents)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.lists(st.integers(0, 400)), st.binary(max_size=9))
def test_however_it_is_cut_the_content_is_the_same(contents: list[bytes], cuts: list[int], after: bytes) -> None:
    body = coded(*contents) + b"0\r\n" + after
    decoder = ChunkDecoder()
    edges = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})

    found = b"".join(decoder.feed(body[start:stop]) for start, stop in itertools.pairwise(edges))

    assert found == b"".join(contents)
    assert decoder.ended
    assert decoder.feed(b"more") == b""


def test_sizes_may_have_extensions_and_either_case() -> None:
    decoder = ChunkDecoder()

    assert decoder.feed(b"A;name=value\r\n0123456789\r\n 2 \r\nxy\r\n") == b"0123456789xy"
    assert not decoder.ended


@pytest.mark.parametrize(
    "bad", [b"\r\n", b"zz\r\n", b"-1\r\n", b"0x5\r\n", b"1_0\r\n", b"1" * 17 + b"\r\n", b"x" * (SIZE_LINE + 1)]
)
def test_what_has_no_size_is_no_chunk(bad: bytes) -> None:
    with pytest.raises(InvalidMessage, match="has no size"):
        ChunkDecoder().feed(bad)

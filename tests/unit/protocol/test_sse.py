from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sseclient import SSEClient

from syncline.errors import InvalidMessage
from syncline.protocol import sse
from syncline.protocol.sse import KEPT, MAX_RETRY, SseEvent, SseParser

BOM = b"\xef\xbb\xbf"


def pieces(data: bytes, cuts: list[int]) -> Iterator[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return (data[start:end] for start, end in pairwise(places))


def every_cut(data: bytes) -> Iterator[tuple[bytes, ...]]:
    yield tuple(data[index : index + 1] for index in range(len(data)))
    for place in range(len(data) + 1):
        yield data[:place], data[place:]


def parse(*stream: bytes) -> list[SseEvent]:
    parser = SseParser()
    return [event for piece in stream for event in parser.feed(piece)]


def message(data: str, own_id: str | None = None) -> SseEvent:
    return SseEvent("message", data.encode(), own_id)


@dataclass
class Reference:
    """The standard's own algorithm (9.2.6), a line at a time; but a retry in a truncated block does not count."""

    events: list[SseEvent] = field(default_factory=list)
    last_event_id: str = ""
    retry: int | None = None

    def read(self, stream: bytes) -> Reference:
        data: list[str] = []
        name, own_id, retry = "", None, None
        for raw in re.split(rb"\r\n|\r|\n", stream.removeprefix(BOM))[:-1]:
            line = raw.decode("utf-8", "replace")
            key, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                if own_id is not None:
                    self.last_event_id = own_id
                if retry is not None:
                    self.retry = min(retry, MAX_RETRY)
                if data:
                    self.events.append(SseEvent(name or "message", "\n".join(data).encode(), own_id))
                data, name, own_id, retry = [], "", None, None
            elif key == "data":
                data.append(value)
            elif key == "event":
                name = value
            elif key == "id" and "\0" not in value:
                own_id = value
            elif key == "retry" and re.fullmatch("[0-9]+", value):
                retry = int(value)
        return self


lines = st.sampled_from(
    [
        b"data: x", b"data:y", b"data:", b"data", b"data:  two", b'data: {"a": "b: c"}', "data: é\u2028\x85\x0b".encode(),
        b"data: \xff\xc3", b"datax: 1", b" data: 1", b"event: ping", b"event:", b"event", b"event: \xff", b"id: 5",
        b"id:6", b"id", b"id: a\0b", b"id: \xe9", b"retry: 300", b"retry:7", b"retry: abc", b"retry: -1", b"retry: 1.5",
        b"retry:", b"retry", b"retry: 1e3", b"retry: 99999999999999", "retry: ٣".encode(), b": comment", b":", b"x: y",
        b"", b"", b"", b"   ",
    ]
)  # fmt: skip
ends = st.sampled_from([b"\n", b"\n", b"\r\n", b"\r"])
streams = st.tuples(
    st.sampled_from([b"", BOM, BOM[:2]]),
    st.lists(st.tuples(lines, ends).map(b"".join), max_size=30).map(b"".join),
    lines | st.binary(max_size=3),
).map(b"".join)


@settings(deadline=None, max_examples=500)
@given(streams, st.lists(st.integers(0, 1000)))
def test_however_the_bytes_are_cut_the_standard_is_followed(stream: bytes, cuts: list[int]) -> None:
    parser = SseParser()
    events = [event for piece in pieces(stream, cuts) for event in parser.feed(piece)]
    reference = Reference().read(stream)
    assert events == reference.events
    assert parser.last_event_id == reference.last_event_id
    assert parser.retry == reference.retry


common_lines = st.sampled_from([b"event: ping", b"event:", b"id: 5", b"id:", b"event:x"])
text = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])).map(str.encode)


@settings(deadline=None)
@given(st.lists(common_lines), st.lists(text, min_size=1), st.sampled_from([b"data: ", b"data:"]))
def test_the_short_way_gives_what_sseclient_gives(head: list[bytes], data: list[bytes], prefix: bytes) -> None:
    block = b"\n".join([*head, *(prefix + value for value in data)]) + b"\n\n"
    (event,) = SSEClient(iter([block])).events()
    assert parse(block) == [SseEvent(event.event, event.data.encode(), event.id)]


@settings(deadline=None)
@given(streams, st.lists(st.integers(0, 1000)), st.integers(0, 30))
def test_however_the_bytes_are_cut_the_same_event_is_too_large(stream: bytes, cuts: list[int], limit: int) -> None:
    def run(stream: Iterator[bytes]) -> tuple[list[SseEvent], bool]:
        parser = SseParser(limit)
        events: list[SseEvent] = []
        try:
            for piece in stream:
                events += parser.feed(piece)
            parser.feed(b"")
        except InvalidMessage:
            return events, True
        return events, False

    assert run(pieces(stream, cuts)) == run(iter([stream]))


def test_a_line_end_may_be_cut_anywhere() -> None:
    """B015: CR at the end of one piece and LF at the start of the next are one line end."""
    assert parse(b"data: A\r\n", b"data: B\r", b"\ndata: C\r\n", b"\r\n") == [message("A\nB\nC")]
    stream = b"id: 1\r\ndata: A\r\n\r\ndata: B\r\rdata: C\n\n"
    for cut in every_cut(stream):
        assert parse(*cut) == [message("A", "1"), message("B"), message("C")]


def test_an_event_is_out_at_its_blank_line() -> None:
    """B027: nothing waits for further bytes, not even the LF of a CRLF."""
    for end in (b"\n\n", b"\r\r", b"\r\n\r\n", b"\r\n\r", b"\n\r"):
        assert parse(b"data: x" + end) == [message("x")]


def test_characters_may_be_cut() -> None:
    """B017: JSON with CJK and emoji, a byte at a time."""
    data = '{"text":"日本語 🎉"}'
    for cut in every_cut(f"data: {data}\n\n".encode()):
        assert parse(*cut) == [message(data)]


def test_only_the_three_line_ends_end_a_line() -> None:
    """B018: U+2028, U+2029, U+0085, VT, FF and FS to US are part of the data."""
    data = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x1dh\x1ei\x1f"
    assert parse(f"data: {data}\n\n".encode()) == [message(data)]
    assert parse(f"retry: 1\ndata: {data}\n\n".encode()) == [message(data)]


def test_an_id_with_nul_is_as_if_it_were_not_there() -> None:
    """B020: the id seen before stays, over events without one too."""
    parser = SseParser()
    assert parser.last_event_id == ""
    assert parser.feed(b"id: 5\nid: x\0y\ndata: 1\n\n") == [message("1", "5")]
    assert parser.feed(b"id: x\0y\ndata: 2\n\ndata: 3\n\n") == [message("2"), message("3")]
    assert parser.last_event_id == "5"
    assert parser.feed(b"id\ndata: 4\n\n") == [message("4", "")]
    assert parser.last_event_id == ""


def test_the_event_name_lasts_for_one_event() -> None:
    """B021: a bare data event after a named one is a message."""
    assert parse(b"event: ping\ndata: x\n\ndata: y\n\n") == [SseEvent("ping", b"x", None), message("y")]
    assert parse(b"event: ping\n\ndata: y\n\n") == [message("y")]
    assert parse(b"event: ping\n: c\ndata: x\n\ndata: y\n\n") == [SseEvent("ping", b"x", None), message("y")]


def test_blocks_without_data_take_effect() -> None:
    """B023: a block of nothing but an id or a retry."""
    parser = SseParser()
    assert parser.feed(b"retry: 300\n\nid: e2\n\n") == []
    assert (parser.retry, parser.last_event_id, parser.partial) == (300, "e2", False)
    assert parser.feed(b"id: e3\nretry: 500\ndata:\n\n") == [message("", "e3")]
    assert (parser.retry, parser.last_event_id) == (500, "e3")


@pytest.mark.parametrize(
    ("value", "retry"),
    [
        ("abc", 40), ("-1", 40), ("1.5", 40), ("", 40), ("1e3", 40), ("٣", 40), (" 7", 40), ("7 ", 40),
        ("0", 0), ("007", 7), ("000000000012", 12), ("86400001", MAX_RETRY), ("9" * 5000, MAX_RETRY),
    ],
)  # fmt: skip
def test_only_digits_are_a_retry_and_a_day_is_the_longest(value: str, retry: int) -> None:
    """B024: bad values are ignored, absurd ones are capped."""
    parser = SseParser()
    assert parser.feed(f"retry: 40\n\nretry: {value}\n\n".encode()) == []
    assert parser.retry == retry


def test_comments_are_not_events() -> None:
    """B026: keep-alive comments give nothing, alone or within a block."""
    assert parse(b": ping\n\n", b":\n\n", b"data: 1\n: ping\ndata: 2\n\n") == [message("1\n2")]


@pytest.mark.parametrize("block", [b"data: x\n\n", b"\ndata: x\n\n", b"retry: 1\ndata: x\n\n"])
def test_one_byte_order_mark_is_dropped(block: bytes) -> None:
    """B032: also cut within."""
    for cut in every_cut(BOM + block):
        assert parse(*cut) == [message("x")]
    assert parse(BOM + BOM + b"data: x\n\n") == []


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert parse(b"event: \xff\nid: \xff\ndata: a\xffb\n\n") == [SseEvent("\ufffd", "a\ufffdb".encode(), "\ufffd")]
    assert parse(b": c\ndata: a\xffb\n\n") == [message("a\ufffdb")]


@pytest.mark.parametrize(
    ("stream", "partial"),
    [
        (b"", False),
        (b"data: x\n\n", False),
        (b"data: x\n\n\n", False),
        (b"data: x\n\n: ping\n", False),
        (b"data: x\n", True),
        (b"data: x\r", True),
        (b"data: x\n\nid: 7", True),
        (b"data: x\n\n: ping\nda", True),
    ],
)
def test_a_truncated_block_is_kept_back(stream: bytes, partial: bool) -> None:
    """The last event of a broken stream is not dispatched, and its id does not count."""
    parser = SseParser()
    events = parser.feed(stream)
    assert len(events) == stream.count(b"\n\n")
    assert parser.partial is partial
    assert parser.last_event_id == ""


def test_a_large_event_passes_and_its_data_is_not_changed() -> None:
    """B030: 20 MiB on one line, and on many."""
    parser = SseParser(1 << 25)
    for data in (b"x" * (20 << 20), b"\n".join([b"y" * 100] * 50_000)):
        stream = b"data: " + data.replace(b"\n", b"\ndata: ") + b"\n\n"
        found = [e for start in range(0, len(stream), 65536) for e in parser.feed(stream[start : start + 65536])]
        assert found == [SseEvent("message", data, None)]


def test_an_endless_event_stops_at_the_limit() -> None:
    """B030: the memory is bounded, and the stream stays failed."""
    parser = SseParser(100_000)
    assert parser.feed(b"z" * 65536) == []
    with pytest.raises(InvalidMessage, match="over 100000 bytes") as caught:
        parser.feed(b"z" * 65536)
    assert caught.value.raw == b"z" * KEPT
    assert not parser.partial
    with pytest.raises(InvalidMessage):
        parser.feed(b"\n\ndata: x\n\n")


def test_an_event_of_exactly_the_limit_passes() -> None:
    for cut in every_cut(b"data: 1234\r\n\r\n\n\n\ndata: 5678\n\n"):
        parser = SseParser(10)
        assert [event.data for piece in cut for event in parser.feed(piece)] == [b"1234", b"5678"]


def test_events_before_one_that_is_too_large_are_not_lost() -> None:
    parser = SseParser(10)
    assert parser.feed(b"data: 1\n\ndata: 23456\n\ndata: 7\n\n") == [message("1")]
    with pytest.raises(InvalidMessage):
        parser.feed(b"")


def test_an_event_that_sseclient_would_take_too_long_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_COPIED", 1000)
    parser = SseParser()
    assert parser.feed(b"data: 1\n\n" + b": c\n" * 100 + b"data: 2\n\ndata: 3\n\n") == [message("1")]
    with pytest.raises(InvalidMessage, match="too many lines"):
        parser.feed(b"")

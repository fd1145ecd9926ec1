"""Event streams, as other clients read them wrong: here the whole client gets its answer out of each."""

from __future__ import annotations

import json
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator

import pytest

import syncline
from tests.fixtures.http import within
from tools.fakeserver.scripted import Exchange, Script

from .shared import ERAS, STATELESS, Http, answer, progress

#: A call whose answer is an event stream that the test writes, chunk by chunk; returns the text of the result.
Stream = Callable[..., str]


@pytest.fixture(params=ERAS)
def stream(request: pytest.FixtureRequest, http_server: Http) -> Iterator[Stream]:
    server = http_server(versions=[request.param])
    with syncline.connect(server.url, protocol_version=request.param) as client:

        def call(write: Script, **options: object) -> str:
            def script(exchange: Exchange) -> None:
                exchange.sse()
                write(exchange)
                exchange.last_chunk()

            server.arm(script, method="tools/call")
            return client.call_tool("echo", {"text": "x"}, **options).text  # type: ignore[arg-type]

        yield call
        assert client._session.connection.engine.pending == {}


def event(message: object, line_end: str = "\n") -> bytes:
    return f"data: {json.dumps(message, ensure_ascii=False)}{line_end * 2}".encode()


def test_a_line_end_that_is_cut_in_two(stream: Stream) -> None:
    """B015: LF is sent only when what came with the CR before it has been handed over; the answer stays one event."""
    seen = threading.Event()

    def write(exchange: Exchange) -> None:
        first, second = json.dumps(answer(exchange, "whole"), indent=0).split("\n", 1)
        exchange.chunk(event(progress(exchange), "\r\n") + f"data: {first}\r".encode())
        exchange.wait(seen)
        exchange.chunk(b"\n" + "".join(f"data: {line}\r\n" for line in second.split("\n")).encode() + b"\r\n")

    assert stream(write, on_progress=lambda *_: seen.set()) == "whole"


def test_characters_that_are_cut(stream: Stream) -> None:
    """B017: one byte per chunk."""
    text = "日本語 🎉 é"

    def write(exchange: Exchange) -> None:
        for byte in event(answer(exchange, text)):
            exchange.chunk(bytes([byte]))

    assert stream(write) == text


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f"])
def test_characters_that_end_no_line(stream: Stream, character: str) -> None:
    """B018: those that Python takes for line ends, as they are where JSON allows that."""
    assert stream(lambda exchange: exchange.chunk(event(answer(exchange, f"a{character}b")))) == f"a{character}b"


@pytest.mark.parametrize(
    "block",
    [
        b": ping\n\n",  # B026
        b"retry: 300\n\n",  # B023
        b"id: e2\n\n",  # B023
        b"id: 5\ndata\n\nid: x\0y\n\n",  # B020
        *(b"retry: " + value + b"\n\n" for value in (b"abc", b"-1", b"1.5", b"", b"1e3", b"9" * 30)),  # B024
        b"event: ping\ndata: x\n\n",  # B021
        b"event: message\n\n",  # B021
        b"data\n\n",
        b"\n\n\n",
    ],
)
def test_what_comes_before_an_answer_does_not_cost_it(stream: Stream, block: bytes) -> None:
    """B020, B021, B023, B024, B026: the answer has no name and no id of its own."""
    assert stream(lambda exchange: exchange.chunk(block + event(answer(exchange, "after")))) == "after"


def test_comments_do_not_push_the_deadline_back(stream: Stream) -> None:
    """B026: a stream that says nothing but comments ends with its call's time."""

    def write(exchange: Exchange) -> None:
        while not exchange.gone():
            exchange.chunk(b": ping\n\n")
            threading.Event().wait(0.02)

    with within(0.5), pytest.raises(syncline.RequestTimeout, match=r"tools/call: no answer within 0\.5 s"):
        stream(write, timeout=0.5)


def test_an_event_is_handed_over_with_its_blank_line(stream: Stream) -> None:
    """B027: nothing follows until the callback has seen it."""
    seen = threading.Event()

    def write(exchange: Exchange) -> None:
        exchange.chunk(event(progress(exchange)))
        exchange.wait(seen)
        exchange.chunk(event(answer(exchange, "after")))

    assert stream(write, on_progress=lambda *_: seen.set()) == "after"


def test_a_compressed_stream_is_read_as_it_comes(http_server: Http) -> None:
    """B029: nobody asked for it; identity was."""
    server = http_server(versions=[STATELESS])
    seen = threading.Event()

    def script(exchange: Exchange) -> None:
        packer = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
        exchange.sse([("Content-Encoding", "gzip")])
        for message in (progress(exchange), answer(exchange, "unpacked")):
            exchange.chunk(packer.compress(event(message)) + packer.flush(zlib.Z_SYNC_FLUSH))
            exchange.wait(seen)
        exchange.chunk(packer.flush())
        exchange.last_chunk()

    with syncline.connect(server.url) as client:
        server.arm(script, method="tools/call")
        assert client.call_tool("echo", {"text": "x"}, on_progress=lambda *_: seen.set()).text == "unpacked"
    assert {request.header("Accept-Encoding") for request in server.requests} == {"identity"}


def test_a_large_event_passes(stream: Stream) -> None:
    """B030: 20 MiB on one line."""
    assert len(stream(lambda exchange: exchange.chunk(event(answer(exchange, "y" * (20 << 20)))))) == 20 << 20


def test_an_event_without_an_end_is_given_up_in_bounded_memory(http_server: Http) -> None:
    """B030: the call fails when the limit is crossed, long before its deadline."""
    server = http_server(versions=[STATELESS])
    piece = b"y" * (1 << 16)

    def script(exchange: Exchange) -> None:
        exchange.sse()
        exchange.chunk(b"data: ")
        while not exchange.gone():
            exchange.chunk(piece)

    with syncline.connect(server.url, limits=syncline.Limits(event_bytes=1 << 20)) as client:
        server.arm(script, method="tools/call")
        tracemalloc.start()
        try:
            with pytest.raises(syncline.InvalidMessage, match=r"tools/call: an event of over 1048576 bytes"):
                client.call_tool("echo", {"text": "x"})
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 << 20
        assert client.call_tool("echo", {"text": "after"}).text == "after"


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_a_byte_order_mark_hides_nothing(stream: Stream, cut: int) -> None:
    """B032: whole, or cut."""

    def write(exchange: Exchange) -> None:
        data = b"\xef\xbb\xbf" + event(answer(exchange, "first"))
        for piece in filter(None, (data[:cut], data[cut:])):
            exchange.chunk(piece)

    assert stream(write) == "first"

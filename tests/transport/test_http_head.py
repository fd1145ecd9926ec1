"""Heads of answers: whatever is parsed here comes out as http.client would have it."""

from __future__ import annotations

import http.client
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import LocalProtocolError
from syncline.transport.http_head import MAX_FIELDS, Answer, EncodedHeaders, parse_head

TOKENS = "!#$%&'*+-.^_`|~09AZaz"
NAMES = st.sampled_from(
    ["Content-Length", "content-length", "Transfer-Encoding", "Connection", "Keep-Alive", "Set-Cookie", "X"]
) | st.text(TOKENS, min_size=1, max_size=8)
VALUES = st.sampled_from(
    [
        "",
        "0",
        "5",
        " 5 ",
        "05",
        "+5",
        "-5",
        "5, 5",
        "5x",
        "²",
        "chunked",
        "Chunked",
        "gzip, chunked",
        "close",
        "keep-alive, Close",
        "keep-alive",
    ]
) | st.text(st.characters(max_codepoint=255), max_size=12)
LINES = st.tuples(NAMES, st.sampled_from([":", ": ", ":\t ", " : "]), VALUES).map("".join)


class Source:
    """A socket that has this to say."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(self._data))


def begun(kind: type[http.client.HTTPResponse], data: bytes, method: str = "POST") -> tuple[Any, ...]:
    """All that is known of a response after its head, or how it failed."""
    source: Any = Source(data)
    response: Any = kind(source, method=method)
    try:
        response.begin()
    except http.client.HTTPException as error:
        return (type(error),)
    finally:
        left = response.fp.read() if response.fp else None
        response.close()
    attributes = ("version", "status", "code", "reason", "chunked", "chunk_left", "length", "will_close")
    return (*(getattr(response, name) for name in attributes), response.msg.items(), response.headers.items(), left)


@given(
    st.sampled_from(
        [
            "HTTP/1.1 200 OK",
            "HTTP/1.1 204 ",
            "HTTP/1.1 404  Not  Found ",
            "HTTP/1.1 500",
            "HTTP/1.0 200 OK",
            "HTTP/2 200",
        ]
    ),
    st.lists(LINES, max_size=6),
    st.sampled_from(["\r\n", "\n"]),
    st.sampled_from(["POST", "HEAD"]),
)
def test_the_same_as_http_client(status: str, lines: list[str], end: str, method: str) -> None:
    data = end.join([status, *lines, "", "body"]).encode("latin-1")
    assert begun(Answer, data, method) == begun(http.client.HTTPResponse, data, method)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    data = b"HTTP/1.1 200 OK\r\n" + data
    assert begun(Answer, data) == begun(http.client.HTTPResponse, data)


def test_a_common_head() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Empty:\r\nX-Empty: \t\r\n\r\nbody\r\n\r\n"
    head = parse_head(data)
    assert head is not None
    assert (data[head.size :], head.status, head.reason) == (b"body\r\n\r\n", 200, "OK")
    assert head.fields == [("Content-Type", "text/plain"), ("X-Empty", ""), ("X-Empty", "")]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        b"HTTP/1.1 200 OK\nA: b\n\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * (MAX_FIELDS + 1) + b"\r\n",
    ],
)
def test_heads_that_are_not_for_here(data: bytes) -> None:
    assert parse_head(data) is None


@pytest.mark.parametrize("size", [b"-1", b"-5", b" -0x1"])
def test_a_chunk_below_zero_is_not_read_to_the_end(size: bytes) -> None:
    """``http.client`` reads all that there is, whatever it was asked for."""
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size + b"\r\n" + b"x" * 1000
    source: Any = Source(data)
    answer = Answer(source, method="POST")
    answer.begin()
    with pytest.raises(http.client.IncompleteRead) as caught:
        answer.read(10)
    assert caught.value.partial == b""


def test_interim_answers_are_no_answers() -> None:
    interim = b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX: y\r\n\r\n"
    source: Any = Source(interim + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    answer = Answer(source, method="POST")
    answer.begin()
    assert (answer.status, answer.getheader("Link"), answer.read()) == (200, None, b"{}")


@pytest.mark.parametrize("value", ["planted\r\nX: y", "planted\n", "planted\u0100", "planted\ud800"])
def test_headers_that_cannot_be_sent_are_not_shown(value: str) -> None:
    with pytest.raises(LocalProtocolError, match="a header with") as caught:
        EncodedHeaders({"Authorization": value})
    assert "planted" not in repr(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None

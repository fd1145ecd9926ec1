from __future__ import annotations

import json
from email.utils import formatdate
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import HttpStatusError, UnexpectedMessage
from syncline.protocol.answers import (
    MAX_RETRY_AFTER,
    PREVIEW,
    Kind,
    Meaning,
    classify,
    endpoint_url,
    media_type,
    needs_body,
    preview,
    redirect_target,
    retry_after,
)

JSON, SSE, HTML = "application/json", "text/event-stream", "text/html"


def rpc(code: int, message: str = "m", **members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "error": {"code": code, "message": message}, **members}).encode()


NO_METHOD = rpc(-32601)
NO_SESSION = b'{"error":"no valid session ID provided"}'
M = Meaning


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, ""),
        ("", ""),
        ("application/json", JSON),
        ("application/json; charset=utf-8", JSON),
        ("Application/JSON", JSON),
        ("text/event-stream;charset=UTF-8", SSE),
        (" text/event-stream ; boundary=x", SSE),
    ],
)
def test_media_types_are_compared_without_case_and_parameters(header: str | None, expected: str) -> None:
    """B060."""
    assert media_type(header) == expected


#: kind, status, media type, session carried, body, meaning
ROWS: list[tuple[Kind, int, str, bool, bytes | None, Meaning]] = [
    # an answer to a request (HTTP-5; B006, B057, B060)
    ("request", 200, JSON, True, None, M.JSON),
    ("request", 201, JSON, False, None, M.JSON),
    ("request", 200, SSE, True, None, M.STREAM),
    ("request", 200, HTML, True, b"<p>log in</p>", M.WRONG_TYPE),
    ("request", 200, "", False, b"", M.WRONG_TYPE),
    ("request", 202, "", False, None, M.ACCEPTED),
    ("request", 202, JSON, False, None, M.ACCEPTED),
    ("request", 204, "", True, None, M.ACCEPTED),
    # a notification or a response: any success will do, whatever the body (HTTP-4; B054, B056)
    ("notification", 202, "", True, None, M.ACCEPTED),
    ("notification", 200, "", False, None, M.ACCEPTED),
    ("notification", 200, JSON, False, None, M.ACCEPTED),
    ("notification", 204, "", True, None, M.ACCEPTED),
    ("response", 200, SSE, True, None, M.ACCEPTED),
    ("response", 299, HTML, True, None, M.ACCEPTED),
    ("notification", 400, JSON, False, rpc(-32600), M.RPC_ERROR),
    ("response", 500, HTML, True, b"oops", M.HTTP_ERROR),
    # the listening stream (GET-1)
    ("listen", 200, SSE, True, None, M.STREAM),
    ("listen", 200, JSON, True, None, M.JSON),
    ("listen", 200, "", True, b"", M.WRONG_TYPE),
    ("listen", 202, "", True, b"", M.WRONG_TYPE),
    ("listen", 405, HTML, True, None, M.NO_STREAM),
    ("listen", 404, "", True, b"", M.SESSION_EXPIRED),
    ("listen", 404, "", False, b"", M.NO_STREAM),
    ("listen", 400, "", False, b"", M.NO_STREAM),
    ("listen", 400, "", True, b"no such session", M.SESSION_EXPIRED),
    (
        "listen",
        406,
        JSON,
        True,
        b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no"}}',
        M.NO_STREAM,
    ),
    ("listen", 501, "", True, b"", M.NO_STREAM),
    ("listen", 500, "", True, b"", M.HTTP_ERROR),
    # the end of the session (SES-6)
    ("end", 200, "", True, None, M.ACCEPTED),
    ("end", 204, "", True, None, M.ACCEPTED),
    ("end", 405, "", True, None, M.ACCEPTED),
    ("end", 404, "", True, b"", M.SESSION_EXPIRED),
    ("end", 500, "", True, b"", M.HTTP_ERROR),
    # 401, whatever else (B003)
    ("request", 401, JSON, True, None, M.UNAUTHORIZED),
    ("notification", 401, "", False, None, M.UNAUTHORIZED),
    ("listen", 401, SSE, True, None, M.UNAUTHORIZED),
    ("end", 401, "", True, None, M.UNAUTHORIZED),
    # failures without a JSON-RPC body (B003)
    ("request", 403, "text/plain", True, b"no", M.HTTP_ERROR),
    ("request", 405, "", True, b"", M.HTTP_ERROR),
    ("request", 429, "", True, None, M.HTTP_ERROR),
    ("request", 500, "text/plain", True, b"oops", M.HTTP_ERROR),
    ("request", 502, HTML, False, b"<p>bad gateway</p>", M.HTTP_ERROR),
    ("request", 503, JSON, False, b'{"error":"busy"}', M.HTTP_ERROR),
    ("request", 500, JSON, False, b'{"jsonrpc":"2.0","id":1,"result":{}}', M.HTTP_ERROR),
    ("request", 500, JSON, False, b'{"jsonrpc":"2.0","method":"x"}', M.HTTP_ERROR),
    # failures with one (HTTP-8; B004), with and without an id, however it is labelled
    ("request", 400, JSON, False, rpc(-32602, id=3), M.RPC_ERROR),
    ("request", 400, JSON, False, rpc(-32602), M.RPC_ERROR),
    ("request", 400, JSON, True, rpc(-32022), M.RPC_ERROR),
    ("request", 403, "", True, rpc(-32000, id=None), M.RPC_ERROR),
    ("request", 405, JSON, True, rpc(-32000), M.RPC_ERROR),
    ("request", 500, "text/plain", True, rpc(-32603, id=3), M.RPC_ERROR),
    # 404 (SES-5, SES-8, MH-3; B045, B053)
    ("request", 404, "", True, None, M.SESSION_EXPIRED),
    ("request", 404, HTML, True, b"<p>not found</p>", M.SESSION_EXPIRED),
    ("request", 404, JSON, True, rpc(-32001, "Session not found", id=None), M.SESSION_EXPIRED),
    ("notification", 404, "", True, b"", M.SESSION_EXPIRED),
    ("request", 404, JSON, True, NO_METHOD, M.RPC_ERROR),
    ("request", 404, JSON, False, NO_METHOD, M.RPC_ERROR),
    ("request", 404, "", False, b"", M.HTTP_ERROR),
    ("request", 404, JSON, False, rpc(-32001, "Session not found"), M.RPC_ERROR),
    # 400 that speaks of our session (B048)
    ("request", 400, JSON, True, rpc(-32000, "Bad Request: No valid Session ID", id=None), M.SESSION_EXPIRED),
    ("request", 400, JSON, True, NO_SESSION, M.SESSION_EXPIRED),
    ("notification", 400, "text/plain", True, b"unknown SESSION", M.SESSION_EXPIRED),
    ("request", 400, JSON, False, NO_SESSION, M.HTTP_ERROR),
    ("request", 400, JSON, True, rpc(-32000, "bad"), M.RPC_ERROR),
    ("request", 400, JSON, True, rpc(-32602, "session_id is missing"), M.RPC_ERROR),
    ("request", 400, JSON, True, rpc(-32601, "session/x is unknown"), M.RPC_ERROR),
    ("request", 400, "text/plain", True, b"bad", M.HTTP_ERROR),
    ("request", 400, "text/plain", True, b"x" * PREVIEW + b"session", M.HTTP_ERROR),
    ("request", 422, "text/plain", True, b"session", M.HTTP_ERROR),
    # elsewhere
    *(("request", status, "", True, None, M.REDIRECT) for status in (301, 302, 303, 307, 308)),
    ("listen", 307, "", True, None, M.REDIRECT),
    ("end", 308, "", True, None, M.REDIRECT),
    ("request", 300, "", True, None, M.HTTP_ERROR),
    ("request", 304, "", True, None, M.HTTP_ERROR),
    ("request", 101, JSON, True, None, M.HTTP_ERROR),
]


@pytest.mark.parametrize(("kind", "status", "media", "session", "body", "meaning"), ROWS)
def test_what_an_answer_means(
    kind: Kind, status: int, media: str, session: bool, body: bytes | None, meaning: Meaning
) -> None:
    assert classify(kind, status, media, session=session, modern=False, body=body) is meaning


@pytest.mark.parametrize("body", [b"", b"session", rpc(-32000, "session")])
@pytest.mark.parametrize("status", [400, 404])
def test_the_modern_era_has_no_session_to_expire(status: int, body: bytes) -> None:
    """MH-1: a session header that is left over means nothing."""
    expected = M.RPC_ERROR if body.startswith(b"{") else M.HTTP_ERROR
    assert classify("request", status, JSON, session=True, modern=True, body=body) is expected


@pytest.mark.parametrize(
    ("kind", "status", "media", "needed"),
    [
        ("request", 200, JSON, False),
        ("request", 200, SSE, False),
        ("request", 200, HTML, True),
        ("request", 202, "", False),
        ("request", 307, "", False),
        ("request", 304, "", True),
        ("request", 400, JSON, True),
        ("request", 401, JSON, False),
        ("request", 404, "", True),
        ("request", 405, "", True),
        ("request", 500, HTML, True),
        ("notification", 200, HTML, False),
        ("notification", 400, "", True),
        ("response", 204, "", False),
        ("listen", 200, SSE, False),
        ("listen", 405, HTML, False),
        ("listen", 404, "", True),
        ("end", 405, "", False),
        ("end", 200, HTML, False),
    ],
)
def test_the_body_is_read_where_it_decides_or_is_shown(kind: Kind, status: int, media: str, needed: bool) -> None:
    assert needs_body(kind, status, media) is needed


def test_a_short_body_is_shown_whole() -> None:
    assert preview(b"") == ""
    assert preview("é".encode() * (PREVIEW // 2)) == "é" * (PREVIEW // 2)
    assert preview(b"a\xffb") == "a\ufffdb"


@pytest.mark.parametrize(
    ("body", "shown", "left"),
    [
        (b"x" * 9000, "x" * 8192, 808),
        ("é".encode() * 4500, "é" * 4096, 808),
        (b"x" + "é".encode() * 4500, "x" + "é" * 4095, 810),
        ("日".encode() * 3000, "日" * 2730, 810),
        (b"xx" + "日".encode() * 3000, "xx" + "日" * 2730, 810),
        (b"x" + "🎉".encode() * 2500, "x" + "🎉" * 2047, 1812),
    ],
)
def test_a_long_body_is_cut_between_characters(body: bytes, shown: str, left: int) -> None:
    assert preview(body) == f"{shown}… ({left} more bytes)"


def test_a_body_that_is_not_text_is_cut_all_the_same() -> None:
    assert preview(b"\x80" * 9000).endswith("(811 more bytes)")


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("0", 0.0),
        (" 120 ", 120.0),
        ("9" * 5000, MAX_RETRY_AFTER),
        (formatdate(NOW + 30, usegmt=True), 30.0),
        (formatdate(NOW + 30), 30.0),
        (formatdate(NOW - 30, usegmt=True), 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", MAX_RETRY_AFTER),
        ("Fri, 99 Foo 2023 23:59:59 GMT", None),
        ("Fri, 31 Dec 2023 99:59:59 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, expected: float | None) -> None:
    assert retry_after(value, NOW) == expected


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize(
    ("url", "location", "target"),
    [
        ("http://h/mcp", "/mcp/", "http://h/mcp/"),
        ("http://h/mcp", "mcp/?a=1#f", "http://h/mcp/?a=1"),
        ("http://h/mcp", "http://h:80/mcp/", "http://h/mcp/"),
        ("http://h:80/mcp", "http://H/mcp/", "http://h:80/mcp/"),
        ("https://h/mcp", "https://h:443/x", "https://h/x"),
        ("https://h:8443/mcp", "//h:8443/x", "https://h:8443/x"),
        ("http://[::1]:8000/mcp", "http://[::1]:8000/x", "http://[::1]:8000/x"),
        ("http://h/mcp", "http://user:word@h/x", "http://h/x"),
        ("http://h/mcp", "/a b\\\u00fc?c d=%20|#e", "http://h/a%20b%5C%C3%BC?c%20d=%20%7C"),
    ],
)
def test_redirects_within_the_origin_are_followed(status: int, url: str, location: str, target: str) -> None:
    """B062: the slash form, with method and body kept."""
    assert redirect_target(url, location, status) == target


@pytest.mark.parametrize(
    ("url", "location", "status", "complaint"),
    [
        ("http://h/mcp", "http://other/mcp?token=1", 307, "http://other/mcp, which is another origin"),
        ("http://h/mcp", "http://h:8080/mcp", 308, "http://h:8080/mcp, which is another origin"),
        ("http://h/mcp", "//other:99/", 308, "http://other:99/, which is another origin"),
        ("https://h/mcp", "http://h/mcp", 308, "http://h/mcp, which is another origin"),
        ("http://h/mcp", "https://h/mcp", 307, "https://h/mcp, which is another origin"),
        ("http://h/mcp", "http://user:word@[::1]:9/", 307, "http://[::1]:9/, which is another origin"),
        ("http://h/mcp", "file:///etc/passwd", 307, "which is another origin"),
        ("http://h/mcp", "/mcp/?token=1", 301, "http://h/mcp/; only 307 and 308"),
        ("http://h/mcp", "/mcp/", 302, "only 307 and 308"),
        ("http://h/mcp", "/mcp/", 303, "only 307 and 308"),
        ("http://h/mcp", "", 307, "without saying where to"),
        ("http://h/mcp", "http://h:port/", 307, "to an address that is none"),
        ("http://h/mcp", "http://[h/", 307, "to an address that is none"),
    ],
)
def test_other_redirects_are_refused(url: str, location: str, status: int, complaint: str) -> None:
    """B063: nothing goes to another origin; the error names the target, but no query and no credentials."""
    with pytest.raises(HttpStatusError) as caught:
        redirect_target(url, location, status)
    assert complaint in str(caught.value)
    assert caught.value.status == status
    assert "token" not in str(caught.value)
    assert "word" not in str(caught.value).replace("passwd", "")


def test_a_refused_redirect_shows_our_url_without_secrets() -> None:
    with pytest.raises(HttpStatusError) as caught:
        redirect_target("https://user:word@h:444/mcp?key=1", "http://other/", 307)
    assert caught.value.url == "https://h:444/mcp"


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (b"/m?x=1", "https://user:word@h:444/m?x=1"),
        (b"m?x=1", "https://user:word@h:444/a/b/m?x=1"),
        (b"?x=1", "https://user:word@h:444/a/b/sse?x=1"),
        (b"../m", "https://user:word@h:444/a/m"),
        (b"https://h:444/m", "https://user:word@h:444/m"),
        (b"HTTPS://H:444/m", "https://user:word@h:444/m"),
        (b" /m#part\n", "https://user:word@h:444/m"),
        (b"/\xff", "https://user:word@h:444/%EF%BF%BD"),
    ],
)
def test_an_endpoint_is_a_reference(data: bytes, target: str) -> None:
    """B066, RFC 3986, 5; the credentials of our own URL stay."""
    assert endpoint_url("https://user:word@h:444/a/b/sse?key=1", data) == target


@pytest.mark.parametrize(
    "data", [b"http://h:444/m", b"https://h/m", b"//other/m", b"https://[/m", b"https://h:x/m", b"javascript:alert(1)"]
)
def test_an_endpoint_stays_within_the_origin(data: bytes) -> None:
    with pytest.raises(UnexpectedMessage, match="the server sends messages to") as caught:
        endpoint_url("https://user:word@h:444/sse", data)
    assert "word" not in str(caught.value)


@given(st.text() | st.sampled_from(["//", "http:", "https://"]).flatmap(lambda start: st.text().map(start.__add__)))
def test_no_endpoint_leads_elsewhere(reference: str) -> None:
    try:
        target = urlsplit(endpoint_url("http://h:8000/a/sse", reference.encode("utf-8", "replace")))
    except UnexpectedMessage:
        return
    assert (target.scheme, target.netloc, target.fragment) == ("http", "h:8000", "")
    assert target.geturl().isascii()
    assert target.geturl().isprintable()
    assert " " not in target.geturl()

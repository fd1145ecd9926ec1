"""HTTP answers that are not by the book, checked from the server's side of a whole connection."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import syncline
from tests.fixtures.http import within
from tools.fakeserver.catalogue import Json
from tools.fakeserver.samples import sample_catalogue
from tools.fakeserver.scripted import CERTIFICATE, Exchange

from .shared import ERAS, HANDSHAKE, STATELESS, Http, Scripted, answer


@pytest.mark.parametrize("status", [200, 202, 204])
def test_a_notification_may_be_accepted_in_several_ways(http_server: Http, status: int) -> None:
    """B054."""
    server = http_server(versions=[HANDSHAKE])
    server.arm(status, method="notifications/initialized")
    with syncline.connect(server.url) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"


def test_what_a_notification_is_answered_with_goes_nowhere(http_server: Http) -> None:
    """B056: neither an answer, nor an error, nor a finding."""
    server = http_server(versions=[HANDSHAKE])
    server.arm(lambda exchange: exchange.json({"jsonrpc": "2.0", "id": None}), method="notifications/initialized")
    with syncline.connect(server.url) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        assert client.findings == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("status", [202, 204])
def test_a_request_that_is_only_accepted(http_server: Http, era: str, status: int) -> None:
    """B057: without a stream on which the answer could come, the call fails at once."""
    server = http_server(versions=[era])
    with syncline.connect(server.url, protocol_version=era) as client:
        server.arm(status, method="tools/call")
        expected = rf"tools/call: HTTP {status} to a request: there will be no answer"
        with within(1), pytest.raises(syncline.UnexpectedMessage, match=expected):
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "after"}).text == "after"


@pytest.mark.parametrize("era", ERAS)
def test_requests_name_the_bare_media_type(http_server: Http, era: str) -> None:
    """B059: the server insists on it, with requests and with notifications."""
    server = http_server(versions=[era])
    with syncline.connect(server.url, protocol_version=era) as client:
        client.list_tools()
    posts = [request for request in server.requests if request.method == "POST"]
    assert {request.header("Content-Type") for request in posts} == {"application/json"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "media",
    [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;x=y",
        "text/event-stream;charset=UTF-8",
        "text/event-stream; boundary=x",
        "Text/Event-Stream",
    ],
)
def test_a_media_type_with_trimmings(http_server: Http, era: str, media: str) -> None:
    """B060: parameters and case do not matter; the text is UTF-8 whatever they say."""
    server = http_server(versions=[era])

    def script(exchange: Exchange) -> None:
        text = json.dumps(answer(exchange, "é"), ensure_ascii=False)
        exchange.respond(200, text if "json" in media.lower() else f"data: {text}\n\n", media)

    with syncline.connect(server.url, protocol_version=era) as client:
        server.arm(script, method="tools/call")
        assert client.call_tool("echo", {"text": "x"}).text == "é"


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_to_the_slash_form(scripted_server: Scripted, status: int) -> None:
    """B062: each request is led there, with method, body and headers; nothing is lost on the way."""
    catalogue = sample_catalogue([STATELESS])

    def script(exchange: Exchange) -> None:
        if exchange.request.path == "/mcp":
            exchange.respond(status, headers=[("Location", "/mcp/")])
        else:
            catalogue.handle(exchange.request.json(), exchange.json)

    server = scripted_server(script)
    headers = {"Authorization": "Bearer planted", "X-Mine": "1"}
    with syncline.connect(syncline.HttpServer(server.url, headers=headers)) as client:
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    for first, second in zip(server.requests[::2], server.requests[1::2], strict=True):
        assert (first.path, second.path) == ("/mcp", "/mcp/")
        assert (second.method, second.headers, second.body) == (first.method, first.headers, first.body)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_origin_is_not_followed(http_server: Http, status: int) -> None:
    """B063: nothing is sent there, and the error names it."""
    server, other = http_server(), http_server()
    with syncline.connect(syncline.HttpServer(server.url, headers={"Authorization": "Bearer planted"})) as client:
        server.arm(status, method="tools/call", headers=[("Location", other.url + "?token=planted")])
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.call_tool("echo", {"text": "x"})
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert f"tools/call: redirected ({status}) to {other.url}" in str(caught.value)
    assert "planted" not in str(caught.value)
    assert other.connections == 0


def test_a_redirect_that_leaves_tls_is_not_followed(http_server: Http) -> None:
    """B063: not on the same host either."""
    server = http_server(tls=True)
    target = syncline.HttpServer(server.url, headers={"Authorization": "Bearer planted"}, verify=str(CERTIFICATE))
    with syncline.connect(target) as client:
        server.arm(308, method="tools/call", headers=[("Location", server.url.replace("https", "http"))])
        with pytest.raises(syncline.HttpStatusError, match="another origin; nothing was sent there"):
            client.call_tool("echo", {"text": "x"})


def test_a_notification_that_is_never_answered_holds_up_nobody(http_server: Http) -> None:
    """B065: a call is given up, and the server takes the cancellation but never answers it."""
    server = http_server(versions=[HANDSHAKE])
    with syncline.connect(server.url) as client:
        server.arm(Exchange.hold, method="notifications/cancelled")
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", {"seconds": 60}, timeout=0.2)
        server.wait_until(lambda: bool(server.calls("notifications/cancelled")))
        with within(1):
            assert client.call_tool("echo", {"text": "x"}).text == "x"
        with within(2):
            client.close()


@pytest.mark.parametrize("value", [" x\r\nEvil: 1", "héllo", "", "=?base64?x?=", "plain"])
def test_arguments_in_headers_are_encoded(http_server: Http, value: str) -> None:
    """B069: the server decodes them and compares."""
    server = http_server(versions=[STATELESS])
    with syncline.connect(server.url) as client:
        client.list_tools()
        arguments = {"region": value, "limit": -7, "dry": True, "query": None}
        assert client.call_tool("routed", arguments).text == repr(sorted(arguments.items()))
    assert all(request.header("Evil") is None for request in server.requests)


def test_names_in_headers_are_encoded(http_server: Http) -> None:
    """B069: of a tool, with what must not break a header."""
    server = http_server(versions=[STATELESS])
    run: Callable[[object], str] = lambda _: "ran"  # noqa: E731
    for name in ("héllo", " padded ", "a\r\nEvil: 1"):
        server.tool(name, run)
        with syncline.connect(server.url) as client:
            assert client.call_tool(name).text == "ran"
    assert all(request.header("Evil") is None for request in server.requests)


def test_a_bad_annotation_costs_one_tool(http_server: Http) -> None:
    """B069: it is left out with a finding, the others stay."""
    server = http_server(versions=[STATELESS])
    bad: Json = {"type": "object", "properties": {"x": {"type": "string", "x-mcp-header": "X Y"}}}
    server.tool("bad", lambda _: "", inputSchema=bad)
    with syncline.connect(server.url) as client:
        names = [tool.name for tool in client.list_tools()]
        assert "bad" not in names
        assert {"echo", "routed"} <= set(names)
        assert ("invalid-header-annotation", "tools/list: bad") in {(f.code, f.place) for f in client.findings}

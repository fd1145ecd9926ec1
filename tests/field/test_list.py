"""Listings that other clients never finished, cut short or lost, over HTTP."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

import syncline
from tools.fakeserver.catalogue import Call, Json
from tools.fakeserver.mcp_http import McpHttpServer

from .shared import ERAS, Http

SCHEMA: Json = {"type": "object"}


@pytest.fixture(params=ERAS)
def server(request: pytest.FixtureRequest, http_server: Http) -> McpHttpServer:
    return http_server(versions=[request.param])


def page(first: int, cursor: object, size: int = 8) -> Json:
    tools = [{"name": f"tool-{number}", "inputSchema": SCHEMA} for number in range(first, first + size)]
    return {"tools": tools, "nextCursor": cursor}


def test_the_same_page_for_ever(server: McpHttpServer) -> None:
    """B123: an empty cursor each time. It is asked for twice, and the error says that the server goes in circles."""
    server.catalogue.methods["tools/list"] = lambda _: page(0, "")
    with syncline.connect(server.url) as client:
        with pytest.raises(syncline.ListingLimit, match=r"tools/list: .*circles"):
            client.list_tools()
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert len(server.calls("tools/list")) == 2


def test_new_pages_for_ever(server: McpHttpServer) -> None:
    """B123: it ends at the limit with an error; nothing is cut in silence."""
    numbers = count()
    server.catalogue.methods["tools/list"] = lambda _: page(8 * next(numbers), "")
    limits = syncline.Limits(pages=20)
    with syncline.connect(server.url, limits=limits) as client, pytest.raises(syncline.ListingLimit, match="20 pages"):
        client.list_tools()
    assert len(server.calls("tools/list")) == 20


def test_a_server_that_keeps_the_position_itself(server: McpHttpServer) -> None:
    """B125: the same cursor on each page but the last."""
    numbers = count()

    def answer(_: Call) -> Json:
        number = next(numbers)
        return page(8 * number, "x" if number < 3 else None)

    server.catalogue.methods["tools/list"] = answer
    with syncline.connect(server.url) as client:
        names = [tool.name for tool in client.list_tools()]
    assert names == [f"tool-{number}" for number in range(32)]
    cursors = [(request.json().get("params") or {}).get("cursor") for request in server.calls("tools/list")]
    assert cursors == [None, "x", "x", "x"]


def test_a_cursor_that_is_null(server: McpHttpServer) -> None:
    """B126: the end, in every listing."""
    for method in ("tools/list", "resources/list", "prompts/list"):
        whole = server.catalogue.methods[method]
        server.catalogue.methods[method] = lambda call, whole=whole: whole(call) | {"nextCursor": None}  # type: ignore[misc]
    with syncline.connect(server.url) as client:
        assert "echo" in [tool.name for tool in client.list_tools()]
        assert "memo://greeting" in [resource.uri for resource in client.list_resources()]
        assert [prompt.name for prompt in client.list_prompts()] == ["brief"]
    assert len(server.calls("tools/list")) == 1


BROKEN: dict[str, Any] = {
    "null schema": {"name": "bad", "inputSchema": None},
    "no schema": {"name": "bad"},
    "schema by reference": {"name": "bad", "inputSchema": {"$ref": "#/$defs/x"}},
    "schema of a string": {"name": "bad", "inputSchema": {"type": "string"}},
    "schema that is text": {"name": "bad", "inputSchema": "object"},
    "no name": {"inputSchema": SCHEMA},
    "name that is a number": {"name": 7, "inputSchema": SCHEMA},
    "not an object": "bad",
}


@pytest.mark.parametrize("broken", list(BROKEN))
def test_a_broken_tool_does_not_sink_the_list(server: McpHttpServer, broken: str) -> None:
    """B128: its neighbours stay and can be called; a finding tells of it."""
    first, last = ({"name": name, "inputSchema": SCHEMA} for name in ("echo", "add"))
    server.catalogue.methods["tools/list"] = lambda _: {"tools": [first, BROKEN[broken], last]}
    with syncline.connect(server.url) as client:
        names = [tool.name for tool in client.list_tools()]
        assert [name for name in names if name != "bad"] == ["echo", "add"]
        assert client.call_tool("echo", {"text": "x"}).text == "x"
        [finding] = [finding for finding in client.findings if finding.place.startswith("tools/list")]
        assert finding.raw

"""What many servers offer, as one list."""

from __future__ import annotations

from typing import Any

import pytest

from syncline import HttpServer, StdioServer
from syncline.manager.catalogue import Listing, Offered, Part, ServerTool, merged, origin
from syncline.manager.settings import ToolFilter
from syncline.types import Tool


def tool(name: str, **more: Any) -> Tool:
    return Tool.model_validate({"name": name, "inputSchema": {"type": "object"}, **more})


def part(server: str, *tools: str, disabled: tuple[str, ...] = ()) -> Part:
    listed = Offered.of([tool(name) for name in tools])
    return Part(server, listed, ToolFilter(disabled=frozenset(disabled)), "stdio", True)


def test_the_first_of_equal_tools_is_kept() -> None:
    """3.103: a server that lists one twice."""
    listed = Offered.of([tool("a", description="first"), tool("b"), tool("a", description="second")])
    assert [(each.name, each.description) for each in listed.tools] == [("a", "first"), ("b", None)]


def test_tools_are_in_the_order_of_the_servers() -> None:
    found = merged(["b", "a"], [part("b", "y", "x"), part("a", "z")], "mcp__")
    assert [each.qualified_name for each in found.tools] == ["mcp__b__y", "mcp__b__x", "mcp__a__z"]


def test_filters_change_no_names() -> None:
    """3.111: and what is filtered out can still be told from what nobody knows."""
    found = merged(["s"], [part("s", "a-b", "a_b", disabled=("a-b",))], "mcp__")
    [shown] = found.tools
    assert shown.name == "a_b"
    assert shown.qualified_name.startswith("mcp__s__a_b_")
    [hidden] = found.disabled
    assert found.by_name[hidden].name == "a-b"


@pytest.mark.parametrize(
    ("meta", "seen"),
    [
        ({"ui": {"visibility": ["app"]}}, False),
        ({"ui": {"visibility": ["model", "app"]}}, True),
        ({"ui": {"visibility": "x"}}, True),
        (None, True),
        ({"ui": 7}, True),
    ],
)
def test_who_should_see_a_tool_is_said_by_its_server(meta: dict[str, Any] | None, seen: bool) -> None:
    """3.76: missing or malformed is visible."""
    listed = tool("a", **({} if meta is None else {"_meta": meta}))
    assert ServerTool("mcp__s__a", "s", listed, "stdio").for_model == seen


def test_metadata_is_kept_as_it_is() -> None:
    meta = {"connector_id": "c1", "x/y": [1]}
    listed = ServerTool("mcp__s__a", "s", tool("a", _meta=meta, title="A", description="does"), "stdio")
    assert (listed.meta, listed.title, listed.description, listed.input_schema) == (
        meta,
        "A",
        "does",
        {"type": "object"},
    )
    assert (listed.output_schema, listed.annotations) == (None, None)


@pytest.mark.parametrize(
    ("server", "where"),
    [
        (StdioServer("x"), "stdio"),
        (HttpServer("https://user:pw@a.example:8443/mcp?key=1"), "https://a.example:8443"),
        (HttpServer("http://a.example/mcp"), "http://a.example"),
        (HttpServer("http://[::1]:80/mcp"), "http://[::1]:80"),
        (lambda: None, "custom"),
    ],
)
def test_the_origin_has_no_path(server: Any, where: str) -> None:
    """3.81: and no credentials."""
    assert origin(server) == where


def test_a_listing_cannot_be_changed() -> None:
    listing = Listing([1, 2])
    assert (list(listing), len(listing), listing[0], listing.errors) == ([1, 2], 2, 1, {})
    assert isinstance(listing, tuple)

"""Results that are loose with the schema, and schemas that must not be touched, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

import syncline
from tools.fakeserver.catalogue import Call, Json, text
from tools.fakeserver.mcp_http import McpHttpServer

from .shared import ERAS, Http, Scripted


@pytest.fixture(params=ERAS)
def server(request: pytest.FixtureRequest, http_server: Http) -> McpHttpServer:
    return http_server(versions=[request.param])


def test_null_where_a_member_is_absent(server: McpHttpServer) -> None:
    """B129: in content, in a tool, in what the server says of itself; and we send none."""
    block = {"type": "text", "text": "x", "annotations": None, "_meta": None}
    server.catalogue.info |= {"title": None, "icons": None}
    server.tool(
        "voids",
        lambda _: {"content": [block], "isError": None, "structuredContent": None, "_meta": None},
        description=None,
        title=None,
        annotations=None,
    )
    with syncline.connect(server.url) as client:
        tool = next(tool for tool in client.list_tools() if tool.name == "voids")
        result = client.call_tool("voids")
        assert (tool.description, tool.title, tool.annotations, client.server_info.title) == (None,) * 4
    assert (result.text, result.is_error) == ("x", False)
    assert result.content[0].annotations is None
    assert all(b"null" not in request.body for request in server.requests)


def test_members_that_nobody_knows_are_kept(server: McpHttpServer) -> None:
    """B131: of the server, its capabilities, a tool, content, and a result's metadata, whatever they are called."""
    odd: Json = {"x-odd": {"a": [1, None]}, "": 0, "class": "c"}
    server.catalogue.info |= odd
    server.catalogue.capabilities |= {"experimental": {"x": {"deep": [1]}}, "x-cap": {}}
    block = {"type": "text", "text": "x", **odd}
    server.tool("odd", lambda _: {"content": [block], "_meta": {"a/b": None, "UPPER": 1}, **odd}, **odd)
    with syncline.connect(server.url) as client:
        tool = next(tool for tool in client.list_tools() if tool.name == "odd")
        result = client.call_tool("odd")
        assert odd.items() <= (client.server_info.model_extra or {}).items()
        assert client.capabilities.experimental == {"x": {"deep": [1]}}
        assert (client.capabilities.model_extra or {})["x-cap"] == {}
    for kept in (tool, result, result.content[0]):
        assert odd.items() <= (kept.model_extra or {}).items()
    assert result.to_wire()["_meta"].items() >= {"a/b": None, "UPPER": 1}.items()


def test_schemas_come_through_as_they_are(server: McpHttpServer) -> None:
    """B132: every keyword, in the server's order, and further down as well."""
    schema: Json = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:x",
        "type": "object",
        "$defs": {"p": {"type": ["string", "null"], "default": None, "x-ext": 1}},
        "properties": {"a": {"$ref": "#/$defs/p"}, "b": {"anyOf": [{"const": None}, {"enum": [1, 1.0, None]}]}},
        "additionalProperties": False,
        "required": [],
        "x-ext": {"title": None},
    }
    server.tool("plain", lambda _: text("x"), inputSchema=schema, outputSchema=schema)
    with syncline.connect(server.url) as client:
        tool = next(tool for tool in client.list_tools() if tool.name == "plain")
    assert json.dumps(tool.input_schema) == json.dumps(tool.output_schema) == json.dumps(schema)


def test_a_schema_elsewhere_is_never_fetched(server: McpHttpServer, scripted_server: Scripted) -> None:
    """B134: nobody is asked for it; the schema counts as one that cannot be used, not as one that allows anything."""
    elsewhere = scripted_server(lambda exchange: exchange.json({"type": "object"}))
    server.tool(
        "far", lambda _: text("x") | {"structuredContent": {}}, outputSchema={"$ref": f"{elsewhere.origin}/s.json"}
    )
    with syncline.connect(server.url) as client:
        client.list_tools()
        with pytest.raises(syncline.InvalidResult, match="the output schema of tool 'far' cannot be used") as caught:
            client.call_tool("far")
    assert isinstance(caught.value.raw, dict)
    assert caught.value.raw["structuredContent"] == {}
    assert elsewhere.connections == 0


@pytest.mark.parametrize("arguments", [None, {}, {"a": None}, {"a": 1}])
def test_arguments_go_out_as_they_are_given(server: McpHttpServer, arguments: dict[str, object] | None) -> None:
    """B135: what was left out stays out, None stays null."""
    received: list[Any] = []

    def run(call: Call) -> Json:
        received.append(call.params.get("arguments", "absent"))
        return text("x")

    schema = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "string"}}}
    server.tool("optional", run, inputSchema=schema)
    with syncline.connect(server.url) as client:
        client.list_tools()
        client.call_tool("optional", arguments)
    assert received == ["absent" if arguments is None else arguments]


def test_a_failure_is_not_held_against_the_output_schema(server: McpHttpServer) -> None:
    """B137: what the tool says of it arrives."""
    schema = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
    server.tool("broken", lambda _: text("out of numbers", error=True), outputSchema=schema)
    with syncline.connect(server.url) as client:
        client.list_tools()
        result = client.call_tool("broken")
        assert (result.is_error, result.text) == (True, "out of numbers")
        with pytest.raises(syncline.ToolError, match="out of numbers"):
            result.raise_for_error()


@pytest.mark.parametrize("value", [[1, {"a": None}], 7, 1.5, "text", True, {}])
def test_structured_content_may_be_any_json(server: McpHttpServer, value: object) -> None:
    """B138: as data, in each era."""
    server.tool("any", lambda _: text("x") | {"structuredContent": value})
    with syncline.connect(server.url) as client:
        assert client.call_tool("any").structured_content == value
        assert type(client.call_tool("any").structured_content) is type(value)

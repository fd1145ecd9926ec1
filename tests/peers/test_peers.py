"""The client against real servers: every verb, over every transport and revision that each server speaks."""

from __future__ import annotations

import base64
import threading
from typing import Any

import pytest

import syncline
from tests.peers.catalogue import Call, Case
from tests.peers.conftest import Known, children

pytestmark = pytest.mark.peers


def own_threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("syncline:")}


def test_connect(case: Case, client: syncline.Client) -> None:
    assert client.protocol_version == case.negotiated
    assert client.server_info is not None
    assert client.server_info.name
    assert client.capabilities.tools is not None


def test_ping(case: Case, client: syncline.Client) -> None:
    if case.negotiated >= "2026":
        with pytest.raises(syncline.SynclineError, match="ping"):
            client.ping()
    else:
        client.ping()


def test_list_tools(case: Case, client: syncline.Client) -> None:
    tools = {tool.name: tool for tool in client.list_tools()}
    assert {case.peer.call.tool, case.peer.failing.tool} <= set(tools)
    assert all(tool.input_schema["type"] == "object" for tool in tools.values())
    assert [tool.name for tool in client.iter_tools()] == list(tools)


def test_call_tool(case: Case, client: syncline.Client, known: Known) -> None:
    result = client.call_tool(case.peer.call.tool, known.arguments(case.peer.call))
    result.raise_for_error()
    assert case.peer.call.text in result.text


def test_failing_tool(case: Case, client: syncline.Client, known: Known) -> None:
    result = client.call_tool(case.peer.failing.tool, known.arguments(case.peer.failing))
    assert result.is_error
    assert case.peer.failing.text in result.text
    with pytest.raises(syncline.ToolError) as caught:
        result.raise_for_error()
    assert caught.value.result is result


def test_unknown_tool(client: syncline.Client) -> None:
    """Some servers answer an error and some a failed result: neither passes for success."""
    with pytest.raises((syncline.ServerError, syncline.ToolError)):
        client.call_tool("no-such-tool", {}).raise_for_error()


@pytest.mark.offers("structured")
def test_structured(case: Case, client: syncline.Client, known: Known) -> None:
    assert case.peer.structured is not None
    result = client.call_tool(case.peer.structured.tool, known.arguments(case.peer.structured))
    content: Any = result.structured_content
    assert known.structured(case.peer.structured).items() <= content.items()


@pytest.mark.offers("large")
def test_large_result(case: Case, client: syncline.Client, known: Known) -> None:
    assert case.peer.large is not None
    result = client.call_tool(case.peer.large.tool, known.arguments(case.peer.large))
    result.raise_for_error()
    assert len(result.text) >= case.peer.large.size


@pytest.mark.offers("progress")
def test_progress(case: Case, client: syncline.Client, known: Known) -> None:
    assert case.peer.progress is not None
    check_progress(case, client, known, case.peer.progress)


@pytest.mark.offers("in_parts")
def test_answer_in_parts(case: Case, client: syncline.Client, known: Known) -> None:
    """Where the server may hang up before the answer, the rest of it is fetched."""
    assert case.peer.in_parts is not None
    check_progress(case, client, known, case.peer.in_parts)


def check_progress(case: Case, client: syncline.Client, known: Known, call: Call) -> None:
    """Make a call that reports each of its steps."""
    seen: list[tuple[float, float | None]] = []
    result = client.call_tool(
        call.tool, known.arguments(call), on_progress=lambda done, total, message: seen.append((done, total))
    )
    assert call.text in result.text
    steps = 0 if case.transport == "http-json" else call.steps  # one JSON document has no room for reports
    assert seen == [(step, call.steps) for step in range(1, steps + 1)]


@pytest.mark.offers("resource")
def test_resources(case: Case, client: syncline.Client) -> None:
    assert case.peer.resource is not None
    uri, text = case.peer.resource
    assert uri in [resource.uri for resource in client.list_resources()]
    assert text in (client.read_resource(uri).text or "")


@pytest.mark.offers("blob")
def test_blob(case: Case, client: syncline.Client) -> None:
    assert case.peer.blob is not None
    uri, part = case.peer.blob
    blob = client.read_resource(uri).blob
    assert blob is not None
    assert part in (blob if isinstance(blob, bytes) else base64.b64decode(blob))


@pytest.mark.offers("template")
def test_templates(case: Case, client: syncline.Client) -> None:
    assert case.peer.template is not None
    template, uri = case.peer.template
    assert template in [listed.uri_template for listed in client.list_resource_templates()]
    assert client.read_resource(uri).contents[0].uri == uri


@pytest.mark.offers("resource")
def test_unknown_resource(client: syncline.Client) -> None:
    with pytest.raises(syncline.ServerError):
        client.read_resource("nowhere://at/all")


@pytest.mark.offers("prompt")
def test_prompts(case: Case, client: syncline.Client) -> None:
    assert case.peer.prompt is not None
    name, arguments, text = case.peer.prompt
    assert name in [prompt.name for prompt in client.list_prompts()]
    message = client.get_prompt(name, dict(arguments)).messages[0]
    assert text in message.content.text  # type: ignore[union-attr]


@pytest.mark.offers("completion")
def test_complete(case: Case, client: syncline.Client) -> None:
    assert case.peer.completion is not None
    reference, argument, values = case.peer.completion
    assert client.complete(dict(reference), dict(argument)).completion.values == list(values)


def test_threads(case: Case, known: Known) -> None:
    """Eight threads share a connection, and each gets its own answers."""
    wrong: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(5):
                result = client.call_tool(case.peer.call.tool, known.arguments(case.peer.call))
                assert case.peer.call.text in result.text
        except BaseException as error:
            wrong.append(error)

    with known.connect() as client:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_close(case: Case, known: Known) -> None:
    """A connection of its own, used once and closed: no process, no thread, and a clear error afterwards."""
    processes, threads = children(), own_threads()
    client = known.connect()
    client.list_tools()
    started = children() - processes
    assert bool(started) == (case.transport == "stdio")
    client.close()
    assert not started & children()
    assert own_threads() <= threads
    assert client.is_closed
    with pytest.raises(syncline.ConnectionClosed):
        client.list_tools()

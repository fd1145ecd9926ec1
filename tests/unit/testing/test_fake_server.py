"""The server for users' tests, seen through a client, in memory and over HTTP."""

from __future__ import annotations

import http.client
import io
import itertools
import json
import queue
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest

import syncline
from syncline.errors import OutcomeUnknown, TaskCancelled, TaskExpired
from syncline.protocol.events import Notification, Reply
from syncline.session.channel import Channel
from syncline.streams.task import Task
from syncline.subscriptions.manager import Subscriptions
from syncline.testing import Call, FakeServer, Refused
from syncline.types import CallToolResult
from tests.fixtures.partner import SOON, Background

NEW, OLD = "2026-07-28", "2025-11-25"
WAYS = ("memory", "json", "sse")


@contextmanager
def reach(server: FakeServer, way: str, revision: str = "auto", **options: Any) -> Iterator[syncline.Client]:
    """A client of the server, in memory or over HTTP with one form of answers."""
    options = {"protocol_version": revision, **options}
    if way == "memory":
        with server.connect(**options) as client:
            yield client
    else:
        with server.http(answers=way) as url, syncline.connect(url, **options) as client:  # type: ignore[arg-type]
            yield client


def sample() -> FakeServer:
    server = FakeServer(page_size=2, instructions="Try it.")

    @server.tool
    def add(a: int, b: int = 0) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": a + b}

    @server.tool
    def count(call: Call, to: int) -> str:
        """Count."""
        for step in range(1, to + 1):
            call.progress(step, to, f"{step}")
        call.log("warning", {"counted": to})
        return "counted"

    @server.tool
    def fail(why: str = "") -> None:
        raise RuntimeError(why)

    return server


def outcome(call: Any) -> str:
    """What a call came to: its text, or the name of the error."""
    try:
        return str(call().text)
    except syncline.SynclineError as error:
        return type(error).__name__


@pytest.mark.parametrize("revision", [NEW, OLD, "2024-11-05"])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_offered_can_be_used(way: str, revision: str) -> None:
    server = sample()
    told: list[object] = []
    logged: queue.SimpleQueue[object] = queue.SimpleQueue()
    with reach(server, way, revision, on_log=logged.put) as client:
        assert (client.protocol_version, client.server_info.name) == (revision, "fake")
        assert client.instructions == "Try it."
        client.set_log_level("info")
        assert [tool.name for tool in client.list_tools()] == ["add", "count", "fail"]
        assert client.call_tool("add", {"a": 1, "b": 2}).text == '{"sum": 3}'
        assert client.call_tool("count", {"to": 2}, on_progress=lambda *news: told.append(news)).text == "counted"
        assert logged.get(timeout=SOON).data == {"counted": 2}  # type: ignore[attr-defined]
        assert client.call_tool("fail", {"why": "no disk"}).text == "no disk"
        assert client.call_tool("fail").text == "RuntimeError"
        assert client.call_tool("add", {"c": 1}).is_error
        with pytest.raises(syncline.InvalidParams, match="Unknown tool: none"):
            client.call_tool("none")
        assert client.findings == []
    assert told == [(1, 2, "1"), (2, 2, "2")]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("revision", [NEW, OLD])
def test_resources_prompts_and_completion(way: str, revision: str) -> None:
    server = FakeServer()
    server.resource("a://text", "hello", mime_type="text/plain", about={"title": "A text"})
    server.resource("a://bytes", b"\x00\x01")
    server.resource("a://fresh", lambda: {"contents": [{"uri": "a://fresh", "text": "made"}]})
    server.resource("a://broken", lambda: str(1 // 0))

    @server.template("a://{day}/notes/{number}", mime_type="text/plain")
    def note(day: str, number: str) -> str:
        """A note."""
        return f"{day}: {number}"

    @server.prompt
    def brief(city: str, tone: str = "dry") -> str:
        """Ask."""
        return f"{city}, {tone}"

    @server.prompt
    def talk() -> list[dict[str, Any]]:
        return [{"role": "assistant", "content": {"type": "text", "text": "yes?"}}]

    server.completion("brief", "city", ["Lima", "Osaka", "Oslo"])
    with reach(server, way, revision) as client:
        assert next((one.uri, one.mime_type) for one in client.list_resources()) == ("a://text", "text/plain")
        assert client.list_resource_templates()[0].description == "A note."
        assert client.read_resource("a://text").text == "hello"
        assert client.read_resource("a://bytes").blob == b"\x00\x01"
        assert client.read_resource("a://fresh").text == "made"
        assert client.read_resource("a://monday/notes/7").text == "monday: 7"
        with pytest.raises(syncline.ServerError, match="ZeroDivisionError"):
            client.read_resource("a://broken")
        missing = syncline.InvalidParams if revision == NEW else syncline.ResourceNotFound
        with pytest.raises(missing, match="No such resource: a://none"):
            client.read_resource("a://none")

        listed = {prompt.name: prompt for prompt in client.list_prompts()}
        assert [(one.name, one.required) for one in listed["brief"].arguments or []] == [
            ("city", True),
            ("tone", False),
        ]
        got = client.get_prompt("brief", {"city": "Oslo"})
        assert (got.description, got.messages[0].to_wire()["content"]["text"]) == ("Ask.", "Oslo, dry")
        assert client.get_prompt("talk").messages[0].role == "assistant"
        for name in ("none", "brief"):
            with pytest.raises(syncline.InvalidParams):
                client.get_prompt(name)
        reference = {"type": "ref/prompt", "name": "brief"}
        found = client.request("completion/complete", {"ref": reference, "argument": {"name": "city", "value": "os"}})
        assert found["completion"]["values"] == ["Osaka", "Oslo"]


def test_schemas_come_from_annotations() -> None:
    server = FakeServer()

    @server.tool
    def every(
        text: str,
        flag: bool,
        ratio: float,
        names: list[str],
        choice: Literal["a", "b"],
        anything: object,
        maybe: int | None = None,
        more: dict[str, int] | None = None,
    ) -> None: ...

    class Mine: ...

    def local(value: Mine, *rest: int, **more: int) -> None: ...

    server.tool(local)

    @server.tool(name="own", description="Mine.", input_schema={"type": "object"}, output_schema={"type": "object"})
    def other(**arguments: object) -> dict[str, object]:
        return arguments

    with server.connect() as client:
        every_tool, local_tool, own = client.list_tools()
        assert client.call_tool("own", {"x": 1}).structured_content == {"x": 1}
    assert every_tool.input_schema["properties"] == {
        "text": {"type": "string"},
        "flag": {"type": "boolean"},
        "ratio": {"type": "number"},
        "names": {"type": "array", "items": {"type": "string"}},
        "choice": {"enum": ["a", "b"]},
        "anything": {},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "more": {"anyOf": [{"type": "object"}, {"type": "null"}]},
    }
    assert every_tool.input_schema["required"] == ["text", "flag", "ratio", "names", "choice", "anything"]
    assert local_tool.input_schema == {"type": "object", "properties": {"value": {}}, "required": ["value"]}
    assert (own.description, own.input_schema, own.output_schema) == ("Mine.", {"type": "object"}, {"type": "object"})


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ("words", {"content": [{"type": "text", "text": "words"}]}),
        (7, {"content": [{"type": "text", "text": "7"}]}),
        (None, {"content": []}),
        ({"n": 1}, {"content": [{"type": "text", "text": '{"n": 1}'}], "structuredContent": {"n": 1}}),
        ({"content": [], "isError": True}, {"content": [], "isError": True}),
        ([{"type": "text", "text": "part"}], {"content": [{"type": "text", "text": "part"}]}),
        (CallToolResult(content=[]), {"content": []}),
    ],
)
def test_what_a_tool_returns_becomes_its_result(value: object, wire: dict[str, object]) -> None:
    server = FakeServer(versions=[OLD])
    server.tool(lambda: value)
    with server.connect() as client:
        got = client.request("tools/call", {"name": "<lambda>"})
    assert {key: got.get(key) for key in wire} == wire


@pytest.mark.parametrize("revision", [NEW, OLD])
@pytest.mark.parametrize("way", WAYS)
def test_a_tool_can_ask(way: str, revision: str) -> None:
    server = FakeServer()
    runs: list[int] = []

    @server.tool
    def order(call: Call) -> str:
        runs.append(1)
        size = call.elicit("Which size?", {"type": "object", "properties": {"size": {"type": "string"}}})
        sure = call.elicit("Sure?", {"type": "object", "properties": {}})
        return f"{size['content']['size']}, {sure['action']}"

    @server.tool
    def roots(call: Call) -> str:
        return json.dumps(call.ask("roots/list", {}))

    answers = {"Which size?": {"size": "XL"}, "Sure?": {}}
    with reach(server, way, revision, on_elicitation=lambda request: answers[request.message]) as client:
        assert client.call_tool("order").text == "XL, accept"
        assert len(runs) == (3 if revision == NEW else 1)
        if revision == OLD:
            with pytest.raises(syncline.ServerError, match="does not offer roots/list"):
                client.call_tool("roots")


@pytest.mark.parametrize("way", WAYS)
def test_failing(way: str) -> None:
    server = sample()
    with reach(server, way) as client:
        server.fail_next("tools/call", code=-32042, message="not today", data={"n": 1}, times=2)
        for _ in range(2):
            with pytest.raises(syncline.ServerError, match="not today") as caught:
                client.call_tool("add", {"a": 1})
            assert (caught.value.code, caught.value.data) == (-32042, {"n": 1})
        assert client.call_tool("add", {"a": 1}).text == '{"sum": 1}'
    assert server.calls("add") == [{"a": 1}] * 3


def test_failing_with_an_http_status() -> None:
    server = sample()
    server.fail_next("tools/call", status=503, headers={"Retry-After": "7"}, message="busy")
    with reach(server, "json") as client:
        with pytest.raises(syncline.HttpStatusError, match="503") as caught:
            client.call_tool("add", {"a": 1})
        assert (caught.value.status, caught.value.body_preview, caught.value.retry_after) == (503, "busy", 7.0)
    server.fail_next("tools/call", status=503)
    with reach(server, "memory") as client, pytest.raises(syncline.ServerError):
        client.call_tool("add", {"a": 1})


@pytest.mark.parametrize("revision", [NEW, OLD])
@pytest.mark.parametrize("way", WAYS)
def test_a_delayed_answer_is_not_worked_on_once_the_caller_has_gone(way: str, revision: str) -> None:
    server = sample()
    server.delay("tools/call", 600)
    with reach(server, way, revision) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("add", {"a": 1}, timeout=0.1)
        server.delay("tools/call", 0.01)
        assert client.call_tool("add", {"a": 2}).text == '{"sum": 2}'


def test_what_was_cancelled_is_not_answered() -> None:
    """Otherwise the client would have to pass over an answer; only ``answer_late`` is for that."""
    server = FakeServer()
    going, done = threading.Event(), threading.Event()

    @server.tool
    def slow(call: Call) -> str:
        assert going.wait(SOON)
        done.set()
        assert call.cancelled
        return "too late"

    trace = io.StringIO()
    with server.connect(trace=trace) as client:
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("slow", timeout=0.1)
        server.wait_for("notifications/cancelled")
        going.set()
        assert done.wait(SOON)
        client.list_tools()
    assert "too late" not in trace.getvalue()
    assert '"method": "tools/list"' in trace.getvalue()


@pytest.mark.parametrize("way", WAYS)
def test_a_dropped_connection(way: str) -> None:
    server = sample()
    with reach(server, way) as client:
        server.drop_connection("tools/call")
        with pytest.raises((syncline.ConnectionLost, OutcomeUnknown)):
            client.call_tool("add", {"a": 1})
        if way != "memory":
            assert client.call_tool("add", {"a": 2}).text == '{"sum": 2}'
    assert server.calls("add")[0] == {"a": 1}


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_is_held_back(way: str) -> None:
    server = sample()
    with reach(server, way) as client:
        late = server.answer_late("tools/call")
        first = Background(lambda: client.call_tool("add", {"a": 1}))
        assert late.arrived(SOON)
        assert client.call_tool("add", {"a": 2}).text == '{"sum": 2}'
        late.release()
        assert first.result().text == '{"sum": 1}'
        assert not server.answer_late("tools/call").arrived(timeout=0)


def test_an_answer_that_comes_too_late_is_sent_all_the_same() -> None:
    server = sample()
    with server.connect() as client:
        late = server.answer_late("tools/call")
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("add", {"a": 1}, timeout=0.1)
        assert server.wait_for("notifications/cancelled").params["requestId"] == server.wait_for("tools/call").id
        late.release()
        assert client.call_tool("add", {"a": 2}).text == '{"sum": 2}'


def test_sessions_expire() -> None:
    server = sample()
    with reach(server, "json", OLD) as client:
        client.call_tool("add", {"a": 1})
        named = server.received[-1].headers["mcp-session-id"]
        server.expire_session()
        assert client.call_tool("add", {"a": 2}).text == '{"sum": 2}'
        assert server.received[-1].headers["mcp-session-id"] != named
    assert [one.method for one in server.received].count("initialize") == 2


def post(url: str, body: bytes, method: str = "POST", **headers: str) -> tuple[int, bytes]:
    """One request without a client."""
    connection = http.client.HTTPConnection(str(urlsplit(url).hostname), urlsplit(url).port, timeout=SOON)
    connection.request(method, "/mcp", body, {"Content-Type": "application/json", "Connection": "close", **headers})
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_http_without_and_with_sessions() -> None:
    """What a handshake client must and must not send."""
    server = sample()
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    with server.http() as url:
        assert post(url, ping)[0] == 400
        assert post(url, ping, **{"Mcp-Session-Id": "none"})[0] == 404
        assert post(url, b"{")[0] == 400
        assert post(url, b"", "GET")[0] == 405
        assert post(url, b"", "DELETE")[0] == 404
    with server.http(sessions=False) as url:
        assert json.loads(post(url, ping)[1])["result"] == {}
        assert post(url, b"[]")[0] == 200
        with syncline.connect(url, protocol_version=OLD) as client:
            assert client.call_tool("add", {"a": 1}).text == '{"sum": 1}'
        assert "mcp-session-id" not in server.received[-1].headers


def test_versions_are_those_that_were_asked_for() -> None:
    with FakeServer(versions=[NEW]) as new, new.connect() as client:
        assert client.protocol_version == NEW
        with pytest.raises(syncline.SynclineError):
            new.connect(protocol_version=OLD)
    with FakeServer(versions=["2025-06-18"]) as old, old.connect() as client:
        assert client.protocol_version == "2025-06-18"
    for versions in ([], ["1999-01-01"]):
        with pytest.raises(ValueError, match="versions are some of"):
            FakeServer(versions=versions)


# Events and changes


class Taken:
    """What an open request brought."""

    def __init__(self, client: syncline.Client, method: str, params: dict[str, object]) -> None:
        self.items: queue.SimpleQueue[Notification | Reply] = queue.SimpleQueue()
        put = self.items.put
        self.channel = Channel(client._session.connection, method, params, on_notice=put, on_end=put)

    def next(self) -> tuple[str, dict[str, Any]]:
        item = self.items.get(timeout=SOON)
        assert isinstance(item, Notification), item
        return item.method.removeprefix("notifications/"), item.params

    def end(self) -> Reply:
        item = self.items.get(timeout=SOON)
        assert isinstance(item, Reply), item
        return item


@pytest.mark.parametrize("way", ["memory", "json"])
def test_event_streams(way: str) -> None:
    server = FakeServer(heartbeat=0.05)
    server.event("made", concerns=lambda arguments, data: data["n"] % arguments["by"] == 0)
    server.emit("made", {"n": 2})
    with reach(server, way) as client:
        stream = Taken(client, "events/stream", {"name": "made", "arguments": {"by": 2}, "cursor": "0"})
        assert stream.next()[0] == "events/active"
        assert stream.next()[1]["data"] == {"n": 2}
        server.emit("made", {"n": 3})
        server.emit("made", {"n": 4}, event_id="four")
        happened = stream.next()
        while happened[0] == "events/heartbeat":
            happened = stream.next()
        assert (happened[1]["eventId"], happened[1]["cursor"], happened[1]["name"]) == ("four", "3", "made")
        assert stream.next() == ("events/heartbeat", {"cursor": "3", "_meta": happened[1]["_meta"]})

        server.terminate("made", -32024, "no more")
        ending = stream.next()
        while ending[0] == "events/heartbeat":
            ending = stream.next()
        assert ending[1]["error"] == {"code": -32024, "message": "no more"}
        assert stream.end().result is not None
        stream.channel.close()
        with pytest.raises(syncline.ServerError, match="no more"):
            client.request("events/poll", {"name": "made"})


def test_event_polls() -> None:
    server = FakeServer()
    server.event("made")
    with server.connect() as client:
        assert [kind["name"] for kind in client.request("events/list")["events"]] == ["made"]
        server.emit("made", {"n": 1})
        first = client.request("events/poll", {"name": "made"})
        assert (first["events"], first["cursor"]) == ([], "1")
        for number in (2, 3):
            server.emit("made", {"n": number})
        batch = client.request("events/poll", {"name": "made", "cursor": "1", "maxEvents": 1})
        assert ([one["data"]["n"] for one in batch["events"]], batch["hasMore"], batch["cursor"]) == ([2], True, "2")
        rest = client.request("events/poll", {"name": "made", "cursor": "2"})
        assert ([one["data"]["n"] for one in rest["events"]], rest["hasMore"], rest["cursor"]) == ([3], False, "3")
        with pytest.raises(syncline.ServerError, match="no such event: none"):
            client.request("events/poll", {"name": "none"})
        with pytest.raises(syncline.InvalidParams):
            client.request("events/poll", {"name": "made", "maxEvents": "1"})


@pytest.mark.parametrize("way", ["memory", "json"])
def test_changes_reach_those_who_listen(way: str) -> None:
    server = sample()
    with reach(server, way, NEW) as client:
        asked = {"toolsListChanged": True, "resourceSubscriptions": ["a://b"]}
        listening = Taken(client, "subscriptions/listen", {"notifications": asked})
        assert listening.next()[1]["notifications"] == asked
        server.changed("prompts")
        server.updated("a://other")
        server.updated("a://b")
        server.changed("tools")
        assert listening.next()[1]["uri"] == "a://b"
        assert listening.next()[0] == "tools/list_changed"
        server.drop_connection()
        assert isinstance(listening.end().error, syncline.ConnectionLost)
        listening.channel.close()


def test_the_streams_of_the_client_work_with_it() -> None:
    """``client.subscribe`` in both eras, ``client.events``, and the subscription manager."""
    server = sample()
    server.event("made")
    for way, revision in itertools.product(WAYS[:2], (NEW, OLD)):
        with reach(server, way, revision) as client, client.subscribe(tools=True) as changes:
            server.changed("tools")
            assert (change := changes.get(timeout=SOON)) is not None
            assert change.kind == "tools_changed"
    for way in WAYS[:2]:
        with reach(server, way) as client, client.events.stream("made") as stream:
            server.emit("made", {"way": way})
            item = stream.get(timeout=SOON)
            while item is not None and item.kind != "event":
                item = stream.get(timeout=SOON)
            assert item is not None
            assert item.data == {"way": way}
    updates: queue.Queue[Any] = queue.Queue()
    with Subscriptions(updates=updates) as subscriptions:
        subscriptions.start("owner", "one", server, "made", {})
        server.emit("made", {"n": 1})
        update = updates.get(timeout=SOON)
        while update.kind != "event":
            update = updates.get(timeout=SOON)
        assert update.params["data"] == {"n": 1}


def test_changes_reach_handshake_clients() -> None:
    server = sample()
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()
    with server.connect(protocol_version=OLD, on_notification=lambda told: heard.put(told.method)):
        server.changed("tools")
        assert heard.get(timeout=SOON) == "notifications/tools/list_changed"


def test_changes_reach_a_handshake_client_that_holds_a_stream_open_over_http() -> None:
    server = sample()
    with server.http() as url, syncline.connect(url, protocol_version=OLD) as client:
        client.list_tools()
        target = urlsplit(url)
        connection = http.client.HTTPConnection(str(target.hostname), target.port, timeout=SOON)
        connection.request("GET", "/mcp", headers={"Mcp-Session-Id": server.received[-1].headers["mcp-session-id"]})
        answer = connection.getresponse()
        assert answer.status == 200
        server.changed("tools")
        assert b"notifications/tools/list_changed" in answer.readline()
        connection.close()


# Tasks


def builder() -> FakeServer:
    server = FakeServer()

    @server.tool(task=True)
    def build(call: Call, target: str) -> str:
        call.progress(1, 2, "compiling")
        if target == "ask":
            target = call.elicit("Which?", {"type": "object", "properties": {}})["action"]
        if target == "forever":
            call.sleep(None)
        if target == "refused":
            raise Refused(-32000, "not that one")
        if target == "broken":
            raise RuntimeError("no compiler")
        return f"built {target}"

    return server


@pytest.mark.parametrize("way", ["memory", "json"])
@pytest.mark.parametrize("revision", [NEW, OLD])
def test_calls_can_become_tasks(way: str, revision: str) -> None:
    with builder() as server, reach(server, way, revision, on_elicitation=lambda _: {}) as client:
        assert client.call_tool("build", {"target": "eu"}).text == "built eu"
        for target, text in (("eu", "built eu"), ("ask", "built accept"), ("broken", "no compiler")):
            task = client.tasks.call("build", {"target": target})
            assert isinstance(task, Task)
            told: list[object] = []
            result = task.wait(on_progress=lambda *news, told=told: told.append(news[2]))
            assert (result.text, result.is_error) == (text, target == "broken")
            assert client.tasks.get(task.id).wait().text == text

        refused = client.tasks.call("build", {"target": "refused"})
        with pytest.raises(syncline.ServerError, match="not that one"):
            refused.wait()  # type: ignore[union-attr]
        stopped = client.tasks.call("build", {"target": "forever"})
        assert isinstance(stopped, Task)
        stopped.cancel()
        with pytest.raises(TaskCancelled):
            stopped.wait()
        with pytest.raises((syncline.InvalidParams, TaskExpired)):
            client.tasks.get("task-0")
        if revision == OLD:
            states = [task.status for task in client.tasks.list()]
            assert states == ["completed", "completed", "failed", "failed", "cancelled"]
            with pytest.raises(syncline.InvalidParams, match="the task was cancelled"):
                client.request("tasks/result", {"taskId": stopped.id})
            with pytest.raises(syncline.InvalidParams, match="the task has ended"):
                client.request("tasks/cancel", {"taskId": stopped.id})


def test_tasks_are_for_those_who_ask_for_them() -> None:
    server = sample()
    with server.connect() as client:
        assert isinstance(client.tasks.call("add", {"a": 1}), CallToolResult)
        with pytest.raises(syncline.MethodNotFound):
            client.tasks.get("task-1")


def test_a_task_ends_with_its_server() -> None:
    with builder() as server, server.connect() as client:
        asking = client.tasks.call("build", {"target": "ask"})
        assert isinstance(asking, Task)
        with pytest.raises(syncline.InputRequired):
            asking.wait()
        asking.respond({"question-1": {"action": "decline"}})
        assert asking.wait().text == "built decline"
        client.tasks.call("build", {"target": "forever"})
        client.tasks.call("build", {"target": "ask"})


# Its life


def test_waiting_for_what_comes_in() -> None:
    server = sample()
    with server.connect() as client:
        later = Background(lambda: server.wait_for("tools/call", count=2))
        for number in (1, 2):
            client.call_tool("add", {"a": number}, meta={"mark": number})
        found = later.result()
        assert (found.params["arguments"], found.meta["mark"], found.headers) == ({"a": 2}, 2, {})
        with pytest.raises(TimeoutError, match="prompts/get did not come 1 times"):
            server.wait_for("prompts/get", timeout=0)


@pytest.mark.parametrize("way", ["memory", "json"])
def test_closing_ends_everything(way: str) -> None:
    """Clients, streams, held requests and tools that wait; afterwards nothing is left of it (the leak guard looks)."""
    with ExitStack() as stack:
        server = sample()

        @server.tool
        def forever(call: Call) -> None:
            call.sleep(None)

        server.event("made")
        client = stack.enter_context(reach(server, way))
        stream = Taken(client, "events/stream", {"name": "made"})
        late = server.answer_late("tools/call")
        calls = [Background(lambda: outcome(lambda: client.call_tool("add", {"a": 1})))]
        assert late.arrived(SOON)
        calls.append(Background(lambda: outcome(lambda: client.call_tool("forever"))))
        server.wait_for("tools/call", count=2)
        stream.next()
        server.close()
        assert {call.result() for call in calls} <= {"ConnectionLost", "OutcomeUnknown"}
        assert stream.end().error is not None
        stream.channel.close()
    if way == "memory":
        with pytest.raises(syncline.ConnectFailed, match="fake: the fake server is closed"):
            server.connect()


def test_one_server_many_clients() -> None:
    server = sample()
    with ExitStack() as stack:
        clients = [stack.enter_context(syncline.connect(server)) for _ in range(3)]
        barrier = threading.Barrier(3)

        def use(client: syncline.Client) -> list[str]:
            barrier.wait(SOON)
            return [client.call_tool("add", {"a": number}).text for number in range(20)]

        used = [Background(lambda client=client: use(client)) for client in clients]  # type: ignore[misc]
        assert [one.result() for one in used] == [[f'{{"sum": {number}}}' for number in range(20)]] * 3
    assert len(server.calls("add")) == 60
    assert repr(server) == "<syncline.testing.FakeServer fake>"


def test_mistakes_of_a_test_are_told() -> None:
    server = FakeServer()
    with pytest.raises(ValueError, match="no event type 'tick': offer it"):
        server.emit("tick", {})
    with pytest.raises(ValueError, match="no event type 'tick': offer it"):
        server.terminate("tick")
    with pytest.raises(ValueError, match="tools, prompts, resources or events, not 'tool'"):
        server.changed("tool")  # type: ignore[arg-type]

    async def forecast() -> str:
        return "sun"

    for offer in (server.tool, server.prompt, server.template("weather://{city}")):
        with pytest.raises(TypeError, match="forecast is a coroutine function"):
            offer(forecast)


def test_a_refusal_is_an_answer_of_the_protocol() -> None:
    server = FakeServer()

    @server.tool
    def secret() -> None:
        raise Refused(-32602, "not for you", {"who": "you"})

    with server.connect() as client, pytest.raises(syncline.InvalidParams, match="not for you") as caught:
        client.call_tool("secret")
    assert caught.value.data == {"who": "you"}

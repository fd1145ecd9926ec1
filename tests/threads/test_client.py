"""The client's requests: what goes out and what comes back; the test plays the server."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pydantic
import pytest

import syncline
from syncline.protocol.revisions import META
from tests.fixtures.partner import Background, Meet, Partner
from tests.fixtures.servers import StdioCommand

ERAS = ["2025-11-25", "2026-07-28"]
COMPLETE = {"resultType": "complete"}
CACHED = {**COMPLETE, "ttlMs": 0, "cacheScope": "private"}
TEXT = {"type": "text", "text": "hello"}


def exchange(
    call: Callable[[], Any], partner: Partner, result: dict[str, Any] | None = None, **members: object
) -> tuple[Any, dict[str, Any]]:
    """Make a call, answer it, and return its outcome with what was sent as params."""
    calling = Background(call)
    request = partner.serve_any({**COMPLETE, **result} if result is not None else None, **members)
    return calling.result(), request


@pytest.mark.parametrize("revision", ERAS)
@pytest.mark.parametrize(
    ("call", "method", "params", "result"),
    [
        (lambda c: c.call_tool("t"), "tools/call", {"name": "t"}, {"content": [TEXT]}),
        (
            lambda c: c.call_tool("t", {"a": None, "b": [1, {"c": "ü"}]}),
            "tools/call",
            {"name": "t", "arguments": {"a": None, "b": [1, {"c": "ü"}]}},
            {"content": []},
        ),
        (
            lambda c: c.read_resource("file:///{x}/../A b"),
            "resources/read",
            {"uri": "file:///{x}/../A b"},
            {"contents": [{"uri": "x:", "text": "t"}], **CACHED},
        ),
        (
            lambda c: c.get_prompt("p", {"tone": "dry"}),
            "prompts/get",
            {"name": "p", "arguments": {"tone": "dry"}},
            {"messages": [{"role": "user", "content": TEXT}]},
        ),
        (
            lambda c: c.complete({"type": "ref/prompt", "name": "p"}, {"name": "a", "value": "v"}, {"b": "w"}),
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "p"},
                "argument": {"name": "a", "value": "v"},
                "context": {"arguments": {"b": "w"}},
            },
            {"completion": {"values": ["vw"]}},
        ),
        (lambda c: c.request("acme/do", {"x": 1}), "acme/do", {"x": 1}, {"y": 2}),
    ],
    ids=["call_tool", "arguments", "read_resource", "get_prompt", "complete", "request"],
)
def test_what_a_request_sends(
    meet: Meet, revision: str, call: Any, method: str, params: dict[str, object], result: dict[str, object]
) -> None:
    """B135: only what was passed goes out, an explicit None stays null. META-1: the envelope is on each request."""
    client, partner = meet(revision)

    outcome, request = exchange(lambda: call(client), partner, result)

    meta = request["params"].pop("_meta", {})
    assert (request["method"], request["params"]) == (method, params)
    if revision == "2026-07-28":
        assert {META + "protocolVersion", META + "clientCapabilities", META + "clientInfo"} <= set(meta)
    else:
        assert set(meta) <= {"progressToken"}
    assert outcome is not None
    assert client.findings == []


def test_results_read_as_documented(meet: Meet) -> None:
    client, partner = meet()
    content = [TEXT, {"type": "image", "data": "aGk=", "mimeType": "image/png"}, {"type": "text", "text": "again"}]

    result, _ = exchange(lambda: client.call_tool("t"), partner, {"content": content, "structuredContent": {"a": 1}})

    assert (result.text, result.structured_content, result.is_error) == ("hello\nagain", {"a": 1}, False)
    result.raise_for_error()


def test_a_failed_tool_is_a_result_that_can_raise(meet: Meet) -> None:
    """TOL-12, in the manner of requests."""
    client, partner = meet()

    result, _ = exchange(lambda: client.call_tool("t"), partner, {"content": [TEXT], "isError": True})

    assert result.is_error
    with pytest.raises(syncline.ToolError, match="hello") as caught:
        result.raise_for_error()
    assert caught.value.result is result


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda c: c.call_tool("t", {"a": float("nan")}), r"arguments\.a"),
        (lambda c: c.call_tool("t", {"a": [object()]}), r"arguments\.a\[0\]"),
        (lambda c: c.call_tool("t", {1: 2}), "arguments"),
        (lambda c: c.call_tool("t", {"a": {2: 3}}), r"arguments\.a"),
        (lambda c: c.call_tool("t", [1]), "arguments must be a mapping, not list"),
        (lambda c: c.call_tool("t", {"a": "\ud800"}), r"arguments\.a"),
        (lambda c: c.call_tool(7), "name of a tool is text"),
        (lambda c: c.call_tool("t", meta="x"), "meta must be a mapping"),
        (lambda c: c.call_tool("t", meta={"a": float("inf")}), r"meta\.a"),
        (lambda c: c.get_prompt("p", {"a": 1}), r"arguments\['a'\] of a prompt must be text"),
        (lambda c: c.request("x/y", {"a": {1, 2}}), r"params\.a"),
        (lambda c: c.notify("x/y", {"a": b"x"}), r"params\.a"),
        (lambda c: c.set_log_level("loud"), "unknown log level 'loud'"),
        (lambda c: c.request("roots/list"), "does not exist in revision"),
        (lambda c: c.request("server/discover"), "does not exist in revision 2025-11-25"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_anything_is(meet: Meet, call: Any, text: str) -> None:
    """Behaviours 4.71, MAL-5: the error names the place, and it is a ValueError too."""
    client, partner = meet()

    with pytest.raises(syncline.LocalProtocolError, match=text) as caught:
        call(client)
    assert isinstance(caught.value, ValueError)
    assert caught.value.server == "partner"
    assert partner.silent()
    assert client._session.connection.engine.pending == {}


def test_meta_travels_beside_the_progress_token(meet: Meet) -> None:
    """Behaviours 4.72, 4.73."""
    client, partner = meet()

    _, request = exchange(lambda: client.call_tool("t", meta={"acme/turn": 1}), partner, {"content": []})

    assert request["params"]["_meta"] == {"acme/turn": 1, "progressToken": request["id"]}


@pytest.mark.parametrize("revision", ERAS)
def test_an_undeclared_listing_is_empty_and_an_undeclared_request_is_refused(meet: Meet, revision: str) -> None:
    """CAP-1: what the server did not declare is not asked for; request() insists."""
    client, partner = meet(revision, capabilities={})

    for listed in (client.list_tools, client.list_resources, client.list_prompts, client.list_resource_templates):
        assert listed() == []
    for pages in (client.iter_tools, client.iter_resources, client.iter_prompts, client.iter_resource_templates):
        assert list(pages()) == []
    with pytest.raises(syncline.LocalProtocolError, match="does not offer tools"):
        client.call_tool("t")
    assert partner.silent()
    raw, _ = exchange(lambda: client.request("tools/call", {"name": "t"}), partner, {"content": []})
    assert raw["content"] == []


def test_completion_needs_no_capability_where_there_was_none(meet: Meet) -> None:
    """2024-11-05 had the method and no capability for it."""
    client, partner = meet("2024-11-05", capabilities={})
    reference = {"type": "ref/prompt", "name": "p"}

    result, _ = exchange(
        lambda: client.complete(reference, {"name": "a", "value": ""}), partner, {"completion": {"values": ["x"]}}
    )

    assert result.completion.values == ["x"]


# Listings


def listing(partner: Partner, *pages: dict[str, Any]) -> list[dict[str, Any]]:
    return [partner.serve_any({**CACHED, **page}) for page in pages]


def tool(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


@pytest.mark.parametrize("revision", ERAS)
def test_all_pages_are_followed(meet: Meet, revision: str) -> None:
    """PAG-7, META-1: the first request has no cursor; the others have theirs, and the envelope."""
    client, partner = meet(revision)
    calling = Background(client.list_tools)
    first, second = listing(
        partner, {"tools": [tool("a")], "nextCursor": ""}, {"tools": [tool("b")], "nextCursor": None}
    )

    assert [found.name for found in calling.result()] == ["a", "b"]
    assert "cursor" not in (first.get("params") or {})
    assert second["params"]["cursor"] == ""
    assert ("_meta" in second["params"]) is (revision == "2026-07-28")


def test_pages_come_as_they_are_needed(meet: Meet) -> None:
    client, partner = meet()
    names = (found.name for found in client.iter_tools())

    first = Background(lambda: next(names))
    listing(partner, {"tools": [tool("a")], "nextCursor": "x"})
    assert first.result() == "a"
    assert partner.silent()
    second = Background(lambda: next(names))
    listing(partner, {"tools": [tool("b")]})
    assert second.result() == "b"
    assert list(names) == []


def test_a_failing_page_fails_the_listing_with_its_own_error(meet: Meet) -> None:
    """Behaviours 3.96, 3.97."""
    client, partner = meet()
    calling = Background(client.list_resources)
    listing(partner, {"resources": [], "nextCursor": "x"})
    partner.serve("resources/list", error={"code": -32602, "message": "bad cursor"})

    with pytest.raises(syncline.InvalidParams, match="partner: resources/list: bad cursor"):
        calling.result()


def test_a_limit_names_the_server_and_the_method(meet: Meet) -> None:
    """Behaviours 3.97."""
    client, partner = meet(limits=syncline.Limits(items=1))
    calling = Background(client.list_prompts)
    listing(partner, {"prompts": [{"name": "a"}, {"name": "b"}]})

    with pytest.raises(syncline.ListingLimit, match="partner: prompts/list: the listing has more than 1 items"):
        calling.result()


def test_a_cursor_that_is_no_text_is_not_the_end(meet: Meet) -> None:
    """Nothing is cut silently."""
    client, partner = meet()
    calling = Background(client.list_tools)
    listing(partner, {"tools": [tool("a")], "nextCursor": 7})

    with pytest.raises(syncline.InvalidResult, match="nextCursor"):
        calling.result()


def test_the_time_is_for_the_whole_listing(meet: Meet) -> None:
    """Behaviours 3.95."""
    client, partner = meet()
    calling = Background(lambda: client.list_tools(timeout=0.3))
    for number in range(2):
        partner.serve("tools/list", {"tools": [tool(str(number))], "nextCursor": str(number)})
    partner.next("tools/list")

    with pytest.raises(syncline.RequestTimeout, match="partner: tools/list"):
        calling.result()


def test_a_listing_is_kept_only_where_that_was_asked_for(meet: Meet) -> None:
    """CCH-4, CCH-6: for as long as the server says, until it says that something changed."""
    client, partner = meet("2026-07-28")
    kept = {**COMPLETE, "ttlMs": 600_000, "cacheScope": "private", "tools": [tool("a")]}

    for _ in range(2):
        calling = Background(client.list_tools)
        partner.serve("tools/list", kept)
        calling.result()
    assert [found.name for found in client.list_tools(cache=True)] == ["a"]
    partner.send(method="notifications/tools/list_changed")
    calling = Background(lambda: client.list_tools(cache=True))
    partner.serve("tools/list", {**kept, "ttlMs": 0})
    calling.result()
    calling = Background(lambda: client.list_tools(cache=True))
    partner.serve("tools/list", kept)
    calling.result()


# Output schemas

SCHEMA = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}


def learned(client: syncline.Client, partner: Partner, schema: object = SCHEMA) -> None:
    calling = Background(client.list_tools)
    listing(partner, {"tools": [tool("add", outputSchema=schema)]})
    calling.result()


def test_structured_content_that_breaks_its_schema_is_an_error_with_the_result(meet: Meet) -> None:
    """TOL-10: the raw result stays reachable."""
    client, partner = meet()
    learned(client, partner)
    calling = Background(lambda: client.call_tool("add"))
    partner.serve("tools/call", {"content": [], "structuredContent": {"sum": "3"}})

    with pytest.raises(syncline.InvalidResult, match=r"partner: tools/call: .*\['sum'\]") as caught:
        calling.result()
    assert isinstance(caught.value.raw, dict)
    assert caught.value.raw["structuredContent"] == {"sum": "3"}


@pytest.mark.parametrize(("mode", "found"), [("warn", ["output-schema"]), ("off", [])])
def test_how_strictly_is_a_choice(meet: Meet, mode: str, found: list[str]) -> None:
    client, partner = meet(validate_output=mode)
    learned(client, partner)

    result, _ = exchange(lambda: client.call_tool("add"), partner, {"content": [], "structuredContent": {"sum": "3"}})

    assert result.structured_content == {"sum": "3"}
    assert [finding.code for finding in client.findings] == found


def test_missing_structured_content_is_a_breach_and_null_is_not_missing(meet: Meet) -> None:
    """TOL-9, TOL-10: in 2026-07-28 null is a value."""
    client, partner = meet("2026-07-28")
    learned(client, partner, {"type": ["object", "null"]})
    calling = Background(lambda: client.call_tool("add"))
    partner.serve("tools/call", {**COMPLETE, "content": [TEXT]})
    with pytest.raises(syncline.InvalidResult, match="no structured content"):
        calling.result()

    result, _ = exchange(lambda: client.call_tool("add"), partner, {"content": [], "structuredContent": None})
    assert result.structured_content is None


def test_a_failed_tool_is_not_held_against_its_schema(meet: Meet) -> None:
    """B137: the real message survives."""
    client, partner = meet()
    learned(client, partner)

    result, _ = exchange(lambda: client.call_tool("add"), partner, {"content": [TEXT], "isError": True})

    assert result.text == "hello"


def test_a_schema_that_cannot_be_used_is_an_error_of_the_call_not_of_the_list(meet: Meet) -> None:
    """B134, JSC-4: it is not taken for permissive; the tool can still be called with another policy."""
    client, partner = meet()
    learned(client, partner, {"$ref": "http://127.0.0.1:1/s.json"})
    calling = Background(lambda: client.call_tool("add"))
    partner.serve("tools/call", {"content": [], "structuredContent": {}})

    with pytest.raises(syncline.InvalidResult, match="output schema of tool 'add' cannot be used"):
        calling.result()


@pytest.mark.parametrize("value", [[1, 2], 7, "text", None])
def test_structured_content_may_be_any_json(meet: Meet, value: object) -> None:
    """B138: as data, in each revision."""
    for revision in ERAS:
        client, partner = meet(revision)
        result, _ = exchange(lambda c=client: c.call_tool("t"), partner, {"content": [], "structuredContent": value})  # type: ignore[misc]
        assert result.structured_content == value


# Results that are not the end


def test_a_question_instead_of_a_result_is_an_error_that_says_so(meet: Meet) -> None:
    """B202 without a handler."""
    client, partner = meet("2026-07-28")
    asked = {"k": {"method": "elicitation/create", "params": {"message": "Sure?"}}}
    calling = Background(lambda: client.call_tool("t"))
    partner.serve("tools/call", {"resultType": "input_required", "inputRequests": asked, "requestState": "S1"})

    with pytest.raises(syncline.InputRequired, match=r"asks for input first \(elicitation/create\)") as caught:
        calling.result()
    assert (caught.value.requests, caught.value.request_state) == (asked, "S1")


@pytest.mark.parametrize(
    ("method", "kind", "error", "text"),
    [
        ("tools/list", "input_required", syncline.UnexpectedMessage, "no place for"),
        ("tools/call", "novel", syncline.InvalidResult, "unknown resultType 'novel'"),
        ("tools/call", 7, syncline.InvalidResult, "resultType"),
    ],
)
def test_a_result_of_an_unknown_kind_is_refused(
    meet: Meet, method: str, kind: object, error: type[syncline.SynclineError], text: str
) -> None:
    """RST-1, RST-3, MAL-3."""
    client, partner = meet("2026-07-28")
    calling = Background(lambda: client.request(method, {"name": "t"} if method == "tools/call" else None))
    partner.serve(method, {"resultType": kind, "content": [], "tools": []})

    with pytest.raises(error, match=text):
        calling.result()


def test_a_handshake_server_may_use_the_name_as_it_likes(meet: Meet) -> None:
    """RST-4: there is no resultType before 2026-07-28."""
    client, partner = meet()

    result, _ = exchange(lambda: client.call_tool("t"), partner, {"content": [], "resultType": "novel"})

    assert result.content == []


def test_the_wrong_kind_of_result_is_refused_with_the_raw_one(meet: Meet) -> None:
    """Behaviours 4.74."""
    client, partner = meet()
    calling = Background(lambda: client.call_tool("t"))
    partner.serve("tools/call", {"tools": []})

    with pytest.raises(syncline.InvalidResult, match="partner: tools/call") as caught:
        calling.result()
    assert caught.value.raw == {"tools": []}


def test_a_request_can_be_read_as_a_model_of_ones_own(meet: Meet) -> None:
    class Weather(pydantic.BaseModel):
        celsius: float

    client, partner = meet()
    result, _ = exchange(lambda: client.request("acme/w", result_type=Weather), partner, {"celsius": 3})
    assert result == Weather(celsius=3)
    calling = Background(lambda: client.request("acme/w", result_type=Weather))
    partner.serve("acme/w", {"celsius": "cold"})
    with pytest.raises(syncline.InvalidResult, match="does not fit Weather") as caught:
        calling.result()
    assert caught.value.raw == {"celsius": "cold"}


# The rest


def test_the_log_level_is_set_once_or_said_each_time(meet: Meet) -> None:
    """LOG-2, LOG-3."""
    client, partner = meet()
    _, request = exchange(lambda: client.set_log_level("error"), partner, {})
    assert (request["method"], request["params"]) == ("logging/setLevel", {"level": "error"})

    client, partner = meet("2026-07-28")
    client.set_log_level("error")
    assert partner.silent()
    _, request = exchange(lambda: client.call_tool("t"), partner, {"content": []})
    assert request["params"]["_meta"][META + "logLevel"] == "error"


def test_ping_and_subscriptions_of_the_handshake_revisions(meet: Meet) -> None:
    client, partner = meet()
    calls: list[tuple[Callable[[], object], str]] = [
        (client.ping, "ping"),
        (lambda: client.subscribe_resource("x:a"), "resources/subscribe"),
        (lambda: client.unsubscribe_resource("x:a"), "resources/unsubscribe"),
    ]
    for call, method in calls:
        outcome, request = exchange(call, partner, {})
        assert (request["method"], outcome) == (method, None)

    modern, partner = meet("2026-07-28")
    with pytest.raises(syncline.LocalProtocolError, match="ping does not exist in revision 2026-07-28"):
        modern.ping()
    with pytest.raises(
        syncline.LocalProtocolError, match=r"resources/subscribe does not exist.*; client\.subscribe\(resources="
    ):
        modern.subscribe_resource("x:a")
    assert partner.silent()


def test_a_notification_of_ones_own(meet: Meet) -> None:
    """Behaviours 4.75."""
    client, partner = meet()
    client.notify("acme/seen", {"id": 3})

    assert partner.next() == {"jsonrpc": "2.0", "method": "acme/seen", "params": {"id": 3}}


def test_a_tool_as_a_function(meet: Meet) -> None:
    client, partner = meet()
    add = client.tool("add")

    result, request = exchange(lambda: add(a=1, b=None), partner, {"content": [TEXT]})

    assert (add.__name__, result.text) == ("add", "hello")
    assert request["params"]["arguments"] == {"a": 1, "b": None}


def test_a_refused_revision_is_corrected_once(meet: Meet) -> None:
    """VER-32, VER-33, B199: also where the list names the one that was refused."""
    client, partner = meet("2026-07-28")
    refusal = {"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"], "requested": "2026-07-28"}}
    calling = Background(lambda: client.call_tool("t"))
    first = partner.serve("tools/call", error=refusal)
    second = partner.serve("tools/call", {**COMPLETE, "content": []})
    calling.result()
    assert first["id"] != second["id"]

    calling = Background(lambda: client.call_tool("t"))
    partner.serve("tools/call", error=refusal)
    partner.serve("tools/call", error=refusal)
    with pytest.raises(syncline.UnsupportedRevision):
        calling.result()


def test_who_we_are_and_what_we_can_is_said(meet: Meet) -> None:
    client, partner = meet("2026-07-28", client_info={"name": "app", "version": "9"})
    _, request = exchange(lambda: client.call_tool("t"), partner, {"content": []})

    assert request["params"]["_meta"][META + "clientInfo"] == {"name": "app", "version": "9"}


def test_a_trace_is_closed_where_nothing_is_reached(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with pytest.raises(syncline.ConnectFailed) as caught:
        syncline.connect("http://127.0.0.1:1/mcp", trace=trace)
    assert caught.value.passing  # the error, and what it holds on to, is still there
    assert not [each for each in Path("/proc/self/fd").iterdir() if os.path.realpath(each) == str(trace)]


def test_the_trace_shows_both_directions_without_secrets(meet: Meet) -> None:
    file = io.StringIO()
    client, partner = meet(trace=file)
    exchange(lambda: client.call_tool("t", {"password": "planted"}), partner, {"content": [TEXT]})
    client.close()

    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [(line["direction"], line["message"].get("method")) for line in lines] == [
        ("sent", "initialize"),
        ("received", None),
        ("sent", "notifications/initialized"),
        ("sent", "tools/call"),
        ("received", None),
    ]
    assert "planted" not in file.getvalue()


@pytest.mark.parametrize(
    "options", [{"protocol_version": "2099-01-01"}, {"validate_output": "maybe"}, {"capabilities": {"a": float("nan")}}]
)
def test_bad_options_are_refused_when_the_client_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"2099|maybe|capabilities"):
        syncline.Client("https://x.example/mcp", **options)


def test_a_bearer_token_comes_from_the_environment_or_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    with pytest.raises(syncline.ConfigError, match="NO_SUCH_TOKEN"):
        syncline.Client(syncline.HttpServer("https://x.example/mcp", bearer_env="NO_SUCH_TOKEN"))


def test_a_token_is_no_authentication_object() -> None:
    with pytest.raises(
        syncline.ConfigError, match="a BearerToken or an authentication object of requests, not str"
    ) as caught:
        syncline.Client("https://x.example/mcp", auth="planted")  # type: ignore[arg-type]
    assert "planted" not in str(caught.value)
    syncline.Client("https://x.example/mcp", auth=("user", "planted"))  # type: ignore[arg-type]  # as in requests


@pytest.mark.parametrize("kind", [syncline.OAuth, syncline.BearerToken])
def test_a_class_is_no_authentication_object(kind: type) -> None:
    with pytest.raises(syncline.ConfigError, match=rf"auth is the class {kind.__name__}, .* {kind.__name__}\(\.\.\.\)"):
        syncline.Client("https://x.example/mcp", auth=kind)  # type: ignore[arg-type]


def test_credentials_for_http_are_refused_for_a_program() -> None:
    from requests.auth import HTTPBasicAuth

    with pytest.raises(syncline.ConfigError, match="auth is for HTTP"):
        syncline.Client("some-program", auth=HTTPBasicAuth("a", "planted-b"))


def test_programs_of_one_name_are_told_apart_by_their_arguments_which_do_not_show() -> None:
    """`npx one` and `npx another` may share a file of event positions."""
    one, again, another = (
        syncline.Client(["npx", "server", "--key", secret])._session.program for secret in ("s1", "s1", "s2")
    )
    assert one == again != another
    assert "s1" not in one
    assert syncline.Client("https://x.example/mcp?key=s1")._session.program == ""


def test_a_server_can_be_given_a_name(stdio_command: StdioCommand) -> None:
    with syncline.Client(stdio_command(), name="weather") as client:
        assert client.name == "weather"
        with pytest.raises(syncline.ServerError) as caught:
            client.call_tool("no-such-tool")
    assert str(caught.value).startswith("weather: tools/call: ")
    with pytest.raises(syncline.ConnectFailed, match=r"^missing: "):
        syncline.Client(["/no/such/program"], name="missing").open()

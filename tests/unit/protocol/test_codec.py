"""What a result becomes, whatever the revision and whatever is wrong with it."""

from __future__ import annotations

import contextlib
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline import types
from syncline.errors import InvalidResult
from syncline.protocol import codec

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = "2026-07-28"
COMPLETE = {"resultType": "complete"}
CACHED = COMPLETE | {"ttlMs": 0, "cacheScope": "private"}
TEXT = {"type": "text", "text": "x"}


class Findings(list[tuple[str, str, object]]):
    """Records; ``found`` are codes and places."""

    def record(self, code: str, place: str, raw: object) -> None:
        self.append((code, place, raw))

    @property
    def found(self) -> list[tuple[str, str]]:
        return [(code, place) for code, place, _ in self]


@pytest.fixture
def findings() -> Findings:
    return Findings()


def tool(name: str = "t", **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


# Well-formed results

WELL_FORMED: dict[str, dict[str, Any]] = {
    "initialize": {"protocolVersion": "x", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
    "ping": {},
    "tools/list": {"tools": [tool(description="d", annotations={"readOnlyHint": True})], "nextCursor": ""},
    "tools/call": {"content": [TEXT, {"type": "image", "data": "AA==", "mimeType": "image/png"}], "isError": False},
    "resources/list": {"resources": [{"uri": "a:b", "name": "n", "size": 3}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "n"}]},
    "resources/read": {"contents": [{"uri": "a", "text": "x"}, {"uri": "b", "blob": "AA=="}]},
    "prompts/list": {"prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}]},
    "prompts/get": {"messages": [{"role": "user", "content": TEXT}], "description": "d"},
    "completion/complete": {"completion": {"values": ["a"], "total": 1, "hasMore": False}},
    "logging/setLevel": {},
}


@pytest.mark.parametrize("revision", HANDSHAKE)
@pytest.mark.parametrize("method", WELL_FORMED)
def test_older_results_become_the_newest_models(method: str, revision: str, findings: Findings) -> None:
    sent = WELL_FORMED[method]
    before = copy.deepcopy(sent)
    lifted = codec.lift(method, sent, revision, findings.record)
    wire = lifted.to_wire()
    assert {key: wire[key] for key in sent} == sent == before
    assert findings == []
    newest = "v2025_11_25" if method == "initialize" else "v2026_07_28"
    assert type(lifted).__module__ == f"syncline_wire.{newest}"


def test_what_older_revisions_leave_out_has_a_meaning(findings: Findings) -> None:
    listed = codec.lift("tools/list", {"tools": []}, "2025-11-25", findings.record)
    assert (listed.result_type, listed.ttl_ms, listed.cache_scope) == ("complete", 0, "private")
    assert codec.ttl_ms(listed) == 0
    assert codec.lift("tools/call", {"content": []}, "2024-11-05", findings.record).is_error is False
    assert findings == []


def test_the_newest_revision_has_to_say_it(findings: Findings) -> None:
    codec.lift("tools/list", {"tools": []}, NEWEST, findings.record)
    codec.lift("tools/call", {"content": []}, NEWEST, findings.record)
    members = ["tools/list: resultType", "tools/list: ttlMs", "tools/list: cacheScope", "tools/call: resultType"]
    assert findings.found == [("missing-member", place) for place in members]


def test_members_that_the_newest_revision_dropped_are_still_there(findings: Findings) -> None:
    sent = {"tools": [tool(execution={"taskSupport": "required"})]}
    lifted = codec.lift("tools/list", sent, "2025-11-25", findings.record)
    assert lifted.tools[0].execution == {"taskSupport": "required"}
    assert findings == []


def test_methods_that_only_extensions_or_nobody_has_can_be_lifted(findings: Findings) -> None:
    task: dict[str, object] = {"taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttlMs": None}
    lifted = codec.lift("tasks/get", {**COMPLETE, **task}, NEWEST, findings.record)
    assert (type(lifted).__module__, lifted.ttl_ms) == ("syncline_wire.tasks", None)
    old = {**task, "ttl": None}
    assert type(codec.lift("tasks/get", old, "2025-11-25", findings.record)).__module__ == "syncline_wire.v2025_11_25"
    assert codec.lift("vendor/thing", {"x": [1]}, "2025-11-25", findings.record).model_extra == {"x": [1]}
    assert findings == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(schema=st.dictionaries(st.text(max_size=3), JSON), meta=st.dictionaries(st.text(max_size=3), JSON), data=JSON)
def test_schemas_metadata_and_structured_content_are_plain_json(
    schema: dict[str, Any], meta: dict[str, Any], data: Any
) -> None:
    """B132: passed through untouched, in the server's order."""
    schema = schema | {"type": "object"}
    sent = tool(inputSchema=schema, outputSchema=schema, _meta=meta)
    findings = Findings()
    lifted = codec.lift("tools/list", CACHED | {"tools": [sent], "_meta": meta}, NEWEST, findings.record)
    assert json.dumps([lifted.tools[0].input_schema, lifted.tools[0].output_schema]) == json.dumps([schema, schema])
    assert json.dumps([lifted.meta, lifted.tools[0].meta]) == json.dumps([meta, meta])
    called = codec.lift("tools/call", COMPLETE | {"content": [], "structuredContent": data}, NEWEST, findings.record)
    assert json.dumps(called.structured_content) == json.dumps(data)
    assert "structured_content" in called.model_fields_set
    assert findings == []


def test_unknown_members_are_no_fault(findings: Findings) -> None:
    """B131: kept wherever they are."""
    sent = {"content": [{**TEXT, "x-new": {"a": None}}], "isError": False, "future": 1, **COMPLETE}
    lifted = codec.lift("tools/call", sent, NEWEST, findings.record)
    assert lifted.to_wire() == sent
    assert findings == []


# Tolerances


def test_null_counts_as_absent(findings: Findings) -> None:
    """B129: null where a member should be absent, at every depth."""
    block = {**TEXT, "annotations": None, "_meta": None}
    sent = {"content": [block], "_meta": None, "isError": None}
    lifted = codec.lift("tools/call", sent, "2025-11-25", findings.record)
    assert lifted.to_wire() == COMPLETE | {"content": [TEXT], "isError": False}
    assert "annotations" not in lifted.content[0].model_fields_set
    places = ["_meta", "isError", "content[0].annotations", "content[0]._meta"]
    assert findings.found == [("null-for-absent", f"tools/call: {place}") for place in places]


def test_a_null_cursor_is_the_end(findings: Findings) -> None:
    """B126: nextCursor null is the same as absent."""
    for method in ("tools/list", "resources/list"):
        lifted = codec.lift(method, WELL_FORMED[method] | {"nextCursor": None}, "2025-11-25", findings.record)
        assert lifted.next_cursor is None
        assert len(lifted.tools if method == "tools/list" else lifted.resources) == 1
    assert [code for code, _ in findings.found] == ["null-for-absent", "null-for-absent"]


def test_null_titles_in_what_is_no_result(findings: Findings) -> None:
    """B129: serverInfo.title null."""
    described = codec.model("Implementation", {"name": "s", "version": "1", "title": None}, findings.record)
    assert (described.name, described.title) == ("s", None)
    assert findings.found == [("null-for-absent", "Implementation: title")]


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "prompts/get", "resources/read", "tools/call"])
def test_a_list_that_is_null_is_empty(method: str, findings: Findings) -> None:
    member = next(name for name, value in WELL_FORMED[method].items() if isinstance(value, list))
    lifted = codec.lift(method, {member: None}, "2025-11-25", findings.record)
    assert lifted.to_wire()[member] == []
    assert findings.found == [("null-for-list", f"{method}: {member}")]


def test_one_bad_tool_does_not_sink_the_others(findings: Findings) -> None:
    """B128: the bad ones are left out, each with a finding that names it; schemas that are merely odd stay."""
    sent = [
        tool("first"),
        tool("null", inputSchema=None),
        {"name": "absent"},
        {"inputSchema": {"type": "object"}},
        tool("ref", inputSchema={"$ref": "#/$defs/X"}),
        tool("string", inputSchema={"type": "string"}),
        "not a tool",
        tool("last"),
    ]
    lifted = codec.lift("tools/list", {"tools": sent}, "2025-11-25", findings.record)
    assert [item.name for item in lifted.tools] == ["first", "ref", "string", "last"]
    left_out = [(place, raw) for code, place, raw in findings if code == "unusable-item"]
    assert [raw for _, raw in left_out] == [sent[1], sent[2], sent[3], sent[6]]
    assert [place.partition(": ")[2] for place, _ in left_out] == [
        "tools[1].inputSchema: Input should be a valid dictionary (null)",
        "tools[2].inputSchema: missing (absent)",
        "tools[3].name: missing",
        "tools[6]: an object is expected",
    ]
    assert [place for code, place, _ in findings if code == "tool-schema"] == ["tools/list: ref", "tools/list: string"]


@pytest.mark.parametrize(
    ("method", "member", "bad"),
    [
        ("resources/list", "resources", {"name": "no uri"}),
        ("resources/templates/list", "resourceTemplates", {"name": "n", "uriTemplate": 5}),
        ("prompts/list", "prompts", {"title": "no name"}),
    ],
)
def test_one_bad_item_does_not_sink_a_listing(method: str, member: str, bad: object, findings: Findings) -> None:
    good = WELL_FORMED[method][member][0]
    lifted = codec.lift(method, {member: [good, bad, good]}, "2025-11-25", findings.record)
    assert lifted.to_wire()[member] == [good, good]
    assert [(code, raw) for code, _, raw in findings] == [("unusable-item", bad)]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "video", "url": "u", "data": None},
        {"type": "text"},
        {"type": "text", "text": 5},
        {"text": "no type"},
        {"type": 7},
        {"type": "image", "data": "AA=="},
    ],
)
def test_content_that_no_model_fits_is_kept_as_it_is(block: dict[str, Any], findings: Findings) -> None:
    lifted = codec.lift("tools/call", {"content": [TEXT, block, TEXT]}, "2025-11-25", findings.record)
    unknown = lifted.content[1]
    assert isinstance(unknown, types.UnknownContent)
    assert unknown.type == (block["type"] if isinstance(block.get("type"), str) else "")
    wire = lifted.to_wire()["content"][1]
    assert {key: wire[key] for key in block if key != "type"} == {key: block[key] for key in block if key != "type"}
    assert lifted.text == "x\nx"
    assert findings == [("unknown-content", "tools/call: content[1]", block)]


def test_content_inside_content(findings: Findings) -> None:
    resource = {"type": "resource", "resource": {"uri": "a:b", "bytes": "new"}}
    lifted = codec.lift("tools/call", {"content": [resource]}, "2025-11-25", findings.record)
    assert lifted.content[0].resource.uri == "a:b"
    assert findings.found == [("unknown-content", "tools/call: content[0].resource")]


def test_a_part_of_a_resource_that_is_neither_text_nor_binary(findings: Findings) -> None:
    lifted = codec.lift(
        "resources/read", {"contents": [{"uri": "a"}, {"uri": "b", "text": "x"}]}, NEWEST, findings.record
    )
    assert isinstance(lifted.contents[0], types.UnknownContent)
    assert (lifted.text, lifted.contents[1].text) == (None, "x")
    assert ("unknown-content", "resources/read: contents[0]") in findings.found


def test_messages_are_never_left_out(findings: Findings) -> None:
    sent = [
        {"role": "system", "content": TEXT},
        {"role": "user", "content": {"type": "hologram"}},
        {"role": "user", "content": "plain"},
        {"role": "user"},
    ]
    lifted = codec.lift("prompts/get", {"messages": sent}, "2025-11-25", findings.record)
    roles = [message.role for message in lifted.messages]
    contents = [message.content for message in lifted.messages]
    assert roles == ["system", "user", "user", "user"]
    assert (contents[0].text, contents[1].type, contents[2], contents[3]) == ("x", "hologram", "plain", None)
    assert [code for code, _ in findings.found] == [
        "unknown-value",
        "unknown-content",
        "unusable-member",
        "unusable-member",
    ]


def test_unknown_values_of_an_enumeration_stay(findings: Findings) -> None:
    annotations = {"audience": ["user", "robot"], "priority": 1}
    sent = CACHED | {"tools": [], "cacheScope": "shared"}
    assert codec.lift("tools/list", sent, NEWEST, findings.record).cache_scope == "shared"
    called = codec.lift(
        "tools/call", {"content": [{**TEXT, "annotations": annotations}]}, "2025-11-25", findings.record
    )
    assert called.content[0].annotations.audience == ["user", "robot"]
    assert findings == [
        ("unknown-value", "tools/list: cacheScope", "shared"),
        ("unknown-value", "tools/call: content[0].annotations.audience[1]", "robot"),
    ]


@pytest.mark.parametrize(("value", "failed"), [("true", True), (1, True), ("false", False), (0, False)])
def test_a_failure_in_another_spelling_is_still_a_failure(value: object, failed: bool, findings: Findings) -> None:
    lifted = codec.lift("tools/call", {"content": [], "isError": value}, "2025-11-25", findings.record)
    assert lifted.is_error is failed
    assert findings == [("wrong-type", "tools/call: isError", value)]


def test_a_whole_number_may_have_a_point(findings: Findings) -> None:
    """5.0 is an integer in JSON Schema (draft 2020-12, 4.2.1), so there is nothing to forgive."""
    lifted = codec.lift(
        "completion/complete", {"completion": {"values": [], "total": 5.0}}, "2025-11-25", findings.record
    )
    assert (lifted.completion.total, findings) == (5, [])


@pytest.mark.parametrize(("member", "value"), [("annotations", []), ("icons", "x"), ("title", {"en": "x"})])
def test_an_optional_member_that_cannot_be_used_is_set_aside(member: str, value: Any, findings: Findings) -> None:
    lifted = codec.lift("tools/list", {"tools": [tool(**{member: value})]}, "2025-11-25", findings.record)
    found = lifted.tools[0]
    assert getattr(found, member) is None
    assert found.model_extra == {member: value}
    assert findings == [("unusable-member", f"tools/list: tools[0].{member}", value)]


def test_a_bound_that_is_broken(findings: Findings) -> None:
    sent = CACHED | {"tools": [], "ttlMs": -1}
    lifted = codec.lift("tools/list", sent, NEWEST, findings.record)
    assert (lifted.ttl_ms, lifted.model_extra) == (0, {"ttlMs": -1})
    assert findings == [("unusable-member", "tools/list: ttlMs", -1)]
    completion = {"values": [str(number) for number in range(101)]}
    lifted = codec.lift("completion/complete", COMPLETE | {"completion": completion}, NEWEST, findings.record)
    assert len(lifted.completion.values) == 101
    assert findings[1:] == [("out-of-bounds", "completion/complete: completion.values", 101)]


def test_an_empty_list_for_an_empty_object(findings: Findings) -> None:
    """B195: [] for {}, as some languages write an empty map; it is told, and it sinks nothing."""
    lifted = codec.model("ServerCapabilities", {"tools": [], "prompts": {}}, findings.record)
    assert lifted.tools is None
    assert lifted.prompts is not None
    assert findings == [("unusable-member", "ServerCapabilities: tools", [])]


def test_a_tool_result_without_content(findings: Findings) -> None:
    lifted = codec.lift("tools/call", {"structuredContent": {"a": 1}}, "2025-11-25", findings.record)
    assert (lifted.content, lifted.text, lifted.structured_content) == ([], "", {"a": 1})
    assert findings.found == [("missing-member", "tools/call: content")]


def test_members_with_names_that_python_uses(findings: Findings) -> None:
    sent = {"content": [{"type": "new", "self": 1, "_fields_set": 2, "model_config": 3}], "_fields_set": 4}
    lifted = codec.lift("tools/call", sent, "2025-11-25", findings.record)
    assert lifted.content[0].model_extra == {"self": 1, "_fields_set": 2, "model_config": 3}
    assert lifted.model_extra == {"_fields_set": 4}


def test_a_log_message_of_an_unknown_level(findings: Findings) -> None:
    message = codec.log_message({"level": "verbose", "data": None}, findings.record)
    assert (message.level, message.data) == ("verbose", None)
    assert findings == [("unknown-value", "notifications/message: level", "verbose")]


# What cannot be repaired


@pytest.mark.parametrize(
    ("method", "result", "problem"),
    [
        ("tools/list", {}, "tools: missing"),
        ("tools/list", {"tools": {}}, "tools: a list is expected"),
        ("tools/call", {"content": "text"}, "content: a list is expected"),
        ("resources/read", {"contents": 5}, "contents: a list is expected"),
        ("initialize", {"capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}, "protocolVersion: missing"),
        (
            "initialize",
            {"protocolVersion": "x", "capabilities": {}, "serverInfo": {"name": "s"}},
            "serverInfo.version: m",
        ),
        ("completion/complete", {"completion": []}, "completion: an object is expected"),
    ],
)
def test_what_is_required_cannot_be_made_up(method: str, result: Any, problem: str, findings: Findings) -> None:
    with pytest.raises(InvalidResult) as caught:
        codec.lift(method, result, "2025-11-25", findings.record)
    assert problem in caught.value.message
    assert caught.value.errors[0].startswith(problem)
    assert caught.value.raw == result


def test_a_result_that_is_no_object(findings: Findings) -> None:
    result: Any = [1]
    with pytest.raises(InvalidResult, match="the result: an object is expected"):
        codec.lift("tools/call", result, "2025-11-25", findings.record)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_whatever_a_server_sends_there_is_a_model_or_an_error(data: st.DataObject) -> None:
    """Any member of any well-formed result replaced by any JSON: nothing but ``InvalidResult`` is raised."""
    method = data.draw(st.sampled_from(sorted(WELL_FORMED)))
    sent = copy.deepcopy(WELL_FORMED[method])
    places = list(walk(sent))
    if places:
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(JSON)
    findings = Findings()
    before = copy.deepcopy(sent)
    with contextlib.suppress(InvalidResult):
        lifted = codec.lift(method, sent, "2025-11-25", findings.record)
        assert repr(lifted)
        assert json.dumps(lifted.to_wire())
    assert sent == before


def walk(node: Any) -> Iterator[tuple[Any, Any]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in list(items):
        yield node, key
        yield from walk(value)


# Before the result is lifted


def test_the_kind_of_a_result_is_read_first() -> None:
    assert codec.result_type({}) == "complete"
    assert codec.result_type({"resultType": "input_required"}) == "input_required"


@pytest.mark.parametrize("kind", [None, 1, ["complete"]])
def test_a_kind_that_is_no_string_is_refused(kind: object) -> None:
    with pytest.raises(InvalidResult, match="resultType"):
        codec.result_type({"resultType": kind})

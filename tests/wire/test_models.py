"""What every module of models holds, whatever the revision."""

from __future__ import annotations

import functools
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaError

import syncline_wire
from syncline_wire.base import NULLABLE, WireModel
from tests.wire.instances import EXTENSIONS, REVISIONS, definitions, instances

MODULES = (*REVISIONS, *EXTENSIONS)
PAGES = {
    "2024-11-05": "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/",
    "2025-03-26": "https://github.com/modelcontextprotocol/modelcontextprotocol/blob/",
    "tasks": "https://modelcontextprotocol.io/extensions/tasks/",
    "events": "https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415",
}
#: Definitions whose class has another name: it would hide ``typing.Annotated``; it is ``pydantic.JsonValue``.
RENAMED = {("2024-11-05", "Annotated"): "AnnotatedModel"}
REPLACED = {("2026-07-28", "JSONValue")}


def classes(module: str) -> Iterator[type[WireModel]]:
    loaded = syncline_wire.load(module)
    for value in vars(loaded).values():
        if inspect.isclass(value) and issubclass(value, WireModel) and value.__module__ == loaded.__name__:
            yield value


def named(module: str, name: str) -> Any:
    return getattr(syncline_wire.load(module), RENAMED.get((module, name), name))


@functools.cache
def adapter(module: str, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(named(module, name))


def strict(module: str, name: str, value: Any) -> Any:
    return adapter(module, name).validate_python(value, strict=True, by_alias=True, by_name=False)


def test_five_revisions_and_two_extensions() -> None:
    assert syncline_wire.REVISIONS == REVISIONS
    assert syncline_wire.EXTENSIONS == EXTENSIONS
    assert syncline_wire.NEWEST == "2026-07-28"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_imported_alone_and_each_of_its_models_can_be_built(module: str) -> None:
    """B189: recursive and forward references, in a fresh interpreter."""
    code = f"""
import sys, syncline_wire
assert not [name for name in sys.modules if name.startswith("syncline_wire.")]
loaded = syncline_wire.load({module!r})
for value in list(vars(loaded).values()):
    if hasattr(value, "model_rebuild") and value.__module__ == loaded.__name__:
        value.model_rebuild()
others = set(syncline_wire.MODULES.values()) & {{name.partition(".")[2] for name in sys.modules}}
print(sorted(others))
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    own = syncline_wire.MODULES[module]
    expected = {own} | ({"v2026_07_28"} if module in EXTENSIONS else set())
    assert run.stderr == ""
    assert run.stdout.strip() == str(sorted(expected))


@pytest.mark.parametrize("module", MODULES)
def test_every_definition_has_a_class_or_an_alias(module: str) -> None:
    missing = [name for name in definitions(module) if (module, name) not in REPLACED and not named(module, name)]
    assert missing == []


@pytest.mark.parametrize("module", MODULES)
def test_every_class_says_what_it_is_and_where_it_is_defined(module: str) -> None:
    page = PAGES.get(module, f"https://modelcontextprotocol.io/specification/{module}/schema#")
    found = list(classes(module))
    assert len(found) >= 15
    for cls in found:
        line, blank, link = inspect.cleandoc(cls.__doc__ or "").split("\n")
        assert line.endswith("."), cls
        assert blank == "", cls
        assert link.startswith(page), cls


@pytest.mark.parametrize("module", REVISIONS[2:])
def test_links_point_at_the_definition_that_holds_the_class(module: str) -> None:
    anchors = {name.lower() for name in definitions(module)}
    assert {(cls.__doc__ or "").strip().rpartition("#")[2] for cls in classes(module)} <= anchors


@pytest.mark.parametrize("module", MODULES)
def test_every_constant_is_a_literal_of_that_value(module: str) -> None:
    """B187: discriminators keep their constants."""
    seen = 0
    for name, node in definitions(module).items():
        for member, child in node.get("properties", {}).items():
            if "const" not in child or (module, name, member) == ("2026-07-28", "ClientNotification", "method"):
                continue
            fields = {field.alias or key: field for key, field in built(named(module, name)).items()}
            annotation = fields[member].annotation
            literal = annotation if get_origin(annotation) is Literal else get_args(annotation)[0]
            assert get_args(literal) == (child["const"],), (name, member)
            seen += 1
    assert seen >= 5


def built(model: Any) -> dict[str, Any]:
    model = getattr(model, "__value__", model)
    model.model_rebuild()
    fields: dict[str, Any] = model.model_fields
    return fields


@pytest.mark.parametrize("code", [-32020, -32021, -32022])
def test_error_codes_are_literals(code: int) -> None:
    names = ("HeaderMismatch", "MissingRequiredClientCapability", "UnsupportedProtocolVersion")
    literals = {get_args(built(named("2026-07-28", name))["code"].annotation) for name in names}
    assert (code,) in literals


def test_members_that_must_be_there_and_may_be_null_are_these() -> None:
    """Such a member must not be left out of the wire because it is null; a new one should be looked at."""
    found = {
        (module, cls.__name__, name)
        for module in MODULES
        for cls in classes(module)
        for name, field in built(cls).items()
        if field.is_required() and field.json_schema_extra == NULLABLE
    }
    tasks = ("CancelTaskResult", "GetTaskResult", "Task", "TaskStatusNotificationParams")
    states = ("CancelledTask", "CompletedTask", "DetailedTask", "FailedTask", "InputRequiredTask", "WorkingTask")
    extension = ("CreateTaskResult", "GetTaskResult", "Task", "TaskStatusNotificationParams", *states)
    assert found == {
        *((revision, "LoggingMessageNotificationParams", "data") for revision in REVISIONS),
        *(("2025-11-25", name, "ttl") for name in tasks),
        *(("tasks", name, "ttl_ms") for name in extension),
        ("events", "SubscribeEventsResult", "refresh_before"),
        ("events", "WebhookGap", "cursor"),
    }


def test_a_null_that_means_something_survives_at_any_depth() -> None:
    task = {"taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": None}
    assert strict("2025-11-25", "ListTasksResult", {"tasks": [task]}).to_wire() == {"tasks": [task]}
    logged = {"level": "info", "data": None}
    assert strict("2026-07-28", "LoggingMessageNotificationParams", logged).to_wire() == logged
    result = strict("2026-07-28", "CallToolResult", {"content": [], "structuredContent": None})
    assert result.to_wire()["structuredContent"] is None
    assert "structured_content" in result.model_fields_set
    assert "structuredContent" not in strict("2026-07-28", "CallToolResult", {"content": []}).to_wire()


def test_none_is_never_sent_for_a_member_that_is_absent() -> None:
    """B129: null is no other word for absent, in what we send."""
    annotations = named("2026-07-28", "Annotations")(audience=None, priority=None)
    assert annotations.to_wire() == {}
    with pytest.raises(ValidationError):
        strict("2026-07-28", "Annotations", {"audience": None})


def test_unknown_members_are_kept() -> None:
    """B131: extra members survive, nulls among them, also those with odd names."""
    block = {"type": "text", "text": "x", "x-new": {"a": None}, "_meta": {"a.b/c": 1, "": None}, "other": None}
    sent = {"content": [block], "isError": False, "resultType": "complete", "future": [1]}
    assert strict("2026-07-28", "CallToolResult", sent).to_wire() == sent


def test_tool_schemas_are_not_touched() -> None:
    """B132: every keyword, in the server's order."""
    schema = {
        "x-ext": 1,
        "type": "object",
        "properties": {"b": {"$ref": "#/$defs/B"}, "a": {"default": None}},
        "$defs": {"B": {"const": 1.0}},
        "additionalProperties": False,
        "if": {"required": ["a"]},
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    }
    sent = {"name": "t", "inputSchema": schema, "outputSchema": schema}
    for revision in REVISIONS:
        tool = strict(revision, "Tool", sent)
        assert json.dumps(tool.input_schema) == json.dumps(schema)
        assert json.dumps(tool.to_wire()["inputSchema"]) == json.dumps(schema)
    assert json.dumps(strict("2026-07-28", "Tool", sent).output_schema) == json.dumps(schema)


def test_members_may_be_called_like_their_class() -> None:
    """B190: a member with the name of a definition does not hide it."""
    tool = {"name": "t", "inputSchema": {}, "annotations": {"title": "T"}}
    assert type(strict("2026-07-28", "Tool", tool).annotations).__name__ == "ToolAnnotations"
    text = {"type": "text", "text": "x", "annotations": {"priority": 1}}
    assert type(strict("2026-07-28", "TextContent", text).annotations).__name__ == "Annotations"
    tasks: dict[str, object] = {"list": {}, "cancel": {}}
    assert strict("2025-11-25", "ServerCapabilities", {"tasks": tasks}).tasks.list == {}


def test_any_json_is_any_json() -> None:
    """B189: the recursive JSON definitions, with the null and the fractions that the published schema lost."""
    deep: dict[str, object] = {"a": [1, 0.5, None, True, "x", {"b": [[]]}]}
    assert strict("2026-07-28", "JSONObject", deep) == deep
    sent = {"tools": {}, "experimental": {"x": deep}, "extensions": {"a/b": {"x": None}}}
    assert strict("2026-07-28", "ServerCapabilities", sent).to_wire() == sent


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("number", [50, 0.5, 50.0])
def test_a_number_stays_what_it_is(revision: str, number: float) -> None:
    sent = {"progressToken": 1, "progress": number}
    name = "ProgressNotification"
    message = strict(revision, name, {"jsonrpc": "2.0", "method": "notifications/progress", "params": sent})
    assert json.dumps(message.to_wire()["params"]["progress"]) == json.dumps(number)


@pytest.mark.parametrize("bad", [True, 1.0, None, [1]])
def test_ids_are_strings_or_integers(bad: object) -> None:
    error = {"jsonrpc": "2.0", "id": bad, "error": {"code": 1, "message": ""}}
    with pytest.raises(ValidationError):
        strict("2026-07-28", "JSONRPCErrorResponse", error)


def test_models_are_built_by_python_names_and_cannot_be_changed() -> None:
    image = named("2026-07-28", "ImageContent")(data="AA==", mime_type="image/png")
    assert image.to_wire() == {"type": "image", "data": "AA==", "mimeType": "image/png"}
    with pytest.raises(ValidationError, match="frozen"):
        image.data = ""


def test_python_names_are_not_wire_names() -> None:
    with pytest.raises(ValidationError, match="inputSchema"):
        strict("2026-07-28", "Tool", {"name": "t", "input_schema": {}})


#: What a model adds because its absence means it.
MEANT = {"resultType", "ttlMs", "cacheScope", "isError"}


def same(sent: Any, wire: Any) -> bool:
    """Equal as JSON, whole numbers still whole; the wire may say more where absence has a meaning."""
    if isinstance(sent, dict) and isinstance(wire, dict):
        return (
            sent.keys() <= wire.keys()
            and wire.keys() - sent.keys() <= MEANT
            and all(same(sent[k], wire[k]) for k in sent)
        )
    if isinstance(sent, list) and isinstance(wire, list):
        return len(sent) == len(wire) and all(map(same, sent, wire))
    return type(sent) is type(wire) and sent == wire


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_the_schema_allows_comes_through_unchanged(module: str, data: st.DataObject) -> None:
    known = [name for name in definitions(module) if (module, name) not in REPLACED]
    name = data.draw(st.sampled_from(known), label="definition")
    sent = data.draw(instances(module, name), label="instance")
    model = strict(module, name, sent)
    wire = adapter(module, name).dump_python(model, mode="json", exclude_none=True, by_alias=True)
    assert same(sent, wire), wire


CORRUPTIONS: tuple[object, ...] = (None, 3.5, {"x": 1}, [[]], "?")


@pytest.mark.parametrize("module", MODULES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_required_member_of_another_type_is_refused(module: str, data: st.DataObject) -> None:
    known = [name for name, node in definitions(module).items() if typed(node)]
    name = data.draw(st.sampled_from(known), label="definition")
    node = definitions(module)[name]
    sent = data.draw(instances(module, name), label="instance")
    member = data.draw(st.sampled_from(typed(node)), label="member")
    wrong = data.draw(st.sampled_from(CORRUPTIONS).filter(lambda value: not isinstance(value, str)), label="wrong")
    with pytest.raises(ValidationError):
        strict(module, name, sent | {member: wrong})


def typed(node: dict[str, Any]) -> list[str]:
    """Required members that are plain strings."""
    members = node.get("properties", {})
    return [name for name in node.get("required", ()) if members.get(name, {}).get("type") == "string"]


@pytest.mark.parametrize(
    ("said", "raised"), [("KeyboardInterrupt: ", KeyboardInterrupt), ("no such type", SchemaError)]
)
def test_ctrl_c_while_a_model_is_built(monkeypatch: pytest.MonkeyPatch, said: str, raised: type[BaseException]) -> None:
    """pydantic's core makes an error of its own of it; afterwards the model can still be built."""

    class Model(WireModel):
        name: str

    def build(*_: object, **__: object) -> None:
        raise SchemaError(
            f"Error building `model` serializer:\n  SchemaError: Error building `str` serializer:\n  {said}"
        )

    with monkeypatch.context() as patch:
        patch.setattr("pydantic._internal._model_construction.SchemaSerializer", build)
        with pytest.raises(raised) as caught:
            Model.model_rebuild()
        assert type(caught.value) is raised
    assert Model(name="x").to_wire() == {"name": "x"}

"""``syncline.types``: one set of models for users."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import syncline_wire
from syncline import types
from syncline.errors import ToolError
from syncline_wire.neutral import HOMES


def test_the_door_costs_nothing_until_a_name_is_used() -> None:
    code = """
import sys
import syncline.types as types
heavy = [name for name in sys.modules if name == "pydantic" or name.startswith("syncline_wire.")]
assert not heavy, heavy
types.TextContent
print(sorted(name for name in sys.modules if name.startswith("syncline_wire.v")))
types.InitializeResult
print(sorted(name for name in sys.modules if name.startswith("syncline_wire.v")))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "['syncline_wire.v2026_07_28']",
        "['syncline_wire.v2025_11_25', 'syncline_wire.v2026_07_28']",
    ]


def test_each_name_comes_from_the_newest_revision_that_has_it() -> None:
    for revision in syncline_wire.REVISIONS:
        module = syncline_wire.load(revision)
        for name, home in HOMES.items():
            if hasattr(module, name) and home != "base":
                assert home >= module.__name__.rpartition(".")[2]
    assert all(getattr(types, name) is not None for name in HOMES)
    assert types.Tool.__module__ == "syncline_wire.v2026_07_28"
    assert set(HOMES) <= set(dir(types))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'syncline\.types' has no attribute 'Toool'"):
        _ = types.Toool


def result(**members: object) -> types.CallToolResult:
    return types.CallToolResult.model_validate({"content": [], **members})


def test_the_text_of_a_result_is_its_text_parts() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "", "mimeType": ""},
        {"type": "text", "text": "b"},
    ]
    assert result(content=parts).text == "a\nb"
    assert result().text == ""


def test_a_failed_tool_raises_when_asked_to() -> None:
    result().raise_for_error()
    assert result().is_error is False
    failed = result(isError=True, content=[{"type": "text", "text": "no such city"}])
    with pytest.raises(ToolError, match="no such city") as caught:
        failed.raise_for_error()
    assert caught.value.result is failed


def read(*parts: dict[str, str]) -> types.ReadResourceResult:
    return types.ReadResourceResult.model_validate({"contents": parts})


def test_a_resource_is_read_through_its_first_part() -> None:
    text, blob = {"uri": "a", "text": "x"}, {"uri": "b", "blob": "aGk="}
    assert (read(text, blob).text, read(text, blob).blob) == ("x", None)
    assert (read(blob, text).text, read(blob, text).blob) == (None, b"hi")
    assert (read().text, read().blob) == (None, None)
    assert read({"uri": "b", "blob": ""}).blob == b""


def test_what_is_not_base64_is_refused_when_it_is_read() -> None:
    broken = read({"uri": "b", "blob": "not base64!"})
    with pytest.raises(ValueError, match=r"[Bb]ase64|base64"):
        _ = broken.blob


def test_models_can_be_pickled_and_compared() -> None:
    one = result(content=[{"type": "text", "text": "a", "x-new": 1}])
    assert pickle.loads(pickle.dumps(one)) == one

"""Wrong inputs: one line that names the file and the place, exit status 1, nothing written."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from tools.codegen.__main__ import main

NEWEST = "2026-07-28"


def complaint(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    assert main(list(command)) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


def generated(schema: Path, capsys: pytest.CaptureFixture[str]) -> str:
    out = schema.parent / "out"
    line = complaint(capsys, "--schema", str(schema), "generate", "--out", str(out))
    assert not out.exists()
    return line


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_reduction_that_was_edited_by_hand(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(schema / NEWEST / "schema.json", '"private"', '"secret"')
    line = generated(schema, capsys)
    assert f"{NEWEST}/schema.json: sha256 is" in line
    assert "pins.toml" in line


def test_a_fix_that_is_no_longer_needed(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(schema / NEWEST / "overlay.toml", '["string", "integer", "boolean"]', '["string", "boolean"]')
    line = generated(schema, capsys)
    assert (
        f"{NEWEST}/overlay.toml: /$defs/ElicitResult/properties/content/additionalProperties/anyOf/1/type: exp" in line
    )


def test_a_fix_with_a_pointer_into_nothing(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(
        schema / NEWEST / "overlay.toml", "/$defs/Tool/properties/inputSchema", "/$defs/Toll/properties/inputSchema"
    )
    assert f"{NEWEST}/overlay.toml: /$defs/Toll/properties/inputSchema: the pointer" in generated(schema, capsys)


def test_a_definition_without_a_line(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(schema / "docs.toml", "Annotations =", "Anotations =")
    assert "docs.toml: /definitions/Anotations: describes nothing" in generated(schema, capsys)
    replace(schema / "docs.toml", 'Anotations = "Hints', '# "Hints')
    assert "schema.json: /$defs/Annotations: has no line" in generated(schema, capsys)


def test_a_line_for_a_member_that_is_gone(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(schema / "docs.toml", '"Tool.inputSchema"', '"Tool.inputShema"')
    assert "docs.toml: /members/Tool.inputShema: describes nothing" in generated(schema, capsys)


@pytest.mark.parametrize("file", ["pins.toml", "names.toml", f"{NEWEST}/overlay.toml"])
def test_a_table_that_is_no_table(file: str, schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (schema / file).write_text("a = = b")
    assert f"{file}: not TOML: " in generated(schema, capsys)


@pytest.mark.parametrize("file", ["docs.toml", f"{NEWEST}/schema.json", f"{NEWEST}/overlay.toml"])
def test_a_file_that_is_missing(file: str, schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (schema / file).unlink()
    assert f"{file}: No such file or directory" in generated(schema, capsys)


def test_a_pin_with_an_unknown_key(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replace(schema / "pins.toml", "repository =", "repo =")
    assert "pins.toml: /2024-11-05: unknown keys ['repo']" in generated(schema, capsys)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("<html>", "not JSON"),
        ("[]", "the document is not an object"),
        ('{"openapi": "3.1.0"}', "not a JSON schema"),
        ('{"$defs": {"A": {"type": "object", "dependentSchemas": {}}}}', "/$defs/A/dependentSchemas"),
    ],
)
def test_adding_what_is_no_schema(content: str, what: str, schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = schema.parent / "published.json"
    file.write_text(content)
    line = complaint(capsys, "--schema", str(schema), "add", str(file), "2027-01-01")
    assert line.startswith(str(file))
    assert what in line
    assert not (schema / "2027-01-01").exists()


def test_adding_what_is_there_or_has_no_date(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is pinned already" in complaint(capsys, "--schema", str(schema), "add", "x.json", NEWEST)
    assert "is not a revision" in complaint(capsys, "--schema", str(schema), "add", "x.json", "next")
    assert "x.json: No such file" in complaint(capsys, "--schema", str(schema), "add", "x.json", "2027-01-01")


def test_reducing_another_file_than_the_pinned_one(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = schema.parent / "published.json"
    file.write_text(json.dumps({"$defs": {"A": {"type": "string"}}}))
    before = (schema / NEWEST / "schema.json").read_bytes()
    assert "published.json: sha256 is" in complaint(capsys, "--schema", str(schema), "reduce", str(file), NEWEST)
    assert "no such pin" in complaint(capsys, "--schema", str(schema), "reduce", str(file), "1999-01-01")
    assert (schema / NEWEST / "schema.json").read_bytes() == before


def test_an_address_that_does_not_answer(schema: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as refusing:  # bound, but not listening
        refusing.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{refusing.getsockname()[1]}/schema.json"
        line = complaint(capsys, "--schema", str(schema), "add", address, "2027-01-01")
    assert line.startswith(f"{address}: cannot be fetched")

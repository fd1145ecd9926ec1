"""JSON with comments and trailing commas."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline import ConfigError
from syncline.manager.configfiles import jsonc
from syncline.manager.configfiles.document import JsonDocument, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
LINES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12)
COMMENTS = LINES.map(lambda text: f"//{text}\n") | st.text('/*"\\,[]{} \na', max_size=12).filter(
    lambda text: "*/" not in text
).map(lambda text: f"/*{text}*/")
#: Pieces of which text is made that looks like JSON, and often is none.
PIECES = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"',
        '"a"',
        "\\",
        "//",
        "/*",
        "*/",
        "\n",
        "1",
        "-",
        "1e999",
        "null",
        "NaN",
        "x",
        "\ud800",
    ]
)


@given(VALUES, st.sampled_from([None, 0, 2]))
def test_text_without_comments_has_the_value_that_json_gives(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert jsonc.read(text) == (json.loads(text), text)


@given(VALUES, st.data())
def test_comments_and_trailing_commas_change_no_value(value: object, data: st.DataObject) -> None:
    """They are put between all tokens; what looks like one within a string is none."""
    tokens = [match[0] for match in jsonc._TOKEN.finditer(json.dumps(value)) if not match[0].isspace()]
    parts = []
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token in "]}" and before not in "[{" and data.draw(st.booleans()):
            parts.append(",")
        parts += [data.draw(COMMENTS | st.just("")), token]
    text = "".join([*parts, data.draw(COMMENTS | st.just(""))])

    found, plain = jsonc.read(text)

    assert found == value
    assert json.loads(plain) == value
    assert len(plain) == len(text)
    assert plain.count("\n") == text.count("\n")


def fault(read: Callable[[], object]) -> str | None:
    """What reading says, if it refuses. Nothing of the text goes along as a cause."""
    try:
        read()
    except ConfigError as error:
        return error.message if error.__context__ is None else "it shows its cause"
    return None


@given(st.text() | st.lists(PIECES).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    said = fault(lambda: jsonc.read(text))
    assert said is None or said.startswith("line ")
    try:
        json.loads(text)
    except ValueError:
        return
    assert said is None


@given(st.binary() | st.lists(PIECES).map(lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for name in ("mcp.json", "config.toml"):
        said = fault(partial(parse, name, content))
        assert said is None or said.startswith(f"{name}, line ")


@pytest.mark.parametrize(
    "text", ["[,]", "{,}", "[1,,]", '{"a":,}', "[1 2]", "1/**/2", "{,,}", "[1,],", "// only a comment"]
)
def test_a_comma_is_trailing_only_after_a_value(text: str) -> None:
    with pytest.raises(ConfigError):
        jsonc.read(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ('{\n  // a comment\n  "a": 1,\n  /* two\n lines */ "b" 2\n}', 5),
        ('{"a": "no end', 1),
        ("[" * 200_000, 1),
        ("1" * 5000, 1),
    ],
    ids=["comma", "after comments", "no end", "deep", "long"],
)
def test_errors_name_the_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=rf"^line {line}\b"):
        jsonc.read(text)


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), VALUES, max_size=3), max_size=4), st.data())
def test_every_key_is_found_on_its_line(value: dict[str, dict[str, object]], data: st.DataObject) -> None:
    head = data.draw(COMMENTS | st.just("\n\n"))
    document = parse("mcp.json", (head + json.dumps(value, indent=1)).encode("utf-8", "surrogatepass"))
    assert isinstance(document, JsonDocument)
    line = head.count("\n") + 1
    for key, inner in value.items():
        line += 1
        assert document.line(key) == line
        for name, held in inner.items():
            line += 1
            assert document.line(key, name) == line
            assert document.line(key, name, "\0 not there") is None
            line += json.dumps(held, indent=1).count("\n")
        line += 1 if inner else 0
    assert list(document.twice(below=2)) == []


def test_other_encodings_that_json_has_had() -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        assert parse("mcp.json", '{"ä": 1}'.encode(encoding)).data == {"ä": 1}
    assert parse("mcp.json", b" \n").data == {}

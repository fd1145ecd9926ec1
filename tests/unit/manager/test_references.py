"""References in values."""

from __future__ import annotations

from typing import Any

import pytest

from syncline import ConfigError
from syncline.manager.configfiles.envfile import parse
from syncline.manager.configfiles.formats import BARE, ENV, FOLDER, FORMATS, INPUT, PLAIN
from syncline.manager.configfiles.inputs import Answers, Asked, Input
from syncline.manager.configfiles.references import Surroundings, Unusable, resolve

DECLARED = [
    {"type": "promptString", "id": "key", "description": "The key", "password": True},
    {"type": "pickString", "id": "size", "options": ["S", {"label": "big", "value": "L"}], "default": "S"},
    {"type": "promptString"},
    "no use",
]


def around(*forms: str, answers: Answers = None) -> Surroundings:
    return Surroundings(
        frozenset(forms),
        {"TOKEN": "secret", "EMPTY": "", "TRICK": "${TOKEN}", "workspaceFolder": "not this"},
        {"workspaceFolder": "/work", "/": "/"},
        Asked(DECLARED, answers),
    )


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (PLAIN, "Bearer ${TOKEN}", "Bearer secret"),
        (PLAIN, "${TOKEN}${TOKEN}", "secretsecret"),
        (PLAIN, "${EMPTY}", ""),
        (PLAIN, "${MISSING:-other}", "other"),
        (PLAIN, "${MISSING:-}", ""),
        (PLAIN, "${MISSING:-a:-b}", "a:-b"),
        (PLAIN, "${TOKEN:-other}", "secret"),
        (PLAIN, "${EMPTY:-other}", ""),  # set is set
        (PLAIN, "${TRICK}", "${TOKEN}"),  # and not looked at again
        (PLAIN, "$TOKEN ${} ${1} ${a b} ${ $", "$TOKEN ${} ${1} ${a b} ${ $"),
        (PLAIN, "${env:TOKEN} ${input:key}", "${env:TOKEN} ${input:key}"),
        (ENV, "${env:TOKEN}/${TOKEN}", "secret/${TOKEN}"),
        (ENV, "${env:MISSING:-other}", "other"),
        (FOLDER, "${workspaceFolder}${/}a ${userHome}", "/work/a ${userHome}"),
        (BARE, "$TOKEN-$MISSING pa$$word ${TOKEN}", "secret-$MISSING pa$$word ${TOKEN}"),
    ],
)
def test_a_form_is_resolved_where_a_program_knows_it(form: str, text: str, expected: str) -> None:
    assert resolve(text, around(form)) == expected
    assert resolve(text, around()) == text


def test_references_are_resolved_in_lists_and_objects_and_not_in_keys() -> None:
    assert resolve({"${TOKEN}": ["${TOKEN}", 7, None]}, around(PLAIN)) == {"${TOKEN}": ["secret", 7, None]}


def test_a_folder_comes_before_a_variable() -> None:
    assert resolve("${workspaceFolder}", around(PLAIN, FOLDER)) == "/work"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${MISSING}", "the environment variable MISSING is not set"),
        ("${env:MISSING}", "the environment variable MISSING is not set"),
        ("${MISSING:-${TOKEN}}", "the default of the environment variable MISSING may not hold another reference"),
        ("${EMPTY:-${TOKEN}}", "may not hold another reference"),  # set or not
        (
            "${input:key}",
            r"the input 'key' has no answer; load_config\(\) takes inputs={'key': \.\.\.}, and .* a terminal",
        ),
        ("${input:undeclared}", "the input 'undeclared' has no answer"),
    ],
)
def test_what_stands_for_nothing_is_said(text: str, reason: str) -> None:
    with pytest.raises(Unusable, match=reason) as caught:
        resolve([text, "${TOKEN}"], around(PLAIN, ENV, INPUT))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("answers", [{"key": 5}, lambda wanted: True])
def test_an_answer_is_text(answers: Any) -> None:
    with pytest.raises(ConfigError, match=r"the answer to the input 'key' must be text, not (int|bool)"):
        resolve("${input:key}", around(INPUT, answers=answers))


def test_inputs_are_answered_by_a_mapping_or_have_a_default() -> None:
    assert resolve("${input:key} ${input:size}", around(INPUT, answers={"key": "k"})) == "k S"
    assert resolve("${input:size}", around(INPUT, answers={"size": "L"})) == "L"


def test_inputs_are_asked_for_once_and_only_when_they_are_needed() -> None:
    asked: list[Input] = []

    def answer(wanted: Input) -> str | None:
        asked.append(wanted)
        return "k" if wanted.password else None

    surroundings = around(INPUT, answers=answer)
    assert asked == []
    assert resolve(["${input:key}", "${input:key}", "${input:size}"], surroundings) == ["k", "k", "S"]
    assert asked == [
        Input("key", "The key", password=True),
        Input("size", options=("S", "L"), default="S"),
    ]
    assert "default" not in repr(asked[1])


def test_secrets_are_not_shown() -> None:
    assert "secret" not in repr(around(PLAIN))


def test_what_each_program_resolves() -> None:
    assert {name: sorted(form.references) for name, form in FORMATS.items()} == {
        "mcp": ["env", "folder", "input", "plain"],
        "claude-project": ["env", "folder", "input", "plain"],
        "claude-code": ["plain"],
        "claude-desktop": [],
        "vscode": ["env", "folder", "input"],
        "cursor": ["env", "folder"],
        "windsurf": ["env"],
        "gemini": ["bare", "plain"],
        "codex": [],
    }


def test_files_of_variables() -> None:
    text = """
# a comment
A=plain text   # a comment
export B = "two\\nlines, \\"quoted\\" # not a comment"
C='single $B # as it is'
D=
E=a#b
F.G-H="x" # after
I=#nothing
"""
    assert parse(text, ".env") == {
        "A": "plain text",
        "B": 'two\nlines, "quoted" # not a comment',
        "C": "single $B # as it is",
        "D": "",
        "E": "a#b",
        "F.G-H": "x",
        "I": "",
    }


@pytest.mark.parametrize("line", ["no equals", "=secret", "a b=c"])
def test_a_line_of_something_else_is_named_and_not_shown(line: str) -> None:
    with pytest.raises(Unusable, match=r"the envFile \.env, line 2: expected NAME=value") as caught:
        parse(f"A=1\n{line}\n", ".env")
    assert line not in str(caught.value)

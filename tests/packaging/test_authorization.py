"""The list of requirements about authorization and its checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks import authorization

TESTS = '''
def test_one():
    """T-1, RFC 6749: and what it is about."""

def helper():
    """T-2."""

def test_two():
    """T-1."""
'''
HEAD = """# Authorization

<!-- counts -->
<!-- end of counts -->

| id | level | what | note | shown by |
|---|---|---|---|---|
"""
FINE = """\
| T-1 | MUST | this |  |  |
| T-2 | MUST | that | later: login (all of it) |  |
| T-3 | MAY | more | no test: there is nothing to do |  |
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(authorization, "SECTIONS", {"T": 3})
    (tmp_path / "unit" / "auth").mkdir(parents=True)
    (tmp_path / "unit" / "auth" / "test_a.py").write_text(TESTS)
    (tmp_path / "unit" / "test_other.py").write_text(TESTS.replace("T-1", "T-3"))
    return tmp_path


def test_every_requirement_has_a_test_or_a_note() -> None:
    assert authorization.main(str(Path(__file__).parents[1])) == 0


def test_there_are_as_many_requirements_as_there_were() -> None:
    assert sum(authorization.SECTIONS.values()) == 155


def test_tests_and_counts_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "AUTHORIZATION.md"
    file.write_text(HEAD + FINE)
    assert authorization.main(str(folder)) == 1
    told = capsys.readouterr().err
    assert "T-1 does not list the tests that name it" in told
    assert "--write puts them there" in told
    assert authorization.main(str(folder), "--write") == 0
    assert (
        "| T-1 | MUST | this |  | `unit/auth/test_a.py::test_one`<br>`unit/auth/test_a.py::test_two` |\n"
        in file.read_text()
    )
    assert (
        "| MUST | 2 | 1 | 0 | 1 | 0 |\n| MAY | 1 | 0 | 0 | 0 | 1 |\n| all | 3 | 1 | 0 | 1 | 1 |\n<!-- end"
        in file.read_text()
    )
    assert authorization.main(str(folder)) == 0


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| T-3 | MAY | more |  |  |", "T-3 has neither a test nor a note that says why"),
        ("| T-3 | MAY | more | no test: why |  |", "T-3 has neither a test nor a note that says why"),
        ("| T-3 | MAY | more | later: login |  |", "T-3 has neither a test nor a note that says why"),
        ("", "missing, too many or out of order: T-3"),
        (FINE.splitlines()[1], "missing, too many or out of order: T-3"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, capsys: pytest.CaptureFixture[str], row: str, problem: str) -> None:
    (folder / "AUTHORIZATION.md").write_text(HEAD + "".join(FINE.splitlines(keepends=True)[:2]) + row + "\n")
    assert authorization.main(str(folder), "--write") == 1
    [told] = capsys.readouterr().err.splitlines()
    assert told == problem


def test_a_note_that_is_not_true_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "AUTHORIZATION.md").write_text(
        HEAD + FINE.replace("this |  |", "this | no test: there is nothing to do |")
    )
    assert authorization.main(str(folder), "--write") == 1
    [told] = capsys.readouterr().err.splitlines()
    assert told == "T-1 has a test, and its note says that it has none"


def test_the_order_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third = FINE.splitlines(keepends=True)
    (folder / "AUTHORIZATION.md").write_text(HEAD + second + first + third)
    assert authorization.main(str(folder), "--write") == 1
    assert capsys.readouterr().err == "missing, too many or out of order: the order\n"

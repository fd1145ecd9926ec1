"""The list of behaviours and its checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks import behaviours

TESTS = '''
def test_one():
    """9.01, 9.02: and what it is about, within 0.5 s."""

def helper():
    """9.03"""

def test_two():
    pass  # 9.03
'''
HEAD = """# Behaviours

<!-- counts -->
<!-- end of counts -->

## 9: the tests of this file

| statement | what it promises | shown by |
|---|---|---|
"""
FINE = """\
| 9.01 | it begins | `behaviours/test_a.py::test_one` |
| 9.02 | it goes on | `behaviours/test_a.py::test_one`<br>later: recovery (for ever) |
| 9.03 | it ends | not kept: nothing here ever ends, see 9.02 |
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(behaviours, "STATEMENTS", {"9": "01-03"})
    (tmp_path / "behaviours").mkdir()
    (tmp_path / "behaviours" / "test_a.py").write_text(TESTS)
    return tmp_path


def test_every_statement_has_a_test_or_a_reason() -> None:
    assert behaviours.main(str(Path(__file__).parents[1])) == 0


def test_sections_have_as_many_statements_as_they_had() -> None:
    sizes = {
        section: len(set(behaviours.required(numbers, section))) for section, numbers in behaviours.STATEMENTS.items()
    }
    many = {"3A": 28, "3B": 16, "3C": 9, "3D": 24, "3E": 8, "3F": 9, "3G": 9, "3H": 3}
    assert sizes == {
        **many,
        "1": 33,
        "2": 52,
        "3I": 14,
        "4D": 7,
        "4E": 10,
        "4F": 10,
        "4G": 6,
        "4H": 4,
        "4I": 12,
        "4N": 3,
    }
    assert list(behaviours.required("124-125 130", "3I")) == ["3.124", "3.125", "3.130"]


def test_the_counts_are_written_and_held_against_the_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "behaviours" / "BEHAVIOURS.md"
    file.write_text(HEAD + FINE)
    assert behaviours.main(str(folder)) == 1
    assert "--write puts them there" in capsys.readouterr().err
    assert behaviours.main(str(folder), "--write") == 0
    assert "| all | 3 | 1 | 1 | 0 | 1 |\n<!-- end" in file.read_text()
    assert behaviours.main(str(folder)) == 0
    file.write_text(file.read_text().replace("| all | 3", "| all | 4"))
    assert behaviours.main(str(folder)) == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| 9.03 | it ends | nothing |", "9.03 has a test, or says why"),
        ("| 9.03 | it ends | not kept: no |", "9.03 has a test, or says why"),
        ("| 9.03 | it ends | later: recovery |", "9.03 has a test, or says why"),
        ("| 9.03 |  | later: recovery (all) |", "9.03 does not say what it is about"),
        ("| 9.03 | it ends | `none.py::test_one` |", "9.03: there is no none.py::test_one"),
        ("| 9.03 | it ends | `behaviours/test_a.py::helper` |", "9.03: there is no behaviours/test_a.py::helper"),
        (
            "| 9.03 | it ends | `behaviours/test_a.py::test_two` |",
            "9.03: behaviours/test_a.py::test_two does not name it",
        ),
        ("", "9.03 is not listed under 9"),
        ("## 8: others\n| 9.03 | it ends | later: recovery (all) |", "9.03 is not listed under 9"),
        (FINE.splitlines()[2] + "\n" + FINE.splitlines()[0], "9.01 is listed twice"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, capsys: pytest.CaptureFixture[str], row: str, problem: str) -> None:
    rows = "".join(FINE.splitlines(keepends=True)[:2])
    (folder / "behaviours" / "BEHAVIOURS.md").write_text(HEAD + rows + row + "\n")
    assert behaviours.main(str(folder), "--write") == 1
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(problem)


def test_a_test_that_is_not_listed_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = folder / "behaviours" / "test_a.py"
    source.write_text(TESTS + 'def test_three():\n    """9.03: it does end."""\n')
    (folder / "behaviours" / "BEHAVIOURS.md").write_text(HEAD + FINE)
    assert behaviours.main(str(folder), "--write") == 1
    assert capsys.readouterr().err == "9.03: behaviours/test_a.py::test_three names it and is not listed\n"

"""The list of field reports and its checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks import field_reports

TESTS = '''
import pytest

@pytest.mark.parametrize("x", [
    1,  # B002
])
def test_one(x):
    """B001: and what it is about."""

def helper():
    """B003."""

def test_two():
    pass  # B003
'''
HEAD = """# Field reports

<!-- counts -->
<!-- end of counts -->

### Pipes (STDIO)

| id | reported in | what went wrong there | what is right | shown by |
|---|---|---|---|---|
"""
FINE = """\
| B001 | a/b#1 | it hung | it ends | `test_a.py::test_one` |
| B002 | a/b#2, a/c#3 | it fell | it stands | `test_a.py::test_one`<br>later: recovery (standing up) |
| B003 | a/b#4 | it was not there | it is there | later: recovery (all of it) |
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(field_reports, "REPORTS", {"STDIO": "001 002 003"})
    (tmp_path / "test_a.py").write_text(TESTS)
    return tmp_path


def test_every_report_has_a_test_or_a_later_part() -> None:
    assert field_reports.main(str(Path(__file__).parents[1])) == 0


def test_the_classes_have_as_many_reports_as_they_had() -> None:
    sizes = {kind: len(numbers.split()) for kind, numbers in field_reports.REPORTS.items()}
    assert sum(sizes.values()) == 125
    assert len({number for numbers in field_reports.REPORTS.values() for number in numbers.split()}) == 125


def test_the_counts_are_written_and_held_against_the_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "FIELD_REPORTS.md"
    file.write_text(HEAD + FINE)
    assert field_reports.main(str(folder)) == 1
    assert "--write puts them there" in capsys.readouterr().err
    assert field_reports.main(str(folder), "--write") == 0
    assert "| all | 3 | 1 | 1 | 1 |\n<!-- end" in file.read_text()
    assert field_reports.main(str(folder)) == 0
    file.write_text(file.read_text().replace("| all | 3", "| all | 4"))
    assert field_reports.main(str(folder)) == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("| B003 | a/b#4 | x | y | nothing |", "B003 has neither a test nor a later part"),
        ("| B003 | a/b#4 | x | y | later: recovery |", "B003 has neither a test nor a later part"),
        ("| B003 | a/b#4 | x | y | `test_none.py::test_one` |", "B003: there is no test_none.py::test_one"),
        ("| B003 | a/b#4 | x | y | `test_a.py::helper` |", "B003: there is no test_a.py::helper"),
        ("| B003 | a/b#4 | x | y | `test_a.py` |", "B003: there is no test_a.py"),
        ("| B003 | a/b#4 | x | y | `test_a.py::test_two` |", "B003: test_a.py::test_two does not name it"),
        (
            "| B003 | a/b#4 | x | later: a part (all) |",
            "B003 does not tell where it comes from, what went wrong and what",
        ),
        ("", "B003 is not listed under STDIO"),
        ("### Others (PROC)\n| B003 | a/b#4 | x | y | later: a part (all) |", "B003 is not listed under STDIO"),
        (FINE.splitlines()[2] + "\n" + FINE.splitlines()[0], "B001 is listed twice"),
    ],
)
def test_what_is_wrong_is_told(folder: Path, capsys: pytest.CaptureFixture[str], row: str, problem: str) -> None:
    (folder / "FIELD_REPORTS.md").write_text(HEAD + "".join(FINE.splitlines(keepends=True)[:2]) + row + "\n")
    assert field_reports.main(str(folder), "--write") == 1
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(problem)

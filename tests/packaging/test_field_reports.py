"""The list of field reports and its checker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks import field_reports

TABLE = """
## Pipes (STDIO)

| id | reported in | what is right | shown by |
|---|---|---|---|
| B001 | a/b#1 | it ends | `test_a.py` |
| B002 | a/b#2, a/c#3 | it waits | later: a part |
| B003 | a/b#4 | nobody shows it | `test_a.py`, `test_none.py` |
| B003 | a/b#4 | twice | - |
"""
TESTS = '''
def test_one():
    """B001."""

def helper():
    """B003."""
'''


def test_every_report_has_a_test_or_a_later_part(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[1]
    assert field_reports.main(str(root)) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("all")


def test_what_is_wrong_with_a_list_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(TESTS)
    found = list(field_reports.entries(TABLE))
    assert field_reports.problems(found, tmp_path) == [
        "B003 has neither a test nor a later part",
        "B003: no test in test_a.py names it",
        "B003: no test in test_none.py names it",
        "B003 is listed twice",
    ]
    assert field_reports.counts(found) == [
        "STDIO    4 reports   2 tested   1 later",
        "all      4 reports   2 tested   1 later",
    ]

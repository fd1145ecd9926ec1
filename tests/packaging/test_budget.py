"""What `import syncline` may load, what the package may depend on, and what the wheel may hold."""

from __future__ import annotations

from pathlib import Path

import pytest

import syncline
import syncline_wire
from tools.checks import coverage, surface, totals, wheel
from tools.checks.importtime import imported, over_budget

PACKAGE = Path(syncline.__file__).parent
WHOLE = [
    "syncline/__init__.py",
    "syncline/py.typed",
    "syncline_wire/__init__.py",
    "syncline_wire/py.typed",
    "syncline-0.1.0.dist-info/METADATA",
    "syncline-0.1.0.dist-info/licenses/LICENSE",
    "syncline-0.1.0.dist-info/licenses/NOTICE",
]


def test_import_leaves_for_later_what_is_used_later() -> None:
    names = [module.name for module in imported("syncline")]
    assert "syncline" in names
    assert list(over_budget(names)) == []


def test_the_budget_sees_what_it_forbids() -> None:
    assert list(over_budget(["json", "requests.adapters", "syncline_wire", "syncline_wire.v2025_11_25"])) == [
        "requests.adapters",
        "syncline_wire.v2025_11_25",
    ]


def test_every_import_is_declared_and_every_declaration_is_used() -> None:
    core = surface.outside(PACKAGE, without="cli") | surface.outside(Path(syncline_wire.__file__).parent)
    cli = surface.outside(PACKAGE / "cli")
    declared = surface.declared()
    always = {name for name, extra in declared.items() if not extra}
    assert core - always == {name for name, extra in declared.items() if extra == "jwt"}
    assert always <= core
    assert cli - always == {name for name, extra in declared.items() if extra == "cli"}


@pytest.mark.parametrize("missing", [name for name in WHOLE if "METADATA" not in name])
def test_a_wheel_that_lacks_a_file_is_refused(missing: str) -> None:
    assert list(wheel.problems(WHOLE)) == []
    assert len(list(wheel.problems(name for name in WHOLE if name != missing))) == 1


@pytest.mark.parametrize(
    "stray", ["tests/test_x.py", "tools/x.py", "schema/pins.toml", "syncline/notes.txt", "sdk/x.py"]
)
def test_a_wheel_that_holds_a_stray_file_is_refused(stray: str) -> None:
    assert len(list(wheel.problems([*WHOLE, stray]))) == 1


def test_coverage_is_counted_by_room() -> None:
    summary = {"covered_lines": 3, "num_statements": 4, "missing_lines": 1, "percent_covered": 75.0}
    branches = {"covered_branches": 1, "num_branches": 2, "missing_branches": 1}
    report = {
        "files": {
            "sdk/syncline/client.py": {"summary": {**summary, **branches}},
            "sdk/syncline/protocol/a.py": {"summary": {**summary, **branches}},
            "sdk/syncline/protocol/b.py": {"summary": {**summary, **branches}},
        }
    }
    rooms = coverage.rooms(report)
    assert {name: (room["covered_lines"], room["missing_branches"]) for name, room in rooms.items()} == {
        "": (3, 1),
        "protocol": (6, 2),
    }


def test_totals_add_up_over_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert totals.main(str(tmp_path)) == 1
    suite = '<testsuites><testsuite tests="{}" failures="{}" errors="{}" skipped="{}"/></testsuites>'
    (tmp_path / "a.xml").write_text(suite.format(10, 0, 0, 1))
    assert totals.main(str(tmp_path)) == 0
    (tmp_path / "b.xml").write_text(suite.format(5, 1, 1, 0))
    assert totals.main(str(tmp_path)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "12 passed, 2 failed, 1 skipped"


def test_totals_name_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.xml").write_text(
        '<testsuites><testsuite tests="2" failures="1">'
        '<testcase classname="tests.test_a" name="test_good"/>'
        '<testcase classname="tests.test_a" name="test_bad"><failure message="assert 1 == 2&#10; more">long</failure></testcase>'
        "</testsuite></testsuites>"
    )
    assert totals.main(str(tmp_path)) == 1
    assert "  tests.test_a::test_bad: assert 1 == 2\n" in capsys.readouterr().out

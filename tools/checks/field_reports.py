"""Hold tests/FIELD_REPORTS.md against the tests: `python -m tools.checks.field_reports [FOLDER]` checks and counts.

Each line names the test files that stand for a report, or the later part that it belongs to. A file counts if the
report's id is in the docstring of one of its tests, or of the module.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADING = re.compile(r"## (?P<title>.+) \((?P<kind>[A-Z]+)\)")
LINE = re.compile(r"\| (?P<id>B\d{3}) \| (?P<source>.+) \| (?P<right>.+) \| (?P<shown>.+) \|")
LATER = "later: "


@dataclass(frozen=True)
class Entry:
    """One report: its class, its id, and the files that show it or the part that it waits for."""

    kind: str
    ident: str
    files: tuple[str, ...]
    later: str


def entries(text: str) -> Iterator[Entry]:
    kind = ""
    for line in text.splitlines():
        if heading := HEADING.fullmatch(line):
            kind = heading["kind"]
        elif found := LINE.fullmatch(line):
            shown = found["shown"]
            later = shown.removeprefix(LATER) if shown.startswith(LATER) else ""
            yield Entry(kind, found["id"], tuple(re.findall(r"`([^`]+)`", shown)), later)


def named_in(source: str) -> set[str]:
    """The ids in the docstrings of a module and its tests."""
    module = ast.parse(source)
    tests = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    nodes: list[ast.Module | ast.FunctionDef] = [module, *tests]
    return {ident for node in nodes for ident in re.findall(r"\bB\d{3}\b", ast.get_docstring(node) or "")}


def problems(found: list[Entry], tests: Path) -> list[str]:
    names: dict[str, set[str]] = {}
    wrong = [
        f"{entry.ident} has neither a test nor a later part" for entry in found if not entry.files and not entry.later
    ]
    for entry in found:
        for file in entry.files:
            if file not in names:
                path = tests / file
                names[file] = named_in(path.read_text(encoding="utf-8")) if path.is_file() else set()
            if entry.ident not in names[file]:
                wrong.append(f"{entry.ident}: no test in {file} names it")
    idents = [entry.ident for entry in found]
    return wrong + [f"{ident} is listed twice" for ident in sorted({i for i in idents if idents.count(i) > 1})]


def counts(found: list[Entry]) -> list[str]:
    """A line for each class, and one for all."""
    rows = []
    for kind in [*dict.fromkeys(entry.kind for entry in found), "all"]:
        chosen = [entry for entry in found if kind in (entry.kind, "all")]
        tested, later = (sum(map(bool, column)) for column in zip(*((e.files, e.later) for e in chosen), strict=True))
        rows.append(f"{kind:<6} {len(chosen):>3} reports {tested:>3} tested {later:>3} later")
    return rows


def main(folder: str = "tests") -> int:
    tests = Path(folder)
    found = list(entries((tests / "FIELD_REPORTS.md").read_text(encoding="utf-8")))
    print("\n".join(counts(found)))
    wrong = problems(found, tests)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

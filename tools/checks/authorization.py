"""Hold tests/AUTHORIZATION.md against the tests: `python -m tools.checks.authorization [--write] [FOLDER]`.

Every requirement below has a row, and every row has tests that name it in their docstring, or says in its note what it waits for
or why there is no test; see `rows`. The tests of a row are what this finds, and `--write` puts them there, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .rows import LATER, check, named

#: Section → how many requirements it has.
SECTIONS = {
    "T": 5, "W": 9, "P": 9, "M": 8, "I": 4, "B": 8, "R": 6, "C": 10, "S": 7, "A": 7, "L": 5, "V": 5, "K": 5, "F": 7, "X": 6,
    "G": 5, "Z": 12, "H": 5, "CC": 10, "EM": 10, "WI": 5, "DP": 7,
}  # fmt: skip
#: What the path of a test has in it if its docstrings name requirements of these.
PLACES = ("auth", "identity", "login", "refresh")
ROW = re.compile(
    r"\| (?P<id>[A-Z]{1,2}-\d+) \| (?P<level>[^|]+) \| (?P<what>[^|]+) \| (?P<note>[^|]*) \| (?P<shown>[^|]*) \|"
)
NOT_TESTED = re.compile(r"no test: \w.{10,}")
NAME = re.compile(r"\b[A-Z]{1,2}-\d+\b")


@dataclass(frozen=True)
class Requirement:
    """One row: its id, how binding it is, what it asks, what is said about it, and the tests that it lists."""

    ident: str
    level: str
    what: str
    note: str
    shown: str

    @property
    def later(self) -> bool:
        """Whether it waits for something."""
        return bool(LATER.search(self.note))


def requirements(text: str) -> list[Requirement]:
    """The rows."""
    rows = map(ROW.fullmatch, text.splitlines())
    return [Requirement(row["id"], *(cell.strip() for cell in row.groups()[1:])) for row in rows if row]


def showing(tests: Path) -> dict[str, list[str]]:
    """Requirement → the tests that name it."""
    found: dict[str, list[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        place = path.relative_to(tests).as_posix()
        if any(part in place for part in PLACES):
            for test, idents in named(path, NAME).items():
                for ident in idents:
                    found.setdefault(ident, []).append(f"`{place}::{test}`")
    return found


def problems(found: list[Requirement], shown: dict[str, list[str]]) -> Iterator[str]:
    """What is wrong, one sentence each."""
    idents = [each.ident for each in found]
    expected = [f"{section}-{number}" for section, count in SECTIONS.items() for number in range(1, count + 1)]
    if idents != expected:
        yield f"missing, too many or out of order: {' '.join(sorted(set(idents) ^ set(expected))) or 'the order'}"
    for each in found:
        tests = shown.get(each.ident, [])
        if not tests and not each.later and not NOT_TESTED.search(each.note):
            yield f"{each.ident} has neither a test nor a note that says why"
        if tests and NOT_TESTED.search(each.note):
            yield f"{each.ident} has a test, and its note says that it has none"
        if each.shown != "<br>".join(tests):
            yield f"{each.ident} does not list the tests that name it; --write does that"


def counts(found: list[Requirement], shown: dict[str, list[str]]) -> str:
    """The table of counts: a line for each level, and one for all."""
    lines = ["| level | requirements | shown | shown, more later | later | no test |", "|---|---|---|---|---|---|"]
    for level in [*dict.fromkeys(each.level for each in found), "all"]:
        chosen = [each for each in found if level in (each.level, "all")]
        tested = [each for each in chosen if each.ident in shown]
        partly = sum(each.later for each in tested)
        later = sum(each.later for each in chosen) - partly
        untested = len(chosen) - len(tested) - later
        lines.append(f"| {level} | {len(chosen)} | {len(tested) - partly} | {partly} | {later} | {untested} |")
    return "\n".join(lines) + "\n"


def filled(text: str, tests: Path) -> str:
    """The file with the tests of each row."""
    shown, lines = showing(tests), []
    for line in text.splitlines():
        row = ROW.fullmatch(line)
        lines.append(f"{line[: row.start('shown')]}{'<br>'.join(shown.get(row['id'], []))} |" if row else line)
    return "\n".join(lines) + "\n"


def examine(text: str, tests: Path) -> tuple[str, list[str]]:
    found, shown = requirements(text), showing(tests)
    return counts(found, shown), list(problems(found, shown))


def main(*arguments: str) -> int:
    return check(__doc__, "AUTHORIZATION.md", examine, *arguments, fill=filled)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Hold tests/behaviours/BEHAVIOURS.md against the tests: `python -m tools.checks.behaviours [--write] [FOLDER]`.

Every statement of the sections below has a row, and every row names tests that name the statement, says in a line why it is
not kept, or names the later part that it waits for; see `rows`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .rows import LATER, check, named, repeated, untrue

#: Section → its statements: the number before the dot, and those after it. Other sections may be in the file.
STATEMENTS = {
    "1": "01-33",
    "2": "01-38 40-53",
    "3A": "01-28",
    "3B": "30-45",
    "3C": "50-58",
    "3D": "60-83",
    "3E": "90-97",
    "3F": "100-108",
    "3G": "110-118",
    "3H": "120-122",
    "3I": "130-143",
    "4D": "50-56",
    "4E": "60-69",
    "4F": "70-79",
    "4G": "80-85",
    "4H": "90-93",
    "4I": "100-111",
    "4N": "190-192",
}
HEADING = re.compile(r"## (?P<section>\w+): .+")
ROW = re.compile(r"\| (?P<id>\d\.\d{2,3}) \| (?P<cells>.+) \|")
NOT_KEPT = re.compile(r"not kept: \w.{10,}")
TEST = re.compile(r"`([^`]+\.py::[^`]+)`")
NAME = re.compile(r"\b\d\.\d{2,3}\b")


@dataclass(frozen=True)
class Behaviour:
    """One row: its section and id, what is promised, the tests that it names, and whether it is not kept, or waits."""

    section: str
    ident: str
    promise: str
    tests: tuple[str, ...]
    not_kept: bool
    later: bool


def behaviours(text: str) -> Iterator[Behaviour]:
    section = ""
    for line in text.splitlines():
        if heading := HEADING.fullmatch(line):
            section = heading["section"]
        elif row := ROW.fullmatch(line):
            promise, _, shown = row["cells"].partition(" | ")
            tests = tuple(TEST.findall(shown))
            yield Behaviour(
                section, row["id"], promise.strip(), tests, bool(NOT_KEPT.search(shown)), bool(LATER.search(shown))
            )


def required(numbers: str, section: str) -> Iterator[str]:
    """The ids of a section: ``required("01-03 05", "2I")`` gives 2.01, 2.02, 2.03 and 2.05."""
    for part in numbers.split():
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield f"{section[0]}.{number:0{len(first)}}"


def problems(found: list[Behaviour], tests: Path) -> list[str]:
    """What is wrong, one sentence each."""
    wrong = repeated(behaviour.ident for behaviour in found)
    sections = {behaviour.ident: behaviour.section for behaviour in found}
    for section, numbers in STATEMENTS.items():
        wrong += [
            f"{ident} is not listed under {section}"
            for ident in required(numbers, section)
            if sections.get(ident) != section
        ]
    for behaviour in found:
        if not behaviour.promise:
            wrong.append(f"{behaviour.ident} does not say what it is about")
        if bool(behaviour.tests) == behaviour.not_kept and not behaviour.later:
            wrong.append(f"{behaviour.ident} has a test, or says why it is not kept, or names a later part")
    listed = [(behaviour.ident, test) for behaviour in found for test in behaviour.tests]
    files = {file: named(tests / file, NAME) for file in dict.fromkeys(test.partition("::")[0] for _, test in listed)}
    wrong += untrue(listed, files)
    for file, functions in files.items():
        wrong += [
            f"{ident}: {file}::{name} names it and is not listed"
            for name, idents in functions.items()
            for ident in sorted(idents & set(sections))
            if (ident, f"{file}::{name}") not in listed
        ]
    return wrong


def counts(found: list[Behaviour]) -> str:
    """The table of counts: a line for each section, and one for all."""
    lines = ["| section | statements | shown | shown, more later | later | not kept |", "|---|---|---|---|---|---|"]
    groups = {section: {section} for section in dict.fromkeys(behaviour.section for behaviour in found)}
    groups |= {"all": set(groups)}
    for name, sections in groups.items():
        chosen = [behaviour for behaviour in found if behaviour.section in sections]
        whole = sum(bool(behaviour.tests) and not behaviour.later for behaviour in chosen)
        partly = sum(bool(behaviour.tests) and behaviour.later for behaviour in chosen)
        not_kept = sum(behaviour.not_kept for behaviour in chosen)
        later = len(chosen) - whole - partly - not_kept
        lines.append(f"| {name} | {len(chosen)} | {whole} | {partly} | {later} | {not_kept} |")
    return "\n".join(lines) + "\n"


def examine(text: str, tests: Path) -> tuple[str, list[str]]:
    found = list(behaviours(text))
    return counts(found), problems(found, tests)


def main(*arguments: str) -> int:
    return check(__doc__, "behaviours/BEHAVIOURS.md", examine, *arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

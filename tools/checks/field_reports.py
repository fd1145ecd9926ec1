"""Hold tests/FIELD_REPORTS.md against the tests: `python -m tools.checks.field_reports [--write] [FOLDER]`.

Every report of the classes below has a row, and every row names tests that name the report, or the later part that it waits
for; see `rows`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .rows import LATER, check, named, repeated, untrue

#: Class → the reports that must be in the file, B and three digits each. Other classes may be.
REPORTS = {
    "HANG": "001 003 004 006 007 009 010 012 013",
    "SSE": "015 017 018 020 021 023 024 026 027 029 030 032",
    "RECON": "033 035 036 038 039 041 042 044",
    "HTTP": "054 056 057 059 060 062 063 065 066 068 069",
    "NET": "070 072 073 075 076 078 079",
    "STDIO": "081 083 084 086 087 089 090",
    "PROC": "091 093 094 096 097 099",
    "RPC": "114 116 117 119 120 122",
    "LIST": "123 125 126 128",
    "MODEL": "129 131 132 134 135 137 138",
    "ERA": "196 198 199 201 202",
    "RETRY": "172 174 175 177 178 180",
    "SESS": "045 047 048 050 051 053",
    "THREAD": "100 102 103 105 106 108 109 111 112",
    "AUTH": "139 141 142 144 145 147 148 150 151 153 154 156 157 159 160 162 163",
    "CRED": "165 167 168 170 171",
}
HEADING = re.compile(r"### .+ \((?P<kind>[A-Z]+)\)")
ROW = re.compile(r"\| (?P<id>B\d{3}) \| (?P<cells>.+) \|")
TEST = re.compile(r"`([^`]+)`")
NAME = re.compile(r"\bB\d{3}\b")


@dataclass(frozen=True)
class Report:
    """One row: its class and id, the tests that it names, whether a later part completes it, and the rest of its cells."""

    kind: str
    ident: str
    tests: tuple[str, ...]
    later: bool
    told: tuple[str, ...]


def reports(text: str) -> Iterator[Report]:
    kind = ""
    for line in text.splitlines():
        if heading := HEADING.fullmatch(line):
            kind = heading["kind"]
        elif row := ROW.fullmatch(line):
            *told, shown = row["cells"].split(" | ")
            yield Report(kind, row["id"], tuple(TEST.findall(shown)), bool(LATER.search(shown)), tuple(told))


def problems(found: list[Report], tests: Path) -> list[str]:
    """What is wrong, one sentence each."""
    wrong = repeated(report.ident for report in found)
    kinds = {report.ident: report.kind for report in found}
    for kind, numbers in REPORTS.items():
        wrong += [
            f"B{number} is not listed under {kind}" for number in numbers.split() if kinds.get(f"B{number}") != kind
        ]
    for report in found:
        if not report.tests and not report.later:
            wrong.append(f"{report.ident} has neither a test nor a later part")
        if len(report.told) != 3 or not all(map(str.strip, report.told)):
            wrong.append(f"{report.ident} does not tell where it comes from, what went wrong and what is right")
    listed = [(report.ident, test) for report in found for test in report.tests]
    files = {test.partition("::")[0] for _, test in listed}
    return [*wrong, *untrue(listed, {file: named(tests / file, NAME, decorators=True) for file in files})]


def counts(found: list[Report]) -> str:
    """The table of counts: a line for each class, one for those that must be there, and one for all."""
    lines = ["| class | reports | shown | shown, more later | later |", "|---|---|---|---|---|"]
    groups = {kind: {kind} for kind in dict.fromkeys(report.kind for report in found)}
    groups |= {"those that must be here": set(REPORTS), "all": set(groups)}
    for name, kinds in groups.items():
        chosen = [report for report in found if report.kind in kinds]
        whole = sum(bool(report.tests) and not report.later for report in chosen)
        partly = sum(bool(report.tests) and report.later for report in chosen)
        lines.append(f"| {name} | {len(chosen)} | {whole} | {partly} | {len(chosen) - whole - partly} |")
    return "\n".join(lines) + "\n"


def examine(text: str, tests: Path) -> tuple[str, list[str]]:
    found = list(reports(text))
    return counts(found), problems(found, tests)


def main(*arguments: str) -> int:
    return check(__doc__, "FIELD_REPORTS.md", examine, *arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

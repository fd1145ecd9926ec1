"""Hold tests/FIELD_REPORTS.md against the tests: `python -m tools.checks.field_reports [--write] [FOLDER]`.

Every report of the classes below has a row, and every row names tests that name the report, or the later part that it waits
for. The table of counts in the file is what this prints; `--write` puts it there.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
LATER = re.compile(r"later: \w[^()]* \([^()]+\)")
TEST = re.compile(r"`([^`]+)`")
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*(?=<!-- end of counts -->)", re.DOTALL)


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


def named(source: str) -> dict[str, set[str]]:
    """Test → the reports that its docstring or its parameters name."""
    lines = source.splitlines()
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            text = "\n".join([*lines[first - 1 : node.lineno - 1], ast.get_docstring(node) or ""])
            found[node.name] = set(re.findall(r"\bB\d{3}\b", text))
    return found


def problems(found: list[Report], tests: Path) -> list[str]:
    """What is wrong, one sentence each."""
    idents = [report.ident for report in found]
    wrong = [f"{ident} is listed twice" for ident in sorted({ident for ident in idents if idents.count(ident) > 1})]
    kinds = {report.ident: report.kind for report in found}
    for kind, numbers in REPORTS.items():
        wrong += [
            f"B{number} is not listed under {kind}" for number in numbers.split() if kinds.get(f"B{number}") != kind
        ]
    files: dict[str, dict[str, set[str]]] = {}
    for report in found:
        if not report.tests and not report.later:
            wrong.append(f"{report.ident} has neither a test nor a later part")
        if len(report.told) != 3 or not all(map(str.strip, report.told)):
            wrong.append(f"{report.ident} does not tell where it comes from, what went wrong and what is right")
        for test in report.tests:
            file, _, name = test.partition("::")
            if file not in files:
                path = tests / file
                files[file] = named(path.read_text(encoding="utf-8")) if path.is_file() else {}
            if name not in files[file]:
                wrong.append(f"{report.ident}: there is no {test}")
            elif report.ident not in files[file][name]:
                wrong.append(f"{report.ident}: {test} does not name it")
    return wrong


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


def main(*arguments: str) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("tests"))
    parser.add_argument("--write", action="store_true", help="put the table of counts into the file")
    options = parser.parse_args(arguments)
    file: Path = options.folder / "FIELD_REPORTS.md"
    text = file.read_text(encoding="utf-8")
    found = list(reports(text))
    table = counts(found)
    print(table, end="")
    wrong = problems(found, options.folder)
    if options.write:
        file.write_text(COUNTS.sub(lambda _: table, text), encoding="utf-8")
    elif COUNTS.findall(text) != [table]:
        wrong.append(f"the counts in {file.name} are not these; --write puts them there")
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

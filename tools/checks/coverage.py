"""Statement and branch coverage, room by room: `python -m tools.checks.coverage coverage.json [--whole ROOM ...]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any


def rooms(report: dict[str, Any]) -> dict[str, Counter[str]]:
    """Room (a folder of the package, or "" for its own modules) → what the report of `coverage json` counts."""
    table: dict[str, Counter[str]] = {}
    for name, file in report["files"].items():
        inside = PurePosixPath(name.replace("\\", "/")).parts
        below = inside[inside.index("syncline") + 1 :]
        counted = {key: value for key, value in file["summary"].items() if isinstance(value, int)}
        table.setdefault(below[0] if len(below) > 1 else "", Counter()).update(counted)
    return table


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:6.2f} %" if whole else "       -"


def line(name: str, room: Counter[str]) -> str:
    statements = share(room["covered_lines"], room["num_statements"])
    branches = share(room["covered_branches"], room["num_branches"])
    return f"{name:<14} statements {statements} of {room['num_statements']:>5}   branches {branches} of {room['num_branches']:>5}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument(
        "--whole", action="append", default=[], metavar="ROOM", help="a room that must be covered whole"
    )
    options = parser.parse_args()
    table = rooms(json.loads(options.report.read_text()))
    for name, room in sorted(table.items()):
        print(line(name or "(top)", room))
    print(line("sdk", sum(table.values(), Counter())))
    short = [
        name
        for name in options.whole
        if name not in table or table[name]["missing_lines"] or table[name]["missing_branches"]
    ]
    for name in short:
        print(f"{name} must be covered whole, in statements and branches")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())

"""The counts of all JUnit reports in a folder, their sum, and what failed: `python -m tools.checks.totals FOLDER`."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree


def counts(report: Path) -> Counter[str]:
    """How many tests of one report passed, failed and were skipped; an error is a failure."""
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    totals: Counter[str] = Counter(passed=0, failed=0, skipped=0)
    for suite in suites:
        tests, failures, errors, skipped = (int(suite.get(k, "0")) for k in ("tests", "failures", "errors", "skipped"))
        totals.update(passed=tests - failures - errors - skipped, failed=failures + errors, skipped=skipped)
    return totals


def failed_tests(report: Path) -> list[str]:
    """The tests of one report that failed, each with the first line of why."""
    found = []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        for why in (*case.iter("failure"), *case.iter("error")):
            reason = (why.get("message") or "").strip().partition("\n")[0]
            found.append(f"{case.get('classname')}::{case.get('name')}: {reason}")
    return found


def main(folder: str) -> int:
    total: Counter[str] = Counter(passed=0, failed=0, skipped=0)
    for report in sorted(Path(folder).glob("*.xml")):
        found = counts(report)
        total.update(found)
        print(
            f"{report.stem:<16} {found['passed']:>6} passed {found['failed']:>4} failed {found['skipped']:>4} skipped"
        )
        for line in failed_tests(report):
            print(f"  {line}")
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

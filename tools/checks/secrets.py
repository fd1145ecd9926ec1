"""A grep over what the test runs have left behind for the secrets that tests plant: `python -m tools.checks.secrets PLACE...`.

Fails when it finds one, and when it has nothing to look through. What was looked at while the tests ran is in the reports as counts;
see `tests/fixtures/secrecy.py`.
"""

from __future__ import annotations

import base64
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from xml.etree import ElementTree

#: In every secret that a test gives.
MARK = "planted"
#: So many characters have, at least, those that the product makes and that have no mark: verifiers, proofs, assertions.
MADE = 40
#: The counts that a run of tests leaves in its report.
COUNTS = ("secrets given", "texts looked at", "characters looked at")


def _inside(data: bytes, before: int) -> str:
    """What Base64 makes of some bytes whatever stands around them, when so many stand before them."""
    text = base64.b64encode(b"\0" * before + data).decode()
    return text[-(-8 * before // 6) : 8 * (before + len(data)) // 6]


#: A secret as it is, in Base64 (of Basic, of a JWT), and a private key in PEM.
SIGNS = (MARK, *(_inside(MARK.encode(), before) for before in range(3)), "PRIVATE KEY-----")
_SIGN = re.compile("|".join(map(re.escape, SIGNS)))


def marked(secret: str) -> bool:
    """Whether a secret would be found in a text by one of the signs."""
    return _SIGN.search(secret) is not None


def shown(text: str, made: Collection[str] = ()) -> Iterator[str]:
    """The first place in a text of each sign of a secret, and of each one that the product has made."""
    for secret in (*SIGNS, *made):
        if (start := text.find(secret)) >= 0:
            yield text[max(start - 60, 0) : start + 60]


def report(file: Path) -> tuple[str, Counter[str]]:
    """All that a JUnit report says but the names of tests, which may have a secret as a parameter; and what a run has counted."""
    elements = list(ElementTree.parse(file).getroot().iter())
    text = "\n".join(part for each in elements for part in (each.text, each.get("message")) if part)
    counted = {name: int(each.get("value", "0")) for each in elements if (name := each.get("name", "")) in COUNTS}
    return text, Counter(counted)


def main(*places: str) -> int:
    files = [file for place in places for file in sorted(Path(place).rglob("*")) if file.is_file()]
    size = hits = 0
    watched: Counter[str] = Counter()
    for file in files:
        if file.suffix == ".xml":
            text, counted = report(file)
            watched.update(counted)
        else:
            text = file.read_text(errors="replace")
        size += len(text.encode(errors="replace"))
        for place in shown(text):
            hits += 1
            print(f"{file} shows a secret: {place!r}")
    print("while the tests ran: " + ", ".join(f"{watched[name]} {name}" for name in COUNTS))
    print(f"afterwards: {size} bytes of {len(files)} files, searched for {len(SIGNS)} signs of secrets; {hits} found")
    return 0 if size and watched["secrets given"] and not hits else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

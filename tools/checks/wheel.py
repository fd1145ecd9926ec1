"""What a wheel must and must not hold: `python -m tools.checks.wheel WHEEL`."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterable, Iterator

PACKAGES = ("syncline", "syncline_wire")


def problems(names: Iterable[str]) -> Iterator[str]:
    """One sentence for each thing wrong with a wheel that has these members."""
    held = set(names)
    for package in PACKAGES:
        for file in ("__init__.py", "py.typed"):
            if f"{package}/{file}" not in held:
                yield f"{package}/{file} is missing"
    for text in ("LICENSE", "NOTICE"):
        if not any(name.endswith(f".dist-info/licenses/{text}") for name in held):
            yield f"{text} is missing"
    for name in sorted(held):
        top = name.split("/", 1)[0]
        if top not in PACKAGES and not top.endswith(".dist-info"):
            yield f"{name} does not belong into the wheel"
        elif top in PACKAGES and not name.endswith((".py", "/py.typed")):
            yield f"{name} is neither code nor a type marker"


def main(path: str) -> int:
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
    found = list(problems(names))
    for package in PACKAGES:
        print(f"{package}: {sum(name.startswith(f'{package}/') for name in names)} files")
    for problem in found:
        print(f"  {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

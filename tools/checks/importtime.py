"""What `import syncline` loads and costs: `python -m tools.checks.importtime`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

# Loaded on use: by an HTTP server, a first schema to validate, a negotiated revision, the command line, a stored token, a key.
ON_USE = (
    "cryptography",
    "jsonschema_rs",
    "jwt",
    "keyring",
    "pydantic",
    "requests",
    "rich",
    "sseclient",
    "typer",
    "urllib3",
)


class Imported(NamedTuple):
    """A module and the time that it and its own imports took, in microseconds."""

    name: str
    cumulative: int


def imported(module: str, python: str = sys.executable) -> list[Imported]:
    """Everything that importing a module in a fresh interpreter loads."""
    command = [python, "-X", "importtime", "-c", f"import {module}"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = (line.removeprefix("import time:").split("|") for line in run.stderr.splitlines() if "|" in line)
    return [Imported(name.strip(), int(total)) for _, total, name in rows if total.strip().isdigit()]


def over_budget(names: list[str]) -> Iterator[str]:
    """The names that `import syncline` must leave for later."""
    for name in names:
        top, _, rest = name.partition(".")
        if top in ON_USE or (top == "syncline_wire" and rest.startswith("v2")):
            yield name


def main() -> int:
    loaded = imported("syncline")
    total = next(module.cumulative for module in loaded if module.name == "syncline")
    late = list(over_budget([module.name for module in loaded]))
    print(f"import syncline: {total / 1000:.1f} ms, {len(loaded)} modules")
    for name in late:
        print(f"  must not be loaded yet: {name}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())

"""The console examples of the documentation that talk to the demo server print what they say.

Those that need another server, or a shell, are shown elsewhere (tests/process).
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from syncline import cli

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
#: Command → what it prints, as far as that is shown.
EXAMPLES = {
    command.partition("#")[0].strip(): shown
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for block in BLOCK.findall(page.read_text(encoding="utf-8"))
    for command, shown in re.findall(r"^\$ syncline (.*)\n((?:[^$].*\n)*)", block, re.MULTILINE)
    if "demo" in shlex.split(command, comments=True) and not set(command) & set("|>")
}


@pytest.mark.parametrize("command", EXAMPLES)
def test_example(command: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert cli.main(shlex.split(command)) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert EXAMPLES[command].rstrip("\n") in ("", printed.rstrip("\n"))

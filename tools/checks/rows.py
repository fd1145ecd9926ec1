"""Rows of promises in Markdown, held against the tests: what the lists of behaviours, field reports and requirements share.

A test names a row in its docstring; a row names tests, or says what it waits for. The table of counts in the file is what a check
prints; `--write` puts it there.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

#: What a row waits for.
LATER = re.compile(r"later: \w[^()]* \([^()]+\)")
COUNTS = re.compile(r"(?<=<!-- counts -->\n).*(?=<!-- end of counts -->)", re.DOTALL)

#: Test → the rows that it names.
Named: TypeAlias = dict[str, set[str]]


def named(path: Path, ident: re.Pattern[str], *, decorators: bool = False) -> Named:
    """The tests of a file, if there is one, and the rows that their docstrings name, and what stands above them if that counts."""
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines = source.splitlines()
    found: Named = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list if decorators)])
            told = [*lines[first - 1 : node.lineno - 1], ast.get_docstring(node) or ""]
            found[node.name] = set(ident.findall("\n".join(told)))
    return found


def repeated(idents: Iterable[str]) -> list[str]:
    """What is wrong with rows that are there more than once."""
    return [f"{ident} is listed twice" for ident, times in sorted(Counter(idents).items()) if times > 1]


def untrue(listed: Iterable[tuple[str, str]], files: dict[str, Named]) -> Iterator[str]:
    """What is wrong with rows that list tests: each with one of its tests, and the tests of all files that are listed."""
    for ident, test in listed:
        file, _, name = test.partition("::")
        if name not in files[file]:
            yield f"{ident}: there is no {test}"
        elif ident not in files[file][name]:
            yield f"{ident}: {test} does not name it"


def check(
    about: str | None,
    place: str,
    examine: Callable[[str, Path], tuple[str, list[str]]],
    *arguments: str,
    fill: Callable[[str, Path], str] = lambda text, _: text,
) -> int:
    """Run a check from the command line; 1 if something is wrong.

    ``examine`` returns the table of counts and what is wrong, for the text of the file at ``place`` and the folder of the tests;
    ``fill`` the text with what else `--write` puts there.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("tests"))
    parser.add_argument("--write", action="store_true", help="put what this finds into the file")
    options = parser.parse_args(arguments)
    file: Path = options.folder / place
    text = file.read_text(encoding="utf-8")
    if options.write:
        text = fill(text, options.folder)
    table, wrong = examine(text, options.folder)
    print(table, end="")
    if options.write:
        file.write_text(COUNTS.sub(lambda _: table, text), encoding="utf-8")
    elif COUNTS.findall(text) != [table]:
        wrong.append(f"the counts in {file.name} are not these; --write puts them there")
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0

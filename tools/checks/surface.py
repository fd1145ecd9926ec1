"""The dependency surface: each import from outside is declared, each declaration is used."""

from __future__ import annotations

import ast
import re
import sys
from importlib import metadata
from pathlib import Path

OURS = {"syncline", "syncline_wire"}
FOR_CHECKERS = {"_typeshed"}  # exists for type checkers alone
LATER = {"tomllib"}  # of the standard library, though not of the oldest Python's
COMES_WITH = {"pydantic_core": "pydantic"}  # which pins the one version that fits it
IMPORTED_AS = {
    "jsonschema-rs": "jsonschema_rs",
    "pyjwt": "jwt",
    "sseclient-py": "sseclient",
    "typing-extensions": "typing_extensions",
}


def outside(folder: Path, without: str = "") -> set[str]:
    """Top names of what code below a folder imports, less its own and the standard library's modules.

    Code in the subfolder named by `without` is not looked at.
    """
    found: set[str] = set()
    for file in folder.rglob("*.py"):
        if without and file.relative_to(folder).parts[0] == without:
            continue
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                found.update(alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.partition(".")[0])
    return {COMES_WITH.get(name, name) for name in found - OURS - FOR_CHECKERS - LATER - sys.stdlib_module_names}


def declared(distribution: str = "syncline") -> dict[str, str]:
    """Import name → extra ("" for none), of every requirement that an installed distribution declares."""
    names: dict[str, str] = {}
    for requirement in metadata.requires(distribution) or []:
        match = re.match(r"([\w.-]+)", requirement)
        assert match, requirement
        extra = re.search(r"extra == ['\"](\w+)['\"]", requirement)
        if match[1] != distribution:
            names[IMPORTED_AS.get(match[1], match[1])] = extra[1] if extra else ""
    return names

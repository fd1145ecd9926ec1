"""Reading what ``schema/`` holds, with errors that name the file."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from .problems import Problem

JsonObject = dict[str, Any]

#: In the standard library from Python 3.11 on; the generator needs that anyway.
tomllib: Any = importlib.import_module("tomllib")

ROOT = Path(__file__).resolve().parents[2]


def shown(path: Path) -> Path:
    """The path as an error shows it: relative to the repository where it lies in there."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Problem(shown(path), "", error.strerror or str(error)) from error


def parse_json(data: bytes, file: Path | str) -> JsonObject:
    """A JSON object; anything else is a problem."""
    try:
        value = json.loads(data)
    except ValueError as error:
        raise Problem(file, "", f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise Problem(file, "", "not a JSON schema: the document is not an object")
    return value


def read_json(path: Path) -> JsonObject:
    return parse_json(read_bytes(path), shown(path))


def read_toml(path: Path) -> JsonObject:
    try:
        tables: JsonObject = tomllib.loads(read_bytes(path).decode("utf-8"))
    except ValueError as error:
        raise Problem(shown(path), "", f"not TOML: {error}") from error
    return tables


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def split_pointer(text: str) -> list[str]:
    """The reference tokens of a JSON pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]

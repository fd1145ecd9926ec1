"""One file, read: its value, and the lines on which servers and their keys stand."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from syncline.errors import ConfigError
from syncline.manager.configfiles import jsonc

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_AT = re.compile(r" \((?:at line (?P<line>\d+), column (?P<column>\d+)|at end of document)\)$")


class Document:
    """A file that holds an object.

    Attributes:
        data: What it holds.
        text: The file as text.
    """

    def __init__(self, file: PurePath | str, data: dict[str, object], text: str) -> None:
        self.file = file
        self.data = data
        self.text = text

    def line(self, *path: str) -> int | None:
        """The line on which the key at the end of a path stands, None where that cannot be said."""
        raise NotImplementedError

    def twice(self, *path: str, below: int = 0) -> Iterator[tuple[str, ...]]:  # noqa: ARG002 - TOML refuses it by itself
        """Paths of the keys that the object at the end of a path has more than once, and those so many levels below it."""
        yield from ()

    def at(self, *path: str) -> object:
        """What stands at the end of a path, None where there is nothing."""
        value: object = self.data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value


class JsonDocument(Document):
    """JSON, with comments and trailing commas.

    Attributes:
        plain: The text as plain JSON of the same length.
    """

    def __init__(self, file: PurePath | str, data: dict[str, object], text: str, plain: str) -> None:
        super().__init__(file, data, text)
        self.plain = plain
        self._members: dict[tuple[str, ...], dict[str, tuple[int, int]]] = {}

    def line(self, *path: str) -> int | None:
        """See ``Document``."""
        found = self._place(path)
        return None if found is None else jsonc.line_at(self.plain, found[0])

    def twice(self, *path: str, below: int = 0) -> Iterator[tuple[str, ...]]:
        """See ``Document``."""
        found = self._place(path) if isinstance(self.at(*path), dict) else None
        times = Counter(key for key, _, _ in jsonc.members(self.plain, found[1])) if found else {}
        for key, count in times.items():
            if count > 1:
                yield (*path, key)
            elif below:
                yield from self.twice(*path, key, below=below - 1)

    def _place(self, path: tuple[str, ...]) -> tuple[int, int] | None:
        """Where the key at the end of a path stands, and its value."""
        if not path:
            return 0, jsonc.start(self.plain)
        if path[:-1] not in self._members:  # each object is looked through once
            found = self._place(path[:-1]) if isinstance(self.at(*path[:-1]), dict) else None
            self._members[path[:-1]] = (
                {key: (at, value) for key, at, value in jsonc.members(self.plain, found[1])} if found else {}
            )
        return self._members[path[:-1]].get(path[-1])


class TomlDocument(Document):
    """TOML. Only headers of tables have a line that can be told."""

    def line(self, *path: str) -> int | None:
        """See ``Document``."""
        names = r"\s*\.\s*".join(rf"([\"']?){re.escape(key)}\{n}" for n, key in enumerate(path[:2], 1))
        header = re.search(rf"^[ \t]*\[\s*{names}\s*[\].]", self.text, re.MULTILINE)
        return jsonc.line_at(self.text, header.start()) if header else None


def parse(file: PurePath | str, content: bytes) -> Document:
    """Read what a file holds, as TOML if its name says so, as JSON otherwise.

    Raises ConfigError with file and line for what cannot be read. Nothing of the content is quoted.
    """
    try:
        if PurePath(file).suffix == ".toml":
            text = _decoded(content, "utf-8-sig")
            return TomlDocument(file, _toml(text), text)
        text = _decoded(content, json.detect_encoding(content) if content else "utf-8")
        data, plain = jsonc.read(text if text.strip() else "{}")  # some programs begin with an empty file
    except ConfigError as error:
        fault = error.message
    else:
        if isinstance(data, dict):
            return JsonDocument(file, data, text, plain)
        fault = "line 1: expected an object ({...}) at the top"
    raise ConfigError(f"{file}, {fault}. Mend the file, or read another one by naming it")


def _decoded(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    raise ConfigError(f"line {line}: expected text in UTF-8")


def _toml(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    except RecursionError:
        message = "nested too deeply (at line 1, column 1)"
    except ValueError:
        message = "a number with too many digits (at line 1, column 1)"
    match = _AT.search(message)
    line, column = (match["line"], match["column"]) if match else (None, None)
    place = f"line {line}, column {column}" if line else f"line {text.count(chr(10)) + 1}"
    raise ConfigError(f"{place}: {_AT.sub('', message)}")

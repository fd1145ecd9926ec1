"""JSON with comments and trailing commas: its value, and where in the text the members of an object stand. Pure.

What is no JSON is overwritten with spaces, so that the rest keeps its place and the standard library does the reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json import JSONDecodeError, JSONDecoder

from syncline.errors import ConfigError

_TOKEN = re.compile(
    r"""(?P<text>"[^"\\]*(?:\\.[^"\\]*)*") | (?P<comment>//[^\n\r]*|/\*.*?\*/) | (?P<space>\s+) | [^\s"/,\[\]{}:]+ | .""",
    re.DOTALL | re.VERBOSE,
)
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()


def read(text: str) -> tuple[object, str]:
    """The value, and the text as plain JSON of the same length.

    Raises ConfigError that begins with the line and quotes nothing of the text.
    """
    value, fault = _loads(text)
    if fault is not None:
        text = plain(text)
        value, fault = _loads(text)
    if fault is not None:
        raise ConfigError(fault)
    return value, text


def plain(text: str) -> str:
    """The text with spaces in place of comments and trailing commas."""
    parts: list[str] = []
    comma, before = None, ""  # a comma that may turn out to be trailing; the last token that counts
    for token in _TOKEN.finditer(text):
        part = token[0]
        if token["comment"]:
            part = re.sub(r"[^\n\r]", " ", part)
        elif not token["space"]:
            if part in "]}" and comma is not None:
                parts[comma] = " "
            comma = len(parts) if part == "," and before not in ("", *"[{,:") else None
            before = part
        parts.append(part)
    return "".join(parts)


def first_comment(text: str) -> int | None:
    """The line of the first comment, None where there is none."""
    for token in _TOKEN.finditer(text):
        if token["comment"]:
            return line_at(text, token.start())
    return None


def members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Key, its place and the place of its value, for each member of the object that stands at ``at`` of plain JSON."""
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        yield key, at, value
        end = _skip(text, _DECODER.raw_decode(text, value)[1])
        at = _skip(text, end + 1) if text[end] == "," else end


def start(text: str) -> int:
    """Where the value begins."""
    return _skip(text, 0)


def line_at(text: str, at: int) -> int:
    """The line of a place, counted from 1."""
    return text.count("\n", 0, at) + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _loads(text: str) -> tuple[object, str | None]:
    """The value, or what is wrong. Errors of the standard library hold the whole text, so they go no further."""
    try:
        return json.loads(text), None
    except JSONDecodeError as error:
        return None, f"line {error.lineno}, column {error.colno}: {error.msg}"
    except RecursionError:
        return None, "line 1: nested too deeply"
    except ValueError:
        return None, "line 1: a number with too many digits"

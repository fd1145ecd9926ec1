"""JSON objects from elsewhere: metadata, registrations, token answers. Null means absent, and so does a wrong type.

Strings stay as they were sent: issuers, resources and client ids are compared to the byte.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TypeGuard

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Characters of somebody else's text in an error of ours.
SHOWN = 200


class Unusable(ValueError):
    """Not the document that was looked for. The text says what is wrong, and shows nothing of it."""


def read(body: bytes) -> Mapping[str, object]:
    """The object that a body has. Raises ``Unusable``."""
    try:
        value = json.loads(body, parse_constant=int)  # int() refuses NaN and its kin
    except (ValueError, RecursionError):
        raise Unusable("it is not JSON") from None  # the cause would show the body
    if not isinstance(value, dict):
        raise Unusable("it is not a JSON object")
    return value


def text(document: Mapping[str, object], name: str) -> str | None:
    """A member that is text and not empty."""
    value = document.get(name)
    return value if _is_text(value) and value else None


def texts(document: Mapping[str, object], name: str) -> tuple[str, ...] | None:
    """A member that is a list, less what is in it that is not text."""
    value = document.get(name)
    return tuple(item for item in value if _is_text(item)) if isinstance(value, list) else None


def flag(document: Mapping[str, object], name: str) -> bool:
    """Whether a member is true."""
    return document.get(name) is True


def number(document: Mapping[str, object], name: str) -> float | None:
    """A member that is a number, or text that is one, and not negative."""
    value = document.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _is_text(value: object) -> TypeGuard[str]:
    """Half of a surrogate pair, which JSON can escape, cannot be sent to anybody."""
    return isinstance(value, str) and not _SURROGATE.search(value)


def shown(words: str) -> str:
    """Somebody else's text for an error of ours: short, one line, nothing that steers a terminal."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())
    return line if len(line) <= SHOWN else line[:SHOWN] + "..."

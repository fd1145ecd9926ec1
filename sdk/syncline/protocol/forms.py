"""Forms of elicitation, field by field: what a person can be shown, and what the text means that they type.

(Specification, client/elicitation, requested schema: one level of text, numbers, booleans and choices.)
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlsplit

from .schemas import OutputSchema, UnusableSchema

#: Control characters, and those that turn text around or cannot be seen.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

TRUE, FALSE = ("yes", "y", "true", "on"), ("no", "n", "false", "off")


def clean(text: str) -> str:
    """Text from a server without what would steer the terminal or deceive the eye."""
    return _STEERING.sub("\ufffd", text.replace("\r\n", "\n"))


@dataclass(frozen=True)
class Choice:
    """One of the values that can be chosen, and what people are shown for it."""

    value: object
    title: str


@dataclass(frozen=True)
class Field:
    """One field of a form.

    Attributes:
        name: Its key in the answer.
        title: What people call it.
        description: More about it; empty if there is nothing.
        required: Whether the answer must have it.
        schema: Its JSON Schema.
        choices: What can be chosen; empty where anything can be typed.
        several: Whether any number of the choices can be chosen.
    """

    name: str
    title: str
    description: str
    required: bool
    schema: Mapping[str, object]
    choices: tuple[Choice, ...]
    several: bool

    def parse(self, text: str) -> object:
        """The value of what was typed; ``ValueError`` says what is wrong with it."""
        if self.several:
            value: object = [self._choose(part.strip()) for part in text.split(",") if part.strip()]
        elif self.choices:
            value = self._choose(text.strip())
        else:
            value = READ.get(str(self.schema.get("type")), _json)(text)
        self.check(value)
        return value

    def check(self, value: object) -> None:
        """``ValueError`` if a value does not fit the field."""
        try:
            errors = OutputSchema(dict(self.schema)).errors(value)
        except UnusableSchema:
            errors = []  # the server's own form is broken; what the person says is all there is
        if errors:
            raise ValueError("; ".join(error.removeprefix("the value: ") for error in errors))
        shape = FORMATS.get(str(self.schema.get("format")))
        if shape is not None and isinstance(value, str):
            shape(value)

    def show(self, value: object) -> str:
        """A value, as people would type it."""
        if isinstance(value, Sequence) and not isinstance(value, str):
            return ", ".join(map(self.show, value))
        if isinstance(value, bool):
            return "yes" if value else "no"
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    def _choose(self, text: str) -> object:
        """By value, else by title, else by number."""
        readings: list[list[object]] = [
            [choice.value for choice in self.choices if self.show(choice.value) == text],
            [choice.value for choice in self.choices if choice.title.casefold() == text.casefold()],
            [choice.value for number, choice in enumerate(self.choices, 1) if str(number) == text],
        ]
        for found in readings:
            if len(found) == 1:
                return found[0]
        raise ValueError(f"{text!r} is none of the choices")


def fields(schema: Mapping[str, object]) -> list[Field]:
    """The fields of a form, in its order; what is no schema is left out."""
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) else []
    found = []
    for name, sub in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(sub, Mapping):
            several = sub.get("type") == "array"
            items = sub.get("items") if several else sub
            choices = tuple(_choices(items)) if isinstance(items, Mapping) else ()
            title, about = sub.get("title"), sub.get("description")
            found.append(
                Field(
                    name,
                    title if isinstance(title, str) and title else name,
                    about if isinstance(about, str) else "",
                    name in needed,
                    sub,
                    choices,
                    several and bool(choices),
                )
            )
    return found


def _choices(schema: Mapping[str, object]) -> list[Choice]:
    """Every form that the revisions have had: ``enum``, with ``enumNames``; ``oneOf`` or ``anyOf`` of titled constants."""
    values, names = schema.get("enum"), schema.get("enumNames")
    if isinstance(values, list):
        titles = names if isinstance(names, list) and len(names) == len(values) else values
        return [Choice(value, str(title)) for value, title in zip(values, titles, strict=True)]
    titled = schema.get("oneOf", schema.get("anyOf"))
    entries = titled if isinstance(titled, list) else []
    return [
        Choice(entry["const"], str(entry.get("title", entry["const"])))
        for entry in entries
        if isinstance(entry, Mapping) and "const" in entry
    ]


def _number(text: str) -> int | float:
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        if not isinstance(number, float) or math.isfinite(number):
            return number
    raise ValueError(f"{text!r} is no number")


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE + FALSE:
        raise ValueError("yes or no?")
    return word in TRUE


def _json(text: str) -> object:
    try:
        value: object = json.loads(text, parse_constant=int)  # int() refuses NaN and its kin
    except (ValueError, RecursionError):
        raise ValueError(f"{text!r} is not JSON") from None
    return value


def _email(text: str) -> None:
    user, at, host = text.rpartition("@")
    if not (user and at and host) or any(character.isspace() for character in text):
        raise ValueError(f"{text!r} is no e-mail address")


def _uri(text: str) -> None:
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if not parts.scheme or not (parts.netloc or parts.path) or any(character.isspace() for character in text):
        raise ValueError(f"{text!r} is no URI")


def _date(text: str) -> None:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no date such as 2026-07-28") from None


def _moment(text: str) -> None:
    """RFC 3339, which wants an offset."""
    try:
        known = "T" in text.upper() and datetime.fromisoformat(text.upper().replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"{text!r} is no date and time such as 2026-07-28T12:00:00Z")


#: Type → how text is read.
READ: Mapping[str, Callable[[str], object]] = {
    "string": lambda text: text,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
}
#: Format → what checks it. JSON Schema itself only notes formats.
FORMATS: Mapping[str, Callable[[str], None]] = {"email": _email, "uri": _uri, "date": _date, "date-time": _moment}

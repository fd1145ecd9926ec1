"""What may stand under a key: each function takes what stands there and makes a value of it, or says what it expected."""

from __future__ import annotations

from collections.abc import Mapping

from syncline.config import LONGEST, is_duration

_KINDS: Mapping[type, str] = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


class Expected(Exception):
    """What should stand there, in words.

    Attributes:
        inside: What is wrong with a list or an object, to be put after what it is.
    """

    def __init__(self, wanted: str, inside: str = "") -> None:
        super().__init__(wanted)
        self.inside = inside


def text(value: object) -> str:
    """A string."""
    if not isinstance(value, str) or "\0" in value:
        raise Expected("a string without NUL")
    return value


def program(value: object) -> str:
    """A program's name or path."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise Expected("the name or path of a program")
    return value


def name(value: object) -> str:
    """The name of an environment variable."""
    if not isinstance(value, str) or not value.strip() or set(value) & {"\0", "="}:
        raise Expected("the name of an environment variable")
    return value


def texts(value: object) -> tuple[str, ...]:
    """A list of strings."""
    wanted = "a list of strings without NUL"
    if not isinstance(value, list):
        raise Expected(wanted)
    return tuple(_text_in(item, wanted) for item in value)


def texts_by_name(value: object) -> dict[str, str]:
    """An object of strings."""
    wanted = "an object of strings without NUL"
    if not isinstance(value, dict):
        raise Expected(wanted)
    return {key: _text_in(item, wanted) for key, item in value.items()}


def _text_in(item: object, wanted: str) -> str:
    if not isinstance(item, str) or "\0" in item:
        raise Expected(wanted, f" with {'NUL' if isinstance(item, str) else kind(item)} in it")
    return item


def variables(value: object) -> dict[str, str]:
    """Environment variables. Numbers are taken as they are written; null is no variable at all."""
    if not isinstance(value, dict):
        raise Expected("an object of strings")
    numbers = {key: repr(item) for key, item in value.items() if type(item) in (int, float) and abs(item) < 1e300}
    return texts_by_name({key: item for key, item in {**value, **numbers}.items() if item is not None})


def variable_names(value: object) -> tuple[str, ...]:
    """Names of environment variables, or objects with a name and a source, which is ``local``: nothing runs elsewhere."""
    if not isinstance(value, list):
        raise Expected("a list of names of environment variables")
    names = []
    for item in value:
        if isinstance(item, dict) and item.get("source", "local") != "local":
            raise Expected('"local" as source of a variable, for the program runs here')
        names.append(name(item.get("name") if isinstance(item, dict) else item))
    return tuple(names)


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Expected("true or false")
    return value


def seconds(value: object) -> float:
    """A number of seconds."""
    if not is_duration(value):
        raise Expected(f"a number of seconds above 0, {LONGEST:g} at most")
    return value


def milliseconds(value: object) -> float:
    """A number of milliseconds, as seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= LONGEST * 1000:
        raise Expected(f"a number of milliseconds above 0, {LONGEST * 1000:g} at most")
    return value / 1000


def kind(value: object) -> str:
    """What a value is, without showing it."""
    return _KINDS.get(type(value), "a date")  # which only TOML has

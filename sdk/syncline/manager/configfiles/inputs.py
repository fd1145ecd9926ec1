"""Inputs: values that VS Code asks a person for (``${input:ID}``), here answered by the caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from syncline.errors import ConfigError
from syncline.manager.configfiles.references import Unusable


@dataclass(frozen=True)
class Input:
    """A value that a file asks for.

    Attributes:
        id: Its name in the file.
        description: What to ask a person.
        password: Whether the answer should not be shown while it is typed.
        options: The answers to choose from, empty for any.
        default: The answer that is offered, and taken where there is no other one.
    """

    id: str
    description: str = ""
    password: bool = False
    options: tuple[str, ...] = ()
    default: str | None = field(default=None, repr=False)


Answers: TypeAlias = Mapping[str, str] | Callable[[Input], str | None] | None


class Asked:
    """The answers to the inputs of one file. Each is asked for once, when a server needs it."""

    def __init__(self, declared: object, answers: Answers) -> None:
        self._declared = {each.id: each for each in _inputs(declared)}
        self._answers = answers
        self._known: dict[str, str] = {}

    def __call__(self, ident: str) -> str:
        """The answer. Raises ``Unusable`` where there is none, and ``ConfigError`` for one that is no text."""
        if ident not in self._known:
            wanted = self._declared.get(ident, Input(ident))
            answer = self._answers(wanted) if callable(self._answers) else (self._answers or {}).get(ident)
            answer = wanted.default if answer is None else answer
            if not isinstance(answer, (str, type(None))):
                raise ConfigError(f"the answer to the input {ident!r} must be text, not {type(answer).__name__}")
            if answer is None:
                ways = f"load_config() takes inputs={{{ident!r}: ...}}, and commands that connect ask at a terminal"
                raise Unusable(f"the input {ident!r} has no answer; {ways}")
            self._known[ident] = answer
        return self._known[ident]


def _inputs(declared: object) -> list[Input]:
    """What a file declares. A declaration that is no use is left out: its input then is one without description."""
    found = [each for each in declared if isinstance(each, dict)] if isinstance(declared, list) else []
    return [
        Input(
            id=each["id"],
            description=text if isinstance(text := each.get("description"), str) else "",
            password=each.get("password") is True,
            options=tuple(_option(option) for option in options)
            if isinstance(options := each.get("options"), list)
            else (),
            default=default if isinstance(default := each.get("default"), str) else None,
        )
        for each in found
        if isinstance(each.get("id"), str)
    ]


def _option(option: object) -> str:
    """An option is its text, or a label with a value."""
    return str(option.get("value", "")) if isinstance(option, dict) else str(option)

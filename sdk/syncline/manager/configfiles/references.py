"""References to the environment and the like, in values. Pure.

What a reference stands for is never looked at again: a value that holds ``${...}`` itself stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from syncline.manager.configfiles.formats import BARE, ENV, FOLDER, INPUT, PLAIN

_REFERENCE = re.compile(r"\$\{(?P<braced>[^}]*)\}|\$(?P<bare>[A-Za-z_][A-Za-z0-9_]*)")
_VARIABLE = re.compile(r"(?P<env>env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


class Unusable(Exception):
    """An entry that is well written and cannot be used here: a variable is not set, a transport is not spoken."""


@dataclass(frozen=True, repr=False)
class Surroundings:
    """What references may stand for.

    Attributes:
        forms: The forms that are resolved; see ``formats``.
        environment: The environment variables.
        folders: What ``${workspaceFolder}`` and its like stand for.
        answer: The answer to an input, by its id. Raises ``Unusable`` where there is none.
    """

    forms: frozenset[str]
    environment: Mapping[str, str]
    folders: Mapping[str, str]
    answer: Callable[[str], str]


def resolve(value: object, around: Surroundings) -> object:
    """A copy with the references in all its strings resolved.

    Raises ``Unusable`` for a variable that is not set and has no default, for a default that holds another reference, and for
    an input without an answer.
    """
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _meant(match, around), value)
    if isinstance(value, list):
        return [resolve(item, around) for item in value]
    if isinstance(value, dict):
        return {key: resolve(item, around) for key, item in value.items()}
    return value


def _meant(match: re.Match[str], around: Surroundings) -> str:
    if match["braced"] is None:  # unset, it is taken for text: passwords have dollars too
        return around.environment.get(match["bare"], match[0]) if BARE in around.forms else match[0]
    content = match["braced"]
    if FOLDER in around.forms and content in around.folders:
        return around.folders[content]
    if INPUT in around.forms and content.startswith("input:"):
        return around.answer(content.removeprefix("input:"))
    variable = _VARIABLE.fullmatch(content)
    if variable is None or (ENV if variable["env"] else PLAIN) not in around.forms:
        return match[0]
    name, default = variable["name"], variable["default"]
    if default is not None and "${" in default:  # set or not: the default would end at the first brace
        raise Unusable(f"the default of the environment variable {name} may not hold another reference")
    if name in around.environment:
        return around.environment[name]
    if default is None:
        raise Unusable(f"the environment variable {name} is not set; set it")
    return default

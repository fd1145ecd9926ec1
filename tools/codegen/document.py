"""Our own documentation, put on definitions and members."""

from __future__ import annotations

from fnmatch import fnmatchcase

from .inputs import JsonObject, pointer
from .normalize import OWNER
from .pins import Pin
from .problems import Problem


def document(definitions: JsonObject, docs: JsonObject, pin: Pin, file: str) -> JsonObject:
    """Definitions with a docstring each: one line of ours and the address of the page that defines it.

    Args:
        definitions: Normalised definitions.
        docs: The tables ``definitions`` and ``members`` of ``docs.toml``.
        pin: Tells the page.
        file: Named in errors.
    """

    def describe(name: str, node: JsonObject) -> JsonObject:
        if name not in docs["definitions"]:
            raise Problem(file, pointer("$defs", name), "has no line in schema/docs.toml")
        page = pin.page.format(anchor=node.get(OWNER, name).lower())
        members = {
            member: child | ({"description": line} if (line := member_line(docs["members"], name, member)) else {})
            for member, child in node.get("properties", {}).items()
        }
        described = {key: value for key, value in node.items() if key != OWNER} | {
            "description": f"{docs['definitions'][name]}\n\n{page}"
        }
        return described | ({"properties": members} if members else {})

    return {name: describe(name, node) for name, node in definitions.items()}


def member_line(lines: dict[str, str], owner: str, member: str) -> str | None:
    """The line for a member: its own, else the one for the name wherever it occurs."""
    own = f"{owner}.{member}"
    return lines.get(own) or next((line for pattern, line in lines.items() if fnmatchcase(own, pattern)), None)


def stale(docs: JsonObject, modules: list[JsonObject]) -> list[str]:
    """Entries of ``docs.toml`` that describe nothing any more."""
    names = {name for definitions in modules for name in definitions}
    members = {
        f"{name}.{member}"
        for module in modules
        for name, node in module.items()
        for member in node.get("properties", ())
    }
    unused = [f"/members/{key}" for key in docs["members"] if not any(fnmatchcase(member, key) for member in members)]
    return unused + [f"/definitions/{name}" for name in docs["definitions"] if name not in names]

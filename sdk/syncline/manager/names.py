"""What tools are called where many servers meet: ``mcp__<server>__<tool>``. Pure.

A name is made of the configured name of the server and the tool's own, so that it says where the tool is from whatever the
server calls itself. It has no characters but ASCII letters, digits and underscores, and 128 of them at most. Names that would
be equal, or too long, all end in a hash of what they stand for, and so does one that begins like those of another server: which
one came first, or has come at all, makes no difference.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from syncline.errors import ConfigError

if TYPE_CHECKING:
    from typing import TypeAlias

    #: A tool as its server knows it: the configured name of the server, and the name of the tool on the wire.
    Raw: TypeAlias = tuple[str, str]

PREFIX = "mcp__"
#: Between the server and the tool.
SEPARATOR = "__"
#: Characters of a whole name; hexadecimal digits of a hash.
LIMIT, DIGITS = 128, 12
#: Characters of a prefix: there has to be room for the rest.
PREFIX_LIMIT = 64

_FOREIGN = re.compile(r"[^A-Za-z0-9_]")
_HASHED = re.compile(rf"_[0-9a-f]{{{DIGITS}}}\Z")


def checked_prefix(prefix: str) -> str:
    """A prefix that names can begin with; ``ConfigError`` if they cannot. An empty one leaves them with the server's name."""
    if not isinstance(prefix, str) or _FOREIGN.search(prefix) or len(prefix) > PREFIX_LIMIT:
        raise ConfigError(
            f"a prefix has ASCII letters, digits and underscores, {PREFIX_LIMIT} at most; {prefix!r} does not"
        )
    return prefix


def clean(text: str) -> str:
    """With an underscore in the place of each character that a name cannot have."""
    return _FOREIGN.sub("_", text)


def is_hashed(name: str) -> bool:
    """Whether a name ends like one with a hash, so that it does not tell what it stands for."""
    return _HASHED.search(name) is not None


def namespaces(servers: Iterable[str], prefix: str = PREFIX) -> dict[str, str]:
    """Server → what the names of its tools begin with.

    Servers whose names differ only in characters that are replaced get a hash, each of them. A name that begins with the prefix
    already does not get it twice.
    """
    plain = {
        server: clean(server) if clean(server).startswith(prefix) else prefix + clean(server) for server in servers
    }
    times = Counter(plain.values())
    return {
        server: space if times[space] == 1 else f"{space}_{_digest(server)}" for server, space in sorted(plain.items())
    }


def qualified(tools: Iterable[Raw], spaces: Mapping[str, str]) -> dict[Raw, str]:
    """Tool → its name, which no other one has. ``spaces`` has the namespace of each server."""
    starts = {server: space + SEPARATOR for server, space in spaces.items()}
    others = {
        server: tuple(other for other in starts.values() if other != start and other.startswith(start))
        for server, start in starts.items()
    }
    plain = {raw: starts[raw[0]] + clean(raw[1]) for raw in sorted(set(tools))}
    clear = {raw: name for raw, name in plain.items() if len(name) <= LIMIT and not name.startswith(others[raw[0]])}
    times = Counter(clear.values())
    names = {raw: name for raw, name in clear.items() if times[name] == 1}
    taken = set(names.values())
    for raw in sorted(plain.keys() - names.keys()):
        attempt = 0
        while (name := _hashed(raw, spaces[raw[0]], attempt)) in taken:
            attempt += 1
        taken.add(name)
        names[raw] = name
    return names


def _hashed(raw: Raw, space: str, attempt: int) -> str:
    """A name that ends in a hash, and is as long as it may be: the tool is cut first, then the server."""
    server, tool = raw
    suffix = "_" + _digest(server, tool, *([str(attempt)] if attempt else []))
    space = space[: LIMIT - len(SEPARATOR) - len(suffix)]
    room = LIMIT - len(space) - len(SEPARATOR) - len(suffix)
    return f"{space}{SEPARATOR}{clean(tool)[:room]}{suffix}"


def _digest(*parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.sha1(text, usedforsecurity=False).hexdigest()[:DIGITS]

"""``WWW-Authenticate``: what a server wants from us (RFC 9110, 11.6.1; RFC 6750, 3; RFC 9728, 5.1).

The grammar is ambiguous on purpose: a comma separates parameters and challenges alike. What follows a comma is a parameter if
it has an equals sign. Servers that separate with blanks or semicolons, or leave out the quotes around a URL, are understood, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from . import scopes

#: Headers that are looked at, and characters of each: a server could send megabytes, which take seconds to make sense of.
MOST, LONGEST = 10, 8192
#: Parameters that mean something here.
KNOWN = frozenset({"resource_metadata", "scope", "error", "error_description"})

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ITEM = re.compile(
    rf"""[\s,;]* (?:
      (?P<name>{_TOKEN})[ \t]*=[ \t]*(?: "(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<plain>[^\s,;"]*) )
    | (?P<scheme>{_TOKEN}) (?: [ ]+ (?P<token68>[0-9A-Za-z._~+/-]+=*) (?=[ \t]*(?:,|$)) )?
    | (?P<junk>[^\s,;"]+)
    | $ )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Challenge:
    """One challenge.

    Attributes:
        scheme: The authentication scheme in lower case: ``bearer``, ``dpop``, ``basic``.
        parameters: Its parameters by their names in lower case. One that was given twice is none.
        token68: What schemes like Negotiate have instead.
    """

    scheme: str
    parameters: Mapping[str, str]
    token68: str | None = None

    @property
    def resource_metadata(self) -> str | None:
        """Where the metadata of the resource is (RFC 9728, 5.1), as it was sent."""
        return self.parameters.get("resource_metadata") or None

    @property
    def scope(self) -> tuple[str, ...] | None:
        """The scopes that the operation needs; None where there are none, or none that can be read."""
        return scopes.parse(self.parameters.get("scope"))

    @property
    def error(self) -> str | None:
        """The code of what is wrong with the token: ``invalid_token``, ``insufficient_scope``, ``use_dpop_nonce``."""
        return self.parameters.get("error") or None

    @property
    def error_description(self) -> str | None:
        """The same for people. It is the server's text."""
        return self.parameters.get("error_description") or None


def parse(header: str | Iterable[str]) -> tuple[Challenge, ...]:
    """The challenges of a header, or of several headers of that name; what cannot be read is left out, and what is too long."""
    lines = [header] if isinstance(header, str) else header
    return tuple(challenge for line in islice(lines, MOST) for challenge in _challenges(line[:LONGEST]))


def pick(challenges: Iterable[Challenge], schemes: Collection[str] = ("bearer",)) -> Challenge | None:
    """The challenge to answer: of the scheme that comes first in ``schemes``, the one that says most."""
    found = list(challenges)
    for scheme in schemes:
        ours = [challenge for challenge in found if challenge.scheme == scheme]
        if ours:
            return max(ours, key=lambda challenge: len(KNOWN & challenge.parameters.keys()))
    return None


def _challenges(line: str) -> Iterator[Challenge]:
    scheme: str | None = None
    token68: str | None = None
    pairs: list[tuple[str, str]] = []
    place = 0
    while place < len(line):
        item = _ITEM.match(line, place)
        if item is None or line.startswith('"', item.end()):
            return  # a quote that nothing closes: neither this challenge nor what follows can be told apart
        if item["scheme"]:
            if scheme is not None:
                yield _challenge(scheme, pairs, token68)
            scheme, token68, pairs = item["scheme"], item["token68"], []
        elif item["name"]:
            quoted, plain = item["quoted"], item["plain"]
            pairs.append((item["name"].lower(), plain if quoted is None else _ESCAPED.sub(r"\1", quoted)))
        place = item.end()
    if scheme is not None:
        yield _challenge(scheme, pairs, token68)


def _challenge(scheme: str, pairs: list[tuple[str, str]], token68: str | None) -> Challenge:
    times = Counter(name for name, _ in pairs)
    once = {name: value for name, value in pairs if times[name] == 1}
    return Challenge(scheme.lower(), once, token68)

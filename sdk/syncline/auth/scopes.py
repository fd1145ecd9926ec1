"""Which scopes to ask for (RFC 6749, 3.3; specification, basic/authorization, scope selection and step-up)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

#: Asks for a refresh token (OpenID Connect Core, 11). Only an authorization server can say whether it knows the scope.
OFFLINE = "offline_access"
#: How often the same scopes may be asked for in vain.
IN_VAIN = 2

_SCOPES = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*")


def parse(text: str | None) -> tuple[str, ...] | None:
    """The scopes of a ``scope`` parameter; None where it is absent, empty or malformed."""
    return union(text.split(" ")) if text and _SCOPES.fullmatch(text) else None


def union(*lists: Iterable[str]) -> tuple[str, ...]:
    """All of them once, in their order. No scope is taken to contain another one."""
    return tuple(dict.fromkeys(scope for scopes in lists for scope in scopes))


def select(
    *,
    challenged: tuple[str, ...] | None,
    configured: tuple[str, ...] | None,
    supported: tuple[str, ...] | None,
) -> tuple[str, ...]:
    """The scopes of a first authorization; none means that no ``scope`` is sent and the authorization server decides.

    Args:
        challenged: What the server's challenge asks for: what the present operation needs, whatever ``supported`` says.
        configured: What the user wants in any case. Who says so does not get everything that is ``supported``.
        supported: ``scopes_supported`` of the resource. ``offline_access`` has no business there and is left out.
    """
    if challenged or configured:
        return union(configured or (), challenged or ())
    return tuple(scope for scope in supported or () if scope != OFFLINE)


def with_offline(scopes: tuple[str, ...], supported: tuple[str, ...] | None) -> tuple[str, ...]:
    """With ``offline_access``, if the authorization server lists it.

    It is not added to nothing: it would then be all that is asked for.
    """
    return union(scopes, (OFFLINE,)) if scopes and OFFLINE in (supported or ()) else scopes


def step_up(
    requested: tuple[str, ...], granted: tuple[str, ...], challenged: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """The scopes to ask for after ``insufficient_scope``: those of before and those that are missing.

    None where that cannot help: the token has them already, or the server does not say which ones it misses.

    Args:
        requested: What was asked for before. It may be more than was granted, and is kept.
        granted: What the token has.
        challenged: What the challenge asks for.
    """
    if set(challenged or ()) <= set(granted):
        return None
    return union(requested, challenged or ())


class Upgrades:
    """Which step-ups at one server came to nothing, so that they are not tried for ever. Not for several threads at once."""

    def __init__(self) -> None:
        self._failed: Counter[frozenset[str]] = Counter()

    def may(self, scopes: Iterable[str]) -> bool:
        """Whether it is worth another try."""
        return self._failed[frozenset(scopes)] < IN_VAIN

    def failed(self, scopes: Iterable[str]) -> None:
        """The server still wants more, though these were asked for."""
        self._failed[frozenset(scopes)] += 1

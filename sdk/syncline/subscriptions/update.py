"""What a subscription tells its owner."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from .frames import PREFIX

if TYPE_CHECKING:
    from typing import TypeAlias

    from syncline.errors import SynclineError

    Kind: TypeAlias = Literal["active", "event", "heartbeat", "error", "terminated", "other", "ended"]

_KINDS: Mapping[str, Kind] = {
    PREFIX + "active": "active",
    PREFIX + "event": "event",
    PREFIX + "heartbeat": "heartbeat",
    PREFIX + "error": "error",
    PREFIX + "terminated": "terminated",
}


@dataclass(frozen=True)
class Update:
    """One thing that happened to a subscription.

    Attributes:
        owner: Whose subscription it is.
        subscription_id: Which one of the owner's.
        attempt: What ``start()`` returned: tells a subscription from an earlier one of the same owner and id.
        kind: ``active``, ``event``, ``heartbeat``, ``error`` and ``terminated`` are notifications of those names, ``other`` is
            any other one. ``ended`` comes last, once, and from nobody but us.
        method: The notification's method; None for ``ended``.
        params: The notification's params as the server sent them, ``_meta`` included. Empty where there were none, and for a
            ``terminated`` that the server did not send: whatever ends a subscription, its owner hears of it once.
        error: For ``ended`` and ``terminated``: why, where it was not a plain end.
    """

    owner: Hashable
    subscription_id: str
    attempt: int
    kind: Kind
    method: str | None = None
    params: Mapping[str, object] = field(default_factory=dict)
    error: SynclineError | None = None


def kind_of(method: str) -> Kind:
    """What a notification is called in an update."""
    return _KINDS.get(method, "other")

"""What the engine tells its driver; some of it is what the server sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from syncline.errors import SynclineError


class Notification(NamedTuple):
    """A message from the server that gets no answer.

    Attributes:
        method: For example ``notifications/tools/list_changed``.
        params: As the server sent them; empty if it sent none.
    """

    method: str
    params: dict[str, object]


@dataclass(frozen=True)
class Progress:
    """The server reports on a call that is under way."""

    progress: float
    total: float | None
    message: str | None


@dataclass(frozen=True)
class ServerRequest:
    """The server asks something and waits for our answer, which names the ``id``; ``params`` are empty if they are no object."""

    id: int | str
    method: str
    params: dict[str, object]


@dataclass(frozen=True)
class Withdrawn:
    """The server has lost interest in an answer of ours; if it was not waiting for one, this is just a notification."""

    id: object
    notification: Notification


@dataclass(frozen=True)
class Reply:
    """How a call ended: with a result, or with an error; ``tolerated`` names the fault that was forgiven on the way."""

    result: dict[str, object] | None = None
    error: SynclineError | None = None
    tolerated: str | None = None


@dataclass(frozen=True)
class Tolerated:
    """A fault of the server that changes nothing else."""

    code: str
    place: str
    raw: object


Event: TypeAlias = "Reply | Progress | Notification | ServerRequest | Withdrawn | Tolerated"

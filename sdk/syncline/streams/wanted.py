"""Which changes somebody wants to be told of, and what a notification says about them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from syncline.errors import ConfigError

if TYPE_CHECKING:
    from typing import TypeAlias

    from syncline.protocol.events import Notification

    Kind: TypeAlias = Literal[
        "tools_changed", "prompts_changed", "resources_changed", "resource_updated", "resubscribed"
    ]

UPDATED = "notifications/resources/updated"
CHANGED: Mapping[str, Kind] = {
    "notifications/tools/list_changed": "tools_changed",
    "notifications/prompts/list_changed": "prompts_changed",
    "notifications/resources/list_changed": "resources_changed",
}


class Change(NamedTuple):
    """Something is not as it was.

    Attributes:
        kind: ``tools_changed``, ``prompts_changed``, ``resources_changed``: that list. ``resource_updated``: the resource
            ``uri``, or one below it. ``resubscribed``: the stream was lost and made again; anything may have changed.
        uri: Of the resource, for ``resource_updated``.
    """

    kind: Kind
    uri: str | None = None


@dataclass(frozen=True)
class Wanted:
    """What to be told of."""

    tools: bool
    prompts: bool
    resource_list: bool
    resources: tuple[str, ...]

    def filter(self) -> dict[str, object]:
        """As ``subscriptions/listen`` has it: what is left out is not wanted."""
        asked: dict[str, object] = {
            "toolsListChanged": self.tools,
            "promptsListChanged": self.prompts,
            "resourcesListChanged": self.resource_list,
            "resourceSubscriptions": list(self.resources),
        }
        return {key: value for key, value in asked.items() if value}

    def change(self, notification: Notification) -> Change | None:
        """What a notification says; None if it is of no interest."""
        if notification.method == UPDATED:
            uri = notification.params.get("uri")
            return Change("resource_updated", uri) if self.resources and isinstance(uri, str) else None
        kind = CHANGED.get(notification.method)
        if kind is None:
            return None
        wanted = {"tools_changed": self.tools, "prompts_changed": self.prompts}.get(kind, self.resource_list)
        return Change(kind) if wanted else None

    def ours(self, uri: str, others: Callable[[], Collection[str]]) -> bool:
        """Whether news of a resource are for us and not for ``others()``, where all subscriptions share one stream.

        A server may name a resource below the one that was subscribed to; one that nobody can place is for everybody.
        """
        if uri.startswith(self.resources):
            return True
        return not any(uri.startswith(other) for other in others())


def wanted(tools: bool, prompts: bool, resource_list: bool, resources: Sequence[str]) -> Wanted:
    """What ``client.subscribe()`` was asked for."""
    if isinstance(resources, str):
        raise ConfigError("resources is a sequence of URIs")
    return Wanted(tools, prompts, resource_list, tuple(resources))

# Generated from schema/extensions/events.json by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.

# ruff: noqa

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from syncline_wire.base import WireModel
from syncline_wire.v2026_07_28 import (
    Error,
    MetaObject,
    NotificationMetaObject,
    NotificationParams,
    RequestId,
    RequestMetaObject,
    ResultMetaObject,
)
from typing_extensions import TypeAliasType

DeliveryError = TypeAliasType("DeliveryError", Literal["challenge_failed", "connection_refused", "http_4xx", "http_5xx", "timeout", "tls_error"])
"""
Why the last delivery to a webhook failed.

https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
"""


DeliveryMode = TypeAliasType("DeliveryMode", Literal["poll", "push", "webhook"])
"""
How occurrences reach the client.

https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
"""


class DeliveryStatus(WireModel):
    """
    How delivery to a webhook has been going.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    active: bool
    failed_since: Annotated[str | None, Field(alias="failedSince", json_schema_extra={"x-nullable": True})] = None
    last_delivery_at: Annotated[str | None, Field(alias="lastDeliveryAt", json_schema_extra={"x-nullable": True})] = (
        None
    )
    last_error: Annotated[DeliveryError | None, Field(alias="lastError", json_schema_extra={"x-nullable": True})] = None
    retry_after_ms: Annotated[int | None, Field(alias="retryAfterMs", json_schema_extra={"x-nullable": True})] = None
    throttled: bool | None = None


class EventOccurrence(WireModel):
    """
    One thing that happened.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    data: dict[str, Any]
    """The payload, by the event type's schema. Not to be trusted more than any other input."""
    event_id: Annotated[str, Field(alias="eventId")]
    """The same for each delivery of the same occurrence."""
    name: str
    """The event type."""
    timestamp: str
    """When it happened (ISO 8601)."""


class EventType(WireModel):
    """
    A kind of event that can be watched, with its arguments, payload and ways of delivery.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    delivery: Annotated[list[DeliveryMode], Field(min_length=1)]
    """The ways in which occurrences of this type can be had."""
    description: str
    """What it is, in a sentence or two."""
    input_schema: Annotated[dict[str, Any], Field(alias="inputSchema")]
    """JSON Schema of the arguments."""
    name: str
    """The name for programs."""
    payload_schema: Annotated[dict[str, Any], Field(alias="payloadSchema")]
    """JSON Schema of `data` in its occurrences."""


class EventsActiveNotification(WireModel):
    """
    `notifications/events/active`: the stream is running, or goes on after a gap.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/events/active"] = "notifications/events/active"
    params: EventsActiveNotificationParams


class EventsActiveNotificationParams(WireModel):
    """
    Where the stream stands, and whether something may have been missed.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    truncated: bool | None = None
    """Whether something may have been missed."""


class EventsErrorNotification(WireModel):
    """
    `notifications/events/error`: passing trouble; the stream lives on.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/events/error"] = "notifications/events/error"
    params: EventsErrorNotificationParams


class EventsErrorNotificationParams(WireModel):
    """
    The trouble.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    error: Error


class EventsEventNotification(WireModel):
    """
    `notifications/events/event`: something happened.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/events/event"] = "notifications/events/event"
    params: EventOccurrence


class EventsExtensionCapability(WireModel):
    """
    Settings of the Events extension.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class EventsHeartbeatNotification(WireModel):
    """
    `notifications/events/heartbeat`: nothing happened, the stream is alive.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/events/heartbeat"] = "notifications/events/heartbeat"
    params: EventsHeartbeatNotificationParams


class EventsHeartbeatNotificationParams(WireModel):
    """
    Where the stream stands.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""


class EventsListChangedNotification(WireModel):
    """
    `notifications/events/list_changed`: the event types are not what they were.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/events/list_changed"] = "notifications/events/list_changed"
    params: NotificationParams | None = None


class EventsSubscriptionFilter(WireModel):
    """
    The Events extension's part of a `subscriptions/listen` filter.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    events_list_changed: Annotated[bool | None, Field(alias="eventsListChanged")] = None


class EventsTerminatedNotification(WireModel):
    """
    `notifications/events/terminated`: the subscription is over.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/events/terminated"] = "notifications/events/terminated"
    params: EventsTerminatedNotificationParams


class EventsTerminatedNotificationParams(WireModel):
    """
    Why it is over.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    error: Error


class ListEventsRequest(WireModel):
    """
    `events/list`: ask which event types there are.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["events/list"] = "events/list"
    params: ListEventsRequestParams


class ListEventsRequestParams(WireModel):
    """
    Where in the listing to go on.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    cursor: str | None = None
    """A position that the server gave out; null or absent where there is none."""


class ListEventsResult(WireModel):
    """
    One page of event types.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    events: list[EventType]
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class PollEventsRequest(WireModel):
    """
    `events/poll`: ask what has happened since a cursor.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["events/poll"] = "events/poll"
    params: PollEventsRequestParams


class PollEventsRequestParams(WireModel):
    """
    What to watch, since when, and how much at once.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    arguments: dict[str, Any]
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    max_age_ms: Annotated[int | None, Field(alias="maxAgeMs")] = None
    max_events: Annotated[int | None, Field(alias="maxEvents", ge=1)] = None
    name: str
    """The name for programs."""


class PollEventsResult(WireModel):
    """
    What has happened, and when to ask again.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    events: list[EventOccurrence]
    has_more: Annotated[bool | None, Field(alias="hasMore")] = None
    """Whether more is waiting: ask again at once."""
    next_poll_ms: Annotated[int | None, Field(alias="nextPollMs", ge=0)] = None
    """When to ask again, in milliseconds."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    truncated: bool | None = None
    """Whether something may have been missed."""


ServerNotification = TypeAliasType(
    "ServerNotification",
    Annotated[
        EventsActiveNotification | EventsErrorNotification | EventsEventNotification | EventsHeartbeatNotification | EventsListChangedNotification | EventsTerminatedNotification,
        Field(discriminator="method"),
    ],
)
"""
Any notification that a server may send.

https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
"""


class StreamEventsRequest(WireModel):
    """
    `events/stream`: have occurrences pushed as they happen.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["events/stream"] = "events/stream"
    params: StreamEventsRequestParams


class StreamEventsRequestParams(WireModel):
    """
    What to watch, since when.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    arguments: dict[str, Any]
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    max_age_ms: Annotated[int | None, Field(alias="maxAgeMs")] = None
    name: str
    """The name for programs."""


class StreamEventsResult(WireModel):
    """
    The end of a stream.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class SubscribeEventsRequest(WireModel):
    """
    `events/subscribe`: have occurrences posted to a webhook, or renew that.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["events/subscribe"] = "events/subscribe"
    params: SubscribeEventsRequestParams


class SubscribeEventsRequestParams(WireModel):
    """
    What to watch, since when, and where to post it.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    arguments: dict[str, Any]
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    delivery: WebhookDelivery
    max_age_ms: Annotated[int | None, Field(alias="maxAgeMs")] = None
    name: str
    """The name for programs."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})] = None
    """How long the answer may be kept, in milliseconds."""


class SubscribeEventsResult(WireModel):
    """
    Until when the webhook is served, and how it has been going.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})] = None
    """A position that the server gave out; null or absent where there is none."""
    delivery_status: Annotated[DeliveryStatus | None, Field(alias="deliveryStatus")] = None
    id: str
    refresh_before: Annotated[str | None, Field(alias="refreshBefore", json_schema_extra={"x-nullable": True})]
    """Until when to renew (ISO 8601); null where it never ends."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    truncated: bool | None = None
    """Whether something may have been missed."""


class UnsubscribeEventsRequest(WireModel):
    """
    `events/unsubscribe`: stop posting to a webhook.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["events/unsubscribe"] = "events/unsubscribe"
    params: UnsubscribeEventsRequestParams


ClientRequest = TypeAliasType(
    "ClientRequest",
    Annotated[
        ListEventsRequest | PollEventsRequest | StreamEventsRequest | SubscribeEventsRequest | UnsubscribeEventsRequest,
        Field(discriminator="method"),
    ],
)
"""
Any request that a client may send.

https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
"""


class UnsubscribeEventsRequestParams(WireModel):
    """
    Which subscription to end: the same name, arguments and address.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    arguments: dict[str, Any]
    delivery: WebhookAddress
    name: str
    """The name for programs."""


class UnsubscribeEventsResult(WireModel):
    """
    The webhook is no longer served.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class WebhookAddress(WireModel):
    """
    Where a webhook is.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    url: str


class WebhookDelivery(WireModel):
    """
    Where to post, and the secret to sign with.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    mode: Literal["webhook"] = "webhook"
    secret: str
    url: str


class WebhookGap(WireModel):
    """
    Occurrences may have been missed before this cursor.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    cursor: Annotated[str | None, Field(json_schema_extra={"x-nullable": True})]
    """A position that the server gave out; null or absent where there is none."""
    type: Literal["gap"] = "gap"


class WebhookTerminated(WireModel):
    """
    The subscription behind the webhook is over.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    error: Error
    type: Literal["terminated"] = "terminated"


class WebhookVerification(WireModel):
    """
    A challenge to send back, which shows that the webhook is wanted.

    https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
    """

    challenge: str
    type: Literal["verification"] = "verification"


WebhookEnvelope = TypeAliasType(
    "WebhookEnvelope", Annotated[WebhookVerification | WebhookGap | WebhookTerminated, Field(discriminator="type")]
)
"""
Any message to a webhook that is not an occurrence.

https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415
"""
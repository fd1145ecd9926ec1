# Generated from schema/extensions/tasks.json by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.

# ruff: noqa

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from syncline_wire.base import WireModel
from syncline_wire.v2026_07_28 import (
    Error,
    InputRequests,
    InputResponses,
    NotificationMetaObject,
    RequestId,
    ResultMetaObject,
)
from typing_extensions import TypeAliasType


class CancelTaskRequest(WireModel):
    """
    `tasks/cancel`: ask that a task be stopped.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: CancelTaskRequestParams


class CancelTaskRequestParams(WireModel):
    """
    Which task to stop.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class CancelTaskResult(WireModel):
    """
    Word that the wish to stop a task has arrived.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[Literal["complete"], Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class CancelledTask(WireModel):
    """
    A task that was stopped before it finished.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: Literal["cancelled"] = "cancelled"
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


class CompletedTask(WireModel):
    """
    A task that finished, with the result of the request behind it.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    result: dict[str, Any]
    status: Literal["completed"] = "completed"
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


class CreateTaskResult(WireModel):
    """
    Instead of a result: the task that will produce it.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[Literal["task"], Field(alias="resultType")] = "task"
    """What kind of result this is; absent means complete."""
    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: TaskStatus
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


class DetailedTask(WireModel):
    """
    A task with whatever its status brings: questions, a result or an error.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: TaskStatus
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""
    error: Error | None = None
    input_requests: Annotated[InputRequests | None, Field(alias="inputRequests")] = None
    result: dict[str, Any] | None = None


class FailedTask(WireModel):
    """
    A task that ended in a JSON-RPC error.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    error: Error
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: Literal["failed"] = "failed"
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


class GetTaskRequest(WireModel):
    """
    `tasks/get`: ask how a task is doing.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/get"] = "tasks/get"
    params: GetTaskRequestParams


class GetTaskRequestParams(WireModel):
    """
    Which task is asked about.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class GetTaskResult(WireModel):
    """
    How a task is doing.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[Literal["complete"], Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: TaskStatus
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""
    error: Error | None = None
    input_requests: Annotated[InputRequests | None, Field(alias="inputRequests")] = None
    result: dict[str, Any] | None = None


class InputRequiredTask(WireModel):
    """
    A task that waits for answers.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    input_requests: Annotated[InputRequests, Field(alias="inputRequests")]
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: Literal["input_required"] = "input_required"
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


class Task(WireModel):
    """
    A request that goes on after its answer.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: TaskStatus
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


TaskStatus = TypeAliasType("TaskStatus", Literal["cancelled", "completed", "failed", "input_required", "working"])
"""
Where a task stands.

https://modelcontextprotocol.io/extensions/tasks/overview
"""


class TaskStatusNotification(WireModel):
    """
    A task has changed its status.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/tasks"] = "notifications/tasks"
    params: TaskStatusNotificationParams


ServerNotification = TypeAliasType("ServerNotification", TaskStatusNotification)
"""
Any notification that a server may send.

https://modelcontextprotocol.io/extensions/tasks/overview
"""


class TaskStatusNotificationParams(WireModel):
    """
    The task, as it stands now.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: TaskStatus
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""
    error: Error | None = None
    input_requests: Annotated[InputRequests | None, Field(alias="inputRequests")] = None
    result: dict[str, Any] | None = None


class TaskSubscriptionAcknowledgedNotifications(WireModel):
    """
    The Tasks extension's part of an acknowledged filter.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    task_ids: Annotated[list[str] | None, Field(alias="taskIds")] = None


class TaskSubscriptionNotifications(WireModel):
    """
    The Tasks extension's part of a `subscriptions/listen` filter.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    task_ids: Annotated[list[str] | None, Field(alias="taskIds")] = None


TasksExtensionCapability = TypeAliasType("TasksExtensionCapability", dict[str, Any])
"""
Settings of the Tasks extension; there are none so far.

https://modelcontextprotocol.io/extensions/tasks/overview
"""


class UpdateTaskRequest(WireModel):
    """
    `tasks/update`: answer the questions of a task.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/update"] = "tasks/update"
    params: UpdateTaskRequestParams


ClientRequest = TypeAliasType(
    "ClientRequest", Annotated[CancelTaskRequest | GetTaskRequest | UpdateTaskRequest, Field(discriminator="method")]
)
"""
Any request that a client may send.

https://modelcontextprotocol.io/extensions/tasks/overview
"""


class UpdateTaskRequestParams(WireModel):
    """
    The answers, and the task they are for.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    input_responses: Annotated[InputResponses, Field(alias="inputResponses")]
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class UpdateTaskResult(WireModel):
    """
    Word that the answers have arrived.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[Literal["complete"], Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class WorkingTask(WireModel):
    """
    A task that is under way.

    https://modelcontextprotocol.io/extensions/tasks/overview
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval_ms: Annotated[int | None, Field(alias="pollIntervalMs")] = None
    """How long to wait between questions, in milliseconds."""
    status: Literal["working"] = "working"
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl_ms: Annotated[int | None, Field(alias="ttlMs", json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""
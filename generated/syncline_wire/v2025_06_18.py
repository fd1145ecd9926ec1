# Generated from schema/2025-06-18/schema.json by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.

# ruff: noqa

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from syncline_wire.base import ReadResult, ToolResult, WireModel
from typing_extensions import TypeAliasType


class Annotations(WireModel):
    """
    Hints to the client about who a piece of content is for and how much it matters.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#annotations
    """

    audience: list[Role] | None = None
    """Who it is meant for."""
    last_modified: Annotated[str | None, Field(alias="lastModified")] = None
    """When it last changed (ISO 8601)."""
    priority: Annotated[int | float | None, Field(ge=0.0, le=1.0)] = None
    """How much it matters, from 0 to 1."""


class AudioContent(WireModel):
    """
    Sound, as Base64 with its media type.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#audiocontent
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    data: str
    mime_type: Annotated[str, Field(alias="mimeType")]
    """The media type, where it is known."""
    type: Literal["audio"] = "audio"


class BaseMetadata(WireModel):
    """
    A name for programs and a title for people.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#basemetadata
    """

    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""


class BlobResourceContents(WireModel):
    """
    A binary part of a resource, as Base64.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#blobresourcecontents
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    blob: str
    """The bytes, as Base64 (RFC 4648)."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    uri: str
    """The URI, exactly as the server spells it."""


class BooleanSchema(WireModel):
    """
    A yes-or-no field of a form.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#booleanschema
    """

    default: bool | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    title: str | None = None
    """The name for people."""
    type: Literal["boolean"] = "boolean"


class CallToolRequest(WireModel):
    """
    `tools/call`: run a tool.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#calltoolrequest
    """

    method: Literal["tools/call"] = "tools/call"
    params: CallToolRequestParams


class CallToolRequestParams(WireModel):
    """
    Which tool to run and with what arguments.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#calltoolrequest
    """

    arguments: dict[str, Any] | None = None
    name: str
    """The tool's name."""


class CallToolResult(ToolResult):
    """
    What a tool returned, including a failure of the tool itself.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#calltoolresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: list[ContentBlock]
    """What the tool says, for a model or a person."""
    is_error: Annotated[bool, Field(alias="isError")] = False
    """Whether the tool failed; the content then tells how."""
    structured_content: Annotated[dict[str, Any] | None, Field(alias="structuredContent")] = None
    """The same as data, by the tool's output schema; null is data too."""


class CancelledNotification(WireModel):
    """
    `notifications/cancelled`: the sender has lost interest in a request.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#cancellednotification
    """

    method: Literal["notifications/cancelled"] = "notifications/cancelled"
    params: CancelledNotificationParams


class CancelledNotificationParams(WireModel):
    """
    Which request is no longer wanted, and why.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#cancellednotification
    """

    reason: str | None = None
    request_id: Annotated[RequestId, Field(alias="requestId")]


class ClientCapabilities(WireModel):
    """
    What the client is able and willing to do for the server.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#clientcapabilities
    """

    elicitation: dict[str, Any] | None = None
    experimental: dict[str, dict[str, Any]] | None = None
    roots: RootsCapability | None = None
    sampling: dict[str, Any] | None = None


class CompleteRequest(WireModel):
    """
    `completion/complete`: ask how a half-typed value might go on.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#completerequest
    """

    method: Literal["completion/complete"] = "completion/complete"
    params: CompleteRequestParams


class CompleteRequestParams(WireModel):
    """
    Which argument of which prompt or template is being typed.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#completerequest
    """

    argument: CompletionArgument
    context: CompletionContext | None = None
    ref: Annotated[PromptReference | ResourceTemplateReference, Field(discriminator="type")]


class CompleteResult(WireModel):
    """
    Proposals for the value that is being typed.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#completeresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    completion: Completion


class Completion(WireModel):
    """
    The proposals themselves and how many more there are.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#completeresult
    """

    has_more: Annotated[bool | None, Field(alias="hasMore")] = None
    """Whether there are more than are listed here."""
    total: int | None = None
    """How many there are, where the server knows."""
    values: list[str]
    """The proposals, best first, at most 100."""


class CompletionArgument(WireModel):
    """
    The argument being typed: its name and what is there so far.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#completerequest
    """

    name: str
    """The name for programs."""
    value: str


class CompletionContext(WireModel):
    """
    Arguments whose values are settled already.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#completerequest
    """

    arguments: dict[str, str] | None = None


class CreateMessageRequest(WireModel):
    """
    `sampling/createMessage`: the server asks for a completion from the client's model.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#createmessagerequest
    """

    method: Literal["sampling/createMessage"] = "sampling/createMessage"
    params: CreateMessageRequestParams


class CreateMessageRequestParams(WireModel):
    """
    The conversation to continue, and wishes about the model.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#createmessagerequest
    """

    include_context: Annotated[Literal["allServers", "none", "thisServer"] | None, Field(alias="includeContext")] = None
    max_tokens: Annotated[int, Field(alias="maxTokens")]
    messages: list[SamplingMessage]
    metadata: dict[str, Any] | None = None
    model_preferences: Annotated[ModelPreferences | None, Field(alias="modelPreferences")] = None
    stop_sequences: Annotated[list[str] | None, Field(alias="stopSequences")] = None
    system_prompt: Annotated[str | None, Field(alias="systemPrompt")] = None
    temperature: int | float | None = None


class CreateMessageResult(WireModel):
    """
    What the client's model said.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#createmessageresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: Annotated[TextContent | ImageContent | AudioContent, Field(discriminator="type")]
    model: str
    role: Role
    stop_reason: Annotated[str | None, Field(alias="stopReason")] = None


Cursor = TypeAliasType("Cursor", str)
"""
A position in a listing, meaningful only to the server that made it.

https://modelcontextprotocol.io/specification/2025-06-18/schema#cursor
"""


class ElicitRequest(WireModel):
    """
    `elicitation/create`: the server asks the person in front of the client.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#elicitrequest
    """

    method: Literal["elicitation/create"] = "elicitation/create"
    params: ElicitRequestParams


class ElicitRequestParams(WireModel):
    """
    What is asked of a person: a form or a visit to a page.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#elicitrequest
    """

    message: str
    """What to show to the person."""
    requested_schema: Annotated[dict[str, Any], Field(alias="requestedSchema")]


class ElicitResult(WireModel):
    """
    What the person did, and what they entered.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#elicitresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    action: Literal["accept", "cancel", "decline"]
    """Whether the person agreed, refused, or went away."""
    content: dict[str, bool | int | float | str] | None = None
    """What was entered, by field."""


class EmbeddedResource(WireModel):
    """
    A resource with its contents, inside other content.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#embeddedresource
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    resource: TextResourceContents | BlobResourceContents
    type: Literal["resource"] = "resource"


class EnumSchema(WireModel):
    """
    A form field with fixed choices, in any of its spellings.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#enumschema
    """

    description: str | None = None
    """What it is, in a sentence or two."""
    enum: list[str]
    enum_names: Annotated[list[str] | None, Field(alias="enumNames")] = None
    title: str | None = None
    """The name for people."""
    type: Literal["string"] = "string"


class Error(WireModel):
    """
    What went wrong with a request, by JSON-RPC.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcerror
    """

    code: int
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class GetPromptRequest(WireModel):
    """
    `prompts/get`: have a prompt filled in.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#getpromptrequest
    """

    method: Literal["prompts/get"] = "prompts/get"
    params: GetPromptRequestParams


class GetPromptRequestParams(WireModel):
    """
    Which prompt, with what arguments.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#getpromptrequest
    """

    arguments: dict[str, str] | None = None
    name: str
    """The name for programs."""


class GetPromptResult(WireModel):
    """
    The messages of a prompt, filled in.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#getpromptresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    description: str | None = None
    """What it is, in a sentence or two."""
    messages: list[PromptMessage]
    """The conversation so far, in order."""


class ImageContent(WireModel):
    """
    A picture, as Base64 with its media type.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#imagecontent
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    data: str
    mime_type: Annotated[str, Field(alias="mimeType")]
    """The media type, where it is known."""
    type: Literal["image"] = "image"


class Implementation(WireModel):
    """
    Who a client or server is: name, version and things to show.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#implementation
    """

    name: str
    """A name for programs."""
    title: str | None = None
    """The name for people."""
    version: str
    """Its version, in its own way of counting."""


class InitializeRequest(WireModel):
    """
    `initialize`: the first message of the handshake revisions.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#initializerequest
    """

    method: Literal["initialize"] = "initialize"
    params: InitializeRequestParams


class InitializeRequestParams(WireModel):
    """
    Who the client is, what it can do, which revision it would like.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#initializerequest
    """

    capabilities: ClientCapabilities
    client_info: Annotated[Implementation, Field(alias="clientInfo")]
    protocol_version: Annotated[str, Field(alias="protocolVersion")]


class InitializeResult(WireModel):
    """
    Who the server is, what it can do, which revision it chose.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#initializeresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    capabilities: ServerCapabilities
    instructions: str | None = None
    """How the server is best used, for a model to read."""
    protocol_version: Annotated[str, Field(alias="protocolVersion")]
    """The revision that the server chose."""
    server_info: Annotated[Implementation, Field(alias="serverInfo")]


class InitializedNotification(WireModel):
    """
    `notifications/initialized`: the client has read the answer and the handshake is done.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#initializednotification
    """

    method: Literal["notifications/initialized"] = "notifications/initialized"
    params: NotificationParams | None = None


class JSONRPCError(WireModel):
    """
    An error answer.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcerror
    """

    error: Error
    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"


class JSONRPCNotification(WireModel):
    """
    A message that expects no answer.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcnotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: NotificationParams | None = None


class JSONRPCRequest(WireModel):
    """
    A message that expects an answer.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: RequestParams | None = None


class JSONRPCResponse(WireModel):
    """
    An answer.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: Result


JSONRPCMessage = TypeAliasType("JSONRPCMessage", JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError)
"""
Any message.

https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcmessage
"""


class ListPromptsRequest(WireModel):
    """
    `prompts/list`: ask which prompts there are.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listpromptsrequest
    """

    method: Literal["prompts/list"] = "prompts/list"
    params: PaginatedRequestParams | None = None


class ListPromptsResult(WireModel):
    """
    One page of prompts.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listpromptsresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    prompts: list[Prompt]


class ListResourceTemplatesRequest(WireModel):
    """
    `resources/templates/list`: ask which resource templates there are.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listresourcetemplatesrequest
    """

    method: Literal["resources/templates/list"] = "resources/templates/list"
    params: PaginatedRequestParams | None = None


class ListResourceTemplatesResult(WireModel):
    """
    One page of resource templates.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listresourcetemplatesresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    resource_templates: Annotated[list[ResourceTemplate], Field(alias="resourceTemplates")]


class ListResourcesRequest(WireModel):
    """
    `resources/list`: ask which resources there are.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listresourcesrequest
    """

    method: Literal["resources/list"] = "resources/list"
    params: PaginatedRequestParams | None = None


class ListResourcesResult(WireModel):
    """
    One page of resources.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listresourcesresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    resources: list[Resource]


class ListRootsRequest(WireModel):
    """
    `roots/list`: the server asks where it may work.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listrootsrequest
    """

    method: Literal["roots/list"] = "roots/list"
    params: ListRootsRequestParams | None = None


class ListRootsRequestParams(WireModel):
    """
    Nothing but metadata.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listrootsrequest
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class ListRootsResult(WireModel):
    """
    The places where a server may work.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listrootsresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    roots: list[Root]


class ListToolsRequest(WireModel):
    """
    `tools/list`: ask which tools there are.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listtoolsrequest
    """

    method: Literal["tools/list"] = "tools/list"
    params: PaginatedRequestParams | None = None


class ListToolsResult(WireModel):
    """
    One page of tools.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listtoolsresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    tools: list[Tool]


LoggingLevel = TypeAliasType("LoggingLevel", Literal["alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"])
"""
How grave a log message is, by the names of RFC 5424.

https://modelcontextprotocol.io/specification/2025-06-18/schema#logginglevel
"""


class LoggingMessageNotification(WireModel):
    """
    `notifications/message`: a log message of the server.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#loggingmessagenotification
    """

    method: Literal["notifications/message"] = "notifications/message"
    params: LoggingMessageNotificationParams


class LoggingMessageNotificationParams(WireModel):
    """
    The log message.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#loggingmessagenotification
    """

    data: Annotated[Any, Field(json_schema_extra={"x-nullable": True})]
    """The message: any JSON, null included."""
    level: LoggingLevel
    logger: str | None = None


class ModelHint(WireModel):
    """
    A model that would be welcome.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#modelhint
    """

    name: str | None = None
    """The name for programs."""


class ModelPreferences(WireModel):
    """
    What matters in the choice of a model; the client decides.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#modelpreferences
    """

    cost_priority: Annotated[int | float | None, Field(alias="costPriority", ge=0.0, le=1.0)] = None
    hints: list[ModelHint] | None = None
    intelligence_priority: Annotated[int | float | None, Field(alias="intelligencePriority", ge=0.0, le=1.0)] = None
    speed_priority: Annotated[int | float | None, Field(alias="speedPriority", ge=0.0, le=1.0)] = None


class Notification(WireModel):
    """
    Base of notifications.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#notification
    """

    method: str
    params: NotificationParams | None = None


class NotificationParams(WireModel):
    """
    Base of the parameters of notifications.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#initializednotification
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class NumberSchema(WireModel):
    """
    A form field for a number.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#numberschema
    """

    description: str | None = None
    """What it is, in a sentence or two."""
    maximum: int | float | None = None
    minimum: int | float | None = None
    title: str | None = None
    """The name for people."""
    type: Literal["integer", "number"]


class PaginatedRequest(WireModel):
    """
    Base of requests for one page of a listing.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#paginatedrequest
    """

    method: str
    params: PaginatedRequestParams | None = None


class PaginatedRequestParams(WireModel):
    """
    Where in the listing to go on.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#listpromptsrequest
    """

    cursor: str | None = None
    """A position that the server gave out; null or absent where there is none."""


class PaginatedResult(WireModel):
    """
    Base of results that hold one page of a listing.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#paginatedresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""


class PingRequest(WireModel):
    """
    `ping`: ask for a sign of life.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#pingrequest
    """

    method: Literal["ping"] = "ping"
    params: RequestParams | None = None


class ProgressNotification(WireModel):
    """
    `notifications/progress`: how far a request has come.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#progressnotification
    """

    method: Literal["notifications/progress"] = "notifications/progress"
    params: ProgressNotificationParams


class ProgressNotificationParams(WireModel):
    """
    How far, of how much, for which request.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#progressnotification
    """

    message: str | None = None
    """What is going on, for people."""
    progress: int | float
    """How far it has come; it only grows."""
    progress_token: Annotated[ProgressToken, Field(alias="progressToken")]
    total: int | float | None = None
    """How far it will go, where that is known."""


ProgressToken = TypeAliasType("ProgressToken", str | int)
"""
What ties progress to the request it belongs to.

https://modelcontextprotocol.io/specification/2025-06-18/schema#progresstoken
"""


class Prompt(WireModel):
    """
    A prompt that can be filled in.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#prompt
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    arguments: list[PromptArgument] | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""


class PromptArgument(WireModel):
    """
    One blank in a prompt.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#promptargument
    """

    description: str | None = None
    """What it is, in a sentence or two."""
    name: str
    """The name for programs."""
    required: bool | None = None
    """Whether it must be filled in."""
    title: str | None = None
    """The name for people."""


class PromptListChangedNotification(WireModel):
    """
    `notifications/prompts/list_changed`: the prompts are not what they were.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#promptlistchangednotification
    """

    method: Literal["notifications/prompts/list_changed"] = "notifications/prompts/list_changed"
    params: NotificationParams | None = None


class PromptMessage(WireModel):
    """
    One message of a prompt.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#promptmessage
    """

    content: ContentBlock
    role: Role


class PromptReference(WireModel):
    """
    A prompt, by name.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#promptreference
    """

    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""
    type: Literal["ref/prompt"] = "ref/prompt"


class PromptsCapability(WireModel):
    """
    What a server can do with prompts.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class ReadResourceRequest(WireModel):
    """
    `resources/read`: fetch a resource.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#readresourcerequest
    """

    method: Literal["resources/read"] = "resources/read"
    params: ReadResourceRequestParams


class ReadResourceRequestParams(WireModel):
    """
    Which resource to fetch.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#readresourcerequest
    """

    uri: str
    """The URI, exactly as the server spells it."""


class ReadResourceResult(ReadResult):
    """
    The contents of a resource, in one part or several.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#readresourceresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    contents: list[TextResourceContents | BlobResourceContents]
    """The parts; several where one URI stands for many."""


class Request(WireModel):
    """
    Base of requests.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#request
    """

    method: str
    params: RequestParams | None = None


RequestId = TypeAliasType("RequestId", str | int)
"""
What ties an answer to its request; a string is never equal to a number.

https://modelcontextprotocol.io/specification/2025-06-18/schema#requestid
"""


class RequestMeta(WireModel):
    """
    Metadata of a request.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcrequest
    """

    progress_token: Annotated[ProgressToken | None, Field(alias="progressToken")] = None


class RequestParams(WireModel):
    """
    Base of the parameters of requests.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#jsonrpcrequest
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class Resource(WireModel):
    """
    Something that can be read, by its URI.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resource
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    name: str
    """The name for programs."""
    size: int | None = None
    """Size of the raw contents in bytes."""
    title: str | None = None
    """The name for people."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceContents(WireModel):
    """
    Base of the parts of a resource.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourcecontents
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceLink(WireModel):
    """
    A pointer to a resource that can be read.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourcelink
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    name: str
    """The name for programs."""
    size: int | None = None
    """Size of the raw contents in bytes."""
    title: str | None = None
    """The name for people."""
    type: Literal["resource_link"] = "resource_link"
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceListChangedNotification(WireModel):
    """
    `notifications/resources/list_changed`: the resources are not what they were.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourcelistchangednotification
    """

    method: Literal["notifications/resources/list_changed"] = "notifications/resources/list_changed"
    params: NotificationParams | None = None


class ResourceTemplate(WireModel):
    """
    A family of resources, by a URI with blanks.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourcetemplate
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""
    uri_template: Annotated[str, Field(alias="uriTemplate")]
    """The URI with blanks (RFC 6570)."""


class ResourceTemplateReference(WireModel):
    """
    A resource or template, by its URI.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourcetemplatereference
    """

    type: Literal["ref/resource"] = "ref/resource"
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceUpdatedNotification(WireModel):
    """
    `notifications/resources/updated`: a resource is not what it was.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourceupdatednotification
    """

    method: Literal["notifications/resources/updated"] = "notifications/resources/updated"
    params: ResourceUpdatedNotificationParams


class ResourceUpdatedNotificationParams(WireModel):
    """
    Which resource.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#resourceupdatednotification
    """

    uri: str
    """The URI, exactly as the server spells it."""


class ResourcesCapability(WireModel):
    """
    What a server can do with resources.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None
    subscribe: bool | None = None


class Result(WireModel):
    """
    Base of results.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#result
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


ClientResult = TypeAliasType("ClientResult", Result | CreateMessageResult | ListRootsResult | ElicitResult)
"""
Any result that a client may send.

https://modelcontextprotocol.io/specification/2025-06-18/schema#clientresult
"""


EmptyResult = TypeAliasType("EmptyResult", Result)
"""
A result that says no more than that it worked.

https://modelcontextprotocol.io/specification/2025-06-18/schema#emptyresult
"""


Role = TypeAliasType("Role", Literal["assistant", "user"])
"""
Who is speaking.

https://modelcontextprotocol.io/specification/2025-06-18/schema#role
"""


class Root(WireModel):
    """
    A place where a server may work.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#root
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    name: str | None = None
    """The name for programs."""
    uri: str
    """The URI, exactly as the server spells it."""


class RootsCapability(WireModel):
    """
    What a client can tell about roots.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#clientcapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class RootsListChangedNotification(WireModel):
    """
    `notifications/roots/list_changed`: the roots are not what they were.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#rootslistchangednotification
    """

    method: Literal["notifications/roots/list_changed"] = "notifications/roots/list_changed"
    params: NotificationParams | None = None


ClientNotification = TypeAliasType(
    "ClientNotification",
    Annotated[
        CancelledNotification | InitializedNotification | ProgressNotification | RootsListChangedNotification,
        Field(discriminator="method"),
    ],
)
"""
Any notification that a client may send.

https://modelcontextprotocol.io/specification/2025-06-18/schema#clientnotification
"""


class SamplingMessage(WireModel):
    """
    One message of a conversation with a model.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#samplingmessage
    """

    content: Annotated[TextContent | ImageContent | AudioContent, Field(discriminator="type")]
    role: Role


class ServerCapabilities(WireModel):
    """
    What the server is able to do.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#servercapabilities
    """

    completions: dict[str, Any] | None = None
    experimental: dict[str, dict[str, Any]] | None = None
    logging: dict[str, Any] | None = None
    prompts: PromptsCapability | None = None
    resources: ResourcesCapability | None = None
    tools: ToolsCapability | None = None


ServerRequest = TypeAliasType(
    "ServerRequest",
    Annotated[
        PingRequest | CreateMessageRequest | ListRootsRequest | ElicitRequest, Field(discriminator="method")
    ],
)
"""
Any request that a server may send.

https://modelcontextprotocol.io/specification/2025-06-18/schema#serverrequest
"""


ServerResult = TypeAliasType("ServerResult", Result | InitializeResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | CompleteResult)
"""
Any result that a server may send.

https://modelcontextprotocol.io/specification/2025-06-18/schema#serverresult
"""


class SetLevelRequest(WireModel):
    """
    `logging/setLevel`: ask for log messages from a level up.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#setlevelrequest
    """

    method: Literal["logging/setLevel"] = "logging/setLevel"
    params: SetLevelRequestParams


class SetLevelRequestParams(WireModel):
    """
    From which level up.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#setlevelrequest
    """

    level: LoggingLevel


class StringSchema(WireModel):
    """
    A form field for text.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#stringschema
    """

    description: str | None = None
    """What it is, in a sentence or two."""
    format: Literal["date", "date-time", "email", "uri"] | None = None
    max_length: Annotated[int | None, Field(alias="maxLength")] = None
    min_length: Annotated[int | None, Field(alias="minLength")] = None
    title: str | None = None
    """The name for people."""
    type: Literal["string"] = "string"


PrimitiveSchemaDefinition = TypeAliasType("PrimitiveSchemaDefinition", StringSchema | NumberSchema | BooleanSchema | EnumSchema)
"""
Any field of a form.

https://modelcontextprotocol.io/specification/2025-06-18/schema#primitiveschemadefinition
"""


class SubscribeRequest(WireModel):
    """
    `resources/subscribe`: ask to hear when a resource changes.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#subscriberequest
    """

    method: Literal["resources/subscribe"] = "resources/subscribe"
    params: SubscribeRequestParams


class SubscribeRequestParams(WireModel):
    """
    Which resource to hear about.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#subscriberequest
    """

    uri: str
    """The URI, exactly as the server spells it."""


class TextContent(WireModel):
    """
    Text.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#textcontent
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    text: str
    """The text."""
    type: Literal["text"] = "text"


ContentBlock = TypeAliasType(
    "ContentBlock",
    Annotated[
        TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource, Field(discriminator="type")
    ],
)
"""
One piece of content: text, image, audio, a link to a resource, or a resource in full.

https://modelcontextprotocol.io/specification/2025-06-18/schema#contentblock
"""


class TextResourceContents(WireModel):
    """
    A part of a resource that is text.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#textresourcecontents
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    text: str
    """The text."""
    uri: str
    """The URI, exactly as the server spells it."""


class Tool(WireModel):
    """
    Something the server can do when called.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#tool
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: ToolAnnotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""
    input_schema: Annotated[dict[str, Any], Field(alias="inputSchema")]
    """JSON Schema of the arguments, as the server sent it."""
    output_schema: Annotated[dict[str, Any] | None, Field(alias="outputSchema")] = None
    """JSON Schema of the structured content, as the server sent it."""


class ToolAnnotations(WireModel):
    """
    What a server says about a tool's behaviour; to be believed only of servers that are trusted.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#toolannotations
    """

    destructive_hint: Annotated[bool | None, Field(alias="destructiveHint")] = None
    """Whether it may destroy something; true where nothing is said."""
    idempotent_hint: Annotated[bool | None, Field(alias="idempotentHint")] = None
    """Whether doing it twice is the same as doing it once; false where nothing is said."""
    open_world_hint: Annotated[bool | None, Field(alias="openWorldHint")] = None
    """Whether it reaches beyond the server; true where nothing is said."""
    read_only_hint: Annotated[bool | None, Field(alias="readOnlyHint")] = None
    """Whether it changes nothing; false where nothing is said."""
    title: str | None = None
    """The name for people."""


class ToolListChangedNotification(WireModel):
    """
    `notifications/tools/list_changed`: the tools are not what they were.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#toollistchangednotification
    """

    method: Literal["notifications/tools/list_changed"] = "notifications/tools/list_changed"
    params: NotificationParams | None = None


ServerNotification = TypeAliasType(
    "ServerNotification",
    Annotated[
        CancelledNotification | ProgressNotification | ResourceListChangedNotification | ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | LoggingMessageNotification,
        Field(discriminator="method"),
    ],
)
"""
Any notification that a server may send.

https://modelcontextprotocol.io/specification/2025-06-18/schema#servernotification
"""


class ToolsCapability(WireModel):
    """
    What a server can do with tools.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class UnsubscribeRequest(WireModel):
    """
    `resources/unsubscribe`: no longer hear when a resource changes.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#unsubscriberequest
    """

    method: Literal["resources/unsubscribe"] = "resources/unsubscribe"
    params: UnsubscribeRequestParams


ClientRequest = TypeAliasType(
    "ClientRequest",
    Annotated[
        InitializeRequest | PingRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscribeRequest | UnsubscribeRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest | SetLevelRequest | CompleteRequest,
        Field(discriminator="method"),
    ],
)
"""
Any request that a client may send.

https://modelcontextprotocol.io/specification/2025-06-18/schema#clientrequest
"""


class UnsubscribeRequestParams(WireModel):
    """
    Which resource is of no more interest.

    https://modelcontextprotocol.io/specification/2025-06-18/schema#unsubscriberequest
    """

    uri: str
    """The URI, exactly as the server spells it."""
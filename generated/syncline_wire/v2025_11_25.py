# Generated from schema/2025-11-25/schema.json by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.

# ruff: noqa

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field
from syncline_wire.base import ReadResult, ToolResult, WireModel
from typing_extensions import TypeAliasType


class Annotations(WireModel):
    """
    Hints to the client about who a piece of content is for and how much it matters.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#annotations
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#audiocontent
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#basemetadata
    """

    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""


class BlobResourceContents(WireModel):
    """
    A binary part of a resource, as Base64.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#blobresourcecontents
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#booleanschema
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tools/call"] = "tools/call"
    params: CallToolRequestParams


class CallToolRequestParams(WireModel):
    """
    Which tool to run and with what arguments.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolrequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    arguments: dict[str, Any] | None = None
    name: str
    """The tool's name."""
    task: TaskMetadata | None = None


class CallToolResult(ToolResult):
    """
    What a tool returned, including a failure of the tool itself.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: list[ContentBlock]
    """What the tool says, for a model or a person."""
    is_error: Annotated[bool, Field(alias="isError")] = False
    """Whether the tool failed; the content then tells how."""
    structured_content: Annotated[dict[str, Any] | None, Field(alias="structuredContent")] = None
    """The same as data, by the tool's output schema; null is data too."""


class CancelTaskRequest(WireModel):
    """
    `tasks/cancel`: ask that a task be stopped.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#canceltaskrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/cancel"] = "tasks/cancel"
    params: CancelTaskRequestParams


class CancelTaskRequestParams(WireModel):
    """
    Which task to stop.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#canceltaskrequest
    """

    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class CancelledNotification(WireModel):
    """
    `notifications/cancelled`: the sender has lost interest in a request.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#cancellednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/cancelled"] = "notifications/cancelled"
    params: CancelledNotificationParams


class CancelledNotificationParams(WireModel):
    """
    Which request is no longer wanted, and why.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#cancellednotificationparams
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    reason: str | None = None
    request_id: Annotated[RequestId | None, Field(alias="requestId")] = None


class ClientCapabilities(WireModel):
    """
    What the client is able and willing to do for the server.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    elicitation: ElicitationCapability | None = None
    experimental: dict[str, dict[str, Any]] | None = None
    roots: RootsCapability | None = None
    sampling: SamplingCapability | None = None
    tasks: ClientTasksCapability | None = None


class ClientTasksCapability(WireModel):
    """
    What a client can do with tasks that it runs itself.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    cancel: dict[str, Any] | None = None
    list: dict[str, Any] | None = None
    requests: ClientTasksCapabilityRequests | None = None


class ClientTasksCapabilityRequests(WireModel):
    """
    Requests that a client can run as tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    elicitation: ClientTasksCapabilityRequestsElicitation | None = None
    sampling: ClientTasksCapabilityRequestsSampling | None = None


class ClientTasksCapabilityRequestsElicitation(WireModel):
    """
    Elicitation requests that a client can run as tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    create: dict[str, Any] | None = None


class ClientTasksCapabilityRequestsSampling(WireModel):
    """
    Sampling requests that a client can run as tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    create_message: Annotated[dict[str, Any] | None, Field(alias="createMessage")] = None


class CompleteRequest(WireModel):
    """
    `completion/complete`: ask how a half-typed value might go on.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#completerequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["completion/complete"] = "completion/complete"
    params: CompleteRequestParams


class CompleteRequestParams(WireModel):
    """
    Which argument of which prompt or template is being typed.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#completerequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    argument: CompletionArgument
    context: CompletionContext | None = None
    ref: Annotated[PromptReference | ResourceTemplateReference, Field(discriminator="type")]


class CompleteResult(WireModel):
    """
    Proposals for the value that is being typed.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#completeresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    completion: Completion


class Completion(WireModel):
    """
    The proposals themselves and how many more there are.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#completeresult
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#completerequestparams
    """

    name: str
    """The name for programs."""
    value: str


class CompletionContext(WireModel):
    """
    Arguments whose values are settled already.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#completerequestparams
    """

    arguments: dict[str, str] | None = None


class CreateMessageRequest(WireModel):
    """
    `sampling/createMessage`: the server asks for a completion from the client's model.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#createmessagerequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["sampling/createMessage"] = "sampling/createMessage"
    params: CreateMessageRequestParams


class CreateMessageRequestParams(WireModel):
    """
    The conversation to continue, and wishes about the model.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#createmessagerequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    include_context: Annotated[Literal["allServers", "none", "thisServer"] | None, Field(alias="includeContext")] = None
    max_tokens: Annotated[int, Field(alias="maxTokens")]
    messages: list[SamplingMessage]
    metadata: dict[str, Any] | None = None
    model_preferences: Annotated[ModelPreferences | None, Field(alias="modelPreferences")] = None
    stop_sequences: Annotated[list[str] | None, Field(alias="stopSequences")] = None
    system_prompt: Annotated[str | None, Field(alias="systemPrompt")] = None
    task: TaskMetadata | None = None
    temperature: int | float | None = None
    tool_choice: Annotated[ToolChoice | None, Field(alias="toolChoice")] = None
    tools: list[Tool] | None = None


class CreateMessageResult(WireModel):
    """
    What the client's model said.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#createmessageresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | list[SamplingMessageContentBlock]
    model: str
    role: Role
    stop_reason: Annotated[str | None, Field(alias="stopReason")] = None


class CreateTaskResult(WireModel):
    """
    Instead of a result: the task that will produce it.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#createtaskresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    task: Task


Cursor = TypeAliasType("Cursor", str)
"""
A position in a listing, meaningful only to the server that made it.

https://modelcontextprotocol.io/specification/2025-11-25/schema#cursor
"""


class ElicitRequest(WireModel):
    """
    `elicitation/create`: the server asks the person in front of the client.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["elicitation/create"] = "elicitation/create"
    params: ElicitRequestParams


class ElicitRequestFormParams(WireModel):
    """
    A question with a form to fill in.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitrequestformparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    message: str
    """What to show to the person."""
    mode: Literal["form"] | None = None
    task: TaskMetadata | None = None
    requested_schema: Annotated[dict[str, Any], Field(alias="requestedSchema")]
    """The form, as a JSON Schema of one level."""


class ElicitRequestURLParams(WireModel):
    """
    A question that is settled on a web page.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitrequesturlparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    elicitation_id: Annotated[str, Field(alias="elicitationId")]
    message: str
    """What to show to the person."""
    mode: Literal["url"] = "url"
    task: TaskMetadata | None = None
    url: str


ElicitRequestParams = TypeAliasType("ElicitRequestParams", ElicitRequestURLParams | ElicitRequestFormParams)
"""
What is asked of a person: a form or a visit to a page.

https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitrequestparams
"""


class ElicitResult(WireModel):
    """
    What the person did, and what they entered.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    action: Literal["accept", "cancel", "decline"]
    """Whether the person agreed, refused, or went away."""
    content: dict[str, list[str] | bool | int | float | str] | None = None
    """What was entered, by field."""


class ElicitationCapability(WireModel):
    """
    Which kinds of questions the client can put to a person.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    form: dict[str, Any] | None = None
    url: dict[str, Any] | None = None


class ElicitationCompleteNotification(WireModel):
    """
    `notifications/elicitation/complete`: the web page has done its part.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitationcompletenotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/elicitation/complete"] = "notifications/elicitation/complete"
    params: ElicitationCompleteNotificationParams


class ElicitationCompleteNotificationParams(WireModel):
    """
    Which question was settled.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#elicitationcompletenotification
    """

    elicitation_id: Annotated[str, Field(alias="elicitationId")]


class EmbeddedResource(WireModel):
    """
    A resource with its contents, inside other content.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#embeddedresource
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    resource: TextResourceContents | BlobResourceContents
    type: Literal["resource"] = "resource"


class EnumOption(WireModel):
    """
    One choice: the value and what people see.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#titledmultiselectenumschema
    """

    const: str
    title: str
    """The name for people."""


class EnumOptions(WireModel):
    """
    The choices of a field that takes several.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#titledmultiselectenumschema
    """

    any_of: Annotated[list[EnumOption], Field(alias="anyOf")]


class EnumValues(WireModel):
    """
    The bare values of a field that takes several.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#untitledmultiselectenumschema
    """

    enum: list[str]
    type: Literal["string"] = "string"


class Error(WireModel):
    """
    What went wrong with a request, by JSON-RPC.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#error
    """

    code: int
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class GetPromptRequest(WireModel):
    """
    `prompts/get`: have a prompt filled in.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#getpromptrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["prompts/get"] = "prompts/get"
    params: GetPromptRequestParams


class GetPromptRequestParams(WireModel):
    """
    Which prompt, with what arguments.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#getpromptrequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    arguments: dict[str, str] | None = None
    name: str
    """The name for programs."""


class GetPromptResult(WireModel):
    """
    The messages of a prompt, filled in.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#getpromptresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    description: str | None = None
    """What it is, in a sentence or two."""
    messages: list[PromptMessage]
    """The conversation so far, in order."""


class GetTaskPayloadRequest(WireModel):
    """
    `tasks/result`: wait for what a task produces.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskpayloadrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/result"] = "tasks/result"
    params: GetTaskPayloadRequestParams


class GetTaskPayloadRequestParams(WireModel):
    """
    Which task's outcome is wanted.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskpayloadrequest
    """

    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class GetTaskPayloadResult(WireModel):
    """
    What the request behind the task would have returned.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskpayloadresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class GetTaskRequest(WireModel):
    """
    `tasks/get`: ask how a task is doing.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/get"] = "tasks/get"
    params: GetTaskRequestParams


class GetTaskRequestParams(WireModel):
    """
    Which task is asked about.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskrequest
    """

    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class Icon(WireModel):
    """
    A picture that stands for something in a user interface.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#icon
    """

    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    sizes: list[str] | None = None
    src: str
    theme: Literal["dark", "light"] | None = None


class Icons(WireModel):
    """
    Base of what can have icons.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#icons
    """

    icons: list[Icon] | None = None
    """Pictures for user interfaces."""


class ImageContent(WireModel):
    """
    A picture, as Base64 with its media type.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#imagecontent
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#implementation
    """

    description: str | None = None
    """What it is, in a sentence or two."""
    icons: list[Icon] | None = None
    """Pictures for user interfaces."""
    name: str
    """A name for programs."""
    title: str | None = None
    """The name for people."""
    version: str
    """Its version, in its own way of counting."""
    website_url: Annotated[str | None, Field(alias="websiteUrl")] = None


class InitializeRequest(WireModel):
    """
    `initialize`: the first message of the handshake revisions.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#initializerequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["initialize"] = "initialize"
    params: InitializeRequestParams


class InitializeRequestParams(WireModel):
    """
    Who the client is, what it can do, which revision it would like.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#initializerequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    capabilities: ClientCapabilities
    client_info: Annotated[Implementation, Field(alias="clientInfo")]
    protocol_version: Annotated[str, Field(alias="protocolVersion")]


class InitializeResult(WireModel):
    """
    Who the server is, what it can do, which revision it chose.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#initializeresult
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#initializednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/initialized"] = "notifications/initialized"
    params: NotificationParams | None = None


class JSONRPCErrorResponse(WireModel):
    """
    An error answer.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#jsonrpcerrorresponse
    """

    error: Error
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


class JSONRPCNotification(WireModel):
    """
    A message that expects no answer.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#jsonrpcnotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: dict[str, Any] | None = None


class JSONRPCRequest(WireModel):
    """
    A message that expects an answer.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#jsonrpcrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: dict[str, Any] | None = None


class JSONRPCResultResponse(WireModel):
    """
    An answer that carries a result.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#jsonrpcresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: Result


JSONRPCMessage = TypeAliasType("JSONRPCMessage", JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse)
"""
Any message.

https://modelcontextprotocol.io/specification/2025-11-25/schema#jsonrpcmessage
"""


JSONRPCResponse = TypeAliasType("JSONRPCResponse", JSONRPCResultResponse | JSONRPCErrorResponse)
"""
An answer.

https://modelcontextprotocol.io/specification/2025-11-25/schema#jsonrpcresponse
"""


class LegacyTitledEnumSchema(WireModel):
    """
    A form field with fixed choices whose names are in a list of their own.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#legacytitledenumschema
    """

    default: str | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    enum: list[str]
    enum_names: Annotated[list[str] | None, Field(alias="enumNames")] = None
    title: str | None = None
    """The name for people."""
    type: Literal["string"] = "string"


class ListPromptsRequest(WireModel):
    """
    `prompts/list`: ask which prompts there are.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listpromptsrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["prompts/list"] = "prompts/list"
    params: PaginatedRequestParams | None = None


class ListPromptsResult(WireModel):
    """
    One page of prompts.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listpromptsresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    prompts: list[Prompt]


class ListResourceTemplatesRequest(WireModel):
    """
    `resources/templates/list`: ask which resource templates there are.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listresourcetemplatesrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/templates/list"] = "resources/templates/list"
    params: PaginatedRequestParams | None = None


class ListResourceTemplatesResult(WireModel):
    """
    One page of resource templates.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listresourcetemplatesresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    resource_templates: Annotated[list[ResourceTemplate], Field(alias="resourceTemplates")]


class ListResourcesRequest(WireModel):
    """
    `resources/list`: ask which resources there are.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listresourcesrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/list"] = "resources/list"
    params: PaginatedRequestParams | None = None


class ListResourcesResult(WireModel):
    """
    One page of resources.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listresourcesresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    resources: list[Resource]


class ListRootsRequest(WireModel):
    """
    `roots/list`: the server asks where it may work.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listrootsrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["roots/list"] = "roots/list"
    params: RequestParams | None = None


class ListRootsResult(WireModel):
    """
    The places where a server may work.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listrootsresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    roots: list[Root]


class ListTasksRequest(WireModel):
    """
    `tasks/list`: ask which tasks there are.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listtasksrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tasks/list"] = "tasks/list"
    params: PaginatedRequestParams | None = None


class ListTasksResult(WireModel):
    """
    One page of tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listtasksresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    tasks: list[Task]


class ListToolsRequest(WireModel):
    """
    `tools/list`: ask which tools there are.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listtoolsrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tools/list"] = "tools/list"
    params: PaginatedRequestParams | None = None


class ListToolsResult(WireModel):
    """
    One page of tools.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#listtoolsresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    tools: list[Tool]


LoggingLevel = TypeAliasType("LoggingLevel", Literal["alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"])
"""
How grave a log message is, by the names of RFC 5424.

https://modelcontextprotocol.io/specification/2025-11-25/schema#logginglevel
"""


class LoggingMessageNotification(WireModel):
    """
    `notifications/message`: a log message of the server.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#loggingmessagenotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/message"] = "notifications/message"
    params: LoggingMessageNotificationParams


class LoggingMessageNotificationParams(WireModel):
    """
    The log message.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#loggingmessagenotificationparams
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    data: Annotated[Any, Field(json_schema_extra={"x-nullable": True})]
    """The message: any JSON, null included."""
    level: LoggingLevel
    logger: str | None = None


class ModelHint(WireModel):
    """
    A model that would be welcome.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#modelhint
    """

    name: str | None = None
    """The name for programs."""


class ModelPreferences(WireModel):
    """
    What matters in the choice of a model; the client decides.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#modelpreferences
    """

    cost_priority: Annotated[int | float | None, Field(alias="costPriority", ge=0.0, le=1.0)] = None
    hints: list[ModelHint] | None = None
    intelligence_priority: Annotated[int | float | None, Field(alias="intelligencePriority", ge=0.0, le=1.0)] = None
    speed_priority: Annotated[int | float | None, Field(alias="speedPriority", ge=0.0, le=1.0)] = None


class Notification(WireModel):
    """
    Base of notifications.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#notification
    """

    method: str
    params: dict[str, Any] | None = None


class NotificationParams(WireModel):
    """
    Base of the parameters of notifications.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#notificationparams
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class NumberSchema(WireModel):
    """
    A form field for a number.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#numberschema
    """

    default: int | float | None = None
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#paginatedrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: PaginatedRequestParams | None = None


class PaginatedRequestParams(WireModel):
    """
    Where in the listing to go on.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#paginatedrequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cursor: str | None = None
    """A position that the server gave out; null or absent where there is none."""


class PaginatedResult(WireModel):
    """
    Base of results that hold one page of a listing.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#paginatedresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""


class PingRequest(WireModel):
    """
    `ping`: ask for a sign of life.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#pingrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["ping"] = "ping"
    params: RequestParams | None = None


class ProgressNotification(WireModel):
    """
    `notifications/progress`: how far a request has come.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#progressnotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/progress"] = "notifications/progress"
    params: ProgressNotificationParams


class ProgressNotificationParams(WireModel):
    """
    How far, of how much, for which request.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#progressnotificationparams
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
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

https://modelcontextprotocol.io/specification/2025-11-25/schema#progresstoken
"""


class Prompt(WireModel):
    """
    A prompt that can be filled in.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#prompt
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    arguments: list[PromptArgument] | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    icons: list[Icon] | None = None
    """Pictures for user interfaces."""
    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""


class PromptArgument(WireModel):
    """
    One blank in a prompt.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#promptargument
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#promptlistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/prompts/list_changed"] = "notifications/prompts/list_changed"
    params: NotificationParams | None = None


class PromptMessage(WireModel):
    """
    One message of a prompt.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#promptmessage
    """

    content: ContentBlock
    role: Role


class PromptReference(WireModel):
    """
    A prompt, by name.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#promptreference
    """

    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""
    type: Literal["ref/prompt"] = "ref/prompt"


class PromptsCapability(WireModel):
    """
    What a server can do with prompts.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class ReadResourceRequest(WireModel):
    """
    `resources/read`: fetch a resource.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#readresourcerequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/read"] = "resources/read"
    params: ReadResourceRequestParams


class ReadResourceRequestParams(WireModel):
    """
    Which resource to fetch.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#readresourcerequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class ReadResourceResult(ReadResult):
    """
    The contents of a resource, in one part or several.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#readresourceresult
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    contents: list[TextResourceContents | BlobResourceContents]
    """The parts; several where one URI stands for many."""


class RelatedTaskMetadata(WireModel):
    """
    Metadata that says which task a message belongs to.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#relatedtaskmetadata
    """

    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""


class Request(WireModel):
    """
    Base of requests.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#request
    """

    method: str
    params: dict[str, Any] | None = None


RequestId = TypeAliasType("RequestId", str | int)
"""
What ties an answer to its request; a string is never equal to a number.

https://modelcontextprotocol.io/specification/2025-11-25/schema#requestid
"""


class RequestMeta(WireModel):
    """
    Metadata of a request.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolrequestparams
    """

    progress_token: Annotated[ProgressToken | None, Field(alias="progressToken")] = None


class RequestParams(WireModel):
    """
    Base of the parameters of requests.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#requestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class Resource(WireModel):
    """
    Something that can be read, by its URI.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resource
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    icons: list[Icon] | None = None
    """Pictures for user interfaces."""
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourcecontents
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourcelink
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    icons: list[Icon] | None = None
    """Pictures for user interfaces."""
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourcelistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/resources/list_changed"] = "notifications/resources/list_changed"
    params: NotificationParams | None = None


class ResourceRequestParams(WireModel):
    """
    Base of parameters that name a resource.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourcerequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceTemplate(WireModel):
    """
    A family of resources, by a URI with blanks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourcetemplate
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    icons: list[Icon] | None = None
    """Pictures for user interfaces."""
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourcetemplatereference
    """

    type: Literal["ref/resource"] = "ref/resource"
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceUpdatedNotification(WireModel):
    """
    `notifications/resources/updated`: a resource is not what it was.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourceupdatednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/resources/updated"] = "notifications/resources/updated"
    params: ResourceUpdatedNotificationParams


class ResourceUpdatedNotificationParams(WireModel):
    """
    Which resource.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#resourceupdatednotificationparams
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourcesCapability(WireModel):
    """
    What a server can do with resources.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None
    subscribe: bool | None = None


class Result(WireModel):
    """
    Base of results.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#result
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


EmptyResult = TypeAliasType("EmptyResult", Result)
"""
A result that says no more than that it worked.

https://modelcontextprotocol.io/specification/2025-11-25/schema#emptyresult
"""


Role = TypeAliasType("Role", Literal["assistant", "user"])
"""
Who is speaking.

https://modelcontextprotocol.io/specification/2025-11-25/schema#role
"""


class Root(WireModel):
    """
    A place where a server may work.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#root
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class RootsListChangedNotification(WireModel):
    """
    `notifications/roots/list_changed`: the roots are not what they were.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#rootslistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/roots/list_changed"] = "notifications/roots/list_changed"
    params: NotificationParams | None = None


class SamplingCapability(WireModel):
    """
    What a client can do for sampling requests.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#clientcapabilities
    """

    context: dict[str, Any] | None = None
    tools: dict[str, Any] | None = None


class SamplingMessage(WireModel):
    """
    One message of a conversation with a model.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#samplingmessage
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | list[SamplingMessageContentBlock]
    role: Role


class ServerCapabilities(WireModel):
    """
    What the server is able to do.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    completions: dict[str, Any] | None = None
    experimental: dict[str, dict[str, Any]] | None = None
    logging: dict[str, Any] | None = None
    prompts: PromptsCapability | None = None
    resources: ResourcesCapability | None = None
    tasks: ServerTasksCapability | None = None
    tools: ToolsCapability | None = None


ServerRequest = TypeAliasType(
    "ServerRequest",
    Annotated[
        PingRequest | GetTaskRequest | GetTaskPayloadRequest | CancelTaskRequest | ListTasksRequest | CreateMessageRequest | ListRootsRequest | ElicitRequest,
        Field(discriminator="method"),
    ],
)
"""
Any request that a server may send.

https://modelcontextprotocol.io/specification/2025-11-25/schema#serverrequest
"""


class ServerTasksCapability(WireModel):
    """
    What a server can do with tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    cancel: dict[str, Any] | None = None
    list: dict[str, Any] | None = None
    requests: ServerTasksCapabilityRequests | None = None


class ServerTasksCapabilityRequests(WireModel):
    """
    Requests that a server can run as tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    tools: ServerTasksCapabilityRequestsTools | None = None


class ServerTasksCapabilityRequestsTools(WireModel):
    """
    Tool requests that a server can run as tasks.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    call: dict[str, Any] | None = None


class SetLevelRequest(WireModel):
    """
    `logging/setLevel`: ask for log messages from a level up.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#setlevelrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["logging/setLevel"] = "logging/setLevel"
    params: SetLevelRequestParams


class SetLevelRequestParams(WireModel):
    """
    From which level up.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#setlevelrequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    level: LoggingLevel


class StringSchema(WireModel):
    """
    A form field for text.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#stringschema
    """

    default: str | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    format: Literal["date", "date-time", "email", "uri"] | None = None
    max_length: Annotated[int | None, Field(alias="maxLength")] = None
    min_length: Annotated[int | None, Field(alias="minLength")] = None
    title: str | None = None
    """The name for people."""
    type: Literal["string"] = "string"


class SubscribeRequest(WireModel):
    """
    `resources/subscribe`: ask to hear when a resource changes.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#subscriberequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/subscribe"] = "resources/subscribe"
    params: SubscribeRequestParams


class SubscribeRequestParams(WireModel):
    """
    Which resource to hear about.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#subscriberequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class Task(WireModel):
    """
    A request that goes on after its answer.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#task
    """

    created_at: Annotated[str, Field(alias="createdAt")]
    """When it was made (ISO 8601)."""
    last_updated_at: Annotated[str, Field(alias="lastUpdatedAt")]
    """When its status last changed (ISO 8601)."""
    poll_interval: Annotated[int | None, Field(alias="pollInterval")] = None
    """How long to wait between questions, in milliseconds."""
    status: TaskStatus
    status_message: Annotated[str | None, Field(alias="statusMessage")] = None
    """Where it stands, for people."""
    task_id: Annotated[str, Field(alias="taskId")]
    """The task's name, chosen by who runs it."""
    ttl: Annotated[int | None, Field(json_schema_extra={"x-nullable": True})]
    """How long it is kept after it was made, in milliseconds; null means for ever."""


class CancelTaskResult(Result, Task):
    """
    Word that the wish to stop a task has arrived.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#canceltaskresult
    """


class GetTaskResult(Result, Task):
    """
    How a task is doing.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskresult
    """


ClientResult = TypeAliasType("ClientResult", Result | GetTaskResult | GetTaskPayloadResult | CancelTaskResult | ListTasksResult | CreateMessageResult | ListRootsResult | ElicitResult)
"""
Any result that a client may send.

https://modelcontextprotocol.io/specification/2025-11-25/schema#clientresult
"""


ServerResult = TypeAliasType("ServerResult", Result | InitializeResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | GetTaskResult | GetTaskPayloadResult | CancelTaskResult | ListTasksResult | CompleteResult)
"""
Any result that a server may send.

https://modelcontextprotocol.io/specification/2025-11-25/schema#serverresult
"""


class TaskAugmentedRequestParams(WireModel):
    """
    Base of parameters that can ask for a task.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#taskaugmentedrequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    task: TaskMetadata | None = None


class TaskMetadata(WireModel):
    """
    How a task is wished for.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#taskmetadata
    """

    ttl: int | None = None
    """How long it is kept after it was made, in milliseconds; null means for ever."""


TaskStatus = TypeAliasType("TaskStatus", Literal["cancelled", "completed", "failed", "input_required", "working"])
"""
Where a task stands.

https://modelcontextprotocol.io/specification/2025-11-25/schema#taskstatus
"""


class TaskStatusNotification(WireModel):
    """
    A task has changed its status.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#taskstatusnotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/tasks/status"] = "notifications/tasks/status"
    params: TaskStatusNotificationParams


ClientNotification = TypeAliasType(
    "ClientNotification",
    Annotated[
        CancelledNotification | InitializedNotification | ProgressNotification | TaskStatusNotification | RootsListChangedNotification,
        Field(discriminator="method"),
    ],
)
"""
Any notification that a client may send.

https://modelcontextprotocol.io/specification/2025-11-25/schema#clientnotification
"""


class TaskStatusNotificationParams(NotificationParams, Task):
    """
    The task, as it stands now.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#taskstatusnotificationparams
    """


class TextContent(WireModel):
    """
    Text.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#textcontent
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

https://modelcontextprotocol.io/specification/2025-11-25/schema#contentblock
"""


class TextResourceContents(WireModel):
    """
    A part of a resource that is text.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#textresourcecontents
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    text: str
    """The text."""
    uri: str
    """The URI, exactly as the server spells it."""


class TitledMultiSelectEnumSchema(WireModel):
    """
    A form field that takes several choices, each with a title.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#titledmultiselectenumschema
    """

    default: list[str] | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    items: EnumOptions
    max_items: Annotated[int | None, Field(alias="maxItems")] = None
    min_items: Annotated[int | None, Field(alias="minItems")] = None
    title: str | None = None
    """The name for people."""
    type: Literal["array"] = "array"


class TitledSingleSelectEnumSchema(WireModel):
    """
    A form field that takes one choice, each with a title.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#titledsingleselectenumschema
    """

    default: str | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    one_of: Annotated[list[EnumOption], Field(alias="oneOf")]
    title: str | None = None
    """The name for people."""
    type: Literal["string"] = "string"


class Tool(WireModel):
    """
    Something the server can do when called.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#tool
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: ToolAnnotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    execution: ToolExecution | None = None
    icons: list[Icon] | None = None
    """Pictures for user interfaces."""
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

    https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations
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


class ToolChoice(WireModel):
    """
    Whether the model may, must or must not use tools.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#toolchoice
    """

    mode: Literal["auto", "none", "required"] | None = None


class ToolExecution(WireModel):
    """
    How a tool wants to be run.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#toolexecution
    """

    task_support: Annotated[Literal["forbidden", "optional", "required"] | None, Field(alias="taskSupport")] = None


class ToolListChangedNotification(WireModel):
    """
    `notifications/tools/list_changed`: the tools are not what they were.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#toollistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/tools/list_changed"] = "notifications/tools/list_changed"
    params: NotificationParams | None = None


ServerNotification = TypeAliasType(
    "ServerNotification",
    Annotated[
        CancelledNotification | ProgressNotification | ResourceListChangedNotification | ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | TaskStatusNotification | LoggingMessageNotification | ElicitationCompleteNotification,
        Field(discriminator="method"),
    ],
)
"""
Any notification that a server may send.

https://modelcontextprotocol.io/specification/2025-11-25/schema#servernotification
"""


class ToolResultContent(WireModel):
    """
    What a tool that the model called has returned.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#toolresultcontent
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: list[ContentBlock]
    is_error: Annotated[bool | None, Field(alias="isError")] = None
    structured_content: Annotated[dict[str, Any] | None, Field(alias="structuredContent")] = None
    tool_use_id: Annotated[str, Field(alias="toolUseId")]
    type: Literal["tool_result"] = "tool_result"


class ToolUseContent(WireModel):
    """
    The model's wish to call a tool.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#toolusecontent
    """

    meta: Annotated[dict[str, Any] | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    id: str
    input: dict[str, Any]
    name: str
    """The name for programs."""
    type: Literal["tool_use"] = "tool_use"


SamplingMessageContentBlock = TypeAliasType(
    "SamplingMessageContentBlock",
    Annotated[
        TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent, Field(discriminator="type")
    ],
)
"""
One piece of content in a conversation with a model.

https://modelcontextprotocol.io/specification/2025-11-25/schema#samplingmessagecontentblock
"""


class ToolsCapability(WireModel):
    """
    What a server can do with tools.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class URLElicitationRequired(WireModel):
    """
    The error of a request that needs a person to visit a page first.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror
    """

    code: Literal[-32042] = -32042
    data: URLElicitationRequiredData
    message: str


class URLElicitationRequiredData(WireModel):
    """
    The pages to visit.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror
    """

    elicitations: list[ElicitRequestURLParams]


class URLElicitationRequiredError(WireModel):
    """
    An error answer: a person must visit a page first.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#urlelicitationrequirederror
    """

    error: URLElicitationRequired
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


class UnsubscribeRequest(WireModel):
    """
    `resources/unsubscribe`: no longer hear when a resource changes.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#unsubscriberequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/unsubscribe"] = "resources/unsubscribe"
    params: UnsubscribeRequestParams


ClientRequest = TypeAliasType(
    "ClientRequest",
    Annotated[
        InitializeRequest | PingRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscribeRequest | UnsubscribeRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest | GetTaskRequest | GetTaskPayloadRequest | CancelTaskRequest | ListTasksRequest | SetLevelRequest | CompleteRequest,
        Field(discriminator="method"),
    ],
)
"""
Any request that a client may send.

https://modelcontextprotocol.io/specification/2025-11-25/schema#clientrequest
"""


class UnsubscribeRequestParams(WireModel):
    """
    Which resource is of no more interest.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#unsubscriberequestparams
    """

    meta: Annotated[RequestMeta | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class UntitledMultiSelectEnumSchema(WireModel):
    """
    A form field that takes several bare values.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#untitledmultiselectenumschema
    """

    default: list[str] | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    items: EnumValues
    max_items: Annotated[int | None, Field(alias="maxItems")] = None
    min_items: Annotated[int | None, Field(alias="minItems")] = None
    title: str | None = None
    """The name for people."""
    type: Literal["array"] = "array"


MultiSelectEnumSchema = TypeAliasType("MultiSelectEnumSchema", UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema)
"""
A form field that takes several of its choices.

https://modelcontextprotocol.io/specification/2025-11-25/schema#multiselectenumschema
"""


class UntitledSingleSelectEnumSchema(WireModel):
    """
    A form field that takes one bare value.

    https://modelcontextprotocol.io/specification/2025-11-25/schema#untitledsingleselectenumschema
    """

    default: str | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    enum: list[str]
    title: str | None = None
    """The name for people."""
    type: Literal["string"] = "string"


EnumSchema = TypeAliasType("EnumSchema", UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema)
"""
A form field with fixed choices, in any of its spellings.

https://modelcontextprotocol.io/specification/2025-11-25/schema#enumschema
"""


PrimitiveSchemaDefinition = TypeAliasType("PrimitiveSchemaDefinition", StringSchema | NumberSchema | BooleanSchema | UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema)
"""
Any field of a form.

https://modelcontextprotocol.io/specification/2025-11-25/schema#primitiveschemadefinition
"""


SingleSelectEnumSchema = TypeAliasType("SingleSelectEnumSchema", UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema)
"""
A form field that takes one of its choices.

https://modelcontextprotocol.io/specification/2025-11-25/schema#singleselectenumschema
"""
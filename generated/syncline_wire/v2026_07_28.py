# Generated from schema/2026-07-28/schema.json by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.

# ruff: noqa

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue
from syncline_wire.base import ReadResult, ToolResult, WireModel
from typing_extensions import TypeAliasType


class Annotations(WireModel):
    """
    Hints to the client about who a piece of content is for and how much it matters.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#annotations
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#audiocontent
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    data: str
    mime_type: Annotated[str, Field(alias="mimeType")]
    """The media type, where it is known."""
    type: Literal["audio"] = "audio"


class BaseMetadata(WireModel):
    """
    A name for programs and a title for people.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#basemetadata
    """

    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""


class BlobResourceContents(WireModel):
    """
    A binary part of a resource, as Base64.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#blobresourcecontents
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#booleanschema
    """

    default: bool | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
    title: str | None = None
    """The name for people."""
    type: Literal["boolean"] = "boolean"


class CacheableResult(WireModel):
    """
    Base of results that say how long, and by whom, they may be kept.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#cacheableresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class CallToolRequest(WireModel):
    """
    `tools/call`: run a tool.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tools/call"] = "tools/call"
    params: CallToolRequestParams


class CallToolRequestParams(WireModel):
    """
    Which tool to run and with what arguments.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolrequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    arguments: dict[str, Any] | None = None
    input_responses: Annotated[InputResponses | None, Field(alias="inputResponses")] = None
    name: str
    """The tool's name."""
    request_state: Annotated[str | None, Field(alias="requestState")] = None


class CallToolResult(ToolResult):
    """
    What a tool returned, including a failure of the tool itself.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: list[ContentBlock]
    """What the tool says, for a model or a person."""
    is_error: Annotated[bool, Field(alias="isError")] = False
    """Whether the tool failed; the content then tells how."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    structured_content: Annotated[
        Any | None, Field(alias="structuredContent", json_schema_extra={"x-nullable": True})
    ] = None
    """The same as data, by the tool's output schema; null is data too."""


class CallToolResultResponse(WireModel):
    """
    The answer to `tools/call` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: InputRequiredResult | CallToolResult


class CancelledNotification(WireModel):
    """
    `notifications/cancelled`: the sender has lost interest in a request.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#cancellednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/cancelled"] = "notifications/cancelled"
    params: CancelledNotificationParams


class CancelledNotificationParams(WireModel):
    """
    Which request is no longer wanted, and why.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#cancellednotificationparams
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    reason: str | None = None
    request_id: Annotated[RequestId, Field(alias="requestId")]


class ClientCapabilities(WireModel):
    """
    What the client is able and willing to do for the server.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities
    """

    elicitation: ElicitationCapability | None = None
    experimental: dict[str, JSONObject] | None = None
    extensions: dict[str, JSONObject] | None = None
    roots: dict[str, Any] | None = None
    sampling: SamplingCapability | None = None


ClientNotification = TypeAliasType("ClientNotification", CancelledNotification)
"""
Any notification that a client may send.

https://modelcontextprotocol.io/specification/2026-07-28/schema#clientnotification
"""


class CompleteRequest(WireModel):
    """
    `completion/complete`: ask how a half-typed value might go on.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["completion/complete"] = "completion/complete"
    params: CompleteRequestParams


class CompleteRequestParams(WireModel):
    """
    Which argument of which prompt or template is being typed.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    argument: CompletionArgument
    context: CompletionContext | None = None
    ref: Annotated[PromptReference | ResourceTemplateReference, Field(discriminator="type")]


class CompleteResult(WireModel):
    """
    Proposals for the value that is being typed.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    completion: Completion
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class CompleteResultResponse(WireModel):
    """
    The answer to `completion/complete` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: CompleteResult


class Completion(WireModel):
    """
    The proposals themselves and how many more there are.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult
    """

    has_more: Annotated[bool | None, Field(alias="hasMore")] = None
    """Whether there are more than are listed here."""
    total: int | None = None
    """How many there are, where the server knows."""
    values: Annotated[list[str], Field(max_length=100)]
    """The proposals, best first, at most 100."""


class CompletionArgument(WireModel):
    """
    The argument being typed: its name and what is there so far.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams
    """

    name: str
    """The name for programs."""
    value: str


class CompletionContext(WireModel):
    """
    Arguments whose values are settled already.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams
    """

    arguments: dict[str, str] | None = None


class CreateMessageRequest(WireModel):
    """
    `sampling/createMessage`: the server asks for a completion from the client's model.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequest
    """

    method: Literal["sampling/createMessage"] = "sampling/createMessage"
    params: CreateMessageRequestParams


class CreateMessageRequestParams(WireModel):
    """
    The conversation to continue, and wishes about the model.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessagerequestparams
    """

    include_context: Annotated[Literal["allServers", "none", "thisServer"] | None, Field(alias="includeContext")] = None
    max_tokens: Annotated[int, Field(alias="maxTokens")]
    messages: list[SamplingMessage]
    metadata: JSONObject | None = None
    model_preferences: Annotated[ModelPreferences | None, Field(alias="modelPreferences")] = None
    stop_sequences: Annotated[list[str] | None, Field(alias="stopSequences")] = None
    system_prompt: Annotated[str | None, Field(alias="systemPrompt")] = None
    temperature: int | float | None = None
    tool_choice: Annotated[ToolChoice | None, Field(alias="toolChoice")] = None
    tools: list[Tool] | None = None


class CreateMessageResult(WireModel):
    """
    What the client's model said.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#createmessageresult
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | list[SamplingMessageContentBlock]
    model: str
    role: Role
    stop_reason: Annotated[str | None, Field(alias="stopReason")] = None


Cursor = TypeAliasType("Cursor", str)
"""
A position in a listing, meaningful only to the server that made it.

https://modelcontextprotocol.io/specification/2026-07-28/schema#cursor
"""


class DiscoverRequest(WireModel):
    """
    `server/discover`: ask what the server is and can do.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#discoverrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["server/discover"] = "server/discover"
    params: RequestParams


class DiscoverResult(WireModel):
    """
    What the server is, can do, and which revisions it speaks.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#discoverresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    capabilities: ServerCapabilities
    instructions: str | None = None
    """How the server is best used, for a model to read."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    supported_versions: Annotated[list[str], Field(alias="supportedVersions")]
    """The revisions that the server speaks."""
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class DiscoverResultResponse(WireModel):
    """
    The answer to `server/discover` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#discoverresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: DiscoverResult


class ElicitRequest(WireModel):
    """
    `elicitation/create`: the server asks the person in front of the client.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequest
    """

    method: Literal["elicitation/create"] = "elicitation/create"
    params: ElicitRequestParams


class ElicitRequestFormParams(WireModel):
    """
    A question with a form to fill in.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequestformparams
    """

    message: str
    """What to show to the person."""
    mode: Literal["form"] | None = None
    requested_schema: Annotated[dict[str, Any], Field(alias="requestedSchema")]
    """The form, as a JSON Schema of one level."""


class ElicitRequestURLParams(WireModel):
    """
    A question that is settled on a web page.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequesturlparams
    """

    message: str
    """What to show to the person."""
    mode: Literal["url"] = "url"
    url: str


ElicitRequestParams = TypeAliasType("ElicitRequestParams", ElicitRequestFormParams | ElicitRequestURLParams)
"""
What is asked of a person: a form or a visit to a page.

https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitrequestparams
"""


class ElicitResult(WireModel):
    """
    What the person did, and what they entered.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#elicitresult
    """

    action: Literal["accept", "cancel", "decline"]
    """Whether the person agreed, refused, or went away."""
    content: dict[str, list[str] | bool | int | float | str] | None = None
    """What was entered, by field."""


class ElicitationCapability(WireModel):
    """
    Which kinds of questions the client can put to a person.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities
    """

    form: JSONObject | None = None
    url: JSONObject | None = None


class EmbeddedResource(WireModel):
    """
    A resource with its contents, inside other content.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#embeddedresource
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    resource: TextResourceContents | BlobResourceContents
    type: Literal["resource"] = "resource"


class EnumOption(WireModel):
    """
    One choice: the value and what people see.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#titledmultiselectenumschema
    """

    const: str
    title: str
    """The name for people."""


class EnumOptions(WireModel):
    """
    The choices of a field that takes several.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#titledmultiselectenumschema
    """

    any_of: Annotated[list[EnumOption], Field(alias="anyOf")]


class EnumValues(WireModel):
    """
    The bare values of a field that takes several.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledmultiselectenumschema
    """

    enum: list[str]
    type: Literal["string"] = "string"


class Error(WireModel):
    """
    What went wrong with a request, by JSON-RPC.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#error
    """

    code: int
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class GetPromptRequest(WireModel):
    """
    `prompts/get`: have a prompt filled in.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["prompts/get"] = "prompts/get"
    params: GetPromptRequestParams


class GetPromptRequestParams(WireModel):
    """
    Which prompt, with what arguments.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptrequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    arguments: dict[str, str] | None = None
    input_responses: Annotated[InputResponses | None, Field(alias="inputResponses")] = None
    name: str
    """The name for programs."""
    request_state: Annotated[str | None, Field(alias="requestState")] = None


class GetPromptResult(WireModel):
    """
    The messages of a prompt, filled in.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    description: str | None = None
    """What it is, in a sentence or two."""
    messages: list[PromptMessage]
    """The conversation so far, in order."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class GetPromptResultResponse(WireModel):
    """
    The answer to `prompts/get` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#getpromptresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: InputRequiredResult | GetPromptResult


class HeaderMismatch(WireModel):
    """
    The error of a request whose HTTP headers and body disagree.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#headermismatcherror
    """

    code: Literal[-32020] = -32020
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class HeaderMismatchError(WireModel):
    """
    An error answer: HTTP headers and body disagree.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#headermismatcherror
    """

    error: HeaderMismatch
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


class Icon(WireModel):
    """
    A picture that stands for something in a user interface.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#icon
    """

    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    sizes: list[str] | None = None
    src: str
    theme: Literal["dark", "light"] | None = None


class Icons(WireModel):
    """
    Base of what can have icons.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#icons
    """

    icons: list[Icon] | None = None
    """Pictures for user interfaces."""


class ImageContent(WireModel):
    """
    A picture, as Base64 with its media type.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#imagecontent
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: Annotations | None = None
    data: str
    mime_type: Annotated[str, Field(alias="mimeType")]
    """The media type, where it is known."""
    type: Literal["image"] = "image"


class Implementation(WireModel):
    """
    Who a client or server is: name, version and things to show.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation
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


class InputRequiredResult(WireModel):
    """
    Instead of a result: questions to answer before the call can go on.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequiredresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    input_requests: Annotated[InputRequests | None, Field(alias="inputRequests")] = None
    request_state: Annotated[str | None, Field(alias="requestState")] = None
    """To be handed back untouched with the answers."""
    result_type: Annotated[str, Field(alias="resultType")] = "input_required"
    """What kind of result this is; absent means complete."""


class InputResponseRequestParams(WireModel):
    """
    Base of parameters that bring answers along.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#inputresponserequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    input_responses: Annotated[InputResponses | None, Field(alias="inputResponses")] = None
    request_state: Annotated[str | None, Field(alias="requestState")] = None


class InternalError(WireModel):
    """
    -32603: the receiver itself failed.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#internalerror
    """

    code: Literal[-32603] = -32603
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class InvalidParamsError(WireModel):
    """
    -32602: the parameters do not fit.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#invalidparamserror
    """

    code: Literal[-32602] = -32602
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class InvalidRequestError(WireModel):
    """
    -32600: the message is no valid request.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#invalidrequesterror
    """

    code: Literal[-32600] = -32600
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class JSONRPCErrorResponse(WireModel):
    """
    An error answer.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonrpcerrorresponse
    """

    error: Error
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


class JSONRPCNotification(WireModel):
    """
    A message that expects no answer.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonrpcnotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: dict[str, Any] | None = None


class JSONRPCRequest(WireModel):
    """
    A message that expects an answer.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonrpcrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: dict[str, Any] | None = None


class JSONRPCResultResponse(WireModel):
    """
    An answer that carries a result.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonrpcresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: Result


JSONRPCMessage = TypeAliasType("JSONRPCMessage", JSONRPCRequest | JSONRPCNotification | JSONRPCResultResponse | JSONRPCErrorResponse)
"""
Any message.

https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonrpcmessage
"""


JSONRPCResponse = TypeAliasType("JSONRPCResponse", JSONRPCResultResponse | JSONRPCErrorResponse)
"""
An answer.

https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonrpcresponse
"""


JSONArray = TypeAliasType("JSONArray", list[JsonValue])
"""
Any JSON array.

https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonarray
"""


JSONObject = TypeAliasType("JSONObject", dict[str, JsonValue])
"""
Any JSON object.

https://modelcontextprotocol.io/specification/2026-07-28/schema#jsonobject
"""


class LegacyTitledEnumSchema(WireModel):
    """
    A form field with fixed choices whose names are in a list of their own.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#legacytitledenumschema
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listpromptsrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["prompts/list"] = "prompts/list"
    params: PaginatedRequestParams


class ListPromptsResult(WireModel):
    """
    One page of prompts.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listpromptsresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    prompts: list[Prompt]
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class ListPromptsResultResponse(WireModel):
    """
    The answer to `prompts/list` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listpromptsresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: ListPromptsResult


class ListResourceTemplatesRequest(WireModel):
    """
    `resources/templates/list`: ask which resource templates there are.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcetemplatesrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/templates/list"] = "resources/templates/list"
    params: PaginatedRequestParams


class ListResourceTemplatesResult(WireModel):
    """
    One page of resource templates.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcetemplatesresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    resource_templates: Annotated[list[ResourceTemplate], Field(alias="resourceTemplates")]
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class ListResourceTemplatesResultResponse(WireModel):
    """
    The answer to `resources/templates/list` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcetemplatesresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: ListResourceTemplatesResult


class ListResourcesRequest(WireModel):
    """
    `resources/list`: ask which resources there are.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcesrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/list"] = "resources/list"
    params: PaginatedRequestParams


class ListResourcesResult(WireModel):
    """
    One page of resources.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcesresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    resources: list[Resource]
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class ListResourcesResultResponse(WireModel):
    """
    The answer to `resources/list` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcesresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: ListResourcesResult


class ListRootsRequest(WireModel):
    """
    `roots/list`: the server asks where it may work.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listrootsrequest
    """

    method: Literal["roots/list"] = "roots/list"
    params: ListRootsRequestParams | None = None


InputRequest = TypeAliasType(
    "InputRequest", Annotated[CreateMessageRequest | ListRootsRequest | ElicitRequest, Field(discriminator="method")]
)
"""
Any question that an `input_required` result may carry.

https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequest
"""


InputRequests = TypeAliasType("InputRequests", dict[str, InputRequest])
"""
The questions of an `input_required` result, by keys that the server chose.

https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequests
"""


class ListRootsRequestParams(WireModel):
    """
    Nothing but metadata.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listrootsrequest
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class ListRootsResult(WireModel):
    """
    The places where a server may work.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listrootsresult
    """

    roots: list[Root]


InputResponse = TypeAliasType("InputResponse", CreateMessageResult | ListRootsResult | ElicitResult)
"""
Any answer to a question of an `input_required` result.

https://modelcontextprotocol.io/specification/2026-07-28/schema#inputresponse
"""


InputResponses = TypeAliasType("InputResponses", dict[str, InputResponse])
"""
Answers, by the keys of their questions.

https://modelcontextprotocol.io/specification/2026-07-28/schema#inputresponses
"""


class ListToolsRequest(WireModel):
    """
    `tools/list`: ask which tools there are.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listtoolsrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["tools/list"] = "tools/list"
    params: PaginatedRequestParams


class ListToolsResult(WireModel):
    """
    One page of tools.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listtoolsresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    tools: list[Tool]
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class ListToolsResultResponse(WireModel):
    """
    The answer to `tools/list` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#listtoolsresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: ListToolsResult


LoggingLevel = TypeAliasType("LoggingLevel", Literal["alert", "critical", "debug", "emergency", "error", "info", "notice", "warning"])
"""
How grave a log message is, by the names of RFC 5424.

https://modelcontextprotocol.io/specification/2026-07-28/schema#logginglevel
"""


class LoggingMessageNotification(WireModel):
    """
    `notifications/message`: a log message of the server.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#loggingmessagenotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/message"] = "notifications/message"
    params: LoggingMessageNotificationParams


class LoggingMessageNotificationParams(WireModel):
    """
    The log message.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#loggingmessagenotificationparams
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    data: Annotated[Any, Field(json_schema_extra={"x-nullable": True})]
    """The message: any JSON, null included."""
    level: LoggingLevel
    logger: str | None = None


MetaObject = TypeAliasType("MetaObject", dict[str, Any])
"""
Metadata under anybody's keys; the prefix of a key tells whose.

https://modelcontextprotocol.io/specification/2026-07-28/schema#metaobject
"""


class MethodNotFoundError(WireModel):
    """
    -32601: there is no such method.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#methodnotfounderror
    """

    code: Literal[-32601] = -32601
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class MissingRequiredClientCapability(WireModel):
    """
    The error of a request that needs more than the client declared.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror
    """

    code: Literal[-32021] = -32021
    data: MissingRequiredClientCapabilityData
    message: str


class MissingRequiredClientCapabilityData(WireModel):
    """
    What the client would have to declare.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror
    """

    required_capabilities: Annotated[ClientCapabilities, Field(alias="requiredCapabilities")]


class MissingRequiredClientCapabilityError(WireModel):
    """
    An error answer: the request needs more than the client declared.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#missingrequiredclientcapabilityerror
    """

    error: MissingRequiredClientCapability
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


class ModelHint(WireModel):
    """
    A model that would be welcome.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#modelhint
    """

    name: str | None = None
    """The name for programs."""


class ModelPreferences(WireModel):
    """
    What matters in the choice of a model; the client decides.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#modelpreferences
    """

    cost_priority: Annotated[int | float | None, Field(alias="costPriority", ge=0.0, le=1.0)] = None
    hints: list[ModelHint] | None = None
    intelligence_priority: Annotated[int | float | None, Field(alias="intelligencePriority", ge=0.0, le=1.0)] = None
    speed_priority: Annotated[int | float | None, Field(alias="speedPriority", ge=0.0, le=1.0)] = None


class Notification(WireModel):
    """
    Base of notifications.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#notification
    """

    method: str
    params: dict[str, Any] | None = None


class NotificationMetaObject(WireModel):
    """
    Metadata of a notification.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationmetaobject
    """

    subscription_id: Annotated[RequestId | None, Field(alias="io.modelcontextprotocol/subscriptionId")] = None


class NotificationParams(WireModel):
    """
    Base of the parameters of notifications.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#notificationparams
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""


class NumberSchema(WireModel):
    """
    A form field for a number.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#numberschema
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#paginatedrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: str
    params: PaginatedRequestParams


class PaginatedRequestParams(WireModel):
    """
    Where in the listing to go on.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#paginatedrequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    cursor: str | None = None
    """A position that the server gave out; null or absent where there is none."""


class PaginatedResult(WireModel):
    """
    Base of results that hold one page of a listing.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#paginatedresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    next_cursor: Annotated[str | None, Field(alias="nextCursor")] = None
    """Where the next page begins; absent on the last one."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


class ParseError(WireModel):
    """
    -32700: what arrived is not JSON.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#parseerror
    """

    code: Literal[-32700] = -32700
    data: Annotated[Any | None, Field(json_schema_extra={"x-nullable": True})] = None
    message: str


class ProgressNotification(WireModel):
    """
    `notifications/progress`: how far a request has come.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#progressnotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/progress"] = "notifications/progress"
    params: ProgressNotificationParams


class ProgressNotificationParams(WireModel):
    """
    How far, of how much, for which request.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#progressnotificationparams
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
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

https://modelcontextprotocol.io/specification/2026-07-28/schema#progresstoken
"""


class Prompt(WireModel):
    """
    A prompt that can be filled in.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#prompt
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#promptargument
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#promptlistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/prompts/list_changed"] = "notifications/prompts/list_changed"
    params: NotificationParams | None = None


class PromptMessage(WireModel):
    """
    One message of a prompt.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#promptmessage
    """

    content: ContentBlock
    role: Role


class PromptReference(WireModel):
    """
    A prompt, by name.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#promptreference
    """

    name: str
    """The name for programs."""
    title: str | None = None
    """The name for people."""
    type: Literal["ref/prompt"] = "ref/prompt"


class PromptsCapability(WireModel):
    """
    What a server can do with prompts.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class ReadResourceRequest(WireModel):
    """
    `resources/read`: fetch a resource.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourcerequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["resources/read"] = "resources/read"
    params: ReadResourceRequestParams


class ReadResourceRequestParams(WireModel):
    """
    Which resource to fetch.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourcerequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    input_responses: Annotated[InputResponses | None, Field(alias="inputResponses")] = None
    request_state: Annotated[str | None, Field(alias="requestState")] = None
    uri: str
    """The URI, exactly as the server spells it."""


class ReadResourceResult(ReadResult):
    """
    The contents of a resource, in one part or several.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourceresult
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    cache_scope: Annotated[Literal["private", "public"], Field(alias="cacheScope")] = "private"
    """Whether others may be given the same answer."""
    contents: list[TextResourceContents | BlobResourceContents]
    """The parts; several where one URI stands for many."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""
    ttl_ms: Annotated[int, Field(alias="ttlMs", ge=0)] = 0
    """How long the answer may be kept, in milliseconds."""


class ReadResourceResultResponse(WireModel):
    """
    The answer to `resources/read` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourceresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: InputRequiredResult | ReadResourceResult


class Request(WireModel):
    """
    Base of requests.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#request
    """

    method: str
    params: dict[str, Any] | None = None


RequestId = TypeAliasType("RequestId", str | int)
"""
What ties an answer to its request; a string is never equal to a number.

https://modelcontextprotocol.io/specification/2026-07-28/schema#requestid
"""


class RequestMetaObject(WireModel):
    """
    Metadata of a request: who asks, in which revision, able to do what.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#requestmetaobject
    """

    client_capabilities: Annotated[ClientCapabilities, Field(alias="io.modelcontextprotocol/clientCapabilities")]
    client_info: Annotated[Implementation | None, Field(alias="io.modelcontextprotocol/clientInfo")] = None
    log_level: Annotated[LoggingLevel | None, Field(alias="io.modelcontextprotocol/logLevel")] = None
    protocol_version: Annotated[str, Field(alias="io.modelcontextprotocol/protocolVersion")]
    progress_token: Annotated[ProgressToken | None, Field(alias="progressToken")] = None


class RequestParams(WireModel):
    """
    Base of the parameters of requests.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#requestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""


class Resource(WireModel):
    """
    Something that can be read, by its URI.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resource
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcecontents
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    mime_type: Annotated[str | None, Field(alias="mimeType")] = None
    """The media type, where it is known."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceLink(WireModel):
    """
    A pointer to a resource that can be read.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcelink
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcelistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/resources/list_changed"] = "notifications/resources/list_changed"
    params: NotificationParams | None = None


class ResourceRequestParams(WireModel):
    """
    Base of parameters that name a resource.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcerequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceTemplate(WireModel):
    """
    A family of resources, by a URI with blanks.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcetemplate
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcetemplatereference
    """

    type: Literal["ref/resource"] = "ref/resource"
    uri: str
    """The URI, exactly as the server spells it."""


class ResourceUpdatedNotification(WireModel):
    """
    `notifications/resources/updated`: a resource is not what it was.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourceupdatednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/resources/updated"] = "notifications/resources/updated"
    params: ResourceUpdatedNotificationParams


class ResourceUpdatedNotificationParams(WireModel):
    """
    Which resource.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#resourceupdatednotificationparams
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    uri: str
    """The URI, exactly as the server spells it."""


class ResourcesCapability(WireModel):
    """
    What a server can do with resources.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None
    subscribe: bool | None = None


class Result(WireModel):
    """
    Base of results.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#result
    """

    meta: Annotated[ResultMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


ClientResult = TypeAliasType("ClientResult", Result)
"""
Any result that a client may send.

https://modelcontextprotocol.io/specification/2026-07-28/schema#clientresult
"""


EmptyResult = TypeAliasType("EmptyResult", Result)
"""
A result that says no more than that it worked.

https://modelcontextprotocol.io/specification/2026-07-28/schema#emptyresult
"""


ResultMetaObject = TypeAliasType("ResultMetaObject", dict[str, Any])
"""
Metadata of a result, left as plain JSON.

https://modelcontextprotocol.io/specification/2026-07-28/schema#resultmetaobject
"""


ResultType = TypeAliasType("ResultType", str)
"""
What kind of result this is; extensions bring their own.

https://modelcontextprotocol.io/specification/2026-07-28/schema#resulttype
"""


Role = TypeAliasType("Role", Literal["assistant", "user"])
"""
Who is speaking.

https://modelcontextprotocol.io/specification/2026-07-28/schema#role
"""


class Root(WireModel):
    """
    A place where a server may work.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#root
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    name: str | None = None
    """The name for programs."""
    uri: str
    """The URI, exactly as the server spells it."""


class SamplingCapability(WireModel):
    """
    What a client can do for sampling requests.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities
    """

    context: JSONObject | None = None
    tools: JSONObject | None = None


class SamplingMessage(WireModel):
    """
    One message of a conversation with a model.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessage
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent | list[SamplingMessageContentBlock]
    role: Role


class ServerCapabilities(WireModel):
    """
    What the server is able to do.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities
    """

    completions: JSONObject | None = None
    experimental: dict[str, JSONObject] | None = None
    extensions: dict[str, JSONObject] | None = None
    logging: JSONObject | None = None
    prompts: PromptsCapability | None = None
    resources: ResourcesCapability | None = None
    tools: ToolsCapability | None = None


class StringSchema(WireModel):
    """
    A form field for text.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#stringschema
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


class SubscriptionFilter(WireModel):
    """
    Which changes to hear about.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionfilter
    """

    prompts_list_changed: Annotated[bool | None, Field(alias="promptsListChanged")] = None
    resource_subscriptions: Annotated[list[str] | None, Field(alias="resourceSubscriptions")] = None
    resources_list_changed: Annotated[bool | None, Field(alias="resourcesListChanged")] = None
    tools_list_changed: Annotated[bool | None, Field(alias="toolsListChanged")] = None


class SubscriptionsAcknowledgedNotification(WireModel):
    """
    `notifications/subscriptions/acknowledged`: the stream is open.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionsacknowledgednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/subscriptions/acknowledged"] = "notifications/subscriptions/acknowledged"
    params: SubscriptionsAcknowledgedNotificationParams


class SubscriptionsAcknowledgedNotificationParams(WireModel):
    """
    Which of the asked-for changes the server will tell.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionsacknowledgednotificationparams
    """

    meta: Annotated[NotificationMetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    notifications: SubscriptionFilter


class SubscriptionsListenRequest(WireModel):
    """
    `subscriptions/listen`: open a stream of changes.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenrequest
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["subscriptions/listen"] = "subscriptions/listen"
    params: SubscriptionsListenRequestParams


ClientRequest = TypeAliasType(
    "ClientRequest",
    Annotated[
        DiscoverRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscriptionsListenRequest | ListPromptsRequest | GetPromptRequest | ListToolsRequest | CallToolRequest | CompleteRequest,
        Field(discriminator="method"),
    ],
)
"""
Any request that a client may send.

https://modelcontextprotocol.io/specification/2026-07-28/schema#clientrequest
"""


class SubscriptionsListenRequestParams(WireModel):
    """
    Which changes to hear about.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenrequestparams
    """

    meta: Annotated[RequestMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    notifications: SubscriptionFilter


class SubscriptionsListenResult(WireModel):
    """
    The orderly end of a stream of changes.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenresult
    """

    meta: Annotated[SubscriptionsListenResultMetaObject, Field(alias="_meta")]
    """Metadata under anybody's keys."""
    result_type: Annotated[str, Field(alias="resultType")] = "complete"
    """What kind of result this is; absent means complete."""


ServerResult = TypeAliasType("ServerResult", Result | InputRequiredResult | DiscoverResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | SubscriptionsListenResult | ListPromptsResult | GetPromptResult | ListToolsResult | CallToolResult | CompleteResult)
"""
Any result that a server may send.

https://modelcontextprotocol.io/specification/2026-07-28/schema#serverresult
"""


class SubscriptionsListenResultMetaObject(WireModel):
    """
    Metadata that says which stream ended.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenresultmetaobject
    """

    server_info: Annotated[Implementation | None, Field(alias="io.modelcontextprotocol/serverInfo")] = None
    subscription_id: Annotated[RequestId, Field(alias="io.modelcontextprotocol/subscriptionId")]


class SubscriptionsListenResultResponse(WireModel):
    """
    The answer to `subscriptions/listen` with its envelope.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#subscriptionslistenresultresponse
    """

    id: RequestId
    jsonrpc: Literal["2.0"] = "2.0"
    result: SubscriptionsListenResult


class TextContent(WireModel):
    """
    Text.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#textcontent
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock
"""


class TextResourceContents(WireModel):
    """
    A part of a resource that is text.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#textresourcecontents
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#titledmultiselectenumschema
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#titledsingleselectenumschema
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#tool
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    annotations: ToolAnnotations | None = None
    description: str | None = None
    """What it is, in a sentence or two."""
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#toolannotations
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

    https://modelcontextprotocol.io/specification/2026-07-28/schema#toolchoice
    """

    mode: Literal["auto", "none", "required"] | None = None


class ToolListChangedNotification(WireModel):
    """
    `notifications/tools/list_changed`: the tools are not what they were.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#toollistchangednotification
    """

    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["notifications/tools/list_changed"] = "notifications/tools/list_changed"
    params: NotificationParams | None = None


ServerNotification = TypeAliasType(
    "ServerNotification",
    Annotated[
        CancelledNotification | ProgressNotification | ResourceListChangedNotification | SubscriptionsAcknowledgedNotification | ResourceUpdatedNotification | PromptListChangedNotification | ToolListChangedNotification | LoggingMessageNotification,
        Field(discriminator="method"),
    ],
)
"""
Any notification that a server may send.

https://modelcontextprotocol.io/specification/2026-07-28/schema#servernotification
"""


class ToolResultContent(WireModel):
    """
    What a tool that the model called has returned.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#toolresultcontent
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
    """Metadata under anybody's keys."""
    content: list[ContentBlock]
    is_error: Annotated[bool | None, Field(alias="isError")] = None
    structured_content: Annotated[
        Any | None, Field(alias="structuredContent", json_schema_extra={"x-nullable": True})
    ] = None
    tool_use_id: Annotated[str, Field(alias="toolUseId")]
    type: Literal["tool_result"] = "tool_result"


class ToolUseContent(WireModel):
    """
    The model's wish to call a tool.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#toolusecontent
    """

    meta: Annotated[MetaObject | None, Field(alias="_meta")] = None
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

https://modelcontextprotocol.io/specification/2026-07-28/schema#samplingmessagecontentblock
"""


class ToolsCapability(WireModel):
    """
    What a server can do with tools.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities
    """

    list_changed: Annotated[bool | None, Field(alias="listChanged")] = None


class UnsupportedProtocolVersion(WireModel):
    """
    The error of a request in a revision that the server does not speak.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror
    """

    code: Literal[-32022] = -32022
    data: UnsupportedProtocolVersionData
    message: str


class UnsupportedProtocolVersionData(WireModel):
    """
    What was asked for, and what the server speaks.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror
    """

    requested: str
    supported: list[str]


class UnsupportedProtocolVersionError(WireModel):
    """
    An error answer: the server does not speak this revision.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#unsupportedprotocolversionerror
    """

    error: UnsupportedProtocolVersion
    id: RequestId | None = None
    jsonrpc: Literal["2.0"] = "2.0"


class UntitledMultiSelectEnumSchema(WireModel):
    """
    A form field that takes several bare values.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledmultiselectenumschema
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

https://modelcontextprotocol.io/specification/2026-07-28/schema#multiselectenumschema
"""


class UntitledSingleSelectEnumSchema(WireModel):
    """
    A form field that takes one bare value.

    https://modelcontextprotocol.io/specification/2026-07-28/schema#untitledsingleselectenumschema
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

https://modelcontextprotocol.io/specification/2026-07-28/schema#enumschema
"""


PrimitiveSchemaDefinition = TypeAliasType("PrimitiveSchemaDefinition", StringSchema | NumberSchema | BooleanSchema | UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema | UntitledMultiSelectEnumSchema | TitledMultiSelectEnumSchema | LegacyTitledEnumSchema)
"""
Any field of a form.

https://modelcontextprotocol.io/specification/2026-07-28/schema#primitiveschemadefinition
"""


SingleSelectEnumSchema = TypeAliasType("SingleSelectEnumSchema", UntitledSingleSelectEnumSchema | TitledSingleSelectEnumSchema)
"""
A form field that takes one of its choices.

https://modelcontextprotocol.io/specification/2026-07-28/schema#singleselectenumschema
"""
"""The servers that this project did not write: how to start each, and what is known to be true of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS = ("2026-07-28",)
MIB = 1 << 20


@dataclass(frozen=True)
class Call:
    """A tool call and a part of the text it answers with."""

    tool: str
    arguments: Mapping[str, Any]
    text: str = ""
    structured: Any = None
    size: int = 0  # at least so many characters
    steps: int = 0  # so many progress reports


@dataclass(frozen=True)
class Peer:
    """One server. A field that is None, or an empty tuple, is a thing that the server does not offer.

    Commands are filled in with {node}, {npm}, {python}, {here} (this folder), {folder} (a scratch
    folder), {case} (the name of the case) and {port}.
    """

    name: str
    stdio: Sequence[str]
    revisions: Sequence[str]
    call: Call
    failing: Call
    http: Mapping[str, Sequence[str]] = field(default_factory=dict)  # name of the transport in the table → command
    env: Mapping[str, str] = field(default_factory=dict)
    structured: Call | None = None
    large: Call | None = None
    progress: Call | None = None
    in_parts: Call | None = None  # the server hangs up after each step, where the transport allows it
    resource: tuple[str, str] | None = None  # a listed URI and a part of its text
    blob: tuple[str, bytes] | None = None  # a URI and a part of its bytes
    template: tuple[str, str] | None = None  # a URI template and a URI that it gives
    prompt: tuple[str, Mapping[str, str], str] | None = None  # name, arguments, a part of the text
    completion: tuple[Mapping[str, str], Mapping[str, str], Sequence[str]] | None = None  # reference, argument, values


@dataclass(frozen=True)
class Case:
    """A peer over one of its transports at one protocol version; "auto" leaves the choice to the client."""

    peer: Peer
    transport: str
    version: str

    def __str__(self) -> str:
        return f"{self.peer.name}-{self.transport}-{self.version}"

    @property
    def negotiated(self) -> str:
        return revisions(self.peer, self.transport)[-1] if self.version == "auto" else self.version


EVERYTHING = Peer(
    name="everything",
    stdio=["{node}", "{npm}/mcp-server-everything", "stdio"],
    http={
        "http": ["{node}", "{npm}/mcp-server-everything", "streamableHttp"],
        "sse": ["{node}", "{npm}/mcp-server-everything", "sse"],
    },
    revisions=HANDSHAKE,
    call=Call("get-sum", {"a": 2, "b": 3}, "5"),
    failing=Call("get-resource-reference", {"resourceType": "Text", "resourceId": -1}, "Invalid resourceId"),
    structured=Call(
        "get-structured-content", {"location": "Chicago"}, structured={"conditions": "Light rain / drizzle"}
    ),
    large=Call("echo", {"message": "m" * MIB}, size=MIB),
    progress=Call("trigger-long-running-operation", {"duration": 0.2, "steps": 4}, "completed", steps=4),
    resource=("demo://resource/static/document/architecture.md", "Everything Server"),
    blob=("demo://resource/dynamic/blob/1", b"Resource 1"),
    template=("demo://resource/dynamic/text/{resourceId}", "demo://resource/dynamic/text/7"),
    prompt=("args-prompt", {"city": "Oslo"}, "Oslo"),
    completion=(
        {"type": "ref/prompt", "name": "completable-prompt"},
        {"name": "department", "value": "E"},
        ["Engineering"],
    ),
)
SDK_HTTP, SDK_SSE = (["{python}", "{here}/sdk_server.py", transport, "{port}"] for transport in ("http", "sse"))
SDK = Peer(
    name="sdk",
    stdio=["{python}", "{here}/sdk_server.py", "stdio"],
    http={"http": SDK_HTTP, "http-json": [*SDK_HTTP, "json"], "sse": SDK_SSE},
    revisions=HANDSHAKE + STATELESS,
    call=Call("echo", {"text": "Grüße, 世界 \u2028 end"}, "Grüße, 世界 \u2028 end"),
    failing=Call("fail", {"reason": "no luck"}, "no luck"),
    structured=Call("forecast", {"city": "Oslo"}, structured={"city": "Oslo", "degrees": -3.5}),
    large=Call("large", {"size": 8 * MIB}, size=8 * MIB),
    progress=Call("count", {"to": 5}, "counted to 5", steps=5),
    in_parts=Call("count_in_parts", {"to": 4}, "counted to 4", steps=4),
    resource=("weather://cities", "Oslo\nOsaka"),
    blob=("weather://icon", bytes(range(256))),
    template=("weather://{city}/now", "weather://Lima/now"),
    prompt=("brief", {"tone": "dry"}, "in a dry tone"),
    completion=({"type": "ref/prompt", "name": "brief"}, {"name": "tone", "value": "d"}, ["dry"]),
)
MEMORY = Peer(
    name="memory",
    stdio=["{node}", "{npm}/mcp-server-memory"],
    env={"MEMORY_FILE_PATH": "{folder}/{case}.jsonl"},
    revisions=HANDSHAKE,
    call=Call("read_graph", {}, "entities"),
    failing=Call("add_observations", {"observations": [{"entityName": "nobody", "contents": ["x"]}]}, "not found"),
    structured=Call("search_nodes", {"query": "nothing"}, structured={"entities": [], "relations": []}),
    large=Call(
        "create_entities",
        {"entities": [{"name": "big", "entityType": "text", "observations": ["o" * MIB]}]},
        size=MIB,
    ),
    resource=("memory://knowledge-graph", "entities"),
)
FILESYSTEM = Peer(
    name="filesystem",
    stdio=["{node}", "{npm}/mcp-server-filesystem", "{folder}"],
    revisions=HANDSHAKE,
    call=Call("list_directory", {"path": "{folder}"}, "[FILE] large.txt"),
    failing=Call("read_text_file", {"path": "/etc/hostname"}, "Access denied"),
    structured=Call("read_text_file", {"path": "{folder}/small.txt"}, structured={"content": "small\n"}),
    large=Call("read_text_file", {"path": "{folder}/large.txt"}, size=2 * MIB),
)
TIME = Peer(
    name="time",
    stdio=["{python}", "-m", "mcp_server_time", "--local-timezone", "UTC"],
    revisions=HANDSHAKE + STATELESS,
    call=Call(
        "convert_time",
        {"source_timezone": "Europe/Oslo", "time": "12:00", "target_timezone": "UTC"},
        "time_difference",
    ),
    failing=Call("get_current_time", {"timezone": "Nowhere/Else"}, "Invalid timezone"),
)
GIT = Peer(
    name="git",
    stdio=["{python}", "-m", "mcp_server_git", "--repository", "{folder}/repository"],
    revisions=HANDSHAKE + STATELESS,
    call=Call("git_log", {"repo_path": "{folder}/repository"}, "Message: the only one"),
    failing=Call("git_status", {"repo_path": "{folder}"}, "outside the allowed repository"),
)
PEERS = (EVERYTHING, SDK, MEMORY, FILESYSTEM, TIME, GIT)


@dataclass(frozen=True)
class Place:
    """Where a person can log in: an MCP server, and an authorization server that gives tokens for it.

    Attributes:
        server: Its name.
        version: The protocol version that the client asks for.
        scopes: What can be asked for there.
        device: Whether a code can be typed elsewhere.
        unnamed: Whether there is a server whose answers of 403 do not name what is missing.
    """

    server: str
    version: str
    scopes: str
    device: bool | None = None
    unnamed: bool | None = None

    def __str__(self) -> str:
        return f"{self.server}-{self.version}"


NOTES = "notes:read notes:write"
PLACES = [
    place
    for version in (HANDSHAKE[-1], *STATELESS)
    for place in (
        Place("sdk", version, NOTES, unnamed=True),
        Place("authlib", version, f"{NOTES} offline_access", device=True),
    )
]


def revisions(peer: Peer, transport: str) -> list[str]:
    """What a peer speaks over a transport: Streamable HTTP came with the second revision, HTTP+SSE has no newest one."""
    if transport == "sse":
        return [revision for revision in peer.revisions if revision in HANDSHAKE]
    return [revision for revision in peer.revisions if transport == "stdio" or revision != HANDSHAKE[0]]


def cases() -> Iterator[Case]:
    """Every peer over every transport and revision it speaks, and left to the client's own choice."""
    for peer in PEERS:
        for transport in ("stdio", *peer.http):
            for version in (*revisions(peer, transport), "auto"):
                yield Case(peer, transport, version)

"""The MCP server that people log in at, written with the official Python SDK, whoever gives the tokens.

Bearer tokens, the metadata of the resource, and the answers 401 and 403 are the SDK's own. It knows scopes of whole servers only:
what a single tool wants is asked for around it, by `Wanting`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import OAuthAuthorizationServerProvider, TokenVerifier
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

READ, WRITE = "notes:read", "notes:write"


def notes(
    url: str,
    issuer: str,
    required: Sequence[str],
    *,
    provider: OAuthAuthorizationServerProvider[Any, Any, Any] | None = None,
    verifier: TokenVerifier | None = None,
) -> MCPServer:
    """The server at a URL, for tokens of an issuer: that of the provider, which is served along with it, or another one."""
    settings = AuthSettings(
        issuer_url=AnyHttpUrl(issuer),
        resource_server_url=AnyHttpUrl(f"{url}/mcp"),
        required_scopes=list(required),
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[READ, WRITE]),
        revocation_options=RevocationOptions(enabled=True),
    )
    server = MCPServer(
        "notes", auth=settings, auth_server_provider=provider, token_verifier=verifier, log_level="ERROR"
    )

    @server.tool(structured_output=False)
    def read() -> str:
        """Say who reads, and with which scopes."""
        token = get_access_token()
        return "nobody" if token is None else f"{token.subject} with {' '.join(token.scopes)}"

    @server.tool(structured_output=False)
    def write(text: str) -> str:
        """Write something down."""
        return f"wrote {text}"

    return server


class Wanting:
    """Asks for the scope of a tool, as the specification has it: 403, and a challenge that names what is missing."""

    def __init__(self, app: ASGIApp, verifier: TokenVerifier, metadata: str) -> None:
        self.app, self.verifier, self.metadata = app, verifier, metadata

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or not."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] != "/mcp":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await request.body()
        token = await self.verifier.verify_token(request.headers.get("authorization", "").partition(" ")[2])
        if token is not None and WRITE not in token.scopes and _is_write(body):
            await self.refuse(send)
            return
        rest: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return rest.pop() if rest else await receive()

        await self.app(scope, again, send)

    async def refuse(self, send: Send) -> None:
        """Say what is missing."""
        challenge = f'Bearer error="insufficient_scope", scope="{WRITE}", resource_metadata="{self.metadata}"'
        headers = [(b"www-authenticate", challenge.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def guarded(server: MCPServer, url: str, verifier: TokenVerifier) -> ASGIApp:
    """A server, with what its tools want."""
    metadata = f"{url}/.well-known/oauth-protected-resource/mcp"
    return Wanting(server.streamable_http_app(), verifier, metadata)


def _is_write(body: bytes) -> bool:
    message = json.loads(body or b"{}")
    return bool(message.get("method") == "tools/call" and message["params"]["name"] == "write")

"""An MCP server whose tokens somebody else gives: `elsewhere SOCKET ISSUER`. It asks there what each token is good for (RFC 7662)."""

from __future__ import annotations

import socket
import sys

import httpx2
import uvicorn
from mcp.server.auth.provider import AccessToken, TokenVerifier

from tests.peers.logins.notes import READ, guarded, notes

#: Who it is there.
ITSELF = "notes", "secret-of-notes"


class Introspection(TokenVerifier):
    """Asks, each time."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    async def verify_token(self, token: str) -> AccessToken | None:
        """See the protocol."""
        async with httpx2.AsyncClient(timeout=60) as client:
            answer = (await client.post(self.endpoint, data={"token": token}, auth=ITSELF)).json()
        if not answer["active"]:
            return None
        return AccessToken(
            token=token,
            client_id=answer["client_id"],
            scopes=answer["scope"].split(),
            expires_at=answer["exp"],
            resource=answer["aud"],
            subject=answer["sub"],
        )


if __name__ == "__main__":
    listening, issuer = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    metadata = httpx2.get(
        issuer.replace("/tenant", "/.well-known/oauth-authorization-server/tenant"), timeout=60
    ).json()
    verifier = Introspection(metadata["introspection_endpoint"])
    server = notes(url, issuer, [READ], verifier=verifier)
    uvicorn.Server(uvicorn.Config(guarded(server, url, verifier), log_level="error")).run(sockets=[listening])

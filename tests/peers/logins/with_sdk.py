"""The authorization server of the official Python SDK, and an MCP server, in one: `with_sdk SOCKET SCOPE...`.

Endpoints, checks and metadata are the SDK's; its provider protocol leaves to us what is kept, and the page that people see.
"""

from __future__ import annotations

import secrets
import socket
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from tests.peers.logins.notes import READ, guarded, notes
from tests.peers.logins.pages import consent

PERSON = "ada"


@dataclass
class Login:
    """What one person has allowed one client: its tokens end together."""

    access: set[str] = field(default_factory=set)
    refresh: str | None = None


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps everything in memory. Refresh tokens rotate; one that comes twice ends its login."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.lifetime = 3600
        self.grants: Counter[str] = Counter()
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.asked: dict[str, tuple[OAuthClientInformationFull, AuthorizationParams]] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.logins: dict[str, Login] = {}  # by each refresh token that there ever was

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """See the protocol; so are the following."""
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        ticket = secrets.token_urlsafe()
        self.asked[ticket] = client, params
        return f"{self.url}/consent?ticket={ticket}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        self.grants["authorization_code"] += 1
        return self.give(Login(), client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        login = self.logins.get(refresh_token)
        if login is not None and login.refresh != refresh_token:
            self.end(login)
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        self.grants["refresh_token"] += 1
        return self.give(self.logins[refresh_token.token], client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        for login in list(self.logins.values()):
            if token.token in login.access or token.token == login.refresh:
                self.end(login)

    def allow(self, ticket: str) -> str:
        """What a person is sent back with."""
        client, params = self.asked.pop(ticket)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(),
            client_id=client.client_id,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            **params.model_dump(
                include={"code_challenge", "redirect_uri", "redirect_uri_provided_explicitly", "resource"}
            ),
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    def deny(self, ticket: str) -> str:
        """The same, for no."""
        _, params = self.asked.pop(ticket)
        return construct_redirect_uri(str(params.redirect_uri), error="access_denied", state=params.state)

    def give(self, login: Login, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        """New tokens for a login."""
        given: dict[str, Any] = {"client_id": client_id, "scopes": scopes, "resource": resource, "subject": PERSON}
        access = AccessToken(token=secrets.token_urlsafe(), expires_at=int(time.time()) + self.lifetime, **given)
        refresh = RefreshToken(token=secrets.token_urlsafe(), **given)
        self.access[access.token], self.refresh[refresh.token] = access, refresh
        self.logins[refresh.token] = login
        login.access.add(access.token)
        login.refresh = refresh.token
        return OAuthToken(
            access_token=access.token,
            refresh_token=refresh.token,
            expires_in=self.lifetime,
            scope=" ".join(scopes),
        )

    def end(self, login: Login) -> None:
        """Nothing of a login is of use any more."""
        for token in login.access:
            self.access.pop(token, None)
        self.refresh.pop(login.refresh or "", None)


def main(listening: socket.socket, required: list[str]) -> None:
    """Serve until killed."""
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    provider = Provider(url)
    server = notes(url, url, required, provider=provider)

    @server.custom_route("/consent", methods=["GET", "POST"])
    async def consented(request: Request) -> Response:
        if request.method == "GET":
            ticket = request.query_params["ticket"]
            client, params = provider.asked[ticket]
            return HTMLResponse(consent(client.client_name or "", params.scopes or [], {"ticket": ticket}))
        form = await request.form()
        press = provider.allow if form["press"] == "Allow" else provider.deny
        return RedirectResponse(press(str(form["ticket"])), 302)

    @server.custom_route("/control", methods=["GET", "POST"])
    async def control(request: Request) -> Response:
        """How a test makes time pass here, and looks on."""
        if "lifetime" in request.query_params:
            provider.lifetime = int(request.query_params["lifetime"])
        if "end" in request.query_params:
            provider.access.clear()
        return JSONResponse(provider.grants)

    config = uvicorn.Config(guarded(server, url, ProviderTokenVerifier(provider)), log_level="error")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:] or [READ])

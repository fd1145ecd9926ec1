"""What an authorization server made with Authlib keeps: its models, and what would be a database."""

# The stubs that pyright brings are stricter than Authlib, and of another version of it:
# pyright: reportIncompatibleMethodOverride=false, reportArgumentType=false

from __future__ import annotations

import secrets
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, list_to_scope, scope_to_list
from authlib.oauth2.rfc8628 import DeviceCredentialDict

#: The MCP server, which asks what a token is good for.
RESOURCE_SERVER = "notes", "secret-of-notes"


class Client(ClientMixin):
    """A client, with what it was registered with."""

    def __init__(self, client_id: str, secret: str, metadata: dict[str, Any]) -> None:
        self.client_id, self.secret, self.metadata = client_id, secret, metadata

    def get_client_id(self) -> str:
        """See the mixin; so are the following."""
        return self.client_id

    def get_default_redirect_uri(self) -> str:
        return str(self.metadata["redirect_uris"][0])

    def get_allowed_scope(self, scope: str | None) -> str:
        allowed = scope_to_list(self.metadata.get("scope", ""))
        return str(list_to_scope([each for each in scope_to_list(scope or "") if each in allowed]))

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri in self.metadata["redirect_uris"]

    def check_client_secret(self, client_secret: str) -> bool:
        return secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.metadata["token_endpoint_auth_method"] if endpoint == "token" else True

    def check_response_type(self, response_type: str) -> bool:
        return response_type in self.metadata["response_types"]

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.metadata["grant_types"]


@dataclass
class Code(AuthorizationCodeMixin):
    """A code that a person brings back."""

    client_id: str
    redirect_uri: str
    scope: str
    user: str
    resource: str | None
    code_challenge: str | None
    code_challenge_method: str | None

    def get_redirect_uri(self) -> str:
        """See the mixin; so is the following."""
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope


@dataclass
class Token(TokenMixin):
    """An access token and the refresh token that came with it. All that came of one login are of one family."""

    client_id: str
    user: str
    scope: str
    resource: str | None
    family: str
    access_token: str
    refresh_token: str | None
    ends: float
    revoked: bool = False

    def check_client(self, client: Client) -> bool:
        """See the mixin; so are the following."""
        return client.client_id == self.client_id

    def get_scope(self) -> str:
        return self.scope

    def get_expires_in(self) -> float:
        return self.ends - time.time()

    def is_expired(self) -> bool:
        return self.ends < time.time()

    def is_revoked(self) -> bool:
        return self.revoked

    def get_user(self) -> str:
        return self.user


class Kept:
    """What a database would keep."""

    def __init__(self) -> None:
        name, secret = RESOURCE_SERVER
        self.clients = {name: Client(name, secret, {"token_endpoint_auth_method": "client_secret_basic"})}
        self.codes: dict[str, Code] = {}
        self.tokens: list[Token] = []
        self.devices: dict[str, DeviceCredentialDict] = {}
        self.decisions: dict[str, tuple[str, bool]] = {}  # user code → who, and whether they allow it
        self.grants: Counter[str] = Counter()
        self.lifetime = 3600

    def save_token(self, token: dict[str, Any], asked: Any) -> None:
        """Keep a token that was given, for the server that it was asked for."""
        self.grants[asked.payload.grant_type] += 1
        origin = asked.refresh_token or asked.authorization_code or asked.credential
        self.tokens.append(
            Token(
                client_id=asked.client.client_id,
                user=asked.user,
                scope=token["scope"],
                resource=origin["resource"] if isinstance(origin, dict) else origin.resource,
                family=origin.family if isinstance(origin, Token) else secrets.token_hex(),
                access_token=token["access_token"],
                refresh_token=token.get("refresh_token"),
                ends=time.time() + self.lifetime,
            )
        )

    def find(self, text: str) -> Token | None:
        """The token that an access token or a refresh token belongs to."""
        return next((each for each in self.tokens if text in (each.access_token, each.refresh_token)), None)

    def end(self, family: str) -> None:
        """Nothing of a login is of use any more."""
        for token in self.tokens:
            token.revoked |= token.family == family

"""An authorization server made with Authlib and Flask: `with_authlib SOCKET`.

Grants, endpoints and checks are Authlib's; what it leaves to its users is here, as its documentation shows it: what is kept, and the
pages. Its issuer has a path. People log in before they allow anything, and refresh tokens are for those who ask for `offline_access`.
"""

# The stubs that pyright brings are stricter than Authlib, and of another version of it:
# pyright: reportIncompatibleMethodOverride=false, reportArgumentType=false

from __future__ import annotations

import os
import secrets
import socket
import sys
from typing import Any
from urllib.parse import quote

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import scope_to_list
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url
from authlib.oauth2.rfc8628 import (
    DEVICE_CODE_GRANT_TYPE,
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    DeviceCredentialDict,
)
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Flask, jsonify, redirect, request, session
from werkzeug.serving import make_server

from tests.peers.logins.kept import RESOURCE_SERVER, Client, Code, Kept, Token
from tests.peers.logins.pages import consent, page

OFFLINE = "offline_access"
SCOPES = ["notes:read", "notes:write", OFFLINE]
WAYS = ["none", "client_secret_basic", "client_secret_post"]


kept = Kept()


class Codes(AuthorizationCodeGrant):
    """Logging in with a browser; see Authlib."""

    TOKEN_ENDPOINT_AUTH_METHODS = WAYS

    def save_authorization_code(self, code: str, request: Any) -> None:
        """See the grant; so are the following."""
        data = request.payload.data
        kept.codes[code] = Code(
            client_id=request.client.client_id,
            redirect_uri=request.payload.redirect_uri,
            scope=request.scope,
            user=request.user,
            resource=data.get("resource"),
            code_challenge=data.get("code_challenge"),
            code_challenge_method=data.get("code_challenge_method"),
        )

    def query_authorization_code(self, code: str, client: Client) -> Code | None:
        found = kept.codes.get(code)
        return found if found is not None and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code: Code) -> None:
        kept.codes = {code: each for code, each in kept.codes.items() if each is not authorization_code}

    def authenticate_user(self, authorization_code: Code) -> str:
        return authorization_code.user


class Refreshes(RefreshTokenGrant):
    """Refresh tokens rotate; one that comes twice ends its login."""

    TOKEN_ENDPOINT_AUTH_METHODS = WAYS
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        """See the grant; so are the following."""
        token = kept.find(refresh_token)
        if token is None or not token.revoked:
            return token
        kept.end(token.family)
        return None

    def authenticate_user(self, refresh_token: Token) -> str:
        return refresh_token.user

    def revoke_old_credential(self, refresh_token: Token) -> None:
        refresh_token.revoked = True


class Devices(DeviceCodeGrant):
    """Logging in with a code that is typed elsewhere."""

    def query_device_credential(self, device_code: str) -> DeviceCredentialDict | None:
        """See the grant; so are the following."""
        return kept.devices.get(device_code)

    def query_user_grant(self, user_code: str) -> tuple[str, bool] | None:
        return kept.decisions.get(user_code)

    def should_slow_down(self, credential: DeviceCredentialDict) -> bool:
        return False


class DeviceCodes(DeviceAuthorizationEndpoint):
    """Gives those codes."""

    CLIENT_AUTH_METHODS = WAYS
    INTERVAL = 1

    def get_verification_uri(self) -> str:
        """See the endpoint; so is the following."""
        return f"{request.host_url}device"

    def save_device_credential(self, client_id: str, scope: str | None, data: dict[str, Any]) -> None:
        allowed = kept.clients[client_id].get_allowed_scope(scope)
        more = {"client_id": client_id, "scope": allowed, "resource": request.form.get("resource")}
        kept.devices[data["device_code"]] = DeviceCredentialDict(**data, **more)


class Registration(ClientRegistrationEndpoint):
    """Anybody may register."""

    def authenticate_token(self, request: Any) -> str:
        """See the endpoint; so are the following."""
        return "anybody"

    def get_server_metadata(self) -> dict[str, Any]:
        return {}

    def save_client(self, client_info: dict[str, Any], client_metadata: dict[str, Any], request: Any) -> Client:
        client = Client(client_info["client_id"], client_info["client_secret"], client_metadata)
        kept.clients[client.client_id] = client
        return client


class Revocation(RevocationEndpoint):
    """A login ends with any of its tokens."""

    CLIENT_AUTH_METHODS = WAYS

    def query_token(self, token_string: str, token_type_hint: str | None) -> Token | None:
        """See the endpoint; so is the following."""
        return kept.find(token_string)

    def revoke_token(self, token: Token, request: Any) -> None:
        kept.end(token.family)


class Introspection(IntrospectionEndpoint):
    """What a token is good for; the MCP server may ask that."""

    def check_permission(self, token: Token, client: Client, request: Any) -> bool:
        """See the endpoint; so are the following."""
        return client.client_id == RESOURCE_SERVER[0]

    def query_token(self, token_string: str, token_type_hint: str | None) -> Token | None:
        return kept.find(token_string)

    def introspect_token(self, token: Token) -> dict[str, Any]:
        return {
            "client_id": token.client_id,
            "scope": token.scope,
            "sub": token.user,
            "aud": token.resource,
            "exp": int(token.ends),
        }


def serve(listening: socket.socket) -> None:
    """Serve until killed."""
    port = listening.getsockname()[1]
    origin = f"http://127.0.0.1:{port}"
    issuer = f"{origin}/tenant"
    app = Flask(__name__)
    app.secret_key = secrets.token_bytes()
    app.config.update(
        OAUTH2_SCOPES_SUPPORTED=SCOPES,
        OAUTH2_REFRESH_TOKEN_GENERATOR=True,
    )
    server = AuthorizationServer(app, kept.clients.get, kept.save_token)
    tokens = server.create_bearer_token_generator(app.config)

    def generate(grant_type: str, scope: str | None = None, include_refresh_token: bool = True, **more: Any) -> Any:
        offline = include_refresh_token and OFFLINE in scope_to_list(scope or "")
        more["expires_in"] = kept.lifetime
        return tokens(grant_type, scope=scope, include_refresh_token=offline, **more)

    class Issuer(IssuerParameter):
        """Says who sends people back (RFC 9207)."""

        def get_issuer(self) -> str:
            """See the extension."""
            return issuer

    server.register_token_generator("default", generate)
    server.register_extension(Issuer())
    server.register_grant(Codes, [CodeChallenge(required=True)])
    server.register_grant(Refreshes)
    server.register_grant(Devices)
    for endpoint in (DeviceCodes, Registration, Revocation, Introspection):
        server.register_endpoint(endpoint)

    metadata = AuthorizationServerMetadata(
        issuer=issuer,
        authorization_endpoint=f"{origin}/authorize",
        token_endpoint=f"{origin}/token",
        registration_endpoint=f"{origin}/register",
        revocation_endpoint=f"{origin}/revoke",
        introspection_endpoint=f"{origin}/introspect",
        scopes_supported=SCOPES,
        response_types_supported=["code"],
        grant_types_supported=["authorization_code", "refresh_token", DEVICE_CODE_GRANT_TYPE],
        token_endpoint_auth_methods_supported=WAYS,
        code_challenge_methods_supported=["S256"],
    )
    metadata.validate()

    @app.get(get_well_known_url(issuer))
    def well_known() -> Any:
        extensions = {
            "authorization_response_iss_parameter_supported": True,
            "device_authorization_endpoint": f"{origin}/devices",
        }
        return jsonify({**metadata, **extensions})

    @app.route("/authorize", methods=["GET", "POST"])
    def authorize() -> Any:
        user = session.get("user")
        if user is None:
            return redirect(f"/login?next={quote(request.full_path, safe='')}")
        try:
            grant = server.get_consent_grant(end_user=user)
        except OAuth2Error as error:
            return server.handle_error_response(request, error)
        if request.method == "GET":
            return consent(grant.client.metadata["client_name"], scope_to_list(grant.request.scope), {})
        allowed = user if request.form["press"] == "Allow" else None
        return server.create_authorization_response(grant_user=allowed, grant=grant)

    @app.route("/login", methods=["GET", "POST"])
    def login() -> Any:
        if request.method == "GET":
            return page("Who are you?", "Say your name.", ("Log in",), {"name": None})
        session["user"] = request.form["name"]
        return redirect(request.args["next"])

    @app.route("/device", methods=["GET", "POST"])
    def device() -> Any:
        if request.method == "GET":
            return page("Which device?", "Type its code.", ("Allow", "Deny"), {"code": None})
        kept.decisions[request.form["code"]] = "ada", request.form["press"] == "Allow"
        return page("Done", "Go back to your device.", (), {})

    app.post("/token")(server.create_token_response)
    for path, name in {
        "devices": "device_authorization",
        "register": "client_registration",
        "revoke": "revocation",
        "introspect": "introspection",
    }.items():
        app.add_url_rule(f"/{path}", path, lambda name=name: server.create_endpoint_response(name), methods=["POST"])

    @app.route("/control", methods=["GET", "POST"])
    def control() -> Any:
        """How a test makes time pass here, and looks on."""
        kept.lifetime = request.args.get("lifetime", kept.lifetime, int)
        for token in kept.tokens if "end" in request.args else ():
            token.ends = 0
        return jsonify(kept.grants)

    make_server("127.0.0.1", port, app, threaded=True, fd=listening.fileno()).serve_forever()


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # as its documentation has it, for a server on this machine
    serve(socket.socket(fileno=int(sys.argv[1])))

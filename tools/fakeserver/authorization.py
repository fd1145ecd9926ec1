"""An authorization server, and MCP servers that want its tokens; both can be armed to go wrong.

The authorization server is exact where a client has to be: PKCE, redirect URIs, codes that serve once, refresh tokens that
rotate and whose whole family ends when one comes back. A person is not asked: ``person`` says at once what they would do.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlencode

from .mcp_http import McpHttpServer
from .scripted import Exchange, Script, ScriptedServer

RESOURCE = "/.well-known/oauth-protected-resource"
METADATA = "/.well-known/oauth-authorization-server"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"

#: What was asked for to what the person is sent back with; None shows them a page instead.
Person = Callable[[dict[str, str]], dict[str, str] | None]


@dataclass
class Login:
    """What one person allowed: it ends as a whole.

    Attributes:
        client_id: Whom.
        scope: What.
        asked: The parameters that it was asked for with.
        over: It has ended.
    """

    client_id: str
    scope: str
    asked: dict[str, str]
    over: bool = False


@dataclass
class _Access:
    login: Login
    until: float


class AuthorizationServer(ScriptedServer):
    """See the module.

    Args:
        path: The path of its issuer identifier.
        document: More of what it publishes.

    Attributes:
        issuer: Its identifier.
        lifetime: Seconds that an access token lasts.
        refresh: Whether there are refresh tokens.
        secret: What clients that register themselves get; None for public ones.
        document: What it publishes; to be changed at will.
        person: What a person does who comes to log in; see ``agree``.
        clients: Client id → what was registered.
        counts: Endpoint (``metadata``, ``register``, ``authorize``, ``token``, ``device``, ``revoke``) → requests.
        grants: Grant type → requests at the token endpoint.
        visits: The parameters of each login.
        forms: The form of each token request.
        granted: What every login is given; None for what was asked for.
        approved: Whether the codes of devices have been typed.
    """

    def __init__(self, *, path: str = "", **document: object) -> None:
        self.person: Person = self.agree
        self.lifetime: float = 3600
        self.refresh = True
        self.secret: str | None = None
        self.clients: dict[str, Mapping[str, Any]] = {}
        self.counts: Counter[str] = Counter()
        self.grants: Counter[str] = Counter()
        self.visits: list[dict[str, str]] = []
        self.forms: list[dict[str, str]] = []
        self.granted: str | None = None
        self.approved = threading.Event()
        self._armed: dict[str, list[Script]] = {}
        self._codes: dict[str, Login] = {}
        self._devices: dict[str, Login] = {}
        self._access: dict[str, _Access] = {}
        self._refresh: dict[str, Login] = {}
        self._spent: dict[str, Login] = {}
        self._lock = threading.RLock()
        self._numbers = 0
        super().__init__(self._exchange, path=path)
        self.issuer = self.url
        self._endpoints: dict[str, tuple[str, Script]] = {
            METADATA + path: ("metadata", lambda exchange: exchange.json(self.document)),
            path + "/register": ("register", self._register),
            path + "/authorize": ("authorize", self._authorize),
            path + "/token": ("token", self._token),
            path + "/device": ("device", self._device),
            path + "/revoke": ("revoke", self._revoke),
        }
        self.document: dict[str, object] = {
            "issuer": self.issuer,
            "authorization_endpoint": self.issuer + "/authorize",
            "token_endpoint": self.issuer + "/token",
            "registration_endpoint": self.issuer + "/register",
            "device_authorization_endpoint": self.issuer + "/device",
            "revocation_endpoint": self.issuer + "/revoke",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            **document,
        }

    # ------------------------------------------------------------------------------------------------------ for tests
    def agree(self, asked: dict[str, str]) -> dict[str, str] | None:
        """What a person does who allows it all."""
        with self._lock:
            code = self._name("code")
            scope = asked.get("scope", "") if self.granted is None else self.granted
            self._codes[code] = Login(asked["client_id"], scope, asked)
        return {"code": code, "state": asked["state"]}

    def arm(self, endpoint: str, answer: int | Script, count: int = 1) -> None:
        """Answer the next ``count`` requests to an endpoint with a status, or by a function(exchange)."""
        act: Script = answer if callable(answer) else lambda exchange: exchange.respond(answer)
        with self._lock:
            self._armed.setdefault(endpoint, []).extend([act] * count)

    def hold(self, endpoint: str, gate: threading.Event) -> None:
        """Let the next request to an endpoint wait for the gate, and answer it as ever."""
        (usual,) = (act for name, act in self._endpoints.values() if name == endpoint)

        def wait(exchange: Exchange) -> None:
            exchange.wait(gate)
            usual(exchange)

        self.arm(endpoint, wait)

    def accepted(self, token: str) -> Login | None:
        """Whose an access token is, while it is good."""
        with self._lock:
            access = self._access.get(token)
        good = access is not None and not access.login.over and time.monotonic() < access.until
        return access.login if access is not None and good else None

    def end_access(self) -> None:
        """Every access token ends now; refresh tokens stay good."""
        with self._lock:
            self._access.clear()

    def end_logins(self) -> None:
        """Every login ends now, refresh tokens and all."""
        with self._lock:
            for login in (*self._refresh.values(), *(access.login for access in self._access.values())):
                login.over = True

    # ------------------------------------------------------------------------------------------------------ endpoints
    def _exchange(self, exchange: Exchange) -> None:
        name, act = self._endpoints.get(exchange.request.path.partition("?")[0], ("other", _not_found))
        with self._changed:
            self.counts[name] += 1
            self._changed.notify_all()
        with self._lock:
            if self._armed.get(name):
                act = self._armed[name].pop(0)
        act(exchange)

    def _register(self, exchange: Exchange) -> None:
        asked = exchange.request.json()
        client_id = self._name("client")
        secret = {} if self.secret is None else {"client_secret": self.secret}
        method = "none" if self.secret is None else "client_secret_basic"
        self.clients[client_id] = {**asked, **secret, "token_endpoint_auth_method": method}
        exchange.json({**self.clients[client_id], "client_id": client_id}, 201)

    def _authorize(self, exchange: Exchange) -> None:
        asked = dict(parse_qsl(exchange.request.path.partition("?")[2], strict_parsing=True))
        self.visits.append(asked)
        client = self.clients.get(asked.get("client_id", ""))
        if client is None or asked.get("redirect_uri") not in client["redirect_uris"]:
            exchange.respond(400, "no such client", "text/plain")
            return
        answer = self.person(asked)
        if answer is None:
            exchange.respond(200, "<p>Who are you?</p>", "text/html")
        else:
            exchange.respond(302, headers=[("Location", f"{asked['redirect_uri']}?{urlencode(answer)}")])

    def _device(self, exchange: Exchange) -> None:
        form = dict(parse_qsl(exchange.request.body.decode()))
        with self._lock:
            code = self._name("device")
            self._devices[code] = Login(form.get("client_id", ""), form.get("scope", ""), form)
        codes = {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": self.issuer + "/device"}
        exchange.json({**codes, "expires_in": 600, "interval": 1})

    def _revoke(self, exchange: Exchange) -> None:
        form = dict(parse_qsl(exchange.request.body.decode()))
        token = form.get("token", "")
        if self._client(form, exchange.request.header("Authorization")) is None:
            exchange.json({"error": "invalid_client"}, 401)
            return
        with self._lock:
            login = self._refresh.get(token) or (self._access[token].login if token in self._access else None)
            if login is not None:
                login.over = True
        exchange.respond(200)

    def _token(self, exchange: Exchange) -> None:
        form = dict(parse_qsl(exchange.request.body.decode(), strict_parsing=True))
        with self._changed:
            self.forms.append(form)
            self.grants[form["grant_type"]] += 1
            self._changed.notify_all()
        with self._lock:
            status, answer = self._answer(form, exchange.request.header("Authorization"))
        exchange.json(answer, status)

    def _answer(self, form: dict[str, str], header: str | None) -> tuple[int, dict[str, object]]:
        client_id = self._client(form, header)
        if client_id is None:
            return 401, {"error": "invalid_client"}
        grant = form["grant_type"]
        if grant == "refresh_token":
            login = self._refresh.get(form["refresh_token"])
            reused = self._spent.get(form["refresh_token"])
            if reused is not None:
                reused.over = True
        elif grant == DEVICE:
            login = self._devices.get(form["device_code"])
            if login is not None and not self.approved.is_set():
                return 400, {"error": "authorization_pending"}
        else:
            login = self._codes.pop(form["code"], None)
            proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
            if login is not None and (
                login.asked["code_challenge"] != proof.decode()
                or login.asked["redirect_uri"] != form["redirect_uri"]
                or login.asked.get("resource") != form.get("resource")
            ):
                login = None
        if login is None or login.over or login.client_id != client_id:
            return 400, {"error": "invalid_grant"}
        return 200, self._tokens(login, form.get("refresh_token"))

    def _tokens(self, login: Login, used: str | None) -> dict[str, object]:
        access = self._name("access")
        self._access[access] = _Access(login, time.monotonic() + self.lifetime)
        answer: dict[str, object] = {"access_token": access, "token_type": "Bearer", "expires_in": self.lifetime}
        if login.scope:
            answer["scope"] = login.scope
        if self.refresh:
            if used is not None:
                self._spent[used] = self._refresh.pop(used)
            answer["refresh_token"] = refresh = self._name("refresh")
            self._refresh[refresh] = login
        return answer

    def _client(self, form: Mapping[str, str], header: str | None) -> str | None:
        """Who asks, if they can prove it."""
        client_id, secret = form.get("client_id", ""), form.get("client_secret")
        if header is not None:
            pair = base64.b64decode(header.removeprefix("Basic ")).decode()
            client_id, secret = map(unquote_plus, pair.split(":"))
        known = self.clients.get(client_id)
        return client_id if known is not None and known.get("client_secret") == secret else None

    def _name(self, kind: str) -> str:
        """Something that nobody else has; what has to stay secret says so."""
        with self._lock:
            self._numbers += 1
            secret = "" if kind == "client" else "planted-"
            return f"{secret}{kind}-{self.port}-{self._numbers}"


class ProtectedMcpServer(McpHttpServer):
    """An MCP server that wants tokens.

    Args:
        authority: Whose.
        needs: Tool → the scope that it needs.
        scopes: What it says that there are.
        names_scope: Whether it says which scope is missing.

    Attributes:
        authorities: Those that it names and takes tokens of; to be changed at will.
        document: What it publishes besides them.
        needs: Tool → the scope that it needs; to be changed at will.
    """

    def __init__(
        self,
        authority: AuthorizationServer,
        *,
        needs: Mapping[str, str] | None = None,
        scopes: list[str] | None = None,
        names_scope: bool = True,
        **options: Any,
    ) -> None:
        self.authorities = [authority]
        self.names_scope = names_scope
        self.needs = dict(needs or {})
        self.document: dict[str, object] = {} if scopes is None else {"scopes_supported": scopes}
        super().__init__(**options)

    def sent(self, rpc: str | None = None) -> list[str | None]:
        """The tokens of the requests so far, or of those with one JSON-RPC method; None where there was none."""
        asked = [request for request in self.requests if not request.path.startswith(RESOURCE)]
        chosen = [request for request in asked if rpc in (None, request.rpc)]
        return [(request.header("Authorization") or "").removeprefix("Bearer ") or None for request in chosen]

    def _serve_mcp(self, exchange: Exchange) -> None:
        request = exchange.request
        if request.path == RESOURCE + self.url.removeprefix(self.origin):
            issuers = [each.issuer for each in self.authorities]
            exchange.json({"resource": self.url, "authorization_servers": issuers, **self.document})
            return
        token = (request.header("Authorization") or "").removeprefix("Bearer ")
        login = next((login for each in self.authorities if (login := each.accepted(token))), None)
        if login is None:
            self._refuse_with(exchange, 401)
            return
        message = request.json()
        tool = (message.get("params") or {}).get("name") if request.rpc == "tools/call" else None
        needed = self.needs.get(tool or "")
        if needed is not None and needed not in login.scope.split():
            scope = f', scope="{needed}"' if self.names_scope else ""
            self._refuse_with(exchange, 403, f', error="insufficient_scope"{scope}')
        else:
            super()._serve_mcp(exchange)

    def _refuse_with(self, exchange: Exchange, status: int, more: str = "") -> None:
        place = self.origin + RESOURCE + self.url.removeprefix(self.origin)
        challenge = f'Bearer resource_metadata="{place}"{more}'
        exchange.respond(status, headers=[("WWW-Authenticate", challenge)])


def _not_found(exchange: Exchange) -> None:
    exchange.respond(404)

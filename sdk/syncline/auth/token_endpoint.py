"""Speaking with an authorization server's endpoints: tokens, codes of devices, registrations. Nothing is sent twice here.

A request that failed on its way may have worked: codes, assertions and rotating refresh tokens are good for one use. The one
exception is a request that was refused for want of a nonce (RFC 9449, 8), which did nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from syncline.errors import AuthDenied, DiscoveryFailed, RefreshFailed

from . import clients, registration, token_requests, urls
from .clients import OAuthClient
from .discovery import PASSING
from .metadata import ServerMetadata
from .settings import Settings
from .steps import Fetch, Fetched, Steps, ask
from .token_requests import DeviceCodes, Form, TokenAnswer, TokenRefusal

#: Seconds for one request. Authorization servers ask others before they answer.
TIMEOUT = 45.0
#: Statuses of a place where nobody listens for what was sent.
ABSENT = frozenset({404, 405, 410, 501})


def request_token(
    settings: Settings, server: ServerMetadata, client: OAuthClient | None, form: Form
) -> Steps[TokenAnswer | TokenRefusal]:
    """Ask the token endpoint of an authorization server.

    Args:
        settings: The server that the token is for.
        server: The authorization server.
        client: Who asks; None where an assertion says that.
        form: What is asked.

    Raises:
        ConfigError: The client cannot prove itself in a way that is asked for.
        DiscoveryFailed: The endpoint may not be used.
    """
    prover, endpoint, nonce = settings.prover, server.token_endpoint, None
    while True:
        proof = {} if prover is None else {"DPoP": prover.prove("POST", endpoint, nonce)}
        fetched = yield from _send(settings, server, client, endpoint, form, proof)
        answer = token_requests.read_answer(fetched.status, fetched.body, "bearer" if prover is None else "dpop")
        asked = fetched.headers.get("dpop-nonce") if prover is not None and nonce is None else None
        if asked is None or not isinstance(answer, TokenRefusal) or answer.error != "use_dpop_nonce":
            return answer
        nonce = asked


def refresh(
    settings: Settings, server: ServerMetadata, client: OAuthClient, refresh_token: str, resource: str | None
) -> Steps[TokenAnswer | TokenRefusal]:
    """Ask for a new access token. What the answer leaves out stays as it was.

    Args:
        settings: The server that the token is for.
        server: The authorization server that gave the refresh token; nobody else is shown it.
        client: Whom it was given to.
        refresh_token: The refresh token.
        resource: The identifier of the server, None for 2025-03-26.

    Raises:
        RefreshFailed: Not now; the refresh token may still be good.
        ConfigError: As ``request_token``.
        DiscoveryFailed: As ``request_token``.
    """
    form = token_requests.refresh_form(refresh_token, resource)
    answer = yield from request_token(settings, server, client, form)
    if isinstance(answer, TokenRefusal) and answer.passing:
        raise not_now(server, answer)
    return answer


def exchange(settings: Settings, client: OAuthClient, endpoint: str, form: Form) -> Steps[TokenAnswer | TokenRefusal]:
    """Ask an identity provider for something to show to an authorization server (RFC 8693)."""
    provider = ServerMetadata(issuer=client.issuer or endpoint, token_endpoint=endpoint)
    fetched = yield from _send(settings, provider, client, endpoint, form)
    return token_requests.read_answer(fetched.status, fetched.body, "n_a")


def device_codes(
    settings: Settings, server: ServerMetadata, client: OAuthClient, endpoint: str, form: Form
) -> Steps[DeviceCodes | TokenRefusal]:
    """Ask for the codes of a device (RFC 8628, 3.1)."""
    fetched = yield from _send(settings, server, client, endpoint, form)
    return token_requests.read_device_codes(fetched.status, fetched.body)


def register(
    settings: Settings, server: ServerMetadata, redirect_uri: str | None, scopes: tuple[str, ...]
) -> Steps[OAuthClient]:
    """Register the client (RFC 7591).

    Raises:
        AuthDenied: It was refused, or what came of it is of no use.
        ConfigError: No program can register itself there.
        DiscoveryFailed: The endpoint may not be used, or nothing is there where nothing was published either.
        RefreshFailed: Not now.
    """
    endpoint = registration.endpoint(server)
    body = registration.request(server, client_name=settings.client_name, redirect_uri=redirect_uri, scopes=scopes)
    fetched = yield from _post(settings, endpoint, {"Content-Type": "application/json"}, body)
    if fetched.status in PASSING:
        raise RefreshFailed(
            f"{urls.shown(server.issuer)} registers nobody now (HTTP {fetched.status}): try again later"
        )
    if server.made_up and fetched.status in ABSENT:
        raise DiscoveryFailed(
            f"nothing about logging in is found at the server: it publishes no metadata, and {urls.shown(endpoint)} is not there "
            f"(HTTP {fetched.status}); check its URL; perhaps it wants no login, or a token that somebody gives out"
        )
    return registration.read_client(
        fetched.status, fetched.body, issuer=server.issuer, redirect_uri=redirect_uri, scopes=scopes
    )


def revoke(settings: Settings, server: ServerMetadata, client: OAuthClient, form: Form) -> Steps[bool]:
    """Give a token back (RFC 7009). Returns whether it is gone; an authorization server need not offer that.

    Raises:
        ConfigError: As ``request_token``.
        DiscoveryFailed: As ``request_token``.
    """
    if server.revocation_endpoint is None:
        return False
    fetched = yield from _send(settings, server, client, server.revocation_endpoint, form)
    return fetched.status == 200


def denied(server: ServerMetadata, refusal: TokenRefusal, advice: str) -> AuthDenied:
    """The error for a token that was refused."""
    return AuthDenied(f"{urls.shown(server.issuer)} gave no token ({refusal}): {advice}", error=refusal.error)


def not_now(server: ServerMetadata, refusal: TokenRefusal) -> RefreshFailed:
    """The error for a token that may be given later."""
    return RefreshFailed(
        f"{urls.shown(server.issuer)} gives no token now ({refusal}): try again later", error=refusal.error
    )


def _send(
    settings: Settings,
    server: ServerMetadata,
    client: OAuthClient | None,
    endpoint: str,
    form: Form,
    headers: Mapping[str, str] | None = None,
) -> Steps[Fetched]:
    """Post a form, with what proves who sends it."""
    proof: Mapping[str, str] = headers or {}
    if client is not None:
        method = clients.choose_method(client, server.auth_methods, server.auth_algorithms)
        more, members = clients.prove(client, method, server.issuer)
        proof, form = {**proof, **more}, {**form, **members}
    return (yield from _post(settings, endpoint, proof, token_requests.encode(form)))


def _post(settings: Settings, url: str, headers: Mapping[str, str], body: bytes) -> Steps[Fetched]:
    refusal = settings.reach.refusal(url)
    if refusal is not None:
        raise DiscoveryFailed(
            f"nothing is sent to {urls.shown(url)}: {refusal}; ask those who run the authorization server"
        )
    form = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
    return (yield from ask(Fetch("POST", url, {**form, **headers}, body, timeout=TIMEOUT), Fetched))

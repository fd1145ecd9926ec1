"""How we become known at an authorization server (specification, basic/authorization, client registration; RFC 7591).

====================================  =============================================================================
what there is                         what is done
====================================  =============================================================================
a client that the user configured     it is used; never at another authorization server than its own
a document of the client, understood  its URL is the client id
a registration there, from before     it is used, while it allows where people are sent back to, and what is asked for
a registration endpoint               the client registers itself
none of these                         the user has to register it, and is told so
====================================  =============================================================================
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import replace

from syncline.errors import AuthDenied, ConfigError

from . import urls
from .clients import BASIC, NONE, POST, OAuthClient
from .documents import Unusable, number, read, shown, text, texts
from .metadata import ServerMetadata
from .token_requests import CODE, DEVICE, REFRESH

_BY_HAND = "register the client by hand and give its client_id"
_ADVICE = {
    "invalid_redirect_uri": "it does not allow people to be sent back to {redirect}: choose a port or a redirect URI that it allows",
    "invalid_client_metadata": f"it does not register programs that ask for this: ask for other scopes, or {_BY_HAND}",
}


def document_refusal(url: str) -> str | None:
    """Why a URL cannot be that of a client ID metadata document, None if it can: https, with a path."""
    try:
        parts = urls.split(url)
    except ValueError as error:
        return str(error)
    if parts.scheme != "https":
        return "it is not https"
    segments = parts.path.split("/")
    if parts.path in ("", "/") or "." in segments or ".." in segments:
        return "it has no path, or one with dots for steps"
    return None


def bind(configured: OAuthClient, issuer: str, known: Collection[str]) -> OAuthClient:
    """The configured client, for an authorization server.

    Args:
        configured: What the user says.
        issuer: The authorization server.
        known: Authorization servers that it was used with, in case the user does not say where it belongs.

    Raises:
        ConfigError: It belongs elsewhere, and is not shown to this one.
    """
    homes = {configured.issuer} if configured.issuer is not None else set(known)
    if homes and issuer not in homes:
        raise ConfigError(
            f"the client {configured.client_id!r} belongs to {urls.shown(min(homes))}, and the server now asks for tokens of "
            f"{urls.shown(issuer)}: give the client that is registered there, or ask those who run the server"
        )
    return replace(configured, issuer=issuer)


def choose(
    metadata: ServerMetadata, *, configured: OAuthClient | None, document: str | None, kept: OAuthClient | None
) -> OAuthClient | None:
    """The client to be at an authorization server; None for one that has to register itself there first.

    Args:
        metadata: The authorization server.
        configured: What the user says, bound to it.
        document: The URL of a client ID metadata document. It is the same everywhere, and recognised by equality only.
        kept: What was registered there before.

    Raises:
        ConfigError: There is no way to become known.
    """
    issuer = metadata.issuer
    if configured is not None:
        return configured
    if document is not None and metadata.client_documents_supported:
        refusal = document_refusal(document)
        if refusal is not None:
            raise ConfigError(f"{urls.shown(document)} cannot be a client ID metadata document: {refusal}")
        return OAuthClient(document, issuer=issuer, auth_method=NONE, source="document")
    if kept is not None and kept.issuer == issuer and kept.source == "registered":
        return kept
    endpoint(metadata)
    return None


def endpoint(metadata: ServerMetadata) -> str:
    """Where programs register themselves. Raises ``ConfigError`` if they cannot."""
    if metadata.registration_endpoint is None:
        raise ConfigError(
            f"{urls.shown(metadata.issuer)} lets no program register itself: register one there by hand and give its client_id"
            + (", or the URL of a client ID metadata document" if metadata.client_documents_supported else "")
        )
    return metadata.registration_endpoint


def suits(client: OAuthClient, redirect_uri: str | None, scopes: tuple[str, ...]) -> bool:
    """Whether a client may do something, as far as its registration says.

    Args:
        client: The client.
        redirect_uri: Where people are to be sent back to, compared as text (RFC 6749); None for a device.
        scopes: What is to be asked for.
    """
    there = redirect_uri is None or not client.redirect_uris or redirect_uri in client.redirect_uris
    return there and (client.scopes is None or set(scopes) <= set(client.scopes))


def request(metadata: ServerMetadata, *, client_name: str, redirect_uri: str | None, scopes: tuple[str, ...]) -> bytes:
    """The body of a registration (RFC 7591, 2).

    Args:
        metadata: The authorization server.
        client_name: What people are shown.
        redirect_uri: Where people are sent back to. On this machine it makes a ``native`` application, else a ``web`` one.
            None for a device, which nobody is sent back to.
        scopes: All that may be asked for later.
    """
    listed = metadata.auth_methods or ()
    ours = [each for each in listed if each in (BASIC, POST)]  # in its order: some are better at what they name first
    method = NONE if NONE in listed or not ours else ours[0]
    native = redirect_uri is None or urls.is_loopback(redirect_uri)
    document: dict[str, object] = {
        "client_name": client_name,
        "redirect_uris": [redirect_uri] if redirect_uri else [],
        "application_type": "native" if native else "web",
        "grant_types": [CODE if redirect_uri else DEVICE, *([REFRESH] if metadata.supports_grant(REFRESH) else [])],
        "response_types": ["code"] if redirect_uri else [],
        "token_endpoint_auth_method": method,
    }
    if scopes:
        document["scope"] = " ".join(scopes)
    return json.dumps(document).encode()


def read_client(
    status: int, body: bytes, *, issuer: str, redirect_uri: str | None, scopes: tuple[str, ...]
) -> OAuthClient:
    """The client that was registered: what the authorization server made of it, which may be something else than was asked for.

    Args:
        status: The HTTP status of the answer; 201, and 200 where servers do not know better.
        body: Its body.
        issuer: The authorization server, who does not get to say that itself.
        redirect_uri: Where people are to be sent back to; None for a device.
        scopes: What it was to be registered for. What it was not given is not asked for by registering again.

    Raises:
        AuthDenied: It was refused, or is of no use here: found out now, and not when a person has logged in.
    """
    try:
        document = read(body)
    except Unusable as error:
        raise _refused(issuer, f"HTTP {status}, and {error}", _BY_HAND) from None
    client_id = text(document, "client_id")
    if status not in (200, 201) or client_id is None:
        raise _refusal(status, document, issuer, redirect_uri)
    secret = text(document, "client_secret")
    client = OAuthClient(
        client_id,
        issuer=issuer,
        secret=secret,
        auth_method=text(document, "token_endpoint_auth_method") or (BASIC if secret else NONE),
        redirect_uris=(redirect_uri,) if redirect_uri else (),
        scopes=scopes if text(document, "scope") else None,
        source="registered",
        secret_expires_at=number(document, "client_secret_expires_at") or None,
    )
    if not client.can(client.auth_method or NONE):
        reason = f"the client is to prove itself by {shown(client.auth_method or '')}, and got nothing for that"
        raise _refused(issuer, reason, _BY_HAND)
    allowed = texts(document, "redirect_uris")
    if redirect_uri and allowed and not any(_same_place(redirect_uri, each) for each in allowed):
        raise _refused(issuer, "it sends people back elsewhere", f"choose another redirect URI than {redirect_uri}")
    return client


def _same_place(wanted: str, registered: str) -> bool:
    """Whether two redirect URIs are the same; on this machine whatever their port (RFC 8252, 7.3)."""
    if wanted == registered:
        return True
    try:
        ours, theirs = urls.split(wanted), urls.split(registered)
    except ValueError:
        return False
    same = ours.hostname == theirs.hostname and ours._replace(netloc="") == theirs._replace(netloc="")
    return same and urls.is_loopback(wanted)


def _refusal(status: int, document: Mapping[str, object], issuer: str, redirect_uri: str | None) -> AuthDenied:
    error = text(document, "error")
    words = shown(": ".join(filter(None, (error, text(document, "error_description")))))
    advice = _ADVICE.get(error or "", _BY_HAND).format(redirect=redirect_uri)
    return _refused(issuer, words or f"HTTP {status}", advice, error and shown(error))


def _refused(issuer: str, reason: str, advice: str, error: str | None = None) -> AuthDenied:
    return AuthDenied(f"{urls.shown(issuer)} did not register this program ({reason}): {advice}", error=error)

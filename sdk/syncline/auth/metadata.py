"""What is published about logging in: where it is looked for, and what it must say to be used.

Protected resource metadata (RFC 9728) names the authorization servers of a server; their own metadata (RFC 8414, OpenID Connect
Discovery) names their endpoints. Specification: basic/authorization, authorization server discovery.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlunsplit

from syncline.errors import DiscoveryFailed

from . import scopes, urls
from .documents import Unusable, flag, read, text, texts

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
#: Issuers in an error of ours, however many a server names.
SHOWN = 5
#: The one way of proving who began a login that is used (RFC 7636, 4.2).
S256 = "S256"


@dataclass(frozen=True)
class ResourceMetadata:
    """Protected resource metadata (RFC 9728, 2), as far as it is used here.

    Attributes:
        resource: The identifier of the server, to be sent as it is.
        authorization_servers: Issuers, at least one.
        scopes_supported: None where it has no such list.
        dpop_required: Tokens must be bound to a key.
    """

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...] | None = None
    dpop_required: bool = False


@dataclass(frozen=True)
class ServerMetadata:
    """Authorization server metadata (RFC 8414, 2), as far as it is used here. A list that is None was not there.

    Attributes:
        issuer: Who the authorization server is; compared to the byte.
        token_endpoint: Where tokens are asked for.
        authorization_endpoint: Where people are sent; None where it only serves programs.
        registration_endpoint: Where programs register themselves (RFC 7591).
        device_authorization_endpoint: Where a device asks for a code (RFC 8628).
        revocation_endpoint: Where tokens are given back (RFC 7009).
        scopes_supported: Scopes.
        response_types_supported: What it sends people back with.
        grant_types_supported: What it gives tokens for.
        code_challenge_methods_supported: How it checks who began a login (RFC 7636).
        auth_methods: ``token_endpoint_auth_methods_supported``.
        auth_algorithms: ``token_endpoint_auth_signing_alg_values_supported``.
        dpop_algorithms: ``dpop_signing_alg_values_supported`` (RFC 9449).
        iss_supported: It always says who it is when it sends people back (RFC 9207).
        client_documents_supported: It reads client ID metadata documents.
        legacy: It was looked for, or made up, as the 2025-03-26 revision has it.
        made_up: Nothing was published: it may not be there at all.
    """

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    device_authorization_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes_supported: tuple[str, ...] | None = None
    response_types_supported: tuple[str, ...] | None = None
    grant_types_supported: tuple[str, ...] | None = None
    code_challenge_methods_supported: tuple[str, ...] | None = None
    auth_methods: tuple[str, ...] | None = None
    auth_algorithms: tuple[str, ...] | None = None
    dpop_algorithms: tuple[str, ...] | None = None
    iss_supported: bool = False
    client_documents_supported: bool = False
    legacy: bool = False
    made_up: bool = False

    def code_refusal(self) -> str | None:
        """Why people cannot log in there in a way that is safe, None if they can."""
        if self.authorization_endpoint is None:
            return "it has no authorization_endpoint"
        if self.response_types_supported is not None and "code" not in self.response_types_supported:
            return "it does not support the response type code"
        methods = self.code_challenge_methods_supported
        if S256 not in (methods or ()) and not (self.legacy and methods is None):
            return "it does not say that it supports PKCE with S256 (code_challenge_methods_supported)"
        return None

    def supports_grant(self, grant_type: str) -> bool:
        """Whether it gives tokens for that; one that says nothing may."""
        return self.grant_types_supported is None or grant_type in self.grant_types_supported


# --------------------------------------------------------------------------------------------------------------- resources


def canonical(server_url: str) -> str:
    """The identifier of a server that publishes none: its URL without fragment (RFC 8707, 2; specification, canonical URI).

    Scheme and host are written small, and no slash stands alone after the host. Raises ``ValueError``.
    """
    parts = urls.split(server_url.partition("#")[0])
    path = "" if parts.path == "/" and not parts.query else parts.path
    return urlunsplit((parts.scheme, parts.netloc.lower(), path, parts.query, ""))


def resource_urls(server_url: str, named: str | None) -> tuple[str, ...]:
    """Where the metadata of a server may be, in the order in which to look (specification; RFC 9728, 3.1).

    Args:
        server_url: The URL of the server, without fragment.
        named: ``resource_metadata`` of its challenge. The other two are on the server's own origin, so looking there after
            this one is absent trusts nobody else.
    """
    parts = urls.split(server_url)
    path = parts.path.removesuffix("/")
    inserted = urlunsplit((parts.scheme, parts.netloc, RESOURCE + path, parts.query, ""))
    places = ([named] if named else []) + [inserted, urls.root(server_url) + RESOURCE]
    return tuple(dict.fromkeys(places))


def covers(resource: str, server_url: str) -> bool:
    """Whether a server is what an identifier names: the same origin, and a path that begins with its segments."""
    try:
        same = urls.origin(resource) == urls.origin(server_url)
        whole, part = urls.split(server_url), urls.split(resource)
    except ValueError:
        return False
    base = part.path.removesuffix("/")
    within = whole.path == base or whole.path.startswith(base + "/")
    return same and within and part.query in ("", whole.query)


def read_resource(body: bytes, server_url: str) -> ResourceMetadata:
    """Protected resource metadata of a server, which may name one that covers it.

    Args:
        body: The document.
        server_url: The URL of the server, without fragment.

    Raises:
        Unusable: It is no such document; there may be one elsewhere.
        DiscoveryFailed: It is that of another resource, whose tokens must not come here.
    """
    document = read(body)
    resource, issuers = text(document, "resource"), texts(document, "authorization_servers")
    if resource is None:
        raise Unusable("it names no resource")
    if not covers(resource, server_url):
        raise DiscoveryFailed(
            f"the metadata of the resource names {urls.shown(resource)}, which is not {urls.shown(server_url)}: tokens for "
            "it would be asked for in another name; check the URL of the server, or ask those who run it"
        )
    if not issuers:
        raise Unusable("it names no authorization server")
    return ResourceMetadata(resource, issuers, _scopes(document), flag(document, "dpop_bound_access_tokens_required"))


def choose(issuers: Sequence[str], preferred: Collection[str], reach: urls.Reach) -> str:
    """The authorization server to go to (RFC 9728, 7.6): one that is preferred, else the first that may be used.

    Args:
        issuers: What the server names.
        preferred: Those that we have tokens of, or that the user names.
        reach: Where the server may lead us.

    Raises:
        DiscoveryFailed: There is none.
    """
    refusals = {issuer: issuer_refusal(issuer, reach) for issuer in issuers}
    usable = [issuer for issuer, refusal in refusals.items() if refusal is None]
    for issuer in [*(issuer for issuer in usable if issuer in preferred), *usable]:
        return issuer
    reasons = "; ".join(f"{urls.shown(issuer)}: {refusal}" for issuer, refusal in [*refusals.items()][:SHOWN])
    raise DiscoveryFailed(f"the server names no authorization server that may be used: {reasons}")


def issuer_refusal(issuer: str, reach: urls.Reach) -> str | None:
    """Why an issuer must not be used (RFC 8414, 2), None if it may."""
    return "an issuer has no query" if "?" in issuer else reach.refusal(issuer)


# --------------------------------------------------------------------------------------------------- authorization servers


def server_urls(issuer: str) -> tuple[str, ...]:
    """Where the metadata of an authorization server may be, in the order in which to look (specification; RFC 8414, 3)."""
    parts = urls.split(issuer)
    path = parts.path.removesuffix("/")
    paths = (SERVER + path, OPENID + path, path + OPENID) if path else (SERVER, OPENID)
    return tuple(urlunsplit((parts.scheme, parts.netloc, place, "", "")) for place in paths)


def read_server(body: bytes, issuer: str, *, legacy: bool = False) -> ServerMetadata:
    """Authorization server metadata.

    Args:
        body: The document.
        issuer: Who was asked for it.
        legacy: Whether the issuer was made up from the URL of the server (2025-03-26). A slash at its end means nothing then.

    Raises:
        Unusable: It is no such document; there may be one elsewhere.
        DiscoveryFailed: It speaks for somebody else (RFC 8414, 3.3), so nothing of it may be used, and nobody else be asked.
    """
    document = read(body)
    named, token_endpoint = text(document, "issuer"), text(document, "token_endpoint")
    if named is None:
        raise Unusable("it names no issuer")
    if named != issuer and not (legacy and named.removesuffix("/") == issuer):
        raise DiscoveryFailed(
            f"the metadata of the authorization server {urls.shown(issuer)} names another issuer, {urls.shown(named)}: "
            "it must not be used; ask those who run the authorization server"
        )
    if token_endpoint is None:
        raise Unusable("it names no token_endpoint")
    return ServerMetadata(
        issuer=named,
        token_endpoint=token_endpoint,
        authorization_endpoint=text(document, "authorization_endpoint"),
        registration_endpoint=text(document, "registration_endpoint"),
        device_authorization_endpoint=text(document, "device_authorization_endpoint"),
        revocation_endpoint=text(document, "revocation_endpoint"),
        scopes_supported=_scopes(document),
        response_types_supported=texts(document, "response_types_supported"),
        grant_types_supported=texts(document, "grant_types_supported"),
        code_challenge_methods_supported=texts(document, "code_challenge_methods_supported"),
        auth_methods=texts(document, "token_endpoint_auth_methods_supported"),
        auth_algorithms=texts(document, "token_endpoint_auth_signing_alg_values_supported"),
        dpop_algorithms=texts(document, "dpop_signing_alg_values_supported"),
        iss_supported=flag(document, "authorization_response_iss_parameter_supported"),
        client_documents_supported=flag(document, "client_id_metadata_document_supported"),
        legacy=legacy,
    )


def legacy_server_urls(server_url: str) -> tuple[str, ...]:
    """Where a server of 2025-03-26, which is its own authorization server, has its metadata."""
    return (urls.root(server_url) + SERVER,)


def legacy_server(server_url: str) -> ServerMetadata:
    """What a server of 2025-03-26 means that publishes nothing (specification of that revision, fallbacks)."""
    root = urls.root(server_url)
    return ServerMetadata(
        issuer=root,
        token_endpoint=root + "/token",
        authorization_endpoint=root + "/authorize",
        registration_endpoint=root + "/register",
        legacy=True,
        made_up=True,
    )


def _scopes(document: Mapping[str, object]) -> tuple[str, ...] | None:
    """``scopes_supported``, without blanks and what is no scope."""
    listed = texts(document, "scopes_supported") or ()
    return scopes.union(*(scopes.parse(item.strip()) or () for item in listed)) or None

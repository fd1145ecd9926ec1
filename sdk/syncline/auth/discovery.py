"""Finding out who gives tokens for a server (specification, basic/authorization, authorization server discovery)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

from syncline.errors import ConfigError, DiscoveryFailed

from . import metadata, urls
from .challenge import Challenge
from .documents import Unusable, shown
from .metadata import ResourceMetadata, ServerMetadata
from .settings import Settings
from .steps import Fetch, Fetched, Steps, ask

T = TypeVar("T")

#: Statuses after which a document may be there later: nobody is taken to have none, and nothing else is tried instead.
PASSING = frozenset({408, 425, 429, 500, 501, *range(503, 600)})
#: The revision that goes with requests to a server of 2025-03-26, which alone wants that.
LEGACY = "2025-03-26"


@dataclass(frozen=True)
class Found:
    """Who gives tokens for a server.

    Attributes:
        server: The authorization server.
        resource: The identifier of the server, to be sent with each request for a token; None for 2025-03-26.
        scopes_supported: What the server says that there are.
    """

    server: ServerMetadata
    resource: str | None
    scopes_supported: tuple[str, ...] | None = None


@dataclass
class _Search:
    """A search through several places: what was seen there, and whether all of them said that there is nothing (4xx)."""

    settings: Settings
    seen: list[str] = field(default_factory=list)
    absent: bool = True

    def look(self, places: tuple[str, ...], read: Callable[[bytes], T], revision: str | None = None) -> Steps[T | None]:
        """The first document that can be used, None if there is none."""
        version = revision or self.settings.protocol_version
        headers = {"Accept": "application/json", **({"MCP-Protocol-Version": version} if version else {})}
        for place in places:
            reason, gone = self.settings.reach.refusal(place), False
            if reason is None:
                fetched = yield from ask(Fetch("GET", place, headers), Fetched)
                if fetched.status in PASSING:
                    raise DiscoveryFailed(f"{urls.shown(place)}: HTTP {fetched.status}; try again later", passing=True)
                reason, gone = f"HTTP {fetched.status}", 400 <= fetched.status < 500
                if fetched.status == 200:
                    try:
                        return read(fetched.body)
                    except Unusable as error:
                        reason = str(error)
            self.absent &= gone
            self.seen.append(f"{urls.shown(place)}: {reason}")
        return None

    def failed(self, what: str, advice: str) -> DiscoveryFailed:
        return DiscoveryFailed(f"{what} ({'; '.join(self.seen)}): {advice}")


def discover(settings: Settings, challenge: Challenge | None, known: Collection[str]) -> Steps[Found]:
    """Find out who gives tokens for a server. Asked anew at each 401: it may be somebody else by now.

    Args:
        settings: The server.
        challenge: What it said; None for a login without having been asked for one.
        known: Issuers whose tokens or registrations we have; of several that the server names they come first.

    Raises:
        ConfigError: Tokens have to be bound to a key, or cannot be.
        DiscoveryFailed: Nobody is found, or nobody who may be trusted.
    """
    named = challenge.resource_metadata if challenge else None
    search = _Search(settings)
    found = yield from search.look(
        metadata.resource_urls(settings.server_url, named),
        lambda body: metadata.read_resource(body, settings.server_url),
    )
    if found is not None:
        if found.dpop_required and settings.prover is None:
            raise ConfigError("the server takes only tokens that are bound to a key: log in with DPoP")
        server = yield from find_server(settings, _issuer(settings, found, known))
        return Found(server, found.resource, found.scopes_supported)
    if settings.issuer is not None:
        server = yield from find_server(settings, settings.issuer)
        return Found(server, metadata.canonical(settings.server_url))
    if not search.absent or named is not None:
        raise search.failed(
            "the server does not say who gives tokens for it",
            "name the issuer of its authorization server, or ask those who run the server",
        )
    server = yield from find_legacy_server(settings)
    return Found(server, None)


def find_server(settings: Settings, issuer: str) -> Steps[ServerMetadata]:
    """The metadata of an authorization server.

    Raises:
        ConfigError: Tokens are to be bound to a key, and it does not do that, or not with a key like ours.
        DiscoveryFailed: There are none, or they are somebody else's.
    """
    refusal = metadata.issuer_refusal(issuer, settings.reach)
    if refusal is not None:
        raise DiscoveryFailed(f"the issuer {urls.shown(issuer)} may not be used: {refusal}")
    search = _Search(settings)
    found = yield from search.look(metadata.server_urls(issuer), lambda body: metadata.read_server(body, issuer))
    if found is None:
        raise search.failed(f"{urls.shown(issuer)} publishes no metadata", "ask those who run the authorization server")
    if settings.prover is not None and settings.prover.algorithm not in (found.dpop_algorithms or ()):
        others = shown(" or ".join(found.dpop_algorithms or ()))
        reason = (
            f"only to keys for {others}, and ours signs with {settings.prover.algorithm}" if others else "to no keys"
        )
        raise ConfigError(f"{urls.shown(issuer)} binds tokens {reason}: log in without DPoP")
    return found


def find_legacy_server(settings: Settings) -> Steps[ServerMetadata]:
    """The same for a server of 2025-03-26, which is its own authorization server; made up if it publishes nothing."""
    root = urls.root(settings.server_url)
    search = _Search(settings)
    found = yield from search.look(
        metadata.legacy_server_urls(settings.server_url),
        lambda body: metadata.read_server(body, root, legacy=True),
        LEGACY,
    )
    if found is None and not search.absent:
        raise search.failed(f"{urls.shown(root)} publishes no metadata", "ask those who run the server")
    return found or metadata.legacy_server(settings.server_url)


def _issuer(settings: Settings, found: ResourceMetadata, known: Collection[str]) -> str:
    """The authorization server to go to, of those that the server names."""
    if settings.issuer is not None:
        if settings.issuer not in found.authorization_servers:
            named = ", ".join(urls.shown(each) for each in found.authorization_servers[: metadata.SHOWN])
            raise DiscoveryFailed(
                f"the server wants tokens of {named}, and {urls.shown(settings.issuer)} is configured: change that, or ask "
                "those who run the server"
            )
        return settings.issuer
    bound = settings.client.issuer if settings.client else None
    return metadata.choose(found.authorization_servers, {*known, bound or ""}, settings.reach)

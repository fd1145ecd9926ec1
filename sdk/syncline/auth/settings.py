"""What a flow is told: the server, how to get tokens for it, and how much trouble one call may go to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias

from syncline.errors import ConfigError

from . import urls
from .clients import OAuthClient
from .token_requests import ID_TOKEN
from .urls import Reach

#: Gives so many random bytes, of the kind that nobody can guess.
Entropy: TypeAlias = Callable[[int], bytes]


class Prover(Protocol):
    """Has a key that tokens are bound to (RFC 9449)."""

    @property
    def algorithm(self) -> str:
        """What it signs with, as in RFC 7518, section 3.1."""
        ...

    def prove(self, method: str, url: str, nonce: str | None = None) -> str:
        """A proof for one request (RFC 9449, 4.2), with a nonce that was asked for; a new one at each call."""
        ...


@dataclass(frozen=True)
class Browser:
    """A person logs in with a browser (authorization code)."""


@dataclass(frozen=True)
class Device:
    """A person types a code elsewhere (RFC 8628)."""


@dataclass(frozen=True)
class ClientCredentials:
    """The configured client gets tokens of its own (extension OAuth client credentials)."""


@dataclass(frozen=True)
class Workload:
    """A workload shows the JWT that its platform gives it (extension workload identity federation).

    Attributes:
        assertion: Gives the JWT for an audience, freshly.
        audience: Whom it is for; None for the issuer.
    """

    assertion: Callable[[str], str] = field(repr=False)
    audience: str | None = None


@dataclass(frozen=True)
class Enterprise:
    """The identity provider of an organisation vouches for a person (extension enterprise-managed authorization).

    Attributes:
        token_endpoint: That of the identity provider, as its organisation says. Its host has to be within the reach.
        client: Who we are there.
        subject_token: Gives what shows who the person is, freshly.
        subject_token_type: What kind of token that is.
    """

    token_endpoint: str
    client: OAuthClient
    subject_token: Callable[[], str] = field(repr=False)
    subject_token_type: str = ID_TOKEN


Grant: TypeAlias = Browser | Device | ClientCredentials | Workload | Enterprise


@dataclass(frozen=True)
class Settings:
    """One server, and how to get tokens for it.

    Attributes:
        server_url: The URL of the server.
        reach: Where it may lead us.
        grant: How tokens are got.
        scopes: What is asked for in any case; None for what the server says.
        client: A client that the user registered.
        client_document: The URL of a client ID metadata document.
        client_name: What people are shown when the program registers itself.
        issuer: The only authorization server that is used, also where the server names none.
        protocol_version: The revision that goes with requests for metadata, while none has been agreed on.
        prover: Binds tokens to a key (DPoP); None for bearer tokens.

    Raises:
        ConfigError: The URL is none that tokens may be sent to.
    """

    server_url: str = field(repr=False)  # its query may be secret
    reach: Reach
    grant: Grant = Browser()
    scopes: tuple[str, ...] | None = None
    client: OAuthClient | None = None
    client_document: str | None = None
    client_name: str = "syncline"
    issuer: str | None = None
    protocol_version: str | None = None
    prover: Prover | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        refusal = self.reach.refusal(self.server_url)
        if refusal is not None:
            raise ConfigError(f"tokens cannot be sent to {urls.shown(self.server_url)}: {refusal}; use its https URL")


@dataclass(frozen=True)
class Budget:
    """What one request of a user to the server may still cost. A flow returns what it left.

    Attributes:
        registrations: Registrations of the client; a step-up brings one along.
        logins: Logins of a person.
        step_ups: Requests for more scopes, each of which takes another login.
    """

    registrations: int = 1
    logins: int = 1
    step_ups: int = 1

    def spend(self, what: Literal["registrations", "logins", "step_ups"]) -> Budget | None:
        """What is left after one of these; None where there is none left."""
        left: int = getattr(self, what)
        return replace(self, **{what: left - 1}) if left > 0 else None

"""Who we are at an authorization server, and how we prove it at its token endpoint (RFC 6749, 2.3; RFC 7523, 2.2)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import quote_plus

from syncline.errors import ConfigError

from .documents import shown

#: Makes a signed assertion for an audience: a new one at each call, with ``iss`` and ``sub`` the client id, a ``jti`` of its own
#: and an ``exp`` a few minutes away (RFC 7523, 3).
Signer: TypeAlias = Callable[[str], str]

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
BASIC, POST, NONE, JWT = "client_secret_basic", "client_secret_post", "none", "private_key_jwt"


@dataclass(frozen=True)
class OAuthClient:
    """What one authorization server knows our program as.

    Attributes:
        client_id: Its name there, opaque.
        issuer: The authorization server. Nobody else is shown this client. None for one that the user configured without saying
            so; it belongs to the first authorization server that it is used with.
        secret: Its secret, None for a public client.
        auth_method: The way of proving itself that was agreed on, None where nothing was.
        redirect_uris: Where people may be sent back to; none where that is not known.
        scopes: What may be asked for, where the registration limits that; None where it says nothing of it.
        source: The user ``configured`` it, it is the URL of a ``document``, or it was ``registered`` by program.
        secret_expires_at: When the secret ends, in seconds since the epoch; None for never.
        signer: Proves who it is by a key of its own (``private_key_jwt``).
        algorithm: What that signs with, as in RFC 7518, section 3.1; None where that is not known.
        audience: Whom assertions are for; None for the issuer. Some authorization servers want the URL of their token endpoint.
    """

    client_id: str
    issuer: str | None = None
    secret: str | None = field(default=None, repr=False)
    auth_method: str | None = None
    redirect_uris: tuple[str, ...] = ()
    scopes: tuple[str, ...] | None = None
    source: Literal["configured", "document", "registered"] = "configured"
    secret_expires_at: float | None = None
    signer: Signer | None = field(default=None, repr=False, compare=False)
    algorithm: str | None = None
    audience: str | None = None

    def can(self, method: str) -> bool:
        """Whether it can prove itself that way."""
        if method in (BASIC, POST):
            return self.secret is not None
        return method == NONE or (method == JWT and self.signer is not None)


def choose_method(
    client: OAuthClient, supported: tuple[str, ...] | None, algorithms: tuple[str, ...] | None = None
) -> str:
    """How a client proves itself at a token endpoint.

    What was agreed on, if it can do that and the list has it; else by a key, else with a secret in the first way that is listed:
    some authorization servers take only that; without a list as RFC 8414 has it, which is Basic. A client with nothing to prove
    only says who it is, whatever is listed.

    Args:
        client: The client.
        supported: ``token_endpoint_auth_methods_supported``, None where there is no such list.
        algorithms: ``token_endpoint_auth_signing_alg_values_supported``, likewise.

    Raises:
        ConfigError: It cannot do what is asked.
    """
    method = _method(client, supported)
    if method == JWT and client.algorithm and algorithms is not None and client.algorithm not in algorithms:
        raise ConfigError(
            f"the authorization server takes assertions that are signed with {shown(' or '.join(algorithms)) or 'nothing'}, "
            f"and those of {client.client_id!r} are signed with {client.algorithm}: choose another algorithm, or another key"
        )
    return method


def _method(client: OAuthClient, supported: tuple[str, ...] | None) -> str:
    agreed = client.auth_method
    if agreed and client.can(agreed) and (supported is None or agreed in supported):
        return agreed
    if client.secret is None and client.signer is None:
        return NONE
    listed = (JWT, BASIC) if supported is None else supported
    for method in (JWT, *(each for each in listed if each in (BASIC, POST)), NONE):
        if client.can(method) and method in listed:
            return method
    raise ConfigError(
        f"the authorization server wants a client to prove itself by {shown(' or '.join(supported or ()))}, and "
        f"{client.client_id!r} has no means for that: give it a secret or a key"
    )


def prove(client: OAuthClient, method: str, audience: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What a token request carries to prove who sends it: headers, and members of its form. Never two ways at once.

    With Basic, the form says who we are, too, as it may (RFC 6749, 3.2.1): some authorization servers look up the client there.

    Args:
        client: The client.
        method: Of ``choose_method``.
        audience: Whom an assertion is for, where the client does not say.
    """
    if method == BASIC:
        pair = f"{quote_plus(client.client_id)}:{quote_plus(client.secret or '')}"  # escaped before it is joined
        basic = "Basic " + base64.b64encode(pair.encode()).decode()
        return {"Authorization": basic}, {"client_id": client.client_id}
    if method == JWT and client.signer is not None:
        signed = client.signer(client.audience or audience)
        return {}, {"client_assertion_type": ASSERTION_TYPE, "client_assertion": signed}
    secret = {"client_secret": client.secret} if method == POST and client.secret else {}
    return {}, {"client_id": client.client_id, **secret}

"""Tokens that a program gets for itself, as a client that somebody has registered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from syncline.auth import settings

from .programs import ProgramLogins, registered

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode


class ClientCredentials(ProgramLogins):
    """OAuth client credentials, for ``auth=`` (extension io.modelcontextprotocol/oauth-client-credentials; RFC 6749, 4.4).

    One object serves any number of servers, whose authorization server knows the client. No person is asked. What goes wrong
    is raised by the call: ``AuthDenied``, ``DiscoveryFailed``, ``RefreshFailed``, ``ConfigError``.

    Args:
        client_id: The client.
        secret_or_private_key: Its secret; or its private key in PEM, which signs an assertion for each token
            (``private_key_jwt``, RFC 7523) and needs the extra ``jwt``.
        scopes: What to ask for; by default what the server says.
        issuer: The authorization server that knows the client, and the only one that is used. Without it the client goes to the
            one that the server names first.
        algorithm: What the key signs with, as in RFC 7518, section 3.1; by default what fits it: ES256 for P-256, RS256 for RSA.
        key_id: The ``kid`` of the key, for an authorization server that knows several.
        audience: Whom assertions are for; by default the issuer. Some authorization servers want the URL of their token endpoint.
        dpop: Bind tokens to a key that is made for them (RFC 9449), which needs the extra ``jwt``.
        store: Where tokens are kept: ``auto``, ``keyring``, ``file``, ``memory``, or a ``CredentialStore``; by default in memory, for
            this object alone.
        trusted_hosts: Hosts that authorization servers may have although they are on a private network and the server is not.

    Raises ``ConfigError`` for a key that cannot be used.
    """

    extensions: ClassVar[Mapping[str, object]] = {"io.modelcontextprotocol/oauth-client-credentials": {}}

    def __init__(
        self,
        client_id: str,
        secret_or_private_key: str,
        *,
        scopes: Sequence[str] | None = None,
        issuer: str | None = None,
        algorithm: str | None = None,
        key_id: str | None = None,
        audience: str | None = None,
        dpop: bool = False,
        store: Mode | CredentialStore | None = None,
        trusted_hosts: Sequence[str] = (),
    ) -> None:
        client = registered(
            client_id, secret_or_private_key, issuer=issuer, algorithm=algorithm, key_id=key_id, audience=audience
        )
        super().__init__(
            "client credentials",
            settings.ClientCredentials(),
            client,
            scopes=scopes,
            issuer=issuer,
            dpop=dpop,
            store=store,
            trusted_hosts=trusted_hosts,
        )

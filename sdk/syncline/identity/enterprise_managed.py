"""Tokens for a person whom the identity provider of an organisation vouches for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from syncline.auth import token_requests, urls
from syncline.auth.settings import Enterprise
from syncline.errors import ConfigError

from .programs import ProgramLogins, registered

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode


class EnterpriseManaged(ProgramLogins):
    """Enterprise-managed authorization, for ``auth=`` (extension io.modelcontextprotocol/enterprise-managed-authorization).

    The person is logged in at the organisation's identity provider. What shows that is exchanged there for an ID-JAG (RFC 8693),
    and the ID-JAG for an access token at the server's authorization server (RFC 7523). Both are done again for each token.
    A refusal of either is raised as ``AuthDenied``.

    Args:
        client_id: Who the program is at the authorization server.
        secret_or_private_key: Its secret there, or its private key in PEM (extra ``jwt``); None if it has none.
        idp_token_endpoint: The token endpoint of the identity provider.
        idp_client_id: Who the program is there.
        idp_secret_or_private_key: Its secret or private key there, None if it has none.
        subject_token: What shows who the person is: an ID token. Or a function that returns it, called for each access token, on
            the thread of the call. What it raises is raised by the call.
        subject_token_type: What kind of token that is (RFC 8693, section 3).
        scopes: What to ask for; by default what the server says.
        issuer: The only authorization server to use, which knows ``client_id``.
        dpop: Bind tokens to a key that is made for them (RFC 9449), which needs the extra ``jwt``.
        store: As for ``ClientCredentials``.
        trusted_hosts: As for ``ClientCredentials``. The identity provider is trusted.

    Raises ``ConfigError`` for an endpoint that is neither https nor on this machine, and for a key that cannot be used.
    """

    extensions: ClassVar[Mapping[str, object]] = {"io.modelcontextprotocol/enterprise-managed-authorization": {}}

    def __init__(
        self,
        client_id: str,
        secret_or_private_key: str | None = None,
        *,
        idp_token_endpoint: str,
        idp_client_id: str,
        idp_secret_or_private_key: str | None = None,
        subject_token: str | Callable[[], str],
        subject_token_type: str = token_requests.ID_TOKEN,
        scopes: Sequence[str] | None = None,
        issuer: str | None = None,
        dpop: bool = False,
        store: Mode | CredentialStore | None = None,
        trusted_hosts: Sequence[str] = (),
    ) -> None:
        refusal = urls.redirect_refusal(idp_token_endpoint)
        if refusal is not None:
            raise ConfigError(f"idp_token_endpoint {urls.shown(idp_token_endpoint)} cannot be used: {refusal}")
        if not subject_token:
            raise ConfigError("the subject_token is empty")
        idp = registered(idp_client_id, idp_secret_or_private_key, audience=idp_token_endpoint)
        grant = Enterprise(
            idp_token_endpoint,
            idp,
            subject_token if callable(subject_token) else lambda: subject_token,
            subject_token_type,
        )
        super().__init__(
            "enterprise",
            grant,
            registered(client_id, secret_or_private_key, issuer=issuer),
            scopes=scopes,
            issuer=issuer,
            dpop=dpop,
            store=store,
            trusted_hosts=(*trusted_hosts, urls.split(idp_token_endpoint).hostname or ""),
        )

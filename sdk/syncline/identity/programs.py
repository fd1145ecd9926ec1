"""What the ways of logging in without a person have in common (extensions of the specification's authorization)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from syncline.auth.clients import OAuthClient, Signer
from syncline.auth.stores.memory import MemoryStore
from syncline.errors import ConfigError

from .logins import Logins
from .server_login import Wishes
from .signing import PEM, SigningKey

if TYPE_CHECKING:
    from syncline.auth.programs import ProgramGrant
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode

#: Seconds that an assertion can be used.
LIFETIME = 120


class ProgramLogins(Logins):
    """Tokens for a program: fetched when a server wants one, and fetched anew before they end and when they are refused.

    Args:
        kind: Keeps its tokens apart from those of people and of other ways, in a store that they share.
        grant: How tokens are got.
        client: Who we are.
        scopes: What to ask for; None for what the server says.
        issuer: The only authorization server to use.
        dpop: Whether tokens are bound to a key.
        store: Where tokens are kept; None for memory, for this object alone.
        trusted_hosts: See ``OAuth``.
    """

    def __init__(
        self,
        kind: str,
        grant: ProgramGrant,
        client: OAuthClient | None,
        *,
        scopes: Sequence[str] | None,
        issuer: str | None,
        dpop: bool,
        store: Mode | CredentialStore | None,
        trusted_hosts: Sequence[str],
    ) -> None:
        wishes = Wishes(
            grant=grant,
            scopes=scopes,
            client=client,
            issuer=issuer,
            trusted=trusted_hosts,
            kind=kind,
            dpop=dpop,
        )
        super().__init__(wishes, MemoryStore() if store is None else store)


def registered(
    client_id: str,
    secret_or_private_key: str | None,
    *,
    issuer: str | None = None,
    algorithm: str | None = None,
    key_id: str | None = None,
    audience: str | None = None,
) -> OAuthClient:
    """A client with a secret, or with a private key in PEM.

    Raises:
        ConfigError: There is nothing to prove itself with, or the key cannot be used.
    """
    if not client_id:
        raise ConfigError("client_id is empty")
    if secret_or_private_key is not None and not secret_or_private_key.strip():
        raise ConfigError(f"the secret or private key of {client_id!r} is empty")
    if secret_or_private_key is None or PEM not in secret_or_private_key:
        if algorithm or key_id:
            raise ConfigError("algorithm and key_id go with a private key, and this is a secret")
        return OAuthClient(client_id, issuer=issuer, secret=secret_or_private_key)
    key = SigningKey(secret_or_private_key, algorithm)
    sign = signer(client_id, key, key_id)
    return OAuthClient(client_id, issuer=issuer, signer=sign, algorithm=key.algorithm, audience=audience)


def signer(client_id: str, key: SigningKey, key_id: str | None = None) -> Signer:
    """Signs assertions that say who a client is (RFC 7523, 3). ``key_id`` tells the authorization server which key that was."""
    header = {"typ": "JWT", **({"kid": key_id} if key_id else {})}

    def sign(audience: str) -> str:
        now = int(time.time())
        claims = {
            "iss": client_id,
            "sub": client_id,
            "aud": audience,
            "jti": secrets.token_urlsafe(16),
            "iat": now,
            "exp": now + LIFETIME,
        }
        return key.sign(claims, header)

    return sign

"""Tokens for a workload, which shows the JWT that its platform gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from syncline.auth.settings import Workload
from syncline.errors import ConfigError

from .programs import ProgramLogins

if TYPE_CHECKING:
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode


class WorkloadIdentity(ProgramLogins):
    """Workload identity federation, for ``auth=`` (extension SEP-1933; RFC 7523, 2.1). One object serves any number of servers.

    Nothing is registered, and no person is asked. A refusal is raised as ``AuthDenied``: nothing else is tried instead.

    Args:
        assertion: The JWT. Or a function that returns one for an audience, as those of platforms end soon: called for each token,
            on the thread of the call. What it raises is raised by the call.
        audience: Whom it is for; by default the issuer of the authorization server.
        scopes: What to ask for; by default what the server says.
        issuer: The only authorization server to use. Nobody else is shown the JWT.
        dpop: Bind tokens to a key that is made for them (RFC 9449), which needs the extra ``jwt``.
        store: As for ``ClientCredentials``.
        trusted_hosts: As for ``ClientCredentials``.
    """

    def __init__(
        self,
        assertion: str | Callable[[str], str],
        *,
        audience: str | None = None,
        scopes: Sequence[str] | None = None,
        issuer: str | None = None,
        dpop: bool = False,
        store: Mode | CredentialStore | None = None,
        trusted_hosts: Sequence[str] = (),
    ) -> None:
        if not assertion:
            raise ConfigError("the assertion is empty")
        super().__init__(
            "workload",
            Workload(assertion if callable(assertion) else lambda _: assertion, audience),
            None,
            scopes=scopes,
            issuer=issuer,
            dpop=dpop,
            store=store,
            trusted_hosts=trusted_hosts,
        )

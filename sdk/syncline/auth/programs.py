"""Tokens without a person: what a program shows for one (extensions: client credentials, enterprise-managed authorization,
workload identity federation). Each assertion is fresh and used once; what is refused is not tried again in another way.
"""

from __future__ import annotations

from typing import TypeAlias

from syncline.errors import AuthDenied, ConfigError

from . import token_endpoint, token_requests, urls
from .clients import OAuthClient
from .discovery import Found
from .settings import ClientCredentials, Enterprise, Settings, Workload
from .steps import Steps
from .token_requests import Form, TokenAnswer

ProgramGrant: TypeAlias = ClientCredentials | Enterprise | Workload


def prepare(
    settings: Settings, grant: ProgramGrant, found: Found, scopes: tuple[str, ...]
) -> Steps[tuple[OAuthClient | None, Form]]:
    """Who asks the authorization server for a token, None for nobody that it knows, and with what.

    Args:
        settings: The server that the token is for.
        grant: How tokens are got.
        found: Who gives them.
        scopes: What to ask for.

    Raises:
        AuthDenied: The identity provider does not vouch for us.
        ConfigError: There is a setting to change first.
    """
    server, resource = found.server, found.resource
    if isinstance(grant, ClientCredentials):
        return _configured(settings), token_requests.client_credentials_form(resource, scopes)
    if not server.supports_grant(token_requests.JWT_BEARER):
        raise ConfigError(
            f"{urls.shown(server.issuer)} gives no tokens for assertions (grant_types_supported): ask those who run it, or "
            "log in in another way"
        )
    if isinstance(grant, Workload):
        return None, token_requests.assertion_form(grant.assertion(grant.audience or server.issuer), resource, scopes)
    client = _configured(settings)
    jag = yield from _id_jag(settings, grant, found, scopes)
    return client, token_requests.assertion_form(jag, resource, ())


def _id_jag(settings: Settings, grant: Enterprise, found: Found, scopes: tuple[str, ...]) -> Steps[str]:
    """What the identity provider gives to show to the authorization server; it is no access token."""
    form = token_requests.exchange_form(
        grant.subject_token(),
        grant.subject_token_type,
        audience=found.server.issuer,
        resource=found.resource or settings.server_url,
        scopes=scopes,
    )
    answer = yield from token_endpoint.exchange(settings, grant.client, grant.token_endpoint, form)
    if isinstance(answer, TokenAnswer):
        if answer.issued_token_type == token_requests.ID_JAG:
            return answer.access_token
        reason, error = "it gave something else than an ID-JAG", None
    else:
        reason, error = str(answer), answer.error
    place = urls.shown(grant.token_endpoint)
    raise AuthDenied(
        f"{place} does not vouch for us ({reason}): log in there again, or ask those who run it", error=error
    )


def _configured(settings: Settings) -> OAuthClient:
    if settings.client is None:
        raise ConfigError(
            "a program that logs in by itself needs a client that was registered for it: give its client_id"
        )
    return settings.client

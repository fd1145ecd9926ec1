"""What is sent to a token endpoint, and what it answers (RFC 6749, 4 to 6; RFC 7523; RFC 8628; RFC 8693; RFC 8707)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import urlencode

from . import scopes as scoping
from .documents import Unusable, number, read, shown, text

CODE = "authorization_code"
REFRESH = "refresh_token"
CLIENT_CREDENTIALS = "client_credentials"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"

#: Seconds between two questions of a device where the authorization server names none, and how much more it is after
#: ``slow_down`` (RFC 8628, 3.2 and 3.5).
DEVICE_INTERVAL, DEVICE_SLOWER = 5.0, 5.0
#: The least time between two questions, whatever the authorization server says, and the longest that a device goes on asking.
DEVICE_LEAST, DEVICE_LONGEST = 1.0, 3600.0
#: Seconds that a token lasts at most: a century. Some servers give the largest number that they have, which no date can hold.
LONGEST = 100 * 365 * 86_400.0

Form: TypeAlias = dict[str, str]

_SENDABLE = re.compile(r"[\x21-\x7e]+")
_RETRIABLE = frozenset({"server_error", "temporarily_unavailable", "slow_down"})


# ----------------------------------------------------------------------------------------------------------------- requests


def code_form(code: str, redirect_uri: str, verifier: str, resource: str | None) -> Form:
    """For the code of a login; ``redirect_uri`` is the text that was in the authorization request (RFC 6749, 4.1.3)."""
    return _form(CODE, resource=resource, code=code, redirect_uri=redirect_uri, code_verifier=verifier)


def refresh_form(refresh_token: str, resource: str | None) -> Form:
    """For a refresh token. It gives what it was given for, and never more scopes (RFC 6749, 6)."""
    return _form(REFRESH, resource=resource, refresh_token=refresh_token)


def client_credentials_form(resource: str | None, scopes: tuple[str, ...]) -> Form:
    """For the client itself (RFC 6749, 4.4)."""
    return _form(CLIENT_CREDENTIALS, resource=resource, scope=" ".join(scopes))


def device_authorization_form(resource: str | None, scopes: tuple[str, ...]) -> Form:
    """For the codes of a device (RFC 8628, 3.1); goes to the device authorization endpoint."""
    return _form(None, resource=resource, scope=" ".join(scopes))


def device_form(device_code: str, resource: str | None) -> Form:
    """For the code of a device (RFC 8628, 3.4)."""
    return _form(DEVICE, resource=resource, device_code=device_code)


def assertion_form(assertion: str, resource: str | None, scopes: tuple[str, ...]) -> Form:
    """For an assertion: the JWT of a workload, or an ID-JAG (RFC 7523, 2.1)."""
    return _form(JWT_BEARER, resource=resource, assertion=assertion, scope=" ".join(scopes))


def exchange_form(
    subject_token: str, subject_token_type: str, *, audience: str, resource: str, scopes: tuple[str, ...]
) -> Form:
    """For an ID-JAG, at the identity provider (RFC 8693, 2.1; extension enterprise-managed authorization).

    Args:
        subject_token: What shows who the person is.
        subject_token_type: What kind of token that is, as a URN.
        audience: The issuer of the authorization server that the ID-JAG is for.
        resource: The identifier of the server.
        scopes: What is asked for.
    """
    return _form(
        EXCHANGE,
        resource=resource,
        requested_token_type=ID_JAG,
        subject_token=subject_token,
        subject_token_type=subject_token_type,
        audience=audience,
        scope=" ".join(scopes),
    )


def revocation_form(token: str, kind: Literal["access_token", "refresh_token"]) -> Form:
    """For giving a token back (RFC 7009, 2.1); goes to the revocation endpoint."""
    return {"token": token, "token_type_hint": kind}


def encode(form: Mapping[str, str]) -> bytes:
    """The body of a request."""
    return urlencode(form).encode("ascii")


def _form(grant_type: str | None, **members: str | None) -> Form:
    return {name: value for name, value in {"grant_type": grant_type, **members}.items() if value}


# ------------------------------------------------------------------------------------------------------------------ answers


@dataclass(frozen=True)
class TokenAnswer:
    """A token that was given (RFC 6749, 5.1).

    Attributes:
        access_token: Printable ASCII without blanks, so that it can be sent in a header.
        token_type: In lower case: ``bearer``, ``dpop``; ``n_a`` for what is no access token (RFC 8693, 2.2.1).
        expires_in: Seconds that it can be used; None where nobody says.
        refresh_token: A new refresh token; None where the one before stays, if there is one.
        scopes: What was granted; None where it is what was asked for.
        issued_token_type: What was given, where that was asked for (RFC 8693, 2.2.1).
    """

    access_token: str = field(repr=False)
    token_type: str = "bearer"
    expires_in: float | None = None
    refresh_token: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] | None = None
    issued_token_type: str | None = None

    def expires_at(self, now: float) -> float | None:
        """When it ends, if it was given now: both in the same seconds."""
        return None if self.expires_in is None else now + self.expires_in


@dataclass(frozen=True)
class TokenRefusal:
    """No token was given (RFC 6749, 5.2; RFC 8628, 3.5).

    Attributes:
        error: ``invalid_grant``, ``invalid_client``, ``authorization_pending`` and so on; ``http_...`` and the status where the
            answer is not one of OAuth, ``invalid_answer`` where it is one and cannot be used.
        description: More about it, for people; empty if there is nothing.
        status: The HTTP status.
    """

    error: str
    description: str
    status: int

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later: the authorization server is not well, or too busy."""
        return self.status >= 500 or self.status in (408, 429) or self.error in _RETRIABLE

    def __str__(self) -> str:
        return f"{self.error}: {self.description}" if self.description else self.error


def read_answer(status: int, body: bytes, token_type: str = "bearer") -> TokenAnswer | TokenRefusal:
    """What a token endpoint answered. Nothing of the body is shown but the error that it names.

    Args:
        status: The HTTP status.
        body: The body. Null is absent, numbers may be text, and a refusal with status 200 is one, too.
        token_type: Which kind of token can be used, in lower case; ``n_a`` for what is no access token (RFC 8693, 2.2.1).
    """
    document = _document(status, body)
    if isinstance(document, TokenRefusal):
        return document
    token, kind = text(document, "access_token"), (text(document, "token_type") or "").lower()
    expires = number(document, "expires_in")
    if token is None or not _SENDABLE.fullmatch(token):
        return TokenRefusal("invalid_answer", "it has no access_token that can be sent", status)
    if kind != token_type:
        return TokenRefusal("invalid_answer", f"its token_type is not {token_type}", status)
    return TokenAnswer(
        access_token=token,
        token_type=kind,
        expires_in=None if expires is None else min(expires, LONGEST),
        refresh_token=text(document, "refresh_token"),
        scopes=scoping.parse((text(document, "scope") or "").strip()),
        issued_token_type=text(document, "issued_token_type"),
    )


def _document(status: int, body: bytes) -> Mapping[str, object] | TokenRefusal:
    failed = not 200 <= status < 300
    try:
        document = read(body)
    except Unusable as error:
        return TokenRefusal(f"http_{status}" if failed else "invalid_answer", str(error), status)
    named = text(document, "error")
    if named or failed:
        return TokenRefusal(shown(named or f"http_{status}"), shown(text(document, "error_description") or ""), status)
    return document


@dataclass(frozen=True)
class DeviceCodes:
    """What a device shows, and what it asks with (RFC 8628, 3.2).

    Attributes:
        device_code: What the device asks with.
        user_code: What the person types.
        verification_uri: Where the person types it.
        verification_uri_complete: The same with the code in it; None where there is none.
        expires_in: Seconds that the codes can be used.
        interval: Seconds between two questions.
    """

    device_code: str = field(repr=False)
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in: float
    interval: float


def read_device_codes(status: int, body: bytes) -> DeviceCodes | TokenRefusal:
    """What a device authorization endpoint answered."""
    document = _document(status, body)
    if isinstance(document, TokenRefusal):
        return document
    device, user, uri = (text(document, name) for name in ("device_code", "user_code", "verification_uri"))
    expires = number(document, "expires_in")
    if device is None or user is None or uri is None or expires is None:
        return TokenRefusal("invalid_answer", "it lacks a code, its address or its time", status)
    return DeviceCodes(
        device_code=device,
        user_code=shown(user),
        verification_uri=uri,
        verification_uri_complete=text(document, "verification_uri_complete"),
        expires_in=min(expires, DEVICE_LONGEST),
        interval=max(number(document, "interval") or DEVICE_INTERVAL, DEVICE_LEAST),
    )

"""Credentials: what a login leaves behind, as it is compared, and as it is written down."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from syncline.errors import CredentialStoreError

#: What the written form looks like. Members that this version does not know are kept, so only a change of meaning is a new one.
VERSION = 1
#: Between the kind of a program and its client.
PROGRAM = ": "


@dataclass(frozen=True)
class CredentialKey:
    """What credentials are for. They are never used for anything else.

    Attributes:
        issuer: The authorization server's issuer identifier, to the byte.
        resource: The resource indicator that is sent (RFC 8707), to the byte.
        client: The client id that was configured, or the URL of the client's metadata document; empty for a client that registers
            itself, whose id is not known beforehand. For a program that is nobody's login, ``kind: client`` (``PROGRAM``).
    """

    issuer: str
    resource: str
    client: str = ""

    @property
    def of_program(self) -> bool:
        """Whether they were got without a person, and are nobody's login."""
        return PROGRAM in self.client

    @property
    def digest(self) -> str:
        """A name for files, locks and entries of a keyring: 32 hexadecimal digits, the same everywhere and always."""
        parts = json.dumps([self.issuer, self.resource, self.client])
        return hashlib.sha256(parts.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class DamagedKey(CredentialKey):
    """The key of something that cannot be read: it can be deleted, and what it is for may be empty, as nobody knows.

    Attributes:
        name: The name that it is kept under.
    """

    name: str = ""

    @property
    def digest(self) -> str:
        """See ``CredentialKey``."""
        return self.name

    @classmethod
    def of(cls, data: bytes | None, name: str) -> DamagedKey:
        """The key of something damaged, which may still tell what it is for."""
        try:
            members = json.loads(data or b"")
            issuer, resource, client = (members.get(part) or "" for part in ("issuer", "resource", "client"))
        except (ValueError, RecursionError, AttributeError):
            return cls("", "", name=name)
        known = all(isinstance(part, str) for part in (issuer, resource, client))
        return cls(issuer, resource, client, name) if known else cls("", "", name=name)


class Damaged(CredentialStoreError):
    """What is kept cannot be used."""


@dataclass(frozen=True)
class Credentials:
    """Tokens, and what is needed to use and to refresh them. Secrets are not part of the ``repr``.

    Attributes:
        issuer: See ``CredentialKey``.
        resource: See ``CredentialKey``.
        client_id: Our id at the issuer.
        access_token: The access token; empty where the login has ended, and only who we are is kept for the next one.
        client: See ``CredentialKey``.
        client_secret: Our secret at the issuer, None for a public client.
        client_secret_expires_at: When that ends, in seconds since the epoch; None for never (RFC 7591, 3.2.1).
        auth_method: How we authenticate at the token endpoint (``token_endpoint_auth_method``), None where nothing was agreed.
        redirect_uri: What was registered to come back to.
        client_scopes: What the registration lets us ask for; None where it says nothing of it.
        token_type: As the issuer spelled it.
        refresh_token: The refresh token, None where none was given.
        scopes: The scopes granted.
        requested: The scopes asked for so far, which a step-up asks for again.
        expires_at: When the access token ends, in seconds since the epoch; None where nobody said, which is not the same as never.
        obtained_at: When the tokens were obtained, in seconds since the epoch.
        principal: Who this is: the same after a refresh, another one after another login.
        legacy: They were obtained as the 2025-03-26 revision has it, which sends no resource indicator.
        private_key: The key that the tokens are bound to, in PEM (RFC 9449); None for bearer tokens.
        extra: Members that a later version wrote.
    """

    issuer: str
    resource: str
    client_id: str
    access_token: str = field(repr=False)
    client: str = ""
    client_secret: str | None = field(default=None, repr=False)
    client_secret_expires_at: float | None = None
    auth_method: str | None = None
    redirect_uri: str | None = None
    client_scopes: tuple[str, ...] | None = None
    token_type: str = "Bearer"
    refresh_token: str | None = field(default=None, repr=False)
    scopes: tuple[str, ...] = ()
    requested: tuple[str, ...] = ()
    expires_at: float | None = None
    obtained_at: float | None = None
    principal: str = ""
    legacy: bool = False
    private_key: str | None = field(default=None, repr=False)
    extra: Mapping[str, object] = field(default_factory=dict, repr=False, hash=False)

    @property
    def key(self) -> CredentialKey:
        """What they are for."""
        return CredentialKey(self.issuer, self.resource, self.client)

    def expires_within(self, now: float, seconds: float) -> bool:
        """Whether the access token ends within so many seconds from now, or has ended. Never, where nobody said when."""
        return self.expires_at is not None and self.expires_at <= now + seconds

    def same_tokens(self, other: Credentials | None) -> bool:
        """Whether nothing was refreshed in between: both tokens are the same."""
        return other is not None and (self.access_token, self.refresh_token) == (
            other.access_token,
            other.refresh_token,
        )

    def refreshed(
        self,
        access_token: str,
        *,
        now: float,
        expires_at: float | None,
        refresh_token: str | None = None,
        scopes: tuple[str, ...] | None = None,
    ) -> Credentials:
        """What they are after an answer of the token endpoint; what it left out stays as it was (RFC 6749, 5.1 and 6)."""
        return replace(
            self,
            access_token=access_token,
            refresh_token=refresh_token or self.refresh_token,
            scopes=self.scopes if scopes is None else scopes,
            expires_at=expires_at,
            obtained_at=now,
        )

    def ended(self, now: float) -> Credentials:
        """What is left of a login that has ended: who we are at the authorization server, and no tokens."""
        return replace(self, access_token="", refresh_token=None, private_key=None, expires_at=now)

    def to_json(self) -> str:
        """The written form: JSON in ASCII, secrets included."""
        known = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "extra"}
        return json.dumps({**self.extra, "version": VERSION, **known}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes, store: str) -> Credentials:
        """Read the written form.

        Raises ``CredentialStoreError``, which names the store and says what to do, for anything else.
        """
        try:
            members = json.loads(text)
        except (ValueError, RecursionError):
            raise damaged(store, "they are not JSON") from None
        if not isinstance(members, dict):
            raise damaged(store, "they are not a JSON object")
        version = members.pop("version", None)
        if type(version) is int and version > VERSION:
            raise CredentialStoreError(
                f"{store} holds credentials in a form that only a later version of syncline reads; update it, or log in again",
                store=store,
            )
        if version != VERSION or isinstance(version, bool):
            raise damaged(store, "they have no version")
        known: dict[str, Any] = {}
        for name, (what, check) in _MEMBERS.items():
            if name in members:
                known[name] = value = members.pop(name)
                if not check(value):
                    raise damaged(store, f"{name!r} is not {what}")
            elif name in _REQUIRED:
                raise damaged(store, f"{name!r} is missing")
        known.update({name: tuple(value) for name, value in known.items() if isinstance(value, list)})
        return cls(**known, extra=members)


def belonging(credentials: Credentials, key: CredentialKey, store: str) -> Credentials:
    """Credentials that were found under a key; raises ``CredentialStoreError`` if they are for something else."""
    if credentials.key != key:
        raise damaged(store, f"they are not for {key.resource}")
    return credentials


def damaged(store: str, reason: str) -> Damaged:
    """The error for what is kept and cannot be used."""
    return Damaged(
        f"the credentials in {store} are damaged: {reason}. Log in again, which replaces them: syncline auth login URL",
        store=store,
    )


def _text(value: object) -> bool:
    return isinstance(value, str)


def _text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _flag(value: object) -> bool:
    return isinstance(value, bool)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _texts_or_null(value: object) -> bool:
    return value is None or _texts(value)


def _time(value: object) -> bool:
    if value is None:
        return True
    try:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


_Check = tuple[str, Callable[[object], bool]]
_TEXT: _Check = ("a text", _text)
_TEXT_OR_NULL: _Check = ("a text or null", _text_or_null)
_TEXTS: _Check = ("a list of texts", _texts)
_TEXTS_OR_NULL: _Check = ("a list of texts or null", _texts_or_null)
_TIME: _Check = ("a time or null", _time)
#: Member → what it must be.
_MEMBERS: dict[str, _Check] = {
    "issuer": _TEXT,
    "resource": _TEXT,
    "client_id": _TEXT,
    "access_token": _TEXT,
    "client": _TEXT,
    "client_secret": _TEXT_OR_NULL,
    "client_secret_expires_at": _TIME,
    "auth_method": _TEXT_OR_NULL,
    "redirect_uri": _TEXT_OR_NULL,
    "client_scopes": _TEXTS_OR_NULL,
    "token_type": _TEXT,
    "refresh_token": _TEXT_OR_NULL,
    "scopes": _TEXTS,
    "requested": _TEXTS,
    "expires_at": _TIME,
    "obtained_at": _TIME,
    "principal": _TEXT,
    "legacy": ("true or false", _flag),
    "private_key": _TEXT_OR_NULL,
}
_REQUIRED = ("issuer", "resource", "client_id", "access_token")

"""OAuth at one server: what goes with requests, and what is done when they are refused."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from syncline.auth import urls
from syncline.auth.challenge import Challenge, parse, pick
from syncline.auth.clients import OAuthClient
from syncline.auth.documents import shown
from syncline.auth.flow import CHECK_CLIENT, INSUFFICIENT_SCOPE, authorize, renew, revoke
from syncline.auth.refreshing import UNKNOWN_CLIENT
from syncline.auth.settings import Browser, Budget, Device, Grant, Settings
from syncline.auth.token_requests import TokenRefusal
from syncline.auth.tokens import PROGRAM
from syncline.auth.urls import Reach
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import NAP, Deadline
from syncline.concurrency.locks import take
from syncline.errors import (
    AuthDenied,
    AuthRequired,
    ConfigError,
    ConnectionClosed,
    DiscoveryFailed,
    RefreshFailed,
    RequestTimeout,
)
from syncline.protocol.revisions import REVISIONS
from syncline.transport.http_exchange import Exchanges

from .dpop import USE_NONCE, Possession
from .fetching import Fetcher
from .running import Hands, Visit
from .signing import SigningKey

if TYPE_CHECKING:
    from syncline.auth.tokens import Credentials
    from syncline.config import HttpServer

    from .tokens import Tokens

#: Seconds for a refresh, which no call's deadline ends.
REFRESH = 60.0
#: The revision that goes with requests for metadata, where none has been agreed on yet.
NEWEST = next(reversed(REVISIONS))


@dataclass(frozen=True)
class Wishes:
    """What the user of ``OAuth``, or of a way without a person, said; see there.

    ``shared`` logins are for programs that have been told nothing of this: what they need of it is kept with the tokens.
    """

    grant: Grant
    scopes: Sequence[str] | None = None
    client: OAuthClient | None = None
    client_document: str | None = None
    client_name: str = "syncline"
    issuer: str | None = None
    redirect_port: int = 0
    visit: Callable[[Visit], str | None] | None = None
    trusted: Sequence[str] = ()
    kind: str = ""
    dpop: bool = False
    shared: bool = False

    def __post_init__(self) -> None:
        for name, given, what in (("scopes", self.scopes, "scopes"), ("trusted_hosts", self.trusted, "hosts")):
            if isinstance(given, str):
                raise ConfigError(f"{name} is a sequence of {what}, not one text")

    @property
    def stored_as(self) -> str:
        """Who we are, as the store has it: empty for a client that registers itself, and no URL or client id for a program."""
        who = self.client.client_id if self.client is not None else self.client_document or ""
        return f"{self.kind}{PROGRAM}{who}" if self.kind else who


class ServerLogin:
    """See the module; an ``Authorization``. Raises ``ConfigError`` for a URL that programs may understand differently."""

    def __init__(self, server: HttpServer, wishes: Wishes, tokens: Tokens) -> None:
        self._url = server.url.partition("#")[0]
        try:
            urls.split(self._url)
        except ValueError as error:
            raise ConfigError(
                f"tokens cannot be got for {urls.shown(server.url)}: {error}; write it as the server has it, "
                "in ASCII and without a user name"
            ) from None
        self._server = server
        self._wishes = wishes
        self._tokens = tokens
        self._over = CancelToken()
        self._exchanges = Exchanges()
        self._peer: str | None = None
        self._possession: Possession | None = None

    def headers(self, verb: str, url: str, deadline: Deadline) -> Mapping[str, str]:
        """The token, if there is one; see ``Authorization``. Blocks while it is read or refreshed."""
        credentials = self._current(deadline) or self._again(deadline)
        if credentials is None:
            return {}
        if credentials.private_key is not None:
            return self._possessing(credentials.private_key).headers(verb, url, credentials.access_token)
        return {"Authorization": f"Bearer {credentials.access_token}"}

    def answered(self, url: str, headers: Mapping[str, str], peer: str | None) -> None:
        """See ``Authorization``."""
        self._peer = peer or self._peer
        if self._possession is not None:
            self._possession.heard(url, headers)

    def refused(
        self,
        sent: Mapping[str, str],
        status: int,
        challenges: Sequence[str],
        before: int,
        deadline: Deadline,
        *,
        asking: bool,
    ) -> bool:
        """Get another token, one with more scopes where those are missing; see ``Authorization``.

        Blocks while it is refreshed, and while a person logs in. Raises ``AuthError`` where there is none to be had.
        """
        challenge = self._challenge(challenges)
        if self._wants_nonce(sent, challenge):
            return self.is_behind(sent, challenges)
        if status == 403 and (challenge is None or challenge.error != INSUFFICIENT_SCOPE):
            return False
        token = sent.get("Authorization", "").partition(" ")[2] or None
        rejected = token if status == 401 and not before else None  # one refresh for each message
        budget = (before and self._tokens.left(token)) or Budget()
        try:
            self._another(token, challenge, budget, deadline, rejected, asking=asking)
            return True
        except AuthRequired as error:
            error.www_authenticate, error.status = next(iter(challenges), None), status
            raise

    def log_in(self, deadline: Deadline, challenges: Sequence[str] = ()) -> Credentials:
        """Log in, whatever there is, with what the server said if it did. Blocks while a person does; raises ``AuthError``."""
        return self._log_in(self._challenge(challenges), Budget(), deadline)

    def is_behind(self, sent: Mapping[str, str], challenges: Sequence[str]) -> bool:
        """Whether a request was refused for a nonce that we know by now (RFC 9449, 9)."""
        possession, wanted = self._possession, self._wants_nonce(sent, self._challenge(challenges))
        return possession is not None and wanted and possession.is_behind(sent["DPoP"])

    def give_back(self, credentials: Credentials, deadline: Deadline) -> bool:
        """Revoke tokens (RFC 7009); whether their authorization server has done it. Blocks until then; raises ``AuthError``."""
        settings = self._settings()
        steps = revoke(
            settings,
            issuer=credentials.issuer,
            resource=_resource(credentials),
            client=self._client(credentials),
            refresh_token=credentials.refresh_token,
            access_token=credentials.access_token,
        )
        return Hands(self._fetcher(settings), self._tokens, self._over, deadline).run(steps)

    def close(self) -> None:
        """End a login that is under way for this connection; a refresh goes on, for others."""
        self._over.cancel(ConnectionClosed("the client was closed"))
        self._exchanges.abort()

    # Inside

    def _wants_nonce(self, sent: Mapping[str, str], challenge: Challenge | None) -> bool:
        wanted = challenge is not None and challenge.error == USE_NONCE
        return wanted and "DPoP" in sent and self._possession is not None

    def _challenge(self, challenges: Sequence[str]) -> Challenge | None:
        """The one to answer."""
        dpop = self._wishes.dpop or self._possession is not None
        return pick(parse(challenges), ("dpop", "bearer") if dpop else ("bearer",))

    def _current(self, deadline: Deadline, rejected: str | None = None, *, look: bool = False) -> Credentials | None:
        held = self._tokens.current(self._exchange, deadline, self._over, rejected, look=look)
        return None if held is not None and self._wishes.dpop and held.private_key is None else held

    def _again(self, deadline: Deadline) -> Credentials | None:
        """What a program needs nobody for: another token in the place of one that has ended, before the server says so."""
        if isinstance(self._wishes.grant, (Browser, Device)) or not self._tokens.issuers():
            return None
        try:
            return self._another(None, None, Budget(), deadline)
        except DiscoveryFailed:  # the server will say more
            return None

    def _another(
        self,
        token: str | None,
        challenge: Challenge | None,
        budget: Budget,
        deadline: Deadline,
        rejected: str | None = None,
        *,
        asking: bool = True,
    ) -> Credentials:
        """Credentials with another token than this one: those that somebody has got meanwhile, or those of a login."""
        taken: list[bool] = []
        try:
            self._take_turn(deadline, taken)
            held = self._current(deadline, rejected, look=True)
            if held is not None and held.access_token != token:
                return held
            return self._log_in(challenge, budget, deadline, asking=asking)
        finally:
            if True in taken:
                self._tokens.turn.release()

    def _take_turn(self, deadline: Deadline, taken: list[bool]) -> None:
        """Wait until nobody else logs in at the server."""
        while not take(self._tokens.turn, deadline.sooner(NAP), taken):
            if self._over.cancelled:
                raise ConnectionClosed("the client was closed")
            if deadline.expired:
                raise RequestTimeout("somebody else is logging in, and has not finished in time")

    def _possessing(self, pem: str) -> Possession:
        """The key that tokens are bound to, with what is known about nonces."""
        possession = self._possession
        if possession is None or possession.pem != pem:
            self._possession = possession = Possession(SigningKey(pem))
        return possession

    def _log_in(
        self, challenge: Challenge | None, budget: Budget, deadline: Deadline, *, asking: bool = True
    ) -> Credentials:
        wishes, tokens = self._wishes, self._tokens
        visit = wishes.visit if asking else None
        stepping_up = challenge is not None and challenge.error == INSUFFICIENT_SCOPE
        missing = (challenge.scope if challenge is not None and stepping_up else None) or ()
        if stepping_up and not tokens.upgrades.may(missing):
            what = shown(" ".join(missing)) or "more scopes"
            raise AuthDenied(
                f"the server wants {what}, which was asked for in vain: ask those who run it",
                error=INSUFFICIENT_SCOPE,
            )
        settings = self._settings()
        fetcher = self._fetcher(settings)
        possession = Possession(SigningKey.generate()) if wishes.dpop else None
        if possession is not None:
            settings = replace(settings, prover=possession)
        steps = authorize(
            settings,
            entropy=secrets.token_bytes,
            challenge=challenge,
            known=tokens.issuers(),
            budget=budget,
            interactive=visit is not None,
        )
        authorized = Hands(fetcher, tokens, self._over, deadline, visit, wishes.redirect_port).run(steps)
        self._possession = possession or self._possession
        credentials = tokens.keep(
            authorized, self._exchange, possession.pem if possession else None, with_secret=wishes.shared
        )
        if stepping_up and not set(missing or authorized.requested) <= set(credentials.scopes):
            tokens.upgrades.failed(missing)
        return credentials

    def _exchange(self, credentials: Credentials) -> Credentials:
        """On the thread that refreshes, which no connection owns."""
        settings = self._settings()
        if credentials.private_key is not None:
            settings = replace(settings, prover=self._possessing(credentials.private_key))
        steps = renew(
            settings,
            issuer=credentials.issuer,
            resource=_resource(credentials),
            client=self._client(credentials),
            refresh_token=credentials.refresh_token or "",
        )
        fetcher = Fetcher(self._server, settings.reach)
        token = Hands(fetcher, self._tokens, CancelToken(), Deadline(REFRESH)).run(steps)
        if isinstance(token, TokenRefusal):
            issuer = urls.shown(credentials.issuer)
            if self._wishes.client is not None and token.error in UNKNOWN_CLIENT:
                raise AuthDenied(f"{issuer}: {token}: {CHECK_CLIENT}", error=token.error)
            raise RefreshFailed(
                f"{issuer} gives no token for the refresh token ({token}): try again later, or log in again: "
                f"syncline auth login {urls.typed(credentials.resource)}",
                error=token.error,
            )
        now = time.time()
        return credentials.refreshed(
            token.access_token,
            now=now,
            expires_at=token.expires_at(now),
            refresh_token=token.refresh_token,
            scopes=token.scopes,
        )

    def _client(self, credentials: Credentials) -> OAuthClient:
        """Whom tokens were given to: what is kept, where we have been told no more than its name."""
        kept = OAuthClient(credentials.client_id, secret=credentials.client_secret, auth_method=credentials.auth_method)
        told = self._wishes.client
        proves = told is not None and (told.secret is not None or told.signer is not None)
        return replace(told if told is not None and proves else kept, issuer=credentials.issuer)

    def _settings(self) -> Settings:
        """The server is where it has answered, whatever its name leads to by now."""
        wishes, url = self._wishes, self._url
        return Settings(
            url,
            Reach.of(url, _addresses(url) if self._peer is None else [self._peer], wishes.trusted),
            wishes.grant,
            scopes=None if wishes.scopes is None else tuple(wishes.scopes),
            client=wishes.client,
            client_document=wishes.client_document,
            client_name=wishes.client_name,
            issuer=wishes.issuer,
            protocol_version=NEWEST,
        )

    def _fetcher(self, settings: Settings) -> Fetcher:
        """Ends with the connection."""
        return Fetcher(self._server, settings.reach, self._exchanges)


def _addresses(url: str) -> list[str]:
    """What the host of a URL resolves to; nothing where it does not, as behind a proxy."""
    host = urls.split(url).hostname or ""
    try:
        return [str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError):
        return []


def _resource(credentials: Credentials) -> str | None:
    return None if credentials.legacy else credentials.resource

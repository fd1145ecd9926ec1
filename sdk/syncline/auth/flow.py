"""Getting a token for a server, from its challenge to the answer of the token endpoint, as a generator without I/O.

::

    challenge → who gives tokens → what is kept → scopes ─┬─ with a person: client → person → code → token
                                                          └─ without: token

A refresh is no part of it: it comes before, and is ``renew``. How often each of these may happen in one call of a user is a
``Budget``. Nothing that belongs to one authorization server is shown to another one: the client, the refresh token and the code go
to the issuer that they are kept with.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from shlex import quote

from syncline.errors import AuthDenied, AuthRequired, ConfigError, DiscoveryFailed

from . import authorization, programs, registration, scopes, token_endpoint, token_requests, urls
from .challenge import Challenge
from .clients import OAuthClient
from .discovery import Found, discover, find_legacy_server, find_server
from .documents import shown
from .metadata import ServerMetadata
from .programs import ProgramGrant
from .settings import Browser, Budget, Device, Entropy, Settings
from .steps import AskPerson, Forget, Kept, Listen, Recall, ShowCode, Steps, Wait, ask, tell
from .token_requests import DeviceCodes, TokenAnswer, TokenRefusal

INSUFFICIENT_SCOPE = "insufficient_scope"

_AGAIN = "log in again"
CHECK_CLIENT = "check the client_id, its secret or key, and that it is registered there"


@dataclass(frozen=True)
class Authorized:
    """A token, and what has to be kept with it.

    Attributes:
        issuer: The authorization server.
        resource: The identifier of the server, None for 2025-03-26.
        client: Who we are at the authorization server; None for a workload, which is nobody there.
        token: The token.
        requested: All scopes that were asked for.
        granted: The scopes that the token has.
        budget: What is left of it.
    """

    issuer: str
    resource: str | None
    client: OAuthClient | None
    token: TokenAnswer
    requested: tuple[str, ...]
    granted: tuple[str, ...]
    budget: Budget


def authorize(
    settings: Settings,
    *,
    entropy: Entropy,
    challenge: Challenge | None = None,
    known: Collection[str] = (),
    budget: Budget | None = None,
    interactive: bool = True,
) -> Steps[Authorized]:
    """Get a token.

    Args:
        settings: The server.
        entropy: Gives random bytes.
        challenge: What the server said; None for a login that it did not ask for.
        known: Issuers that something is kept of, for this server and, where one is configured, this client.
        budget: What it may cost; None for the whole budget of a call.
        interactive: Whether a person may be asked.

    Raises:
        AuthRequired: A person has to log in, and must not be asked here.
        AuthDenied: A person or an authorization server said no, or the budget is spent: the server does not take the token.
        RefreshFailed: There is no token now, and there may be one later.
        DiscoveryFailed: Nobody gives tokens for the server who may be trusted.
        ConfigError: There is a setting to change first.
    """
    found = yield from discover(settings, challenge, known)
    if settings.client is not None:
        settings = replace(settings, client=registration.bind(settings.client, found.server.issuer, known))
    kept = yield from ask(Recall(found.server.issuer, found.resource), Kept)
    flow = _Flow(settings, entropy, challenge, found, kept, budget or Budget(), interactive)
    grant = settings.grant
    if isinstance(grant, (Browser, Device)):
        return (yield from flow.for_person(grant))
    return (yield from flow.for_program(grant))


def renew(
    settings: Settings, *, issuer: str, resource: str | None, client: OAuthClient, refresh_token: str
) -> Steps[TokenAnswer | TokenRefusal]:
    """Refresh a token before the server refuses it. What the answer leaves out stays as it was.

    The server is not asked who gives tokens for it: if that is somebody else by now, it will refuse the token and say so.

    Args:
        settings: The server.
        issuer: The authorization server that gave the refresh token; nobody else is shown it.
        resource: The identifier of the server, None for 2025-03-26.
        client: Whom it was given to.
        refresh_token: The refresh token.

    Raises:
        RefreshFailed: Not now; the refresh token may still be good.
        DiscoveryFailed: The authorization server publishes nothing any more, or nothing that may be trusted.
        ConfigError: The client cannot prove itself in a way that is asked for.
    """
    server = yield from _giver(settings, issuer, resource)
    return (yield from token_endpoint.refresh(settings, server, client, refresh_token, resource))


def revoke(
    settings: Settings,
    *,
    issuer: str,
    resource: str | None,
    client: OAuthClient,
    access_token: str,
    refresh_token: str | None,
) -> Steps[bool]:
    """Give tokens back (RFC 7009): the refresh token first, which more of the others could come of.

    Args:
        settings: The server.
        issuer: The authorization server that gave them; nobody else is shown them.
        resource: The identifier of the server, None for 2025-03-26.
        client: Whom they were given to.
        access_token: The access token.
        refresh_token: The refresh token, None where there is none.

    Returns:
        Whether the first is gone. An authorization server need not offer that.

    Raises:
        DiscoveryFailed: The authorization server publishes nothing any more, or nothing that may be trusted.
        ConfigError: The client cannot prove itself in a way that is asked for.
    """
    server = yield from _giver(settings, issuer, resource)
    form = token_requests.revocation_form(access_token, "access_token")
    if refresh_token is None:
        return (yield from token_endpoint.revoke(settings, server, client, form))
    first = token_requests.revocation_form(refresh_token, "refresh_token")
    gone = yield from token_endpoint.revoke(settings, server, client, first)
    yield from token_endpoint.revoke(settings, server, client, form)
    return gone


def _giver(settings: Settings, issuer: str, resource: str | None) -> Steps[ServerMetadata]:
    """The authorization server that gave the tokens that we have."""
    server = yield from find_server(settings, issuer) if resource is not None else find_legacy_server(settings)
    if server.issuer != issuer:
        raise DiscoveryFailed(f"{urls.shown(issuer)} gives no tokens for the server any more: log in again")
    return server


@dataclass
class _Flow:
    settings: Settings
    entropy: Entropy
    challenge: Challenge | None
    found: Found
    kept: Kept
    budget: Budget
    interactive: bool

    def for_person(self, grant: Browser | Device) -> Steps[Authorized]:
        wanted = self.wanted(offline=True)
        if not self.interactive:
            raise self.required(wanted)
        self.spend()
        if isinstance(grant, Browser):
            return (yield from self.with_browser(wanted))
        return (yield from self.with_device(wanted))

    def for_program(self, grant: ProgramGrant) -> Steps[Authorized]:
        wanted = self.wanted(offline=False)
        self.spend()
        server = self.found.server
        client, form = yield from programs.prepare(self.settings, grant, self.found, wanted)
        answer = yield from token_endpoint.request_token(self.settings, server, client, form)
        if isinstance(answer, TokenAnswer):  # what shows who we are is good for the next token, too
            return self.authorized(client, replace(answer, refresh_token=None), wanted)
        if answer.passing:
            raise token_endpoint.not_now(server, answer)
        raise token_endpoint.denied(server, answer, CHECK_CLIENT)

    # --------------------------------------------------------------------------------------------------- the ways to a token

    def with_browser(self, wanted: tuple[str, ...]) -> Steps[Authorized]:
        server, resource = self.found.server, self.found.resource
        reason = server.code_refusal() or self.settings.reach.refusal(server.authorization_endpoint or "")
        if reason is not None:
            raise DiscoveryFailed(
                f"nobody can log in at {urls.shown(server.issuer)} safely: {reason}; ask those who run the authorization server"
            )
        client = self.client()
        redirect_uri = yield from ask(Listen(client.redirect_uris if client else ()), str)
        client = yield from self.client_for(client, redirect_uri, wanted)
        request = authorization.begin(
            server,
            client_id=client.client_id,
            redirect_uri=redirect_uri,
            resource=resource,
            scopes=wanted,
            entropy=self.entropy,
        )
        came_back = yield from ask(AskPerson(request, urls.shown(self.settings.server_url)), str)
        code = authorization.read_code(request, came_back)
        form = token_requests.code_form(code, redirect_uri, request.verifier, resource)
        answer = yield from token_endpoint.request_token(self.settings, server, client, form)
        if isinstance(answer, TokenAnswer):
            return self.authorized(client, answer, wanted)
        if answer.error == "invalid_client":
            yield from self.forget(client, answer)
        raise token_endpoint.denied(server, answer, _AGAIN)

    def with_device(self, wanted: tuple[str, ...]) -> Steps[Authorized]:
        server, resource = self.found.server, self.found.resource
        endpoint = server.device_authorization_endpoint
        if endpoint is None:
            raise ConfigError(
                f"{urls.shown(server.issuer)} has no codes for devices: log in with a browser, here or elsewhere (paste)"
            )
        client = yield from self.client_for(self.client(), None, wanted)
        form = token_requests.device_authorization_form(resource, wanted)
        codes = yield from token_endpoint.device_codes(self.settings, server, client, endpoint, form)
        if isinstance(codes, TokenRefusal):
            raise token_endpoint.denied(server, codes, CHECK_CLIENT)
        for place in (codes.verification_uri, codes.verification_uri_complete):
            refusal = self.settings.reach.refusal(place) if place else None
            if refusal is not None:
                raise DiscoveryFailed(f"nobody is sent to {urls.shown(place or '')} with a code: {refusal}")
        yield from tell(ShowCode(codes, urls.shown(self.settings.server_url)))
        token = yield from self.poll(client, codes)
        return self.authorized(client, token, wanted)

    def poll(self, client: OAuthClient, codes: DeviceCodes) -> Steps[TokenAnswer]:
        """Ask until somebody has typed the code (RFC 8628, 3.5)."""
        server, form = self.found.server, token_requests.device_form(codes.device_code, self.found.resource)
        interval, left = codes.interval, codes.expires_in
        while left >= interval:
            yield from tell(Wait(interval))
            left -= interval
            answer = yield from token_endpoint.request_token(self.settings, server, client, form)
            if isinstance(answer, TokenAnswer):
                return answer
            if answer.passing:
                interval += token_requests.DEVICE_SLOWER
            elif answer.error != "authorization_pending":
                raise token_endpoint.denied(server, answer, _AGAIN)
        raise AuthDenied("nobody typed the code in time: log in again", error="expired_token")

    # ------------------------------------------------------------------------------------------------------------ who we are

    def client(self) -> OAuthClient | None:
        """Who we are at the authorization server, None if that is yet to be registered."""
        return registration.choose(
            self.found.server,
            configured=self.settings.client,
            document=self.settings.client_document,
            kept=self.kept.client,
        )

    def client_for(
        self, client: OAuthClient | None, redirect_uri: str | None, wanted: tuple[str, ...]
    ) -> Steps[OAuthClient]:
        """The same, once it is known where people come back to; nowhere, for a device."""
        refusal = None if redirect_uri is None else urls.redirect_refusal(redirect_uri)
        if client is not None and refusal is None:
            if registration.suits(client, redirect_uri, wanted):
                return client
            if client.source != "registered":
                refusal = f"{client.client_id!r} is registered for another URI"
        if refusal is not None:
            raise ConfigError(f"nobody can be sent back to {urls.shown(redirect_uri or '')}: {refusal}")
        return (yield from self.register(redirect_uri, wanted))

    def register(self, redirect_uri: str | None, wanted: tuple[str, ...]) -> Steps[OAuthClient]:
        """Register for all that may be asked for later, too."""
        budget = self.budget.spend("registrations")
        if budget is None:
            raise AuthDenied(
                f"{urls.shown(self.found.server.issuer)} does not know the client that was just registered there"
            )
        self.budget = budget
        everything = scopes.union(wanted, self.found.scopes_supported or ())
        return (yield from token_endpoint.register(self.settings, self.found.server, redirect_uri, everything))

    def forget(self, client: OAuthClient, refusal: TokenRefusal) -> Steps[None]:
        """The authorization server does not know the client: one that registered itself is given up."""
        if client.source != "registered":
            raise token_endpoint.denied(self.found.server, refusal, CHECK_CLIENT)
        yield from tell(Forget(self.found.server.issuer, client_id=client.client_id))

    # --------------------------------------------------------------------------------------------------------- what is asked

    @property
    def stepping_up(self) -> bool:
        return self.challenge is not None and self.challenge.error == INSUFFICIENT_SCOPE

    def wanted(self, *, offline: bool) -> tuple[str, ...]:
        """The scopes to ask for."""
        challenged = self.challenge.scope if self.challenge else None
        if self.stepping_up:
            # Not all challenges say what is missing; then it is as for a first login.
            named = challenged or self.found.scopes_supported
            more = scopes.step_up(self.kept.requested, self.kept.granted, named)
            if more is None:
                missing = shown(" ".join(challenged)) if challenged else "scopes that it does not name"
                raise AuthDenied(
                    f"the server wants {missing}, and more cannot be asked for: ask those who run it",
                    error=INSUFFICIENT_SCOPE,
                )
            return more
        chosen = scopes.select(
            challenged=challenged, configured=self.settings.scopes, supported=self.found.scopes_supported
        )
        if self.settings.scopes is None:
            chosen = scopes.union(self.kept.requested, chosen)
        return scopes.with_offline(chosen, self.found.server.scopes_supported) if offline else chosen

    def spend(self) -> None:
        """Take one login, or one step-up, from the budget."""
        budget = self.budget.spend("step_ups" if self.stepping_up else "logins")
        if budget is None and self.stepping_up:
            raise AuthDenied("the server still wants more scopes: ask those who run it", error=INSUFFICIENT_SCOPE)
        if budget is None:
            raise AuthDenied("the server does not take the token that was just given for it: ask those who run it")
        self.budget = replace(budget, registrations=1) if self.stepping_up else budget

    def required(self, wanted: tuple[str, ...]) -> AuthRequired:
        place, login_url = urls.shown(self.settings.server_url), self.found.server.authorization_endpoint
        what, options = "log in", ""
        if self.stepping_up:
            what, options = "allow more scopes", "".join(f" --scope {quote(scope)}" for scope in wanted)
        return AuthRequired(
            f"a person has to {what}, and nobody can be asked here: run `syncline auth login {urls.typed(place)}{options}`",
            www_authenticate=None,
            url=place,
            login_url=None if login_url is None or self.settings.reach.refusal(login_url) else login_url,
            scopes=wanted,
        )

    def authorized(self, client: OAuthClient | None, token: TokenAnswer, requested: tuple[str, ...]) -> Authorized:
        granted = requested if token.scopes is None else token.scopes
        return Authorized(self.found.server.issuer, self.found.resource, client, token, requested, granted, self.budget)

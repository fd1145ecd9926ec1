"""Credentials that stay fresh: one refresh at a time, among threads and among processes, and nothing lost on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syncline.concurrency import lifecycle
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.condition import Condition
from syncline.concurrency.crew import Crew
from syncline.concurrency.deadline import Deadline
from syncline.errors import AuthRequired, ConnectionClosed, RefreshFailed, RequestTimeout, SynclineError

from . import urls
from .renewal import Renewal, Rotation, Step, usable

if TYPE_CHECKING:
    from .stores.base import CredentialStore
    from .tokens import CredentialKey, Credentials

#: Error codes after which the refresh token is of no use any more: those of RFC 6749 (5.2), of OpenID Connect Core (3.1.2.6) where
#: it takes a person, and what some say in the place of ``invalid_grant``.
SPENT = frozenset(
    {"invalid_grant", "unsupported_grant_type", "invalid_scope"}
    | {"interaction_required", "login_required", "consent_required", "account_selection_required"}
    | {"bad_refresh_token", "invalid_refresh_token", "invalid_token", "expired_token"}
)
#: Error codes after which neither is the client that it was given to; where one is configured, no login helps (RFC 6749, 5.2).
UNKNOWN_CLIENT = frozenset({"invalid_client", "unauthorized_client"})
#: Steps of one renewal at most. It takes seven; more are needed only while others change what is stored.
STEPS = 30


@dataclass(frozen=True, eq=False)
class _Unsaved:
    """What could not be stored, and the lock, which is kept for it: nobody is to send the refresh token that it was had for."""

    rotation: Rotation
    attempt: Attempt


@dataclass(eq=False)
class _Flight:
    """A renewal that is under way, for all who wait for it."""

    rejected: str | None = field(repr=False)
    generation: int
    unsaved: _Unsaved | None
    result: Credentials | None = None
    error: SynclineError | None = None

    @property
    def landed(self) -> bool:
        return self.result is not None or self.error is not None


class Attempt(ExitStack):
    """The hands of a renewal. They keep the lock from the step that takes it until they are closed."""

    def __init__(
        self,
        key: CredentialKey,
        store: CredentialStore,
        exchange: Callable[[Credentials], Credentials],
        patience: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._key = key
        self._store = store
        self._exchange = exchange
        self._patience = patience
        self._clock = clock

    def do(self, step: Step, renewal: Renewal) -> Renewal:
        """Do one step, and say how far that brings the renewal. What this raises ends it."""
        if step is Step.LOAD:
            return renewal.loaded(self._store.load(self._key))
        if step is Step.LOCK:
            self.enter_context(self._store.lock(self._key, Deadline(self._patience)))
            return renewal.alone()
        if step is Step.SAVE and renewal.unsaved is not None:
            return renewal.saved(self._store.save(renewal.unsaved.fresh, instead_of=renewal.unsaved.spent))
        if step is Step.DISCARD and renewal.refused is not None:
            return renewal.discarded(self._discard(renewal.refused, unknown=renewal.unknown))
        assert step is Step.EXCHANGE, step
        assert renewal.stored is not None
        try:
            return renewal.exchanged(self._exchange(renewal.stored))
        except RefreshFailed as error:
            if error.error not in SPENT | UNKNOWN_CLIENT:
                raise
            return renewal.turned_down(unknown=error.error in UNKNOWN_CLIENT)

    def _discard(self, refused: Credentials, *, unknown: bool) -> bool:
        if unknown:
            return self._store.delete(self._key, only=refused)
        return self._store.save(refused.ended(self._clock()), instead_of=refused)


class Refresher:
    """The credentials for one key, for all threads of this process. Several of these, here or in other processes, get along.

    A refresh runs on a thread of its own, so that whoever gives up waiting, by a deadline or by Ctrl-C, does not cancel it for the
    others. At exit it gets its time to finish.

    Args:
        key: What they are for.
        store: Where they are kept.
        exchange: Sends a refresh token and returns what came back (``Credentials.refreshed``). Bounded in time by itself; raises
            ``RefreshFailed`` with the server's error code, or any other error. Never called twice at once for what is stored.
        patience: Seconds to wait for somebody else's refresh.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        key: CredentialKey,
        store: CredentialStore,
        exchange: Callable[[Credentials], Credentials],
        *,
        patience: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.key = key
        self.store = store
        self._exchange = exchange
        self._patience = patience
        self._clock = clock
        self._changed = Condition()
        self._crew = Crew("syncline:auth:refresh", 1)
        self._held: Credentials | None = None
        self._generation = 0
        self._flight: _Flight | None = None
        self._unsaved: _Unsaved | None = None

    def credentials(
        self, deadline: Deadline, rejected: str | None = None, over: CancelToken | None = None
    ) -> Credentials:
        """Credentials whose access token can be sent, refreshed if need be. Those at hand cost nothing.

        Blocks while they are read or refreshed, until the deadline; Ctrl-C interrupts the wait, and not the refresh.

        Args:
            deadline: How long to wait.
            rejected: The access token of a request that was answered with 401. If there is another one by now, that is it.
            over: Ends the wait.

        Raises:
            AuthRequired: Somebody has to log in.
            RefreshFailed: The authorization server was not reached, or did not do it. What is stored is as it was.
            CredentialStoreError: The store cannot be used. What could not be saved is kept here, and saved by the next call; until
                then, or until this process ends, no other one refreshes.
            RequestTimeout: The deadline passed.
            ConnectionClosed: It was over.
        """
        while True:
            with self._changed.lock:
                held = self._held
                if held is not None and usable(held, rejected, self._clock()):
                    return held
                flight = self._flight or self._start(rejected)
            self._changed.wait(lambda flight=flight: flight.landed or (over and over.cancelled), deadline)  # type: ignore[misc]
            if not flight.landed:
                if over is not None and over.cancelled:
                    raise ConnectionClosed("the client was closed while its credentials were refreshed")
                raise RequestTimeout(
                    f"the credentials for {self.key.resource} were not refreshed in time; the refresh goes on"
                )
            if flight.error is not None:
                raise flight.error.again()
            if flight.result is not None and (flight.result.access_token != rejected or flight.rejected == rejected):
                return flight.result

    def login(self, credentials: Credentials) -> None:
        """Keep what a login has brought. Waits for no refresh: that one finds something else stored, and drops what it has.

        Raises ``CredentialStoreError`` if they cannot be kept.
        """
        self.store.save(credentials)
        with self._changed.lock:
            self._generation += 1
            self._held = credentials
            unsaved, self._unsaved = self._unsaved, None
        if unsaved is not None:
            unsaved.attempt.close()

    def close(self, timeout: float | None = None) -> None:
        """Wait for a refresh that is under way, so that what it brings is saved. It can be used afterwards."""
        self._crew.join(Deadline(timeout))

    def forked(self) -> None:
        """We are in a forked child: the refresh that is under way is the parent's, and so is what it could not save."""
        self._crew = Crew(self._crew.name, 1)
        self._flight = self._unsaved = None

    def _start(self, rejected: str | None) -> _Flight:
        """Start a renewal. Requires the lock, which it needs to end."""
        flight = _Flight(rejected, self._generation, self._unsaved)
        lifecycle.opened(self)
        if not self._crew.submit(lambda: self._fly(flight)):
            raise RefreshFailed(
                f"the credentials for {self.key.resource} cannot be refreshed any more: Python is ending"
            )
        self._flight, self._unsaved = flight, None
        return flight

    def _fly(self, flight: _Flight) -> None:
        result: Credentials | None = None
        error: SynclineError | None = None
        try:
            result = self._renewed(flight)
        except SynclineError as failure:
            error = failure
        except BaseException as failure:
            error = self._failed(f"{type(failure).__name__}")
            error.__cause__ = failure
        with self._changed.lock:
            if flight.generation != self._generation:  # a login came in between
                result, error = self._held, None
            elif result is not None:
                self._held = result
            flight.result, flight.error = result, error
            self._flight = None
            if self._unsaved is None:
                lifecycle.closed(self)
            self._changed.tell()

    def _renewed(self, flight: _Flight) -> Credentials:
        if flight.unsaved is not None:
            attempt = flight.unsaved.attempt
            renewal = Renewal(flight.rejected, flight.unsaved.rotation, locked=True)
        else:
            attempt = Attempt(self.key, self.store, self._exchange, self._patience, self._clock)
            renewal = Renewal(flight.rejected)
        try:
            for _ in range(STEPS):
                step = renewal.step(self._clock())
                if step is Step.USE and renewal.stored is not None:
                    return renewal.stored
                if step is Step.LOGIN:
                    raise self._login_needed(renewal.why)
                if step is Step.GIVE_UP:
                    break
                renewal = attempt.do(step, renewal)
        finally:
            if not self._keep(flight, renewal.unsaved, attempt):
                attempt.close()
        raise self._failed("they are changed by somebody else all the time")

    def _keep(self, flight: _Flight, rotation: Rotation | None, attempt: Attempt) -> bool:
        """Keep what could not be stored for the next call; not if a login came in between."""
        with self._changed.lock:
            if rotation is None or flight.generation != self._generation:
                return False
            self._unsaved = _Unsaved(rotation, attempt)
            return True

    def _failed(self, why: str) -> RefreshFailed:
        return RefreshFailed(f"the credentials for {self.key.resource} could not be refreshed: {why}; try again")

    def _login_needed(self, why: str) -> AuthRequired:
        return AuthRequired(
            f"{why}; log in: syncline auth login {urls.typed(self.key.resource)}",
            www_authenticate=None,
            url=self.key.resource,
        )

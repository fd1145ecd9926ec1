"""What a refresh does next, decided from what is known so far. Pure: nothing is read, sent or waited for here."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

from .tokens import Credentials

#: The most seconds before its end that an access token is refreshed rather than used.
MARGIN = 30.0
#: Refresh tokens that are tried in one renewal: a second one was stored by somebody else while the first was refused.
MOST = 2


class Step(enum.Enum):
    """What comes next."""

    LOAD = "read the store"
    LOCK = "make sure that nobody else refreshes; what was read before does not count any more"
    EXCHANGE = "send the refresh token"
    SAVE = "put what came back in the place of what it was had for"
    DISCARD = "delete what was refused, unless something else is stored by now: all of it, or the tokens alone"
    USE = "the stored credentials are the ones"
    LOGIN = "somebody has to log in"
    GIVE_UP = "the store holds something else each time"


@dataclass(frozen=True)
class Rotation:
    """Credentials that were obtained, and those that they were obtained for and take the place of."""

    fresh: Credentials
    spent: Credentials


@dataclass(frozen=True)
class Renewal:
    """How far a renewal is. ``step()`` says what to do, and another method what came of it.

    What is stored is the truth: it is read again under the lock and after a refusal, and a refreshed token is used only once it
    is stored. Whoever changes the store meanwhile, by a login, a logout or another refresh, is right.

    Attributes:
        rejected: The access token that the server did not accept (401); whatever else is stored and has not ended is used.
        unsaved: What was obtained, and is not stored yet; also by an earlier renewal that could not store it.
        stored: What was read last.
        known: Whether that was read since the last thing that could have changed it.
        locked: Whether nobody else refreshes.
        refused: What the authorization server did not accept.
        unknown: Whether it does not know the client either, so that the next login has to register.
        exchanges: How many refresh tokens were sent.
        done: Whether what is stored was obtained just now. It is used however soon it ends.
    """

    rejected: str | None = field(default=None, repr=False)
    unsaved: Rotation | None = None
    stored: Credentials | None = None
    known: bool = False
    locked: bool = False
    refused: Credentials | None = None
    unknown: bool = False
    exchanges: int = 0
    done: bool = False

    def step(self, now: float) -> Step:
        """What comes next, ``now`` being seconds since the epoch."""
        if self.unsaved is not None:
            return Step.SAVE if self.locked else Step.LOCK
        if not self.known:
            return Step.LOAD
        if self.stored is None:
            return Step.LOGIN
        if self.stored.same_tokens(self.refused):
            return Step.DISCARD
        if self.done or usable(self.stored, self.rejected, now):
            return Step.USE
        if not self.stored.refresh_token:
            return Step.LOGIN
        if not self.locked:
            return Step.LOCK
        return Step.EXCHANGE if self.exchanges < MOST else Step.GIVE_UP

    def loaded(self, stored: Credentials | None) -> Renewal:
        """After ``LOAD``."""
        return replace(self, stored=stored, known=True)

    def alone(self) -> Renewal:
        """After ``LOCK``."""
        return replace(self, locked=True, known=False)

    def exchanged(self, fresh: Credentials) -> Renewal:
        """After ``EXCHANGE``."""
        assert self.stored is not None
        return replace(self, unsaved=Rotation(fresh, self.stored), exchanges=self.exchanges + 1)

    def turned_down(self, *, unknown: bool = False) -> Renewal:
        """After ``EXCHANGE``: the refresh token is of no use any more, or the client that it was given to is ``unknown``."""
        return replace(self, refused=self.stored, unknown=unknown, known=False, exchanges=self.exchanges + 1)

    def saved(self, kept: bool) -> Renewal:
        """After ``SAVE``, which puts nothing in the place of something else: that counts then."""
        assert self.unsaved is not None
        return replace(self, stored=self.unsaved.fresh, known=kept, done=kept, unsaved=None)

    def discarded(self, gone: bool) -> Renewal:
        """After ``DISCARD``."""
        return replace(self, stored=None, known=gone)

    @property
    def why(self) -> str:
        """Why somebody has to log in."""
        if self.refused is not None or (self.stored is not None and not self.stored.access_token):
            return "the login has ended: the authorization server does not accept its refresh token any more"
        if self.stored is None:
            return "nobody is logged in"
        return "the access token has ended, and there is no refresh token"


def usable(credentials: Credentials, rejected: str | None, now: float) -> bool:
    """Whether an access token can be sent as it is."""
    token = credentials.access_token
    return bool(token) and token != rejected and not credentials.expires_within(now, margin(credentials))


def margin(credentials: Credentials) -> float:
    """Seconds before its end from which on an access token is refreshed: half of its life at most, so that each is used."""
    if credentials.expires_at is None or credentials.obtained_at is None:
        return MARGIN
    return max(0.0, min(MARGIN, (credentials.expires_at - credentials.obtained_at) / 2))

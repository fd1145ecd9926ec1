"""What a refresh does next: each decision, and many renewals at once in any order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from syncline.auth.refreshing import Attempt
from syncline.auth.renewal import MOST, Renewal, Rotation, Step, margin, usable
from syncline.auth.stores.memory import MemoryStore
from syncline.auth.tokens import Credentials
from syncline.errors import CredentialStoreError, RefreshFailed
from tests.unit.auth.samples import KEY, some

NOW = 500.0
VALID, DUE = some("valid"), some("due", expires_at=529.0)
READ = Renewal().loaded


@pytest.mark.parametrize(
    ("renewal", "step"),
    [
        (Renewal(), Step.LOAD),
        (READ(None), Step.LOGIN),
        (READ(VALID), Step.USE),
        (READ(replace(VALID, expires_at=None)), Step.USE),
        (READ(replace(VALID, expires_at=531.0)), Step.USE),
        (READ(DUE), Step.LOCK),
        (READ(replace(VALID, access_token="")), Step.LOCK),
        (READ(replace(DUE, refresh_token=None)), Step.LOGIN),
        (READ(replace(DUE, refresh_token="")), Step.LOGIN),
        (READ(VALID.ended(NOW)), Step.LOGIN),
        (Renewal("planted-access-valid").loaded(VALID), Step.LOCK),
        (Renewal("planted-access-valid").loaded(replace(VALID, refresh_token=None)), Step.LOGIN),
        (Renewal("planted-access-other").loaded(VALID), Step.USE),
        (READ(DUE).alone(), Step.LOAD),
        (READ(DUE).alone().loaded(VALID), Step.USE),
        (READ(DUE).alone().loaded(DUE), Step.EXCHANGE),
        (READ(DUE).alone().loaded(None), Step.LOGIN),
        (READ(DUE).alone().loaded(DUE).exchanged(VALID), Step.SAVE),
        (READ(DUE).alone().loaded(DUE).exchanged(VALID).saved(True), Step.USE),
        (READ(DUE).alone().loaded(DUE).exchanged(DUE).saved(True), Step.USE),
        (READ(DUE).alone().loaded(DUE).exchanged(VALID).saved(False), Step.LOAD),
        (READ(DUE).alone().loaded(DUE).turned_down(), Step.LOAD),
        (READ(DUE).alone().loaded(DUE).turned_down().loaded(DUE), Step.DISCARD),
        (READ(DUE).alone().loaded(DUE).turned_down().loaded(DUE).discarded(True), Step.LOGIN),
        (READ(DUE).alone().loaded(DUE).turned_down().loaded(DUE).discarded(False), Step.LOAD),
        (READ(DUE).alone().loaded(DUE).turned_down().loaded(None), Step.LOGIN),
        (READ(DUE).alone().loaded(DUE).turned_down().loaded(VALID), Step.USE),
        (READ(DUE).alone().loaded(DUE).turned_down().loaded(replace(DUE, refresh_token="x")), Step.EXCHANGE),
        (replace(READ(DUE).alone().loaded(DUE), exchanges=MOST), Step.GIVE_UP),
        (Renewal(unsaved=Rotation(VALID, DUE)), Step.LOCK),
        (Renewal(unsaved=Rotation(VALID, DUE)).alone(), Step.SAVE),
    ],
)
def test_the_next_step(renewal: Renewal, step: Step) -> None:
    """4.143."""
    assert renewal.step(NOW) is step


def test_a_login_is_asked_for_with_the_reason() -> None:
    assert "the login has ended" in READ(VALID.ended(NOW)).why
    assert "nobody is logged in" in READ(None).why
    assert "no refresh token" in READ(replace(DUE, refresh_token=None)).why
    assert "does not accept" in READ(DUE).alone().loaded(DUE).turned_down().loaded(None).why


@pytest.mark.parametrize(
    ("credentials", "rejected", "expected"),
    [
        (VALID, None, True),
        (VALID, "planted-access-valid", False),
        (replace(VALID, access_token=""), None, False),
        (DUE, None, False),
        (replace(VALID, expires_at=None), None, True),
    ],
)
def test_what_can_be_sent(credentials: Credentials, rejected: str | None, expected: bool) -> None:
    """4.160, 4.173."""
    assert usable(credentials, rejected, NOW) is expected


@pytest.mark.parametrize(
    ("obtained_at", "expires_at", "expected"),
    [
        (None, 3600.0, 30.0),
        (0.0, None, 30.0),
        (0.0, 3600.0, 30.0),
        (0.0, 20.0, 10.0),
        (0.0, 0.0, 0.0),
        (10.0, 0.0, 0.0),
    ],
)
def test_how_long_before_its_end_a_token_is_refreshed(
    obtained_at: float | None, expires_at: float | None, expected: float
) -> None:
    """A token that does not last long is used for half of its life, and not refreshed for each request."""
    assert margin(replace(VALID, obtained_at=obtained_at, expires_at=expires_at)) == expected


@dataclass
class Server:
    """An authorization server that rotates refresh tokens, and revokes all of a login when one is used twice.

    Attributes:
        current: Login → how often it was refreshed.
        logins: How many there were.
        reused: The logins that ended because one of their refresh tokens was used twice.
    """

    current: dict[int, int] = field(default_factory=dict)
    logins: int = 0
    reused: set[int] = field(default_factory=set)

    def login(self, expires_at: float) -> Credentials:
        self.logins += 1
        self.current[self.logins] = 0
        return self._issue(self.logins, expires_at)

    def exchange(self, spent: Credentials, expires_at: float) -> Credentials:
        login, turn = map(int, (spent.refresh_token or "").split("."))
        if login not in self.current:
            raise RefreshFailed("revoked", error="invalid_grant")
        if self.current[login] != turn:
            self.reused.add(login)
            del self.current[login]
            raise RefreshFailed("used twice", error="invalid_grant")
        self.current[login] += 1
        return self._issue(login, expires_at)

    def _issue(self, login: int, expires_at: float) -> Credentials:
        name = f"{login}.{self.current[login]}"
        return some(name, access_token=name, refresh_token=name, expires_at=expires_at)


class Store(MemoryStore):
    """Fails on demand, and remembers all that it ever kept."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = False
        self.kept: set[str] = set()

    def save(self, credentials: Credentials, *, instead_of: Credentials | None = None) -> bool:
        if self.failing and instead_of is not None:
            raise CredentialStoreError("full", store="memory")
        kept = super().save(credentials, instead_of=instead_of)
        if kept:
            self.kept.add(credentials.access_token)
        return kept


class Process:
    """One that wants credentials; it goes on step by step, when it is told to."""

    def __init__(self) -> None:
        self.renewal: Renewal | None = None
        self.attempt: Attempt | None = None
        self.unsaved: Rotation | None = None

    def end(self) -> None:
        """Give up the lock, unless something is not saved yet."""
        if self.attempt is not None and self.unsaved is None:
            self.attempt.close()
            self.attempt = None
        self.renewal = None


class Refreshing(RuleBasedStateMachine):
    """Processes, a store and a server, in any order of steps, with logins, logouts, crashes and full disks in between."""

    processes = st.integers(0, 2)

    @initialize()
    def begin(self) -> None:
        self.now, self.server, self.store = 0.0, Server(), Store()
        self.all = [Process() for _ in range(3)]
        self.logged_in = True
        #: Logins with a rotated token that was lost by a crash: the next one to refresh ends such a login.
        self.lost: set[int] = set()
        self.store.save(self.server.login(0.0))

    @rule(who=processes, steps=st.sampled_from((1, 3, 4, 9)), refused=st.booleans())
    def go_on(self, who: int, steps: int, refused: bool) -> None:
        process = self.all[who]
        if process.renewal is None:
            stored = self.store.load(KEY)
            rejected = stored.access_token if refused and stored is not None else None
            process.renewal = Renewal(rejected, process.unsaved, locked=process.unsaved is not None)
            process.attempt = process.attempt or Attempt(KEY, self.store, self._exchange, 0.0)
        for _ in range(steps):
            if process.renewal is not None and process.attempt is not None:
                self._go_on(process, process.renewal, process.attempt)

    def _go_on(self, process: Process, renewal: Renewal, attempt: Attempt) -> None:
        step = renewal.step(self.now)
        if step is Step.USE:
            used = renewal.stored
            assert used is not None
            assert used.access_token != renewal.rejected
            assert used.access_token in self.store.kept
            assert renewal.done or not used.expires_within(self.now, 30)
            process.end()
        elif step is Step.LOGIN:
            ended = self.server.logins in self.server.reused
            assert not self.logged_in or ended or self.store.load(KEY) != renewal.stored
            process.end()
        elif step is Step.GIVE_UP:
            process.end()
        else:
            try:
                process.renewal = attempt.do(step, renewal)
            except CredentialStoreError:
                if step is not Step.LOCK:  # a full disk; the lock is only waited for
                    process.end()
                return
            process.unsaved = process.renewal.unsaved

    @rule(who=processes)
    def crash(self, who: int) -> None:
        process = self.all[who]
        if process.unsaved is not None:
            self.lost.add(int(process.unsaved.fresh.access_token.partition(".")[0]))
        process.unsaved = None
        process.end()

    @rule()
    def time_passes(self) -> None:
        self.now += 80.0

    @rule()
    def log_out(self) -> None:
        self.store.delete(KEY)
        self.logged_in = False

    @rule()
    def log_in(self) -> None:
        self.store.save(self.server.login(self.now))
        self.logged_in = True

    @rule(full=st.booleans())
    def disk(self, full: bool) -> None:
        self.store.failing = full

    @invariant()
    def no_refresh_token_is_used_twice(self) -> None:
        assert self.server.reused <= self.lost

    @invariant()
    def a_logout_holds(self) -> None:
        assert self.logged_in or self.store.load(KEY) is None

    def _exchange(self, spent: Credentials) -> Credentials:
        return self.server.exchange(spent, self.now + 100.0)


TestRefreshing = Refreshing.TestCase
TestRefreshing.settings = settings(max_examples=300, stateful_step_count=30, deadline=None)

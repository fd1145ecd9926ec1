"""Running a flow: each of its steps is done, and what goes wrong is thrown into it."""

from __future__ import annotations

import contextlib
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from syncline.auth import authorization, urls
from syncline.auth.steps import AskPerson, Fetch, Forget, Listen, Recall, ShowCode, Step, Steps, Wait
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import NAP, Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.errors import AuthDenied, ConfigError, ConnectionClosed

from .fetching import Fetcher
from .loopback import Arrival, Loopback

if TYPE_CHECKING:
    from .tokens import Tokens

T = TypeVar("T")

#: Seconds that a person has to log in.
LOGIN = 300.0
#: Held while a person is told what to do.
_person = new_lock()


@dataclass(frozen=True)
class Visit:
    """Something that a person has to do with a browser. What belongs to this one login is not part of the ``repr``.

    Attributes:
        url: Where to go.
        server: The URL of the server that the login is for.
        code: What to type there; None where nothing is to be typed.
        redirect_uri: Where the browser comes back to; None where a code is typed.
    """

    url: str = field(repr=False)
    server: str
    code: str | None = field(default=None, repr=False)
    redirect_uri: str | None = None


def open_browser(visit: Visit) -> None:
    """Open the person's own browser. Raises ``ConfigError`` where there is none."""
    if not webbrowser.open(visit.url):
        raise ConfigError(
            "no browser can be opened here: use a code (device), give a visit= that brings along where a browser elsewhere came "
            f"back to, or log in with `syncline auth login {urls.typed(visit.server)}` and --device or --paste"
        )


class Hands:
    """Does the steps of one flow.

    Args:
        fetcher: Sends requests.
        tokens: What is kept.
        over: Ends everything.
        deadline: That of the call; stands still while a person logs in.
        visit: Called with what a person has to do. Returns None when the browser comes back by itself, and the URL that it came
            back to when the person brings that along. None for a flow that is told that nobody can be asked.
        port: Where the browser comes back to; 0 for any port.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        tokens: Tokens,
        over: CancelToken,
        deadline: Deadline,
        visit: Callable[[Visit], str | None] | None = None,
        port: int = 0,
    ) -> None:
        self._fetcher = fetcher
        self._tokens = tokens
        self._over = over
        self._deadline = deadline
        self._visit = visit
        self._port = port
        self._loopback: Loopback | None = None

    def run(self, steps: Steps[T]) -> T:
        """Run a flow to its end. Blocks on the network and on people; raises what goes wrong."""
        try:
            result = self._run(steps)
            if self._loopback is not None:
                self._loopback.finish(well=True)
            return result
        finally:
            if self._loopback is not None:
                self._loopback.close()

    def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    answer = self._do(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    def _do(self, step: Step) -> object:
        if self._over.cancelled:
            raise ConnectionClosed("the login was given up")
        if isinstance(step, Fetch):
            return self._fetcher.fetch(step, self._deadline)
        if isinstance(step, Recall):
            asking = self._visit is not None
            return self._tokens.prepare(step, self._deadline) if asking else self._tokens.recall(step)
        if isinstance(step, Forget):
            self._tokens.forget(step)
            return None
        if isinstance(step, Wait):
            self._wait(step.seconds)
            return None
        if isinstance(step, Listen):
            return self._listen(step)
        if isinstance(step, ShowCode):
            codes = step.codes
            url = codes.verification_uri_complete or codes.verification_uri
            assert self._visit is not None
            with self._standing_still(), self._turn():
                self._visit(Visit(url, step.server, codes.user_code))
            return None
        return self._ask(step)

    def _wait(self, seconds: float) -> None:
        with self._standing_still():
            self._over.wait(self._deadline.sooner(seconds))

    def _listen(self, step: Listen) -> str:
        self._loopback = loopback = _listen_where(step.preferred, self._port)
        return loopback.redirect_uri

    def _ask(self, step: AskPerson) -> str:
        loopback = self._loopback
        assert loopback is not None
        assert self._visit is not None
        request = step.request
        with self._standing_still(), contextlib.ExitStack() as turn:
            turn.enter_context(self._turn())
            limit = self._deadline.sooner(LOGIN)
            with Arrival(loopback, lambda url: authorization.belongs(request, url), self._over, limit) as arrival:
                brought: object = self._visit(Visit(request.url, step.server, redirect_uri=request.redirect_uri))
                turn.close()
                if brought is None:
                    return arrival.url()
                if not isinstance(brought, str):
                    raise ConfigError(
                        f"visit returns the URL that the browser came back to, or None, not {type(brought).__name__}"
                    )
                return brought

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """A person is asked one thing at a time, however many servers want it."""
        limit = self._deadline.sooner(LOGIN)
        taken: list[bool] = []
        try:
            while not take(_person, limit.sooner(NAP), taken):
                if self._over.cancelled:
                    raise ConnectionClosed("the login was given up")
                if limit.expired:
                    raise AuthDenied("nobody could be asked: another login was not done in time; log in again")
            yield
        finally:
            if True in taken:
                _person.release()

    @contextlib.contextmanager
    def _standing_still(self) -> Iterator[None]:
        """The clock of the call stands still: it is a person who takes the time."""
        self._deadline.pause()
        try:
            yield
        finally:
            self._deadline.resume()


def _listen_where(preferred: Sequence[str], port: int) -> Loopback:
    """Where people were sent back to before, if that is free: anything else costs a registration."""
    before = [urlsplit(uri).port for uri in preferred if urlsplit(uri).hostname == "127.0.0.1"]
    for known in before if not port else ():
        with contextlib.suppress(ConfigError):
            return Loopback(known or 0)
    return Loopback(port)

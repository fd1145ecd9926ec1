"""What a flow asks of whoever runs it, and what it gets for that.

A flow is a generator. It yields a step, is sent the answer, and returns its result. What goes wrong while a step is done (no
connection, no time left, Ctrl-C, nobody there) is thrown into it, and ends it; there is nothing that it has to clean up.

============  ======================================================================  =======================
step          what is to be done                                                      answer
============  ======================================================================  =======================
``Fetch``     one HTTP request, as it is: no redirects, cookies or credentials        ``Fetched``
``Listen``    be ready for a person to come back                                      the redirect URI, text
``AskPerson`` send a person to a URL, and wait                                        what came back, text
``ShowCode``  show a person a code and where to type it                               None
``Wait``      let time pass                                                           None
``Recall``    look up what is kept                                                    ``Kept``
``Forget``    no longer keep a registration that was refused                          None
============  ======================================================================  =======================
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

from . import urls
from .authorization import AuthorizationRequest
from .clients import OAuthClient
from .token_requests import DeviceCodes

T = TypeVar("T")

#: The most bytes of an answer, and seconds for it.
LIMIT, TIMEOUT = 1 << 20, 10.0


@dataclass(frozen=True, repr=False)
class Fetch:
    """An HTTP request.

    Who sends it resolves the host, asks ``Reach.refusal`` about each address, and connects to one that may be used. It follows no
    redirect, adds no credentials, and sends a POST once: what it carries may be good for one use only.

    Attributes:
        method: GET or POST.
        url: Where to, checked as far as that is possible without resolving its host.
        headers: All headers that matter.
        body: The body of a POST.
        limit: The most bytes of the answer; more is an error.
        timeout: Seconds for all of it.
    """

    method: Literal["GET", "POST"]
    url: str
    headers: Mapping[str, str]
    body: bytes | None = None
    limit: int = LIMIT
    timeout: float = TIMEOUT

    def __repr__(self) -> str:
        return f"Fetch({self.method} {urls.shown(self.url)})"


@dataclass(frozen=True)
class Fetched:
    """An HTTP answer.

    Attributes:
        status: Its status.
        body: Its body, decompressed.
        headers: Its headers, their names in lower case.
    """

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Listen:
    """Be ready for a person to come back, before anybody is told where to.

    Attributes:
        preferred: Redirect URIs that are registered; any other one costs a registration.
    """

    preferred: tuple[str, ...] = ()


@dataclass(frozen=True)
class AskPerson:
    """Send a person to ``request.url`` and wait for what comes back to ``request.redirect_uri``.

    Answers for which ``authorization.belongs`` is false are none, and the wait goes on.

    Attributes:
        request: The login.
        server: The URL of the server that it is for, for people.
    """

    request: AuthorizationRequest
    server: str


@dataclass(frozen=True)
class ShowCode:
    """Show a person a code, and where to type it.

    Attributes:
        codes: The code.
        server: The URL of the server that it is for, for people.
    """

    codes: DeviceCodes
    server: str


@dataclass(frozen=True)
class Wait:
    """Let so many seconds pass."""

    seconds: float


@dataclass(frozen=True)
class Recall:
    """Look up what is kept for an authorization server and a resource. Both are compared to the byte.

    Attributes:
        issuer: The authorization server.
        resource: The resource; None for 2025-03-26.
    """

    issuer: str
    resource: str | None


@dataclass(frozen=True)
class Kept:
    """What is kept.

    Attributes:
        client: What was registered there; one whose secret has ended is none.
        requested: All scopes that were asked for so far.
        granted: The scopes of the access token.
    """

    client: OAuthClient | None = None
    requested: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Forget:
    """No longer keep a registration that was refused, with all that was given to it; one that is kept in its place by now stays.

    Attributes:
        issuer: The authorization server.
        client_id: The registration.
    """

    issuer: str
    client_id: str


Step: TypeAlias = Fetch | Listen | AskPerson | ShowCode | Wait | Recall | Forget
#: A part of a flow, and what it comes to.
Steps: TypeAlias = Generator[Step, object, T]


def ask(step: Step, kind: type[T]) -> Steps[T]:
    """Yield a step and check that its answer is of the kind that belongs to it."""
    answer = yield step
    if not isinstance(answer, kind):
        raise TypeError(f"the answer to {type(step).__name__} is {kind.__name__}, not {type(answer).__name__}")
    return answer


def tell(step: Step) -> Steps[None]:
    """Yield a step that has no answer."""
    yield step

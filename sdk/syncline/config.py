"""What to connect to, and within which bounds: immutable values, checked when they are made."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

from syncline.errors import ConfigError

if TYPE_CHECKING:
    from typing import Literal, TypeAlias, TypeGuard

    import requests
    from requests.auth import AuthBase

    from syncline.concurrency.deadline import Deadline

    ServerLike: TypeAlias = str | Sequence[str] | "StdioServer" | "HttpServer"
    TimeoutLike: TypeAlias = float | tuple[float, float] | "Timeouts" | None
    AuthLike: TypeAlias = "AuthBase | Authorizer"


@dataclass(frozen=True)
class Timeouts:
    """How long things may take, in seconds; None means no limit of that kind.

    Attributes:
        connect: Reaching a server: name lookup, TCP, TLS.
        startup: The whole of ``open()``: starting the program, finding the era, the handshake.
        call: One request. It starts again whenever the server reports progress on it.
        call_total: One request, however much progress is reported.
        close: The whole of ``close()``; a server that does not stop by then is killed.
        probe: How long a program over stdio may stay silent to ``server/discover`` before the handshake is tried.
        stream_idle: How long nothing may come on a stream that stays open (changes, events) before it counts as lost and is
            made again. Without a limit, event streams go by the heartbeats of their server.
    """

    connect: float | None = 10
    startup: float | None = 30
    call: float | None = 300
    call_total: float | None = 3600
    close: float = 5
    probe: float = 2
    stream_idle: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not (isinstance(value, (int, float)) and value > 0):
                raise ConfigError(f"Timeouts.{name} must be a positive number of seconds, not {value!r}")

    @classmethod
    def of(cls, value: TimeoutLike) -> Timeouts:
        """From what users pass: a number for each step, ``(connect, read)`` as in requests, or the value itself."""
        if value is None:
            return _USUAL
        if isinstance(value, Timeouts):
            return value
        connect, call = value if isinstance(value, tuple) else (value, value)
        steps = cls(connect=connect, startup=call, call=call)
        if call is None or steps.call_total is None:
            return steps
        return replace(steps, call_total=max(steps.call_total, call))

    def for_call(self, value: float | Timeouts | None) -> Timeouts:
        """With the ``timeout=`` of one call."""
        if value is None:
            return self
        return value if isinstance(value, Timeouts) else replace(self, call=value)


_USUAL = Timeouts()


@dataclass(frozen=True)
class Limits:
    """How much is taken from a server before it is an error; None means no limit of that kind.

    Attributes:
        message_bytes: One message: a line over stdio, the body of an HTTP answer.
        event_bytes: One event of an SSE stream.
        pages: Pages of one listing.
        items: Items of one listing, all pages together.
        cursor_bytes: One pagination cursor.
        pending_calls: Calls that wait for an answer at the same time.
        input_rounds: How often a server may ask for input during one call (2026-07-28).
        subscriptions: Event streams that are open at the same time; each has a thread, and over HTTP a socket.
        notification_bytes: One event. A larger one is left out, with a finding and an ``error`` item in its place.
        pending_bytes: Events that wait to be taken from one stream. Over HTTP the server is slowed down; a stream over a
            shared channel (stdio) that has more than this waiting is terminated.
    """

    message_bytes: int | None = 256 << 20
    event_bytes: int | None = 256 << 20
    pages: int = 100
    items: int = 65_536
    cursor_bytes: int = 65_536
    pending_calls: int = 1024
    input_rounds: int = 10
    subscriptions: int = 64
    notification_bytes: int = 1 << 20
    pending_bytes: int = 2 << 20

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigError(f"Limits.{name} must be a positive whole number, not {value!r}")


@dataclass(frozen=True)
class Backoff:
    """How long to wait before trying again: ``base`` seconds, times ``factor`` each time, at most ``cap``.

    ``jitter`` takes up to half of that away by chance, so that many clients do not come back together.
    """

    base: float = 0.25
    factor: float = 2
    cap: float = 30
    jitter: bool = True


@dataclass(frozen=True)
class RetryPolicy:
    """What is tried again after it failed, by cause. All attempts share the deadline of the call.

    Attributes:
        connect: Attempts to open a connection over HTTP. A program is started once.
        list: Attempts of a request that changes nothing: lists, reads, prompts, completion, ping.
        resend: Whether a tool call whose connection broke after it was sent may be sent again. ``never`` (default) raises
            ``OutcomeUnknown``; ``annotated`` trusts the tool's ``readOnlyHint`` and ``idempotentHint``, as last listed; a
            function of the tool's name decides by itself.
        backoff: The pauses between attempts, where the server asks for none.
        statuses: HTTP statuses after which a request that changes nothing is tried again.
        restart: How often a server that went away is reconnected to, with the backoff, before a call fails; 0 leaves that
            to ``client.reconnect()``.
    """

    connect: int = 3
    list: int = 3
    resend: Literal["never", "annotated"] | Callable[[str], bool] = "never"
    backoff: Backoff = field(default_factory=Backoff)
    statuses: tuple[int, ...] = (408, 429, 500, 502, 503, 504)
    restart: int = 0

    def __post_init__(self) -> None:
        if self.connect < 1 or self.list < 1 or self.restart < 0:
            raise ConfigError("RetryPolicy counts attempts: connect and list are at least 1, restart is at least 0")
        if not callable(self.resend) and self.resend not in ("never", "annotated"):
            raise ConfigError(f"RetryPolicy.resend is never, annotated or a function, not {self.resend!r}")


#: Seconds, the most that a server's own timeout may be: about thirty years, which every clock can still count.
LONGEST = 1e9


@dataclass(frozen=True, repr=False, kw_only=True)
class ManagedServer:
    """What a manager of many servers has to know of one of them. A client of its own goes by its own options instead.

    Attributes:
        enabled: Whether it is used at all.
        required: Whether nothing begins without it. One that is not enabled is not required either.
        startup_timeout: Seconds that it may take to start and agree on a revision; None for ``Timeouts.startup``.
        tool_timeout: Seconds that one call of a tool may take; None for ``Timeouts.call``.
        enabled_tools: The only tools that are offered, by the names that the server gives them; None for all.
        disabled_tools: Tools that are not offered, even if they are among ``enabled_tools``.

    Raises ConfigError for timeouts that are not above 0 and at most ``LONGEST``, and for names that are not a sequence.
    """

    enabled: bool = True
    required: bool = False
    startup_timeout: float | None = None
    tool_timeout: float | None = None
    enabled_tools: Sequence[str] | None = None
    disabled_tools: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in ("enabled", "required"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} is True or False, not {getattr(self, name)!r}")
        for name in ("startup_timeout", "tool_timeout"):
            value = getattr(self, name)
            if value is not None and not is_duration(value):
                raise ConfigError(f"{name} must be a positive number of seconds, {LONGEST:g} at most, not {value!r}")
        for name in ("enabled_tools", "disabled_tools"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(each, str) for each in value or ()):
                raise ConfigError(f"{name} must be a sequence of names, not {value!r}")


def is_duration(value: object) -> TypeGuard[float]:
    """Whether something is a number of seconds that can be waited."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= LONGEST


@dataclass(frozen=True, repr=False)
class StdioServer(ManagedServer):
    """A server that is a program, spoken to over its standard input and output.

    It also takes, by name, what a manager of many servers has to know: see ``ManagedServer``.

    Attributes:
        command: The program; found through the PATH that the program itself will see. No shell is involved.
        args: Its arguments.
        env: Environment variables for it. Of ours it sees only a short list (PATH, HOME, LANG and the like).
        env_vars: Names of further variables that are passed through from our environment where they are set.
        cwd: Its working directory, by default ours.
        stderr: Called with each line that it writes to standard error; by default the lines go to the logger
            ``syncline.server``. The last lines are kept for error messages either way.
    """

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    env_vars: Sequence[str] = ()
    cwd: str | os.PathLike[str] | None = None
    stderr: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.args, str):
            raise ConfigError(
                "args must be a sequence of strings, not one string; pass command and arguments as a list"
            )
        for word in (self.command, *self.args):
            if not isinstance(word, str):
                raise ConfigError(f"command and args are strings, not {type(word).__name__}")
        if not self.command.strip():
            raise ConfigError("a stdio server needs a command")
        for name, value in self.env.items():
            if not isinstance(value, (str, bytes, os.PathLike)):
                raise ConfigError(f"the environment variable {name!r} must be text, not {type(value).__name__}")
        if any("\0" in part for part in (self.command, *self.args)):
            raise ConfigError(f"the command {self.command!r} or one of its arguments contains a NUL character")

    @property
    def name(self) -> str:
        """What errors and logs call this server: its program, without arguments, which may hold secrets."""
        return PurePath(self.command).name or self.command

    def __repr__(self) -> str:
        return f"<syncline.StdioServer {self.name}>"


@runtime_checkable
class Authorizer(Protocol):
    """What ``auth=`` takes besides objects of requests: it can speak for us at servers.

    Attributes:
        extensions: The extensions of the protocol that it is a part of, with their settings: they are declared to the server.
    """

    extensions: ClassVar[Mapping[str, object]]

    def at(self, server: HttpServer) -> Authorization | None:
        """Speak for us at this one, over one connection; None where there is nothing to say."""
        ...


class Authorization(Protocol):
    """Speaks for us at one server over HTTP, for any number of threads. Credentials go to the origin of the server only."""

    def headers(self, verb: str, url: str, deadline: Deadline) -> Mapping[str, str]:
        """What proves who we are, for one request. May block, until the deadline. Raises ``AuthError``, ``ConfigError``."""
        ...

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
        """Whether the request is worth sending again: the server did not take it (401, 403). May block, until the deadline.

        Args:
            sent: What ``headers()`` said for it: a refusal belongs to what was sent, which may be out of date by now.
            status: The HTTP status.
            challenges: The values of ``WWW-Authenticate``.
            before: How many other credentials (``Authorization``) were refused for this message already.
            deadline: That of the call.
            asking: Whether a person may be asked for it. Not for streams that stay open: nobody has just called anything.
        """
        ...

    def answered(self, url: str, headers: Mapping[str, str], peer: str | None) -> None:
        """A server answered, whatever it said: its headers may have what later requests need, as nonces do (RFC 9449, 8.2).

        ``peer`` is the address that was connected to; None where there was a connection already, and where a proxy did that.
        """

    def close(self) -> None:
        """The connection is closed: end what is under way for it. From any thread."""


@dataclass(frozen=True, repr=False)
class HttpServer(ManagedServer):
    """A server behind a URL.

    It also takes, by name, what a manager of many servers has to know: see ``ManagedServer``.

    Attributes:
        url: Its MCP endpoint, ``http`` or ``https``.
        headers: Headers for every request.
        env_headers: Header name to the name of an environment variable that holds its value; unset or blank: no header.
        bearer_env: Name of an environment variable that holds a bearer token; it wins over an ``Authorization`` header.
        auth: What ``auth=`` of ``connect()`` takes: ``OAuth``, ``BearerToken`` or any authentication object of ``requests``.
        verify: True, False, or the path of a CA bundle, as in requests.
        cert: A client certificate, as in requests.
        proxies: Proxies by scheme, as in requests; ``{}`` for none, whatever the environment says.
        trust_env: Whether proxies and CA bundles are taken from the environment. ``.netrc`` never is.
        session: A ``requests.Session`` of your own (adapters, hooks, certificates), instead of one made for this client.
            Its ``pool_block`` is not kept: a stream has a connection for days, and nobody is to wait for that.
        transport: ``streamable`` for Streamable HTTP, ``sse`` for HTTP+SSE of 2024-11-05; ``auto`` tries them in this order.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    env_headers: Mapping[str, str] = field(default_factory=dict)
    auth: AuthLike | None = None
    verify: bool | str = True
    cert: str | tuple[str, str] | None = None
    proxies: Mapping[str, str] | None = None
    trust_env: bool = True
    bearer_env: str | None = None
    session: requests.Session | None = None
    transport: Literal["auto", "streamable", "sse"] = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.transport not in ("auto", "streamable", "sse"):
            raise ConfigError(f"transport is auto, streamable or sse, not {self.transport!r}")
        for name, value in self.headers.items():
            if not isinstance(value, (str, bytes)):  # which may be a secret: not shown
                raise ConfigError(f"the header {name!r} must be text, not {type(value).__name__}")
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable or any(character.isspace() for character in self.url):
            raise ConfigError(f"{_without_secrets(self.url)!r} is not an http or https URL")

    @property
    def name(self) -> str:
        """What errors and logs call this server: host, port and path of its URL, without query and user."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.hostname}{port}{parts.path}"

    def __repr__(self) -> str:
        return f"<syncline.HttpServer {self.name}>"


def _without_secrets(url: str) -> str:
    return url.partition("?")[0].rpartition("@")[2]


def as_server(target: ServerLike) -> StdioServer | HttpServer:
    """The server that users mean: a URL, a command line (split like a shell would, none is run), or a list of words."""
    if isinstance(target, (StdioServer, HttpServer)):
        return target
    if isinstance(target, str):
        if "://" in target.partition(" ")[0]:
            return HttpServer(target)
        try:
            words = shlex.split(target)
        except ValueError as error:
            raise ConfigError(f"the command line cannot be split: {error}") from error
    elif isinstance(target, Sequence):
        words = list(target)
    else:
        words = []
    if not words or not all(isinstance(word, str) for word in words):
        wanted = "a URL, a command line, a list of words, a StdioServer or an HttpServer"
        raise ConfigError(f"a server is {wanted}, not {_what(target)}")
    return StdioServer(words[0], tuple(words[1:]))


def _what(target: object) -> str:
    """What was given in the place of a server: its type only, since it may hold secrets."""
    name = type(target).__name__
    if isinstance(target, (list, tuple)) and target:
        return f"a {name} with {', '.join(sorted({type(word).__name__ for word in target} - {'str'}))} in it"
    return f"an empty {name}" if isinstance(target, (str, list, tuple)) else name

"""The client: one connection to one server, for any number of threads."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, TypeVar, cast, overload

from syncline import logs
from syncline.api import Verbs
from syncline.concurrency.workers import spawn
from syncline.config import Authorizer, HttpServer, Limits, RetryPolicy, StdioServer, Timeouts, as_server
from syncline.errors import ConfigError, InvalidResult
from syncline.protocol import codec
from syncline.protocol.revisions import Identity, known_revision, with_extensions
from syncline.session.handlers import Handlers
from syncline.session.session import Session, json_object
from syncline.version import VERSION

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypeAlias

    from pydantic import BaseModel
    from typing_extensions import Self, TypeIs, Unpack

    from syncline.config import AuthLike, ServerLike, TimeoutLike
    from syncline.findings import Finding
    from syncline.logs import TraceLike
    from syncline.protocol.events import Notification
    from syncline.session.handlers import OnElicitation, OnSampling, Roots
    from syncline.session.waiter import OnProgress
    from syncline.streams.changes import Changes
    from syncline.streams.events import Events
    from syncline.streams.tasks import Tasks
    from syncline.transport.base import Transport
    from syncline.types import CallToolResult, Implementation, LoggingMessageNotificationParams, ServerCapabilities

    Model = TypeVar("Model", bound=BaseModel)
    #: A server; or a transport to one, or what makes a transport for each connection.
    Target: TypeAlias = ServerLike | Transport | Callable[[], Transport]

    class ClientOptions(TypedDict, total=False):
        """The options of ``Client``, for the functions that pass them on."""

        timeout: TimeoutLike
        protocol_version: str
        retry: RetryPolicy
        limits: Limits
        auth: AuthLike | None
        on_elicitation: OnElicitation | None
        on_sampling: OnSampling | None
        roots: Roots | Callable[[], Roots] | None
        on_log: Callable[[LoggingMessageNotificationParams], object] | None
        on_notification: Callable[[Notification], object] | None
        validate_output: Literal["raise", "warn", "off"]
        client_info: Mapping[str, object] | None
        capabilities: Mapping[str, object] | None
        trace: TraceLike


_LIMITS, _RETRY = Limits(), RetryPolicy()


class Client(Verbs):
    """A connection to an MCP server.

    Use it as a context manager, or call ``open()`` and ``close()``. It may be shared between threads. Once closed, or when
    opening failed, it is used up: make another one. A connection does not survive a fork: the child gets
    ``ForkedConnection`` and touches neither the server nor its session.

    Args:
        server: A URL, a command line, a list of words, a ``StdioServer`` or an ``HttpServer``; a transport of your own,
            or a function that makes one for each connection (a ``syncline.testing.FakeServer`` is one).
        timeout: Seconds for each step, ``(connect, read)`` as in requests, or ``Timeouts``. Every call has a finite
            limit unless you take it away.
        protocol_version: ``auto`` finds out what the server speaks. A date pins the era: 2024-11-05 to 2025-11-25 offer
            that revision in the handshake, 2026-07-28 does without one and never falls back.
        retry: What is tried again after it failed.
        limits: How much is taken from the server before it is an error.
        auth: For HTTP: ``OAuth``, ``ClientCredentials``, ``WorkloadIdentity``, ``EnterpriseManaged``, ``BearerToken``, or any
            authentication object of ``requests``.
        on_elicitation: Called with an ``ElicitRequest`` when the server asks a person something. Return the filled-in form
            (what is left out gets the form's defaults), True for a URL that is agreed to, None to decline; raise ``Cancel``
            to cancel. See ``terminal_prompts()``.
        on_sampling: Called with ``types.CreateMessageRequestParams`` when the server wants a model to say something. Return
            its words, or a whole ``CreateMessageResult``; None refuses.
        roots: Folders that the server may know of, or a function that returns them. All three may block, and may call this
            client; what is not given is declined and not declared. In the handshake era they run on threads of their own,
            and the clocks of the calls that wait for them stand still; in the stateless one, in the calling thread.
        on_log: Called with each log message of the server; by default they go to the logger ``syncline.server``.
        on_notification: Called with each notification. Both callbacks run in order on a thread of their own; one that is
            too slow loses the oldest.
        validate_output: What happens to structured content that breaks the tool's output schema: ``raise``
            (``InvalidResult``), ``warn`` (a finding), ``off``.
        client_info: Who we say we are: ``{"name": ..., "version": ...}``.
        capabilities: Client capabilities to declare by hand.
        trace: A path or a file for the messages on the wire, as JSON lines, secrets masked. The environment variable
            ``SYNCLINE_TRACE`` does the same.
        name: What errors, logs and ``ElicitRequest.server`` call the server; by default its program, or the host and path of
            its URL.
    """

    _recipe: tuple[Target, ClientOptions]

    def __new__(cls, server: Target, *, name: str | None = None, **options: Any) -> Self:  # noqa: ARG004
        """Keep what it is made of, for those who make another one like it."""
        self = super().__new__(cls)
        self._recipe = server, cast("ClientOptions", options)
        return self

    def __init__(
        self,
        server: Target,
        *,
        timeout: TimeoutLike = None,
        protocol_version: str = "auto",
        retry: RetryPolicy | None = None,
        limits: Limits | None = None,
        auth: AuthLike | None = None,
        on_elicitation: OnElicitation | None = None,
        on_sampling: OnSampling | None = None,
        roots: Roots | Callable[[], Roots] | None = None,
        on_log: Callable[[LoggingMessageNotificationParams], object] | None = None,
        on_notification: Callable[[Notification], object] | None = None,
        validate_output: Literal["raise", "warn", "off"] = "raise",
        client_info: Mapping[str, object] | None = None,
        capabilities: Mapping[str, object] | None = None,
        trace: TraceLike = None,
        name: str | None = None,
    ) -> None:
        if protocol_version != "auto":
            known_revision(protocol_version)
        if validate_output not in ("raise", "warn", "off"):
            raise ConfigError(f"validate_output is raise, warn or off, not {validate_output!r}")
        callbacks: dict[str, object] = {"on_elicitation": on_elicitation, "on_sampling": on_sampling}
        callbacks |= {"on_log": on_log, "on_notification": on_notification}
        for option, function in callbacks.items():
            if function is not None and not callable(function):
                raise ConfigError(f"{option} is a function that is called each time, not {function!r}")
        timeouts, bounds = Timeouts.of(timeout), limits or _LIMITS
        name, era_key, make = _transports(server, auth, timeouts, bounds, name)
        handlers = Handlers(name, on_elicitation, on_sampling, roots)
        identity = Identity(
            json_object(client_info or {"name": "syncline", "version": VERSION}, "client_info"),
            json_object(
                with_extensions(handlers.declared(capabilities or {}), _extensions(server, auth)), "capabilities"
            ),
        )
        self._trace = logs.trace_to(trace)
        self._events: Events | None = None
        self._tasks: Tasks | None = None
        super().__init__(
            Session(
                name,
                make,
                wanted=protocol_version,
                era_key=era_key,
                identity=identity,
                timeouts=timeouts,
                limits=bounds,
                handlers=handlers,
                retry=retry or _RETRY,
                validate_output=validate_output,
                on_log=on_log,
                on_notification=on_notification,
                trace=self._trace,
            )
        )

    def open(self) -> Self:
        """Connect: start the program or reach the URL, and agree on a revision.

        Blocks until that is done, at most ``Timeouts.startup``; ``close()`` from another thread and Ctrl-C end it. Raises
        ``ConnectFailed``, ``ServerExited``, ``RequestTimeout``, ``NoCommonRevision``, ``AuthRequired`` or
        ``HttpStatusError``; nothing is left running then.
        """
        try:
            self._session.open()
        except BaseException:
            self._end_trace()
            raise
        return self

    def close(self) -> None:
        """End the connection, from any thread; calls that wait get ``ConnectionClosed``. Calling it again is harmless.

        A session over HTTP is ended at the server. A program gets its input closed, then 2 seconds, SIGTERM, 2 seconds,
        SIGKILL, with all its children. Blocks for ``Timeouts.close`` at most, and as long again where webhooks are to be ended.
        """
        if self._events is not None:
            self._events.close(self._session.timeouts.close)
        self._session.close()
        self._end_trace()

    def _end_trace(self) -> None:
        if self._trace is not None:
            self._trace.close()

    def reconnect(self) -> Self:
        """A new connection in the place of one that was lost; log level and resource subscriptions are set again on it.

        Blocks for ``Timeouts.startup`` at most. Raises as ``open()`` does, and ``ConnectionClosed`` after ``close()``. What
        waited for an answer when the connection was lost has been told so, and is not repeated.
        """
        self._session.reconnect()
        return self

    def __enter__(self) -> Self:
        return self if self._session.connection.is_open else self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if finalizing():  # first, and by no global name: modules may have been emptied by then
            return
        session: Session | None = self.__dict__.get("_session")
        if session is not None and session.connection.is_open:
            text = f"{self!r} was deleted while still open; use 'with' or close()"
            warnings.warn(text, ResourceWarning, stacklevel=2, source=self)
            spawn(f"syncline:{session.name}:close", session.close)

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle a syncline.Client: a connection belongs to its process; make one in each")

    def __repr__(self) -> str:
        return f"<syncline.Client {self._session.name}: {self._session.connection.state.name.lower()}>"

    # Streams

    def subscribe(
        self,
        *,
        tools: bool = False,
        prompts: bool = False,
        resource_list: bool = False,
        resources: Sequence[str] = (),
    ) -> Changes:
        """Be told of changes: of the lists of tools, prompts and resources, and of single resources by their URI.

        Source: specification, ``subscriptions/listen`` (2026-07-28); ``resources/subscribe`` and ``list_changed`` before.
        Blocks until the server has confirmed it. Raises what a request raises, and ``StreamError`` where a server over HTTP
        offers no stream for it. ``changes.accepted`` says what the server agreed to (2026-07-28).
        """
        from syncline.streams.changes import Changes
        from syncline.streams.wanted import wanted

        return Changes(self._session, wanted(tools, prompts, resource_list, resources)).open()

    @property
    def events(self) -> Events:
        """The events of the server (SEP-3415): event types, polls, streams, subscriptions."""
        if self._events is None:
            from syncline.streams.events import Events

            self._events = Events(self._session)
        return self._events

    @property
    def tasks(self) -> Tasks:
        """Calls that become tasks, in both ways that the protocol has had them."""
        if self._tasks is None:
            from syncline.streams.tasks import Tasks

            self._tasks = Tasks(self._session, self.list_tools, self._session.answer if self._session.answers else None)
        return self._tasks

    # What is known about the server

    @property
    def name(self) -> str:
        """What errors and logs call the server."""
        return self._session.name

    @property
    def protocol_version(self) -> str:
        """The revision that is spoken, for example ``2026-07-28``."""
        return self._session.agreement.revision.name

    @property
    def server_info(self) -> Implementation:
        """Who the server says it is: ``name``, ``version`` and more. Not a fact to build security on."""
        return cast("Implementation", self._described("Implementation", self._session.agreement.server_info))

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server offers."""
        return cast("ServerCapabilities", self._described("ServerCapabilities", self._session.agreement.capabilities))

    @property
    def instructions(self) -> str | None:
        """What the server says about its use."""
        return self._session.agreement.instructions

    @property
    def findings(self) -> list[Finding]:
        """What the server got wrong and was forgiven, oldest first."""
        return self._session.findings.snapshot()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or the connection has ended by itself."""
        return self._session.connection.is_closed

    def _described(self, model: str, value: Mapping[str, object]) -> Any:
        return codec.model(model, value, self._session.findings.record)

    # Anything else that the protocol has

    @overload
    def request(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        result_type: None = None,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> dict[str, Any]: ...

    @overload
    def request(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        result_type: type[Model],
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> Model: ...

    def request(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        result_type: type[Model] | None = None,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> dict[str, Any] | Model:
        """Send any request and return its result as the server sent it, or as a ``result_type`` (a pydantic model).

        What the server declared does not matter here; what the revision has does, except for methods of your own.
        Blocks and raises like the other requests.
        """
        given = None if params is None else json_object(params, "params", self.name, method)
        raw = self._session.request(method, given, self._session.deadline(timeout), meta, on_progress)
        if result_type is None:
            return raw
        try:
            return result_type.model_validate(raw)
        except ValueError as error:
            problem = f"the result does not fit {result_type.__name__}"
            raise InvalidResult(problem, raw=raw, errors=str(error).splitlines()).at(self.name, method) from error

    def notify(
        self, method: str, params: Mapping[str, object] | None = None, *, timeout: float | Timeouts | None = None
    ) -> None:
        """Send any notification. Blocks until it is out."""
        given = None if params is None else json_object(params, "params", self.name, method)
        self._session.notify(method, given, self._session.deadline(timeout))

    def tool(self, name: str) -> Callable[..., CallToolResult]:
        """A tool as a function of keyword arguments: ``client.tool("add")(a=1, b=2)``."""

        def call(**arguments: object) -> CallToolResult:
            return self.call_tool(name, arguments)

        call.__name__ = call.__qualname__ = name
        return call


def connect(server: Target, **options: Unpack[ClientOptions]) -> Client:
    """Connect to a server; the options are those of ``Client``.

    ::

        with syncline.connect("https://weather.example/mcp") as client:
            client.call_tool("forecast", {"city": "Oslo"})
    """
    return Client(server, **options).open()


def call_tool(
    server: Target,
    name: str,
    arguments: Mapping[str, object] | None = None,
    *,
    on_progress: OnProgress | None = None,
    **options: Unpack[ClientOptions],
) -> CallToolResult:
    """Connect, call one tool, close; the options are those of ``Client``."""
    with connect(server, **options) as client:
        return client.call_tool(name, arguments, on_progress=on_progress)


def _transports(
    server: Target, auth: AuthLike | None, timeouts: Timeouts, limits: Limits, name: str | None
) -> tuple[str, object, Callable[[], Transport]]:
    """The server's name, what it is remembered by if anything, and how to make a transport to it. Loads only the transport used."""
    if is_transport(server):
        return name or str(getattr(server, "name", "transport")), None, lambda: server
    if callable(server):
        return name or str(getattr(server, "name", "transport")), None, server
    target = as_server(server)
    called = name or target.name
    if isinstance(target, StdioServer):
        if auth is not None:
            raise ConfigError("auth is for HTTP; a program gets its credentials from its environment (env, env_vars)")
        return called, (target.command, *target.args), lambda: _stdio(target, limits, called)
    given = auth or target.auth
    if isinstance(given, type):
        raise ConfigError(f"auth is the class {given.__name__}, and not one of its objects: {given.__name__}(...)")
    if given is not None and not isinstance(given, (Authorizer, tuple)) and not callable(given):
        # It may be a secret: not shown.
        kind = type(given).__name__
        raise ConfigError(f"auth is OAuth(), a BearerToken or an authentication object of requests, not {kind}")
    return called, target.url, lambda: _http(target, auth, timeouts, limits, called)


def _extensions(server: Target, auth: AuthLike | None) -> Mapping[str, object]:
    """The extensions that the way of authenticating is a part of."""
    given = auth or (server.auth if isinstance(server, HttpServer) else None)
    return given.extensions if isinstance(given, Authorizer) else {}


def is_transport(server: object) -> TypeIs[Transport]:
    """Whether something is a transport, made by hand, rather than what names a server."""
    return hasattr(server, "start") and hasattr(server, "send")


def _stdio(server: StdioServer, limits: Limits, name: str) -> Transport:
    from syncline.transport.stdio import StdioTransport

    return StdioTransport(
        (server.command, *server.args),
        env=server.env,
        env_vars=server.env_vars,
        cwd=server.cwd,
        stderr=server.stderr,
        message_bytes=limits.message_bytes,
        name=name,
    )


def _http(server: HttpServer, auth: AuthLike | None, timeouts: Timeouts, limits: Limits, name: str) -> Transport:
    from syncline.transport.http import HttpTransport

    auth = auth or server.auth
    authorization = auth.at(server) if isinstance(auth, Authorizer) else None
    return HttpTransport(
        server.url,
        headers=_with_bearer(server),
        env_headers=server.env_headers,
        auth=None if isinstance(auth, Authorizer) else auth,
        authorization=authorization,
        verify=server.verify,
        cert=server.cert,
        proxies=server.proxies,
        trust_env=server.trust_env,
        connect_timeout=timeouts.connect,
        message_bytes=limits.message_bytes,
        event_bytes=limits.event_bytes,
        name=name,
        session=server.session,
        mode=server.transport,
    )


def _with_bearer(server: HttpServer) -> Mapping[str, str]:
    if server.bearer_env is None:
        return server.headers
    token = os.environ.get(server.bearer_env)
    if token is None or not token.strip() or not token.strip().isprintable():
        wrong = "is not set" if token is None else "is not text" if token.strip() else "is empty"
        raise ConfigError(f"the environment variable {server.bearer_env} should hold a bearer token and {wrong}")
    rest = {name: value for name, value in server.headers.items() if name.lower() != "authorization"}
    return {**rest, "Authorization": f"Bearer {token.strip()}"}

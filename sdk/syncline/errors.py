"""Every error that syncline raises, as one tree of plain exceptions.

::

    SynclineError
    ├─ ConfigError (ValueError)           what was asked for cannot be done
    ├─ TransportError (OSError)           bytes could not be moved
    │  ├─ ConnectFailed                   nothing was reached
    │  ├─ ConnectionLost                  it ended on its own
    │  │  └─ ServerExited                 the server's process ended
    │  ├─ HttpStatusError                 an HTTP answer that is not an MCP answer
    │  └─ SessionExpired                  the server no longer knows our session
    ├─ ConnectionClosed                   we closed it
    │  └─ ForkedConnection                it belongs to the parent process
    ├─ RequestTimeout (TimeoutError)      the deadline passed
    ├─ OutcomeUnknown                     it was sent and may have run
    ├─ ProtocolError                      somebody broke the protocol
    │  ├─ NoCommonRevision                client and server speak no revision in common
    │  ├─ LocalProtocolError (ValueError) we would have, so nothing was sent
    │  └─ RemoteProtocolError             the server did
    │     ├─ InvalidMessage               not a JSON-RPC message
    │     ├─ InvalidResult                a result that does not fit its method
    │     └─ UnexpectedMessage            a message that has no place here
    ├─ ServerError                        a JSON-RPC error answer, by code:
    │  ├─ MethodNotFound, InvalidParams, ResourceNotFound, UnsupportedRevision,
    │  ├─ HeaderMismatch, MissingCapability, UrlElicitationRequired
    │  └─ EventError                      of the Events extension, by a code table of its own:
    │     └─ EventNotFound, EventForbidden, EventsExhausted, EventUnsupported, CallbackEndpointError
    ├─ StreamError                        a stream that ended badly
    │  ├─ StreamOverflow                  more was waiting than is kept
    │  ├─ StreamTerminated                an event subscription is over
    │  ├─ AccessChanged                   the account is another one now, or the server was removed
    │  ├─ SubscriptionLimit               as many are open as may be
    │  └─ NoCompatibleDelivery            an event type is not delivered in a way that can be had here
    ├─ ConcurrencyError (RuntimeError)    two threads take from one stream at the same time
    ├─ ListingLimit                       a listing went over one of ``Limits``
    ├─ InputRequired                      the server asks for input before it goes on
    ├─ TaskError                          a task that came to no result
    │  ├─ TaskCancelled                   it was stopped
    │  └─ TaskExpired                     the server does not keep it any more
    ├─ ToolError                          ``result.raise_for_error()`` on a failed tool
    ├─ UnknownServer (LookupError)        many servers, and none is called that
    ├─ UnknownTool (LookupError)          many tools, and none is called that
    ├─ ToolDisabled                       the configuration does not allow it
    ├─ NotReady                           the server has not started yet
    ├─ RequiredServersFailed              servers did not start that the program cannot do without
    └─ AuthError                          something about who we are
       ├─ AuthRequired                    the server wants credentials
       ├─ AuthDenied                      a person or the authorization server said no
       ├─ DiscoveryFailed                 what is published about logging in cannot be found or trusted
       ├─ RefreshFailed                   they could not be refreshed
       └─ CredentialStoreError            they cannot be kept, or read again

Errors are never grouped. Each names the server, the method and the request id where there is one, and keeps its cause in
``__cause__``. All of them can be pickled, so they cross process boundaries (Celery, multiprocessing) unharmed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

    from .types import CallToolResult


class SynclineError(Exception):
    """The root of the tree.

    Attributes:
        message: What happened, without the prefix that ``str()`` adds.
        server: Name of the server: the host and path of its URL, or its command. None where no server is involved.
        method: The MCP method of the call, for example ``tools/call``.
        request_id: The JSON-RPC id of the call.
    """

    def __init__(
        self,
        message: str,
        *,
        server: str | None = None,
        method: str | None = None,
        request_id: int | str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.server = server
        self.method = method
        self.request_id = request_id

    def at(self, server: str | None, method: str | None = None, request_id: int | str | None = None) -> Self:
        """Fill in where it happened, where that is not known yet; returns the error itself."""
        self.server = self.server or server
        self.method = self.method or method
        if self.request_id is None:
            self.request_id = request_id
        return self

    def again(self) -> Self:
        """A copy to raise in another thread, so that threads do not share a traceback."""
        fresh = copy.copy(self)
        fresh.__cause__ = self.__cause__
        return fresh

    def __str__(self) -> str:
        where = [part for part in (self.server, self.method) if part]
        return ": ".join([*where, self.message])

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(cls: type[SynclineError], args: tuple[object, ...], state: Mapping[str, object]) -> SynclineError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(SynclineError, ValueError):
    """A setting that cannot work: an unknown scheme, an empty command, two settings that exclude each other."""


class TransportError(SynclineError, OSError):
    """Bytes could not be moved to the server or back. Also an ``OSError``."""


class ConnectFailed(TransportError):
    """The server was not reached: refused, unknown host, bad certificate, no such program. Nothing was sent.

    Attributes:
        passing: Whether it may pass by itself; a certificate that is not trusted stays so, and a program that is not there.
    """

    passing = True


class ConnectionLost(TransportError):
    """The connection ended on its own while it was in use; a call that was under way may have run."""


class ServerExited(ConnectionLost):
    """The server's process ended.

    Attributes:
        command: Its command line.
        returncode: Its exit status, negative for a signal; None if it closed its output and has not ended yet.
        stderr_tail: The last lines that it wrote to standard error.
    """

    def __init__(
        self, message: str, *, command: Sequence[str], returncode: int | None, stderr_tail: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.command = list(command)
        self.returncode = returncode
        self.stderr_tail = list(stderr_tail)

    def __str__(self) -> str:
        return super().__str__() + last_words(self.stderr_tail)


def last_words(stderr_tail: Sequence[str]) -> str:
    """What a program wrote to standard error last, to end the text of an error with; nothing if it wrote nothing."""
    tail = "".join(f"\n  {line}" for line in stderr_tail[-10:])
    return f"; its last words on standard error:{tail}" if tail else ""


class HttpStatusError(TransportError):
    """An HTTP answer that is not an MCP answer.

    Attributes:
        status: The HTTP status.
        url: Where the request went, without its query.
        body_preview: The first 8192 bytes of the body as text, and how many were left out.
        headers: The headers of the answer, names in lower case.
        retry_after: Seconds that the server asks to wait (RFC 9110, 10.2.3), where it does.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        url: str = "",
        body_preview: str = "",
        headers: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.url = url
        self.body_preview = body_preview
        self.headers = dict(headers or {})
        self.retry_after = retry_after


class SessionExpired(TransportError):
    """404 to a request that carried our session id: the server does not know the session and did not run the request."""


class ConnectionClosed(SynclineError):
    """The client was closed, by this thread or another one."""


class ForkedConnection(ConnectionClosed):
    """The connection was made before a fork and belongs to the parent process; connect again in the child."""


class RequestTimeout(SynclineError, TimeoutError):
    """The call's deadline passed. The server was told, where the protocol has a way to. Also a ``TimeoutError``.

    Attributes:
        instead: What the server said while no answer came, as the message ends with it; empty if it said nothing.
    """

    instead = ""


class OutcomeUnknown(SynclineError):
    """The connection broke after the request had been sent: it may have run, and was not sent again.

    Attributes:
        reason: What broke.
    """

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class ProtocolError(SynclineError):
    """Somebody broke the protocol."""


class NoCommonRevision(ProtocolError):
    """Client and server speak no revision of the protocol in common; the message lists what each speaks."""


class LocalProtocolError(ProtocolError, ValueError):
    """The call breaks the protocol, so nothing was sent: arguments that are not JSON, a method of another revision."""


class RemoteProtocolError(ProtocolError):
    """The server broke the protocol."""


class InvalidMessage(RemoteProtocolError):
    """Not a JSON-RPC 2.0 message: not JSON, too large, an id of the wrong type, both a result and an error.

    Attributes:
        raw: What was received, as far as it was kept.
    """

    def __init__(self, message: str, *, raw: object = None) -> None:
        super().__init__(message)
        self.raw = raw


class InvalidResult(RemoteProtocolError):
    """A result that does not fit its method, or structured content that breaks the tool's own output schema.

    Attributes:
        raw: The result as the server sent it, decoded from JSON.
        errors: What is wrong with it, one line each, the place first.
    """

    def __init__(self, message: str, *, raw: object, errors: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.raw = raw
        self.errors = list(errors)


class UnexpectedMessage(RemoteProtocolError):
    """A well-formed message that has no place here: an answer to another request, a stream without an answer."""


class ServerError(SynclineError):
    """The server answered with a JSON-RPC error.

    Attributes:
        code: The JSON-RPC error code.
        data: What the server added, any JSON.
        status: The HTTP status that the answer came with, None over stdio.
    """

    def __init__(self, message: str, *, code: int, data: object = None, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data
        self.status = status

    def __str__(self) -> str:
        return f"{super().__str__()} (code {self.code})"


class MethodNotFound(ServerError):
    """-32601: the server has no such method."""


class InvalidParams(ServerError):
    """-32602: bad parameters; also an unknown tool, prompt or, from 2026-07-28 on, resource."""


class ResourceNotFound(ServerError):
    """-32002: no such resource (revisions before 2026-07-28)."""


class HeaderMismatch(ServerError):
    """-32020: the HTTP headers do not agree with the message (2026-07-28)."""


class MissingCapability(ServerError):
    """-32021: the call needs a client capability that was not declared (2026-07-28)."""


class UnsupportedRevision(ServerError):
    """-32022: the server does not speak the revision of a request (2026-07-28); ``data`` lists those that it does."""


class UrlElicitationRequired(ServerError):
    """-32042: a person must visit a URL first (2025-11-25)."""


SERVER_ERRORS: dict[int, type[ServerError]] = {
    -32601: MethodNotFound,
    -32602: InvalidParams,
    -32002: ResourceNotFound,
    -32020: HeaderMismatch,
    -32021: MissingCapability,
    -32022: UnsupportedRevision,
    -32042: UrlElicitationRequired,
}


def server_error(code: int, message: str, data: object = None, status: int | None = None) -> ServerError:
    """The error for a JSON-RPC error object, by the code table (specification, basic/index)."""
    return SERVER_ERRORS.get(code, ServerError)(message, code=code, data=data, status=status)


class EventError(ServerError):
    """An error of the Events extension. Its codes mean this in answers about events only (SEP-3415, errors)."""


class EventNotFound(EventError):
    """The server has no such event type, or no such webhook subscription (``data["kind"]``)."""


class EventForbidden(EventError):
    """Whoever we are may not watch this, or not any more."""


class EventsExhausted(EventError):
    """The server has as many subscriptions as it allows (``data["limit"]``)."""


class EventUnsupported(EventError):
    """The server does not do this with the event type, or the type has changed (``data["reason"]``)."""


class CallbackEndpointError(EventError):
    """The server does not reach the webhook, or got no challenge back from it (``data["reason"]``)."""


class StreamError(SynclineError):
    """A subscription or an event stream has ended, and not because it was closed."""


class StreamOverflow(StreamError):
    """More was waiting to be taken than is kept; the stream was given up, its neighbours were not."""


class StreamTerminated(StreamError):
    """An event subscription is over: the server ended it, or it cannot be had again.

    Attributes:
        error: Why, where that is known: what the server said, or what the last attempt ran into.
    """

    def __init__(self, message: str, *, error: SynclineError | None = None) -> None:
        super().__init__(message)
        self.error = error


class AccessChanged(StreamError):
    """The stream was opened for somebody else than we are now, or its server was removed."""


class SubscriptionLimit(StreamError):
    """As many streams are open as ``Limits.subscriptions`` allows; polling has no such limit."""


class NoCompatibleDelivery(StreamError):
    """The event type is not delivered in any way that can be had here."""


class ConcurrencyError(SynclineError, RuntimeError):
    """Two threads take from one stream at the same time, so that neither would see all of it. Also a ``RuntimeError``."""


class ListingLimit(SynclineError):
    """A listing went over one of the ``Limits`` (pages, items, cursor size) or repeats itself; nothing was cut silently."""


class InputRequired(SynclineError):
    """The server wants input before it goes on (``resultType: input_required``, 2026-07-28).

    Attributes:
        requests: What it asks, by its own keys: ``{key: {"method": ..., "params": ...}}``.
        request_state: The opaque state to hand back, None where the server sent none.
    """

    def __init__(self, message: str, *, requests: Mapping[str, object], request_state: str | None) -> None:
        super().__init__(message)
        self.requests = dict(requests)
        self.request_state = request_state


class TaskError(SynclineError):
    """A task came to no result.

    Attributes:
        task_id: The task's name at the server.
    """

    def __init__(self, message: str, *, task_id: str) -> None:
        super().__init__(message)
        self.task_id = task_id


class TaskCancelled(TaskError):
    """The task was stopped before it finished."""


class TaskExpired(TaskError):
    """The server does not know the task, or not any more: the time for which it is kept has passed."""


class ToolError(SynclineError):
    """The tool ran and failed (``isError``).

    Attributes:
        result: The whole result.
    """

    def __init__(self, result: CallToolResult) -> None:
        super().__init__(result.text or "the tool failed without saying why")
        self.result = result


class UnknownServer(SynclineError, LookupError):
    """No server of the configuration is called that, or it is not enabled."""


class UnknownTool(SynclineError, LookupError):
    """No tool of any server is called that. Nothing was sent."""


class ToolDisabled(SynclineError):
    """The configuration of the server does not allow the tool to be called. Nothing was sent."""


class NotReady(SynclineError):
    """The server has not started yet, and the caller does not wait for that. Nothing was sent."""


class RequiredServersFailed(SynclineError):
    """Servers could not be started that the program cannot do without.

    Attributes:
        errors: Why, by the name of the server.
    """

    def __init__(self, errors: Mapping[str, SynclineError]) -> None:
        causes = "\n".join(str(error.at(name)) for name, error in sorted(errors.items()))
        count = f"{len(errors)} required server{'s' if len(errors) > 1 else ''}"
        super().__init__(f"{count} did not start:\n{indent(causes, '  ')}")
        self.errors = dict(errors)


class AuthError(SynclineError):
    """Something about who we are."""


class AuthRequired(AuthError):
    """The server wants credentials (HTTP 401), or other ones than we have.

    Attributes:
        www_authenticate: Its challenge, verbatim; None where it sent none.
        status: The HTTP status; None where it was not asked.
        url: Where the request went, without its query.
        login_url: Where the authorization server lets people log in; None where that is not known.
        scopes: What it would be asked for there.
    """

    def __init__(
        self,
        message: str,
        *,
        www_authenticate: str | None,
        status: int | None = None,
        url: str = "",
        login_url: str | None = None,
        scopes: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.www_authenticate = www_authenticate
        self.status = status
        self.url = url
        self.login_url = login_url
        self.scopes = list(scopes)


class AuthDenied(AuthError):
    """A person or the authorization server said no, or answered what must not be used.

    Attributes:
        error: The code of OAuth (RFC 6749, 4.1.2.1 and 5.2): ``access_denied``, ``invalid_scope``; None where there is none.
    """

    def __init__(self, message: str, *, error: str | None = None) -> None:
        super().__init__(message)
        self.error = error


class DiscoveryFailed(AuthError):
    """What is published about logging in to the server cannot be found, or must not be trusted. Nothing was sent there.

    Attributes:
        passing: Whether it may pass by itself, as after a 503.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class RefreshFailed(AuthError):
    """Credentials could not be refreshed. What is stored is as it was, so a later attempt may succeed.

    Attributes:
        error: The authorization server's error code (RFC 6749, 5.2), None where it gave none.
    """

    def __init__(self, message: str, *, error: str | None = None) -> None:
        super().__init__(message)
        self.error = error


class CredentialStoreError(AuthError):
    """Credentials cannot be read, written or deleted where they are kept; what was stored there before is still there.

    Attributes:
        store: Which store, in words: ``the keyring``, or the file's path.
    """

    def __init__(self, message: str, *, store: str) -> None:
        super().__init__(message)
        self.store = store

"""Streamable HTTP (specification, basic/transports and basic/transports/streamable-http).

Each message is a POST of its own, and its answer is read by the thread that sent it: no thread is started here.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from urllib3.exceptions import DecodeError, HTTPError

from syncline.concurrency.deadline import Deadline
from syncline.errors import (
    AuthRequired,
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    HttpStatusError,
    InvalidMessage,
    RequestTimeout,
    SessionExpired,
    SynclineError,
    UnexpectedMessage,
)
from syncline.logs import wire
from syncline.protocol.answers import (
    Kind,
    Meaning,
    classify,
    media_type,
    needs_body,
    preview,
    redirect_target,
    retry_after,
)
from syncline.protocol.headers import VERSION_HEADER
from syncline.protocol.jsonrpc import Malformed, decode
from syncline.protocol.sse import SseParser

from .base import Outgoing, Sink
from .http_connection import Exchange, Exchanges
from .http_session import HttpSession

if TYPE_CHECKING:
    import requests
    from requests.auth import AuthBase
    from urllib3.response import BaseHTTPResponse

SESSION_HEADER = "Mcp-Session-Id"
#: Redirects that one message follows.
MAX_HOPS = 5
#: Seconds that the DELETE of a session may take.
FAREWELL = 2.0
#: Seconds to wait for the last chunk after the answer was there, so that the connection can be kept; the second figure
#: while the server is known to leave its streams open.
LINGER = 0.1, 0.001
#: Bytes of a stream, or of a body of unknown size, read at a time.
PIECE = 1 << 16
#: Pieces of a body of no interest that are read to keep the connection.
DRAINED = 16
#: Bytes of a body with a known size read at a time.
LARGE_PIECE = 1 << 26
#: Bytes, and seconds, for the body of a failure.
FAILURE = 1 << 20, 5.0

#: What every POST says, whatever is configured.
_POST = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
#: Not for users to set: how the body is framed, and the session.
_RESERVED = frozenset({"content-length", "transfer-encoding", SESSION_HEADER.lower()})
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SESSION_ID = re.compile(r"[\x21-\x7e]+")
_SECRET_HEADERS = frozenset({SESSION_HEADER.lower(), "set-cookie"})

_Headers = dict[str, tuple[str, str]]


class HttpTransport:
    """The way to a server behind a URL.

    Args:
        url: The MCP endpoint.
        headers: Headers for every request. One that HTTP does not allow is left out with a warning.
        env_headers: Header name to the name of an environment variable that holds its value, which wins over ``headers``;
            unset or blank: no header.
        auth: An authentication object of requests; it wins over any header.
        verify: As in requests, as are ``cert`` and ``proxies``; ``proxies={}`` for none.
        cert: See ``verify``.
        proxies: See ``verify``.
        trust_env: Whether proxies and CA bundles come from the environment; ``.netrc`` never does.
        connect_timeout: Seconds for name lookup, TCP and TLS; None for no limit but the call's.
        message_bytes: The largest body of an answer, all of a stream together; None for no limit.
        event_bytes: The largest event of a stream; None for no limit.
        name: What errors call the server.
        session: A session of requests to go through; see ``HttpSession``.

    Attributes:
        sessions: A session id that an answer brings is adopted and repeated from then on. Set by whoever drives it.

    Raises ``ConfigError`` for settings that cannot work.
    """

    shared = False

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str],
        env_headers: Mapping[str, str],
        auth: AuthBase | None,
        verify: bool | str,
        cert: str | tuple[str, str] | None,
        proxies: Mapping[str, str] | None,
        trust_env: bool,
        connect_timeout: float | None,
        message_bytes: int | None,
        event_bytes: int | None,
        name: str,
        session: requests.Session | None = None,
    ) -> None:
        self.sessions = True
        self._name = name
        self._http = HttpSession(
            url, auth=auth, verify=verify, cert=cert, proxies=proxies, trust_env=trust_env, session=session
        )
        self._headers = self._own_headers(headers, env_headers)
        self._connect_timeout = connect_timeout
        self._message_bytes = message_bytes
        self._event_bytes = event_bytes
        self._exchanges = Exchanges()
        self._session_id: str | None = None
        self._revision: str | None = None
        self._linger = LINGER[0]
        self._sink: Sink

    def _own_headers(self, headers: Mapping[str, str], env_headers: Mapping[str, str]) -> _Headers:
        """What goes with every request unless the message says otherwise; names in lower case lead to name and value."""
        own = {name.lower(): (name, value) for name, value in self._http.headers.items()}
        own["accept-encoding"] = ("Accept-Encoding", "identity")
        from_environment = {name: os.environ.get(variable, "") for name, variable in env_headers.items()}
        for name, value in [
            *headers.items(),
            *((name, value) for name, value in from_environment.items() if value.strip()),
        ]:
            value = value.strip(" \t")
            if name.lower() in _RESERVED or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                wire.warning("%s: the header %r cannot be sent as configured and is left out", self._name, name)
            else:
                own[name.lower()] = (name, value)
        return own

    # ------------------------------------------------------------------------------------------------------ Transport
    def start(self, sink: Sink, deadline: Deadline) -> None:  # noqa: ARG002
        """Be ready to send. No I/O."""
        self._sink = sink

    def send(self, message: Outgoing, deadline: Deadline) -> None:
        """Post one message and hand its answer to the sink; see ``Transport.send``.

        Blocks on the server: until the answer is there, the deadline (the wall clock over all of it), or ``close()``.
        Raises, besides what ``Transport`` says: ``ConnectFailed`` when nothing was sent, ``HttpStatusError``,
        ``AuthRequired``, ``SessionExpired``, ``UnexpectedMessage`` for an answer to something else or none, and
        ``InvalidMessage`` for one over the limits.
        """
        session_id = self._session_id
        self._revision = message.headers.get(VERSION_HEADER, self._revision)
        headers = self._headers_for({**message.headers, **_POST}, session_id)
        try:
            self._post(message, headers, session_id, deadline)
        except SynclineError as error:
            error.at(self._name, message.method, message.id)
            raise

    def close(self, deadline: Deadline) -> None:
        """End the sends that are blocked in other threads, end the session, close the connections."""
        if not self._exchanges.abort():
            return
        try:
            self.end_session(deadline)
        finally:
            self._http.close()

    def disown(self) -> None:
        """We are a forked child: close our copies of the sockets, without a word to the server."""
        self._session_id = None
        self._exchanges.disown()

    # -------------------------------------------------------------------------------------------------------- session
    def forget_session(self) -> None:
        """Carry no session id until a new one is given."""
        self._session_id = None

    def end_session(self, deadline: Deadline) -> None:
        """Tell the server that the session is over (DELETE), where there is one. Short; whatever comes of it is ignored."""
        session_id, self._session_id = self._session_id, None
        if session_id is None:
            return
        headers = self._headers_for({VERSION_HEADER: self._revision} if self._revision else {}, session_id)
        exchange = self._exchanges.begin(deadline.sooner(FAREWELL), self._connect_timeout, farewell=True)
        try:
            self._http.open("DELETE", self._http.url, headers, None, exchange).close()
        except (OSError, HTTPError) as error:
            wire.debug("%s: the session could not be ended: %s", self._name, _reason(error))
        finally:
            self._exchanges.end(exchange)

    def _adopt_session(self, value: str | None, status: int) -> None:
        if value is None or not 200 <= status < 300:
            return
        if _SESSION_ID.fullmatch(value):
            self._session_id = value
        else:
            self._sink.finding("session-id-invalid", SESSION_HEADER, f"{len(value)} characters")

    # ------------------------------------------------------------------------------------------------------- exchange
    def _headers_for(self, own: Mapping[str, str], session_id: str | None) -> dict[str, str]:
        """All headers of one request; the message's own win, whatever the case of their names."""
        chosen = self._headers.copy()
        for name, value in own.items():
            chosen[name.lower()] = (name, value)
        headers = dict(chosen.values())
        if session_id is not None:
            headers[SESSION_HEADER] = session_id
        return headers

    def _post(self, message: Outgoing, headers: dict[str, str], session_id: str | None, deadline: Deadline) -> None:
        """Post to the endpoint or where it redirects to."""
        url = self._http.url
        for _ in range(MAX_HOPS + 1):
            response, exchange = self._open(url, headers, message, deadline)
            try:
                if session_id is None and self.sessions:
                    self._adopt_session(response.headers.get(SESSION_HEADER), response.status)
                location = self._take(message, response, exchange, session_id is not None)
                if location is None:
                    return
                url = redirect_target(url, location, response.status)
            except SynclineError:
                raise
            except (OSError, HTTPError) as error:
                raise self._failure(error, exchange) from error
            finally:
                response.close()  # drops the connection, unless it was read to its end
                self._exchanges.end(exchange)
        raise HttpStatusError(f"more than {MAX_HOPS} redirects", status=response.status, url=_shown(url))

    def _open(
        self, url: str, headers: dict[str, str], message: Outgoing, deadline: Deadline
    ) -> tuple[BaseHTTPResponse, Exchange]:
        """Send one request, once more if a connection that had served before turns out to be dead."""
        while True:
            exchange = self._exchanges.begin(deadline, self._connect_timeout)
            try:
                return self._http.open("POST", url, headers, message.frame, exchange), exchange
            except BaseException as error:
                self._exchanges.end(exchange)
                if not isinstance(error, (OSError, HTTPError)):
                    raise
                failure = self._failure(error, exchange)
                stale = isinstance(failure, ConnectionLost) and exchange.reused and not exchange.answered
                if not (stale and message.repeatable):
                    raise failure from error
                self._exchanges.generation += 1

    def _failure(self, error: Exception, exchange: Exchange) -> SynclineError:
        """What an error of the libraries below means."""
        left = exchange.deadline.remaining()
        if self._exchanges.closed:
            return ConnectionClosed("the client was closed during the call")
        if left is not None and left < 0.01:
            return RequestTimeout(f"no answer within {exchange.deadline.seconds or 0:g} seconds")
        reason = _reason(error)
        if isinstance(error, DecodeError):
            return InvalidMessage(f"the answer cannot be decompressed: {reason}")
        if not exchange.connected:
            return ConnectFailed(f"cannot connect: {reason}")
        if exchange.answered:
            return ConnectionLost(f"the connection broke during the answer: {reason}")
        return ConnectionLost(f"the connection broke before an answer came, the request may have run: {reason}")

    # --------------------------------------------------------------------------------------------------------- answer
    def _take(
        self, message: Outgoing, response: BaseHTTPResponse, exchange: Exchange, with_session: bool
    ) -> str | None:
        """Do with an answer what it means; the address where it redirects to."""
        kind: Kind = message.kind
        status = response.status
        media = media_type(response.headers.get("Content-Type"))
        body = self._read_failure(response, exchange) if needs_body(kind, status, media) else None
        meaning = classify(kind, status, media, session=with_session, modern=not self.sessions, body=body)
        if meaning is Meaning.JSON:
            self._take_json(message, self._read(response), status)
        elif meaning is Meaning.STREAM:
            self._take_stream(message, response, exchange)
        elif meaning is Meaning.ACCEPTED:
            self._drain(response, exchange)
            if kind == "request":
                raise UnexpectedMessage(f"HTTP {status} to a request: there will be no answer")
        elif meaning is Meaning.RPC_ERROR and kind == "request":
            self._take_json(message, body or b"", status)
        elif meaning is Meaning.REDIRECT:
            return response.headers.get("Location") or ""
        else:
            raise self._refusal(meaning, response, media, body or b"")
        return None

    def _take_json(self, message: Outgoing, body: bytes, status: int) -> None:
        if not self._sink.received(body, message, status):
            first = decode(body).messages[0]
            if isinstance(first, Malformed):
                raise InvalidMessage(f"the answer is not a JSON-RPC message: {first.reason}", raw=first.raw)
            raise UnexpectedMessage("the answer belongs to another request")

    def _take_stream(self, message: Outgoing, response: BaseHTTPResponse, exchange: Exchange) -> None:
        """Hand on events up to the answer, then see the stream to its end, if that is near."""
        parser = SseParser(self._event_bytes)
        size = 0
        for piece in self._pieces(response):
            size += len(piece)
            self._check_size(size)
            answered = False
            for event in parser.feed(piece):
                if event.event == "message" and event.data:
                    answered = self._sink.received(event.data, message) or answered
            if answered:
                self._linger = LINGER[0] if self._drain(response, exchange) else LINGER[1]
                return
        raise UnexpectedMessage("the stream ended without a response")

    def _drain(self, response: BaseHTTPResponse, exchange: Exchange) -> bool:
        """Read to the end of a body that is of no interest, if that is near, so that the connection can be kept."""
        exchange.hurry(self._linger)
        try:
            return all(position < DRAINED for position, _ in enumerate(self._pieces(response)))
        except (OSError, HTTPError):
            return False

    def _refusal(self, meaning: Meaning, response: BaseHTTPResponse, media: str, body: bytes) -> SynclineError:
        status, url = response.status, _shown(self._http.url)
        if meaning is Meaning.UNAUTHORIZED:
            challenge = response.headers.get("WWW-Authenticate")
            return AuthRequired("the server wants credentials", www_authenticate=challenge, status=status, url=url)
        if meaning is Meaning.SESSION_EXPIRED:
            return SessionExpired(f"the server does not know the session (HTTP {status})")
        shown = preview(body)
        if meaning is Meaning.WRONG_TYPE:
            text = f"HTTP {status} with {media or 'no media type'}, neither JSON nor an event stream: {_line(shown)}"
        else:
            text = f"HTTP {status}" + (f": {_line(shown)}" if shown.strip() else "")
        return HttpStatusError(
            text,
            status=status,
            url=url,
            body_preview=shown,
            headers={
                name.lower(): value for name, value in response.headers.items() if name.lower() not in _SECRET_HEADERS
            },
            retry_after=retry_after(response.headers.get("Retry-After"), time.time()),
        )

    # ----------------------------------------------------------------------------------------------------------- body
    def _check_size(self, size: int) -> None:
        if self._message_bytes is not None and size > self._message_bytes:
            raise InvalidMessage(f"the answer has over {self._message_bytes} bytes")

    def _read(self, response: BaseHTTPResponse) -> bytes:
        """The whole body; one that is over the limit is an error as early as that is known."""
        limit = self._message_bytes
        if response.length_remaining is not None:
            self._check_size(response.length_remaining)
        encoded = "Content-Encoding" in response.headers
        parts = []
        size = 0
        while True:
            part = response.read(LARGE_PIECE if limit is None else min(LARGE_PIECE, limit + 1 - size), encoded)
            size += len(part)
            self._check_size(size)
            parts.append(part)
            if not part or (not encoded and response.length_remaining == 0):
                return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_failure(self, response: BaseHTTPResponse, exchange: Exchange) -> bytes:
        """The body of a failure as far as it comes soon; the status says enough without it."""
        most, seconds = FAILURE
        exchange.hurry(seconds)
        body = b""
        try:
            for piece in self._pieces(response):
                body += piece
                if len(body) >= most:
                    break
        except (OSError, HTTPError):
            if self._exchanges.closed:
                raise
        return body

    def _pieces(self, response: BaseHTTPResponse) -> Iterator[bytes]:
        """A body as it comes, nothing held back."""
        encoded = "Content-Encoding" in response.headers
        while piece := response.read1(PIECE, encoded):
            yield piece


def _shown(url: str) -> str:
    """A URL without what may be secret in it."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _line(text: str) -> str:
    """The beginning of a text, for a message."""
    return " ".join(text[:200].split())


def _reason(error: BaseException) -> str:
    """What lies at the bottom of an error of requests or urllib3, which wrap each other's."""
    while True:
        reason = getattr(error, "reason", None)
        wrapped = [error.__cause__, reason, *reversed(error.args)]
        inner = next((each for each in wrapped if isinstance(each, BaseException)), None)
        if inner is None:
            return getattr(error, "strerror", None) or str(error) or type(error).__name__
        error = inner

"""Streamable HTTP (specification, basic/transports and basic/transports/streamable-http).

Each message is a POST of its own, and its answer is read by the thread that sent it: no thread is started here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from urllib3.exceptions import HTTPError

from syncline.concurrency.deadline import Deadline
from syncline.errors import ConnectionLost, HttpStatusError, InvalidMessage, SynclineError, UnexpectedMessage
from syncline.logs import wire
from syncline.protocol.answers import Kind, Meaning, classify, media_type, needs_body, redirect_target
from syncline.protocol.headers import VERSION_HEADER
from syncline.protocol.jsonrpc import Malformed, decode
from syncline.protocol.sse import SseParser

from .base import Outgoing, Sink
from .http_body import beginning, check_size, drained, pieces, whole
from .http_errors import failure, refusal, root_reason, shown_url
from .http_exchange import Exchange, Exchanges
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
#: Seconds to wait for the last chunk when the answer is there, so that the connection can be kept; the second figure
#: while the server is known to leave its streams open.
LINGER = 0.1, 0.001
#: Bytes, and seconds, for the body of a failure; its status says enough without it.
FAILURE = 1 << 20, 5.0

#: Meanings whose body says nothing; it is read to keep the connection.
_UNREAD = (Meaning.ACCEPTED, Meaning.REDIRECT, Meaning.UNAUTHORIZED)
#: What every POST says, whatever is configured.
_POST = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
#: Not for users to set: how the body is framed, and the session.
_RESERVED = frozenset({"content-length", "transfer-encoding", SESSION_HEADER.lower()})
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_SESSION_ID = re.compile(r"[\x21-\x7e]+")

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
    stderr_tail = ()

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
                own[name.lower()] = ("Host" if name.lower() == "host" else name, value)
        return own

    # ------------------------------------------------------------------------------------------------------ Transport
    def start(self, sink: Sink, deadline: Deadline) -> None:  # noqa: ARG002
        """Be ready to send. No I/O."""
        self._sink = sink

    def send(self, message: Outgoing, deadline: Deadline) -> None:
        """Post one message and hand its answer to the sink; see ``Transport.send``.

        Blocks on the server: until the answer is there, the deadline (the wall clock over all of it), or ``close()``. A
        name lookup is the one thing that neither of the two can end: the system's resolver has its own limit.
        Raises, besides what ``Transport`` says: ``ConnectFailed`` when nothing was sent, ``HttpStatusError``,
        ``AuthRequired``, ``SessionExpired``, ``UnexpectedMessage`` for an answer to something else or none, and
        ``InvalidMessage`` for one over the limits.
        """
        session_id = self._session_id
        self._revision = message.headers.get(VERSION_HEADER)
        headers = self._headers_for({**message.headers, **_POST}, session_id)
        try:
            self._post(message, headers, session_id, deadline)
        except SynclineError as error:
            error.at(self._name, message.method, message.id)
            raise

    def abandon(self, message: Outgoing) -> None:
        """End the send of a message, wherever it is blocked."""
        self._exchanges.abandon(message)

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
            wire.debug("%s: the session could not be ended: %s", self._name, root_reason(error))
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
        hops = 0
        while True:
            response, exchange = self._open(url, headers, message, deadline)
            try:
                if session_id is None and self.sessions:
                    self._adopt_session(response.headers.get(SESSION_HEADER), response.status)
                location = self._take(message, response, exchange, session_id is not None)
                if location is None:
                    return
                if hops == MAX_HOPS:
                    raise HttpStatusError(f"more than {MAX_HOPS} redirects", status=response.status, url=shown_url(url))
                url = redirect_target(url, location, response.status)
                hops += 1
            except SynclineError:
                raise
            except (OSError, HTTPError) as error:
                raise failure(error, exchange) from error
            finally:
                response.close()  # drops the connection, unless it was read to its end
                self._exchanges.end(exchange)

    def _open(
        self, url: str, headers: dict[str, str], message: Outgoing, deadline: Deadline
    ) -> tuple[BaseHTTPResponse, Exchange]:
        """Send one request, once more if a connection that had served before turns out to be dead."""
        repeatable = message.repeatable
        while True:
            exchange = self._exchanges.begin(deadline, self._connect_timeout, message)
            try:
                return self._http.open("POST", url, headers, message.frame, exchange), exchange
            except BaseException as error:
                self._exchanges.end(exchange)
                if not isinstance(error, (OSError, HTTPError)):
                    raise
                meaning = failure(error, exchange)
                stale = isinstance(meaning, ConnectionLost) and exchange.reused and not exchange.answered
                if not (stale and repeatable):
                    raise meaning from error
                repeatable = False
                self._exchanges.generation += 1  # whatever ended that connection has ended its idle neighbours too

    # --------------------------------------------------------------------------------------------------------- answer
    def _take(
        self, message: Outgoing, response: BaseHTTPResponse, exchange: Exchange, with_session: bool
    ) -> str | None:
        """Do with an answer what it means; the address where it redirects to."""
        kind: Kind = message.kind
        status = response.status
        media = media_type(response.headers.get("Content-Type"))
        body = b""
        if needs_body(kind, status, media):
            most, seconds = FAILURE
            exchange.hurry(seconds)
            body = beginning(response, most)
        meaning = classify(kind, status, media, session=with_session, modern=not self.sessions, body=body)
        if meaning in _UNREAD:
            exchange.hurry(LINGER[0])
            drained(response)
        if meaning is Meaning.JSON:
            self._take_json(message, whole(response, self._message_bytes), status)
        elif meaning is Meaning.STREAM:
            self._take_stream(message, response, exchange)
        elif meaning is Meaning.RPC_ERROR and kind == "request":
            self._take_json(message, body, status)
        elif meaning is Meaning.REDIRECT:
            return response.headers.get("Location") or ""
        elif meaning is not Meaning.ACCEPTED:
            raise refusal(meaning, response, self._http.url, media, body)
        elif kind == "request":
            raise UnexpectedMessage(f"HTTP {status} to a request: there will be no answer")
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
        for piece in pieces(response):
            size += len(piece)
            check_size(size, self._message_bytes)
            answered = False
            for event in parser.feed(piece):
                if event.event == "message" and event.data:
                    answered = self._sink.received(event.data, message) or answered
            if answered:
                exchange.hurry(self._linger)
                self._linger = LINGER[0] if drained(response) else LINGER[1]
                return
        raise UnexpectedMessage("the stream ended without a response")

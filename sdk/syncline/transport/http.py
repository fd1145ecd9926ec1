"""Streamable HTTP (specification, basic/transports and basic/transports/streamable-http).

Each message is a POST of its own, and its answer is read by the thread that sent it: no thread is started here.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from syncline.concurrency.deadline import Deadline
from syncline.config import Authorization
from syncline.errors import (
    AuthError,
    ConnectFailed,
    ConnectionLost,
    HttpStatusError,
    InvalidMessage,
    RequestTimeout,
    SessionExpired,
    StreamError,
    SynclineError,
    UnexpectedMessage,
)
from syncline.logs import wire
from syncline.protocol.answers import TEMPORARY, Meaning
from syncline.protocol.headers import VERSION_HEADER
from syncline.protocol.jsonrpc import Malformed, decode
from syncline.protocol.trail import Trail

from .base import Outgoing, Sink
from .http_body import check_size, drained, pieces, stream, whole
from .http_errors import HTTP_ERRORS, failure
from .http_headers import SESSION_HEADER
from .http_session import HttpSession
from .http_way import LINGER, HttpAnswer, HttpWay
from .legacy_sse import LegacySseTransport

if TYPE_CHECKING:
    import requests
    from requests.auth import AuthBase

#: Seconds to wait for the last chunk when the answer is there, while the server is known to leave its streams open.
BRIEF = 0.001
#: Attempts in a row to resume an answer that may bring nothing new.
ATTEMPTS = 5

_ACCEPT = {"Accept": "text/event-stream, application/json"}
#: What every POST says, whatever is configured.
_POST = {"Content-Type": "application/json", **_ACCEPT}
#: Answers to the GET of servers that have no listening stream.
_NO_STREAM = (Meaning.NO_STREAM, Meaning.WRONG_TYPE, Meaning.JSON, Meaning.ACCEPTED)
#: In the place of a session id: the session was given up.
FORGOTTEN = ""
_SESSION_ID = re.compile(r"[\x21-\x7e]+")


class _Cut(NamedTuple):
    """An answer whose stream was cut off, and how."""

    trail: Trail
    reason: SynclineError


class HttpTransport:
    """The way to a server behind a URL.

    Args:
        url: The MCP endpoint.
        headers: Headers for every request. One that HTTP does not allow is left out with a warning.
        env_headers: Header name to the name of an environment variable that holds its value, which wins over ``headers``;
            unset or blank: no header.
        auth: An authentication object of requests; it wins over any header.
        authorization: Speaks for us, in the place of ``auth``.
        verify: As in requests, as are ``cert`` and ``proxies``; ``proxies={}`` for none.
        cert: See ``verify``.
        proxies: See ``verify``.
        trust_env: Whether proxies and CA bundles come from the environment; ``.netrc`` never does.
        connect_timeout: Seconds for name lookup, TCP and TLS; None for no limit but the call's.
        message_bytes: The largest body of an answer, all of a stream together; None for no limit.
        event_bytes: The largest event of a stream; None for no limit.
        name: What errors call the server.
        session: A session of requests to go through; see ``HttpSession``.
        mode: Whether ``legacy()`` is to take over: ``auto`` where the server turns out to need it, ``streamable`` never,
            ``sse`` at once. For whoever drives it.

    Attributes:
        sessions: A session id that an answer brings is adopted and repeated from then on, and streams that are cut off
            are resumed. Set by whoever drives it.

        date: The ``Date`` of the latest answer, and when it came in seconds since 1970; by it the clocks can be compared.

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
        authorization: Authorization | None = None,
        verify: bool | str,
        cert: str | tuple[str, str] | None,
        proxies: Mapping[str, str] | None,
        trust_env: bool,
        connect_timeout: float | None,
        message_bytes: int | None,
        event_bytes: int | None,
        name: str,
        session: requests.Session | None = None,
        mode: Literal["auto", "streamable", "sse"] = "auto",
    ) -> None:
        self.sessions = True
        self.date: tuple[str | None, float] = (None, 0.0)
        self.mode: Literal["auto", "streamable", "sse"] = mode
        self._name = name
        http = HttpSession(
            url, auth=auth, verify=verify, cert=cert, proxies=proxies, trust_env=trust_env, session=session
        )
        self._way = HttpWay(
            http,
            headers=headers,
            env_headers=env_headers,
            connect_timeout=connect_timeout,
            name=name,
            authorization=authorization,
        )
        self._exchanges = self._way.exchanges
        self._message_bytes = message_bytes
        self._event_bytes = event_bytes
        self._session_id: str | None = None
        self._revision: str | None = None
        self._linger = LINGER
        self._listeners: set[Trail] = set()  # those whose stream has been open
        self._in_doubt = False
        self._sink: Sink

    # ------------------------------------------------------------------------------------------------------ Transport
    def start(self, sink: Sink, deadline: Deadline) -> None:  # noqa: ARG002
        """Be ready to send. No I/O."""
        self._sink = sink

    def send(self, message: Outgoing, deadline: Deadline) -> None:
        """Post one message and hand its answer to the sink; see ``Transport.send``.

        An answer's stream that is cut off is resumed where the server gave it an event id (``sessions`` only).

        Blocks on the server: until the answer is there, the deadline (the wall clock over all of it), or ``close()``. A
        name lookup is the one thing that neither of the two can end: the system's resolver has its own limit.
        Raises, besides what ``Transport`` says: ``ConnectFailed`` when nothing was sent, ``HttpStatusError``,
        ``AuthRequired``, ``SessionExpired``, ``UnexpectedMessage`` for an answer to something else or none, and
        ``InvalidMessage`` for one over the limits.
        """
        self._revision = message.headers.get(VERSION_HEADER)
        try:
            session_id = self._belongs_to(message)
            cut = self._post(message, session_id, deadline)
            if cut is not None:
                self._resume(message, session_id or self._session_id or None, cut, deadline)
        except SynclineError as error:
            error.at(self._name, message.method, message.id)
            raise

    def listen(
        self,
        message: Outgoing,
        on_open: Callable[[bool], object],
        on_down: Callable[[SynclineError], object],
        idle: float | None = None,
    ) -> None:
        """Hold the stream on which the server sends what answers no request (GET); see ``Transport.listen``."""
        if not self.sessions:
            return
        trail = Trail(self._event_bytes)
        try:
            self._listen(message, self._belongs_to(message), trail, on_open, on_down, idle)
        except SynclineError as error:
            error.at(self._name, message.method)
            raise
        finally:
            with self._exchanges.lock:
                self._listeners.discard(trail)

    def abandon(self, message: Outgoing) -> None:
        """End the send of a message, or its listening, wherever it is blocked."""
        self._exchanges.abandon(message)

    def close(self, deadline: Deadline) -> None:
        """End the sends that are blocked in other threads, end the session, close the connections."""
        self._way.end_authorization()
        if not self._exchanges.abort():
            return
        try:
            self.end_session(deadline)
        finally:
            self._way.close()

    def disown(self) -> None:
        """We are a forked child: close our copies of the sockets, without a word to the server."""
        self._session_id = None
        self._exchanges.disown()

    def legacy(self) -> LegacySseTransport:
        """The transport of 2024-11-05 to the same URL, with all that this one has, which is not to be used any more."""
        return LegacySseTransport(self._way, event_bytes=self._event_bytes, name=self._name)

    # -------------------------------------------------------------------------------------------------------- session
    def forget_session(self) -> None:
        """Send nothing but what opens another session; a stream that listens in the old session ends with it."""
        self._session_id = FORGOTTEN
        self._exchanges.interrupt()

    def end_session(self, deadline: Deadline) -> None:
        """Tell the server that the session is over (DELETE), where there is one. Short; whatever comes of it is ignored."""
        session_id, self._session_id = self._session_id, None
        if session_id:
            own = {VERSION_HEADER: self._revision} if self._revision else {}
            self._way.end_session(self._way.headers(own, session_id), deadline)

    def _require_session(self, session_id: str | None) -> None:
        if self._session_id != session_id:
            raise SessionExpired("the session that the stream belonged to was given up")

    def _belongs_to(self, message: Outgoing) -> str | None:
        """The id of the session that a message is sent in. Nobody may slip through between two sessions."""
        session_id = self._session_id
        if session_id != FORGOTTEN:
            return session_id
        if not message.opening:
            raise SessionExpired("the session was given up, and there is no other one yet")
        return None

    def _adopt_session(self, message: Outgoing, value: str | None, status: int) -> None:
        if not 200 <= status < 300:
            return
        if value is not None and _SESSION_ID.fullmatch(value):
            self._session_id = value
            return
        if message.opening:
            self._session_id = None
        if value is not None:
            self._sink.finding("session-id-invalid", SESSION_HEADER, f"{len(value)} characters")

    # ----------------------------------------------------------------------------------------------------------- POST
    def _post(self, message: Outgoing, session_id: str | None, deadline: Deadline) -> _Cut | None:
        """Send a message and take its answer; where that was cut off and can be resumed, what is known of it."""
        headers = self._way.headers({**message.headers, **_POST}, session_id)
        with self._way.open("POST", headers, message, deadline) as answer:
            status = answer.response.status
            self.date = answer.response.headers.get("Date"), time.time()
            if session_id is None and self.sessions:
                self._adopt_session(message, answer.response.headers.get(SESSION_HEADER), status)
            meaning = answer.judge(message.kind, session=session_id is not None, modern=not self.sessions)
            if meaning is Meaning.JSON:
                self._take_json(message, whole(answer.response, self._message_bytes), status)
            elif meaning is Meaning.STREAM:
                return self._take_stream(message, answer)
            elif meaning is Meaning.RPC_ERROR and message.kind == "request":
                self._take_json(message, answer.body, status)
            elif meaning is not Meaning.ACCEPTED:
                raise answer.refusal(meaning)
            elif message.kind == "request" and not self._listeners:
                raise UnexpectedMessage(f"HTTP {status} to a request: there will be no answer")
        return None

    def _take_json(self, message: Outgoing, body: bytes, status: int) -> None:
        if not self._sink.received(body, message, status):
            last = decode(body)[-1]
            if isinstance(last, Malformed):
                raise InvalidMessage(f"the answer is not a JSON-RPC message: {last.reason}", raw=last.raw)
            raise UnexpectedMessage("the answer belongs to another request")

    def _take_stream(self, message: Outgoing, answer: HttpAnswer) -> _Cut | None:
        trail = Trail(self._event_bytes)
        reason = self._read(message, answer, trail)
        if reason is not None and not (self.sessions and trail.last_event_id):
            raise reason
        return None if reason is None else _Cut(trail, reason)

    def _read(self, message: Outgoing, answer: HttpAnswer, trail: Trail) -> SynclineError | None:
        """Hand on events up to the answer, then see the stream to its end, if that is near; why it ended before."""
        try:
            body = stream(answer.response, answer.exchange) if message.stream else pieces(answer.response)
            for piece in body:
                answered = False
                for data in trail.feed(piece):
                    answered = self._sink.received(data, message) or answered
                if not message.stream:
                    check_size(trail.size, self._message_bytes)
                if answered:
                    answer.exchange.hurry(self._linger)
                    self._linger = LINGER if drained(answer.response) else BRIEF
                    return None
                trail.check()
        except HTTP_ERRORS as error:
            reason = failure(error, answer.exchange)
            if not isinstance(reason, ConnectionLost):
                raise reason from error
            reason.__cause__ = error
            return reason
        return UnexpectedMessage("the stream ended without a response")

    # ------------------------------------------------------------------------------------------------------------ GET
    def _get(self, message: Outgoing, session_id: str | None, trail: Trail, deadline: Deadline) -> HttpAnswer:
        ident = trail.last_event_id
        resume = {} if ident is None else {"Last-Event-ID": ident}
        headers = self._way.headers({**message.headers, **_ACCEPT, **resume}, session_id)
        return self._way.open("GET", headers, message, deadline)

    def _resume(self, message: Outgoing, session_id: str | None, cut: _Cut, deadline: Deadline) -> None:
        """Ask for the rest of an answer until it is there (resumability).

        Whatever comes in between, the request may have run: it is never a ``SessionExpired``.
        """
        trail = cut.trail
        reason: SynclineError | None = cut.reason
        lasted = 0.0
        while reason is not None:
            if trail.last_event_id is None:
                raise reason
            if trail.in_vain == ATTEMPTS:
                problem = f"the answer was cut off, and {ATTEMPTS} attempts to resume it brought nothing new"
                raise ConnectionLost(f"{problem}: {reason.message}") from reason
            self._exchanges.pause(trail.cut(lasted, random.random()), deadline, message)
            began = time.monotonic()
            try:
                with self._get(message, session_id, trail, deadline) as answer:
                    meaning = answer.judge("listen", session=session_id is not None)
                    if meaning is not Meaning.STREAM:
                        raise answer.refusal(meaning)
                    reason = self._read(message, answer, trail)
            except (ConnectFailed, ConnectionLost) as error:
                reason = error
            except (HttpStatusError, SessionExpired, AuthError) as error:
                if not isinstance(error, HttpStatusError) or error.status not in TEMPORARY:
                    problem = "the answer was cut off, and the server does not resume it"
                    raise ConnectionLost(f"{problem}: {error.message}") from error
                reason = error
            lasted = time.monotonic() - began

    def _listen(
        self,
        message: Outgoing,
        session_id: str | None,
        trail: Trail,
        on_open: Callable[[bool], object],
        on_down: Callable[[SynclineError], object],
        idle: float | None,
    ) -> None:
        forever = Deadline(None)
        while True:
            patience = Deadline(idle, None if idle is None else math.inf)
            began = time.monotonic()
            wait = 0.0
            resumed = trail.last_event_id is not None
            try:
                with self._get(message, session_id, trail, patience) as answer:
                    meaning = answer.judge("listen", session=session_id is not None)
                    again = trail in self._listeners
                    if meaning in _NO_STREAM or (meaning is Meaning.SESSION_EXPIRED and self._in_doubt):
                        return
                    if meaning is not Meaning.STREAM:
                        # 404 may also mean that there is no such stream; said of the next session, too, it does.
                        self._in_doubt = meaning is Meaning.SESSION_EXPIRED and not again
                        raise answer.refusal(meaning)
                    self._in_doubt = False
                    self._require_session(session_id)
                    with self._exchanges.lock:
                        self._listeners.add(trail)
                    on_open(again and not resumed)
                    for piece in stream(answer.response, answer.exchange):
                        patience.extend()
                        for data in trail.feed(piece):
                            self._sink.received(data)
                        trail.check()
                    down: SynclineError = StreamError("the server ended the stream")
            except (ConnectFailed, ConnectionLost) as error:
                down = error
            except RequestTimeout:
                down = StreamError(f"nothing came for {idle:g} s")
            except HttpStatusError as error:
                if error.status not in TEMPORARY:
                    raise
                down, wait = error, error.retry_after or 0.0
            self._require_session(session_id)
            wire.debug("%s: the listening stream is down: %s", self._name, down.message)
            on_down(down.at(self._name, message.method))
            wait = max(wait, trail.cut(time.monotonic() - began, random.random()))
            self._exchanges.pause(wait, forever, message)

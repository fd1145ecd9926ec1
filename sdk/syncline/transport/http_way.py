"""How requests reach one URL: their headers, redirects, and a second try on a fresh connection where the old one was dead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from syncline.concurrency.deadline import Deadline
from syncline.errors import ConnectionLost, HttpStatusError, SynclineError
from syncline.logs import wire
from syncline.protocol.answers import REDIRECTS, Kind, Meaning, classify, media_type, needs_body, redirect_target

from .base import Outgoing
from .http_body import beginning, drained
from .http_errors import HTTP_ERRORS, failure, refusal, root_reason, shown_url, unauthorized
from .http_exchange import Exchange, Exchanges
from .http_headers import SESSION_HEADER, configured, over
from .http_session import HttpSession

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self
    from urllib3.response import BaseHTTPResponse

    from syncline.config import Authorization

#: Redirects that one message follows.
MAX_HOPS = 5
#: Refused credentials of one message that somebody is told of: those that are out of date, those in their place, ones that are
#: not enough, and all that could be had. Each of them may have been refused for want of a nonce before.
MAX_REFUSALS = 4
REFUSED = (401, 403)
#: Seconds that the DELETE of a session may take.
FAREWELL = 2.0
#: Seconds for a body that says nothing and is only read to keep the connection.
LINGER = 0.1
#: Bytes, and seconds, for the body of a failure; its status says enough without it.
FAILURE = 1 << 20, 5.0

#: Meanings whose body says nothing; it is read to keep the connection.
_UNREAD = (Meaning.ACCEPTED, Meaning.UNAUTHORIZED, Meaning.NO_STREAM)


class HttpAnswer:
    """The answer to one request, its body unread; give it back with ``close()`` or as a context manager.

    As a context manager it also turns errors of the libraries below into ours.

    Attributes:
        response: The status, the headers, the body.
        exchange: The attempt that it belongs to.
        url: Where it came from, after all redirects.
        media: Its media type.
        body: The beginning of its body, if that was needed to judge it.
        identified: Whether the request had credentials.
    """

    __slots__ = ("body", "exchange", "identified", "media", "response", "url")

    def __init__(self, response: BaseHTTPResponse, exchange: Exchange, url: str, *, identified: bool = False) -> None:
        self.response = response
        self.exchange = exchange
        self.url = url
        self.media = media_type(response.headers.get("Content-Type"))
        self.body = b""
        self.identified = identified

    def judge(self, kind: Kind, *, session: bool = False, modern: bool = False) -> Meaning:
        """What it means; see ``classify``. Reads the body where that decides, or is of no interest."""
        status = self.response.status
        if needs_body(kind, status, self.media):
            most, seconds = FAILURE
            self.exchange.hurry(seconds)
            self.body = beginning(self.response, most)
        meaning = classify(kind, status, self.media, session=session, modern=modern, body=self.body)
        if meaning in _UNREAD:
            self.exchange.hurry(LINGER)
            drained(self.response)
        return meaning

    def refusal(self, meaning: Meaning) -> SynclineError:
        """The error for an answer that is none."""
        if meaning is Meaning.UNAUTHORIZED:
            return unauthorized(self.response, self.url, identified=self.identified)
        return refusal(meaning, self.response, self.url, self.media, self.body)

    def close(self) -> None:
        """Give the connection back, if all was read; drop it otherwise."""
        self.response.close()
        self.exchange.table.end(self.exchange)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        meaning = None
        if isinstance(error, HTTP_ERRORS) and not isinstance(error, SynclineError):
            meaning = failure(error, self.exchange)
        self.close()
        if meaning is not None:
            raise meaning from error


class HttpWay:
    """The way to one URL, for any number of threads.

    Args:
        http: The session that the requests go through.
        headers: Headers for every request; see ``configured``.
        env_headers: See ``configured``.
        connect_timeout: Seconds for name lookup, TCP and TLS; None for no limit but the request's.
        name: What warnings call the server.
        authorization: Speaks for us; its headers win over all others.
    """

    def __init__(
        self,
        http: HttpSession,
        *,
        headers: Mapping[str, str],
        env_headers: Mapping[str, str],
        connect_timeout: float | None,
        name: str,
        authorization: Authorization | None = None,
    ) -> None:
        self.url = http.url
        self.exchanges = Exchanges()
        self._http = http
        self._name = name
        self._connect_timeout = connect_timeout
        self._authorization = authorization
        usual = over(http.headers, {"Accept-Encoding": "identity"})
        self._headers = over(usual, configured(headers, env_headers, name))

    def headers(self, own: Mapping[str, str], session_id: str | None = None) -> dict[str, str]:
        """All headers of one request; its own win, whatever the case of their names."""
        headers = over(self._headers, own)
        if session_id is not None:
            headers[SESSION_HEADER] = session_id
        return headers

    def open(
        self, verb: str, headers: dict[str, str], message: Outgoing, deadline: Deadline, url: str | None = None
    ) -> HttpAnswer:
        """Send a request, with the message as its body unless it is a GET, and follow redirects.

        Blocks until the head of the answer is there; the deadline, ``abandon()`` and ``abort()`` end that. Raises what
        went wrong as our errors.
        """
        url = url or self.url
        body = None if verb == "GET" else message.frame
        hops = refusals = 0
        tried: set[str | None] = set()
        while True:
            answer, proof = self._open(verb, url, headers, body, message, deadline)
            status = answer.response.status
            if status in REFUSED:
                tried.add(proof.get("Authorization"))
                others, refusals = len(tried) - 1, refusals + 1
                told = others < MAX_REFUSALS and refusals <= 2 * MAX_REFUSALS
                if told and self._is_worth_repeating(answer, proof, others, deadline, message):
                    continue
            if status not in REDIRECTS:
                return answer
            with answer:
                answer.exchange.hurry(LINGER)
                drained(answer.response)
                if hops == MAX_HOPS:
                    raise HttpStatusError(f"more than {MAX_HOPS} redirects", status=status, url=shown_url(url))
                url = redirect_target(url, answer.response.headers.get("Location") or "", status)
                hops += 1

    def _proof(self, verb: str, url: str, deadline: Deadline) -> Mapping[str, str]:
        return {} if self._authorization is None else self._authorization.headers(verb, url, deadline)

    def _is_worth_repeating(
        self, answer: HttpAnswer, proof: Mapping[str, str], before: int, deadline: Deadline, message: Outgoing
    ) -> bool:
        """Whether there are other credentials by now; the answer is given back then, and else as it was."""
        authorization, response = self._authorization, answer.response
        if authorization is None:
            return False
        challenges = response.headers.getlist("WWW-Authenticate")
        asking = not message.stream and message.kind != "listen"
        try:
            again = authorization.refused(proof, response.status, challenges, before, deadline, asking=asking)
        except BaseException:
            answer.close()
            raise
        if again:
            with answer:
                answer.exchange.hurry(LINGER)
                drained(response)
        return again

    def _open(
        self, verb: str, url: str, headers: dict[str, str], body: bytes | None, message: Outgoing, deadline: Deadline
    ) -> tuple[HttpAnswer, Mapping[str, str]]:
        """Send one request, once more if a connection that had served before turns out to be dead.

        Returns what proved who we are, too. A proof may be good for one request only, so the second one has its own.
        """
        repeatable = message.repeatable or body is None
        while True:
            proof = self._proof(verb, url, deadline)
            exchange = self.exchanges.begin(deadline, self._connect_timeout, message)
            try:
                sent = over(headers, proof)
                response = self._http.open(verb, url, sent, body, exchange)
                if self._authorization is not None:
                    peer = None if self._http.is_proxied else exchange.peer
                    self._authorization.answered(url, response.headers, peer)
                identified = self._http.identifies or any(name.lower() == "authorization" for name in sent)
                return HttpAnswer(response, exchange, url, identified=identified), proof
            except BaseException as error:
                self.exchanges.end(exchange)
                if not isinstance(error, HTTP_ERRORS):
                    raise
                meaning = failure(error, exchange)
                unheard = exchange.reused and not exchange.answered and not exchange.aborted
                if not (repeatable and unheard and isinstance(meaning, ConnectionLost)):
                    raise meaning from error
                repeatable = False
                self.exchanges.generation += 1  # whatever ended that connection has ended its idle neighbours too

    def end_session(self, headers: dict[str, str], deadline: Deadline) -> None:
        """Send the DELETE of a session, even after ``abort()``. Short; whatever comes of it is ignored."""
        deadline = deadline.sooner(FAREWELL)
        try:
            proof = self._proof("DELETE", self.url, deadline)
        except Exception as error:
            wire.debug("%s: the session could not be ended, for want of credentials: %s", self._name, error)
            return
        exchange = self.exchanges.begin(deadline, self._connect_timeout, farewell=True)
        try:
            self._http.open("DELETE", self.url, over(headers, proof), None, exchange).close()
        except HTTP_ERRORS as error:
            wire.debug("%s: the session could not be ended: %s", self._name, root_reason(error))
        finally:
            self.exchanges.end(exchange)

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are released."""
        self._http.close()

    def end_authorization(self) -> None:
        """End what is under way to prove who we are."""
        if self._authorization is not None:
            self._authorization.close()

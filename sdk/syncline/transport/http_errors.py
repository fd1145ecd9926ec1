"""What goes wrong over HTTP, as our errors: nothing of requests or urllib3 reaches a user but as a cause."""

from __future__ import annotations

import ssl
import time
from shlex import quote
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from requests.exceptions import InvalidHeader, ProxyError
from urllib3.exceptions import DecodeError, HTTPError

from syncline.errors import (
    AuthRequired,
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    HttpStatusError,
    InvalidMessage,
    LocalProtocolError,
    RequestTimeout,
    SessionExpired,
    SynclineError,
)
from syncline.protocol.answers import Meaning, preview, retry_after

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

    from .http_exchange import Exchange

#: What requests, urllib3 and the socket raise; ours are ``OSError`` too, so they are to be told apart first.
HTTP_ERRORS = OSError, HTTPError
#: Seconds before its deadline at which a call counts as timed out: clocks are not that exact.
EARLY = 0.01
#: Characters of a body in the text of an error.
SHOWN = 200

_SECRET_HEADERS = frozenset({"mcp-session-id", "set-cookie"})


def failure(error: Exception, exchange: Exchange) -> SynclineError:
    """What an error of the libraries below means; decided by how far the exchange got, not by their class."""
    left = exchange.deadline.remaining()
    if exchange.table.closed:
        return ConnectionClosed("the client was closed during the call")
    if left is not None and left < EARLY:
        seconds = exchange.deadline.seconds
        return RequestTimeout("no answer in time" if seconds is None else f"no answer within {seconds:g} s")
    reason = root_reason(error)
    if isinstance(error, InvalidHeader):
        return LocalProtocolError(reason)
    if isinstance(error, DecodeError):
        return InvalidMessage(f"the answer cannot be decompressed: {reason}")
    if exchange.connected is False:
        place = " to the proxy" if isinstance(error, ProxyError) else ""
        failed = ConnectFailed(f"cannot connect{place}: {reason}")
        failed.passing = not isinstance(root(error), ssl.SSLCertVerificationError)
        return failed
    if exchange.answered:
        return ConnectionLost(f"the connection broke during the answer: {reason}")
    return ConnectionLost(f"the connection broke before an answer came, the request may have run: {reason}")


def unauthorized(response: BaseHTTPResponse, url: str, *, identified: bool) -> AuthRequired:
    """The error for a request without credentials, or with others than the server wants."""
    place = shown_url(url)
    if identified:
        why = "the server does not take the credentials that it was given: they have ended, or are not for it; replace them"
    else:
        why = f"the server wants credentials: log in (syncline auth login {quote(place)}) and give auth=syncline.OAuth(), or a token"
    challenge = response.headers.get("WWW-Authenticate")
    return AuthRequired(why, www_authenticate=challenge, status=response.status, url=place)


def refusal(meaning: Meaning, response: BaseHTTPResponse, url: str, media: str, body: bytes) -> SynclineError:
    """The error for any other answer that is none."""
    status = response.status
    if meaning is Meaning.SESSION_EXPIRED:
        return SessionExpired(f"the server does not know the session (HTTP {status})")
    shown = preview(body)
    line = " ".join(shown[:SHOWN].split())
    if meaning is Meaning.WRONG_TYPE:
        text = f"HTTP {status} with {media or 'no media type'}, which is neither JSON nor an event stream"
    else:
        text = f"HTTP {status}"
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpStatusError(
        f"{text}: {line}" if line else text,
        status=status,
        url=shown_url(url),
        body_preview=shown,
        headers={name: value for name, value in headers.items() if name not in _SECRET_HEADERS},
        retry_after=retry_after(headers.get("retry-after"), time.time()),
    )


def root(error: BaseException) -> BaseException:
    """What lies at the bottom of an error of requests or urllib3, which wrap each other's."""
    while True:
        wrapped = [error.__cause__, getattr(error, "reason", None), *reversed(error.args)]
        inner = next((each for each in wrapped if isinstance(each, BaseException)), None)
        if inner is None:
            return error
        error = inner


def root_reason(error: BaseException) -> str:
    """The same in words: a line, and not a long one, though it may repeat what the server sent."""
    error = root(error)
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(words[:SHOWN].split())


def shown_url(url: str) -> str:
    """A URL without what may be secret in it: user, query, fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

"""What an HTTP answer means, as a table over what was sent, the status, the media type and the body.

Sources: specification, basic/transports (2025-03-26 to 2025-11-25) and basic/transports/streamable-http (2026-07-28);
RFC 9110 for media types, redirects and Retry-After.
"""

from __future__ import annotations

import re
from datetime import timezone
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, quote, urljoin, urlsplit, urlunsplit

from syncline.errors import HttpStatusError, UnexpectedMessage

from .jsonrpc import Answer, RpcError, decode

#: Bytes of a body that are shown in an error.
PREVIEW = 8192
#: The longest delay that a server can ask for, in seconds: one year.
MAX_RETRY_AFTER = 365 * 86400.0

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

#: What was sent: a JSON-RPC message by POST, the GET of a listening stream, the DELETE of the session.
Kind: TypeAlias = Literal["request", "notification", "response", "listen", "end"]


class Meaning(Enum):
    """What is to be done with an HTTP answer."""

    ACCEPTED = "taken; to a request the answer comes by another way"
    JSON = "the body is the answer"
    STREAM = "the body is an event stream"
    UNAUTHORIZED = "the server wants credentials"
    SESSION_EXPIRED = "the server does not know our session and did not process the message"
    REDIRECT = "elsewhere; redirect_target() says whether to follow"
    NO_STREAM = "the server offers no listening stream"
    RPC_ERROR = "the body is a JSON-RPC error"
    HTTP_ERROR = "a failure of HTTP"
    WRONG_TYPE = "success, but neither JSON nor an event stream"


_BY_TYPE = {"application/json": Meaning.JSON, "text/event-stream": Meaning.STREAM}
#: Statuses that point elsewhere; ``redirect_target()`` says whether to go there.
REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: Statuses of a server that is not well or too busy, or has not noticed yet that a stream of ours was cut (409).
TEMPORARY = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
#: How servers without a listening stream refuse it; the specification has 405 for that (GET-1).
_NO_STREAM = frozenset({400, 404, 405, 406, 501})


def media_type(header: str | None) -> str:
    """The media type of a Content-Type header: lower case, without parameters; ``""`` where there is none."""
    return (header or "").partition(";")[0].strip().lower()


def needs_body(kind: Kind, status: int, media: str) -> bool:
    """Whether the body is to be read before ``classify``: it decides, or the error shows it."""
    if status >= 400:
        return status != 401 and not (status == 405 and kind in ("listen", "end"))
    return _by_status(kind, status, media) in (Meaning.WRONG_TYPE, Meaning.HTTP_ERROR)


def classify(kind: Kind, status: int, media: str, *, session: bool, modern: bool, body: bytes | None) -> Meaning:
    """What the answer means.

    Args:
        kind: What was sent.
        status: The HTTP status.
        media: The result of ``media_type()``.
        session: The message carried our session id.
        modern: It was sent in the revision without sessions (2026-07-28).
        body: The body where ``needs_body()`` asked for it, else None.
    """
    if status < 400:
        return _by_status(kind, status, media)
    if status == 401:
        return Meaning.UNAUTHORIZED
    if status == 405 and kind == "end":
        return Meaning.ACCEPTED
    error = _rpc_error(body) if body else None
    if session and not modern and _is_expiry(status, error, body or b""):
        return Meaning.SESSION_EXPIRED
    if kind == "listen" and status in _NO_STREAM:
        return Meaning.NO_STREAM
    return Meaning.HTTP_ERROR if error is None else Meaning.RPC_ERROR


def _by_status(kind: Kind, status: int, media: str) -> Meaning:
    """Statuses below 400, where the body does not decide."""
    if status in REDIRECTS:
        return Meaning.REDIRECT
    if not 200 <= status < 300:
        return Meaning.HTTP_ERROR
    if kind in ("notification", "response", "end"):
        return Meaning.ACCEPTED
    if kind == "request" and status in (202, 204):
        return Meaning.ACCEPTED
    return _BY_TYPE.get(media, Meaning.WRONG_TYPE)


def _is_expiry(status: int, error: RpcError | None, body: bytes) -> bool:
    """404 is, unless it says that the method is unknown; 400 is where it speaks of the session, which some servers do."""
    if status == 404:
        return error is None or error.code != METHOD_NOT_FOUND
    if status != 400 or (error is not None and error.code in (METHOD_NOT_FOUND, INVALID_PARAMS)):
        return False
    text = body[:PREVIEW] if error is None else error.message.encode()
    return b"session" in text.lower()


def _rpc_error(body: bytes) -> RpcError | None:
    """The body decides whatever its media type: frameworks like to label such bodies as plain text."""
    message = decode(body)[-1]
    return message.error if isinstance(message, Answer) else None


def preview(body: bytes) -> str:
    """The first ``PREVIEW`` bytes as text, cut between characters, and how many bytes were left out."""
    end = PREVIEW
    if len(body) <= end:
        return body.decode("utf-8", "replace")
    while end > PREVIEW - 3 and body[end] & 0xC0 == 0x80:
        end -= 1
    return f"{body[:end].decode('utf-8', 'replace')}… ({len(body) - end} more bytes)"


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, 10.2.3); None where it is missing or makes no sense.

    Args:
        value: The header: seconds or a date.
        now: The time, in seconds since the epoch.
    """
    value = (value or "").strip()
    if re.fullmatch("[0-9]+", value):
        return min(float(value), MAX_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return min(max(date.timestamp() - now, 0.0), MAX_RETRY_AFTER)


def redirect_target(url: str, location: str, status: int) -> str:
    """The absolute URL to go to.

    Only 307 and 308 are followed, which keep method and body, and only within the origin: session ids, mirrored headers
    and tokens would travel along. Raises ``HttpStatusError``, which names the target, for anything else.
    """
    base = urlsplit(url)
    try:
        target = urlsplit(urljoin(url, location.strip()))
        shown = urlunsplit((target.scheme, _origin(target)[1], target.path, "", ""))
        same = _origin(target) == _origin(base)
    except ValueError:
        raise HttpStatusError(f"redirected ({status}) to an address that is none", status=status) from None
    if not location.strip():
        reason = f"redirected ({status}) without saying where to"
    elif status not in (307, 308):
        reason = f"redirected ({status}) to {shown}; only 307 and 308 keep the message, so nothing was sent there"
    elif not same:
        reason = f"redirected ({status}) to {shown}, which is another origin; nothing was sent there"
    else:
        return _as_sent(target, base)
    raise HttpStatusError(reason, status=status, url=urlunsplit((base.scheme, _origin(base)[1], base.path, "", "")))


def endpoint_url(url: str, data: bytes) -> str:
    """Where an ``endpoint`` event sends messages (HTTP+SSE of 2024-11-05): a reference to be resolved by RFC 3986.

    Args:
        url: Where the event stream came from.
        data: The data of the event.

    Raises ``UnexpectedMessage`` for an address that is none, or of another origin: messages and tokens would go there.
    """
    base = urlsplit(url)
    reference = data.decode("utf-8", "replace").strip()
    try:
        target = urlsplit(urljoin(url, reference))
        scheme, host = _origin(target)
        if (scheme, host) != _origin(base):
            raise UnexpectedMessage(f"the server sends messages to {scheme}://{host}, which is another origin")
    except ValueError:
        raise UnexpectedMessage("the server sends messages to an address that is none") from None
    return _as_sent(target, base)


def _as_sent(target: SplitResult, base: SplitResult) -> str:
    """An address of the same origin as it goes over the wire, which is what a proof of possession has to name (RFC 9449, 4.2)."""
    path, query = (quote(part, safe="!$%&'()*+,/:;=?@[]~") for part in (target.path, target.query))
    return urlunsplit((target.scheme, base.netloc, path, query, ""))


def _origin(url: SplitResult) -> tuple[str, str]:
    """Scheme, and host with its port where that is not the scheme's own; without credentials, so it can be shown."""
    host = url.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if url.port not in (None, {"http": 80, "https": 443}.get(url.scheme)):
        host = f"{host}:{url.port}"
    return url.scheme, host

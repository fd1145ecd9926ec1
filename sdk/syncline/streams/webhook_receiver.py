"""Where servers post events: a WSGI application that checks who it is from before it believes a word (SEP-3415, webhooks)."""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from syncline.concurrency import lifecycle
from syncline.concurrency.locks import new_lock
from syncline.errors import ConfigError, InvalidMessage
from syncline.protocol import webhooks
from syncline.protocol.webhooks import Gap, Occurrence, Terminated, Unknown, Verification

if TYPE_CHECKING:
    from typing import TypeAlias

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

    from .webhook_server import LocalServer

    #: Takes a delivery; True once it is kept, False if there is no room for it now. Must not block.
    OnDelivery: TypeAlias = Callable[[Occurrence | Gap | Terminated], bool]

log = logging.getLogger("syncline.webhooks")

#: Ids of deliveries that each endpoint remembers, to know one that comes again.
REMEMBERED = 10_000
#: Seconds for which the secret before the present one is still accepted, counted from when the server has the present one.
GRACE = 3600.0
#: Bytes of a body that is too large which are still read, so that the answer is heard rather than a reset connection.
DISCARDED = 16 << 20

_REASONS = {
    200: "OK",
    202: "Accepted",
    400: "Bad Request",
    401: "Unauthorized",
    405: "Method Not Allowed",
    411: "Length Required",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    503: "Service Unavailable",
}
_LENGTH = re.compile(r"[0-9]{1,18}")
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature", "x-mcp-subscription-id")


class Answer(NamedTuple):
    """What is answered to a delivery. The server sends anything but a 2xx again, a few times, for some minutes."""

    status: int
    body: object = None


ACCEPTED = Answer(202)


class _Refused(Exception):
    """A delivery that is not taken: the status, and why."""


class Endpoint:
    """The place at a receiver that one subscription is posted to. It exists, and answers, before the server knows of it.

    Attributes:
        url: The address that the server is given.
        id: What the server calls the subscription; None until it has answered.
    """

    def __init__(self, receiver: WebhookReceiver, token: str, url: str, on_delivery: OnDelivery) -> None:
        self.url = url
        self.id: str | None = None
        self.on_delivery = on_delivery
        self._receiver = receiver
        self._token = token
        self._lock = new_lock()
        self._secrets = [(webhooks.new_secret(), float("inf"))]
        self._seen: OrderedDict[tuple[str, str], bool] = OrderedDict()

    def __repr__(self) -> str:
        return f"<syncline webhook endpoint {self.id or '(pending)'}>"

    @property
    def secret(self) -> str:
        """The secret that the server is to sign with."""
        return self._secrets[0][0]

    def rotate(self) -> None:
        """Make another secret; those before it are accepted until ``rotated()`` and an hour longer."""
        with self._lock:
            self._secrets = [(webhooks.new_secret(), float("inf")), *self._secrets]

    def rotated(self, secret: str, now: float) -> None:
        """The server signs with this secret: those before it are on their way out."""
        with self._lock:
            count = [each for each, _ in self._secrets].index(secret) + 1
            older = [(each, min(end, now + GRACE)) for each, end in self._secrets[count:] if end > now]
            self._secrets = [*self._secrets[:count], *older]

    def accepted(self, now: float) -> list[str]:
        """The secrets that a delivery may be signed with."""
        return [secret for secret, end in self._secrets if end > now]

    def close(self) -> None:
        """Take no further deliveries."""
        self._receiver.forget(self._token)

    def take(self, key: tuple[str, str], delivery: Occurrence | Gap | Terminated) -> bool:
        """Hand a delivery on, unless that was done before; False if it should be sent again later."""
        with self._lock:
            if key in self._seen:
                return self._seen[key]  # False: another thread is just handing it on, and may fail
            self._seen[key] = False
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
        kept = False
        try:
            kept = self.on_delivery(delivery)
        finally:
            with self._lock:
                if kept:
                    self._seen[key] = True
                else:
                    self._seen.pop(key, None)
        return kept


class WebhookReceiver:
    """A WSGI application that event subscriptions are posted to.

    Mount it in any WSGI server or framework, **in the process that subscribes**, under an address that the MCP server can
    reach; or call ``serve()`` to try it out. A delivery is answered with 2xx only once it was kept, so a full queue or a
    stopped process makes the server send it again.

    Args:
        public_url: The address under which the world reaches this application; each subscription gets a path below it.
            Without one, that of ``serve()``.
        allow_http: Let subscriptions have an ``http`` address, which the protocol forbids: for trying out, on loopback.
        body_bytes: The largest body that is taken.
        clock: Seconds since 1970, by which timestamps are checked.

    Raises:
        ConfigError: ``public_url`` is not an http or https URL, or has a user, a query or a fragment.
    """

    def __init__(
        self,
        public_url: str | None = None,
        *,
        allow_http: bool = False,
        body_bytes: int = 1 << 20,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if public_url is not None:
            parts = urlsplit(public_url)
            more = "@" in parts.netloc or parts.query or parts.fragment
            if parts.scheme not in ("http", "https") or not parts.hostname or more:
                raise ConfigError("public_url must be an http or https URL without user, query and fragment")
        self.public_url = public_url
        self.clock = clock
        self._allow_http = allow_http
        self._body_bytes = body_bytes
        self._endpoints: dict[str, Endpoint] = {}
        lifecycle.opened(self)

    def __repr__(self) -> str:
        return f"<syncline.WebhookReceiver {self.public_url}: {len(self._endpoints)} subscriptions>"

    def endpoint(self, on_delivery: OnDelivery) -> Endpoint:
        """A new place to post to, with a secret of its own; ``ConfigError`` where there is no proper public address."""
        if self.public_url is None:
            raise ConfigError("the receiver needs a public_url, or serve(), before anything can be posted to it")
        if not self._allow_http and urlsplit(self.public_url).scheme != "https":
            raise ConfigError("webhooks need an https address; allow_http=True is for trying out on loopback")
        token = secrets.token_urlsafe(24)
        endpoint = Endpoint(self, token, f"{self.public_url.rstrip('/')}/{token}", on_delivery)
        self._endpoints[token] = endpoint
        return endpoint

    def forget(self, token: str) -> None:
        """Take no more for an endpoint."""
        self._endpoints.pop(token, None)

    def close(self, timeout: float | None = None) -> None:  # noqa: ARG002 - nothing blocks
        """Take no further deliveries; they are answered with 503."""
        self._endpoints.clear()
        lifecycle.closed(self)

    def forked(self) -> None:
        """In a forked child: take nothing for subscriptions of the parent, whose queues nobody empties here."""
        self._endpoints = {}

    def serve(self, port: int = 0, host: str = "127.0.0.1") -> LocalServer:
        """Serve on this machine, on a thread of its own, to try it out; a context manager. Port 0 takes a free one.

        Without a ``public_url`` this becomes the address, which needs ``allow_http``. Raises ``OSError`` where the port
        cannot be had.
        """
        from .webhook_server import LocalServer

        server = LocalServer(self, host, port)
        self.public_url = self.public_url or server.url
        return server

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request. Blocks on nothing but reading the body."""
        try:
            status, value = self._receive(environ)
        except _Refused as refused:
            status, reason = refused.args
            value = {"error": reason}
            log.info("a delivery was refused: %s, %s", status, reason)
        body = b"" if value is None else json.dumps(value).encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        if status == 405:
            headers.append(("Allow", "POST"))
        start_response(f"{status} {_REASONS[status]}", headers)
        return [body]

    def _receive(self, environ: WSGIEnvironment) -> Answer:
        if environ["REQUEST_METHOD"] != "POST":
            raise _Refused(405, "deliveries are posted")
        body = self._body(environ)
        if environ.get("CONTENT_TYPE", "").partition(";")[0].strip().lower() != "application/json":
            raise _Refused(415, "deliveries are application/json")
        message_id, timestamp, signatures, subscription_id = (_header(environ, name) for name in _HEADERS)
        endpoint = self._find(environ.get("PATH_INFO", ""), subscription_id)
        now = self.clock()
        if not webhooks.verify(endpoint.accepted(now), message_id, timestamp, body, signatures):
            raise _Refused(401, "no signature is right")
        if not webhooks.is_timely(timestamp, now):
            raise _Refused(401, "the timestamp is not within five minutes of now")
        return _deliver(endpoint, message_id, body)

    def _body(self, environ: WSGIEnvironment) -> bytes:
        stated = environ.get("CONTENT_LENGTH") or ""
        if not stated and not environ.get("wsgi.input_terminated"):
            raise _Refused(411, "the length of the body is missing")
        if stated and not _LENGTH.fullmatch(stated):
            raise _Refused(400, "the length of the body is not a number")
        length = int(stated) if stated else None
        read = environ["wsgi.input"].read
        most = self._body_bytes + 1
        body: bytes = read(most if length is None else min(length, most))
        if len(body) == most:
            left = DISCARDED if length is None else min(length - most, DISCARDED)
            while left > 0 and (piece := read(min(left, 1 << 16))):
                left -= len(piece)
            raise _Refused(413, f"at most {self._body_bytes} bytes are taken")
        if length is not None and len(body) != length:
            raise _Refused(400, "the body is shorter than stated")
        return body

    def _find(self, path: str, subscription_id: str) -> Endpoint:
        """By the last part of the path; by the server's name for it where something in between has changed the path."""
        endpoint = self._endpoints.get(path.rpartition("/")[2])
        if endpoint is None:
            known = (each for each in list(self._endpoints.values()) if each.id == subscription_id)
            endpoint = next(known, None)
        if endpoint is None:
            raise _Refused(503, "no such subscription, or not yet")
        return endpoint


def _header(environ: WSGIEnvironment, name: str) -> str:
    value: str | None = environ.get("HTTP_" + name.upper().replace("-", "_"))
    if not value:
        raise _Refused(400, f"{name} is missing")
    return value.encode("latin-1").decode("utf-8", "surrogateescape")  # WSGI's text is bytes in disguise (PEP 3333)


def _deliver(endpoint: Endpoint, message_id: str, body: bytes) -> Answer:
    try:
        delivery = webhooks.parse(body)
    except InvalidMessage as error:
        raise _Refused(400, error.message) from error
    if isinstance(delivery, Verification):
        return Answer(200, {"challenge": delivery.challenge})
    if isinstance(delivery, Unknown):
        log.warning("%r: a delivery of the unknown type %.50r was skipped", endpoint, delivery.type)
        return ACCEPTED
    key = ("event", delivery.event_id) if isinstance(delivery, Occurrence) else ("message", message_id)
    if not endpoint.take(key, delivery):
        raise _Refused(503, "there is no room for it now")
    return ACCEPTED

"""The HTTP requests of a flow: as they are, to where they may go, within their limits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from syncline.auth import urls
from syncline.auth.documents import shown
from syncline.auth.steps import Fetch, Fetched
from syncline.auth.urls import Reach
from syncline.concurrency.deadline import Deadline
from syncline.errors import (
    ConnectFailed,
    ConnectionLost,
    DiscoveryFailed,
    InvalidMessage,
    RefreshFailed,
    RequestTimeout,
)
from syncline.transport.http_body import whole
from syncline.transport.http_errors import HTTP_ERRORS, failure
from syncline.transport.http_exchange import Exchanges
from syncline.transport.http_headers import configured, over
from syncline.transport.http_session import HttpSession
from syncline.transport.http_way import HttpAnswer

if TYPE_CHECKING:
    from syncline.config import HttpServer


#: Seconds for name lookup, TCP and TLS.
CONNECT = 10.0


class Fetcher:
    """Sends the requests of flows, for any number of threads, each on a connection of its own.

    Args:
        server: The server that they are for. Its certificates, proxies and environment count for all requests; a proxy resolves
            names by itself, so that addresses cannot be looked at. Its headers go to its own origin, but for ``Authorization``:
            how we prove who we are is for the flow to say.
        reach: Where requests may go.
        exchanges: What ends with those of others; by default they end by themselves.
    """

    def __init__(self, server: HttpServer, reach: Reach, exchanges: Exchanges | None = None) -> None:
        self._server = server
        self._reach = reach
        headers = configured(server.headers, server.env_headers, server.name)
        self._own = {name: value for name, value in headers.items() if name.lower() != "authorization"}
        self._exchanges = exchanges or Exchanges()

    def fetch(self, request: Fetch, deadline: Deadline) -> Fetched:
        """Send one request. Blocks until the answer is there, its own limit, the deadline, or the end of its exchanges.

        Raises:
            DiscoveryFailed: The host is somewhere that requests must not go, or a document could not be had.
            RefreshFailed: The same for what is posted. It may have been taken.
            RequestTimeout: The deadline passed.
            ConnectionClosed: The exchanges were aborted.
        """
        try:
            return self._fetch(request, deadline.sooner(request.timeout))
        except (ConnectFailed, ConnectionLost, InvalidMessage, RequestTimeout) as error:
            # Not as it is: it would be taken for what became of the message that wants a token.
            if isinstance(error, RequestTimeout) and deadline.expired:
                raise RequestTimeout(f"no answer from {urls.shown(request.url)} in time") from error
            reason = f"no answer from {urls.shown(request.url)}: {shown(error.message)}; try again later"
            if request.method == "POST":
                raise RefreshFailed(reason) from error
            raise DiscoveryFailed(reason, passing=True) from error

    def _fetch(self, request: Fetch, deadline: Deadline) -> Fetched:
        http = HttpSession(
            request.url,
            auth=None,
            verify=self._server.verify,
            cert=None,
            proxies=self._server.proxies,
            trust_env=self._server.trust_env,
            session=None,
        )
        exchange = self._exchanges.begin(deadline, CONNECT)
        if not http.is_proxied:
            exchange.admit = lambda addresses: self._admit(request.url, addresses)
        headers = over(http.headers, {"Accept-Encoding": "identity"})
        if urls.origin(request.url) == urls.origin(self._server.url):
            headers = over(headers, self._own)
        headers = over(headers, request.headers)
        try:
            try:
                response = http.open(request.method, request.url, headers, request.body, exchange)
            except HTTP_ERRORS as error:
                raise failure(error, exchange) from error
            with HttpAnswer(response, exchange, request.url):
                body = whole(response, request.limit)
            return Fetched(response.status, body, {name.lower(): value for name, value in response.headers.items()})
        finally:
            self._exchanges.end(exchange)
            http.close()

    def _admit(self, url: str, addresses: Sequence[str]) -> Collection[str]:
        """The addresses of a host that may be connected to."""
        refusals = {address: self._reach.refusal(url, [address]) for address in addresses}
        admitted = [address for address, refusal in refusals.items() if refusal is None]
        if not admitted:
            raise DiscoveryFailed(
                f"nothing is sent there: {' and '.join(sorted({str(each) for each in refusals.values()}))}"
            )
        return admitted

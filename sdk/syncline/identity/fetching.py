"""The HTTP requests of a flow: as they are, to where they may go, within their limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from syncline.auth import urls
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
from syncline.transport.http_session import HttpSession
from syncline.transport.http_way import HttpAnswer


class Fetcher:
    """Sends the requests of flows, for any number of threads, each on a connection of its own.

    Args:
        reach: Where requests may go.
        verify: Which certificates are believed, as in requests.
        proxies: As in requests. A proxy resolves names by itself, so that addresses cannot be looked at.
        trust_env: Whether proxies and CA bundles come from the environment.
        connect_timeout: Seconds for name lookup, TCP and TLS.
    """

    def __init__(
        self,
        reach: Reach,
        *,
        verify: bool | str,
        proxies: Mapping[str, str] | None,
        trust_env: bool,
        connect_timeout: float | None,
    ) -> None:
        self._reach = reach
        self._verify = verify
        self._proxies = proxies
        self._trust_env = trust_env
        self._connect_timeout = connect_timeout
        self._exchanges = Exchanges()

    def fetch(self, request: Fetch, deadline: Deadline) -> Fetched:
        """Send one request. Blocks until the answer is there, its own limit, the deadline, or ``close()``.

        Raises:
            DiscoveryFailed: The host is somewhere that requests must not go, or a document could not be had.
            RefreshFailed: The same for what is posted. It may have been taken.
            RequestTimeout: The deadline passed.
            ConnectionClosed: ``close()`` was called.
        """
        try:
            return self._fetch(request, deadline.sooner(request.timeout))
        except (ConnectFailed, ConnectionLost, InvalidMessage, RequestTimeout) as error:
            # Not as it is: it would be taken for what became of the message that wants a token.
            if isinstance(error, RequestTimeout) and deadline.expired:
                raise
            reason = f"no answer from {urls.shown(request.url)}: {error.message}; try again later"
            if request.method == "POST":
                raise RefreshFailed(reason) from error
            raise DiscoveryFailed(reason, passing=True) from error

    def close(self) -> None:
        """End what is under way, and let nothing else begin. From any thread."""
        self._exchanges.abort()

    def _fetch(self, request: Fetch, deadline: Deadline) -> Fetched:
        http = HttpSession(
            request.url,
            auth=None,
            verify=self._verify,
            cert=None,
            proxies=self._proxies,
            trust_env=self._trust_env,
            session=None,
        )
        exchange = self._exchanges.begin(deadline, self._connect_timeout)
        if not http.is_proxied:
            exchange.admit = lambda addresses: self._admit(request.url, addresses)
        headers = {**http.headers, "Accept-Encoding": "identity", **request.headers}
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

    def _admit(self, url: str, addresses: Sequence[str]) -> None:
        refusal = self._reach.refusal(url, addresses)
        if refusal is not None:
            raise DiscoveryFailed(f"nothing is sent there: {refusal}")

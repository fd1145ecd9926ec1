"""A requests.Session that threads can share, and the short way through it.

The session is built once and never changed: no cookies, no redirects, no retries, nothing looked up in the environment
after the start. What is left to requests for each call then costs more than the call, so a plain session goes straight
to the pool that requests made (``pool.urlopen``); authentication, proxies and a session that was handed in take the whole
way (``session.send``). Both yield urllib3's response.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from requests.cookies import RequestsCookieJar
from requests.utils import select_proxy
from urllib3 import HTTPResponse, PoolManager, ProxyManager, Retry

from syncline.concurrency.locks import adopt
from syncline.errors import ConfigError

from .http_connection import POOLS
from .http_exchange import Exchange
from .http_head import EncodedHeaders

if TYPE_CHECKING:
    from requests.auth import AuthBase
    from urllib3.connectionpool import HTTPConnectionPool
    from urllib3.response import BaseHTTPResponse

    Auth = AuthBase | Callable[[requests.PreparedRequest], requests.PreparedRequest] | None

#: Idle connections kept; more than this many at once are opened and closed again.
POOL_SIZE = 128

#: One is that of this request, the other says what HTTP/1.1 takes for granted.
_OF_NO_USE = frozenset({"Content-Length", "Connection"})
_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_NO_RETRY = Retry(False, redirect=False)
#: The same as requests has it for its adapters, one for all of ours.
_ONCE = Retry(0, read=False)


class Adapter(HTTPAdapter):
    """requests' adapter with our connections."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        """Make the pools."""
        super().init_poolmanager(*args, **options)
        _with_our_connections(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Make the pools of a proxy."""
        manager = super().proxy_manager_for(proxy, **options)
        if isinstance(manager, ProxyManager):  # SOCKS brings connections of its own
            _with_our_connections(manager)
        return manager


def _with_our_connections(manager: PoolManager) -> None:
    manager.pool_classes_by_scheme = POOLS
    adopt(manager.pools.lock)


class HttpSession:
    """How the requests of one transport leave.

    Args:
        url: The endpoint.
        auth: An authentication object of requests; what it sets wins over any header.
        verify: As in requests.
        cert: As in requests.
        proxies: As in requests; ``{}`` for none, whatever the environment says.
        trust_env: Whether proxies and CA bundles are taken from the environment, which is read here, once. ``.netrc`` is
            never read: its entries would take the place of tokens.
        session: A session to use with what it was set up for (authentication, hooks, adapters, parameters, proxies,
            certificates, cookies) in the place of ``verify``, ``cert``, ``proxies`` and ``trust_env``.

    Raises ``ConfigError`` for an unusable URL and for certificates that are not there.
    """

    def __init__(
        self,
        url: str,
        *,
        auth: AuthBase | None,
        verify: bool | str,
        cert: str | tuple[str, str] | None,
        proxies: Mapping[str, str] | None,
        trust_env: bool,
        session: requests.Session | None,
    ) -> None:
        self._owned = session is None
        self._session = _new_session() if session is None else session
        for adapter in self._session.adapters.values():
            if isinstance(adapter, HTTPAdapter):
                _with_our_connections(adapter.poolmanager)
        jar_lock = getattr(self._session.cookies, "_cookies_lock", None)
        if jar_lock is not None:
            adopt(jar_lock)  # a forked child may go on with a session that was handed in
        self._auth = _keep if auth is None and not self._session.auth else auth
        #: Whether requests says who we are.
        self.identifies = self._auth is not _keep
        try:
            prepared = self._prepare("POST", url, {}, None, None if self._owned else _keep)
        except requests.RequestException:
            raise ConfigError("requests cannot make use of the URL") from None  # its own error shows all of the URL
        self.url = str(prepared.url) if self._owned else url  # else its parameters would be added twice
        #: What requests itself sends with each request, credentials from the URL included.
        self.headers: dict[str, str] = {}
        if self._owned:
            self.headers = {name: str(value) for name, value in prepared.headers.items() if name not in _OF_NO_USE}
        self._target = prepared.path_url
        #: Whether a proxy is asked to go there.
        self.is_proxied = False
        self._pool: HTTPConnectionPool | None = None
        if self._owned:
            self._session.trust_env = trust_env
            self._settings = self._session.merge_environment_settings(url, dict(proxies or {}), True, verify, cert)
            self._session.trust_env = False
            if proxies is not None and not proxies:
                self._settings["proxies"] = {}
            pool = self._find_pool(prepared)
            self.is_proxied = bool(select_proxy(self.url, self._settings["proxies"]))
            if auth is None and not self.is_proxied:
                self._pool = pool
        else:
            self._settings = self._session.merge_environment_settings(url, {}, True, None, None)

    def _find_pool(self, prepared: requests.PreparedRequest) -> HTTPConnectionPool:
        """The pool that requests will take. What is wrong with the settings comes out here."""
        verify, cert, proxies = (self._settings[name] for name in ("verify", "cert", "proxies"))
        adapter: Any = self._session.get_adapter(self.url)
        try:
            pool: HTTPConnectionPool = adapter.get_connection_with_tls_context(prepared, verify, proxies, cert)
            adapter.cert_verify(pool, self.url, verify, cert)
        except OSError as error:
            raise ConfigError(str(error)) from error
        return pool

    def open(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, exchange: Exchange
    ) -> BaseHTTPResponse:
        """Send one request; the response with its body unread. Redirects are not followed.

        Blocks until the headers are there, the exchange's deadline or its abort. Raises errors of requests, of urllib3
        and ``OSError``.
        """
        if self._pool is not None:
            target = self._target if url == self.url else _target(url)
            return self._pool.urlopen(
                method,
                target,
                body=body,
                headers=EncodedHeaders(headers),
                retries=_NO_RETRY,
                redirect=False,
                assert_same_host=False,
                timeout=exchange,
                preload_content=False,
                decode_content=False,
            )
        prepared = self._prepare(method, url, headers, body, self._auth)
        timeout: Any = exchange
        response = self._session.send(prepared, timeout=timeout, allow_redirects=False, **self._settings)
        raw: BaseHTTPResponse = response.raw
        return _again(response) if raw.closed else raw

    def _prepare(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None, auth: Auth
    ) -> requests.PreparedRequest:
        return self._session.prepare_request(requests.Request(method, url, headers=headers, data=body, auth=auth))

    def close(self) -> None:
        """Close the idle connections; those in use are closed when they are released."""
        if self._owned:
            for adapter in self._session.adapters.values():
                _close_idle(adapter)
            self._session.close()


def _new_session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.cookies = _NoCookies()
    adapter = Adapter(pool_maxsize=POOL_SIZE, max_retries=_ONCE)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


def _close_idle(adapter: Any) -> None:
    """Close the pools of an adapter, which ``Session.close()`` only drops: their sockets would stay until collected."""
    for manager in (adapter.poolmanager, *adapter.proxy_manager.values()):
        for key in manager.pools.keys():  # noqa: SIM118 - urllib3's container is not iterable
            pool = manager.pools.get(key)
            if pool is not None:
                pool.close()


class _NoCookies(RequestsCookieJar):
    """A jar that keeps nothing."""

    def set_cookie(self, *args: Any, **options: Any) -> None:
        pass


def _keep(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Authentication that changes nothing; with none at all requests would look into ``.netrc``."""
    return request


def _again(response: requests.Response) -> BaseHTTPResponse:
    """A response that a hook of the session has read already, to be read once more."""
    headers = {name: value for name, value in response.headers.items() if name.lower() not in _FRAMING}
    body = io.BytesIO(response.content)
    return HTTPResponse(body, headers, response.status_code, preload_content=False)


def _target(url: str) -> str:
    prepared = requests.PreparedRequest()
    prepared.prepare_url(url, None)
    return prepared.path_url

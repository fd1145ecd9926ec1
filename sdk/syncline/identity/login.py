"""Logging in once for all programs of this user, and out again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, TypedDict

from syncline.auth import urls
from syncline.auth.metadata import covers
from syncline.auth.stores.choice import open_store
from syncline.concurrency.deadline import Deadline
from syncline.config import HttpServer
from syncline.errors import AuthDenied, CredentialStoreError, SynclineError
from syncline.transport.base import Outgoing
from syncline.transport.http_session import HttpSession
from syncline.transport.http_way import HttpWay

from .fetching import CONNECT
from .oauth import OAuth
from .running import Visit, open_browser
from .server_login import ServerLogin
from .status import AuthStatus, http_server, status_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.stores.choice import Mode
    from syncline.auth.tokens import CredentialKey, Credentials

    class LoginOptions(TypedDict, total=False):
        """The options of ``OAuth``, for logins."""

        scopes: Sequence[str] | None
        client_metadata_url: str | None
        redirect_port: int
        store: Mode | CredentialStore
        client_id: str | None
        client_secret: str | None
        issuer: str | None
        client_name: str
        device: bool
        dpop: bool
        trusted_hosts: Sequence[str]


#: Seconds for the requests of a login, and for giving tokens back.
LOGIN, LOGOUT = 60.0, 15.0
#: Harmless where it is taken, and refused where credentials are wanted.
_KNOCK = Outgoing(
    frame=b'{"jsonrpc":"2.0","id":1,"method":"ping"}', kind="request", method="ping", id=1, repeatable=True
)
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}

log = logging.getLogger("syncline.auth")


def login(
    server: str | HttpServer,
    *,
    visit: Callable[[Visit], str | None] | None = open_browser,
    timeout: float | None = LOGIN,
    **options: Unpack[LoginOptions],
) -> AuthStatus:
    """Log in at a server, whoever is logged in there, and store the tokens: ``OAuth`` finds them from then on.

    The ``client_secret`` is stored with them: nobody else can refresh or revoke them. Blocks while a person logs in, who has five
    minutes. Ctrl-C ends it; nothing is stored then.

    Args:
        server: Its URL, or an ``HttpServer``. Its headers are sent to its own origin, and to nobody else.
        visit: Called with what a person has to do, as in ``OAuth``. By default their browser is opened. None: nobody is asked,
            and ``AuthRequired`` says where they would have to go.
        timeout: Seconds for everything but the person.
        options: Those of ``OAuth``.

    Returns:
        What is stored now, without the tokens.

    Raises:
        ConfigError: Some of this cannot be meant.
        AuthDenied: The person or the authorization server said no, or the server does not take the new token.
        AuthRequired: Nobody may be asked.
        DiscoveryFailed: The server does not say who gives tokens for it, or somebody who must not be trusted.
        CredentialStoreError: The tokens cannot be kept.
        TransportError: The server or the authorization server cannot be reached.
    """
    target = http_server(server)
    oauth = OAuth(visit=visit, **options)
    anew = _Anew(oauth.shared(target))
    deadline = Deadline(timeout)
    try:
        _knock(target, anew, deadline)
        credentials = anew.credentials or anew.login.log_in(deadline)
    except SynclineError as error:
        error.at(target.name, "login")
        raise
    finally:
        anew.login.close()
    return status_of(credentials, oauth.store)


def logout(server: str | HttpServer, *, store: Mode | CredentialStore = "auto", timeout: float | None = LOGOUT) -> bool:
    """Forget all tokens for a server, those of programs too, and revoke them at the authorization server if it lets us (RFC 7009).

    They are forgotten first, so that they are gone here whatever becomes of the rest, which only a warning in the log tells of.
    A refresh that is under way somewhere comes to nothing. Blocks for the store and on the network.

    Args:
        server: Its URL, or an ``HttpServer``.
        store: Where the tokens are, as in ``OAuth``.
        timeout: Seconds for telling the authorization server.

    Returns:
        Whether there were any.

    Raises:
        ConfigError: There is no such store, or no such server.
        CredentialStoreError: The tokens cannot be deleted.
    """
    target, opened = http_server(server), open_store(store)
    keys = [key for key in list(opened.keys()) if covers(key.resource, target.url)]
    found = [_forget(key, opened, Deadline(timeout), target) for key in keys]
    return any(found)


def logout_everywhere(*, store: Mode | CredentialStore = "auto", timeout: float | None = LOGOUT) -> list[str]:
    """The same for all servers, and for what is damaged. Each may take the ``timeout``.

    Returns what there were tokens for (RFC 8707); where nobody knows that, the name that they were kept under. Raises
    ``CredentialStoreError`` if one could not be forgotten, after all others were.
    """
    opened = open_store(store)
    gone, failure = list[str](), None
    for key in list(opened.keys()):
        name = key.resource or key.digest
        try:
            if _forget(key, opened, Deadline(timeout)):
                gone.append(name)
        except CredentialStoreError as error:
            log.warning("the tokens for %s are still there: %s", urls.shown(name), error)
            failure = failure or error
    if failure is not None:
        raise failure
    return gone


def _forget(key: CredentialKey, store: CredentialStore, deadline: Deadline, server: HttpServer | None = None) -> bool:
    credentials = None
    try:
        credentials = store.load(key)
    except CredentialStoreError as error:
        log.warning("what is deleted cannot be revoked: %s", error)
    gone = store.delete(key)
    if credentials is not None and credentials.access_token:
        _give_back(credentials, server or credentials.resource, store, deadline)
    return gone


def _give_back(credentials: Credentials, server: str | HttpServer, store: CredentialStore, deadline: Deadline) -> None:
    why: object = "it does not offer that, or did not do it"
    try:
        with closing(OAuth(store=store).at(http_server(server))) as login:
            if login.give_back(credentials, deadline):
                return
    except (SynclineError, ValueError) as error:
        why = error
    place, issuer = urls.shown(credentials.resource), urls.shown(credentials.issuer)
    log.warning("the tokens for %s are forgotten here, and not revoked at %s: %s", place, issuer, why)


class _Anew:
    """An ``Authorization`` that shows no token until the server refuses that, and then that of a new login."""

    def __init__(self, login: ServerLogin) -> None:
        self.login = login
        self.credentials: Credentials | None = None

    def headers(self, verb: str, url: str, deadline: Deadline) -> Mapping[str, str]:
        return {} if self.credentials is None else self.login.headers(verb, url, deadline)

    def refused(
        self,
        sent: Mapping[str, str],
        status: int,
        challenges: Sequence[str],
        before: int,  # noqa: ARG002
        deadline: Deadline,
        *,
        asking: bool,
    ) -> bool:
        if self.credentials is not None:
            return self.login.is_behind(sent, challenges)
        if status == 401 and asking:
            self.credentials = self.login.log_in(deadline, challenges)
        return self.credentials is not None

    def answered(self, url: str, headers: Mapping[str, str], peer: str | None) -> None:
        self.login.answered(url, headers, peer)

    def close(self) -> None:
        self.login.close()


def _knock(server: HttpServer, anew: _Anew, deadline: Deadline) -> None:
    """Let the server say what it wants; and whether it takes what it gets."""
    with _way(server, anew) as way, way.open("POST", way.headers(_HEADERS), _KNOCK, deadline) as answer:
        status = answer.response.status
    if anew.credentials is not None and status == 401:
        raise AuthDenied("the server does not take the token that was just given for it: ask those who run it")


@contextmanager
def _way(server: HttpServer, anew: _Anew) -> Iterator[HttpWay]:
    http = HttpSession(
        server.url,
        auth=None,
        verify=server.verify,
        cert=server.cert,
        proxies=server.proxies,
        trust_env=server.trust_env,
        session=server.session,
    )
    way = HttpWay(
        http,
        headers=server.headers,
        env_headers=server.env_headers,
        connect_timeout=CONNECT,
        name=server.name,
        authorization=anew,
    )
    try:
        yield way
    finally:
        way.close()

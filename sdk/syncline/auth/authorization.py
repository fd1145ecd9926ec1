"""A person's login: the URL to visit, and what comes back (RFC 6749, 4.1; RFC 7636; RFC 8707; RFC 9207).

What comes back is judged in one order: whether it belongs to this login (``state``), whether it came from the authorization
server that the login was begun with (``iss``), and only then what it says.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote, unquote_plus, urlencode, urlsplit, urlunsplit

from syncline.errors import AuthDenied

from . import pkce
from .documents import shown
from .metadata import S256, ServerMetadata
from .scopes import OFFLINE

#: The most parameters that an answer can have.
MOST = 100

_ADVICE = {
    "access_denied": "the access was not allowed; log in again and allow it, or ask who may",
    "invalid_scope": "ask for other scopes",
    "unauthorized_client": "register the client for this, or give another client_id",
    "server_error": "try again later",
    "temporarily_unavailable": "try again later",
}


@dataclass(frozen=True)
class AuthorizationRequest:
    """One login that was begun, and all that finishing it takes. It serves once.

    Attributes:
        issuer: The authorization server; only an answer of this one counts.
        url: Where the person is sent.
        redirect_uri: Where the person is sent back to; the same text goes into the token request.
        state: What the answer must repeat.
        verifier: What the token request must show (RFC 7636).
        resource: The server that the token is for; None for 2025-03-26.
        scopes: What is asked for; none leaves it to the authorization server.
        iss_supported: The authorization server always says who it is.
    """

    issuer: str
    url: str = field(repr=False)
    redirect_uri: str
    state: str = field(repr=False)
    verifier: str = field(repr=False)
    resource: str | None
    scopes: tuple[str, ...]
    iss_supported: bool


def begin(
    metadata: ServerMetadata,
    *,
    client_id: str,
    redirect_uri: str,
    resource: str | None,
    scopes: tuple[str, ...],
    entropy: Callable[[int], bytes],
) -> AuthorizationRequest:
    """Begin a login.

    Args:
        metadata: The authorization server; ``code_refusal()`` has been asked.
        client_id: Who we are there.
        redirect_uri: Where the person is to be sent back to.
        resource: The identifier of the server.
        scopes: What to ask for.
        entropy: Gives so many random bytes, of the kind that nobody can guess.
    """
    state, verifier = pkce.token(entropy(pkce.BYTES)), pkce.token(entropy(pkce.BYTES))
    parameters = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "code_challenge": pkce.challenge(verifier),
        "code_challenge_method": S256,
        "state": state,
        "resource": resource,
        "scope": " ".join(scopes) or None,
        "prompt": "consent" if OFFLINE in scopes else None,  # OpenID Connect Core, 11
    }
    return AuthorizationRequest(
        issuer=metadata.issuer,
        url=_with_query(metadata.authorization_endpoint or "", parameters),
        redirect_uri=redirect_uri,
        state=state,
        verifier=verifier,
        resource=resource,
        scopes=scopes,
        iss_supported=metadata.iss_supported,
    )


def belongs(request: AuthorizationRequest, answer: str) -> bool:
    """Whether an answer repeats the ``state`` of a login. A listener goes on waiting after one that does not."""
    return _same(_parameters(answer).get("state", []), request.state)


def read_code(request: AuthorizationRequest, answer: str) -> str:
    """The code of an answer, which may be used now.

    Args:
        request: The login that it answers.
        answer: The URL that the person was sent back to, or the query of it.

    Raises:
        AuthDenied: It belongs to another login, came from somewhere else, or says no. What a stranger says is not shown.
    """
    given = _parameters(answer)
    if not _same(given.get("state", []), request.state):
        raise AuthDenied(
            "what came back belongs to another login (state), or is not the whole URL that the browser ended at; log in again, "
            "and finish in the window that is opened for it"
        )
    if ("iss" in given or request.iss_supported) and not _same(given.get("iss", []), request.issuer):
        raise AuthDenied(
            "what came back is not from the authorization server that the login was begun with (iss, RFC 9207); nothing of "
            "it was used; if it happens again, tell those who run the server"
        )
    if "error" in given:
        error, words = shown(given["error"][0]), shown(given.get("error_description", [""])[0])
        reason = f"{error}: {words}" if words else error
        advice = _ADVICE.get(error, "log in again, or tell those who run the authorization server")
        raise AuthDenied(f"the authorization server refused the login ({reason}): {advice}", error=error)
    codes = given.get("code", [])
    if len(codes) != 1:
        raise AuthDenied(
            "what came back has neither one code nor an error: it is not the URL that the browser ended at; log in again"
        )
    return codes[0]


def _same(given: list[str], expected: str) -> bool:
    """Whether there is exactly one value and it is the expected one; how long this takes does not tell where they differ."""
    text = given[0] if len(given) == 1 else ""
    return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), expected.encode("utf-8", "surrogatepass"))


def _parameters(answer: str) -> dict[str, list[str]]:
    head, mark, query = answer.strip().partition("#")[0].partition("?")
    try:
        return parse_qs(query if mark else head, max_num_fields=MOST)
    except ValueError:
        return {}


def _with_query(endpoint: str, parameters: dict[str, str | None]) -> str:
    """An endpoint with parameters added to its query (RFC 6749, 3.1). Those that it had by the same names give way."""
    parts = urlsplit(endpoint)
    kept = [
        piece for piece in parts.query.split("&") if piece and unquote_plus(piece.partition("=")[0]) not in parameters
    ]
    ours = urlencode({name: value for name, value in parameters.items() if value is not None}, quote_via=quote, safe="")
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "&".join([*kept, ours]), ""))

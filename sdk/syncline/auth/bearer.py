"""A token that somebody else has got for us."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from syncline.errors import ConfigError

if TYPE_CHECKING:
    from syncline.concurrency.deadline import Deadline
    from syncline.config import HttpServer


#: How often a message is sent again with another token.
MOST = 2


class BearerToken:
    """A bearer token, for ``auth=`` (RFC 6750).

    Args:
        token: The token. Or a function that returns it, for tokens that change: it is called for each request, on the thread that
            sends it, by several at the same time. A request that the server refuses (401) was not processed; it is sent once
            more if the function has another token by then. What the function raises is raised by the call.

    Raises ``ConfigError`` for what is no token. Two are equal if their tokens, or functions, are.
    """

    extensions: ClassVar[Mapping[str, object]] = {}

    def __init__(self, token: str | Callable[[], str]) -> None:
        self._token = token
        if not callable(token):
            _checked(token)

    def at(self, server: HttpServer) -> BearerToken:  # noqa: ARG002
        """Itself: it is the same at each server."""
        return self

    def headers(self, verb: str, url: str, deadline: Deadline) -> Mapping[str, str]:  # noqa: ARG002
        """What goes with a request; see ``Authorization``."""
        token = self._token() if callable(self._token) else self._token
        return {"Authorization": f"Bearer {_checked(token)}"}

    def refused(
        self,
        sent: Mapping[str, str],
        status: int,
        challenges: Sequence[str],  # noqa: ARG002
        before: int,
        deadline: Deadline,
        *,
        asking: bool,  # noqa: ARG002
    ) -> bool:
        """Whether another token is there than the one that was refused; see ``Authorization``."""
        if status != 401 or before == MOST or not callable(self._token):
            return False
        return self.headers("", "", deadline) != sent

    def answered(self, url: str, headers: Mapping[str, str], peer: str | None) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BearerToken) and self._token == other._token

    def __hash__(self) -> int:
        return hash(self._token)

    def __repr__(self) -> str:
        return "<syncline.BearerToken>"


def _checked(token: object) -> str:
    """What can be sent: the characters of RFC 6750, section 2.1, and whatever else a server may have made up, without blanks."""
    if not isinstance(token, str):
        raise ConfigError(f"a bearer token is text, not {type(token).__name__}")
    if not token or not all("!" <= character <= "~" for character in token):
        odd = (
            "has blanks, line breaks or other characters that no token has: it is given alone, without the word Bearer"
        )
        problem = odd if token else "is empty"
        raise ConfigError(f"the bearer token {problem}")
    return token

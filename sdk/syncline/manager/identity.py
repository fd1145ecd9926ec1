"""When two configurations of a server lead to the same connection. Pure, but for the environment that is passed in."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from syncline.config import HttpServer, StdioServer

if TYPE_CHECKING:
    from syncline.client import Target

#: What takes effect on a connection that there is: no reason to make another one.
SETTINGS = frozenset({"enabled", "required", "startup_timeout", "tool_timeout", "enabled_tools", "disabled_tools"})


class Identity:
    """What makes a connection what it is: how the server is reached, with which credentials, and what is declared to it.

    Compared, never shown: there are secrets in it. The values of the environment variables that a server names are part of it, as
    they are when this is made; what else is in the environment is not.

    Args:
        name: What the server is called here.
        server: Its configuration, or what makes a transport to it.
        auth: What it is authenticated with, beyond its own configuration; None for nothing.
        asks: Whether it is told that it may ask a person something.
        told: What else it is told about us, which it may go by when it decides what to offer.
        environ: The environment.
    """

    def __init__(
        self,
        name: str,
        server: Target,
        auth: object,
        *,
        asks: bool,
        told: Sequence[object] = (),
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.name = name
        self._about: list[object] = [type(server), name, auth, asks, *map(_plain, told)]
        self._secretive = auth is not None
        if isinstance(server, (StdioServer, HttpServer)):
            for each in fields(server):
                if each.name not in SETTINGS:
                    self._about.append(_plain(getattr(server, each.name)))
            self._about += [(variable, environ.get(variable)) for variable in referenced(server)]
            if isinstance(server, StdioServer) and server.cwd is None:
                self._about.append(Path.cwd())
        else:
            self._about.append(server)
        if isinstance(server, HttpServer):
            self._secretive = self._secretive or server.auth is not None or server.session is not None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and bool(self._about == other._about)

    __hash__ = None  # type: ignore[assignment]  # what users authenticate with need not be hashable

    def cache_key(self) -> str | None:
        """What the server's catalogue is remembered by in this process; None if nobody can tell whose catalogue it would be.

        That is so for whatever authenticates by itself, and for a transport that somebody makes by hand.
        """
        if self._secretive or self._about[0] not in (StdioServer, HttpServer):
            return None
        return hashlib.sha256(repr(self._about).encode("utf-8", "surrogatepass")).hexdigest()


def referenced(server: StdioServer | HttpServer) -> list[str]:
    """The environment variables that a configuration names."""
    if isinstance(server, StdioServer):
        return list(server.env_vars)
    return [*server.env_headers.values(), *([server.bearer_env] if server.bearer_env else [])]


def has_credentials(server: HttpServer, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a server brings its own: those of all servers are not for it then.

    A header that is empty, or could not be sent, is none; a variable that is meant to hold a token counts even when it is empty,
    because it is an error then, and not a reason to send another one.
    """
    named = {**{key: environ.get(value, "") for key, value in server.env_headers.items()}, **server.headers}
    values = [value for key, value in named.items() if key.lower() == "authorization"]
    usable = any(value.strip() and value.isprintable() for value in values)
    return server.auth is not None or server.bearer_env is not None or usable


def _plain(value: object) -> object:
    """A mapping or a sequence as something that is equal whatever it was made from."""
    if isinstance(value, Mapping):
        return sorted(value.items())
    return list(value) if isinstance(value, (list, tuple)) else value

"""What a manager is given: servers by name, and those of files that cannot be used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from syncline.client import is_transport
from syncline.config import as_server
from syncline.errors import ConfigError

from . import status
from .configfiles.loaded import LoadedConfig

if TYPE_CHECKING:
    from syncline.client import Target


def enabled(server: Target) -> bool:
    """Whether a server is meant to be used."""
    return bool(getattr(server, "enabled", True))


def unusable(servers: Mapping[str, Target] | LoadedConfig) -> dict[str, status.Status]:
    """What configuration files have and cannot be used."""
    errors = servers.errors if isinstance(servers, LoadedConfig) else {}
    return {name: status.unusable(name, error) for name, error in errors.items()}


def checked(servers: Mapping[str, Target] | LoadedConfig) -> dict[str, Target]:
    """A configuration that can be worked with; ``ConfigError`` if it is not one."""
    if isinstance(servers, LoadedConfig):
        servers = servers.servers
    if not isinstance(servers, Mapping):
        what = type(servers).__name__
        raise ConfigError(
            f"servers are a mapping of names to servers, not {what}; load_config() reads them from a file"
        )
    found: dict[str, Target] = {}
    for name, server in servers.items():
        if not isinstance(name, str) or not name.strip():
            raise ConfigError(f"the name of a server is a text, not {name!r}")
        if is_transport(server):
            raise ConfigError(f"{name}: a transport serves one connection; pass a function that makes it")
        if isinstance(server, Mapping):
            raise ConfigError(f"{name}: an entry as in a file is no server; write it as a StdioServer or an HttpServer")
        try:
            found[name] = server if callable(server) else as_server(server)
        except ConfigError as error:
            error.at(name)
            raise
    return found

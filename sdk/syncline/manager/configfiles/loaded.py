"""What was read: servers, where each came from, what was not understood, what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from syncline.config import HttpServer, StdioServer
from syncline.errors import ConfigError

Scope = Literal["explicit", "project", "user"]


@dataclass(frozen=True)
class Origin:
    """A place in a file.

    Attributes:
        file: The file.
        line: The line, counted from 1; None where the format does not tell.
        key: What stands there, as in ``mcpServers.github``; empty for the whole file.
        program: Whose file it is, as in ``Claude Code``.
        scope: ``explicit`` for a file that was named, ``project`` or ``user`` for one that was found.
    """

    file: str
    line: int | None
    key: str
    program: str
    scope: Scope

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"

    def fault(self, what: str) -> ConfigError:
        """The error for something that is wrong here."""
        return ConfigError(": ".join([str(self), *([self.key] if self.key else []), what]))


@dataclass(frozen=True)
class Unknown:
    """A key that means nothing here. Its value is in ``LoadedConfig.metadata``.

    Attributes:
        origin: Where it stands.
        server: The server that it belongs to, None at the top of a file.
        key: The key.
        meant: The key that may have been meant, None if there is none like it.
    """

    origin: Origin
    server: str | None
    key: str
    meant: str | None = None

    def __str__(self) -> str:
        question = "" if self.meant is None else f"; is {self.meant} meant?"
        return f"{self.origin}: {self.origin.key} means nothing here{question}"


@dataclass(frozen=True)
class Skipped:
    """What was found and left out.

    Attributes:
        origin: Where it stands.
        server: Its name, None for a whole file.
        reason: Why it was left out, and what to do about it.
    """

    origin: Origin
    server: str | None
    reason: str

    @property
    def error(self) -> ConfigError:
        """The same as an error."""
        return self.origin.fault(self.reason)


@dataclass(frozen=True, repr=False)
class LoadedConfig:
    """Servers from configuration files.

    Attributes:
        servers: Name → server, nearest file first. Disabled ones are among them (``enabled`` is False).
        origins: Name → where it was read.
        metadata: Name → the keys of its entry that change nothing about the connection, known and unknown ones, with the
            values as they stand in the file. They may be secrets.
        unknown: Keys that mean nothing here.
        skipped: Entries and files that were left out.
        files: Every file that was read, in order of precedence.
    """

    servers: Mapping[str, StdioServer | HttpServer] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    metadata: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    unknown: tuple[Unknown, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def errors(self) -> dict[str, ConfigError]:
        """Name → why there is no such server, though a file has it."""
        found: dict[str, ConfigError] = {}
        for each in self.skipped:
            if each.server is not None and each.server not in self.servers:
                found.setdefault(each.server, each.error)
        return found

    def server(self, name: str) -> StdioServer | HttpServer:
        """One server.

        Raises ConfigError that says why it was left out, or which servers there are.
        """
        if name in self.servers:
            return self.servers[name]
        if name in self.errors:
            raise self.errors[name]
        there = ", ".join([*self.servers, *self.errors]) or "none"
        raise ConfigError(f"no configuration file has a server {name!r}; there are: {there}")

    def __repr__(self) -> str:
        return f"<syncline.LoadedConfig {', '.join(self.servers) or 'without servers'}>"

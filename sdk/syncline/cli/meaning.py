"""What SERVER stands for: a URL, a command, ``demo``, or the name of a server in a configuration file."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from syncline.cli import show
from syncline.config import HttpServer, StdioServer, as_server
from syncline.errors import ConfigError, UnknownServer
from syncline.protocol.forms import clean

if TYPE_CHECKING:
    from syncline.manager.configfiles import Input, Origin, Unknown


@dataclass(frozen=True)
class Meant:
    """What a word on the command line stands for.

    Attributes:
        server: The server.
        name: Its configured name; None for one that is written out.
        origin: Where it was read, if it has a name.
        unknown: Keys of its entry that mean nothing here.
    """

    server: StdioServer | HttpServer
    name: str | None = None
    origin: Origin | None = None
    unknown: tuple[Unknown, ...] = ()


def meaning(text: str, file: str | None = None) -> Meant:
    """What SERVER stands for; ``file`` is the only one to look for names in, None for all that are found.

    A single word is a configured name before it is a program, since few programs are servers and people give servers the names
    of programs (``git``, ``time``); that is told. What has a path or arguments is a command if there is such a program.
    Raises ``ConfigError`` for what is neither, and ``UnknownServer`` for a name that is disabled.
    """
    given = written_out(text)
    if text == "demo" or isinstance(given, HttpServer):
        return Meant(given)
    is_program = shutil.which(given.command) is not None
    is_word = given.command == text and os.sep not in text
    if is_word or not is_program:
        found = _configured(text, file)
        if found is not None:
            if is_program:
                show.note(f"{text} is the server of {found.origin}; for the program, write its path")
            return found
    if is_word and not is_program:
        raise ConfigError(
            f"{text!r} is neither a URL (http://...) nor a program that can be found, nor demo, "
            f"nor the name of a configured server; {_there_are(file)}"
        )
    return Meant(given)


def written_out(text: str) -> StdioServer | HttpServer:
    """The server that a URL, a command or ``demo`` is, whatever is configured."""
    return demo_server() if text == "demo" else as_server(text)


def demo_server() -> StdioServer:
    """The server inside the package."""
    return StdioServer(sys.executable, ("-m", "syncline.demo"))


def answer(wanted: Input) -> str | None:
    """The answer to an input of a configuration file, from the person at the terminal; None where nobody is there."""
    if not show.somebody_is_there():
        return None
    choice = f" ({', '.join(wanted.options)})" if wanted.options else ""
    question = clean(f"{wanted.description or wanted.id}{choice}: ")
    while True:
        given = _hidden(question) if wanted.password else _typed(question)
        if not given or not wanted.options or given in wanted.options:
            return given or None


def _hidden(question: str) -> str:
    from getpass import getpass

    return getpass(question, sys.stderr)


def _typed(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def _configured(name: str, file: str | None) -> Meant | None:
    """The server that is configured under a name. Raises ``ConfigError`` that says why it cannot be used."""
    from syncline.manager.configfiles import load_config

    config = load_config(file, names=[name], inputs=answer)
    if name not in config.servers:
        if name in config.errors:
            raise config.errors[name]
        return None
    server, origin = config.servers[name], config.origins[name]
    if not server.enabled:
        raise UnknownServer(f"the server {name!r} is disabled in {origin}")
    return Meant(server, name, origin, tuple(key for key in config.unknown if key.server == name))


def _there_are(file: str | None) -> str:
    from syncline.manager.configfiles import load_config

    try:
        config = load_config(file)
        return f"there are: {', '.join([*config.servers, *config.errors]) or 'none'}"
    except ConfigError as error:
        return f"which ones there are cannot be told: {error.message}"

"""The server that a command is for, and the options that every command takes."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints
from urllib.parse import parse_qsl, urlsplit

import typer

import syncline
from syncline.cli import failures
from syncline.config import HttpServer, StdioServer, as_server
from syncline.errors import ConfigError

if TYPE_CHECKING:
    from syncline import Client
    from syncline.session.handlers import OnElicitation

#: Words of a secret that are shorter than this would only garble messages.
SECRET_LENGTH = 6

Server: TypeAlias = Annotated[
    str, typer.Argument(metavar="SERVER", help="A URL, a command in quotes, or demo.", show_default=False)
]


@dataclass(frozen=True)
class Options:
    """What every command takes; the fields are its options as typer declares them."""

    json: Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")] = False
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="For connecting, and for each call.", show_default=False)
    ] = None
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME:VALUE", help="HTTP header to send; repeatable.", show_default=False),
    ] = None
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Variable for the command; repeatable.", show_default=False),
    ] = None
    bearer_env: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Variable that holds a bearer token.", show_default=False)
    ] = None
    protocol_version: Annotated[
        str | None, typer.Option(metavar="REVISION", help="Speak this revision only.", show_default=False)
    ] = None
    trace: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Append every message to a file, secrets masked.", show_default=False),
    ] = None

    def connect(self, server: str, on_elicitation: OnElicitation | None = None) -> Client:
        """Connect to what the command line names; the caller closes it.

        Blocks until connected, at most for the timeout; raises ``ConfigError`` for what cannot be meant, else as
        ``syncline.connect``.
        """
        return syncline.connect(
            self.target(server),
            timeout=self.timeout,
            protocol_version=self.protocol_version or "auto",
            trace=self.trace,
            on_elicitation=on_elicitation,
        )

    def target(self, server: str) -> StdioServer | HttpServer:
        """The server that the command line names, with the headers and variables of the options."""
        found = demo_server() if server == "demo" else as_server(server)
        if isinstance(found, HttpServer):
            if self.env:
                raise ConfigError("--env is for a command; a server behind a URL does not see it")
            return replace(found, headers=_pairs("--header", self.header, ":"), bearer_env=self.bearer_env)
        if self.header or self.bearer_env:
            raise ConfigError("--header and --bearer-env are for a server behind a URL; a command takes --env")
        if found.command == server and os.sep not in server and shutil.which(server) is None:
            raise ConfigError(f"{server!r} is neither a URL (http://...) nor a program that can be found, nor demo")
        return replace(found, env=_pairs("--env", self.env, "="))

    def secrets(self, server: str) -> set[str]:
        """Words that no message may contain: values of headers and variables, what a URL has besides its place."""
        parts = urlsplit(server if "://" in server else "")
        values = [parts.password or "", *(value for _, value in parse_qsl(parts.query))]
        values += [value.partition(":")[2] for value in self.header or ()]
        values += [value.partition("=")[2] for value in self.env or ()]
        values.append(os.environ.get(self.bearer_env, "") if self.bearer_env else "")
        return {word for value in values for word in value.split() if len(word) >= SECRET_LENGTH}


def demo_server() -> StdioServer:
    """The server inside the package."""
    return StdioServer(sys.executable, ("-m", "syncline.demo"))


def url_of(server: str) -> str | None:
    """The URL that a server is, without what may be secret in it; None for a command."""
    with contextlib.suppress(ConfigError):
        found = as_server(server)
        if isinstance(found, HttpServer):
            return f"{found.url.partition('://')[0]}://{found.name}"
    return None


def _pairs(option: str, given: Iterable[str] | None, mark: str) -> dict[str, str]:
    pairs = {}
    for position, item in enumerate(given or (), 1):
        name, found, value = item.partition(mark)
        if not found or not name.strip():
            # The item itself may be a secret.
            raise ConfigError(f"{option}: number {position} is not of the form NAME{mark}VALUE")
        pairs[name.strip()] = value.strip() if mark == ":" else value
    return pairs


def command(app: typer.Typer, body: Callable[..., None], *examples: str) -> None:
    """Register a command: a function that takes ``options`` besides its own parameters.

    Its docstring and the examples are its help. Whatever it raises becomes an exit status, reported on standard error.
    """
    own = [p for p in inspect.signature(body, eval_str=True).parameters.values() if p.name != "options"]
    hints = get_type_hints(Options, include_extras=True)
    common = [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(Options)
    ]

    @functools.wraps(body)
    def run(**values: Any) -> int:
        options = Options(**{parameter.name: values.pop(parameter.name) for parameter in common})
        server = values.get("server", "demo")
        try:
            body(options=options, **values)
        except BrokenPipeError:  # whoever read our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return failures.UNEXPECTED
        except BaseException as error:  # each has its exit status, Ctrl-C too
            return failures.report(error, url=url_of(server), secrets=options.secrets(server))
        return 0

    run.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *common)}
    app.command(body.__name__.rstrip("_"), help=with_examples(body.__doc__, examples))(run)


def with_examples(text: str | None, examples: Iterable[str]) -> str:
    """Help text with examples that click does not wrap."""
    return "\n".join([inspect.cleandoc(text or ""), "", "\b", *examples])

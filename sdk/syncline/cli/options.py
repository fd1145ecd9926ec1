"""The server that a command is for, and the options that every command takes."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints
from urllib.parse import parse_qsl, urlsplit

import typer

import syncline
from syncline.cli import failures
from syncline.cli.meaning import Meant, meaning
from syncline.config import HttpServer, StdioServer, Timeouts
from syncline.errors import ConfigError

if TYPE_CHECKING:
    from syncline import Client
    from syncline.config import Authorizer
    from syncline.session.handlers import OnElicitation

#: Words of a secret that are shorter than this would only garble messages.
SECRET_LENGTH = 6

Server: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="SERVER",
        help="A URL, a command in quotes, a name from a configuration file, or demo.",
        show_default=False,
    ),
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
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Read the names of servers in this file only.", show_default=False),
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

    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Never open a browser; auth login then prints the URL.")
    ] = False

    def connect(self, server: str, on_elicitation: OnElicitation | None = None) -> Client:
        """Connect to what the command line names; the caller closes it.

        A configured server has its own limits, unless the command line has others, and its filters. Blocks until connected, at
        most for the timeout; raises ``ConfigError`` for what cannot be meant, else as ``syncline.connect``.
        """
        name, target = self.meant(server).name, self.target(server)
        auth = None if isinstance(target, StdioServer) or brings_credentials(target) else stored_logins()
        if name is None:
            return syncline.connect(
                target, timeout=self.timeout, auth=auth, on_elicitation=on_elicitation, **self.shared()
            )
        from syncline.manager.server_client import ServerClient
        from syncline.manager.settings import Settings

        settings = Settings.of(self.hurried(target), Timeouts.of(self.timeout))
        client = ServerClient(
            target, name=name, timeout=settings.timeouts, auth=auth, on_elicitation=on_elicitation, **self.shared()
        )
        client.govern(settings)
        return client.open()

    def shared(self) -> dict[str, Any]:
        """The options of a client that are the same whatever server it is for."""
        return {"protocol_version": self.protocol_version or "auto", "trace": self.trace}

    def meant(self, server: str) -> Meant:
        """What SERVER stands for, found out once: somebody may be asked something for it."""
        if server not in self._known:
            self._known[server] = meaning(server, self.config)
        return self._known[server]

    def mask(self, secret: str) -> str:
        """Something that no message may contain, as it is."""
        self._masked.add(secret)
        return secret

    @functools.cached_property
    def _masked(self) -> set[str]:
        return set()

    @functools.cached_property
    def _known(self) -> dict[str, Meant]:
        return {}

    def target(self, server: str) -> StdioServer | HttpServer:
        """The server that the command line names, with the headers and variables of the options."""
        return self.dressed(self.meant(server).server)

    def dressed(self, server: StdioServer | HttpServer) -> StdioServer | HttpServer:
        """A server with the headers and variables of the options, which go over its own."""
        if isinstance(server, HttpServer):
            if self.env:
                raise ConfigError("--env is for a command; a server behind a URL does not see it")
            headers = _pairs("--header", self.header, ":")
            given = {name.lower() for name in headers}
            own = {name: value for name, value in server.headers.items() if name.lower() not in given}
            bearer = None if "authorization" in given else server.bearer_env
            return replace(server, headers={**own, **headers}, bearer_env=self.bearer_env or bearer)
        if self.header or self.bearer_env:
            raise ConfigError("--header and --bearer-env are for a server behind a URL; a command takes --env")
        return replace(server, env={**server.env, **_pairs("--env", self.env, "=")})

    def hurried(self, server: StdioServer | HttpServer) -> StdioServer | HttpServer:
        """A server without limits of its own where the command line has some."""
        return server if self.timeout is None else replace(server, startup_timeout=None, tool_timeout=None)

    def secrets(self, server: str) -> set[str]:
        """Words that no message may contain: values of headers and variables, what a URL has besides its place,
        what ``mask()`` was told.
        """
        values = [value.partition(":")[2] for value in self.header or ()]
        values += [value.partition("=")[2] for value in self.env or ()]
        values.append(os.environ.get(self.bearer_env, "") if self.bearer_env else "")
        values += _in_url(server)
        own = secrets_of(self._known[server].server) if server in self._known else set()
        return own | self._masked | _words(values)

    def words(self, server: object) -> str | None:
        """What to write for SERVER in another command line; None where this one names none."""
        file = f" --config {shlex.quote(self.config)}" if self.config else ""
        return shlex.quote(server) + file if isinstance(server, str) else None

    def url(self, server: str) -> str | None:
        """The URL of what SERVER stands for; see ``url_of``. None for what means nothing."""
        return url_of(self._known[server].server) if server in self._known else None


def brings_credentials(server: HttpServer) -> bool:
    """Whether a server has credentials of its own, from the command line or a file, which win over a login."""
    from syncline.manager.identity import has_credentials

    return has_credentials(server)


def stored_logins() -> Authorizer | None:
    """What ``syncline auth login`` has stored; None where nothing is, which is found out without loading anything for it."""
    from syncline.auth.stores.places import something_is_kept

    if not something_is_kept():
        return None
    from syncline.identity.stored import StoredLogins

    return StoredLogins()


def url_of(server: StdioServer | HttpServer) -> str | None:
    """The URL of a server, without what may be secret in it; None for a command."""
    return f"{server.url.partition('://')[0]}://{server.name}" if isinstance(server, HttpServer) else None


def secrets_of(*servers: StdioServer | HttpServer) -> set[str]:
    """Words of configurations that no message may contain."""
    values: list[str] = []
    for server in servers:
        if isinstance(server, StdioServer):
            variables = list(server.env_vars)
            values += map(str, server.env.values())
        else:
            variables = [*server.env_headers.values(), server.bearer_env or ""]
            values += [*server.headers.values(), *_in_url(server.url)]
        values += [os.environ.get(name, "") for name in variables]
    return _words(values)


def _words(values: Iterable[str]) -> set[str]:
    """The words of values that are long enough to be masked."""
    return {word for value in values for word in value.split() if len(word) >= SECRET_LENGTH}


def _in_url(text: str) -> list[str]:
    parts = urlsplit(text if "://" in text else "")
    return [parts.password or "", *(value for _, value in parse_qsl(parts.query))]


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
        server = values.get("server") or "demo"
        try:
            body(options=options, **values)
        except BrokenPipeError:  # whoever read our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return failures.UNEXPECTED
        except SystemExit:  # SIGTERM
            raise
        except BaseException as error:  # each has its exit status, Ctrl-C too
            words = options.words(values.get("server"))
            return failures.report(error, url=options.url(server), server=words, secrets=options.secrets(server))
        return 0

    run.__signature__ = inspect.Signature([*own, *common])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *common)}
    app.command(body.__name__.rstrip("_"), help=with_examples(body.__doc__, examples))(run)


def help_without_command(context: typer.Context) -> None:
    """What a group of commands does before one of them; without one it shows its help, with the status of a usage error."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(failures.USAGE)


def command_group(text: str) -> typer.Typer:
    """A group of commands."""
    return typer.Typer(help=text, callback=help_without_command, invoke_without_command=True, rich_markup_mode=None)


def with_examples(text: str | None, examples: Iterable[str]) -> str:
    """Help text with examples that click does not wrap."""
    return "\n".join([inspect.cleandoc(text or ""), "", "\b", *examples])

"""``auth login``, ``auth status``, ``auth list``, ``auth logout`` and ``auth move``."""

from __future__ import annotations

import json
import os
import re
import sys
import webbrowser
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from syncline.cli import failures, show
from syncline.cli.options import Options, Server, brings_credentials, command, command_group
from syncline.config import HttpServer
from syncline.errors import AuthRequired, ConfigError, DiscoveryFailed, RequestTimeout, SynclineError
from syncline.protocol.forms import clean

if TYPE_CHECKING:
    from syncline import AuthStatus, Visit

Store: TypeAlias = Annotated[
    Literal["auto", "keyring", "file"],
    typer.Option(help="Where tokens are: the system's keyring, files of yours alone, or the better of both."),
]

#: What people see where nobody is logged in.
NONE = "nobody is logged in anywhere; syncline auth login SERVER logs in"

_OUTCOME = re.compile("(^|[?&])(code|error)=")
_ELSEWHERE = "one on this machine that is sent there. Ctrl-C ends the wait; with a browser elsewhere log in with --paste or --device\n"
#: What to do next after a login that did not work.
NEXT: dict[type[SynclineError], str] = {
    AuthRequired: "syncline auth login SERVER --device, or --paste, logs in with a browser on another machine",
    DiscoveryFailed: "syncline doctor SERVER shows whether it wants a login; a token goes in with --bearer-env VARIABLE",
    RequestTimeout: "--timeout SECONDS allows more time",
}


def login(
    server: Server,
    device: Annotated[bool, typer.Option("--device", help="Type a code in a browser on any machine.")] = False,
    paste: Annotated[
        bool, typer.Option("--paste", help="Log in with a browser elsewhere, and paste the URL that it ends at.")
    ] = False,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE", help="What to ask for; repeatable. By default what the server says.", show_default=False
        ),
    ] = None,
    client_id: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="A client that you have registered; by default the program does that itself.",
            show_default=False,
        ),
    ] = None,
    client_secret_env: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="Variable that holds the secret of that client.", show_default=False),
    ] = None,
    dpop: Annotated[
        bool,
        typer.Option(
            "--dpop",
            help="Bind the tokens to a key that is made for them, for servers that want that; needs syncline[jwt].",
        ),
    ] = False,
    redirect_port: Annotated[
        int,
        typer.Option(metavar="PORT", help="Where the browser comes back to on this machine; 0 for any port.", min=0),
    ] = 0,
    store: Store = "auto",
    *,
    options: Options,
) -> None:
    """Log in at a server with OAuth.

    It serves all commands, and all programs of yours that use syncline. Opens a browser, and waits up to five minutes for it to come
    back to this machine. Exit status 3 when that did not work, or nobody is there to do it.
    """
    import syncline

    target = _target(server, options)
    if device and paste:
        raise ConfigError("--device and --paste are two ways to do the same: give one of them")
    if brings_credentials(target):
        raise ConfigError("the server brings credentials of its own, which win over a login; take them away to log in")
    visit = visitor(device=device, paste=paste, browser=not options.no_browser)
    if visit is None:
        nobody = "a person has to log in, and there is no terminal here to show them where"
        error = AuthRequired(nobody, www_authenticate=None, url=options.url(server) or "").at(target.name)
        raise failures.Explained(error, hint=NEXT[AuthRequired])
    try:
        status = syncline.login(
            target,
            visit=visit,
            timeout=options.timeout or 60,
            scopes=scope or None,
            client_id=client_id,
            client_secret=_secret(client_secret_env, options),
            dpop=dpop,
            redirect_port=redirect_port,
            store=store,
            device=device,
        )
    except SynclineError as problem:
        raise failures.Explained(problem, hint=_next(problem)) from problem
    if options.json:
        show.document(page(status))
    else:
        show.line(f"logged in: {status.resource}, {_scopes(status)}; the tokens are in {status.store}")


def _next(error: SynclineError) -> str | None:
    """What to do next, where that is something else after a login than after other commands."""
    if failures.classify(error)[1] == "auth_unavailable":
        return None
    return next((hint for kind, hint in NEXT.items() if isinstance(error, kind)), None)


def status(server: Server, store: Store = "auto", *, options: Options) -> None:
    """Tell who is logged in at a server.

    From what is stored; nothing is sent. Exit status 3 when a person has to log in.
    """
    import syncline

    target = _target(server, options)
    if brings_credentials(target):
        own = "credentials of its own, from the command line or a configuration file"
        if options.json:
            show.document({"server": target.name, "state": "configured"})
        else:
            show.table(("WHAT", "FOUND"), [("server", target.name), ("state", "configured"), ("login", own)])
        return
    found = syncline.auth_status(target, store=store)
    shown = {"server": target.name, **({"state": "logged out"} if found is None else page(found))}
    if options.json:
        show.document(shown)
    else:
        show.table(("WHAT", "FOUND"), rows(target.name, found))
    if found is None or found.login_needed:
        why = "nobody is logged in" if found is None else "the login has ended"
        error = AuthRequired(why, www_authenticate=None, url=options.url(server) or "").at(target.name)
        raise failures.Explained(error, hint="syncline auth login SERVER")


def list_(store: Store = "auto", *, options: Options) -> None:
    """List all logins.

    From what is stored; nothing is sent. What is damaged is among them: auth logout takes it away.
    """
    from syncline.identity.status import auth_statuses

    found = auth_statuses(store=store)
    if options.json:
        show.document({"logins": [page(each) for each in found]})
        return
    show.table(
        ("SERVER", "STATE", "SCOPES", "STORE", "ISSUER"),
        ((each.resource or "?", _state(each), " ".join(each.scopes), each.store, each.issuer) for each in found),
        empty=NONE,
    )


def logout(
    server: Annotated[
        str | None,
        typer.Argument(metavar="SERVER", help="A URL, or a name from a configuration file.", show_default=False),
    ] = None,
    everywhere: Annotated[bool, typer.Option("--all", help="Everywhere, instead of at one server.")] = False,
    store: Store = "auto",
    *,
    options: Options,
) -> None:
    """Forget the tokens for a server.

    They are revoked, too, where the authorization server lets us.
    """
    import syncline
    from syncline.identity.login import logout_everywhere

    if everywhere == (server is not None):
        raise ConfigError("give either SERVER or --all")
    timeout = options.timeout or 15
    if server is None:
        gone = logout_everywhere(store=store, timeout=timeout)
    else:
        target = _target(server, options)
        gone = [target.name] if syncline.logout(target, store=store, timeout=timeout) else []
    if options.json:
        show.document({"loggedOut": gone})
    elif gone:
        show.line(f"logged out: {', '.join(gone)}")
    else:
        show.note("nobody was logged in")


def move(
    source: Annotated[Literal["keyring", "file"], typer.Option("--from", help="Where they are.")],
    target: Annotated[Literal["keyring", "file"], typer.Option("--to", help="Where they go.")],
    *,
    options: Options,
) -> None:
    """Move all logins to another store.

    Programs that are running, and name neither of the two, go on with them.
    """
    from syncline.auth.stores.choice import migrate, open_store

    if source == target:
        raise ConfigError("--from and --to are the same")
    place = open_store(target)
    moved = sorted(key.resource for key in migrate(open_store(source), place, timeout=options.timeout or 60))
    if options.json:
        show.document({"moved": moved, "store": place.name})
    elif moved:
        show.line(f"moved to {place.name}: {', '.join(moved)}")
    else:
        show.note(NONE)


def visitor(*, device: bool, paste: bool, browser: bool) -> Callable[[Visit], str | None] | None:
    """What is done when a person has to do something; None where nobody is there to do it."""
    if paste:
        return _paste
    if device:
        return _code
    if browser:
        return _open
    return _go if show.somebody_is_there() else None


def _show(visit: Visit) -> None:
    """Tell where to go, on standard error: words at a terminal, else a JSON object on a line."""
    code = {} if visit.code is None else {"code": visit.code}
    typed = f"and type  {clean(visit.code)}\n\n" if visit.code is not None else ""
    words = f"to log in at {clean(visit.server)}, go to\n\n  {clean(visit.url)}\n\n{typed}"
    _tell(words, json.dumps({"visit": {"url": visit.url, **code}}) + "\n")


def _tell(words: str, otherwise: str = "") -> None:
    sys.stderr.write(words if sys.stderr.isatty() else otherwise)
    sys.stderr.flush()


def _code(visit: Visit) -> None:
    _show(visit)
    _tell("waiting until that is typed; Ctrl-C ends the wait\n")


def _go(visit: Visit) -> None:
    """Let a person at the terminal go there by themselves."""
    _show(visit)
    _tell(f"waiting for {_ELSEWHERE}")


def _open(visit: Visit) -> None:
    """Open the browser. Where there is none, a person at the terminal can still go there by themselves."""
    _show(visit)
    if webbrowser.open(visit.url):
        _tell("waiting for the browser that was opened; Ctrl-C ends the wait\n")
    elif show.somebody_is_there():
        _tell(f"no browser can be opened here; waiting for {_ELSEWHERE}")
    else:
        raise AuthRequired(
            "a person has to log in, and there is neither a browser nor a terminal here",
            www_authenticate=None,
            url=visit.server,
            login_url=visit.url,
        )


def _paste(visit: Visit) -> str:
    """Take what the browser came back to from standard input. The page that it ends at is not there, and need not be."""
    _show(visit)
    if show.somebody_is_there():
        _tell(
            f"at the end the browser is sent to {visit.redirect_uri}, and shows an error unless it runs on this machine.\n"
            "Copy the whole URL from its address bar, and paste it here: "
        )
    while (line := sys.stdin.readline()) and (answer := line.strip()):
        if _OUTCOME.search(answer) or not show.somebody_is_there():
            return answer
        _tell(f"that is not it: it begins with {visit.redirect_uri}? and is long. Paste it here: ")
    _tell("\n" if not line else "")
    raise AuthRequired(
        "nobody pasted the URL that the browser came back to: log in again",
        www_authenticate=None,
        url=visit.server,
        login_url=visit.url,
    )


def page(status: AuthStatus) -> dict[str, Any]:
    """A login for programs."""
    ends = status.expires_at
    return {
        "state": _state(status),
        "resource": status.resource,
        "issuer": status.issuer,
        "scopes": list(status.scopes),
        "expiresAt": None if ends is None else datetime.fromtimestamp(ends, timezone.utc).isoformat(timespec="seconds"),
        "canRefresh": status.can_refresh,
        "store": status.store,
        "principal": status.principal,
        "client": status.client or None,
        **({} if status.damage is None else {"damage": status.damage}),
    }


def _state(status: AuthStatus) -> str:
    if status.damage is not None:
        return "damaged"
    return "login needed" if status.login_needed else "logged in"


def _scopes(status: AuthStatus) -> str:
    return f"with {' '.join(status.scopes)}" if status.scopes else "without scopes"


def rows(server: str, status: AuthStatus | None) -> Iterator[tuple[str, str]]:
    """A login, or that there is none, for people."""
    yield "server", server
    if status is None:
        yield "state", "logged out"
        return
    until = page(status)["expiresAt"] or "nobody said"
    yield "state", _state(status)
    yield "issuer", status.issuer
    yield "scopes", " ".join(status.scopes) or "none"
    yield "token until", f"{until}, then refreshed" if status.can_refresh else until
    yield "tokens for", status.resource
    yield "tokens in", status.store
    if status.client:
        yield "client", status.client


def _secret(variable: str | None, options: Options) -> str | None:
    """The secret of a client. On the command line itself everybody could read it."""
    if variable is None:
        return None
    secret = os.environ.get(variable, "").strip()
    if not secret:  # its name may be the secret, by mistake
        raise ConfigError("the variable that --client-secret-env names is not set")
    return options.mask(secret)


def _target(server: str, options: Options) -> HttpServer:
    """The server to log in at."""
    if options.trace or options.protocol_version:
        raise ConfigError("--trace and --protocol-version are for commands that send MCP messages")
    target = options.target(server)
    if not isinstance(target, HttpServer):
        raise ConfigError(
            "nobody can log in at a command: it gets its credentials from its environment (--env); a URL begins with https:// or "
            "http://"
        )
    return target


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = command_group("Logging in at servers, and out again.")
    command(
        group,
        login,
        "syncline auth login https://weather.example/mcp",
        "syncline auth login https://weather.example/mcp --device --scope read",
    )
    command(group, status, "syncline auth status https://weather.example/mcp --json")
    command(group, list_, "syncline auth list")
    command(group, logout, "syncline auth logout https://weather.example/mcp", "syncline auth logout --all")
    command(group, move, "syncline auth move --from file --to keyring")
    app.add_typer(group, name="auth")

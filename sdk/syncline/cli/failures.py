"""What a failure is called, which exit status it has, and what to do about it."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Collection
from shlex import quote
from typing import Any, cast

import typer

from syncline import errors
from syncline.protocol.forms import clean

USAGE, UNEXPECTED, AUTHORIZATION, CONNECTION, ANSWER, INTERRUPTED = 2, 1, 3, 4, 5, 130

#: The base of every usage error, which typer has no public name for.
UsageError = cast("type[Exception]", typer.BadParameter.__base__)

#: An HTTP status that decides by itself.
BY_STATUS = {401: (AUTHORIZATION, "auth_required"), 403: (AUTHORIZATION, "auth_refused")}
#: Otherwise the first class that fits.
BY_CLASS: list[tuple[type[BaseException], int, str]] = [
    (KeyboardInterrupt, INTERRUPTED, "interrupted"),
    (UsageError, USAGE, "usage"),
    (errors.ConfigError, USAGE, "usage"),
    (errors.LocalProtocolError, USAGE, "usage"),
    (errors.AuthRequired, AUTHORIZATION, "auth_required"),
    (errors.RefreshFailed, CONNECTION, "auth_unavailable"),
    (errors.AuthError, AUTHORIZATION, "auth_failed"),
    (errors.RequestTimeout, CONNECTION, "timeout"),
    (errors.ConnectFailed, CONNECTION, "unreachable"),
    (errors.ServerExited, CONNECTION, "server_exited"),
    (errors.HttpStatusError, CONNECTION, "http_status"),
    (errors.SessionExpired, CONNECTION, "session_expired"),
    (errors.TransportError, CONNECTION, "connection_lost"),
    (errors.ConnectionClosed, CONNECTION, "connection_lost"),
    (errors.OutcomeUnknown, CONNECTION, "outcome_unknown"),
    (errors.AccessChanged, AUTHORIZATION, "access_changed"),
    (errors.StreamTerminated, ANSWER, "stream_terminated"),
    (errors.NoCompatibleDelivery, ANSWER, "no_such_event"),
    (errors.StreamError, CONNECTION, "stream_lost"),
    (errors.ToolError, ANSWER, "tool_error"),
    (errors.UnknownTool, ANSWER, "unknown_tool"),
    (errors.ToolDisabled, ANSWER, "tool_disabled"),
    (errors.UnknownServer, USAGE, "unknown_server"),
    (errors.NotReady, CONNECTION, "not_ready"),
    (errors.RequiredServersFailed, CONNECTION, "servers_failed"),
    (errors.TaskError, ANSWER, "task_error"),
    (errors.MethodNotFound, ANSWER, "method_not_found"),
    (errors.InvalidParams, ANSWER, "invalid_params"),
    (errors.ResourceNotFound, ANSWER, "resource_not_found"),
    (errors.UnsupportedRevision, ANSWER, "unsupported_revision"),
    (errors.NoCommonRevision, ANSWER, "unsupported_revision"),
    (errors.ServerError, ANSWER, "server_error"),
    (errors.InputRequired, ANSWER, "input_required"),
    (errors.RemoteProtocolError, UNEXPECTED, "protocol_error"),
    (errors.ListingLimit, UNEXPECTED, "listing_limit"),
    (errors.ConcurrencyError, UNEXPECTED, "concurrency"),
    (BaseException, UNEXPECTED, "unexpected"),
]
#: What to do next. SERVER stands for what the command line names.
NEXT = {
    "auth_required": "syncline auth login SERVER; or give a token with --bearer-env VARIABLE, or a header with --header 'Name: value'",
    "auth_unavailable": "nothing that is stored has changed: the same command may work later",
    "auth_refused": "the credentials were understood but are not enough; check their scopes and the account",
    "connection_lost": "try again; what the server wrote before it went away may be in its own log",
    "input_required": "run it at a terminal, where a person can answer",
    "method_not_found": "syncline doctor SERVER shows what the server offers",
    "http_status": "check the URL: the MCP endpoint is often a path such as /mcp",
    "no_such_event": "syncline events list SERVER shows the event types and how each can be had",
    "outcome_unknown": "it may have been done: look before you repeat it",
    "protocol_error": "--trace FILE shows every message; a server must write nothing but MCP messages to standard output",
    "server_exited": "run the command by itself and see what it says; variables reach it only through --env NAME=VALUE",
    "timeout": "--timeout SECONDS allows more time; --trace FILE shows what was said until then",
    "usage": "--help, after syncline or after a command, shows what can be asked",
    "unknown_server": "syncline servers list shows the configured servers",
    "unreachable": "check that the program is installed and that its name is right",
    "unsupported_revision": "--protocol-version chooses a revision that the server speaks",
}
#: The same where the server is a URL.
NEXT_AT_URL = {
    "protocol_error": "--trace FILE shows every message; check that the URL is that of the MCP endpoint",
    "unreachable": "check that the server runs and that the URL is right",
}


def classify(error: BaseException) -> tuple[int, str]:
    """The exit status and the code of an error."""
    decided = BY_STATUS.get(getattr(error, "status", None) or 0)
    if isinstance(error, errors.DiscoveryFailed) and error.passing:
        return classify(errors.RefreshFailed(error.message))
    return decided or next((status, code) for kind, status, code in BY_CLASS if isinstance(error, kind))


class Explained(Exception):
    """An error with what is known about it here: what to do next, and what of it people have been shown already."""

    def __init__(self, error: BaseException, *, hint: str | None = None, shown: Collection[str] = ()) -> None:
        self.error, self.hint, self.shown = error, hint, shown


def describe(
    error: BaseException,
    *,
    url: str | None = None,
    server: str | None = None,
    hint: str | None = None,
    secrets: Collection[str] = (),
) -> dict[str, Any]:
    """An error as JSON: its code and message, the HTTP status and URL where there are any, and what to do next.

    ``server`` is what a command line calls the server.
    """
    _, code = classify(error)
    advice = hint or _next(error, code, url)
    found = {
        "code": code,
        "message": _message(error),
        "status": getattr(error, "status", None),
        "url": getattr(error, "url", None) or url,
        "hint": advice.replace("SERVER", server) if advice and server else advice,
    }
    return {name: redact(value, secrets) for name, value in found.items() if value is not None}


def _next(error: BaseException, code: str, url: str | None) -> str | None:
    """What to do next, from the code and, where that says too little, from the error itself."""
    text = _message(error)
    if isinstance(error, errors.LocalProtocolError):
        return NEXT["method_not_found"]
    if isinstance(error, errors.AuthRequired) and error.status == 403 and error.scopes:
        return f"syncline auth login SERVER {' '.join(f'--scope {quote(scope)}' for scope in error.scopes)}"
    if isinstance(error, errors.ConfigError):
        return None  # its message says what to do, and no help page knows of it
    if code == "unreachable" and "WRONG_VERSION_NUMBER" in text:
        return "the server does not speak TLS there: perhaps http:// and not https://"
    if isinstance(error, UsageError) and ("extra argument" in text or text.startswith("No such option")):
        return f"a server that is a command goes into quotes, all of it as one word; {NEXT['usage']}"
    return (NEXT_AT_URL.get(code) if url is not None else None) or NEXT.get(code)


def _message(error: BaseException) -> str:
    if isinstance(error, UsageError):
        return str(error.format_message())  # type: ignore[attr-defined]
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return str(error) if isinstance(error, errors.SynclineError) else f"{type(error).__name__}: {error}"


def redact(value: Any, secrets: Collection[str]) -> Any:
    """Text without secrets; anything else as it is."""
    longest_first = sorted(secrets, key=len, reverse=True)  # one may be part of another one
    for secret in longest_first if isinstance(value, str) else ():
        value = value.replace(secret, "[redacted]")
    return value


def report(
    error: BaseException, *, url: str | None = None, server: str | None = None, secrets: Collection[str] = ()
) -> int:
    """Tell people at a terminal, and scripts in one JSON line, both on standard error; the exit status."""
    known = error if isinstance(error, Explained) else Explained(error)
    status, code = classify(known.error)
    told = describe(known.error, url=url, server=server, hint=known.hint, secrets=secrets)
    if code == "unexpected":
        sys.stderr.write(redact("".join(traceback.format_exception(known.error)), secrets))
    elif sys.stderr.isatty():
        for name, word, colour in (("message", "error", "red"), ("hint", "hint", "cyan")):
            if name in told and name not in known.shown:
                typer.secho(f"{word}: {clean(told[name])}", fg=colour, err=True)
    sys.stderr.write(json.dumps({"error": told}) + "\n")
    return status

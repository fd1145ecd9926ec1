"""What people run into first: wrong commands, wrong URLs, servers that are none. Each is an error that tells them what to do.

Nothing may take longer than its limit and a second, and the guard of every test sees to it that no thread, process or
socket is left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import syncline
from tests.fixtures.partner import Meet
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.scripted import Exchange, ScriptedServer

from .shared import ERAS, HANDSHAKE, STATELESS, Http, Scripted, foreign_json, half_json

#: Seconds for opening or for a call where that limit is what ends it, and how much later the error may come.
LIMIT, LATE = 1.0, 1.0
#: Seconds where something else ends it, soon.
LONG = 20.0
WANTED = ["auto", *ERAS]
#: The first request of each, and for ``auto`` that of the handshake, which follows when discovery led nowhere.
FIRST = {"auto": "initialize", HANDSHAKE: "initialize", STATELESS: "server/discover"}


@contextmanager
def soon(limit: float = LIMIT) -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < limit + LATE


def refused(target: str | list[str], wanted: str = "auto", limit: float = LONG) -> syncline.SynclineError:
    """The error of connecting."""
    timeouts = syncline.Timeouts(startup=limit, close=2, probe=min(2.0, limit / 3))
    with soon(limit), pytest.raises(syncline.SynclineError) as caught:
        syncline.connect(target, protocol_version=wanted, timeout=timeouts)
    return caught.value


def failed(client: syncline.Client, limit: float = LIMIT) -> syncline.SynclineError:
    """The error of a call, which ends that call and leaves nothing waiting."""
    with soon(limit), pytest.raises(syncline.SynclineError) as caught:
        client.call_tool("echo", {"text": "x"}, timeout=limit)
    assert client._session.connection.engine.pending == {}
    return caught.value


# -- connecting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", WANTED)
def test_a_command_that_does_not_exist(wanted: str) -> None:
    error = refused(["no-such-program", "--flag"], wanted)
    assert isinstance(error, syncline.ConnectFailed)
    assert str(error) == f"no-such-program: no program 'no-such-program' in {os.environ['PATH']}"


@pytest.mark.parametrize("wanted", WANTED)
def test_a_url_that_refuses(wanted: str) -> None:
    with ScriptedServer() as gone:
        pass
    error = refused(gone.url, wanted)
    assert isinstance(error, syncline.ConnectFailed)
    method = FIRST[wanted] if wanted == HANDSHAKE else "server/discover"
    assert str(error) == f"127.0.0.1:{gone.port}/mcp: {method}: cannot connect: Connection refused"
    assert error.__cause__ is not None


@pytest.mark.parametrize("wanted", WANTED)
def test_a_program_that_exits_at_once(stdio_command: StdioCommand, wanted: str) -> None:
    error = refused(stdio_command("exit-at-once=3"), wanted)
    assert isinstance(error, syncline.ServerExited)
    assert (error.returncode, error.stderr_tail) == (3, ["error: no such file: config.toml"])
    name = os.path.basename(sys.executable)  # noqa: PTH119
    assert str(error) == (
        f"{name}: {FIRST[wanted]}: the server ended with exit status 3; its last words on standard error:\n"
        "  error: no such file: config.toml"
    )


@pytest.mark.parametrize("wanted", WANTED)
def test_a_program_that_is_no_server(wanted: str) -> None:
    """It prints text to standard output and ends."""
    error = refused(["sh", "-c", "echo usage: frob FILE; echo try --help >&2; exit 64"], wanted)
    assert isinstance(error, syncline.ServerExited)
    assert (error.returncode, error.stderr_tail) == (64, ["try --help"])
    assert str(error).startswith(f"sh: {FIRST[wanted]}: the server ended with exit status 64; ")


@pytest.mark.parametrize("wanted", WANTED)
def test_a_program_that_prints_text_and_waits(wanted: str) -> None:
    """The error shows the text, and what went to standard error: one of the two says what it waits for."""
    command = ["sh", "-c", "echo Ready on port 8080; echo warning: no TTY >&2; cat > /dev/null"]
    error = refused(command, wanted, LIMIT)
    assert isinstance(error, syncline.RequestTimeout)
    text = str(error)
    assert text.startswith(f"sh: {FIRST[wanted]}: no answer within ")
    assert "what came instead: not-a-message, not JSON" in text
    assert ": Ready on port 8080; its last words on standard error:\n  warning: no TTY" in text
    assert text.endswith(error.instead)
    assert "Ready" in error.instead


def test_a_program_that_prints_without_end() -> None:
    error = refused(["yes"], limit=LIMIT)
    assert isinstance(error, syncline.RequestTimeout)
    assert str(error).startswith("yes: initialize: no answer within ")
    assert str(error).endswith(": y")


@pytest.mark.parametrize("wanted", WANTED)
def test_a_program_that_never_answers(stdio_command: StdioCommand, wanted: str) -> None:
    error = refused(stdio_command("no-answer"), wanted, LIMIT)
    assert isinstance(error, syncline.RequestTimeout)
    assert f": {FIRST[wanted]}: no answer within " in str(error)


@pytest.mark.parametrize("wanted", WANTED)
def test_a_url_that_never_answers(scripted_server: Scripted, wanted: str) -> None:
    server = scripted_server(Exchange.hold)
    error = refused(server.url, wanted, LIMIT)
    assert isinstance(error, syncline.RequestTimeout)
    method = "initialize" if wanted == HANDSHAKE else "server/discover"
    assert str(error) == f"127.0.0.1:{server.port}/mcp: {method}: no answer within 1 s"


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("status", [200, 404, 500])
def test_a_url_that_answers_html(scripted_server: Scripted, wanted: str, status: int) -> None:
    page = "<html><title>Log in</title></html>"
    server = scripted_server(lambda exchange: exchange.respond(status, page, "text/html"))
    error = refused(server.url, wanted)
    assert f"127.0.0.1:{server.port}/mcp: " in str(error)
    assert f"HTTP {status}" in str(error) or f"HTTP status {status}" in str(error)
    assert page in str(error)
    cause = error if isinstance(error, syncline.HttpStatusError) else error.__cause__
    assert isinstance(cause, syncline.HttpStatusError)
    assert (cause.status, cause.url, cause.body_preview) == (status, server.url, page)


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (foreign_json(99), syncline.UnexpectedMessage, "the answer belongs to another request"),
        (half_json, syncline.ConnectionLost, "the connection broke during the answer"),
    ],
    ids=["another id", "half"],
)
def test_a_url_that_answers_wrongly(
    scripted_server: Scripted,
    wanted: str,
    script: Callable[[Exchange], None],
    kind: type[syncline.SynclineError],
    words: str,
) -> None:
    server = scripted_server(script)
    error = refused(server.url, wanted)
    assert isinstance(error, kind)
    method = "initialize" if wanted == HANDSHAKE else "server/discover"
    assert str(error).startswith(f"127.0.0.1:{server.port}/mcp: {method}: {words}")


# -- calls over stdio --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("no-answer=tools/call", syncline.RequestTimeout, "no answer within 1 s"),
        ("wrong-id", syncline.RequestTimeout, "no answer within 1 s; what came instead: foreign-answer, id 1000000"),
        (
            "huge-line=1",
            syncline.RequestTimeout,
            "no answer within 1 s; what came instead: message-too-long, stdout: x",
        ),
        (
            "cut",
            syncline.ServerExited,
            "the server ended with exit status 5; its last words on standard error:\n  fatal",
        ),
        ("exit-on=tools/call", syncline.ServerExited, "the server ended with exit status 4; its last words"),
    ],
)
def test_a_program_that_fails_in_a_call(
    stdio_command: StdioCommand, era: str, fault: str, kind: type[syncline.SynclineError], words: str
) -> None:
    """It answers nothing, with another id, with a line without end, with half of one, or not at all any more."""
    timeouts = syncline.Timeouts(call=LIMIT, close=2)
    limits = syncline.Limits(message_bytes=1 << 16)
    command = stdio_command(fault)
    with syncline.connect(command, protocol_version=era, timeout=timeouts, limits=limits) as client:
        error = failed(client)
    assert isinstance(error, kind)
    assert str(error).startswith(f"{client.name}: tools/call: {words}")
    if isinstance(error, syncline.ServerExited):
        assert error.command == command
        assert error.returncode in (4, 5)
        assert error.stderr_tail[-1].startswith("fatal: ")


MEASURED = """
import json, re, sys, syncline
command = json.loads(sys.argv[1])

def peak_kib():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

with syncline.connect(command, protocol_version="2025-11-25") as client:
    client.list_tools()
    before = peak_kib()
    try:
        client.call_tool("echo", {"text": "x"}, timeout=float(sys.argv[2]))
    except syncline.RequestTimeout as error:
        print(json.dumps([str(error), peak_kib() - before]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_program_that_sends_more_than_is_allowed(stdio_command: StdioCommand) -> None:
    """300 MiB against the default limit of 256: memory holds that much once and no more."""
    command = json.dumps(stdio_command("huge-line=300"))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, command, "5"], capture_output=True, text=True, check=True, timeout=60
    )
    text, grown_kib = json.loads(done.stdout)
    assert "tools/call: no answer within 5 s; what came instead: message-too-long, stdout: xxx" in text
    assert grown_kib < (256 + 64) << 10


# -- calls over HTTP ---------------------------------------------------------------------------------------------------


def endless_json(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
    while not exchange.gone():
        exchange.chunk(b" " * (1 << 16))


def endless_stream(exchange: Exchange) -> None:
    exchange.sse()
    exchange.chunk(b"data: ")
    while not exchange.gone():
        exchange.chunk(b"x" * (1 << 16))


def declares_a_gibibyte(exchange: Exchange) -> None:
    exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", str(1 << 30))])
    exchange.hold()


def page(exchange: Exchange) -> None:
    exchange.respond(200, "<html>Log in</html>", "text/html")


UNKNOWN = "it was sent and may have run; it was not sent again: "


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("script", "kind", "words"),
    [
        (Exchange.hold, syncline.RequestTimeout, "no answer within 1 s"),
        (
            page,
            syncline.HttpStatusError,
            "HTTP 200 with text/html, which is neither JSON nor an event stream: <html>Log",
        ),
        (foreign_json(99), syncline.UnexpectedMessage, "the answer belongs to another request"),
        (half_json, syncline.OutcomeUnknown, UNKNOWN + "the connection broke during the answer"),
        (
            Exchange.close,
            syncline.OutcomeUnknown,
            UNKNOWN + "the connection broke before an answer came, the request may have run",
        ),
        (endless_json, syncline.InvalidMessage, "the answer has over 1048576 bytes"),
        (endless_stream, syncline.InvalidMessage, "an event of over 1048576 bytes"),
        (declares_a_gibibyte, syncline.InvalidMessage, "the answer has over 1048576 bytes"),
    ],
)
def test_a_url_that_fails_in_a_call(
    http_server: Http,
    era: str,
    script: Callable[[Exchange], None],
    kind: type[syncline.SynclineError],
    words: str,
) -> None:
    """And the next call works."""
    server = http_server(versions=[era])
    limits = syncline.Limits(message_bytes=1 << 20, event_bytes=1 << 20)
    if script is endless_stream:
        limits = syncline.Limits(event_bytes=1 << 20)
    with syncline.connect(server.url, protocol_version=era, limits=limits) as client:
        server.arm(script, method="tools/call")
        error = failed(client)
        assert client.call_tool("echo", {"text": "after"}).text == "after"
    assert isinstance(error, kind)
    assert str(error).startswith(f"{client.name}: tools/call: {words}")


# -- what we are given -------------------------------------------------------------------------------------------------


class Unknown:
    def __repr__(self) -> str:
        return "a secret"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"a": Unknown()}, "arguments.a is of type Unknown, which JSON cannot carry"),
        ({"a": {"b": [1, {1, 2}]}}, "arguments.a.b[1] is of type set, which JSON cannot carry"),
        ({"a": b"bytes"}, "arguments.a is of type bytes, which JSON cannot carry"),
        ({"a": float("nan")}, "arguments.a is nan, which JSON cannot carry"),
        ({"a": [float("inf")]}, "arguments.a[0] is inf, which JSON cannot carry"),
        ({"a": {1: "x"}}, "arguments.a"),
        ({1: "x"}, "arguments"),
        ({None: "x"}, "arguments"),
        ({"a": "\ud800"}, "arguments.a"),
    ],
)
def test_arguments_that_are_not_json(meet: Meet, era: str, arguments: dict[str, object], words: str) -> None:
    """Nothing is sent; the error names the server, the method and the place, and shows no value that it cannot read."""
    client, partner = meet(era)
    with pytest.raises(syncline.LocalProtocolError) as caught:
        client.call_tool("echo", arguments)
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).startswith(f"partner: tools/call: {words}")
    assert "secret" not in str(caught.value)
    assert partner.silent()
    assert client._session.connection.engine.pending == {}

"""`syncline watch` and `syncline events` as a shell sees them; and a person who answers what a server asks."""

from __future__ import annotations

import json
import os
import pty
import queue
import shlex
import signal
import subprocess
import sys
import sysconfig
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import pytest

from syncline.testing import Call, FakeServer
from tests.fixtures.processes import alive, eventually
from tools.fakeserver.events import EventServer, EventSource
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

PROGRAM = str(Path(sysconfig.get_path("scripts"), "syncline"))
#: Seconds for anything that should not take any.
SOON = 60.0
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Running:
    """The program while it runs; its lines as they come."""

    def __init__(self, *arguments: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([PROGRAM, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self._out, self._err = self._lines(self.process.stdout), self._lines(self.process.stderr)

    def _lines(self, pipe: IO[str] | None) -> queue.SimpleQueue[str]:
        lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        assert pipe is not None
        threading.Thread(target=lambda: [*map(lines.put, pipe)], daemon=True).start()
        return lines

    def item(self) -> Any:
        """The next object on standard output."""
        return json.loads(self._out.get(timeout=SOON))

    def told(self) -> Any:
        """The next object on standard error; what is logged comes there as well."""
        while not (line := self._err.get(timeout=SOON)).startswith("{"):
            pass
        return json.loads(line)

    def until(self, state: str) -> Any:
        """Wait until this state is told."""
        while (told := self.told()).get("state") != state:
            assert "error" not in told, told
        return told

    def interrupt(self) -> None:
        """Ctrl-C; the program ends as it should."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(SOON) == 130
        while "error" not in (told := self.told()):
            pass
        assert told["error"]["code"] == "interrupted"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Starts the program; it does not outlive the test."""
    with ExitStack() as stack:

        def run(*arguments: str) -> Running:
            running = Running(*arguments)
            stack.callback(running.close)
            return running

        yield run


@pytest.fixture
def event_server() -> Iterator[EventServer]:
    source = EventSource(next_poll_ms=100)
    source.offer("tick", "push", "poll")
    source.offer("tock", "poll")
    with EventServer(source) as server:
        yield server


def syncline(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=SOON, stdin=subprocess.DEVNULL)


def objects(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


# watch


def listening(server: McpHttpServer) -> queue.SimpleQueue[tuple[str, dict[str, object]] | None]:
    """Serve `subscriptions/listen`: what is put here is notified; None cuts the stream."""
    said: queue.SimpleQueue[tuple[str, dict[str, object]] | None] = queue.SimpleQueue()

    def listen(exchange: Exchange) -> None:
        tag = {"_meta": {SUBSCRIPTION: exchange.request.id}}
        wanted = exchange.request.json()["params"]["notifications"]
        exchange.sse()
        first = {"method": "notifications/subscriptions/acknowledged", "params": {"notifications": wanted, **tag}}
        exchange.event({"jsonrpc": "2.0", **first})
        while not exchange.gone():
            exchange.server.check()
            try:
                message = said.get(timeout=0.05)
            except queue.Empty:
                continue
            if message is None:
                break
            exchange.event({"jsonrpc": "2.0", "method": message[0], "params": {**message[1], **tag}})
        exchange.close()

    server.arm(listen, 1 << 30, method="subscriptions/listen")
    return said


def test_watch(http_server: Callable[..., McpHttpServer], start: Callable[..., Running]) -> None:
    """Changes on standard output, what becomes of the stream on standard error, Ctrl-C ends it."""
    server = http_server(versions=["2026-07-28"])
    said = listening(server)
    watching = start("watch", server.url)
    assert watching.told() == {"state": "active"}
    said.put(("notifications/tools/list_changed", {}))
    assert watching.item() == {"kind": "tools_changed"}
    said.put(None)
    assert watching.item() == {"kind": "resubscribed"}
    assert watching.until("resubscribed")
    said.put(("notifications/resources/list_changed", {}))
    assert watching.item() == {"kind": "resources_changed"}
    watching.interrupt()
    [first, *_] = server.calls("subscriptions/listen")
    assert first.json()["params"]["notifications"] == dict.fromkeys(
        ("toolsListChanged", "promptsListChanged", "resourcesListChanged"), True
    )


def test_watch_some_resources(http_server: Callable[..., McpHttpServer], start: Callable[..., Running]) -> None:
    server = http_server(versions=["2026-07-28"])
    said = listening(server)
    watching = start("watch", server.url, "--resources", "x:1", "--resources", "x:2", "--prompts")
    assert watching.told() == {"state": "active"}
    said.put(("notifications/resources/updated", {"uri": "x:2"}))
    assert watching.item() == {"kind": "resource_updated", "uri": "x:2"}
    [request] = server.calls("subscriptions/listen")
    assert request.json()["params"]["notifications"] == {
        "promptsListChanged": True,
        "resourceSubscriptions": ["x:1", "x:2"],
    }
    watching.interrupt()


def test_watch_a_program(
    start: Callable[..., Running], stdio_command: Callable[..., list[str]], tmp_path: Path
) -> None:
    """Ctrl-C leaves no child behind."""
    log = tmp_path / "log"
    script = "import os, runpy, sys; print(os.getpid(), file=open(sys.argv.pop(1), 'w')); runpy.run_module(sys.argv.pop(1), run_name='__main__')"
    _, _, module, *rest = stdio_command(era="2025-11-25", log=log)
    watching = start("watch", shlex.join([sys.executable, "-c", script, str(tmp_path / "pid"), module, *rest]))
    assert watching.told() == {"state": "active"}
    pid = int((tmp_path / "pid").read_text())
    assert alive(pid)
    watching.interrupt()
    assert eventually(lambda: not alive(pid))


def test_a_watched_program_that_ends(
    start: Callable[..., Running], stdio_command: Callable[..., list[str]], tmp_path: Path
) -> None:
    """Nobody starts it again, so there is nothing left to watch."""
    script = "import os, runpy, sys; print(os.getpid(), file=open(sys.argv.pop(1), 'w')); runpy.run_module(sys.argv.pop(1), run_name='__main__')"
    _, _, module, *rest = stdio_command(era="2025-11-25", log=tmp_path / "log")
    watching = start("watch", shlex.join([sys.executable, "-c", script, str(tmp_path / "pid"), module, *rest]))
    assert watching.told() == {"state": "active"}
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    while "error" not in (told := watching.told()):
        assert told["state"] == "reconnecting"
    assert told["error"]["code"] == "server_exited"
    assert watching.process.wait(SOON) == 4


def test_watching_what_cannot_be_watched() -> None:
    ran = syncline("watch", "demo", "--tools")
    assert (ran.returncode, ran.stdout) == (5, "")
    assert objects(ran.stderr)[-1]["error"]["code"] == "method_not_found"


# events


def test_list(event_server: EventServer) -> None:
    assert (
        syncline("events", "list", event_server.url).stdout
        == "tick\tpush poll\tThings happen.\ntock\tpoll\tThings happen.\n"
    )
    listed = json.loads(syncline("events", "list", event_server.url, "--json").stdout)
    assert [entry["name"] for entry in listed["events"]] == ["tick", "tock"]


def test_poll(event_server: EventServer) -> None:
    """Once without a cursor, then from the one that the last line gave."""
    arguments = "events", "poll", event_server.url, "tick", "severity=P1", "rank:=3"
    [position] = objects(syncline(*arguments).stdout)
    assert position == {"kind": "position", "cursor": "c0", "truncated": False, "hasMore": False, "nextPollMs": 100}
    for number in range(3):
        event_server.source.emit("tick", {"severity": "P1", "rank": 3}, {"n": number})
    first, second, position = objects(syncline(*arguments, "--cursor", "c0", "--max-events", "2").stdout)
    assert (first["kind"], first["eventId"], first["data"]) == ("event", "e0", {"n": 0})
    assert second["eventId"] == "e1"
    assert (position["cursor"], position["hasMore"]) == ("c2", True)
    whole = json.loads(syncline(*arguments, "--cursor", "c2", "--json").stdout)
    assert [event["eventId"] for event in whole["events"]] == ["e2"]


def test_stream(event_server: EventServer, start: Callable[..., Running]) -> None:
    """Events and gaps on standard output; reconnects and trouble on standard error; nothing lost, nothing twice."""
    streaming = start("events", "stream", event_server.url, "tick", "severity=P1")
    assert streaming.until("active")
    what = {"severity": "P1"}
    event_server.source.emit("tick", what, {"n": 0})
    assert streaming.item() == {
        "kind": "event",
        "eventId": "e0",
        "name": "tick",
        "timestamp": "2026-11-03T10:11:12Z",
        "data": {"n": 0},
        "cursor": "c1",
    }
    event_server.source.fault("error", "tick", what)
    assert "upstream is away" in streaming.until("error")["message"]
    event_server.source.fault("reset", "tick", what)
    assert streaming.until("reconnecting")["message"]
    event_server.source.emit("tick", what, {"n": 1})
    assert streaming.item()["eventId"] == "e1"
    event_server.source.fault("gap", "tick", what)
    assert streaming.item() == {"kind": "gap", "cursor": "c2"}
    streaming.interrupt()


def test_stream_goes_on_where_it_stopped(
    event_server: EventServer, start: Callable[..., Running], tmp_path: Path
) -> None:
    """--cursors: what was printed is not printed again, what happened meanwhile is."""
    arguments = "events", "stream", event_server.url, "tick", "--cursors", str(tmp_path / "seen.db")
    first = start(*arguments)
    assert first.until("active")
    for _ in range(2):
        event_server.source.emit("tick")
    assert [first.item()["eventId"] for _ in range(2)] == ["e0", "e1"]
    first.interrupt()  # perhaps before e1 was remembered as well
    event_server.source.emit("tick")
    second = start(*arguments)
    again = [second.item()["eventId"]]
    while again[-1] != "e2":
        again.append(second.item()["eventId"])
    assert again in (["e2"], ["e1", "e2"])
    second.interrupt()


def test_stream_from_a_cursor_by_polling(event_server: EventServer, start: Callable[..., Running]) -> None:
    """An event type that is not pushed is polled for."""
    event_server.source.emit("tock")
    event_server.source.emit("tock")
    streaming = start("events", "stream", event_server.url, "tock", "--cursor", "c1")
    assert streaming.item()["eventId"] == "e1"
    streaming.interrupt()


#: Offers one event type, and ends when it is asked for events the second time.
ENDING = """
import json, sys
EXTENSION = "io.modelcontextprotocol/events"
PAGE = {"events": [], "cursor": "c0", "hasMore": False, "nextPollMs": 10}
RESULTS = {
    "server/discover": [{
        "supportedVersions": ["2026-07-28"], "serverInfo": {"name": "x", "version": "1"},
        "capabilities": {"extensions": {EXTENSION: {}}},
    }],
    "events/list": [{"events": [{"name": "tick", "description": "", "delivery": ["poll"], "inputSchema": {"type": "object"}, "payloadSchema": {}}]}],
    "events/poll": [PAGE],
}
for line in sys.stdin:
    asked = json.loads(line)
    if not RESULTS[asked["method"]]:
        sys.exit(7)
    result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **RESULTS[asked["method"]].pop()}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_a_program_with_events_that_ends(start: Callable[..., Running]) -> None:
    """Nobody starts it again, so the stream is over."""
    streaming = start("events", "stream", shlex.join([sys.executable, "-c", ENDING]), "tick")
    assert streaming.until("active")
    assert "exit status 7" in streaming.until("reconnecting")["message"]
    assert streaming.told()["error"]["code"] == "server_exited"
    assert streaming.process.wait(SOON) == 4


def test_a_stream_that_the_server_ends(event_server: EventServer, start: Callable[..., Running]) -> None:
    streaming = start("events", "stream", event_server.url, "tick", "--delivery", "push")
    assert streaming.until("active")
    event_server.source.terminate("tick", error={"code": -32603, "message": "that was all"})
    assert "that was all" in streaming.until("terminated")["message"]
    assert streaming.told()["error"]["code"] == "stream_terminated"
    assert streaming.process.wait(SOON) == 5


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["nothing"], 5, "no_such_event"),
        (["tock", "--delivery", "push"], 5, "no_such_event"),
        (["tick", "--delivery", "pigeon"], 2, "usage"),
        (["tick", "severity"], 2, "usage"),
    ],
)
def test_streams_that_cannot_be(event_server: EventServer, arguments: list[str], status: int, code: str) -> None:
    ran = syncline("events", "stream", event_server.url, *arguments)
    assert (ran.returncode, ran.stdout) == (status, "")
    assert objects(ran.stderr)[-1]["error"]["code"] == code


def test_nobody_reads_on(event_server: EventServer) -> None:
    """As with `| head`: it ends by itself, without a word."""
    command = f"{shlex.quote(PROGRAM)} events stream {event_server.url} tick --cursor c0 | head -n 2"
    pipe = subprocess.PIPE
    with subprocess.Popen(["sh", "-c", command], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as both:
        while both.poll() is None:
            event_server.source.emit("tick")
            threading.Event().wait(0.05)
        out, err = both.communicate(timeout=SOON)
    assert [event["eventId"] for event in objects(out)] == ["e0", "e1"]
    assert objects(err) == [{"state": "active"}]


# A person at the terminal

FORM = {"type": "object", "properties": {"city": {"type": "string", "default": "Oslo"}}}


@pytest.fixture(params=["2025-11-25", "2026-07-28"])
def asking(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server whose tool asks a person something."""
    server = FakeServer(versions=[request.param])

    @server.tool
    def travel(call: Call) -> str:
        return json.dumps(call.elicit("Where to?", FORM))

    with server, server.http() as url:
        yield url


class AtTerminal:
    """A command with a person at its terminal."""

    def __init__(self, *command: str) -> None:
        self.person, terminal = pty.openpty()
        self.modes = termios.tcgetattr(self.person)
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
        self.process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
        os.close(terminal)
        self.shown = ""

    def __enter__(self) -> AtTerminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.person)

    def when(self, shown: str, typed: str = "") -> None:
        """Wait until this is shown, then type that."""
        while shown not in self.shown:
            assert self._read(), self.shown
        os.write(self.person, typed.encode())

    def end(self) -> int:
        """The exit status, once all has been shown."""
        while self._read():
            pass
        return self.process.wait(SOON)

    def _read(self) -> bool:
        try:
            piece = os.read(self.person, 65_536)
        except OSError:  # how Linux says that the other side is closed
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)


@pytest.mark.parametrize(
    ("dialogue", "answer"),
    [
        (
            [("city (optional) [Oslo]: ", "Rome\n"), ("Send this?", "\n")],
            {"action": "accept", "content": {"city": "Rome"}},
        ),
        ([("city", "!decline\n")], {"action": "decline"}),
        ([("city", "\x03")], {"action": "cancel"}),
    ],
    ids=["accept", "decline", "ctrl-c"],
)
def test_call_asks_the_person_at_the_terminal(asking: str, dialogue: list[tuple[str, str]], answer: object) -> None:
    with AtTerminal(PROGRAM, "call", asking, "travel") as terminal:
        for shown, typed in dialogue:
            terminal.when(shown, typed)
        assert terminal.end() == 0
        assert termios.tcgetattr(terminal.person) == terminal.modes
    assert "asks:\r\n  Where to?" in terminal.shown
    assert json.dumps(answer) in terminal.shown


def test_an_interrupt_from_elsewhere_ends_it_while_a_person_is_asked(asking: str) -> None:
    """Whichever thread asks; the terminal is left as it was."""
    with AtTerminal(PROGRAM, "call", asking, "travel") as terminal:
        terminal.when("city", "half a line")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130
        assert termios.tcgetattr(terminal.person) == terminal.modes
    assert "Fatal Python error" not in terminal.shown


def test_without_a_terminal_nobody_is_asked(asking: str) -> None:
    ran = syncline("call", asking, "travel")
    assert (ran.returncode, ran.stdout) == (5, "")
    assert "elicitation/create" in objects(ran.stderr)[-1]["error"]["message"]

"""`syncline servers`: what is configured, how it is doing, and the project's own file."""

from __future__ import annotations

import io
import json
import socket
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from syncline import cli
from syncline.cli.board import Board
from syncline.manager.status import READY, lost
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, ScriptedServer

from .conftest import Run
from .test_meaning import DEMO, REPEATED, SECRET, write
from .test_show import Terminal

#: Lists its tools once, and ends; the second time it ends at once.
LEAVER = """
import json, pathlib, sys
if pathlib.Path(sys.argv[1]).exists():
    sys.exit("gone")
INFO = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
ANSWERS = {"initialize": INFO, "tools/list": {"tools": []}}
for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        answer = {"result": ANSWERS[call["method"]]} if call["method"] in ANSWERS else {"error": {"code": -32601, "message": ""}}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer}), flush=True)
    if call["method"] == "tools/list":
        break
sys.stdout.close()
pathlib.Path(sys.argv[1]).touch()
"""
#: Starts when that has ended.
PATIENT = """
import pathlib, runpy, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.01)
runpy.run_module("syncline.demo", run_name="__main__")
"""


class TestList:
    def test_what_is_configured_and_where(self, run: Callable[..., Run], work: Path, home: Path) -> None:
        ours = write(work / "mcp.json", weather=DEMO, off={"url": "https://u:pw@a.example/mcp?k=v", "disabled": True})
        theirs = write(home / ".cursor" / "mcp.json", issues={"url": "https://${env:UNSET}/"}, weather=DEMO)
        status, out, err = run("servers", "list")
        assert (status, err) == (0, "")
        assert [line.split("\t") for line in out.decode().splitlines()] == [
            ["weather", "enabled", Path(sys.executable).name, f"{ours}, line 3 (mcp.json)"],
            ["off", "disabled", "a.example/mcp", f"{ours}, line 10 (mcp.json)"],
            [
                *("issues", "left out", "the environment variable UNSET is not set; set it"),
                f"{theirs}, line 3 (Cursor)",
            ],
        ]

    def test_as_json(self, run: Callable[..., Run], work: Path, home: Path) -> None:
        ours = write(work / "mcp.json", weather=DEMO | {"required": True, "colour": SECRET})
        theirs = write(home / ".cursor" / "mcp.json", weather=DEMO)
        ran = run("servers", "list", "--json")
        place = {"program": "mcp.json", "scope": "project", "file": str(ours)}
        assert ran.json == {
            "servers": [
                {
                    "name": "weather",
                    "transport": "stdio",
                    "server": Path(sys.executable).name,
                    "enabled": True,
                    "required": True,
                    "configured": place | {"line": 3, "key": "mcpServers.weather"},
                }
            ],
            "leftOut": [
                {
                    "name": "weather",
                    "reason": f"{ours}, line 3 has a server of this name, and comes first",
                    "configured": {
                        "program": "Cursor",
                        "scope": "user",
                        "file": str(theirs),
                        "line": 3,
                        "key": "mcpServers.weather",
                    },
                }
            ],
            "unknown": [
                {
                    "name": "weather",
                    "key": "colour",
                    "configured": place | {"line": 10, "key": "mcpServers.weather.colour"},
                }
            ],
            "files": [str(ours), str(theirs)],
        }
        assert SECRET not in ran.out.decode()

    def test_what_else_is_worth_knowing(self, run: Callable[..., Run], work: Path, home: Path) -> None:
        ours = write(work / "mcp.json", weather=DEMO | {"colour": "red"})
        theirs = home / ".cursor" / "mcp.json"
        theirs.parent.mkdir()
        theirs.write_text("{")
        notes = [json.loads(line)["note"] for line in run("servers", "list").err.splitlines()]
        assert notes[0].startswith(f"left out: {theirs}: line 1, column 2: ")
        assert notes[1] == f"{ours}, line 9: mcpServers.weather.colour means nothing here"

    def test_what_is_left_out_is_in_the_order_of_the_file(self, run: Callable[..., Run], work: Path) -> None:
        write(work / "mcp.json", b={"command": "${UNSET}"}, c={"url": "ws://x.example"}, a={"command": "${UNSET}"})
        rows = [line.split("\t") for line in run("servers", "list").out.decode().splitlines()]
        assert [row[:2] for row in rows] == [["b", "left out"], ["c", "left out"], ["a", "left out"]]

    def test_names_that_the_output_cannot_hold(self, work: Path) -> None:
        write(work / "mcp.json", **{"caf\u00e9": DEMO, "half\ud800": DEMO})
        out = io.TextIOWrapper(io.BytesIO(), "ascii")
        with redirect_stdout(out):
            assert cli.main(["servers", "list"]) == 0
            assert cli.main(["servers", "status"]) == 0
        out.flush()
        shown = out.buffer.getvalue()
        assert (shown.count(b"caf\\xe9\t"), shown.count(b"half\\ud800\t")) == (2, 2)

    def test_nothing(self, run: Callable[..., Run], work: Path) -> None:
        assert run("servers", "list") == (0, b"", "")
        assert run("servers", "list", "--json").json == {"servers": [], "leftOut": [], "unknown": [], "files": []}
        assert run("servers", "list", "--config", "missing.json").status == 2


class TestStatus:
    def test_as_json(
        self, run: Callable[..., Run], work: Path, home: Path, http_server: Callable[..., McpHttpServer]
    ) -> None:
        """One document, whatever becomes of the servers."""
        server = http_server()
        file = write(
            work / "mcp.json",
            weather=DEMO | {"enabled_tools": ["add", "forecast", "gone"], "required": True},
            far={"url": server.url, "headers": {"X-Key": SECRET}},
            missing={"command": "/no/such/program", "required": True},
            off=DEMO | {"enabled": False},
            unset={"command": "${SYNCLINE_TEST_UNSET}"},
        )
        ran = run("servers", "status", "--json")
        assert not ran.json["ok"]
        rows = {row["name"]: row for row in ran.json["servers"]}
        assert {name: row["state"] for name, row in rows.items()} == {
            "weather": "ready",
            "far": "ready",
            "missing": "failed",
            "off": "disabled",
            "unset": "failed",
        }
        weather, missing, unset = rows["weather"], rows["missing"], rows["unset"]
        assert (weather["tools"], weather["serverInfo"]["name"]) == (2, "syncline-demo")
        assert weather["seconds"] > 0
        assert weather["configured"]["line"] == 3
        assert (missing["error"]["code"], missing["transport"]) == ("unreachable", "stdio")
        assert unset["error"]["code"] == "usage"
        assert unset["configured"]["file"] == str(file)
        assert (rows["far"]["transport"], rows["far"]["tools"] > 0) == ("http", True)
        assert set(rows["off"]) == {"name", "state", "transport", "server", "configured"}
        assert (ran.status, ran.error["code"]) == (4, "not_ready")
        assert ran.error["message"] == "2 of 5 servers cannot be used: missing, unset"
        assert SECRET not in ran.out.decode() + ran.err

    def test_down_a_pipe(self, run: Callable[..., Run], work: Path) -> None:
        write(work / "mcp.json", weather=DEMO, off=DEMO | {"enabled": False})
        status, out, err = run("servers", "status")
        assert (status, err) == (0, "")
        weather, off = [line.split("\t") for line in out.decode().splitlines()]
        assert [*weather[:2], *weather[3:]] == ["weather", "ready", "4", Path(sys.executable).name]
        assert off == ["off", "disabled", "", "", Path(sys.executable).name]

    def test_a_url_that_refuses_has_the_hint_for_one(self, run: Callable[..., Run], work: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
            write(work / "mcp.json", far={"url": url})
            [row] = run("servers", "status", "--json").json["servers"]
        assert (row["error"]["url"], row["error"]["hint"]) == (
            url,
            "check that the server runs and that the URL is right",
        )

    def test_what_a_server_says_is_masked_and_cleaned(
        self, run: Callable[..., Run], work: Path, scripted_server: Callable[..., ScriptedServer]
    ) -> None:
        def gossip(exchange: Exchange) -> None:
            exchange.respond(418, f"what is \x1b{exchange.request.header('x-key')}?", "text/plain")

        write(work / "mcp.json", odd={"url": scripted_server(gossip).url, "headers": {"X-Key": REPEATED}})
        out = run("servers", "status").out.decode()
        assert "[redacted]" in out
        assert REPEATED not in out + run("servers", "status", "--json").out.decode()
        assert "\x1b" not in out

    def test_a_server_that_goes_away_while_others_start_takes_nobody_along(
        self, run: Callable[..., Run], work: Path
    ) -> None:
        """Whether that has been noticed or not."""
        gone = work / "gone"
        leaver = {"command": sys.executable, "args": ["-c", LEAVER, str(gone)]}
        patient = {"command": sys.executable, "args": ["-c", PATIENT, str(gone)]}
        write(work / "mcp.json", patient=patient, leaver=leaver)
        ran = run("servers", "status", "--json")
        rows = {row["name"]: row for row in ran.json["servers"]}
        assert (rows["patient"]["state"], rows["patient"]["tools"]) == ("ready", 4)
        assert rows["leaver"]["state"] in ("ready", "failed")

    def test_what_has_been_lost_is_not_ready(self) -> None:
        board = Board({}, {"s": READY, "t": READY})
        board.look({"s": lost("s"), "t": READY})
        assert board.failed == ["s"]

    def test_nothing(self, run: Callable[..., Run], work: Path) -> None:
        assert run("servers", "status") == (0, b"", "")
        assert run("servers", "status", "--json").json == {"ok": True, "servers": []}

    def test_the_limits_of_the_command_line(self, run: Callable[..., Run], work: Path) -> None:
        silent = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"], "startup_timeout_sec": 60}
        write(work / "mcp.json", silent=silent)
        [row] = run("servers", "status", "--timeout", "0.3", "--json").json["servers"]
        assert row["error"]["code"] == "timeout"

    @pytest.mark.parametrize("option", [("--header", "a:b"), ("--env", "A=b"), ("--bearer-env", "A")])
    def test_what_is_for_one_server_is_refused(self, run: Callable[..., Run], option: tuple[str, str]) -> None:
        ran = run("servers", "status", *option)
        assert (ran.status, ran.out) == (2, b"")

    def test_on_a_terminal_the_table_stays_as_it_was_last(self, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(work / "mcp.json", weather=DEMO, missing={"command": "/no/such/program"})
        monkeypatch.setenv("TERM", "dumb")
        monkeypatch.setenv("COLUMNS", "100")
        screen, errors = Terminal(), Terminal()
        with redirect_stdout(screen), redirect_stderr(errors):
            assert cli.main(["servers", "status"]) == 4
        starts = [" ".join(line.split()[:2]) for line in screen.getvalue().splitlines()]
        assert starts.index("SERVER STATE") < starts.index("weather ready") < starts.index("missing failed")
        assert "missing did not start" in screen.getvalue()
        assert "hint: syncline doctor NAME" in errors.getvalue()

    @pytest.mark.parametrize("command", ["list", "status"])
    def test_without_servers_people_are_told_what_to_do(self, work: Path, command: str) -> None:
        with redirect_stdout(Terminal()) as screen:
            assert cli.main(["servers", command]) == 0
        assert screen.getvalue() == "no servers are configured; syncline servers add NAME SERVER adds one\n"


class TestAdd:
    def test_a_url_and_what_the_options_say(self, run: Callable[..., Run], work: Path) -> None:
        ran = run(
            *("servers", "add", "weather", "https://weather.example/mcp"),
            *("--header", "Authorization: Bearer ${TOKEN}", "--timeout", "5"),
        )
        assert ran == (0, f"weather was added to {work / 'mcp.json'}\n".encode(), "")
        assert json.loads((work / "mcp.json").read_text()) == {
            "mcpServers": {
                "weather": {
                    "type": "http",
                    "url": "https://weather.example/mcp",
                    "headers": {"Authorization": "Bearer ${TOKEN}"},
                    "startup_timeout_sec": 5.0,
                    "tool_timeout_sec": 5.0,
                }
            }
        }

    @pytest.mark.parametrize("words", [[f"{sys.executable} -u x"], ["--", sys.executable, "-u", "x"]])
    def test_a_command(self, run: Callable[..., Run], work: Path, words: list[str]) -> None:
        assert run("servers", "add", "--env", "A=${A}", "weather", *words).status == 0
        assert json.loads((work / "mcp.json").read_text())["mcpServers"] == {
            "weather": {"command": sys.executable, "args": ["-u", "x"], "env": {"A": "${A}"}}
        }

    def test_it_can_be_used_at_once(self, run: Callable[..., Run], work: Path) -> None:
        assert run("servers", "add", "weather", "demo", "--json").json == {
            "name": "weather",
            "file": str(work / "mcp.json"),
        }
        assert run("call", "weather", "add", "a:=2", "b:=3").out == b'{"sum": 5}\n'

    def test_a_program_that_is_not_here_is_told(self, run: Callable[..., Run], work: Path) -> None:
        ran = run("servers", "add", "weather", "no-such-program")
        assert json.loads(ran.err) == {"note": "there is no program 'no-such-program' here"}
        assert ran.status == 0

    def test_into_another_file(self, run: Callable[..., Run], tmp_path: Path) -> None:
        file = tmp_path / "servers.json"
        assert run("servers", "add", "weather", "demo", "--config", str(file)).status == 0
        assert run("servers", "list", "--config", str(file)).out.startswith(b"weather\t")
        assert run("servers", "remove", "weather", "--config", str(file)).status == 0
        assert run("servers", "list", "--config", str(file)).out == b""

    @pytest.mark.parametrize(
        "arguments",
        [
            ("demo", "demo"),
            ("http://a.example/", "demo"),
            ("weather",),
            ("weather", "https://a.example/mcp", "more"),
            ("weather", "demo", "--header", "a:b"),
            ("weather", "demo", "--trace", "file"),
            ("weather", "demo", "--protocol-version", "2025-06-18"),
            ("there", "demo"),
        ],
    )
    def test_what_cannot_be_meant(self, run: Callable[..., Run], work: Path, arguments: tuple[str, ...]) -> None:
        file = write(work / "mcp.json", there=DEMO)
        before = file.read_text()
        ran = run("servers", "add", *arguments)
        assert (ran.status, ran.error["code"]) == (2, "usage")
        assert file.read_text() == before


class TestRemove:
    def test_from_the_projects_own_file(self, run: Callable[..., Run], work: Path) -> None:
        file = write(work / "mcp.json", weather=DEMO, time=DEMO)
        assert run("servers", "remove", "weather") == (0, f"weather was removed from {file}\n".encode(), "")
        assert list(json.loads(file.read_text())["mcpServers"]) == ["time"]
        ran = run("servers", "remove", "weather")
        assert (ran.status, ran.error["message"]) == (2, f"{file}: there is no server 'weather'")

    def test_one_of_another_program_is_left_to_it(self, run: Callable[..., Run], work: Path, home: Path) -> None:
        theirs = write(home / ".cursor" / "mcp.json", weather=DEMO)
        ran = run("servers", "remove", "weather")
        assert ran.status == 2
        assert ran.error["hint"] == f"it comes from {theirs}, line 3 (Cursor): take it out there"

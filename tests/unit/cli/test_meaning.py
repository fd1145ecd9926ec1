"""What SERVER stands for: a URL, a command, demo, or a configured name; and what a name brings along."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from syncline.cli.meaning import answer, demo_server, meaning
from syncline.cli.options import Options
from syncline.config import HttpServer, StdioServer
from syncline.errors import ConfigError, UnknownServer
from syncline.manager.configfiles import Input
from tools.fakeserver.mcp_http import McpHttpServer

from .conftest import Run

DEMO = {"command": sys.executable, "args": ["-m", "syncline.demo"]}
SECRET = "planted-horse-battery"
#: One that its server repeats: the library passes on what servers say, and the program masks it.
REPEATED = "correct-horse-battery"


def write(file: Path, **servers: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": servers}, indent=1))
    return file


@pytest.fixture
def program(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called ``weather`` that can be found."""
    found = work.parent / "bin" / "weather"
    found.parent.mkdir()
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    monkeypatch.setenv("PATH", str(found.parent) + os.pathsep + os.environ["PATH"])
    return found


def test_what_is_written_out_keeps_its_meaning(work: Path, program: Path) -> None:
    url, command = "https://a.example/mcp", "weather --verbose"
    write(work / "mcp.json", **{name: {"command": "other"} for name in ("demo", url, command, str(program))})
    assert meaning("demo").server == demo_server()
    assert meaning(url).server == HttpServer(url)
    assert meaning(command).server == StdioServer("weather", ("--verbose",))
    assert meaning(str(program)).server == StdioServer(str(program))


def test_a_name(work: Path) -> None:
    file = write(work / "mcp.json", weather={"command": "uvx", "args": ["weather-server"]})
    meant = meaning("weather")
    assert meant.server == StdioServer("uvx", ("weather-server",), cwd=str(work))
    assert (meant.name, str(meant.origin)) == ("weather", f"{file}, line 3")


@pytest.mark.usefixtures("program")
def test_a_name_that_is_a_program_too_is_the_name_and_that_is_told(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert meaning("weather").server == StdioServer("weather")
    assert capsys.readouterr().err == ""
    file = write(work / "mcp.json", weather=DEMO)
    assert meaning("weather").name == "weather"
    told = json.loads(capsys.readouterr().err)
    assert told == {"note": f"weather is the server of {file}, line 3; for the program, write its path"}


def test_a_name_of_several_words_or_with_a_path(work: Path) -> None:
    write(work / "mcp.json", **{"no-such-program today": DEMO, "io.example/weather": DEMO})
    assert meaning("no-such-program today").name == "no-such-program today"
    assert meaning("io.example/weather").name == "io.example/weather"
    assert meaning("no-such-program tomorrow").server == StdioServer("no-such-program", ("tomorrow",))
    assert meaning("/no/such/program").server == StdioServer("/no/such/program")


def test_a_file_that_is_named_is_the_only_one(work: Path) -> None:
    write(work / "mcp.json", weather={"command": "found"})
    other = write(work / "other.json", weather={"command": "named"})
    assert meaning("weather", str(other)).server == StdioServer("named")
    with pytest.raises(ConfigError, match="there is no such file"):
        meaning("weather", "missing.json")


def test_what_is_nothing_says_which_names_there_are(work: Path) -> None:
    with pytest.raises(ConfigError, match="nor the name of a configured server; there are: none"):
        meaning("nowhere")
    write(work / "mcp.json", weather=DEMO, broken={"command": 7})
    with pytest.raises(
        ConfigError, match=r"cannot be told: .*mcp\.json, line \d+: mcpServers\.broken\.command: expected"
    ):
        meaning("nowhere")
    write(work / "mcp.json", unset={"command": "${UNSET}"}, weather=DEMO, time=DEMO)
    with pytest.raises(ConfigError, match="there are: weather, time, unset"):
        meaning("nowhere")


def test_a_name_that_cannot_be_used_says_why(work: Path) -> None:
    write(work / "mcp.json", off=DEMO | {"enabled": False}, unset={"command": "${SYNCLINE_TEST_UNSET}"})
    with pytest.raises(UnknownServer, match=r"'off' is disabled in .*mcp.json, line 3"):
        meaning("off")
    with pytest.raises(ConfigError, match=r"mcp.json, line 11: mcpServers.unset: the environment variable"):
        meaning("unset")


def test_what_is_wrong_with_other_servers_does_not_matter(work: Path) -> None:
    write(work / "mcp.json", weather=DEMO, broken={"command": 7})
    assert meaning("weather").name == "weather"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_inputs_are_asked_of_a_person_at_a_terminal() -> None:
    with patch("sys.stderr", Terminal()) as screen, patch("sys.stdin", Terminal("XL\nL\n")):
        assert answer(Input("size", "Which \x1b[2Jsize?", options=("S", "L"))) == "L"
        assert answer(Input("other")) is None  # the end of what was typed
    assert screen.getvalue() == "Which \ufffd[2Jsize? (S, L): " * 2 + "other: "


def test_passwords_are_not_shown_while_they_are_typed() -> None:
    with (
        patch("sys.stderr", Terminal()),
        patch("sys.stdin", Terminal()),
        patch("getpass.getpass", return_value=SECRET) as asked,
    ):
        assert answer(Input("key", "API key", password=True)) == SECRET
    assert asked.call_args.args[0] == "API key: "


def test_nobody_is_asked_where_nobody_is() -> None:
    assert answer(Input("key")) is None


def test_somebody_is_asked_once(work: Path) -> None:
    write(work / "mcp.json", weather=DEMO | {"env": {"SIZE": "${input:size}"}})
    options = Options()
    with patch("sys.stderr", Terminal()), patch("sys.stdin", Terminal("large\nsmall\n")):
        assert [options.target("weather"), options.target("weather")] == [
            StdioServer(sys.executable, ("-m", "syncline.demo"), {"SIZE": "large"}, cwd=str(work))
        ] * 2


def test_headers_and_variables_of_the_command_line_go_over_those_of_the_file(work: Path) -> None:
    write(
        work / "mcp.json",
        far={"url": "https://a.example/mcp", "headers": {"X-A": "1", "X-B": "2"}, "bearer_token_env_var": "TOKEN"},
        near=DEMO | {"env": {"A": "1", "B": "2"}},
    )
    far = Options(header=["x-b: 3"]).target("far")
    assert isinstance(far, HttpServer)
    assert (far.headers, far.bearer_env) == ({"X-A": "1", "x-b": "3"}, "TOKEN")
    far = Options(header=["Authorization: Bearer x"], bearer_env=None).target("far")
    assert isinstance(far, HttpServer)
    assert far.bearer_env is None
    near = Options(env=["B=3"]).target("near")
    assert isinstance(near, StdioServer)
    assert near.env == {"A": "1", "B": "3"}


class TestCommands:
    """A configured name wherever SERVER is asked for."""

    def test_its_tools_are_filtered(self, run: Callable[..., Run], work: Path) -> None:
        write(work / "mcp.json", weather=DEMO | {"disabled_tools": ["fail", "countdown"]})
        assert [tool["name"] for tool in run("tools", "weather", "--json").json["tools"]] == ["add", "forecast"]
        assert run("call", "weather", "add", "a:=2", "b:=3").out == b'{"sum": 5}\n'
        ran = run("call", "weather", "fail")
        assert (ran.status, ran.error["code"]) == (5, "tool_disabled")
        assert run("read", "weather", "demo://greeting").status == 0
        assert run("prompts", "weather").status == 0

    def test_its_limits_hold_unless_the_command_line_has_others(self, run: Callable[..., Run], work: Path) -> None:
        write(work / "mcp.json", weather=DEMO | {"tool_timeout_sec": 0.2})
        call = ("call", "weather", "countdown", "start:=1", "delay:=0.6")
        assert run(*call).error["code"] == "timeout"
        assert run(*call, "--timeout", "30").status == 0

    def test_doctor_says_where_it_comes_from(self, run: Callable[..., Run], work: Path) -> None:
        file = write(work / ".mcp.json", weather=DEMO)
        assert run("doctor", "weather", "--json").json["configured"] == {
            "name": "weather",
            "file": str(file),
            "line": 3,
            "key": "mcpServers.weather",
            "program": "Claude Code",
            "scope": "project",
        }
        assert f"configured\tweather in {file}, line 3 (Claude Code)\n" in run("doctor", "weather").out.decode()

    def test_doctor_says_what_is_ignored(self, run: Callable[..., Run], work: Path) -> None:
        write(work / "mcp.json", weather=DEMO | {"startup_timeout": 5, "colour": "red"}, other=DEMO | {"arg": []})
        assert run("doctor", "weather", "--json").json["unknown"] == [
            {"key": "startup_timeout", "meant": "startup_timeout_sec"},
            {"key": "colour", "meant": None},
        ]
        page = run("doctor", "weather").out.decode()
        assert "ignored\tstartup_timeout; is startup_timeout_sec meant?\nignored\tcolour\n" in page

    def test_doctor_says_where_it_comes_from_when_it_cannot_be_reached(
        self, run: Callable[..., Run], home: Path
    ) -> None:
        write(home / ".cursor" / "mcp.json", weather={"command": "/no/such/program"})
        ran = run("doctor", "weather", "--json")
        assert (ran.status, ran.json["configured"]["program"]) == (4, "Cursor")

    def test_values_of_a_file_are_masked(
        self, run: Callable[..., Run], work: Path, http_server: Callable[..., McpHttpServer]
    ) -> None:
        server = http_server()  # which knows no query: an HTTP status 404
        write(work / "mcp.json", weather={"url": f"{server.url}?key={SECRET}", "headers": {"X-Key": f"{SECRET}-2"}})
        ran = run("doctor", "weather", "--json")
        assert ran.status == 4
        assert {request.header("x-key") for request in server.requests} == {f"{SECRET}-2"}
        assert SECRET not in ran.err + ran.out.decode()
        assert Options().secrets("weather") == set()  # nothing is known of it yet
        known = Options()
        known.meant("weather")
        assert known.secrets("weather") == {SECRET, f"{SECRET}-2"}
        assert known.url("weather") == server.url

    @pytest.mark.parametrize("key", [{"env": {"KEY": REPEATED}}, {"env_vars": ["KEY"]}])
    def test_variables_of_a_file_are_masked(
        self, run: Callable[..., Run], work: Path, key: dict[str, object], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KEY", REPEATED)
        script = "import os, sys; sys.exit(os.environ['KEY'])"
        write(work / "mcp.json", weather={"command": sys.executable, "args": ["-c", script], **key})
        ran = run("tools", "weather")
        assert ran.error["code"] == "server_exited"
        assert "[redacted]" in ran.error["message"]
        assert REPEATED not in ran.err

    def test_a_name_of_another_file(self, run: Callable[..., Run], tmp_path: Path) -> None:
        file = write(tmp_path / "servers.json", weather=DEMO)
        assert run("tools", "weather", "--config", str(file)).status == 0
        assert run("tools", "weather").status == 2
        assert run("tools", shlex.join([sys.executable, "-m", "syncline.demo"]), "--config", str(file)).status == 0

    def test_a_broken_file_is_told_with_file_and_line(self, run: Callable[..., Run], work: Path) -> None:
        (work / "mcp.json").write_text('{"mcpServers":\n{"a" 1}}')
        ran = run("tools", "weather")
        assert (ran.status, ran.error["code"]) == (2, "usage")
        assert "mcp.json, line 2, column 6" in ran.error["message"]

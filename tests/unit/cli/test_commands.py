"""The commands, run in this process, against the demo server and fake servers over HTTP."""

from __future__ import annotations

import base64
import json
import re
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from syncline.cli.resources import raw
from syncline.cli.tools import show_result, signature
from syncline.demo.offer import PIXEL
from syncline.errors import RemoteProtocolError
from syncline.serving import REVISIONS
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, ScriptedServer

from .conftest import Run
from .test_meaning import REPEATED

SECRET = "planted-horse-battery"


@pytest.fixture
def refusing_port() -> Iterator[int]:
    """A port that is taken and that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


class TestTools:
    def test_a_line_for_each_tool(self, run: Callable[..., Run]) -> None:
        status, out, err = run("tools", "demo")
        assert (status, err) == (0, "")
        assert [line.split("\t")[:2] for line in out.decode().splitlines()] == [
            ["add", "a b"],
            ["countdown", "[start] [delay]"],
            ["fail", "[reason]"],
            ["forecast", "city"],
        ]

    @pytest.mark.parametrize("revision", REVISIONS)
    def test_as_json_in_every_revision(self, run: Callable[..., Run], revision: str) -> None:
        tools = run("tools", "demo", "--json", "--protocol-version", revision).json["tools"]
        assert [tool["name"] for tool in tools] == ["add", "countdown", "fail", "forecast"]
        assert tools[0]["inputSchema"]["required"] == ["a", "b"]

    @pytest.mark.parametrize(
        ("schema", "shown"),
        [
            ({"properties": {"a": {}, "b": {}}, "required": ["b"]}, "[a] b"),
            ({"properties": {"a": {}}, "required": True}, "[a]"),
            ({"type": "object"}, ""),
        ],
    )
    def test_arguments_in_brackets_are_optional(self, schema: dict[str, Any], shown: str) -> None:
        assert signature(schema) == shown


class TestCall:
    def test_text_and_json_arguments(self, run: Callable[..., Run]) -> None:
        result = run("call", "demo", "add", "a:=2", "b:=0.5", "--json").json
        assert result["structuredContent"] == {"sum": 2.5}
        assert json.loads(run("call", "demo", "forecast", "city=Oslo").out) == {
            "city": "Oslo",
            "degrees": -3,
            "sky": "snow",
        }

    def test_arguments_from_standard_input(self, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdin.read", lambda: '{"a": 2, "b": 3}')
        assert run("call", "demo", "add", "--args-json", "-", "b:=4").out == b'{"sum": 6}\n'

    def test_progress_is_not_shown_down_a_pipe(self, run: Callable[..., Run]) -> None:
        assert run("call", "demo", "countdown", "start:=2", "delay:=0") == (0, b"lift-off\n", "")

    def test_structured_content_without_content(self, capsys: pytest.CaptureFixture[str]) -> None:
        show_result({"content": [], "structuredContent": {"a": 1}})
        assert json.loads(capsys.readouterr().out) == {"a": 1}

    @pytest.mark.parametrize("json_option", [[], ["--json"]])
    def test_a_tool_that_fails(self, run: Callable[..., Run], json_option: list[str]) -> None:
        ran = run("call", "demo", "fail", "reason=rain", *json_option)
        assert ran.status == 5
        assert ran.error == {"code": "tool_error", "message": "The tool failed: rain"}
        if json_option:
            assert ran.json["isError"] is True
        else:
            assert ran.out == b"The tool failed: rain\n"

    def test_text_for_a_number_is_explained(self, run: Callable[..., Run]) -> None:
        ran = run("call", "demo", "add", "a=2", "b:=3")
        assert ran.status == 5
        assert ran.error["hint"] == "key=value is text; for other types write a:=(number)"

    def test_an_unknown_tool_names_its_neighbours(self, run: Callable[..., Run]) -> None:
        ran = run("call", "demo", "forecasts", "city=Oslo", "--json")
        assert (ran.status, ran.out) == (5, b"")
        assert ran.error["code"] == "invalid_params"
        assert ran.error["hint"] == "the server has forecast"


class TestResources:
    def test_resources_and_templates(self, run: Callable[..., Run]) -> None:
        lines = run("resources", "demo").out.decode().splitlines()
        assert [line.split("\t")[0] for line in lines] == ["demo://greeting", "demo://pixel", "demo://forecast/{city}"]
        page = run("resources", "demo", "--json").json
        assert [resource["uri"] for resource in page["resources"]] == ["demo://greeting", "demo://pixel"]
        assert page["resourceTemplates"][0]["uriTemplate"] == "demo://forecast/{city}"

    def test_text_comes_as_it_is(self, run: Callable[..., Run]) -> None:
        assert run("read", "demo", "demo://greeting") == (0, b"Hello from the demo server.", "")

    def test_binary_data_comes_raw(self, run: Callable[..., Run]) -> None:
        assert run("read", "demo", "demo://pixel") == (0, base64.b64decode(PIXEL), "")
        assert run("read", "demo", "demo://pixel", "--json").json["contents"][0]["blob"] == PIXEL

    def test_a_blob_that_is_not_base64(self) -> None:
        with pytest.raises(RemoteProtocolError, match="the blob of x:y is not Base64"):
            raw({"uri": "x:y", "blob": "A"})

    def test_into_a_file(self, run: Callable[..., Run], tmp_path: Path) -> None:
        target = tmp_path / "pixel.png"
        assert run("read", "demo", "demo://pixel", "--output", str(target)) == (0, b"", "")
        assert target.read_bytes() == base64.b64decode(PIXEL)

    def test_into_a_file_that_cannot_be(self, run: Callable[..., Run], tmp_path: Path) -> None:
        assert run("read", "demo", "demo://pixel", "--output", str(tmp_path)).status == 2

    def test_on_a_terminal_it_is_described(self, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        ran = run("read", "demo", "demo://pixel")
        assert ran.out == b"[demo://pixel image/png, 69 bytes]\n"
        assert "--output FILE" in ran.err

    @pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
    def test_a_missing_one(self, run: Callable[..., Run], revision: str) -> None:
        ran = run("read", "demo", "demo://none", "--protocol-version", revision)
        assert ran.status == 5
        assert ran.error["code"] == ("invalid_params" if revision == "2026-07-28" else "resource_not_found")


class TestPrompts:
    def test_prompts(self, run: Callable[..., Run]) -> None:
        assert run("prompts", "demo").out == b"brief\tcity [tone]\tAsk for a short weather report.\n"
        assert run("prompts", "demo", "--json").json["prompts"][0]["name"] == "brief"

    def test_messages(self, run: Callable[..., Run]) -> None:
        ran = run("prompt", "demo", "brief", "city=Oslo", "tone=dry")
        assert ran.out == b"user: How is the weather in Oslo? Keep it dry.\n"
        assert run("prompt", "demo", "brief", "city=Oslo", "--json").json["messages"][0]["role"] == "user"

    def test_arguments_are_text(self, run: Callable[..., Run]) -> None:
        ran = run("prompt", "demo", "brief", "city:=3")
        assert ran.status == 2
        assert "must be text" in ran.error["message"]

    def test_a_missing_argument_is_the_servers_to_refuse(self, run: Callable[..., Run]) -> None:
        assert run("prompt", "demo", "brief").status == 5


class TestDoctor:
    @pytest.mark.parametrize(("revision", "era"), [("2024-11-05", "handshake"), ("2026-07-28", "stateless")])
    def test_a_healthy_server(self, run: Callable[..., Run], revision: str, era: str) -> None:
        page = run("doctor", "demo", "--json", "--protocol-version", revision).json
        assert page["ok"]
        assert (page["era"], page["protocolVersion"], page["transport"]) == (era, revision, "stdio")
        assert page["serverInfo"]["name"] == "syncline-demo"
        assert page["counts"] == {"tools": 4, "resources": 2, "templates": 1, "prompts": 1}
        assert list(page["seconds"]) == [
            *("connect", "list tools", "list resources", "list templates", "list prompts", "call add"),
        ]
        assert (page["findings"], page["problems"]) == ([], [])

    def test_for_people(self, run: Callable[..., Run]) -> None:
        page = dict(line.split("\t") for line in run("doctor", "demo").out.decode().splitlines())
        assert page["revision"] == "2026-07-28 (stateless era)"
        assert page["offers"] == "4 tools, 2 resources, 1 template, 1 prompt"
        assert page["verdict"] == "healthy"

    def test_what_was_forgiven(self, run: Callable[..., Run], stdio_command: Callable[..., list[str]]) -> None:
        ran = run("doctor", shlex.join(stdio_command("noise")))
        assert "works, with faults that were forgiven" in ran.out.decode()
        assert "forgiven\t" in ran.out.decode()

    def test_a_server_that_cannot_be_reached(self, run: Callable[..., Run], refusing_port: int) -> None:
        url = f"http://127.0.0.1:{refusing_port}/mcp?key={SECRET}"
        ran = run("doctor", url, "--json")
        assert ran.status == 4
        assert not ran.json["ok"]
        assert ran.json["problems"][0]["step"] == "connect"
        assert ran.json["problems"][0]["hint"]
        assert ran.error["code"] == "unreachable"
        assert ran.error["url"] == url.partition("?")[0]
        assert SECRET not in ran.err + ran.out.decode()
        assert b"what to do\tcheck that the server runs and that the URL is right" in run("doctor", url).out

    def test_a_listing_that_fails_is_a_problem_and_not_the_end(
        self, run: Callable[..., Run], http_server: Callable[..., McpHttpServer]
    ) -> None:
        server = http_server()
        server.arm(500, 9, method="prompts/list")
        ran = run("doctor", server.url, "--json")
        assert ran.status == 4
        assert ran.json["counts"]["tools"] > 0
        assert [problem["step"] for problem in ran.json["problems"]] == ["list prompts"]


class TestDemo:
    def test_for_people(self, run: Callable[..., Run]) -> None:
        status, out, err = run("demo")
        assert (status, err) == (0, "")
        assert out.decode().count(">>> ") == 5
        assert "Hello from the demo server." in out.decode()
        assert "lift-off, after 5 reports" in out.decode()

    def test_as_json(self, run: Callable[..., Run]) -> None:
        page = run("demo", "--json", "--protocol-version", "2024-11-05").json
        assert page["ok"]
        assert page["steps"][1]["result"] == ["add", "countdown", "fail", "forecast"]


class TestOptions:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["nonsense"],
            ["tools"],
            ["tools", "demo", "--nonsense"],
            ["tools", "demo", "--timeout", "soon"],
            ["tools", "demo", "--timeout", "0"],
            ["tools", "demo", "--header", "a:b"],
            ["tools", "demo", "--env", "novalue"],
            ["tools", "demo", "--protocol-version", "1999-01-01"],
            ["tools", "demo", "--trace", "/nonexistent/folder/trace"],
            ["tools", "http://127.0.0.1:1/mcp", "--env", "A=b"],
            ["tools", "http://127.0.0.1:1/mcp", "--header", "novalue"],
            ["tools", "http://127.0.0.1:1/mcp", "--bearer-env", "SYNCLINE_TEST_UNSET"],
            ["tools", "ftp://127.0.0.1/"],
            ["tools", "no-such-server-anywhere"],
            ["tools", "unclosed 'quote"],
            ["call", "demo", "add", "a"],
            ["call", "demo", "add", "--args-json", "[]"],
        ],
    )
    def test_what_cannot_be_meant_is_a_usage_error(self, run: Callable[..., Run], arguments: list[str]) -> None:
        ran = run(*arguments)
        assert (ran.status, ran.out) == (2, b"")
        assert ran.error["code"] == "usage"
        assert ran.error["message"]

    def test_a_command_without_quotes_is_told_to_take_them(self, run: Callable[..., Run]) -> None:
        for words in (("tools", "python3", "server.py"), ("tools", "npx", "-y", "server")):
            assert "goes into quotes" in run(*words).error["hint"]

    def test_headers_and_bearer_reach_the_server_and_nothing_else(
        self,
        run: Callable[..., Run],
        http_server: Callable[..., McpHttpServer],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        monkeypatch.setenv("SYNCLINE_TEST_TOKEN", SECRET)
        server, trace = http_server(), tmp_path / "trace"
        header, bearer = f"X-Key: {SECRET}-2", "SYNCLINE_TEST_TOKEN"
        ran = run("doctor", server.url, "--header", header, "--bearer-env", bearer, "--trace", str(trace), "--json")
        assert ran.status == 0
        assert {request.header("x-key") for request in server.requests} == {f"{SECRET}-2"}
        assert {request.header("authorization") for request in server.requests} == {f"Bearer {SECRET}"}
        assert '"tools/list"' in trace.read_text()
        assert SECRET not in trace.read_text() + ran.err + ran.out.decode()

    def test_a_secret_that_comes_back_in_an_error_is_masked(
        self, run: Callable[..., Run], scripted_server: Callable[..., ScriptedServer]
    ) -> None:
        def gossip(exchange: Exchange) -> None:
            exchange.respond(418, f"what is {exchange.request.header('x-key')}?", "text/plain")

        ran = run("tools", scripted_server(gossip).url, "--header", f"X-Key: {REPEATED}")
        assert ran.status == 4
        assert REPEATED not in ran.err

    def test_variables_reach_the_command(self, run: Callable[..., Run], tmp_path: Path) -> None:
        seen = tmp_path / "seen"
        program = (
            f"import os, pathlib, runpy; pathlib.Path({str(seen)!r}).write_text(os.environ['CITY']);"
            "runpy.run_module('syncline.demo', run_name='__main__')"
        )
        assert run("tools", shlex.join([sys.executable, "-c", program]), "--env", "CITY=Oslo").status == 0
        assert seen.read_text() == "Oslo"


class TestBeginning:
    def test_without_the_packages_that_it_needs(self, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "syncline.cli.app", raising=False)
        monkeypatch.setitem(sys.modules, "typer", None)
        assert run("demo") == (1, b"", "the command line needs typer: pip install 'syncline[cli]'\n")

    def test_ctrl_c_while_it_is_being_imported(self, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
        def find_spec(name: str, *_: object) -> None:
            if name == "syncline.cli.app":
                raise KeyboardInterrupt

        monkeypatch.delitem(sys.modules, "syncline.cli.app", raising=False)
        monkeypatch.setattr(sys, "meta_path", [SimpleNamespace(find_spec=find_spec), *sys.meta_path])
        assert run("demo") == (130, b"", "")


class TestHelp:
    COMMANDS = (
        *("demo", "tools", "call", "resources", "read", "prompts", "prompt", "doctor", "watch"),
        *("events list", "events poll", "events stream"),
        *("servers list", "servers status", "servers add", "servers remove"),
        *("auth login", "auth status", "auth list", "auth logout"),
    )

    def test_no_command_shows_help(self, run: Callable[..., Run]) -> None:
        status, out, err = run()
        assert (status, out) == (2, b"")
        assert all(name.split()[0] in err for name in self.COMMANDS)

    @pytest.mark.parametrize("group", ["auth", "events", "servers"])
    def test_a_group_without_a_command_shows_help(self, run: Callable[..., Run], group: str) -> None:
        status, out, err = run(group)
        assert (status, out) == (2, b"")
        assert all(name.split()[1] in err for name in self.COMMANDS if name.startswith(f"{group} "))
        assert "..." not in err.partition("Commands:")[2]

    @pytest.mark.parametrize("name", COMMANDS)
    def test_each_command_has_an_example(self, run: Callable[..., Run], name: str) -> None:
        status, out, _ = run(*name.split(), "--help")
        assert status == 0
        assert f"  syncline {name}" in out.decode()
        assert "--protocol-version" in out.decode()

    @pytest.mark.parametrize("name", COMMANDS)
    def test_the_examples_work(
        self, run: Callable[..., Run], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        text = run(*name.split(), "--help").out.decode()
        for example in re.findall(r"^  syncline (.*\bdemo\b.*)$", text, re.MULTILINE):
            assert run(*shlex.split(example)).status == 0

    def test_version(self, run: Callable[..., Run]) -> None:
        assert run("--version") == (0, b"syncline 0.1.0\n", "")

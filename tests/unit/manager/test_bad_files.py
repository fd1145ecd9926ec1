"""What is said about every file that is broken: where, what was expected, what to do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from syncline import ConfigError

from .conftest import Machine

MEND = ". Mend the file, or read another one by naming it"
JSON = {
    "": "",  # an empty file is not broken
    '{"mcpServers": {"a": {"command": "x"}}} x': ", line 1, column 41: Extra data" + MEND,
    "{": ", line 1, column 2: Expecting property name enclosed in double quotes" + MEND,
    '{"mcpServers": {\n  "a" {}\n}}': ", line 2, column 7: Expecting ':' delimiter" + MEND,
    "[]": ", line 1: expected an object ({...}) at the top" + MEND,
    '"text"': ", line 1: expected an object ({...}) at the top" + MEND,
    '{"mcpServers": []}': ", line 1: mcpServers: expected an object of servers, found a list",
    '{"mcpServers":\n{"a": 7}}': ", line 2: mcpServers.a: expected an object with command or url, found a number",
    '{"mcpServers":\n{"a": {"command": "x",\n"args": "secret"}}}': (
        ", line 3: mcpServers.a.args: expected a list of strings without NUL, found a string"
    ),
    '{"mcpServers": {"a": {"command": "x", "args": [1]}}}': (
        ", line 1: mcpServers.a.args: expected a list of strings without NUL, found a list with a number in it"
    ),
    '{"mcpServers": {"a": {"command": "x", "args": ["secret", "secret\\u0000"]}}}': (
        ", line 1: mcpServers.a.args: expected a list of strings without NUL, found a list with NUL in it"
    ),
    '{"mcpServers": {"a": {"command": ["secret"]}}}': (
        ", line 1: mcpServers.a.command: expected the name or path of a program, found a list"
    ),
    '{"mcpServers": {"a": {"command": " "}}}': (
        ", line 1: mcpServers.a.command: expected the name or path of a program, found a string"
    ),
    '{"mcpServers": {"a": {"command": "x", "env": {"A": true}}}}': (
        ", line 1: mcpServers.a.env: expected an object of strings without NUL, found an object with true or false in it"
    ),
    '{"mcpServers": {"a": {"command": "x", "env": "A=secret"}}}': (
        ", line 1: mcpServers.a.env: expected an object of strings, found a string"
    ),
    '{"mcpServers": {"a": {"command": "x", "cwd": "\\u0000"}}}': (
        ", line 1: mcpServers.a.cwd: expected a string without NUL, found a string"
    ),
    '{"mcpServers": {"a": {"url": "secret"}}}': ", line 1: mcpServers.a.url: expected an http or https URL with a host",
    '{"mcpServers": {"a": {"url": "https://x", "headers": {"A": null}}}}': (
        ", line 1: mcpServers.a.headers: expected an object of strings without NUL, found an object with null in it"
    ),
    '{"mcpServers": {"a": {"url": "https://x", "serverUrl": "https://x"}}}': (
        ", line 1: mcpServers.a.serverUrl: means the same as url; keep one of the two"
    ),
    '{"mcpServers": {"a": {"url": "https://x", "bearer_token_env_var": ""}}}': (
        ", line 1: mcpServers.a.bearer_token_env_var: expected the name of an environment variable, found a string"
    ),
    '{"mcpServers": {"a": {"type": 7, "url": "https://x"}}}': (
        ", line 1: mcpServers.a.type: expected one of"
        " stdio, http, streamable-http, streamable_http, streamableHttp, sse, found a number"
    ),
    '{"mcpServers": {"a": {"type": "stdio"}}}': ", line 1: mcpServers.a: expected command, for type stdio; add it",
    '{"mcpServers": {"a": {"comand": "x", "arg": [], "more": 1}}}': (
        ", line 1: mcpServers.a: expected command, for a program, or url, for a server on the network; add one of them"
        "; comand means nothing here, is command meant?; arg means nothing here, is args meant?"
    ),
    '{"mcpServers": {"a": {"type": "http", "command": "x"}}}': (
        ", line 1: mcpServers.a.command: does not go with type http; keep one of the two"
    ),
    '{"mcpServers": {"a": {"command": "x", "disabled": "yes"}}}': (
        ", line 1: mcpServers.a.disabled: expected true or false, found a string"
    ),
    '{"mcpServers": {"a": {"command": "x", "disabled": false, "enabled": true}}}': (
        ", line 1: mcpServers.a.enabled: means the same as disabled; keep one of the two"
    ),
    '{"mcpServers": {"a": {"command": "x", "tool_timeout_sec": 0}}}': (
        ", line 1: mcpServers.a.tool_timeout_sec: expected a number of seconds above 0, 1e+09 at most, found a number"
    ),
    '{"mcpServers": {"": {"command": "x"}}}': ", line 1: mcpServers.: expected a name for the server; it is blank",
    '{"mcpServers": {" ": {"command": "x"}}}': ", line 1: mcpServers. : expected a name for the server; it is blank",
    '{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "y"}}}': (
        ", line 2: mcpServers.a: is there twice; keep one of the two"
    ),
    '{"mcpServers": {"a": {"command": "x"}},\n"mcpServers": {"b": {"command": "y"}}}': (
        ", line 2: mcpServers: is there twice; keep one of the two"
    ),
    '{"mcpServers": {"a": {"command": "x",\n"command": "secret"}}}': (
        ", line 2: mcpServers.a.command: is there twice; keep one of the two"
    ),
    '{"mcpServers": {"a": {"command": "x", "env": {"A": "1",\n"A": "secret"}}}}': (
        ", line 2: mcpServers.a.env.A: is there twice; keep one of the two"
    ),
}
TOML = {
    "mcp_servers = 7": ": mcp_servers: expected an object of servers, found a number",
    "\n[mcp_servers.a]\nargs = []": (
        ", line 2: mcp_servers.a: expected command, for a program, or url, for a server on the network; add one of them"
    ),
    '[mcp_servers.a]\nurl = "https://x"\nbearer_token = "secret"': (
        ", line 1: mcp_servers.a.bearer_token:"
        " a token has no place in a file; name a variable with bearer_token_env_var"
    ),
    '[ mcp_servers . "a" ]\ncommand = 2026-07-28': (
        ", line 1: mcp_servers.a.command: expected the name or path of a program, found a date"
    ),
}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("mcp.json", text, said) for text, said in JSON.items()]
    + [(".codex/config.toml", text, said) for text, said in TOML.items()],
)
def test_what_is_said(machine: Machine, name: str, text: str, said: str) -> None:
    """The same of a file that was found in the project and of one that was named."""
    file = machine.write(name, text)
    for path in (None, file):
        if not said:
            assert machine.load(path).servers == {}
            continue
        with pytest.raises(ConfigError) as caught:
            machine.load(path)
        assert str(caught.value) == f"{file}{said}"
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = ", 1),
        ('\na = "secret', 2),
        ("a = 1\na = 2\n", 2),
        ("a = 1\nb = secret\n", 2),
        ("a = " + "[" * 5000, 1),
        ("a = " + "1" * 5000, 1),
    ],
    ids=["no value", "no end", "twice", "no quotes", "deep", "long"],
)
def test_toml_that_cannot_be_read(machine: Machine, text: str, line: int) -> None:
    """What is wrong is said in the words of Python's reader, which change."""
    file = machine.write(".codex/config.toml", text)
    with pytest.raises(ConfigError) as caught:
        machine.load()
    said = rf"{re.escape(str(file))}, line {line}(, column \d+)?: [^()]+{re.escape(MEND)}"
    assert re.fullmatch(said, str(caught.value))
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_text_that_is_not_utf8(machine: Machine) -> None:
    for name in ("mcp.json", ".codex/config.toml"):
        file = machine.write(name, "")
        file.write_bytes(b'a = 1\n"\xff"')
        with pytest.raises(ConfigError) as caught:
            machine.load(file)
        assert str(caught.value) == f"{file}, line 2: expected text in UTF-8{MEND}"


def test_a_named_file_that_is_not_there(machine: Machine) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.load(machine.work / "gone.json")
    assert str(caught.value) == f"{machine.work / 'gone.json'}: there is no such file"


def test_a_folder_in_place_of_a_file(machine: Machine) -> None:
    (machine.work / "mcp.json").mkdir()
    assert machine.load().servers == {}
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        machine.load(machine.work / "mcp.json")


def test_a_file_that_may_not_be_read(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_bytes(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with pytest.raises(ConfigError) as caught:
        machine.load()
    assert str(caught.value) == f"{machine.work / 'mcp.json'}: cannot be read: Permission denied"
    assert {each.reason for each in machine.load(scopes=["user"]).skipped} == {"cannot be read: Permission denied"}

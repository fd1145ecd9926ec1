"""The files of every program, in the places where they are."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

import syncline
from syncline import ConfigError, HttpServer, StdioServer
from syncline.manager.configfiles import Input, LoadedConfig, Origin, Skipped, Unknown, load_config

from .conftest import Machine

URL = "https://a.example/mcp"


def test_nothing_there_is_no_error(machine: Machine) -> None:
    assert machine.load() == LoadedConfig()


def test_mcp_json(machine: Machine) -> None:
    file = machine.write("mcp.json", """\
// what this project uses
{
  "mcpServers": {
    "files": {"command": "npx", "args": ["-y", "files", "${workspaceFolder}"]},
    "issues": {
      "type": "http",
      "url": "https://${HOST:-issues.example}/mcp",
      "headers": {"Authorization": "Bearer ${TOKEN}"}, /* from the environment */
    },
  },
}
""")  # fmt: skip
    config = machine.load()
    assert config.servers == {
        "files": StdioServer("npx", ("-y", "files", str(machine.work)), cwd=str(machine.work)),
        "issues": HttpServer("https://issues.example/mcp", {"Authorization": "Bearer secret"}),
    }
    assert config.origins == {
        "files": Origin(str(file), 4, "mcpServers.files", "mcp.json", "project"),
        "issues": Origin(str(file), 5, "mcpServers.issues", "mcp.json", "project"),
    }
    assert str(config.origins["issues"]) == f"{file}, line 5"
    assert (config.unknown, config.skipped, config.files) == ((), (), (str(file),))


def test_claude_code(machine: Machine) -> None:
    """Entries for a folder come before the folder's own file, those for all folders after it."""
    machine.write(".mcp.json", json.dumps({"mcpServers": {"a": {"command": "shared"}, "b": {"command": "shared"}}}))
    machine.write("~/.claude.json", json.dumps({
        "numStartups": 7,
        "mcpServers": {"b": {"command": "user"}, "c": {"command": "${HOME_GROWN:-user}", "args": ["${env:TOKEN}"]}},
        "projects": {
            str(machine.work): {"mcpServers": {"a": {"command": "local"}}, "allowedTools": []},
            str(machine.work / "other"): {"mcpServers": {"x": {"command": "other"}}},
            f"{machine.work}/": {"mcpServers": None},
            str(machine.home): "no use",
        },
    }))  # fmt: skip
    config = machine.load()
    assert {name: getattr(server, "command", "") for name, server in config.servers.items()} == {
        "a": "local",
        "b": "shared",
        "c": "user",
    }
    assert config.servers["c"] == StdioServer("user", ("${env:TOKEN}",))
    assert [config.origins[name].scope for name in "abc"] == ["project", "project", "user"]
    assert [config.origins[name].program for name in "abc"] == ["Claude Code"] * 3
    assert {(skipped.server, skipped.origin.scope) for skipped in config.skipped} == {("a", "project"), ("b", "user")}
    assert config.unknown == ()


def test_claude_desktop(machine: Machine) -> None:
    machine.write("~/.config/Claude/claude_desktop_config.json", json.dumps({
        "globalShortcut": "Ctrl+Space",
        "mcpServers": {"files": {"command": "npx", "args": ["${TOKEN}"]}},
    }))  # fmt: skip
    config = machine.load()
    assert config.servers == {"files": StdioServer("npx", ("${TOKEN}",))}  # this program resolves nothing
    assert config.origins["files"].program == "Claude Desktop"


def test_vs_code(machine: Machine) -> None:
    machine.write(".env", "REGION=north\n")
    machine.write(".vscode/mcp.json", json.dumps({
        "inputs": [
            {"type": "promptString", "id": "key", "description": "API key", "password": True},
            {"type": "pickString", "id": "size", "options": ["S", "L"], "default": "L"},
        ],
        "servers": {
            "a": {
                "type": "stdio", "command": "${workspaceFolder}/a", "args": ["${input:size}", "${HOME}"],
                "env": {"KEY": "${input:key}", "TOKEN": "${env:TOKEN}"}, "envFile": "${workspaceFolder}/.env",
                "dev": {"watch": "**/*.py"},
            },
            "b": {"type": "http", "url": URL, "headers": {"X-Key": "${input:key}"}},
        },
    }))  # fmt: skip
    asked: list[Input] = []

    def ask(wanted: Input) -> str | None:
        asked.append(wanted)
        return "k" if wanted.password else None

    config = machine.load(inputs=ask)

    work = str(machine.work)
    assert config.servers == {
        "a": StdioServer(f"{work}/a", ("L", "${HOME}"), {"REGION": "north", "KEY": "k", "TOKEN": "secret"}, cwd=work),
        "b": HttpServer(URL, {"X-Key": "k"}),
    }
    assert [wanted.id for wanted in asked] == ["size", "key"]
    assert config.metadata["a"] == {"dev": {"watch": "**/*.py"}}

    skipped = machine.load().skipped
    assert [(each.server, each.reason.partition(";")[0]) for each in skipped] == [
        ("a", "the input 'key' has no answer"),
        ("b", "the input 'key' has no answer"),
    ]


def test_vs_code_of_the_user(machine: Machine) -> None:
    """The folder of the workspace is where we are."""
    machine.write(
        "~/.config/Code/User/mcp.json", json.dumps({"servers": {"a": {"command": "${workspaceFolderBasename}"}}})
    )
    assert machine.load().servers == {"a": StdioServer("work")}


def test_cursor(machine: Machine) -> None:
    machine.write(".cursor/mcp.json", json.dumps({"mcpServers": {"a": {"url": URL, "headers": {"T": "${env:TOKEN}"}}}}))
    machine.write("~/.cursor/mcp.json", json.dumps({"mcpServers": {"b": {"command": "${userHome}${/}b"}}}))
    assert machine.load().servers == {"a": HttpServer(URL, {"T": "secret"}), "b": StdioServer(f"{machine.home}/b")}


def test_windsurf(machine: Machine) -> None:
    machine.write("~/.codeium/windsurf/mcp_config.json", json.dumps({"mcpServers": {
        "a": {"serverUrl": URL, "headers": {"T": "${env:TOKEN}"}, "disabledTools": ["rm"]},
        "b": {"command": "b", "disabled": True, "alwaysAllow": ["ls"]},
    }}))  # fmt: skip
    machine.write("~/.codeium/mcp_config.json", "")
    config = machine.load()
    assert config.servers == {
        "a": HttpServer(URL, {"T": "secret"}, disabled_tools=("rm",)),
        "b": StdioServer("b", enabled=False),
    }
    assert (config.metadata["b"], config.unknown) == ({"alwaysAllow": ["ls"]}, ())


def test_gemini(machine: Machine) -> None:
    machine.write(".gemini/settings.json", json.dumps({
        "theme": "dark",
        "mcpServers": {
            "a": {"command": "a", "env": {"T": "$TOKEN", "U": "${TOKEN}"}, "cwd": "./sub", "timeout": 15000, "trust": False},
            "b": {"httpUrl": URL, "includeTools": ["x"], "excludeTools": ["y"]},
        },
    }))  # fmt: skip
    assert machine.load().servers == {
        "a": StdioServer("a", env={"T": "secret", "U": "secret"}, cwd=f"{machine.work}/./sub", tool_timeout=15),
        "b": HttpServer(URL, transport="streamable", enabled_tools=("x",), disabled_tools=("y",)),
    }


@pytest.mark.parametrize(
    ("lists", "used"),
    [
        ({"excluded": ["b"]}, ["a", "c"]),
        ({"allowed": ["a", "b"]}, ["a", "b"]),
        ({"allowed": ["a", "b"], "excluded": ["b", "d"]}, ["a"]),
        ({"allowed": []}, []),
        ({"allowed": None, "serverCommand": "x"}, ["a", "b", "c"]),
        (None, ["a", "b", "c"]),
    ],
)
def test_lists_of_a_whole_file(machine: Machine, lists: object, used: list[str]) -> None:
    servers = {name: {"command": name} for name in "abc"}
    machine.write(".gemini/settings.json", json.dumps({"mcp": lists, "mcpServers": servers}))
    found = machine.load().servers
    assert list(found) == ["a", "b", "c"]
    assert [name for name, server in found.items() if server.enabled] == used


@pytest.mark.parametrize("lists", ["a", ["a"], {"allowed": "a"}, {"excluded": [3]}, {"allowed": {"a": True}}])
def test_lists_that_are_none(machine: Machine, lists: object) -> None:
    """Nobody knows which servers they are meant to keep out, so none is used: in a project that is an error."""
    text = json.dumps({"mcp": lists, "mcpServers": {"a": {"command": "a"}}})
    machine.write("~/.gemini/settings.json", text)
    config = machine.load()
    assert not config.servers
    assert "expected allowed and excluded, lists of names, at mcp" in str(config.errors["a"])
    machine.write(".gemini/settings.json", text)
    with pytest.raises(ConfigError, match="lists of names, at mcp"):
        machine.load()


CODEX = """\
model = "a"

[mcp_servers.files]
command = "npx"
args = ["-y", "files", "${TOKEN}"]
env = { A = "1" }
env_vars = ["B", { name = "C", source = "local" }]
startup_timeout_sec = 2.5

[mcp_servers."the issues"]
url = "https://a.example/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-Region" = "north" }
env_http_headers = { "X-Key" = "KEY" }
required = true
tool_timeout_sec = 90
enabled_tools = ["list"]
default_tools_approval_mode = "prompt"
http_headers_helper = "later"

[mcp_servers."the issues".tools.list]
approval_mode = "approve"
"""


@pytest.mark.parametrize("name", ["~/.codex/config.toml", ".codex/config.toml"])
def test_codex(machine: Machine, name: str) -> None:
    file = machine.write(name, CODEX)
    config = machine.load()
    folder = None if name.startswith("~") else str(machine.work)
    assert config.servers == {
        "files": StdioServer("npx", ("-y", "files", "${TOKEN}"), {"A": "1"}, ("B", "C"), folder, startup_timeout=2.5),
        "the issues": HttpServer(
            URL,
            {"X-Region": "north"},
            {"X-Key": "KEY"},
            bearer_env="TOKEN",
            required=True,
            tool_timeout=90,
            enabled_tools=("list",),
        ),
    }
    assert [config.origins[name].line for name in config.servers] == [3, 10]
    assert config.metadata["the issues"]["tools"] == {"list": {"approval_mode": "approve"}}
    assert [(unknown.server, unknown.key) for unknown in config.unknown] == [("the issues", "http_headers_helper")]
    assert str(config.unknown[0].origin) == f"{file}, line 10"


def test_the_nearest_file_comes_first_and_hidden_servers_are_named(machine: Machine) -> None:
    deep = machine.work / "a" / "b"
    deep.mkdir(parents=True)
    near = machine.write("a/mcp.json", '{"mcpServers": {"x": {"command": "near"}}}')
    far = machine.write("mcp.json", '{"mcpServers": {\n"x": {"command": "far"}, "y": {"command": "y"}}}')
    machine.write("~/.cursor/mcp.json", '{"mcpServers": {"y": {"command": "user"}, "z": {"command": "z"}}}')
    machine.write("~/mcp.json", '{"mcpServers": {"home": {"command": "is no project"}}}')

    config = machine.load(cwd=deep)

    assert [server.command for server in config.servers.values() if isinstance(server, StdioServer)] == [
        "near",
        "y",
        "z",
    ]
    assert config.servers["x"] == StdioServer("near", cwd=str(near.parent))
    assert config.skipped[0] == Skipped(
        Origin(str(far), 2, "mcpServers.x", "mcp.json", "project"),
        "x",
        f"{near}, line 1 has a server of this name, and comes first",
    )
    assert config.files == (str(near), str(far), str(machine.home / ".cursor" / "mcp.json"))


def test_scopes(machine: Machine) -> None:
    machine.write("mcp.json", '{"mcpServers": {"a": {"command": "a"}}}')
    machine.write("~/.cursor/mcp.json", '{"mcpServers": {"b": {"command": "b"}}}')
    assert list(machine.load(scopes=["project"]).servers) == ["a"]
    assert list(machine.load(scopes=["user"]).servers) == ["b"]


def test_in_the_home_folder_a_file_is_read_once(machine: Machine) -> None:
    machine.write("~/.cursor/mcp.json", '{"mcpServers": {"b": {"command": "b"}}, "odd": 1}')
    config = machine.load(cwd=machine.home)
    assert (list(config.servers), config.skipped, len(config.unknown)) == (["b"], (), 1)


def test_a_named_file_is_the_only_one(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.write("mcp.json", '{"mcpServers": {"a": {"command": "a"}}}')
    other = machine.write("conf/other.json", '{"servers": {"b": {"command": "${workspaceFolder}/b", "cwd": "c"}}}')
    config = machine.load(other)
    assert config.servers == {"b": StdioServer(f"{other.parent}/b", cwd="c")}  # it starts where we are
    assert config.origins["b"].scope == "explicit"

    monkeypatch.chdir(other.parent)
    assert load_config("other.json").files == ("other.json",)
    assert syncline.load_config(Path("other.json")).servers.keys() == {"b"}


def test_both_sections_of_one_file(machine: Machine) -> None:
    machine.write(
        "mcp.json", '{"servers": {"b": {"command": "b"}}, "mcpServers": {"a": {"command": "a"}}, "$schema": ""}'
    )
    assert list(machine.load().servers) == ["a", "b"]


def test_unknown_keys_are_reported_where_a_file_is_about_servers(machine: Machine) -> None:
    file = machine.write(
        "mcp.json", '{"mcpServers":\n {"a": {"command": "a",\n "later": "secret"}},\n "more": "secret"}'
    )
    config = machine.load()
    assert config.unknown == (
        Unknown(Origin(str(file), 4, "more", "mcp.json", "project"), None, "more"),
        Unknown(Origin(str(file), 3, "mcpServers.a.later", "mcp.json", "project"), "a", "later"),
    )
    assert config.metadata == {"a": {"later": "secret"}}


@pytest.mark.parametrize(
    ("key", "meant"),
    [("arg", "args"), ("startup_timeout", "startup_timeout_sec"), ("enabledTools", "enabled_tools"), ("colour", None)],
)
def test_an_unknown_key_may_be_one_that_is_meant(machine: Machine, key: str, meant: str | None) -> None:
    machine.write("mcp.json", json.dumps({"mcpServers": {"a": {"command": "a", key: 1}}}))
    [unknown] = machine.load().unknown
    assert (unknown.key, unknown.meant) == (key, meant)
    said = f"{unknown.origin}: mcpServers.a.{key} means nothing here"
    assert str(unknown) == (said if meant is None else f"{said}; is {meant} meant?")


def test_a_file_about_something_else_is_left_alone(machine: Machine) -> None:
    file = machine.write("mcp.json", '{"navigation": []}')
    assert [each.reason for each in machine.load().skipped] == [
        "expected mcpServers or servers at the top; this may be a file about something else"
    ]
    with pytest.raises(ConfigError, match="expected mcpServers or servers at the top"):
        machine.load(file)
    machine.write("mcp.json", "{}")
    assert machine.load(file) == LoadedConfig(files=(str(file),))
    machine.write("mcp.json", '{"mcpServers": null}')
    assert machine.load(file).servers == {}


def test_a_server_that_cannot_be_used_is_left_out_and_asked_for_says_why(machine: Machine) -> None:
    file = machine.write("mcp.json", json.dumps({"mcpServers": {
        "good": {"command": "a"},
        "bad": {"url": URL, "headers": {"A": "Bearer ${MISSING}"}},
        "odd": {"type": "ws", "url": "ws://a.example"},
        "off": {"command": "${MISSING}", "required": True, "enabled": False},
    }}, indent=1))  # fmt: skip
    config = machine.load()
    assert list(config.servers) == ["good"]
    assert config.server("good") is config.servers["good"]
    with pytest.raises(ConfigError) as caught:
        config.server("bad")
    assert str(caught.value) == (f"{file}, line 6: mcpServers.bad: the environment variable MISSING is not set; set it")
    with pytest.raises(ConfigError, match="no configuration file has a server 'gone'; there are: good, bad, odd, off"):
        config.server("gone")
    with pytest.raises(ConfigError, match="there are: none"):
        LoadedConfig().server("gone")


def test_a_required_server_that_cannot_be_used_is_an_error(machine: Machine) -> None:
    file = machine.write("mcp.json", '{"mcpServers": {"a": {"command": "${MISSING}", "required": true}}}')
    with pytest.raises(ConfigError) as caught:
        machine.load()
    assert str(caught.value) == (
        f"{file}, line 1: mcpServers.a: is required and cannot be used: the environment variable MISSING is not set; set it"
    )


def test_broken_files_of_other_programs_are_left_out(machine: Machine) -> None:
    broken = machine.write("~/.cursor/mcp.json", '{"mcpServers": ')
    odd = machine.write("~/.codeium/mcp_config.json", '{"mcpServers": ["secret"]}')
    bad = machine.write("~/.gemini/settings.json", '{"mcpServers": {"a": {"args": 7}, "b": {"command": "b"}}}')
    twice = machine.write("~/.claude.json", '{"mcpServers": {"c": {}, "c": {}}}')
    (machine.home / ".codex").write_text("a file where a folder should be")
    config = machine.load()
    assert list(config.servers) == ["b"]
    assert [(each.origin.file, each.server, each.reason) for each in config.skipped] == [
        (str(twice), None, "is there twice; keep one of the two"),
        (str(broken), None, "line 1, column 16: Expecting value. Mend the file, or read another one by naming it"),
        (str(odd), None, "expected an object of servers, found a list"),
        (str(bad), "a", "expected a list of strings without NUL, found a number"),
    ]
    assert [str(each.error) for each in config.skipped] == [
        f"{twice}, line 1: mcpServers.c: is there twice; keep one of the two",
        f"{broken}: line 1, column 16: Expecting value. Mend the file, or read another one by naming it",
        f"{odd}, line 1: mcpServers: expected an object of servers, found a list",
        f"{bad}, line 1: mcpServers.a.args: expected a list of strings without NUL, found a number",
    ]
    with pytest.raises(ConfigError, match=r"line 1: mcpServers.a.args: expected"):
        config.server("a")


def test_what_is_left_out_for_another_entry_of_its_name_is_no_error(machine: Machine) -> None:
    machine.write("mcp.json", '{"mcpServers": {"a": {"command": "${MISSING}"}, "b": {"command": "${MISSING}"}}}')
    machine.write("~/.cursor/mcp.json", '{"mcpServers": {"a": {"command": "a"}, "b": {"url": "ws://b.example"}}}')
    config = machine.load()
    assert (list(config.servers), len(config.skipped)) == (["a"], 3)
    assert {name: error.message.rpartition(": ")[2] for name, error in config.errors.items()} == {
        "b": "the environment variable MISSING is not set; set it"
    }


def test_single_servers(machine: Machine) -> None:
    """Nothing else is looked at: what is wrong there is no error, and nobody is asked for it."""
    machine.write("mcp.json", json.dumps({"mcpServers": {
        "a": {"command": "a"}, "b": {"command": "${input:key}"}, "c": {"command": 7},
    }}))  # fmt: skip
    config = machine.load(names=["a", "gone"], inputs=lambda wanted: pytest.fail(wanted.id))
    assert (list(config.servers), config.skipped) == (["a"], ())


def test_values_are_not_shown(machine: Machine) -> None:
    machine.write("mcp.json", json.dumps({"mcpServers": {
        "a": {"command": "${TOKEN}x", "args": ["${TOKEN}"], "env": {"A": "secret"}, "oauth": {"clientSecret": "secret"}},
        "b": {"url": "https://u:secret@a.example/?k=secret", "headers": {"A": "secret"}, "later": "secret"},
        "c": {"url": "${MISSING}secret"},
    }}))  # fmt: skip
    config = machine.load()
    assert repr(config) == "<syncline.LoadedConfig a, b>"
    shown = f"{config} {config.origins} {config.unknown} {config.skipped} {config.files} {config.server('b')}"
    assert "secret" not in shown
    assert repr(LoadedConfig()) == "<syncline.LoadedConfig without servers>"


def test_a_config_can_be_copied_and_sent(machine: Machine) -> None:
    machine.write("mcp.json", '{"mcpServers": {"a": {"command": "a"}}}')
    config = machine.load()
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config


def test_folders_are_compared_as_their_platform_compares_them(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the file of Claude Code; on Windows neither case nor the kind of slash matters."""
    monkeypatch.chdir(machine.home)
    folder = str(machine.work).replace("/", "\\").upper()
    machine.write("~/conf/.claude.json", json.dumps({"projects": {folder: {"mcpServers": {"a": {"command": "a"}}}}}))
    environment = {"CLAUDE_CONFIG_DIR": "conf"}
    for platform, names in (("windows", ["a"]), ("linux", [])):
        config = load_config(cwd=machine.work, home="home", environment=environment, platform=platform)  # type: ignore[arg-type]
        assert list(config.servers) == names

"""Putting servers into a project's own file, and taking them out."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline import ConfigError, HttpServer, StdioServer
from syncline.manager.configfiles import add_server, load_config, own_file, remove_server

URL = "https://a.example/mcp"
TEXT = st.text(st.characters(exclude_characters="$\0", exclude_categories=["Cs"]), max_size=8)
NAMES = st.text(st.characters(exclude_characters="=$\0", exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    str.strip
)
SECONDS = st.none() | st.floats(min_value=0.001, max_value=1e9)
SHARED = {
    "enabled": st.booleans(),
    "required": st.booleans(),
    "startup_timeout": SECONDS,
    "tool_timeout": SECONDS,
    "enabled_tools": st.none() | st.lists(TEXT, max_size=2).map(tuple),
    "disabled_tools": st.lists(TEXT, max_size=2).map(tuple),
}
PROGRAMS = st.builds(
    StdioServer,
    command=NAMES,
    args=st.lists(TEXT, max_size=3).map(tuple),
    env=st.dictionaries(NAMES, TEXT, max_size=2),
    env_vars=st.lists(NAMES, max_size=2).map(tuple),
    cwd=st.none() | NAMES,
    **SHARED,
)
PAGES = st.builds(
    HttpServer,
    url=st.sampled_from([URL, "http://127.0.0.1:8080/?key=1"]),
    headers=st.dictionaries(NAMES, TEXT, max_size=2),
    env_headers=st.dictionaries(NAMES, NAMES, max_size=2),
    bearer_env=st.none() | NAMES,
    transport=st.sampled_from(["auto", "streamable", "sse"]),
    **SHARED,
)


@given(st.dictionaries(TEXT.filter(str.strip), PROGRAMS | PAGES, max_size=3))
def test_what_is_put_in_is_read_again(tmp_path_factory: pytest.TempPathFactory, servers: dict[str, object]) -> None:
    file = tmp_path_factory.mktemp("edit") / "mcp.json"
    for name, server in servers.items():
        add_server(file, name, server)  # type: ignore[arg-type]
    if not servers:
        return
    config = load_config(file, environment={})
    assert config.servers == servers
    assert (config.unknown, config.skipped) == ((), ())
    for name in servers:
        remove_server(file, name)
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {}}


BEFORE = """\
{
    "$schema": "https://a.example/schema.json",
    "mcpServers": {
        "z": {
            "args": [],
            "command": "z",
            "later": {
                "b": 1,
                "a": "ü"
            }
        },
        "a": {
            "url": "https://a.example/mcp"
        }
    },
    "more": null
}
"""


def test_everything_else_stays_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(BEFORE, encoding="utf-8")
    add_server(file, "m", StdioServer("m", ["${workspaceFolder}"]))
    added = file.read_text(encoding="utf-8")
    assert list(json.loads(added)["mcpServers"]) == ["z", "a", "m"]
    assert '"m": {\n            "command": "m",\n            "args": [\n                "${workspaceFolder}"\n' in added
    remove_server(file, "m")
    assert file.read_text(encoding="utf-8") == BEFORE


def test_lines_end_as_they_did(tmp_path: Path) -> None:
    file, before = tmp_path / "mcp.json", BEFORE.replace("\n", "\r\n").encode()
    file.write_bytes(before)
    add_server(file, "m", StdioServer("m"))
    remove_server(file, "m")
    assert file.read_bytes() == before


def test_a_new_file_is_for_its_owner_alone_and_another_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    add_server(file, "a", HttpServer(URL))
    assert file.read_text() == (
        '{\n  "mcpServers": {\n    "a": {\n      "type": "http",\n      "url": "https://a.example/mcp"\n    }\n  }\n}\n'
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o664)
    add_server(file, "b", HttpServer(URL))
    assert stat.S_IMODE(file.stat().st_mode) == 0o664
    assert os.listdir(tmp_path) == ["mcp.json"]  # noqa: PTH208


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "mcp.json"
    target.write_text("{}")
    link.symlink_to(target)
    add_server(link, "a", StdioServer("a", cwd=tmp_path))
    assert link.is_symlink()
    assert load_config(target).servers == {"a": StdioServer("a", cwd=str(tmp_path))}


@pytest.mark.parametrize("text", ["", "{}", '{"mcpServers": null}', '{"mcpServers": {},}'])
def test_files_that_hold_nothing_yet(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    add_server(file, "a", StdioServer("a"))
    assert json.loads(file.read_text()) == {"mcpServers": {"a": {"command": "a"}}}


def test_servers_of_vs_code(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{\n\t"servers": {\n\t\t"a": {\n\t\t\t"command": "a"\n\t\t}\n\t}\n}\n')
    add_server(file, "b", StdioServer("b"))
    assert json.loads(file.read_text()) == {"servers": {"a": {"command": "a"}, "b": {"command": "b"}}}
    remove_server(file, "a")
    assert file.read_text() == '{\n\t"servers": {\n\t\t"b": {\n\t\t\t"command": "b"\n\t\t}\n\t}\n}\n'


def test_half_of_a_surrogate_pair_stays_an_escape(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"odd": "\\ud800"}')
    add_server(file, "a", StdioServer("a"))
    assert json.loads(file.read_text())["odd"] == "\ud800"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("mcp.json", '{\n// why\n"mcpServers": {"a": {}}}', ", line 2: comments would be lost by a rewrite; edit the file by hand, or take them out"),
        ("mcp.json", '{"mcpServers": {"a": {"command": "a"}}, "x": {"y": 1, "y": 2}}', ": 'y' is there twice in one object; keep one of the two"),
        ("mcp.json", "{", ", line 1, column 2: Expecting property name"),
        ("mcp.json", "[]", ", line 1: expected an object"),
        ("config.toml", "", ": only JSON files are edited; edit this one by hand"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_rewritten_stays_as_it_is(tmp_path: Path, name: str, text: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    for change in ("add", "remove"):
        with pytest.raises(ConfigError) as caught:
            add_server(file, "b", StdioServer("b")) if change == "add" else remove_server(file, "a")
        assert str(caught.value).startswith(f"{file}{said}")
        assert file.read_text() == text


def test_what_cannot_be_put_in(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"servers": {"a": {"command": "a"}}, "mcpServers": {}}')
    for name, server, said in (
        ("a", StdioServer("a"), rf"{file}: there is a server 'a' already; remove it first, or use another name"),
        ("", StdioServer("a"), "a server needs a name"),
        (" ", StdioServer("a"), "a server needs a name"),
        ("b", replace(HttpServer(URL), verify=False), "verify cannot be written to a file; give it in the program"),
        ("b", StdioServer("a", stderr=print), "stderr cannot be written to a file; give it in the program"),
    ):
        with pytest.raises(ConfigError, match=said):
            add_server(file, name, server)
    file.write_text('{"mcpServers": [1]}')
    with pytest.raises(ConfigError, match="mcpServers: expected an object of servers; mend the file"):
        add_server(file, "a", StdioServer("a"))


def test_what_cannot_be_taken_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no server 'a'"):
        remove_server(tmp_path / "mcp.json", "a")


def test_a_file_that_cannot_be_written_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mcp.json"
    file.write_text("{}")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        add_server(file, "a", StdioServer("a"))
    assert os.listdir(tmp_path) == ["mcp.json"]  # noqa: PTH208
    assert file.read_text() == "{}"
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        add_server(tmp_path / "gone" / "mcp.json", "a", StdioServer("a"))
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        add_server(tmp_path, "a", StdioServer("a"))


def test_the_file_of_the_project(tmp_path: Path) -> None:
    deep = tmp_path / "work" / "a"
    deep.mkdir(parents=True)
    assert own_file(deep, home=tmp_path) == deep / "mcp.json"
    (tmp_path / "work" / "mcp.json").touch()
    assert own_file(deep, home=tmp_path) == tmp_path / "work" / "mcp.json"

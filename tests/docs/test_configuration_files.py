"""The examples of docs/configuration-files.md: the files are read as they stand, and the programs find them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import syncline
from syncline import client as facade
from syncline.config import HttpServer, StdioServer, as_server
from syncline.manager.configfiles.entries import KEYS
from syncline.manager.configfiles.places import PROJECT_FILES, USER_FILES

from .server import example_server

PAGE = Path(__file__).parents[2] / "docs" / "configuration-files.md"
TEXT = PAGE.read_text(encoding="utf-8")
FILES = dict(re.findall(r"`([^`]+)`:\n\n```(?:json|toml)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE))
PROGRAMS = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
ENVIRONMENT = {"ISSUES_TOKEN": "secret", "REGION": "north"}


@pytest.fixture
def _machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    home, work = tmp_path / "home", tmp_path / "home" / "work"
    for name, text in FILES.items():
        file = home / name[2:] if name.startswith("~/") else work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    monkeypatch.chdir(work)
    for name in [name for name in os.environ if name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME")]:
        monkeypatch.delenv(name)
    for name, value in {"HOME": str(home), **ENVIRONMENT}.items():
        monkeypatch.setenv(name, value)
    with example_server() as server, server.http() as url:

        def found(target: str) -> StdioServer | HttpServer:
            meant = as_server(target)
            return HttpServer(url) if isinstance(meant, HttpServer) and ".example/" in meant.url else meant

        monkeypatch.setattr(facade, "as_server", found)
        yield


@pytest.mark.usefixtures("_machine")
def test_the_files_are_read() -> None:
    config = syncline.load_config(inputs={"key": "1234"})
    assert list(config.servers) == ["files", "issues", "weather", "search", "notes", "tickets"]
    assert (config.unknown, config.skipped, len(config.files)) == ((), (), len(FILES))


@pytest.mark.usefixtures("_machine")
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_the_programs_run(number: int) -> None:
    exec(compile(PROGRAMS[number], f"{PAGE.name}, example {number + 1}", "exec"), {"__name__": "example"})


def test_the_tables_name_every_file_and_every_key() -> None:
    rows = re.findall(r"^\| (?:project|user)? *\|.*", TEXT, re.MULTILINE)
    files = [file.replace("`", "") for row in rows for file in re.findall(r"`[^`]*[/.][^`]*`", row)]
    written = {"{home}": "~", "{claude}": "~", "{codex}": "~/.codex", "{config}": "CONFIG"}
    assert files == [
        written.get(base, base) + slash + rest if base.startswith("{") else where
        for _, where in (*PROJECT_FILES, *USER_FILES)
        for base, slash, rest in [where.partition("/")]
    ]
    assert [key for key in KEYS if f"`{key}`" not in TEXT] == []

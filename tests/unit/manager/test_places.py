"""Where files are looked for."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from syncline import ConfigError
from syncline.manager.configfiles import load_config, own_file
from syncline.manager.configfiles.places import (
    Platform,
    flavour,
    format_of,
    places,
    platform_name,
    project_folder,
    project_folders,
)

LINUX = [
    ("mcp", "/work/mcp.json"),
    ("claude-code", "/home/me/.claude.json"),
    ("claude-project", "/work/.mcp.json"),
    ("vscode", "/work/.vscode/mcp.json"),
    ("cursor", "/work/.cursor/mcp.json"),
    ("gemini", "/work/.gemini/settings.json"),
    ("codex", "/work/.codex/config.toml"),
    ("claude-code", "/home/me/.claude.json"),
    ("claude-desktop", "/home/me/.config/Claude/claude_desktop_config.json"),
    ("vscode", "/home/me/.config/Code/User/mcp.json"),
    ("cursor", "/home/me/.cursor/mcp.json"),
    ("windsurf", "/home/me/.codeium/windsurf/mcp_config.json"),
    ("windsurf", "/home/me/.codeium/mcp_config.json"),
    ("gemini", "/home/me/.gemini/settings.json"),
    ("codex", "/home/me/.codex/config.toml"),
]
MACOS = [
    ("claude-code", "/Users/me/.claude.json"),
    ("claude-desktop", "/Users/me/Library/Application Support/Claude/claude_desktop_config.json"),
    ("vscode", "/Users/me/Library/Application Support/Code/User/mcp.json"),
    ("cursor", "/Users/me/.cursor/mcp.json"),
    ("windsurf", "/Users/me/.codeium/windsurf/mcp_config.json"),
    ("windsurf", "/Users/me/.codeium/mcp_config.json"),
    ("gemini", "/Users/me/.gemini/settings.json"),
    ("codex", "/Users/me/.codex/config.toml"),
]
WINDOWS = [
    ("claude-code", r"C:\Users\me\.claude.json"),
    ("claude-desktop", r"C:\Users\me\AppData\Roaming\Claude\claude_desktop_config.json"),
    ("vscode", r"C:\Users\me\AppData\Roaming\Code\User\mcp.json"),
    ("cursor", r"C:\Users\me\.cursor\mcp.json"),
    ("windsurf", r"C:\Users\me\.codeium\windsurf\mcp_config.json"),
    ("windsurf", r"C:\Users\me\.codeium\mcp_config.json"),
    ("gemini", r"C:\Users\me\.gemini\settings.json"),
    ("codex", r"C:\Users\me\.codex\config.toml"),
]


def found(platform: Platform, home: str, folders: tuple[str, ...] = (), **environment: str) -> list[tuple[str, str]]:
    return [(place.format, str(place.file)) for place in places(platform, home, environment, folders)]


def test_the_places_of_each_platform() -> None:
    assert found("linux", "/home/me", ("/work",)) == LINUX
    assert found("macos", "/Users/me", XDG_CONFIG_HOME="/elsewhere") == MACOS
    assert found("windows", r"C:\Users\me") == WINDOWS


def test_the_environment_moves_them() -> None:
    moved = found("linux", "/home/me", XDG_CONFIG_HOME="/xdg", CLAUDE_CONFIG_DIR="/claude", CODEX_HOME="/codex")
    assert {str(PurePosixPath(file).parent) for _, file in moved} == {
        *("/claude", "/xdg/Claude", "/xdg/Code/User", "/home/me/.cursor", "/home/me/.codeium"),
        *("/home/me/.codeium/windsurf", "/home/me/.gemini", "/codex"),
    }
    assert ("vscode", r"D:\Data\Code\User\mcp.json") in found("windows", r"C:\Users\me", APPDATA=r"D:\Data")


def test_near_folders_come_first_and_the_user_last() -> None:
    scopes = [(place.scope, str(place.folder)) for place in places("linux", "/home/me", {}, ("/work/a", "/work"))]
    assert list(dict.fromkeys(scopes)) == [("project", "/work/a"), ("project", "/work"), ("user", "None")]


@pytest.mark.parametrize(
    ("file", "form", "folder"),
    [
        ("/work/mcp.json", "mcp", "/work"),
        ("/work/.mcp.json", "claude-project", "/work"),
        ("/work/.vscode/mcp.json", "vscode", "/work"),
        ("/work/.cursor/mcp.json", "cursor", "/work"),
        ("/work/.gemini/settings.json", "gemini", "/work"),
        ("/work/.codex/config.toml", "codex", "/work"),
        ("/work/servers.toml", "codex", "/work"),
        ("/work/servers.json", "mcp", "/work"),
        ("/home/me/.claude.json", "claude-code", "/home/me"),
        ("/home/me/.config/Code/User/mcp.json", "vscode", "/home/me/.config/Code/User"),
        ("/x/claude_desktop_config.json", "claude-desktop", "/x"),
        ("/x/mcp_config.json", "windsurf", "/x"),
    ],
)
def test_a_named_file_is_known_by_its_name(file: str, form: str, folder: str) -> None:
    assert format_of(PurePosixPath(file)) == form
    assert str(project_folder(PurePosixPath(file))) == folder


def test_the_project_ends_at_the_top_of_the_repository(tmp_path: Path) -> None:
    deep = tmp_path / "home" / "work" / "a" / "b"
    deep.mkdir(parents=True)
    home, work = tmp_path / "home", tmp_path / "home" / "work"

    assert project_folders(deep, home, "linux") == (deep, work / "a", work)
    assert project_folders(home, home, "linux") == (home,)

    (work / "a" / ".git").touch()  # a work tree has a file there
    assert project_folders(deep, home, "linux") == (deep, work / "a")


def test_a_folder_that_everybody_may_write_to_is_part_of_no_project(tmp_path: Path) -> None:
    deep = tmp_path / "anybodys" / "mine"
    deep.mkdir(parents=True)
    deep.parent.chmod(0o1777)
    assert project_folders(deep, tmp_path / "home", "linux") == (deep,)
    assert project_folders(deep / "gone" / "too", tmp_path, "linux") == (deep / "gone" / "too",)
    assert deep.parent in project_folders(deep, tmp_path / "home", "windows")  # where the bits say nothing
    assert project_folders(deep.parent, tmp_path / "home", "linux")[0] == deep.parent


def test_platforms_by_their_names() -> None:
    assert [platform_name(name) for name in ("linux", "freebsd14", "darwin", "win32")] == [
        *("linux", "linux", "macos", "windows")
    ]
    assert flavour("windows")("C:/Work") == flavour("windows")(r"c:\work")


def test_a_working_directory_that_is_gone_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for search in (load_config, own_file):
        with pytest.raises(ConfigError, match="the working directory is not there any more; go to another one"):
            search()
    assert load_config(cwd=tmp_path, home=tmp_path).servers == {}

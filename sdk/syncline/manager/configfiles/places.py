"""Where each program keeps its file, as a table, and which folders belong to the project that we are in."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import Literal

from syncline.errors import ConfigError

Platform = Literal["linux", "macos", "windows"]

#: In a folder of the project, in order of precedence: format → path. ``{claude}`` is a user's file with entries for folders.
PROJECT_FILES = (
    ("mcp", "mcp.json"),
    ("claude-code", "{claude}/.claude.json"),
    ("claude-project", ".mcp.json"),
    ("vscode", ".vscode/mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("gemini", ".gemini/settings.json"),
    ("codex", ".codex/config.toml"),
)
#: Of the user, in order of precedence: format → path.
USER_FILES = (
    ("claude-code", "{claude}/.claude.json"),
    ("claude-desktop", "{config}/Claude/claude_desktop_config.json"),
    ("vscode", "{config}/Code/User/mcp.json"),
    ("cursor", "{home}/.cursor/mcp.json"),
    ("windsurf", "{home}/.codeium/windsurf/mcp_config.json"),
    ("windsurf", "{home}/.codeium/mcp_config.json"),
    ("gemini", "{home}/.gemini/settings.json"),
    ("codex", "{codex}/config.toml"),
)
#: Base → platform → the environment variable that names it, and where it is below the home folder without that.
BASES: Mapping[str, Mapping[Platform, tuple[str, str]]] = {
    "home": {"linux": ("", ""), "macos": ("", ""), "windows": ("", "")},
    "config": {
        "linux": ("XDG_CONFIG_HOME", ".config"),
        "macos": ("", "Library/Application Support"),
        "windows": ("APPDATA", "AppData/Roaming"),
    },
    "claude": dict.fromkeys(("linux", "macos", "windows"), ("CLAUDE_CONFIG_DIR", "")),
    "codex": dict.fromkeys(("linux", "macos", "windows"), ("CODEX_HOME", ".codex")),
}
#: Names that one program alone gives to its file, wherever it is.
_NAMES = {"claude_desktop_config.json": "claude-desktop", "mcp_config.json": "windsurf"}


@dataclass(frozen=True)
class Place:
    """Where a file may be.

    Attributes:
        format: The key of its format in ``FORMATS``.
        file: The file.
        scope: ``project`` or ``user``.
        folder: The folder of the project that it belongs to, None for the user's.
        shared: Whether it is the user's file with entries for this folder, rather than the folder's own.
    """

    format: str
    file: PurePath
    scope: Literal["project", "user"]
    folder: PurePath | None = None
    shared: bool = False


def beginning(cwd: str | os.PathLike[str] | None) -> Path:
    """Where a search begins, by default the working directory. Raises ConfigError if that is gone."""
    try:
        return Path(cwd or Path.cwd()).absolute()
    except FileNotFoundError:
        pass
    raise ConfigError("the working directory is not there any more; go to another one")


def platform_name(name: str = sys.platform) -> Platform:
    """The platform, for Python's name of it."""
    return "windows" if name in ("win32", "cygwin") else "macos" if name == "darwin" else "linux"


def flavour(platform: Platform) -> type[PurePath]:
    """How paths are written on a platform."""
    return PureWindowsPath if platform == "windows" else PurePosixPath


def places(platform: Platform, home: str, environment: Mapping[str, str], folders: tuple[str, ...]) -> Iterator[Place]:
    """Every place, in order of precedence; ``folders`` are those of the project, the nearest first. Touches no file."""
    path = flavour(platform)
    bases = {
        name: path(environment.get(variable) or path(home, below))
        for name, (variable, below) in ((name, rows[platform]) for name, rows in BASES.items())
    }
    for folder in map(path, folders):
        for form, where in PROJECT_FILES:
            shared = where.startswith("{")
            file = path(where.format_map(bases)) if shared else folder / where
            yield Place(form, file, "project", folder, shared)
    for form, where in USER_FILES:
        yield Place(form, path(where.format_map(bases)), "user")


def format_of(file: PurePath) -> str:
    """The format of a file by its name and folder; that of ``mcp.json`` for one that no program is known to have."""
    best, form = 0, _NAMES.get(file.name) or ("codex" if file.suffix == ".toml" else "mcp")
    for candidate, where in (*PROJECT_FILES, *USER_FILES):
        tail = PurePosixPath(where.rpartition("}/")[2]).parts
        if len(tail) > best and file.parts[-len(tail) :] == tail:
            best, form = len(tail), candidate
    return form


def project_folder(file: PurePath) -> PurePath:
    """The folder of the project that a file belongs to by its name: ``/work`` for ``/work/.vscode/mcp.json``."""
    tails = (PurePosixPath(where).parts for _, where in PROJECT_FILES)
    return file.parents[max((len(tail) for tail in tails if file.parts[-len(tail) :] == tail), default=1) - 1]


def project_folders(cwd: Path, home: Path, platform: Platform) -> tuple[Path, ...]:
    """The folders from ``cwd`` up that belong to the project, the nearest first.

    The last one is the top of the repository. Neither the home folder nor what is above it is part of a project, and above
    ``cwd`` no folder that everybody may write to is, for anybody could have put a file there.
    """
    folders: list[Path] = []
    for folder in (cwd, *cwd.parents):
        if folder != cwd and (folder == home or folder in home.parents or _anybodys(folder, platform)):
            break
        folders.append(folder)
        if (folder / ".git").exists():
            break
    return tuple(folders)


def _anybodys(folder: Path, platform: Platform) -> bool:
    try:
        return platform != "windows" and bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True

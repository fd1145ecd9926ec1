"""Put a server into a project's own ``mcp.json``, or take it out. Everything else in the file stays, in its order.

The file is replaced in one step, so that no reader ever sees half of it. A file with comments is left alone: they would be
lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from syncline.config import HttpServer, StdioServer
from syncline.errors import ConfigError
from syncline.manager.configfiles import jsonc
from syncline.manager.configfiles.document import JsonDocument, parse
from syncline.manager.configfiles.places import beginning, platform_name, project_folders

_SECTIONS = ("mcpServers", "servers")
_TYPES = {"auto": "http", "streamable": "streamable-http", "sse": "sse"}
#: Field of both kinds of servers → its key in a file.
_SHARED = {
    "enabled": "enabled",
    "required": "required",
    "startup_timeout": "startup_timeout_sec",
    "tool_timeout": "tool_timeout_sec",
    "enabled_tools": "enabled_tools",
    "disabled_tools": "disabled_tools",
}
_STDIO = {"command": "command", "args": "args", "env": "env", "env_vars": "env_vars", "cwd": "cwd", **_SHARED}
_HTTP = {
    "url": "url",
    "headers": "headers",
    "env_headers": "env_http_headers",
    "bearer_env": "bearer_token_env_var",
    **_SHARED,
}


def own_file(cwd: str | os.PathLike[str] | None = None, *, home: str | os.PathLike[str] | None = None) -> Path:
    """The project's own ``mcp.json``: the nearest one from ``cwd`` up, or the one to be made in ``cwd``."""
    here = beginning(cwd)
    user = os.fspath(home or os.path.expanduser("~"))  # noqa: PTH111 - Path.expanduser() raises where there is no home
    files = [folder / "mcp.json" for folder in project_folders(here, Path(user), platform_name())]
    return next((file for file in files if file.is_file()), files[0])


def add_server(file: str | os.PathLike[str], name: str, server: StdioServer | HttpServer) -> None:
    """Put a server into a JSON file, which is made if it is not there.

    References such as ``${NAME}`` in its values are written as they are, and resolved when the file is read.

    Raises ConfigError, and leaves the file as it was: the name is taken, the file is broken, has comments, a key twice, or
    cannot be written, or the server has what only a program can say (``auth``, ``session``, ``verify`` and the like).
    """
    if not name.strip():
        raise ConfigError("a server needs a name")
    entry = _entry(server)
    target = Path(os.path.realpath(file))  # a link stays a link
    text, data = _read(file, target)
    section = next((key for key in _SECTIONS if data.get(key) is not None), _SECTIONS[0])
    servers = data.get(section)
    if servers is None:
        servers = data[section] = {}
    if not isinstance(servers, dict):
        raise ConfigError(f"{os.fspath(file)}: {section}: expected an object of servers; mend the file")
    if any(name in there for key in _SECTIONS if isinstance(there := data.get(key), dict)):
        raise ConfigError(
            f"{os.fspath(file)}: there is a server {name!r} already; remove it first, or use another name"
        )
    servers[name] = entry
    _write(target, data, text)


def remove_server(file: str | os.PathLike[str], name: str) -> None:
    """Take a server out of a JSON file.

    Raises ConfigError, and leaves the file as it was: there is no such server, or the file is broken, has comments or a key
    twice, or cannot be written.
    """
    target = Path(os.path.realpath(file))
    text, data = _read(file, target)
    for key in _SECTIONS:
        servers = data.get(key)
        if isinstance(servers, dict) and name in servers:
            del servers[name]
            _write(target, data, text)
            return
    raise ConfigError(f"{os.fspath(file)}: there is no server {name!r}")


def _entry(server: StdioServer | HttpServer) -> dict[str, object]:
    """A server as an entry: what is not at its default."""
    keys = _STDIO if isinstance(server, StdioServer) else _HTTP
    entry: dict[str, object] = {} if isinstance(server, StdioServer) else {"type": _TYPES[server.transport]}
    for field, spec in server.__dataclass_fields__.items():
        value = getattr(server, field)
        default = spec.default_factory() if callable(spec.default_factory) else spec.default
        if value == default or field == "transport":
            continue
        if field not in keys:
            raise ConfigError(f"{field} cannot be written to a file; give it in the program")
        entry[keys[field]] = _plain(value)
    return {key: entry[key] for key in sorted(entry, key=["type", *keys.values()].index)}


def _plain(value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (str, int, float)) or value is None:
        return value
    return dict(value) if isinstance(value, dict) else list(value)  # type: ignore[call-overload]


def _read(file: str | os.PathLike[str], target: Path) -> tuple[str, dict[str, object]]:
    """The text of the file and what it holds; nothing for a file that is not there."""
    if target.suffix == ".toml":
        raise ConfigError(f"{os.fspath(file)}: only JSON files are edited; edit this one by hand")
    try:
        content = target.read_bytes()
    except FileNotFoundError:
        return "", {}
    except OSError as error:
        reason = error.strerror
    else:
        document = parse(os.fspath(file), content)
        assert isinstance(document, JsonDocument)
        line = jsonc.first_comment(document.text)
        if line is not None:
            where = f"{os.fspath(file)}, line {line}"
            raise ConfigError(f"{where}: comments would be lost by a rewrite; edit the file by hand, or take them out")
        try:
            json.loads(document.plain, object_pairs_hook=_once)
        except _Twice as twice:
            key = str(twice)
        else:
            return document.text, document.data
        raise ConfigError(f"{os.fspath(file)}: {key!r} is there twice in one object; keep one of the two")
    raise ConfigError(f"{os.fspath(file)} cannot be read: {reason}")


class _Twice(Exception):
    pass


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, none of whose keys is there twice: a rewrite would lose one of the values."""
    keys: set[str] = set()
    for key, _ in pairs:
        if key in keys:
            raise _Twice(key)
        keys.add(key)
    return dict(pairs)


def _write(target: Path, data: dict[str, object], before: str) -> None:
    """Replace the file, with the indentation and the ends of lines that it had."""
    found = re.search(r"\n([ \t]+)\S", before)
    indent = found[1] if found else "  "
    try:
        content = (json.dumps(data, indent=indent, ensure_ascii=False) + "\n").encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can hold
        content = (json.dumps(data, indent=indent) + "\n").encode()
    if "\r\n" in before:
        content = content.replace(b"\n", b"\r\n")
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, temporary)  # a new file is for its owner alone: it may hold secrets
        Path(temporary).replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise ConfigError(f"{target} cannot be written: {error.strerror}") from error

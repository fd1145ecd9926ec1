"""One entry of a file as a server: a table of keys, and what may stand under each. Pure but for ``envFile``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from syncline.config import HttpServer, StdioServer
from syncline.errors import ConfigError
from syncline.manager.configfiles import envfile, values
from syncline.manager.configfiles.formats import Format
from syncline.manager.configfiles.references import Surroundings, Unusable, resolve


class Wrong(Exception):
    """An entry that is badly written.

    Attributes:
        key: The key within the entry, empty for the entry itself.
        what: What was expected, and what to do.
    """

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"{key}: {what}" if key else what)
        self.key = key
        self.what = what


@dataclass(frozen=True)
class Key:
    """What a key of an entry means.

    Attributes:
        field: The field of the server that it fills.
        read: Makes its value from what stands there.
        transport: The kind of server that it belongs to, None for both.
    """

    field: str
    read: Callable[[object], object]
    transport: Literal["stdio", "http"] | None = None


KEYS: Mapping[str, Key] = {
    "command": Key("command", values.program, "stdio"),
    "args": Key("args", values.texts, "stdio"),
    "env": Key("env", values.variables, "stdio"),
    "env_vars": Key("env_vars", values.variable_names, "stdio"),
    "envFile": Key("env_file", values.text, "stdio"),
    "cwd": Key("cwd", values.text, "stdio"),
    "url": Key("url", values.text, "http"),
    "httpUrl": Key("url", values.text, "http"),
    "serverUrl": Key("url", values.text, "http"),
    "headers": Key("headers", values.texts_by_name, "http"),
    "http_headers": Key("headers", values.texts_by_name, "http"),
    "env_http_headers": Key("env_headers", values.texts_by_name, "http"),
    "bearer_token_env_var": Key("bearer_env", values.name, "http"),
    "enabled": Key("enabled", values.flag),
    "disabled": Key("enabled", lambda value: not values.flag(value)),
    "required": Key("required", values.flag),
    "startup_timeout_sec": Key("startup_timeout", values.seconds),
    "tool_timeout_sec": Key("tool_timeout", values.seconds),
    "enabled_tools": Key("enabled_tools", values.texts),
    "includeTools": Key("enabled_tools", values.texts),
    "disabled_tools": Key("disabled_tools", values.texts),
    "disabledTools": Key("disabled_tools", values.texts),
    "excludeTools": Key("disabled_tools", values.texts),
}
#: Counts only where ``startup_timeout_sec`` is missing.
STARTUP_MILLISECONDS = "startup_timeout_ms"
#: Keys that say something about a server, and nothing about the connection to it.
METADATA = frozenset(
    {
        *("name", "description", "version", "gallery", "extensionName", "trust", "alwaysAllow", "autoApprove", "dev"),
        *("supports_parallel_tool_calls", "default_tools_approval_mode", "tools", "environment", "environment_id"),
        *("scopes", "oauth", "oauth_resource", "auth"),
    }
)
#: What stands under ``type`` → the kind of server, and ``HttpServer.transport``.
TYPES: Mapping[str, tuple[Literal["stdio", "http"], Literal["auto", "streamable", "sse"]]] = {
    "stdio": ("stdio", "auto"),
    "http": ("http", "auto"),
    "streamable-http": ("http", "streamable"),
    "streamable_http": ("http", "streamable"),
    "streamableHttp": ("http", "streamable"),
    "sse": ("http", "sse"),
}
#: Schemes of URLs that other programs speak.
ELSEWHERE = ("unix", "pipe", "ws", "wss")
_TYPE_KEYS = ("type", "transport")


@dataclass(frozen=True, repr=False)
class Entry:
    """An entry that has been read.

    Attributes:
        server: The server.
        metadata: What stands in the entry and is not in the server.
        unknown: Those keys of it that mean nothing here.
    """

    server: StdioServer | HttpServer
    metadata: Mapping[str, object]
    unknown: tuple[str, ...]


def similar(key: str) -> str | None:
    """The key that may have been meant by one that means nothing, None if there is none like it."""
    return next(iter(get_close_matches(key, (*KEYS, *_TYPE_KEYS), 1, cutoff=0.75)), None)


def read(raw: object, form: Format, around: Surroundings, folder: str | None) -> Entry:
    """Read one entry; ``folder`` is where its program starts and paths begin, None for our own working directory.

    Raises ``Wrong`` for what is badly written and ``Unusable`` for what cannot be used here. Neither quotes a value.
    """
    if not isinstance(raw, dict):
        raise Wrong("", f"expected an object with command or url, found {values.kind(raw)}")
    if "bearer_token" in raw:
        raise Wrong("bearer_token", "a token has no place in a file; name a variable with bearer_token_env_var")
    stated = _stated(raw)
    fields: dict[str, Any] = {}
    keys: dict[str, str] = {}  # field → the key that filled it
    for key, value in raw.items():
        meaning = KEYS.get(key)
        if key in form.milliseconds:
            meaning = Key("tool_timeout", values.milliseconds)
        elif key == STARTUP_MILLISECONDS and raw.get("startup_timeout_sec") is None:
            meaning = Key("startup_timeout", values.milliseconds)
        if meaning is None or value is None:
            continue
        if meaning.field in keys:
            raise Wrong(key, f"means the same as {keys[meaning.field]}; keep one of the two")
        keys[meaning.field] = key
        try:
            fields[meaning.field] = meaning.read(resolve(value, around))
        except values.Expected as expected:
            wanted = f"expected {expected}, found {values.kind(value)}{expected.inside}"
        else:
            continue
        raise Wrong(key, wanted)
    used = {*KEYS, *form.milliseconds, STARTUP_MILLISECONDS, *_TYPE_KEYS}
    metadata = {key: value for key, value in raw.items() if key not in used}
    unknown = tuple(key for key in metadata if key not in METADATA)
    transport = _transport(stated, keys, fields, unknown)
    server = _stdio(fields, folder) if transport == "stdio" else _http(fields, keys["url"], stated)
    return Entry(server, metadata, unknown)


def _stated(raw: Mapping[str, object]) -> str | None:
    """What the entry says about its kind, if anything."""
    for key in _TYPE_KEYS:
        value = raw.get(key)
        if value is None:
            continue
        if not isinstance(value, str):
            raise Wrong(key, f"expected one of {', '.join(TYPES)}, found {values.kind(value)}")
        if value not in TYPES:
            raise Unusable(f"its {key} is not spoken here; there are: {', '.join(TYPES)}")
        return value
    return None


def _transport(
    stated: str | None, keys: Mapping[str, str], fields: dict[str, Any], strangers: Collection[str]
) -> Literal["stdio", "http"]:
    """The kind of server; what belongs to the other kind must not be there, unless it is empty."""
    if stated is None and not {"command", "url"} & keys.keys():
        instead = [f"; {key} means nothing here, is {meant} meant?" for key in strangers if (meant := similar(key))]
        wanted = "expected command, for a program, or url, for a server on the network; add one of them"
        raise Wrong("", wanted + "".join(instead))
    transport = TYPES[stated][0] if stated else "stdio" if "command" in keys else "http"
    for field, key in keys.items():
        meaning = KEYS.get(key)
        if meaning is not None and meaning.transport not in (None, transport) and fields[field]:
            kinds = {"stdio": "command, which is for programs", "http": "url, which is for servers on the network"}
            raise Wrong(
                key, f"does not go with {f'type {stated}' if stated else kinds[transport]}; keep one of the two"
            )
    needed = "command" if transport == "stdio" else "url"
    if needed not in keys:
        raise Wrong("", f"expected {needed}, for type {stated}; add it")
    return transport


_SHARED = ("enabled", "required", "startup_timeout", "tool_timeout", "enabled_tools", "disabled_tools")


def _stdio(fields: dict[str, Any], folder: str | None) -> StdioServer:
    env = fields.get("env", {})
    if "env_file" in fields and fields.get("enabled", True):
        env = {**envfile.load(fields["env_file"], folder), **env}
    cwd = envfile.below(folder, fields["cwd"]) if fields.get("cwd") else folder
    chosen = {name: fields[name] for name in ("args", "env_vars", *_SHARED) if name in fields}
    return StdioServer(fields["command"], env=env, cwd=cwd, **chosen)


def _http(fields: dict[str, Any], key: str, stated: str | None) -> HttpServer:
    scheme = fields["url"].partition(":")[0]
    if scheme in ELSEWHERE:
        raise Unusable(f"{scheme} URLs are not spoken here; there are http and https")
    how = TYPES[stated][1] if stated else "streamable" if key == "httpUrl" else "auto"
    chosen = {name: fields[name] for name in ("headers", "env_headers", "bearer_env", *_SHARED) if name in fields}
    try:
        return HttpServer(fields["url"], transport=how, **chosen)
    except ConfigError:  # it shows the URL, which may be a secret by now
        pass
    raise Wrong(key, "expected an http or https URL with a host")

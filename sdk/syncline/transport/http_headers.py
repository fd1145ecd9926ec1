"""The headers that users configure, as they are sent; and which of two headers of one name wins."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from syncline.logs import wire

SESSION_HEADER = "Mcp-Session-Id"

#: Not for users to set: how the body is framed, and the session.
_RESERVED = frozenset({"content-length", "transfer-encoding", SESSION_HEADER.lower()})
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


def configured(headers: Mapping[str, str], env_headers: Mapping[str, str], server: str) -> dict[str, str]:
    """The configured headers that can be sent. One that HTTP does not allow is left out, with a warning.

    Args:
        headers: Headers.
        env_headers: Header name to the name of an environment variable that holds its value, which wins over ``headers``;
            unset or blank: no header.
        server: What warnings call the server.
    """
    chosen: dict[str, str] = {}
    from_environment = {name: os.environ.get(variable, "") for name, variable in env_headers.items()}
    for source in (headers, {name: value for name, value in from_environment.items() if value.strip()}):
        for name, value in source.items():
            value = value.strip(" \t")
            if name.lower() in _RESERVED or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                wire.warning("%s: the header %r cannot be sent as configured and is left out", server, name)
            else:
                chosen = over(chosen, {"Host" if name.lower() == "host" else name: value})
    return chosen


def over(headers: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    """Headers, with others in the place of those of the same names, whatever their case."""
    if not others:
        return dict(headers)
    taken = {name.lower() for name in others}
    return {**{name: value for name, value in headers.items() if name.lower() not in taken}, **others}

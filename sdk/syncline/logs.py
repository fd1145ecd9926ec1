"""Loggers and the wire trace. Nothing secret passes through here.

Loggers: ``syncline`` and below it ``syncline.wire`` (what was tolerated or dropped), ``syncline.threads``,
``syncline.auth`` (where credentials are kept), ``syncline.server`` (what servers log or write to standard error).
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING

from syncline.concurrency.locks import new_lock
from syncline.errors import ConfigError

if TYPE_CHECKING:
    from typing import TypeAlias

    TraceLike: TypeAlias = str | os.PathLike[str] | IO[str] | None

wire = logging.getLogger("syncline.wire")
server = logging.getLogger("syncline.server")

#: The level of Python's logging for each level of the protocol (RFC 5424).
LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.ERROR,
    "alert": logging.ERROR,
    "emergency": logging.ERROR,
}

_SECRET_KEY = re.compile(
    r"passw|secret|authorization|credential|api[-_]?key|(?<!progress)token$|requeststate", re.IGNORECASE
)


def redact(value: object) -> object:
    """A copy in which the values of keys that sound secret are masked."""
    if isinstance(value, dict):
        return {
            key: "[redacted]" if isinstance(item, str) and _SECRET_KEY.search(str(key)) else redact(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [redact(item) for item in value]
    return value


class Trace:
    """JSON lines of what goes over the wire: time, direction, server, message. Headers are not traced at all."""

    def __init__(self, target: str | os.PathLike[str] | IO[str]) -> None:
        self._lock = new_lock()
        self._owned = isinstance(target, (str, os.PathLike))
        try:
            if isinstance(target, (str, os.PathLike)):
                self._file: IO[str] = Path(target).open("a", encoding="utf-8")  # noqa: SIM115 - closed by close()
            else:
                self._file = target
        except OSError as error:
            raise ConfigError(f"the trace cannot be written: {error}") from error

    def __call__(self, direction: str, name: str, data: bytes) -> None:
        """Write one line."""
        try:
            message = redact(json.loads(data))
        except (ValueError, RecursionError):
            message = f"[{len(data)} bytes that are not JSON]"
        line = {
            "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
            "direction": direction,
            "server": name,
            "message": message,
        }
        try:
            with self._lock:
                self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
                self._file.flush()
        except (OSError, ValueError) as error:  # a full disk, a file closed by its owner: no reason to end a call
            wire.warning("the trace cannot be written: %s", error)

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._owned:
            self._file.close()


def trace_to(target: TraceLike) -> Trace | None:
    """The trace that was asked for, by argument or by ``SYNCLINE_TRACE``."""
    chosen = target if target is not None else os.environ.get("SYNCLINE_TRACE")
    return Trace(chosen) if chosen else None


Tracer = Callable[[str, str, bytes], None]

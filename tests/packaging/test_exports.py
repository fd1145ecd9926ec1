"""The public names, in one place, so that adding or losing one is a decision."""

from __future__ import annotations

import subprocess
import sys
import types

import syncline

CALLS = {"call_tool", "connect"}
VALUES = {"Backoff", "Client", "Finding", "HttpServer", "Limits", "RetryPolicy", "StdioServer", "Timeouts"}
ERRORS = {
    "ConfigError",
    "ConnectFailed",
    "ConnectionClosed",
    "ConnectionLost",
    "ForkedConnection",
    "HttpStatusError",
    "InvalidMessage",
    "InvalidParams",
    "InvalidResult",
    "LocalProtocolError",
    "MethodNotFound",
    "OutcomeUnknown",
    "ProtocolError",
    "RemoteProtocolError",
    "RequestCancelled",
    "RequestTimeout",
    "ServerError",
    "ServerExited",
    "SessionExpired",
    "SynclineError",
    "ToolError",
    "TransportError",
    "UnexpectedMessage",
    "UnsupportedRevision",
    "UrlElicitationRequired",
}


def test_the_public_names_are_these() -> None:
    assert set(syncline.__all__) - {"__version__"} == CALLS | VALUES | ERRORS


def test_nothing_else_looks_public() -> None:
    shown = {name for name, value in vars(syncline).items() if not isinstance(value, types.ModuleType)}
    assert {name for name in shown if not name.startswith("_")} - {"annotations"} <= set(syncline.__all__)


def test_every_error_is_a_syncline_error() -> None:
    assert all(issubclass(getattr(syncline, name), syncline.SynclineError) for name in ERRORS)
    assert issubclass(syncline.ConfigError, ValueError)
    assert issubclass(syncline.RequestTimeout, TimeoutError)
    assert issubclass(syncline.TransportError, OSError)


def test_every_public_name_has_a_docstring() -> None:
    assert [name for name in syncline.__all__ if not getattr(syncline, name).__doc__] == []


def test_import_starts_no_thread_and_installs_no_signal_handler() -> None:
    program = """
import signal, threading
before = {number: signal.getsignal(number) for number in signal.valid_signals()}
import syncline
for name in syncline.__all__:
    getattr(syncline, name)
print(threading.active_count(), before == {number: signal.getsignal(number) for number in signal.valid_signals()})
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout.split() == ["1", "True"]

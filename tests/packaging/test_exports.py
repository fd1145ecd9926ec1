"""The public names, in one place, so that adding or losing one is a decision."""

from __future__ import annotations

import subprocess
import sys

import pytest

import syncline
from syncline import errors

CALLS = {
    "auth_status",
    "call_tool",
    "connect",
    "load_config",
    "login",
    "logout",
    "open_browser",
    "terminal_prompts",
}
VALUES = {
    "AuthStatus",
    "Backoff",
    "BearerToken",
    "Cancel",
    "CatalogueCache",
    "Change",
    "Changes",
    "Client",
    "ClientCredentials",
    "ConnectionManager",
    "CredentialChanges",
    "CredentialKey",
    "CredentialStore",
    "Credentials",
    "CursorStore",
    "ElicitRequest",
    "Elicitation",
    "Elicitations",
    "EnterpriseManaged",
    "EventStream",
    "Finding",
    "HttpServer",
    "Limits",
    "Listing",
    "LoadedConfig",
    "MemoryCursors",
    "Notification",
    "NotificationStream",
    "OAuth",
    "Principal",
    "Reconnect",
    "RetryPolicy",
    "ServerItem",
    "ServerTool",
    "Snapshot",
    "SqliteCursors",
    "StartupEvent",
    "StartupSummary",
    "Status",
    "StdioServer",
    "StreamOpener",
    "Subscriptions",
    "Task",
    "Timeouts",
    "Visit",
    "Update",
    "WebhookReceiver",
    "WebhookStream",
    "WorkloadIdentity",
}
ERRORS = {
    "AccessChanged",
    "AuthDenied",
    "AuthError",
    "AuthRequired",
    "CallbackEndpointError",
    "ConcurrencyError",
    "ConfigError",
    "ConnectFailed",
    "ConnectionClosed",
    "ConnectionLost",
    "DiscoveryFailed",
    "CredentialStoreError",
    "EventError",
    "EventForbidden",
    "EventNotFound",
    "EventUnsupported",
    "EventsExhausted",
    "ForkedConnection",
    "HeaderMismatch",
    "HttpStatusError",
    "InputRequired",
    "InvalidMessage",
    "InvalidParams",
    "InvalidResult",
    "ListingLimit",
    "LocalProtocolError",
    "MethodNotFound",
    "MissingCapability",
    "NoCommonRevision",
    "NoCompatibleDelivery",
    "NotReady",
    "OutcomeUnknown",
    "ProtocolError",
    "RefreshFailed",
    "RemoteProtocolError",
    "RequestTimeout",
    "RequiredServersFailed",
    "ResourceNotFound",
    "ServerError",
    "ServerExited",
    "SessionExpired",
    "StreamError",
    "StreamOverflow",
    "StreamTerminated",
    "SubscriptionLimit",
    "SynclineError",
    "TaskCancelled",
    "TaskError",
    "TaskExpired",
    "ToolDisabled",
    "ToolError",
    "TransportError",
    "UnexpectedMessage",
    "UnknownServer",
    "UnknownTool",
    "UnsupportedRevision",
    "UrlElicitationRequired",
}


def test_the_public_names_are_these() -> None:
    assert set(syncline.__all__) - {"__version__"} == CALLS | VALUES | ERRORS


def test_dir_shows_the_public_names_alone() -> None:
    assert dir(syncline) == sorted(syncline.__all__)


def test_the_errors_are_all_of_the_tree() -> None:
    tree = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert {name for name in tree if issubclass(getattr(errors, name), syncline.SynclineError)} == ERRORS


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'syncline' has no attribute 'conect'"):
        syncline.__getattr__("conect")


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

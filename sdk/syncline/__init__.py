"""The blocking MCP client for Python.

::

    import syncline

    with syncline.connect("https://weather.example/mcp") as client:
        for tool in client.list_tools():
            print(tool.name, tool.description)
        print(client.call_tool("forecast", {"city": "Oslo"}).text)

Importing syncline loads next to nothing; each name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from syncline.version import VERSION

if TYPE_CHECKING:
    from syncline.auth.bearer import BearerToken
    from syncline.auth.stores.base import CredentialStore
    from syncline.auth.tokens import CredentialKey, Credentials
    from syncline.client import Client, call_tool, connect
    from syncline.config import Backoff, HttpServer, Limits, RetryPolicy, StdioServer, Timeouts
    from syncline.errors import (
        AccessChanged,
        AuthDenied,
        AuthError,
        AuthRequired,
        CallbackEndpointError,
        ConcurrencyError,
        ConfigError,
        ConnectFailed,
        ConnectionClosed,
        ConnectionLost,
        CredentialStoreError,
        DiscoveryFailed,
        EventError,
        EventForbidden,
        EventNotFound,
        EventsExhausted,
        EventUnsupported,
        ForkedConnection,
        HeaderMismatch,
        HttpStatusError,
        InputRequired,
        InvalidMessage,
        InvalidParams,
        InvalidResult,
        ListingLimit,
        LocalProtocolError,
        MethodNotFound,
        MissingCapability,
        NoCommonRevision,
        NoCompatibleDelivery,
        NotReady,
        OutcomeUnknown,
        ProtocolError,
        RefreshFailed,
        RemoteProtocolError,
        RequestTimeout,
        RequiredServersFailed,
        ResourceNotFound,
        ServerError,
        ServerExited,
        SessionExpired,
        StreamError,
        StreamOverflow,
        StreamTerminated,
        SubscriptionLimit,
        SynclineError,
        TaskCancelled,
        TaskError,
        TaskExpired,
        ToolDisabled,
        ToolError,
        TransportError,
        UnexpectedMessage,
        UnknownServer,
        UnknownTool,
        UnsupportedRevision,
        UrlElicitationRequired,
    )
    from syncline.findings import Finding
    from syncline.identity.client_credentials import ClientCredentials
    from syncline.identity.enterprise_managed import EnterpriseManaged
    from syncline.identity.login import login, logout
    from syncline.identity.oauth import OAuth
    from syncline.identity.running import Visit, open_browser
    from syncline.identity.status import AuthStatus, auth_status
    from syncline.identity.workload_identity import WorkloadIdentity
    from syncline.manager.cache import CatalogueCache
    from syncline.manager.catalogue import Listing, ServerItem, ServerTool
    from syncline.manager.configfiles.load import load_config
    from syncline.manager.configfiles.loaded import LoadedConfig
    from syncline.manager.connections import ConnectionManager
    from syncline.manager.elicitation import Elicitation, Elicitations
    from syncline.manager.snapshot import Snapshot
    from syncline.manager.status import StartupEvent, StartupSummary, Status
    from syncline.prompts import terminal_prompts
    from syncline.protocol.events import Notification
    from syncline.protocol.pace import Reconnect
    from syncline.protocol.questions import ElicitRequest
    from syncline.session.handlers import Cancel
    from syncline.streams.changes import Changes
    from syncline.streams.cursors import CursorStore, MemoryCursors, SqliteCursors
    from syncline.streams.event_stream import EventStream
    from syncline.streams.task import Task
    from syncline.streams.wanted import Change
    from syncline.streams.webhook_receiver import WebhookReceiver
    from syncline.streams.webhooks import WebhookStream
    from syncline.subscriptions.access import CredentialChanges, Principal
    from syncline.subscriptions.manager import Subscriptions
    from syncline.subscriptions.opener import StreamOpener
    from syncline.subscriptions.stream import NotificationStream
    from syncline.subscriptions.update import Update

__version__ = VERSION

_HOMES = {
    "syncline.auth.bearer": ("BearerToken",),
    "syncline.auth.stores.base": ("CredentialStore",),
    "syncline.auth.tokens": ("CredentialKey", "Credentials"),
    "syncline.client": ("Client", "call_tool", "connect"),
    "syncline.config": ("Backoff", "HttpServer", "Limits", "RetryPolicy", "StdioServer", "Timeouts"),
    "syncline.errors": (
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
    ),
    "syncline.findings": ("Finding",),
    "syncline.identity.login": ("login", "logout"),
    "syncline.identity.oauth": ("OAuth",),
    "syncline.identity.running": ("Visit", "open_browser"),
    "syncline.identity.status": ("AuthStatus", "auth_status"),
    "syncline.identity.client_credentials": ("ClientCredentials",),
    "syncline.identity.enterprise_managed": ("EnterpriseManaged",),
    "syncline.identity.workload_identity": ("WorkloadIdentity",),
    "syncline.manager.cache": ("CatalogueCache",),
    "syncline.manager.catalogue": ("Listing", "ServerItem", "ServerTool"),
    "syncline.manager.connections": ("ConnectionManager",),
    "syncline.manager.elicitation": ("Elicitation", "Elicitations"),
    "syncline.manager.snapshot": ("Snapshot",),
    "syncline.manager.status": ("StartupEvent", "StartupSummary", "Status"),
    "syncline.manager.configfiles.load": ("load_config",),
    "syncline.manager.configfiles.loaded": ("LoadedConfig",),
    "syncline.prompts": ("terminal_prompts",),
    "syncline.protocol.events": ("Notification",),
    "syncline.protocol.pace": ("Reconnect",),
    "syncline.protocol.questions": ("ElicitRequest",),
    "syncline.session.handlers": ("Cancel",),
    "syncline.streams.changes": ("Changes",),
    "syncline.streams.cursors": ("CursorStore", "MemoryCursors", "SqliteCursors"),
    "syncline.streams.event_stream": ("EventStream",),
    "syncline.streams.task": ("Task",),
    "syncline.streams.wanted": ("Change",),
    "syncline.streams.webhook_receiver": ("WebhookReceiver",),
    "syncline.streams.webhooks": ("WebhookStream",),
    "syncline.subscriptions.access": ("CredentialChanges", "Principal"),
    "syncline.subscriptions.manager": ("Subscriptions",),
    "syncline.subscriptions.opener": ("StreamOpener",),
    "syncline.subscriptions.stream": ("NotificationStream",),
    "syncline.subscriptions.update": ("Update",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AccessChanged",
    "AuthDenied",
    "AuthError",
    "AuthRequired",
    "AuthStatus",
    "Backoff",
    "BearerToken",
    "CallbackEndpointError",
    "Cancel",
    "CatalogueCache",
    "Change",
    "Changes",
    "Client",
    "ClientCredentials",
    "ConcurrencyError",
    "ConfigError",
    "ConnectFailed",
    "ConnectionClosed",
    "ConnectionLost",
    "ConnectionManager",
    "CredentialChanges",
    "CredentialKey",
    "CredentialStore",
    "CredentialStoreError",
    "Credentials",
    "CursorStore",
    "DiscoveryFailed",
    "ElicitRequest",
    "Elicitation",
    "Elicitations",
    "EnterpriseManaged",
    "EventError",
    "EventForbidden",
    "EventNotFound",
    "EventStream",
    "EventUnsupported",
    "EventsExhausted",
    "Finding",
    "ForkedConnection",
    "HeaderMismatch",
    "HttpServer",
    "HttpStatusError",
    "InputRequired",
    "InvalidMessage",
    "InvalidParams",
    "InvalidResult",
    "Limits",
    "Listing",
    "ListingLimit",
    "LoadedConfig",
    "LocalProtocolError",
    "MemoryCursors",
    "MethodNotFound",
    "MissingCapability",
    "NoCommonRevision",
    "NoCompatibleDelivery",
    "NotReady",
    "Notification",
    "NotificationStream",
    "OAuth",
    "OutcomeUnknown",
    "Principal",
    "ProtocolError",
    "Reconnect",
    "RefreshFailed",
    "RemoteProtocolError",
    "RequestTimeout",
    "RequiredServersFailed",
    "ResourceNotFound",
    "RetryPolicy",
    "ServerError",
    "ServerExited",
    "ServerItem",
    "ServerTool",
    "SessionExpired",
    "Snapshot",
    "SqliteCursors",
    "StartupEvent",
    "StartupSummary",
    "Status",
    "StdioServer",
    "StreamError",
    "StreamOpener",
    "StreamOverflow",
    "StreamTerminated",
    "SubscriptionLimit",
    "Subscriptions",
    "SynclineError",
    "Task",
    "TaskCancelled",
    "TaskError",
    "TaskExpired",
    "Timeouts",
    "ToolDisabled",
    "ToolError",
    "TransportError",
    "UnexpectedMessage",
    "UnknownServer",
    "UnknownTool",
    "UnsupportedRevision",
    "Update",
    "UrlElicitationRequired",
    "Visit",
    "WebhookReceiver",
    "WebhookStream",
    "WorkloadIdentity",
    "__version__",
    "auth_status",
    "call_tool",
    "connect",
    "load_config",
    "login",
    "logout",
    "open_browser",
    "terminal_prompts",
]


def __getattr__(name: str) -> object:
    try:
        home = _HOME_OF[name]
    except KeyError:
        raise AttributeError(f"module 'syncline' has no attribute {name!r}") from None
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""Connections that survive: expired sessions, failures worth another try, servers that went away."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

import syncline
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.transport.base import Sink
from syncline.transport.memory import MemoryTransport, pair
from tests.fixtures.partner import SOON, Background, Partner
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

Http = Callable[..., McpHttpServer]
MODERN, LEGACY = "2026-07-28", "2025-11-25"
QUICK = syncline.Backoff(base=0.01, cap=0.02)


def connect(server: McpHttpServer, revision: str = LEGACY, **options: Any) -> syncline.Client:
    return syncline.connect(server.url, protocol_version=revision, **options)


def executed(server: McpHttpServer) -> int:
    return len(server.calls("tools/call"))


# Session expiry


def test_an_expired_session_is_renewed_and_the_call_sent_once_more(http_server: Http) -> None:
    """B045, B047, behaviours 4.60, 4.08: initialize without the old id, as it was the first time; then the new id."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        client.call_tool("echo", {"text": "a"})
        server.expire_sessions()
        assert client.call_tool("echo", {"text": "b"}).text == "b"

    first, second = server.calls("initialize")
    assert second.header("Mcp-Session-Id") is None
    assert second.header("MCP-Protocol-Version") is None
    assert second.json()["params"] == first.json()["params"]
    assert [request.header("Mcp-Session-Id") for request in server.calls("tools/call")] == [
        "session-1",
        "session-1",
        "session-2",
    ]


def test_many_threads_renew_it_once(http_server: Http) -> None:
    """Behaviours 4.61: one new handshake, whoever notices."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        server.expire_sessions()
        calls = [Background(lambda n=number: client.call_tool("echo", {"text": str(n)}).text) for number in range(10)]  # type: ignore[misc]
        assert [call.result() for call in calls] == [str(number) for number in range(10)]

    assert len(server.calls("initialize")) == 2


def test_nothing_slips_through_between_two_sessions(http_server: Http) -> None:
    """A call that had begun when the session was given up is sent in the new one, not in none."""
    server = http_server(versions=[LEGACY])
    ready, go, renewed = threading.Event(), threading.Event(), threading.Event()

    def gate(direction: str, _name: str, data: bytes) -> None:
        if b"late" in data and not ready.is_set():
            ready.set()
            assert go.wait(SOON)

    with connect(server) as client:
        client._session.connection._trace = gate
        late = Background(lambda: client.call_tool("echo", {"text": "late"}).text)
        assert ready.wait(SOON)
        server.expire_sessions()
        server.hold(renewed, method="initialize")
        first = Background(lambda: client.call_tool("echo", {"text": "first"}).text)
        server.wait_until(lambda: len(server.calls("initialize")) == 2)
        go.set()
        calls = server.calls("tools/call")
        late.thread.join(0.2)
        assert server.calls("tools/call") == calls
        renewed.set()
        assert (first.result(), late.result()) == ("first", "late")


def test_a_second_expiry_in_one_call_is_an_error_and_the_next_call_recovers(http_server: Http) -> None:
    """Behaviours 4.62."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        server.arm(404, 2, method="tools/call")
        with pytest.raises(syncline.SessionExpired, match="tools/call"):
            client.call_tool("echo", {"text": "a"})
        assert client.call_tool("echo", {"text": "b"}).text == "b"


def test_a_renewal_that_fails_is_tried_again_by_the_next_call(http_server: Http) -> None:
    """Behaviours 4.63."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        server.expire_sessions()
        server.arm(400, 4, method="initialize", body=b"{}")
        with pytest.raises(syncline.HttpStatusError):
            client.call_tool("echo", {"text": "a"})
        assert client.call_tool("echo", {"text": "b"}).text == "b"


@pytest.mark.parametrize("status", [401, 500])
def test_other_failures_renew_nothing(http_server: Http, status: int) -> None:
    """Behaviours 4.64."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        server.arm(status, 1, method="tools/call")
        with pytest.raises((syncline.HttpStatusError, syncline.AuthRequired)):
            client.call_tool("echo", {"text": "a"})
    assert len(server.calls("initialize")) == 1


@pytest.mark.parametrize(
    "use",
    [
        lambda client: client.list_tools(),
        lambda client: client.read_resource("memo://greeting"),
        lambda client: client.get_prompt("brief", {"topic": "x"}),
        lambda client: client.ping(),
        lambda client: client.notify("acme/seen", {}),
    ],
    ids=["list", "read", "prompt", "ping", "notify"],
)
def test_every_kind_of_message_recovers(http_server: Http, use: Callable[[syncline.Client], object]) -> None:
    """Behaviours 4.65."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        server.expire_sessions()
        use(client)
    assert len(server.calls("initialize")) == 2


def test_what_lived_in_the_session_is_there_again(http_server: Http) -> None:
    """SES-5, behaviours 4.66: log level and resource subscriptions; handlers are asked on the new session, too."""
    server = http_server(versions=[LEGACY])
    with connect(server, on_elicitation=lambda _: None) as client:
        client.set_log_level("error")
        client.subscribe_resource("memo://greeting")
        client.subscribe_resource("memo://pixel")
        client.unsubscribe_resource("memo://pixel")
        server.expire_sessions()
        client.ping()

    again = [request for request in server.requests if request.header("Mcp-Session-Id") == "session-2"]
    assert [request.rpc for request in again if request.method == "POST"][1:] == [
        "logging/setLevel",
        "resources/subscribe",
        "ping",
    ]
    assert server.calls("initialize")[1].json()["params"]["capabilities"] == {"elicitation": {"form": {}, "url": {}}}


def test_one_deadline_covers_the_call_the_renewal_and_the_repetition(http_server: Http) -> None:
    """Behaviours 4.67."""
    server = http_server(versions=[LEGACY])
    gate = threading.Event()
    with connect(server) as client:
        server.expire_sessions()
        server.hold(gate, method="initialize")
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("echo", {"text": "a"}, timeout=0.3)
        gate.set()
        assert client.call_tool("echo", {"text": "b"}).text == "b"


def test_a_400_that_speaks_of_the_session_is_an_expiry_too(http_server: Http) -> None:
    """B048."""
    server = http_server(versions=[LEGACY])
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "No valid session ID"}})
    with connect(server) as client:
        server.arm(400, 1, method="tools/call", body=body, media_type="application/json")
        assert client.call_tool("echo", {"text": "b"}).text == "b"
    assert len(server.calls("initialize")) == 2


def test_many_expiries_pile_nothing_up(http_server: Http) -> None:
    """B041."""
    server = http_server(versions=[LEGACY])
    with connect(server) as client:
        for number in range(30):
            server.expire_sessions()
            assert client.call_tool("echo", {"text": str(number)}).text == str(number)
        assert server.open_connections <= 2
        assert [thread for thread in threading.enumerate() if thread.name.startswith("syncline:")] == []


# Trying again


def test_opening_is_tried_again(http_server: Http) -> None:
    """Behaviours 4.50, 4.51."""
    server = http_server(versions=[LEGACY])
    server.arm(503, 2, method="initialize")
    with connect(server, retry=syncline.RetryPolicy(backoff=QUICK)) as client:
        assert client.protocol_version == LEGACY
    assert len(server.calls("initialize")) == 3


@pytest.mark.parametrize("status", [400, 403, 406])
def test_opening_is_not_tried_again_where_that_would_not_help(http_server: Http, status: int) -> None:
    """Behaviours 4.52."""
    server = http_server(versions=["2024-11-05"])
    server.arm(status, 9, method="initialize", body=b"<p>no</p>", media_type="text/html")
    with pytest.raises(syncline.HttpStatusError):
        connect(server, "2024-11-05", retry=syncline.RetryPolicy(backoff=QUICK))
    assert len(server.calls("initialize")) == 1


def test_what_changes_nothing_is_tried_again_and_a_tool_call_is_not(http_server: Http) -> None:
    """Behaviours 4.53, B175."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN, retry=syncline.RetryPolicy(backoff=QUICK)) as client:
        server.arm(500, 2, method="tools/list")
        assert client.list_tools()
        server.arm(500, 1, method="tools/call")
        with pytest.raises(syncline.HttpStatusError):
            client.call_tool("echo", {"text": "a"})
    assert (len(server.calls("tools/list")), executed(server)) == (3, 1)


def test_attempts_have_a_number(http_server: Http) -> None:
    server = http_server(versions=[MODERN])
    with connect(server, MODERN, retry=syncline.RetryPolicy(list=2, backoff=QUICK)) as client:
        server.arm(503, 9, method="tools/list")
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.list_tools()
    assert caught.value.status == 503
    assert len(server.calls("tools/list")) == 2


def cut(exchange: Exchange) -> None:
    exchange.reset()


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_a_tool_call_that_is_cut_is_not_sent_again(http_server: Http, revision: str) -> None:
    """B070, B175: the server may have run it, and the error says so."""
    server = http_server(versions=[revision])
    with connect(server, revision) as client:
        server.arm(cut, 1, method="tools/call")
        with pytest.raises(syncline.OutcomeUnknown, match="tools/call: it was sent and may have run") as caught:
            client.call_tool("echo", {"text": "a"})
    assert executed(server) == 1
    assert isinstance(caught.value.__cause__, syncline.ConnectionLost)
    assert caught.value.reason


@pytest.mark.parametrize("resend", ["annotated", "function"])
def test_a_tool_call_is_sent_again_where_the_user_says_so(http_server: Http, resend: str) -> None:
    server = http_server(versions=[MODERN])
    server.tool("safe", lambda _: {"content": []}, annotations={"idempotentHint": True})
    choice: Any = "annotated" if resend == "annotated" else lambda name: name == "safe"
    with connect(server, MODERN, retry=syncline.RetryPolicy(resend=choice, backoff=QUICK)) as client:
        client.list_tools()
        server.arm(cut, 1, method="tools/call")
        client.call_tool("safe")
        server.arm(cut, 1, method="tools/call")
        with pytest.raises(syncline.OutcomeUnknown):
            client.call_tool("echo", {"text": "a"})
    assert executed(server) == 3


def test_retry_after_is_waited_for_or_told(http_server: Http) -> None:
    """B177: an hour is not slept through."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN) as client:
        server.arm(429, 1, method="tools/list", headers=[("Retry-After", "0")])
        assert client.list_tools()
        server.arm(429, 1, method="tools/list", headers=[("Retry-After", "3600")])
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.list_tools(timeout=5)
        assert caught.value.retry_after == 3600
        server.arm(429, 1, method="tools/call", headers=[("Retry-After", "7")])
        with pytest.raises(syncline.HttpStatusError) as caught:
            client.call_tool("echo", {"text": "a"})
        assert caught.value.retry_after == 7


def test_closing_ends_a_backoff_and_no_attempt_follows(http_server: Http) -> None:
    """B112's neighbour: measured as one attempt too many elsewhere."""
    server = http_server(versions=[MODERN])
    client = connect(server, MODERN, retry=syncline.RetryPolicy(backoff=syncline.Backoff(base=60, jitter=False)))
    server.arm(503, 9, method="tools/list")
    listing = Background(client.list_tools)
    server.wait_until(lambda: len(server.calls("tools/list")) == 1)
    client.close()

    with pytest.raises((syncline.ConnectionClosed, syncline.HttpStatusError)):
        listing.result()
    assert len(server.calls("tools/list")) == 1


def test_threads_count_their_attempts_apart(http_server: Http) -> None:
    """B112."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN, retry=syncline.RetryPolicy(list=4, backoff=QUICK)) as client:
        server.arm(503, 6, method="resources/list")
        calls = [Background(client.list_resources) for _ in range(6)]
        for call in calls:
            assert call.result()


# Servers that went away


def kill(client: syncline.Client) -> None:
    transport: Any = client._session.connection.transport
    os.kill(transport.pid, signal.SIGKILL)


def test_a_program_that_died_is_started_again_on_request(stdio_command: Any) -> None:
    """STD-9: what waited is told, what follows works, and what was set is set again."""
    with syncline.connect(stdio_command(), protocol_version=LEGACY) as client:
        client.set_log_level("error")
        calling = Background(lambda: client.call_tool("slow", {"seconds": 60}))
        while not client._session.connection.engine.pending:
            threading.Event().wait(0.01)
        kill(client)
        with pytest.raises(syncline.ServerExited, match="tools/call"):
            calling.result()
        with pytest.raises(syncline.ServerExited):
            client.ping()
        assert client.reconnect() is client
        assert client.call_tool("echo", {"text": "again"}).text == "again"
        assert not client.is_closed


def test_a_program_that_died_is_started_again_by_policy(stdio_command: Any) -> None:
    retry = syncline.RetryPolicy(restart=3, backoff=QUICK)
    with syncline.connect(stdio_command(), protocol_version=LEGACY, retry=retry) as client:
        kill(client)
        while not client.is_closed:
            threading.Event().wait(0.01)
        calls = [Background(lambda: client.call_tool("echo", {"text": "x"}).text) for _ in range(5)]
        assert [call.result() for call in calls] == ["x"] * 5


def test_a_closed_client_is_not_brought_back(http_server: Http) -> None:
    server = http_server(versions=[MODERN])
    client = connect(server, MODERN, retry=syncline.RetryPolicy(restart=3))
    client.close()
    with pytest.raises(syncline.ConnectionClosed):
        client.reconnect()
    with pytest.raises(syncline.ConnectionClosed):
        client.list_tools()


def test_an_http_server_that_was_restarted_is_just_used_again(http_server: Http) -> None:
    """B007, B044."""
    server = http_server(versions=[MODERN])
    with connect(server, MODERN) as client:
        client.call_tool("echo", {"text": "a"})
        server.drop_connections(reset=True)
        assert client.list_tools()
        server.arm(503, 1, method="tools/call")
        with pytest.raises(syncline.HttpStatusError):
            client.call_tool("echo", {"text": "b"})
        assert client.call_tool("echo", {"text": "c"}).text == "c"


@pytest.mark.parametrize("bad", [{"connect": 0}, {"list": 0}, {"restart": -1}, {"resend": "always"}])
def test_a_policy_is_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(syncline.ConfigError):
        syncline.RetryPolicy(**bad)


# Closing while it reconnects


def test_closing_ends_a_reconnection(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])
    client = connect(server)
    server.arm(lambda exchange: exchange.hold(), 1, method="initialize")
    reconnecting = Background(client.reconnect)
    while len(server.calls("initialize")) < 2:
        threading.Event().wait(0.01)
    client.close()
    with pytest.raises(syncline.ConnectionClosed):
        reconnecting.result()


def test_closing_ends_the_pause_before_another_restart() -> None:
    started = threading.Event()

    class Refusing(MemoryTransport):
        def start(self, sink: Sink, deadline: Deadline) -> None:
            started.set()
            raise syncline.ConnectFailed("nobody is there")

    transport, peer = pair("partner")
    transports = iter([transport, *(Refusing("partner", ReplySlot()) for _ in range(2))])
    policy = syncline.RetryPolicy(restart=2, backoff=syncline.Backoff(base=600, cap=600))
    client = syncline.Client(lambda: next(transports), protocol_version=LEGACY, retry=policy, timeout=3600)
    opening = Background(client.open)
    Partner(peer).open(LEGACY)
    opening.result()
    peer.close()
    calling = Background(client.ping)
    assert started.wait(SOON)
    client.close()
    with pytest.raises(syncline.ConnectionClosed):
        calling.result()


def test_a_reconnection_that_restores_only_a_part_is_none(http_server: Http) -> None:
    server = http_server(versions=[LEGACY])
    with connect(server, retry=syncline.RetryPolicy(restart=1)) as client:
        client.subscribe_resource("memo://greeting")
        server.arm(500, 1, method="resources/subscribe")
        with pytest.raises(syncline.HttpStatusError):
            client.reconnect()
        assert client.is_closed
        client.ping()
    assert len(server.calls("resources/subscribe")) == 3

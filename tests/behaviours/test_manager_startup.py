"""Many servers: how they start, what stays when the configuration changes, who is waited for (3A to 3C)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from requests.auth import HTTPBasicAuth

import syncline
import syncline.testing
from syncline import HttpServer, Reconnect, StdioServer, Timeouts
from tests.fixtures.managers import LEGACY, Manage, Told, count, fake, pid_of
from tests.fixtures.partner import SOON, Background
from tests.fixtures.processes import alive, eventually
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.mcp_http import McpHttpServer

Http = Callable[..., McpHttpServer]
#: Tries again at once, and for ever.
AT_ONCE = Reconnect(first=0.01, most=0.01, jitter=False)
FORM = {"type": "object", "properties": {"x": {"type": "string"}}}


def legacy(http_server: Http, **options: Any) -> McpHttpServer:
    return http_server(versions=[LEGACY], **options)


def program(command: list[str], **settings: Any) -> StdioServer:
    return StdioServer(command[0], tuple(command[1:]), **settings)


# 3A Startup and events


def test_disabled_servers_are_no_members(manage: Manage) -> None:
    """3.01: never started, and not there."""
    told = Told()
    off = StdioServer("/no/such/program", enabled=False)
    servers = manage({"on": fake("a"), "off": off}, on_startup=told)
    assert told.summary().ready == ("on",)
    assert ("off" in servers, list(servers), len(servers)) == (False, ["on"], 1)
    assert servers.status()["off"].state == "disabled"
    with pytest.raises(syncline.UnknownServer, match="'off' is disabled"):
        servers.client("off")
    assert not any(name == "off" for name, _ in told.states)


def test_all_start_at_the_same_time(manage: Manage) -> None:
    """3.02: each is started while all others are."""
    fakes = {name: fake(name) for name in "abcdefgh"}
    gates = [server.answer_late("initialize") for server in fakes.values()]
    servers = manage(fakes)
    assert all(gate.arrived() for gate in gates)
    assert {status.state for status in servers.status().values()} == {"starting"}
    for gate in gates:
        gate.release()
    assert [tool.name for tool in servers.list_tools()] == list("abcdefgh")


def test_those_who_wait_share_one_start(manage: Manage) -> None:
    """3.03: ten of them, one handshake, one client."""
    server = fake("a")
    gate = server.answer_late("initialize")
    servers = manage({"s": server})
    waiting = [Background(lambda: servers.client("s")) for _ in range(10)]
    assert gate.arrived()
    gate.release()
    assert {id(each.result()) for each in waiting} == {id(servers["s"])}
    assert (count(server, "initialize"), count(server, "tools/list")) == (1, 1)


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
def test_the_limit_is_for_each_step(manage: Manage, method: str) -> None:
    """3.04: for connecting, and again for listing the tools."""
    patient, late = fake("a"), fake("b")
    for each in ("initialize", "tools/list"):
        patient.delay(each, 0.9)
    late.answer_late(method)
    servers = manage({"patient": patient, "late": late}, timeout=Timeouts(startup=1.5), reconnect=None)
    assert servers.wait_ready("patient")
    with pytest.raises(syncline.RequestTimeout):
        servers.client("late")
    assert servers.status()["late"].reason == "timeout"


def test_a_server_that_lists_no_tools_has_failed(manage: Manage) -> None:
    """3.05: and calls say so."""
    server = fake("a")
    server.fail_next("tools/list", message="no tools today", times=9)
    servers = manage({"s": server}, reconnect=None)
    with pytest.raises(syncline.ServerError, match="no tools today"):
        servers.call_tool("mcp__s__a")
    assert servers.status()["s"].state == "failed"


def test_each_server_has_its_events_and_all_have_a_summary(manage: Manage) -> None:
    """3.06, 3.08: starting, then how it ended; the text for users in the event, the error as it was in the summary."""
    told = Told()
    hanging = fake("c")
    gate = hanging.answer_late("initialize")
    servers = manage({"good": fake("a"), "bad": ["/no/such/program"], "slow": hanging}, on_startup=told)
    told.until("good", "ready")
    failed = told.until("bad", "failed")
    assert gate.arrived()
    servers.cancel_startup()
    summary = told.summary()
    assert told.states[:3] == [("good", "starting"), ("bad", "starting"), ("slow", "starting")]
    assert sorted(told.states[3:]) == [("bad", "failed"), ("good", "ready"), ("slow", "cancelled")]
    assert {event.round for event in told.events} == {1}
    assert (summary.ready, summary.cancelled) == (("good",), ("slow",))
    assert str(failed.status.text).startswith("bad did not start: no program '/no/such/program'")
    assert str(summary.failed["bad"]).startswith("bad: no program '/no/such/program'")
    assert failed.status.error is summary.failed["bad"]
    assert told.events[-1] is summary


def test_what_stays_is_told_just_before_the_summary(manage: Manage) -> None:
    """3.07: it does not start again, and leads the list of those that are ready."""
    told = Told()
    old, new = fake("a"), fake("b")
    servers = manage({"old": old}, on_startup=told)
    told.summary()
    told.events.clear()
    servers.reconcile({"new": new, "old": old})
    assert told.summary().ready == ("old", "new")
    assert told.states == [("new", "starting"), ("new", "ready"), ("old", "ready")]
    assert {event.round for event in told.events} == {2}


def test_nobody_has_to_listen(manage: Manage) -> None:
    """3.09: the same start, without events."""
    before = threading.active_count()
    servers = manage({"s": fake("a")})
    assert [tool.qualified_name for tool in servers.list_tools()] == ["mcp__s__a"]
    assert not any("manager:events" in thread.name for thread in threading.enumerate()), before


def test_nothing_happens_before_it_is_opened(manage: Manage) -> None:
    """3.10: making a manager starts nothing; one that is closed first has no events and no summary."""
    told, server = Told(), fake("a")
    servers = manage({"s": server}, opened=False, on_startup=told)
    assert (servers.status()["s"].state, server.received, told.events) == ("not started", [], [])
    with pytest.raises(syncline.LocalProtocolError, match="not open"):
        servers.list_tools()
    servers.close()
    with pytest.raises(syncline.ConnectionClosed):
        servers.open()
    assert (server.received, told.events) == ([], [])


def test_a_configuration_that_is_refused_changes_nothing(manage: Manage) -> None:
    """3.10: the old one stays, untouched."""
    server = fake("a")
    servers = manage({"s": server})
    snapshot = servers.snapshot()
    with pytest.raises(syncline.ConfigError, match=r"^other: a server is a URL, a command line"):
        servers.reconcile({"other": " "})
    assert servers.snapshot() is snapshot
    assert count(server, "initialize") == 1


def test_some_start_when_they_are_needed(manage: Manage) -> None:
    """3.11: the summary does not wait for them, and listing does not start them."""
    told, lazy = Told(), fake("b")
    servers = manage({"now": fake("a"), "lazy": lazy}, on_startup=told, deferred=["lazy"])
    assert told.summary().ready == ("now",)
    assert [tool.name for tool in servers.list_tools()] == ["a"]
    assert (servers.status()["lazy"].state, lazy.received) == ("not started", [])
    assert servers.call_tool("mcp__lazy__b").text == "b"
    assert told.ends(("lazy", "starting"), ("lazy", "ready")), told.states
    assert [tool.name for tool in servers.list_tools()] == ["a", "b"]


def test_a_start_that_succeeds_too_late_is_cancelled(manage: Manage) -> None:
    """3.12: whatever the server has answered by then."""
    told, server = Told(), fake("a")
    gate = server.answer_late("tools/list")
    servers = manage({"s": server}, on_startup=told)
    assert gate.arrived()
    servers.cancel_startup()
    gate.release()
    assert told.summary().cancelled == ("s",)
    assert servers.status()["s"].state == "cancelled"
    assert told.states == [("s", "starting"), ("s", "cancelled")]
    with pytest.raises(syncline.ConnectionClosed, match="its start was cancelled"):
        servers.client("s")
    found = servers.list_tools()
    assert (found, str(found.errors["s"])) == ((), "s: its start was cancelled; reconcile() starts it again")
    servers.reconcile({"s": server})
    assert [tool.name for tool in servers.list_tools()] == ["a"]


def test_failures_say_what_to_do(manage: Manage, http_server: Http) -> None:
    """3.15, 3.25: credentials that are missing, a limit that was too short, anything else; each with its server's name."""
    closed, slow = legacy(http_server), fake("a")
    closed.arm(401, 9, headers=[("WWW-Authenticate", "Bearer")])
    slow.answer_late("initialize")
    servers = manage(
        {"closed": HttpServer(closed.url), "slow": slow, "none": ["/no/such"]}, timeout=Timeouts(startup=0.2)
    )
    servers.list_tools()
    found = servers.status()
    assert (found["closed"].reason, found["slow"].reason) == ("authentication required", "timeout")
    assert "closed wants credentials" in str(found["closed"].text)
    assert "0.2 seconds; if it needs longer, raise its startup_timeout" in str(found["slow"].text)
    assert "none did not start: no program '/no/such'" in str(found["none"].text)
    assert isinstance(servers.errors["closed"], syncline.AuthRequired)


def test_any_name_will_do(manage: Manage) -> None:
    """3.16: only what tools are called is restricted."""
    servers = manage({"a b": fake("x"), "server.name": fake("y")})
    assert [tool.qualified_name for tool in servers.list_tools()] == ["mcp__a_b__x", "mcp__server_name__y"]
    assert servers.call_tool("mcp__server_name__y").text == "y"
    for name in ("", " ", 7):
        with pytest.raises(syncline.ConfigError, match="the name of a server is a text"):
            syncline.ConnectionManager({name: fake()})  # type: ignore[dict-item]


@pytest.mark.parametrize(("value", "problem"), [(None, "is not set"), (" ", "is empty"), ("a\udcffb", "is not text")])
def test_a_token_that_is_not_there_is_an_error_before_anything_is_sent(
    manage: Manage, http_server: Http, monkeypatch: pytest.MonkeyPatch, value: str | None, problem: str
) -> None:
    """3.17: the message names the variable and the server, and tells the three cases apart."""
    if value is None:
        monkeypatch.delenv("HM_TOKEN", raising=False)
    else:
        monkeypatch.setitem(os.environ, "HM_TOKEN", value)
    server = legacy(http_server)
    servers = manage({"weather": HttpServer(server.url, bearer_env="HM_TOKEN")})
    with pytest.raises(syncline.ConfigError, match=f"^weather: .*HM_TOKEN should hold a bearer token and {problem}"):
        servers.client("weather")
    assert server.requests == []


@pytest.mark.parametrize(
    ("options", "declared"),
    [({}, {}), ({"on_elicitation": lambda _: None}, {"elicitation": {"form": {}, "url": {}}})],
)
def test_what_servers_are_told_about_us(manage: Manage, options: dict[str, Any], declared: dict[str, Any]) -> None:
    """3.18, 3.19: who we are, what may be asked, and one revision for all where it is pinned."""
    server = fake("a")
    info = {"name": "host", "version": "7", "title": "The host"}
    manage({"s": server}, client_info=info, protocol_version="2025-06-18", **options).client("s")
    [hello] = [message for message in server.received if message.method == "initialize"]
    assert hello.params["clientInfo"] == info
    assert hello.params["capabilities"] == declared
    assert hello.params["protocolVersion"] == "2025-06-18"
    assert count(server, "server/discover") == 0


def test_asking_how_they_are_starts_nothing_and_waits_for_nothing(manage: Manage, http_server: Http) -> None:
    """3.20: each state."""
    closed, hanging, lazy = legacy(http_server), fake("h"), fake("l")
    closed.arm(401, 9)
    gate = hanging.answer_late("initialize")
    told = Told()
    servers = manage(
        {
            "ready": fake("a"),
            "hanging": hanging,
            "lazy": lazy,
            "failed": ["/no/such"],
            "closed": HttpServer(closed.url),
            "off": StdioServer("x", enabled=False),
        },
        deferred=["lazy"],
        on_startup=told,
    )
    told.until("ready", "ready")
    assert servers.wait_ready("failed") is servers.wait_ready("closed") is False
    assert gate.arrived()
    found = {name: status.state for name, status in servers.status().items()}
    assert found == {
        "ready": "ready",
        "hanging": "starting",
        "lazy": "not started",
        "failed": "failed",
        "closed": "failed",
        "off": "disabled",
    }
    assert servers.status()["closed"].reason == "authentication required"
    servers.cancel_startup()
    assert servers.status()["hanging"].state == "cancelled"
    assert lazy.received == []


def test_waiting_for_one_that_does_not_come(manage: Manage) -> None:
    """3.21: late, failed and unknown are false."""
    hanging = fake("a")
    hanging.answer_late("initialize")
    servers = manage({"late": hanging, "failed": ["/no/such"], "ready": fake("b")})
    assert servers.wait_ready("ready")
    assert not servers.wait_ready("late", 0.05)
    assert not servers.wait_ready("failed")
    assert not servers.wait_ready("unknown")


def test_cancelling_leaves_alone_what_is_ready(manage: Manage, stdio_command: StdioCommand) -> None:
    """3.22: a program that is ready, and a server that hangs."""
    hanging = fake("a")
    gate = hanging.answer_late("initialize")
    servers = manage({"p": stdio_command(), "h": hanging})
    assert servers.wait_ready("p")
    assert gate.arrived()
    servers.cancel_startup()
    assert servers.status()["h"].state == "cancelled"
    assert servers.call_tool("mcp__p__echo", {"text": "hi"}).text == "hi"


def test_one_that_is_dropped_is_closed(stdio_command: StdioCommand, http_server: Http) -> None:
    """3.23: with a warning; what is starting, too."""
    gate = threading.Event()
    server = legacy(http_server)
    server.hold(gate, method="initialize")
    held = [syncline.ConnectionManager({"p": stdio_command(), "h": HttpServer(server.url)}).open()]
    pid = pid_of(held[0]["p"])
    server.wait_until(lambda: len(server.calls("initialize")) == 1)
    with pytest.warns(ResourceWarning, match="was deleted while still open"):
        held.clear()
    assert eventually(lambda: not alive(pid))
    assert eventually(lambda: not any(name.name.startswith("syncline:") for name in threading.enumerate()))


def test_closing_ends_everything(manage: Manage, stdio_command: StdioCommand) -> None:
    """3.24: what starts, what runs and what is waited for; one that cannot be closed does not keep the others open."""
    hanging, bad = fake("a"), fake("b")
    gate = hanging.answer_late("initialize")
    servers = manage({"h": hanging, "bad": bad, "p": stdio_command()})
    pid = pid_of(servers["p"])
    broken = servers["bad"]
    waiting = Background(lambda: servers.client("h"))
    listing = Background(servers.list_tools)
    assert gate.arrived()
    calling = Background(lambda: servers["p"].call_tool("slow", {"seconds": 100}))

    def fail() -> None:
        type(broken).close(broken)
        raise RuntimeError("no")

    broken.close = fail  # type: ignore[method-assign]
    servers.close()
    for each in (waiting, listing, calling):
        with pytest.raises(syncline.ConnectionClosed):
            each.result()
    assert not alive(pid)
    assert servers.status()["h"].state == "cancelled"
    servers.close()


def test_closing_goes_on_if_nobody_waits_for_it(manage: Manage, stdio_command: StdioCommand) -> None:
    """3.24: whoever gives up waiting, with Ctrl-C say, does not keep a program alive."""
    servers = manage({"p": stdio_command("ignore-term")})
    pid = pid_of(servers["p"])
    servers._fleet.close(0.0)
    assert eventually(lambda: not alive(pid))


def test_credentials_that_come_later_are_tried_by_the_next_reconcile(
    manage: Manage, http_server: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.25, 3.40: a server that refused us is asked again."""
    monkeypatch.setenv("HM_TOKEN", "planted-1")
    server = legacy(http_server)
    server.arm(401, 3)
    config = {"s": HttpServer(server.url, bearer_env="HM_TOKEN")}
    servers = manage(config)
    assert not servers.wait_ready("s")
    assert servers.status()["s"].reason == "authentication required"
    server._armed.clear()
    servers.reconcile(config)
    assert servers.wait_ready("s")


def test_what_failed_is_tried_again_in_the_background(manage: Manage) -> None:
    """3.26: one attempt at a time, nobody waits for it, and a success is told late."""
    told, server = Told(), fake("a")
    server.fail_next("tools/list", times=9, message="not yet")
    servers = manage({"s": server}, on_startup=told, reconnect=AT_ONCE, retry=syncline.RetryPolicy(list=1))
    assert list(told.summary().failed) == ["s"]
    told.until("s", "ready")
    assert servers.call_tool("mcp__s__a").text == "a"
    assert told.states == [("s", "starting"), ("s", "failed"), ("s", "ready")]
    assert servers.errors == {}


@pytest.mark.parametrize(
    ("server", "sees"),
    [
        ({}, "Basic"),
        ({"bearer_env": "HM_TOKEN"}, "Bearer planted-1"),
        ({"headers": {"Authorization": "Bearer planted-own"}}, "Bearer planted-own"),
        ({"auth": HTTPBasicAuth("own", "planted-one")}, "Basic b3duOnBsYW50ZWQtb25l"),
    ],
    ids=["for all", "token", "header", "its own"],
)
def test_credentials_for_all_are_for_those_that_have_none(
    manage: Manage, http_server: Http, monkeypatch: pytest.MonkeyPatch, server: dict[str, Any], sees: str
) -> None:
    """3.28: a token, a header or an authentication of its own comes first; programs get none of them."""
    monkeypatch.setenv("HM_TOKEN", "planted-1")
    peer = legacy(http_server)
    servers = manage(
        {"s": HttpServer(peer.url, **server), "m": fake("a")}, auth=HTTPBasicAuth("all", "planted-of-them")
    )
    servers.client("s")
    servers.client("m")
    seen = {str(request.header("Authorization")) for request in peer.requests}
    assert all(each.startswith(sees) for each in seen)


# 3B Reuse by identity


def test_what_has_not_changed_stays(manage: Manage, http_server: Http) -> None:
    """3.30, 3.39: no new handshake, no new listing, even if the tools have changed."""
    server = legacy(http_server)
    config = {"s": HttpServer(server.url)}
    servers = manage(config)
    before = servers["s"]
    server.tool("late", lambda _: "late")
    servers.reconcile(dict(config))
    assert servers["s"] is before
    assert "mcp__s__late" not in {tool.qualified_name for tool in servers.list_tools()}
    assert (len(server.calls("initialize")), len(server.calls("tools/list"))) == (1, 1)


def test_what_has_changed_is_made_anew(manage: Manage, http_server: Http) -> None:
    """3.31, 3.44: the way to a server, or its credentials."""
    server = legacy(http_server)
    config = HttpServer(server.url)
    servers = manage({"s": config})
    first = servers["s"]
    servers.reconcile({"s": replace(config, headers={"X-Key": "1"})})
    second = servers["s"]
    servers.reconcile({"s": replace(config, auth=HTTPBasicAuth("a", "planted-b"))})
    third = servers["s"]
    assert len({id(first), id(second), id(third)}) == 3
    assert len(server.calls("initialize")) == 3
    assert eventually(lambda: first.is_closed and second.is_closed)


def test_filters_and_limits_change_at_once(manage: Manage, http_server: Http) -> None:
    """3.32, 3.43: on the connection that there is."""
    server = legacy(http_server)
    gate = threading.Event()
    server.tool("wait", lambda call: call.wait(gate.wait))
    config = HttpServer(server.url)
    servers = manage({"s": config})
    client = servers["s"]
    assert len(servers.list_tools()) > 2
    changed = replace(config, enabled_tools=["echo", "wait"], startup_timeout=1, tool_timeout=0.5)
    servers.reconcile({"s": changed})
    assert [tool.name for tool in servers.list_tools()] == ["echo", "wait"]
    assert [tool.name for tool in client.list_tools()] == ["echo", "wait"]
    with pytest.raises(syncline.RequestTimeout):
        servers.call_tool("mcp__s__wait")
    gate.set()
    assert servers["s"] is client
    assert len(server.calls("initialize")) == 1


def test_variables_count_where_they_are_named(
    manage: Manage, http_server: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.33: a new value of one that is named makes a new connection."""
    server = legacy(http_server)
    config = {"s": HttpServer(server.url, env_headers={"X-Key": "HM_KEY"})}
    monkeypatch.setenv("HM_KEY", "1")
    servers = manage(config)
    servers.client("s")
    monkeypatch.setenv("HM_OTHER", "2")
    servers.reconcile(config)
    servers.client("s")
    assert len(server.calls("initialize")) == 1
    monkeypatch.setenv("HM_KEY", "2")
    servers.reconcile(config)
    servers.client("s")
    assert [request.header("X-Key") for request in server.calls("initialize")] == ["1", "2"]


def test_a_header_that_cannot_be_sent_is_no_credential(manage: Manage, http_server: Http) -> None:
    """3.35: the credentials of all servers apply, and changing them makes a new connection."""
    peer = legacy(http_server)
    servers = manage(
        {"s": HttpServer(peer.url, env_headers={"Authorization": "HM_UNSET"})}, auth=HTTPBasicAuth("a", "planted-b")
    )
    servers.client("s")
    assert str(peer.requests[0].header("Authorization")).startswith("Basic ")


def test_what_has_ended_is_replaced(manage: Manage, stdio_command: StdioCommand) -> None:
    """3.36: the same configuration, another process."""
    config = {"p": stdio_command()}
    servers = manage(config)
    client = servers["p"]
    os.kill(pid_of(client), 9)
    assert eventually(lambda: client.is_closed)
    assert servers.status()["p"].state == "failed"
    servers.reconcile(config)
    assert pid_of(servers["p"]) != pid_of(client)


def test_what_is_starting_is_taken_over(manage: Manage) -> None:
    """3.37: nobody waits for it, and it starts once."""
    told, server = Told(), fake("a")
    gate = server.answer_late("initialize")
    servers = manage({"s": server}, on_startup=told)
    assert gate.arrived()
    servers.reconcile({"s": server, "t": fake("b")})
    gate.release()
    first, second = told.summary(), told.summary()
    assert {first.round: first.ready, second.round: second.ready} == {1: ("s",), 2: ("s", "t")}
    assert count(server, "initialize") == 1
    assert told.states.count(("s", "starting")) == 1


def test_what_is_taken_away_while_it_starts_is_cancelled(manage: Manage) -> None:
    """3.38: its server sees the connection end."""
    told, server = Told(), fake("a")
    gate = server.answer_late("initialize")
    servers = manage({"s": server}, on_startup=told)
    assert gate.arrived()
    servers.reconcile({"s": server})
    servers.reconcile({})
    assert told.until("s", "cancelled").round == 1
    assert [told.summary().cancelled for _ in range(3)] == [("s",), ("s",), ()]
    assert eventually(lambda: not server._core.wires)


def test_a_policy_changes_without_a_new_connection(manage: Manage) -> None:
    """3.41: the next request follows it."""
    server = fake()
    asked: list[str] = []

    def ask(request: syncline.Elicitation) -> dict[str, object]:
        asked.append(request.server)
        return {"x": "y"}

    @server.tool
    def sign(call: syncline.testing.Call) -> str:
        return str(call.elicit("Sure?", FORM)["action"])

    servers = manage({"s": server}, on_elicitation=ask)
    assert servers.call_tool("mcp__s__sign").text == "accept"
    servers.elicitation = "never"
    servers.reconcile({"s": server})
    assert servers.call_tool("mcp__s__sign").text == "decline"
    assert (asked, count(server, "initialize")) == (["s"], 1)


def test_all_can_be_made_anew(manage: Manage) -> None:
    """3.42: for once; one that was refused has done nothing, and is asked for again."""
    server = fake("a")
    servers = manage({"s": server})
    servers.client("s")
    with pytest.raises(syncline.ConfigError):
        servers.reconcile({"s": ""}, reconnect=True)
    assert count(server, "initialize") == 1
    servers.reconcile({"s": server}, reconnect=True)
    servers.client("s")
    servers.reconcile({"s": server})
    servers.client("s")
    assert count(server, "initialize") == 2


def test_there_may_be_no_servers(manage: Manage) -> None:
    """3.45: nothing is there, and nothing can be called."""
    servers = manage({}, elicitation="never")
    assert (len(servers), list(servers.list_tools()), servers.status(), servers.elicitation) == (0, [], {}, "never")
    with pytest.raises(syncline.UnknownTool, match="no tool is called 'mcp__s__a'; there are no servers"):
        servers.call_tool("mcp__s__a")
    with pytest.raises(syncline.UnknownServer, match="no server is called 's'; there are none"):
        servers.call_tool("a", server="s")


# 3C Required and optional servers


def test_required_servers_are_reported_together(manage: Manage, http_server: Http) -> None:
    """3.50, 3.51: sorted, each with its cause; those that are disabled or fine are not among them."""
    told = Told()
    config = {
        "z": StdioServer("/no/z", required=True),
        "a": StdioServer("/no/a", required=True),
        "m": HttpServer(legacy(http_server).url, required=True),
        "off": StdioServer("/no/off", required=True, enabled=False),
        "optional": StdioServer("/no/optional"),
    }
    servers = manage(config, opened=False, on_startup=told)
    with pytest.raises(syncline.RequiredServersFailed) as caught:
        servers.open()
    assert list(caught.value.errors) == ["a", "z"]
    assert [line.split(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == ["a", "z"]
    assert "no program '/no/a'" in str(caught.value)
    assert eventually(lambda: not any(name.name.startswith("syncline:") for name in threading.enumerate()))


def test_a_snapshot_waits_for_required_servers(manage: Manage, http_server: Http) -> None:
    """3.52, 3.56: whatever the grace is; and for those that are named for this one."""
    gate = threading.Event()
    server, other = legacy(http_server), fake("x")
    server.hold(gate, method="initialize")
    named = other.answer_late("initialize")
    servers = manage({}, grace=0.05)
    servers.reconcile({"r": HttpServer(server.url, required=True), "n": other})
    taking = Background(servers.snapshot)
    server.wait_until(lambda: len(server.calls("initialize")) == 1)
    assert taking.thread.is_alive()
    gate.set()
    assert taking.result().ready == ("r",)
    naming = Background(lambda: servers.snapshot(require=["n"]))
    assert named.arrived()
    assert naming.thread.is_alive()
    named.release()
    assert naming.result().ready == ("r", "n")
    with pytest.raises(syncline.UnknownServer):
        servers.snapshot(require=["unknown"])


def test_a_snapshot_starts_what_it_requires(manage: Manage) -> None:
    """3.56, 3.11: also what starts only when it is needed."""
    servers = manage({"lazy": fake("a"), "other": fake("b")}, deferred=["lazy", "other"])
    assert servers.snapshot(require=["lazy"]).ready == ("lazy",)
    assert servers.status()["other"].state == "not started"


def test_optional_servers_share_one_grace(manage: Manage) -> None:
    """3.53: counted once, from the first snapshot on."""
    fakes = {name: fake(name) for name in ("slow", "slower")}
    for server in fakes.values():
        server.answer_late("initialize")
    servers = manage({**fakes, "good": fake("a")}, grace=0.4)
    start = time.monotonic()
    first = servers.snapshot()
    then = time.monotonic()
    servers.snapshot()
    assert 0.4 <= then - start < 0.4 + SOON / 10
    assert time.monotonic() - then < 0.4
    assert (first.ready, first.missing, first.revision) == (("good",), ("slow", "slower"), None)


def test_no_grace_is_no_limit(manage: Manage) -> None:
    """3.54: 0 waits until all have started or failed."""
    server = fake("a")
    gate = server.answer_late("initialize")
    servers = manage({"s": server}, grace=0)
    taking = Background(servers.snapshot)
    assert gate.arrived()
    assert taking.thread.is_alive()
    gate.release()
    assert taking.result().ready == ("s",)


def test_managers_share_the_grace_of_a_server(manage: Manage, http_server: Http) -> None:
    """3.55: the second does not wait again, unless its grace is another one; what is not remembered is waited for by each."""
    gate, cache = threading.Event(), syncline.CatalogueCache()
    server = legacy(http_server)
    server.hold(gate, 9, method="initialize")
    config = {"s": HttpServer(server.url)}

    def waited(servers: syncline.ConnectionManager) -> bool:
        start = time.monotonic()
        servers.snapshot()
        return time.monotonic() - start >= 0.5

    assert waited(manage(config, grace=0.5, cache=cache))
    assert not waited(manage(config, grace=0.5, cache=cache))
    assert waited(manage(config, grace=0.51, cache=cache))
    private = {"s": HttpServer(server.url, auth=HTTPBasicAuth("a", "planted-b"))}
    assert waited(manage(private, grace=0.5, cache=cache))
    assert waited(manage(private, grace=0.5, cache=cache))
    gate.set()


def test_resources_of_one_server_are_waited_for_and_those_of_all_are_not(manage: Manage) -> None:
    """3.57, 3.122: a server that starts is left out of the whole, and asked by name it is waited for."""
    slow, quick = fake(), fake()
    slow.resource("memo://slow", "s")
    quick.resource("memo://quick", "q")
    gate = slow.answer_late("initialize")
    servers = manage({"slow": slow, "quick": quick}, grace=0.05)
    servers.client("quick")
    assert [found.item.uri for found in servers.list_resources()] == ["memo://quick"]
    asking = Background(lambda: servers.list_resources(["slow"]))
    reading = Background(lambda: servers.read_resource("slow", "memo://slow"))
    assert gate.arrived()
    assert asking.thread.is_alive()
    gate.release()
    assert [(found.server, found.item.uri) for found in asking.result()] == [("slow", "memo://slow")]
    assert reading.result().text == "s"


def test_an_optional_failure_is_final_and_a_required_one_is_not(manage: Manage) -> None:
    """3.58, 3.72: a snapshot is kept with the one, and not with the other."""
    good, bad = fake("a"), StdioServer("/no/such")
    servers = manage({"good": good, "bad": bad})
    servers.list_tools()
    assert servers.snapshot() is servers.snapshot()
    assert list(servers.snapshot().errors) == ["bad"]
    servers.reconcile({"good": good, "bad": replace(bad, required=True)})
    servers.list_tools()
    first, second = servers.snapshot(), servers.snapshot()
    assert first is not second
    assert first.revision is second.revision is None
    with pytest.raises(syncline.RequiredServersFailed):
        servers.require()

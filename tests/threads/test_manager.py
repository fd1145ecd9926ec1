"""Many servers at once: threads, losses, forks, and servers that are dead or slow."""

from __future__ import annotations

import logging
import os
import pickle
import socket
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

import syncline
from syncline import HttpServer, StdioServer, Timeouts
from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.monitor import Monitor
from syncline.manager import fleet as fleets
from tests.fixtures.managers import LEGACY, Manage, Told, count, fake, offer, pid_of
from tests.fixtures.partner import SOON, Background
from tests.fixtures.processes import alive, eventually
from tests.fixtures.servers import StdioCommand
from tools.fakeserver.mcp_http import McpHttpServer

Http = Callable[..., McpHttpServer]


def ours(role: str) -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(f"syncline:manager:{role}")]


class Slow(Monitor):
    """The first who wants it has to wait until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived, self.go = threading.Event(), threading.Event()

    def __enter__(self) -> None:
        if not self.arrived.is_set():
            self.arrived.set()
            assert self.go.wait(SOON)
        super().__enter__()


# Losses


def test_a_lost_connection_is_made_again_by_the_next_use(manage: Manage, stdio_command: StdioCommand) -> None:
    """B181: until then its state says so; the other server is untouched."""
    told = Told()
    servers = manage({"lost": stdio_command(), "other": stdio_command()}, on_startup=told)
    lost, other = servers["lost"], servers["other"]
    told.summary()
    os.kill(pid_of(lost), 9)
    assert eventually(lambda: lost.is_closed)
    status = servers.status()["lost"]
    assert (status.state, servers.status()["other"].state) == ("failed", "ready")
    assert "made again when the server is used next" in str(status.text)
    assert list(servers.errors) == ["lost"]
    assert servers.call_tool("mcp__lost__echo", {"text": "back"}).text == "back"
    assert servers["lost"] is not lost
    assert servers["other"] is other
    assert told.ends(("lost", "starting"), ("lost", "ready")), told.states


@pytest.mark.parametrize(
    "use",
    [
        lambda servers: servers.list_tools(),
        lambda servers: servers.snapshot(),
        lambda servers: servers.refresh("s"),
        lambda servers: servers.list_resources(),
        lambda servers: servers.wait_ready("s"),
    ],
    ids=["list", "snapshot", "refresh", "resources", "wait"],
)
def test_every_use_makes_a_lost_connection_again(manage: Manage, use: Callable[[Any], object]) -> None:
    """B181"""
    server = fake("a")
    servers = manage({"s": server}, grace=0)
    servers.client("s")
    server.drop_connection()
    assert eventually(lambda: servers.status()["s"].state == "failed")
    use(servers)
    assert servers.status()["s"].state == "ready"
    assert servers.errors == {}


def test_many_who_use_a_lost_connection_make_one(manage: Manage) -> None:
    """B181"""
    server = fake("a")
    servers = manage({"s": server})
    servers.client("s")
    server.drop_connection()
    assert eventually(lambda: servers.status()["s"].state == "failed")
    calls = [Background(lambda: servers.call_tool("mcp__s__a").text) for _ in range(16)]
    assert {call.result() for call in calls} == {"a"}
    assert count(server, "initialize") == 2


# Dead and slow servers


def test_dead_and_slow_servers_hold_up_nobody(
    manage: Manage, stdio_command: StdioCommand, caplog: pytest.LogCaptureFixture
) -> None:
    """B186: fine, refused, a black hole, one that exits at once, one that is slow; and no noise from threads."""
    told, slow = Told(), fake("late")
    gate = slow.answer_late("initialize")
    with socket.create_server(("127.0.0.1", 0)) as hole, caplog.at_level(logging.ERROR):
        with socket.create_server(("127.0.0.1", 0)) as free:
            refused = free.getsockname()[1]
        config = {
            "fine": stdio_command(),
            "refused": HttpServer(f"http://127.0.0.1:{refused}/mcp"),
            "hole": HttpServer(f"http://127.0.0.1:{hole.getsockname()[1]}/mcp", startup_timeout=1),
            "exits": stdio_command("exit-at-once"),
            "slow": slow,
        }
        servers = manage(config, on_startup=told, reconnect=None)
        assert servers.call_tool("mcp__fine__echo", {"text": "hi"}).text == "hi"
        assert servers.status()["slow"].state == "starting"
        assert gate.arrived()
        gate.release()
        summary = told.summary()
    assert (summary.ready, list(summary.failed)) == (("fine", "slow"), ["refused", "hole", "exits"])
    kinds = {name: type(error) for name, error in summary.failed.items()}
    assert kinds["refused"] is syncline.ConnectFailed
    assert issubclass(kinds["hole"], syncline.RequestTimeout)
    assert kinds["exits"] is syncline.ServerExited
    found = servers.list_tools()
    assert set(found.errors) == {"refused", "hole", "exits"}
    assert {tool.server for tool in found} == {"fine", "slow"}
    assert caplog.records == []


def test_a_server_that_cannot_even_be_made_has_failed(manage: Manage) -> None:
    """What somebody's own function raises is an error like others."""

    def make() -> Any:
        raise ZeroDivisionError("no way")

    servers = manage({"s": make}, reconnect=None)
    with pytest.raises(syncline.ConnectFailed, match="s: ZeroDivisionError: no way"):
        servers.client("s")


def test_an_attempt_in_the_background_that_nobody_wants_any_more_is_dropped(manage: Manage) -> None:
    told, server = Told(), fake("a")
    server.fail_next("tools/list", message="not yet")
    again = syncline.Reconnect(first=0.01, most=0.01, jitter=False)
    servers = manage({"s": server}, on_startup=told, reconnect=again)
    gate = server.answer_late("tools/list")
    assert list(told.summary().failed) == ["s"]
    assert gate.arrived()
    servers.reconcile({"t": fake("b")})
    gate.release()
    assert [tool.name for tool in servers.list_tools()] == ["b"]
    assert eventually(lambda: not server._core.wires)
    assert ("s", "ready") not in told.states


def test_attempts_in_the_background_go_on(manage: Manage) -> None:
    """Until there is one that works; the error is that of the last one."""
    told, server = Told(), fake("a")
    for message in ("first", "second", "third"):
        server.fail_next("tools/list", message=message)
    again = syncline.Reconnect(first=0.01, most=0.01, jitter=False)
    servers = manage({"s": server}, on_startup=told, reconnect=again)
    told.until("s", "ready")
    assert count(server, "initialize") == 4
    assert servers.errors == {}


def test_tools_that_have_changed_and_cannot_be_listed_stay(manage: Manage, caplog: pytest.LogCaptureFixture) -> None:
    server = fake("a")
    servers = manage({"s": server})
    servers.client("s")
    assert eventually(lambda: ours("start") == [])
    server.fail_next("tools/list", message="broken")
    with caplog.at_level(logging.WARNING):
        server.changed("tools")
        assert eventually(lambda: "the changed tools could not be listed" in caplog.text)
    assert [tool.name for tool in servers.list_tools()] == ["a"]


def test_changes_are_heard_of_without_a_stream_for_them(manage: Manage, http_server: Http) -> None:
    """A server that offers none: what comes with an answer counts as well."""
    changed = threading.Event()
    peer = http_server(versions=[LEGACY])
    peer.catalogue.capabilities["tools"] = {"listChanged": True}
    peer.tool("change", lambda call: call.notify("notifications/tools/list_changed", {}) or "changed")
    servers = manage({"s": HttpServer(peer.url)}, on_change=lambda name: changed.set())
    servers.client("s")
    assert eventually(lambda: ours("start") == [])
    assert servers.call_tool("mcp__s__change").text == "changed"
    assert changed.wait(SOON)
    assert len(peer.calls("tools/list")) == 2


def test_an_older_listing_never_takes_the_place_of_a_newer_one(manage: Manage) -> None:
    """One thread has its answer and has not put it in its place when another one asks again."""
    server = fake("a")
    servers = manage({"s": server}, watch=False)
    servers.client("s")
    link = servers._fleet.links["s"]
    slow = link._monitor = Slow()
    first = Background(lambda: servers.refresh("s"))
    assert slow.arrived.wait(SOON)
    offer(server, "b")
    second = Background(lambda: servers.refresh("s"))
    second.thread.join(0.2)  # it ends by then if the two are not kept apart
    slow.go.set()
    first.result()
    second.result()
    assert [tool.name for tool in servers.list_tools()] == ["a", "b"]


def test_a_listing_that_fails_in_an_unexpected_way_is_an_error_like_others(
    manage: Manage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    servers = manage({"s": fake("a"), "t": fake("b")})

    def fail(**_: object) -> Any:
        raise ZeroDivisionError("no way")

    monkeypatch.setattr(servers["s"], "list_resources", fail)
    servers.client("t")
    found = servers.list_resources()
    assert {name: str(error) for name, error in found.errors.items()} == {"s": "s: ZeroDivisionError: no way"}
    assert "could not be asked" in caplog.text


# Threads


def test_no_more_threads_than_the_crew_has(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that wait for a thread start later; when all have started, no such thread is left."""
    monkeypatch.setattr(fleets, "CREW", 4)
    fakes = {f"s{number}": fake("a") for number in range(12)}
    gates = [server.answer_late("initialize") for server in fakes.values()]
    servers = manage(fakes, watch=False)
    assert all(gate.arrived() for gate in gates[:4])
    assert len(ours("start")) == 4
    assert not any(gate._arrived for gate in gates[4:])
    for gate in gates:
        gate.release()
    assert len(servers.list_tools()) == 12
    assert eventually(lambda: ours("start") == [])
    assert len(servers.list_resources()) == 0
    assert eventually(lambda: ours("list") == [])


def test_many_servers_and_tools(manage: Manage) -> None:
    """A hundred, with a hundred tools each."""
    fakes = {f"server-{number}": fake(*(f"tool.{tool}" for tool in range(100)), page_size=100) for number in range(100)}
    servers = manage(fakes)
    found = servers.list_tools()
    assert len(found) == len({tool.qualified_name for tool in found}) == 10_000
    assert found.errors == {}
    assert servers.call_tool("mcp__server_42__tool_7").text == "tool.7"
    assert servers.snapshot() is servers.snapshot()


def test_everybody_does_everything_at_once(manage: Manage) -> None:
    """Configurations that come and go while others list and call: no call goes astray, nothing hangs."""
    one, two, three = (fake(name) for name in ("a", "b", "c"))
    configs: list[dict[str, Any]] = [{"s": one, "t": two}, {"s": one, "u": three}, {"s": one}]
    servers = manage(configs[0])
    over = threading.Event()
    calls: list[int] = []

    def call() -> None:
        while not over.is_set():
            assert servers.call_tool("mcp__s__a").text == "a"
            calls.append(1)

    def listen() -> None:
        while not over.is_set():
            found = servers.list_tools()
            assert found[0].qualified_name == "mcp__s__a"
            snapshot = servers.snapshot()
            assert snapshot.call_tool("mcp__s__a").text == "a"

    working = [Background(work) for work in (call, call, listen, listen)]
    for number in range(40):
        servers.reconcile(configs[number % 3])
        servers.status()
    assert eventually(lambda: len(calls) > 10)
    over.set()
    for each in working:
        each.result()
    assert count(one, "initialize") == 1


def test_a_callback_may_close_the_manager() -> None:
    """From the thread of events."""
    closed = threading.Event()

    def on_startup(event: object) -> None:
        if isinstance(event, syncline.StartupSummary):
            servers.close()
            closed.set()

    servers = syncline.ConnectionManager({"s": fake("a")}, on_startup=on_startup)
    servers.open()
    assert closed.wait(SOON)
    with pytest.raises(syncline.ConnectionClosed):
        servers.list_tools()


def test_a_callback_that_fails_or_hangs_holds_up_nobody(manage: Manage, caplog: pytest.LogCaptureFixture) -> None:
    gate = threading.Event()

    def on_startup(event: object) -> None:
        gate.wait(SOON)
        raise RuntimeError("no")

    with caplog.at_level(logging.ERROR):
        servers = manage({"s": fake("a")}, on_startup=on_startup)
        assert servers.call_tool("mcp__s__a").text == "a"
        gate.set()
        servers.close()
    assert "a callback failed" in caplog.text


def test_closing_waits_for_all_and_may_be_done_by_many(manage: Manage, stdio_command: StdioCommand) -> None:
    servers = manage({f"p{number}": stdio_command() for number in range(4)})
    pids = [pid_of(servers[name]) for name in servers]
    for each in [Background(servers.close) for _ in range(4)]:
        each.result()
    assert not any(alive(pid) for pid in pids)


def test_closing_waits_for_those_that_the_configuration_has_lost(manage: Manage, stdio_command: StdioCommand) -> None:
    """A program that takes its time is being ended in the background when the manager is closed."""
    servers = manage({"p": stdio_command("ignore-term")})
    pid = pid_of(servers["p"])
    servers.reconcile({})
    assert alive(pid)
    servers.close()
    assert not alive(pid)


def test_ctrl_c_during_a_reconcile_leaves_no_connection_behind(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    servers = manage({"s": fake("a"), "t": fake("b")})
    clients = [servers[name] for name in servers]

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(servers._fleet, "drop", interrupt)
        with pytest.raises(KeyboardInterrupt):
            servers.reconcile({})
    servers.close()
    assert all(client.is_closed for client in clients)


def test_nothing_is_made_again_once_all_is_being_closed(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a use that began just before, and goes on before the threads that start servers have ended."""
    server = fake("a")
    servers = manage({"s": server})
    servers.client("s")
    server.drop_connection()
    assert eventually(lambda: servers.status()["s"].state == "failed")
    slow, stop = Slow(), servers._fleet._starters.stop
    servers._fleet.monitor = slow
    listing = Background(servers.list_tools)
    assert slow.arrived.wait(SOON)

    def stop_late(deadline: Deadline) -> list[str]:
        slow.go.set()
        listing.thread.join(SOON)
        return stop(deadline)

    monkeypatch.setattr(servers._fleet._starters, "stop", stop_late)
    servers.close()
    with pytest.raises(syncline.ConnectionClosed):
        listing.result()
    assert count(server, "initialize") == 1


def test_no_right_to_streams_is_given_out_by_a_manager_that_is_closed_meanwhile(manage: Manage) -> None:
    servers = manage({"s": HttpServer("https://a.example/mcp")}, deferred=["s"])

    class Overtaken:
        def __enter__(self) -> None:
            servers.close()

        def __exit__(self, *_: object) -> None:
            pass

    servers._publishing = Overtaken()  # type: ignore[assignment]
    with pytest.raises(syncline.ConnectionClosed):
        servers.opener("s")


# The process


def test_a_forked_child_is_refused_and_the_parent_goes_on(manage: Manage) -> None:
    """What the child would do is done here, where the test can see it."""
    server = fake("a")
    servers = manage({"s": server})
    client = servers["s"]
    other = syncline.ConnectionManager({"s": server})
    other._opened = True
    other._fleet.forked()
    for use in (other.list_tools, other.snapshot, lambda: other.client("s"), lambda: other.reconcile({})):
        with pytest.raises(syncline.ForkedConnection, match="belong to the parent"):
            use()
    assert other.wait_ready("s") is False
    other.close()
    assert not client.is_closed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_real_fork(manage: Manage, stdio_command: StdioCommand) -> None:
    """The child says with its exit status what it got; the parent's servers stay alive."""
    servers = manage({"p": stdio_command()})
    servers.client("p")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            servers.call_tool("mcp__p__echo", {"text": "child"})
        except syncline.ForkedConnection:
            servers.close()
            status = 0
        finally:
            os._exit(status)
    _, code = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(code) == 0
    assert servers.call_tool("mcp__p__echo", {"text": "parent"}).text == "parent"


def test_the_end_of_the_process_closes_it(stdio_command: StdioCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no thread can be started any more, as in Python 3.12 and later."""
    servers = syncline.ConnectionManager({"p": stdio_command("ignore-term"), "q": stdio_command()}).open()
    pids = [pid_of(servers[name]) for name in servers]
    assert eventually(lambda: ours("start") == [])

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        lifecycle._close_all()
    assert not any(alive(pid) for pid in pids)


def test_it_belongs_to_its_process() -> None:
    servers = syncline.ConnectionManager({"s": StdioServer("x")})
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(servers)
    assert repr(servers) == "<syncline.ConnectionManager of s>"


@pytest.mark.parametrize(
    ("servers", "options", "problem"),
    [
        ([], {}, "servers are a mapping"),
        ("mcp.json", {}, r"not str; load_config\(\) reads them from a file"),
        ({"s": {"command": "x"}}, {}, "s: an entry as in a file is no server; write it as a StdioServer"),
        ({"s": "http://"}, {}, "s: 'http://' is not an http"),
        ({"s": 7}, {}, "s: a server is a URL"),
        ({}, {"grace": -1}, "grace is a number of seconds"),
        ({}, {"prefix": "a:"}, "a prefix has"),
    ],
)
def test_settings_that_cannot_work(servers: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(syncline.ConfigError, match=problem):
        syncline.ConnectionManager(servers, **options)


@pytest.mark.parametrize("option", ["timeuot", "name", "server"])
def test_an_option_that_clients_do_not_have_is_refused_at_once(option: str) -> None:
    with pytest.raises(TypeError, match=f"ConnectionManager.* unexpected keyword arguments: {option}"):
        syncline.ConnectionManager({"s": StdioServer("x")}, **cast("Any", {option: "x"}))


def test_a_transport_serves_once() -> None:
    transport = fake("a")()
    with pytest.raises(syncline.ConfigError, match="s: a transport serves one connection"):
        syncline.ConnectionManager({"s": transport})


def test_limits_hold_for_all_unless_a_server_has_its_own(manage: Manage, http_server: Http) -> None:
    peer = http_server(versions=[LEGACY])
    config = {"own": HttpServer(peer.url, tool_timeout=7, startup_timeout=8), "all": HttpServer(peer.url)}
    servers = manage(config, timeout=Timeouts(call=5, startup=6), limits=syncline.Limits(pages=3))
    found = {name: servers[name]._session for name in servers}
    assert {name: (each.timeouts.startup, each.timeouts.call) for name, each in found.items()} == {
        "own": (8, 7),
        "all": (6, 5),
    }
    assert {each.limits.pages for each in found.values()} == {3}


def test_it_is_opened_once(manage: Manage) -> None:
    servers = manage({"s": fake("a")})
    with servers as same:
        assert same is servers
        with pytest.raises(syncline.LocalProtocolError, match="opened before"):
            servers.open()
    with pytest.raises(syncline.ConnectionClosed):
        servers["s"]


def test_a_snapshot_is_a_collection_of_tools(manage: Manage) -> None:
    servers = manage({"s": fake("a", "b")}, grace=0)
    snapshot = servers.snapshot()
    assert [tool.name for tool in snapshot] == ["a", "b"]
    assert (len(snapshot), "mcp__s__a" in snapshot, "a" in snapshot) == (2, True, False)
    assert snapshot["mcp__s__b"].name == "b"
    with pytest.raises(syncline.UnknownTool, match="did you mean mcp__s__a"):
        snapshot.call_tool("a")
    assert repr(snapshot) == f"<syncline.Snapshot of 1 servers: 2 tools, revision {snapshot.revision}>"
    assert repr(servers.status()) == "{'s': <ready>}"

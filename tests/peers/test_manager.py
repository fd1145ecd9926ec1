"""Many servers at once: six that this project did not write, and three that are broken."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

import syncline
from syncline import ConnectFailed, ConnectionManager, HttpServer, RequestTimeout, StdioServer
from tests.fixtures.managers import Told, pid_of
from tests.fixtures.processes import alive, eventually
from tests.peers.catalogue import EVERYTHING, FILESYSTEM, GIT, MEMORY, TIME, Case
from tests.peers.conftest import HttpServers, Known, children

pytestmark = pytest.mark.peers

#: The names in the configuration, and what they are.
REAL = {
    "everything": Case(EVERYTHING, "stdio", "auto"),
    "everything over http": Case(EVERYTHING, "http", "auto"),
    "time": Case(TIME, "stdio", "auto"),
    "git": Case(GIT, "stdio", "auto"),
    "files": Case(FILESYSTEM, "stdio", "auto"),
    "memory": Case(MEMORY, "stdio", "auto"),
}
PROGRAMS = [name for name, case in REAL.items() if case.transport == "stdio"]


@pytest.fixture(scope="module")
def real(places: dict[str, str], http_servers: HttpServers) -> dict[str, Known]:
    return {name: Known(case, places, http_servers) for name, case in REAL.items()}


@pytest.fixture(scope="module")
def working(real: dict[str, Known]) -> dict[str, HttpServer | StdioServer]:
    """Those over HTTP run from now on."""
    return {name: known.server() for name, known in real.items()}


@pytest.fixture
def broken(places: dict[str, str]) -> Iterator[dict[str, HttpServer | StdioServer]]:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens there
        yield {
            "missing": StdioServer("/no/such/program"),
            "refused": HttpServer(f"http://127.0.0.1:{closed.getsockname()[1]}/mcp"),
            "hanging": StdioServer(places["node"], ("-e", "process.stdin.resume()"), startup_timeout=3),
        }


def test_six_real_servers_and_three_broken_ones(
    real: dict[str, Known],
    working: dict[str, HttpServer | StdioServer],
    broken: dict[str, HttpServer | StdioServer],
) -> None:
    told, before = Told(), children()
    config = {**working, **broken}
    with ConnectionManager(config, on_startup=told, reconnect=None) as servers:
        summary = told.summary()
        assert sorted(summary.ready) == sorted(REAL)
        assert {name: type(error) for name, error in summary.failed.items()} == {
            "missing": ConnectFailed,
            "refused": ConnectFailed,
            "hanging": RequestTimeout,
        }
        assert {name: status.state for name, status in servers.status().items()} == {
            **dict.fromkeys(REAL, "ready"),
            **dict.fromkeys(broken, "failed"),
        }
        assert "did not start within 3 seconds" in str(servers.status()["hanging"].text)

        tools = servers.list_tools()
        assert sorted(tools.errors) == sorted(broken)
        assert {tool.server for tool in tools} == set(REAL)
        qualified = {(tool.server, tool.name): tool.qualified_name for tool in tools}
        assert len(set(qualified.values())) == len(tools)
        assert qualified["everything over http", "get-sum"] == "mcp__everything_over_http__get_sum"
        for name, known in real.items():
            call = known.case.peer.call
            result = servers.call_tool(qualified[name, call.tool], known.arguments(call))
            result.raise_for_error()
            assert call.text in result.text
        resources = {(item.server, item.item.uri) for item in servers.list_resources()}
        for name in ("everything", "everything over http", "memory"):
            resource = REAL[name].peer.resource
            assert resource is not None
            assert (name, resource[0]) in resources

        clients = {name: servers[name] for name in REAL}
        pids = {name: pid_of(clients[name]) for name in PROGRAMS}
        assert set(pids.values()) <= children() - before
        git, files = working["git"], working["files"]
        assert isinstance(git, StdioServer)
        assert isinstance(files, StdioServer)
        after = {name: server for name, server in working.items() if name != "memory"}
        after["git"] = replace(git, env={"GIT_PAGER": "cat"})
        after["files"] = replace(files, enabled=False)
        servers.reconcile(after)
        assert sorted(told.summary().ready) == ["everything", "everything over http", "git", "time"]
        assert servers.status()["files"].state == "disabled"
        assert {name for name in servers if servers[name] is clients[name]} == {
            "everything",
            "everything over http",
            "time",
        }
        assert pid_of(servers["git"]) != pids["git"]
        for gone in ("git", "files", "memory"):
            assert eventually(lambda pid=pids[gone]: not alive(pid))  # type: ignore[misc]
        assert not servers.list_tools().errors
        log = real["git"].case.peer.call
        assert log.text in servers.call_tool("mcp__git__git_log", real["git"].arguments(log)).text
        with pytest.raises(syncline.UnknownServer, match="'files' is disabled"):
            servers.client("files")
    assert children() <= before

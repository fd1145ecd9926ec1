"""Many servers: the catalogue, names, calls, resources, and what servers ask (3D to 3I)."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest
from requests.auth import HTTPBasicAuth

import syncline
from syncline import CatalogueCache, Elicitation, Elicitations, HttpServer
from syncline.concurrency.deadline import Deadline
from syncline.manager import link as links
from syncline.session.handlers import Cancel
from syncline.testing import Call, FakeServer
from tests.fixtures.managers import LEGACY, MODERN, Manage, count, fake, offer
from tests.fixtures.partner import SOON, Background
from tests.fixtures.processes import eventually
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange

Http = Callable[..., McpHttpServer]
FORM = {"type": "object", "properties": {"x": {"type": "string"}}}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
OPT_OUT = {"codex/tool-catalog-cache": {"cacheable": False}}


def legacy(http_server: Http, **options: Any) -> McpHttpServer:
    return http_server(versions=[LEGACY], **options)


def shown(listing: Any) -> list[str]:
    return [tool.qualified_name for tool in listing]


class Warm:
    """A server whose catalogue is remembered, and which does not start again before the gate opens."""

    def __init__(self, http_server: Http, manage: Manage, **settings: Any) -> None:
        self.cache = CatalogueCache()
        self.gate = threading.Event()
        self.peer = legacy(http_server)
        self.peer.tool("hint", lambda _: "hint", annotations={"readOnlyHint": True})
        self.config = {"s": HttpServer(self.peer.url, **settings)}
        self.first = manage(self.config, cache=self.cache)
        self.first.client("s")
        self.peer.hold(self.gate, 9, method="initialize")


# 3D Catalogue, cache, refresh, revision


def test_all_are_asked_and_those_that_fail_are_left_out(manage: Manage) -> None:
    """3.60: at the same time; their errors are beside the list."""
    one, two, bad = fake("a"), fake("b"), fake("c")
    gates = [one.answer_late("tools/list"), two.answer_late("tools/list")]
    bad.fail_next("tools/list", message="broken", times=9)
    servers = manage({"one": one, "bad": bad, "two": two}, reconnect=None)
    listing = Background(servers.list_tools)
    assert all(gate.arrived() for gate in gates)
    for gate in gates:
        gate.release()
    found = listing.result()
    assert shown(found) == ["mcp__one__a", "mcp__two__b"]
    assert list(found.errors) == ["bad"]
    assert "broken" in str(found.errors["bad"])


def test_a_list_waits_for_what_nobody_remembers(manage: Manage, http_server: Http) -> None:
    """3.61: and answers from memory where somebody does; a limit says who is missing."""
    warm = Warm(http_server, manage)
    waiting = manage(warm.config, cache=CatalogueCache())
    late = waiting.list_tools(timeout=0.05)
    assert (list(late), list(late.errors)) == ([], ["s"])
    assert "still starting" in str(late.errors["s"])
    listing = Background(waiting.list_tools)
    assert "mcp__s__echo" in shown(manage(warm.config, cache=warm.cache).list_tools())
    assert listing.thread.is_alive()
    warm.gate.set()
    assert "mcp__s__echo" in shown(listing.result())


def test_what_has_failed_contributes_nothing(manage: Manage, http_server: Http) -> None:
    """3.62, 3.69, 3.82: though it is remembered; what it said about itself still is."""
    warm = Warm(http_server, manage)
    warm.peer._armed.clear()
    warm.peer.arm(401, 99, method="initialize")
    servers = manage(warm.config, cache=warm.cache)
    assert not servers.wait_ready("s")
    assert (list(servers.list_tools()), list(servers.snapshot())) == ([], [])
    about = servers.about("s")
    assert about is not None
    assert about.instructions == "A server for tests."


def test_a_memory_without_tools_is_none(manage: Manage, http_server: Http) -> None:
    """3.63: an empty list is waited for."""
    cache, gate, peer = CatalogueCache(), threading.Event(), legacy(http_server)
    tools, peer.catalogue.tools = peer.catalogue.tools, {}
    config = {"s": HttpServer(peer.url)}
    assert list(manage(config, cache=cache).list_tools()) == []
    peer.catalogue.tools = tools
    peer.hold(gate, method="initialize")
    servers = manage(config, cache=cache)
    listing = Background(servers.list_tools)
    peer.wait_until(lambda: len(peer.calls("initialize")) == 2)
    assert listing.thread.is_alive()
    gate.set()
    assert "mcp__s__echo" in shown(listing.result())


def test_what_is_remembered_is_shown_and_not_called(manage: Manage, http_server: Http) -> None:
    """3.64, 3.69: without annotations, and a snapshot does not call it before its server is there; the manager waits."""
    warm = Warm(http_server, manage)
    servers = manage(warm.config, cache=warm.cache)
    [tool] = [tool for tool in servers.list_tools() if tool.name == "hint"]
    assert (tool.live, tool.annotations) == (False, None)
    snapshot = servers.snapshot()
    assert "mcp__s__hint" in snapshot
    assert snapshot.revision is None
    with pytest.raises(syncline.NotReady, match=r"^s: .*not connected"):
        snapshot.call_tool("mcp__s__hint")
    with pytest.raises(syncline.NotReady, match=r"^s: .*starting"):
        servers.call_tool("mcp__s__hint", wait=False)
    calling = Background(lambda: servers.call_tool("mcp__s__hint"))
    warm.peer.wait_until(lambda: len(warm.peer.calls("initialize")) == 2)
    assert warm.peer.calls("tools/call") == []
    warm.gate.set()
    assert calling.result().text == "hint"
    [tool] = [tool for tool in servers.list_tools() if tool.name == "hint"]
    assert tool.annotations is not None


@pytest.mark.parametrize(
    "change",
    [{"headers": {"X": "1"}}, {"auth": HTTPBasicAuth("a", "planted-b")}, {"trust_env": False}],
    ids=["headers", "auth", "environment"],
)
def test_another_configuration_remembers_nothing(manage: Manage, http_server: Http, change: dict[str, Any]) -> None:
    """3.65, 3.66: and another name does not either."""
    warm = Warm(http_server, manage)
    config = warm.config["s"]
    for other in ({"s": replace(config, **change)}, {"t": config}):
        servers = manage(other, cache=warm.cache)
        assert list(servers.list_tools(timeout=0.05)) == []
    warm.gate.set()


@pytest.mark.parametrize(
    "told",
    [
        {"capabilities": {"experimental": {"x": {}}}},
        {"on_sampling": lambda request: None},
        {"roots": []},
        {"client_info": {"name": "other", "version": "1"}},
        {"protocol_version": LEGACY},
        {"on_elicitation": lambda request: None},
    ],
    ids=lambda told: next(iter(told)),
)
def test_whoever_declares_something_else_remembers_nothing(
    manage: Manage, http_server: Http, told: dict[str, Any]
) -> None:
    """3.65: a server may offer other tools then."""
    warm = Warm(http_server, manage)
    assert list(manage(warm.config, cache=warm.cache, **told).list_tools(timeout=0.05)) == []
    assert len(manage(warm.config, cache=warm.cache).list_tools()) > 0
    warm.gate.set()


def test_a_server_can_refuse_to_be_remembered(manage: Manage, http_server: Http) -> None:
    """3.67, 3.70: by an experimental capability; a snapshot that had begun with what was remembered drops it then."""
    warm = Warm(http_server, manage)
    needed = fake("n")
    gate = needed.answer_late("initialize")
    servers = manage({**warm.config, "n": needed}, cache=warm.cache)
    taking = Background(lambda: servers.snapshot(require=["n"]))
    assert gate.arrived()
    assert "mcp__s__echo" in shown(servers.list_tools(timeout=0.05))
    warm.peer.catalogue.capabilities["experimental"] = OPT_OUT
    refused = manage(warm.config, cache=CatalogueCache())
    key = warm.first._fleet.links["s"].key
    warm.cache.put(key, warm.cache.ticket(), None)
    gate.release()
    assert shown(taking.result()) == ["mcp__n__n"]
    warm.gate.set()
    assert refused.wait_ready("s")
    assert refused._cache.refused(key)


def test_a_snapshot_keeps_what_it_began_with(
    manage: Manage, http_server: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.70: though the memory fades while it waits for another server."""
    warm = Warm(http_server, manage)
    needed = fake("n")
    gate = needed.answer_late("initialize")
    servers = manage({**warm.config, "n": needed}, cache=warm.cache)
    begun = threading.Event()
    remembered = servers._catalogues._remembered

    def remember() -> Any:
        found = remembered()
        begun.set()
        return found

    monkeypatch.setattr(servers._catalogues, "_remembered", remember)
    taking = Background(lambda: servers.snapshot(require=["n"]))
    assert begun.wait(SOON)
    assert gate.arrived()
    warm.cache._entries.clear()
    gate.release()
    assert {"mcp__s__echo", "mcp__n__n"} <= set(shown(taking.result()))
    warm.gate.set()


def test_the_newest_question_counts(manage: Manage, http_server: Http) -> None:
    """3.68: a slow listing of one manager does not run over a newer one of another."""
    cache, gate, peer = CatalogueCache(), threading.Event(), legacy(http_server)
    config = {"s": HttpServer(peer.url)}
    slow, quick = manage(config, cache=cache), manage(config, cache=cache)
    slow.client("s")
    quick.client("s")
    tools = dict(peer.catalogue.tools)
    old = [tool.definition for tool in tools.values()]

    def late(exchange: Exchange) -> None:
        exchange.wait(gate)
        exchange.result({"tools": old})

    peer.arm(late, method="tools/list")
    before = Background(lambda: slow.refresh("s"))
    peer.wait_until(lambda: len(peer.calls("tools/list")) == 3)
    peer.tool("new", lambda _: "new")
    quick.refresh("s")
    gate.set()
    before.result()
    key = quick._fleet.links["s"].key
    kept = cache.get(key)
    assert kept is not None
    assert "new" in {tool.name for tool in kept.tools}
    assert "mcp__s__new" not in shown(slow.list_tools()), "each has what it fetched itself"


def test_a_snapshot_is_frozen(manage: Manage) -> None:
    """3.71: its tools, connections and limits stay; what was taken away stays open for it, and no longer."""
    server, other = fake("a"), fake("b")
    servers = manage({"s": server})
    snapshot = servers.snapshot()
    held = [snapshot]
    client = snapshot.client("s")
    servers.reconcile({"t": other})
    servers.client("t")
    assert snapshot.call_tool("mcp__s__a").text == "a"
    assert (shown(snapshot), shown(servers.list_tools())) == (["mcp__s__a"], ["mcp__t__b"])
    assert not client.is_closed
    held.clear()
    del snapshot
    assert eventually(lambda: client.is_closed)


def test_filters_of_a_snapshot_are_those_of_its_moment(manage: Manage, http_server: Http) -> None:
    """3.71: a tool that is disabled later can be called through it, and not through the manager."""
    config = HttpServer(legacy(http_server).url)
    servers = manage({"s": config})
    snapshot = servers.snapshot(require=["s"])
    servers.reconcile({"s": replace(config, disabled_tools=["echo"])})
    assert snapshot.call_tool("mcp__s__echo", {"text": "hi"}).text == "hi"
    with pytest.raises(syncline.ToolDisabled):
        servers.call_tool("mcp__s__echo", {"text": "hi"})
    with pytest.raises(syncline.ToolDisabled):
        servers.snapshot()["mcp__s__echo"]


def test_the_revision_says_whether_anything_has_changed(manage: Manage) -> None:
    """3.72: the same object until something has; none while a server is missing."""
    server = fake("a")
    servers = manage({"s": server})
    servers.client("s")
    first = servers.snapshot()
    assert servers.snapshot() is first
    servers.refresh("s")
    second = servers.snapshot()
    assert second is not first
    assert first.revision is not None
    assert second.revision is not None
    assert second.revision > first.revision
    server.drop_connection()
    assert eventually(lambda: servers.status()["s"].state == "failed")
    late = server.answer_late("initialize")
    third = Background(servers.snapshot)
    assert late.arrived()
    assert third.result().revision is None
    late.release()


def test_a_refresh_lists_again_one_at_a_time(manage: Manage, http_server: Http) -> None:
    """3.73: within the tool timeout; the catalogue is replaced."""
    peer = legacy(http_server)
    busy = threading.Lock()
    overlaps: list[bool] = []
    servers = manage({"s": HttpServer(peer.url)})
    servers.client("s")
    answer = peer._serve_mcp

    def list_tools(exchange: Any) -> None:
        overlaps.append(not busy.acquire(blocking=False))
        answer(exchange)
        busy.release()

    peer.arm(list_tools, 5, method="tools/list")
    peer.tool("late", lambda _: "late")
    for each in [Background(lambda: servers.refresh("s")) for _ in range(5)]:
        each.result()
    assert overlaps == [False] * 5
    assert servers.call_tool("mcp__s__late").text == "late"


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize("way", ["memory", "http"])
def test_changed_tools_are_listed_again(
    manage: Manage, caplog: pytest.LogCaptureFixture, version: str, way: str
) -> None:
    """3.74: by themselves, and whoever wants to know is told once."""
    changed: list[str] = []
    told = threading.Event()

    def on_change(name: str) -> None:
        changed.append(name)
        told.set()

    server = fake("a", versions=(version,))
    with server.http() as url, caplog.at_level(logging.INFO, "syncline"):
        servers = manage({"s": server if way == "memory" else HttpServer(url)}, on_change=on_change)
        link = servers._fleet.use("s", Deadline(SOON))
        assert eventually(lambda: link._changes is not None)
        offer(server, "b")
        server.changed("tools")
        assert told.wait(SOON)
        assert shown(servers.list_tools()) == ["mcp__s__a", "mcp__s__b"]
        servers.close()
    assert changed == ["s"]
    assert "s: the tools have changed" in caplog.text


@pytest.mark.parametrize("declared", [True, False])
def test_a_change_while_the_server_starts_is_not_missed(manage: Manage, declared: bool) -> None:
    """3.74: nor one of a server that did not say that it would tell."""
    told = threading.Event()
    server = fake("a")
    if not declared:
        server.__class__ = Silent
    gate = server.answer_late("tools/list")
    servers = manage({"s": server}, on_change=lambda name: told.set())
    assert gate.arrived()
    if declared:
        server.changed("tools")
        gate.release()
    else:
        gate.release()
        servers.client("s")
        assert eventually(lambda: not any("manager:start" in thread.name for thread in threading.enumerate()))
        server.changed("tools")
    assert told.wait(SOON)
    assert count(server, "tools/list") == 2


def test_changes_are_listed_no_faster_than_the_pace(manage: Manage, monkeypatch: pytest.MonkeyPatch) -> None:
    """3.74: a server that tells of a change with each listing is not listed for ever; closing does not wait for the pace."""
    monkeypatch.setattr(links, "PACE", 10 * SOON)
    told = threading.Event()
    server = fake("a")
    servers = manage({"s": server}, on_change=lambda name: told.set())
    link = servers._fleet.use("s", Deadline(SOON))
    assert eventually(lambda: link._changes is not None)
    server.changed("tools")
    assert told.wait(SOON)
    server.changed("tools")
    servers.call_tool("mcp__s__a")  # its answer comes after that
    assert not eventually(lambda: count(server, "tools/list") > 2, 0.1)
    servers.close()
    assert eventually(lambda: not server._core.wires)
    assert count(server, "tools/list") == 2


def test_many_changes_at_once_are_one_and_take_no_threads_from_other_servers(manage: Manage) -> None:
    """3.74: of a server that did not say that it would tell, so that there is no stream that gathers them."""
    server = fake("a")
    server.__class__ = Silent
    servers = manage({"s": server})
    servers.client("s")
    assert eventually(lambda: not any("manager:start" in thread.name for thread in threading.enumerate()))
    gate = server.answer_late("tools/list")
    server.changed("tools")
    assert gate.arrived()
    for _ in range(100):
        server.changed("tools")
    servers.call_tool("mcp__s__a")  # its answer comes after them
    assert sum("manager:list" in thread.name for thread in threading.enumerate()) <= 2
    gate.release()
    assert eventually(lambda: count(server, "tools/list") == 3)
    assert eventually(lambda: not any("manager:list" in thread.name for thread in threading.enumerate()))
    assert count(server, "tools/list") == 3


class Silent(FakeServer):
    """Tells of changes, and does not say that it will."""

    @property
    def capabilities(self) -> Any:
        return {"tools": {}}


def test_all_pages_are_followed(manage: Manage) -> None:
    """3.75: within the limits."""
    server = fake(*(f"t{number}" for number in range(7)), page_size=2)
    assert len(manage({"s": server}).list_tools()) == 7


def test_metadata_is_kept(manage: Manage) -> None:
    """3.76, 3.77: who should see a tool, and of which connector it is, is data; nothing is hidden, and all can be called."""
    metas: dict[str, Any] = {
        "app": {"ui": {"visibility": ["app"]}},
        "both": {"ui": {"visibility": ["model", "app"]}},
        "odd": {"ui": {"visibility": "x"}},
        "none": {},
        "connector": {"connector_id": "c", "connectorName": "n", "Connector_Id": "C", "own": 1},
    }
    server = fake()
    for name, meta in metas.items():
        offer(server, name, _meta=meta)
    servers = manage({"s": server})
    found = servers.list_tools()
    assert [tool.name for tool in found if tool.for_model] == ["both", "odd", "none", "connector"]
    assert {tool.name: tool.meta for tool in found} == metas
    assert [servers.call_tool(tool.qualified_name).text for tool in found] == list(metas)


def test_instructions_and_origin_come_with_the_catalogue(manage: Manage, http_server: Http) -> None:
    """3.79, 3.81, 3.82: from the live server; while it starts, what it said last; before anything is known, nothing."""
    warm = Warm(http_server, manage)
    live = warm.first.about("s")
    assert live is not None
    assert (live.instructions, live.server_info and live.server_info.name) == ("A server for tests.", "fakeserver")
    assert {tool.origin for tool in warm.first.list_tools()} == {warm.peer.origin}
    starting = manage(warm.config, cache=warm.cache)
    remembered = starting.about("s")
    assert remembered is not None
    assert (starting.status()["s"].state, remembered.instructions) == ("starting", live.instructions)
    unknown = manage(warm.config, cache=CatalogueCache())
    assert (unknown.about("s"), unknown.about("nobody")) == (None, None)
    warm.gate.set()


# 3E Pagination guards


def listing(peer: McpHttpServer, method: str, key: str, pages: Callable[[str | None], tuple[int, str | None]]) -> None:
    """Let a server list as many items as ``pages`` says for each cursor, and go on with the cursor that it says."""

    def page(call: Any) -> dict[str, Any]:
        items, cursor = pages(call.params.get("cursor"))
        start = len(peer.calls(method)) * 10_000
        made = [{"name": f"n{start + number}", "inputSchema": {"type": "object"}} for number in range(items)]
        made = [{**item, "uri": f"x://{item['name']}", "uriTemplate": f"x://{item['name']}/{{a}}"} for item in made]
        return {key: made} | ({} if cursor is None else {"nextCursor": cursor})

    peer.catalogue.methods[method] = page


LISTS = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
]


def ask(servers: syncline.ConnectionManager, method: str) -> Any:
    """The listing of one server, by the method."""
    if method == "tools/list":
        return servers.list_tools()
    if method == "resources/list":
        return servers.list_resources(["s"])
    return servers.list_resource_templates(["s"])


@pytest.mark.parametrize(("method", "key"), LISTS)
@pytest.mark.parametrize(
    ("pages", "requests", "problem"),
    [
        (lambda cursor: (1, {None: "", "": "last"}.get(cursor)), 3, None),
        (lambda cursor: (0, {None: "first", "first": "second"}.get(cursor, "first")), 3, "goes round in circles"),
        (lambda cursor: (1, str(int(cursor or 0) + 1)), 100, "more than 100 pages"),
        (lambda cursor: (1024, {None: "next"}.get(cursor)), 2, None),
        (lambda cursor: (2049, None), 1, "more than 2048 items"),
        (lambda cursor: (2048 if cursor is None else 1, {None: "next"}.get(cursor)), 2, "more than 2048 items"),
        (lambda cursor: (1, {None: "c" * 65536}.get(cursor)), 2, None),
        (lambda cursor: (1, "c" * 65537), 1, "longer than 65536 bytes"),
    ],
    ids=["empty cursor", "circle", "pages", "2048", "2049", "2048+1", "65536", "65537"],
)
def test_listings_have_guards(
    manage: Manage, http_server: Http, method: str, key: str, pages: Any, requests: int, problem: str | None
) -> None:
    """3.90, 3.91, 3.92, 3.93, 3.94, 3.97: nothing is cut; each error names the method."""
    peer = legacy(http_server)
    listing(peer, method, key, pages)
    servers = manage({"s": HttpServer(peer.url)}, reconnect=None)
    found = ask(servers, method)
    assert len(peer.calls(method)) == requests
    if problem is None:
        assert found.errors == {}
    else:
        assert len(found) == 0
        assert str(found.errors["s"]).startswith(f"s: {method}: ")
        assert problem in str(found.errors["s"])


@pytest.mark.parametrize(("method", "key"), LISTS[1:])
def test_all_pages_share_one_limit(manage: Manage, http_server: Http, method: str, key: str) -> None:
    """3.95: though each is quick enough."""
    peer, gate = legacy(http_server), threading.Event()

    def pages(cursor: str | None) -> tuple[int, str | None]:
        gate.wait(0.4)
        return 1, f"{cursor}x"

    listing(peer, method, key, pages)
    servers = manage({"s": HttpServer(peer.url, tool_timeout=1)})
    found = ask(servers, method)
    assert isinstance(found.errors["s"], syncline.RequestTimeout)
    assert len(peer.calls(method)) in (2, 3)
    gate.set()


@pytest.mark.parametrize(("method", "key"), LISTS)
def test_the_error_of_a_page_comes_as_it_is(manage: Manage, http_server: Http, method: str, key: str) -> None:
    """3.96, 3.97: with its code and message."""
    peer = legacy(http_server)

    def fail(exchange: Any) -> None:
        error = {"code": -32050, "message": "page two is lost"}
        exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "error": error})

    listing(peer, method, key, lambda cursor: (1, "two"))
    answer = peer._serve_mcp
    peer.arm(answer, method=method)
    peer.arm(fail, 9, method=method)
    servers = manage({"s": HttpServer(peer.url)}, reconnect=None)
    error = ask(servers, method).errors["s"]
    assert isinstance(error, syncline.ServerError)
    assert (error.code, error.message, error.method) == (-32050, "page two is lost", method)


# 3F Names


def test_raw_names_go_over_the_wire(manage: Manage) -> None:
    """3.100, 3.101, 3.102: whatever they are called here."""
    server = fake("tool.two-three")
    servers = manage({"my server": server})
    assert shown(servers.list_tools()) == ["mcp__my_server__tool_two_three"]
    assert servers.call_tool("mcp__my_server__tool_two_three").text == "tool.two-three"
    assert server.received[-1].params["name"] == "tool.two-three"
    assert shown(manage({"git": fake("log")}, prefix="").list_tools()) == ["git__log"]


def test_names_that_collide_all_get_a_hash_and_all_can_be_called(manage: Manage) -> None:
    """3.103, 3.104, 3.105, 3.106: servers, tools, and names that are too long; a tool that is listed twice counts once."""
    one, two = fake("a-b", "a_b", "x" * 130), fake("same")
    servers = manage({"basic-server": one, "basic_server": two})
    names = shown(servers.list_tools())
    assert len(set(names)) == 4
    assert all(len(name) <= 128 and name.startswith("mcp__basic_server_") for name in names)
    assert [servers.call_tool(name).text for name in names] == ["a-b", "a_b", "x" * 130, "same"]
    assert sorted(shown(manage({"basic_server": two, "basic-server": one}).list_tools())) == sorted(names)


def test_the_same_tool_on_two_servers(manage: Manage) -> None:
    """B183: told apart by the configured names, whatever the servers call themselves; a bare name is an error that helps."""
    one, two = fake("search", name="srv"), fake("search", name="srv")
    servers = manage({"one": one, "two": two})
    servers.list_tools()
    servers.call_tool("mcp__two__search")
    assert (count(one, "tools/call"), count(two, "tools/call")) == (0, 1)
    with pytest.raises(syncline.UnknownTool, match="did you mean mcp__one__search or mcp__two__search"):
        servers.call_tool("search")
    with pytest.raises(syncline.UnknownTool, match=r"did you mean mcp__one__search\?"):
        servers.call_tool("mcp__one__serch")
    with pytest.raises(syncline.UnknownTool, match="no tool is called 'pay'; the servers are one, two"):
        servers.call_tool("pay")
    assert servers.call_tool("search", server="one").text == "search"


def test_no_server_answers_for_another_one_that_still_starts(manage: Manage) -> None:
    """B183: with a tool whose name makes it look like the other one's."""
    one, two = fake("b__x"), fake("x")
    gate = two.answer_late("initialize")
    servers = manage({"a": one, "a__b": two}, cache=CatalogueCache(entries=0))
    servers.client("a")
    calling = Background(lambda: servers.call_tool("mcp__a__b__x").text)
    assert gate.arrived()
    gate.release()
    assert calling.result() == "x"
    assert count(one, "tools/call") == 0


# 3G Filters and calls


@pytest.mark.parametrize(
    ("enabled", "disabled", "left"),
    [
        (None, [], ["echo", "add", "fail"]),
        (["add", "echo"], [], ["echo", "add"]),
        (None, ["add"], ["echo", "fail"]),
        (["add", "echo"], ["add"], ["echo"]),
        ([], [], []),
        (["echo"], ["echo"], []),
    ],
)
def test_disabled_tools_are_neither_listed_nor_called(
    manage: Manage, http_server: Http, enabled: list[str] | None, disabled: list[str], left: list[str]
) -> None:
    """3.110, 3.111: nothing is sent, by whatever way it is called."""
    peer = legacy(http_server)
    peer.catalogue.tools = {name: peer.catalogue.tools[name] for name in ("echo", "add", "fail")}
    servers = manage({"s": HttpServer(peer.url, enabled_tools=enabled, disabled_tools=disabled)})
    assert [tool.name for tool in servers.list_tools()] == left
    assert [tool.name for tool in servers["s"].list_tools()] == left
    assert [tool.name for tool in servers["s"].iter_tools()] == left
    for name in {"echo", "add", "fail"} - set(left):
        calls: list[Callable[[], object]] = [
            partial(servers.call_tool, f"mcp__s__{name}"),
            partial(servers.call_tool, name, server="s"),
            partial(servers["s"].call_tool, name),
            partial(servers["s"].tasks.call, name),
            partial(servers.snapshot().call_tool, f"mcp__s__{name}"),
        ]
        for call in calls:
            with pytest.raises(syncline.ToolDisabled, match=f"s: tools/call: the tool '{name}' is disabled"):
                call()
    assert peer.calls("tools/call") == []


def test_what_is_looked_at_first(manage: Manage, http_server: Http) -> None:
    """3.112: the server, then the filter, then the connection: a disabled tool of a server that hangs fails at once."""
    peer, gate = legacy(http_server), threading.Event()
    peer.hold(gate, 9, method="initialize")
    servers = manage(
        {"s": HttpServer(peer.url, disabled_tools=["a-b"]), "t": HttpServer(peer.url, enabled_tools=["c"])}
    )
    with pytest.raises(syncline.UnknownServer, match="no server is called 'nobody'; there are s, t"):
        servers.call_tool("a-b", server="nobody")
    for name in ("mcp__s__a_b", "mcp__t__d"):
        with pytest.raises(syncline.ToolDisabled):
            servers.call_tool(name)
    with pytest.raises(syncline.ToolDisabled):
        servers.call_tool("a-b", server="s")
    with pytest.raises(syncline.UnknownTool):
        servers.call_tool("mcp__nobody__a")
    gate.set()


def test_a_call_waits_for_its_server(manage: Manage) -> None:
    """3.113: without a limit of its own, or not at all."""
    server = fake("a")
    gate = server.answer_late("initialize")
    servers = manage({"s": server})
    calling = Background(lambda: servers.call_tool("mcp__s__a", timeout=5))
    assert gate.arrived()
    for name, where in (("mcp__s__a", None), ("a", "s")):
        with pytest.raises(syncline.NotReady):
            servers.call_tool(name, server=where, wait=False)
    assert calling.thread.is_alive()
    gate.release()
    assert calling.result().text == "a"
    assert servers.call_tool("mcp__s__a", wait=False).text == "a"


@pytest.mark.parametrize(("own", "wanted"), [(60, 0.2), (0.2, 60)])
def test_the_shorter_limit_counts(manage: Manage, http_server: Http, own: float, wanted: float) -> None:
    """3.114: the server's, or the call's."""
    peer, gate = legacy(http_server), threading.Event()
    peer.tool("wait", lambda call: call.wait(gate.wait))
    servers = manage({"s": HttpServer(peer.url, tool_timeout=own)})
    with pytest.raises(syncline.RequestTimeout):
        servers.call_tool("mcp__s__wait", timeout=wanted)
    gate.set()


def test_errors_name_the_server_and_the_tool(manage: Manage) -> None:
    """3.115: and are what they are."""
    server = fake("a")
    server.fail_next("tools/call", code=-32050, message="boom")
    with pytest.raises(syncline.ServerError) as caught:
        manage({"s": server}).call_tool("mcp__s__a")
    assert str(caught.value) == "s: tools/call: a: boom (code -32050)"
    assert (caught.value.code, caught.value.server) == (-32050, "s")


def test_results_come_as_they_are(manage: Manage) -> None:
    """3.116, 3.117: a failed tool is a result, too; metadata goes both ways."""
    whole = {
        "content": [{"type": "text", "text": "no"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}],
        "structuredContent": {"a": 1},
        "isError": True,
        "_meta": {"x/y": 1},
    }
    server = fake()
    server.tool(name="all", input_schema={"type": "object"})(lambda: whole)
    result = manage({"s": server}).call_tool("mcp__s__all", meta={"own/key": 7})
    assert (result.is_error, result.structured_content, result.meta) == (True, {"a": 1}, {"x/y": 1})
    assert [part.to_wire() for part in result.content] == whole["content"]
    assert server.received[-1].meta["own/key"] == 7


# 3H Resources


def test_resources_of_one_server(manage: Manage) -> None:
    """3.120: all pages, within its limit; errors name method, server and URI."""
    server = fake(page_size=2)
    for number in range(5):
        server.resource(f"memo://{number}", str(number))

    @server.template("user://{name}")
    def user(name: str) -> str:
        return name

    servers = manage({"s": server})
    assert [found.item.uri for found in servers.list_resources(["s"])] == [f"memo://{number}" for number in range(5)]
    assert [found.item.uri_template for found in servers.list_resource_templates(["s"])] == ["user://{name}"]
    assert servers.read_resource("s", "user://7").text == "7"
    with pytest.raises(syncline.ServerError, match="s: resources/read: memo://none: "):
        servers.read_resource("s", "memo://none")


def test_resources_of_all_servers(manage: Manage, caplog: pytest.LogCaptureFixture) -> None:
    """3.121: at the same time; those that fail are left out with a warning."""
    fakes = {name: fake(page_size=2) for name in ("one", "two", "bad")}
    for name, server in fakes.items():
        for number in range(5 if name == "one" else 1):
            server.resource(f"{name}://{number}", "x")
        server.prompt(lambda: "hi")
    fakes["bad"].fail_next("resources/list", message="broken", times=9)
    servers = manage(fakes)
    servers.list_tools()
    gates = [fakes[name].answer_late("resources/list") for name in ("one", "two")]
    asking = Background(servers.list_resources)
    assert all(gate.arrived() for gate in gates)
    for gate in gates:
        gate.release()
    found = asking.result()
    assert [each.server for each in found] == ["one"] * 5 + ["two"]
    assert list(found.errors) == ["bad"]
    assert "bad: left out of a listing" in caplog.text
    assert {each.server for each in servers.list_prompts()} == {"one", "two", "bad"}
    assert [each.server for each in servers.list_resources(["two"])] == ["two"]


# 3I Elicitation


def asking(schema: dict[str, Any] = FORM, **more: Any) -> FakeServer:
    """A server with a tool that asks, and says what the answer was, as JSON."""
    server = fake()

    @server.tool
    def sign(call: Call) -> str:
        params = {"mode": "form", "message": "Sure?", "requestedSchema": schema, **more}
        return json.dumps(call.ask("elicitation/create", params), sort_keys=True)

    return server


ACCEPT = {"action": "accept", "content": {"x": "y"}}
URL = {"mode": "url", "url": "https://example.com/in", "elicitationId": "e-1"}


@pytest.mark.parametrize(
    ("policy", "handler", "result", "asked"),
    [
        ("never", {"x": "y"}, {"action": "decline"}, 0),
        ("ask", {"x": "y"}, ACCEPT, 1),
        ("ask", None, {"action": "decline"}, 1),
        ("ask", Cancel(), {"action": "cancel"}, 1),
        (lambda server, request: "decline", {"x": "y"}, {"action": "decline"}, 0),
        (lambda server, request: "ask", {"x": "y"}, ACCEPT, 1),
        (lambda server, request: {"x": "z"}, {"x": "y"}, {"action": "accept", "content": {"x": "z"}}, 0),
        (lambda server, request: None, {"x": "y"}, {"action": "decline"}, 0),
    ],
    ids=["never", "ask", "declines", "cancels", "policy declines", "policy asks", "policy answers", "policy has none"],
)
def test_who_decides(manage: Manage, policy: Any, handler: Any, result: dict[str, Any], asked: int) -> None:
    """3.130, 3.132, 3.134: the policy first, whose answer is final; then the handler."""
    seen: list[Elicitation] = []

    def handle(request: Elicitation) -> Any:
        seen.append(request)
        if isinstance(handler, Exception):
            raise handler
        return handler

    servers = manage({"s": asking()}, elicitation=policy, on_elicitation=handle)
    assert json.loads(servers.call_tool("mcp__s__sign").text) == result
    assert len(seen) == asked


@pytest.mark.parametrize("more", [{}, {"requestedSchema": EMPTY}, URL], ids=["form", "empty form", "url"])
@pytest.mark.parametrize("policy", ["ask", "never", lambda server, request: "ask"], ids=["nobody", "never", "asks"])
def test_nothing_is_accepted_by_itself(manage: Manage, policy: Any, more: dict[str, Any]) -> None:
    """3.130, 3.131: without anybody to ask a request is declined; where there was nobody from the start, it is not even possible."""
    handler = (lambda _: {"x": "y"}) if policy == "never" else None
    servers = manage({"s": asking(**more)}, elicitation=policy, on_elicitation=handler)
    if policy == "ask":
        with pytest.raises(syncline.MethodNotFound, match="the client does not offer elicitation/create"):
            servers.call_tool("mcp__s__sign")
    else:
        assert json.loads(servers.call_tool("mcp__s__sign").text) == {"action": "decline"}


def test_what_a_policy_says_is_checked(manage: Manage) -> None:
    """3.142: one that fails is an error for the server."""
    with pytest.raises(syncline.ConfigError, match="elicitation is never, ask or a function"):
        syncline.ConnectionManager({}, elicitation="always")  # type: ignore[arg-type]
    servers = manage({"s": asking()}, elicitation=lambda server, request: "perhaps")
    with pytest.raises(syncline.ServerError) as caught:
        servers.call_tool("mcp__s__sign")
    assert caught.value.code == -32603


def test_requests_have_ids_of_their_own(manage: Manage) -> None:
    """3.135, 3.136: several managers share one desk; each request is answered once, from anywhere."""
    desk = Elicitations()
    one = manage({"s": asking()}, on_elicitation=desk)
    two = manage({"s": asking()}, on_elicitation=desk)
    calls = [Background(lambda: one.call_tool("mcp__s__sign")), Background(lambda: two.call_tool("mcp__s__sign"))]
    assert eventually(lambda: len(desk.pending) == 2)
    first, second = desk.pending
    assert first.id != second.id
    desk.resolve(second.id, {"x": "two"})
    desk.resolve(first.id, None)
    answers = sorted(json.loads(call.result().text)["action"] for call in calls)
    assert answers == ["accept", "decline"]
    third = Background(lambda: two.call_tool("mcp__s__sign"))
    assert eventually(lambda: len(desk.pending) == 1)
    desk.resolve(desk.pending[0].id, Cancel())
    assert json.loads(third.result().text) == {"action": "cancel"}
    for ident in (first.id, "unknown"):
        with pytest.raises(LookupError, match="waits for an answer"):
            desk.resolve(ident, None)


def test_an_answer_that_cannot_be_sent_is_refused_where_it_is_given(manage: Manage) -> None:
    """Whoever answers learns it, and may answer again; the call does not."""
    desk = Elicitations()
    servers = manage({"s": asking()}, on_elicitation=desk)
    call = Background(lambda: servers.call_tool("mcp__s__sign"))
    assert eventually(lambda: len(desk.pending) == 1)
    [request] = desk.pending
    with pytest.raises(ValueError, match="does not fit the form"):
        desk.resolve(request.id, {"x": 7})
    with pytest.raises(TypeError, match="a mapping, True or None, not str"):
        desk.resolve(request.id, cast("Any", "y"))
    assert desk.pending == (request,)
    desk.resolve(request.id, {"x": "y"})
    assert json.loads(call.result().text) == ACCEPT


def test_requests_of_a_connection_that_ends_are_dropped(manage: Manage) -> None:
    """3.137, 3.138: at once, and those of others stay; while one is outstanding, that can be seen."""
    desk = Elicitations()
    gone, stays = asking(), asking()
    servers = manage({"gone": gone, "stays": stays}, on_elicitation=desk)
    ending = Background(lambda: servers.call_tool("mcp__gone__sign"))
    staying = Background(lambda: servers.call_tool("mcp__stays__sign"))
    assert eventually(lambda: len(desk.pending) == len(servers.outstanding) == 2)
    [dropped] = [request for request in desk.pending if request.server == "gone"]
    gone.drop_connection()
    with pytest.raises(syncline.SynclineError):
        ending.result()
    assert [request.server for request in desk.pending] == ["stays"]
    with pytest.raises(LookupError):
        desk.resolve(dropped.id, {"x": "late"})
    assert [request.server for request in servers.outstanding] == ["stays"]
    desk.resolve(desk.pending[0].id, {"x": "y"})
    assert json.loads(staying.result().text) == ACCEPT
    assert eventually(lambda: servers.outstanding == ())


def test_the_policy_is_read_once_for_each_request(manage: Manage) -> None:
    """3.139: however often it changes, each request is decided by one of them."""
    servers = manage({"s": asking()}, elicitation=lambda server, request: "decline", on_elicitation=lambda _: None)
    servers.client("s")
    over = threading.Event()

    def flip() -> None:
        while not over.is_set():
            servers.elicitation = "never"
            servers.elicitation = lambda server, request: "decline"

    flipping = Background(flip)
    found = {json.loads(servers.call_tool("mcp__s__sign").text)["action"] for _ in range(100)}
    over.set()
    flipping.result()
    assert found == {"decline"}


@pytest.mark.parametrize("more", [{}, URL], ids=["form", "url"])
def test_a_request_is_handed_over_with_all_that_it_has(manage: Manage, more: dict[str, Any]) -> None:
    """3.140: and with the configured name of its server."""
    seen: list[Elicitation] = []

    def handle(request: Elicitation) -> None:
        seen.append(request)

    servers = manage({"my server": asking(**more, _meta={"progressToken": 1, "a/b": 2})}, on_elicitation=handle)
    servers.call_tool("mcp__my_server__sign")
    [request] = seen
    assert (request.server, request.message, request.meta) == ("my server", "Sure?", {"a/b": 2})
    assert (request.mode, request.url, request.elicitation_id) == (
        ("url", "https://example.com/in", "e-1") if more else ("form", None, None)
    )
    assert request.schema == (None if more else FORM)


def test_clocks_stand_still_while_somebody_is_asked(manage: Manage) -> None:
    """3.143: the limit of a call does not count the time that a person takes."""
    desk = Elicitations(on_request=lambda request: threading.Timer(1.2, desk.resolve, [request.id, {"x": "y"}]).start())
    servers = manage({"s": asking()}, on_elicitation=desk)
    servers.client("s")
    assert json.loads(servers.call_tool("mcp__s__sign", timeout=1).text) == ACCEPT

from __future__ import annotations

from typing import Any

import pytest

import syncline_wire
from syncline_wire.methods import METHODS
from tests.wire.instances import EXTENSIONS, LOCAL, REVISIONS, definitions

UNIONS = ("ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification", "InputRequest")
SENDERS = {"Client": {"client", "both"}, "Server": {"server", "both"}, "Input": {"server"}}


def branches(module: str, union: str) -> list[dict[str, Any]]:
    known = definitions(module)
    node = known.get(union, {})
    if "properties" in node:
        return [node]
    return [known[branch["$ref"].removeprefix(LOCAL)] for branch in node.get("anyOf", ())]


@pytest.mark.parametrize("module", [*REVISIONS, "events"])
def test_every_method_of_every_union_has_an_entry(module: str) -> None:
    found = set()
    for union in UNIONS:
        for branch in branches(module, union):
            method = branch["properties"]["method"]["const"]
            entry = METHODS[module][method]
            assert entry.sender in SENDERS[union.removesuffix("Request").removesuffix("Notification")]
            assert (entry.kind == "notification") == union.endswith("Notification")
            found.add(method)
    assert found == set(METHODS[module])
    assert len(found) >= 11


def test_the_tasks_extension_has_three_requests_and_a_notification() -> None:
    assert {method: entry.kind for method, entry in METHODS["tasks"].items()} == {
        "tasks/get": "request",
        "tasks/update": "request",
        "tasks/cancel": "request",
        "notifications/tasks": "notification",
    }


@pytest.mark.parametrize("module", [*REVISIONS, *EXTENSIONS])
def test_params_and_results_are_models_of_the_module(module: str) -> None:
    loaded = syncline_wire.load(module)
    for method, entry in METHODS[module].items():
        assert (entry.result is None) == (entry.kind == "notification"), method
        for name in (entry.params, entry.result):
            home = loaded if name is None or hasattr(loaded, name) else syncline_wire.load(syncline_wire.NEWEST)
            assert name is None or hasattr(home, name), method


def test_three_requests_may_be_answered_with_questions() -> None:
    asking = {(module, method) for module, table in METHODS.items() for method, entry in table.items() if entry.asks}
    assert asking == {("2026-07-28", method) for method in ("prompts/get", "resources/read", "tools/call")}


def test_the_eras_differ_as_the_specification_says() -> None:
    assert METHODS["2025-11-25"]["sampling/createMessage"].kind == "request"
    assert METHODS["2026-07-28"]["sampling/createMessage"].kind == "input"
    assert "initialize" not in METHODS["2026-07-28"]
    assert "server/discover" in METHODS["2026-07-28"]
    assert METHODS["2024-11-05"]["ping"].sender == "both"

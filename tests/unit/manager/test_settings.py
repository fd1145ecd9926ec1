"""Filters and limits, which can be changed about a server that is connected."""

from __future__ import annotations

import pytest

from syncline import HttpServer, StdioServer, Timeouts, ToolDisabled
from syncline.manager.names import qualified
from syncline.manager.settings import Settings, ToolFilter

BOUNDS = Timeouts(startup=30, call=300)


@pytest.mark.parametrize(
    ("enabled", "disabled", "allowed"),
    [
        (None, (), {"a", "b", "c"}),
        (["a", "b"], (), {"a", "b"}),
        (None, ["a"], {"b", "c"}),
        (["a", "b"], ["a"], {"b"}),
        ([], (), set()),
        (["a"], ["a"], set()),
    ],
)
def test_disabled_wins(enabled: list[str] | None, disabled: list[str], allowed: set[str]) -> None:
    """3.110: the table of combinations."""
    settings = Settings.of(StdioServer("x", enabled_tools=enabled, disabled_tools=disabled), BOUNDS)
    assert {tool for tool in "abc" if settings.filter.allows(tool)} == allowed
    for tool in {"a", "b", "c"} - allowed:
        with pytest.raises(ToolDisabled, match=f"the tool '{tool}' is disabled"):
            settings.filter.check("s", tool)
        with pytest.raises(ToolDisabled):
            settings.filter.check_cleaned("s", tool)


def test_a_name_of_which_only_the_rest_is_known() -> None:
    with pytest.raises(ToolDisabled):
        ToolFilter(disabled=frozenset({"a-b"})).check_cleaned("s", "a_b")
    ToolFilter(enabled=frozenset({"a-b"})).check_cleaned("s", "a_b")
    [name, _] = qualified([("s", "a-b"), ("s", "a_b")], {"s": ""}).values()
    ToolFilter(enabled=frozenset({"a-b"})).check_cleaned("s", name)  # it may be the one


def test_a_server_has_its_own_limits_or_those_of_all() -> None:
    own = Settings.of(HttpServer("https://a.example/mcp", startup_timeout=5, tool_timeout=7, required=True), BOUNDS)
    assert (own.timeouts.startup, own.timeouts.call, own.required) == (5, 7, True)
    others = Settings.of(HttpServer("https://a.example/mcp"), BOUNDS)
    assert (others.timeouts.startup, others.timeouts.call, others.required) == (30, 300, False)
    assert Settings.of(lambda: None, BOUNDS) == Settings(timeouts=BOUNDS)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("own", "wanted", "call"),
    [(5, None, 5), (5, 1, 1), (1, 5, 1), (None, 5, 5), (5, Timeouts(call=None), 5), (5, Timeouts(call=2), 2)],
)
def test_the_shorter_limit_counts(own: float | None, wanted: float | Timeouts | None, call: float) -> None:
    """3.114: the server's own, or that of the call."""
    assert Settings(timeouts=Timeouts(call=own)).limited(wanted).call == call

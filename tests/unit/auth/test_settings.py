"""What a flow is told."""

from __future__ import annotations

import pytest

from syncline.auth.clients import OAuthClient
from syncline.auth.settings import Budget, Enterprise, Settings, Workload
from syncline.auth.urls import Reach
from syncline.errors import ConfigError
from tests.fixtures.oauth import MCP, Prover, settings


@pytest.mark.parametrize(
    "url", ["http://notes.test/mcp", "https://user:planted@notes.test/mcp", "https://notes.test/#x"]
)
def test_tokens_go_to_safe_places_only(url: str) -> None:
    """T-5, Z-2: https, and http on this machine."""
    with pytest.raises(ConfigError, match="https URL") as caught:
        Settings(url, Reach.of(MCP))
    assert "planted" not in str(caught.value)
    assert Settings("http://notes.test/mcp", Reach.of(MCP, trusted=["notes.test"]))
    assert settings("http://localhost:4711/mcp")


def test_a_budget_is_spent_once() -> None:
    budget = Budget()
    for what in ("registrations", "logins", "step_ups"):
        left = budget.spend(what)
        assert left is not None
        assert getattr(left, what) == 0
        assert left.spend(what) is None
        assert getattr(budget, what) == 1


def test_nothing_secret_is_shown() -> None:
    """G-4, EM-8."""
    secret = OAuthClient("c", secret="planted")
    grants = (Workload(lambda audience: "planted"), Enterprise("https://idp.test/token", secret, lambda: "planted"))
    for grant in grants:
        shown = repr(settings(grant=grant, client=secret, prover=Prover()))
        assert "planted" not in shown
        assert "lambda" not in shown

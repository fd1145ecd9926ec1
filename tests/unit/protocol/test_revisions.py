"""The eras as data."""

from __future__ import annotations

import pytest

from syncline.errors import ConfigError
from syncline.protocol.revisions import (
    HANDSHAKE,
    META,
    REVISIONS,
    STATELESS,
    Identity,
    envelope,
    exists,
    known_revision,
    may_ask_for_input,
)
from syncline_wire import REVISIONS as GENERATED

WHO = Identity({"name": "n", "version": "1"}, {"roots": {}})


def test_the_revisions_are_those_that_are_generated() -> None:
    assert tuple(REVISIONS) == tuple(GENERATED)


def test_each_revision_belongs_to_one_era() -> None:
    """VER-3: no stateless version is ever offered in the handshake, nor the reverse."""
    assert HANDSHAKE == ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
    assert STATELESS == ("2026-07-28",)


def test_an_unknown_revision_is_refused_not_ranked() -> None:
    with pytest.raises(ConfigError, match="2099-01-01"):
        known_revision("2099-01-01")


@pytest.mark.parametrize(
    ("method", "revision", "there"),
    [
        ("ping", "2025-11-25", True),
        ("ping", "2026-07-28", False),
        ("server/discover", "2025-11-25", False),
        ("logging/setLevel", "2026-07-28", False),
        ("tools/call", "2024-11-05", True),
        ("roots/list", "2025-11-25", False),
        ("acme/anything", "2026-07-28", True),
        ("tasks/get", "2026-07-28", True),
        ("tasks/list", "2025-11-25", True),
        ("tasks/get", "2025-06-18", False),
    ],
)
def test_which_requests_a_revision_has(method: str, revision: str, there: bool) -> None:
    assert exists(method, revision) is there


def test_three_methods_may_be_answered_with_a_question() -> None:
    """RST-3."""
    asked = ("tools/call", "tools/list", "prompts/get", "resources/read", "server/discover", "x/y")

    assert [name for name in asked if may_ask_for_input(name, "2026-07-28")] == [
        "tools/call",
        "prompts/get",
        "resources/read",
    ]


@pytest.mark.parametrize("params", [None, {}, {"name": "x"}])
def test_the_handshake_era_sends_params_as_they_are(params: dict[str, object] | None) -> None:
    assert envelope(REVISIONS["2025-11-25"], WHO, params, log_level="info") == params


def test_meta_and_token_stand_beside_each_other() -> None:
    """Behaviours 4.72."""
    filled = envelope(REVISIONS["2025-11-25"], WHO, {"name": "x"}, meta={"a/b": 1}, progress_token=7)

    assert filled == {"name": "x", "_meta": {"a/b": 1, "progressToken": 7}}


def test_the_stateless_era_says_everything_each_time() -> None:
    """META-1: also where there are no other params."""
    filled = envelope(REVISIONS["2026-07-28"], WHO, None, log_level="error")

    assert filled == {
        "_meta": {
            META + "protocolVersion": "2026-07-28",
            META + "clientInfo": WHO.client_info,
            META + "clientCapabilities": WHO.capabilities,
            META + "logLevel": "error",
        }
    }


def test_the_protocol_wins_over_the_callers_meta() -> None:
    forged = {META + "protocolVersion": "1999-01-01", "progressToken": "x", "mine": 1}

    filled = envelope(REVISIONS["2026-07-28"], WHO, {}, meta=forged, progress_token=3)

    assert filled is not None
    said = filled["_meta"]
    assert isinstance(said, dict)
    assert (said[META + "protocolVersion"], said["progressToken"], said["mine"]) == ("2026-07-28", 3, 1)
    assert forged[META + "protocolVersion"] == "1999-01-01"

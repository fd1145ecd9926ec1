"""Questions of servers: forms that are broken, and addresses with an id."""

from __future__ import annotations

from typing import Any

import pytest

from syncline.protocol.questions import accepted, elicitation


def form(schema: dict[str, Any]) -> dict[str, object]:
    return {"message": "Sure?", "requestedSchema": schema}


@pytest.mark.parametrize(
    "schema", [{}, {"properties": []}, {"properties": {"x": True}}, {"properties": {"x": {"pattern": "("}}}]
)
def test_a_broken_form_takes_what_the_person_says(schema: dict[str, Any]) -> None:
    answer = accepted(elicitation("server", form(schema)), {"x": "y"})
    assert answer == {"action": "accept", "content": {"x": "y"}}


@pytest.mark.parametrize(("given", "expected"), [("e-1", "e-1"), (7, None), (None, None)])
def test_the_id_of_an_address(given: object, expected: str | None) -> None:
    """ELI-7."""
    params = {"message": "Sign in", "mode": "url", "url": "https://example.com", "elicitationId": given}
    assert elicitation("server", params).elicitation_id == expected

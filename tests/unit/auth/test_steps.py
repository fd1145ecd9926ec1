"""What a flow asks of whoever runs it."""

from __future__ import annotations

import pytest

from syncline.auth.clients import OAuthClient
from syncline.auth.steps import LIMIT, Fetch, Fetched, Kept, Wait, ask, tell


def test_an_answer_of_the_wrong_kind_is_a_mistake_of_the_driver() -> None:
    flow = ask(Fetch("GET", "https://id.test/", {}), Fetched)
    next(flow)
    with pytest.raises(TypeError, match="the answer to Fetch is Fetched, not str"):
        flow.send("<html>")


def test_a_step_that_has_no_answer() -> None:
    flow = tell(Wait(5))
    assert next(flow) == Wait(5)
    with pytest.raises(StopIteration):
        flow.send(None)


def test_requests_are_bounded() -> None:
    """Z-11, B160."""
    fetch = Fetch("GET", "https://id.test/", {})
    assert (fetch.limit, fetch.timeout) == (LIMIT, 10)


def test_nothing_secret_is_shown() -> None:
    """G-4."""
    steps = [
        Fetch("POST", "https://id.test/token?planted", {"Authorization": "Basic planted"}, b"planted"),
        Fetched(200, b"planted", {"set-cookie": "planted"}),
        Kept(OAuthClient("mine", secret="planted")),
    ]
    assert "planted" not in repr(steps)
    assert repr(steps[0]) == "Fetch(POST https://id.test/token)"

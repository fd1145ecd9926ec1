"""Which scopes are asked for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.auth import scopes
from syncline.auth.scopes import OFFLINE, Upgrades

LISTS = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=6).map(tuple)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, None),
        ("", None),
        ("a", ("a",)),
        ("b a b", ("b", "a")),
        ("notes:read https://x.test/y", ("notes:read", "https://x.test/y")),
        ("a  b", None),
        (" a", None),
        ("a\n", None),
        ('"', None),
        ("\\", None),
        ("é", None),
    ],
)
def test_reading_a_scope_parameter(text: str | None, found: tuple[str, ...] | None) -> None:
    assert scopes.parse(text) == found


@pytest.mark.parametrize(
    ("challenged", "configured", "supported", "chosen"),
    [
        (("a",), None, ("b", "c"), ("a",)),
        (None, None, ("b", "c"), ("b", "c")),
        (None, None, None, ()),
        (None, None, (), ()),
        (("a",), ("x",), ("b",), ("x", "a")),
        (None, ("x",), ("b",), ("x",)),
        (None, None, ("b", OFFLINE), ("b",)),
        (("a", OFFLINE), None, None, ("a", OFFLINE)),
    ],
)
def test_scopes_of_a_first_authorization(
    challenged: tuple[str, ...] | None,
    configured: tuple[str, ...] | None,
    supported: tuple[str, ...] | None,
    chosen: tuple[str, ...],
) -> None:
    """S-1, S-2, S-3, P-9, B153: the challenge, else all of the resource's, else none; what it says is what it takes."""
    assert scopes.select(challenged=challenged, configured=configured, supported=supported) == chosen


def test_offline_access_only_where_the_authorization_server_lists_it() -> None:
    """S-5."""
    assert scopes.with_offline(("a",), ("a", OFFLINE)) == ("a", OFFLINE)
    assert scopes.with_offline(("a", OFFLINE), ("a", OFFLINE)) == ("a", OFFLINE)
    assert scopes.with_offline(("a",), ("a",)) == ("a",)
    assert scopes.with_offline(("a",), None) == ("a",)
    assert scopes.with_offline((), (OFFLINE,)) == ()


@pytest.mark.parametrize(
    ("requested", "granted", "challenged", "union"),
    [
        (("a", OFFLINE), ("a", OFFLINE), ("b",), ("a", OFFLINE, "b")),
        (("a", "b"), ("a",), ("b",), ("a", "b")),
        (("a",), ("a",), ("a",), None),
        (("a",), ("a", "b"), ("b",), None),
        (("a",), ("a",), None, None),
        ((), (), ("a:*",), ("a:*",)),
    ],
)
def test_a_step_up_asks_for_the_union(
    requested: tuple[str, ...],
    granted: tuple[str, ...],
    challenged: tuple[str, ...] | None,
    union: tuple[str, ...] | None,
) -> None:
    """X-2, X-5: what was requested before is kept; where nothing would be added, nobody is asked."""
    assert scopes.step_up(requested, granted, challenged) == union


@settings(deadline=None)
@given(LISTS, LISTS, LISTS)
def test_a_step_up_loses_nothing(
    requested: tuple[str, ...], granted: tuple[str, ...], challenged: tuple[str, ...]
) -> None:
    """X-2."""
    union = scopes.step_up(requested, granted, challenged)
    if union is None:
        assert set(challenged) <= set(granted)
    else:
        assert set(union) == {*requested, *challenged}
        assert len(union) == len(set(union))
        assert list(union) == [*dict.fromkeys([*requested, *challenged])]


def test_step_ups_that_come_to_nothing_are_not_tried_for_ever() -> None:
    """X-3, X-4: counted for each set of scopes."""
    upgrades = Upgrades()
    for _ in range(2):
        assert upgrades.may(["a", "b"])
        upgrades.failed(["b", "a"])
    assert not upgrades.may(["a", "b"])
    assert upgrades.may(["a"])

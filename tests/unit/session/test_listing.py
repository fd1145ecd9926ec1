"""Following pages: everything, or an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.config import Limits
from syncline.errors import ListingLimit
from syncline.session.listing import Page, follow


def server(*pages: tuple[list[str], str | None]) -> tuple[Callable[[str | None], Page[str]], list[str | None]]:
    """Pages in the order in which they are asked for, the last one again and again; and the cursors that were sent."""
    asked: list[str | None] = []

    def fetch(cursor: str | None) -> Page[str]:
        asked.append(cursor)
        items, following = pages[min(len(asked), len(pages)) - 1]
        return Page(items, following)

    return fetch, asked


def everything(fetch: Callable[[str | None], Page[str]], limits: Limits | None = None) -> list[str]:
    return [item for page in follow(fetch, lambda item: item, limits or Limits()) for item in page.items]


def test_one_page_is_enough() -> None:
    fetch, asked = server((["a", "b"], None))

    assert everything(fetch) == ["a", "b"]
    assert asked == [None]


def test_the_empty_cursor_is_followed_like_any_other() -> None:
    """Behaviours 3.90, PAG-2."""
    fetch, asked = server((["a"], ""), (["b"], "last"), (["c"], None))

    assert everything(fetch) == ["a", "b", "c"]
    assert asked == [None, "", "last"]


def test_a_server_that_keeps_the_position_itself_is_read_to_its_end() -> None:
    """B125: the same cursor on each page, with different items."""
    fetch, _ = server((["a"], "x"), (["b"], "x"), (["c"], "x"), (["d"], None))

    assert everything(fetch) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("cursors", [["", "", ""], ["first", "second", "first"], ["x", "x"]])
def test_going_round_in_circles_is_an_error(cursors: list[str]) -> None:
    """B123, behaviours 3.91: the same items again under a cursor that was there before, also not in a row."""
    fetch, asked = server(*[(["a", "b"], cursor) for cursor in cursors])

    with pytest.raises(ListingLimit, match="circles"):
        everything(fetch)
    assert len(asked) <= len(cursors) + 1


def test_a_page_too_many_is_never_fetched() -> None:
    """Behaviours 3.92."""
    count = iter(range(1000))
    fetched: list[str | None] = []

    def fetch(cursor: str | None) -> Page[str]:
        fetched.append(cursor)
        number = next(count)
        return Page([str(number)], f"after {number}")

    with pytest.raises(ListingLimit, match=r"more than 100 pages \(Limits.pages\)"):
        everything(fetch)
    assert len(fetched) == 100


@pytest.mark.parametrize("sizes", [[2049], [2048, 1]])
def test_more_items_than_allowed_are_an_error(sizes: list[int]) -> None:
    """Behaviours 3.93: in one page or in sum, nothing is cut."""
    pages = [([f"{number}/{item}" for item in range(size)], str(number)) for number, size in enumerate(sizes)]
    fetch, _ = server(*pages)

    with pytest.raises(ListingLimit, match=r"more than 2048 items \(Limits.items\)"):
        everything(fetch, Limits(items=2048))


def test_just_as_many_items_as_allowed_are_fine() -> None:
    """Behaviours 3.93."""
    fetch, _ = server(([str(item) for item in range(2048)], None))

    assert len(everything(fetch, Limits(items=2048))) == 2048


@pytest.mark.parametrize(("cursor", "fine"), [("x" * 65536, True), ("x" * 65537, False), ("ü" * 32769, False)])
def test_a_cursor_has_a_size(cursor: str, fine: bool) -> None:
    """Behaviours 3.94: in bytes; one that is too long is not sent."""
    fetch, asked = server((["a"], cursor), (["b"], None))

    if fine:
        assert everything(fetch) == ["a", "b"]
    else:
        with pytest.raises(ListingLimit, match="cursor"):
            everything(fetch)
        assert asked == [None]


def test_pages_are_fetched_as_they_are_needed() -> None:
    fetch, asked = server((["a"], "1"), (["b"], None))
    pages = follow(fetch, lambda item: item, Limits())

    assert next(pages).items == ["a"]
    assert asked == [None]


@given(st.lists(st.tuples(st.lists(st.text(max_size=2), max_size=4), st.none() | st.text(max_size=2)), min_size=1))
def test_it_always_ends(pages: list[tuple[list[str], str | None]]) -> None:
    """B123: whatever a server answers, either all items up to a page without a cursor, or an error."""
    fetch, asked = server(*pages)
    limits = Limits(pages=10, items=30)
    try:
        found = everything(fetch, limits)
    except ListingLimit:
        assert len(asked) <= 10
    else:
        read = pages[: len(asked)]
        assert found == [item for items, _ in read for item in items]
        assert [cursor is None for _, cursor in read] == [False] * (len(read) - 1) + [True]

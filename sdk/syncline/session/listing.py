"""Following the pages of a listing, with guards: a listing is complete, or it is an error (specification, pagination).

A cursor is opaque, the empty one too: nothing is decided from its value. What ends a server that goes round in circles is
that a cursor came back *and* the page brought nothing new; what ends one that invents pages is a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from syncline.config import Limits
from syncline.errors import ListingLimit

Item = TypeVar("Item")


@dataclass(frozen=True)
class Page(Generic[Item]):
    """One page of a listing.

    Attributes:
        items: What it lists.
        next_cursor: Where it goes on; None at the end.
        ttl_ms: For how long the server says that it holds, in milliseconds.
    """

    items: Sequence[Item]
    next_cursor: str | None
    ttl_ms: float = 0


def follow(
    fetch: Callable[[str | None], Page[Item]], key: Callable[[Item], object], limits: Limits
) -> Iterator[Page[Item]]:
    """Each page in turn. ``fetch`` gets the cursor of a page, None for the first; ``key`` tells items apart."""
    cursor: str | None = None
    cursors: set[str] = set()
    known: set[object] = set()
    count = 0
    for _ in range(limits.pages):
        page = fetch(cursor)
        count += len(page.items)
        if count > limits.items:
            raise ListingLimit(f"the listing has more than {limits.items} items (Limits.items)")
        before = len(known)
        known.update(map(key, page.items))
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return
        if len(cursor) > limits.cursor_bytes or len(cursor.encode()) > limits.cursor_bytes:
            raise ListingLimit(f"a pagination cursor is longer than {limits.cursor_bytes} bytes (Limits.cursor_bytes)")
        if cursor in cursors and len(known) == before:
            raise ListingLimit("the listing goes round in circles: a cursor came back with nothing new on its page")
        cursors.add(cursor)
    raise ListingLimit(f"the listing has more than {limits.pages} pages (Limits.pages)")

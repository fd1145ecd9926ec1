"""What servers offered last."""

from __future__ import annotations

from syncline.manager.cache import CatalogueCache
from syncline.manager.catalogue import Offered
from syncline.types import Tool


def offered(*tools: str) -> Offered:
    listed = [
        {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}} for name in tools
    ]
    return Offered(tuple(Tool.model_validate(tool) for tool in listed))


def shown(found: Offered | None) -> list[str] | None:
    return None if found is None else [tool.name for tool in found.tools]


def test_the_newest_question_counts() -> None:
    """3.68: whatever comes in when."""
    cache = CatalogueCache()
    old, new = cache.ticket(), cache.ticket()
    cache.put("k", new, offered("new"))
    cache.put("k", old, offered("old"))
    assert shown(cache.get("k")) == ["new"]


def test_annotations_are_not_remembered() -> None:
    """3.64, 3.69: what tools can do has to come from their server."""
    cache = CatalogueCache()
    cache.put("k", cache.ticket(), offered("a"))
    found = cache.get("k")
    assert found is not None
    assert found.tools[0].annotations is None


def test_the_one_that_was_used_least_lately_goes_first() -> None:
    """3.64: 32 of them."""
    cache = CatalogueCache(entries=2)
    for key in ("a", "b"):
        cache.put(key, cache.ticket(), offered(key))
    cache.get("a")
    cache.put("c", cache.ticket(), offered("c"))
    assert [key for key in "abc" if cache.get(key)] == ["a", "c"]


def test_it_holds_for_a_while() -> None:
    """3.64: half an hour."""
    cache = CatalogueCache(ttl=0)
    cache.put("k", cache.ticket(), offered("a"))
    assert cache.get("k") is None


def test_no_tools_are_not_known() -> None:
    """3.63: an empty list is no reason not to wait."""
    cache = CatalogueCache()
    cache.put("k", cache.ticket(), offered())
    assert cache.get("k") is None
    assert not cache.refused("k")


def test_a_server_can_refuse_to_be_remembered() -> None:
    """3.67: what was known is forgotten, and what was asked for before does not bring it back."""
    cache = CatalogueCache()
    cache.put("k", cache.ticket(), offered("a"))
    before = cache.ticket()
    cache.put("k", cache.ticket(), None)
    cache.put("k", before, offered("a"))
    assert (cache.get("k"), cache.refused("k")) == (None, True)
    cache.put("k", cache.ticket(), offered("b"))
    assert shown(cache.get("k")) == ["b"]


def test_nothing_is_remembered_without_a_key_or_room() -> None:
    cache = CatalogueCache(entries=0)
    cache.put("k", cache.ticket(), offered("a"))
    cache.put(None, cache.ticket(), offered("a"))
    assert (cache.get("k"), cache.get(None), cache.refused(None), cache.grace("k", 1), cache.grace(None, 1)) == (
        None,
        None,
        False,
        None,
        None,
    )


def test_the_first_who_waits_starts_the_clock() -> None:
    """3.55: shared by all, another length is another clock, and a catalogue ends it."""
    cache = CatalogueCache()
    first = cache.grace("k", 1.0)
    assert cache.grace("k", 1.0) is first
    assert cache.grace("k", 2.0) is not first
    assert cache.grace("other", 1.0) is not first
    cache.put("k", cache.ticket(), offered("a"))
    assert cache.grace("k", 1.0) is not first


def test_clocks_do_not_pile_up() -> None:
    cache = CatalogueCache()
    first = cache.grace("0", 1.0)
    for number in range(1, 300):
        cache.grace(str(number), 1.0)
    assert cache.grace("0", 1.0) is not first

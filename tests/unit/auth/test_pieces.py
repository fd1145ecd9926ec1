"""Long values in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.auth.stores.pieces import GENERATIONS, LIMIT, MOST, Manifest, join, other, split

manifests = st.none() | st.builds(Manifest, st.sampled_from(GENERATIONS), st.integers(1, 9), st.just("0" * 64))
values = st.builds(
    lambda text, length: json.dumps(text * (length // max(1, len(text)))), st.text(max_size=40), st.integers(0, 6000)
)


@given(values, manifests)
def test_what_is_split_can_be_joined_and_fits(value: str, before: Manifest | None) -> None:
    head, pieces = split(value, before)
    assert all(len(each.encode("utf-16-le")) <= 2560 for each in (head, *pieces))
    manifest = Manifest.of(head)
    if manifest is None:
        assert (head, pieces) == (value, ())
    else:
        assert join(manifest, pieces) == value
        assert manifest.generation == other(before) != (before.generation if before else "")


@given(values.filter(lambda value: len(value) > LIMIT), values.filter(lambda value: len(value) > LIMIT), st.data())
def test_a_mixture_is_never_taken_for_a_whole(one: str, two: str, data: st.DataObject) -> None:
    head, pieces = split(one, None)
    manifest = Manifest.of(head)
    assert manifest is not None
    others = [*split(two, None)[1], None]
    mixed = [data.draw(st.sampled_from([piece, *others])) for piece in pieces]
    assert join(manifest, mixed) in (None, one)
    assert (join(manifest, mixed) == one) == (mixed == list(pieces))
    assert join(manifest, pieces[:-1]) is None


@pytest.mark.parametrize(
    ("length", "pieces"), [(1279, 0), (1280, 0), (1281, 2), (2560, 2), (2561, 3), (LIMIT * MOST, MOST)]
)
def test_the_fewest_pieces_are_made(length: int, pieces: int) -> None:
    assert len(split("x" * length, None)[1]) == pieces


def test_there_is_an_end_to_it() -> None:
    with pytest.raises(ValueError, match="too long"):
        split("x" * (LIMIT * MOST + 1), None)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "",
        "{",
        "[" * 100_000,
        "7",
        '{"version": 1}',
        '{"generation": "c", "pieces": 1, "sha256": "0"}',
        '{"generation": "a", "pieces": 0, "sha256": "0"}',
        '{"generation": "a", "pieces": true, "sha256": "0"}',
        '{"generation": "a", "pieces": 1025, "sha256": "0"}',
        '{"generation": ["a"], "pieces": 1, "sha256": "0"}',
        '{"generation": "a", "pieces": 1, "sha256": 0}',
        '{"generation": "a", "pieces": 1, "sha256": "0", "version": 1}',
    ],
)
def test_what_is_no_manifest_is_not_taken_for_one(entry: str | None) -> None:
    assert Manifest.of(entry) is None

"""A stream over several connections: what is new, where to go on from, and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import InvalidMessage
from syncline.protocol.trail import LONGEST, REMEMBERED, Trail


def event(data: str, ident: str | None = None) -> bytes:
    return (f"id: {ident}\n" if ident is not None else "").encode() + f"data: {data}\n\n".encode()


def cut(trail: Trail, lasted: float = 0.0, chance: float = 1.0) -> float:
    return trail.cut(lasted, chance)


def test_messages_and_the_id_to_resume_from() -> None:
    trail = Trail(None)
    assert trail.last_event_id is None
    assert trail.feed(b"id: 1\ndata:\n\n: alive\n\nevent: ping\ndata: x\n\n") == []
    assert trail.last_event_id == "1"
    assert trail.feed(event("a", "2") + event("b")) == [b"a", b"b"]
    assert trail.last_event_id == "2"
    assert trail.feed(b"id\ndata: c\n\n") == [b"c"]
    assert trail.last_event_id is None


@pytest.mark.parametrize(
    ("ident", "value"),
    [("7", "7"), ("ä€", "ä€".encode().decode("latin-1")), (" 7", None), ("a\x01", None), ("a b", "a b")],
)
def test_an_id_goes_into_a_header_if_it_can(ident: str, value: str | None) -> None:
    trail = Trail(None)
    trail.feed(event("", ident))
    assert trail.last_event_id == value


def test_an_unfinished_event_is_lost_with_its_connection() -> None:
    trail = Trail(None)
    assert trail.feed(event("a", "1") + b"id: 2\ndata: b\n") == [b"a"]
    cut(trail)
    assert trail.last_event_id == "1"
    assert trail.feed(b"\n" + event("b", "2")) == [b"b"]


def test_what_an_earlier_connection_has_brought_is_left_out() -> None:
    """B039."""
    trail = Trail(None)
    assert trail.feed(event("a", "1") + event("b", "2")) == [b"a", b"b"]
    cut(trail)
    assert trail.feed(event("b", "2") + event("c", "3")) == [b"c"]
    cut(trail)
    assert trail.feed(event("a", "1") + event("c", "3")) == []


def test_other_events_may_have_the_ids_of_earlier_ones() -> None:
    """A server that counts anew, or gives all its events one id."""
    trail = Trail(None)
    assert trail.feed(event("a", "1") + event("a", "1") + event("b", "1")) == [b"a", b"a", b"b"]
    cut(trail)
    assert trail.feed(event("c", "1") + event("d")) == [b"c", b"d"]
    cut(trail)
    assert trail.feed(event("d")) == [b"d"]


def test_not_everything_is_remembered() -> None:
    trail = Trail(None)
    for number in range(2 * REMEMBERED):
        trail.feed(event("x", str(number)))
    cut(trail)
    assert trail.feed(event("x", str(REMEMBERED))) == []
    assert trail.feed(event("x", "0")) == [b"x"]


def test_the_server_says_when_to_come_back() -> None:
    """RES-6: exactly then, with nothing added; the value holds until another one comes."""
    trail = Trail(None)
    trail.feed(b"retry: 500\n\n")
    assert cut(trail) == 0.5
    trail.feed(event("a", "1"))
    assert cut(trail) == 0.5
    trail.feed(b"id: 2\nretry: 10\ndata:\n\n")
    assert cut(trail) == 0.01


def test_without_that_the_first_attempt_comes_at_once_and_later_ones_when_they_were_in_vain() -> None:
    trail = Trail(None)
    trail.feed(event("a", "1"))
    assert [cut(trail) for _ in range(8)] == [0, 1, 2, 4, 8, 16, 30, 30]
    assert trail.in_vain == 8
    trail.feed(event("b", "2"))
    assert trail.in_vain == 0
    assert [cut(trail) for _ in range(3)] == [0, 1, 2]


def test_attempts_in_vain_are_slowed_down_whatever_the_server_says() -> None:
    trail = Trail(None)
    trail.feed(b"retry: 3000\n\n")
    assert [cut(trail) for _ in range(5)] == [3, 3, 3, 4, 8]


def test_the_time_that_a_connection_lasted_counts() -> None:
    """A stream that is cut every minute, with nothing to say in between, is made again at once."""
    trail = Trail(None)
    assert cut(trail, lasted=60) == 0
    assert cut(trail, lasted=0.25) == 0.75
    assert cut(trail, lasted=60) == 0


def test_a_sign_of_life_is_news_if_the_server_wants_to_be_polled() -> None:
    """B033: what comes again is none; an id alone is, if the server said when to come back."""
    polled, plain = Trail(None), Trail(None)
    polled.feed(b"retry: 20\nid: 0\ndata:\n\n")
    plain.feed(b"id: 0\ndata:\n\n")
    for number in range(1, 9):
        cut(polled)
        cut(plain)
        polled.feed(event("", str(number)))
        plain.feed(event("", str(number)))
    assert (polled.in_vain, plain.in_vain) == (0, 8)
    cut(polled)
    polled.feed(event("", "8"))
    assert polled.in_vain == 1


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0, 100), st.floats(0, 1)), max_size=30),
    st.none() | st.integers(0, 60_000),
)
def test_no_wait_is_shorter_than_asked_or_longer_than_needed(
    cuts: list[tuple[bool, float, float]], retry: int | None
) -> None:
    trail = Trail(None)
    asked = (retry or 0) / 1000
    if retry is not None:
        trail.feed(f"retry: {retry}\n\n".encode())
    for number, (news, lasted, chance) in enumerate(cuts):
        if news:
            trail.feed(event(str(number), str(number)))
        fresh = trail.in_vain == 0
        wait = trail.cut(lasted, chance)
        assert wait == asked if fresh else asked <= wait <= max(asked, LONGEST)


def test_an_event_over_the_limit() -> None:
    trail = Trail(10)
    with pytest.raises(InvalidMessage, match="over 10 bytes"):
        trail.feed(event("x" * 20))
    assert trail.size == len(event("x" * 20))


def test_messages_that_were_whole_before_an_error_come_first() -> None:
    trail = Trail(10)
    assert trail.feed(event("a") + event("x" * 20)) == [b"a"]
    with pytest.raises(InvalidMessage, match="over 10 bytes"):
        trail.check()

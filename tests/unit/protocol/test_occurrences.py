"""One subscription: frames and polls in, items out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import EventForbidden, InvalidMessage, InvalidResult, StreamTerminated
from syncline.protocol.occurrences import NEXT_POLL, PREFIX, Event, Gap, StreamItem, Subscription, Taken, Trouble


class Watch(Subscription):
    """A subscription that keeps its findings."""

    def __init__(self, cursor: str | None = None, seen: tuple[str, ...] = (), limit: int = 10_000) -> None:
        self.findings: list[str] = []
        super().__init__(
            "build.finished",
            {"repo": "acme"},
            "sep3415",
            cursor=cursor,
            seen=seen,
            limit=limit,
            record=lambda code, place, raw: self.findings.append(code),
        )

    def got(self, kind: str, **params: object) -> Taken:
        return self.frame(PREFIX + kind, params)

    def event(self, number: int, **more: object) -> list[StreamItem]:
        return self.got("event", **{**occurrence(number), "cursor": f"c{number}", **more}).items


def occurrence(number: int) -> dict[str, Any]:
    return {
        "eventId": f"e{number}",
        "name": "build.finished",
        "timestamp": "2026-11-03T10:11:12Z",
        "data": {"n": number},
    }


def running(cursor: str | None = None) -> Watch:
    watch = Watch(cursor)
    watch.request()
    assert watch.got("active", cursor=cursor or "c0") == Taken(active=True)
    return watch


def ids(items: list[StreamItem]) -> list[str]:
    return [item.event_id if isinstance(item, Event) else item.kind for item in items]


def test_what_is_asked_for() -> None:
    """E-10: no cursor is now; E-13."""
    assert Watch().request() == {"name": "build.finished", "arguments": {"repo": "acme"}}
    assert Watch("c7").request(5000)["cursor"] == "c7"
    assert Watch("c7").request(5000)["maxAgeMs"] == 5000
    assert Watch("").request()["cursor"] == ""


def test_an_event() -> None:
    (item,) = running().event(1, _meta={"acme/k": 1})
    assert isinstance(item, Event)
    assert (item.name, item.data, item.event_id, item.cursor) == ("build.finished", {"n": 1}, "e1", "c1")
    assert (item.timestamp, item.meta) == ("2026-11-03T10:11:12Z", {"acme/k": 1})


def test_what_is_missing_from_an_event_is_filled_in_where_it_can_be() -> None:
    """E-7: lenient."""
    (item,) = running().got("event", eventId="e1", data={}).items
    assert isinstance(item, Event)
    assert (item.name, item.timestamp, item.cursor, item.meta) == ("build.finished", "", None, {})


def test_frames_move_the_position_and_acknowledgements_what_may_be_stored() -> None:
    """E-12, E-15."""
    watch = running()
    items = watch.event(1) + watch.event(2)
    watch.got("heartbeat", cursor="c9")
    assert (watch.cursor, watch.ledger.committed) == ("c9", "c0")
    for item in items:
        assert isinstance(item, Event)
        watch.ledger.acknowledge(item.ticket)
    assert watch.ledger.committed == "c9"


def test_events_that_come_again_are_left_out() -> None:
    watch = running()
    first = watch.event(1) + watch.event(2)
    watch.request()
    watch.got("active")
    again = watch.event(1) + watch.event(2) + watch.event(3)
    assert (ids(first), ids(again)) == (["e1", "e2"], ["e3"])
    assert ids(Watch("c0", seen=("e1",)).event(1)) == []


def test_the_cursor_of_active_is_where_it_starts_and_nothing_more() -> None:
    """5.17: not when a replay was asked for, whose events are still to come."""
    watch = Watch("c3")
    watch.request()
    assert watch.got("active", cursor="c9", truncated=False).items == []
    assert (watch.cursor, watch.ledger.committed) == ("c3", "c3")


def test_a_gap_is_told_in_order_and_moves_the_position() -> None:
    """E-14, E-38."""
    watch = Watch("c3")
    watch.request()
    (first,) = watch.got("active", cursor="c9", truncated=True).items
    items = [*watch.event(10), *watch.got("active", cursor="c20", truncated=True).items, *watch.event(21)]
    assert isinstance(first, Gap)
    assert (first.cursor, ids(items)) == ("c9", ["e10", "gap", "e21"])
    assert watch.ledger.committed == "c3"
    assert isinstance(items[2], Event)
    assert isinstance(items[0], Event)
    watch.ledger.acknowledge(items[0].ticket)
    watch.ledger.acknowledge(items[2].ticket)
    assert watch.ledger.committed == "c21"


def test_truncated_means_nothing_where_there_was_no_position() -> None:
    """E-14."""
    watch = Watch()
    watch.request()
    assert watch.got("active", cursor="c1", truncated=True).items == []
    bare = Watch()
    bare.request()
    bare.got("active")
    assert bare.got("active", truncated=True).items == []


def test_a_stream_without_cursors_that_is_made_again_may_have_missed_something() -> None:
    """E-11."""
    watch = Watch()
    watch.request()
    assert watch.got("active").items == []
    assert "cursor" not in watch.request()
    assert ids(watch.got("active").items) == ["gap"]
    assert watch.ledger.committed is None


def test_trouble_passes() -> None:
    """E-37."""
    (item,) = running().got("error", error={"code": -32024, "message": "busy", "data": 1}).items
    assert isinstance(item, Trouble)
    assert isinstance(item.error, EventForbidden)
    (item,) = running().got("error").items
    assert isinstance(item, Trouble)
    assert isinstance(item.error, InvalidMessage)


def test_the_end() -> None:
    ended = running().got("terminated", error={"code": -32024, "message": "left the team"}).ended
    assert isinstance(ended, EventForbidden)
    assert isinstance(running().got("terminated").ended, StreamTerminated)
    assert running().got("terminated", error={"code": "x"}).ended is not None


@pytest.mark.parametrize("params", [{}, {"eventId": 7, "data": {}}, {"eventId": "e", "data": []}, {"eventId": "e"}])
def test_an_event_that_cannot_be_used_is_told_and_passed(params: dict[str, object]) -> None:
    """E-45."""
    watch = running()
    (item,) = watch.got("event", cursor="c5", **params).items
    assert isinstance(item, Trouble)
    assert watch.findings == ["event-malformed"]
    assert watch.cursor == watch.ledger.committed == "c5"


def test_an_event_that_is_too_large_is_told_and_passed() -> None:
    """E-67."""
    watch = Watch(limit=200)
    (item,) = watch.event(1, data={"text": "x" * 300})
    assert isinstance(item, Trouble)
    assert "Limits.notification_bytes" in str(item.error)
    assert watch.findings == ["event-too-large"]
    assert ids(watch.event(2)) == ["e2"]


def test_what_is_unknown_is_skipped() -> None:
    watch = running()
    assert watch.got("party") == Taken()
    assert watch.event(1, cursor=7) != []
    assert watch.findings == ["event-frame", "event-cursor"]


# Poll


def test_a_poll_moves_the_position_after_the_whole_batch() -> None:
    watch = Watch("c0")
    watch.request()
    page = watch.page({"events": [occurrence(1), occurrence(2)], "cursor": "c2", "hasMore": True, "nextPollMs": 1500})
    assert (ids(page.items), page.more, page.next_poll) == (["e1", "e2"], True, 1.5)
    assert (watch.cursor, watch.ledger.committed) == ("c2", "c0")
    for item in page.items:
        assert isinstance(item, Event)
        watch.ledger.acknowledge(item.ticket)
    assert watch.ledger.committed == "c2"


def test_a_poll_that_brings_nothing_moves_it_at_once() -> None:
    watch = Watch()
    watch.request()
    page = watch.page({"events": [], "cursor": "c5"})
    assert (page.items, page.more, page.next_poll) == ([], False, NEXT_POLL)
    assert watch.ledger.committed == "c5"


def test_more_is_not_believed_when_the_cursor_does_not_move() -> None:
    """E-21."""
    watch = Watch("c5")
    watch.request()
    assert not watch.page({"events": [], "cursor": "c5", "hasMore": True}).more
    assert not watch.page({"events": [], "hasMore": True, "nextPollMs": True}).more


def test_a_gap_comes_before_the_events_of_its_poll() -> None:
    watch = Watch("c1")
    watch.request()
    page = watch.page({"events": [occurrence(8), {"eventId": 1}, occurrence(8)], "cursor": "c9", "truncated": True})
    assert ids(page.items) == ["gap", "e8", "error"]


@pytest.mark.parametrize("events", [None, {}, 7])
def test_a_poll_without_events_is_an_error(events: object) -> None:
    with pytest.raises(InvalidResult):
        Watch().page({"events": events, "cursor": "c1"})


# Any frames

cursors = st.one_of(st.none(), st.integers(0, 9).map(str), st.just(7))
params: st.SearchStrategy[dict[str, object]] = st.fixed_dictionaries(
    {},
    optional={
        "cursor": cursors,
        "eventId": st.one_of(st.integers(0, 5).map(str), st.none()),
        "data": st.one_of(st.just({}), st.just([])),
        "name": st.one_of(st.just("n"), st.just(7)),
        "timestamp": st.just(""),
        "truncated": st.one_of(st.booleans(), st.just("yes")),
        "error": st.one_of(st.just({"code": -32603, "message": "m"}), st.just({}), st.just("bad"), st.none()),
        "_meta": st.one_of(st.just({}), st.just(7)),
    },
)
kinds = st.sampled_from(["active", "event", "heartbeat", "error", "terminated", "else", "request"])


@given(st.lists(st.tuples(kinds, params), max_size=40), st.one_of(st.none(), st.just("c")))
def test_any_frames_are_taken(frames: list[tuple[str, dict[str, Any]]], cursor: str | None) -> None:
    """Never an exception; no event twice; nothing is to be stored before it is acknowledged."""
    watch = Watch(cursor)
    seen: list[str] = []
    outstanding = False
    for kind, each in frames:
        if kind == "request":
            watch.request()
            continue
        before = watch.ledger.committed
        items = watch.frame(PREFIX + kind, each).items
        seen += [item.event_id for item in items if isinstance(item, Event)]
        outstanding = outstanding or any(isinstance(item, (Event, Gap)) for item in items)
        if outstanding:
            assert watch.ledger.committed == before
    assert len(seen) == len(set(seen))


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=20), st.randoms())
def test_a_server_that_repeats_and_breaks_off_loses_and_doubles_nothing(
    plan: list[tuple[int, bool, bool]], random: Any
) -> None:
    """Each turn: so many events come; then it may break off, and what the server sends after that may begin too early."""
    watch, log, at, got = Watch("c0"), 0, 0, list[Event]()
    watch.request()
    watch.got("active", cursor="c0")
    for count, breaks, early in plan:
        log += count
        while at < log:
            at += 1
            got += [item for item in watch.event(at) if isinstance(item, Event)]
        if breaks:
            cursor = watch.request()["cursor"]
            at = max(0, int(str(cursor)[1:]) - (2 if early else 0))
            watch.got("active", cursor=f"c{at}")
    assert [item.event_id for item in got] == [f"e{number + 1}" for number in range(log)]
    random.shuffle(got)
    for item in got:
        watch.ledger.acknowledge(item.ticket)
    assert watch.ledger.committed == f"c{log}"

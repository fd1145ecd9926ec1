"""Event streams that share their channel with others; the test plays the server."""

from __future__ import annotations

from typing import Any

import pytest

import syncline
from syncline.errors import StreamOverflow, StreamTerminated
from syncline.protocol.occurrences import Event, StreamItem
from syncline.protocol.pace import Reconnect
from syncline.protocol.revisions import META
from syncline.streams.event_stream import EventStream
from syncline.streams.events import Events
from tests.fixtures.partner import SOON, Background, Meet, Partner

OFFER: dict[str, Any] = {"extensions": {META + "events": {}}}
QUICK = Reconnect(first=0.01, most=0.05)


def frame(partner: Partner, ident: object, kind: str, **params: object) -> None:
    meta = {META + "subscriptionId": ident}
    partner.send(method=f"notifications/events/{kind}", params={**params, "_meta": meta})


def event(partner: Partner, ident: object, number: int, size: int = 0, cursor: bool = True) -> None:
    data = {"text": "x" * size}
    place = {"cursor": f"c{number}"} if cursor else {}
    frame(partner, ident, "event", eventId=f"e{number}", name="a.b", timestamp="", data=data, **place)


def activate(partner: Partner, **more: object) -> dict[str, Any]:
    request = partner.next("events/stream")
    frame(partner, request["id"], "active", **{"cursor": "c0", **more})
    return request


def start(client: syncline.Client, partner: Partner, **options: Any) -> tuple[EventStream, int]:
    """A stream, past the item that says that it is active, and the id of its request."""
    opening = Background(lambda: Events(client._session).stream("a.b", **options))
    ident: int = activate(partner)["id"]
    stream = opening.result()
    assert take(stream).kind == "state"
    return stream, ident


def take(stream: EventStream) -> StreamItem:
    item = stream.get(SOON)
    assert item is not None, "nothing came"
    return item


def take_event(stream: EventStream) -> str:
    while True:
        item = take(stream)
        if isinstance(item, Event):
            return item.event_id


def test_streams_that_are_mixed_up_are_told_apart(meet: Meet) -> None:
    """E-33."""
    client, partner = meet("2026-07-28", capabilities=OFFER)
    one, first = start(client, partner)
    two, second = start(client, partner)
    event(partner, second, 2)
    event(partner, first, 1)
    event(partner, 999, 3)
    assert (take_event(one), take_event(two)) == ("e1", "e2")
    one.close()
    assert partner.next("notifications/cancelled")["params"]["requestId"] == first
    event(partner, first, 4)
    event(partner, second, 5)
    assert take_event(two) == "e5"
    two.close()


def test_an_event_before_active_is_taken_all_the_same(meet: Meet) -> None:
    """E-32."""
    client, partner = meet("2026-07-28", capabilities=OFFER)
    opening = Background(lambda: Events(client._session).stream("a.b"))
    ident = partner.next("events/stream")["id"]
    event(partner, ident, 1)
    frame(partner, ident, "active", cursor="c1")
    with opening.result() as stream:
        assert take_event(stream) == "e1"


@pytest.mark.parametrize("ending", ["result", "cancelled"])
def test_the_end_of_the_request_is_a_drop(meet: Meet, ending: str) -> None:
    """E-40, and both ways that core has for a server to end a stream."""
    client, partner = meet("2026-07-28", capabilities=OFFER)
    stream, ident = start(client, partner, reconnect=QUICK)
    event(partner, ident, 1)
    if ending == "result":
        partner.send(id=ident, result={"resultType": "complete"})
    else:
        partner.send(method="notifications/cancelled", params={"requestId": ident})
    again = activate(partner)
    assert again["params"]["cursor"] == "c1"
    event(partner, again["id"], 2)
    assert [take_event(stream), take_event(stream)] == ["e1", "e2"]
    stream.close()


def test_one_that_is_not_read_is_cut_off_and_goes_on_where_it_stood(meet: Meet) -> None:
    """E-43: its neighbour, and the channel, are not held up."""
    client, partner = meet("2026-07-28", capabilities=OFFER)
    slow, first = start(client, partner, waiting=5, reconnect=QUICK)
    quick, second = start(client, partner)
    for number in range(1, 500):
        event(partner, first, number)
    event(partner, second, 1)
    assert take_event(quick) == "e1"
    assert partner.next("notifications/cancelled")["params"]["requestId"] == first
    assert partner.silent()

    assert [take_event(slow) for _ in range(5)] == ["e1", "e2", "e3", "e4", "e5"]
    again = activate(partner)
    assert again["params"]["cursor"] == "c5"
    assert isinstance(slow.last_error, StreamOverflow)
    for number in range(6, 9):
        event(partner, again["id"], number)
    assert [take_event(slow) for _ in range(3)] == ["e6", "e7", "e8"]
    slow.close()
    quick.close()


def test_one_that_keeps_too_many_bytes_waiting_is_terminated(meet: Meet) -> None:
    """It alone; what was waiting can still be read."""
    client, partner = meet("2026-07-28", capabilities=OFFER, limits=syncline.Limits(pending_bytes=10_000))
    slow, first = start(client, partner)
    quick, second = start(client, partner)
    for number in range(20):
        event(partner, first, number, size=1000)
    event(partner, second, 1)
    assert take_event(quick) == "e1"
    assert partner.next("notifications/cancelled")["params"]["requestId"] == first
    found: list[str] = []
    with pytest.raises(StreamTerminated, match=r"Limits\.pending_bytes") as caught:
        found.extend(take_event(slow) for _ in range(20))
    assert isinstance(caught.value.error, StreamOverflow)
    quick.close()


def test_reading_makes_room(meet: Meet) -> None:
    """Many times as much as may wait goes through."""
    client, partner = meet("2026-07-28", capabilities=OFFER, limits=syncline.Limits(pending_bytes=10_000))
    stream, ident = start(client, partner)
    for number in range(100):
        event(partner, ident, number, size=1000)
        assert take_event(stream) == f"e{number}"
    stream.close()


def test_without_cursors_a_new_stream_begins_with_a_gap(meet: Meet) -> None:
    """E-11: nothing is sent that the server did not give."""
    client, partner = meet("2026-07-28", capabilities=OFFER)
    opening = Background(lambda: Events(client._session).stream("a.b", reconnect=QUICK))
    ident = activate(partner, cursor=None)["id"]
    stream = opening.result()
    event(partner, ident, 1, cursor=False)
    partner.send(id=ident, result={"resultType": "complete"})
    again = activate(partner, cursor=None)
    assert "cursor" not in again["params"]
    assert [take(stream).kind for _ in range(5)] == ["state", "event", "state", "state", "gap"]
    stream.close()


def test_a_channel_that_stays_lost_ends_it_in_the_end(meet: Meet) -> None:
    """It might come back, when the client reconnects: for as long as the policy has it."""
    client, partner = meet("2026-07-28", capabilities=OFFER)
    stream, _ = start(client, partner, reconnect=Reconnect(0.01, 0.05, tries=3))
    partner.peer.close()
    with pytest.raises(StreamTerminated, match="the peer has closed"):
        list(stream)


def test_closing_the_client_ends_it(meet: Meet) -> None:
    client, partner = meet("2026-07-28", capabilities=OFFER)
    stream, _ = start(client, partner)
    client.close()
    assert list(stream) == []


def test_an_item_of_another_stream_cannot_be_acknowledged(meet: Meet) -> None:
    client, partner = meet("2026-07-28", capabilities=OFFER)
    one, first = start(client, partner)
    two, _ = start(client, partner)
    event(partner, first, 1)
    item = take(one)
    with pytest.raises(ValueError, match="another stream"):
        two.ack(item)
    one.ack(item)
    assert (one.cursor, two.cursor) == ("c1", "c0")
    one.close()
    two.close()

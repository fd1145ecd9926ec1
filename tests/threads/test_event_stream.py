"""Event subscriptions over HTTP, pushed and polled, against a server that drops, repeats, goes silent and comes back."""

from __future__ import annotations

import gc
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple, Protocol

import pytest

import syncline
from syncline.errors import (
    ConcurrencyError,
    EventForbidden,
    EventsExhausted,
    NoCompatibleDelivery,
    StreamTerminated,
    SubscriptionLimit,
)
from syncline.protocol import pace
from syncline.protocol.occurrences import Event, Page, StreamItem
from syncline.protocol.pace import Reconnect
from syncline.streams.cursors import MemoryCursors
from syncline.streams.event_stream import EventStream
from syncline.streams.events import Events
from tests.fixtures.partner import SOON, Background
from tools.fakeserver.events import EventServer, EventSource, Fault
from tools.fakeserver.scripted import Exchange

QUICK = Reconnect(first=0.01, most=0.05)


class Setting(NamedTuple):
    """A client's events, and what happens at the server."""

    events: Events
    source: EventSource
    server: EventServer
    client: syncline.Client

    def emit(self, count: int = 1, size: int = 0) -> None:
        for _ in range(count):
            self.source.emit("a.b", data={"text": "x" * size})


class Meeting(Protocol):
    def __call__(
        self, *delivery: str, source: EventSource | None = ..., sketch: bool = ..., **options: Any
    ) -> Setting: ...


@pytest.fixture
def meeting() -> Iterator[Meeting]:
    """Open a client at an events server, which offers the event type ``a.b``."""
    with ExitStack() as stack:

        def start(*delivery: str, source: EventSource | None = None, sketch: bool = False, **options: Any) -> Setting:
            source = source or EventSource()
            source.offer("a.b", *delivery)
            versions = ["2025-11-25"] if sketch else ["2026-07-28"]
            server = stack.enter_context(EventServer(source, sketch=sketch, versions=versions))
            client = stack.enter_context(syncline.connect(server.url, **options))
            events = Events(client._session)
            stack.callback(events.close)
            return Setting(events, source, server, client)

        yield start


def take(stream: EventStream) -> StreamItem:
    item = stream.get(SOON)
    assert item is not None, "nothing came"
    return item


def take_events(stream: EventStream, count: int) -> list[str]:
    """So many events, whatever comes between them, all acknowledged."""
    found: list[str] = []
    while len(found) < count:
        item = take(stream)
        stream.ack(item)
        if isinstance(item, Event):
            found.append(item.event_id)
    return found


def numbered(*numbers: int) -> list[str]:
    return [f"e{number}" for number in numbers]


def states(items: list[StreamItem]) -> list[str]:
    return [item.state for item in items if item.kind == "state"]


# Push


def test_events_come_in_order_and_acknowledging_them_moves_the_cursor(meeting: Meeting) -> None:
    """E-32: it is active when it is returned."""
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        setting.emit(3)
        first, *items = [take(stream) for _ in range(4)]
        assert first.kind == "state"
        assert first.state == "active"
        assert [item.event_id for item in items if isinstance(item, Event)] == numbered(0, 1, 2)
        assert stream.cursor == "c0"
        stream.ack(items[1])
        stream.ack(items[0])
        assert stream.cursor == "c2"
    assert stream.state == "closed"
    assert list(stream) == []


def test_it_starts_where_it_is_told_to(meeting: Meeting) -> None:
    setting = meeting()
    setting.emit(5)
    with setting.events.stream("a.b", cursor="c3") as stream:
        assert take_events(stream, 2) == numbered(3, 4)


@pytest.mark.parametrize("kind", ["drop", "reset", "truncate", "finish"])
def test_a_stream_that_breaks_off_goes_on_where_it_stood(meeting: Meeting, kind: Fault) -> None:
    """E-39, E-40."""
    setting = meeting()
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        setting.emit(2)
        assert take_events(stream, 2) == numbered(0, 1)
        setting.source.fault(kind, "a.b")
        items = [take(stream), take(stream)]
        setting.emit(2)
        assert states(items) == ["reconnecting", "active"]
        assert take_events(stream, 2) == numbered(2, 3)
        assert stream.last_error is not None
    assert setting.source.topic("a.b").opened == 2


def test_what_happened_while_the_server_was_away_comes_after_it_is_back(meeting: Meeting) -> None:
    setting = meeting()
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        setting.emit(1)
        assert take_events(stream, 1) == numbered(0)
        port = setting.server.port
        setting.server.close()
        setting.emit(3)
        with EventServer(setting.source, port=port):
            assert take_events(stream, 3) == numbered(1, 2, 3)
            stream.close()


def test_a_client_that_reconnects_takes_its_streams_along(meeting: Meeting) -> None:
    setting = meeting()
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        setting.emit(1)
        assert take_events(stream, 1) == numbered(0)
        setting.client.reconnect()
        setting.emit(1)
        assert take_events(stream, 1) == numbered(1)
        assert stream.state == "active"


def test_an_expired_session_is_renewed(meeting: Meeting) -> None:
    """In the handshake era: by a stream that is made again, and by one that is new."""
    setting = meeting(sketch=True)
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        setting.emit(1)
        assert take_events(stream, 1) == numbered(0)
        setting.server.expire_sessions()
        setting.source.fault("drop", "a.b")
        assert states([take(stream), take(stream)]) == ["reconnecting", "active"]
        setting.emit(1)
        assert take_events(stream, 1) == numbered(1)
        setting.server.expire_sessions()
        with setting.events.stream("a.b", cursor="c0") as other:
            assert take_events(other, 2) == numbered(0, 1)


def test_what_is_sent_again_is_left_out(meeting: Meeting) -> None:
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        setting.emit(4)
        assert take_events(stream, 4) == numbered(0, 1, 2, 3)
        setting.source.fault("again", "a.b")
        setting.emit(1)
        assert take_events(stream, 1) == numbered(4)


def test_gaps_and_trouble_come_in_order(meeting: Meeting) -> None:
    """E-37, E-38: the stream goes on through both."""
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        kinds = [take(stream).kind]
        for kind in ("gap", "error"):
            setting.source.fault(kind, "a.b")
            kinds.append(take(stream).kind)
            setting.emit(1)
            kinds.append(take(stream).kind)
        assert kinds == ["state", "gap", "event", "error", "event"]
        assert "upstream is away" in str(stream.last_error)
    assert setting.source.topic("a.b").opened == 1


def test_the_server_ends_it(meeting: Meeting) -> None:
    """What came before is handed out; then it raises, each time; there is no second stream."""
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        setting.emit(1)
        setting.source.terminate("a.b", error={"code": -32024, "message": "left the team"})
        with pytest.raises(StreamTerminated, match="left the team") as caught:
            list(stream)
        assert isinstance(caught.value.error, EventForbidden)
        with pytest.raises(StreamTerminated):
            next(stream)
    assert stream.state == "terminated"
    assert setting.source.topic("a.b").opened == 1


def test_every_item_before_the_end_is_handed_out(meeting: Meeting) -> None:
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        setting.emit(2)
        setting.source.terminate("a.b")
        items = [take(stream) for _ in range(4)]
        with pytest.raises(StreamTerminated, match="without saying why"):
            take(stream)
        assert [item.kind for item in items] == ["state", "event", "event", "state"]
        assert states(items) == ["active", "terminated"]


@pytest.mark.parametrize("listed", [True, False])
def test_an_event_type_that_is_not_found_any_more_is_looked_up(meeting: Meeting, listed: bool) -> None:
    """5.10: once; it is over if the listing does not have it."""
    setting = meeting()
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        if not listed:
            del setting.source.types["a.b"]
        setting.source.terminate("a.b", error={"code": -32023, "message": "gone", "data": {"kind": "event"}})
        if listed:
            setting.server.wait_until(lambda: setting.source.topic("a.b").opened == 2)
            setting.emit(1)
            assert take_events(stream, 1) == numbered(0)
        else:
            with pytest.raises(StreamTerminated, match="gone"):
                take_events(stream, 1)


def test_a_refusal_is_raised_and_leaves_nothing_behind(meeting: Meeting) -> None:
    """E-31."""
    setting = meeting()
    setting.source.topic("a.b").refusal = {"code": -32024, "message": "not for you"}
    with pytest.raises(EventForbidden, match=r"events/stream: not for you \(code -32024\)"):
        setting.events.stream("a.b")


def test_a_start_that_takes_too_long_is_given_up(meeting: Meeting) -> None:
    setting = meeting()
    gone = threading.Event()

    def silent(exchange: Exchange) -> None:
        exchange.sse()
        exchange.hold()
        gone.set()

    setting.server.arm(silent, method="events/stream")
    with pytest.raises(syncline.RequestTimeout, match=r"(not active|no answer) within"):
        setting.events.stream("a.b", timeout=2)
    assert gone.wait(SOON)


def test_silence_ends_a_stream_even_if_comments_come(meeting: Meeting) -> None:
    """E-34, E-36: what counts is frames."""
    setting = meeting(timeout=syncline.Timeouts(stream_idle=0.5))

    def dripping(exchange: Exchange) -> None:
        exchange.sse()
        meta = {"io.modelcontextprotocol/subscriptionId": exchange.request.id}
        params = {"cursor": "c0", "_meta": meta}
        exchange.event({"jsonrpc": "2.0", "method": "notifications/events/active", "params": params})
        while not exchange.gone():
            exchange.chunk(b": still here\n\n")
            time.sleep(0.05)
        exchange.close()

    setting.server.arm(dripping, method="events/stream")
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        items = [take(stream) for _ in range(3)]
        assert states(items) == ["active", "reconnecting", "active"]
        assert isinstance(stream.last_error, syncline.RequestTimeout)


def test_heartbeats_keep_it_alive(meeting: Meeting) -> None:
    setting = meeting(timeout=syncline.Timeouts(stream_idle=3), source=EventSource(heartbeat=0.1))
    with setting.events.stream("a.b") as stream:
        take(stream)
        assert stream.get(4.0) is None
    assert setting.source.topic("a.b").opened == 1


def test_a_server_that_accepts_and_drops_is_not_hammered(meeting: Meeting) -> None:
    """E-42: `active` alone does not start the waits anew, so that a limited number of tries comes to its end."""
    setting = meeting()
    with setting.events.stream("a.b", reconnect=Reconnect(0.01, 0.02, tries=3)) as stream:
        for _ in range(9):
            setting.source.fault("drop", "a.b")
        with pytest.raises(StreamTerminated):
            take_events(stream, 1)
    assert setting.source.topic("a.b").opened == 4


def test_the_server_says_when_to_come_back(meeting: Meeting) -> None:
    """E-42: Retry-After is at least waited for."""
    setting = meeting()
    with setting.events.stream("a.b", reconnect=QUICK) as stream:
        setting.emit(1)
        take_events(stream, 1)
        begin = time.monotonic()
        setting.source.fault("drop", "a.b")
        setting.source.fault("busy", "a.b")
        setting.server.wait_until(lambda: setting.source.faulted["busy"] == 1)
        setting.emit(1)
        assert take_events(stream, 1) == numbered(1)
        assert time.monotonic() - begin >= 1.0


def test_a_slow_consumer_slows_the_server_down_and_loses_nothing(meeting: Meeting) -> None:
    """E-43: the watchdog stands still while there is no room, so the stream is the same one after that."""
    setting = meeting(timeout=syncline.Timeouts(stream_idle=3), source=EventSource(heartbeat=0.1))
    with setting.events.stream("a.b", waiting=3) as stream:
        setting.emit(100)
        assert not threading.Event().wait(4)
        assert take_events(stream, 100) == numbered(*range(100))
    assert setting.source.topic("a.b").opened == 1


def test_bytes_count_too(meeting: Meeting) -> None:
    setting = meeting(limits=syncline.Limits(pending_bytes=10_000))
    with setting.events.stream("a.b") as stream:
        setting.emit(100, size=1000)
        assert not threading.Event().wait(0.3)
        assert stream._feed.mailbox.weight < 12_000
        assert take_events(stream, 100) == numbered(*range(100))


def test_an_event_that_is_too_large_is_left_out_and_told(meeting: Meeting) -> None:
    setting = meeting(limits=syncline.Limits(notification_bytes=1000))
    with setting.events.stream("a.b") as stream:
        setting.emit(1, size=2000)
        setting.emit(1)
        assert [take(stream).kind for _ in range(3)] == ["state", "error", "event"]
        assert [finding.code for finding in setting.client.findings] == ["event-too-large"]


def test_closing_it_wakes_the_consumer_and_hangs_up(meeting: Meeting) -> None:
    setting = meeting()
    stream = setting.events.stream("a.b")
    take(stream)
    waiting = Background(lambda: list(stream))
    assert not threading.Event().wait(0.1)
    stream.close()
    assert waiting.result() == []
    stream.close()
    assert stream.get() is None
    setting.server.wait_until(lambda: setting.server.open_connections <= 1)


def test_closing_it_between_two_tries_is_at_once(meeting: Meeting) -> None:
    setting = meeting()
    stream = setting.events.stream("a.b", reconnect=Reconnect(3600, 3600, jitter=False))
    setting.source.fault("drop", "a.b")
    while states([take(stream)]) != ["reconnecting"]:
        pass
    stream.close()
    assert stream.state == "closed"


@pytest.mark.parametrize("moment", ["active", "reconnecting", "full"])
def test_closing_the_client_ends_it(meeting: Meeting, moment: str) -> None:
    setting = meeting()
    options = {"reconnect": Reconnect(3600, 3600, jitter=False), "waiting": 1}
    stream = setting.events.stream("a.b", **options)  # type: ignore[arg-type]
    if moment == "reconnecting":
        take(stream)
        setting.source.fault("drop", "a.b")
        assert states([take(stream)]) == ["reconnecting"]
    elif moment == "full":
        setting.emit(10)
    setting.client.close()
    assert all(item.kind != "error" for item in stream)
    assert stream.state == "closed"


def test_two_threads_cannot_take_from_it(meeting: Meeting) -> None:
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        take(stream)
        waiting = Background(lambda: stream.get(SOON))
        assert not threading.Event().wait(0.1)
        with pytest.raises(ConcurrencyError):
            stream.get(0)
        setting.emit(1)
        assert waiting.result() is not None


def test_only_so_many_streams_are_open_and_finished_ones_do_not_count(meeting: Meeting) -> None:
    """E-44."""
    setting = meeting(limits=syncline.Limits(subscriptions=2))
    first, second = setting.events.stream("a.b"), setting.events.stream("a.b", {"n": 1})
    with pytest.raises(SubscriptionLimit, match="2 streams are open"):
        setting.events.stream("a.b", {"n": 2})
    first.close()
    setting.events.stream("a.b", {"n": 2}).close()
    second.close()


def test_positions_are_kept_in_a_store(meeting: Meeting) -> None:
    with pytest.raises(
        syncline.ConfigError, match=r"cursors is a store, such as SqliteCursors\(path\), not 'events.db'"
    ):
        meeting().events.stream("a.b", cursors="events.db")  # type: ignore[arg-type]


def test_a_stream_that_is_forgotten_says_so(meeting: Meeting) -> None:
    setting = meeting()
    stream = setting.events.stream("a.b")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del stream
        gc.collect()
    assert [warning.category for warning in caught] == [ResourceWarning]


def test_a_stream_in_a_forked_child_belongs_to_the_parent(meeting: Meeting) -> None:
    setting = meeting()
    with setting.events.stream("a.b") as stream:
        take(stream)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python warns of forks beside threads
            pid = os.fork()
        if pid == 0:
            code = 1
            try:
                stream.get(5)
            except syncline.ForkedConnection:
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        setting.emit(1)
        assert take_events(stream, 1) == numbered(0)


# On a thread of its own


def test_running_it_in_a_thread_acknowledges_what_was_handled(meeting: Meeting) -> None:
    setting = meeting()
    handled: list[str] = []
    failed: list[Exception] = []
    done = threading.Event()

    def handle(item: StreamItem) -> None:
        if isinstance(item, Event):
            handled.append(item.event_id)
            if item.event_id == "e1":
                raise ValueError("cannot")
            if item.event_id == "e2":
                done.set()

    stream = setting.events.stream("a.b")
    worker = stream.run_in_thread(handle, on_error=failed.append)
    setting.emit(3)
    assert done.wait(SOON)
    worker.stop()
    assert worker.join(SOON)
    assert handled == numbered(0, 1, 2)
    assert [str(error) for error in failed] == ["cannot"]
    assert stream.cursor == "c1"


def test_the_end_reaches_the_error_handler(meeting: Meeting, caplog: pytest.LogCaptureFixture) -> None:
    setting = meeting()
    worker = setting.events.stream("a.b").run_in_thread(lambda item: None)
    setting.source.terminate("a.b", error={"code": -32024, "message": "left the team"})
    assert worker.join(SOON)
    assert "left the team" in caplog.text


# Stores


def test_the_next_client_goes_on_where_the_last_one_stopped(meeting: Meeting) -> None:
    """E-15, E-16: nothing that was not acknowledged is lost, nothing that was comes again, whatever the order."""
    setting, cursors = meeting(), MemoryCursors()
    with setting.events.stream("a.b", {"n": 1}, cursors=cursors) as stream:
        for _ in range(5):
            setting.source.emit("a.b", {"n": 1})
        items = [item for item in (take(stream) for _ in range(6)) if isinstance(item, Event)]
        for turn in (0, 2, 3):
            stream.ack(items[turn])
    with setting.events.stream("a.b", {"n": 1}, cursors=cursors) as stream:
        assert take_events(stream, 2) == numbered(1, 4)
    with setting.events.stream("a.b", {"n": 1}, cursors=cursors) as stream:
        setting.source.emit("a.b", {"n": 1})
        assert take_events(stream, 1) == numbered(5)
    with setting.events.stream("a.b", {"n": 2}, cursors=cursors) as stream:
        setting.source.emit("a.b", {"n": 2})
        assert take_events(stream, 1) == numbered(0)


def test_heartbeats_move_the_stored_cursor(meeting: Meeting) -> None:
    """E-12: but only when there is nothing before them that was not acknowledged."""
    source = EventSource(heartbeat=0.05)
    setting, saved = meeting(source=source), threading.Event()

    class Cursors(MemoryCursors):
        def save(self, key: Any, cursor: Any, seen: Any) -> None:
            super().save(key, cursor, seen)
            if cursor == "c0":
                saved.set()

    with setting.events.stream("a.b", cursors=Cursors()):
        assert saved.wait(SOON)


def test_what_the_store_raises_reaches_whoever_acknowledges(meeting: Meeting) -> None:
    setting = meeting()

    class Broken(MemoryCursors):
        full = True

        def save(self, key: Any, cursor: Any, seen: Any) -> None:
            if self.full:
                raise OSError("disk full")
            super().save(key, cursor, seen)

    cursors = Broken()
    with setting.events.stream("a.b", cursors=cursors) as stream:
        setting.emit(2)
        items = [take(stream) for _ in range(3)]
        with pytest.raises(OSError, match="disk full"):
            stream.ack(items[1])
        cursors.full = False
        stream.ack(items[2])
    with setting.events.stream("a.b", cursors=cursors) as stream:
        setting.emit(1)
        assert take_events(stream, 1) == numbered(2)


# The gate, and the dialects


def test_nothing_is_sent_to_a_server_without_events(http_server: Callable[..., Any]) -> None:
    """E-1."""
    server = http_server(versions=["2026-07-28"])
    with syncline.connect(server.url) as client:
        events = Events(client._session)
        before = len(server.requests)
        for ask in (
            events.list,
            lambda: events.poll("a.b"),
            lambda: events.stream("a.b"),
            lambda: events.subscribe("a.b"),
        ):
            with pytest.raises(syncline.LocalProtocolError, match="does not offer events"):
                ask()
        assert len(server.requests) == before
        with pytest.raises(syncline.MethodNotFound):
            Events(client._session, dialect="sep3415").list()


def test_the_sketch_works_in_a_handshake_session(meeting: Meeting) -> None:
    """5.16: another capability, other codes, no resultType."""
    setting = meeting(sketch=True)
    assert setting.client.protocol_version == "2025-11-25"
    assert [entry.name for entry in setting.events.list()] == ["a.b"]
    setting.emit(1)
    assert setting.events.poll("a.b", cursor="c0").events[0].event_id == "e0"
    with setting.events.stream("a.b") as stream:
        setting.emit(1)
        assert take_events(stream, 1) == numbered(1)
    setting.source.topic("a.b").refusal = {"code": -32012, "message": "not for you"}
    with pytest.raises(EventForbidden):
        setting.events.poll("a.b")


def test_the_extension_is_declared_with_each_request(meeting: Meeting) -> None:
    """E-3."""
    setting = meeting()
    setting.events.stream("a.b", meta={"acme/k": 1}).close()
    setting.events.poll("a.b", meta={"acme/k": 1})
    for method in ("events/stream", "events/poll"):
        meta = setting.server.calls(method)[0].json()["params"]["_meta"]
        assert "io.modelcontextprotocol/events" in meta["io.modelcontextprotocol/clientCapabilities"]["extensions"]
        assert meta["acme/k"] == 1


def test_event_types_are_listed_page_by_page(meeting: Meeting) -> None:
    """E-5."""
    setting = meeting()
    setting.server.catalogue.page_size = 2
    for number in range(4):
        setting.source.offer(f"more.{number}")
    assert [entry.name for entry in setting.events.list()] == ["a.b", *(f"more.{number}" for number in range(4))]


def test_a_listing_of_event_types_has_its_limits(meeting: Meeting) -> None:
    setting = meeting(limits=syncline.Limits(pages=1))
    setting.server.catalogue.page_size = 1
    setting.source.offer("c.d")
    with pytest.raises(syncline.ListingLimit, match="events/list"):
        setting.events.list()
    setting.server.catalogue.methods["events/list"] = lambda call: {"events": [], "nextCursor": 7}
    with pytest.raises(syncline.InvalidResult, match="nextCursor is int"):
        setting.events.list()


def test_one_poll(meeting: Meeting) -> None:
    """E-20: without a cursor it is where to begin."""
    setting = meeting()
    setting.emit(3)
    begin = setting.events.poll("a.b")
    assert (begin.events, begin.cursor) == ([], "c3")
    page = setting.events.poll("a.b", cursor="c0", max_events=2)
    assert ([event.event_id for event in page.events], page.has_more) == (numbered(0, 1), True)


# Polling


@pytest.fixture
def no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Polls in quick succession, and again soon after an error."""
    monkeypatch.setattr(pace, "POLL_FLOOR", 0.01)
    monkeypatch.setattr("syncline.streams.poll.AGAIN", QUICK)


@pytest.fixture
def polling(meeting: Meeting, no_floor: None) -> Setting:
    return meeting("poll", source=EventSource(next_poll_ms=10))


def test_polling_looks_the_same(polling: Setting) -> None:
    with polling.events.subscribe("a.b") as stream:
        assert states([take(stream)]) == ["active"]
        polling.emit(2)
        assert take_events(stream, 2) == numbered(0, 1)
        assert stream.cursor == "c2"
    assert polling.source.topic("a.b").opened == 0


def test_a_backlog_is_drained(polling: Setting) -> None:
    """E-21."""
    polling.emit(350)
    with polling.events.subscribe("a.b", cursor="c0") as stream:
        assert take_events(stream, 350) == numbered(*range(350))


@pytest.mark.parametrize("kind", ["drop", "reset", "error", "again", "busy"])
def test_a_poll_that_fails_is_made_again(polling: Setting, kind: Fault) -> None:
    """E-25: from the same cursor."""
    with polling.events.subscribe("a.b") as stream:
        polling.emit(4)
        assert take_events(stream, 4) == numbered(0, 1, 2, 3)
        polling.source.fault(kind, "a.b")
        polling.server.wait_until(lambda: polling.source.faulted[kind] == 1)
        polling.emit(1)
        assert take_events(stream, 1) == numbered(4)
        assert stream.state == "active"
        assert (stream.last_error is None) is (kind == "again")


def test_a_gap_in_a_poll(polling: Setting) -> None:
    with polling.events.subscribe("a.b") as stream:
        take(stream)
        polling.source.fault("gap", "a.b")
        assert take(stream).kind == "gap"


def test_a_poll_that_is_refused_ends_it(polling: Setting) -> None:
    """E-24."""
    with polling.events.subscribe("a.b") as stream:
        take(stream)
        polling.source.topic("a.b").refusal = {"code": -32024, "message": "left the team"}
        with pytest.raises(StreamTerminated, match="left the team"):
            take_events(stream, 1)
    polls = polling.source.topic("a.b").polls
    assert not threading.Event().wait(0.1)
    assert polling.source.topic("a.b").polls == polls


@pytest.mark.parametrize("listed", [True, False])
def test_a_poll_that_finds_no_event_type_looks_it_up(polling: Setting, listed: bool) -> None:
    topic = polling.source.topic("a.b")
    with polling.events.subscribe("a.b") as stream:
        take(stream)
        if not listed:
            del polling.source.types["a.b"]
        topic.refusal = {"code": -32023, "message": "gone"}
        if listed:
            assert states([take(stream)]) == ["reconnecting"]
            topic.refusal = None
        else:
            with pytest.raises(StreamTerminated, match="gone"):
                take_events(stream, 1)


def test_a_first_poll_that_is_refused_is_raised(polling: Setting) -> None:
    polling.source.topic("a.b").refusal = {"code": -32025, "message": "too many"}
    with pytest.raises(EventsExhausted):
        polling.events.subscribe("a.b")


def test_polling_pauses_while_nobody_takes(polling: Setting) -> None:
    topic = polling.source.topic("a.b")
    with polling.events.subscribe("a.b", waiting=1) as stream:
        polls = topic.polls
        assert not threading.Event().wait(0.2)
        assert topic.polls == polls
        take(stream)
        polling.emit(1)
        assert take_events(stream, 1) == numbered(0)


def test_a_poll_that_hangs_holds_up_no_other_and_no_close(polling: Setting) -> None:
    stuck, other = polling.events.subscribe("a.b"), polling.events.subscribe("a.b", {"n": 1})
    polling.source.fault("silence", "a.b")
    polling.server.wait_until(lambda: polling.source.faulted["silence"] == 1)
    polling.source.emit("a.b", {"n": 1})
    assert take_events(other, 1) == numbered(0)
    stuck.close()
    assert [item.kind for item in stuck] == []
    other.close()


def test_an_error_that_is_kept_keeps_nothing_else(polling: Setting) -> None:
    """No frames, on which sockets and buffers hang."""
    with polling.events.subscribe("a.b") as stream:
        polling.source.fault("reset", "a.b")
        assert states([take(stream) for _ in range(3)]) == ["active", "reconnecting", "active"]
        error: BaseException | None = stream.last_error
        assert error is not None
        while error is not None:
            assert error.__traceback__ is None
            error = error.__cause__ or error.__context__


def test_polls_share_their_threads(polling: Setting) -> None:
    streams = [polling.events.subscribe("a.b", {"n": number}) for number in range(20)]
    for number in range(20):
        polling.source.emit("a.b", {"n": number})
    for stream in streams:
        assert take_events(stream, 1) == numbered(0)
    names = [thread.name for thread in threading.enumerate() if ":poll" in thread.name]
    assert len(names) <= 5
    for stream in streams:
        stream.close()
    assert take_nothing(streams)


def take_nothing(streams: list[EventStream]) -> bool:
    return all(list(stream) == [] for stream in streams)


def test_more_than_a_turn_holds_is_polled_for_in_the_next(polling: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    """E-21: the others are not kept waiting by one that has much to tell."""
    monkeypatch.setattr("syncline.streams.poll.DRAIN", 2)
    polling.emit(950)
    with polling.events.subscribe("a.b", cursor="c0") as stream:
        assert take_events(stream, 950) == numbered(*range(950))


def test_a_listing_that_fails_does_not_end_a_poll(polling: Setting) -> None:
    topic = polling.source.topic("a.b")

    def fail(exchange: Exchange) -> None:
        topic.refusal = None
        exchange.respond(503)

    with polling.events.subscribe("a.b") as stream:
        take(stream)
        polling.server.arm(fail, method="events/list")
        topic.refusal = {"code": -32023, "message": "gone"}
        assert states([take(stream)]) == ["reconnecting"]
        assert states([take(stream)]) == ["active"]


@pytest.mark.parametrize("wanted", [10**400, -(10**400)])
def test_a_next_poll_that_is_no_sensible_time_loses_nothing(
    polling: Setting, monkeypatch: pytest.MonkeyPatch, wanted: int
) -> None:
    monkeypatch.setattr(pace, "POLL_CEILING", 0.01)
    with polling.events.subscribe("a.b") as stream:
        polling.source.next_poll_ms = wanted
        polling.emit(2)
        assert take_events(stream, 2) == numbered(0, 1)
        polling.emit(1)
        assert take_events(stream, 1) == numbered(2)


def test_a_poll_that_fails_unforeseen_is_made_again(
    polling: Setting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with polling.events.subscribe("a.b") as stream:
        page = stream._feed.page

        def broken(result: Mapping[str, object]) -> Page:
            monkeypatch.setattr(stream._feed, "page", page)
            raise ZeroDivisionError("bad luck")

        monkeypatch.setattr(stream._feed, "page", broken)
        polling.emit(1)
        assert take_events(stream, 1) == numbered(0)
        assert "ZeroDivisionError" in str(stream.last_error)
    assert "bad luck" in caplog.text


def test_closing_the_client_ends_polling(polling: Setting) -> None:
    stream = polling.events.subscribe("a.b")
    polling.client.close()
    assert all(item.kind == "state" for item in stream)
    assert stream.state == "closed"


# Which way


def test_push_is_chosen_where_it_is_offered(meeting: Meeting) -> None:
    setting = meeting()
    setting.events.subscribe("a.b").close()
    assert (setting.source.topic("a.b").opened, setting.source.topic("a.b").polls) == (1, 0)


@pytest.mark.parametrize(
    ("delivery", "wanted", "text"),
    [(["webhook"], None, "push or poll"), (["poll"], "push", "not push"), (["push"], "poll", "not poll")],
)
def test_a_way_that_is_not_offered_is_refused(meeting: Meeting, delivery: list[str], wanted: Any, text: str) -> None:
    setting = meeting(*delivery)
    with pytest.raises(NoCompatibleDelivery, match=text):
        setting.events.subscribe("a.b", delivery=wanted)


def test_an_event_type_that_is_not_listed_is_refused(meeting: Meeting) -> None:
    with pytest.raises(NoCompatibleDelivery, match=r"no event type c\.d"):
        meeting().events.subscribe("c.d")


def test_polling_takes_over_where_no_more_streams_can_be_had(meeting: Meeting) -> None:
    """E-44."""
    setting = meeting(limits=syncline.Limits(subscriptions=1))
    with setting.events.subscribe("a.b") as pushed, setting.events.subscribe("a.b", {"n": 1}) as polled:
        setting.source.emit("a.b", {"n": 1})
        assert take_events(polled, 1) == numbered(0)
        assert pushed.state == "active"
        with pytest.raises(SubscriptionLimit):
            setting.events.subscribe("a.b", {"n": 2}, delivery="push")

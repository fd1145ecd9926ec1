"""The subscription manager (section 2)."""

from __future__ import annotations

import itertools
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import syncline
from syncline.config import Timeouts
from syncline.errors import (
    AccessChanged,
    ConnectFailed,
    ConnectionClosed,
    StreamError,
    StreamOverflow,
    StreamTerminated,
    SubscriptionLimit,
)
from syncline.protocol.pace import Attempts, Reconnect
from syncline.subscriptions import worker
from syncline.subscriptions.access import Principal
from syncline.subscriptions.manager import RECONNECT, Subscriptions
from syncline.subscriptions.opener import StreamOpener
from syncline.subscriptions.update import Update
from tests.fixtures.partner import Background
from tools.fakeserver.scripted import Exchange

from .shared import ERAS, SOON, A, B, EventServer, Feed, Identity

Servers = Callable[..., EventServer]
#: The rule, in a hurry.
FAST = Reconnect(first=0.01, most=0.04, jitter=False, tries=3, budget=90)
#: A rule whose first attempt no test lives to see.
SLOW = Reconnect(first=600, most=600, jitter=False, tries=3, budget=3600)


class Desk:
    """A manager whose updates the test reads."""

    def __init__(self, room: int = 0, **options: Any) -> None:
        self.updates: queue.Queue[Update] = queue.Queue(room)
        defaults: dict[str, Any] = {"reconnect": FAST, "protocol_version": "2025-11-25"}
        self.manager = Subscriptions(self.updates, **{**defaults, **options})

    def next(self, kind: str | None = None) -> Update:
        update = self.updates.get(timeout=SOON)
        assert kind in (None, update.kind), update
        return update

    def rest(self) -> list[str]:
        """The kinds of all updates up to ``ended``."""
        kinds: list[str] = [self.next().kind]
        while kinds[-1] != "ended":
            kinds.append(self.next().kind)
        return kinds

    def start(self, server: EventServer, ident: str = "s", owner: str = "me", **options: Any) -> Feed:
        """Start one, and let it become active, which the update told of."""
        feeds: list[Feed] = []

        def play() -> None:
            feeds.append(server.next())
            feeds[0].send("active")

        playing = Background(play)
        self.manager.start(owner, ident, server.url, "tick", **options)
        playing.result()
        assert self.next("active").subscription_id == ident
        return feeds[0]

    def starting(self, server: EventServer, ident: str = "s", owner: str = "me") -> Background[int]:
        return Background(lambda: self.manager.start(owner, ident, server.url, "tick"))


@pytest.fixture
def desk() -> Iterator[Callable[..., Desk]]:
    """A factory of desks."""
    with ExitStack() as stack:

        def make(*args: Any, **options: Any) -> Desk:
            made = Desk(*args, **options)
            stack.callback(made.manager.close)
            return made

        yield make


Desks = Callable[..., Desk]


def number(update: Update) -> object:
    return update.params["data"]["number"]  # type: ignore[index]


# Before anything is sent


@pytest.mark.parametrize("era", ERAS)
def test_a_server_must_offer_events(event_server: Servers, desk: Desks, era: str) -> None:
    """2.01"""
    server, office = event_server(era, advertised=False), desk(protocol_version=era)
    with pytest.raises(syncline.LocalProtocolError, match="does not offer events"):
        office.manager.start("me", "s", server.url, "tick", {})
    assert server.streams == 0
    assert office.manager.running == []


@pytest.mark.parametrize(("owner", "ident"), [([], "s"), ("me", ""), ("me", 7)])
def test_owners_and_ids_have_a_form(server: EventServer, desk: Desks, owner: Any, ident: Any) -> None:
    """2.02"""
    with pytest.raises(syncline.LocalProtocolError):
        desk().manager.start(owner, ident, server.url, "tick", {})
    assert server.requests == []


@pytest.mark.parametrize("arguments", [{"x": object()}, {1: 2}, "text"])
def test_arguments_are_json(server: EventServer, desk: Desks, arguments: Any) -> None:
    with pytest.raises(syncline.LocalProtocolError, match="arguments"):
        desk().manager.start("me", "s", server.url, "tick", arguments)
    assert server.requests == []


def test_a_finished_one_frees_its_id(server: EventServer, desk: Desks) -> None:
    """2.03: by the time `ended` is read."""
    office = desk(reconnect=None)
    for _ in range(3):
        office.start(server).result()
        assert office.rest() == ["terminated", "ended"]


def test_an_id_is_used_once_at_a_time(server: EventServer, desk: Desks) -> None:
    """2.04, 2.42: while it runs and while it starts; 2.40: another owner may use it."""
    office = desk()
    starting = office.starting(server)
    feed = server.next()
    with pytest.raises(syncline.LocalProtocolError, match="already"):
        office.manager.start("me", "s", server.url, "tick", {})
    feed.send("active")
    starting.result()
    office.next("active")
    with pytest.raises(syncline.LocalProtocolError, match="already"):
        office.manager.start("me", "s", server.url, "tick", {})
    office.start(server, owner="you").event(1)
    feed.event(2)
    seen = {(update.owner, number(update)) for update in (office.next("event"), office.next("event"))}
    assert seen == {("you", 1), ("me", 2)}
    assert office.manager.running == [("me", "s"), ("you", "s")]
    assert server.streams == 2


def test_there_are_64_at_most(event_server: Servers, desk: Desks) -> None:
    """2.05: a duplicate is told first; a stopped one makes room."""
    server, office = event_server(lively=True), desk()
    for turn in range(64):
        office.manager.start("me", f"s-{turn}", server.url, "tick")
    with pytest.raises(SubscriptionLimit, match="64"):
        office.manager.start("me", "one more", server.url, "tick")
    with pytest.raises(syncline.LocalProtocolError, match="already"):
        office.manager.start("me", "s-0", server.url, "tick")
    office.manager.stop("me", "s-0")
    office.manager.start("me", "one more", server.url, "tick")
    assert server.streams == 65


def test_one_of_many_threads_wins(server: EventServer, desk: Desks) -> None:
    """2.06: the checks and the insertion are one step."""
    office = desk()
    gate = threading.Barrier(20)

    def race() -> object:
        gate.wait(SOON)
        try:
            return office.manager.start("me", "s", server.url, "tick")
        except syncline.LocalProtocolError as error:
            return error

    racers = [Background(race) for _ in range(20)]
    feed = server.next()
    losers = [racer for racer in racers if racer.thread is not None]
    while sum(not racer.thread.is_alive() for racer in losers) < 19:
        time.sleep(0.01)
    feed.send("active")
    outcomes = [racer.result() for racer in racers]
    assert outcomes.count(1) == 1
    assert server.streams == 1


# Starting


def test_a_principal_that_changes_meanwhile(server: EventServer, desk: Desks) -> None:
    """2.08: while the server holds initialize."""
    identity = Identity(A)
    office = desk(principal=identity)
    server.hold(gate := threading.Event(), method="initialize")
    starting = office.starting(server)
    server.wait_until(lambda: any(request.rpc == "initialize" for request in server._log.requests))
    identity.principal = B
    gate.set()
    with pytest.raises(AccessChanged):
        starting.result()
    assert office.updates.empty()


def test_a_failure_to_open_names_server_and_cause(server: EventServer, desk: Desks) -> None:
    """2.09"""
    server.stop_listening()
    with pytest.raises(ConnectFailed) as caught:
        desk().manager.start("me", "s", server.url, "tick")
    assert f"127.0.0.1:{server.port}" in str(caught.value)
    assert "refused" in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("era", ERAS)
def test_it_has_started_when_it_is_active(event_server: Servers, desk: Desks, era: str) -> None:
    """2.10, 2.12: not before, whatever else comes; 2.11: the update is there by then."""
    server, office = event_server(era), desk(protocol_version=era)
    starting = office.starting(server)
    feed = server.next()
    feed.event(1)
    assert number(office.next("event")) == 1
    assert starting.thread.is_alive()
    feed.send("active", cursor="c-1")
    assert starting.result() == 1
    active = office.updates.get_nowait()
    assert (active.kind, active.method, active.params["cursor"]) == ("active", "notifications/events/active", "c-1")
    assert active.error is None


def test_a_function_hears_of_it_before_start_returns(event_server: Servers) -> None:
    """2.11"""
    kinds: list[str] = []
    server = event_server(lively=True)
    with Subscriptions(lambda update: kinds.append(update.kind)) as manager:
        manager.start("me", "s", server.url, "tick")
        assert kinds == ["active"]


def test_its_thread_is_named(event_server: Servers, desk: Desks) -> None:
    server = event_server(lively=True)
    desk().manager.start("me", "s-1", server.url, "tick")
    assert f"syncline:127.0.0.1:{server.port}/mcp:sub-s-1" in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("held", ["initialize", "active", "room"])
def test_starting_is_limited(server: EventServer, desk: Desks, held: str) -> None:
    """2.13, 2.47: the limit covers the handshake, the wait for `active`, and room for what comes before it."""
    office = desk(1, activation=0.5)
    gate = threading.Event()
    if held == "initialize":
        server.hold(gate, method="initialize")
    start = time.monotonic()
    starting = office.starting(server)
    feed = None if held == "initialize" else server.next()
    if feed is not None and held == "room":
        feed.event(1)
        feed.event(2)
        feed.send("active")
    with pytest.raises(syncline.RequestTimeout, match=r"not active within 0\.5 s"):
        starting.result()
    assert time.monotonic() - start < SOON
    if feed is not None:
        feed.wait_gone()
    gate.set()
    assert office.manager.running == []


def test_a_server_may_have_a_shorter_limit_for_opening(server: EventServer, desk: Desks) -> None:
    """2.13: then the error speaks of that."""
    server.hold(gate := threading.Event(), method="initialize")
    with pytest.raises(syncline.RequestTimeout, match=r"initialize: no answer within"):
        desk(timeout=Timeouts(startup=0.2)).manager.start("me", "s", server.url, "tick")
    gate.set()


def test_a_function_that_does_not_return(server: EventServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """2.47: start ends all the same, and the server sees the client go; the thread waits for its function."""
    monkeypatch.setattr(worker, "REPORTING", 0.1)
    gate = threading.Event()
    with Subscriptions(lambda _: gate.wait(SOON), activation=0.3) as manager:
        starting = Background(lambda: manager.start("me", "s", server.url, "tick"))
        feed = server.next()
        feed.event(1)
        with pytest.raises(syncline.RequestTimeout, match=r"not active within 0\.3 s"):
            starting.result()
        feed.wait_gone()
        gate.set()


@pytest.mark.parametrize("end", ["result", "close"])
def test_an_end_before_it_is_active(server: EventServer, desk: Desks, end: str) -> None:
    """2.14: start fails and says so; nothing is opened again."""
    office = desk()
    starting = office.starting(server)
    feed = server.next()
    feed.result() if end == "result" else feed.cut()
    with pytest.raises(StreamError, match="ended before it was active") as caught:
        starting.result()
    assert (caught.value.__cause__ is None) is (end == "result")
    assert office.updates.empty()
    assert server.streams == 1


def test_an_error_before_it_is_active(server: EventServer, desk: Desks) -> None:
    """2.15: it is what start raises, and all that is heard of it: there is no `terminated`."""
    office = desk()
    starting = office.starting(server)
    server.next().error(-32602, "no such event")
    with pytest.raises(syncline.InvalidParams, match="no such event"):
        starting.result()
    office.manager.close()
    assert office.updates.empty()


def test_terminated_before_it_is_active(server: EventServer, desk: Desks) -> None:
    """2.12, 2.19: forwarded, and start fails with it."""
    office = desk()
    starting = office.starting(server)
    server.next().send("terminated", error={"code": -32024, "message": "left the team"})
    with pytest.raises(StreamTerminated, match="left the team"):
        starting.result()
    assert office.next().kind == "terminated"
    office.manager.close()
    assert office.updates.empty()


def test_a_worker_that_fails(server: EventServer, desk: Desks) -> None:
    """2.16: start raises what there is to say, and does not hang."""

    def broken() -> Any:
        raise RuntimeError("no address")

    with pytest.raises(StreamError, match="no address") as caught:
        desk().manager.start("me", "s", broken, "tick")
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_giving_up_the_wait_leaves_it_running(server: EventServer, desk: Desks) -> None:
    """2.48: Ctrl-C."""
    office = desk()
    feeds: list[Feed] = []

    def interrupt() -> None:
        feeds.append(server.next())
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = Background(interrupt)
    with pytest.raises(KeyboardInterrupt):
        office.manager.start("me", "s", server.url, "tick")
    interrupting.result()
    feeds[0].send("active")
    office.next("active")
    assert office.manager.running == [("me", "s")]


def test_what_nobody_waits_for_ends_in_updates(server: EventServer, desk: Desks) -> None:
    """2.48, 2.44: whoever gave up the wait hears of the end after all."""
    office = desk()
    feeds: list[Feed] = []

    def interrupt() -> None:
        feeds.append(server.next())
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = Background(interrupt)
    with pytest.raises(KeyboardInterrupt):
        office.manager.start("me", "s", server.url, "tick")
    interrupting.result()
    feeds[0].error()
    ended = office.next("ended")
    assert isinstance(ended.error, syncline.ServerError)


def test_stopping_it_before_it_is_active(server: EventServer, desk: Desks) -> None:
    """2.49: start fails, the server sees the client go, the id is free."""
    office = desk()
    starting = office.starting(server)
    feed = server.next()
    office.manager.stop("me", "s")
    with pytest.raises(ConnectionClosed, match="'s' was stopped"):
        starting.result()
    feed.wait_gone()
    office.start(server)


def test_stopping_it_during_the_handshake(server: EventServer, desk: Desks) -> None:
    """2.49"""
    office = desk()
    server.hold(gate := threading.Event(), method="initialize")
    starting = office.starting(server)
    server.wait_until(lambda: any(request.rpc == "initialize" for request in server._log.requests))
    office.manager.stop("me", "s")
    with pytest.raises(ConnectionClosed):
        starting.result()
    gate.set()


# Forwarding, and how it ends


@pytest.mark.parametrize("era", ERAS)
def test_notifications_are_forwarded_in_order(event_server: Servers, desk: Desks, era: str) -> None:
    """2.17: with method and params as they came."""
    server, office = event_server(era), desk(protocol_version=era)
    feed = office.start(server, arguments={"n": 1}, meta={"acme/k": 1})
    assert (feed.params["name"], feed.params["arguments"]) == ("tick", {"n": 1})
    assert feed.params["_meta"]["acme/k"] == 1
    feed.event(1)
    feed.send("heartbeat", cursor="c")
    feed.send("error", error={"code": -32603, "message": "upstream"})
    feed.send("acme_own", x=1)
    updates = [office.next() for _ in range(4)]
    assert [update.kind for update in updates] == ["event", "heartbeat", "error", "other"]
    assert updates[3].method == "notifications/events/acme_own"
    assert updates[3].params == feed.tagged({"x": 1})
    assert isinstance(updates[2].error, syncline.ServerError)
    assert {(update.owner, update.subscription_id, update.attempt) for update in updates} == {("me", "s", 1)}
    with pytest.raises(AttributeError):
        updates[0].attempt = 2  # type: ignore[misc]


def test_the_server_terminates_it(server: EventServer, desk: Desks) -> None:
    """2.19: forwarded once; nothing is opened again, and `ended` says why."""
    office = desk()
    feed = office.start(server)
    feed.send("terminated", error={"code": -32024, "message": "left the team"})
    terminated, ended = office.next("terminated"), office.next("ended")
    assert terminated.params["error"] == {"code": -32024, "message": "left the team"}
    assert isinstance(ended.error, StreamTerminated)
    assert isinstance(ended.error.error, syncline.ServerError)
    assert "left the team" in str(ended.error)
    feed.wait_gone()
    office.manager.close()
    assert office.updates.empty()
    assert server.streams == 1


@pytest.mark.parametrize("cause", ["account", "removal", "error", "given up"])
def test_any_other_end_is_told_once(server: EventServer, desk: Desks, cause: str) -> None:
    """2.20: one `terminated` with empty params; 2.44: then one `ended` with the cause; 2.23: an error is not reconnected."""
    identity = Identity(A)
    opener = StreamOpener(server.url, principal=identity, changes=identity.changes)
    office = desk()
    starting = Background(lambda: office.manager.start("me", "s", opener, "tick"))
    feed = server.next()
    feed.send("active")
    starting.result()
    office.next("active")
    if cause == "account":
        identity.become(B)
    elif cause == "removal":
        opener.remove()
    elif cause == "error":
        feed.error()
    else:
        server.instead = [lambda exchange: exchange.respond(500)] * 3
        feed.cut()
    terminated, ended = office.next("terminated"), office.next("ended")
    assert terminated.params == {}
    expected = {"error": syncline.ServerError, "given up": StreamError}.get(cause, AccessChanged)
    assert isinstance(ended.error, expected)
    assert ended.error is terminated.error
    assert f"127.0.0.1:{server.port}" in str(ended.error)
    feed.wait_gone()
    office.manager.close()
    assert office.updates.empty()
    assert server.streams == (4 if cause == "given up" else 1)


def test_an_explicit_stop_says_nothing(server: EventServer, desk: Desks) -> None:
    """2.21, 2.44; 2.31: the server has seen the client go when it returns, and again does no harm."""
    office = desk()
    feed = office.start(server)
    office.manager.stop("me", "s")
    feed.wait_gone()
    for _ in range(2):
        office.manager.stop("me", "s")
        office.manager.stop("nobody", "knows")
    assert office.updates.empty()
    assert office.manager.running == []


def test_a_change_counts_more_than_what_has_arrived(server: EventServer) -> None:
    """2.22: the account changes while the first of two events is dealt with; the second is not forwarded."""
    identity = Identity(A)
    updates: queue.SimpleQueue[Update] = queue.SimpleQueue()
    gate = threading.Event()

    def slow(update: Update) -> None:
        updates.put(update)
        if update.kind == "event":
            assert gate.wait(SOON)

    with Subscriptions(slow, principal=identity, changes=identity.changes) as manager:
        starting = Background(lambda: manager.start("me", "s", server.url, "tick"))
        feed = server.next()
        feed.send("active")
        feed.event(1)
        feed.event(2)
        starting.result()
        while updates.get(timeout=SOON).kind != "event":
            pass
        identity.become(B)
        gate.set()
        assert [updates.get(timeout=SOON).kind for _ in range(2)] == ["terminated", "ended"]


def test_one_whose_updates_are_not_read_takes_down_only_itself(server: EventServer, desk: Desks) -> None:
    """2.18: what cannot be handed over waits, up to 2 MiB; then the subscription is terminated, and its neighbour is not."""
    office, neighbour = desk(1), desk()
    feed, other = office.start(server), neighbour.start(server)
    for turn in range(48):
        feed.event(turn, blob="x" * (64 << 10))
    feed.wait_gone()
    other.event(7)
    assert number(neighbour.next("event")) == 7
    kinds = office.rest()
    assert kinds.count("event") > 28
    assert kinds[-2:] == ["terminated", "ended"]


def test_overflow_is_the_cause_that_is_told(server: EventServer, desk: Desks) -> None:
    office = desk(1, limits=syncline.Limits(pending_bytes=2000, notification_bytes=2000))
    feed = office.start(server)
    for turn in range(20):
        feed.event(turn, blob="x" * 500)
    feed.wait_gone()
    while (update := office.next()).kind != "ended":
        pass
    assert isinstance(update.error, StreamOverflow)


# Reconnecting


def test_the_rule() -> None:
    """2.24: three attempts in a row, after 1, 2 and 4 seconds; 2.25: within 90 seconds from the first; 2.28: a reset."""
    backoff = Attempts(RECONNECT)
    assert [backoff.next(now, 0.5) for now in (0, 2, 5, 10)] == [1, 2, 4, None]
    backoff.reset()
    assert [backoff.next(now, 0.5) for now in (100, 188, 189)] == [1, 2, None]


def test_attempts_wait_for_their_turn(server: EventServer, desk: Desks) -> None:
    """2.24: at the server, each is at least so much later than the loss before it."""
    office = desk(reconnect=Reconnect(first=0.1, most=0.4, jitter=False, tries=3, budget=90))
    times: list[float] = []

    def refuse(exchange: Exchange) -> None:
        times.append(time.monotonic())
        exchange.respond(500)

    feed = office.start(server)
    server.instead = [refuse] * 10
    times.append(time.monotonic())
    feed.cut()
    assert office.rest() == ["terminated", "ended"]
    waits = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(waits) == 3
    assert all(wait >= least for wait, least in zip(waits, (0.1, 0.2, 0.4), strict=True))


def test_attempts_share_a_budget(server: EventServer, desk: Desks) -> None:
    """2.25: it runs out though attempts are left; an attempt under way ends with it."""
    office = desk(reconnect=Reconnect(first=0.01, most=0.01, jitter=False, tries=1_000_000, budget=0.5))
    feed = office.start(server)
    server.instead = [lambda exchange: exchange.respond(500)] * 3
    feed.cut()
    silent = server.next()
    assert office.rest() == ["terminated", "ended"]
    silent.wait_gone()


@pytest.mark.parametrize("failure", ["refused", "closed", "error", "no connection"])
def test_what_counts_as_a_failed_attempt(server: EventServer, desk: Desks, failure: str) -> None:
    """2.26: no stream, a stream that ends before its first notification, a JSON-RPC error."""
    office = desk()
    feed = office.start(server)

    def error(exchange: Exchange) -> None:
        exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "error": {"code": -32603, "message": "not yet"}})

    def close(exchange: Exchange) -> None:
        exchange.sse()
        exchange.close()

    scripts = {"refused": lambda exchange: exchange.respond(503), "closed": close, "error": error}
    if failure == "no connection":
        server.stop_listening()
    else:
        server.instead = [scripts[failure]] * 10
    feed.cut()
    terminated = office.next("terminated")
    assert office.next("ended").error is terminated.error
    assert "could not be had again" in str(terminated.error)
    assert terminated.error is not None
    assert terminated.error.__cause__ is not None
    assert server.streams == (1 if failure == "no connection" else 4)


def test_the_new_stream_begins_with_its_first_notification(server: EventServer, desk: Desks) -> None:
    """2.27: a second `active` is forwarded; 2.29: the request is the same."""
    office = desk()
    first = office.start(server, arguments={"n": 1}, meta={"k": "v"})
    first.cut()
    second = server.next()
    second.send("active")
    second.event(2)
    assert [office.next().kind for _ in range(2)] == ["active", "event"]
    assert second.params == first.params == {"name": "tick", "arguments": {"n": 1}, "_meta": {"k": "v"}}
    assert first.exchange.request.header("Mcp-Session-Id") != second.exchange.request.header("Mcp-Session-Id")


def test_it_goes_on_from_the_last_cursor(server: EventServer, desk: Desks) -> None:
    """2.29: where the server gives cursors; of `active` only at first, and when it cannot go back."""
    office = desk()
    cursors: list[object] = []
    feed = office.start(server)

    def again(feed: Feed) -> Feed:
        feed.cut()
        feed = server.next()
        cursors.append(feed.params.get("cursor"))
        return feed

    feed.event(1, cursor="c-1")
    feed = again(feed)
    feed.send("active", cursor="c-9")
    feed = again(feed)
    feed.send("active", cursor="c-9", truncated=True)
    feed.send("heartbeat", cursor=None)
    feed = again(feed)
    feed.event(2)
    assert [office.next().kind for _ in range(5)] == ["event", "active", "active", "heartbeat", "event"]
    assert cursors == ["c-1", "c-1", "c-9"]


def test_being_active_alone_is_not_worth_another_attempt(server: EventServer, desk: Desks) -> None:
    """2.28: a server that activates and hangs up is given up after three; one that sends an event in between never."""
    office = desk()
    feed = office.start(server)
    for _ in range(6):
        feed.event(1)
        feed.cut()
        feed = server.next()
        feed.send("active")
    for _ in range(2):
        feed.cut()
        feed = server.next()
        feed.send("active")
    feed.cut()
    kinds = office.rest()
    assert kinds == [*["event", "active"] * 6, "active", "active", "terminated", "ended"]
    assert server.streams == 9


@pytest.mark.parametrize("cause", ["account", "removal", "stop"])
def test_the_wait_for_an_attempt_can_be_ended(server: EventServer, desk: Desks, cause: str) -> None:
    """2.30"""
    identity = Identity(A)
    opener = StreamOpener(server.url, principal=identity, changes=identity.changes)
    office = desk(reconnect=SLOW)
    starting = Background(lambda: office.manager.start("me", "s", opener, "tick"))
    feed = server.next()
    feed.send("active")
    starting.result()
    office.next("active")
    feed.cut()
    feed.wait_gone()
    if cause == "stop":
        office.manager.stop("me", "s")
        assert office.updates.empty()
    else:
        identity.become(B) if cause == "account" else opener.remove()
        assert office.rest() == ["terminated", "ended"]
    assert server.streams == 1


def test_another_principal_by_the_next_attempt(server: EventServer, desk: Desks) -> None:
    """2.30: nobody announced it; it is no failed attempt but the end."""
    identity = Identity(A)
    office = desk(principal=identity)
    feed = office.start(server)
    identity.principal = B
    feed.cut()
    assert isinstance(office.next("terminated").error, AccessChanged)
    assert server.streams == 1


def test_reconnecting_can_be_left_to_the_owner(server: EventServer, desk: Desks) -> None:
    """2.53: a plain end is told as one, and nothing is opened again."""
    office = desk(reconnect=None)
    office.start(server).cut()
    terminated, ended = office.next("terminated"), office.next("ended")
    assert (terminated.params, terminated.error, ended.error) == ({}, None, None)
    office.manager.close()
    assert server.streams == 1


# Stopping


def test_stopping_by_owner_and_all(event_server: Servers, desk: Desks) -> None:
    """2.32, 2.33: an owner that goes takes its streams along."""
    server, office = event_server(), desk()
    mine, also_mine = office.start(server, "1"), office.start(server, "2")
    yours, also_yours = office.start(server, "1", owner="you"), office.start(server, "2", owner="you")
    office.manager.stop_owner("me")
    mine.wait_gone()
    also_mine.wait_gone()
    yours.event(1)
    assert office.next("event").owner == "you"
    office.manager.clear()
    yours.wait_gone()
    also_yours.wait_gone()
    assert office.manager.running == []
    office.start(server)


def test_shutting_down(server: EventServer, desk: Desks) -> None:
    """2.51: every stream is gone when it returns, one that starts included, and later starts are refused for good."""
    office = desk()
    feed = office.start(server)
    starting = office.starting(server, "2")
    second = server.next()
    office.manager.close()
    feed.wait_gone()
    second.wait_gone()
    with pytest.raises(ConnectionClosed):
        starting.result()
    for _ in range(2):
        with pytest.raises(ConnectionClosed, match="subscriptions were closed"):
            office.manager.start("me", "s", server.url, "tick")
        office.manager.close()
    assert not [thread for thread in threading.enumerate() if ":sub-" in thread.name]
    assert office.updates.empty()


# The principal


@pytest.mark.parametrize(
    ("now", "changes", "ends"),
    [
        (Principal(("b", "u"), "s"), 1, True),
        (Principal(("a", "v"), "s"), 1, True),
        (Principal(("a", "u"), "refreshed"), 1, False),
        (Principal(("a", "u"), "s"), 2, True),
    ],
)
def test_the_principal_is_watched(server: EventServer, desk: Desks, now: Principal, changes: int, ends: bool) -> None:
    """2.34, 2.35: account or user; 2.36: a refreshed token is no change; 2.37: two changes at once are one too many."""
    identity = Identity(Principal(("a", "u"), "s"))
    office = desk(principal=identity, changes=identity.changes)
    feed = office.start(server)
    identity.principal = now
    identity.changes.announce(changes)
    if ends:
        assert isinstance(office.next("terminated").error, AccessChanged)
    else:
        feed.event(1)
        office.next("event")


@pytest.mark.parametrize("nameless", [Principal(None, "s"), None])
def test_a_principal_without_an_id_bears_no_change(server: EventServer, desk: Desks, nameless: object) -> None:
    """2.36: where nothing tells two apart, any change ends it."""
    identity = Identity(nameless)
    office = desk(principal=identity, changes=identity.changes)
    office.start(server)
    identity.changes.announce()
    assert isinstance(office.next("terminated").error, AccessChanged)


def test_no_more_news_of_changes(server: EventServer, desk: Desks) -> None:
    """2.38"""
    identity = Identity(A)
    office = desk(principal=identity, changes=identity.changes)
    feed = office.start(server)
    identity.changes.close()
    assert office.rest() == ["terminated", "ended"]
    feed.wait_gone()


# Attempts, and the queue of updates


def test_updates_tell_attempts_apart(event_server: Servers, desk: Desks) -> None:
    """2.43: those of an earlier attempt keep its number."""
    server, office = event_server(lively=True), desk(reconnect=None)
    assert office.manager.start("me", "s", server.url, "tick") == 1
    server.next().result()
    while office.updates.qsize() < 3:
        time.sleep(0.01)
    office.manager.stop("me", "s")
    assert office.manager.start("me", "s", server.url, "tick") == 2
    assert [office.next().attempt for _ in range(4)] == [1, 1, 1, 2]


def test_starting_needs_no_room_for_updates(event_server: Servers, desk: Desks) -> None:
    """2.45: the queue is full; the update is there as soon as there is room."""
    server, office = event_server(lively=True), desk(1)
    office.manager.start("me", "1", server.url, "tick")
    assert office.updates.full()
    office.manager.start("me", "2", server.url, "tick")
    assert [office.next("active").subscription_id for _ in range(2)] == ["1", "2"]


@pytest.mark.parametrize("cause", ["stop", "close", "account", "removal"])
def test_a_full_queue_holds_nothing_up(event_server: Servers, desk: Desks, cause: str) -> None:
    """2.46: 64 updates that nobody reads, and more to come; the server sees the client go all the same."""
    server, office = event_server(lively=True), desk(64)
    identity = Identity(A)
    opener = StreamOpener(server.url, principal=identity, changes=identity.changes)
    office.manager.start("me", "s", opener, "tick")
    feed = server.next()
    for turn in range(100):
        feed.event(turn)
    while not office.updates.full():
        time.sleep(0.01)
    ends: dict[str, Callable[[], object]] = {
        "stop": lambda: office.manager.stop("me", "s"),
        "close": office.manager.close,
        "account": lambda: identity.become(B),
        "removal": opener.remove,
    }
    ends[cause]()
    feed.wait_gone()
    kinds = [office.next().kind for _ in range(64)]
    assert kinds == ["active"] + ["event"] * 63
    if cause in ("account", "removal"):
        *in_hand, terminated, ended = office.rest()
        assert (in_hand in ([], ["event"]), terminated, ended) == (True, "terminated", "ended")
    office.manager.close()
    assert office.updates.empty()


def test_a_receiver_that_is_gone(server: EventServer, caplog: pytest.LogCaptureFixture) -> None:
    """2.52: a function that raises, or a queue that is shut down, ends the subscription without a word."""
    heard: list[str] = []

    def receiver(update: Update) -> None:
        heard.append(update.kind)
        if update.kind == "event":
            raise RuntimeError("gone")

    with Subscriptions(receiver, reconnect=FAST) as manager:
        starting = Background(lambda: manager.start("me", "s", server.url, "tick"))
        feed = server.next()
        feed.send("active")
        starting.result()
        feed.event(1)
        feed.wait_gone()
        while manager.running:
            time.sleep(0.01)
    assert heard == ["active", "event"]
    assert "cannot be delivered" in caplog.text


def test_a_receiver_that_is_gone_before_it_is_active(event_server: Servers) -> None:
    """2.52, 2.16: start fails with the cause."""

    class ShutDown:
        def put(self, item: Update, block: bool = True, timeout: float | None = None, /) -> None:
            raise RuntimeError("shut down")

    server = event_server(lively=True)
    with Subscriptions(ShutDown()) as manager:
        with pytest.raises(StreamError, match="cannot be delivered") as caught:
            manager.start("me", "s", server.url, "tick")
        assert isinstance(caught.value.__cause__, RuntimeError)
        assert manager.running == []


def test_a_function_may_call_the_manager(event_server: Servers) -> None:
    """Stop its own subscription, and start it again when it has ended."""
    server = event_server(lively=True)
    seen: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()

    def receiver(update: Update) -> None:
        seen.put((update.kind, update.attempt))
        if update.kind == "ended":
            manager.start("me", "s", server.url, "tick")
        elif update.kind == "event":
            manager.stop("me", "s")

    with Subscriptions(receiver, reconnect=None) as manager:
        manager.start("me", "s", server.url, "tick")
        server.next().result()
        second = server.next()
        second.event(1)
        second.wait_gone()
        expected = [("active", 1), ("terminated", 1), ("ended", 1), ("active", 2), ("event", 2)]
        assert [seen.get(timeout=SOON) for _ in expected] == expected
    assert seen.empty()


def test_a_client_is_taken_for_its_server(server: EventServer, desk: Desks) -> None:
    """Its connection is left alone: the stream has its own, and outlives it (2.50)."""
    office = desk()
    with syncline.connect(server.url) as client:
        starting = Background(lambda: office.manager.start("me", "s", client, "tick"))
        feed = server.next()
        feed.send("active")
        starting.result()
        office.next("active")
    feed.event(1)
    assert number(office.next("event")) == 1


# Processes

PROGRAM = """
import os, queue, sys
from syncline.errors import ForkedConnection
from syncline.subscriptions.manager import Subscriptions
from tests.behaviours.shared import EventServer

updates = queue.Queue()
server = EventServer("2026-07-28", lively=True)
manager = Subscriptions(updates)
manager.start("me", "s", server.url, "tick")
feed = server.next()
{}
"""


def run(program: str) -> list[str]:
    """The lines that a program printed, which must end by itself and well."""
    whole = PROGRAM.format(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "-c", whole], cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "in thread syncline" not in done.stderr
    assert "atexit" not in done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_no_subscriptions() -> None:
    """They stay with the parent and go on there."""
    assert run("""
        child = os.fork()
        if child == 0:
            try:
                manager.start("me", "t", server.url, "tick")
            except ForkedConnection as error:
                print("child:", error, flush=True)
            manager.stop("me", "s")
            manager.close()
            os._exit(0)
        os.waitpid(child, 0)
        feed.event(1)
        print("parent:", updates.get(timeout=20).kind, updates.get(timeout=20).kind)
        manager.close()
        server.close()
    """) == [
        "child: the subscriptions were started before a fork and belong to the parent",
        "parent: active event",
    ]


def test_a_program_that_closes_nothing_ends() -> None:
    assert run("print(updates.get(timeout=20).kind)") == ["active"]

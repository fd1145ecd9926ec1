"""One connection and many threads; the test plays the server."""

from __future__ import annotations

import logging
import signal
import threading
from typing import Any

import pytest

import syncline
from syncline.transport.memory import pair
from tests.fixtures.partner import SOON, Background, Meet, Partner

ERAS = ["2025-11-25", "2026-07-28"]


def unopened(**options: Any) -> tuple[syncline.Client, Partner]:
    transport, peer = pair("partner")
    return syncline.Client(transport, **{"protocol_version": "2025-11-25", **options}), Partner(peer)


# Opening


def test_nothing_can_be_asked_before_it_is_open() -> None:
    """Behaviours 4.01: no traffic."""
    client, partner = unopened()

    with pytest.raises(syncline.LocalProtocolError, match=r"partner: .*not open yet"):
        client.request("ping")
    assert partner.silent()
    with pytest.raises(syncline.LocalProtocolError, match="not open yet"):
        _ = client.protocol_version


def test_it_opens_once(meet: Meet) -> None:
    """Behaviours 4.02."""
    client, partner = meet()

    with pytest.raises(syncline.LocalProtocolError, match="is open; it cannot be opened"):
        client.open()
    assert partner.silent()


def test_a_second_opening_meanwhile_is_refused() -> None:
    """Behaviours 4.02: also from another thread."""
    client, partner = unopened()
    opening = Background(client.open)
    request = partner.next("initialize")

    with pytest.raises(syncline.LocalProtocolError, match="is being opened"):
        client.open()
    client.close()
    with pytest.raises(syncline.ConnectionClosed):
        opening.result()
    assert request["params"]["protocolVersion"] == "2025-11-25"


def test_a_failed_opening_uses_the_client_up() -> None:
    """Behaviours 4.03."""
    client, partner = unopened()
    opening = Background(client.open)
    partner.serve("initialize", error={"code": -32603, "message": "out of order"})

    with pytest.raises(syncline.ServerError, match="out of order"):
        opening.result()
    assert client.is_closed
    with pytest.raises(syncline.ConnectionClosed):
        client.open()


def test_a_server_that_does_not_say_who_it_is_is_refused() -> None:
    """Behaviours 4.04."""
    client, partner = unopened()
    opening = Background(client.open)
    partner.serve("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})

    with pytest.raises(syncline.InvalidResult, match="serverInfo"):
        opening.result()


def test_what_the_server_said_of_itself_is_there() -> None:
    """Behaviours 4.04."""
    client, partner = unopened()
    opening = Background(client.open)
    said = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": True}, "x-extra": {"a": 1}},
        "serverInfo": {"name": "s", "version": "2", "title": None, "x-extra": [1]},
        "instructions": "be kind",
    }
    partner.serve("initialize", said)
    partner.next("notifications/initialized")
    opening.result()

    with client:
        assert client.protocol_version == "2025-06-18"
        assert (client.server_info.name, client.server_info.version, client.server_info.title) == ("s", "2", None)
        assert client.server_info.model_extra == {"x-extra": [1]}
        assert client.capabilities.tools is not None
        assert client.instructions == "be kind"


def test_the_time_to_open_is_limited_and_named() -> None:
    """B009, behaviours 4.05: initialize is never answered; nothing is cancelled, the connection is just given up."""
    client, partner = unopened(timeout=0.05)

    with pytest.raises(syncline.RequestTimeout, match=r"partner: initialize: no answer within 0\.05 s"):
        client.open()
    partner.next("initialize")
    with pytest.raises(syncline.ConnectionClosed):
        partner.next()


def test_closing_while_it_opens_is_final() -> None:
    """Behaviours 4.06: a handshake that ends afterwards revives nothing."""
    client, partner = unopened()
    opening = Background(client.open)
    partner.next("initialize")
    client.close()

    with pytest.raises(syncline.ConnectionClosed):
        opening.result()
    assert client.is_closed


def test_is_closed_at_each_stage(meet: Meet) -> None:
    """Behaviours 4.07."""
    fresh, _ = unopened()
    client, partner = meet()

    assert not fresh.is_closed
    assert not client.is_closed
    partner.peer.close()
    assert client.is_closed


def test_a_ping_is_answered_while_the_handshake_is_under_way() -> None:
    """VER-16, PNG-1."""
    client, partner = unopened()
    opening = Background(client.open)
    request = partner.next("initialize")
    partner.send(id="s1", method="ping")
    assert partner.next() == {"jsonrpc": "2.0", "id": "s1", "result": {}}
    client.close()
    with pytest.raises(syncline.ConnectionClosed):
        opening.result()
    assert request["method"] == "initialize"


def test_log_messages_around_the_handshake_disturb_nothing() -> None:
    """B116: before and after the answer, with a level that does not exist."""
    client, partner = unopened()
    opening = Background(client.open)
    request = partner.next("initialize")
    partner.send(method="notifications/message", params={"level": "loud", "data": None})
    info = {"name": "s", "version": "1"}
    partner.answer(request, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info})
    partner.send(method="notifications/message", params={"level": "info", "data": "hello"})

    with opening.result():
        partner.next("notifications/initialized")
        assert client.protocol_version == "2025-11-25"


# Calls and their ends


@pytest.mark.parametrize("revision", ERAS)
def test_a_timeout_tells_the_server_and_forgets_the_call(meet: Meet, revision: str) -> None:
    """B174, B120: cancelled goes out with that id; the late answer disturbs nothing."""
    client, partner = meet(revision)

    with pytest.raises(syncline.RequestTimeout, match=r"partner: tools/call: no answer within 0\.05 s") as caught:
        client.call_tool("slow", timeout=0.05)
    request = partner.next("tools/call")
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.request_id == request["id"]
    calling = Background(lambda: client.call_tool("next"))
    following = partner.next("tools/call")
    partner.answer(request, {"content": [{"type": "text", "text": "late"}]})
    partner.answer(following, {"content": [{"type": "text", "text": "in time"}], "resultType": "complete"})
    assert calling.result().text == "in time"
    assert client.findings == []


def test_a_timed_out_call_is_not_sent_again(meet: Meet) -> None:
    """B175, behaviours 4.79."""
    client, partner = meet()

    with pytest.raises(syncline.RequestTimeout):
        client.call_tool("slow", timeout=0.05)
    partner.next("tools/call")
    partner.next("notifications/cancelled")
    assert partner.silent()


def test_close_from_another_thread_ends_calls(meet: Meet) -> None:
    client, partner = meet()
    calling = Background(lambda: client.call_tool("slow"))
    partner.next("tools/call")

    client.close()

    with pytest.raises(syncline.ConnectionClosed, match="partner: tools/call: the client was closed"):
        calling.result()
    with pytest.raises(syncline.ConnectionClosed):
        client.list_tools()
    client.close()


def test_losing_the_connection_ends_all_calls_with_the_cause(meet: Meet) -> None:
    client, partner = meet()
    calls = [Background(lambda: client.call_tool("slow")) for _ in range(3)]
    for _ in calls:
        partner.next("tools/call")

    partner.peer.close()

    errors = []
    for call in calls:
        with pytest.raises(syncline.ConnectionLost, match="the peer has closed") as caught:
            call.result()
        errors.append(caught.value)
    assert len(set(map(id, errors))) == 3, "threads must not share an error"
    with pytest.raises(syncline.ConnectionLost):
        client.list_tools()


def test_an_answer_that_crosses_the_timeout_is_either_taken_or_dropped(meet: Meet) -> None:
    """Whoever takes the call out of the table owns its end: no call is left over, whatever wins."""
    client, partner = meet()
    taken = 0
    for _ in range(50):
        calling = Background(lambda: client.call_tool("race", timeout=0.001))
        partner.serve("tools/call", {"content": []})
        try:
            calling.result()
            taken += 1
        except syncline.RequestTimeout:
            partner.next("notifications/cancelled")
    assert client._session.connection.engine.pending == {}


def test_many_threads_share_one_connection(meet: Meet) -> None:
    """B012, B075 in memory: each caller gets its own answer, under ids that never repeat."""
    client, partner = meet()
    ids = set()

    def serve() -> None:
        for _ in range(500):
            request = partner.next("tools/call")
            ids.add(request["id"])
            partner.answer(request, {"content": [{"type": "text", "text": request["params"]["arguments"]["token"]}]})

    def call(number: int) -> list[str]:
        return [client.call_tool("echo", {"token": f"{number}/{turn}"}).text for turn in range(50)]

    serving = Background(serve)
    callers = [Background(lambda number=number: call(number)) for number in range(10)]  # type: ignore[misc]
    for number, caller in enumerate(callers):
        assert caller.result() == [f"{number}/{turn}" for turn in range(50)]
    serving.result()
    assert len(ids) == 500


def test_a_held_call_does_not_hold_others(meet: Meet) -> None:
    """Behaviours 4.78."""
    client, partner = meet()
    held = Background(lambda: client.call_tool("held"))
    first = partner.next("tools/call")
    other = Background(lambda: client.call_tool("other"))
    partner.serve("tools/call", {"content": []})

    assert other.result().text == ""
    partner.answer(first, {"content": []})
    held.result()


# Progress


@pytest.mark.parametrize("revision", ERAS)
def test_progress_is_reported_in_the_calling_thread(meet: Meet, revision: str) -> None:
    client, partner = meet(revision)
    seen: list[object] = []

    def call() -> None:
        client.call_tool("x", on_progress=lambda *said: seen.append((*said, threading.current_thread() is mine)))

    calling = Background(call)
    mine = calling.thread
    request = partner.next("tools/call")
    token = request["params"]["_meta"]["progressToken"]
    partner.send(method="notifications/progress", params={"progressToken": token, "progress": 1, "total": 2})
    partner.send(method="notifications/progress", params={"progressToken": token, "progress": 2, "message": "done"})
    partner.answer(request, {"content": [], "resultType": "complete"})
    calling.result()

    assert seen == [(1, 2, None, True), (2, None, "done", True)]


def test_progress_starts_the_timeout_again(meet: Meet) -> None:
    """B172: a call outlives its timeout as long as progress is reported."""
    client, partner = meet()
    reported = threading.Semaphore(0)
    calling = Background(lambda: client.call_tool("x", timeout=1.0, on_progress=lambda *_: reported.release()))
    request = partner.next("tools/call")
    for number in range(1, 8):
        assert not reported.acquire(timeout=0.3)
        partner.send(method="notifications/progress", params={"progressToken": request["id"], "progress": number})
        assert reported.acquire(timeout=SOON)
    partner.answer(request, {"content": []})

    assert calling.result().text == ""


def test_the_total_limits_a_call_whatever_the_progress(meet: Meet) -> None:
    """B172, TMO-2."""
    client, partner = meet()
    calling = Background(lambda: client.call_tool("x", timeout=syncline.Timeouts(call=10, call_total=0.3)))
    request = partner.next("tools/call")
    for number in range(3):
        partner.send(method="notifications/progress", params={"progressToken": request["id"], "progress": number})

    with pytest.raises(syncline.RequestTimeout):
        calling.result()
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]


def test_what_a_progress_callback_raises_ends_the_call(meet: Meet) -> None:
    client, partner = meet()

    def stop(*_: object) -> None:
        raise LookupError("enough")

    calling = Background(lambda: client.call_tool("x", on_progress=stop))
    request = partner.next("tools/call")
    partner.send(method="notifications/progress", params={"progressToken": request["id"], "progress": 1})

    with pytest.raises(LookupError, match="enough"):
        calling.result()
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]


# What the server starts


@pytest.mark.parametrize(
    "asked", [{"method": "sampling/createMessage", "params": {}}, {"method": "x/y"}, {"method": "roots/list"}]
)
def test_a_request_that_we_do_not_offer_is_refused_at_once(meet: Meet, asked: dict[str, object]) -> None:
    """B119."""
    client, partner = meet()
    partner.send(id=7, **asked)

    refusal = partner.next()
    assert (refusal["id"], refusal["error"]["code"]) == (7, -32601)
    assert str(asked["method"]) in refusal["error"]["message"]
    assert not client.is_closed


def test_a_stateless_server_gets_no_answer_to_a_request(meet: Meet) -> None:
    """STD-2, MAL-1."""
    client, partner = meet("2026-07-28")
    partner.send(id=7, method="roots/list")

    assert partner.silent()
    assert [finding.code for finding in client.findings] == ["server-request"]


def test_notifications_arrive_in_order_on_another_thread(meet: Meet) -> None:
    seen: list[object] = []
    done = threading.Event()

    def take(notification: syncline.Notification) -> None:
        seen.append((notification.method, threading.current_thread().name))
        if notification.method == "notifications/9":
            done.set()

    _, partner = meet(on_notification=take)
    for number in range(10):
        partner.send(method=f"notifications/{number}")

    assert done.wait(SOON)
    assert seen == [(f"notifications/{number}", "syncline:partner:notify") for number in range(10)]


def test_a_callback_that_hangs_holds_up_nothing_else(meet: Meet) -> None:
    """B111: 10,000 notifications that nobody takes; the answer comes, and close() returns."""
    gate = threading.Event()
    client, partner = meet(on_notification=lambda _: gate.wait(SOON), timeout=syncline.Timeouts(close=0.2))
    calling = Background(lambda: client.call_tool("x"))
    request = partner.next("tools/call")
    for number in range(10_000):
        partner.send(method=f"notifications/{number}")
    partner.answer(request, {"content": []})

    calling.result()
    client.close()
    gate.set()


def test_a_callback_that_fails_is_logged(meet: Meet, caplog: pytest.LogCaptureFixture) -> None:
    done = threading.Event()

    def fail(notification: syncline.Notification) -> None:
        if notification.method == "notifications/last":
            done.set()
            return
        raise ValueError("in a callback")

    _, partner = meet(on_notification=fail)
    with caplog.at_level(logging.ERROR, "syncline"):
        partner.send(method="notifications/first")
        partner.send(method="notifications/last")
        assert done.wait(SOON)
    assert "in a callback" in caplog.text


def test_a_callback_may_use_the_client(meet: Meet) -> None:
    """B109 for notifications: a callback calls the client that it came from."""
    results: list[str] = []
    done = threading.Event()

    def call(_: syncline.Notification) -> None:
        results.append(client.call_tool("again").text)
        done.set()

    client, partner = meet(on_notification=call)
    partner.send(method="notifications/x")
    partner.serve("tools/call", {"content": [{"type": "text", "text": "inside"}]})

    assert done.wait(SOON)
    assert results == ["inside"]


def test_log_messages_reach_the_callback(meet: Meet) -> None:
    seen: list[object] = []
    done = threading.Event()

    def take(message: Any) -> None:
        seen.append((message.level, message.logger, message.data))
        if message.data == "last":
            done.set()

    client, partner = meet(on_log=take)
    partner.send(method="notifications/message", params={})
    assert [finding.code for finding in client.findings] == ["log-message"]
    partner.send(method="notifications/message", params={"level": "loud", "data": {"a": None}})
    partner.send(method="notifications/message", params={"level": "error", "logger": "db", "data": "last"})

    assert done.wait(SOON)
    assert seen == [("loud", None, {"a": None}), ("error", "db", "last")]


def test_log_messages_go_to_pythons_logging_by_default(meet: Meet, caplog: pytest.LogCaptureFixture) -> None:
    """Behaviours 4.83."""
    client, partner = meet()
    levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    with caplog.at_level(logging.DEBUG, "syncline.server"):
        for level in levels:
            partner.send(method="notifications/message", params={"level": level, "logger": "db", "data": level})
        client.close()
    found = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "syncline.server"]
    names = ["DEBUG", "INFO", "INFO", "WARNING", "ERROR", "ERROR", "ERROR", "ERROR"]
    assert found == [(name, f"partner: db: {level}") for name, level in zip(names, levels, strict=True)]


# Interrupts and neglect


def test_ctrl_c_ends_the_call_and_leaves_the_client_usable(meet: Meet) -> None:
    """B108, B096: the interrupt surfaces at once, the server is told, the late answer is dropped."""
    client, partner = meet()

    def interrupt() -> dict[str, Any]:
        request = partner.next("tools/call")
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return request

    interrupting = Background(interrupt)
    with pytest.raises(KeyboardInterrupt):
        client.call_tool("slow")
    request = interrupting.result()
    assert partner.next("notifications/cancelled")["params"]["requestId"] == request["id"]
    partner.answer(request, {"content": []})
    listing = Background(client.list_tools)
    partner.serve("tools/list", {"tools": []})
    assert listing.result() == []


def test_a_client_that_is_dropped_while_open_warns_and_is_closed(meet: Meet) -> None:
    transport, peer = pair("partner")
    partner = Partner(peer)
    client = syncline.Client(transport, protocol_version="2025-11-25")
    opening = Background(client.open)
    partner.open("2025-11-25")
    opening.result()
    del opening

    with pytest.warns(ResourceWarning, match="deleted while still open"):
        del client
    with pytest.raises(syncline.ConnectionClosed):
        partner.next()
    for thread in threading.enumerate():
        if thread.name == "syncline:partner:close":
            thread.join(SOON)

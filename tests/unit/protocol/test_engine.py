"""The pending table: one outcome for each call, whatever the server sends."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.errors import InvalidMessage, LocalProtocolError, MethodNotFound, ServerError
from syncline.protocol.engine import REMEMBERED, SUBSCRIPTION_ID, Call, Engine
from syncline.protocol.events import Notification, Progress, Reply, ServerRequest, Tolerated, Withdrawn
from syncline.protocol.jsonrpc import decode
from syncline.protocol.revisions import REVISIONS


def engine(revision: str | None = "2025-11-25", limit: int = 10) -> Engine[str]:
    made: Engine[str] = Engine(limit)
    made.revision = REVISIONS[revision] if revision else None
    return made


def feed(on: Engine[str], message: object, origin: int | None = None, status: int | None = None) -> list[Any]:
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    happenings = [on.receive(received, origin, status) for received in decode(data)]
    return [happening for happening in happenings if happening is not None]


def answer(ident: object, **members: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": ident, **(members or {"result": {"ok": True}})}


def notice(method: object, params: object = None) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}


def test_an_answer_ends_its_call_once() -> None:
    made = engine()
    call = made.start_call("tools/list", "owner")

    [(reply, ended)] = feed(made, answer(call.id))

    assert (reply, ended) == (Reply({"ok": True}), call)
    assert made.pending == {}
    assert made.abandon(call) is False


def test_ids_are_never_used_again() -> None:
    """B012: ids are unique, also after calls were answered or given up."""
    made = engine(limit=1000)
    seen = set()
    for number in range(500):
        call = made.start_call("ping", "owner")
        seen.add(call.id)
        if number % 2:
            made.abandon(call)
        else:
            feed(made, answer(call.id))

    assert len(seen) == 500


def test_too_many_calls_at_once_are_refused_before_anything_is_sent() -> None:
    made = engine(limit=2)
    made.start_call("ping", "a")
    made.start_call("ping", "b")

    with pytest.raises(LocalProtocolError, match="pending_calls"):
        made.start_call("ping", "c")


def test_an_error_answer_becomes_the_error_of_its_code() -> None:
    made = engine()
    call = made.start_call("x/y", "owner")

    [(reply, _)] = feed(made, answer(call.id, error={"code": -32601, "message": "no", "data": [1]}), call.id, 404)

    assert isinstance(reply.error, MethodNotFound)
    assert (reply.error.code, reply.error.data, reply.error.status) == (-32601, [1], 404)


def test_an_unknown_code_is_a_server_error() -> None:
    made = engine()
    call = made.start_call("x/y", "owner")

    [(reply, _)] = feed(made, answer(call.id, error={"code": 7, "message": "no"}))

    assert type(reply.error) is ServerError


def test_an_error_without_an_id_belongs_to_the_request_that_it_answers() -> None:
    """B004: over HTTP the answer says which request it is for."""
    made = engine()
    first, second = made.start_call("ping", "a"), made.start_call("ping", "b")

    [(reply, ended)] = feed(made, answer(None, error={"code": -32000, "message": "no"}), second.id, 400)

    assert ended is second
    assert reply.error is not None
    assert list(made.pending) == [first.id]


def test_an_error_without_an_id_on_a_shared_channel_ends_nothing() -> None:
    """RPC-8: it is never raised into a random waiter."""
    made = engine()
    call = made.start_call("ping", "a")

    [(event, ended)] = feed(made, answer(None, error={"code": -32700, "message": "no"}))

    assert isinstance(event, Tolerated)
    assert ended is None
    assert list(made.pending) == [call.id]


def test_an_integer_id_that_comes_back_as_text_is_matched_and_noted() -> None:
    """B114: the answer is taken, and a finding says what was wrong with it."""
    made = engine()
    call = made.start_call("ping", "a")

    [(reply, ended)] = feed(made, answer(str(call.id)))

    assert ended is call
    assert reply.tolerated == "id-as-string"


@pytest.mark.parametrize("ident", [99, "99", "x", "", "1" * 40, "²"])
def test_an_answer_to_nothing_is_noted_and_ends_nothing(ident: object) -> None:
    """B010 on a shared channel: keep waiting."""
    made = engine()
    made.start_call("ping", "a")

    [(event, _)] = feed(made, answer(ident))

    assert isinstance(event, Tolerated)
    assert event.code == "foreign-answer"
    assert len(made.pending) == 1


@pytest.mark.parametrize("ident", [True, 1.0, None, [1]])
def test_an_id_of_another_type_ends_nothing(ident: object) -> None:
    """RPC-1: ``true`` and ``1.0`` are not ``1``."""
    made = engine()
    assert made.start_call("ping", "a").id == 1

    [(event, ended)] = feed(made, answer(ident))

    assert isinstance(event, Tolerated)
    assert ended is None
    assert len(made.pending) == 1


def test_the_answer_to_one_request_cannot_end_another() -> None:
    """B010: a foreign id in the HTTP answer of one call never completes another call."""
    made = engine()
    waiting, asking = made.start_call("ping", "a"), made.start_call("ping", "b")

    [(event, ended)] = feed(made, answer(waiting.id), asking.id, 200)

    assert isinstance(event, Tolerated)
    assert ended is None
    assert set(made.pending) == {waiting.id, asking.id}


def test_a_late_answer_is_dropped_without_a_word() -> None:
    """B120: it is normal after a timeout."""
    made = engine()
    call = made.start_call("ping", "a")
    made.abandon(call)

    assert feed(made, answer(call.id)) == []


def test_a_second_answer_disturbs_nothing() -> None:
    """B120: the next call is still waiting."""
    made = engine()
    first, second = made.start_call("ping", "a"), made.start_call("ping", "b")
    feed(made, answer(first.id))

    [(event, ended)] = feed(made, answer(first.id))

    assert isinstance(event, Tolerated)
    assert ended is None
    assert list(made.pending) == [second.id]


def test_only_so_many_given_up_calls_are_remembered() -> None:
    made = engine(limit=REMEMBERED + 10)
    calls = [made.start_call("ping", "a") for _ in range(REMEMBERED + 1)]
    assert made.drain() == calls

    [(event, _)] = feed(made, answer(calls[0].id))

    assert isinstance(event, Tolerated)
    assert feed(made, answer(calls[-1].id)) == []


def test_a_body_that_is_no_message_ends_the_call_that_it_answers() -> None:
    made = engine()
    call = made.start_call("ping", "a")

    [(reply, ended)] = feed(made, b"<html>", call.id, 200)

    assert ended is call
    assert isinstance(reply.error, InvalidMessage)
    assert reply.error.raw == b"<html>"


def test_a_stream_event_that_is_no_message_ends_nothing() -> None:
    """Malformed messages never end a connection; the answer may still come."""
    made = engine()
    call = made.start_call("ping", "a")

    [(event, _)] = feed(made, b"{", call.id)

    assert isinstance(event, Tolerated)
    [(reply, _)] = feed(made, answer(call.id), call.id)
    assert reply.result == {"ok": True}


def test_a_malformed_answer_ends_the_call_that_it_names() -> None:
    """Both a result and an error: the caller learns it now, not at the deadline."""
    made = engine()
    call = made.start_call("ping", "a")

    [(reply, ended)] = feed(made, answer(call.id, result={}, error={"code": 1, "message": ""}))

    assert ended is call
    assert isinstance(reply.error, InvalidMessage)


def test_batches_are_taken_apart() -> None:
    """B122: 2025-03-26 has them."""
    made = engine("2025-03-26")
    first, second = made.start_call("ping", "a"), made.start_call("ping", "b")

    events = feed(made, [answer(second.id), notice("notifications/x"), answer(first.id)])

    assert [ended for _, ended in events] == [second, None, first]


def test_a_batch_elsewhere_is_taken_and_noted() -> None:
    """B122: other revisions have no batches; the fault is recorded."""
    made = engine("2025-06-18")
    call = made.start_call("ping", "a")

    (noted, _), (reply, _) = feed(made, [answer(call.id)])

    assert isinstance(noted, Tolerated)
    assert noted.code == "batch"
    assert reply.result == {"ok": True}


def test_notes_of_the_codec_become_findings() -> None:
    made = engine()

    (noted, _), _ = feed(made, b"\xef\xbb\xbf" + json.dumps(notice("notifications/x")).encode())

    assert isinstance(noted, Tolerated)
    assert noted.code == "bom"


@pytest.mark.parametrize(("params", "kept"), [(None, {}), ({"a": 1}, {"a": 1})])
def test_a_request_of_the_server_is_passed_on(params: object, kept: dict[str, object]) -> None:
    made = engine()
    asked = {**answer(5), "method": "roots/list", "params": params}
    del asked["result"]

    [(event, _)] = feed(made, asked)

    assert event == ServerRequest(5, "roots/list", kept)


def test_a_request_of_a_stateless_server_is_a_fault() -> None:
    """MAL-1: there are no server requests from 2026-07-28 on, and no way to answer them."""
    made = engine("2026-07-28")

    [(event, _)] = feed(made, {"jsonrpc": "2.0", "id": 1, "method": "ping"})

    assert isinstance(event, Tolerated)
    assert event.code == "server-request"


@pytest.mark.parametrize(
    ("method", "params"),
    [("notifications/x", None), ("cancelled", {"a": 1}), ("notifications/message", {"level": "loud"})],
)
def test_notifications_are_passed_on_unjudged(method: str, params: dict[str, object] | None) -> None:
    """B117, B116: an unknown one is nobody's problem."""
    assert feed(engine(), notice(method, params)) == [(Notification(method, params or {}), None)]


@pytest.mark.parametrize("message", [notice("x", [1]), notice("x", "text"), notice(7), notice(None)])
def test_a_malformed_notification_is_noted(message: object) -> None:
    """B117: it never ends the session."""
    [(event, _)] = feed(engine(), message)

    assert isinstance(event, Tolerated)


def test_a_server_that_cancels_our_request_is_not_obeyed() -> None:
    """CAN-4: in the stateless era it may end a stream of ours, and nothing else."""
    made = engine("2026-07-28")
    call = made.start_call("ping", "a")

    [(event, _)] = feed(made, notice("notifications/cancelled", {"requestId": call.id}))

    assert isinstance(event, Tolerated)
    assert list(made.pending) == [call.id]


def test_a_server_ends_a_stream_with_a_cancellation() -> None:
    """SUB-7: the clean end of a stream over a shared channel."""
    made = engine("2026-07-28")
    call = made.start_call("subscriptions/listen", "a", stream=True)

    assert feed(made, notice("notifications/cancelled", {"requestId": call.id})) == [(Reply({}), call)]
    assert feed(made, notice("notifications/cancelled", {"requestId": call.id})) == []


@pytest.mark.parametrize("ident", [1, 99, "s", None, [1], {"a": 1}, True])
def test_a_server_of_the_handshake_era_cancels_what_it_asked_itself(ident: object) -> None:
    """CAN-1, RPC-7: two id spaces; our own call of the same id goes on. CAN-6: invalid ones are ignored."""
    made = engine()
    made.start_call("ping", "a")

    [(event, ended)] = feed(made, notice("notifications/cancelled", {"requestId": ident}))

    assert isinstance(event, Withdrawn)
    assert event.id == ident
    assert ended is None
    assert len(made.pending) == 1


def tagged(ident: object) -> dict[str, object]:
    return notice("notifications/x", {"_meta": {SUBSCRIPTION_ID: ident}})


@pytest.mark.parametrize("ident", [1, "1"])
def test_a_notification_belongs_to_the_stream_that_it_names(ident: object) -> None:
    """SUB-5."""
    made = engine("2026-07-28")
    call = made.start_call("subscriptions/listen", "a", stream=True)

    [(event, owner)] = feed(made, tagged(ident))

    assert isinstance(event, Notification)
    assert owner is call


@pytest.mark.parametrize(("ident", "known"), [(2, False), ("x", False), ([1], False), (1, True)])
def test_a_notification_for_no_stream_is_noted_unless_the_stream_has_ended(ident: object, known: bool) -> None:
    made = engine("2026-07-28")
    made.abandon(made.start_call("subscriptions/listen", "a", stream=True))

    events = feed(made, tagged(ident))

    assert [isinstance(event, Tolerated) for event, _ in events] == ([] if known else [True])


def test_over_http_a_stream_is_known_by_its_answer() -> None:
    """B010 for streams: what names another stream than its own answer is for nobody."""
    made = engine("2026-07-28")
    first, second = (made.start_call("subscriptions/listen", "a", stream=True) for _ in range(2))

    [(_, owner)] = feed(made, notice("notifications/x"), second.id)
    assert owner is second
    assert feed(made, tagged(first.id), second.id) == []
    assert feed(made, notice("notifications/x", {"_meta": None}), None) == [
        (Notification("notifications/x", {"_meta": None}), None)
    ]


def test_a_plain_call_owns_no_notification() -> None:
    made = engine()
    call = made.start_call("tools/call", "a")

    [(_, owner)] = feed(made, notice("notifications/x"), call.id)

    assert owner is None


def progress(made: Engine[str], **params: object) -> list[Any]:
    return feed(made, notice("notifications/progress", params))


def test_progress_reaches_its_call() -> None:
    made = engine()
    call = made.start_call("tools/call", "a")

    assert progress(made, progressToken=call.id, progress=1, total=2.5, message="half") == [
        (Progress(1, 2.5, "half"), call)
    ]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"progressToken": "1", "progress": 1}, Progress(1, None, None)),
        ({"progressToken": 1, "progress": 0.5, "total": None}, Progress(0.5, None, None)),
        ({"progressToken": 1, "progress": 1, "total": "x", "message": 7}, Progress(1, None, None)),
        ({"progressToken": 1, "progress": 1, "total": True}, Progress(1, None, None)),
        ({"progressToken": 2, "progress": 1}, "progress-token"),
        ({"progressToken": "x", "progress": 1}, "progress-token"),
        ({"progressToken": [1], "progress": 1}, "progress-token"),
        ({"progressToken": True, "progress": 1}, "progress-token"),
        ({"progress": 1}, "progress-token"),
        ({"progressToken": 1}, "progress-value"),
        ({"progressToken": 1, "progress": "1"}, "progress-value"),
        ({"progressToken": 1, "progress": True}, "progress-value"),
    ],
)
def test_odd_progress_is_delivered_or_noted(params: dict[str, object], expected: object) -> None:
    """B180: never an exception."""
    made = engine()
    made.start_call("tools/call", "a")

    [(event, _)] = progress(made, **params)

    assert (event.code if isinstance(event, Tolerated) else event) == expected


def test_progress_that_goes_backwards_is_noted() -> None:
    """B180, PRG-2: it must increase."""
    made = engine()
    call = made.start_call("tools/call", "a")
    progress(made, progressToken=call.id, progress=5)

    for value in (5, 4):
        [(event, _)] = progress(made, progressToken=call.id, progress=value)
        assert isinstance(event, Tolerated)
        assert event.code == "progress-backwards"


def test_progress_after_the_end_is_dropped_without_a_word() -> None:
    """B180: nothing after completion."""
    made = engine()
    call = made.start_call("tools/call", "a")
    feed(made, answer(call.id))

    assert progress(made, progressToken=call.id, progress=1) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
IDS = st.none() | st.integers(-1, 6) | st.text(max_size=3) | st.booleans() | st.floats(allow_nan=False)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON,
        "id": IDS,
        "method": st.sampled_from(["ping", "notifications/progress", "notifications/cancelled"]) | JSON,
        "params": st.fixed_dictionaries(
            {}, optional={"progressToken": IDS, "progress": JSON, "total": JSON, "requestId": IDS}
        )
        | JSON,
        "result": JSON,
        "error": st.fixed_dictionaries({}, optional={"code": IDS, "message": JSON, "data": JSON}) | JSON,
    },
)


@given(st.lists(MESSAGES | JSON | st.lists(MESSAGES, max_size=3), max_size=12), st.none() | st.integers(1, 4))
def test_whatever_comes_each_call_ends_at_most_once(messages: list[object], origin: int | None) -> None:
    """Any traffic: no exception, no call ends twice, and an HTTP answer ends no call but its own."""
    made = engine("2025-03-26")
    calls = [made.start_call("tools/call", "a") for _ in range(4)]
    ended: list[Call[str]] = []
    for message in messages:
        for event, call in feed(made, message, origin):
            if isinstance(event, Reply):
                assert call is not None
                assert origin in (None, call.id)
                ended.append(call)

    assert len({call.id for call in ended}) == len(ended)
    assert set(made.pending) == {call.id for call in calls} - {call.id for call in ended}

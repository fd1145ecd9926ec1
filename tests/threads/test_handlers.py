"""What a server asks of the client, in both eras; the test plays the server."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import syncline
from syncline.protocol.revisions import META
from syncline.session.handlers import Cancel
from tests.fixtures.partner import SOON, Background, Meet, Partner

FORM = {
    "type": "object",
    "properties": {
        "confirmed": {"type": "boolean"},
        "name": {"type": "string", "default": "Ada"},
        "ratio": {"type": "number", "default": 95.5},
        "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["a"]},
    },
    "required": ["confirmed"],
}
DEFAULTS = {"name": "Ada", "ratio": 95.5, "colour": "blue", "tags": ["a"]}
QUESTION = {"message": "Sure?", "requestedSchema": FORM}
URL = {"mode": "url", "message": "Sign in", "url": "https://example.com/in?x=1", "elicitationId": "e1"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5}


def ask(partner: Partner, method: str, params: object, number: object = "q1") -> dict[str, Any]:
    partner.send(id=number, method=method, params=params)
    return partner.next()


# Handshake era: requests of the server


def test_a_form_is_filled_in_with_its_defaults(meet: Meet) -> None:
    """ELI-5, SEP-1034: what the handler leaves out gets the form's defaults."""
    seen: list[syncline.ElicitRequest] = []

    def answer(request: syncline.ElicitRequest) -> dict[str, object]:
        seen.append(request)
        return {"confirmed": True}

    _, partner = meet(on_elicitation=answer)
    reply = ask(partner, "elicitation/create", {**QUESTION, "_meta": {"progressToken": 1, "a/b": 2}})

    assert reply == {
        "jsonrpc": "2.0",
        "id": "q1",
        "result": {"action": "accept", "content": {"confirmed": True, **DEFAULTS}},
    }
    [request] = seen
    assert (request.server, request.message, request.mode, request.schema) == ("partner", "Sure?", "form", FORM)
    assert (request.url, request.meta) == (None, {"a/b": 2})


def test_an_address_is_agreed_to_and_never_opened(meet: Meet) -> None:
    """ELI-6, ELI-7: accept means consent."""
    seen: list[str | None] = []

    def answer(request: syncline.ElicitRequest) -> bool:
        seen.append(request.url)
        return True

    _, partner = meet(on_elicitation=answer)

    assert ask(partner, "elicitation/create", URL)["result"] == {"action": "accept"}
    assert seen == ["https://example.com/in?x=1"]


@pytest.mark.parametrize(("outcome", "action"), [(None, "decline"), (False, "decline"), (Cancel(), "cancel")])
def test_declining_and_cancelling(meet: Meet, outcome: object, action: str) -> None:
    def answer(_: syncline.ElicitRequest) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    _, partner = meet(on_elicitation=answer)

    assert ask(partner, "elicitation/create", QUESTION)["result"] == {"action": action}


@pytest.mark.parametrize(
    "bad", [{"confirmed": "yes"}, {"confirmed": True, "colour": "green"}, "text", {"confirmed": float("nan")}]
)
def test_an_answer_that_does_not_fit_is_an_error_for_the_server(meet: Meet, bad: object) -> None:
    """ELI-5, behaviours 3.142: checked before it is sent; the server is told that it failed, not why."""
    _, partner = meet(on_elicitation=lambda _: bad)

    error = ask(partner, "elicitation/create", QUESTION)["error"]
    assert error["code"] == -32603
    assert "green" not in error["message"]


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"message": "x"},
        {"message": "x", "mode": "url"},
        {"message": "x", "mode": "url", "url": "javascript:alert(1)"},
        {"message": "x", "mode": "dance"},
        {"message": 7, "requestedSchema": FORM},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(meet: Meet, params: object) -> None:
    _, partner = meet(on_elicitation=lambda _: True)

    assert ask(partner, "elicitation/create", params)["error"]["code"] == -32602


def test_a_handler_that_fails_is_an_error_without_its_secrets(meet: Meet) -> None:
    """Behaviours 3.142."""

    def fail(_: syncline.ElicitRequest) -> None:
        raise RuntimeError("between us")

    _, partner = meet(on_elicitation=fail)
    error = ask(partner, "elicitation/create", QUESTION)["error"]

    assert error["code"] == -32603
    assert "between us" not in error["message"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("hello", {"role": "assistant", "model": "unknown", "content": {"type": "text", "text": "hello"}}),
        (
            {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}, "stopReason": "endTurn"},
            {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}, "stopReason": "endTurn"},
        ),
    ],
)
def test_sampling(meet: Meet, answer: Any, expected: object) -> None:
    seen: list[Any] = []

    def sample(params: Any) -> Any:
        seen.append((params.max_tokens, params.messages[0].content.text))
        return answer

    _, partner = meet(on_sampling=sample)

    assert ask(partner, "sampling/createMessage", SAMPLE)["result"] == expected
    assert seen == [(5, "hi")]


def test_refused_sampling_has_its_own_code(meet: Meet) -> None:
    """SRQ-3."""
    _, partner = meet(on_sampling=lambda _: None)

    assert ask(partner, "sampling/createMessage", SAMPLE)["error"]["code"] == -1


def test_roots(meet: Meet, tmp_path: Path) -> None:
    """ROO-1: as paths, URIs or with a name, or from a function that is asked each time."""
    _, partner = meet(roots=[tmp_path, "file:///srv", {"uri": "file:///x", "name": "x"}])
    assert ask(partner, "roots/list", {})["result"]["roots"] == [
        {"uri": tmp_path.as_uri()},
        {"uri": "file:///srv"},
        {"uri": "file:///x", "name": "x"},
    ]
    turns = iter([["/a"], ["/b"]])
    _, partner = meet(roots=lambda: next(turns))
    assert [ask(partner, "roots/list", {})["result"]["roots"][0]["uri"] for _ in range(2)] == ["file:///a", "file:///b"]
    with pytest.raises(syncline.ConfigError, match="a root is a folder"):
        meet(roots=["https://example.com"])
    for alone in ("/srv", tmp_path, {"uri": "file:///srv"}):
        with pytest.raises(syncline.ConfigError, match="roots is a list of folders, not one of them"):
            meet(roots=alone)
    with pytest.raises(syncline.ConfigError, match=r"a root is a folder.*, not 7"):
        meet(roots=[7])


@pytest.mark.parametrize("option", ["on_elicitation", "on_sampling", "on_log", "on_notification"])
def test_a_handler_is_a_function(meet: Meet, option: str) -> None:
    with pytest.raises(syncline.ConfigError, match=f"{option} is a function that is called each time, not {{}}"):
        meet(**{option: {}})  # type: ignore[arg-type]


def test_only_what_is_handled_is_declared(meet: Meet) -> None:
    """B119, SRQ-1, META-5."""
    client, partner = meet(
        "2026-07-28", on_elicitation=lambda _: None, roots=["/"], declares={"sampling": {"tools": {}}}
    )
    calling = Background(lambda: client.call_tool("t"))
    request = partner.serve("tools/call", {"resultType": "complete", "content": []})
    calling.result()

    assert request["params"]["_meta"][META + "clientCapabilities"] == {
        "elicitation": {"form": {}, "url": {}},
        "roots": {},
        "sampling": {"tools": {}},
    }


def test_a_handler_may_block_and_use_the_client(meet: Meet) -> None:
    """B109: the server asks during a call, and the handler itself makes another one."""
    client: syncline.Client

    def answer(_: syncline.ElicitRequest) -> dict[str, object]:
        assert threading.current_thread().name.startswith("syncline:partner:handler-")
        return {"confirmed": client.call_tool("inner").text == "inside"}

    client, partner = meet(on_elicitation=answer)
    calling = Background(lambda: client.call_tool("outer"))
    outer = partner.next("tools/call")
    partner.send(id=1, method="elicitation/create", params=QUESTION)
    partner.serve("tools/call", {"content": [{"type": "text", "text": "inside"}]})
    assert partner.next()["result"]["content"]["confirmed"] is True
    partner.answer(outer, {"content": []})
    calling.result()


def test_the_clock_stands_still_while_a_person_is_asked(meet: Meet) -> None:
    """B178, TMO-3, behaviours 3.143: the call outlives its timeout, but not its total."""
    gate = threading.Event()
    client, partner = meet(on_elicitation=lambda _: gate.wait(SOON) and {"confirmed": True})
    calling = Background(lambda: client.call_tool("t", timeout=0.3))
    request = partner.next("tools/call")
    partner.send(id=1, method="elicitation/create", params=QUESTION)
    assert not threading.Event().wait(0.6)
    gate.set()
    assert partner.next()["result"]["action"] == "accept"
    partner.answer(request, {"content": []})
    calling.result()

    gate.clear()
    calling = Background(lambda: client.call_tool("t", timeout=syncline.Timeouts(call=0.1, call_total=0.4)))
    partner.next("tools/call")
    partner.send(id=2, method="elicitation/create", params=QUESTION)
    with pytest.raises(syncline.RequestTimeout):
        calling.result()
    gate.set()


def test_what_the_server_no_longer_wants_is_not_answered(meet: Meet) -> None:
    """CAN-5, RPC-7: also where one of our own calls has the same id."""
    gate, asked = threading.Event(), threading.Event()

    def answer(_: syncline.ElicitRequest) -> dict[str, object]:
        asked.set()
        gate.wait(SOON)
        return {"confirmed": True}

    client, partner = meet(on_elicitation=answer)
    calling = Background(lambda: client.call_tool("t"))
    request = partner.next("tools/call")
    partner.send(id=request["id"], method="elicitation/create", params=QUESTION)
    assert asked.wait(SOON)
    partner.send(method="notifications/cancelled", params={"requestId": request["id"]})
    gate.set()
    assert partner.silent()
    partner.answer(request, {"content": []})
    calling.result()


def test_a_ping_is_answered_while_all_handlers_are_busy(meet: Meet) -> None:
    """PNG-1."""
    gate = threading.Event()
    client, partner = meet(on_elicitation=lambda _: gate.wait(SOON) and None)
    for number in range(6):
        partner.send(id=number, method="elicitation/create", params=QUESTION)
    partner.send(id="p", method="ping")

    assert partner.next() == {"jsonrpc": "2.0", "id": "p", "result": {}}
    gate.set()
    assert {partner.next()["id"] for _ in range(6)} == set(range(6))
    client.close()


def test_close_does_not_wait_for_a_handler_for_ever(meet: Meet) -> None:
    gate = threading.Event()
    client, partner = meet(on_elicitation=lambda _: gate.wait(SOON) and None, timeout=syncline.Timeouts(close=0.2))
    partner.send(id=1, method="elicitation/create", params=QUESTION)
    client.close()
    assert client.is_closed
    gate.set()


# Stateless era: rounds

COMPLETE = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


def required(partner: Partner, requests: object = None, **more: object) -> dict[str, Any]:
    asked = {"k": {"method": "elicitation/create", "params": QUESTION}} if requests is None else requests
    return partner.serve("tools/call", {"resultType": "input_required", "inputRequests": asked, **more})


def test_rounds_go_on_until_the_result_is_complete(meet: Meet) -> None:
    """B202, MRT-4 to MRT-7: a new id each round, the latest state only, that round's answers only, the same arguments."""
    client, partner = meet("2026-07-28", on_elicitation=lambda _: {"confirmed": True})
    calling = Background(lambda: client.call_tool("t", {"a": 1}))
    first = required(partner, requestState="S1")
    second = required(partner, {"other": {"method": "elicitation/create", "params": QUESTION}})
    third = required(partner, {}, requestState="S3")
    fourth = partner.serve("tools/call", COMPLETE)
    assert calling.result().text == "done"

    assert len({request["id"] for request in (first, second, third, fourth)}) == 4
    params = [request["params"] for request in (first, second, third, fourth)]
    assert [(given["name"], given["arguments"]) for given in params] == [("t", {"a": 1})] * 4
    assert [given.get("requestState") for given in params] == [None, "S1", None, "S3"]
    answers = {"action": "accept", "content": {"confirmed": True, **DEFAULTS}}
    assert [given.get("inputResponses") for given in params] == [None, {"k": answers}, {"other": answers}, None]
    assert all(META + "protocolVersion" in given["_meta"] for given in params)


def test_all_kinds_of_questions_in_one_round(meet: Meet) -> None:
    """MRT-3, MRT-9: every one is answered before the retry, as plain results."""
    client, partner = meet("2026-07-28", on_elicitation=lambda _: None, on_sampling=lambda _: "words", roots=["/srv"])
    calling = Background(lambda: client.call_tool("t"))
    required(
        partner,
        {
            "e": {"method": "elicitation/create", "params": QUESTION},
            "s": {"method": "sampling/createMessage", "params": SAMPLE},
            "r": {"method": "roots/list"},
        },
    )
    answered = partner.serve("tools/call", COMPLETE)["params"]["inputResponses"]
    calling.result()

    assert answered["e"] == {"action": "decline"}
    assert answered["s"]["content"]["text"] == "words"
    assert answered["r"] == {"roots": [{"uri": "file:///srv"}]}


def test_parallel_calls_keep_their_states_apart(meet: Meet) -> None:
    """MRT-7."""
    client, partner = meet("2026-07-28", on_elicitation=lambda _: {"confirmed": True})
    calls = [Background(lambda name=name: client.call_tool(name)) for name in ("a", "b")]  # type: ignore[misc]
    waiting = [partner.next("tools/call") for _ in calls]
    for request in waiting:
        state = f"state of {request['params']['name']}"
        asked = {"k": {"method": "elicitation/create", "params": QUESTION}}
        partner.answer(request, {"resultType": "input_required", "inputRequests": asked, "requestState": state})
    for _ in calls:
        again = partner.next("tools/call")
        assert again["params"]["requestState"] == f"state of {again['params']['name']}"
        partner.answer(again, COMPLETE)
    for call in calls:
        assert call.result().text == "done"


def test_rounds_have_an_end(meet: Meet) -> None:
    """B202, MRT-11."""
    limits = syncline.Limits(input_rounds=3)
    client, partner = meet("2026-07-28", on_elicitation=lambda _: {"confirmed": True}, limits=limits)
    calling = Background(lambda: client.call_tool("t"))
    for _ in range(4):
        required(partner)

    with pytest.raises(syncline.InputRequired, match=r"Limits\.input_rounds"):
        calling.result()
    assert partner.silent()


def test_what_nobody_handles_is_the_callers_to_answer(meet: Meet) -> None:
    """MRT-8, MRT-15: nothing is sent."""
    client, partner = meet("2026-07-28", on_sampling=lambda _: None)
    calling = Background(lambda: client.call_tool("t"))
    required(partner, requestState="S1")
    with pytest.raises(syncline.InputRequired, match="nothing handles elicitation/create") as caught:
        calling.result()
    assert caught.value.request_state == "S1"
    calling = Background(lambda: client.call_tool("t"))
    required(partner, {"s": {"method": "sampling/createMessage", "params": SAMPLE}})
    with pytest.raises(syncline.InputRequired, match="rejected"):
        calling.result()
    assert partner.silent()


def test_a_handler_that_fails_in_a_round_fails_the_call(meet: Meet) -> None:
    """There is no way to tell the server; the caller is told everything."""

    def fail(_: syncline.ElicitRequest) -> None:
        raise LookupError("no such person")

    client, partner = meet("2026-07-28", on_elicitation=fail)
    calling = Background(lambda: client.call_tool("t"))
    required(partner)

    with pytest.raises(LookupError, match="no such person"):
        calling.result()


def test_the_clock_stands_still_between_rounds(meet: Meet) -> None:
    """TMO-3: human time is nobody's timeout."""
    gate = threading.Event()
    client, partner = meet("2026-07-28", on_elicitation=lambda _: gate.wait(SOON) and {"confirmed": True})
    calling = Background(lambda: client.call_tool("t", timeout=0.3))
    required(partner)
    assert not threading.Event().wait(0.6)
    gate.set()
    partner.serve("tools/call", COMPLETE)

    assert calling.result().text == "done"


@pytest.mark.parametrize(
    "bad", [{}, {"inputRequests": {"k": 7}}, {"inputRequests": {"k": {"method": 7}}}, {"requestState": 7}]
)
def test_a_round_that_asks_nothing_is_invalid(meet: Meet, bad: dict[str, object]) -> None:
    """MRT-2."""
    client, partner = meet("2026-07-28", on_elicitation=lambda _: True)
    calling = Background(lambda: client.call_tool("t"))
    partner.serve("tools/call", {"resultType": "input_required", **bad})

    with pytest.raises(syncline.InvalidResult, match="asks for input in a way"):
        calling.result()

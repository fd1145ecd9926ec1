"""Tasks of both dialects; the test plays the server. The ids are those of the list of requirements: TK-*, L-*."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

import syncline
from syncline.errors import TaskCancelled, TaskExpired
from syncline.protocol.tasks import EXTENSION
from syncline.streams.task import Task
from syncline.streams.tasks import Tasks
from syncline.types import CallToolResult
from tests.fixtures.partner import SOON, Background, Meet, Partner
from tools.fakeserver.mcp_http import McpHttpServer

NEW, OLD = "2026-07-28", "2025-11-25"
START = "2026-11-02T08:00:00Z"
LEGACY: dict[str, object] = {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
DONE = {"content": [{"type": "text", "text": "done"}], "isError": False}
QUESTION = {"method": "elicitation/create", "params": {"mode": "form", "message": "Region?", "requestedSchema": {}}}
QUICK = 50  # the shortest interval that is honoured, in milliseconds


def described(status: str = "working", **more: Any) -> dict[str, Any]:
    """A task of the extension, as ``tasks/get`` answers."""
    task = {"taskId": "t-9f", "status": status, "createdAt": START, "lastUpdatedAt": START, "ttlMs": None}
    return {"resultType": "complete", **task, "pollIntervalMs": QUICK, **more}


def old(status: str = "working", **more: Any) -> dict[str, Any]:
    """A task of 2025-11-25."""
    task = {"taskId": "t-9f", "status": status, "createdAt": START, "lastUpdatedAt": START, "ttl": None}
    return {**task, "pollInterval": QUICK, **more}


def tasks_of(client: syncline.Client, answer: Any = None) -> Tasks:
    return Tasks(client._session, client.list_tools, answer)


def declared(request: Mapping[str, Any]) -> object:
    return request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].get("extensions", {}).get(EXTENSION)


def begin(meet: Meet, answer: Any = None, **more: Any) -> tuple[Task, Partner]:
    """A task of the extension that has just been made."""
    client, partner = meet(NEW)
    tasks = tasks_of(client, answer)
    call = Background(lambda: tasks.call("slow", {"n": 1}))
    partner.serve("tools/call", described(**{"resultType": "task", **more}))
    task = call.result()
    assert isinstance(task, Task)
    return task, partner


def begin_old(meet: Meet, support: str = "optional", **more: Any) -> tuple[Task, Partner, dict[str, Any]]:
    """A task of 2025-11-25 that has just been made, and the request that made it."""
    client, partner = meet(OLD, capabilities=LEGACY)
    call = Background(lambda: tasks_of(client).call("slow", {"n": 1}, ttl=60))
    serve_tools(partner, support)
    request = partner.serve("tools/call", {"task": old(**more)})
    task = call.result()
    assert isinstance(task, Task)
    return task, partner, request


def serve_tools(partner: Partner, support: str | None) -> None:
    execution = {} if support is None else {"execution": {"taskSupport": support}}
    partner.serve("tools/list", {"tools": [{"name": "slow", "inputSchema": {"type": "object"}, **execution}]})


# The extension


def test_the_server_decides_whether_a_call_becomes_a_task(meet: Meet) -> None:
    """TK-1, TK-3: declared for this call alone, no wish is sent, and either kind of result is taken."""
    client, partner = meet(NEW)
    plain = Background(lambda: tasks_of(client).call("slow", {"n": 1}))
    request = partner.serve("tools/call", {"resultType": "complete", **DONE})
    assert isinstance(result := plain.result(), CallToolResult)
    assert (result.text, declared(request), "task" in request["params"]) == ("done", {}, False)

    ordinary = Background(lambda: client.call_tool("slow"))
    assert declared(partner.serve("tools/call", {"resultType": "complete", **DONE})) is None
    ordinary.result()

    call = Background(lambda: tasks_of(client).call("slow"))
    partner.serve("tools/call", described(resultType="task", statusMessage="queued"))
    task = call.result()
    assert isinstance(task, Task)
    assert (task.id, task.status, task.state.message, task.tool) == ("t-9f", "working", "queued", "slow")
    assert repr(task) == "<syncline.Task t-9f of partner: working>"


def test_a_task_that_nobody_asked_for_is_an_invalid_response(meet: Meet) -> None:
    """TK-2: for a request that cannot become a task, and for one that did not declare the extension."""
    client, partner = meet(NEW)
    for call, method in ((client.list_tools, "tools/list"), (lambda: client.call_tool("slow"), "tools/call")):
        waiting = Background[object](call)
        partner.serve(method, described(resultType="task"))
        with pytest.raises(syncline.InvalidResult, match="unknown resultType 'task'"):
            waiting.result()


def test_waiting_ends_with_the_result(meet: Meet) -> None:
    """TK-5, TK-15: until the task is final; a tool that failed is a result like any other."""
    task, partner = begin(meet)
    waiting = Background(task.wait)
    request = partner.serve("tasks/get", described())
    assert (request["params"]["taskId"], declared(request)) == ("t-9f", {})
    partner.serve("tasks/get", described("completed", result={**DONE, "isError": True}))
    result = waiting.result()
    assert (result.text, result.is_error, task.status) == ("done", True, "completed")

    assert task.wait().text == "done"
    assert partner.silent()


def test_the_latest_interval_is_kept(meet: Meet) -> None:
    """TK-4: no request comes sooner, though the interval changes on the way."""
    task, partner = begin(meet, pollIntervalMs=300)
    waiting = Background(task.wait)
    times = [time.monotonic()]
    for interval in (300, QUICK):
        partner.serve("tasks/get", described(pollIntervalMs=interval))
        times.append(time.monotonic())
    partner.serve("tasks/get", described("completed", result=DONE))
    waiting.result()
    assert times[2] - times[1] >= 0.25


def test_several_waits_ask_no_more_often_than_one(meet: Meet) -> None:
    """TK-4: the interval is the task's, not the wait's."""
    task, partner = begin(meet, pollIntervalMs=400)
    waits = [Background(task.wait) for _ in range(3)]
    partner.serve("tasks/get", described("completed", result=DONE, pollIntervalMs=400))
    assert [wait.result().text for wait in waits] == ["done"] * 3
    assert partner.silent()


def test_taking_a_task_up_again(meet: Meet) -> None:
    """TK-6: its id is all that is needed, in another process too."""
    client, partner = meet(NEW)
    again = Background(lambda: tasks_of(client).get("t-9f", tool="slow"))
    request = partner.serve("tasks/get", described("completed", result=DONE))
    assert (request["params"]["taskId"], declared(request)) == ("t-9f", {})
    task = again.result()
    assert (task.tool, task.wait().text) == ("slow", "done")

    unknown = Background(lambda: tasks_of(client).get("t-0"))
    partner.serve("tasks/get", error={"code": -32602, "message": "no such task"})
    with pytest.raises(syncline.InvalidParams):
        unknown.result()


def test_requests_about_a_task_name_it_in_a_header() -> None:
    """TK-7: servers behind a balancer are found by it."""
    with McpHttpServer(versions=[NEW]) as server:
        states = iter([described(), described("completed", result=DONE)])
        server.catalogue.methods["tools/call"] = lambda _: described(resultType="task", taskId="täsk")
        server.catalogue.methods["tasks/get"] = lambda _: {**next(states), "taskId": "täsk"}
        server.catalogue.methods["tasks/cancel"] = lambda _: {"resultType": "complete"}
        server.catalogue.methods["tasks/update"] = lambda _: {"resultType": "complete"}
        with syncline.connect(server.url) as client:
            task = tasks_of(client).call("slow")
            assert isinstance(task, Task)
            task.respond({"k": {"action": "decline"}})
            task.refresh()
            task.cancel()
            assert task.wait().text == "done"
        about = [request for request in server.requests if str(request.rpc).startswith("tasks/")]
        assert [request.rpc for request in about] == ["tasks/update", "tasks/get", "tasks/cancel", "tasks/get"]
        assert {request.header("Mcp-Name") for request in about} == {"=?base64?dMOkc2s=?="}
        assert [request.header("Mcp-Method") for request in about] == [request.rpc for request in about]


def test_a_question_is_answered_once(meet: Meet) -> None:
    """TK-8, TK-10: by ``tasks/update``; the same key comes back until the server has taken the answer in (TK-13)."""
    asked: list[object] = []

    def answer(method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        asked.append((method, params["message"]))
        return {"action": "accept", "content": {"region": "eu"}}

    task, partner = begin(meet, answer)
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("input_required", inputRequests={"k1": QUESTION}))
    update = partner.serve("tasks/update", {"resultType": "complete"})
    accepted = {"action": "accept", "content": {"region": "eu"}}
    assert update["params"]["inputResponses"] == {"k1": accepted}
    assert declared(update) == {}

    partner.serve("tasks/get", described("input_required", inputRequests={"k1": QUESTION}))
    both = {"k1": QUESTION, "k2": QUESTION}
    partner.serve("tasks/get", described("input_required", inputRequests=both))
    assert partner.serve("tasks/update", {"resultType": "complete"})["params"]["inputResponses"] == {"k2": accepted}
    partner.serve("tasks/get", described("completed", result=DONE))
    assert waiting.result().text == "done"
    assert asked == [("elicitation/create", "Region?")] * 2


def test_looking_goes_on_while_a_person_is_asked_and_the_clock_stands_still(meet: Meet) -> None:
    """TK-9, TK-14: the handler has a thread of its own; the wait's timeout does not run against the person."""
    thinking, decided = threading.Event(), threading.Event()

    def answer(_method: str, _params: Mapping[str, object]) -> Mapping[str, object]:
        thinking.set()
        assert decided.wait(SOON)
        return {"action": "decline"}

    task, partner = begin(meet, answer)
    waiting = Background(lambda: task.wait(timeout=1.5))
    asking = described("input_required", inputRequests={"k": QUESTION})
    partner.serve("tasks/get", asking)
    assert thinking.wait(SOON)
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        partner.serve("tasks/get", asking)
    decided.set()
    while (request := partner.next())["method"] == "tasks/get":
        partner.answer(request, asking)
    assert request["params"]["inputResponses"] == {"k": {"action": "decline"}}
    partner.answer(request, {"resultType": "complete"})
    partner.serve("tasks/get", described("completed", result=DONE))
    assert waiting.result().text == "done"


def test_a_handler_that_fails_ends_the_wait_and_is_asked_again_by_the_next(meet: Meet) -> None:
    """TK-9: the failure is the caller's; the task goes on."""
    outcomes: list[Any] = [RuntimeError("no terminal"), {"action": "decline"}]

    def answer(_method: str, _params: Mapping[str, object]) -> Mapping[str, object]:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return dict(outcome)

    task, partner = begin(meet, answer, status="input_required")
    asking = described("input_required", inputRequests={"k": QUESTION}, pollIntervalMs=60_000)
    first = Background(task.refresh)
    partner.serve("tasks/get", asking)
    first.result()
    with pytest.raises(RuntimeError, match="no terminal"):
        task.wait()

    waiting = Background(task.wait)
    assert partner.serve("tasks/update", {"resultType": "complete"})["params"]["inputResponses"].keys() == {"k"}
    done = Background(task.refresh)
    partner.serve("tasks/get", described("completed", result=DONE))
    done.result()
    task._session.connection.close(0)
    with pytest.raises(syncline.ConnectionClosed):
        waiting.result()


def test_without_a_handler_questions_can_be_answered_by_hand(meet: Meet) -> None:
    """TK-8: some now, some later; what was answered is not asked again."""
    task, partner = begin(meet)
    asking = described("input_required", inputRequests={"a": QUESTION, "b": QUESTION})
    waiting = Background(task.wait)
    partner.serve("tasks/get", asking)
    with pytest.raises(syncline.InputRequired, match=r"the task t-9f asks for input.*respond\(\)") as caught:
        waiting.result()
    assert caught.value.requests == {"a": QUESTION, "b": QUESTION}

    responding = Background(lambda: task.respond({"a": {"action": "decline"}}))
    assert partner.serve("tasks/update", {"resultType": "complete"})["params"]["inputResponses"].keys() == {"a"}
    responding.result()
    with pytest.raises(syncline.InputRequired) as caught:
        task.wait()
    assert caught.value.requests.keys() == {"b"}

    responding = Background(lambda: task.respond({"b": {"action": "decline"}}))
    partner.serve("tasks/update", {"resultType": "complete"})
    responding.result()
    waiting = Background(task.wait)
    partner.serve("tasks/get", asking)
    partner.serve("tasks/get", described("completed", result=DONE))
    assert waiting.result().text == "done"


def test_the_handlers_of_the_client_answer(meet: Meet) -> None:
    """TK-9: a task's question is treated like any other; one that nothing handles is the caller's."""
    client, partner = meet(NEW, on_elicitation=lambda request: {"region": request.message})
    call = Background(lambda: client.tasks.call("slow"))
    partner.serve("tools/call", described(resultType="task"))
    task = call.result()
    assert isinstance(task, Task)
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("input_required", inputRequests={"k": QUESTION}))
    answered = partner.serve("tasks/update", {"resultType": "complete"})["params"]["inputResponses"]
    assert answered == {"k": {"action": "accept", "content": {"region": "Region?"}}}
    roots = {"method": "roots/list", "params": {}}
    partner.serve("tasks/get", described("input_required", inputRequests={"r": roots}, pollIntervalMs=60_000))
    with pytest.raises(syncline.InputRequired, match="does not offer roots/list") as caught:
        waiting.result()
    assert caught.value.requests == {"r": roots}


def test_an_answer_that_is_no_json_ends_the_wait(meet: Meet) -> None:
    task, partner = begin(meet, lambda _method, _params: {"when": object()})
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("input_required", inputRequests={"k": QUESTION}, pollIntervalMs=60_000))
    with pytest.raises(syncline.LocalProtocolError, match="answers"):
        waiting.result()
    assert partner.silent()


@pytest.mark.parametrize("question", [{"params": {}}, "Region?", {"method": "elicitation/create", "params": []}])
def test_a_question_that_is_none_ends_the_wait(meet: Meet, question: object) -> None:
    task, partner = begin(meet, lambda _method, _params: {})
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("input_required", inputRequests={"k": question}, pollIntervalMs=60_000))
    with pytest.raises(syncline.InvalidResult):
        waiting.result()


def test_keys_of_earlier_rounds_of_the_call_do_not_count(meet: Meet) -> None:
    """TK-10, TK-11: input for the call itself comes first and by other means; a task may use the same key."""
    client, partner = meet(NEW)
    tasks = tasks_of(client, lambda _method, _params: {"action": "decline"})
    first = Background(lambda: tasks.call("slow"))
    partner.serve("tools/call", {"resultType": "input_required", "inputRequests": {"k": QUESTION}})
    with pytest.raises(syncline.InputRequired):
        first.result()

    second = Background(lambda: tasks.call("slow"))
    partner.serve("tools/call", described("input_required", resultType="task"))
    task = second.result()
    assert isinstance(task, Task)
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("input_required", inputRequests={"k": QUESTION}))
    assert partner.serve("tasks/update", {"resultType": "complete"})["params"]["inputResponses"].keys() == {"k"}
    partner.serve("tasks/get", described("completed", result=DONE))
    waiting.result()


@pytest.mark.parametrize("end", ["cancelled", "completed", "forgotten"])
def test_cancelling_is_a_wish(meet: Meet, end: str) -> None:
    """TK-12, TK-13: no ``notifications/cancelled``; the wait ends with what the task came to, late final states too."""
    task, partner = begin(meet)
    waiting = Background(task.wait)
    cancelling = Background(task.cancel)
    seen = []
    while "tasks/cancel" not in seen:
        request = partner.next()
        seen.append(request["method"])
        partner.answer(request, described() if request["method"] == "tasks/get" else {"resultType": "complete"})
    cancelling.result()
    partner.serve("tasks/get", described())
    if end == "forgotten":
        partner.serve("tasks/get", error={"code": -32602, "message": "no such task"})
    else:
        partner.serve("tasks/get", described(end, **({"result": DONE} if end == "completed" else {})))
    if end == "completed":
        assert waiting.result().text == "done"
    else:
        with pytest.raises(TaskCancelled, match="partner: tools/call: the task t-9f was cancelled") as caught:
            waiting.result()
        assert caught.value.task_id == "t-9f"
    assert set(seen) <= {"tasks/get", "tasks/cancel"}
    task.cancel()
    assert partner.silent()


def test_an_unknown_task_is_an_error_of_its_own(meet: Meet) -> None:
    """TK-14, TK-17: ``-32602`` means that the server does not know it, or not any more."""
    task, partner = begin(meet)
    waiting = Background(task.wait)
    partner.serve("tasks/get", error={"code": -32602, "message": "no such task"})
    with pytest.raises(TaskExpired, match="does not know the task t-9f") as caught:
        waiting.result()
    assert isinstance(caught.value.__cause__, syncline.InvalidParams)

    cancelling = Background(task.cancel)
    partner.serve("tasks/cancel", error={"code": -32602, "message": "no such task"})
    partner.serve("tasks/get", error={"code": -32602, "message": "no such task"})
    with pytest.raises(TaskExpired):
        cancelling.result()


def test_a_task_whose_time_has_passed_is_looked_at_once_more(meet: Meet) -> None:
    """TK-14: news count from the last change; then one more look, whatever the interval."""
    task, partner = begin(meet, ttlMs=30_300, lastUpdatedAt="2026-11-02T08:00:30Z", pollIntervalMs=60_000)
    waiting = Background(task.wait)
    same = described(ttlMs=30_300, lastUpdatedAt="2026-11-02T08:00:30Z", pollIntervalMs=60_000)
    partner.serve("tasks/get", same)
    with pytest.raises(TaskExpired, match=r"has passed \(30\.3 s\)"):
        waiting.result()
    assert partner.silent()


@pytest.mark.parametrize("created", ["yesterday", "2026-11-02T08:00:00"])
def test_bad_dates_do_not_expire_a_task(meet: Meet, created: str) -> None:
    """TK-14: what cannot be told is not held against it."""
    task, partner = begin(meet, createdAt=created, ttlMs=600_000)
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("completed", createdAt=created, ttlMs=600_000, result=DONE))
    assert waiting.result().text == "done"


def test_a_failed_task_raises_its_error(meet: Meet) -> None:
    """TK-15: ``failed`` is a JSON-RPC error, with the class that its code has."""
    task, partner = begin(meet)
    waiting = Background(task.wait)
    error = {"code": -32602, "message": "n is too large", "data": {"n": 1}}
    partner.serve("tasks/get", described("failed", error=error))
    with pytest.raises(syncline.InvalidParams, match="n is too large") as caught:
        waiting.result()
    assert (caught.value.server, caught.value.method, caught.value.data) == ("partner", "tools/call", {"n": 1})


@pytest.mark.parametrize(
    ("status", "problem"), [("completed", "completed without a result"), ("failed", "failed without an error")]
)
def test_an_end_that_brings_nothing_is_an_invalid_result(meet: Meet, status: str, problem: str) -> None:
    task, partner = begin(meet)
    waiting = Background(task.wait)
    for _ in range(2):
        partner.serve("tasks/get", described(status))
    with pytest.raises(syncline.InvalidResult, match=problem):
        waiting.result()


def test_a_task_may_be_over_before_the_call_is_answered(meet: Meet) -> None:
    """TK-1: the answer to the call has no place for a result, so it is asked for."""
    task, partner = begin(meet, status="completed")
    waiting = Background(task.wait)
    partner.serve("tasks/get", described("completed", result=DONE))
    assert waiting.result().text == "done"


def test_the_result_is_held_against_the_output_schema(meet: Meet) -> None:
    """TOL-10 holds for what a task brings, too."""
    client, partner = meet(NEW)
    listing = Background(client.list_tools)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = {"name": "slow", "inputSchema": {"type": "object"}, "outputSchema": schema}
    partner.serve("tools/list", {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [tool]})
    listing.result()
    call = Background(lambda: tasks_of(client).call("slow"))
    bad = {**DONE, "structuredContent": {"n": "x"}}
    partner.serve("tools/call", described("completed", resultType="task"))
    task = call.result()
    assert isinstance(task, Task)
    looking = Background(lambda: tasks_of(client).get("t-9f", tool="slow"))
    partner.serve("tasks/get", described("completed", result=bad))
    with pytest.raises(syncline.InvalidResult, match="breaks the output schema"):
        looking.result().wait()


def test_a_task_that_calls_itself_one_again_is_taken(meet: Meet) -> None:
    """TK-18: ``resultType: "task"`` in an answer to ``tasks/get``, with a finding."""
    task, partner = begin(meet)
    looking = Background(task.refresh)
    partner.serve("tasks/get", described("completed", resultType="task", result=DONE))
    assert looking.result().status == "completed"
    assert [finding.code for finding in task._session.findings.snapshot()] == ["task-result-type"]


def test_what_one_revision_has_the_other_has_not(meet: Meet) -> None:
    """TK-19: ``tasks/list`` is gone in 2026-07-28; there are no tasks before 2025-11-25."""
    client, partner = meet(NEW)
    with pytest.raises(syncline.LocalProtocolError, match=r"does not offer tasks\.list"):
        tasks_of(client).list()
    older, other = meet("2025-06-18")
    with pytest.raises(syncline.LocalProtocolError, match="does not offer tasks"):
        tasks_of(older).get("t-9f")
    call = Background(lambda: tasks_of(older).call("slow", ttl=1))
    assert "task" not in other.serve("tools/call", DONE)["params"]
    assert isinstance(call.result(), CallToolResult)
    assert partner.silent()


def test_a_refused_header_is_mended_by_a_new_listing() -> None:
    """As with ``call_tool``: the server refused before it ran the tool."""
    schema = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    with McpHttpServer(versions=[NEW]) as server, syncline.connect(server.url) as client:
        client.list_tools()
        server.tool("slow", lambda call: "done", inputSchema=schema)
        outcome = client.tasks.call("slow", {"region": "eu"})
        assert isinstance(outcome, CallToolResult)
        assert outcome.text == "done"
        assert [one.rpc for one in server.requests][-3:] == ["tools/call", "tools/list", "tools/call"]


def test_bad_arguments_are_not_sent(meet: Meet) -> None:
    client, partner = meet(NEW)
    with pytest.raises(syncline.LocalProtocolError, match="the name of a tool is text"):
        client.tasks.call(7)  # type: ignore[arg-type]
    with pytest.raises(syncline.LocalProtocolError, match="arguments"):
        client.tasks.call("slow", {"when": object()})
    assert partner.silent()


# Waiting, in both dialects


def test_ctrl_c_ends_a_wait_and_leaves_the_task_alone(meet: Meet) -> None:
    task, partner = begin(meet, pollIntervalMs=400)
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        partner.serve("tasks/get", described(pollIntervalMs=60_000))
        signal.pthread_kill(main, signal.SIGINT)

    interrupting = Background(interrupt)
    with pytest.raises(KeyboardInterrupt):
        task.wait()
    interrupting.result()
    assert partner.silent()
    later = Background(task.refresh)
    partner.serve("tasks/get", described("completed", result=DONE))
    later.result()
    assert task.wait().text == "done"


def test_news_are_reported_and_push_the_timeout_back(meet: Meet) -> None:
    told: list[tuple[float, float | None, str | None]] = []
    task, partner = begin(meet, statusMessage="queued")
    waiting = Background(lambda: task.wait(timeout=1.5, on_progress=lambda *news: told.append(news)))
    for step in range(4):
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            partner.serve("tasks/get", described(statusMessage=f"step {step}"))
    partner.serve("tasks/get", described("completed", result=DONE))
    waiting.result()
    assert told == [(0.0, None, word) for word in ("queued", "step 0", "step 1", "step 2", "step 3", None)]


def test_a_wait_that_times_out_leaves_the_task_alone(meet: Meet) -> None:
    task, partner = begin(meet, pollIntervalMs=60_000)
    with pytest.raises(syncline.RequestTimeout, match="partner: tools/call: the task t-9f is still working"):
        task.wait(timeout=0.1)
    assert partner.silent()


def test_closing_the_client_ends_a_wait(meet: Meet) -> None:
    client, partner = meet(NEW)
    call = Background(lambda: tasks_of(client).call("slow"))
    partner.serve("tools/call", described(resultType="task", pollIntervalMs=60_000))
    task = call.result()
    assert isinstance(task, Task)
    waiting = Background(task.wait)
    client.close()
    with pytest.raises(syncline.ConnectionClosed, match="partner: tools/call"):
        waiting.result()
    with pytest.raises(syncline.ConnectionClosed):
        task.wait()


def test_losing_the_connection_ends_a_wait(meet: Meet) -> None:
    task, partner = begin(meet, pollIntervalMs=60_000)
    waiting = Background(task.wait)
    partner.peer.close()
    with pytest.raises(syncline.ConnectionLost):
        waiting.result()


def test_a_final_task_stays_final(meet: Meet) -> None:
    """TK-13: an answer that was overtaken changes nothing."""
    task, partner = begin(meet)
    first, second = Background(task.refresh), Background(task.refresh)
    late, soon = partner.next("tasks/get"), partner.next("tasks/get")
    partner.answer(soon, described("completed", result=DONE))
    partner.answer(late, described())
    assert {first.result().status, second.result().status} <= {"completed", "working"}
    assert task.status == "completed"


# 2025-11-25


def test_a_task_is_asked_for_where_server_and_tool_allow_it(meet: Meet) -> None:
    """L-1, L-3, L-5: the tools are listed first; ``ttl`` is a wish, and what the server says holds."""
    task, partner, request = begin_old(meet, "required", ttl=5000)
    assert request["params"]["task"] == {"ttl": 60_000}
    assert (task.id, task.state.ttl) == ("t-9f", 5.0)

    waiting = Background(task.wait)
    get = partner.serve("tasks/get", old(ttl=5000))
    assert get["params"] == {"taskId": "t-9f"}
    partner.serve("tasks/get", old("completed", ttl=5000))
    partner.serve("tasks/result", {**DONE, "_meta": {"io.modelcontextprotocol/related-task": {"taskId": "t-9f"}}})
    assert waiting.result().text == "done"


@pytest.mark.parametrize("support", ["forbidden", None])
def test_no_task_is_asked_for_where_the_tool_has_none(meet: Meet, support: str | None) -> None:
    """L-1: absent means forbidden."""
    client, partner = meet(OLD, capabilities=LEGACY)
    call = Background(lambda: tasks_of(client).call("slow"))
    serve_tools(partner, support)
    assert "task" not in partner.serve("tools/call", DONE)["params"]
    assert isinstance(call.result(), CallToolResult)


def test_no_task_is_asked_for_where_the_server_declares_none(meet: Meet) -> None:
    """L-1: and then nothing needs to be listed."""
    client, partner = meet(OLD)
    call = Background(lambda: tasks_of(client).call("slow"))
    assert "task" not in partner.serve("tools/call", DONE)["params"]
    assert isinstance(call.result(), CallToolResult)


def test_a_server_may_answer_at_once_all_the_same(meet: Meet) -> None:
    client, partner = meet(OLD, capabilities=LEGACY)
    call = Background(lambda: tasks_of(client).call("slow"))
    serve_tools(partner, "optional")
    partner.serve("tools/call", DONE)
    assert isinstance(call.result(), CallToolResult)


def test_the_older_interval_is_kept(meet: Meet) -> None:
    """L-2"""
    task, partner, _ = begin_old(meet, pollInterval=300)
    began = time.monotonic()
    waiting = Background(task.wait)
    partner.serve("tasks/get", old("completed"))
    assert time.monotonic() - began >= 0.25
    partner.serve("tasks/result", DONE)
    waiting.result()


def test_input_is_asked_for_while_the_result_is_awaited(meet: Meet) -> None:
    """L-4: ``tasks/result`` is sent as soon as input is required, and its wait holds up no question."""
    task, partner, _ = begin_old(meet)
    told: list[object] = []
    waiting = Background(lambda: task.wait(on_progress=lambda *news: told.append(news)))
    partner.serve("tasks/get", old("input_required", statusMessage="asking"))
    fetching = partner.next("tasks/result")
    partner.send(id="q1", method="roots/list", params={"_meta": {"io.modelcontextprotocol/related-task": {}}})
    assert partner.next()["id"] == "q1"
    token = fetching["params"]["_meta"]["progressToken"]
    partner.send(method="notifications/progress", params={"progressToken": token, "progress": 1, "total": 2})
    partner.answer(fetching, DONE)
    assert waiting.result().text == "done"
    assert told == [(0.0, None, None), (0.0, None, "asking"), (1, 2, None)]
    with pytest.raises(syncline.LocalProtocolError, match="ask over the connection"):
        task.respond({})


def test_an_older_failure_comes_with_the_result(meet: Meet) -> None:
    """``isError`` has the status ``failed``; so has a JSON-RPC error, which the result's request then brings."""
    task, partner, _ = begin_old(meet)
    waiting = Background(task.wait)
    partner.serve("tasks/get", old("failed"))
    partner.serve("tasks/result", {**DONE, "isError": True})
    assert waiting.result().is_error

    again = Background(task.wait)
    partner.serve("tasks/result", error={"code": -32602, "message": "n is too large"})
    partner.serve("tasks/get", old("failed"))
    with pytest.raises(syncline.InvalidParams, match="n is too large"):
        again.result()


def test_cancelling_an_older_task(meet: Meet) -> None:
    """The answer is the task itself; ``-32602`` says that it had ended."""
    task, partner, _ = begin_old(meet)
    cancelling = Background(task.cancel)
    partner.serve("tasks/cancel", old("cancelled", statusMessage="as you wish"))
    cancelling.result()
    with pytest.raises(TaskCancelled, match="as you wish"):
        task.wait()

    other, partner, _ = begin_old(meet)
    cancelling = Background(other.cancel)
    partner.serve("tasks/cancel", error={"code": -32602, "message": "it has ended"})
    partner.serve("tasks/get", old("completed"))
    cancelling.result()
    waiting = Background(other.wait)
    partner.serve("tasks/result", DONE)
    assert waiting.result().text == "done"


def test_listing_and_taking_up_older_tasks(meet: Meet) -> None:
    client, partner = meet(OLD, capabilities=LEGACY)
    listing = Background(tasks_of(client).list)
    partner.serve("tasks/list", {"tasks": [old()], "nextCursor": "2"})
    assert partner.serve("tasks/list", {"tasks": [old("completed", taskId="t-2")]})["params"] == {"cursor": "2"}
    assert [(task.id, task.status) for task in listing.result()] == [("t-9f", "working"), ("t-2", "completed")]

    taking = Background(lambda: tasks_of(client).get("t-2"))
    partner.serve("tasks/get", old("completed", taskId="t-2"))
    task = taking.result()
    waiting = Background(task.wait)
    assert partner.serve("tasks/result", DONE)["params"] == {"taskId": "t-2"}
    assert waiting.result().text == "done"


def test_no_tasks_of_ours_are_offered(meet: Meet) -> None:
    """L-6: we run no tasks for servers, so the capability is not declared."""
    client, _ = meet(OLD, capabilities=LEGACY)
    assert "tasks" not in client._session.connection.identity.capabilities

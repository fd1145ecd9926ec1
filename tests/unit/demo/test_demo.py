"""The demo server, from its lines: both eras, every method, and whatever else comes down the pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline.demo.server import Server, serve
from syncline.serving import HANDSHAKE, META, REVISIONS, STATELESS

SCHEMAS = Path(__file__).parents[3] / "schema"
ENVELOPE = {META + "protocolVersion": STATELESS, META + "clientCapabilities": {}}
PROMPT = {"type": "ref/prompt", "name": "brief"}
#: Requests that every revision has, and the definition of their results.
REQUESTS: list[tuple[str, dict[str, Any], str]] = [
    ("tools/list", {}, "ListToolsResult"),
    ("tools/list", {"cursor": "3"}, "ListToolsResult"),
    ("tools/call", {"name": "add", "arguments": {"a": 2, "b": 3.5}}, "CallToolResult"),
    ("tools/call", {"name": "forecast", "arguments": {"city": "Oslo"}}, "CallToolResult"),
    ("tools/call", {"name": "forecast", "arguments": {"city": "Atlantis"}}, "CallToolResult"),
    ("tools/call", {"name": "fail"}, "CallToolResult"),
    ("resources/list", {}, "ListResourcesResult"),
    ("resources/templates/list", {}, "ListResourceTemplatesResult"),
    ("resources/read", {"uri": "demo://greeting"}, "ReadResourceResult"),
    ("resources/read", {"uri": "demo://pixel"}, "ReadResourceResult"),
    ("resources/read", {"uri": "demo://forecast/Lima"}, "ReadResourceResult"),
    ("prompts/list", {}, "ListPromptsResult"),
    ("prompts/get", {"name": "brief", "arguments": {"city": "Oslo", "tone": "dry"}}, "GetPromptResult"),
    ("completion/complete", {"ref": PROMPT, "argument": {"name": "tone", "value": "D"}}, "CompleteResult"),
]
NEWER = {"title", "outputSchema", "structuredContent", "annotations", "completions"}


class Wire:
    """A server and what it wrote, without the pipe between."""

    def __init__(self, revision: str | None = None) -> None:
        self.said: list[dict[str, Any]] = []
        self.server = Server(lambda line: self.said.append(json.loads(line)))
        self.revision = revision
        self.ids = 0
        if revision in HANDSHAKE:
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            self.greeting = self.ask("initialize", params)["result"]
            self.tell("notifications/initialized")

    def line(self, message: object) -> list[dict[str, Any]]:
        """Send one message; what was said since."""
        before = len(self.said)
        self.server.receive(json.dumps(message).encode())
        return self.said[before:]

    def tell(self, method: str, **params: object) -> None:
        assert self.line({"jsonrpc": "2.0", "method": method, "params": params}) == []

    def send(self, method: str, params: dict[str, Any] | None = None, **meta: Any) -> list[dict[str, Any]]:
        envelope = ENVELOPE | meta if self.revision == STATELESS else meta
        self.ids += 1
        return self.line(
            {"jsonrpc": "2.0", "id": self.ids, "method": method, "params": {**(params or {}), "_meta": envelope}}
        )

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self.send(method, params)[-1]
        assert answer["id"] == self.ids
        return answer

    def code(self, method: str, params: dict[str, Any] | None = None) -> int:
        code: int = self.ask(method, params)["error"]["code"]
        return code

    def finish(self) -> list[dict[str, Any]]:
        """Let running tools come to their end; all that was said."""
        while self.server.pause() is not None:
            self.server.step()
        return self.said


def validator(revision: str, definition: str) -> jsonschema_rs.Validator:
    schema = json.loads((SCHEMAS / revision / "schema.json").read_text())
    container = "$defs" if "$defs" in schema else "definitions"
    return jsonschema_rs.validator_for({**schema, "$ref": f"#/{container}/{definition}"})


@pytest.mark.parametrize("revision", REVISIONS)
class TestEveryRevision:
    def test_results_fit_the_published_schema(self, revision: str) -> None:
        wire = Wire(revision)
        for method, params, definition in REQUESTS:
            validator(revision, definition).validate(wire.ask(method, params)["result"])

    def test_older_revisions_see_no_newer_fields(self, revision: str) -> None:
        wire = Wire(revision)
        seen = json.dumps([wire.ask(method, params)["result"] for method, params, _ in REQUESTS])
        assert {name for name in NEWER if f'"{name}"' in seen} == {
            "2024-11-05": set(),
            "2025-03-26": {"annotations"},
        }.get(revision, NEWER - {"completions"})

    def test_pages_join_to_the_whole_list(self, revision: str) -> None:
        wire = Wire(revision)
        first = wire.ask("tools/list")["result"]
        second = wire.ask("tools/list", {"cursor": first["nextCursor"]})["result"]
        assert [tool["name"] for tool in first["tools"] + second["tools"]] == ["add", "countdown", "fail", "forecast"]
        assert "nextCursor" not in second

    def test_progress_and_log_messages_come_before_the_result(self, revision: str) -> None:
        wire = Wire(revision)
        if revision in HANDSHAKE:
            assert wire.ask("logging/setLevel", {"level": "info"})["result"] == {}
        level = {META + "logLevel": "info"} if revision == STATELESS else {}
        before = len(wire.said)
        wire.send(
            "tools/call", {"name": "countdown", "arguments": {"start": 3, "delay": 0}}, progressToken="t", **level
        )
        *notifications, answer = wire.finish()[before:]
        assert [n["method"] for n in notifications] == ["notifications/message"] + ["notifications/progress"] * 3
        assert [n["params"]["progress"] for n in notifications[1:]] == [1, 2, 3]
        assert {n["params"]["progressToken"] for n in notifications[1:]} == {"t"}
        assert ("message" in notifications[1]["params"]) == (revision != "2024-11-05")
        assert answer["result"]["content"] == [{"type": "text", "text": "lift-off"}]

    def test_nothing_is_reported_that_was_not_asked_for(self, revision: str) -> None:
        wire = Wire(revision)
        before = len(wire.said)
        wire.send("tools/call", {"name": "countdown", "arguments": {"start": 2, "delay": 0}})
        assert [message.get("method") for message in wire.finish()[before:]] == [None]

    def test_a_cancelled_call_is_not_answered_and_its_id_is_free_again(self, revision: str) -> None:
        wire = Wire(revision)
        assert wire.send("tools/call", {"name": "countdown", "arguments": {"delay": 60}}) == []
        wire.tell("notifications/cancelled", requestId=wire.ids)
        assert wire.server.pause() is None
        wire.ids -= 1
        assert "result" in wire.ask("prompts/list")

    def test_other_requests_are_served_while_a_tool_runs(self, revision: str) -> None:
        wire = Wire(revision)
        assert wire.send("tools/call", {"name": "countdown", "arguments": {"delay": 60}}) == []
        assert "result" in wire.ask("tools/list")

    @pytest.mark.parametrize(
        ("method", "params", "code"),
        [
            ("tools/crawl", {}, -32601),
            ("tools/call", {"name": "nothing"}, -32602),
            ("tools/call", {"name": "add", "arguments": None}, -32602),
            ("tools/call", {}, -32602),
            ("tools/list", {"cursor": ""}, -32602),
            ("tools/list", {"cursor": 3}, -32602),
            ("prompts/get", {"name": "nothing"}, -32602),
            ("prompts/get", {"name": "brief"}, -32602),
            ("prompts/get", {"name": "brief", "arguments": {"city": "Oslo", "tone": 1}}, -32602),
            ("completion/complete", {"ref": PROMPT, "argument": {"name": "none", "value": ""}}, -32602),
        ],
    )
    def test_refusals(self, revision: str, method: str, params: dict[str, Any], code: int) -> None:
        assert Wire(revision).code(method, params) == code

    def test_bad_arguments_are_the_tools_failure(self, revision: str) -> None:
        result = Wire(revision).ask("tools/call", {"name": "add", "arguments": {"a": "1", "c": 2}})["result"]
        assert result["isError"]
        assert result["content"][0]["text"] == "Bad arguments: b is missing; a is not of type number; c is not known"

    @pytest.mark.parametrize(("a", "b"), [(1e308, 1e308), (10**400, 0.5), (10**4299 * 9, 10**4299 * 9)])
    def test_a_sum_beyond_json_is_the_tools_failure(self, revision: str, a: float, b: float) -> None:
        result = Wire(revision).ask("tools/call", {"name": "add", "arguments": {"a": a, "b": b}})["result"]
        assert result["isError"]

    def test_a_missing_resource_has_the_code_of_the_revision(self, revision: str) -> None:
        error = Wire(revision).ask("resources/read", {"uri": "demo://none"})["error"]
        assert error["code"] == (-32602 if revision == STATELESS else -32002)
        assert error["data"] == {"uri": "demo://none"}


class TestHandshake:
    @pytest.mark.parametrize("revision", HANDSHAKE)
    def test_the_offered_revision_is_taken(self, revision: str) -> None:
        greeting = Wire(revision).greeting
        assert greeting["protocolVersion"] == revision
        validator(revision, "InitializeResult").validate(greeting)
        assert ("completions" in greeting["capabilities"]) == (revision != "2024-11-05")

    @pytest.mark.parametrize("offered", [STATELESS, "1999-01-01"])
    def test_another_revision_is_answered_with_the_newest_that_has_a_handshake(self, offered: str) -> None:
        assert Wire().ask("initialize", {"protocolVersion": offered})["result"]["protocolVersion"] == HANDSHAKE[0]

    def test_only_ping_goes_before_it(self) -> None:
        wire = Wire()
        assert wire.ask("ping")["result"] == {}
        assert wire.code("tools/list") == -32602

    def test_methods_of_the_other_era_do_not_exist(self) -> None:
        assert Wire(HANDSHAKE[0]).code("server/discover") == -32601
        assert {Wire(STATELESS).code(method) for method in ("initialize", "ping", "logging/setLevel")} == {-32601}

    def test_levels_are_checked_and_obeyed(self) -> None:
        wire = Wire(HANDSHAKE[0])
        assert wire.code("logging/setLevel", {"level": "loud"}) == -32602
        assert [m.get("method") for m in wire.send("tools/call", {"name": "fail"})] == ["notifications/message", None]
        wire.ask("logging/setLevel", {"level": "emergency"})
        assert [m.get("method") for m in wire.send("tools/call", {"name": "fail"})] == [None]

    def test_batches_belong_to_one_revision(self) -> None:
        ping = {"jsonrpc": "2.0", "id": "a", "method": "ping"}
        assert Wire("2025-03-26").line([ping, ping | {"id": "b"}]) == [
            {"jsonrpc": "2.0", "id": "a", "result": {}},
            {"jsonrpc": "2.0", "id": "b", "result": {}},
        ]
        assert [m["error"]["code"] for m in Wire("2025-06-18").line([ping])] == [-32600]


class TestStateless:
    def test_discovery(self) -> None:
        result = Wire(STATELESS).ask("server/discover")["result"]
        validator(STATELESS, "DiscoverResult").validate(result)
        assert result["supportedVersions"] == list(REVISIONS)
        assert result["_meta"][META + "serverInfo"]["name"] == "syncline-demo"

    @pytest.mark.parametrize("revision", ["2025-11-25", "2099-01-01", 7])
    def test_a_revision_that_is_not_served(self, revision: Any) -> None:
        [answer] = Wire(STATELESS).send("tools/list", **{META + "protocolVersion": revision})
        assert answer["error"]["code"] == -32022
        assert answer["error"]["data"] == {"supported": list(REVISIONS), "requested": revision}

    @pytest.mark.parametrize("broken", [{META + "clientCapabilities": None}, {META + "logLevel": "loud"}])
    def test_a_broken_envelope(self, broken: dict[str, Any]) -> None:
        [answer] = Wire(STATELESS).send("tools/list", **broken)
        assert answer["error"]["code"] == -32602

    def test_both_eras_share_a_connection(self) -> None:
        wire = Wire("2024-11-05")
        assert "resultType" not in wire.ask("tools/list")["result"]
        wire.revision = STATELESS
        assert wire.ask("tools/list")["result"]["resultType"] == "complete"


class TestBadLines:
    @pytest.mark.parametrize(
        ("line", "answer"),
        [
            (b"hello", (None, -32700)),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping"', (None, -32700)),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', (None, -32700)),
            (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', (None, -32700)),
            (b"[" * 100_000, (None, -32700)),
            (b"[]", (None, -32600)),
            (b"7", (None, -32600)),
            (b'{"id":1,"method":"ping"}', (1, -32600)),
            (b'{"jsonrpc":"2.0","id":1}', (1, -32600)),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (None, -32600)),
            (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', (None, -32600)),
            (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', (None, -32600)),
            (b'{"jsonrpc":"2.0","id":"\\ud800","method":"none"}', ("\ud800", -32601)),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', (1, -32602)),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":3}}', (1, -32602)),
        ],
    )
    def test_are_answered(self, line: bytes, answer: tuple[object, int]) -> None:
        wire = Wire()
        wire.server.receive(line)
        assert [(m.get("id"), m["error"]["code"]) for m in wire.said] == [answer]

    @pytest.mark.parametrize(
        "line",
        [
            b"\n",
            b'{"jsonrpc":"2.0","id":1,"result":{}}',
            b'{"jsonrpc":"2.0","method":"notifications/whatever","params":3}',
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
        ],
    )
    def test_or_ignored_where_nothing_waits(self, line: bytes) -> None:
        wire = Wire()
        wire.server.receive(line)
        assert wire.said == []

    def test_an_id_in_use_is_refused(self) -> None:
        wire = Wire(STATELESS)
        wire.send("tools/call", {"name": "countdown", "arguments": {"delay": 60}})
        wire.ids -= 1
        assert wire.code("tools/list") == -32600

    @given(
        st.one_of(
            st.binary(),
            st.recursive(
                st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
                lambda inner: (
                    st.lists(inner)
                    | st.dictionaries(
                        st.sampled_from(["jsonrpc", "id", "method", "params", "_meta", "name", "arguments", "cursor"]),
                        inner,
                    )
                ),
            ).map(lambda value: json.dumps(value).encode()),
        )
    )
    def test_never_end_the_connection(self, line: bytes) -> None:
        wire = Wire(HANDSHAKE[0])
        wire.server.receive(line)
        assert wire.ask("ping")["result"] == {}


class TestServing:
    def test_ends_with_its_lines(self) -> None:
        said: list[bytes] = []
        call = {"name": "countdown", "arguments": {"delay": 60}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, "_meta": ENVELOPE}}
        serve([b"?\n", json.dumps(request).encode() + b"\n"], said.append)
        assert len(said) == 1

    def test_over_a_real_pipe(self) -> None:
        call = {"name": "countdown", "arguments": {"start": 2, "delay": 0.01}}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, "_meta": ENVELOPE}}
        with subprocess.Popen(
            [sys.executable, "-m", "syncline.demo"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b"noise\n" + json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline()) for _ in range(2)]
            out, err = process.communicate(timeout=30)
        assert [answer.get("id") for answer in answers] == [None, 1]
        assert (process.returncode, out, err) == (0, b"", b"")

    def test_a_client_that_hangs_up_leaves_no_noise(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-m", "syncline.demo"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            _, err = process.communicate(b"noise\n", timeout=30)
        assert (process.returncode, err) == (0, b"")

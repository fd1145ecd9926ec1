from __future__ import annotations

import json
import math
from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncline.errors import LocalProtocolError
from syncline.protocol.events import Notification, ServerRequest, Tolerated
from syncline.protocol.jsonrpc import (
    KEPT,
    MAX_DEPTH,
    Answer,
    Malformed,
    Message,
    RpcError,
    check_json,
    decode,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)

ids = st.integers() | st.text(st.characters(exclude_categories=["Cs"]))
texts = st.text(st.characters(exclude_categories=["Cs"]))
#: Integers as far as Python writes them by default.
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**60), 10**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20)
objects = st.dictionaries(texts, values, max_size=5)


def one(data: bytes) -> Message:
    (found,) = decode(data)
    return found


def message(**members: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (message(id=1, method="ping"), ServerRequest(1, "ping", {})),
        (message(id="1", method="ping", params={}), ServerRequest("1", "ping", {})),
        (message(id="", method="ping", params=[1]), ServerRequest("", "ping", {})),
        (message(method="notifications/x", params=None), Notification("notifications/x", {})),
        (message(method="notifications/x", params={"a": 1}), Notification("notifications/x", {"a": 1})),
        (message(id=1, result={"a": None}), Answer(1, {"a": None}, None)),
        (message(id="1", result={}), Answer("1", {}, None)),
        (message(id=-(10**30), result={}), Answer(-(10**30), {}, None)),
        (message(id=3, error={"code": -32601, "message": "no"}), Answer(3, None, RpcError(-32601, "no", None))),
        (message(id=None, error={"code": 0, "message": "", "data": []}), Answer(None, None, RpcError(0, "", []))),
        (message(error={"code": 1, "message": "m"}), Answer(None, None, RpcError(1, "m", None))),
        (b' \t{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}\r', Answer(1, {"a": 2}, None)),
    ],
)
def test_messages(data: bytes, expected: Message) -> None:
    assert one(data) == expected


@pytest.mark.parametrize(
    ("data", "reason", "answered"),
    [
        (b"", "not JSON", None),
        (b"Server listening on port 3000", "not JSON", None),
        (b'{"jsonrpc":"2.0","id":1,"res', "not JSON", None),
        (b"123", "not a JSON object", None),
        (b'"text"', "not a JSON object", None),
        (b"null", "not a JSON object", None),
        (b'{"id":1,"result":{}}', "jsonrpc", 1),
        (b'{"jsonrpc":2.0,"id":1,"result":{}}', "jsonrpc", 1),
        (b'{"jsonrpc":"1.0","id":[],"result":{}}', "jsonrpc", None),
        (message(), "no result", None),
        (message(id=None), "no result", None),
        (message(id=4), "no result", 4),
        (message(id=4, result=None), "no result", 4),
        (message(id=4, result=[]), "no result", 4),
        (message(id=4, result="ok"), "no result", 4),
        (message(id=4, result={}, error={"code": 1, "message": ""}), "both a result and an error", 4),
        (message(result={}), "without an integer or string id", None),
        (message(id=None, result={}), "without an integer or string id", None),
        (message(id=True, result={}), "without an integer or string id", None),
        (message(id=1.0, result={}), "without an integer or string id", None),
        (message(id=[1], result={}), "without an integer or string id", None),
        (message(id=1.0, error={"code": 1, "message": ""}), "the id is neither", None),
        (message(id=False, error={"code": 1, "message": ""}), "the id is neither", None),
        (message(id=5, error="broken"), "without an integer code", 5),
        (message(id=5, error={"code": "1", "message": ""}), "without an integer code", 5),
        (message(id=5, error={"code": 1.0, "message": ""}), "without an integer code", 5),
        (message(id=5, error={"code": True, "message": ""}), "without an integer code", 5),
        (message(id=5, error={"message": ""}), "without an integer code", 5),
        (message(method=7), "the method is not a string", None),
        (message(id=1, method=None), "the method is not a string", None),
        (message(id=1, method="ping", result={}), "both a call and an answer", None),
        (message(id=1, method="ping", error={}), "both a call and an answer", None),
        (message(method="x", params="text"), "the params are neither", None),
        (message(method="x", params=0), "the params are neither", None),
        (message(id=None, method="x"), "the id is neither", None),
        (message(id=1.0, method="x"), "the id is neither", None),
        (message(id=True, method="x"), "the id is neither", None),
        (message(id={}, method="x"), "the id is neither", None),
    ],
)
def test_what_is_not_a_message_says_why(data: bytes, reason: str, answered: int | str | None) -> None:
    """B081, B117: noise and broken messages are values, never exceptions."""
    found = one(data)
    assert isinstance(found, Malformed)
    assert reason in found.reason
    assert found.id == answered


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"\\ud800"}}',
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","id":1,"result":{}}{}',
        b"\x00",
    ],
    ids=["lists", "objects", "digits", "NaN", "Infinity", "UTF-8", "surrogate", "BOMs", "two texts", "NUL"],
)
def test_absurd_input_is_malformed(data: bytes) -> None:
    """B087: nested lists, endless integers, NaN and invalid UTF-8 stay within their line."""
    found = one(data)
    assert isinstance(found, Malformed)
    assert found.reason.startswith("not JSON: ")
    assert isinstance(found.raw, bytes)
    assert found.raw in data
    assert len(found.raw) <= KEPT


def test_a_byte_order_mark_is_forgiven_with_a_note() -> None:
    """B087: a BOM at the start of a line."""
    assert decode(b"\xef\xbb\xbf" + encode_result(1, {})) == [Tolerated("bom", "message", ""), Answer(1, {}, None)]


def test_a_notification_has_an_object_or_nothing() -> None:
    """It is dropped, and said so."""
    assert one(message(method="notifications/x", params=[1])) == Tolerated(
        "notification-params", "notifications/x", [1]
    )


@pytest.mark.parametrize(
    ("data", "expected", "note"),
    [
        (message(id=1, result={"a": 1}, error=None), Answer(1, {"a": 1}, None), "null-member"),
        (
            message(id=1, result=None, error={"code": 1, "message": "m"}),
            Answer(1, None, RpcError(1, "m", None)),
            "null-member",
        ),
        (message(id=1, error={"code": 1}), Answer(1, None, RpcError(1, "", None)), "error-message"),
        (message(id=1, error={"code": 1, "message": 5}), Answer(1, None, RpcError(1, "", None)), "error-message"),
    ],
)
def test_what_is_forgiven_leaves_a_note(data: bytes, expected: Message, note: str) -> None:
    assert decode(data) == [Tolerated(note, "message", ""), expected]


def test_a_batch_is_decoded_element_by_element() -> None:
    """B122: a batch mixes all kinds, and a bad element does not spoil the others."""
    data = b"[%s,7,%s]" % (message(method="notifications/x"), message(id=1, result={}, error=None))
    assert decode(data) == [
        Tolerated("batch", "message", "3 messages in an array"),
        Tolerated("null-member", "message", ""),
        Notification("notifications/x", {}),
        Malformed("not a JSON object", 7),
        Answer(1, {}, None),
    ]


def test_an_empty_batch_is_malformed() -> None:
    batch, empty = decode(b"[]")
    assert empty == Malformed("an empty batch", [])
    assert batch == Tolerated("batch", "message", "0 messages in an array")


@settings(deadline=None)
@given(st.binary())
def test_decoding_bytes_never_raises(data: bytes) -> None:
    assert decode(data)


rpc_errors = st.fixed_dictionaries({}, optional={"code": st.integers() | scalars, "message": scalars, "data": values})
near_messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": ids | scalars,
        "method": texts | scalars,
        "params": objects | values,
        "result": objects | values,
        "error": rpc_errors | values,
    },
)


@settings(deadline=None)
@given(near_messages | st.lists(near_messages))
def test_decoding_what_is_nearly_a_message_never_raises(value: object) -> None:
    decoded = decode(json.dumps(value).encode())
    assert any(found.code == "batch" for found in decoded if isinstance(found, Tolerated)) == isinstance(value, list)
    for found in decoded:
        assert not isinstance(found, Answer) or (found.result is None) != (found.error is None)


@settings(deadline=None)
@given(ids, texts, st.none() | objects)
def test_requests_survive_the_round_trip(request_id: int | str, method: str, params: dict[str, object] | None) -> None:
    frame = encode_request(request_id, method, params)
    assert b"\n" not in frame
    assert one(frame) == ServerRequest(request_id, method, params or {})


@settings(deadline=None)
@given(texts, st.none() | objects)
def test_notifications_survive_the_round_trip(method: str, params: dict[str, object] | None) -> None:
    assert one(encode_notification(method, params)) == Notification(method, params or {})


@settings(deadline=None)
@given(ids, objects)
def test_results_survive_the_round_trip(request_id: int | str, result: dict[str, object]) -> None:
    assert one(encode_result(request_id, result)) == Answer(request_id, result, None)


@settings(deadline=None)
@given(ids | st.none(), st.integers(), texts, values)
def test_errors_survive_the_round_trip(request_id: int | str | None, code: int, text: str, data: object) -> None:
    assert one(encode_error(request_id, code, text, data)) == Answer(request_id, None, RpcError(code, text, data))


def test_frames_are_compact_utf8() -> None:
    assert encode_request(1, "tools/call", {"name": "日本", "arguments": {"a": (1, None)}}) == (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"日本","arguments":{"a":[1,null]}}}'.encode()
    )
    assert encode_error(None, -32700, "x") == b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}'


@pytest.mark.parametrize("value", [object(), "\ud800"])
def test_encoding_what_is_not_json_is_our_own_error(value: object) -> None:
    with pytest.raises(LocalProtocolError, match="cannot be written as JSON"):
        encode_notification("x", {"a": value})


class Colour(IntEnum):
    RED = 1


class Text(str):
    __slots__ = ()


@settings(deadline=None)
@given(values)
def test_json_passes_and_arrives_as_it_is(value: object) -> None:
    check_json(value, "arguments")
    assert one(encode_result(1, {"value": value})) == Answer(1, {"value": value}, None)


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (Colour.RED, 1),
        (Text("é"), "é"),
        (OrderedDict(a=True), {"a": True}),
        ({"a": "plain", "b": "é"}, {"a": "plain", "b": "é"}),
        ((1, (2,)), [1, [2]]),
        (1 << 64, 1 << 64),
        (-(1 << 63), -(1 << 63)),
        (1e308, 1e308),
    ],
)
def test_what_json_can_carry_passes(value: object, arrives: object) -> None:
    check_json(value, "arguments")
    assert one(encode_result(1, {"value": value})) == Answer(1, {"value": arrives}, None)


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


def test_the_deepest_value_that_passes_can_be_encoded() -> None:
    check_json(nested(MAX_DEPTH), "arguments")
    assert encode_notification("x", {"a": nested(MAX_DEPTH)})


cyclic_list: list[object] = []
cyclic_list.append(cyclic_list)
cyclic_dict: dict[str, object] = {}
cyclic_dict["again"] = [cyclic_dict]


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (math.nan, "arguments is nan"),
        ({"filter": [0, "é", math.inf]}, "arguments.filter[2] is inf"),
        ({"filter": {"a": -math.inf}}, "arguments.filter.a is -inf"),
        ({"a": {1: 2}}, "arguments.a has the key 1"),
        ({None: 2}, "arguments has the key None"),
        ([{"a": b"bytes"}], "arguments[0].a is of type bytes"),
        ({"a": {1, 2}}, "arguments.a is of type set"),
        ([1, object()], "arguments[1] is of type object"),
        ({"a": "\ud800"}, "arguments.a holds a lone surrogate"),
        ({"\ud800": 1}, "has the key '\\ud800', which holds a lone surrogate"),
        ({"\udfff": 1}, "arguments has the key '\\udfff'"),
        ([10**5000], "arguments[0] is an integer of too many digits"),
        (nested(MAX_DEPTH + 1), "nested over 200 levels"),
        ([nested(MAX_DEPTH)], "nested over 200 levels"),
        (cyclic_list, "contains itself"),
        (cyclic_dict, "contains itself"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_json_cannot_carry_is_named_with_its_place(value: object, complaint: str) -> None:
    with pytest.raises(LocalProtocolError) as caught:
        check_json(value, "arguments")
    assert complaint in str(caught.value)

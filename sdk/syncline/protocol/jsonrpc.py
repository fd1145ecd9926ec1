"""JSON-RPC 2.0 (https://www.jsonrpc.org/specification): bytes to messages and back.

Decoding never raises: whatever is not a message becomes a ``Malformed``, so that one bad line cannot end a connection.
Ids are strict: an integer or a string, and never one for the other (specification, basic/index, RPC-1 to RPC-3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pydantic_core import PydanticSerializationError, from_json, to_json

from syncline.errors import LocalProtocolError

from .events import Notification, ServerRequest, Tolerated

#: Levels of nesting that arguments may have. Decoding has about the same limit, fixed in pydantic-core.
MAX_DEPTH = 200
#: Bytes of something that is not JSON that are kept to show it.
KEPT = 8192

_BOM = b"\xef\xbb\xbf"
_INT64 = 1 << 63


@dataclass(slots=True)
class RpcError:
    """A JSON-RPC error object; ``data`` is any JSON, None where there is none."""

    code: int
    message: str
    data: object = None


@dataclass(slots=True)
class Answer:
    """The answer to a request: ``error`` is None, or ``result`` is. Only an error may come without an id (RPC-4)."""

    id: int | str | None
    result: dict[str, object] | None
    error: RpcError | None


@dataclass(slots=True)
class Malformed:
    """Something that is not a JSON-RPC message.

    Attributes:
        reason: What is wrong with it.
        raw: The element, decoded; the first ``KEPT`` bytes where it could not be decoded.
        id: The id of the request that it tried to answer, where that could be made out.
    """

    reason: str
    raw: object
    id: int | str | None = None


#: What is tolerated comes as a message of its own.
Message: TypeAlias = "ServerRequest | Notification | Answer | Malformed | Tolerated"


def decode(data: bytes) -> list[Message]:
    """What was tolerated in one JSON text, then its messages in order. Never raises; never without a message.

    Tolerated are a leading byte order mark (``bom``), a null ``error`` beside a result or the reverse (``null-member``), an
    error without a message (``error-message``), parameters of a notification in an array (``notification-params``, in the
    place of the notification), and messages in an array (``batch``; only 2025-03-26 allows that).
    """
    marked = data.startswith(_BOM)
    try:
        value = from_json(data[len(_BOM) :] if marked else data, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        return [Malformed(f"not JSON: {error}", data[:KEPT])]
    tolerated: list[Message] = [Tolerated("bom", "message", "")] if marked else []
    if type(value) is list:
        tolerated.append(Tolerated("batch", "message", f"{len(value)} messages in an array"))
        messages = [_message(item, tolerated) for item in value] or [Malformed("an empty batch", value)]
    else:
        messages = [_message(value, tolerated)]
    return tolerated + messages if tolerated else messages


def _message(value: object, tolerated: list[Message]) -> Message:
    if type(value) is not dict:
        return Malformed("not a JSON object", value)
    if value.get("jsonrpc") != "2.0":
        return Malformed('"jsonrpc" is not "2.0"', value, _id(value))
    if "method" in value:
        return _call(value)
    result, error = value.get("result"), value.get("error")
    if result is not None and error is not None:
        return Malformed("both a result and an error", value, _id(value))
    if "result" in value and "error" in value:
        tolerated.append(Tolerated("null-member", "message", ""))
    if error is not None:
        return _failure(value, error, tolerated)
    if type(result) is not dict:
        return Malformed("no result that is an object, and no error", value, _id(value))
    answered = value.get("id")
    if type(answered) is not int and type(answered) is not str:
        return Malformed("a result without an integer or string id", value)
    return Answer(answered, result, None)


def _failure(value: dict[str, object], error: object, tolerated: list[Message]) -> Answer | Malformed:
    answered = _id(value)
    if answered is None and value.get("id") is not None:
        return Malformed("the id is neither an integer nor a string", value)
    if type(error) is not dict or type(error.get("code")) is not int:
        return Malformed("an error without an integer code", value, answered)
    message = error.get("message")
    if type(message) is not str:
        message = ""
        tolerated.append(Tolerated("error-message", "message", ""))
    return Answer(answered, None, RpcError(error["code"], message, error.get("data")))


def _call(value: dict[str, object]) -> ServerRequest | Notification | Malformed | Tolerated:
    method, params = value["method"], value.get("params")
    if type(method) is not str:
        return Malformed("the method is not a string", value)
    if "result" in value or "error" in value:
        return Malformed("both a call and an answer", value)
    if params is None:
        params = {}
    elif type(params) is not dict and type(params) is not list:
        return Malformed("the params are neither an object nor an array", value)
    if "id" not in value:
        if type(params) is dict:
            return Notification(method, params)
        return Tolerated("notification-params", method, params)
    asked = _id(value)
    if asked is None:
        return Malformed("the id is neither an integer nor a string", value)
    return ServerRequest(asked, method, params if type(params) is dict else {})


def _id(value: dict[str, object]) -> int | str | None:
    found = value.get("id")
    return found if type(found) is int or type(found) is str else None


def encode_request(request_id: int | str, method: str, params: Mapping[str, object] | None = None) -> bytes:
    """A request as one line of UTF-8 JSON without the newline. What it holds must have passed ``check_json``."""
    if params is None:
        return _encode({"jsonrpc": "2.0", "id": request_id, "method": method})
    return _encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def encode_notification(method: str, params: Mapping[str, object] | None = None) -> bytes:
    """A notification, encoded like a request."""
    if params is None:
        return _encode({"jsonrpc": "2.0", "method": method})
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def encode_result(request_id: int | str, result: Mapping[str, object]) -> bytes:
    """A successful answer, encoded like a request."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: int | str | None, code: int, message: str, data: object = None) -> bytes:
    """An error answer, encoded like a request; ``data`` is left out where it is None."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def _encode(message: dict[str, object]) -> bytes:
    try:
        return to_json(message)
    except (PydanticSerializationError, ValueError) as error:
        raise LocalProtocolError(f"cannot be written as JSON: {error}") from error


def check_json(value: object, what: str) -> None:
    """Make sure that ``value`` is JSON that arrives as it is.

    That is: None, bool, int, finite float, str without lone surrogates, and lists, tuples and dicts with string keys of
    those, nested at most ``MAX_DEPTH`` levels. Raises ``LocalProtocolError`` naming the place: ``arguments.filter[2]``.
    """
    fault = _fault(value, MAX_DEPTH)
    if fault is not None:
        place, reason = fault
        raise LocalProtocolError(f"{what}{place} {reason}")


def _fault(value: object, depth: int) -> tuple[str, str] | None:
    """Where below ``value`` and why, or None; the place is put together on the way back, so that good input is fast."""
    if isinstance(value, str):
        return None if value.isascii() else _text_fault(value)
    if value is None or value is True or value is False:
        return None
    if isinstance(value, int):
        return None if -_INT64 <= value < _INT64 else _large_fault(value)
    if isinstance(value, float):
        return None if value - value == 0 else ("", f"is {value}, which JSON cannot carry")
    if isinstance(value, dict):
        return _dict_fault(value, depth)
    if isinstance(value, (list, tuple)):
        return _list_fault(value, depth)
    return "", f"is of type {type(value).__name__}, which JSON cannot carry"


def _dict_fault(value: dict[object, object], depth: int) -> tuple[str, str] | None:
    if depth == 0:
        return "", f"is nested over {MAX_DEPTH} levels deep, or contains itself"
    for key, item in value.items():
        if not isinstance(key, str):
            return "", f"has the key {key!r}, which is not a string"
        if not key.isascii() and _text_fault(key):
            return "", f"has the key {key!r}, which holds a lone surrogate"
        if type(item) is str and item.isascii():
            continue
        fault = _fault(item, depth - 1)
        if fault is not None:
            return f".{key}{fault[0]}", fault[1]
    return None


def _list_fault(value: list[object] | tuple[object, ...], depth: int) -> tuple[str, str] | None:
    if depth == 0:
        return "", f"is nested over {MAX_DEPTH} levels deep, or contains itself"
    for index, item in enumerate(value):
        if type(item) is str and item.isascii():
            continue
        fault = _fault(item, depth - 1)
        if fault is not None:
            return f"[{index}]{fault[0]}", fault[1]
    return None


def _text_fault(value: str) -> tuple[str, str] | None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return "", "holds a lone surrogate, which UTF-8 cannot carry"
    return None


def _large_fault(value: int) -> tuple[str, str] | None:
    try:
        int.__repr__(value)
    except ValueError:
        return "", "is an integer of too many digits"
    return None

"""Results as models: any revision's result lifted to the newest revision's class (provisional: well-formed results only)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from syncline import types
from syncline.errors import InvalidResult
from syncline_wire.methods import METHODS

NEWEST = "2026-07-28"
Record = Callable[[str, str, object], None]


def result_type(result: Mapping[str, object]) -> str:
    kind = result.get("resultType", "complete")
    if not isinstance(kind, str):
        raise InvalidResult("resultType is not text", raw=result, errors=["resultType"])
    return kind


def lift(method: str, result: Mapping[str, object], revision: str, record: Record) -> Any:
    name = METHODS[NEWEST][method].result
    assert name is not None
    return model(name, result, record)


def model(name: str, value: Mapping[str, object], record: Record) -> Any:
    cls = getattr(types, name)
    try:
        return cls.model_validate(value)
    except ValidationError as error:
        lines = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise InvalidResult(f"it does not fit {name}: {lines[0]}", raw=value, errors=lines) from error


def log_message(params: Mapping[str, object], record: Record) -> types.LoggingMessageNotificationParams:
    cls = types.LoggingMessageNotificationParams
    try:
        return cls.model_validate(params)
    except ValidationError:
        return cls.model_construct(**params)


def ttl_ms(page: Any) -> float:
    return getattr(page, "ttl_ms", 0) or 0

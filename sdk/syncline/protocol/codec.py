"""Results: from the decoded JSON of any revision to the models that users see.

A well-formed result costs one validation. Anything else goes through ``repair``, which forgives what can be forgiven and
says so. What a model does not know stays in ``model_extra``; tool schemas, ``_meta`` and structured content are left as
plain JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from syncline import types
from syncline.errors import InvalidResult
from syncline.protocol.revisions import STATELESS
from syncline_wire import EXTENSIONS, NEWEST, load
from syncline_wire.methods import METHODS

if TYPE_CHECKING:
    from syncline.types import LoggingMessageNotificationParams, WireModel

#: How a tolerance is reported: a code, a place, the raw material.
Record = Callable[[str, str, object], None]

#: Members that the stateless revisions require; a result without them gets the values that their absence means.
REQUIRED = ("resultType", "ttlMs", "cacheScope")


def lift(method: str, result: Mapping[str, object], revision: str, record: Record) -> Any:
    """The complete result of ``method`` as the model that users see.

    Args:
        method: The request's method.
        result: The result, decoded from JSON; it is not changed.
        revision: The negotiated revision.
        record: Told of everything that was forgiven.

    Raises:
        InvalidResult: The result does not fit and cannot be repaired.
    """
    plan = _plan(method, revision)
    for member in plan.required:
        if member not in result:
            record("missing-member", f"{method}: {member}", "absent")
    lifted = _fit(plan, method, result, record)
    if method == "tools/list":
        for tool in lifted.tools:
            if tool.input_schema.get("type") != "object":
                record("tool-schema", f"{method}: {tool.name}", tool.input_schema)
    return lifted


def model(name: str, value: Mapping[str, object], record: Record) -> Any:
    """Any JSON object as the model of that name, for what does not come as a result: capabilities, server information.

    Raises:
        InvalidResult: It does not fit and cannot be repaired.
    """
    return _fit(_named(name), name, value, record)


def log_message(params: Mapping[str, object], record: Record) -> LoggingMessageNotificationParams:
    """The parameters of ``notifications/message``; ``InvalidResult`` where they cannot be repaired."""
    plan = _named("LoggingMessageNotificationParams")
    message: LoggingMessageNotificationParams = _fit(plan, "notifications/message", params, record)
    return message


def result_type(result: Mapping[str, object]) -> str:
    """``resultType``, to be read before the result is lifted; ``complete`` where it is absent (specification, basic).

    Raises:
        InvalidResult: It is not a string.
    """
    kind = result.get("resultType", "complete")
    if not isinstance(kind, str):
        problem = f"resultType: a string is expected, not {kind!r:.50}"
        raise InvalidResult(problem, raw=result, errors=[problem])
    return kind


def ttl_ms(page: WireModel) -> int:
    """How long a lifted result may be kept, in milliseconds; 0 means not at all."""
    ttl = getattr(page, "ttl_ms", 0)
    return ttl if isinstance(ttl, int) else 0


class _Plan(NamedTuple):
    """How one kind of object is lifted: its model, that model's own validation, the members that must be there."""

    model: type[WireModel]
    validate: Callable[..., Any]
    required: tuple[str, ...] = ()


def _fit(plan: _Plan, place: str, raw: Mapping[str, object], record: Record) -> Any:
    try:
        return plan.validate(raw, strict=True, by_alias=True, by_name=False)
    except ValueError:
        from syncline.protocol import repair  # and pydantic's machinery with it, only where it is needed

        return repair.repair(plan.model, place, raw, record)


@cache
def _plan(method: str, revision: str) -> _Plan:
    model = _model(method, revision)
    model.model_rebuild()
    members = {field.alias for field in model.model_fields.values()} if revision in STATELESS else ()
    required = tuple(member for member in REQUIRED if member in members)
    return _Plan(model, model.__pydantic_validator__.validate_python, required)


@cache
def _named(name: str) -> _Plan:
    model = _class(getattr(types, name))
    model.model_rebuild()
    return _Plan(model, model.__pydantic_validator__.validate_python)


def _model(method: str, revision: str) -> type[WireModel]:
    """The model of a method's result: the newest one that means the same; an open one for private methods."""
    entry = METHODS[NEWEST].get(method) or METHODS[revision].get(method)
    if entry is not None and entry.result is not None:
        return _class(getattr(types, entry.result))
    for extension in EXTENSIONS:
        name = METHODS[extension][method].result if method in METHODS[extension] else None
        if name is not None:
            return _class(getattr(load(extension), name))
    return types.Result


def _class(named: Any) -> type[WireModel]:
    """The class behind a name, which may be an alias: an ``EmptyResult`` is a ``Result``."""
    model: type[WireModel] = getattr(named, "__value__", named)
    return model

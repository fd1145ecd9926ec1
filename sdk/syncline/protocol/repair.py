"""Results that do not fit: keep what is usable, record what was forgiven.

The rules, from the inside out:

- null for a member that is absent counts as absent, null for a list as an empty one;
- an unknown value of an enumeration stays as it is;
- a value of another type is converted where nothing is lost (``"5"`` for a number);
- an optional member that cannot be used is set aside: it reads as absent, its value is in ``model_extra``;
- content that no model fits becomes ``UnknownContent``; messages keep what they have;
- other items of a list that cannot be used are left out;
- what is required and cannot be used ends the result.
"""

from __future__ import annotations

from functools import cache
from inspect import isclass
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from syncline import types
from syncline.errors import InvalidResult
from syncline_wire.base import NULLABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic.fields import FieldInfo

#: Required lists that count as empty where they are missing, as long as another member says what they would say.
SAID_BY: dict[tuple[str, str], str] = {("CallToolResult", "content"): "structuredContent"}
#: Models that stay whole, whatever their members hold: leaving a message out would change what the rest means.
KEPT = frozenset({"PromptMessage"})


class Unusable(Exception):
    """A value that no rule saves; the text names the place."""


def repair(model: type[BaseModel], method: str, raw: object, record: Callable[[str, str, object], None]) -> Any:
    """``raw`` as ``model``, as far as it can be.

    Raises:
        InvalidResult: Something required cannot be used.
    """
    try:
        return _Repair(method, record).model(model, raw, "")
    except Unusable as problem:
        raise InvalidResult(f"the result does not fit: {problem}", raw=raw, errors=[str(problem)]) from None


class _Repair:
    def __init__(self, method: str, record: Callable[[str, str, object], None]) -> None:
        self._method = method
        self._record = record

    def model(self, model: type[BaseModel], raw: object, place: str) -> BaseModel:
        present = self._without_nulls(model, raw, place) if isinstance(raw, dict) else raw
        try:
            return model.model_validate(present, strict=True, by_alias=True, by_name=False)
        except ValidationError:
            if not isinstance(present, dict):
                raise Unusable(f"{place or 'the result'}: an object is expected") from None
        values: dict[str, Any] = {}
        extra = {key: value for key, value in present.items() if key not in _members(model)}
        for key, (name, field) in _members(model).items():
            where = _join(place, key)
            try:
                if key in present:
                    values[name] = self.value(field.annotation, present[key], where, tuple(field.metadata))
                elif field.is_required():
                    values[name] = self._missing(model, name, where, present)
            except Unusable:
                if model.__name__ in KEPT:
                    values[name] = present.get(key)
                elif field.is_required():
                    raise
                else:
                    extra[key] = present[key]
                self._forgive("unusable-member", where, present.get(key))
        return _construct(model, values, extra)

    def _without_nulls(self, model: type[BaseModel], raw: dict[str, Any], place: str) -> dict[str, Any]:
        members = _members(model)
        nulls = [
            key for key, value in raw.items() if value is None and key in members and _may_be_absent(members[key][1])
        ]
        for key in nulls:
            self._forgive("null-for-absent", _join(place, key), None)
        return {key: value for key, value in raw.items() if key not in nulls} if nulls else raw

    def _missing(self, model: type[BaseModel], name: str, where: str, present: dict[str, Any]) -> object:
        if SAID_BY.get((model.__name__, name)) not in present:
            raise Unusable(f"{where}: missing")
        self._forgive("missing-member", where, "absent")
        return []

    def value(self, annotation: Any, raw: object, place: str, bounds: tuple[Any, ...] = ()) -> Any:
        kind = _plain(annotation)
        origin = get_origin(kind)
        if isclass(kind) and issubclass(kind, BaseModel):
            return self.model(kind, raw, place)
        if origin is list:
            return self.bounded(self.items(get_args(kind)[0], raw, place), place, bounds)
        models = _models(kind)
        if models:
            return self.branch(models, raw, place)
        return self.scalar(kind, raw, place, bounds)

    def items(self, annotation: Any, raw: object, place: str) -> list[Any]:
        if raw is None:
            self._forgive("null-for-list", place, None)
            return []
        if not isinstance(raw, list):
            raise Unusable(f"{place}: a list is expected")
        usable = []
        for index, item in enumerate(raw):
            where = f"{place}[{index}]"
            try:
                usable.append(self.value(annotation, item, where))
            except Unusable as problem:
                name = item.get("name") if isinstance(item, dict) else None
                self._forgive("unusable-item", f"{problem}" + (f" ({name})" if name else ""), item)
        return usable

    def bounded(self, items: list[Any], place: str, bounds: tuple[Any, ...]) -> list[Any]:
        """The items, however many: a list that is too long is as good as another."""
        try:
            _adapter(list[Any], bounds).validate_python(items)
        except ValidationError:
            self._forgive("out-of-bounds", place, len(items))
        return items

    def branch(self, models: tuple[type[BaseModel], ...], raw: object, place: str) -> BaseModel:
        """One of several models: the one whose constants the value has, else the first that it fits."""
        if not isinstance(raw, dict):
            raise Unusable(f"{place}: an object is expected")
        for model in models:
            if all(raw.get(key) == constant for key, constant in _constants(model).items()):
                try:
                    return self.model(model, raw, place)
                except Unusable:
                    continue
        self._forgive("unknown-content", place, raw)
        kind = raw.get("type", "")
        known = {"type": kind} if isinstance(kind, str) else {}
        return _construct(types.UnknownContent, known, {key: raw[key] for key in raw if key not in known})

    def scalar(self, kind: Any, raw: object, place: str, bounds: tuple[Any, ...]) -> Any:
        adapter = _adapter(kind, bounds)
        try:
            return adapter.validate_python(raw, strict=True)
        except ValidationError:
            pass
        if get_origin(kind) is Literal and len(get_args(kind)) > 1 and isinstance(raw, str):
            self._forgive("unknown-value", place, raw)
            return raw
        try:
            value = adapter.validate_python(raw)
        except ValidationError as error:
            raise Unusable(f"{place}: {error.errors(include_url=False)[0]['msg']}") from None
        if not (isinstance(raw, float) and value == raw):  # 5.0 is an integer in JSON Schema
            self._forgive("wrong-type", place, raw)
        return value

    def _forgive(self, code: str, place: str, raw: object) -> None:
        self._record(code, f"{self._method}: {place}", raw)


def _construct(model: type[BaseModel], values: dict[str, Any], extra: dict[str, Any]) -> BaseModel:
    instance = model.model_construct(set(values), **values)
    # Not through the constructor: a member that was set aside has the name of a field.
    cast("dict[str, Any]", instance.__pydantic_extra__).update(extra)
    return instance


@cache
def _members(model: type[BaseModel]) -> dict[str, tuple[str, FieldInfo]]:
    """Wire name → attribute and field."""
    model.model_rebuild()  # it may not have been used before
    return {field.alias or name: (name, field) for name, field in model.model_fields.items()}


@cache
def _constants(model: type[BaseModel]) -> dict[str, object]:
    """Wire name → value, for the members that can have one value only."""
    fields = {key: _plain(field.annotation) for key, (_, field) in _members(model).items()}
    return {key: get_args(kind)[0] for key, kind in fields.items() if _is_constant(kind)}


def _may_be_absent(field: FieldInfo) -> bool:
    """Whether null can only stand for a member that is not there."""
    return not field.is_required() and field.json_schema_extra != NULLABLE


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _is_constant(kind: Any) -> bool:
    return get_origin(kind) is Literal and len(get_args(kind)) == 1


def _plain(annotation: Any) -> Any:
    """An annotation without aliases, metadata and ``None``."""
    while True:
        if hasattr(annotation, "__value__"):
            annotation = annotation.__value__
        elif get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        else:
            branches = [branch for branch in _branches(annotation) if branch is not type(None)]
            if len(branches) != 1:
                return annotation
            annotation = branches[0]


def _branches(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else ()


def _models(kind: Any) -> tuple[type[BaseModel], ...]:
    """The branches of a union of models; nothing for other unions."""
    branches = _branches(kind)
    return branches if branches and all(isclass(item) and issubclass(item, BaseModel) for item in branches) else ()


@cache
def _adapter(kind: Any, bounds: tuple[Any, ...]) -> TypeAdapter[Any]:
    for bound in bounds:
        kind = Annotated[kind, bound]
    return TypeAdapter(kind)

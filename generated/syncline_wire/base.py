# Generated from tools/codegen/templates/base.py by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.
"""What every wire model is made of."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic_core import CoreSchema, SchemaError, core_schema

#: What the generator writes on a member for which null is a value.
NULLABLE = {"x-nullable": True}


class WireModel(BaseModel):
    """A protocol object: immutable, its unknown members kept, built by Python names or wire names."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        protected_namespaces=(),
        defer_build=True,  # most programs use few of the classes, and building all takes longer than all else
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        for field in _fields(schema).values():
            _refuse_null(field)
        return schema

    @classmethod
    def model_rebuild(cls, *, _parent_namespace_depth: int = 2, **options: Any) -> bool | None:
        """As pydantic's. Ctrl-C that comes meanwhile stays Ctrl-C, while pydantic's core makes an error of it."""
        try:
            return super().model_rebuild(_parent_namespace_depth=_parent_namespace_depth + 1, **options)
        except SchemaError as error:
            if "KeyboardInterrupt" in str(error):
                raise KeyboardInterrupt from None
            raise

    @model_serializer(mode="wrap")
    def _keep_nulls(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        members: dict[str, Any] = handler(self)
        if info.exclude_none:
            for name, alias in _nullable(type(self)):
                if name in self.model_fields_set and getattr(self, name) is None:
                    members[name if info.by_alias is False else alias] = None
            members.update({name: None for name, value in (self.model_extra or {}).items() if value is None})
        return members

    def to_wire(self) -> dict[str, Any]:
        """The JSON object for the wire: wire names, absent members left out, nulls kept where null is a value."""
        return self.model_dump(mode="json", exclude_none=True, warnings=False)


class UnknownContent(WireModel):
    """A piece of content, or a part of a resource, that no model fits: a kind of a later revision, or a broken one.

    Everything that the server sent is there as attributes, in plain JSON.
    """

    type: str = ""
    """The kind that the server gave it; empty where it gave none."""


class ToolResult(WireModel):
    """What the result of a tool can be asked, whatever the revision."""

    #: Makes the error of ``raise_for_error``; the SDK puts its own class here, which this package cannot import.
    error: ClassVar[Callable[[Any], Exception]] = RuntimeError

    @property
    def text(self) -> str:
        """The text parts, joined with newlines; empty where there are none."""
        texts = [getattr(block, "text", None) for block in self.__dict__["content"] if block.type == "text"]
        return "\n".join(text for text in texts if isinstance(text, str))

    def raise_for_error(self) -> None:
        """Raise ``syncline.ToolError`` if the tool failed (``is_error``).

        Raises:
            syncline.ToolError: The tool ran and said that it failed.
        """
        if self.__dict__["is_error"]:
            raise type(self).error(self)


class ReadResult(WireModel):
    """What the result of reading a resource can be asked, whatever the revision."""

    @property
    def text(self) -> str | None:
        """The text of the first part; None where that is binary, or where there is no part."""
        return self._first("text")

    @property
    def blob(self) -> bytes | None:
        """The bytes of the first part, decoded from Base64 on each call; None where that is text.

        Raises:
            ValueError: The server did not send Base64 (RFC 4648).
        """
        encoded = self._first("blob")
        return None if encoded is None else base64.b64decode(encoded, validate=True)

    def _first(self, member: str) -> str | None:
        parts: list[Any] = self.__dict__["contents"]
        found = getattr(parts[0], member, None) if parts else None
        return found if isinstance(found, str) else None


@cache
def _nullable(model: type[WireModel]) -> list[tuple[str, str]]:
    """Name and wire name of the members for which null is a value."""
    fields = model.model_fields.items()
    return [(name, field.alias or name) for name, field in fields if field.json_schema_extra == NULLABLE]


def _fields(schema: CoreSchema) -> dict[str, Any]:
    """The fields of a model's schema; none where it is built elsewhere and only referred to."""
    inner: Any = schema
    while inner.get("type") not in {"model-fields", "definition-ref"}:
        inner = inner["schema"]
    fields: dict[str, Any] = inner.get("fields", {})
    return fields


def _refuse_null(field: dict[str, Any]) -> None:
    """In strict mode null is not another word for absent, as in JSON Schema; in Python code None still is."""
    default = field["schema"]
    metadata = field.get("metadata", {})
    nullable = metadata.get("pydantic_js_extra") == NULLABLE
    if default["type"] == "default" and default["schema"]["type"] == "nullable" and not nullable:
        default["schema"] = core_schema.lax_or_strict_schema(default["schema"], default["schema"]["schema"])

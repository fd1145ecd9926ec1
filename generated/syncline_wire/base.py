# Generated from tools/codegen/templates/base.py by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.
"""What every wire model is made of."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, SerializationInfo, SerializerFunctionWrapHandler, model_serializer


class WireModel(BaseModel):
    """A protocol object: immutable, its unknown members kept, built by Python names or wire names."""

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        protected_namespaces=(),
    )

    def to_wire(self) -> dict[str, Any]:
        """The JSON object for the wire: wire names, absent members left out, nulls kept where null is a value."""
        return self.model_dump(mode="json", exclude_none=True, warnings=False)


class NullKeepingModel(WireModel):
    """A model with members for which null is a value: it stays on the wire where it was set."""

    _nullable: ClassVar[list[tuple[str, str]]] = []

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        # An optional member of type X | None is None when it is absent; one that is required, or of any type, may be null.
        cls._nullable = [
            (name, field.alias or name)
            for name, field in cls.model_fields.items()
            if field.is_required() or field.annotation == (Any | None)
        ]

    @model_serializer(mode="wrap")
    def _keep_nulls(self, handler: SerializerFunctionWrapHandler, info: SerializationInfo) -> dict[str, Any]:
        members: dict[str, Any] = handler(self)
        if info.exclude_none:
            for name, alias in self._nullable:
                if name in self.model_fields_set and getattr(self, name) is None:
                    members[name if info.by_alias is False else alias] = None
        return members


class ToolResult(NullKeepingModel):
    """What the result of a tool can be asked, whatever the revision."""

    #: Makes the error of ``raise_for_error``; the SDK puts its own class here, which this package cannot import.
    error: ClassVar[Callable[[Any], Exception]] = RuntimeError

    @property
    def text(self) -> str:
        """The text parts, joined with newlines; empty where there are none."""
        return "\n".join(block.text for block in self.__dict__["content"] if block.type == "text")

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

"""What the last listing said about the server's tools, as far as later calls need it: mirrored headers, output schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from syncline import logs
from syncline.errors import InvalidResult
from syncline.protocol import headers
from syncline.protocol.schemas import OutputSchema, UnusableSchema

if TYPE_CHECKING:
    from syncline.types import CallToolResult, Tool


class ToolBook:
    """The tools that are known. Replaced as a whole by each listing, so readers need no lock.

    ``mirroring`` says that arguments are mirrored into headers (stateless era over HTTP): then a tool whose
    ``x-mcp-header`` annotations are invalid is not usable, and is left out of what users see.
    """

    def __init__(self, record: Callable[[str, str, object], None]) -> None:
        self.mirroring = False
        self._record = record
        self._tools: dict[str, Tool] = {}
        self._mirrors: dict[str, tuple[headers.Mirror, ...]] = {}
        self._schemas: dict[str, OutputSchema | UnusableSchema | None] = {}

    def usable(self, tools: Iterable[Tool]) -> list[Tool]:
        """The tools without those whose annotations are invalid (specification, transports, custom headers)."""
        return [tool for tool in tools if self._usable(tool)] if self.mirroring else list(tools)

    def learn(self, tools: Iterable[Tool]) -> None:
        """Take over a complete listing."""
        self._mirrors, self._schemas = {}, {}
        self._tools = {tool.name: tool for tool in tools}

    def forget(self) -> None:
        """The server says that its tools have changed."""
        self.learn(())

    def mirrored(self, name: str, arguments: Mapping[str, object] | None) -> dict[str, str]:
        """The ``Mcp-Param-*`` headers of a call; none for a tool that was never listed."""
        tool = self._tools.get(name) if self.mirroring else None
        if tool is None or not arguments:
            return {}
        mirrors = self._mirrors.get(name)
        if mirrors is None:
            mirrors = self._mirrors[name] = headers.mirrors(tool.input_schema)
        return headers.mirrored(mirrors, arguments) if mirrors else {}

    def task_support(self, name: str) -> str | None:
        """``execution.taskSupport`` of a tool (2025-11-25), ``forbidden`` where it says nothing; None if it was never listed."""
        tool = self._tools.get(name)
        if tool is None:
            return None
        execution = (tool.model_extra or {}).get("execution")
        return str(execution.get("taskSupport", "forbidden")) if isinstance(execution, dict) else "forbidden"

    def harmless(self, name: str) -> bool:
        """Whether a listed tool says that calling it twice does no harm (``readOnlyHint``, ``idempotentHint``)."""
        tool = self._tools.get(name)
        hints = tool.annotations if tool is not None else None
        return hints is not None and bool(hints.read_only_hint or hints.idempotent_hint)

    def check(self, name: str, result: CallToolResult) -> None:
        """Hold a result against the tool's output schema; ``InvalidResult`` if it does not fit.

        Results of tools that were never listed, and results that report a failure, are not checked.
        """
        schema = self._schema(name) if not result.is_error else None
        if schema is None:
            return
        if isinstance(schema, UnusableSchema):
            message, errors = f"the output schema of tool {name!r} cannot be used: {schema}", [str(schema)]
        elif "structured_content" not in result.model_fields_set:
            message, errors = f"tool {name!r} has an output schema and sent no structured content", ["missing"]
        else:
            errors = schema.errors(result.structured_content)
            message = f"the structured content breaks the output schema of tool {name!r}: {'; '.join(errors[:5])}"
        if errors:
            raise InvalidResult(message, raw=result.to_wire(), errors=errors)

    def _schema(self, name: str) -> OutputSchema | UnusableSchema | None:
        if name in self._schemas:
            return self._schemas[name]
        tool = self._tools.get(name)
        schema: OutputSchema | UnusableSchema | None = None
        if tool is not None and tool.output_schema is not None:
            try:
                schema = OutputSchema(tool.output_schema)
            except UnusableSchema as error:
                schema = error
        if tool is not None:
            self._schemas[name] = schema
        return schema

    def _usable(self, tool: Tool) -> bool:
        try:
            mirrors = headers.mirrors(tool.input_schema)
        except headers.InvalidAnnotation as error:
            self._record("invalid-header-annotation", f"tools/list: {tool.name}", str(error))
            logs.wire.warning("tool %r is left out: %s", tool.name, error)
            return False
        if mirrors:
            self._mirrors[tool.name] = mirrors
        return True

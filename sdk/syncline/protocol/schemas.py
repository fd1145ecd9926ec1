"""JSON Schema for what tools return (specification, basic/index, "JSON Schema usage").

The dialect is 2020-12 unless ``$schema`` names another supported one. References are resolved inside the document, all of
them when the schema is compiled; one that leaves it makes the schema unusable. Nothing is ever fetched.
"""

from __future__ import annotations

from typing import Any, NoReturn

#: Errors that are collected for one value.
ERRORS = 20


class UnusableSchema(ValueError):
    """A schema that cannot be used: not valid in its dialect, an unknown dialect, a reference that leaves the document."""


class OutputSchema:
    """A compiled schema."""

    def __init__(self, schema: Any) -> None:
        """Compile it; ``UnusableSchema`` says why it cannot be."""
        import jsonschema_rs

        try:
            self._validator = jsonschema_rs.validator_for(schema, retriever=_refuse)
        except (ValueError, TypeError, RecursionError) as error:
            raise UnusableSchema(str(error).partition("\n")[0] or type(error).__name__) from error

    def errors(self, value: object) -> list[str]:
        """What is wrong with a value, a line each, the place first; empty if it fits."""
        if self._validator.is_valid(value):
            return []
        found = []
        for error in self._validator.iter_errors(value):
            place = "".join(f"[{step!r}]" for step in error.instance_path) or "the value"
            found.append(f"{place}: {error.message}")
            if len(found) == ERRORS:
                break
        return found


def _refuse(_uri: str) -> NoReturn:
    raise ValueError("nothing outside the document is fetched")

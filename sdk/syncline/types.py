"""The protocol's objects as models: results, tools, resources, prompts, content, capabilities.

One set for all revisions: the models of the newest revision, and those that only older revisions have. All are pydantic
models: immutable, open to members that they do not know (``model_extra``), built by Python names or wire names;
``to_wire()`` gives the JSON object. A model module is imported when the first of its names is used, so importing this one
costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from syncline.errors import ToolError

if TYPE_CHECKING:
    from syncline_wire.neutral import *  # noqa: F403


def __getattr__(name: str) -> Any:
    neutral = import_module("syncline_wire.neutral")
    if name not in neutral.HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The wire package cannot import this one, so the error of ``raise_for_error()`` is handed to it here: whoever has a
    # ``CallToolResult`` from syncline has come this way.
    import_module("syncline_wire.base").ToolResult.error = ToolError
    value = globals()[name] = getattr(neutral, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module("syncline_wire.neutral").HOMES})

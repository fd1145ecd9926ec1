# Generated from schema/pins.toml by tools/codegen. Do not edit: change the inputs and run `nox -s generate`.
"""Wire models of the Model Context Protocol, one module for each revision and extension, imported when first used."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import v2024_11_05 as v2024_11_05
    from . import v2025_03_26 as v2025_03_26
    from . import v2025_06_18 as v2025_06_18
    from . import v2025_11_25 as v2025_11_25
    from . import v2026_07_28 as v2026_07_28
    from . import tasks as tasks
    from . import events as events

#: Revision or extension → module.
MODULES = {
    "2024-11-05": "v2024_11_05",
    "2025-03-26": "v2025_03_26",
    "2025-06-18": "v2025_06_18",
    "2025-11-25": "v2025_11_25",
    "2026-07-28": "v2026_07_28",
    "tasks": "tasks",
    "events": "events",
}
#: The revisions, oldest first.
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28",)
EXTENSIONS = ("tasks", "events",)
#: The newest revision: its models are the ones that users see.
NEWEST = REVISIONS[-1]


def load(name: str) -> ModuleType:
    """The module of a revision or extension, by its own name, imported on first use.

    Raises:
        KeyError: There is no such revision or extension.
    """
    return import_module(f"{__name__}.{MODULES[name]}")


def __getattr__(name: str) -> ModuleType:
    if name in MODULES.values():
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["EXTENSIONS", "MODULES", "NEWEST", "REVISIONS", "events", "load", "tasks", "v2024_11_05", "v2025_03_26", "v2025_06_18", "v2025_11_25", "v2026_07_28"]

"""The configuration files that MCP programs already have, as servers to connect to.

``load_config`` reads them, ``add_server`` and ``remove_server`` edit a project's own ``mcp.json``. Reading starts nothing and
reaches nothing. Values from the files appear in no ``repr`` and no error: they may be secrets.
"""

from __future__ import annotations

from syncline.manager.configfiles.edit import add_server, own_file, remove_server
from syncline.manager.configfiles.inputs import Input
from syncline.manager.configfiles.load import load_config
from syncline.manager.configfiles.loaded import LoadedConfig, Origin, Skipped, Unknown

__all__ = [
    "Input",
    "LoadedConfig",
    "Origin",
    "Skipped",
    "Unknown",
    "add_server",
    "load_config",
    "own_file",
    "remove_server",
]

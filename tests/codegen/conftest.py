"""The generator needs Python 3.11, as datamodel-code-generator does; its tests are not collected on an older one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

collect_ignore_glob = ["test_*.py"] if sys.version_info < (3, 11) else []


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    """A copy of ``schema/`` to spoil."""
    return Path(shutil.copytree(ROOT / "schema", tmp_path / "schema"))

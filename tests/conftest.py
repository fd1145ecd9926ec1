"""What every test gets."""

from __future__ import annotations

import pytest

from syncline.manager.cache import CatalogueCache
from syncline.session.negotiation import EraMemory

pytest_plugins = [
    "tests.fixtures.partner",
    "tests.fixtures.servers",
    "tests.fixtures.stdio",
    "tests.fixtures.threads",
    "tests.fixtures.managers",
]


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test found out about a port, or a command, is not what the next one finds there."""
    monkeypatch.setattr(EraMemory, "shared", EraMemory())
    monkeypatch.setattr(CatalogueCache, "shared", CatalogueCache())

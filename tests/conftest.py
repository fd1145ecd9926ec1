"""What every test gets."""

from __future__ import annotations

import pytest
from hypothesis import settings

from syncline.manager.cache import CatalogueCache
from syncline.session.negotiation import EraMemory

pytest_plugins = [
    "tests.fixtures.keyrings",
    "tests.fixtures.logins",
    "tests.fixtures.partner",
    "tests.fixtures.secrecy",
    "tests.fixtures.secret_service",
    "tests.fixtures.servers",
    "tests.fixtures.stdio",
    "tests.fixtures.threads",
    "tests.fixtures.managers",
]

# A busy machine is slow: no example fails for the time that it takes.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def _no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test found out about a port, or a command, is not what the next one finds there."""
    monkeypatch.setattr(EraMemory, "shared", EraMemory())
    monkeypatch.setattr(CatalogueCache, "shared", CatalogueCache())

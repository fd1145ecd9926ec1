"""What every test gets."""

from __future__ import annotations

pytest_plugins = ["tests.fixtures.partner", "tests.fixtures.servers", "tests.fixtures.stdio", "tests.fixtures.threads"]

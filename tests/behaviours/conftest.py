"""The event server as a fixture, and the table of behaviours in the summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tools.checks import behaviours

from .shared import EventServer


@pytest.fixture
def event_server() -> Iterator[Callable[..., EventServer]]:
    """A factory of event servers; see ``EventServer``."""
    with ExitStack() as stack:

        def start(*args: Any, **options: Any) -> EventServer:
            return stack.enter_context(EventServer(*args, **options))

        yield start


@pytest.fixture
def server(event_server: Callable[..., EventServer]) -> EventServer:
    """One of them, in the handshake era."""
    return event_server()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts of the table of behaviours."""
    found = list(behaviours.behaviours(Path(__file__).with_name("BEHAVIOURS.md").read_text(encoding="utf-8")))
    terminalreporter.section("behaviours")
    terminalreporter.write(behaviours.counts(found))

"""The event server as a fixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

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

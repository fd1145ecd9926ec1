"""For the tests of programs that use syncline: an MCP server in plain Python, without processes.

::

    from syncline.testing import FakeServer

    server = FakeServer()

    @server.tool
    def add(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    with server.connect() as client:
        assert client.call_tool("add", {"a": 1, "b": 2}).structured_content == {"sum": 3}
    assert server.calls("add") == [{"a": 1, "b": 2}]
"""

from __future__ import annotations

from syncline.serving import Refused

from .call import Call, Received
from .faults import Late
from .server import FakeServer

__all__ = ["Call", "FakeServer", "Late", "Received", "Refused"]

"""A fake server in the client's own process: messages in memory, over one shared channel, as over stdio."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import join, spawn
from syncline.errors import ConnectFailed, ConnectionClosed
from syncline.serving import JSON
from syncline.transport.base import Sink
from syncline.transport.memory import MemoryPeer, MemoryTransport

from .call import Call, Gone, Session, Wire

if TYPE_CHECKING:
    from syncline.concurrency.workers import Thread

    from .core import Core


class FakeTransport(MemoryTransport):
    """One client's way to a fake server. The server's threads for it end when the client is closed."""

    def __init__(self, core: Core) -> None:
        inbox: ReplySlot[bytes] = ReplySlot()
        super().__init__(core.name, inbox)
        self._core = core
        self._peer = MemoryPeer(self, inbox)
        self._threads: list[Thread] = []

    def start(self, sink: Sink, deadline: Deadline) -> None:
        """Begin. Raises ``ConnectFailed`` if the server is closed."""
        if self._core.closed:
            raise ConnectFailed("the fake server is closed").at(self.name)
        super().start(sink, deadline)
        self._threads.append(spawn(f"syncline:{self.name}:connection", self._serve))

    def close(self, deadline: Deadline) -> None:
        """End the conversation, and wait for the thread that served it; see ``MemoryTransport``."""
        super().close(deadline)
        join(self._threads, deadline)

    def _serve(self) -> None:
        core, peer = self._core, self._peer
        session = Session()
        wire = MemoryWire(peer, session)
        core.opened(wire)
        try:
            while True:
                call = core.take(json.loads(peer.receive()), wire, session, {})
                if call is not None:
                    _answer(core, call)
        except ConnectionClosed:
            wire.over = True
        finally:
            core.done(wire)


class MemoryWire(Wire):
    """A connection in memory."""

    def __init__(self, peer: MemoryPeer, session: Session) -> None:
        self.over = False
        self._peer = peer
        self._session = session

    def send(self, message: JSON) -> None:
        """See ``Wire``."""
        try:
            self._peer.send(json.dumps(message).encode())
        except ConnectionClosed:
            raise Gone from None

    def tell(self, message: JSON) -> None:
        """See ``Wire``."""
        if self._session.revision is not None:
            self.send(message)

    def drop(self) -> None:
        """See ``Wire``."""
        self._peer.close()

    def ended(self) -> bool:
        """See ``Wire``."""
        return self.over


def _answer(core: Core, call: Call) -> None:
    spawn(f"syncline:{core.name}:request", lambda: core.answer(call))

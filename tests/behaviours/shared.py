"""A server whose event streams the test plays, request by request."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from syncline.protocol.event_errors import EXTENSION
from syncline.protocol.revisions import META
from syncline.subscriptions.access import CredentialChanges, Principal
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, Script

#: Seconds for anything that should not take any.
SOON = 20.0
SUBSCRIPTION = META + "subscriptionId"
EVENTS = "notifications/events/"
#: A revision of each era.
ERAS = ["2025-11-25", "2026-07-28"]

A, B = Principal("a", "secret-1"), Principal("b", "secret-2")


class Identity:
    """Who we are, until somebody says otherwise."""

    def __init__(self, principal: object) -> None:
        self.principal = principal
        self.changes = CredentialChanges()

    def __call__(self) -> object:
        if isinstance(self.principal, Exception):
            raise self.principal
        return self.principal

    def become(self, principal: object) -> None:
        """Be somebody else, or nobody knows who (an error), and announce it."""
        self.principal = principal
        self.changes.announce()


class Feed:
    """One ``events/stream`` request at the server; what the test has it do is done on the server's thread, in order."""

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.gone = threading.Event()
        self._answered = False
        self._todo: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()

    def play(self) -> None:
        """On the server's thread: do as told until it is answered, or either side hangs up."""
        try:
            self.exchange.sse()
            while self.exchange.open and not self._answered:
                self.exchange.server.check()
                if self.exchange.gone():
                    self.exchange.close()
                try:
                    self._todo.get(timeout=0.02)()
                except queue.Empty:
                    continue
        finally:
            self.gone.set()

    @property
    def params(self) -> dict[str, Any]:
        """The request's params."""
        params: dict[str, Any] = self.exchange.request.json()["params"]
        return params

    def do(self, act: Callable[[], object]) -> None:
        """Do anything, in turn."""
        self._todo.put(act)

    def message(self, **members: object) -> None:
        """Send any message."""
        self.do(lambda: self.exchange.event({"jsonrpc": "2.0", **members}))

    def tagged(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Params that bear this stream's id."""
        given = params or {}
        return {**given, "_meta": {SUBSCRIPTION: self.exchange.request.id, **given.get("_meta", {})}}

    def send(self, kind: str, **params: Any) -> None:
        """Send one of its notifications."""
        self.message(method=EVENTS + kind, params=self.tagged(params))

    def event(self, number: int, **params: Any) -> None:
        """Send an event that can be told from others."""
        self.send("event", eventId=f"e-{number}", name="tick", data={"number": number}, **params)

    def result(self) -> None:
        """End it with its result."""
        self._answer(result={"resultType": "complete"})

    def error(self, code: int = -32603, message: str = "the server is on fire") -> None:
        """End it with an error."""
        self._answer(error={"code": code, "message": message})

    def _answer(self, **members: object) -> None:
        def end() -> None:
            self.exchange.last_chunk()
            self._answered = True

        self.message(id=self.exchange.request.id, **members)
        self.do(end)

    def cut(self) -> None:
        """Hang up."""
        self.do(self.exchange.close)

    def wait_gone(self) -> None:
        """Wait until it is over: the client has hung up, or the server has ended it."""
        assert self.gone.wait(SOON), "the client did not hang up"


class EventServer(McpHttpServer):
    """Offers events, and hands each stream to the test. A lively one says first that it is active.

    ``instead`` are scripts for the next streams, which the test does not see then.
    """

    def __init__(
        self, revision: str = "2025-11-25", *, advertised: bool = True, lively: bool = False, **options: Any
    ) -> None:
        super().__init__(versions=[revision], **options)
        self._lively = lively
        self.instead: list[Script] = []
        self._feeds: queue.SimpleQueue[Feed] = queue.SimpleQueue()
        if advertised:
            self.catalogue.capabilities["extensions"] = {EXTENSION: {}}
        self.arm(self._stream, 1 << 30, method="events/stream")

    def _stream(self, exchange: Exchange) -> None:
        if self.instead:
            self.instead.pop(0)(exchange)
            return
        feed = Feed(exchange)
        if self._lively:
            feed.send("active")
        self._feeds.put(feed)
        feed.play()

    def next(self) -> Feed:
        """The next stream that a client opens."""
        return self._feeds.get(timeout=SOON)

    @property
    def streams(self) -> int:
        """How many were asked for so far."""
        return len(self.calls("events/stream"))

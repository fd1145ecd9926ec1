"""A well-behaved MCP server over HTTP+SSE, the transport of 2024-11-05: one event stream for each session.

A POST to the URL of the stream is refused, as by a server that knows nothing newer.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from .catalogue import HANDSHAKE, Catalogue, Json
from .samples import sample_catalogue
from .scripted import Exchange, ScriptedServer


class McpSseServer(ScriptedServer):
    """See the module.

    Args:
        catalogue: What is offered; by default the samples.
        versions: The revisions that the samples are offered in.
        refusal: The status for a POST to the URL of the stream, and its body.
        endpoint: What the first event says; {session} stands for the session.

    Attributes:
        streams: Session to the exchange of its event stream; those that are open now.
    """

    def __init__(
        self,
        catalogue: Catalogue | None = None,
        *,
        versions: Sequence[str] = HANDSHAKE,
        refusal: tuple[int, str] = (405, ""),
        endpoint: str = "/messages?session={session}",
        tls: bool = False,
        port: int = 0,
        path: str = "/sse",
    ) -> None:
        self.catalogue = catalogue or sample_catalogue(versions)
        self.streams: dict[str, Exchange] = {}
        self._refusal, self._endpoint = refusal, endpoint
        self._lock = threading.Lock()
        self._sessions = 0
        super().__init__(self._exchange, tls=tls, port=port, path=path)

    def cut(self) -> None:
        """End every event stream; the sessions are over."""
        for exchange in list(self.streams.values()):
            exchange.half_close()

    def close(self, *, quiet: bool = False) -> None:
        self.catalogue.cancel_all()
        super().close(quiet=quiet)

    def _exchange(self, exchange: Exchange) -> None:
        path, _, query = exchange.request.path.partition("?")
        if exchange.request.method == "GET" and path == self.url.removeprefix(self.origin):
            self._stream(exchange)
        elif exchange.request.method != "POST":
            exchange.respond(405)
        elif path == self.url.removeprefix(self.origin):
            status, body = self._refusal
            exchange.respond(status, body, "application/json" if body else None)
        elif query.removeprefix("session=") in self.streams:
            self._message(exchange, query.removeprefix("session="))
        else:
            exchange.respond(404, "no such session", "text/plain")

    def _stream(self, exchange: Exchange) -> None:
        with self._lock:
            self._sessions += 1
            session = f"s{self._sessions}"
            self.streams[session] = exchange
            exchange.sse()
            exchange.event(self._endpoint.format(session=session), name="endpoint")
        try:
            exchange.hold()
        finally:
            with self._changed:
                del self.streams[session]
                self._changed.notify_all()

    def _message(self, exchange: Exchange, session: str) -> None:
        """Accept a message, then let its answer come by the stream; meanwhile no other message waits on this connection."""
        exchange.respond(202, "Accepted", "text/plain", [("Connection", "close")])
        exchange.close()

        def send(message: Json) -> None:
            with self._lock:
                if session in self.streams:
                    self.streams[session].event(message, name="message")

        self.catalogue.handle(exchange.request.json(), send, lambda: session not in self.streams)

"""The fake server: what it is told to offer and to get wrong, and what came in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from syncline.concurrency.deadline import Deadline
from syncline.serving import INTERNAL_ERROR, JSON, REVISIONS

from .call import Gone, Received
from .core import Core
from .faults import Late, delaying, dropping, failing
from .feeds import FILTERS, UPDATED
from .offer import Offer

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from syncline.client import Client, ClientOptions
    from syncline.transport.base import Transport

    from .http import HttpFront


class FakeServer(Offer):
    """An MCP server in plain Python, for tests: in memory or over HTTP, in both eras.

    Tools, resources, templates, prompts and events are functions of yours; ``fail_next`` and its siblings let things go
    wrong, each for the next requests of one method; ``received`` and ``calls`` tell what came in. Everything may be used from any
    thread. Each request is answered on a thread of its own, so that a function may block. ``close()``, or ``with``, ends all
    connections; in-memory clients that are closed themselves leave nothing behind either.

    Args:
        name: What errors call the server, and who it says it is.
        versions: The revisions that it speaks.
        instructions: What it says about its use.
        page_size: How many items a page of a listing has.
        heartbeat: Seconds between the heartbeats of an event stream.
    """

    def __init__(
        self,
        name: str = "fake",
        *,
        versions: Sequence[str] = REVISIONS,
        instructions: str | None = None,
        page_size: int = 50,
        heartbeat: float = 30.0,
    ) -> None:
        unknown = set(versions) - set(REVISIONS)
        if unknown or not versions:
            raise ValueError(f"versions are some of {', '.join(REVISIONS)}, not {', '.join(sorted(unknown)) or 'none'}")
        super().__init__(page_size)
        self.name = name
        self._core = Core(name, versions, instructions, self, heartbeat)
        self._fronts: list[HttpFront] = []

    def __repr__(self) -> str:
        return f"<syncline.testing.FakeServer {self.name}>"

    # Connecting

    def connect(self, **options: Unpack[ClientOptions]) -> Client:
        """A client that is connected to this server in memory; the options are those of ``syncline.connect``."""
        from syncline.client import Client

        return Client(self, **options).open()

    def __call__(self) -> Transport:
        """A new way to this server in memory, for one connection: what ``syncline.connect(server)`` uses."""
        from .memory import FakeTransport

        return FakeTransport(self._core)

    @contextlib.contextmanager
    def http(self, *, answers: Literal["json", "sse"] = "json", sessions: bool = True) -> Iterator[str]:
        """Serve over Streamable HTTP on a free port of this machine, and give the URL; closed at the end of the ``with``.

        ``answers`` is the form of an answer that nothing comes before; ``sessions`` says whether clients of the
        handshake era get a session id, and need it from then on.
        """
        from .http import HttpFront

        front = HttpFront(self._core, answers=answers, sessions=sessions)
        self._fronts.append(front)
        try:
            yield front.url
        finally:
            front.close()
            self._fronts.remove(front)

    def close(self) -> None:
        """End all connections and whatever waits."""
        with self._core.monitor:
            self._core.closed = True
        self.drop_connection()
        for front in list(self._fronts):
            front.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What came in

    @property
    def received(self) -> list[Received]:
        """All requests and notifications that came in, in order."""
        return list(self._core.received)

    def calls(self, tool: str) -> list[Mapping[str, Any]]:
        """The arguments of each call of a tool, in order; also of those that went wrong."""
        named = [one for one in self.received if one.method == "tools/call" and one.params.get("name") == tool]
        return [one.params.get("arguments") or {} for one in named]

    def wait_for(self, method: str, count: int = 1, timeout: float = 10) -> Received:
        """The latest of ``count`` messages of a method. Blocks until so many came in; ``TimeoutError`` after ``timeout`` seconds."""

        def latest() -> Received | None:
            found = [one for one in self._core.received if one.method == method]
            return found[count - 1] if len(found) >= count else None

        found = self._core.monitor.wait(latest, Deadline(timeout))
        if found is None:
            raise TimeoutError(f"{self.name}: {method} did not come {count} times within {timeout:g} s")
        return found

    # Events and changes

    def event(
        self,
        name: str,
        *,
        description: str = "",
        delivery: Sequence[str] = ("push", "poll"),
        input_schema: Mapping[str, object] | None = None,
        payload_schema: Mapping[str, object] | None = None,
        concerns: Callable[[JSON, JSON], bool] = lambda _arguments, _data: True,
    ) -> None:
        """Offer an event type (2026-07-28). ``concerns(arguments, data)`` says which subscription an occurrence is for."""
        anything = {"type": "object"}
        about = {"description": description, "delivery": list(delivery)}
        schemas = {"inputSchema": dict(input_schema or anything), "payloadSchema": dict(payload_schema or anything)}
        self._core.feeds.add(name, {**about, **schemas}, concerns)

    def emit(self, name: str, data: Mapping[str, object], *, event_id: str | None = None) -> None:
        """Let an event happen: open streams get it at once, polls the next time. Occurrences are kept, for cursors."""
        self._core.feeds.emit(name, data, event_id)

    def terminate(self, name: str, code: int = INTERNAL_ERROR, message: str = "the subscription is over") -> None:
        """End the subscriptions of an event type for good, with an error."""
        self._core.feeds.terminate(name, {"code": code, "message": message})

    def changed(self, kind: Literal["tools", "prompts", "resources", "events"]) -> None:
        """Tell those who listen that a list has changed."""
        method = FILTERS.get(f"{kind}ListChanged")
        if method is None:
            raise ValueError(f"what changes is tools, prompts, resources or events, not {kind!r}")
        self._tell(method, {})

    def updated(self, uri: str) -> None:
        """Tell those who listen that a resource has changed."""
        self._tell(UPDATED, {"uri": uri})

    def _tell(self, method: str, params: JSON) -> None:
        self._core.feeds.change(method, params)
        with self._core.monitor:
            wires = list(self._core.wires)
        for wire in wires:
            with contextlib.suppress(Gone):
                wire.tell({"jsonrpc": "2.0", "method": method, "params": params})

    # What goes wrong

    def fail_next(
        self,
        method: str,
        *,
        code: int = INTERNAL_ERROR,
        message: str = "the test wants it so",
        data: object = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
    ) -> None:
        """Answer the next requests of a method with a JSON-RPC error; over HTTP with a bare ``status`` if one is given."""
        self._core.faults.add(method, times, failing(code, message, data, status, headers or {}))

    def delay(self, method: str, seconds: float, *, times: int = 1) -> None:
        """Answer the next requests of a method later."""
        self._core.faults.add(method, times, delaying(seconds))

    def answer_late(self, method: str) -> Late:
        """Hold the next request of a method back until ``release()``; it is answered then even if nobody waits any more."""
        late = Late(self._core.monitor)
        self._core.faults.add(method, 1, late)
        return late

    def drop_connection(self, method: str | None = None, *, times: int = 1) -> None:
        """Break the connection of the next requests of a method, unanswered; without a method break all that are open, now.

        In memory a broken connection is the end of its client; over HTTP the next request makes a new one.
        """
        if method is not None:
            self._core.faults.add(method, times, dropping)
            return
        with self._core.monitor:
            wires = list(self._core.wires)
        for wire in wires:
            wire.drop()

    def expire_session(self) -> None:
        """Forget all sessions, as a restart would (handshake era over HTTP): the next request with one gets 404."""
        with self._core.monitor:
            self._core.sessions.clear()

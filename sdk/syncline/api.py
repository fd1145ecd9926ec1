"""The protocol's requests as methods of the client. What waits, waits for the answer, the timeout, or ``close()``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from syncline.concurrency.collector import collector_relaxed
from syncline.concurrency.deadline import Deadline
from syncline.errors import HeaderMismatch, InvalidResult, ListingLimit, LocalProtocolError
from syncline.protocol import codec
from syncline.protocol.revisions import LOG_LEVELS
from syncline.session.listing import Page, follow
from syncline.session.session import json_object

if TYPE_CHECKING:
    from syncline.config import Timeouts
    from syncline.session.session import Session
    from syncline.session.waiter import OnProgress
    from syncline.types import (
        CallToolResult,
        CompleteResult,
        GetPromptResult,
        LoggingLevel,
        Prompt,
        PromptReference,
        ReadResourceResult,
        Resource,
        ResourceTemplate,
        ResourceTemplateReference,
        Tool,
    )

#: For each listing: the field that holds its items, and the field that tells them apart.
LISTINGS: Mapping[str, tuple[str, str]] = {
    "tools/list": ("tools", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resource_templates", "uri_template"),
    "prompts/list": ("prompts", "name"),
}


class Verbs:
    """The requests. ``timeout`` is in seconds, or a ``Timeouts``; by default the client's own is used.

    All raise ``RequestTimeout``, ``ConnectionClosed``, ``TransportError`` when the way breaks, ``ServerError`` when the
    server answers with an error, ``InvalidResult`` when its answer does not fit, ``LocalProtocolError`` for arguments that
    cannot be sent (nothing is sent then). A listing of something that the server does not offer is empty.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    # Tools

    def list_tools(self, *, timeout: float | Timeouts | None = None, cache: bool = False) -> list[Tool]:
        """All tools of the server, every page followed.

        Source: specification, server/tools, ``tools/list``. ``cache`` allows the last listing to be returned for as long
        as the server said that it holds (``ttlMs``, 2026-07-28). Raises ``ListingLimit`` where the listing breaks one of
        the ``Limits``; it is never cut silently. ``timeout`` is for the whole listing.
        """
        tools: list[Tool] = self._list("tools/list", timeout, cache)
        return tools

    def iter_tools(self, *, timeout: float | Timeouts | None = None) -> Iterator[Tool]:
        """The tools, page by page as they are needed; ``timeout`` is for each page."""
        return self._iterate("tools/list", timeout)

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> CallToolResult:
        """Call a tool and return its result; a tool that fails returns a result too, with ``is_error`` set.

        Source: specification, server/tools, ``tools/call``. ``arguments`` is any JSON object, sent as it is: None stays
        null, what is left out is left out. ``on_progress(progress, total, message)`` is called in this thread whenever the
        server reports progress, which also starts the timeout again (up to ``Timeouts.call_total``). ``meta`` goes to
        ``params._meta``. Where the tool was listed before and has an output schema, the structured content is held against
        it (``validate_output`` of the client); ``InvalidResult`` then has the result as ``raw``.
        The call is sent once more if the server did not process it (nothing was sent, or the session had expired); never if
        it may have run, which raises ``OutcomeUnknown``, unless ``RetryPolicy.resend`` allows it.
        """
        if not isinstance(name, str):
            raise LocalProtocolError(f"the name of a tool is text, not {type(name).__name__}").at(
                self._session.name, "tools/call"
            )
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = self._json(arguments, "arguments", "tools/call")
        deadline = self._session.deadline(timeout)

        def call() -> dict[str, object]:
            return self._session.call(
                "tools/call",
                params,
                deadline,
                meta,
                on_progress,
                self._session.book.mirrored(name, arguments),
                repeatable=self._session.may_resend(name),
            )

        try:
            raw = call()
        except HeaderMismatch:
            # The server refused before running it: our picture of the tool is out of date (specification, transports).
            if not self._session.book.mirroring:
                raise
            self._list("tools/list", deadline.remaining(), cache=False)
            raw = call()
        result = cast("CallToolResult", self._session.lift("tools/call", raw))
        self._session.check_output(name, result)
        return result

    # Resources

    def list_resources(self, *, timeout: float | Timeouts | None = None, cache: bool = False) -> list[Resource]:
        """All resources, every page followed; see ``list_tools``. Source: specification, server/resources."""
        resources: list[Resource] = self._list("resources/list", timeout, cache)
        return resources

    def iter_resources(self, *, timeout: float | Timeouts | None = None) -> Iterator[Resource]:
        """The resources, page by page as they are needed; ``timeout`` is for each page."""
        return self._iterate("resources/list", timeout)

    def list_resource_templates(
        self, *, timeout: float | Timeouts | None = None, cache: bool = False
    ) -> list[ResourceTemplate]:
        """All resource templates (RFC 6570), every page followed; see ``list_tools``."""
        templates: list[ResourceTemplate] = self._list("resources/templates/list", timeout, cache)
        return templates

    def iter_resource_templates(self, *, timeout: float | Timeouts | None = None) -> Iterator[ResourceTemplate]:
        """The resource templates, page by page as they are needed; ``timeout`` is for each page."""
        return self._iterate("resources/templates/list", timeout)

    def read_resource(
        self,
        uri: str,
        *,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> ReadResourceResult:
        """Read a resource; ``.text`` and ``.blob`` of the result are those of its first part.

        Source: specification, server/resources, ``resources/read``. The URI is sent exactly as given. A resource that does
        not exist raises ``ResourceNotFound`` or, from 2026-07-28 on, ``InvalidParams``.
        """
        raw = self._session.call(
            "resources/read", {"uri": str(uri)}, self._session.deadline(timeout), meta, on_progress
        )
        return cast("ReadResourceResult", self._session.lift("resources/read", raw))

    def subscribe_resource(self, uri: str, *, timeout: float | Timeouts | None = None) -> None:
        """Ask for ``notifications/resources/updated`` about a resource (handshake revisions)."""
        self._session.call("resources/subscribe", {"uri": str(uri)}, self._session.deadline(timeout))
        self._session.subscribed(str(uri), True)

    def unsubscribe_resource(self, uri: str, *, timeout: float | Timeouts | None = None) -> None:
        """Take ``subscribe_resource`` back (handshake revisions)."""
        self._session.subscribed(str(uri), False)
        self._session.call("resources/unsubscribe", {"uri": str(uri)}, self._session.deadline(timeout))

    # Prompts and completion

    def list_prompts(self, *, timeout: float | Timeouts | None = None, cache: bool = False) -> list[Prompt]:
        """All prompts, every page followed; see ``list_tools``. Source: specification, server/prompts."""
        prompts: list[Prompt] = self._list("prompts/list", timeout, cache)
        return prompts

    def iter_prompts(self, *, timeout: float | Timeouts | None = None) -> Iterator[Prompt]:
        """The prompts, page by page as they are needed; ``timeout`` is for each page."""
        return self._iterate("prompts/list", timeout)

    def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | Timeouts | None = None,
        on_progress: OnProgress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> GetPromptResult:
        """Get the messages of a prompt. Its arguments are text only. Source: specification, server/prompts."""
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = given = self._json(arguments, "arguments", "prompts/get")
            for key, value in given.items():
                if not isinstance(value, str):
                    problem = f"arguments[{key!r}] of a prompt must be text, not {type(value).__name__}"
                    raise LocalProtocolError(problem).at(self._session.name, "prompts/get")
        raw = self._session.call("prompts/get", params, self._session.deadline(timeout), meta, on_progress)
        return cast("GetPromptResult", self._session.lift("prompts/get", raw))

    def complete(
        self,
        ref: PromptReference | ResourceTemplateReference | Mapping[str, object],
        argument: Mapping[str, str],
        context: Mapping[str, str] | None = None,
        *,
        timeout: float | Timeouts | None = None,
    ) -> CompleteResult:
        """Suggestions for an argument of a prompt or a resource template; ``.completion.values`` has up to 100.

        Source: specification, server/utilities/completion. ``ref`` is ``{"type": "ref/prompt", "name": ...}`` or
        ``{"type": "ref/resource", "uri": ...}``, or one of the models; ``argument`` is ``{"name": ..., "value": ...}``;
        ``context`` has the arguments that are known already.
        """
        reference = ref if isinstance(ref, Mapping) else ref.to_wire()
        params: dict[str, object] = {
            "ref": self._json(reference, "ref", "completion/complete"),
            "argument": self._json(argument, "argument", "completion/complete"),
        }
        if context is not None:
            params["context"] = {"arguments": self._json(context, "context", "completion/complete")}
        raw = self._session.call("completion/complete", params, self._session.deadline(timeout))
        return cast("CompleteResult", self._session.lift("completion/complete", raw))

    # The connection itself

    def set_log_level(self, level: LoggingLevel, *, timeout: float | Timeouts | None = None) -> None:
        """The least severe log messages that the server should send: ``debug`` to ``emergency`` (RFC 5424).

        Source: specification, server/utilities/logging. In the handshake revisions the server is told at once; from
        2026-07-28 on each later request asks for it.
        """
        if level not in LOG_LEVELS:
            problem = f"unknown log level {level!r}; the levels are {', '.join(LOG_LEVELS)}"
            raise LocalProtocolError(problem).at(self._session.name, "logging/setLevel")
        self._session.set_log_level(level, self._session.deadline(timeout))

    def ping(self, *, timeout: float | Timeouts | None = None) -> None:
        """Ask for a sign of life (handshake revisions). Source: specification, basic/utilities/ping."""
        self._session.call("ping", None, self._session.deadline(timeout))

    def _json(self, value: Mapping[str, object], what: str, method: str) -> dict[str, object]:
        return json_object(value, what, self._session.name, method)

    # Listings

    def _pages(self, method: str, timeout: float | Timeouts | None, deadline: Deadline | None) -> Iterator[Page[Any]]:
        field, key = LISTINGS[method]

        def fetch(cursor: str | None) -> Page[Any]:
            params = None if cursor is None else {"cursor": cursor}
            raw = self._session.call(method, params, deadline or self._session.deadline(timeout))
            following = raw.get("nextCursor")
            if following is not None and not isinstance(following, str):
                problem = f"nextCursor is {type(following).__name__}, not text"
                raise InvalidResult(problem, raw=raw, errors=[problem]).at(self._session.name, method)
            page = self._session.lift(method, raw)
            return Page(getattr(page, field), following, codec.ttl_ms(page))

        try:
            yield from follow(fetch, lambda item: getattr(item, key), self._session.limits)
        except ListingLimit as error:
            error.at(self._session.name, method)
            raise

    def _list(self, method: str, timeout: float | Timeouts | None, cache: bool) -> list[Any]:
        kept = self._session.inbox.kept(method) if cache else None
        if kept is not None:
            return list(kept)
        if not self._session.offers(method):
            return []
        with collector_relaxed():
            pages = list(self._pages(method, timeout, self._session.deadline(timeout)))
            items = [item for page in pages for item in page.items]
            if method == "tools/list":
                items = self._session.book.usable(items)
                self._session.book.learn(items)
            self._session.inbox.keep(method, items, min(page.ttl_ms for page in pages))
        return items

    def _iterate(self, method: str, timeout: float | Timeouts | None) -> Iterator[Any]:
        if not self._session.offers(method):
            return
        for page in self._pages(method, timeout, None):
            yield from self._session.book.usable(page.items) if method == "tools/list" else page.items

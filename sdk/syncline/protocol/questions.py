"""What a server may ask of the client, in both eras: requests of its own, or ``input_required`` rounds.

(Specification, client/elicitation, client/sampling, client/roots; basic/patterns/mrtr for the rounds of 2026-07-28.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from syncline.errors import InvalidResult

from .schemas import OutputSchema, UnusableSchema

ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"

INVALID_PARAMS, INTERNAL_ERROR, METHOD_NOT_FOUND, USER_REJECTED = -32602, -32603, -32601, -1


class Refusal(Exception):
    """A question that is not answered, as the JSON-RPC error that says so."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class ElicitRequest:
    """The server asks a person something.

    Attributes:
        server: What errors call the server that asks; show it.
        message: What it asks.
        mode: ``form``: fill in a form; ``url``: visit an address. Nothing is ever opened or fetched by itself.
        schema: The form, as a JSON Schema object of one level: text, numbers, booleans, choices. None for ``url``.
        url: The address; show all of it. None for a form.
        meta: ``_meta`` of the request, without the progress token.
        elicitation_id: For an address in 2025-11-25: what ``notifications/elicitation/complete`` will call it.
    """

    server: str
    message: str
    mode: Literal["form", "url"]
    schema: Mapping[str, object] | None
    url: str | None
    meta: Mapping[str, object]
    elicitation_id: str | None = None


def elicitation(server: str, params: Mapping[str, object]) -> ElicitRequest:
    """The request in the params of ``elicitation/create``; ``Refusal`` if they make no sense."""
    message, mode = params.get("message"), params.get("mode", "form")
    schema, url = params.get("requestedSchema"), params.get("url")
    if not isinstance(message, str):
        raise Refusal(INVALID_PARAMS, "message is missing")
    meta = params.get("_meta")
    kept = {key: value for key, value in meta.items() if key != "progressToken"} if isinstance(meta, dict) else {}
    if mode == "form" and isinstance(schema, dict):
        return ElicitRequest(server, message, "form", schema, None, kept)
    if mode == "url" and isinstance(url, str) and url.lower().startswith(("https://", "http://")):
        ident = params.get("elicitationId")
        return ElicitRequest(server, message, "url", None, url, kept, ident if isinstance(ident, str) else None)
    wanted = "requestedSchema" if mode == "form" else "an http or https url" if mode == "url" else "a known mode"
    raise Refusal(INVALID_PARAMS, f"{wanted} is missing")


def answered(request: ElicitRequest, answer: Mapping[str, object] | bool | None) -> dict[str, object]:
    """The result that an answer becomes; ``ValueError`` if it does not fit the form, ``TypeError`` if it is no answer."""
    if answer is None or answer is False:
        return {"action": "decline"}
    if answer is not True and not isinstance(answer, Mapping):
        raise TypeError(f"the answer to an elicitation is a mapping, True or None, not {type(answer).__name__}")
    return accepted(request, {} if answer is True else answer)


def accepted(request: ElicitRequest, content: Mapping[str, object]) -> dict[str, object]:
    """The result that accepts, with the form's defaults for what was left out; ``ValueError`` if it does not fit."""
    if request.schema is None:
        return {"action": "accept"}
    filled = {**_defaults(request.schema), **content}
    try:
        errors = OutputSchema(dict(request.schema)).errors(filled)
    except UnusableSchema:
        errors = []  # the server's own form is broken; what the person said is all there is
    if errors:
        raise ValueError(f"the answer does not fit the form: {'; '.join(errors[:5])}")
    return {"action": "accept", "content": filled}


def _defaults(schema: Mapping[str, object]) -> dict[str, object]:
    fields = schema.get("properties")
    if not isinstance(fields, dict):
        return {}
    return {name: field["default"] for name, field in fields.items() if isinstance(field, dict) and "default" in field}


@dataclass(frozen=True)
class Round:
    """An ``input_required`` result: what is asked, by the server's own keys, and the opaque state to hand back."""

    requests: Mapping[str, tuple[str, Mapping[str, object]]]
    state: str | None


def round_of(raw: Mapping[str, object]) -> Round:
    """The round in an ``input_required`` result; ``InvalidResult`` if it asks nothing and holds no state (MRT-2)."""
    asked, state = raw.get("inputRequests"), raw.get("requestState")
    if asked is None and state is None:
        raise _invalid(raw, "it has neither inputRequests nor requestState")
    if state is not None and not isinstance(state, str):
        raise _invalid(raw, "requestState is not text")
    requests = {}
    for key, entry in (asked if isinstance(asked, dict) else {}).items():
        method = entry.get("method") if isinstance(entry, dict) else None
        params = entry.get("params", {}) if isinstance(entry, dict) else None
        if not isinstance(method, str) or not isinstance(params, dict):
            raise _invalid(raw, f"inputRequests.{key} is not a request")
        requests[key] = method, params
    return Round(requests, state)


def next_params(
    params: Mapping[str, object] | None, responses: Mapping[str, object], state: str | None
) -> dict[str, object]:
    """The params of the next round: the original ones, this round's answers only, and the latest state only."""
    filled: dict[str, object] = dict(params or {})
    if responses:
        filled["inputResponses"] = dict(responses)
    if state is not None:
        filled["requestState"] = state
    return filled


def _invalid(raw: Mapping[str, object], problem: str) -> InvalidResult:
    return InvalidResult(
        f"the server asks for input in a way that cannot be answered: {problem}", raw=raw, errors=[problem]
    )

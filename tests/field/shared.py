"""What these tests share: the eras, and answers written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import syncline
from tools.fakeserver.mcp_http import McpHttpServer
from tools.fakeserver.scripted import Exchange, Script, ScriptedServer

#: The newest revision of each era.
HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
ERAS = (HANDSHAKE, STATELESS)

Http = Callable[..., McpHttpServer]
Scripted = Callable[..., ScriptedServer]


def answer(exchange: Exchange, text: str = "x") -> dict[str, Any]:
    """A whole answer to ``tools/call``, good in either era."""
    result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": exchange.request.id, "result": result}


def progress(exchange: Exchange, step: object = 1) -> dict[str, Any]:
    """A report of progress on the call that is being answered."""
    token = exchange.request.json()["params"]["_meta"]["progressToken"]
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": step}}


def half_json(exchange: Exchange) -> None:
    """The beginning of an answer, and the end of the connection."""
    exchange.head(200, [("Content-Type", "application/json"), ("Content-Length", "1000")])
    exchange.send(json.dumps(answer(exchange)).encode()[:20])
    exchange.close()


def foreign_json(ident: object) -> Script:
    """An answer to another request."""
    return lambda exchange: exchange.json(answer(exchange) | {"id": ident})


def codes(client: syncline.Client) -> set[str]:
    """What was forgiven so far."""
    return {finding.code for finding in client.findings}

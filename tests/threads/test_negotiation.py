"""Finding out what a server speaks: over a shared channel with the test as the server, and over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import syncline
from syncline.protocol.revisions import META
from syncline.session.negotiation import EraMemory
from syncline.transport.memory import pair
from tests.fixtures.partner import Background, Partner
from tools.fakeserver.mcp_http import McpHttpServer

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
INFO = {"name": "s", "version": "1"}


def begin(wanted: str = "auto", **options: Any) -> tuple[Background[syncline.Client], Partner]:
    transport, peer = pair("partner")
    client = syncline.Client(transport, protocol_version=wanted, **options)
    return Background(client.open), Partner(peer)


def shake_hands(partner: Partner, revision: str = "2025-11-25") -> dict[str, Any]:
    request = partner.serve("initialize", {"protocolVersion": revision, "capabilities": {}, "serverInfo": INFO})
    partner.next("notifications/initialized")
    return request


def discovered(**more: object) -> dict[str, object]:
    found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}
    return {**found, "ttlMs": 0, "cacheScope": "private", **more}


def test_a_stateless_server_is_recognised() -> None:
    opening, partner = begin()
    request = partner.serve("server/discover", discovered(_meta={META + "serverInfo": INFO}, instructions="hi"))

    with opening.result() as client:
        assert (client.protocol_version, client.server_info.name, client.instructions) == ("2026-07-28", "s", "hi")
    assert request["params"]["_meta"][META + "protocolVersion"] == "2026-07-28"


def test_an_older_place_of_the_servers_identity_is_read_too() -> None:
    """VER-35."""
    opening, partner = begin()
    partner.serve("server/discover", discovered(serverInfo=INFO))

    with opening.result() as client:
        assert client.server_info.name == "s"


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, -32603, 0])
@pytest.mark.parametrize("revision", HANDSHAKE)
def test_any_other_error_leads_to_the_handshake(code: int, revision: str) -> None:
    """ERA-2, ERA-3: no particular code; the newest revision of the handshake era is offered (VER-11)."""
    opening, partner = begin()
    partner.serve("server/discover", error={"code": code, "message": "what?"})
    request = shake_hands(partner, revision)

    with opening.result() as client:
        assert client.protocol_version == revision
    assert request["params"]["protocolVersion"] == "2025-11-25"
    assert "_meta" not in request["params"]


def test_silence_leads_to_the_handshake_on_the_same_connection_and_the_late_answer_is_dropped() -> None:
    """B201, ERA-4."""
    opening, partner = begin(timeout=syncline.Timeouts(probe=0.05))
    probe = partner.next("server/discover")
    request = partner.next("initialize")
    partner.answer(probe, discovered())
    partner.answer(request, {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": INFO})
    partner.next("notifications/initialized")

    with opening.result() as client:
        assert client.protocol_version == "2025-11-25"
        assert client.findings == []


def test_a_slow_stateless_server_is_asked_again() -> None:
    """ERA-4: silent to the probe, and then refusing the handshake."""
    opening, partner = begin(timeout=syncline.Timeouts(probe=0.05))
    partner.next("server/discover")
    data = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    partner.serve("initialize", error={"code": -32022, "message": "no", "data": data})
    partner.serve("server/discover", discovered())

    with opening.result() as client:
        assert client.protocol_version == "2026-07-28"


def test_a_refused_version_is_tried_again_where_the_list_names_it() -> None:
    """VER-33, B199."""
    opening, partner = begin()
    data = {"supported": ["2026-07-28"], "requested": "2026-07-28"}
    partner.serve("server/discover", error={"code": -32022, "message": "no", "data": data})
    partner.serve("server/discover", discovered())

    with opening.result() as client:
        assert client.protocol_version == "2026-07-28"


def test_trying_again_has_an_end() -> None:
    """VER-33: a server that refuses what it names."""
    opening, partner = begin()
    data = {"supported": ["2026-07-28"], "requested": "2026-07-28"}
    for _ in range(5):
        partner.serve("server/discover", error={"code": -32022, "message": "no", "data": data})

    with pytest.raises(syncline.NoCommonRevision, match="refused 5 times"):
        opening.result()


def test_no_common_revision_lists_what_each_speaks() -> None:
    """ERA-2: never initialize then."""
    opening, partner = begin()
    data = {"supported": ["2099-01-01"], "requested": "2026-07-28"}
    partner.serve("server/discover", error={"code": -32022, "message": "no", "data": data})

    with pytest.raises(
        syncline.NoCommonRevision, match=r"the server speaks 2099-01-01, we speak 2026-07-28, 2025-11-25"
    ):
        opening.result()


def test_a_server_that_lists_only_the_other_era_gets_the_handshake() -> None:
    opening, partner = begin()
    partner.serve("server/discover", discovered(supportedVersions=["2025-06-18"]))
    shake_hands(partner, "2025-06-18")

    with opening.result() as client:
        assert client.protocol_version == "2025-06-18"


@pytest.mark.parametrize("answered", ["2099-01-01", "2026-07-28", "", None, 7])
def test_an_answer_that_we_cannot_speak_ends_the_connection(answered: object) -> None:
    """B198, VER-13: also a stateless version in the handshake."""
    opening, partner = begin("2025-11-25")
    partner.serve("initialize", {"protocolVersion": answered, "capabilities": {}, "serverInfo": INFO})

    with pytest.raises(syncline.NoCommonRevision, match="partner: initialize"):
        opening.result()
    with pytest.raises(syncline.ConnectionClosed):
        partner.next()


@pytest.mark.parametrize("data", [{"supported": ["2025-06-18"]}, None])
def test_a_refused_handshake_is_repeated_with_an_older_revision(data: object) -> None:
    """B196, VER-20."""
    opening, partner = begin("2025-11-25")
    partner.serve("initialize", error={"code": -32602, "message": "Unsupported protocol version", "data": data})
    request = shake_hands(partner, "2025-06-18")

    with opening.result() as client:
        assert client.protocol_version == "2025-06-18"
    assert request["params"]["protocolVersion"] == "2025-06-18"


def test_refusing_every_revision_is_an_error_with_the_servers_words() -> None:
    """B196: bounded."""
    opening, partner = begin("2025-11-25")
    for _ in HANDSHAKE:
        partner.serve("initialize", error={"code": -32602, "message": "nothing pleases me"})

    with pytest.raises(syncline.InvalidParams, match="nothing pleases me"):
        opening.result()


def test_a_pinned_stateless_revision_never_falls_back() -> None:
    """ERA-6."""
    opening, partner = begin("2026-07-28")
    partner.serve("server/discover", error={"code": -32601, "message": "what?"})

    with pytest.raises(syncline.NoCommonRevision, match="does not speak 2026-07-28"):
        opening.result()


# Over HTTP

Http = Callable[..., McpHttpServer]


@pytest.mark.parametrize("answer", ["json", "sse"])
@pytest.mark.parametrize("revision", [*HANDSHAKE, "2026-07-28"])
def test_each_revision_over_http(http_server: Http, revision: str, answer: str) -> None:
    """PVH-1, PVH-4, trap 5: the version header is right on each request, and absent from the handshake itself."""
    server = http_server(versions=[revision], answer=answer)
    with syncline.connect(server.url) as client:
        assert client.protocol_version == revision
        assert client.call_tool("echo", {"text": "hi"}).text == "hi"

    for request in server.requests:
        said = request.header("MCP-Protocol-Version")
        if request.rpc == "server/discover" or revision == "2026-07-28":
            assert said == "2026-07-28"
        elif request.rpc == "initialize" or revision < "2025-06-18":
            assert said is None
        else:
            assert said == revision


@pytest.mark.parametrize("status", [500, 503, 401, 403, 429])
def test_what_says_nothing_about_the_era_is_raised(http_server: Http, status: int) -> None:
    """ERA-12, trap 2: no initialize follows."""
    server = http_server()
    server.arm(status, 2, method="server/discover")
    twice = syncline.RetryPolicy(connect=2, backoff=syncline.Backoff(base=0.01, cap=0.02))

    with pytest.raises((syncline.HttpStatusError, syncline.AuthRequired)) as caught:
        syncline.connect(server.url, retry=twice)
    assert getattr(caught.value, "status", None) == status
    assert {request.rpc for request in server.requests} == {"server/discover"}


@pytest.mark.parametrize("status", [400, 404, 405])
def test_a_refusal_without_a_modern_error_leads_to_the_handshake(http_server: Http, status: int) -> None:
    """ERA-12."""
    server = http_server(versions=["2025-06-18"])
    server.arm(status, 1, method="server/discover", body=b"no")

    with syncline.connect(server.url) as client:
        assert client.protocol_version == "2025-06-18"


@pytest.mark.parametrize("body", [b"{}", b'{"error": {"code": -32602, "data": {"supported": ["2025-06-18"]}}}'])
def test_a_400_to_the_handshake_leads_to_an_older_revision(http_server: Http, body: bytes) -> None:
    """B196."""
    server = http_server(versions=["2025-06-18"])
    server.arm(400, 1, method="initialize", body=body)

    with syncline.connect(server.url, protocol_version="2025-11-25") as client:
        assert client.protocol_version == "2025-06-18"


def test_what_was_found_out_is_remembered(http_server: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    """ERA-30, ERA-31."""
    monkeypatch.setattr(EraMemory, "shared", EraMemory())
    server = http_server(versions=["2025-11-25"])
    for _ in range(2):
        syncline.connect(server.url).close()

    probes = [request for request in server.requests if request.rpc == "server/discover"]
    assert len(probes) == 1
    assert len(server.calls("initialize")) == 2


def test_a_server_without_a_name_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that makes a client for each job grows by nothing."""
    memory = EraMemory()
    monkeypatch.setattr(EraMemory, "shared", memory)
    for _ in range(3):
        opening, partner = begin()
        partner.serve("server/discover", discovered())
        opening.result().close()
    assert memory._eras == {}


@pytest.mark.parametrize("code", [-32022, -32601, -32602])
def test_a_wrong_memory_is_corrected(http_server: Http, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """ERA-31: the server was replaced by one of the other era, which refuses the handshake in one way or another."""
    monkeypatch.setattr(EraMemory, "shared", EraMemory())
    before = http_server(versions=["2025-11-25"])
    syncline.connect(before.url).close()
    before.close()
    after = http_server(versions=["2026-07-28"], port=before.port)
    error = {"code": code, "message": "no", "data": {"supported": ["2026-07-28"]} if code == -32022 else None}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error})
    after.arm(400, 10, method="initialize", body=body, media_type="application/json")

    for _ in range(2):
        with syncline.connect(after.url) as client:
            assert client.protocol_version == "2026-07-28"
    assert len(after.calls("initialize")) <= 5
    assert after.requests[-1].rpc == "server/discover"

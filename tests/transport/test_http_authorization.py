"""What the transport asks of whoever speaks for us, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.errors import AuthRequired, SynclineError
from syncline.transport.base import Outgoing
from tests.fixtures.http import SOON, reach
from tools.fakeserver.scripted import Exchange, ScriptedServer

Serve = Callable[..., ScriptedServer]


class Speaker:
    """An ``Authorization`` with another proof for each request, and the credentials that it is told to have."""

    def __init__(self, *credentials: str) -> None:
        self.credentials = list(credentials)
        self.proofs = 0
        self.counts: list[int] = []
        self.asking: list[bool] = []
        self.heard: list[tuple[str, str | None]] = []
        self.peers: list[str | None] = []

    def headers(self, verb: str, url: str, deadline: Deadline) -> Mapping[str, str]:
        self.proofs += 1
        return {"Authorization": self.credentials[0], "DPoP": f"planted-proof-{self.proofs}"}

    def refused(
        self,
        sent: Mapping[str, str],
        status: int,
        challenges: Sequence[str],
        before: int,
        deadline: Deadline,
        *,
        asking: bool,
    ) -> bool:
        self.counts.append(before)
        self.asking.append(asking)
        if len(self.credentials) == 1:
            return False
        del self.credentials[0]
        return True

    def answered(self, url: str, headers: Mapping[str, str], peer: str | None) -> None:
        self.heard.append((url, headers.get("dpop-nonce")))
        self.peers.append(peer)

    def close(self) -> None: ...


def fine(exchange: Exchange) -> None:
    exchange.json({"jsonrpc": "2.0", "id": exchange.request.id, "result": {}}, headers=[("DPoP-Nonce", "n2")])


def refuse(exchange: Exchange) -> None:
    exchange.respond(401, headers=[("WWW-Authenticate", "DPoP"), ("DPoP-Nonce", "n1")])


def proofs(server: ScriptedServer) -> list[str | None]:
    return [request.header("DPoP") for request in server.requests]


def test_a_message_that_is_sent_again_on_a_fresh_connection_has_a_proof_of_its_own(scripted_server: Serve) -> None:
    """DP-7: the first one may have arrived."""
    server = scripted_server(fine, lambda exchange: exchange.close(), fine)
    with reach(server.url, authorization=Speaker("planted")) as peer:
        peer.send(1)
        assert peer.send(2, repeatable=True)["id"] == 2
    assert [request.id for request in server.requests] == [1, 2, 2]
    assert proofs(server) == ["planted-proof-1", "planted-proof-2", "planted-proof-3"]


def test_every_answer_is_heard_whatever_it_says(scripted_server: Serve) -> None:
    server = scripted_server(refuse, fine)
    speaker = Speaker("planted-1", "planted-2")
    with reach(server.url, authorization=speaker) as peer:
        peer.send(1)
    assert speaker.heard == [(server.url, "n1"), (server.url, "n2")]
    assert speaker.peers == ["127.0.0.1", None]


def test_refusals_of_the_same_credentials_are_one(scripted_server: Serve) -> None:
    """A refusal for want of a nonce says nothing about the token."""
    server = scripted_server(refuse, refuse, refuse, fine)
    speaker = Speaker("planted-1", "planted-1", "planted-2", "planted-3")
    with reach(server.url, authorization=speaker) as peer:
        assert peer.send(1)["id"] == 1
    assert speaker.counts == [0, 0, 1]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("way", ["streamable", "resumed", "HTTP+SSE"])
def test_nobody_is_asked_for_a_stream_that_stays_open(scripted_server: Serve, way: str, stream: bool) -> None:
    """X-6: nor for the rest of one."""

    def begin(exchange: Exchange) -> None:
        exchange.sse()
        exchange.event("/messages", name="endpoint", ident="1")
        if way == "resumed":
            exchange.close()
        else:
            exchange.hold()

    server = scripted_server(*([begin, refuse] if way != "streamable" else [refuse]))
    speaker = Speaker("planted")
    with reach(server.url, authorization=speaker) as peer:
        transport = peer.transport.legacy() if way == "HTTP+SSE" else peer.transport
        transport.start(peer.inbox, Deadline(SOON))
        with pytest.raises(SynclineError, match="credentials"):
            transport.send(Outgoing(b"{}", "request", "events/stream", 1, stream=stream), Deadline(SOON))
        transport.close(Deadline(SOON))
    assert speaker.asking == [not stream]


def test_somebody_is_asked_for_the_stream_that_a_connection_begins_with(scripted_server: Serve) -> None:
    """HTTP+SSE: whoever connects waits for it."""
    speaker = Speaker("planted")
    with reach(scripted_server(refuse).url, authorization=speaker) as peer, pytest.raises(AuthRequired):
        peer.transport.legacy().start(peer.inbox, Deadline(SOON))
    assert speaker.asking == [True]


@pytest.mark.parametrize(
    ("credentials", "requests"), [([f"planted-{turn}" for turn in range(20)], 5), (["planted"] * 20, 9)]
)
def test_a_server_that_refuses_everything_is_not_asked_for_ever(
    scripted_server: Serve, credentials: list[str], requests: int
) -> None:
    server = scripted_server(*[refuse] * 20)
    with reach(server.url, authorization=Speaker(*credentials)) as peer, pytest.raises(SynclineError):
        peer.send(1)
    assert len(server.requests) == requests

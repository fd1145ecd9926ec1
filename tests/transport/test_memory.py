from __future__ import annotations

import threading

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.errors import ConnectionClosed, ConnectionLost
from syncline.transport.memory import pair
from tests.fixtures.stdio import SOON, Collector, message


def test_messages_go_both_ways() -> None:
    transport, peer = pair()
    sink = Collector()
    transport.start(sink, Deadline(1))
    transport.send(message(b'{"id":1}'), Deadline(1))
    assert peer.receive(SOON) == b'{"id":1}'
    peer.send(b'{"result":1}')
    assert sink.messages.get_nowait() == b'{"result":1}'  # delivered before send() returned


def test_what_is_sent_before_anybody_receives_is_kept_in_order() -> None:
    transport, peer = pair()
    transport.start(Collector(), Deadline(1))
    for number in range(100):
        transport.send(message(b"%d" % number), Deadline(1))
    assert [peer.receive(SOON) for _ in range(100)] == [b"%d" % number for number in range(100)]


def test_a_peer_does_not_wait_for_ever() -> None:
    _, peer = pair()
    with pytest.raises(TimeoutError):
        peer.receive(0.01)


def test_closing_ends_a_peer_that_waits() -> None:
    transport, peer = pair("paired")
    transport.start(Collector(), Deadline(1))
    ended: list[ConnectionClosed] = []

    def serve() -> None:
        try:
            peer.receive(SOON)
        except ConnectionClosed as error:
            ended.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    transport.close(Deadline(1))
    thread.join(SOON)
    assert str(ended[0]).startswith("paired: ")


def test_after_closing() -> None:
    transport, peer = pair()
    sink = Collector()
    transport.start(sink, Deadline(1))
    transport.send(message(b"last"), Deadline(1))
    transport.close(Deadline(1))
    transport.close(Deadline(1))
    assert peer.receive(SOON) == b"last"
    for _ in range(2):
        with pytest.raises(ConnectionClosed):
            peer.receive(SOON)
    with pytest.raises(ConnectionClosed):
        transport.send(message(b"more"), Deadline(1))
    with pytest.raises(ConnectionClosed):
        peer.send(b"more")
    with pytest.raises(ConnectionClosed):
        transport.start(sink, Deadline(1))
    peer.close()
    assert sink.ends.empty()  # we closed it, so it was not lost
    assert sink.messages.empty()


def test_a_peer_that_leaves_is_a_lost_connection_once() -> None:
    transport, peer = pair("paired")
    sink = Collector()
    transport.start(sink, Deadline(1))
    peer.close()
    peer.close()
    error = sink.ends.get_nowait()
    assert isinstance(error, ConnectionLost)
    assert error.server == "paired"
    assert sink.ends.empty()
    with pytest.raises(ConnectionLost):
        transport.send(message(b"more"), Deadline(1))
    with pytest.raises(ConnectionClosed):
        peer.send(b"more")


def test_a_peer_can_leave_before_the_client_starts() -> None:
    transport, peer = pair()
    with pytest.raises(ConnectionClosed):
        peer.send(b"early")
    peer.close()
    with pytest.raises(ConnectionLost):
        transport.start(Collector(), Deadline(1))


def test_a_forked_child_has_no_peer() -> None:
    transport, _ = pair()
    transport.start(Collector(), Deadline(1))
    transport.disown()
    with pytest.raises(ConnectionClosed):
        transport.send(message(b"x"), Deadline(1))

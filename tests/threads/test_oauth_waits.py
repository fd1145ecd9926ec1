"""OAuth while somebody is waited for: a person, an authorization server, another thread. Each of these waits can be ended."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
import requests

import syncline
from syncline.auth.stores.memory import MemoryStore
from syncline.config import Timeouts
from tests.fixtures.logins import SOON, Someone, browse, oauth
from tests.fixtures.managers import MODERN
from tests.fixtures.partner import Background
from tools.fakeserver.authorization import ProtectedMcpServer
from tools.fakeserver.scripted import Exchange

Protected = Callable[..., ProtectedMcpServer]


@pytest.fixture
def absent(someone: Someone) -> Iterator[Someone]:
    """A person who has been sent to log in, and is still thinking about it."""
    someone.go.clear()
    yield someone
    someone.go.set()


def logged_in(server: ProtectedMcpServer) -> MemoryStore:
    """A store with tokens that are still good."""
    person, store = Someone(), MemoryStore()
    syncline.connect(server.url, auth=oauth(visit=person, store=store)).close()
    person.join()
    return store


def is_free(place: str | None) -> bool:
    """Whether nobody listens any more where a browser was to come back to."""
    port = urlsplit(place or "").port
    assert port is not None
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


# A person


def test_the_clock_stands_still_while_a_person_is_asked(protected: Protected, absent: Someone) -> None:
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=absent, store=logged_in(server))) as client:
        issuer.end_logins()
        calling = Background(lambda: client.call_tool("echo", {"text": "x"}, timeout=3).text)
        assert absent.came.wait(SOON)
        with pytest.raises(AssertionError):  # longer than the call may take
            issuer.wait_until(lambda: issuer.counts["authorize"] == 2, 3.5)
        absent.go.set()
        assert calling.result() == "x"


def test_the_clock_stands_still_while_a_person_reads_a_code(protected: Protected) -> None:
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities

    def visit(_: syncline.Visit) -> None:
        threading.Event().wait(3.5)  # longer than the call may take
        issuer.approved.set()

    auth = oauth(visit=visit, store=logged_in(server), device=True)
    with syncline.connect(server.url, auth=auth) as client:
        issuer.end_logins()
        assert client.call_tool("echo", {"text": "x"}, timeout=3).text == "x"


def test_a_person_is_asked_one_thing_at_a_time(protected: Protected, someone: Someone) -> None:
    """However many servers want a login at once: where to paste a URL would not be clear otherwise."""
    servers = [protected(versions=[MODERN]) for _ in range(6)]
    asked: list[str] = []
    most: list[int] = []

    def visit(what: syncline.Visit) -> str:
        asked.append(what.server)
        most.append(len(asked))
        threading.Event().wait(0.05)
        asked.remove(what.server)
        return someone.paste(what)

    auth = oauth(visit=visit)
    calls = [
        Background(lambda url=each.url: syncline.call_tool(url, "echo", {"text": "x"}, auth=auth).text)  # type: ignore[misc]
        for each in servers
    ]
    assert [each.result() for each in calls] == ["x"] * 6
    assert most == [1] * 6


def test_close_ends_the_wait_for_a_person_who_is_busy(protected: Protected) -> None:
    first, second = protected(versions=[MODERN]), protected(versions=[MODERN])
    store = logged_in(second)
    busy, done = threading.Event(), threading.Event()

    def visit(_: syncline.Visit) -> str:
        busy.set()
        assert done.wait(SOON)
        return ""

    waiting = Background(lambda: syncline.connect(first.url, auth=oauth(visit=visit)))
    assert busy.wait(SOON)
    (issuer,) = second.authorities
    with syncline.connect(second.url, auth=oauth(visit=visit, store=store)) as client:
        issuer.clients.clear()  # so that it registers again, which is the last thing before somebody is asked
        issuer.end_logins()
        calling = Background(lambda: client.call_tool("echo", {"text": "x"}))
        issuer.wait_until(lambda: issuer.counts["register"] == 2)
    with pytest.raises(syncline.ConnectionClosed):
        calling.result()
    done.set()
    with pytest.raises(syncline.AuthDenied):
        waiting.result()


def test_close_ends_the_wait_for_a_person(protected: Protected, absent: Someone) -> None:
    """L-5: and the port is free again."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=absent, store=logged_in(server))) as client:
        issuer.end_logins()
        calling = Background(lambda: client.call_tool("echo", {"text": "x"}))
        assert absent.came.wait(SOON)
    with pytest.raises(syncline.ConnectionClosed):
        calling.result()
    assert is_free(absent.visits[0].redirect_uri)


def test_ctrl_c_ends_the_wait_for_a_person(protected: Protected, absent: Someone) -> None:
    """L-5: the next call asks again."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities

    def interrupt() -> None:
        assert absent.came.wait(SOON)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with syncline.connect(server.url, auth=oauth(visit=absent, store=logged_in(server))) as client:
        issuer.end_logins()
        interrupting = Background(interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("echo", {"text": "x"})
        interrupting.result()
        assert is_free(absent.visits[0].redirect_uri)
        absent.go.set()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert len(absent.visits) == 2


def test_the_total_of_a_call_ends_the_wait_for_a_person(protected: Protected, absent: Someone) -> None:
    """L-5."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with syncline.connect(server.url, auth=oauth(visit=absent, store=logged_in(server))) as client:
        issuer.end_logins()
        with pytest.raises(syncline.AuthDenied, match="nobody came back from the browser in time"):
            client.call_tool("echo", {"text": "x"}, timeout=Timeouts(call=3, call_total=3))
    assert is_free(absent.visits[0].redirect_uri)


def test_close_ends_the_wait_for_a_code(protected: Protected) -> None:
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    shown = threading.Event()
    auth = oauth(visit=lambda _: shown.set(), store=logged_in(server), device=True)
    with syncline.connect(server.url, auth=auth) as client:
        issuer.end_logins()
        calling = Background(lambda: client.call_tool("echo", {"text": "x"}))
        assert shown.wait(SOON)
    with pytest.raises(syncline.ConnectionClosed):
        calling.result()


def test_what_asking_a_person_raises(protected: Protected) -> None:
    """It is raised by the call, and nobody listens any more."""
    server = protected(versions=[MODERN])
    seen: list[syncline.Visit] = []

    def visit(what: syncline.Visit) -> None:
        seen.append(what)
        raise LookupError("no browser here")

    with pytest.raises(LookupError, match="no browser here"):
        syncline.connect(server.url, auth=oauth(visit=visit))
    assert is_free(seen[0].redirect_uri)


def test_a_browser_that_is_waited_for(protected: Protected, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends the person away may return only when they are back, as browsers without windows do."""
    monkeypatch.setattr("syncline.identity.loopback.HELD", 0.01)
    pages: list[str] = []
    auth = oauth(visit=lambda what: pages.append(browse(what.url)[1]))
    server = protected(versions=[MODERN])
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=auth).text == "x"
    assert ["Close this window; the program goes on then." in page for page in pages] == [True]
    assert is_free(server.authorities[0].visits[0]["redirect_uri"])


def test_a_browser_that_is_back_before_the_person_is_known_to_be_there(
    protected: Protected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("syncline.identity.loopback.HELD", SOON)
    pages: list[Background[tuple[int, str]]] = []
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities

    def visit(what: syncline.Visit) -> None:
        pages.append(Background(lambda: browse(what.url)))
        issuer.wait_until(lambda: issuer.counts["authorize"] == 1)

    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=oauth(visit=visit)).text == "x"
    assert "You are logged in" in pages[0].result()[1]


@pytest.mark.parametrize("answer", [True, 5, b"http://127.0.0.1/callback"], ids=["bool", "int", "bytes"])
def test_what_asking_a_person_must_not_return(protected: Protected, answer: object) -> None:
    auth = oauth(visit=lambda _: answer)
    with pytest.raises(syncline.ConfigError, match=f"came back to, or None, not {type(answer).__name__}"):
        syncline.connect(protected().url, auth=auth)


def test_a_second_answer_of_the_browser(protected: Protected) -> None:
    """It changes nothing, and whoever sent it is not left waiting."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    gate = threading.Event()
    browsers: list[Background[int]] = []

    def status(url: str) -> int:
        try:
            return browse(url)[0]
        except OSError:
            return 0

    def visit(what: syncline.Visit) -> None:
        back = requests.get(what.url, allow_redirects=False, timeout=SOON).headers["Location"]
        browsers.append(Background(lambda: status(back)))
        issuer.hold("token", gate)
        again.append(back)

    again: list[str] = []
    calling = Background(lambda: syncline.call_tool(server.url, "echo", {"text": "x"}, auth=oauth(visit=visit)).text)
    issuer.wait_until(lambda: issuer.counts["token"] == 1)
    browsers.append(Background(lambda: status(again[0])))
    gate.set()
    assert calling.result() == "x"
    assert [browser.result() for browser in browsers] == [200, 0]
    assert issuer.counts["token"] == 1


def test_a_port_that_is_taken(protected: Protected, someone: Someone) -> None:
    """B156: it is named, before anybody is asked or registered."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(syncline.ConfigError, match=f"port {port} of this machine") as caught:
            syncline.connect(server.url, auth=oauth(visit=someone, redirect_port=port))
    assert "redirect_port" in str(caught.value)
    assert not someone.visits
    assert issuer.counts["register"] == 0
    syncline.connect(server.url, auth=oauth(visit=someone, redirect_port=port)).close()
    assert urlsplit(someone.visits[0].redirect_uri or "").port == port


def test_people_come_back_to_where_they_were_registered(protected: Protected, someone: Someone) -> None:
    """While that is free; else the program registers itself again."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.refresh = False
    with syncline.connect(server.url, auth=oauth(visit=someone)) as client:
        issuer.end_access()
        client.call_tool("echo", {"text": "x"})
        assert issuer.counts["register"] == 1
        issuer.end_access()
        with socket.create_server(("127.0.0.1", urlsplit(someone.visits[0].redirect_uri or "").port or 0)):
            client.call_tool("echo", {"text": "x"})
    assert issuer.counts["register"] == 2
    first, second, third = (visit.redirect_uri for visit in someone.visits)
    assert first == second != third


def test_somebody_listens_before_anybody_is_told_where(protected: Protected, someone: Someone) -> None:
    """L-2, Z-12: the port is ours when it is registered, at an address that no name can be put in the place of."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    told: list[tuple[str, bool]] = []

    def register(exchange: Exchange) -> None:
        (place,) = exchange.request.json()["redirect_uris"]
        told.append((urlsplit(place).hostname or "", is_free(place)))
        issuer._register(exchange)

    issuer.arm("register", register)
    syncline.connect(server.url, auth=oauth(visit=someone)).close()
    assert told == [("127.0.0.1", False)]
    assert someone.visits[0].redirect_uri == issuer.visits[0]["redirect_uri"]


# An authorization server


def test_close_ends_the_wait_for_a_refresh(protected: Protected) -> None:
    """B151: the refresh goes on: what it brings is kept."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    store, gate = logged_in(server), threading.Event()
    (key,) = store.keys()
    before = store.load(key)
    with syncline.connect(server.url, auth=oauth(store=store)) as client:
        issuer.end_access()
        issuer.hold("token", gate)
        calling = Background(lambda: client.call_tool("echo", {"text": "x"}))
        issuer.wait_until(lambda: issuer.counts["token"] == 2)
    with pytest.raises(syncline.ConnectionClosed):
        calling.result()
    assert store.load(key) == before
    gate.set()
    assert syncline.call_tool(server.url, "echo", {"text": "x"}, auth=oauth(store=store)).text == "x"
    assert issuer.grants["refresh_token"] == 1


def test_the_deadline_ends_the_wait_for_a_refresh(protected: Protected) -> None:
    """4.166: the message is not sent again, and the next call has the new token."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    store, gate = logged_in(server), threading.Event()
    with syncline.connect(server.url, auth=oauth(store=store)) as client:
        issuer.end_access()
        issuer.hold("token", gate)
        with pytest.raises(syncline.RequestTimeout):
            client.call_tool("echo", {"text": "x"}, timeout=2)
        assert len(server.calls("tools/call")) == 1
        gate.set()
        assert client.call_tool("echo", {"text": "x"}).text == "x"
    assert issuer.grants["refresh_token"] == 1


@pytest.mark.parametrize("how", ["close", "deadline"])
def test_metadata_that_does_not_come(protected: Protected, someone: Someone, how: str) -> None:
    """B160."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    issuer.refresh = False
    with syncline.connect(server.url, auth=oauth(visit=someone, store=logged_in(server))) as client:
        issuer.end_access()
        gate = threading.Event()
        before = issuer.counts["metadata"]
        issuer.hold("metadata", gate)
        timeout = 2 if how == "deadline" else None
        calling = Background(lambda: client.call_tool("echo", {"text": "x"}, timeout=timeout))
        issuer.wait_until(lambda: issuer.counts["metadata"] > before)
        if how == "close":
            client.close()
        with pytest.raises(syncline.ConnectionClosed if how == "close" else syncline.RequestTimeout):
            calling.result()
        gate.set()
    assert not someone.visits


# Another thread


def test_a_client_that_waits_for_the_login_of_another_one(protected: Protected, absent: Someone) -> None:
    """It can be closed, it can run out of time, and Ctrl-C ends it; the login goes on."""
    server = protected(versions=[MODERN])
    (issuer,) = server.authorities
    auth = oauth(visit=absent, store=logged_in(server))
    with syncline.connect(server.url, auth=auth) as first, syncline.connect(server.url, auth=auth) as second:
        issuer.end_logins()
        logging_in = Background(lambda: first.call_tool("echo", {"text": "first"}))
        assert absent.came.wait(SOON)
        with pytest.raises(syncline.RequestTimeout, match="somebody else is logging in"):
            second.call_tool("echo", {"text": "second"}, timeout=2)
        refused = len(server.sent("tools/call"))
        waiting = Background(lambda: second.call_tool("echo", {"text": "second"}))
        server.wait_until(lambda: len(server.sent("tools/call")) > refused)
        second.close()
        with pytest.raises(syncline.ConnectionClosed):
            waiting.result()
        absent.go.set()
        assert logging_in.result().text == "first"
    assert len(absent.visits) == 1

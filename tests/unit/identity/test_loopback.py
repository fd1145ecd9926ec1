"""The page that a browser comes back to: what it takes, what it turns away, and how waiting for it ends."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.errors import AuthDenied, ConfigError, ConnectionClosed
from syncline.identity import loopback as loopback_module
from syncline.identity.loopback import MANY, MOST, Arrival, Loopback
from tests.fixtures.partner import Background

SOON = 20.0


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    page = Loopback()
    yield page
    page.close()


def connect(loopback: Loopback) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(loopback.redirect_uri).port or 0), SOON)


def say(loopback: Loopback, request: bytes) -> bytes:
    """What is answered to these bytes; nothing where the connection is just ended."""
    with connect(loopback) as browser:
        try:
            browser.sendall(request)
            with contextlib.suppress(OSError):  # it may have been hung up on
                browser.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: browser.recv(65536), b""))
        except ConnectionError:
            return b""


def come_back(browser: socket.socket, query: bytes = b"state=s") -> None:
    browser.sendall(b"GET /callback?%b HTTP/1.1\r\nHost: 127.0.0.1:4711\r\n\r\n" % query)


def waiting(loopback: Loopback, over: CancelToken | None = None) -> Background[str]:
    return Background(lambda: loopback.wait(lambda url: "state=s" in url, over or CancelToken(), Deadline(SOON)))


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /callback?state=other HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /callback/more?state=s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /favicon.ico HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET //127.0.0.1/callback?state=s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"HEAD /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /callback?state=s\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /callback?state=s HTTP/1.1\r\n\r\n",
        b"GET /callback?state=s HTTP/1.1\r\nHost: rebound.test\r\n\r\n",
        b"GET /callback?state=s HTTP/1.1\r\nHost: \r\n\r\n",
        b"GET /callback?state=s HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: rebound.test\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"",
        b"GET /callback?state=s&" + b"x" * MOST,
    ],
    ids=[
        "state",
        "path",
        "icon",
        "slashes",
        "post",
        "head",
        "no version",
        "no host",
        "host",
        "empty host",
        "two hosts",
        "tls",
        "nothing",
        "too long",
    ],
)
def test_what_is_turned_away(loopback: Loopback, request_: bytes) -> None:
    """L-3, L-4, B157: the wait goes on, and the one that belongs to the login ends it."""
    wait = waiting(loopback)
    answer = say(loopback, request_)
    assert b"200 OK" not in answer
    browser = connect(loopback)
    with browser:
        come_back(browser, b"code=c&state=s")
        assert wait.result() == loopback.redirect_uri + "?code=c&state=s"
        loopback.finish(well=True)
        assert b"You are logged in" in b"".join(iter(lambda: browser.recv(65536), b""))


def test_a_browser_that_hangs_up_by_a_reset(loopback: Loopback) -> None:
    wait = waiting(loopback)
    with connect(loopback) as browser:
        browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        browser.sendall(b"GET /call")
    browser = connect(loopback)
    with browser:
        come_back(browser)
        assert wait.result()


@pytest.mark.parametrize(
    ("count", "turned_away", "said"),
    [(MANY, 0, b""), (MANY, 0, b"GET /callback?state=s"), (MANY + 10, 10, b"")],
)
def test_browsers_that_say_nothing_hold_nobody_up(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch, count: int, turned_away: int, said: bytes
) -> None:
    """Browsers open connections that they may need, and a page may open many; the next one is heard all the same."""
    monkeypatch.setattr(loopback_module, "SILENCE", 1000.0)
    wait = waiting(loopback)
    with contextlib.ExitStack() as silent:
        browsers = [silent.enter_context(connect(loopback)) for _ in range(count)]
        for each in browsers:
            each.sendall(said)
        for each in browsers[:turned_away]:
            assert each.recv(100).startswith(b"HTTP/1.1 404")
        with connect(loopback) as browser:
            come_back(browser)
            assert wait.result()
        for each in browsers[turned_away + 1 :]:
            with contextlib.suppress(ConnectionResetError):  # where it had not been listened to yet
                assert each.recv(100) == b""


def test_a_browser_that_says_nothing_is_turned_away(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loopback_module, "SILENCE", 0.05)
    over = CancelToken()
    wait = waiting(loopback, over)
    with connect(loopback) as silent:
        assert silent.recv(100).startswith(b"HTTP/1.1 404")
        over.cancel(ConnectionClosed("closed"))
        with pytest.raises(ConnectionClosed):
            wait.result()


def test_the_wait_is_over_while_a_browser_says_nothing(loopback: Loopback) -> None:
    over = CancelToken()
    wait = waiting(loopback, over)
    with connect(loopback) as silent:
        silent.sendall(b"GET ")
        over.cancel(ConnectionClosed("closed"))
        with pytest.raises(ConnectionClosed):
            wait.result()


def test_somebody_who_returns_only_after_the_browser_shows_something(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a browser in the terminal, or who pastes what theirs shows. Strangers are turned away meanwhile."""
    monkeypatch.setattr(loopback_module, "HELD", 0.01)
    with Arrival(loopback, lambda url: "state=s" in url, CancelToken(), Deadline(SOON)) as arrival:
        assert b"Nothing here" in say(loopback, b"GET /callback?state=other HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        shown = say(loopback, b"GET /callback?code=c&state=s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"Go back to the program" in shown
        assert arrival.url() == loopback.redirect_uri + "?code=c&state=s"
    loopback.finish(well=True)


def test_somebody_who_returns_at_once(loopback: Loopback) -> None:
    """The browser is shown how it went."""
    with connect(loopback) as browser:
        with Arrival(loopback, lambda _: True, CancelToken(), Deadline(SOON)) as arrival:
            come_back(browser)
            assert arrival.url().endswith("?state=s")
        loopback.finish(well=True)
        assert b"You are logged in" in b"".join(iter(lambda: browser.recv(65536), b""))


@pytest.mark.parametrize("given_up", [True, False])
def test_nobody_comes_back_while_somebody_is_sent_there(loopback: Loopback, given_up: bool) -> None:
    over = CancelToken()
    with Arrival(loopback, lambda _: True, over, Deadline(SOON if given_up else 0.05)) as arrival:
        if given_up:
            over.cancel(ConnectionClosed("closed"))
        with pytest.raises(ConnectionClosed if given_up else AuthDenied):
            arrival.url()


def test_nobody_comes_back_in_time(loopback: Loopback) -> None:
    with pytest.raises(AuthDenied, match="in time"):
        loopback.wait(lambda _: True, CancelToken(), Deadline(0.05))


def test_the_page_says_how_it_went_and_nothing_else(loopback: Loopback) -> None:
    """L-4: it repeats nothing; it is not kept, and says nothing to where people go from there."""
    wait = waiting(loopback)
    with connect(loopback) as browser:
        come_back(browser, b"state=s&error=access_denied&error_description=%3Cscript%3Eplanted")
        wait.result()
        loopback.finish(well=False)
        loopback.finish(well=True)
        page = b"".join(iter(lambda: browser.recv(65536), b"")).decode()
    head, _, body = page.partition("\r\n\r\n")
    assert "The login did not work" in body
    assert "The program that asked for it says why." in body
    for word in ("script", "planted", "access_denied", "logged in"):
        assert word not in body
    for header in ("Cache-Control: no-store", "Referrer-Policy: no-referrer", "default-src 'none'"):
        assert header in head


def test_a_browser_that_is_still_there_at_the_end_is_told() -> None:
    loopback = Loopback()
    wait = waiting(loopback)
    with connect(loopback) as browser:
        come_back(browser)
        wait.result()
        loopback.close()
        assert b"The login did not work" in b"".join(iter(lambda: browser.recv(65536), b""))


def test_it_listens_on_this_machine_only(loopback: Loopback) -> None:
    """L-2: and the port is taken before anybody is told of it."""
    assert loopback._listening.getsockname()[0] == "127.0.0.1"
    port = urlsplit(loopback.redirect_uri).port
    with pytest.raises(ConfigError, match=f"port {port} "):
        Loopback(port or 0)

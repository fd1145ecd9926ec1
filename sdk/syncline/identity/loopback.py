"""Where a browser comes back to: one page on this machine (RFC 8252, 7.3)."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

from syncline.auth import urls
from syncline.concurrency.cancel import CancelToken
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.slot import ReplySlot
from syncline.concurrency.workers import join, spawn
from syncline.errors import AuthDenied, ConfigError, ConnectionClosed

if TYPE_CHECKING:
    from typing_extensions import Self

PATH = "/callback"
#: Seconds that a browser has to say what it wants, and bytes that it may take for that.
SILENCE, MOST = 2.0, 16_384
#: Seconds that a browser is held while whoever sent it there has not returned.
HELD = 3.0
#: Browsers that may be there at once and have not said anything yet.
MANY = 64

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<body style="font: 1.1em system-ui, sans-serif; max-width: 32em; margin: 4em auto; padding: 0 1em">
<h1>{title}</h1><p>{text}</p></body></html>
"""


class Loopback:
    """Listens on 127.0.0.1 for the one request of a browser that belongs to a login; holds it until the login has ended.

    Its pages say nothing of what anybody else said, in a URL or at an endpoint.

    Args:
        port: The port; 0 for any that is free.

    Attributes:
        redirect_uri: Where the browser is to be sent.

    Raises ``ConfigError`` for a port that is taken.
    """

    def __init__(self, port: int = 0) -> None:
        try:
            self._listening = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            raise ConfigError(
                f"port {port} of this machine, for the way back from the browser, cannot be used: {os.strerror(error.errno or 0)}; "
                "choose another redirect_port, or 0 for any"
            ) from error
        self._browser: socket.socket | None = None
        self._origin = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.redirect_uri = self._origin + PATH

    def wait(self, belongs: Callable[[str], bool], over: CancelToken, deadline: Deadline) -> str:
        """The URL that the browser came back to, the first one that belongs to the login; what else comes is turned away.

        Blocks until then. Ends within half a second when it is ``over`` (``ConnectionClosed``) or the deadline has passed
        (``AuthDenied``), and on Ctrl-C.
        """
        with _Crowd(self._listening) as crowd:
            while not over.cancelled:
                if deadline.expired:
                    raise AuthDenied(
                        "nobody came back from the browser in time: log in again; if its page showed an error, log out first, so "
                        "that this program registers itself anew"
                    )
                for browser, target in crowd.heard(deadline.nap()):
                    came_back = f"{self._origin}{target}"
                    if target is not None and target.partition("?")[0] == PATH and belongs(came_back):
                        self._browser = browser
                        return came_back
                    _answer(browser, "404 Not Found", "Nothing here", "This page is for the end of a login only.")
        raise ConnectionClosed("the login was given up")

    def finish(self, *, well: bool) -> None:
        """Tell the person at the browser how it went."""
        browser, self._browser = self._browser, None
        if browser is None:
            return
        if well:
            _answer(browser, "200 OK", "You are logged in", "This window can be closed.")
        else:
            _answer(browser, "200 OK", "The login did not work", "The program that asked for it says why.")

    def let_go(self) -> None:
        """Leave the person at the browser before it is known how it went."""
        browser, self._browser = self._browser, None
        if browser is not None:
            copy = "If it asks for the address of this page, copy it there first."
            _answer(browser, "200 OK", "Go back to the program", f"{copy} Close this window; the program goes on then.")

    def close(self) -> None:
        """Stop listening."""
        self.finish(well=False)
        self._listening.close()


class Arrival:
    """Waits for the browser while a person is sent there: from ``with`` on, on a thread that has ended when that is left.

    Whoever sends them may be a browser in the foreground, somebody who pastes what theirs shows, or a program that plays the
    person, and return only when that has its page. So a browser that is back before then is not held for long.
    """

    def __init__(
        self, loopback: Loopback, belongs: Callable[[str], bool], over: CancelToken, deadline: Deadline
    ) -> None:
        self._loopback = loopback
        self._belongs = belongs
        self._over = over.child()
        self._sent = self._over.child()
        self._deadline = deadline
        self._came_back: ReplySlot[str | BaseException] = ReplySlot()

    def __enter__(self) -> Self:
        self._thread = spawn("syncline:login:browser", self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.cancel(ConnectionClosed("the login was given up"))
        join([self._thread], Deadline(SILENCE))

    def url(self) -> str:
        """What the browser came back to, now that the person is there. Blocks and raises as ``Loopback.wait``."""
        self._sent.cancel(ConnectionClosed("the person is there"))
        came_back = self._came_back.take(Deadline(None))
        if not isinstance(came_back, str):
            assert came_back is not None
            raise came_back
        return came_back

    def _run(self) -> None:
        try:
            url = self._loopback.wait(self._belongs, self._over, self._deadline)
            if not self._sent.wait(Deadline(HELD)):
                self._loopback.let_go()
            self._came_back.put(url)
        except BaseException as error:
            self._came_back.put(error)


class _Crowd:
    """Browsers that have come, and what each has said so far. Those that say nothing keep nobody else waiting."""

    def __init__(self, listening: socket.socket) -> None:
        self._listening = listening
        self._said: dict[socket.socket, tuple[bytes, Deadline]] = {}
        self._ready = selectors.DefaultSelector()

    def __enter__(self) -> Self:
        self._listening.setblocking(False)
        self._ready.register(self._listening, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._ready.close()
        for browser in self._said:
            browser.close()

    def heard(self, seconds: float) -> Iterator[tuple[socket.socket, str | None]]:
        """Those who have said what they want, with the target of their GET; None for anything else, and for who takes too long.

        Blocks for so many seconds at most.
        """
        for key, _ in self._ready.select(seconds or 0.001):
            if key.fileobj is self._listening:
                self._welcome()
                continue
            browser = cast("socket.socket", key.fileobj)
            said, until = self._said[browser]
            try:
                piece = browser.recv(MOST)
            except BlockingIOError:
                continue
            except OSError:
                piece = b""
            said += piece
            self._said[browser] = said, until
            if not piece or b"\r\n\r\n" in said or len(said) >= MOST:
                yield self._gone(browser), _target(said)
        too_many = max(0, len(self._said) - MANY)
        for number, (browser, (_, until)) in enumerate(list(self._said.items())):
            if until.expired or number < too_many:
                yield self._gone(browser), None

    def _welcome(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
            browser, _ = self._listening.accept()
            browser.setblocking(False)
            self._said[browser] = b"", Deadline(SILENCE)
            self._ready.register(browser, selectors.EVENT_READ)

    def _gone(self, browser: socket.socket) -> socket.socket:
        self._ready.unregister(browser)
        del self._said[browser]
        return browser


def _target(said: bytes) -> str | None:
    """The target of a whole GET for this machine; None for anything else."""
    head, end, _ = said.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    hosts = [value.strip() for name, _, value in (line.partition(":") for line in fields) if name.lower() == "host"]
    whole = end and len(words) == 3 and words[0] == "GET"
    return words[1] if whole and len(hosts) == 1 and _is_ours(hosts[0]) else None


def _is_ours(host: str) -> bool:
    """Whether a browser meant this machine, and no name that somebody lets lead here."""
    try:
        return urls.is_loopback(f"http://{host}/")
    except ValueError:
        return False


def _answer(browser: socket.socket, status: str, title: str, text: str) -> None:
    page = _PAGE.format(title=title, text=text).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(page)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'; "
        "style-src 'unsafe-inline'\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError), browser:
        browser.settimeout(SILENCE)
        browser.sendall(head.encode() + page)

"""The receiver where it is served: by the standard library, below a prefix, in a Flask and in a Django application."""

from __future__ import annotations

import http.client
import logging
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit
from wsgiref.validate import validator

import pytest
import requests

from syncline.errors import ConfigError
from syncline.protocol.webhooks import Occurrence
from syncline.streams import webhook_server
from syncline.streams.webhook_receiver import Endpoint, WebhookReceiver
from tests.fixtures.webhooks import Caller, event, signed, surroundings


class Hook:
    """A receiver and one endpoint of it."""

    def __init__(self, url: str | None = "https://hooks.example/hooks/in") -> None:
        self.kept: list[object] = []
        self.receiver = WebhookReceiver(url, allow_http=True)

    def endpoint(self) -> Endpoint:
        def keep(delivery: object) -> bool:
            self.kept.append(delivery)
            return True

        return self.receiver.endpoint(keep)


@pytest.fixture
def served() -> Iterator[Hook]:
    hook = Hook(None)
    with hook.receiver.serve():
        yield hook


# --------------------------------------------------------------------------------------------------- the standard library


def test_it_is_served_on_loopback_at_a_free_port(served: Hook) -> None:
    endpoint = served.endpoint()
    assert urlsplit(endpoint.url).hostname == "127.0.0.1"
    body, headers = signed(endpoint.secret, {"type": "verification", "challenge": "n0nce"})
    for _ in range(2):
        answer = requests.post(endpoint.url, body, headers=headers, timeout=10)
        assert (answer.status_code, answer.json()) == (200, {"challenge": "n0nce"})
    body, headers = signed(endpoint.secret, event(1))
    assert requests.post(endpoint.url, body, headers=headers, timeout=10).status_code == 202
    assert served.kept == [Occurrence("e-1", event(1))]
    assert requests.get(endpoint.url, timeout=10).status_code == 405


def test_a_large_body_is_refused_in_a_way_that_is_heard(served: Hook) -> None:
    """A server that hangs up on what it does not want looks like trouble, and is tried again."""
    endpoint = served.endpoint()
    body, headers = signed(endpoint.secret, b" " * (4 << 20))
    assert requests.post(endpoint.url, body, headers=headers, timeout=20).status_code == 413


def test_a_public_address_is_kept_whoever_serves() -> None:
    hook = Hook("https://hooks.example/in")
    with hook.receiver.serve() as server:
        assert hook.endpoint().url.startswith("https://hooks.example/in/")
        assert server.url.startswith("http://127.0.0.1:")


def test_loopback_is_no_address_for_a_subscription_unless_allowed() -> None:
    receiver = WebhookReceiver()
    with receiver.serve(), pytest.raises(ConfigError, match="allow_http"):
        receiver.endpoint(lambda _: True)


def test_a_port_that_is_taken_is_an_error(served: Hook) -> None:
    port = urlsplit(served.receiver.public_url or "").port
    with pytest.raises(OSError, match="in use"):
        WebhookReceiver().serve(port or 0)


def test_a_client_that_says_nothing_does_not_keep_it_from_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_server._Handler, "timeout", 0.2)
    server = WebhookReceiver().serve()
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as silent:
        silent.sendall(b"POST / HTTP/1.0\r\n")
        server.close()
        server.close()
    with pytest.raises(OSError, match="refused"):
        http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5).connect()


def test_the_addresses_of_subscriptions_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "syncline")
    hook = Hook(None)
    with hook.receiver.serve():
        url = hook.endpoint().url
        assert requests.post(url, b"x", timeout=10).status_code == 415
    logged = [record.getMessage() for record in caplog.records if record.name.startswith("syncline")]
    assert "a request from 127.0.0.1" in logged
    assert url.rpartition("/")[2] not in "".join(logged)


# ----------------------------------------------------------------------------------------------------------- any WSGI host


def test_it_keeps_to_the_wsgi_specification() -> None:
    """PEP 3333, as the standard library checks it."""
    hook = Hook()
    endpoint = hook.endpoint()
    token = endpoint.url.rpartition("/")[2]
    environ = surroundings(PATH_INFO=f"/{token}", SCRIPT_NAME="/in")
    for value, status in ((event(1), 202), ({"type": "verification", "challenge": "c"}, 200), (b"{", 400)):
        body, headers = signed(endpoint.secret, value)

        def checked(given: dict[str, Any], start_response: Any) -> Any:
            result = validator(hook.receiver)(given, start_response)
            try:
                return list(result)
            finally:
                result.close()  # type: ignore[attr-defined]

        caller = Caller(checked, environ=environ)
        assert caller.post(token, body, headers).status == status


def test_a_flask_application() -> None:
    flask = pytest.importorskip("flask", reason="Flask is not installed")
    hook = Hook()
    application = flask.Flask("hooks")

    @application.post("/hooks/in/<token>")  # type: ignore[untyped-decorator]
    def receive(token: str) -> object:
        return hook.receiver

    check(hook, application)


def test_below_a_prefix_of_a_flask_application() -> None:
    flask = pytest.importorskip("flask", reason="Flask is not installed")
    middleware = pytest.importorskip("werkzeug.middleware.dispatcher", reason="Flask is not installed")
    hook = Hook()
    check(hook, middleware.DispatcherMiddleware(flask.Flask("site"), {"/hooks/in": hook.receiver}))


def test_a_django_view() -> None:
    def django(name: str) -> Any:
        return pytest.importorskip(f"django.{name}", reason="Django is not installed")

    hook, settings = Hook(), django("conf").settings

    @django("views.decorators.csrf").csrf_exempt  # type: ignore[untyped-decorator]
    def receive(request: Any, token: str) -> Any:
        response = django("http").HttpResponse()

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: object = None, /) -> Any:
            response.status_code = int(status.split()[0])
            for name, value in headers:
                response[name] = value

        response.content = b"".join(hook.receiver(request.META, start_response))
        return response

    if not settings.configured:
        settings.configure(
            ALLOWED_HOSTS=["*"],
            MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
            SECRET_KEY="for-this-test-only",
            LOGGING_CONFIG=None,
        )
    settings.ROOT_URLCONF = (django("urls").path("hooks/in/<token>", receive),)
    check(hook, django("core.handlers.wsgi").WSGIHandler())


def check(hook: Hook, application: Any) -> None:
    """A challenge, an event, and a forgery, through a whole application."""
    endpoint = hook.endpoint()
    token = endpoint.url.rpartition("/")[2]
    environ = surroundings(PATH_INFO=f"/hooks/in/{token}", SCRIPT_NAME="")
    caller = Caller(application, environ=environ)

    answer = caller.post(token, *signed(endpoint.secret, {"type": "verification", "challenge": "n0nce"}))
    assert (answer.status, answer.body) == (200, {"challenge": "n0nce"})
    sent = event(1, "p:1", data={"text": "žluťoučký"})
    assert caller.post(token, *signed(endpoint.secret, sent)).status == 202
    assert caller.post(token, *signed(endpoint.secret, sent)).status == 202
    assert caller.post(token, *signed(Hook().endpoint().secret, event(2))).status == 401
    assert hook.kept == [Occurrence("e-1", sent)]

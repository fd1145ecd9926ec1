"""Programs that end without closing what they have opened."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest

from tests.process.conftest import Run, Served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

Serve = Callable[..., Served]
BOTH = pytest.mark.parametrize("transport", ["stdio", "http"])
MODERN, LEGACY = "2026-07-28", "2025-11-25"


@pytest.mark.parametrize("holder", ["kept = client", "client.itself = client; del client"], ids=["global", "cycle"])
@BOTH
def test_a_client_that_is_never_closed(run: Run, offer: Serve, transport: str, holder: str) -> None:
    """B100."""
    served = offer(transport)
    assert run(
        served,
        f"""
        client = syncline.connect(SERVER)
        print(client.call_tool("add", {{"a": 1, "b": 2}}).text)
        {holder}
        """,
    ) == ["3"]
    assert served.gone()
    if served.http is not None:
        assert not served.http.sessions


@BOTH
def test_a_client_that_outlives_the_modules(run: Run, offer: Serve, transport: str) -> None:
    """Django's caches keep the view, and with it the client, until modules have been emptied."""
    served = offer(transport)
    assert run(
        served,
        """
        import django
        from django.conf import settings
        settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], SECRET_KEY="x")
        django.setup()
        from django.http import HttpResponse
        from django.test import Client
        from django.urls import path

        client = syncline.connect(SERVER)

        def add(request):
            return HttpResponse(client.call_tool("add", {"a": 1, "b": 2}).text)

        urlpatterns = [path("add", add)]
        print(Client().get("/add").content.decode())
        """,
        strict=False,
    ) == ["3"]
    assert served.gone()


@pytest.mark.parametrize("count", [1, 3])
def test_servers_that_do_not_want_to_end(run: Run, offer: Serve, count: int) -> None:
    """Two seconds in total, however many there are."""
    served = offer("stdio", "stubborn")
    [began] = run(
        served,
        f"""
        import time
        clients = [syncline.connect(SERVER) for _ in range({count})]
        print(time.time())
        """,
    )
    assert time.time() - float(began) < 6
    assert len(served.started()) == count
    assert served.gone()


@BOTH
def test_a_call_that_waits_on_another_thread(run: Run, offer: Serve, transport: str) -> None:
    """B102."""
    served = offer(transport)
    lines = run(
        served,
        """
        import threading
        client = syncline.connect(SERVER)
        begun = threading.Event()

        def call():
            try:
                client.call_tool("progress", {"n": 100000, "pause": 0.05}, on_progress=lambda *_: begun.set())
            except BaseException as error:
                print(type(error).__name__, flush=True)

        threading.Thread(target=call, daemon=True).start()
        begun.wait(20)
        """,
    )
    assert lines in ([], ["ConnectionClosed"])
    assert served.gone()


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
def test_a_handler_that_waits_for_a_person(run: Run, offer: Serve, revision: str) -> None:
    """B102, B109."""
    served = offer("stdio")
    assert run(
        served,
        f"""
        import threading
        asked = threading.Event()

        def ask(request):
            asked.set()
            threading.Event().wait()

        client = syncline.connect(SERVER, on_elicitation=ask, protocol_version="{revision}")
        threading.Thread(target=client.call_tool, args=("ask",), daemon=True).start()
        print(asked.wait(20))
        """,
        errors=r"(Exception in thread .*ConnectionClosed.*|.*did not stop in time.*)?",
    ) == ["True"]
    assert served.gone()


@pytest.mark.parametrize("use", ["kept = changes", "changes.run_in_thread(print)"], ids=["held", "thread"])
@BOTH
def test_a_change_stream_that_is_open(run: Run, offer: Serve, transport: str, use: str) -> None:
    served = offer(transport)
    assert run(
        served,
        f"""
        client = syncline.connect(SERVER)
        changes = client.subscribe(tools=True)
        print(changes.state)
        {use}
        """,
    ) == ["active"]
    assert served.gone()


@BOTH
def test_whoever_forgets_to_close_is_told(run: Run, offer: Serve, transport: str) -> None:
    served = offer(transport)
    lines = run(
        served,
        """
        import gc, warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            client = syncline.connect(SERVER)
            del client
            gc.collect()
        for warning in caught:
            print(warning.category.__name__, str(warning.message).partition(":")[0])
        """,
    )
    assert lines == ["ResourceWarning <syncline.Client " + served_name(served)]
    assert served.gone()


def served_name(served: Served) -> str:
    return served.address.removeprefix("http://").partition(":")[0] if served.http else "env"


@BOTH
def test_many_threads_use_one_client(run: Run, offer: Serve, transport: str) -> None:
    served = offer(transport)
    assert run(
        served,
        """
        import threading
        with syncline.connect(SERVER) as client:
            wrong = []

            def work(number):
                for turn in range(25):
                    text = f"{number}-{turn}"
                    if client.call_tool("echo", {"text": text}).text != text:
                        wrong.append(text)

            threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        left = [thread.name for thread in threading.enumerate() if thread.name.startswith("syncline:")]
        print(wrong, left)
        """,
    ) == ["[] []"]
    assert served.gone()

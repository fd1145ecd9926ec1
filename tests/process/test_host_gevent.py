"""Programs that gevent has patched."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec

import pytest

from tests.process.conftest import Run, Served

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.skipif(find_spec("gevent") is None, reason="gevent is not installed"),
]

Serve = Callable[..., Served]
BOTH = pytest.mark.parametrize("transport", ["stdio", "http"])
FIRST = "from gevent import monkey; monkey.patch_all()\nimport gevent\n"
LATE = "import syncline\nfrom gevent import monkey; monkey.patch_all()\nimport gevent\n"
#: Ten greenlets call at once while another one ticks; then one cannot be held up by another.
CALLS = """
ticks = 0

def tick():
    global ticks
    while True:
        gevent.sleep(0.01)
        ticks += 1

def call(number):
    return client.call_tool("slow", {"seconds": 0.5, "text": str(number)}, timeout=20).text

ticker = gevent.spawn(tick)
with syncline.connect(SERVER) as client:
    callers = [gevent.spawn(call, number) for number in range(10)]
    gevent.joinall(callers, raise_error=True)
    print([caller.value for caller in callers] == [str(number) for number in range(10)], ticks > 10)
ticker.kill()
"""


@pytest.mark.parametrize(
    "sigchld", ["", "import signal; signal.signal(signal.SIGCHLD, signal.SIG_DFL)"], ids=["", "reset"]
)
@BOTH
def test_patched_first(run: Run, offer: Serve, transport: str, sigchld: str) -> None:
    """B105, B106."""
    served = offer(transport)
    assert run(served, sigchld + CALLS, first=FIRST, strict=False) == ["True True"]
    assert served.gone()


@BOTH
def test_a_change_stream_in_a_greenlet(run: Run, offer: Serve, transport: str) -> None:
    served = offer(transport)
    lines = run(
        served,
        """
        with syncline.connect(SERVER) as client:
            with client.subscribe(tools=True) as changes:
                taker = gevent.spawn(changes.get, 20)
                gevent.sleep(0.1)
                client.call_tool("change")
                print(taker.get(timeout=20).kind)
            with client.subscribe(tools=True) as changes:
                taker = gevent.spawn(lambda: list(changes))
                gevent.sleep(0.1)
                changes.close()
                print(taker.get(timeout=20))
        """,
        first=FIRST,
        strict=False,
    )
    assert lines == ["tools_changed", "[]"]
    assert served.gone()


@BOTH
def test_a_timeout_of_gevent_ends_a_call(run: Run, offer: Serve, transport: str) -> None:
    """It is thrown into the wait like Ctrl-C, and the connection goes on."""
    served = offer(transport)
    lines = run(
        served,
        """
        with syncline.connect(SERVER) as client:
            try:
                with gevent.Timeout(0.3):
                    client.call_tool("slow", {"seconds": 60})
            except gevent.Timeout:
                print("timeout")
            print(client.call_tool("echo", {"text": "after"}).text)
        """,
        first=FIRST,
        strict=False,
    )
    assert lines == ["timeout", "after"]
    assert served.gone()


@BOTH
def test_left_open_at_exit(run: Run, offer: Serve, transport: str) -> None:
    served = offer(transport)
    program = """
        client = syncline.connect(SERVER)
        changes = client.subscribe(tools=True)
        gevent.spawn(changes.get)
        gevent.sleep(0.1)
        print(client.call_tool("echo", {"text": "x"}).text)
    """
    assert run(served, program, first=FIRST, strict=False) == ["x"]
    assert served.gone()


@BOTH
def test_patched_late(run: Run, offer: Serve, transport: str) -> None:
    """B106: after the import of syncline but before anything is opened: all of it still waits through gevent."""
    served = offer(transport)
    assert run(served, CALLS, first=LATE, strict=False, errors=".*MonkeyPatchWarning.*|") == ["True True"]
    assert served.gone()


@BOTH
def test_a_fork_under_gevent(run: Run, offer: Serve, transport: str) -> None:
    served = offer(transport)
    lines = run(
        served,
        """
        client = syncline.connect(SERVER)
        changes = client.subscribe(tools=True)
        waits = gevent.spawn(client.call_tool, "slow", {"seconds": 2, "text": "waited"})
        gevent.sleep(0.1)
        child = gevent.os.fork()
        if child == 0:
            try:
                client.list_tools()
            except syncline.ForkedConnection:
                print("refused", flush=True)
            waits.join(20)
            print(type(waits.exception).__name__, flush=True)
            with client.reconnect():
                print(client.call_tool("echo", {"text": "child"}).text, flush=True)
            os._exit(0)
        print(gevent.os.waitpid(child, 0)[1])
        print(waits.get().text)
        client.call_tool("change")
        print(changes.get(20).kind)
        client.close()
        """,
        first=FIRST,
        strict=False,
        errors=".*Greenlet.*ForkedConnection.*",
    )
    assert lines == ["refused", "ForkedConnection", "child", "0", "waited", "tools_changed"]
    assert served.gone()


@BOTH
def test_patched_in_a_child_that_inherits_a_client(run: Run, offer: Serve, transport: str) -> None:
    """As gunicorn's gevent workers do with --preload: locks from before the patch would stop all greenlets."""
    served = offer(transport)
    lines = run(
        served,
        """
        client = syncline.connect(SERVER, retry=syncline.RetryPolicy(restart=1))
        child = os.fork()
        if child == 0:
            from gevent import monkey
            monkey.patch_all()
            import gevent
            calls = [gevent.spawn(client.call_tool, "add", {"a": number, "b": 1}) for number in range(10)]
            gevent.joinall(calls, timeout=20)
            print([call.value.text for call in calls if call.value], flush=True)
            client.close()
            os._exit(0)
        print(os.waitpid(child, 0)[1])
        client.close()
        """,
        strict=False,
        errors=".*(MonkeyPatchWarning|use of fork).*|",  # Python 3.12 and later warn of threads
    )
    assert lines == [str([str(number) for number in range(1, 11)]), "0"]
    assert served.gone()

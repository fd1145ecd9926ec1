"""Programs that fork, with and without multiprocessing: what is the parent's stays the parent's."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.process.conftest import Run, Served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and reads /proc")

Serve = Callable[..., Served]
BOTH = pytest.mark.parametrize("transport", ["stdio", "http"])
ERAS = pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
#: Forks; the child does something, prints, and ends like any program, exit hooks and all.
FORK = """
def forked(work):
    child = os.fork()
    if child == 0:
        try:
            print(work(), flush=True)
        except BaseException as error:
            print(type(error).__name__, flush=True)
        sys.exit()
    print("status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@ERAS
@BOTH
def test_a_child_is_refused_and_the_parent_goes_on(run: Run, offer: Serve, transport: str, revision: str) -> None:
    """B103."""
    served = offer(transport)
    lines = run(
        served,
        f"""
        client = syncline.connect(SERVER, protocol_version="{revision}")
        forked(lambda: client.call_tool("echo", {{"text": "child"}}))
        forked(lambda: client.list_tools())
        forked(lambda: client.close())
        print(client.call_tool("echo", {{"text": "parent"}}).text)
        client.close()
        """,
        first=FORK,
    )
    assert lines == ["ForkedConnection", "status 0", "ForkedConnection", "status 0", "None", "status 0", "parent"]
    assert served.gone()
    if served.http is not None:
        assert served.http.catalogue.executions == {"echo": 1}
        assert [request.method for request in served.http.requests].count("DELETE") == (revision == "2025-11-25")


@ERAS
@BOTH
def test_a_child_makes_a_connection_of_its_own(run: Run, offer: Serve, transport: str, revision: str) -> None:
    """Made anew, or in the place of the inherited one."""
    served = offer(transport)
    lines = run(
        served,
        f"""
        client = syncline.connect(SERVER, protocol_version="{revision}")

        def fresh():
            with syncline.connect(SERVER) as own:
                return own.call_tool("echo", {{"text": "fresh"}}).text

        def again():
            client.reconnect()
            with client:
                return client.call_tool("echo", {{"text": "reconnected"}}).text

        forked(fresh)
        forked(again)
        print(client.call_tool("echo", {{"text": "parent"}}).text)
        client.close()
        """,
        first=FORK,
    )
    assert lines == ["fresh", "status 0", "reconnected", "status 0", "parent"]
    assert served.gone()


@BOTH
def test_the_policy_lets_a_child_reconnect_by_itself(run: Run, offer: Serve, transport: str) -> None:
    served = offer(transport)
    assert run(
        served,
        """
        client = syncline.connect(SERVER, retry=syncline.RetryPolicy(restart=1))
        forked(lambda: client.call_tool("echo", {"text": "child"}).text)
        print(client.call_tool("echo", {"text": "parent"}).text)
        client.close()
        """,
        first=FORK,
    ) == ["child", "status 0", "parent"]
    assert served.gone()


@pytest.mark.parametrize(
    ("transport", "revision"), [("stdio", "2026-07-28"), ("stdio", "2025-11-25"), ("http", "2026-07-28")]
)
def test_a_change_stream_in_a_child_says_so(run: Run, offer: Serve, transport: str, revision: str) -> None:
    served = offer(transport)
    lines = run(
        served,
        f"""
        client = syncline.connect(SERVER, protocol_version="{revision}")
        changes = client.subscribe(tools=True)
        forked(lambda: changes.get(20))
        forked(lambda: list(changes))
        forked(lambda: changes.close())
        forked(lambda: client.reconnect().subscribe(tools=True).state)
        client.call_tool("change")
        print(changes.get(20).kind)
        client.close()
        """,
        first=FORK,
    )
    said = ["ForkedConnection", "ForkedConnection", "None", "active"]
    assert lines == [line for word in said for line in (word, "status 0")] + ["tools_changed"]
    assert served.gone()


@BOTH
def test_forks_while_many_threads_call(run: Run, offer: Serve, transport: str) -> None:
    """Whatever lock a vanished thread held, the child is not stuck with it."""
    served = offer(transport)
    lines = run(
        served,
        """
        import threading
        client = syncline.connect(SERVER)
        client.call_tool("echo", {"text": "x"})  # while another thread imports, nobody can fork: Python's import locks
        over, failed = threading.Event(), []

        def work():
            while not over.is_set():
                try:
                    client.call_tool("echo", {"text": "x"})
                except BaseException as error:
                    failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()

        def child():
            try:
                client.list_tools()
            except syncline.ForkedConnection:
                pass
            with client.reconnect():
                return client.call_tool("echo", {"text": "child"}).text

        for _ in range(8):
            forked(child)
        over.set()
        for thread in threads:
            thread.join()
        client.close()
        print(failed)
        """,
        first=FORK,
        strict=False,
        errors=".*",
    )
    assert lines == ["child", "status 0"] * 8 + ["[]"]
    assert served.gone()


#: Forks while another thread holds a lock.
HELD = """
def forked_while_held(lock, work):
    held, over = threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    forked(work)
    over.set()
    thread.join()
"""


def test_a_child_goes_on_with_a_session_that_was_handed_in(run: Run, offer: Serve) -> None:
    """Whatever a vanished thread held of it; and not with the connections that are idle in it."""
    served = offer("http")
    lines = run(
        served,
        """
        import threading
        import requests
        session = requests.Session()
        client = syncline.connect(syncline.HttpServer(SERVER, session=session))
        pools = session.get_adapter(SERVER).poolmanager.pools

        def child():
            with client.reconnect():
                return client.call_tool("echo", {"text": "child"}).text

        for lock in pools.lock, session.cookies._cookies_lock:
            forked_while_held(lock, child)
        print(client.call_tool("echo", {"text": "parent"}).text)
        client.close()
        """,
        first=FORK + HELD,
        strict=False,
        errors=".*",
    )
    assert lines == ["child", "status 0"] * 2 + ["parent"]
    assert served.http is not None
    assert served.http.catalogue.executions == {"echo": 3}


def test_a_fake_server_serves_a_child(run: Run, offer: Serve) -> None:
    """It is in the child as well, with what a vanished thread held of it."""
    assert run(
        offer("http"),
        """
        import threading
        from syncline.testing import FakeServer
        server = FakeServer()

        @server.tool
        def echo(text: str) -> str:
            return text

        client = server.connect()

        def child():
            with client.reconnect():
                return client.call_tool("echo", {"text": "child"}).text

        forked_while_held(server._core.monitor, child)
        client.close()
        """,
        first=FORK + HELD,
        strict=False,
        errors=".*",
    ) == ["child", "status 0"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@BOTH
def test_multiprocessing(run: Run, offer: Serve, transport: str, method: str) -> None:
    """A pool whose tasks use the parent's client where there is one, and one made by each worker."""
    served = offer(transport)
    lines = run(
        served,
        f"""
        import multiprocessing

        client = syncline.connect(SERVER) if __name__ == "__main__" else None
        own = None

        def begin():
            global own
            own = syncline.connect(SERVER)

        def inherited(number):
            return client.call_tool("add", {{"a": number, "b": 1}}).text

        def ours(number):
            return own.call_tool("add", {{"a": number, "b": 1}}).text

        if __name__ == "__main__":
            with multiprocessing.get_context("{method}").Pool(2, begin) as pool:
                print(pool.map(ours, range(5)))
                if "{method}" == "fork":
                    try:
                        pool.map(inherited, range(5))
                    except syncline.ForkedConnection as error:
                        print(error.method, error)
                pool.close()
                pool.join()
            print(client.call_tool("add", {{"a": 1, "b": 1}}).text)
            client.close()
        """,
    )
    assert lines[0] == "['1', '2', '3', '4', '5']"
    assert lines[-1] == "2"
    if method == "fork":
        assert lines[1].startswith("tools/call ")
        assert "made before a fork" in lines[1]
    assert served.gone()


def test_a_client_cannot_be_sent_to_another_process(run: Run, offer: Serve) -> None:
    assert run(
        offer("http"),
        """
        import pickle
        with syncline.connect(SERVER) as client:
            try:
                pickle.dumps(client)
            except TypeError as error:
                print(error)
        """,
    ) == ["cannot pickle a syncline.Client: a connection belongs to its process; make one in each"]

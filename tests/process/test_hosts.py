"""The stdio transport in the hands of different programs: those that exit, fork, get interrupted, patch or own signals."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.fixtures.processes import alive, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, forks and sends signals")

ROOT = Path(__file__).parents[2]
#: What a connection does, as far as a process notices: owns a transport, closes it at exit, disowns it after a fork.
OWNER = """
import os, signal, sys, threading, time
from syncline.concurrency import lifecycle
from syncline.concurrency.deadline import Deadline
from syncline.errors import *
from syncline.transport.stdio import StdioTransport
from tests.fixtures.processes import alive, eventually
from tests.fixtures.stdio import ECHO, Collector, message, python

class Owner:
    def __init__(self, command, **options):
        self.sink = Collector()
        self.transport = StdioTransport(command, name="server", **options)
        self.transport.start(self.sink, Deadline(20))
        lifecycle.opened(self)

    def send(self, frame):
        self.transport.send(message(frame), Deadline(20))

    def call(self, frame):
        self.send(frame)
        return self.sink.next()

    def close(self, timeout=5):
        self.transport.close(Deadline(timeout))
        lifecycle.closed(self)

    def forked(self):
        self.transport.disown()
"""


def run(program: str, *args: str, first: str = "", env: Mapping[str, str] | None = None) -> list[str]:
    """Run a program that owns a server; the lines that it printed. It must end by itself, well and in silence."""
    whole = first + OWNER + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", whole, *args],
        cwd=ROOT, env={**os.environ, **(env or {})}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


# -- exit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("holder", ["kept = owner", "owner.itself = owner; del owner"], ids=["global", "cycle"])
@pytest.mark.parametrize(
    "server",
    ["sys.stdin.read()", "signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(300)"],
    ids=["polite", "stubborn"],
)
def test_a_program_that_never_closes_exits_and_its_server_with_it(server: str, holder: str) -> None:
    [pid] = run(f"""
        owner = Owner(python("import signal, sys, time; {server}"))
        print(owner.transport.pid)
        {holder}
    """)
    assert eventually(lambda: not alive(int(pid)))


def test_a_bare_transport_does_not_hold_up_the_exit() -> None:
    [pid] = run("""
        transport = StdioTransport(python(ECHO))
        transport.start(Collector(), Deadline(20))
        print(transport.pid)
    """)
    assert eventually(lambda: not alive(int(pid)))


# -- fork --------------------------------------------------------------------------------------------------------------


def test_a_forked_child_leaves_the_server_to_its_parent() -> None:
    assert run("""
        owner = Owner(python(ECHO))
        assert owner.call(b"before") == b"before"
        done, go = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            try:
                owner.send(b"from the child")
            except ConnectionClosed:
                print("refused", flush=True)
            owner.close()
            os.write(done[1], b"x")
            os.read(go[0], 1)
            sys.exit()  # as any program ends, exit hooks and all
        os.read(done[0], 1)
        assert owner.call(b"after") == b"after"
        owner.close()  # the child still runs, but holds no pipe of the server any more, which therefore sees its end
        print(owner.transport._process.returncode)
        os.write(go[1], b"x")
        print(os.waitpid(child, 0)[1])
    """) == ["refused", "0", "0"]


def test_a_fork_while_another_thread_sends_and_closes_does_not_hang_the_child() -> None:
    assert run("""
        owner = Owner(python("print(flush=True); import time; time.sleep(300)"))
        transport = owner.transport
        owner.sink.next()

        def attempt():
            try:
                owner.send(b"x" * (4 << 20))
            except ConnectionClosed:
                pass

        sender = threading.Thread(target=attempt)
        sender.start()
        assert eventually(lambda: sum(transport._writer._written) > 0)
        for lock in transport._lifecycle, transport._state:
            lock.acquire()
        child = os.fork()
        if child == 0:
            try:
                owner.send(b"y")
            except ConnectionClosed:
                print("refused", flush=True)
            os._exit(0)
        for lock in transport._lifecycle, transport._state:
            lock.release()
        print(os.waitpid(child, 0)[1])
        owner.close(0.5)
        sender.join()
    """) == ["refused", "0"]


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_a_blocked_send_and_the_stream_stays_whole(tmp_path: Path) -> None:
    assert run(
        """
        late_echo = '''
            import os, sys, time
            while not os.path.exists(sys.argv[1]):
                time.sleep(0.005)
        ''' + ECHO
        owner = Owner(python(late_echo, sys.argv[1]))
        big = b"x" * (4 << 20)

        def interrupt():
            writer = owner.transport._writer
            assert eventually(lambda: 0 < sum(writer._written) < len(writer._line))
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            owner.send(big)
        except KeyboardInterrupt:
            print("interrupted")
        open(sys.argv[1], "w").close()
        owner.send(b"after")
        print(owner.sink.next() == big, owner.sink.next())
        owner.close()
        """,
        str(tmp_path / "go"),
    ) == ["interrupted", "True b'after'"]


def test_however_often_sends_are_interrupted_nothing_is_torn_or_sent_twice() -> None:
    [counts] = run("""
        owner = Owner(python(ECHO))

        class Interrupted(Exception):
            pass

        def interrupt(*_):
            if sending:
                raise Interrupted

        sent, returned, interrupted, sending = 0, set(), 0, False
        signal.signal(signal.SIGALRM, interrupt)
        while interrupted < 100:
            sent += 1
            try:
                sending = True
                signal.setitimer(signal.ITIMER_REAL, 0.00002 * (sent % 20 + 1))
                owner.send(b"%d:" % sent + b"x" * (100_000 if sent % 2 else 10))
                returned.add(sent)
                sending = False
            except Interrupted:
                interrupted += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        owner.send(b"0:")
        numbers = []
        while (line := owner.sink.next()) != b"0:":
            number, _, fill = line.partition(b":")
            assert fill == b"x" * (100_000 if int(number) % 2 else 10), line[:100]
            numbers.append(int(number))
        assert numbers == sorted(set(numbers))
        assert returned <= set(numbers)
        owner.close()
        print(interrupted)
    """)
    assert counts == "100"


# -- signals that others own -------------------------------------------------------------------------------------------


def test_where_sigchld_is_ignored_the_end_is_noticed_without_a_status() -> None:
    assert run("""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        owner = Owner(["sh", "-c", "echo bye >&2; exit 3"])
        error = owner.sink.end()
        print(error.returncode, error.stderr_tail, error.message)
        owner.close()
        owner = Owner(python(ECHO))
        print(owner.call(b"hello"))
        owner.close()
    """) == ["None ['bye'] the server ended", "b'hello'"]


def test_orphans_that_we_inherit_are_reaped() -> None:
    """As process 1 in a container, or as a subreaper, we inherit what the server started."""
    assert run("""
        import ctypes
        PR_SET_CHILD_SUBREAPER = 36
        assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        owner = Owner(["sh", "-c", "sleep 300 & echo $!; exec cat"])
        grandchild = int(owner.sink.next())
        owner.close(1)
        print(os.path.exists(f"/proc/{grandchild}"))
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            print("no child")
    """) == ["False", "no child"]


# -- surroundings ------------------------------------------------------------------------------------------------------


def test_messages_are_utf8_whatever_the_locale() -> None:
    surroundings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    assert run(
        r"""
        emoji = "\U0001f600 \u65e5\u672c"
        owner = Owner(python("    import sys; sys.stderr.buffer.write(bytes([0xf0, 0x9f, 0x98, 0x80, 10]))" + ECHO))
        assert owner.call(emoji.encode()).decode() == emoji
        owner.close()
        print(ascii(owner.transport.stderr_tail))
        """,
        env=surroundings,
    ) == [r"['\U0001f600']"]


@pytest.mark.skipif(find_spec("gevent") is None, reason="gevent is not installed")
@pytest.mark.parametrize("sigchld", ["", "signal.signal(signal.SIGCHLD, signal.SIG_DFL)"], ids=["kept", "reset"])
def test_under_gevent(sigchld: str) -> None:
    assert run(
        f"""
        import gevent
        owner = Owner(python(ECHO))
        {sigchld}
        frames = [b"%d" % number * 1000 for number in range(10)]
        gevent.joinall([gevent.spawn(owner.send, frame) for frame in frames], raise_error=True)
        print(sorted(owner.sink.next() for _ in frames) == sorted(frames))
        ticks = 0

        def tick():
            global ticks
            while True:
                time.sleep(0.01)
                ticks += 1

        ticker = gevent.spawn(tick)
        gevent.spawn(owner.close).join(20)
        ticker.kill()
        print(owner.transport.pid and alive(owner.transport.pid), [t.name for t in threading.enumerate() if "syncline" in t.name])

        owner = Owner(["sh", "-c", "echo bye >&2; exit 3"])
        error = owner.sink.end()
        print(error.returncode, error.stderr_tail)
        owner.close()

        owner = Owner(python("print(flush=True); import time; time.sleep(300)"))
        owner.sink.next()

        def attempt():
            try:
                owner.transport.send(message(b"x" * (4 << 20)), Deadline(None))
            except ConnectionClosed:
                return "closed"

        sender = gevent.spawn(attempt)
        gevent.sleep(0)
        assert not sender.ready()
        owner.close(0.5)
        print(sender.get(timeout=20), owner.transport._process.returncode)
        """,
        first="from gevent import monkey; monkey.patch_all()\n",
    ) == ["True", "False []", "3 ['bye']", "closed -15"]

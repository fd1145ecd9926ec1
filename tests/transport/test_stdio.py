"""Messages through the pipes of a server's process: framing, deadlines, standard error, ends."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.errors import (
    ConfigError,
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    RequestTimeout,
    ServerExited,
    SynclineError,
)
from syncline.transport import process, stdio
from syncline.transport.base import Outgoing
from syncline.transport.stdio import StdioTransport
from tests.fixtures.processes import alive, eventually
from tests.fixtures.stdio import ECHO, SOON, Collector, Serve, message, python

#: A server that reads nothing until the file named by its argument is there, then echoes.
LATE_ECHO = """
    import os, sys, time
    while not os.path.exists(sys.argv[1]):
        time.sleep(0.005)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
"""
#: More than any pipe holds.
BIG = b"x" * (4 << 20)


def in_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


def blocked(transport: StdioTransport) -> Callable[[], bool]:
    """Whether a sender has filled the pipe and waits."""
    return lambda: 0 < sum(transport._writer._written) < len(transport._writer._line)


# -- what arrives ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [60, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 20, 16 << 20])
def test_messages_of_any_size_arrive_whole_both_ways(serve: Serve, size: int) -> None:
    transport, sink = serve(ECHO)
    frame = os.urandom(size // 2).hex().encode()
    transport.send(message(frame), Deadline(SOON))
    assert sink.next() == frame


def test_both_sides_may_write_much_at_once(serve: Serve) -> None:
    transport, sink = serve("""
        import sys
        sys.stdout.buffer.write(b"y" * (8 << 20) + b"\\n")
        sys.stdout.buffer.flush()
        print(len(sys.stdin.buffer.readline()), flush=True)
    """)
    transport.send(message(b"x" * (8 << 20)), Deadline(SOON))
    assert len(sink.next()) == 8 << 20
    assert sink.next() == b"%d" % ((8 << 20) + 1)


def test_lines_that_are_no_messages_are_passed_on_in_order(serve: Serve) -> None:
    """Behaviours 4.110."""
    lines = [
        b"Server 1.0 is listening", b"", b"[]", b"123", b'{"half":', b"\xff\xfe\x00bad utf-8", b"\xef\xbb\xbf{}",
        b"[" * 100_000, b"9" * 5_000, b"NaN", "\u2028 splits no line".encode(), b'{"jsonrpc":"2.0","id":1,"result":{}}',
    ]  # fmt: skip
    _, sink = serve(f"""
        import sys
        for line in {lines!r}:
            sys.stdout.buffer.write(line + b"\\n")
        sys.stdout.buffer.flush()
        sys.stdin.read()
    """)
    assert [sink.next() for _ in lines] == lines
    assert sink.ends.empty()


def test_a_line_without_end_is_dropped_in_bounded_memory(serve: Serve) -> None:
    tracemalloc.start()
    try:
        _, sink = serve(
            """
            import sys
            for _ in range(64):
                sys.stdout.buffer.write(b"z" * (1 << 20))
            sys.stdout.buffer.write(b"\\n" + b'{"id":1}\\n')
            sys.stdout.buffer.flush()
            sys.stdin.read()
            """,
            message_bytes=1 << 20,
        )
        assert sink.next() == b'{"id":1}'
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    [(code, place, raw)] = sink.findings
    assert (code, place) == ("message-too-long", "stdout")
    assert isinstance(raw, bytes)
    assert raw.startswith(b"zzz")
    assert peak < 8 << 20


def test_output_that_ends_in_the_middle_of_a_line_leaves_a_finding(serve: Serve) -> None:
    _, sink = serve("""print('{"id":1}\\n{"id":', end="", flush=True)""")
    assert sink.next() == b'{"id":1}'
    assert isinstance(sink.end(), ServerExited)
    assert [code for code, *_ in sink.findings] == ["message-cut-off"]
    assert sink.messages.empty()


def test_a_sink_that_raises_is_a_lost_connection_and_not_a_silent_one(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Collector):
        def received(self, data: bytes, origin: Outgoing | None = None, status: int | None = None) -> bool:
            raise ZeroDivisionError("broken")

    _, sink = serve("print('{}', flush=True); input()", sink=Broken())
    error = sink.end()
    assert isinstance(error, ConnectionLost)
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert "reading standard output failed" in caplog.text


# -- what is sent ------------------------------------------------------------------------------------------------------


def test_messages_of_many_threads_are_not_mixed(serve: Serve) -> None:
    transport, sink = serve("""
        import json, sys
        for line in sys.stdin.buffer:
            message = json.loads(line)
            intact = set(message["fill"]) == {message["by"]} and len(message["fill"]) == 200 * 1024
            print(json.dumps([message["by"], intact]), flush=True)
    """)
    names = "abcdefghijklmnopqrst"
    frames = [json.dumps({"by": name, "fill": name * 200 * 1024}).encode() for name in names]
    senders = [in_thread(partial(transport.send, message(frame), Deadline(SOON))) for frame in frames]
    answers = [json.loads(sink.next()) for _ in senders]
    assert sorted(answers) == [[name, True] for name in names]
    for thread, raised in senders:
        thread.join(SOON)
        assert not raised


def test_a_server_that_does_not_read_ends_a_send_at_its_deadline_and_gets_whole_lines_later(
    serve: Serve, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    transport, sink = serve(python(LATE_ECHO, str(go)))
    started = time.monotonic()
    with pytest.raises(RequestTimeout) as late:
        transport.send(message(BIG, "tools/call", 7), Deadline(0.2))
    assert 0.2 <= time.monotonic() - started < 5
    assert (late.value.server, late.value.method, late.value.request_id) == ("server", "tools/call", 7)
    with pytest.raises(RequestTimeout):  # the rest of the first is still in the way, so none of this is ever sent
        transport.send(message(b"never"), Deadline(0.05))
    go.touch()
    transport.send(message(b"after"), Deadline(SOON))
    assert [sink.next(), sink.next()] == [BIG, b"after"]
    assert sink.messages.empty()


def test_waiting_for_another_sender_ends_at_the_deadline(serve: Serve, tmp_path: Path) -> None:
    transport, _ = serve(python(LATE_ECHO, str(tmp_path / "never")))
    thread, raised = in_thread(lambda: transport.send(message(BIG), Deadline(None)))
    assert eventually(blocked(transport))
    with pytest.raises(RequestTimeout):
        transport.send(message(b"x"), Deadline(0.05))
    transport.close(Deadline(0.5))
    thread.join(SOON)
    assert isinstance(raised[0], ConnectionClosed)


def test_closing_ends_all_blocked_sends_at_once(serve: Serve, tmp_path: Path) -> None:
    transport, sink = serve(python(LATE_ECHO, str(tmp_path / "never")))
    senders = [in_thread(lambda: transport.send(message(BIG), Deadline(None))) for _ in range(5)]
    assert eventually(blocked(transport))
    closer, _ = in_thread(lambda: transport.close(Deadline(10)))
    ends = []
    for thread, raised in senders:
        thread.join(SOON)
        ends.append(type(raised[0]))
    assert ends == [ConnectionClosed] * 5
    closer.join(SOON)
    assert sink.ends.empty()


def test_the_servers_end_ends_a_blocked_send_though_a_child_of_it_holds_the_pipes(serve: Serve, tmp_path: Path) -> None:
    go = tmp_path / "go"
    transport, sink = serve(
        ["sh", "-c", 'exec 3<&0; sleep 300 <&3 & while [ ! -e "$0" ]; do sleep 0.01; done; exit 4', str(go)]
    )
    thread, raised = in_thread(lambda: transport.send(message(BIG), Deadline(None)))
    assert eventually(blocked(transport))
    go.touch()
    thread.join(SOON)
    [error] = raised
    assert isinstance(error, ServerExited)
    assert error.returncode == 4
    lost = sink.end()
    assert isinstance(lost, ServerExited)
    assert lost.returncode == 4


def test_a_server_that_closes_its_input(serve: Serve) -> None:
    transport, sink = serve("""
        import os, sys, time
        os.close(0)
        print("closed", flush=True)
        time.sleep(0.2)
        print("no more input", file=sys.stderr)
        sys.exit(5)
    """)
    assert sink.next() == b"closed"
    with pytest.raises(ServerExited) as broken:
        transport.send(message(b"x"), Deadline(SOON))
    assert broken.value.returncode == 5
    assert broken.value.stderr_tail == ["no more input"]
    assert isinstance(broken.value.__cause__, BrokenPipeError)


# -- standard error ----------------------------------------------------------------------------------------------------


def test_standard_error_is_always_drained(serve: Serve) -> None:
    """Behaviours 4.108."""
    transport, sink = serve("""
        import sys
        for line in sys.stdin.buffer:
            for number in range(16 * 1024):
                sys.stderr.write(f"log {number:059d}\\n")
            sys.stderr.write("e" * (1 << 20))
            sys.stderr.flush()
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    """)
    for number in range(3):
        transport.send(message(b"%d" % number), Deadline(SOON))
        assert sink.next() == b"%d" % number
    assert eventually(lambda: transport.stderr_tail[-1:] == ["e" * (16 << 10)])
    assert len(transport.stderr_tail) == 100


def test_lines_of_standard_error_are_cut_stripped_and_flushed(serve: Serve) -> None:
    """Behaviours 4.108."""
    lines: list[str] = []
    _, sink = serve(
        """
        import sys
        sys.stderr.buffer.write(b"one\\r\\n\\n\\r\\ntwo \\xc3\\xa9 \\xff\\n" + b"l" * 200_000 + b"\\nlast")
        """,
        stderr=lines.append,
    )
    error = sink.end()
    assert lines[:2] == ["one", "two \u00e9 \ufffd"]
    assert lines[-1] == "last"
    assert "".join(lines[2:-1]) == "l" * 200_000
    assert max(map(len, lines)) == 16 << 10
    assert isinstance(error, ServerExited)
    assert error.stderr_tail == lines


def test_standard_error_is_logged_by_default(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "syncline.server")
    _, sink = serve("import sys; sys.stderr.write('100% %s ready')")
    sink.end()
    assert ("syncline.server.server", logging.DEBUG, "100% %s ready") in caplog.record_tuples


def test_a_callback_for_standard_error_that_raises_does_not_stop_the_draining(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(line: str) -> None:
        raise ZeroDivisionError(line)

    transport, sink = serve("import sys; sys.stderr.write('one\\ntwo\\n')", stderr=broken)
    sink.end()
    assert transport.stderr_tail == ["one", "two"]
    assert caplog.text.count("the callback for standard error failed") == 2


def test_standard_error_that_cannot_be_read_is_logged_and_costs_nothing_else(
    serve: Serve, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behaviours 4.108."""

    def broken(*_: object) -> list[str]:
        raise ZeroDivisionError

    monkeypatch.setattr(stdio.StderrLines, "feed", broken)
    transport, sink = serve("import sys; print('log', file=sys.stderr, flush=True)" + ECHO.replace("\n    ", "\n"))
    transport.send(message(b"hello"), Deadline(SOON))
    assert sink.next() == b"hello"
    assert eventually(lambda: "reading standard error failed" in caplog.text)


# -- the server ends ---------------------------------------------------------------------------------------------------


def test_a_server_that_exits_at_once_says_why(serve: Serve) -> None:
    transport, sink = serve("import sys; sys.exit('no such option: --frob')", name="frobber")
    error = sink.end()
    assert isinstance(error, ServerExited)
    assert error.server == "frobber"
    assert error.returncode == 1
    assert error.command[0] == sys.executable
    assert error.stderr_tail == ["no such option: --frob"]
    assert str(error) == (
        "frobber: the server ended with exit status 1; its last words on standard error:\n  no such option: --frob"
    )
    with pytest.raises(ServerExited) as again:
        transport.send(message(b"x"), Deadline(SOON))
    assert again.value is not error
    assert str(again.value) == str(error)


def test_a_server_that_is_killed(serve: Serve) -> None:
    transport, sink = serve(ECHO)
    assert transport.pid is not None
    os.kill(transport.pid, 9)
    error = sink.end()
    assert isinstance(error, ServerExited)
    assert error.returncode == -9
    assert "signal 9 (Killed)" in str(error)


@pytest.mark.parametrize("pidfd", [True, False])
def test_the_end_is_noticed_though_a_grandchild_holds_the_pipes(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, pidfd: bool
) -> None:
    if not pidfd:
        monkeypatch.delattr(os, "pidfd_open")
        monkeypatch.setattr(stdio, "LOOK_MS", 10)
    _, sink = serve(["sh", "-c", "sleep 300 & echo '{\"last\":1}'; echo bye >&2; exit 3"])
    assert sink.next() == b'{"last":1}'
    error = sink.end()
    assert isinstance(error, ServerExited)
    assert error.returncode == 3
    assert error.stderr_tail == ["bye"]


def test_the_end_is_noticed_though_a_grandchild_goes_on_writing(serve: Serve) -> None:
    transport, sink = serve(["sh", "-c", "yes >&1 & exit 3"])
    error = sink.end()
    assert isinstance(error, ServerExited)
    assert error.returncode == 3
    transport.close(Deadline(1))


def test_a_server_that_closes_its_output_and_goes_on(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "EXIT_GRACE", 0.05)
    transport, sink = serve("import os, sys; os.close(1); sys.stdin.read()")
    error = sink.end()
    assert isinstance(error, ServerExited)
    assert error.returncode is None
    assert "still runs" in str(error)
    with pytest.raises(ServerExited):
        transport.send(message(b"x"), Deadline(SOON))


# -- starting and closing ----------------------------------------------------------------------------------------------


def test_a_program_that_does_not_exist_is_named_with_the_places_searched(serve: Serve, tmp_path: Path) -> None:
    """Behaviours 4.109."""
    with pytest.raises(ConnectFailed) as missing:
        serve(["no-such-program"], env={"PATH": f"{tmp_path}:/nonexistent"})
    assert str(missing.value) == f"server: no program 'no-such-program' in {tmp_path}:/nonexistent"


def test_a_failed_start_can_be_closed_but_not_tried_again() -> None:
    transport = StdioTransport(["no-such-program"])
    with pytest.raises(ConnectFailed):
        transport.start(Collector(), Deadline(SOON))
    transport.close(Deadline(1))
    with pytest.raises(ConnectionClosed):
        transport.start(Collector(), Deadline(SOON))
    assert transport.pid is None


def test_threads_that_cannot_be_started_leave_no_process(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, target: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(stdio, "spawn", refuse)
    with pytest.raises(RuntimeError):
        serve(ECHO)


def test_descriptors_that_run_out_are_a_failed_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(stdio, "Wakeup", refuse)
    with pytest.raises(ConnectFailed, match="Too many open files"):
        StdioTransport(["cat"]).start(Collector(), Deadline(SOON))


@pytest.mark.parametrize("command", [[], "cat file"])
def test_a_command_is_a_list(command: list[str]) -> None:
    with pytest.raises(ConfigError):
        StdioTransport(command)


def test_closing_twice_and_before_the_start() -> None:
    """Behaviours 4.106."""
    transport = StdioTransport(["cat"])
    transport.close(Deadline(1))
    transport.close(Deadline(1))
    with pytest.raises(ConnectionClosed):
        transport.start(Collector(), Deadline(SOON))


def test_after_closing_nothing_is_sent_and_nothing_lost(serve: Serve) -> None:
    transport, sink = serve(ECHO)
    pid = transport.pid
    assert pid is not None
    transport.close(Deadline(5))
    transport.close(Deadline(5))
    assert not alive(pid)
    with pytest.raises(ConnectionClosed):
        transport.send(message(b"x"), Deadline(1))
    assert sink.ends.empty()


def test_several_threads_close_and_each_returns_when_it_is_done(serve: Serve) -> None:
    transport, _ = serve("import sys, time; sys.stdin.read(); time.sleep(0.2)")
    pid = transport.pid
    assert pid is not None
    alive_after: list[bool] = []

    def close() -> None:
        transport.close(Deadline(10))
        alive_after.append(alive(pid))

    closers = [in_thread(close) for _ in range(4)]
    for thread, _ in closers:
        thread.join(SOON)
    assert alive_after == [False] * 4


def test_a_second_close_hurries_the_first_when_its_time_is_up(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the end of the program would leave a server behind that somebody is still being patient with."""
    monkeypatch.setattr(process, "GRACE", 3600)
    transport, sink = serve(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(300)"
    )
    sink.next()
    pid = transport.pid
    assert pid is not None
    closer, raised = in_thread(lambda: transport.close(Deadline(None)))
    assert eventually(transport._lifecycle.locked)
    transport.close(Deadline(0))
    closer.join(SOON)
    assert not raised
    assert not alive(pid)
    assert transport._running().returncode == -signal.SIGKILL


@pytest.mark.parametrize("callback", ["received", "lost", "stderr"])
def test_a_callback_may_close(serve: Serve, callback: str) -> None:
    done = threading.Event()

    def close(*_: object) -> bool:
        transport.close(Deadline(5))
        done.set()
        return True

    sink = Collector()
    if callback != "stderr":
        setattr(sink, callback, close)
    transport, _ = serve(
        f"""
        import sys
        sys.stdin.readline()
        print("out", flush=True)
        print("err", file=sys.stderr, flush=True)
        {"sys.exit()" if callback == "lost" else "sys.stdin.read()"}
        """,
        sink=sink,
        stderr=close if callback == "stderr" else None,
    )
    pid = transport.pid
    assert pid is not None
    transport.send(message(b"go"), Deadline(SOON))
    assert done.wait(SOON)
    assert not alive(pid)
    transport.close(Deadline(5))


def test_a_callback_closes_while_another_thread_does(serve: Serve) -> None:
    inside, closing = threading.Event(), threading.Event()

    class Closer(Collector):
        def received(self, data: bytes, origin: Outgoing | None = None, status: int | None = None) -> bool:
            inside.set()
            closing.wait(SOON)
            transport.close(Deadline(SOON))
            return True

    transport, _ = serve("print(flush=True); input()", sink=Closer())
    assert inside.wait(SOON)
    thread, raised = in_thread(lambda: transport.close(Deadline(SOON)))
    assert eventually(lambda: transport._closed)
    closing.set()
    started = time.monotonic()
    thread.join(SOON)
    assert not raised
    assert time.monotonic() - started < SOON / 2


def test_output_during_the_stop_is_drained_and_standard_error_kept(serve: Serve, tmp_path: Path) -> None:
    marker = tmp_path / "flushed"
    transport, sink = serve(
        python(
            """
            import pathlib, sys
            print("ready", flush=True)
            sys.stdin.read()
            for stream in sys.stdout, sys.stderr:
                stream.write("w" * (4 << 20) + "\\n")
                stream.flush()
            print("done", file=sys.stderr)
            pathlib.Path(sys.argv[1]).touch()
            """,
            str(marker),
        )
    )
    assert sink.next() == b"ready"
    transport.close(Deadline(20))
    assert marker.exists()
    assert transport.stderr_tail[-1] == "done"
    assert sink.messages.empty()


def test_a_server_that_never_answers_is_ended_and_the_next_one_starts_clean(serve: Serve) -> None:
    """Behaviours 4.107."""
    silent, sink = serve("import sys; sys.stdin.read()")
    silent.send(message(b'{"method":"initialize"}', "initialize"), Deadline(SOON))
    pid = silent.pid
    assert pid is not None
    assert sink.messages.empty()
    silent.close(Deadline(5))
    assert not alive(pid)
    echo, sink = serve(ECHO)
    echo.send(message(b"hello"), Deadline(SOON))
    assert sink.next() == b"hello"


def test_many_connections_leave_nothing() -> None:
    """The leak guard counts threads, processes, zombies and descriptors."""
    errors: list[SynclineError] = []
    for number in range(100):
        if number % 5 == 4:
            transport = StdioTransport(["sh", "-c", "echo broken >&2; exit 2"])
            sink = Collector()
            transport.start(sink, Deadline(SOON))
            errors.append(sink.end())
        else:
            transport = StdioTransport(["cat"])
            sink = Collector()
            transport.start(sink, Deadline(SOON))
            transport.send(message(b"hello"), Deadline(SOON))
            assert sink.next() == b"hello"
        transport.close(Deadline(5))
    assert [error.returncode for error in errors if isinstance(error, ServerExited)] == [2] * 20

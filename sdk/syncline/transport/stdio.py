"""Messages over the standard input and output of a server's process (specification, basic/transports, stdio)."""

from __future__ import annotations

import copy
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from syncline import logs
from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.concurrency.wakeup import Wakeup
from syncline.concurrency.workers import among, join, spawn
from syncline.errors import (
    ConfigError,
    ConnectFailed,
    ConnectionClosed,
    ConnectionLost,
    RequestTimeout,
    ServerExited,
    SynclineError,
)
from syncline.protocol.framing import LineFramer, Overlong

from .base import Outgoing, Sink
from .pipes import PipeWriter, pump
from .process import REAP, ServerProcess, environment, until

if TYPE_CHECKING:
    from syncline.concurrency.workers import Thread

#: Lines of standard error that are kept for ``ServerExited``.
TAIL_LINES = 100
#: Bytes of standard error after which a line is cut.
STDERR_PIECE = 1 << 14
#: Seconds that a server which closed a pipe is given to end, so that its exit status can be told.
EXIT_GRACE = 1.0
#: Seconds that the last words on standard error are given to arrive.
TAIL_GRACE = 0.25
#: Seconds that threads of ours are given to let go once they have been woken, even when the deadline has passed.
LET_GO = 0.5
#: Milliseconds between looks at the process where the system does not signal its end.
LOOK_MS = 500


class StdioTransport:
    """A server as a child process.

    Two threads read, ``syncline:<name>:stdout`` and ``syncline:<name>:stderr``; senders write in their own thread, one whole
    message at a time. Lines over ``message_bytes`` are skipped with the finding ``message-too-long``.

    Args:
        command: Program and arguments; no shell is involved. The program is looked up on the PATH that it will see.
        env: Environment variables for the server, besides the few that it inherits (``process.INHERITED``).
        env_vars: Names of further variables to pass on, where they are set.
        cwd: Its working directory; None: ours.
        stderr: Called with each line of its standard error, on the thread that reads it. None: the lines go to the logger
            ``syncline.server.<name>``, level debug.
        message_bytes: Limit for one received message; None: no limit.
        name: What errors, threads and loggers call the server; by default the program.
    """

    shared = True
    sessions = False

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        env_vars: Sequence[str] = (),
        cwd: str | os.PathLike[str] | None = None,
        stderr: Callable[[str], object] | None = None,
        message_bytes: int | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(command, str) or not command:
            raise ConfigError("a command is a list: the program and its arguments")
        self.name = name or command[0]
        self._command = list(command)
        self._env = dict(env or {})
        self._env_vars = tuple(env_vars)
        self._cwd = None if cwd is None else os.fspath(cwd)
        self._log = logs.server.getChild(self.name)
        self._on_stderr = stderr or self._log.debug
        self._framer = LineFramer(message_bytes)
        self._errors = StderrLines()
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

        self._lifecycle = new_lock()  # held for the whole of start() and close()
        self._state = new_lock()  # decides whether we closed first or the server ended first
        self._closed = self._released = self._stderr_ended = False
        self._lost: SynclineError | None = None
        self._process: ServerProcess | None = None
        self._wakeups: list[Wakeup] = []
        self._threads: list[Thread] = []

    @property
    def pid(self) -> int | None:
        """The server's process id; None before ``start()``."""
        return self._process.pid if self._process else None

    @property
    def stderr_tail(self) -> list[str]:
        """The last lines that the server wrote to standard error."""
        return list(self._tail.copy())

    # -- start ---------------------------------------------------------------------------------------------------------

    def start(self, sink: Sink, deadline: Deadline) -> None:
        """Start the server. Returns as soon as it runs, which does not mean that it answers.

        Raises ``ConnectFailed`` if there is no such program or the system cannot start it, ``ConfigError`` for an
        environment or a command that no process can have, ``ConnectionClosed`` after ``close()``.
        """
        with self._lifecycle:
            self._check()
            self._sink = sink
            try:
                self._closing, self._leave = self._wakeups = [Wakeup(), Wakeup()]
                process = ServerProcess(self._command, env=environment(self._env, self._env_vars), cwd=self._cwd)
                self._process, self._writer = process, PipeWriter(process.stdin, self._closing)
                self._threads.append(spawn(f"syncline:{self.name}:stderr", self._read_stderr))
                self._threads.append(spawn(f"syncline:{self.name}:stdout", self._read_stdout))
            except BaseException as error:
                self._closed = True
                self._release(deadline)
                if isinstance(error, SynclineError):
                    error.at(self.name)
                elif isinstance(error, OSError):
                    raise ConnectFailed(str(error)).at(self.name) from error
                raise

    # -- out -----------------------------------------------------------------------------------------------------------

    def send(self, message: Outgoing, deadline: Deadline) -> None:
        """Write one message. Blocks while others write and while the server does not read its input.

        Ends at the deadline (``RequestTimeout``), on ``close()`` (``ConnectionClosed``) and when the server ends
        (``ServerExited``). A message that was written in part by then is completed before the next one, so that the stream
        stays whole.
        """
        self._check()
        try:
            if self._writer.write(message.frame + b"\n", deadline):
                return
        except TimeoutError:
            raise RequestTimeout("the server did not read its input in time").at(
                self.name, message.method, message.id
            ) from None
        except BrokenPipeError as error:
            raise self._exit_error(deadline) from error
        self._check()

    def _check(self) -> None:
        if self._closed:
            raise ConnectionClosed("the connection is closed").at(self.name)
        if self._lost is not None:
            raise copy.copy(self._lost)

    # -- in ------------------------------------------------------------------------------------------------------------

    def _read_stdout(self) -> None:
        process = self._running()
        wakers = [self._leave.fileno()]
        if process.exit_fd is not None:
            wakers.append(process.exit_fd)
        try:
            pump(
                process.stdout,
                self._deliver,
                *wakers,
                ended=lambda: self._leave.is_set or process.has_ended(),
                timeout_ms=LOOK_MS if process.exit_fd is None else None,
            )
            if self._closed:
                return
            if self._framer.rest:
                self._sink.finding("message-cut-off", "stdout", "the server's output ended in the middle of a line")
            error: SynclineError = self._exit_error(Deadline(None))
        except Exception as cause:
            self._log.exception("%s: reading standard output failed", self.name)
            error = ConnectionLost(f"reading the server's output failed: {cause!r}").at(self.name)
            error.__cause__ = cause
        with self._state:
            if self._closed:
                return
            self._lost = error
            self._closing.set()
        self._sink.lost(error)

    def _deliver(self, data: bytes) -> bool:
        received = self._sink.received
        for line in self._framer.feed(data):
            if self._closed:
                break
            if isinstance(line, Overlong):
                self._sink.finding("message-too-long", "stdout", line.prefix)
            else:
                received(line)
        return not self._released

    def _read_stderr(self) -> None:
        process = self._running()
        try:
            pump(process.stderr, self._deliver_stderr, self._leave.fileno(), ended=lambda: self._leave.is_set)
            self._note(self._errors.rest())
        except Exception:
            self._log.exception("%s: reading standard error failed", self.name)
        self._stderr_ended = True

    def _deliver_stderr(self, data: bytes) -> bool:
        self._note(self._errors.feed(data))
        return True  # once we leave, pump() hands over what the pipe still holds, and no more

    def _note(self, lines: list[str]) -> None:
        for line in lines:
            self._tail.append(line)
            try:
                self._on_stderr(line)
            except Exception:
                self._log.exception("%s: the callback for standard error failed", self.name)

    def _running(self) -> ServerProcess:
        assert self._process is not None
        return self._process

    # -- end -----------------------------------------------------------------------------------------------------------

    def _exit_error(self, deadline: Deadline) -> ServerExited:
        """What the end of a pipe means, once exit status and last words are there, or time is up."""
        process = self._running()
        ended = until(lambda: self._closed or process.has_ended(), deadline.sooner(EXIT_GRACE))
        until(lambda: self._closed or self._stderr_ended, deadline.sooner(TAIL_GRACE))
        code = process.returncode
        if not ended:
            how = "the server closed its standard input or output but still runs"
        elif code is None:
            how = "the server ended"
        elif code < 0:
            how = f"the server was ended by signal {-code} ({signal.strsignal(-code)})"
        else:
            how = f"the server ended with exit status {code}"
        return ServerExited(how, command=self._command, returncode=code, stderr_tail=self.stderr_tail).at(self.name)

    def listen(
        self,
        message: Outgoing,
        on_open: Callable[[bool], object],
        on_down: Callable[[SynclineError], object],
        idle: float | None = None,
    ) -> None:
        """Nothing: all messages share one channel."""

    def forget_session(self) -> None:
        """Nothing: there are no sessions here."""

    def abandon(self, message: Outgoing) -> None:
        """Nothing: no send waits for an answer."""

    def close(self, deadline: Deadline) -> None:
        """End the server and our threads: see ``ServerProcess.stop``. Idempotent, from any thread, done by the deadline.

        Senders that are blocked get ``ConnectionClosed`` at once. Blocks while another thread is closing, which is hurried when
        the deadline passes, unless called from a callback of this transport.
        """
        with self._state:
            self._closed = True
        inside = among(self._threads)
        taken: list[bool] = []
        try:
            if not take(self._lifecycle, Deadline(0) if inside else deadline, taken) and not inside and self._process:
                self._process.hurry()
                take(self._lifecycle, Deadline(REAP), taken)
            if True in taken:
                self._release(deadline)
        finally:
            if True in taken:
                self._lifecycle.release()

    def _release(self, deadline: Deadline) -> None:
        if self._released:
            return
        try:
            if self._process is not None:
                self._closing.set()
                self._writer.settle(Deadline(LET_GO))
                self._process.stop(deadline)
        finally:
            self._released = True
            if self._threads:
                self._leave.set()
                join(self._threads, Deadline(max(LET_GO, deadline.remaining() or 0)))
            for wakeup in self._wakeups:
                wakeup.close()
            if self._process is not None:
                self._process.close()

    def disown(self) -> None:
        """We are a forked child: close our copies of the pipes; the server is not told and not waited for.

        Takes no lock, since a thread that did not survive the fork may hold it.
        """
        self._closed = self._released = True
        for wakeup in self._wakeups:
            wakeup.close()
        if self._process is not None:
            self._process.disown()


class StderrLines:
    """Cuts standard error into lines of at most ``STDERR_PIECE`` bytes, without line ends; empty ones are left out."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """The lines and pieces that ``data`` completes."""
        *lines, rest = (self._rest + data).split(b"\n")
        whole = len(rest) - len(rest) % STDERR_PIECE
        self._rest = rest[whole:]
        return _texts([*lines, rest[:whole]])

    def rest(self) -> list[str]:
        """What came after the last line end."""
        rest, self._rest = self._rest, b""
        return _texts([rest])


def _texts(lines: list[bytes]) -> list[str]:
    pieces = (line[at : at + STDERR_PIECE] for line in lines for at in range(0, len(line), STDERR_PIECE))
    return [text for piece in pieces if (text := piece.decode("utf-8", "replace").rstrip("\r"))]

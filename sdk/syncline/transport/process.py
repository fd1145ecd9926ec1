"""A server's process: what it inherits, where its program is found, how it is ended.

On POSIX the server leads a process group of its own and is ended with all of it. On Windows, where this is untested, there
is no group to end and pipes cannot be waited for: only the process itself is ended, and a send to a server that does not
read its input outlasts its deadline until the server is closed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock
from syncline.errors import ConfigError, ConnectFailed

from .pipes import PIPE_BYTES

if sys.platform == "linux":
    import fcntl

#: Variables that a server gets from our environment; all others it gets only if they are named.
INHERITED = (
    ("HOME", "LOGNAME", "PATH", "SHELL", "USER", "__CF_USER_TEXT_ENCODING", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ")
    if sys.platform != "win32"
    else (
        *("APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "PATH", "PATHEXT"),
        *("PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP"),
        *("USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR"),
    )
)
#: What looks like ``host:port`` or ``host.domain/path``.
ADDRESS = re.compile(r"https?:|localhost(/|$)|[\w.-]+:\d+(/|$)|[\w-]+(\.[\w-]+)+/")
#: Seconds between closing the server's input and SIGTERM, and between SIGTERM and SIGKILL.
GRACE = 2.0
#: Seconds that a killed process is waited for, even when the deadline has passed.
REAP = 0.5


def environment(env: Mapping[str, str], env_vars: Sequence[str] = ()) -> dict[str, str]:
    """The server's environment: ``INHERITED`` and ``env_vars`` as far as they are set here, then ``env``, which wins."""
    child = {name: os.environ[name] for name in (*INHERITED, *env_vars) if name in os.environ}
    child.update({name.upper(): value for name, value in env.items()} if sys.platform == "win32" else env)
    return child


def find_program(program: str, env: Mapping[str, str], cwd: str | None) -> str:
    """Where the program is: a name on the PATH of ``env``, a path from ``cwd``.

    Raises ``ConnectFailed`` with the places that were searched.
    """
    base = Path(cwd or ".").absolute()
    if sys.platform == "win32":
        return shutil.which(program, path=os.pathsep.join([str(base), env.get("PATH", "")])) or program
    folders = [base] if os.sep in program else [base / folder for folder in os.get_exec_path(env)]
    for folder in folders:
        path = folder / program
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    missing = ConnectFailed(_not_found(program, folders))
    missing.passing = False
    raise missing


def _not_found(program: str, folders: Sequence[Path]) -> str:
    path = folders[0] / program
    if os.sep in program and path.exists():
        fault = "a folder" if path.is_dir() else "not executable: make it so, or put its interpreter before it"
        return f"{program!r} is {fault}"
    places = "" if Path(program).is_absolute() else f" in {os.pathsep.join(map(str, folders))}"
    advice = ""
    if ADDRESS.match(program):
        advice = "; if it is the address of a server, write http:// or https:// before it"
    elif " " in program:
        advice = "; arguments are words of their own: StdioServer(command=..., args=[...]), or a list of words"
    return f"no program {program!r}{places}{advice}"


def until(condition: Callable[[], bool], deadline: Deadline) -> bool:
    """Look again and again until the condition holds; False if it does not by the deadline.

    Children are waited for like this, because a wait for SIGCHLD can last for ever where a framework owns that signal.
    """
    pause = 0.001
    while not condition():
        if deadline.expired:
            return False
        time.sleep(deadline.sooner(pause).seconds or 0)
        pause = min(pause * 2, 0.02)
    return True


class ServerProcess:
    """A running server with raw, on POSIX non-blocking pipes.

    Attributes:
        pid: Its process id, also that of its group.
        stdin: Our end of its standard input.
        stdout: Our end of its standard output.
        stderr: Our end of its standard error.
        exit_fd: Becomes readable when the process ends; None where the system has no such thing.

    Raises ``ConnectFailed`` if there is no such program or it cannot be started, ``ConfigError`` for a command or an
    environment that no process can have.
    """

    def __init__(self, command: Sequence[str], *, env: Mapping[str, str], cwd: str | None = None) -> None:
        program = find_program(command[0], env, cwd)
        self.exit_fd: int | None = None
        self._lock = new_lock()
        self._ended = self._reaped = self._finished = self._forgotten = self._hurried = False
        self._returncode: int | None = None
        self._fds: list[int] = []
        theirs: list[int] = []
        try:
            child_in, self.stdin = self._pipe(theirs, ours=1)
            self.stdout, child_out = self._pipe(theirs, ours=0)
            self.stderr, child_err = self._pipe(theirs, ours=0)
            _enlarge(self.stdout)
            self._popen = subprocess.Popen(
                list(command),
                executable=program,
                stdin=child_in,
                stdout=child_out,
                stderr=child_err,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                where = error.filename or program
                raise ConnectFailed(f"{command[0]!r} cannot be started: {error.strerror}: {where!r}") from error
            if isinstance(error, ValueError):
                raise ConfigError(f"{command[0]!r} cannot be started: {error}") from error
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self.pid = self._popen.pid
        if hasattr(os, "pidfd_open"):
            with contextlib.suppress(OSError):
                self.exit_fd = os.pidfd_open(self.pid)
                self._fds.append(self.exit_fd)

    def _pipe(self, theirs: list[int], *, ours: int) -> tuple[int, int]:
        ends = os.pipe()
        self._fds.append(ends[ours])
        theirs.append(ends[1 - ours])
        if sys.platform != "win32":
            os.set_blocking(ends[ours], False)
        return ends

    @property
    def returncode(self) -> int | None:
        """Exit status, negative for a signal; None before the end, and where somebody else has taken the status."""
        return self._returncode if self._returncode is not None or self._forgotten else self._popen.returncode

    def has_ended(self) -> bool:
        """Whether the process itself has ended. It is not reaped here, so that its number stays ours until ``stop()``."""
        return self._look(reap=False)

    def _look(self, *, reap: bool) -> bool:
        with self._lock:
            if self._ended and (self._reaped or not reap):
                return True
            if not hasattr(os, "waitid"):
                self._ended = self._reaped = self._popen.poll() is not None
                return self._ended
            try:
                state = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | (0 if reap else os.WNOWAIT))
            except ChildProcessError:
                # Reaped by a framework's child watcher, or by the system because SIGCHLD is ignored.
                self._ended = self._reaped = True
                return True
            if state is not None:
                self._ended, self._reaped = True, reap
                self._returncode = state.si_status if state.si_code == os.CLD_EXITED else -state.si_status
            return self._ended

    def stop(self, deadline: Deadline) -> None:
        """End the server and all of its group, and reap it.

        Closes its input and waits ``GRACE`` seconds, sends SIGTERM to the group and waits again, sends SIGKILL
        (specification, basic/transports, stdio, shutdown). Each step comes sooner where the deadline is short, none is left
        out. Harmless when the server has gone or was stopped before.
        """
        left = deadline.remaining()
        grace = GRACE if left is None else min(GRACE, left * 0.4)
        try:
            self.close_stdin()
            if not self._goes(grace):
                self._signal("SIGTERM")
                if not self._goes(grace):
                    self._kill()
        except BaseException:
            self._kill()
            raise
        finally:
            if self._reaped:
                self._forget()

    def hurry(self) -> None:
        """For another thread than the one in ``stop()``: time is up, and its steps come at once."""
        self._hurried = True

    def _goes(self, seconds: float) -> bool:
        """Wait for the end of the server, until somebody is in a hurry; whether it has gone."""
        until(lambda: self._gone() or self._hurried, Deadline(seconds))
        return self._finished

    def _kill(self) -> None:
        if not self._gone():
            self._signal("SIGKILL")
            until(self._gone, Deadline(REAP))

    def _gone(self) -> bool:
        # Once gone, always gone: the number may be a stranger's later.
        self._finished = self._finished or (self._look(reap=True) and not self._left_behind())
        return self._finished

    def _left_behind(self) -> bool:
        """Whether the group has outlived its leader, which has been reaped."""
        if sys.platform == "win32":
            return False
        # As process 1 of a container, or as a subreaper, we inherit its members and have to reap them.
        with contextlib.suppress(ChildProcessError, AttributeError):
            while os.waitid(os.P_PGID, self.pid, os.WEXITED | os.WNOHANG):
                pass
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return not _exists(self.pid)  # else the number is somebody else's by now

    def _signal(self, name: str) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._popen.terminate()
            else:
                os.killpg(self.pid, signal.Signals[name])

    def close_stdin(self) -> None:
        """Tell the server that nothing more will come."""
        self._close(self.stdin)

    def close(self) -> None:
        """Close our ends of the pipes. Takes no lock, so it can be called in a forked child."""
        for fd in list(self._fds):
            self._close(fd)

    def disown(self) -> None:
        """We are a forked child, so the process is not ours to end or to wait for."""
        self.close()
        self._forget()

    def _forget(self) -> None:
        """Keep subprocess from waiting for what is not there."""
        self._returncode, self._forgotten = self.returncode, True
        self._popen.returncode = 0

    def _close(self, fd: int) -> None:
        if fd in self._fds:
            self._fds.remove(fd)
            os.close(fd)


def _enlarge(pipe: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True

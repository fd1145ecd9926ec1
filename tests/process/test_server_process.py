"""What a server's process inherits, where its program is found, how it ends."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.wakeup import watch
from syncline.errors import ConfigError, ConnectFailed
from syncline.transport import process
from syncline.transport.process import ServerProcess, environment
from tests.fixtures.processes import alive, eventually
from tests.fixtures.stdio import SOON, Serve, message, python

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups and signals are POSIX")

REPORT = "import json, os; print(json.dumps([dict(os.environ), os.getcwd(), os.getpid(), os.getpgid(0), os.getsid(0)]), flush=True)"
#: A server that ignores everything but SIGKILL, and says when it does.
STUBBORN = """
    import signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        time.sleep(60)
"""


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", 0.3)


# -- environment -------------------------------------------------------------------------------------------------------


def test_a_server_sees_a_short_list_of_our_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behaviours 4.100, 4.102."""
    monkeypatch.setenv("API_TOKEN", "secret")
    monkeypatch.setenv("WANTED", "yes")
    monkeypatch.setenv("TZ", "Europe/Oslo")
    monkeypatch.setenv("TERM", "from us")
    monkeypatch.delenv("LANG", raising=False)
    _, sink = serve(REPORT, env={"EXPLICIT": "1", "TERM": "from env"}, env_vars=["WANTED", "NOT_SET", "TERM"])
    seen = json.loads(sink.next())[0]
    seen.pop("LC_CTYPE", None)  # Python itself sets it in the C locale
    assert set(seen) <= {*process.INHERITED, "WANTED", "EXPLICIT"}
    assert seen["PATH"] == os.environ["PATH"]
    assert (seen["WANTED"], seen["EXPLICIT"], seen["TZ"], seen["TERM"]) == ("yes", "1", "Europe/Oslo", "from env")
    assert "LANG" not in seen


def test_values_that_are_not_utf8_survive(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behaviours 4.101."""
    monkeypatch.setitem(os.environb, b"HOME", b"/home/\xff")
    _, sink = serve(
        "import os; print(os.environb[b'HOME'], os.environb[b'MORE'], flush=True)", env={"MORE": os.fsdecode(b"\xfe")}
    )
    assert sink.next() == rb"b'/home/\xff' b'\xfe'"


@pytest.mark.parametrize("env", [{"A=B": "x"}, {"A": "x\0y"}])
def test_an_environment_that_cannot_be_is_a_configuration_error(serve: Serve, env: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="server: ") as refused:
        serve(["cat"], env=env)
    assert "x\0y" not in str(refused.value)


# -- program and working directory -------------------------------------------------------------------------------------


def script(path: Path, text: str = "#!/bin/sh\npwd\n") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_name_is_looked_up_on_the_path_of_the_server(serve: Serve, tmp_path: Path) -> None:
    """Behaviours 4.103."""
    script(tmp_path / "bin" / "weather-server")
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "weather-server").write_text("not executable")
    _, sink = serve(["weather-server"], env={"PATH": f"{tmp_path}/first:{tmp_path}/bin"})
    assert sink.next() == os.fsencode(Path.cwd())


def test_relative_paths_start_at_the_working_directory(serve: Serve, tmp_path: Path) -> None:
    """Behaviours 4.104."""
    script(tmp_path / "bin" / "weather-server")
    for command, path in ["bin/weather-server", os.environ["PATH"]], ["weather-server", "bin"]:
        _, sink = serve([command], env={"PATH": path}, cwd=tmp_path)
        assert sink.next() == os.fsencode(tmp_path)


def test_no_shell_reads_the_command(serve: Serve) -> None:
    _, sink = serve(["echo", "$HOME; exit 1", "*"])
    assert sink.next() == b"$HOME; exit 1 *"


def test_a_path_that_leads_nowhere_is_named(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(ConnectFailed, match=f"no program './nothing' in {tmp_path}"):
        serve(["./nothing"], cwd=tmp_path)


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("/no/such/program", "no program '/no/such/program'$"),
        ("./plain", "'./plain' is not executable: make it so, or put its interpreter before it"),
        ("./folder", "'./folder' is a folder"),
        ("./folder/a.py --fast", "no program .* arguments are words of their own"),
        ("localhost:8000/mcp", "no program .* write http:// or https:// before it"),
        ("localhost/mcp", "no program .* write http:// or https:// before it"),
        ("weather.example/mcp", "no program .* write http:// or https:// before it"),
        ("127.0.0.1:8000", "no program .* write http:// or https:// before it"),
        ("https:/weather.example", "no program .* write http:// or https:// before it"),
    ],
)
def test_what_is_no_program_is_told_apart(serve: Serve, tmp_path: Path, program: str, text: str) -> None:
    (tmp_path / "plain").write_text("print(1)")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConnectFailed, match=text):
        serve([program], cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "reason"), [("#!/no/such/interpreter\n", "No such file"), ("\x7fELF", "Exec format error")]
)
def test_a_program_that_cannot_run_is_named_with_the_reason(
    serve: Serve, tmp_path: Path, text: str, reason: str
) -> None:
    with pytest.raises(ConnectFailed, match=f"server: .*broken.*{reason}.*broken"):
        serve([str(script(tmp_path / "broken", text))])


def test_a_working_directory_that_does_not_exist_is_named(serve: Serve, tmp_path: Path) -> None:
    with pytest.raises(ConnectFailed, match=r"nowhere"):
        serve(["cat"], cwd=tmp_path / "nowhere")


# -- the end -----------------------------------------------------------------------------------------------------------


def test_a_server_leads_a_group_and_a_session_of_its_own(serve: Serve) -> None:
    """Behaviours 4.105."""
    transport, sink = serve(REPORT)
    _, _, pid, group, session = json.loads(sink.next())
    assert pid == group == session == transport.pid != os.getpid()


def test_a_server_may_take_its_time_at_the_end_of_its_input(serve: Serve, tmp_path: Path) -> None:
    marker = tmp_path / "flushed"
    transport, sink = serve(
        python(
            """
            import pathlib, sys, time
            print("ready", flush=True)
            sys.stdin.read()
            time.sleep(0.5)
            pathlib.Path(sys.argv[1]).touch()
            """,
            str(marker),
        )
    )
    sink.next()
    transport.close(Deadline(10))
    assert marker.exists()
    assert transport._running().returncode == 0


@pytest.mark.usefixtures("short_grace")
def test_a_server_that_ignores_the_end_of_its_input_is_asked_by_signal(serve: Serve) -> None:
    transport, sink = serve("import time; print(flush=True); time.sleep(300)")
    sink.next()
    transport.close(Deadline(10))
    assert transport._running().returncode == -signal.SIGTERM


@pytest.mark.usefixtures("short_grace")
def test_a_server_that_ignores_that_too_is_killed(serve: Serve) -> None:
    """Behaviours 4.105."""
    transport, sink = serve(STUBBORN)
    sink.next()
    started = time.monotonic()
    transport.close(Deadline(10))
    assert transport._running().returncode == -signal.SIGKILL
    assert time.monotonic() - started >= 0.6


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_a_short_deadline_makes_the_steps_shorter_but_leaves_none_out(serve: Serve, seconds: float) -> None:
    transport, sink = serve(STUBBORN)
    sink.next()
    started = time.monotonic()
    transport.close(Deadline(seconds))
    assert transport._running().returncode == -signal.SIGKILL
    assert time.monotonic() - started < seconds + 1


@pytest.mark.usefixtures("short_grace")
@pytest.mark.parametrize("ending", ["wait", "exit"])
def test_what_the_server_started_ends_with_it(serve: Serve, ending: str) -> None:
    """Behaviours 4.105."""
    transport, sink = serve(["sh", "-c", f"sleep 300 & echo $!; {ending}"])
    grandchild = int(sink.next())
    assert alive(grandchild)
    transport.close(Deadline(10))
    assert not alive(grandchild)


@pytest.mark.usefixtures("short_grace")
def test_what_the_server_started_ends_even_if_it_ignores_signals(serve: Serve) -> None:
    command = python(STUBBORN.replace('"ready"', "__import__('os').getpid()"))
    transport, sink = serve(["sh", "-c", '"$@" & wait', "sh", *command])
    grandchild = int(sink.next())
    transport.close(Deadline(10))
    assert eventually(lambda: not alive(grandchild))


def test_what_outlives_a_server_that_ended_at_the_end_of_its_input_is_ended(serve: Serve) -> None:
    transport, sink = serve(["sh", "-c", "sleep 300 & echo $!; cat"])
    grandchild = int(sink.next())
    transport.close(Deadline(1))
    assert transport._running().returncode == 0
    assert not alive(grandchild)


def test_a_server_is_not_reaped_before_it_is_closed(serve: Serve) -> None:
    """So its number cannot go to a stranger, who would then get the signals."""
    transport, sink = serve(["true"])
    sink.end()
    assert transport.pid is not None
    assert Path(f"/proc/{transport.pid}/stat").exists()
    transport.close(Deadline(5))
    assert not Path(f"/proc/{transport.pid}/stat").exists()


def test_a_number_that_has_gone_to_a_stranger_is_left_alone(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    transport, sink = serve(["true"])
    sink.end()
    server = transport._running()
    assert os.waitpid(server.pid, 0) == (server.pid, 0)  # somebody else took its status
    signals: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda _pid, number: signals.append(number))
    monkeypatch.setattr(os, "kill", lambda _pid, number: signals.append(number))
    transport.close(Deadline(0.1))
    assert set(signals) == {0}


def test_without_waitid(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "waitid", "pidfd_open":
        monkeypatch.delattr(os, name)
    transport, sink = serve(["sh", "-c", "cat; exit 3"])
    transport.send(message(b"hello"), Deadline(SOON))
    assert sink.next() == b"hello"
    transport.close(Deadline(5))
    assert transport._running().returncode == 3


def test_stopping_twice_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behaviours 4.106."""
    server = ServerProcess(["cat"], env=environment({}))
    server.stop(Deadline(5))
    monkeypatch.delattr(os, "killpg")  # there is nobody left to signal, so it is not used
    assert server.returncode == 0
    monkeypatch.undo()
    server.stop(Deadline(5))
    server.close()
    server.close()


def test_an_interrupted_stop_kills(monkeypatch: pytest.MonkeyPatch) -> None:
    server = ServerProcess(python(STUBBORN), env=environment({}))
    watch(server.stdout)(SOON * 1000)
    looks: list[int] = []

    def interrupted(seconds: float) -> None:
        looks.append(1)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        server.stop(Deadline(10))
    monkeypatch.undo()
    assert eventually(lambda: not alive(server.pid))
    server.stop(Deadline(5))
    server.close()
    assert server.returncode == -signal.SIGKILL

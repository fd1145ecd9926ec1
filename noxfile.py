"""The only list of commands. `nox -l` names them; `nox` alone runs every check there is."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "uv|venv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"
nox.options.sessions = [
    "lint", "imports", "typing", "generate_check", "build", "tests", "coverage", "peers", "process", "conformance", "soak", "totals",
]  # fmt: skip

PYPROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PYPROJECT)
BUILD = Path("build").resolve()
COVERAGE, DIST, REPORTS = BUILD / "coverage", BUILD / "dist", BUILD / "reports"
#: Not measured: what coverage offers for Python 3.10 keeps a lock of its own for ever when Ctrl-C meets its tracer (fixed in
#: 7.17.5), and on 3.12 tracing takes twice as long as on its neighbours.
UNMEASURED = ("3.10", "3.12")


def group(*names: str) -> tuple[str, ...]:
    """The requirements of dependency groups, resolved here so that an old pip needs to know nothing of groups."""
    return nox.project.dependency_groups(PYPROJECT, *names)


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def pytest(session: nox.Session, *args: str, name: str) -> None:
    """Run pytest, under coverage where that is measured; `coverage` and `totals` find the data and the counts."""
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    measure: tuple[str, ...] = ()
    if session.python not in UNMEASURED:
        session.env["COVERAGE_FILE"] = str(fresh(COVERAGE / name) / ".coverage")
        measure = "-m", "coverage", "run"
    session.run("python", *measure, "-m", "pytest", f"--junit-xml={report}", *args, *session.posargs)


def npm_install(session: nox.Session, source: str) -> Path:
    """Install what a folder's lock file pins, outside the work tree's tracked files; returns the folder of programs."""
    target = BUILD / Path(source).name / "npm"
    lock = Path(source, "package-lock.json").read_bytes()
    if not (target / "node_modules").is_dir() or (target / "package-lock.json").read_bytes() != lock:
        fresh(target)
        for file in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(Path(source, file), target)
        session.run("npm", "ci", "--ignore-scripts", "--prefix", str(target), silent=True)
    return target / "node_modules"


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Every test that needs nothing but Python, against the installed package, on each interpreter at hand."""
    session.install(".[cli]", *group("test", "codegen"))
    pytest(session, name=f"tests-{session.python}")


@nox.session(python=PYTHONS[0], venv_backend="uv", default=False)
def minimums(session: nox.Session) -> None:
    """The same tests with the oldest versions that pyproject allows. Needs uv."""
    session.install("--resolution=lowest-direct", ".[cli]", *group("test"))
    pytest(session, name="minimums")


@nox.session
def coverage(session: nox.Session) -> None:
    """Statement and branch coverage of sdk over all runs of the tests; protocol must be covered whole."""
    measured = sorted(COVERAGE.glob("*/"))
    if not measured:
        session.skip("no run of the tests was measured")
    session.install(*group("test"))
    env = {"COVERAGE_FILE": str(COVERAGE / ".coverage")}
    session.run("coverage", "combine", "--keep", *map(str, measured), env=env, silent=True)
    session.run("coverage", "report", env=env)
    session.run("coverage", "json", "-o", str(BUILD / "coverage.json"), env=env, silent=True)
    session.run("python", "-m", "tools.checks.coverage", str(BUILD / "coverage.json"), "--whole", "protocol")


@nox.session
def typing(session: nox.Session) -> None:
    """Types, by mypy strict and pyright, over everything."""
    session.install("-e", ".[cli]", *group("typing", "test", "codegen", "browser", "peers", "process"), "nox")
    session.run("mypy")
    session.run("pyright")


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, its formatter, codespell and the rules for pyproject."""
    session.install(*group("lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("codespell")
    session.run("validate-pyproject", "pyproject.toml")


@nox.session
def imports(session: nox.Session) -> None:
    """Who may import whom: the contracts in pyproject."""
    session.install(*group("imports"))
    session.run("lint-imports", "--no-cache", env={"PYTHONPATH": "sdk:generated"})


@nox.session(default=False)
def generate(session: nox.Session) -> None:
    """Rebuild generated/ from schema/."""
    session.install(*group("codegen"))
    session.run("python", "-m", "tools.codegen", "generate", *session.posargs)


@nox.session
def generate_check(session: nox.Session) -> None:
    """Fail with a diff when generated/ is not what schema/ gives."""
    session.install(*group("codegen"))
    session.run("python", "-m", "tools.codegen", "generate", "--check")


@nox.session(default=False)
def schema_add(session: nox.Session) -> None:
    """Add a revision: nox -s schema_add -- PATH_OR_URL REVISION."""
    session.install(*group("codegen"))
    session.run("python", "-m", "tools.codegen", "add", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """The source distribution, the wheel built from it, and a look at what is inside."""
    session.install(*group("build"))
    session.run("python", "-m", "build", "--outdir", str(fresh(DIST)), silent=True)
    session.run("python", "-m", "tools.checks.wheel", *map(str, DIST.glob("*.whl")))


@nox.session
def peers(session: nox.Session) -> None:
    """The client against servers that this project did not write, and logins at some of them with Chromium."""
    session.install(".[cli]", *group("test", "node", "browser"))
    programs = npm_install(session, "tests/peers")
    python = BUILD / "peers" / "python"
    if not python.exists():
        session.run("python", "-m", "venv", str(python))
    session.run(str(python / "bin" / "python"), "-m", "pip", "install", "--quiet", *group("peers"), external=True)
    session.env.update(SYNCLINE_PEERS_NPM=str(programs), SYNCLINE_PEERS_PYTHON=str(python / "bin" / "python"))
    pytest(session, "-m", "peers", "tests/peers", name="peers")


@nox.session
def process(session: nox.Session) -> None:
    """The client in real programs: exit, fork, gevent, Celery, gunicorn, Jupyter, Ctrl-C; ends with a table."""
    session.install(".[cli]", *group("test", "process"))
    pytest(session, "-m", "", "tests/process", name="process")  # those that need no package of their own, too


@nox.session
def soak(session: nox.Session) -> None:
    """264 subscriptions and a server that misbehaves, for a minute: nothing is lost, doubled or leaked."""
    session.install(".")
    session.run("python", "-m", "tools.soak", *(session.posargs or ("--seconds", "60", "--seed", "1")))


@nox.session
def conformance(session: nox.Session) -> None:
    """The official suite, under the strict rule, with the list of what must pass."""
    session.install(".[jwt]", *group("node"))
    programs = npm_install(session, "tests/conformance")
    session.run("python", "-m", "tests.conformance.run", "--suite", str(programs), *session.posargs)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Benchmarks, each beside the raw loop in the same run."""
    session.install(".")
    session.run("python", "-m", "tools.bench", *session.posargs)


@nox.session(default=False)
def demo(session: nox.Session) -> None:
    """What `syncline demo` shows."""
    session.install(".[cli]")
    session.run("syncline", "demo", *session.posargs)


@nox.session(python=False)
def totals(session: nox.Session) -> None:
    """How many tests passed, over all sessions that ran some; and that no secret is in their reports, with all that was logged."""
    session.run(sys.executable, "-m", "tools.checks.totals", str(REPORTS))
    session.run(sys.executable, "-m", "tools.checks.secrets", str(REPORTS))

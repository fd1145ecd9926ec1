"""The watch for secrets sees them wherever they are shown: each way is taken once, by tests of another run, which have to fail."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.checks.secrets import MARK, marked, shown

ROOT = Path(__file__).parents[2]
SECRET = MARK[:4] + MARK[4:] + "-1"
#: How something is shown, by a test with a server that ``ask(token)`` asks → what says where it was seen.
LEAKS = {
    "logging.getLogger('syncline.auth').debug('it is %s', SECRET)": "captured log call",
    "logging.getLogger('urllib3').debug('it is %s', SECRET)": "captured log call",
    "logging.getLogger('syncline').error('failed', exc_info=ValueError(SECRET))": "captured log call",
    "print(SECRET)": "captured stdout call",
    "print(base64.b64encode(f'id:{SECRET}'.encode()))": "captured stdout call",
    "print(base64.b64encode(f'me:{SECRET}'.encode()))": "captured stdout call",
    "print(base64.b64encode(f'app:{SECRET}'.encode()))": "captured stdout call",
    "print(SECRET, file=sys.stderr)": "captured stderr call",
    "print(SECRET); capsys.readouterr()": "standard output",
    "run('import sys; sys.stderr.write(sys.argv[1])')": "standard error",
    "run('print(sys.argv[1])', first='import sys; ')": "standard output",
    "fail(syncline.AuthError(SECRET))": "AuthError",
    "contextlib.suppress(ValueError).__exit__(None, syncline.AuthError(SECRET), None)": "AuthError",
    "fail(syncline.AuthRequired('no', www_authenticate=SECRET))": "AuthRequired",
    "fail(syncline.AuthError('no'), ValueError(SECRET))": "ValueError",
    "syncline.Visit('https://id.example', SECRET)": "the repr of Visit",
    "syncline.call_tool(sys.executable + ' -m syncline.demo', 'echo', {'text': SECRET})": "the trace",
    "print(ask('x' * 40))": "captured stdout call",
    "ask('short')": "a secret was given that nobody would recognize",
}
INNOCENT = (
    "ask(SECRET)",
    "ask('x' * 40)",
    "logging.getLogger('syncline').debug('nothing')",
    "fail(syncline.AuthError('no'))",
)
#: A property test may make a text with a mark, which is then no secret.
MADE_UP = """
@hypothesis.given(hypothesis.strategies.just(SECRET))
def test_made_up(text):
    logging.getLogger("syncline").debug(text)
"""
TESTS = """
import base64, contextlib, logging, subprocess, sys
import hypothesis, pytest, syncline
from syncline.testing import FakeServer

SECRET = "".join(["plan", "ted-1"])

def fail(error, cause=None):
    with pytest.raises(type(error)):
        raise error from cause

def run(program, first=""):
    subprocess.run([sys.executable, "-c", first + program, SECRET], capture_output=True, text=True)

def ask(token):
    with FakeServer().http() as url:
        syncline.connect(url, auth=syncline.BearerToken(token)).close()
    return token
"""


def test_each_way_of_showing_a_secret_fails_its_test(tmp_path: Path) -> None:
    ways = [*LEAKS, *INNOCENT]
    tests = "\n".join(f"def test_{number}(capsys):\n    {way}\n" for number, way in enumerate(ways))
    (tmp_path / "test_ways.py").write_text(TESTS + tests + MADE_UP)
    (tmp_path / "pytest.ini").write_text("[pytest]\nlog_level = DEBUG\njunit_logging = all\n")
    report = tmp_path / "reports" / "ways.xml"
    words = [sys.executable, "-m", "pytest", "-p", "tests.fixtures.secrecy", "--junit-xml", str(report), "test_ways.py"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (tmp_path / "output").open("wb") as output:  # which is full of secrets
        subprocess.run(words, cwd=tmp_path, env=environ, stdout=output, stderr=output, timeout=100)
    failed = {
        str(case.get("name")): (error.text or "").strip()
        for case in ElementTree.parse(report).getroot().iter("testcase")
        for error in case.iter("error")
    }
    assert SECRET not in ElementTree.parse(report).getroot().findtext(
        ".//testcase[@name='test_made_up']/system-out", ""
    )
    assert list(failed) == [f"test_{number}" for number in range(len(LEAKS))], (tmp_path / "output").read_text()
    assert [where for where, why in zip(LEAKS.values(), failed.values(), strict=True) if where not in why] == []


#: What a run of tests says, and shows.
REPORT = """<testsuites><testsuite><properties><property name="secrets given" value="{given}" /></properties>
<testcase><system-out>{text}</system-out></testcase></testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("given", "text", "status"),
    [
        (2, "nothing", 0),
        (2, f"token {SECRET}", 1),
        (2, base64.b64encode(f"ab{SECRET}".encode()).decode(), 1),
        (0, "nothing", 1),
    ],
    ids=["nothing", "a secret", "in Base64", "none was given"],
)
def test_the_reports_are_searched(tmp_path: Path, given: int, text: str, status: int) -> None:
    report, output = tmp_path / "reports" / "run.xml", tmp_path / "output"
    report.parent.mkdir()
    report.write_text(REPORT.format(given=given, text=text))
    with output.open("wb") as file:
        words = [sys.executable, "-m", "tools.checks.secrets", str(report.parent)]
        ran = subprocess.run(words, cwd=ROOT, stdout=file, stderr=file, timeout=100)
    assert ran.returncode == status, output.read_text()
    assert f"{given} secrets given" in output.read_text()


def test_nothing_to_search_is_no_success(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "tools.checks.secrets", str(tmp_path)]
    assert subprocess.run(words, cwd=ROOT, capture_output=True, timeout=100).returncode == 1


@given(st.binary(max_size=20), st.binary(max_size=20), st.booleans())
def test_a_secret_is_seen_in_base64_whatever_stands_around_it(before: bytes, after: bytes, url: bool) -> None:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    assert marked(encode(before + MARK.encode() + after).decode())


@given(st.text("abcdef0123", min_size=8, max_size=80))
def test_what_the_product_made_is_seen_as_a_whole(made: str) -> None:
    assert list(shown(f"code_verifier={made}&x", {made}))
    assert not list(shown(f"code_verifier={made[:-1]}", {made}))

"""Exit statuses and codes: every error has one, and none tells a secret."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import typer

from syncline import errors
from syncline.cli import failures
from syncline.cli.failures import Explained, classify, report


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


EXPECTED: list[tuple[BaseException, int, str]] = [
    (errors.ConfigError("no"), 2, "usage"),
    (errors.LocalProtocolError("no"), 2, "usage"),
    (typer.BadParameter("no"), 2, "usage"),
    (errors.AuthRequired("no", www_authenticate=None, url="http://x/mcp"), 3, "auth_required"),
    (errors.HttpStatusError("no", status=403, url="http://x/mcp"), 3, "auth_refused"),
    (errors.ServerError("no", code=-32000, status=403), 3, "auth_refused"),
    (errors.AuthError("no"), 3, "auth_failed"),
    (errors.DiscoveryFailed("no"), 3, "auth_failed"),
    (errors.DiscoveryFailed("no", passing=True), 4, "auth_unavailable"),
    (errors.RefreshFailed("no"), 4, "auth_unavailable"),
    (errors.ConnectFailed("no"), 4, "unreachable"),
    (errors.ConnectionLost("no"), 4, "connection_lost"),
    (errors.ServerExited("no", command=["x"], returncode=1), 4, "server_exited"),
    (errors.HttpStatusError("no", status=502, url="http://x/mcp"), 4, "http_status"),
    (errors.SessionExpired("no"), 4, "session_expired"),
    (errors.ConnectionClosed("no"), 4, "connection_lost"),
    (errors.RequestTimeout("no"), 4, "timeout"),
    (errors.MethodNotFound("no", code=-32601), 5, "method_not_found"),
    (errors.InvalidParams("no", code=-32602), 5, "invalid_params"),
    (errors.ResourceNotFound("no", code=-32002), 5, "resource_not_found"),
    (errors.UnsupportedRevision("no", code=-32022), 5, "unsupported_revision"),
    (errors.NoCommonRevision("no"), 5, "unsupported_revision"),
    (errors.ServerError("no", code=7), 5, "server_error"),
    (errors.InputRequired("no", requests={}, request_state=None), 5, "input_required"),
    (errors.OutcomeUnknown("no", reason="cut"), 4, "outcome_unknown"),
    (errors.StreamError("no"), 4, "stream_lost"),
    (errors.AccessChanged("no"), 3, "access_changed"),
    (errors.StreamTerminated("no"), 5, "stream_terminated"),
    (errors.NoCompatibleDelivery("no"), 5, "no_such_event"),
    (errors.TaskCancelled("no", task_id="t"), 5, "task_error"),
    (errors.UnknownTool("no"), 5, "unknown_tool"),
    (errors.ToolDisabled("no"), 5, "tool_disabled"),
    (errors.UnknownServer("no"), 2, "unknown_server"),
    (errors.NotReady("no"), 4, "not_ready"),
    (errors.RequiredServersFailed({"s": errors.ConnectFailed("no")}), 4, "servers_failed"),
    (errors.ConcurrencyError("no"), 1, "concurrency"),
    (errors.InvalidMessage("no"), 1, "protocol_error"),
    (errors.ListingLimit("no"), 1, "listing_limit"),
    (errors.SynclineError("no"), 1, "unexpected"),
    (KeyError("no"), 1, "unexpected"),
    (KeyboardInterrupt(), 130, "interrupted"),
]


@pytest.mark.parametrize(("error", "status", "code"), EXPECTED, ids=lambda value: type(value).__name__)
def test_status_and_code(error: BaseException, status: int, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert classify(error) == (status, code)
    assert report(error) == status
    told = json.loads(capsys.readouterr().err.splitlines()[-1])["error"]
    assert told["code"] == code
    assert told["message"]


def subclasses(root: type[BaseException]) -> Iterator[type[BaseException]]:
    for child in root.__subclasses__():
        yield child
        yield from subclasses(child)


def test_no_error_of_the_client_is_unexpected() -> None:
    rows = tuple(kind for kind, _, code in failures.BY_CLASS if code != "unexpected")
    roots = {errors.SynclineError, errors.ProtocolError}  # never raised themselves
    assert [kind for kind in subclasses(errors.SynclineError) if kind not in roots and not issubclass(kind, rows)] == []


def test_every_hint_belongs_to_a_code() -> None:
    codes = {code for _, _, code in failures.BY_CLASS} | {code for _, code in failures.BY_STATUS.values()}
    assert set(failures.NEXT) <= codes
    assert set(failures.NEXT_AT_URL) <= set(failures.NEXT)


def test_status_and_url_are_told_where_they_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    report(errors.AuthRequired("no", www_authenticate=None, status=401, url="http://x/mcp"), url="http://other/")
    told = json.loads(capsys.readouterr().err)["error"]
    assert (told["status"], told["url"]) == (401, "http://x/mcp")
    report(errors.ConnectFailed("no"), url="http://other/")
    assert json.loads(capsys.readouterr().err)["error"]["url"] == "http://other/"


@pytest.mark.parametrize(
    ("error", "url", "hint"),
    [
        (errors.ConnectFailed("refused"), None, "the program is installed"),
        (errors.ConnectFailed("refused"), "http://x/mcp", "the server runs and that the URL is right"),
        (errors.ConnectFailed("[SSL: WRONG_VERSION_NUMBER] wrong version"), "https://x/mcp", "perhaps http://"),
        (errors.InvalidMessage("no"), None, "to standard output"),
        (errors.InvalidMessage("no"), "http://x/mcp", "that the URL is that of the MCP endpoint"),
        (errors.LocalProtocolError("the server does not offer prompts"), None, "syncline doctor SERVER"),
        (errors.UnknownServer("no"), None, "syncline servers list"),
        (errors.InputRequired("no", requests={}, request_state=None), None, "at a terminal"),
        (typer.BadParameter("no"), None, "--help"),
        (typer.BadParameter("Got unexpected extra argument (server.py)"), None, "goes into quotes"),
    ],
)
def test_what_to_do_next_depends_on_what_is_known(error: BaseException, url: str | None, hint: str) -> None:
    assert hint in failures.describe(error, url=url)["hint"]


def test_a_hint_runs_nothing_of_what_a_server_says() -> None:
    error = errors.AuthRequired("no", www_authenticate=None, status=403, scopes=["read", "$(true)"])
    assert failures.describe(error)["hint"] == "syncline auth login SERVER --scope read --scope '$(true)'"


def test_a_hint_names_the_server() -> None:
    error = errors.AuthRequired("no", www_authenticate=None)
    assert failures.describe(error)["hint"].startswith("syncline auth login SERVER; ")
    assert failures.describe(error, server="notes")["hint"].startswith("syncline auth login notes; ")


def test_a_setting_that_cannot_be_meant_says_itself_what_to_do() -> None:
    assert "hint" not in failures.describe(errors.ConfigError("mcp.json, line 3: args: expected a list of strings"))


def test_secrets_are_masked_even_in_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    report(ValueError("bad header plantedplanted"), secrets={"plantedplanted"})
    text = capsys.readouterr().err
    assert "planted" not in text
    assert text.count("[redacted]") == 2


def test_a_secret_that_is_part_of_another_one_leaves_nothing_of_it() -> None:
    assert failures.redact("key planted-and-more", ["planted", "planted-and-more"]) == "key [redacted]"


def test_people_at_a_terminal_get_words_and_what_to_do() -> None:
    with redirect_stderr(Terminal()) as screen:
        report(errors.ConnectFailed("refused\x1b[2J"))
    *words, last = screen.getvalue().splitlines()
    assert "error: refused\ufffd[2J" in words[0]
    assert "hint: check that the program is installed" in words[1]
    assert json.loads(last)["error"]["message"] == "refused\x1b[2J"


def test_what_they_were_shown_is_not_shown_again() -> None:
    with redirect_stderr(Terminal()) as screen:
        report(Explained(errors.ConnectFailed("refused"), hint="turn it on", shown=("message",)))
    first, last = screen.getvalue().splitlines()
    assert "hint: turn it on" in first
    assert json.loads(last)["error"]["hint"] == "turn it on"


def test_the_documented_statuses_are_the_real_ones() -> None:
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", page, re.MULTILINE)
    documented = {(int(status), code) for status, codes in rows for code in re.findall(r"`(\w+)`", codes)}
    assert documented == {row[1:] for row in failures.BY_CLASS} | set(failures.BY_STATUS.values())

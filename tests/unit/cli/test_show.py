"""What people see: on a terminal, and down a pipe."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any
from unittest.mock import patch

import pytest

from syncline.cli import show
from syncline.protocol.questions import ElicitRequest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def terminal() -> Iterator[Terminal]:
    """Standard output and error are a terminal of 60 columns."""
    screen = Terminal()
    environment = {"TERM": "xterm-256color", "COLUMNS": "60"}
    with redirect_stdout(screen), redirect_stderr(screen), patch.dict("os.environ", environment):
        os.environ.pop("NO_COLOR", None)
        yield screen


def test_a_table_down_a_pipe_is_a_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    show.table(("NAME", "TEXT"), [("a", "one\ntwo\tthree"), ("[b]", "")])
    assert capsys.readouterr().out == "a\tone two three\n[b]\t\n"


def test_an_empty_table_down_a_pipe_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    show.table(("NAME",), [])
    assert capsys.readouterr().out == ""


def test_a_table_on_a_terminal() -> None:
    with terminal() as screen:
        show.table(("NAME", "TEXT"), [("[red]a[/red]", "x\x1b[2Jy")])
    assert "NAME" in screen.getvalue()
    assert "[red]a[/red]" in screen.getvalue()  # what servers say is not markup
    assert "\x1b[2J" not in screen.getvalue()  # nor does it steer the terminal
    assert "\x1b[1m" in screen.getvalue()


def test_the_first_column_of_a_table_is_whole_on_a_terminal() -> None:
    with terminal() as screen:
        show.table(("URI", "TEXT"), [("demo://a/rather/long/uri/1.md", "word " * 30), ("x" * 90, "word " * 30)])
    assert "…" not in screen.getvalue()
    assert "demo://a/rather/long/uri/1.md" in screen.getvalue()
    assert screen.getvalue().count("x") >= 90


def test_nothing_is_cut_off_on_a_terminal() -> None:
    with terminal() as screen:
        show.table(("WHAT", "FOUND"), [("program", "x" * 150)])
    assert screen.getvalue().count("x") == 150


def test_an_empty_table_on_a_terminal_says_so() -> None:
    with terminal() as screen:
        show.table(("NAME",), [])
    assert screen.getvalue() == "none\n"


def test_lines_are_cleaned_on_a_terminal() -> None:
    with terminal() as screen:
        show.line("a\x1b]0;title\x07\r\nb\tc")
    assert screen.getvalue() == "a\ufffd]0;title\ufffd\nb\tc\n"


def test_lines_down_a_pipe_are_verbatim(capsys: pytest.CaptureFixture[str]) -> None:
    show.line("\x1b[1mbold\x1b[0m\n")
    assert capsys.readouterr().out == "\x1b[1mbold\x1b[0m\n"


@pytest.mark.parametrize("value", [{"é": "\U0001f600"}, ["\ud800", "\x00"], None, 1e300])
def test_a_document_is_json_in_utf_8(value: object, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    show.document(value)
    assert json.loads(capsysbinary.readouterr().out.decode("utf-8")) == value


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "hello"}, "hello"),
        ({"type": "image", "mimeType": "image/png", "data": "AAECAw=="}, "[image image/png, 4 bytes]"),
        ({"type": "audio", "mimeType": "audio/wav", "data": "AAEC"}, "[audio audio/wav, 3 bytes]"),
        ({"type": "resource_link", "uri": "file:///x", "name": "x"}, "[resource file:///x]"),
        ({"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}}, "inside"),
        ({"type": "resource", "resource": {"uri": "file:///x", "blob": "AAE="}}, "[file:///x, 2 bytes]"),
        ({"uri": "file:///x", "mimeType": "image/png", "blob": "AAE="}, "[file:///x image/png, 2 bytes]"),
        ({"type": "hologram", "depth": 3}, '{"type": "hologram", "depth": 3}'),
    ],
)
def test_what_is_not_text_is_described(block: dict[str, Any], text: str) -> None:
    assert show.part(block) == text


def test_progress_is_a_bar_on_a_terminal() -> None:
    with terminal() as screen, show.ProgressBar() as bar:
        bar(1, 4, "a\x1b[2J [red]b")
    assert "a\ufffd[2J [red]b" in screen.getvalue()
    assert "\x1b[2J" not in screen.getvalue()


def test_progress_is_nothing_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    with show.ProgressBar() as bar:
        bar(1, None, None)
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_out_of_the_way_while_a_person_is_asked() -> None:
    """And comes back with the next report; nobody is asked where there is no terminal."""
    asked = ElicitRequest("server", "Sure?", "form", {}, None, {})
    with terminal() as screen, patch("sys.stdin", Terminal("")), show.ProgressBar() as bar:
        bar(1, 4, "before")

        def answer(_: ElicitRequest) -> None:
            shown = len(screen.getvalue())
            bar(2, 4, "meanwhile")
            assert len(screen.getvalue()) == shown

        with patch("syncline.prompts.terminal_prompts", return_value=answer):
            ask = bar.asker()
        assert ask is not None
        assert ask(asked) is None
        bar(3, 4, "after")
    assert "before" in screen.getvalue()
    assert "after" in screen.getvalue()
    assert "meanwhile" not in screen.getvalue()
    assert bar.asker() is None

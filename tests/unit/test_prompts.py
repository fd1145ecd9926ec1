"""A person at a terminal answers what a server asks."""

from __future__ import annotations

import io
import os
import pty
import sys
import termios
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Literal

import pytest

import syncline
from syncline.prompts import terminal_prompts
from syncline.protocol.forms import clean
from syncline.protocol.questions import ElicitRequest
from tests.fixtures.partner import Background, Meet

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "description": "As in your passport", "minLength": 2},
        "age": {"type": "integer", "minimum": 0},
        "news": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"], "default": "b"},
        "tags": {"type": "array", "items": {"anyOf": [{"const": "x", "title": "Ex"}, {"const": "y"}]}},
    },
    "required": ["name", "news"],
}


def request(
    schema: Any = None, *, url: str | None = None, message: str = "Who are you?", server: str = "desk.example"
) -> ElicitRequest:
    mode: Literal["form", "url"] = "form" if url is None else "url"
    return ElicitRequest(server, message, mode, schema if url is None else None, url, {})


def asked(asks: ElicitRequest, *typed: str) -> tuple[object, str]:
    """The answer and what was shown, for a person who types these lines and leaves."""
    screen = io.StringIO()
    try:
        answer: object = terminal_prompts(io.StringIO("".join(line + "\n" for line in typed)), screen)(asks)
    except syncline.Cancel:
        answer = "cancelled"
    return answer, screen.getvalue()


# Forms


def test_a_form_is_asked_for_field_by_field() -> None:
    """ELI-6: who asks, what, and each field with all that is known of it."""
    answer, shown = asked(request(PERSON), "Ada", "36", "no", "red", "x, 2", "")
    assert answer == {"name": "Ada", "age": 36, "news": False, "colour": "r", "tags": ["x", "y"]}
    for text in (
        "desk.example asks:\n  Who are you?",
        "  As in your passport\nYour name: ",
        "age (optional): ",
        "news [yes]: ",
        "  1) Red (r)\n  2) Blue (b)\ncolour (optional) [b]: ",
        "  1) Ex (x)\n  2) y\n  (any number of them, with commas)\ntags (optional): ",
        "  Your name: Ada\n  age: 36\n  news: no\n  colour: r\n  tags: x, y\nSend this?",
    ):
        assert text in shown


def test_an_empty_line_takes_the_default() -> None:
    """ELI-5."""
    answer, shown = asked(request(PERSON), "Ada", "", "", "", "", "yes")
    assert answer == {"name": "Ada", "news": True, "colour": "b"}
    assert "  age: (left out)\n" in shown


def test_what_does_not_fit_is_asked_for_again() -> None:
    answer, shown = asked(request(PERSON), "", "A", "Ada", "minus one", "-1", "36", "", "3", "blue", "z", "", "")
    assert answer == {"name": "Ada", "age": 36, "news": True, "colour": "b"}
    for problem in (
        "this one is needed",
        "shorter than 2 characters",
        "'minus one' is no number",
        "minimum of 0",
        "'3' is none of the choices",
        "'z' is none of the choices",
    ):
        assert problem in shown


def test_a_default_that_does_not_fit_is_not_taken() -> None:
    form = {"properties": {"n": {"type": "integer", "default": "x"}}}
    answer, shown = asked(request(form), "", "3", "")
    assert answer == {"n": 3}
    assert "not of type" in shown


def test_it_can_be_looked_over_and_changed() -> None:
    """ELI-6: what was typed is the default of the second turn."""
    form = {"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    answer, shown = asked(request(form), "Ada", "63", "what?", "edit", "", "36", "y")
    assert answer == {"name": "Ada", "age": 36}
    assert "name (optional) [Ada]: age" not in shown
    assert "age (optional) [63]: " in shown


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["!decline"], None),
        (["Ada", "!cancel"], "cancelled"),
        (["Ada", "1", "", "", "", "no"], None),
        (["Ada", "1", "", "", "", "cancel"], "cancelled"),
        (["Ada", "1", "", "", "", "!decline"], None),
        (["Ada"], "cancelled"),
        ([], "cancelled"),
    ],
)
def test_declining_and_cancelling(typed: list[str], answer: object) -> None:
    assert asked(request(PERSON), *typed)[0] == answer


@pytest.mark.parametrize(("typed", "answer"), [("y", {}), ("no", None), ("c", "cancelled"), ("", "cancelled")])
def test_a_form_without_fields_is_a_question(typed: str, answer: object) -> None:
    """An empty line is no consent: it is asked again, and here nobody answers."""
    assert asked(request({"type": "object", "properties": {}}), typed)[0] == answer


def test_an_exclamation_mark_can_be_typed() -> None:
    form = {"properties": {"x": {"type": "string"}, "y": {"type": "string"}}}
    assert asked(request(form), "!!decline", "!other", "")[0] == {"x": "!decline", "y": "!other"}


@pytest.mark.parametrize("name", ["password", "apiKey", "access_token", "PIN"])
def test_forms_that_ask_for_secrets_are_warned_of(name: str) -> None:
    """ELI-9."""
    assert "must not ask for secrets" in asked(request({"properties": {name: {"type": "string"}}}), "x", "")[1]
    assert "must not ask for secrets" not in asked(request({"properties": {"opinion": {"type": "string"}}}))[1]


def test_a_server_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2Jhi\x07\u202etxt.exe\u200b\r\nline two"
    form = {"properties": {"x": {"type": "string", "title": evil, "description": evil, "default": evil}}}
    shown = asked(request(form, message=evil), "", "")[1]
    assert not set(shown) & set("\x1b\x07\u202e\u200b\r")
    assert clean(evil) == "\ufffd[2Jhi\ufffd\ufffdtxt.exe\ufffd\nline two"


# Addresses


def test_an_address_is_shown_whole_and_consent_is_asked_for() -> None:
    """ELI-6, ELI-7."""
    url = "https://login.example.com:8443/in?next=%2F&x=" + "y" * 200
    answer, shown = asked(request(url=url, message="Sign in"), "", "perhaps", "YES")
    assert answer is True
    assert f"  URL:  {url}\n  host: login.example.com\n" in shown
    assert "Careful" not in shown
    assert shown.count("Agree?") == 3


@pytest.mark.parametrize(
    ("typed", "answer"), [("n", None), ("!decline", None), ("c", "cancelled"), ("!cancel", "cancelled")]
)
def test_an_address_can_be_refused(typed: str, answer: object) -> None:
    assert asked(request(url="https://example.com"), typed)[0] == answer


@pytest.mark.parametrize(
    ("url", "warning"),
    [
        ("https://xn--pypal-4ve.com/", "Punycode"),
        ("https://www.xn--80ak6aa92e.com/", "Punycode"),
        ("https://p\u0430ypal.com/", "it really is xn--"),
        ("https://" + "\u0430" * 80 + ".com/", "not plain ASCII"),
        ("https://bank.example@evil.example/", "before the @ is not the host"),
        ("http://example.com/", "not encrypted"),
    ],
)
def test_addresses_that_may_deceive(url: str, warning: str) -> None:
    """ELI-6."""
    assert warning in asked(request(url=url), "n")[1]


def test_an_address_that_is_none() -> None:
    assert "host: none" in asked(request(url="https://[x/"), "n")[1]


def test_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    import webbrowser

    monkeypatch.setattr(webbrowser, "open", lambda *_: pytest.fail("opened"))
    assert asked(request(url="https://example.com"), "y")[0] is True


# Where lines come from


def test_without_a_terminal_everything_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    for stdin in (io.StringIO("yes\n"), None):
        monkeypatch.setattr(sys, "stdin", stdin)
        assert terminal_prompts(screen=screen)(request(url="https://example.com")) is None
    monkeypatch.setattr(sys, "stderr", screen)
    assert terminal_prompts(io.StringIO("yes\n"))(request(url="https://example.com")) is None
    assert screen.getvalue() == ""


def test_one_at_a_time() -> None:
    """Two servers ask at once: the second waits until the first is done."""
    reading, typing = os.pipe()
    with os.fdopen(reading) as lines, os.fdopen(typing, "w") as keyboard:
        screen = io.StringIO()
        form = {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
        both = [Background(lambda: terminal_prompts(lines, screen)(request(form))) for _ in range(2)]
        for line in ("1", "2", "", "3", "4", ""):
            keyboard.write(line + "\n")
            keyboard.flush()
        answers = sorted(str(each.result()) for each in both)
    assert answers == ["{'a': '1', 'b': '2'}", "{'a': '3', 'b': '4'}"]


class Terminal:
    """A terminal, from the side of the person."""

    def __init__(self, keyboard: int, ours: io.TextIOWrapper) -> None:
        self.keyboard = keyboard
        self.ours = ours
        self.shown = b""

    def type(self, text: str) -> None:
        os.write(self.keyboard, text.encode())

    def wait(self, text: str) -> None:
        """Read until this is shown."""
        while text.encode() not in self.shown:
            self.shown += os.read(self.keyboard, 65_536)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    keyboard, slave = pty.openpty()
    with ExitStack() as stack:
        stack.callback(os.close, keyboard)
        ours = stack.enter_context(os.fdopen(slave, "r+b", buffering=0))
        text = io.TextIOWrapper(ours, encoding="utf-8", write_through=True)
        yield Terminal(keyboard, text)
        text.detach()


def modes(terminal: Terminal) -> list[Any]:
    return termios.tcgetattr(terminal.ours.fileno())


FORM = {"properties": {"name": {"type": "string"}}}


def test_at_a_terminal(terminal: Terminal) -> None:
    before = modes(terminal)
    asking = Background(lambda: terminal_prompts(terminal.ours, terminal.ours)(request(FORM)))
    terminal.wait("name (optional): ")
    terminal.type("Žofie\x7f\n")  # the last letter is taken back
    terminal.wait("Send this?")
    terminal.type("\n")
    assert asking.result() == {"name": "Žofi"}
    assert modes(terminal) == before


@pytest.mark.parametrize("keys", ["\x03", "half a name\x03", "\x04"], ids=["ctrl-c", "ctrl-c in a line", "ctrl-d"])
def test_keys_that_cancel(terminal: Terminal, keys: str) -> None:
    """On a thread that gets no Ctrl-C, too; afterwards the terminal is as it was."""
    before = modes(terminal)
    asking = Background(lambda: terminal_prompts(terminal.ours, terminal.ours)(request(FORM)))
    terminal.wait("name (optional): ")
    terminal.type(keys)
    with pytest.raises(syncline.Cancel):
        asking.result()
    assert modes(terminal) == before


def test_patience_ends(terminal: Terminal) -> None:
    with pytest.raises(syncline.Cancel):
        terminal_prompts(terminal.ours, terminal.ours, patience=0.1)(request(FORM))


def test_a_server_is_answered_from_a_terminal(meet: Meet, terminal: Terminal) -> None:
    """The whole way: the question of a server, a person, the answer."""
    _, partner = meet(on_elicitation=terminal_prompts(terminal.ours, terminal.ours))
    partner.send(id=1, method="elicitation/create", params={"message": "Who?", "requestedSchema": PERSON})
    for prompt, line in (("Your name: ", "Ada"), ("age", "36"), ("news", ""), ("colour", ""), ("tags", "x")):
        terminal.wait(prompt)
        terminal.type(line + "\n")
    terminal.wait("Send this?")
    terminal.type("\n")
    assert partner.next()["result"] == {
        "action": "accept",
        "content": {"name": "Ada", "age": 36, "news": True, "colour": "b", "tags": ["x"]},
    }

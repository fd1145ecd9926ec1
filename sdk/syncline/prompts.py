"""``terminal_prompts()``: a person at a terminal answers what a server asks (specification, client/elicitation)."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO
from urllib.parse import SplitResult, urlsplit

from syncline.concurrency.deadline import Deadline
from syncline.concurrency.locks import new_lock, take
from syncline.protocol.forms import Field, clean, fields
from syncline.protocol.questions import ElicitRequest
from syncline.session.handlers import Cancel

#: Seconds that a person may take for one line.
PATIENCE = 600.0
CTRL_C = b"\x03"

YES, NO, EDIT = "!accept", "!decline", "!edit"
CANCEL = "!cancel"
#: What may be typed instead of a value.
WORDS = {NO: NO, CANCEL: CANCEL}
#: What may be typed where the question is whether to accept.
CONSENT = {**WORDS, "y": YES, "yes": YES, "n": NO, "no": NO, "c": CANCEL, "cancel": CANCEL}
#: The same for a form that has been filled in; an empty line sends it.
REVIEW = {**CONSENT, "": YES, "e": EDIT, "edit": EDIT}

#: Fields that a form must not have (specification, client/elicitation, security).
_SECRET = re.compile(r"pass(word|phrase|code)|secret|token|api.?key|credential|card.?number|cvv|\bpin\b", re.IGNORECASE)

_asking = new_lock()


def terminal_prompts(
    lines: TextIO | None = None, screen: TextIO | None = None, *, patience: float | None = PATIENCE
) -> Callable[[ElicitRequest], Mapping[str, object] | bool | None]:
    """A handler for ``on_elicitation`` that asks the person at the terminal.

    A form is asked for field by field: an empty line takes the default, what does not fit is asked for again, and all of it
    can be looked over before it is sent. An address is shown with its host, and never opened. ``!decline`` says no,
    ``!cancel``, Ctrl-C or the end of input neither yes nor no. Where standard input or standard error is no terminal every
    request is declined at once. One request is asked at a time, whatever the number of threads and servers.

    The handler blocks for as long as the person takes, at most ``patience`` for a line. Source: specification,
    client/elicitation.

    Args:
        lines: Where lines come from; by default standard input, if that is a terminal.
        screen: Where everything is shown; by default standard error.
        patience: Seconds to wait for each line at a terminal before the request is cancelled; None for ever.
    """

    def ask(request: ElicitRequest) -> Mapping[str, object] | bool | None:
        if (lines is None and not _is_terminal(sys.stdin)) or (screen is None and not _is_terminal(sys.stderr)):
            return None
        source = lines or sys.stdin
        taken: list[bool] = []
        try:
            take(_asking, Deadline(None), taken)
            with _ctrl_c_ends_the_line(source) if source.isatty() else contextlib.nullcontext():
                dialogue = Dialogue(source, screen or sys.stderr, patience)
                return dialogue.form(request) if request.url is None else dialogue.address(request)
        finally:
            if True in taken:
                _asking.release()

    return ask


class Dialogue:
    """One request, in lines."""

    def __init__(self, lines: TextIO, screen: TextIO, patience: float | None) -> None:
        self._lines = lines
        self._screen = screen
        self._patience = patience

    def address(self, request: ElicitRequest) -> bool | None:
        """Ask whether a URL may be visited; the person visits it, not we."""
        url = request.url or ""
        self._say(f"\n{clean(request.server)} asks you to visit an address:", *_indented(request.message))
        self._say(f"  URL:  {_line(url)}", f"  host: {_line(_host(url))}")
        for warning in _warnings(url):
            self._say(f"  Careful: {warning}")
        self._say("Nothing is opened for you; open it in a browser if you trust it.")
        if self._word("Agree? [y]es, [n]o (decline), [c]ancel: ", CONSENT) == NO:
            return None
        return True

    def form(self, request: ElicitRequest) -> Mapping[str, object] | None:
        """Ask for each field, then show what will be sent."""
        self._say(f"\n{clean(request.server)} asks:", *_indented(request.message))
        form = fields(request.schema or {})
        if not form:
            accepted = self._word("Accept? [y]es, [n]o (decline), [c]ancel: ", CONSENT) == YES
            return {} if accepted else None
        self._say(f"(An empty line takes what is in brackets; {NO} says no, {CANCEL} or Ctrl-C neither yes nor no.)")
        answer: dict[str, object] = {}
        while True:
            for field in form:
                if not self._fill(field, answer):
                    return None
            self._say("", *(f"  {_line(field.title)}: {_shown(field, answer)}" for field in form))
            word = self._word("Send this? [Y]es, [e]dit, [n]o (decline), [c]ancel: ", REVIEW)
            if word != EDIT:
                return answer if word == YES else None

    def _fill(self, field: Field, answer: dict[str, object]) -> bool:
        """Ask for one field until what is typed fits; False to decline."""
        self._describe(field)
        preset = answer.get(field.name, field.schema.get("default"))
        offered = f" [{_line(field.show(preset))}]" if preset is not None else ""
        while True:
            text = self._read(f"{_line(field.title)}{'' if field.required else ' (optional)'}{offered}: ")
            if (word := WORDS.get(text.strip())) is not None:
                return _go_on(word)
            try:
                if text.strip():
                    answer[field.name] = field.parse(text.removeprefix("!") if text.startswith("!!") else text)
                elif preset is not None:
                    field.check(preset)
                    answer[field.name] = preset
                elif field.required:
                    raise ValueError("this one is needed")
            except ValueError as error:
                self._say(f"  {clean(str(error))}")
                continue
            return True

    def _describe(self, field: Field) -> None:
        self._say("")
        if field.description:
            self._say(*_indented(field.description))
        if _SECRET.search(f"{field.name} {field.title}"):
            self._say("  Careful: a server must not ask for secrets like this.")
        for number, choice in enumerate(field.choices, 1):
            value = field.show(choice.value)
            self._say(f"  {number}) {_line(choice.title)}{'' if value == choice.title else f' ({_line(value)})'}")
        if field.several:
            self._say("  (any number of them, with commas)")

    def _word(self, question: str, meaning: Mapping[str, str]) -> str:
        while True:
            word = meaning.get(self._read(question).strip().lower())
            if word is not None:
                _go_on(word)
                return word

    def _say(self, *shown: str) -> None:
        for line in shown:
            self._screen.write(line + "\n")
        self._screen.flush()

    def _read(self, question: str) -> str:
        """One line, without its end; ``Cancel`` when there is none, or on Ctrl-C."""
        self._screen.write(question)
        self._screen.flush()
        line = _typed(self._lines, self._patience) if self._lines.isatty() else self._lines.readline()
        if not line.endswith("\n"):
            self._say("")
            raise Cancel
        return line.rstrip("\r\n")


def _go_on(word: str) -> bool:
    """Whether it is not declined; ``Cancel`` if it is cancelled."""
    if word == CANCEL:
        raise Cancel
    return word != NO


def _shown(field: Field, answer: Mapping[str, object]) -> str:
    return _line(field.show(answer[field.name])) if field.name in answer else "(left out)"


def _line(text: str) -> str:
    return clean(text).replace("\n", "\ufffd")


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in clean(text).splitlines())


# Addresses


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _host(url: str) -> str:
    return _parts(url).hostname or "none"


def _warnings(url: str) -> Iterator[str]:
    host = _host(url)
    if any(label.startswith("xn--") for label in host.split(".")):
        yield "the host is written in Punycode (xn--), and may look like another one when it is shown decoded."
    elif not host.isascii():
        yield f"the host is not plain ASCII, and may only look like another one; it really is {_punycode(host)}."
    if "@" in _parts(url).netloc:
        yield "what comes before the @ is not the host."
    if not url.lower().startswith("https://"):
        yield "the connection is not encrypted (http)."


def _punycode(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return ascii(host)


# The terminal


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def _typed(terminal: TextIO, patience: float | None) -> str:
    """A line from a terminal; without a newline at its end when Ctrl-C, the end of input or the clock ended it.

    Holds nothing while it waits: ``readline()`` on a daemon thread holds a lock that the interpreter needs to exit.
    """
    deadline = Deadline(patience)
    descriptor = terminal.fileno()
    typed = b""
    while not typed.endswith((b"\n", CTRL_C)) and not deadline.expired:
        if select.select([descriptor], [], [], deadline.nap())[0]:
            piece = os.read(descriptor, 65_536)
            if not piece:
                break
            typed += piece
    return typed.decode(terminal.encoding or "utf-8", "replace")


@contextlib.contextmanager
def _ctrl_c_ends_the_line(terminal: TextIO) -> Iterator[None]:
    """Ctrl-C interrupts the main thread only, and the question may be asked on another one: here it is a key."""
    import termios

    descriptor = terminal.fileno()
    before, changed = termios.tcgetattr(descriptor), termios.tcgetattr(descriptor)
    disabled = bytes([os.fpathconf(descriptor, "PC_VDISABLE")])
    changed[6][termios.VINTR], changed[6][termios.VEOL] = disabled, CTRL_C

    def restore() -> None:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)

    atexit.register(restore)  # a daemon thread may be asking when the program ends
    try:
        termios.tcsetattr(descriptor, termios.TCSANOW, changed)
        yield
    finally:
        restore()
        atexit.unregister(restore)

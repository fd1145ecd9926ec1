"""What can be wrong with a server on stdio, by name.

A fault acts at one or more of four moments: when the process starts, when a message comes in, when an answer goes out,
and when standard input ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import NoReturn

from .catalogue import Json

NOISE = (b"Server ready!\n", b"\n", b"[]\n", b"123\n", b"null\n", b'"text"\n', b'{"jsonrpc": "2.0", "id": 1, "resu\n')
BAD_UTF8 = (b'{"jsonrpc": "2.0", "method": "x\xff\xfe"}\n', b"\xef\xbb\xbfhello\n", b"\x00\x01\x02\n")
BAD_JSON = (
    b"[" * 100_000 + b"\n",
    b'{"jsonrpc": "2.0", "id": 1, "result": ' + b"9" * 5000 + b"}\n",
    b'{"jsonrpc": "2.0", "method": "x", "params": {"n": NaN}}\n',
    b'{"jsonrpc": "2.0", "id": {}, "result": {}}\n',
    b'{"jsonrpc": "2.0", "id": true, "result": {}}\n',
    b'{"jsonrpc": "1.0", "id": 1, "result": {}}\n',
    b'{"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": 1, "message": "both"}}\n',
)
BAD_NOTIFICATIONS: tuple[object, ...] = (
    {"jsonrpc": "2.0", "method": "notifications/x"},
    {"jsonrpc": "2.0", "method": "cancelled", "params": {"requestId": 1}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": None},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": [1, 2]},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "loud"}},
    {"jsonrpc": "2.0", "method": 7, "params": {}},
)


@dataclass(frozen=True)
class Arrival:
    """A message that came in.

    Attributes:
        value: What follows the fault's name and an equals sign, else empty.
        count: How many messages came so far, this one included.
    """

    value: str
    message: Json
    count: int


@dataclass(frozen=True)
class Answer:
    """An answer that is about to go out, as a message and as a line, and the method that it answers."""

    value: str
    message: Json
    line: bytes
    method: str


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        start: value -> lines to write first.
        swallows: Whether a message is lost.
        answers: The lines in the place of an answer.
        end: What happens to value when standard input has ended.
    """

    start: Callable[[str], Iterable[bytes]] | None = None
    swallows: Callable[[Arrival], bool] | None = None
    answers: Callable[[Answer], Iterable[bytes]] | None = None
    end: Callable[[str], None] | None = None


class Faults:
    """The faults that a command line named, each as NAME or NAME=VALUE."""

    def __init__(self, named: Sequence[str]) -> None:
        pairs = [name.partition("=") for name in named]
        self._faults = [(FAULTS[name], value) for name, _, value in pairs]
        self._count = 0

    def start(self) -> list[bytes]:
        return [line for fault, value in self._faults if fault.start for line in fault.start(value)]

    def swallows(self, message: Json) -> bool:
        self._count += 1
        verdicts = [
            fault.swallows(Arrival(value, message, self._count)) for fault, value in self._faults if fault.swallows
        ]
        return any(verdicts)

    def answers(self, message: Json, request: Json) -> Iterable[bytes]:
        """The lines for a message that goes out because of a request; only answers have faults."""
        line, method = encoded(message), str(request.get("method"))
        acting = [(fault.answers, value) for fault, value in self._faults if fault.answers]
        if not acting or "method" in message:
            return [line]
        return [each for act, value in acting for each in act(Answer(value, message, line, method))]

    def end(self) -> None:
        for fault, value in self._faults:
            if fault.end:
                fault.end(value)


def encoded(message: object) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def _die(words: str, code: int) -> NoReturn:
    os.write(2, words.encode() + b"\n")
    os._exit(code)


def _exit_at_once(value: str) -> NoReturn:
    _die("error: no such file: config.toml", int(value or 2))


def _ignore_term(_: str) -> Iterable[bytes]:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return ()


def _grandchild(value: str) -> Iterable[bytes]:
    """Leave a process of our own that keeps standard output open; its pid goes to the file."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], stdin=subprocess.DEVNULL)
    Path(value).write_text(str(child.pid))
    return ()


def _close_stdout(_: str) -> Iterable[bytes]:
    os.close(1)
    return ()


def _die_after(arrival: Arrival) -> bool:
    if arrival.count > int(arrival.value):
        _die("fatal: out of luck", 3)
    return False


def _exit_on(arrival: Arrival) -> bool:
    if arrival.message.get("method") == arrival.value:
        _die(f"fatal: did not expect {arrival.value}", 4)
    return False


def _stderr_flood(answer: Answer) -> Iterable[bytes]:
    size = int(answer.value or 1 << 20)
    sys.stderr.write("a line of a log that nobody reads\n" * (size // 34))
    sys.stderr.write("x" * size)
    sys.stderr.flush()
    return [answer.line]


def _cut(answer: Answer) -> Iterable[bytes]:
    os.write(1, answer.line[: len(answer.line) // 2])
    _die("fatal: cut off", 5)


def _slow_exit(value: str) -> None:
    time.sleep(1)
    Path(value).write_text("flushed")


def _in_tools(act: Callable[[Answer], Iterable[bytes]]) -> Fault:
    """A fault in the answers to tools/call only, so that a connection comes about first."""
    return Fault(answers=lambda answer: act(answer) if answer.method == "tools/call" else [answer.line])


FAULTS: dict[str, Fault] = {
    # at the start
    "banner": Fault(start=lambda _: NOISE),
    "exit-at-once": Fault(start=_exit_at_once),  # the value: its exit status
    "grandchild": Fault(start=_grandchild),  # the value: a file for its pid
    "close-stdout": Fault(start=_close_stdout),
    "ignore-term": Fault(start=_ignore_term, end=lambda _: time.sleep(300)),
    # when a message comes in
    "no-answer": Fault(swallows=lambda arrival: arrival.value in ("", arrival.message.get("method"))),  # to one method
    "exit-on": Fault(swallows=_exit_on),  # the value: a method
    "die-after": Fault(swallows=_die_after),  # the value: a number of messages
    # when an answer goes out
    "noise": Fault(answers=lambda answer: [*NOISE, answer.line]),
    "bad-utf8": Fault(answers=lambda answer: [*BAD_UTF8, answer.line]),
    "bad-json": Fault(answers=lambda answer: [*BAD_JSON, answer.line]),
    "bad-notifications": Fault(answers=lambda answer: [*map(encoded, BAD_NOTIFICATIONS), answer.line]),
    "bom": Fault(answers=lambda answer: [b"\xef\xbb\xbf" + answer.line]),
    "stderr-flood": Fault(answers=_stderr_flood),  # the value: a number of bytes, twice
    "string-id": Fault(answers=lambda answer: [encoded(answer.message | {"id": str(answer.message["id"])})]),
    "dup-answer": Fault(answers=lambda answer: [answer.line, answer.line]),
    "batch": _in_tools(lambda answer: [encoded([BAD_NOTIFICATIONS[0], answer.message])]),
    "wrong-id": _in_tools(lambda answer: [encoded(answer.message | {"id": 1_000_000})]),
    "huge-line": _in_tools(
        lambda answer: repeat(b"x" * (1 << 20), int(answer.value or 1024))
    ),  # the value: MiB without an end of line
    "cut": _in_tools(_cut),
    # when standard input ends
    "slow-exit": Fault(end=_slow_exit),  # the value: a file that is written after a second
}

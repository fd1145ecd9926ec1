"""Showing things: JSON for scripts, plain text down a pipe, tables and colours on a terminal only."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from syncline.protocol.forms import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table
    from typing_extensions import Self

    from syncline.protocol.questions import ElicitRequest
    from syncline.session.handlers import OnElicitation


def document(value: object) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale says (RFC 8259)."""
    text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
    # A lone surrogate comes out as the escape that JSON has for it.
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def item(value: object) -> None:
    """One JSON object on a line of its own, at once and in UTF-8: what streams are made of."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def state(name: str, error: BaseException | None = None) -> None:
    """How a stream does, on standard error: words at a terminal, else a JSON object on a line."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{name}{'' if error is None else f': {clean(str(error))}'}\n")
    else:
        told = {"state": name} | ({} if error is None else {"message": str(error)})
        sys.stderr.write(json.dumps(told) + "\n")
    sys.stderr.flush()


def note(text: str) -> None:
    """Something worth knowing, on standard error: words at a terminal, else a JSON object on a line."""
    sys.stderr.write((f"note: {clean(text)}" if sys.stderr.isatty() else json.dumps({"note": text})) + "\n")
    sys.stderr.flush()


def line(text: str) -> None:
    """Text on standard output, ended with a newline; cleaned on a terminal, verbatim down a pipe."""
    text = clean(text) if sys.stdout.isatty() else text
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str = "none") -> None:
    """A table on a terminal; down a pipe a line for each row, with tabs between."""
    rows = list(rows)
    if not sys.stdout.isatty():
        for row in rows:
            line("\t".join(" ".join(clean(cell).split()) for cell in row))
    elif not rows:
        line(empty)
    else:
        from rich.console import Console

        console = Console()
        console.print(drawn(console, columns, rows))


def drawn(console: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table for a terminal."""
    from rich.table import Column, Table
    from rich.text import Text

    rows = [[clean(cell).strip() for cell in row] for row in rows]
    # The first column is what people copy: it is broken last.
    short = max((Text(row[0]).cell_len for row in rows), default=0) <= console.width // 2
    # A long path or URL is broken, for what is cut off nobody can read or copy.
    first, *others = (Column(name, overflow="fold") for name in columns)
    first.no_wrap = short
    shown = Table(first, *others, header_style="bold", box=None, pad_edge=False)
    for row in rows:
        shown.add_row(Text(row[0], style="cyan"), *map(Text, row[1:]))
    return shown


@contextlib.contextmanager
def live_table(columns: Sequence[str], rows: Callable[[], Iterable[Sequence[str]]]) -> Iterator[Callable[[], None]]:
    """A table that is drawn again whenever what this gives is called; it stays as it was last. For a terminal alone."""
    from rich.console import Console
    from rich.live import Live

    console = Console()
    with Live(console=console, auto_refresh=False, get_renderable=lambda: drawn(console, columns, rows())) as live:
        yield live.refresh


def part(block: Mapping[str, Any]) -> str:
    """A content block, or the contents of a resource, as text; what is not text is described."""
    kind = block.get("type")
    if kind == "resource" and isinstance(block.get("resource"), Mapping):
        return part(block["resource"])
    if isinstance(block.get("text"), str):
        return str(block["text"])
    data = block.get("data", block.get("blob"))
    if isinstance(data, str):
        size = len(data.rstrip("=")) * 3 // 4
        return f"[{' '.join(str(x) for x in (kind or block.get('uri', 'binary'), block.get('mimeType')) if x)}, {size} bytes]"
    if kind == "resource_link":
        return f"[resource {block.get('uri')}]"
    return json.dumps(block, ensure_ascii=False)


def somebody_is_there() -> bool:
    """Whether there is a terminal with a person at it."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def asker() -> OnElicitation | None:
    """Who answers what a server asks: the person at the terminal; nobody where there is none."""
    if not somebody_is_there():
        return None
    from syncline.prompts import terminal_prompts

    return terminal_prompts()


class ProgressBar:
    """An ``on_progress`` callback that draws a bar on a terminal, from the first report on, and nothing elsewhere."""

    def __init__(self) -> None:
        self._shown: Progress | None = None
        self._hidden = False
        self._task: TaskID

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def asker(self) -> OnElicitation | None:
        """Who answers what the server asks: a person, if one is there, with the bar out of the way meanwhile."""
        ask = asker()

        def ask_without_a_bar(request: ElicitRequest) -> Mapping[str, object] | bool | None:
            assert ask is not None
            self._hidden = True
            self._stop()
            try:
                return ask(request)
            finally:
                self._hidden = False

        return ask and ask_without_a_bar

    def _stop(self) -> None:
        shown, self._shown = self._shown, None
        if shown is not None:
            shown.stop()

    def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """One report."""
        if self._hidden or not sys.stderr.isatty():
            return
        shown = self._shown  # a question on another thread may take it away
        if shown is None:
            shown = self._shown = _bar()
            shown.start()
            self._task = shown.add_task("", total=None)
        shown.update(self._task, completed=progress, total=total, description=clean(message or ""))


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TextColumn("{task.completed:g}"), TimeElapsedColumn()
    message = TextColumn("{task.description}", markup=False)
    return Progress(*columns, message, console=Console(stderr=True), transient=True)

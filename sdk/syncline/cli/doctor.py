"""``doctor``: what a server is and how it does, or why it cannot be reached."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from syncline.cli import failures, show
from syncline.cli.options import Options, Server, command
from syncline.config import HttpServer, StdioServer
from syncline.errors import SynclineError
from syncline.protocol.revisions import REVISIONS

if TYPE_CHECKING:
    from syncline import Client

Answer = TypeVar("Answer")


def doctor(server: Server, *, options: Options) -> None:
    """Examine a server.

    Shows its era, revision, capabilities, counts, timings, and what it got wrong; or why it cannot be reached.
    """
    meant = options.meant(server)
    examination = Examination(options.secrets(server), options.url(server), options.words(server))
    if meant.origin is not None:
        examination.page["configured"] = {"name": meant.name, **vars(meant.origin)}
        examination.page["unknown"] = [{"key": each.key, "meant": each.meant} for each in meant.unknown]
    examination.page |= tried(options.target(server))
    client = examination.step("connect", lambda: options.connect(server))
    if client is not None:
        with client:
            examine(client, examination, is_demo=server == "demo")
    page = examination.page | {"ok": not examination.problems}
    if options.json:
        show.document(page)
    else:
        show.table(("WHAT", "FOUND"), rows(page))
    if examination.first is not None:
        raise failures.Explained(examination.first, shown=() if options.json else ("message", "hint"))


class Examination:
    """A page that fills up, step by step; a step that fails is a problem on the page and does not end it."""

    def __init__(self, secrets: Collection[str], url: str | None, server: str | None) -> None:
        self.secrets, self.url, self.server = secrets, url, server
        self.seconds: dict[str, float] = {}
        self.problems: list[dict[str, Any]] = []
        self.page: dict[str, Any] = {"ok": False, "seconds": self.seconds, "problems": self.problems}
        self.first: SynclineError | None = None

    def step(self, name: str, work: Callable[[], Answer]) -> Answer | None:
        """Do one step and time it; None when it failed."""
        start = time.perf_counter()
        try:
            return work()
        except SynclineError as error:
            told = failures.describe(error, url=self.url, server=self.server, secrets=self.secrets)
            self.problems.append({"step": name, **told})
            self.first = self.first or error
            return None
        finally:
            self.seconds[name] = round(time.perf_counter() - start, 4)


def tried(target: StdioServer | HttpServer) -> dict[str, Any]:
    """What a connection will be made to, without what may be secret."""
    if isinstance(target, HttpServer):
        return {"transport": "http", "server": target.name, "proxy": "environment" if target.trust_env else None}
    return {"transport": "stdio", "server": target.name, "program": shutil.which(target.command)}


def examine(client: Client, examination: Examination, *, is_demo: bool) -> None:
    """Fill the page with what a connected server says of itself and offers."""
    examination.page |= {
        "protocolVersion": client.protocol_version,
        "era": REVISIONS[client.protocol_version].era,
        "serverInfo": client.server_info.to_wire(),
        "capabilities": client.capabilities.to_wire(),
        "instructions": client.instructions,
    }
    listings: dict[str, Callable[[], list[Any]]] = {
        "tools": client.list_tools,
        "resources": client.list_resources,
        "templates": client.list_resource_templates,
        "prompts": client.list_prompts,
    }
    found = {name: examination.step(f"list {name}", listing) for name, listing in listings.items()}
    examination.page["counts"] = {name: None if items is None else len(items) for name, items in found.items()}
    if is_demo:
        examination.step("call add", lambda: client.call_tool("add", {"a": 2, "b": 3}).raise_for_error())
    examination.page["findings"] = [vars(finding) for finding in client.findings]


def rows(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The page for people."""
    about = page.get("serverInfo") or {}
    yield (
        "server",
        " ".join(str(x) for x in (page["server"], about.get("title") or about.get("name"), about.get("version")) if x),
    )
    if "configured" in page:
        found = page["configured"]
        line = "" if found["line"] is None else f", line {found['line']}"
        yield "configured", f"{found['name']} in {found['file']}{line} ({found['program']})"
        for key in page["unknown"]:
            yield "ignored", key["key"] + (f"; is {key['meant']} meant?" if key["meant"] else "")
    yield "transport", page["transport"] + (f", {page['program'] or 'no such program'}" if "program" in page else "")
    if "era" in page:
        yield "revision", f"{page['protocolVersion']} ({page['era']} era)"
        yield "capabilities", ", ".join(page["capabilities"]) or "none"
        yield "offers", ", ".join(_counted(n, kind) for kind, n in page["counts"].items())
        if page["instructions"]:
            yield "instructions", page["instructions"]
    for step, seconds in page["seconds"].items():
        yield step, f"{seconds * 1000:.1f} ms"
    for finding in page.get("findings", ()):
        yield "forgiven", f"{finding['code']} at {finding['place']}: {finding['raw'][:80]}"
    for problem in page["problems"]:
        yield "problem", f"{problem['step']}: {problem['message']}"
        if "hint" in problem:
            yield "what to do", problem["hint"]
    if page["ok"]:
        yield "verdict", "healthy" if not page["findings"] else "works, with faults that were forgiven"


def _counted(number: int | None, kind: str) -> str:
    return f"{'?' if number is None else number} {kind.removesuffix('s') if number == 1 else kind}"


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, doctor, 'syncline doctor "uvx weather-server"', "syncline doctor https://weather.example/mcp --json")

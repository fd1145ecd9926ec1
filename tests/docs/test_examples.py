"""Every Python example of the documentation runs as it stands.

An example finds `syncline` and an open `client`, and is alone otherwise; whatever URL below `.example` it connects to, the server
of `server.py` answers. A loop over changes or events ends when there are none for a moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import syncline
from syncline import client as facade
from syncline.config import HttpServer, StdioServer, as_server
from syncline.streams.changes import Changes
from syncline.streams.event_stream import EventStream

from .server import example_server

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
EVENTS, GET = Changes.events, EventStream.get
#: Pages whose examples need more than that, and the tests that run them.
ELSEWHERE = {
    "docs/configuration-files.md": "docs/test_configuration_files.py",
    "docs/credentials.md": "docs/test_credentials.py",
    "docs/testing.md": "unit/testing/test_docs.py",
    "docs/threads-and-processes.md": "process/test_host_examples.py",
    "docs/webhooks.md": "threads/test_webhook_docs.py",
}
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}
#: Place → example.
EXAMPLES = {
    f"{page}:{text.count(chr(10), 0, block.start()) + 2}": block[1]
    for page, text in PAGES.items()
    if page not in ELSEWHERE
    for block in BLOCK.finditer(text)
}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[syncline.Client]:
    monkeypatch.chdir(tmp_path)
    with example_server() as server, server.http() as url:

        def found(target: str) -> StdioServer | HttpServer:
            meant = as_server(target)
            return HttpServer(url) if isinstance(meant, HttpServer) and ".example/" in meant.url else meant

        monkeypatch.setattr(facade, "as_server", found)
        monkeypatch.setattr(Changes, "events", lambda changes, timeout=None: EVENTS(changes, 0.2))
        monkeypatch.setattr(EventStream, "get", lambda stream, timeout=0.2: GET(stream, timeout))
        with syncline.connect(url) as opened:
            yield opened


@pytest.mark.parametrize("place", EXAMPLES)
def test_example(client: syncline.Client, place: str) -> None:
    page, _, line = place.rpartition(":")
    code = compile("\n" * (int(line) - 1) + EXAMPLES[place], str(ROOT / page), "exec")
    exec(code, {"__name__": "example", "syncline": syncline, "client": client})


@pytest.mark.parametrize(("page", "test"), ELSEWHERE.items())
def test_other_pages_have_a_test_of_their_own(page: str, test: str) -> None:
    assert page in PAGES
    assert Path(page).name in (ROOT / "tests" / test).read_text(encoding="utf-8")

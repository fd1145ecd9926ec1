from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tools.codegen.__main__ import main
from tools.codegen.pins import digest, origin, read_pins

REVISION = "2027-01-01"
PUBLISHED = json.dumps({"definitions": {"Cursor": {"type": "string", "description": "words"}}}).encode()


@pytest.fixture
def address() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(PUBLISHED)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Silence."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/schema.json"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("kind", ["path", "address"])
def test_a_revision_is_reduced_and_pinned(kind: str, schema: Path, address: str) -> None:
    file = schema.parent / "published.json"
    file.write_bytes(PUBLISHED)
    source = address if kind == "address" else str(file)
    assert main(["--schema", str(schema), "add", source, REVISION]) == 0

    pins = {pin.name: pin for pin in read_pins(schema)}
    assert list(pins)[-3:] == [REVISION, "tasks", "events"]
    assert pins[REVISION].sha256 == digest(PUBLISHED)
    reduced = (schema / REVISION / "schema.json").read_bytes()
    assert pins[REVISION].reduced == digest(reduced)
    assert json.loads(reduced)["$defs"] == {"Cursor": {"type": "string"}}
    assert (schema / REVISION / "overlay.toml").exists()


def test_reducing_again_gives_the_same_bytes(schema: Path) -> None:
    file = schema.parent / "published.json"
    file.write_bytes(PUBLISHED)
    main(["--schema", str(schema), "add", str(file), REVISION])
    reduced = schema / REVISION / "schema.json"
    before = reduced.read_bytes()
    reduced.unlink()
    assert main(["--schema", str(schema), "reduce", str(file), REVISION]) == 0
    assert reduced.read_bytes() == before


def test_an_older_revision_is_pinned_in_its_place(schema: Path) -> None:
    file = schema.parent / "published.json"
    file.write_bytes(PUBLISHED)
    assert main(["--schema", str(schema), "add", str(file), "2025-05-01"]) == 0
    names = [pin.name for pin in read_pins(schema) if pin.is_revision]
    assert names == sorted(names)
    assert "2025-05-01" in names


def test_a_raw_address_tells_repository_commit_and_path() -> None:
    commit = "0" * 40
    found = origin(f"https://raw.githubusercontent.com/owner/name/{commit}/schema/x/schema.json")
    assert found == {"repository": "owner/name", "commit": commit, "path": "schema/x/schema.json"}
    assert origin("https://example.org/schema.json") == {"path": "https://example.org/schema.json"}

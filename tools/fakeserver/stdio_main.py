"""The sample MCP server over stdio: `python -m tools.fakeserver.stdio_main [--era ERA] [--fault NAME[=VALUE]]...`.

Faults are in `stdio_faults.py`. Requests for a tool run on a thread each; all others are answered in order.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Iterable

from .catalogue import Catalogue, Json, versions
from .samples import sample_catalogue
from .stdio_faults import FAULTS, Faults


class StdioServer:
    """One catalogue on standard input and output."""

    def __init__(self, catalogue: Catalogue, faults: Faults, log: str | None) -> None:
        self._catalogue, self._faults = catalogue, faults
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if log else None
        self._lock = threading.Lock()

    def run(self) -> None:
        self._write(self._faults.start())
        for line in iter(sys.stdin.buffer.readline, b""):
            if self._log is not None:
                os.write(self._log, line)
            message = json.loads(line)
            if self._faults.swallows(message):
                continue
            if message.get("method") == "tools/call":
                threading.Thread(target=self._handle, args=(message,), daemon=True).start()
            else:
                self._handle(message)
        self._faults.end()
        self._catalogue.cancel_all()

    def _handle(self, message: Json) -> None:
        self._catalogue.handle(message, lambda out: self._write(self._faults.answers(out, message)))

    def _write(self, lines: Iterable[bytes]) -> None:
        with self._lock:
            for line in lines:
                view = memoryview(line)
                while view:
                    view = view[os.write(1, view) :]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--era", default="all", help="a revision, several with commas, or handshake, stateless, all")
    parser.add_argument("--tools", type=int, default=0, help="so many more tools")
    parser.add_argument("--page-size", type=int, default=50)
    parser.add_argument("--log", help="a file that gets every line received")
    parser.add_argument("--fault", action="append", default=[], help=f"NAME or NAME=VALUE, of: {', '.join(FAULTS)}")
    options = parser.parse_args()
    catalogue = sample_catalogue(versions(options.era), page_size=options.page_size, tools=options.tools)
    try:
        StdioServer(catalogue, Faults(options.fault), options.log).run()
    except BrokenPipeError:  # the client has gone
        os._exit(0)


if __name__ == "__main__":
    main()

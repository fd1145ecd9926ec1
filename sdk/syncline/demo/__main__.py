"""``python -m syncline.demo``: serve standard input and output until the client closes them."""

from __future__ import annotations

import contextlib
import io
import sys

from syncline.demo.server import serve

if __name__ == "__main__":
    # Files of our own: what the interpreter flushes and locks at its end must not wait for a client that went away.
    lines = io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))
    output = io.FileIO(sys.stdout.fileno(), "w", closefd=False)
    with contextlib.suppress(BrokenPipeError):
        serve(lines, output.write)

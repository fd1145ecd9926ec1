"""The one error of the code generator: a sentence that names a file and a place in it."""

from __future__ import annotations

from pathlib import Path


class Problem(Exception):
    """Something in the inputs is wrong. ``str()`` is one line: file, pointer, what is wrong."""

    def __init__(self, file: Path | str, pointer: str, what: str) -> None:
        place = f"{file}: {pointer}" if pointer else f"{file}"
        super().__init__(" ".join(f"{place}: {what}".split()))

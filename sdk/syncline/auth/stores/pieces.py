"""Long values as several short ones, so that half of a write is never taken for a whole. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

#: Characters of one entry: Windows keeps 2560 bytes of UTF-16, which is the least of all keyrings.
LIMIT = 1280
#: Generations take turns, so that a new value is written beside the old one, and what a crash leaves is found by the next writer.
GENERATIONS = ("a", "b")
#: Pieces of one value at most.
MOST = 1024


@dataclass(frozen=True)
class Manifest:
    """What stands in the entry of a value that was split.

    Attributes:
        generation: One of ``GENERATIONS``.
        pieces: How many there are.
        digest: Of the whole value (SHA-256).
    """

    generation: str
    pieces: int
    digest: str

    def __str__(self) -> str:
        return json.dumps({"generation": self.generation, "pieces": self.pieces, "sha256": self.digest})

    @classmethod
    def of(cls, entry: str | None) -> Manifest | None:
        """The manifest that an entry is; None if it is something else."""
        try:
            members = json.loads(entry or "")
        except (ValueError, RecursionError):
            return None
        if not isinstance(members, dict) or members.keys() != {"generation", "pieces", "sha256"}:
            return None
        manifest = cls(members["generation"], members["pieces"], members["sha256"])
        fits = type(manifest.pieces) is int and 1 <= manifest.pieces <= MOST and isinstance(manifest.digest, str)
        return manifest if fits and manifest.generation in GENERATIONS else None


def split(value: str, before: Manifest | None) -> tuple[str, Sequence[str]]:
    """The entry for a value in ASCII, and its pieces, which are to be written first; none for a short one.

    Args:
        value: JSON; a manifest could not be told from it otherwise.
        before: What stands in the entry now; its pieces are not touched.

    Raises ``ValueError`` for more than ``MOST`` pieces.
    """
    if len(value) <= LIMIT:
        return value, ()
    if len(value) > LIMIT * MOST:
        raise ValueError("too long")
    pieces = [value[start : start + LIMIT] for start in range(0, len(value), LIMIT)]
    return str(Manifest(other(before), len(pieces), _digest(value))), pieces


def join(manifest: Manifest, pieces: Sequence[str | None]) -> str | None:
    """The value; None if these are not all of its pieces, or not its own."""
    value = "".join(piece or "" for piece in pieces)
    return value if len(pieces) == manifest.pieces and _digest(value) == manifest.digest else None


def other(manifest: Manifest | None) -> str:
    """The generation whose pieces are not in use."""
    return GENERATIONS[manifest is not None and manifest.generation == GENERATIONS[0]]


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()

"""What servers got wrong and were forgiven.

The client is lenient where the field needs it to be, but never silently: each tolerance leaves a finding with a code, a
place and the raw material. ``client.findings`` shows them; contract runs turn chosen codes into failures.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Findings kept for each connection; older ones make room, and ``Findings.dropped`` counts them.
KEPT = 1000
#: Characters of the raw material that are kept.
RAW_LENGTH = 2000


@dataclass(frozen=True)
class Finding:
    """One tolerance.

    Attributes:
        code: What kind of fault, in kebab case: ``stdout-noise``, ``id-as-string``, ``unknown-content``.
        place: Where: a method, a header, a path into a result.
        raw: The offending material as text, shortened.
    """

    code: str
    place: str
    raw: str


class Findings:
    """The findings of one connection, oldest first. Safe to record into and to iterate from any thread."""

    def __init__(self) -> None:
        self._kept: list[Finding] = []
        self.dropped = 0

    def record(self, code: str, place: str, raw: object) -> None:
        """Keep one finding; ``raw`` is turned into text and shortened."""
        text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        self._kept.append(Finding(code, place, text[:RAW_LENGTH]))
        if len(self._kept) > KEPT:
            del self._kept[0]
            self.dropped += 1

    @property
    def last(self) -> Finding | None:
        """The latest one that is kept."""
        return self._kept[-1] if self._kept else None

    def snapshot(self) -> list[Finding]:
        """The findings so far."""
        return list(self._kept)

"""Python's garbage collector, less eager while many objects are made that are all kept."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

from .locks import new_lock

#: New objects, net, after which it collects in a relaxed stretch: a listing of 10,000 tools makes about as many.
RELAXED = 500_000

_lock = new_lock()
_stretches = 0
_usual = gc.get_threshold()


@contextlib.contextmanager
def collector_relaxed() -> Iterator[None]:
    """Collect rarely while the block runs: collecting is a third of what it costs to take in a long listing.

    Garbage of other threads cannot pile up meanwhile, however long the block waits: there is still a threshold, only a
    higher one. Stretches of several threads may overlap; the last one to end restores what was set before the first.
    """
    global _stretches, _usual
    with _lock:
        if not _stretches:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < RELAXED:
                gc.set_threshold(RELAXED, *_usual[1:])
        _stretches += 1
    try:
        yield
    finally:
        with _lock:
            _stretches -= 1
            if not _stretches:
                gc.set_threshold(*_usual)

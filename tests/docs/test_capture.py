"""The pictures of `syncline servers status` in the documentation are what is drawn today."""

from __future__ import annotations

from tools import capture


def test_the_pictures_are_up_to_date() -> None:
    """Or run `python -m tools.capture`."""
    [(_, shown)] = capture.BLOCK.findall(capture.PAGE.read_text(encoding="utf-8"))
    assert shown == capture.pictures()


def test_they_show_every_end_of_a_start() -> None:
    first, *_, last = capture.pictures().split("after ")[1:]
    assert {line.split()[1] for line in first.splitlines()[2:6]} == {"starting"}
    assert {line.split()[1] for line in last.splitlines()[2:] if line[:1].strip()} == {"ready", "failed", "disabled"}

"""Files of environment variables (``envFile``): ``NAME=value`` on each line."""

from __future__ import annotations

import os.path
import re
from pathlib import Path

from syncline.manager.configfiles.references import Unusable

_LINE = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[\w.-]+)\s*=\s*"""
    r"""(?:'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<plain>.*?))\s*(?:(?<=[\s'"=])\#.*)?"""
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def load(file: str, folder: str | None) -> dict[str, str]:
    """The variables in a file; a relative path begins at ``folder``.

    Raises ``Unusable`` for a file that cannot be read and for a line that is something else; it quotes nothing of it.
    """
    path = below(folder, file)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:  # its path may have half a surrogate pair in it
        reason = (error.strerror or "it cannot be read") if isinstance(error, OSError) else "it is not UTF-8"
    else:
        return parse(text, path)
    raise Unusable(f"the envFile {path} is no use: {reason}")


def parse(text: str, file: str) -> dict[str, str]:
    """The variables in the text of a file. Comments begin with ``#``; escapes count in double quotes."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise Unusable(f"the envFile {file}, line {number}: expected NAME=value")
        double = match["double"]
        if double is not None:
            found[match["name"]] = re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), double)
        else:
            found[match["name"]] = match["single"] if match["single"] is not None else match["plain"]
    return found


def below(folder: str | None, path: str) -> str:
    """A path as seen from a folder."""
    return path if folder is None else os.path.join(folder, path)  # noqa: PTH118 - keeps the path as it is written

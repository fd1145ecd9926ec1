"""Where this program keeps what it has to remember, as a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from syncline.errors import ConfigError

#: Names the folder, whatever the platform.
VARIABLE = "SYNCLINE_STATE_DIR"
#: Python's name of the platform → the variable that names the folder of all programs, and where that is in the home folder.
_BASES = {"win32": ("LOCALAPPDATA", "AppData/Local"), "darwin": ("", "Library/Application Support")}
_OTHERS = ("XDG_STATE_HOME", ".local/state")


def state_directory(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder; nothing is made. ``SYNCLINE_STATE_DIR``, or else ``syncline`` in the platform's folder for this.

    The XDG base directory specification has relative paths ignored. One of ours raises ``ConfigError``: programs that run elsewhere
    would not find what is kept there.
    """
    if chosen := environ.get(VARIABLE):
        if not Path(chosen).is_absolute():
            raise ConfigError(f"{VARIABLE} is {chosen!r}, and has to be the whole path of a folder, from the root")
        return Path(chosen)
    variable, below = _BASES.get(platform, _OTHERS)
    base = Path(environ.get(variable, ""))
    if not base.is_absolute():
        base = Path(os.path.expanduser("~"), below)  # noqa: PTH111 - Path.home() raises where there is none
    return base / "syncline"


def credentials_directory() -> Path:
    """The folder of credentials in files."""
    return state_directory() / "credentials"


def keyring_directory() -> Path:
    """The folder of notes about what is in the keyring."""
    return state_directory() / "keyring"


def something_is_kept() -> bool:
    """Whether there may be stored credentials: a look at two folders, which says yes where it cannot look."""
    for folder in (credentials_directory(), keyring_directory()):
        try:
            if any(path.suffix == ".json" for path in folder.iterdir()):
                return True
        except FileNotFoundError:
            continue
        except OSError:
            return True
    return False

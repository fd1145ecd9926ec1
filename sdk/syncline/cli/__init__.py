"""The command line: ``syncline``. One module for each group of commands, thin over the public API.

Standard output has the answer and nothing else; logs, progress and errors go to standard error. The exit statuses are the
table in ``syncline.cli.failures``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

INTERRUPTED, UNEXPECTED = 130, 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; the arguments are those of the process by default.

    Blocks as long as the command does, which is bounded by its timeouts; Ctrl-C ends it with status 130.
    """
    try:  # imports take a moment, in which Ctrl-C counts too
        from syncline.cli.app import run
    except KeyboardInterrupt:
        return INTERRUPTED
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.stderr.write(f"the command line needs {error.name}: pip install 'syncline[cli]'\n")
        return UNEXPECTED
    return run(arguments)

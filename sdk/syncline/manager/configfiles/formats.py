"""What tells the files of one program from those of another, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Forms of references in values. ``plain``: ``${NAME}`` and ``${NAME:-default}``; ``env``: ``${env:NAME}``; ``input``:
#: ``${input:ID}``; ``folder``: ``${workspaceFolder}`` and its like; ``bare``: ``$NAME``.
PLAIN, ENV, INPUT, FOLDER, BARE = "plain", "env", "input", "folder", "bare"


@dataclass(frozen=True)
class Format:
    """One program's manner of writing.

    Attributes:
        program: Its name.
        sections: Paths of keys below which servers are.
        references: The forms of references that it resolves. Any other one is left as it stands.
        others: Keys at the top that are its own too; None where the file is mostly about other things.
        milliseconds: Keys of an entry that hold the time of a call in milliseconds.
        lists: The path of keys below which ``allowed`` and ``excluded`` list names of servers: all others are disabled, or those.
    """

    program: str
    sections: tuple[tuple[str, ...], ...] = (("mcpServers",),)
    references: frozenset[str] = frozenset()
    others: frozenset[str] | None = None
    milliseconds: frozenset[str] = field(default_factory=frozenset)
    lists: tuple[str, ...] | None = None


_EITHER = (("mcpServers",), ("servers",))
_OTHERS = frozenset({"$schema", "inputs"})
_ALL_BUT_BARE = frozenset({PLAIN, ENV, INPUT, FOLDER})

FORMATS: Mapping[str, Format] = {
    "mcp": Format("mcp.json", _EITHER, _ALL_BUT_BARE, _OTHERS),
    "claude-project": Format("Claude Code", _EITHER, _ALL_BUT_BARE, _OTHERS),
    "claude-code": Format("Claude Code", references=frozenset({PLAIN})),
    "claude-desktop": Format("Claude Desktop"),
    "vscode": Format("VS Code", _EITHER, frozenset({ENV, INPUT, FOLDER}), _OTHERS),
    "cursor": Format("Cursor", _EITHER, frozenset({ENV, FOLDER}), _OTHERS),
    "windsurf": Format("Windsurf", _EITHER, frozenset({ENV}), _OTHERS),
    "gemini": Format(
        "Gemini CLI", references=frozenset({PLAIN, BARE}), milliseconds=frozenset({"timeout"}), lists=("mcp",)
    ),
    "codex": Format("Codex", (("mcp_servers",),)),
}

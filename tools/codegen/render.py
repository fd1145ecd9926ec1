"""The files of the wire package that are not models, from templates."""

from __future__ import annotations

import json
from pathlib import Path
from string import Template

from .methods import Entry
from .pins import Pin

NEWLINE = "\n"
TEMPLATES = Path(__file__).parent / "templates"


def header(source: str) -> str:
    return _fill("header.txt", source=source)


def base() -> str:
    return header("tools/codegen/templates/base.py") + (TEMPLATES / "base.py").read_text()


def init(pins: list[Pin]) -> str:
    revisions = [pin.name for pin in pins if pin.is_revision]
    extensions = [pin.name for pin in pins if not pin.is_revision]
    exports = sorted(["EXTENSIONS", "MODULES", "NEWEST", "REVISIONS", "load", *(pin.module for pin in pins)])
    return header("schema/pins.toml") + _fill(
        "init.py.txt",
        imports="\n".join(f"    from . import {pin.module} as {pin.module}" for pin in pins),
        modules="\n".join(f'    "{pin.name}": "{pin.module}",' for pin in pins),
        revisions=_tuple(revisions),
        extensions=_tuple(extensions),
        exports=", ".join(f'"{name}"' for name in exports),
    )


def neutral(homes: dict[str, str]) -> str:
    """``homes`` says for each name which module it comes from."""
    modules = sorted(set(homes.values()))
    imports = [
        f"    from .{module} import (\n{''.join(f'        {name} as {name},{NEWLINE}' for name in names)}    )"
        for module in modules
        if (names := sorted(name for name, home in homes.items() if home == module))
    ]
    lines = [f'    "{name}": "{home}",' for name, home in sorted(homes.items())]
    return header("schema/") + _fill("neutral.py.txt", imports="\n".join(imports), homes="\n".join(lines))


def methods(tables: dict[str, dict[str, Entry]]) -> str:
    lines = []
    for name, table in tables.items():
        entries = [
            f"        {_text(method)}: Method({', '.join(map(_text, entry))})," for method, entry in table.items()
        ]
        lines += [f'    "{name}": {{', *entries, "    },"]
    return header("schema/") + _fill("methods.py.txt", methods="\n".join(lines))


def provenance(sources: dict[str, dict[str, str]], generator: str, options: str) -> str:
    lines = []
    for name, source in sources.items():
        entries = [f"        {_text(key)}: {_text(value)}," for key, value in source.items()]
        lines += [f'    "{name}": {{', *entries, "    },"]
    return header("schema/pins.toml") + _fill(
        "provenance.py.txt", generator=generator, options=options, sources="\n".join(lines)
    )


def _fill(template: str, **values: str) -> str:
    return Template((TEMPLATES / template).read_text()).substitute(values)


def _tuple(names: list[str]) -> str:
    """The inside of a Python tuple."""
    return "".join(f"{_text(name)}, " for name in names).rstrip()


def _text(value: object) -> str:
    """A Python literal; strings in double quotes, as everywhere in the repository."""
    return json.dumps(value) if isinstance(value, str) else repr(value)

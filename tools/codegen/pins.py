"""``schema/pins.toml``: where each reduction came from, and that nothing has changed since."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from .inputs import read_bytes, read_toml, shown
from .problems import Problem

REVISION = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Pin:
    """One module of the wire package: a revision of the core or an extension.

    Attributes:
        name: ``2026-07-28``, or the extension's name.
        page: Address of the page that defines it; ``{anchor}`` stands for a definition's name in lower case.
        repository: Where the published schema lies, None for one that is written in this repository.
        commit: The commit it was taken from.
        path: Its path there.
        sha256: Digest of the published file.
        reduced: Digest of the reduction in this repository.
    """

    name: str
    page: str
    repository: str | None = None
    commit: str | None = None
    path: str | None = None
    sha256: str | None = None
    reduced: str | None = None

    @property
    def is_revision(self) -> bool:
        return REVISION.fullmatch(self.name) is not None

    @property
    def module(self) -> str:
        """The module's name in the wire package."""
        return "v" + self.name.replace("-", "_") if self.is_revision else self.name

    def schema_path(self, schema: Path) -> Path:
        """Where the reduction lies."""
        return schema / self.name / "schema.json" if self.is_revision else schema / "extensions" / f"{self.name}.json"

    def overlay_path(self, schema: Path) -> Path:
        """Where its fixes lie; not every extension has any."""
        folder = schema / self.name if self.is_revision else schema / "extensions"
        return folder / ("overlay.toml" if self.is_revision else f"{self.name}.overlay.toml")


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read_pins(schema: Path) -> list[Pin]:
    """Every pin, in the order of the file: the revisions from old to new, then the extensions."""
    path = schema / "pins.toml"
    tables = read_toml(path)
    pins = []
    for name, table in tables.items():
        unknown = set(table) - {"page", "repository", "commit", "path", "sha256", "reduced"}
        if unknown or "page" not in table:
            raise Problem(shown(path), f"/{name}", f"unknown keys {sorted(unknown)}" if unknown else "no page")
        pins.append(Pin(name, **table))
    return pins


def verify(data: bytes, expected: str | None, file: Path | str, where: str) -> None:
    """Refuse bytes whose digest is not the pinned one."""
    if expected is not None and digest(data) != expected:
        raise Problem(file, "", f"sha256 is {digest(data)}, but {where} says {expected}")


def fetch(source: str) -> bytes:
    """The bytes of a published schema, from a path or an http(s) address."""
    if urlsplit(source).scheme not in {"http", "https"}:
        return read_bytes(Path(source))
    try:
        with urlopen(source, timeout=60) as answer:
            body: bytes = answer.read()
    except OSError as error:
        raise Problem(source, "", f"cannot be fetched: {error}") from error
    return body


def origin(source: str) -> dict[str, str]:
    """Repository, commit and path, as far as a GitHub address tells them."""
    found = re.fullmatch(r"https://raw\.githubusercontent\.com/([^/]+/[^/]+)/([0-9a-f]{40})/(.+)", source)
    return dict(zip(("repository", "commit", "path"), found.groups(), strict=True)) if found else {"path": source}


def pin_text(pin: Pin) -> str:
    """The pin as it stands in ``pins.toml``."""
    keys = ("repository", "commit", "path", "sha256", "reduced", "page")
    lines = [f'{key} = "{value}"' for key in keys if (value := getattr(pin, key)) is not None]
    return f'["{pin.name}"]\n' + "\n".join(lines) + "\n"

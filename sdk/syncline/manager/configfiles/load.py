"""Find the files, read them, and put together what they say."""

from __future__ import annotations

import os
import os.path
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Literal

from syncline.errors import ConfigError
from syncline.manager.configfiles import entries, values
from syncline.manager.configfiles.document import Document, parse
from syncline.manager.configfiles.formats import FORMATS, Format
from syncline.manager.configfiles.inputs import Answers, Asked
from syncline.manager.configfiles.loaded import LoadedConfig, Origin, Scope, Skipped, Unknown
from syncline.manager.configfiles.places import (
    Platform,
    beginning,
    flavour,
    format_of,
    places,
    platform_name,
    project_folder,
    project_folders,
)
from syncline.manager.configfiles.references import Surroundings, Unusable

#: What is wrong with a key that an object has more than once: one of its values would be lost.
TWICE = "is there twice; keep one of the two"
_LISTS = ("allowed", "excluded")


def load_config(
    path: str | os.PathLike[str] | None = None,
    *,
    scopes: Collection[Literal["project", "user"]] = ("project", "user"),
    inputs: Answers = None,
    names: Collection[str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    home: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
    platform: Platform | None = None,
) -> LoadedConfig:
    """The servers in configuration files; see docs/configuration-files.md for which ones. Starts and reaches nothing.

    A name that several files have means the first of them. An entry that cannot be used here, because a variable is not set
    or a transport is not spoken, is left out and listed in ``skipped``, and so is every file of the user's that is broken.

    Args:
        path: The only file to read. Without it, the project's files from ``cwd`` up, then the user's.
        scopes: Which files are searched for. The user's alone, for a folder whose files are not to be trusted.
        inputs: Answers to the inputs of VS Code, by id, or a function that asks for one (an ``Input``) and returns the answer
            or None. Without an answer the default counts.
        names: The only servers to read. Other entries are not looked at, and nothing is asked for them.
        cwd: Where the search begins, by default the working directory.
        home: The user's home folder, by default ours.
        environment: What references to environment variables mean, by default our own environment.
        platform: Whose places for files are searched, by default this one's.

    Raises ConfigError with file, line and key: the named file or one of the project's is broken; the named one is not there;
    an entry that is ``required`` cannot be used.
    """
    platform = platform or platform_name()
    here = beginning(cwd)
    home = os.fspath(home or os.path.expanduser("~"))  # noqa: PTH111 - Path.expanduser() raises where there is no home
    environment = os.environ if environment is None else environment
    loader = _Loader(inputs, names, environment, home, os.fspath(here), platform)
    if path is not None:
        loader.add(_named(Path(path)))
        return loader.result()
    folders = project_folders(here, Path(home), platform) if "project" in scopes else ()
    for place in places(platform, home, environment, tuple(map(str, folders))):
        if place.scope in scopes:
            loader.add(_Source(place.format, place.file, place.scope, place.folder, place.shared))
    return loader.result()


@dataclass(frozen=True)
class _Source:
    format: str
    file: PurePath
    scope: Scope
    folder: PurePath | None
    shared: bool = False

    @property
    def strict(self) -> bool:
        """Whether what is wrong with the file is the caller's business, and not another program's."""
        return self.scope == "explicit" or (self.scope == "project" and not self.shared)


def _named(file: Path) -> _Source:
    absolute = file.absolute()
    return _Source(format_of(absolute), file, "explicit", project_folder(absolute))


class _Loader:
    """Collects what the sources say, one after another."""

    def __init__(
        self,
        answers: Answers,
        names: Collection[str] | None,
        environment: Mapping[str, str],
        home: str,
        cwd: str,
        platform: Platform,
    ) -> None:
        self._answers = answers
        self._names = names
        self._environment = environment
        self._home = home
        self._cwd = cwd
        self._platform: Platform = platform
        self._documents: dict[PurePath, Document | None] = {}
        self._asked: dict[PurePath, Asked] = {}
        self._read: set[tuple[PurePath, tuple[str, ...]]] = set()
        self._entries: dict[str, entries.Entry] = {}
        self._origins: dict[str, Origin] = {}
        self._unknown: list[Unknown] = []
        self._skipped: list[Skipped] = []

    def result(self) -> LoadedConfig:
        """Everything so far."""
        return LoadedConfig(
            servers={name: entry.server for name, entry in self._entries.items()},
            origins=self._origins,
            metadata={name: entry.metadata for name, entry in self._entries.items()},
            unknown=tuple(self._unknown),
            skipped=tuple(self._skipped),
            files=tuple(str(file) for file, document in self._documents.items() if document is not None),
        )

    def add(self, source: _Source) -> None:
        """Read a source, unless it is not there."""
        form = FORMATS[source.format]
        new = source.file not in self._documents
        document = self._document(source, form)
        if document is None:
            return
        sections = list(self._sections(source, form, document))
        if new and not source.shared and form.others is not None:
            self._look_at_the_top(source, form, document, found=bool(sections))
        for section in sections:
            if (source.file, section) not in self._read:  # the home folder can be the project, too
                self._read.add((source.file, section))
                self._add_section(source, form, document, section)

    def _document(self, source: _Source, form: Format) -> Document | None:
        """The file, read once; None if it is not there or no use."""
        if source.file not in self._documents:
            self._documents[source.file] = None
            try:
                self._documents[source.file] = parse(source.file, Path(source.file).read_bytes())
            except FileNotFoundError:
                if source.scope == "explicit":
                    raise ConfigError(f"{source.file}: there is no such file") from None
            except OSError as error:
                if not isinstance(error, (NotADirectoryError, IsADirectoryError)) or source.scope == "explicit":
                    self._refuse(source, self._origin(source, form), f"cannot be read: {error.strerror}")
            except ConfigError as error:
                if source.strict:
                    raise
                reason = error.message.removeprefix(f"{source.file}, ")
                self._skipped.append(Skipped(self._origin(source, form), None, reason))
        return self._documents[source.file]

    def _sections(self, source: _Source, form: Format, document: Document) -> Iterator[tuple[str, ...]]:
        """The paths below which the source has servers."""
        if source.shared:  # entries for folders, which are written as the platform writes them
            path = flavour(self._platform)
            projects = document.at("projects")
            for folder in projects if isinstance(projects, dict) else ():
                if path(folder) == source.folder:
                    yield from (("projects", folder, *section) for section in form.sections)
            return
        yield from (section for section in form.sections if document.at(*section) is not None)

    def _look_at_the_top(self, source: _Source, form: Format, document: Document, *, found: bool) -> None:
        known = {section[0] for section in form.sections} | (form.others or set())
        strangers = [key for key in document.data if key not in known]
        if not found and strangers:
            wanted = " or ".join(section[0] for section in form.sections)
            what = f"expected {wanted} at the top; this may be a file about something else"
            if source.scope == "explicit":
                raise self._origin(source, form).fault(what)
            self._skipped.append(Skipped(self._origin(source, form), None, what))
            return
        for key in strangers:
            self._unknown.append(Unknown(self._origin(source, form, document, key), None, key))

    def _add_section(self, source: _Source, form: Format, document: Document, section: tuple[str, ...]) -> None:
        table = document.at(*section)
        if table is None:
            return
        if not isinstance(table, dict):
            origin = self._origin(source, form, document, *section)
            self._refuse(source, origin, f"expected an object of servers, found {values.kind(table)}")
            return
        above = [path for n in range(len(section)) for path in document.twice(*section[:n]) if path == section[: n + 1]]
        for twice in (*above, *document.twice(*section)):
            self._refuse(source, self._origin(source, form, document, *twice), TWICE)
            return
        for name, raw in table.items():
            if self._names is None or name in self._names:
                self._add_entry(source, form, document, (*section, name), raw)

    def _add_entry(self, source: _Source, form: Format, document: Document, path: tuple[str, ...], raw: object) -> None:
        name = path[-1]
        origin = self._origin(source, form, document, *path)
        if name in self._origins:
            reason = f"{self._origins[name]} has a server of this name, and comes first"
            self._skipped.append(Skipped(origin, name, reason))
            return
        for twice in document.twice(*path, below=1):
            self._refuse(source, self._origin(source, form, document, *twice), TWICE, name)
            return
        folder = str(source.folder) if source.scope == "project" else None
        try:
            if not name.strip():
                raise entries.Wrong("", "expected a name for the server; it is blank")
            entry = entries.read(raw, form, self._surroundings(source, form, document), folder)
            if _is_off(form, document, name):
                entry = replace(entry, server=replace(entry.server, enabled=False))
        except entries.Wrong as wrong:
            inner = (wrong.key,) if wrong.key else ()
            self._refuse(source, self._origin(source, form, document, *path, *inner), wrong.what, name)
        except Unusable as unusable:
            if isinstance(raw, dict) and raw.get("required") is True and raw.get("enabled") is not False:
                raise origin.fault(f"is required and cannot be used: {unusable}") from None
            self._skipped.append(Skipped(origin, name, str(unusable)))
        else:
            self._entries[name] = entry
            self._origins[name] = origin
            self._unknown.extend(
                Unknown(self._origin(source, form, document, *path, key), name, key, entries.similar(key))
                for key in entry.unknown
            )

    def _refuse(self, source: _Source, origin: Origin, what: str, name: str | None = None) -> None:
        """An error for what is the caller's business; what is another program's is left out."""
        if source.strict:
            raise origin.fault(what) from None
        self._skipped.append(Skipped(origin, name, what))

    def _origin(self, source: _Source, form: Format, document: Document | None = None, *path: str) -> Origin:
        line = document.line(*path) if document is not None and path else None
        return Origin(str(source.file), line, ".".join(path), form.program, source.scope)

    def _surroundings(self, source: _Source, form: Format, document: Document) -> Surroundings:
        path = flavour(self._platform)
        folder = source.folder or path(self._cwd)
        separator = "\\" if self._platform == "windows" else "/"
        folders = {
            "workspaceFolder": str(folder),
            "workspaceFolderBasename": folder.name,
            "userHome": self._home,
            "cwd": self._cwd,
            "pathSeparator": separator,
            "/": separator,
        }
        asked = self._asked.setdefault(source.file, Asked(document.at("inputs"), self._answers))
        return Surroundings(form.references, self._environment, folders, asked)


def _is_off(form: Format, document: Document, name: str) -> bool:
    """Whether lists of the whole file disable a server. Raises ``Wrong`` where they cannot be read: they may be meant to."""
    lists = document.at(*form.lists) if form.lists else None
    if lists is None:
        return False
    try:
        if not isinstance(lists, dict):
            raise values.Expected("an object of lists")
        allowed, excluded = (None if lists.get(key) is None else values.texts(lists[key]) for key in _LISTS)
    except values.Expected:
        place = ".".join(form.lists or ())
        raise entries.Wrong("", f"cannot be used: expected allowed and excluded, lists of names, at {place}") from None
    return (allowed is not None and name not in allowed) or (excluded is not None and name in excluded)

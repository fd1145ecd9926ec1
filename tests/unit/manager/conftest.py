"""A machine to read from: a home folder, a project, and what is set."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncline.manager.configfiles import LoadedConfig, load_config
from syncline.manager.configfiles.inputs import Answers


class Machine:
    """Files in a home folder and a project, and a search that sees nothing else."""

    def __init__(self, top: Path) -> None:
        self.home = top / "home"
        self.work = self.home / "work"
        self.work.mkdir(parents=True)
        self.environment = {"TOKEN": "secret"}

    def write(self, name: str, text: str) -> Path:
        """A file of the project's, or of the home folder's if the name begins with ~."""
        file = self.home / name[2:] if name.startswith("~/") else self.work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def load(
        self, path: Path | str | None = None, *, cwd: Path | None = None, inputs: Answers = None, **options: object
    ) -> LoadedConfig:
        return load_config(
            path,
            cwd=cwd or self.work,
            home=self.home,
            environment=self.environment,
            platform="linux",
            inputs=inputs,
            **options,  # type: ignore[arg-type]
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)

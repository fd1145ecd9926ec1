from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.codegen import generate
from tools.codegen.__main__ import main

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "generated" / "syncline_wire"


def test_the_package_is_what_the_inputs_make_of_it(tmp_path: Path) -> None:
    assert main(["generate", "--out", str(tmp_path)]) == 0
    made = {path.name: path.read_bytes() for path in (tmp_path / "syncline_wire").iterdir()}
    kept = {path.name: path.read_bytes() for path in GENERATED.iterdir() if path.is_file()}
    assert made == kept


@pytest.mark.parametrize("seed", ["0", "42"])
def test_the_bytes_do_not_depend_on_hashing(seed: str) -> None:
    command = [sys.executable, "-m", "tools.codegen", "generate", "--check"]
    run = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_drift_is_shown_with_the_command_that_ends_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {path.name: path.read_text() for path in GENERATED.iterdir() if path.is_file()}
    monkeypatch.setattr(generate, "build", lambda _schema: files)
    package = Path(shutil.copytree(GENERATED, tmp_path / "syncline_wire", ignore=shutil.ignore_patterns("__pycache__")))
    assert main(["generate", "--check", "--out", str(tmp_path)]) == 0

    (package / "base.py").write_text(files["base.py"].replace("frozen=True", "frozen=False"))
    (package / "tasks.py").unlink()
    (package / "py.typed").unlink()
    (package / "stray.py").write_text("x = 1\n")
    assert main(["generate", "--check", "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert "--- generated/syncline_wire/base.py" in shown.out
    assert "-        frozen=False," in shown.out
    assert "+        frozen=True," in shown.out
    assert "+class CancelTaskRequest(WireModel):" in shown.out
    assert "-x = 1" in shown.out
    assert "py.typed: missing" in shown.out
    assert "nox -s generate" in shown.err


def test_writing_replaces_the_whole_package(tmp_path: Path) -> None:
    stray = tmp_path / "syncline_wire" / "v1999_01_01.py"
    stray.parent.mkdir()
    stray.touch()
    generate.write({"__init__.py": "x = 1\n"}, tmp_path)
    assert [path.name for path in stray.parent.iterdir()] == ["__init__.py"]

"""The program of typical use runs, and pyright finds its types where it is installed; mypy checks it with all other files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import zrecord
from tests.conftest import GOLDEN

PROGRAM = Path(__file__).with_name("typed_use.py")


def test_the_program_runs() -> None:
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), str(GOLDEN / "v2" / "table")], check=True, capture_output=True, text=True, timeout=300
    )
    assert json.loads(ran.stdout) == [120, 2, 0, 240, 2, 2, 120, 3]


def test_pyright_finds_its_types(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    sources = Path(zrecord.__file__).parents[1]
    shutil.copy(PROGRAM, tmp_path / "program.py")
    settings = {"include": ["program.py"], "extraPaths": [str(sources)], "typeCheckingMode": "strict"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(tmp_path), "--outputjson"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    found = json.loads(ran.stdout)
    errors = [(one["range"]["start"]["line"] + 1, one["message"]) for one in found["generalDiagnostics"]]
    assert (errors, found["summary"]["filesAnalyzed"]) == ([], 1)

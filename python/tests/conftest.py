from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from zrecord import _launcher

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "engine" / "src" / "test" / "resources" / "golden"


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    """Values of the golden table, with which the engine is tested as well."""
    return read_vectors("v2-values.json")


def read_vectors(name: str) -> dict[str, Any]:
    """Reads values of a golden table from a file beside the table."""
    loaded: dict[str, Any] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="session")
def jar() -> Path:
    """The command line's jar, which the launcher builds at its first use."""
    subprocess.run([*_launcher.command(), "--version"], check=True, stdout=subprocess.DEVNULL)
    return next((ROOT / "tools" / "target").glob("zrecord-tools-*-cli.jar"))

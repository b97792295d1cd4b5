"""The training loops of the examples, killed and resumed, where their libraries are.

``python/test-jax`` and ``python/test-torch`` install the libraries.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "python"


def command(example: str, *arguments: Path) -> list[str]:
    return [sys.executable, str(EXAMPLES / example), *map(str, arguments)]


@pytest.fixture(scope="module")
def digits(command_line: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("examples") / "digits"
    subprocess.run(command("make_digits.py", path), check=True)
    return path


def needs(library: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(library) is None, reason=f"{library} is not installed")


@pytest.mark.parametrize(
    "example", [pytest.param("pytorch_loop.py", marks=needs("torch")), pytest.param("jax_loop.py", marks=needs("jax"))]
)
def test_a_training_that_is_killed_ends_as_one_that_is_not(example: str, digits: Path, tmp_path: Path) -> None:
    whole = subprocess.run(command(example, digits, tmp_path / "whole"), check=True, stdout=subprocess.PIPE, text=True)
    lines = whole.stdout.splitlines()
    assert len(lines) >= 18
    assert float(lines[-1].split()[-1]) < float(lines[0].split()[-1]) / 2
    with subprocess.Popen(command(example, digits, tmp_path / "killed"), stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout
        before = [killed.stdout.readline().rstrip() for _ in range(5)]
        killed.kill()
    resumed = subprocess.run(command(example, digits, tmp_path / "killed"), check=True, stdout=subprocess.PIPE, text=True)
    after = resumed.stdout.splitlines()
    # What ran on after the fifth line until it was killed was saved as well, or not.
    assert before == lines[:5]
    assert after == lines[len(lines) - len(after) :]
    assert len(after) <= len(lines) - 5

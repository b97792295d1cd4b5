"""A failing test prints what replays it, also if it fails in one of several processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import budget

PYTHON = Path(__file__).resolve().parents[1]
FAILING = """
import pytest
from tests import budget

@pytest.mark.parametrize("number", range(6))
def test_that_fails(number):
    assert budget.of(10) == 0, f"{budget.seed()} {budget.random(number).integers(2**40)}"
"""


def failures(directory: Path, variables: dict[str, str]) -> tuple[set[str], set[str]]:
    """Returns the messages of the failing tests, which two processes run, and the commands that replay them."""
    (directory / "test_failing.py").write_text(FAILING)
    words = [sys.executable, "-m", "pytest", "-n2", "-p", "tests.conftest", "-c", str(PYTHON / "pyproject.toml"), str(directory)]
    others = {name: value for name, value in os.environ.items() if not name.startswith(("ZRECORD_TEST_S", "PYTEST_"))}
    said = subprocess.run(words, cwd=PYTHON, env={**others, **variables}, stdout=subprocess.PIPE, text=True)
    assert said.returncode == 1, said.stdout
    return set(re.findall(r"AssertionError: (-?\d+ \d+)", said.stdout)), set(re.findall(r"^replay: (.*)$", said.stdout, re.M))


def test_a_failure_is_replayed_by_what_it_prints(tmp_path: Path) -> None:
    messages, commands = failures(tmp_path, {})
    assert len(messages) == len(commands) == 6
    seeds = {message.split()[0] for message in messages}
    assert len(seeds) == 1, "the processes have one seed"
    assert str(budget.seed()) not in seeds, "another session has another seed"
    variables = {word.partition("=")[0]: word.partition("=")[2] for word in commands.pop().split()[:2]}
    assert variables == {"ZRECORD_TEST_SEED": seeds.pop(), "ZRECORD_TEST_SCALE": "0.2"}
    assert failures(tmp_path, variables)[0] == messages


def test_the_command_names_the_test() -> None:
    found = budget.replay("tests/test_x.py::test_name[a b]")
    assert found == f"{budget.settings()} python/test 'tests/test_x.py::test_name[a b]'"


@pytest.mark.parametrize(("scale", "expected"), [(0.2, 8), (0.001, 1), (1, 40), (5, 200)])
def test_a_budget_is_scaled(scale: float, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "_scale", scale)
    assert budget.of(40) == expected

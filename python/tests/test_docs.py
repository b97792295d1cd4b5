"""What docs/reference says of this package."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import zrecord

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
CODE = re.compile(r"`([a-z_]+|[A-Z]\w+)`")


def rows(page: str, heading: str) -> list[list[str]]:
    """The rows of the table below a heading, without the first."""
    text = (REFERENCE / page).read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_error_has_one_row() -> None:
    documented = [CODE.findall(row[0])[0] for row in rows("errors.md", "Python")]
    members = {name: getattr(zrecord, name) for name in zrecord.__all__}
    errors = [name for name, member in members.items() if isinstance(member, type) and issubclass(member, Exception)]
    assert sorted(documented) == sorted(errors)


def test_settings_of_the_feed_have_the_names_that_python_takes() -> None:
    named = {name for row in rows("feed.md", "Settings") for name in CODE.findall(row[2])}
    parameters = set(inspect.signature(zrecord.feed).parameters) | {"load_state_dict"}
    assert named >= {"fields", "batch_size", "sampler"}
    assert named <= parameters, named - parameters

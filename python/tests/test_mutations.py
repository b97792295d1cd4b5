"""A golden table with one file that is damaged in any way: an error of this package, or the same values."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.values import exact
from zrecord._open import Verify

TABLES = [
    "v2/table",
    "v2/entries",
    "v2-blocks",
    "v2-fields",
    "v2-index-map",
    "v2-lists",
    "v2-numbers",
    "v2-patches",
    "v2-carried",
    "v2-moved",
    "v2-rewritten",
    "v2-versions/care",
]
UNVERIFIED = ["v2/table", "v2-blocks", "v2-patches"]  # tables of which wrong values come out without verification
COPIES = budget.of(40)


def flipped(content: bytes, other: bytes, random: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        bit = int(random.integers(8 * len(content)))
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def zeroed(content: bytes, other: bytes, random: np.random.Generator) -> bytes:
    at = int(random.integers(len(content)))
    end = min(len(content), at + int(random.integers(1, 513)))
    return content[:at] + bytes(end - at) + content[end:]


def cut(content: bytes, other: bytes, random: np.random.Generator) -> bytes:
    return content[: int(random.integers(len(content)))]


def extended(content: bytes, other: bytes, random: np.random.Generator) -> bytes:
    return content + random.bytes(int(random.integers(1, 4097)))


def swapped(content: bytes, other: bytes, random: np.random.Generator) -> bytes:
    """Two units of the file in each other's place."""
    size = 1 << int(random.integers(2, 7))
    one, two = sorted(size * int(random.integers(len(content) // size + 1)) for _ in range(2))
    return content[:one] + content[two : two + size] + content[one + size : two] + content[one : one + size] + content[two + size :]


def another(content: bytes, other: bytes, random: np.random.Generator) -> bytes:
    return other


WAYS = [flipped, zeroed, cut, extended, swapped, another]


def values_of(path: Path, verify: Verify) -> dict[str, Any]:
    """The values of each field; None for a field that is refused."""
    dataset = zrecord.open(path, verify=verify)
    values: dict[str, Any] = {}
    for name in dataset.fields:
        try:
            field = dataset[name]
            values[name] = exact(field[:]), exact(field.validity())
        except zrecord.ZrecordError as e:
            assert e.resource is not None and str(e.resource) in str(e)
            values[name] = None
    return values


def outcome(path: Path, sound: dict[str, Any], verify: Verify) -> str:
    try:
        found = values_of(path, verify)
    except zrecord.ZrecordError as e:
        assert e.resource is not None and str(e.resource) in str(e)
        return "refused"
    if found.keys() != sound.keys() or any(values is not None and values != sound[name] for name, values in found.items()):
        return "wrong"
    return "refused" if None in found.values() else "intact"


def write(file: Path, content: bytes) -> None:
    """Another file in the place of the one that may be mapped."""
    beside = file.with_name("beside")
    beside.write_bytes(content)
    beside.replace(file)


@pytest.mark.parametrize("name", TABLES)
def test_what_is_damaged_is_refused_and_the_rest_is_as_it_was(name: str, tmp_path: Path) -> None:
    table = Path(shutil.copytree(GOLDEN / name, tmp_path / "table"))
    sound = values_of(table, "first")
    assert all(values is not None for values in sound.values())
    files = sorted(file for file in table.rglob("*") if file.is_file())
    contents = {file: file.read_bytes() for file in files}
    random = budget.random(TABLES.index(name))
    outcomes: Counter[str] = Counter()
    copy = 0
    # Goes on until the control, without verification, shows wrong values: chance may make that later than expected.
    while copy < COPIES or not outcomes["refused"] or (name in UNVERIFIED and not outcomes["wrong, not verified"]):
        copy += 1
        assert copy < 4000, dict(outcomes)
        file = files[int(random.integers(len(files)))]
        way = WAYS[int(random.integers(len(WAYS)))]
        damaged = way(contents[file], contents[files[int(random.integers(len(files)))]], random)
        if damaged == contents[file]:
            continue
        write(file, damaged)
        found = outcome(table, sound, "first")
        assert found != "wrong", (copy, file.relative_to(table), way.__name__)
        outcomes[found] += 1
        outcomes["wrong, not verified"] += outcome(table, sound, "never") == "wrong"
        write(file, contents[file])
    print(name, dict(outcomes))

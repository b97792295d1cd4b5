"""Nested values, by the same file of values that the engine's tests read."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import budget
from tests.conftest import GOLDEN
from zrecord._nested import Nested, NestedType, read_nested
from zrecord._schema import read_field, read_unreadable
from zrecord._sealed import JsonObject
from zrecord.errors import CorruptDataError

CASES: list[dict[str, Any]] = json.loads((GOLDEN / "v2-nested.json").read_text(encoding="utf-8"))


def type_of(field: dict[str, Any]) -> NestedType:
    spec = read_field(JsonObject(Path("golden"), field))
    assert spec.nested is not None
    return spec.nested


def read(case: dict[str, Any]) -> Nested:
    return read_nested(type_of(case["field"]), bytes.fromhex(case["bytes"]))


def plain(found: NestedType, value: Any) -> Any:
    """A value as the file has it, without dates and small floats, which are their bits there."""
    if value is None:
        return None
    if found.kind == "list":
        return [plain(found.children[0], element) for element in value]
    if found.kind == "map":
        return [[plain(found.children[0], key), plain(found.children[1], element)] for key, element in value]
    if found.kind == "struct":
        return {name: plain(child, value[name]) for name, child in zip(found.names, found.children)}
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, np.ndarray):
        return [plain(NestedType("leaf", dtype=found.dtype), element) for element in value.reshape(-1)]
    if isinstance(value, list):
        return [plain(found, element) for element in value]
    if isinstance(value, np.datetime64):
        return int(value.astype(np.int64))
    if found.dtype == "f16":  # every NaN has its bits
        return int(np.float16(value).view(np.int16))
    if found.dtype == "bf16":
        return int(np.uint16(value).view(np.int16))
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_every_value_is_that_of_the_file(case: dict[str, Any]) -> None:
    value = read(case)
    assert plain(value.type, value.to_python()) == case["value"]


def test_every_byte_changed_is_damage_or_a_value() -> None:
    random = budget.random()
    for case in CASES[:12]:
        found, good = type_of(case["field"]), bytearray.fromhex(case["bytes"])
        damaged = 0
        for i in range(len(good)):
            for flip in random.permutation([1, 0x80, 0xFF])[: budget.of(3)].tolist():
                changed = bytearray(good)
                changed[i] ^= flip
                try:
                    read_nested(found, changed).root.to_python(0)
                except UnicodeDecodeError:
                    continue
                except (ValueError, OverflowError):
                    damaged += 1
        assert damaged > 0


def test_cut_and_random_bytes_are_damage() -> None:
    random = budget.random()
    for case in CASES[:12]:
        found, good = type_of(case["field"]), bytes.fromhex(case["bytes"])
        for length in range(len(good)):
            with pytest.raises(ValueError):
                read_nested(found, good[:length])
        with pytest.raises(ValueError):
            read_nested(found, good + bytes(8))
        with pytest.raises(ValueError):
            read_nested(found, random.bytes(64))


FIELD = {
    "id": 1,
    "name": "turns",
    "dtype": "nested",
    "compress": "raw",
    "type": {
        "list": {
            "struct": [
                {"name": "role", "type": "utf8"},
                {"name": "box", "type": {"dtype": "i16", "shape": [2]}},
                {"name": "seen", "type": "bool"},
            ]
        }
    },
}
#: The example of FORMAT.md.
TURNS = (
    "0900000002000000 00000000 00000000 0c000000 06000000 01000000 00000000 08000000 00000000 01000000 00000000"
    "00000000 04000000 06000000 00000000 757365726d650000 0100000000000000 0100020000000000 0100000000000000"
)


def test_the_example_of_the_format() -> None:
    value = read({"field": FIELD, "bytes": TURNS})
    turns = value.elements
    assert len(value) == 2 and turns.type.names == ("role", "box", "seen")
    assert turns["box"].values is not None and turns["box"].values.tolist() == [[1, 2], [0, 0]]
    assert turns["box"].validity is not None and turns["box"].validity.tolist() == [True, False]
    assert turns["seen"].values is not None and turns["seen"].values.tolist() == [True, False]
    assert value[1] == {"role": "me", "box": None, "seen": False}
    with pytest.raises(KeyError):
        turns["missing"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_arrow_has_the_same_values(case: dict[str, Any]) -> None:
    pytest.importorskip("pyarrow")
    value = read(case)
    array = value.to_arrow()
    array.validate(full=True)
    assert len(array) == 1
    assert arrow_plain(value.type, array.to_pylist()[0]) == arrow_plain(value.type, value.to_python())


def arrow_plain(found: NestedType, value: Any) -> Any:
    """A value in which Arrow's and NumPy's objects for one thing are equal."""
    if value is None:
        return None
    if found.kind == "list":
        return [arrow_plain(found.children[0], element) for element in value]
    if found.kind == "map":
        return [(arrow_plain(found.children[0], key), arrow_plain(found.children[1], element)) for key, element in value]
    if found.kind == "struct":
        return {name: arrow_plain(child, value[name]) for name, child in zip(found.names, found.children)}
    if isinstance(value, (list, np.ndarray)):
        return [arrow_plain(found, element) for element in (value.reshape(-1) if isinstance(value, np.ndarray) else value)]
    if isinstance(value, datetime.datetime):
        return np.datetime64(value.replace(tzinfo=None), "us")
    if isinstance(value, datetime.date):
        return (value - datetime.date(1970, 1, 1)).days
    value = value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value
    return repr(value) if isinstance(value, float) else value


@pytest.mark.parametrize("tree", ["f9", {"list": "f9"}, {"union": []}, "i8", {"list": {"list": {"dtype": "nested"}}}])
def test_an_unknown_type_costs_the_field(tree: Any) -> None:
    unreadable = read_unreadable(JsonObject(Path("golden"), {**FIELD, "type": tree}))
    assert unreadable is not None and unreadable.feature.startswith("type ")


@pytest.mark.parametrize(
    "tree",
    [
        7,
        {"list": None},
        {"map": ["i8"]},
        {"map": [{"map": ["i8", "i8"]}, "i8"]},
        {"struct": []},
        {"struct": [{"name": "a"}]},
        {"struct": [{"name": "a", "type": "i8"}, {"name": "a", "type": "i8"}]},
        {"list": {"dtype": "i8", "shape": [0]}},
        {"list": {"dtype": "utf8", "shape": [2]}},
    ],
)
def test_a_type_that_breaks_a_rule_is_damage(tree: Any) -> None:
    with pytest.raises(CorruptDataError):
        read_unreadable(JsonObject(Path("golden"), {**FIELD, "type": tree}))

"""Fields that were added, rewritten, renamed, promoted and dropped: the engine's golden table of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import zrecord
from tests.conftest import GOLDEN
from zrecord import FieldSpec
from zrecord._columns import AbsentColumn
from zrecord._promotion import PromotedColumn, is_promotion

TABLE = GOLDEN / "v2-fields"
SCORES = [0.0, 0.5, 0.0, 1.5, 2.0]


def test_every_version_has_its_fields() -> None:
    assert sorted(zrecord.open(TABLE, version=0).fields) == ["label", "text"]
    for version, sign in ((0, 1), (1, 1), (2, -1), (3, -1)):
        dataset = zrecord.open(TABLE, version=version)
        assert dataset["label"][:].tolist() == [sign * i for i in range(5)]
        assert dataset["text"][[4, 0]] == ["text 4", "text 0"]
    newest = zrecord.open(TABLE)
    assert sorted(newest.fields) == ["class", "score", "split"]


def test_a_field_has_a_tables_file_of_its_own() -> None:
    newest = zrecord.open(TABLE)
    assert newest["score"][:].tolist() == SCORES
    assert newest["score"].validity(np.arange(5)).tolist() == [True, True, False, True, True]


def test_an_initial_default_is_read_where_the_shard_lacks_the_field() -> None:
    split = zrecord.open(TABLE)["split"]
    assert split[:] == ["train"] * 5
    assert split[3] == "train"
    assert (split.spec.nullable, split.spec.comment) == (False, "the part of the data")


def test_a_promoted_field_is_converted() -> None:
    numbers = zrecord.open(TABLE)["class"]
    assert numbers.dtype == np.int64
    assert numbers[:].tolist() == [0, -1, -2, -3, -4]
    assert numbers[2] == -2
    assert numbers[[4, 1]].tolist() == [-4, -1]


def test_files_that_no_version_needs_may_be_gone(tmp_path: Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(TABLE, table)
    shard = next((table / "shard").iterdir())
    first = sorted(shard.glob("1111*.tables"))[0]
    first.unlink()
    newest = zrecord.open(table)
    assert newest["class"][:].tolist() == [0, -1, -2, -3, -4]
    with pytest.raises(zrecord.errors.ZrecordError):
        zrecord.open(table, version=3)["text"][0]


@pytest.mark.parametrize(
    ("stored", "wanted", "value", "expected"),
    [
        ("i8", "i64", b"\xfe", (-2).to_bytes(8, "little", signed=True)),
        ("u8", "u16", b"\xfe", b"\xfe\x00"),
        ("f32", "f64", np.float32(1.5).tobytes(), np.float64(1.5).tobytes()),
        ("date", "timestamp_ntz", (-1).to_bytes(4, "little", signed=True), (-86_400_000_000).to_bytes(8, "little", signed=True)),
        ("decimal(5,2)", "decimal(20,2)", (-7).to_bytes(4, "little", signed=True), (-7).to_bytes(16, "little", signed=True)),
    ],
)
def test_values_of_each_promotion(stored: str, wanted: str, value: bytes, expected: bytes) -> None:
    before, after = FieldSpec(1, "f", stored), FieldSpec(1, "f", wanted)
    assert is_promotion(before, after)
    assert not is_promotion(after, before)
    column = PromotedColumn(AbsentColumn(len(value)), before, after)
    assert column._converted(value).tobytes() == expected


def test_other_types_are_no_promotions() -> None:
    others = [("i64", "f64"), ("i32", "u64"), ("bytes", "utf8"), ("decimal(5,2)", "decimal(9,3)"), ("date", "timestamp")]
    for stored, wanted in others:
        assert not is_promotion(FieldSpec(1, "f", stored), FieldSpec(1, "f", wanted))

"""Arrow tables, batches and streams that are written."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from zrecord._write import arrow

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.usefixtures("command_line")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table"


def table() -> Any:
    noon = datetime.datetime(2024, 5, 6, 12, 0, 0, 7)
    return pa.table(
        {
            "i": pa.array([1, None, -3], pa.int32()),
            "u": pa.array([1, 2, 2**64 - 1], pa.uint64()),
            "h": pa.array(np.array([1, 2, 3], np.float16)),
            "f": pa.array([1.5, None, 2.5]),
            "b": pa.array([True, None, False]),
            "t": pa.array(["a", None, "日本"]),
            "lt": pa.array(["", "b", None], pa.large_string()),
            "raw": pa.array([b"\0", b"", None]),
            "four": pa.array([b"abcd", None, b"efgh"], pa.binary(4)),
            "day": pa.array([datetime.date(2024, 5, 6), None, datetime.date(1, 1, 1)]),
            "at": pa.array([noon, None, noon], pa.timestamp("ms")),
            "zoned": pa.array([noon, None, noon], pa.timestamp("us", "Europe/Berlin")),
            "price": pa.array([Decimal("-1.25"), None, Decimal("9999999.99")], pa.decimal128(9, 2)),
            "wide": pa.array([Decimal("-12345678901234567890.5"), None, Decimal("0.5")], pa.decimal128(38, 1)),
            "tokens": pa.array([[1, 2], None, []], pa.list_(pa.int16())),
            "point": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.float32(), 2)),
            "flags": pa.array([[True], [], [False, True]]),
            "word": pa.array(["x", "y", "x"]).dictionary_encode(),
        }
    )


def check(data: zrecord.Dataset, first: int) -> None:
    noon = np.datetime64("2024-05-06T12:00:00.000007")
    wanted: dict[str, list[Any]] = {
        "i": [1, None, -3],
        "u": [1, 2, 2**64 - 1],
        "h": [1, 2, 3],
        "f": [1.5, None, 2.5],
        "b": [True, None, False],
        "t": ["a", None, "日本"],
        "lt": ["", "b", None],
        "raw": [b"\0", b"", None],
        "four": [b"abcd", None, b"efgh"],
        "day": [np.datetime64("2024-05-06"), None, np.datetime64("0001-01-01")],
        "at": [noon.astype("M8[ms]"), None, noon.astype("M8[ms]")],
        "zoned": [noon, None, noon],
        "price": [Decimal("-1.25"), None, Decimal("9999999.99")],
        "wide": [Decimal("-12345678901234567890.5"), None, Decimal("0.5")],
        "tokens": [[1, 2], None, []],
        "point": [[1, 2], None, [3, 4]],
        "flags": [[True], [], [False, True]],
        "word": ["x", "y", "x"],
    }
    for name, values in wanted.items():
        found = [data[name][first + i] for i in range(3)]
        assert [value.tolist() if isinstance(value, np.ndarray) else value for value in found] == values, name
    assert data["zoned"].spec.dtype == "timestamp" and data["at"].spec.dtype == "timestamp_ntz"
    assert data["price"].spec.dtype == "decimal(9,2)" and data["tokens"].spec.dtype == "i16"


def test_tables_batches_and_streams_come_back(path: Path) -> None:
    zrecord.create(path, table())
    (batch,) = table().to_batches()
    zrecord.append(path, batch)
    zrecord.append(path, pa.RecordBatchReader.from_batches(batch.schema, [batch, batch]))
    # A slice begins within buffers, and within a byte of bits.
    zrecord.append(path, pa.concat_tables([table(), table()]).combine_chunks().slice(3))
    data = zrecord.open(path)
    assert len(data) == 15
    for first in range(0, 15, 3):
        check(data, first)


def test_streams_are_taken_batch_by_batch_and_generators_of_them_too(path: Path) -> None:
    (batch,) = table().to_batches()

    def parts() -> Iterator[Any]:
        yield batch
        yield table()

    zrecord.create(path, parts())
    assert len(zrecord.open(path)) == 6
    check(zrecord.open(path), 3)


def test_an_object_with_the_capsule_interface_is_taken(path: Path) -> None:
    class Frame:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return table().__arrow_c_stream__(requested_schema)

    class One:
        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return table().to_batches()[0].__arrow_c_array__(requested_schema)

    zrecord.create(path, Frame())
    zrecord.append(path, One())
    check(zrecord.open(path), 0)
    check(zrecord.open(path), 3)


def test_an_empty_table_has_fields(path: Path) -> None:
    assert zrecord.create(path, table().slice(0, 0)).length == 0
    assert len(zrecord.open(path).fields) == len(table().schema)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([{"a": 1}]), "Field 'x' is an Arrow column of struct.*cast it"),
        (pa.array([[["a"]]]), "Field 'x' is an Arrow column of list"),
        (pa.array([None]), "Field 'x' is an Arrow column of null"),
        (pa.array([datetime.timedelta(1)]), "Field 'x' is an Arrow column of duration"),
        (pa.array([[1, None]]), "Field 'x' has a list with a null element"),
        (pa.array([1], pa.timestamp("ns")), "Field 'x' has a time that microseconds cannot have"),
    ],
)
def test_what_cannot_be_written_is_refused(column: Any, message: str, path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        zrecord.create(path, pa.table({"x": column}))
    assert not (path / "manifest").exists()


def test_another_type_than_that_of_the_table_is_refused(path: Path) -> None:
    zrecord.create(path, {"x": np.arange(3, dtype=np.int32)})
    with pytest.raises(zrecord.SchemaMismatchError, match=r"Field 'x' is i64 in the Arrow data \(int64\), but i32"):
        zrecord.append(path, pa.table({"x": [1]}))
    with pytest.raises(ValueError, match="have a column twice"):
        zrecord.append(path, pa.Table.from_arrays([pa.array([1]), pa.array([1])], ["x", "x"]))


def test_a_missing_library_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise zrecord.MissingExtraError("Writing Arrow data needs PyArrow: pip install 'zrecord[arrow]'")

    monkeypatch.setattr(arrow, "_pyarrow", missing)
    with pytest.raises(zrecord.MissingExtraError, match=r"pip install 'zrecord\[arrow\]'"):
        zrecord.create(path, table())


@pytest.mark.parametrize("values", [pa.array([1, None, 3]), pa.chunked_array([[1, None], [3]])], ids=["array", "chunked"])
def test_an_array_in_a_mapping_keeps_its_type_and_what_is_absent(values: Any, path: Path) -> None:
    zrecord.create(path, {"x": values, "y": [1, 2, 3]})
    zrecord.update(path, [0, 1], {"y": pa.array([None, 5])}, version=0)
    for name, wanted in (("x", [1, None, 3]), ("y", [None, 5, 3])):
        field = zrecord.open(path)[name]
        present = field.validity(slice(0, 3)).tolist()
        assert [int(v) if there else None for v, there in zip(field[:], present)] == wanted
        assert field.spec.dtype == "i64"

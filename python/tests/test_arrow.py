"""Records as Arrow: the same values, in bounded batches, for pyarrow and for what reads its streams."""

from __future__ import annotations

import datetime
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import zrecord
from tests.conftest import GOLDEN
from tests.test_nested import CASES, arrow_plain, read, type_of
from zrecord import _arrow
from zrecord._nested import Nested

pa: Any = pytest.importorskip("pyarrow")

TABLE = GOLDEN / "v2" / "table"
#: The golden decimals have more digits than their type says, which Arrow refuses.
FIELDS = [name for name in zrecord.open(TABLE).fields if not name.startswith("decimal")]
TYPES = {
    "bool": pa.bool_(),
    "i8": pa.int8(),
    "u64": pa.uint64(),
    "f16": pa.float16(),
    "bf16": pa.float32(),
    "f64": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "utf8": pa.string(),
    "bytes": pa.binary(),
    "image": pa.list_(pa.list_(pa.uint8(), 5), 3),
    "points": pa.list_(pa.list_(pa.float32(), 2)),
    "nothing": pa.list_(pa.int32(), 0),
}


@pytest.fixture(scope="module")
def data() -> zrecord.Dataset:
    return zrecord.open(TABLE)


def plain(dtype: str, value: Any) -> Any:
    """A value of a field as pyarrow's scalars have it; times as numbers, for Python has no years before 1."""
    if value is None or isinstance(value, (str, bytes, Decimal)):
        return value
    if isinstance(value, Nested):
        return value.to_python()
    if dtype == "bf16":
        value = (np.asarray(value).astype(np.uint32) << 16).view(np.float32)
    if np.asarray(value).dtype.kind == "M":
        return None if np.isnat(value) else np.asarray(value).astype(np.int64).tolist()
    return np.asarray(value).tolist()


def numbers(array: Any) -> Any:
    """Times as their numbers."""
    if pa.types.is_date32(array.type):
        return array.cast(pa.int32())
    return array.cast(pa.int64()) if pa.types.is_timestamp(array.type) else array


def same(dtype: str, array: Any, values: list[Any]) -> None:
    array.validate(full=True)
    found, wanted = numbers(array).to_pylist(), [plain(dtype, value) for value in values]
    assert repr(found) == repr(wanted)


@pytest.mark.parametrize("name", FIELDS)
def test_each_value_comes_back_and_absent_ones_are_null(data: zrecord.Dataset, name: str) -> None:
    field = data[name]
    values = [field[i] for i in range(len(field))]
    array = field.to_arrow()
    assert array.type == TYPES.get(name, array.type)
    same(field.spec.dtype, array, values)
    table = data.to_arrow([name], [5, 1, 5, 119])
    assert table.column_names == [name]
    same(field.spec.dtype, table.column(0), [values[i] for i in (5, 1, 5, 119)])
    same(field.spec.dtype, data.take(slice(80, 30, -3)).to_arrow([name]).column(0), values[80:30:-3])
    same(field.spec.dtype, data.to_arrow([name], []).column(0), [])


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_batches_are_bounded_and_hold_all_records(data: zrecord.Dataset, most: int) -> None:
    found = list(data.to_batches(["i64", "utf8", "image"], max_records=most))
    assert max(batch.num_rows for batch in found) <= most
    assert pa.Table.from_batches(found).equals(data.to_arrow(["i64", "utf8", "image"]))


def test_batches_go_by_the_bytes_of_values(data: zrecord.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_arrow, "_BATCH_BYTES", 4000)
    assert {batch.num_rows for batch in data.to_batches(["wide"])} == {2}
    texts = [batch.num_rows for batch in data.to_batches(["bytes"])]
    assert texts[0] == 1 and max(texts) > 4 and sum(texts) == 120


def test_numbers_of_a_run_are_not_copied() -> None:
    """Arrow has the memory of the mapped file, as a slice has."""
    field = zrecord.open(GOLDEN / "v2-moved", version=0).take(slice(1, 4))["number"]
    view = field[:]
    assert not view.flags.writeable
    (chunk,) = field.to_arrow().chunks
    assert chunk.buffers()[1].address == view.ctypes.data
    assert np.shares_memory(chunk.to_numpy(), view)


def test_not_a_time_is_null(data: zrecord.Dataset) -> None:
    """Also in a field whose values are never absent, which is nullable to Arrow."""
    field = data["timestamp"]
    found = field.to_arrow()
    times = field[:]
    absent = ~field.validity() | np.isnat(times)
    assert found.is_null().to_pylist() == absent.tolist()
    times = np.array(["NaT", "2001-02-03T04:05:06", "NaT"], "M8[us]")
    spec = zrecord.FieldSpec(1, "when", "timestamp", nullable=False)
    assert _arrow.schema_of({"when": field}).field("when").nullable
    assert _arrow._rows(spec, times, (), None).to_pylist()[::2] == [None, None]
    assert _arrow._rows(spec, times, (), np.array([False, True, False])).null_count == 3
    pairs = _arrow._rows(zrecord.FieldSpec(1, "when", "timestamp_ntz", (3,)), times[None], (3,), None).to_pylist()
    assert pairs == [[None, datetime.datetime(2001, 2, 3, 4, 5, 6), None]]


def test_decimals_come_back_unless_they_have_too_many_digits(data: zrecord.Dataset) -> None:
    blocks = zrecord.open(GOLDEN / "v2-blocks")
    found = blocks["flate decimal"].to_arrow()
    assert found.type == pa.decimal128(30, 4)
    same("decimal(30,4)", found, blocks["flate decimal"][:])
    with pytest.raises(ValueError, match=r"Cannot give field 'decimal\(9,2\)' of decimal\(9,2\) to Arrow: .*; leave the field out"):
        data.to_arrow(["decimal(9,2)"])


def test_a_dataset_is_a_stream_of_arrow(data: zrecord.Dataset) -> None:
    some = data.select(["i64", "utf8", "image"])
    for _ in range(2):
        assert pa.table(some).equals(some.to_arrow())
    assert pa.RecordBatchReader.from_stream(some.where(some["i64"] > 0)).read_all().num_rows == len(some.where(some["i64"] > 0))


def test_declared_fields_without_absent_values_are_not_nullable() -> None:
    fields = zrecord.open(GOLDEN / "v2-fields")
    schema = fields.to_arrow().schema
    assert not schema.field("split").nullable and schema.field("score").nullable
    assert fields.to_arrow().to_pydict()["split"] == ["train"] * 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.get("name"))
def test_nested_values_and_absent_ones_make_one_column(case: dict[str, Any]) -> None:
    value = read(case)
    spec = zrecord.FieldSpec(1, "nested", "nested", nested=type_of(case["field"]))
    found = _arrow._column(spec, [value, None, value], None)
    assert found.type == _arrow.type_of(spec) and found.is_null().to_pylist() == [False, True, False]
    for one in found.to_pylist()[::2]:
        assert arrow_plain(value.type, one) == arrow_plain(value.type, value.to_python())
    assert _arrow._column(spec, [], None).type == found.type


@pytest.mark.parametrize("most", [0, -1])
def test_a_batch_without_records_is_refused(data: zrecord.Dataset, most: int) -> None:
    with pytest.raises(ValueError, match=f"max_records is {most}; it must be 1 or more"):
        data.to_batches(max_records=most)


def test_a_missing_library_is_named_with_its_installation(data: zrecord.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(zrecord.MissingExtraError, match=r"needs pyarrow, which is not installed; pip install 'zrecord\[arrow\]'"):
        data.to_arrow()


def test_duckdb_asks_a_dataset(data: zrecord.Dataset) -> None:
    duckdb: Any = pytest.importorskip("duckdb")
    asked = data.select(["i64", "utf8", "image", "date", "points"])
    wanted = [i for i in range(120) if asked["i64"][i] is not None and asked["i64"][i] > 0]
    assert duckdb.sql("select count(*) from asked where i64 > 0").fetchall() == [(len(wanted),)]
    rows = duckdb.sql("select i64, utf8, points from asked where i64 > 0").fetchall()
    found = [(number, text, points and [list(point) for point in points]) for number, text, points in rows]
    assert repr(found) == repr(
        [(plain("i64", asked["i64"][i]), asked["utf8"][i], plain("f32", asked["points"][i])) for i in wanted]
    )


def test_polars_takes_a_dataset(data: zrecord.Dataset) -> None:
    polars: Any = pytest.importorskip("polars")
    some = data.select(["i64", "utf8", "image", "date"])
    frame = polars.DataFrame(some)
    assert frame["utf8"].to_list() == some["utf8"][:]
    assert frame["i64"].to_list() == [plain("i64", some["i64"][i]) for i in range(120)]
    assert frame["image"].to_list() == [plain("u8", some["image"][i]) for i in range(120)]


def test_pandas_gets_a_frame(data: zrecord.Dataset) -> None:
    pytest.importorskip("pandas")
    frame = data.to_pandas(["i64", "utf8", "f64"], slice(0, 20))
    assert list(frame.columns) == ["i64", "utf8", "f64"] and len(frame) == 20
    assert frame["utf8"].isna().tolist() == [text is None for text in data["utf8"][:20]]
    assert frame["utf8"].dropna().tolist() == [text for text in data["utf8"][:20] if text is not None]


@pytest.mark.parametrize("dtype", ["utf8", "bytes", "i16", "bool", "timestamp", "decimal(9,2)", "f32"])
def test_the_ragged_values_of_a_batch_are_lists(dtype: str) -> None:
    offsets = np.array([0, 2, 2, 5])
    absent = np.array([False, True, False])
    made: dict[str, Any] = {
        "i16": np.arange(5, dtype=np.int16),
        "bool": np.array([True, False, True, True, False]),
        "timestamp": np.array(["2001-02-03", "NaT", "2001-02-04", "2001-02-05", "2001-02-06"], "M8[us]"),
        "decimal(9,2)": np.array([Decimal(f"{i}.25") for i in range(5)], object),
        "f32": np.arange(10, dtype=np.float32).reshape(5, 2),
    }
    values = made.get(dtype, np.frombuffer(b"abcde", np.uint8))
    ragged = zrecord.Ragged(values, offsets, dtype)
    found = ragged.to_arrow(absent)
    found.validate(full=True)
    wanted = [[plain(dtype, one) for one in each] if isinstance(each, np.ndarray) else each for each in ragged]
    shown = found.to_pylist()
    if dtype == "timestamp":
        shown = [None if each is None else [one and int(one.timestamp() * 1e6) for one in each] for each in shown]
    assert shown == [wanted[0], None, wanted[2]]
    assert ragged.to_arrow().null_count == 0

"""What is written from Python, read back, and what is refused."""

from __future__ import annotations

import datetime
import weakref
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget

pytestmark = pytest.mark.usefixtures("command_line")

RECORDS = 37


def numbers(dtype: str, shape: tuple[int, ...] = ()) -> np.ndarray[Any, Any]:
    """Any bits, as numbers."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=int)) * RECORDS
    return budget.random().integers(0, 256, size, np.uint8).view(dtype).reshape(RECORDS, *shape)


def bits(array: Any) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table"


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_arrays_of_numbers_come_back_bit_by_bit(dtype: str, path: Path) -> None:
    wide = numbers(dtype, (4, 6))
    arrays = {
        "single": numbers(dtype),
        "tensor": numbers(dtype, (3, 2)),
        "empty": np.zeros((RECORDS, 0, 2), dtype),
        "reversed": wide[::-1],
        "transposed": wide.transpose(0, 2, 1),
        "strided": wide[:, ::2, 1::3],
        "big endian": numbers(dtype, (5,)).astype(np.dtype(dtype).newbyteorder(">")),
        "fortran": np.asfortranarray(wide),
    }
    done = zrecord.create(path, arrays)
    assert (done.version, done.length, done.records, done.repeated) == (0, RECORDS, RECORDS, False)
    data = zrecord.open(path)
    for name, array in arrays.items():
        assert data[name].spec.shape == array.shape[1:], name
        assert bits(data[name][:]) == bits(array.astype(np.dtype(dtype).newbyteorder("="))), name


def test_bool_and_mapped_arrays_come_back(path: Path, tmp_path: Path) -> None:
    flags = numbers("u1", (3,)) > 127
    np.save(tmp_path / "mapped.npy", flags)
    mapped = np.load(tmp_path / "mapped.npy", mmap_mode="r")
    zrecord.create(path, {"flag": flags[:, 0], "mapped": mapped})
    data = zrecord.open(path)
    assert data["flag"].spec.dtype == "bool"
    assert np.array_equal(data["flag"][:], flags[:, 0]) and np.array_equal(data["mapped"][:], flags)


def test_not_a_time_is_absent(path: Path) -> None:
    times = np.array(["2020-02-29T12:34:56.123456", "NaT", "1969-12-31T23:59:59.999999"], "M8[us]")
    days = np.array(["2020-02-29", "NaT", "0001-01-01"], "M8[D]")
    zrecord.create(
        path,
        {"us": times, "ns": times.astype("M8[ns]"), "s": times.astype("M8[s]"), "day": days, "month": days.astype("M8[M]")},
    )
    data = zrecord.open(path)
    for name in data.fields:
        assert data[name].validity().tolist() == [True, False, True], name
    assert data["us"][2] == times[2] and data["ns"][2] == times[2] and data["s"][0] == times[0].astype("M8[s]")
    assert data["day"][2] == days[2] and data["month"][0] == np.datetime64("2020-02-01")


def test_times_that_microseconds_cannot_have_are_refused(path: Path) -> None:
    with pytest.raises(ValueError, match=r"Field 't' has the time .*001, which .*microseconds.*round it"):
        zrecord.create(path, {"t": np.array(["2020-01-01T00:00:00.000000001"], "M8[ns]")})
    with pytest.raises(ValueError, match="Field 't' has the time"):
        zrecord.create(path, {"t": np.array([2**62], "M8[s]")})
    with pytest.raises(ValueError, match="Field 'd' has the time"):
        zrecord.create(path, {"d": np.array([2**40], "M8[D]")})
    assert not path.exists()


def test_strings_of_one_width_come_back_as_numpy_shows_them(path: Path) -> None:
    zrecord.create(path, {"s": np.array([b"a\0b", b"", b"cc\0"], "S5"), "u": np.array(["é", "", "日本"])})
    data = zrecord.open(path)
    assert data["s"][:] == [b"a\0b", b"", b"cc"]
    assert data["u"][:] == ["é", "", "日本"]


def test_masked_values_are_absent(path: Path) -> None:
    single = np.ma.masked_array(np.arange(4, dtype=np.int32), np.array([0, 1, 0, 1], bool))
    rows = np.ma.masked_array(np.ones((4, 3), np.float32), np.repeat([[1], [0], [0], [1]], 3, 1))
    zrecord.create(path, {"single": single, "rows": rows})
    data = zrecord.open(path)
    assert [data["single"][i] for i in range(4)] == [0, None, 2, None]
    assert data["rows"].validity().tolist() == [False, True, True, False]
    rows[1, 0] = np.ma.masked
    with pytest.raises(ValueError, match="Field 'rows' masks a part of value 1"):
        zrecord.append(path, {"single": single, "rows": rows})


def test_structured_arrays_are_records(path: Path) -> None:
    records = np.zeros(3, [("x", ">i4"), ("pos", "f4", (2,)), ("name", "S3")])
    records["x"], records["pos"], records["name"] = [1, 2, 3], [[1, 2], [3, 4], [5, 6]], [b"a", b"b", b"c"]
    zrecord.create(path, records)
    data = zrecord.open(path)
    assert data["x"][:].tolist() == [1, 2, 3] and data["pos"][1].tolist() == [3, 4] and data["name"][:] == [b"a", b"b", b"c"]


def test_records_may_lack_fields(path: Path) -> None:
    noon = datetime.datetime(2024, 5, 6, 12, 0, 0, 7)
    aware = noon.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    first: dict[str, Any] = {
        "i": 7,
        "f": 1.5,
        "b": True,
        "t": "text é",
        "raw": b"\0\1",
        "image": np.arange(6, dtype=np.uint8).reshape(2, 3),
        "tokens": [3, 1, 2],
        "day": datetime.date(2024, 5, 6),
        "at": noon,
        "zoned": aware,
    }
    zrecord.create(path, [first, {}, {"i": None, "tokens": [], "t": ""}])
    data = zrecord.open(path)
    types = {name: field.dtype + str(list(field.shape)) for name, field in data.fields.items()}
    assert types == {
        "i": "i64[]",
        "f": "f64[]",
        "b": "bool[]",
        "t": "utf8[]",
        "raw": "bytes[]",
        "image": "u8[2, 3]",
        "tokens": "i64[-1]",
        "day": "date[]",
        "at": "timestamp_ntz[]",
        "zoned": "timestamp[]",
    }
    record = data[0]
    assert record["at"] == np.datetime64(noon) and record["day"] == np.datetime64("2024-05-06")
    assert record["zoned"] == np.datetime64("2024-05-06T10:00:00.000007")
    assert (record["i"], record["f"], record["b"], record["t"], record["raw"]) == (7, 1.5, True, "text é", b"\0\1")
    assert record["tokens"].tolist() == [3, 1, 2] and np.array_equal(record["image"], first["image"])
    assert all(value is None for value in data[1].values())
    assert data[2]["t"] == "" and data[2]["tokens"].tolist() == [] and data[2]["i"] is None


def test_a_schema_gives_types_and_codecs(path: Path) -> None:
    schema = {
        "label": "i32",
        "price": "decimal(30, 2)",
        "text": "utf8:zstd:9",
        "box": "f32[-1,4]:lz4",
        "half": "f16",
        "at": "timestamp",
        "bf": "bf16",
    }
    rows = [
        {"label": 3, "price": Decimal("-12345678901234567890.25"), "text": "a" * 1000, "half": 0.5, "box": np.ones((2, 4), "f4")},
        {"label": -(2**31), "price": 7, "box": [[1, 2, 3, 4.5]]},
    ]
    zrecord.create(path, rows, schema=schema)
    data = zrecord.open(path)
    assert {name: field.dtype for name, field in data.fields.items()} == {
        name: words.split("[")[0].split(":")[0].replace(" ", "") for name, words in schema.items()
    }
    assert data["text"].spec.codec == "zstd" and data["box"].spec.codec == "lz4"
    assert data["label"][:].tolist() == [3, -(2**31)]
    assert data["price"][:] == [Decimal("-12345678901234567890.25"), Decimal("7.00")]
    assert data["box"][1].tolist() == [[1, 2, 3, 4.5]] and data["box"][0].shape == (2, 4)
    bits16 = np.array([1, 2], np.uint16)
    more = {
        "label": [1, 2],
        "price": [None, Decimal("0.10")],
        "text": ["", "b"],
        "half": [None, 2],
        "at": [None, None],
        "bf": bits16,
    }
    zrecord.append(path, {**more, "box": [None, np.zeros((0, 4), np.float32)]})
    data = zrecord.open(path)
    assert data["text"].spec.codec == "zstd", "an append keeps the codec of the table"
    assert data["bf"][2:].tolist() == [1, 2] and data["box"][3].shape == (0, 4) and data["box"][2] is None
    assert data["price"][3] == Decimal("0.10")


def test_ragged_values_and_fields_of_a_dataset_are_copied(path: Path, tmp_path: Path) -> None:
    ragged = zrecord.Ragged(np.arange(12, dtype=np.int32).reshape(6, 2), np.array([0, 1, 1, 4, 6]), "i32")
    texts = zrecord.Ragged(np.frombuffer("aéz".encode(), np.uint8), np.array([0, 1, 1, 3, 4]), "utf8")
    zrecord.create(path, {"ragged": ragged, "text": texts, "x": np.ma.masked_array(np.arange(4.0), np.arange(4) == 1)})
    first = zrecord.open(path)
    assert [value.tolist() for value in first["ragged"][:]] == [value.tolist() for value in ragged]
    assert first["text"][:] == ["a", "", "é", "z"]
    zrecord.create(tmp_path / "copy", {name: first[name] for name in first.fields})
    copy = zrecord.open(tmp_path / "copy")
    for name in first.fields:
        assert [repr(first[name][i]) for i in range(4)] == [repr(copy[name][i]) for i in range(4)], name


def test_batches_of_a_feed_are_written_with_what_is_absent(path: Path, tmp_path: Path) -> None:
    rows = [{"x": i, "t": str(i), "v": [i] * i} if i % 3 else {"x": None} for i in range(50)]
    zrecord.create(path, rows, schema={"v": "i32[-1]"})
    with zrecord.feed(path, sampler="sequential", batch_size=20) as feed:
        zrecord.create(tmp_path / "copy", feed)
    first, copy = zrecord.open(path), zrecord.open(tmp_path / "copy")
    for i in range(50):
        assert [repr(value) for value in first[i].values()] == [repr(value) for value in copy[i].values()]


def test_a_stream_is_taken_batch_by_batch(path: Path) -> None:
    alive: list[int] = []
    most = 0

    def batches() -> Iterator[dict[str, Any]]:
        nonlocal most
        for i in range(20):
            array = np.full((1000, 1024), i % 251, np.uint8)
            alive.append(i)
            weakref.finalize(array, alive.remove, i)
            most = max(most, len(alive))
            yield {"x": array}
            del array

    assert zrecord.create(path, batches()).length == 20_000
    assert most <= 2
    data = zrecord.open(path)["x"]
    assert (data[::1000][:, 0] == np.arange(20)).all() and (data[999::1000][:, 1023] == np.arange(20)).all()


def test_large_and_many_values_are_cut_into_batches(path: Path) -> None:
    random = budget.random()
    blobs = [random.bytes(n) for n in (0, 1, 20_000_000, 5, 3_000_000, 9_000_000)]
    zrecord.create(path, {"blob": blobs, "n": np.arange(6)})
    assert zrecord.open(path)["blob"][:] == blobs
    many: dict[str, Any] = {"n": np.arange(700_000), "t": [str(i) for i in range(700_000)]}
    zrecord.overwrite(path, many)
    data = zrecord.open(path)
    assert np.array_equal(data["n"][:], many["n"]) and data["t"][699_990:] == many["t"][699_990:]


def test_no_records_make_a_table_with_fields(path: Path) -> None:
    assert zrecord.create(path, {"x": np.zeros((0, 3), np.float32), "t": []}, schema={"t": "utf8"}).length == 0
    assert zrecord.open(path)["x"].spec.shape == (3,)
    assert zrecord.append(path, [{"x": np.ones(3, np.float32), "t": "a"}]).length == 1
    assert zrecord.create(path.with_name("other"), [], schema={"x": "i32"}).length == 0
    with pytest.raises(ValueError, match="no record and no field"):
        zrecord.append(path, [])


def test_overwriting_changes_fields_and_keeps_versions(path: Path) -> None:
    zrecord.create(path, {"x": np.arange(3)})
    done = zrecord.overwrite(path, {"y": ["a", "b"]})
    assert (done.version, done.length) == (1, 2)
    assert list(zrecord.open(path).fields) == ["y"] and len(zrecord.open(path, version=0)) == 3


def test_paths_are_relative_to_the_directory_of_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    zrecord.create("table", {"x": np.arange(3)})
    monkeypatch.chdir(tmp_path / "b")
    zrecord.create("table", {"x": np.arange(5)})
    assert len(zrecord.open(tmp_path / "a" / "table")) == 3 and len(zrecord.open(tmp_path / "b" / "table")) == 5
    zrecord.create(f"file://{tmp_path}/c%20d", {"x": np.arange(2)})
    assert len(zrecord.open(tmp_path / "c d")) == 2


def test_urls_go_to_the_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="no storage on the class path knows the scheme 'foo'"):
        zrecord.create("foo://bucket/x", {"x": np.arange(3)})
    assert not list(tmp_path.iterdir())


REFUSED: list[tuple[str, Callable[[], Any], str]] = [
    ("complex", lambda: {"x": np.zeros(3, np.complex64)}, r"Field 'x' has the dtype complex64.*np.stack\(\[x.real, x.imag\], -1\)"),
    ("durations", lambda: {"x": np.zeros(3, "m8[s]")}, "Field 'x' has the dtype timedelta64.*astype"),
    ("long double", lambda: {"x": np.zeros(3, np.longdouble)}, "Field 'x' has the dtype .*np.float64"),
    ("void", lambda: {"x": np.zeros(3, "V4")}, "Field 'x' has the dtype .*list of bytes"),
    ("structs", lambda: {"x": np.zeros(3, "i4,i4")}, "Field 'x' has the dtype .*each of its members"),
    ("lengths", lambda: {"x": np.zeros(3), "y": [1]}, "different numbers of records: {'x': 3, 'y': 1}"),
    ("a scalar", lambda: {"x": 3}, "Field 'x' has 3 instead of a value for each record"),
    ("a text", lambda: {"x": "abc"}, "Field 'x' has 'abc' instead of a value for each record"),
    ("no dimension", lambda: {"x": np.array(3)}, "Field 'x' has array"),
    ("nothing", lambda: {"x": [None, None]}, "Field 'x' has no value that would tell its type; give schema="),
    ("a mixture", lambda: {"x": [1, "a"]}, "Field 'x' has values of int, str"),
    ("decimals", lambda: {"x": [Decimal(1)]}, r"Field 'x' has decimals; give their digits: schema=\{'x': 'decimal"),
    ("a name", lambda: {3: [1]}, "A field is named 3"),
    ("half a pair", lambda: {"x": ["\ud800"]}, "Field 'x' has the text .*half of a surrogate pair"),
    ("an array", lambda: np.arange(3), "What is written is a ndarray|A batch is a"),
    ("batches of numbers", lambda: iter([1, 2]), "A batch is a int"),
    ("strings with a shape", lambda: {"x": np.zeros((3, 2), "S4")}, "Field 'x' has strings of 2 dimensions"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[name for name, _, _ in REFUSED])
def test_what_the_format_does_not_have_is_refused(case: tuple[str, Callable[[], Any], str], path: Path) -> None:
    _, data, message = case
    with pytest.raises((ValueError, TypeError), match=message):
        zrecord.create(path, data())
    assert not (path / "manifest").exists() and not list(path.glob("shard/*"))


MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"i": np.arange(2)}, r"Field 'i' is i64 in what is written, but i32 in the table.*astype\(np.int32\)"),
    ({"i": [1, 2**31]}, "Field 'i' is i32, and value 1 of the batch is 2147483648"),
    ({"i": [1, 2.0]}, "Field 'i' is i32, and value 1 of the batch is 2.0, a float"),
    ({"i": [True, 2]}, "Field 'i' is i32, and value 0 of the batch is True"),
    ({"t": [1, "a"]}, "Field 't' is utf8, and value 0 of the batch is 1, a int"),
    ({"t": [b"a", "a"]}, "Field 't' is utf8, and value 0 of the batch is b'a'"),
    ({"v": np.zeros((2, 4), np.float32)}, r"Field 'v' is f32\[4\] in what is written, but f32\[3\]"),
    ({"v": [[1, 2, 3], [1, 2]]}, r"Field 'v' is f32\[2\]"),
    ({"v": [[1, 2, 3], "abc"]}, r"Field 'v' is f32\[3\], and value 1 of the batch is 'abc'"),
    ({"f": [1.0, 1e39]}, "Field 'f' is f32, which does not reach 1e\\+39"),
    ({"other": [1, 2]}, "Field 'other' is not in .*, whose fields are"),
]


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, command_line: Path) -> Path:
    path = tmp_path_factory.mktemp("strict") / "table"
    zrecord.create(path, good())
    return path


def good() -> dict[str, Any]:
    return {"i": np.arange(2, dtype="i4"), "f": np.ones(2, "f4"), "t": ["a", "b"], "v": np.zeros((2, 3), "f4")}


@pytest.mark.parametrize("misfit", MISFITS, ids=[message[:40] for _, message in MISFITS])
def test_what_does_not_fit_the_table_is_refused(misfit: tuple[dict[str, Any], str], strict: Path) -> None:
    wrong, message = misfit
    with pytest.raises(zrecord.SchemaMismatchError, match=message):
        zrecord.append(strict, {**good(), **wrong})
    assert zrecord.open(strict).version == 0 and len(list((strict / "shard").iterdir())) == 1


def test_a_missing_field_is_named(strict: Path) -> None:
    lacking = good()
    del lacking["v"]
    with pytest.raises(zrecord.SchemaMismatchError, match=r"Field 'v' of .* is missing"):
        zrecord.append(strict, {**lacking, "i": np.arange(2, dtype="i4")})
    with pytest.raises(zrecord.SchemaMismatchError, match="Field 'v' was not in the first batch"):
        zrecord.create(strict.with_name("x"), iter([lacking, good()]))
    assert not (strict.with_name("x") / "manifest").exists()


def test_wrong_arguments_are_named(strict: Path, tmp_path: Path) -> None:
    with pytest.raises(zrecord.DatasetExistsError, match="there is a table") as e:
        zrecord.create(strict, good())
    assert e.value.resource == str(strict)
    with pytest.raises(ValueError, match="mode is 'w'; it must be one of create, append, overwrite"):
        zrecord.writer(strict, "w")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Field 'x' has the type 'int' in the schema"):
        zrecord.create(tmp_path / "n", {"x": [1]}, schema={"x": "int"})
    with pytest.raises(ValueError, match="alignBytes is 7; it must be a power of two"):
        zrecord.create(tmp_path / "n", {"x": [1]}, align_bytes=7)
    with pytest.raises(ValueError, match="transaction is 'x'"):
        zrecord.append(strict, good(), transaction="x")
    (tmp_path / "file").write_text("")
    with pytest.raises(zrecord.ZrecordError):
        zrecord.create(tmp_path / "file", good())
    assert not (tmp_path / "n").exists()


def test_values_are_aligned(path: Path) -> None:
    zrecord.create(path, {"page": np.arange(8 * 512, dtype=np.float64).reshape(8, 512)}, align_bytes=4096)
    page = zrecord.open(path)["page"][3]
    assert page.ctypes.data % 4096 == 0 and page[0] == 3 * 512


def test_a_writer_commits_at_the_end_and_when_it_is_told(path: Path) -> None:
    with zrecord.writer(path, "create") as w:
        for i in range(5):
            w.write({"x": np.full(10, i)})
        assert not (path / "manifest").exists()
        first = w.commit()
        assert first is not None and (first.version, first.length, first.records) == (0, 50, 50)
        w.write([{"x": 7}])
    assert w.committed is not None and (w.committed.version, w.committed.length) == (1, 51)
    with pytest.raises(ValueError, match="was closed"):
        w.write([{"x": 7}])
    with zrecord.writer(path) as w:
        pass
    assert w.committed is None and zrecord.open(path).version == 1


def test_a_writer_aborts_by_an_exception(path: Path) -> None:
    zrecord.create(path, {"x": np.arange(3)})
    with pytest.raises(RuntimeError, match="stop"), zrecord.writer(path) as w:
        w.write({"x": np.arange(100_000)})
        raise RuntimeError("stop")
    with zrecord.writer(path) as w:
        w.write({"x": np.arange(100_000)})
        w.abort()
    forgotten = zrecord.writer(path)
    forgotten.write({"x": np.arange(100_000)})
    del forgotten
    # Frames are served in turn, so what was forgotten has ended.
    assert zrecord.verify(path).sound
    assert zrecord.open(path).version == 0 and len(list((path / "shard").iterdir())) == 1


def test_two_writers_take_turns(path: Path) -> None:
    zrecord.create(path, {"x": np.arange(3)})
    with zrecord.writer(path) as a, zrecord.writer(path) as b:
        for i in range(10):
            a.write({"x": np.full(1000, i)})
            b.write({"x": np.full(1000, -i)})
    assert len(zrecord.open(path)) == 20_003
    assert zrecord.verify(path).sound


@pytest.mark.parametrize(
    ("values", "type_", "wanted"),
    [
        ([np.datetime64("NaT"), np.datetime64("2020-01-02")], "date", np.array(["NaT", "2020-01-02"], "M8[D]")),
        ([np.datetime64("NaT"), np.datetime64(5, "us")], "timestamp_ntz", np.array(["NaT", 5], "M8[us]")),
    ],
)
def test_no_time_in_a_list_is_absent(values: list[Any], type_: str, wanted: Any, path: Path) -> None:
    for number, schema in enumerate([{"x": type_}, None]):
        zrecord.create(path / str(number), {"x": values}, schema=schema)
        x = zrecord.open(path / str(number))["x"]
        assert x.validity(slice(0, 2)).tolist() == [False, True]
        assert x[1] == wanted[1]


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (np.datetime64("2020-01-01T05"), "date"),
        (np.datetime64(2**40, "D"), "date"),
        (np.datetime64(1, "ns"), "timestamp_ntz"),
        (np.datetime64(2**62, "s"), "timestamp_ntz"),
        (2**53 + 1, "f64"),
        (10**400, "f64"),
        ([[1], [2, 3]], "i64[-1,2]"),
    ],
)
def test_values_of_lists_are_exact_or_refused(value: Any, type_: str, path: Path) -> None:
    with pytest.raises(ValueError, match="Field 'x'"):
        zrecord.create(path, {"x": [value]}, schema={"x": type_})
    assert not (path / "manifest").exists()


@pytest.mark.parametrize("unit", ["D", "us", "s"])
def test_masked_times_are_absent(unit: Any, path: Path) -> None:
    zrecord.create(path, {"x": np.ma.masked_array(np.array([1, 2], f"M8[{unit}]"), [True, False])})
    x = zrecord.open(path)["x"]
    assert x.validity(slice(0, 2)).tolist() == [False, True] and x[1] == np.datetime64(2, unit)


@pytest.mark.parametrize("values", [{3, 1, 2}, {"a": 1, "b": 2}, frozenset([1])])
def test_values_without_an_order_are_refused(values: Any, path: Path) -> None:
    with pytest.raises(ValueError, match=r"Field 'x' is a .*no order"):
        zrecord.create(path, {"x": values})


def test_options_that_are_no_texts_are_named_without_any_value(path: Path) -> None:
    options: Any = {"secretKey": "hunter2", "pathStyle": True}
    for call in (
        lambda: zrecord.create(path, {"x": [1]}, engine_options=options),
        lambda: zrecord.tag(path, "good", engine_options=options),
    ):
        with pytest.raises(TypeError, match="'pathStyle' is a bool") as e:
            call()
        assert "hunter2" not in str(e.value)


def test_a_column_of_lists_that_was_forgotten_is_named_and_records_may_lack_it(path: Path) -> None:
    zrecord.create(path, {"x": [1], "y": [2]})
    with pytest.raises(zrecord.SchemaMismatchError, match=r"Field 'y' of .* is missing"):
        zrecord.append(path, {"x": [3]})
    zrecord.append(path, [{"x": 3}])
    assert zrecord.open(path)["y"].validity(slice(0, 2)).tolist() == [True, False]

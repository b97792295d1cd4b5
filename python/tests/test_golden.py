"""What the engine wrote, by the same file of values that the engine's tests read."""

from __future__ import annotations

import re
import struct
import uuid
import zlib
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN, ROOT, read_vectors
from zrecord import FieldSpec, _crc32c
from zrecord._binding import Binding, Kind
from zrecord._open import Verify

FORMATS = {
    "bool": "?",
    "i8": "b",
    "u8": "B",
    "i16": "h",
    "u16": "H",
    "i32": "i",
    "u32": "I",
    "i64": "q",
    "u64": "Q",
    "f16": "e",
    "bf16": "H",
    "f32": "f",
    "f64": "d",
    "date": "i",
    "timestamp": "q",
    "timestamp_ntz": "q",
}


def expected(spec: FieldSpec, value: bytes) -> Any:
    """A value in terms of the standard library, as nested lists."""
    if spec.dtype == "bytes":
        return value
    if spec.dtype == "utf8":
        return value.decode()
    if spec.scale is not None:
        return Decimal(f"{int.from_bytes(value, 'little', signed=True)}E-{spec.scale}")
    letter = FORMATS[spec.dtype]
    elements = list(struct.unpack(f"<{len(value) // struct.calcsize(letter)}{letter}", value))
    if not spec.shape:
        return elements[0]
    step = int(np.prod(spec.shape[1:]))
    return [elements[i : i + step] for i in range(0, len(elements), step)] if len(spec.shape) > 1 else elements


def as_python(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.astype(np.int64).tolist() if value.dtype.kind == "M" else value.tolist()
    return value


def same(a: Any, b: Any) -> bool:
    return repr(a) == repr(b) if not isinstance(a, Decimal) else a == b


@pytest.mark.parametrize("verify", ["first", "always", "never"])
@pytest.mark.parametrize(
    "file",
    [
        "v2-values.json",
        "v2-blocks-values.json",
        "v2-patches-values.json",
        "v2-carried-values.json",
        "v2-moved-values.json",
        "v2-replaced-values.json",
        "v2-rewritten-2-values.json",
        "v2-rewritten-3-values.json",
        "v2-rewritten-4-values.json",
        "v2-units-values.json",
    ],
)
def test_every_field_has_the_values_of_the_vectors(file: str, verify: Verify) -> None:
    vectors = read_vectors(file)
    dataset = zrecord.open(GOLDEN / vectors["dataset"], version=vectors["version"], verify=verify)
    assert list(dataset.fields) == list(vectors["values"])
    records = vectors["records"]
    for name, values in vectors["values"].items():
        spec, field = dataset.fields[name], dataset[name]
        wanted = [None if v is None else expected(spec, bytes.fromhex(v)) for v in values]
        assert field.validity(records).tolist() == [v is not None for v in values]
        gathered, ranges = field[records], [field[i : i + 1] for i in records]
        for k, i in enumerate(records):
            single = field[i]
            assert same(as_python(single), wanted[k]), (name, i)
            if wanted[k] is not None:
                for value in (gathered[k], ranges[k][0], field[i - len(field)], field[[i]][0]):
                    assert same(as_python(value), wanted[k]), (name, i)
            elif isinstance(gathered, np.ndarray):
                assert not any(gathered[k].tobytes()), (name, i)
            else:
                assert gathered[k] is None


def test_decimals_are_exact_whatever_the_context(vectors: dict[str, Any]) -> None:
    field = zrecord.open(GOLDEN / vectors["dataset"])["decimal(38,10)"]
    with localcontext() as context:
        context.prec = 3
        found = field[vectors["records"]]
    for value, raw in zip(found, vectors["values"]["decimal(38,10)"]):
        if raw is not None:
            assert value.as_tuple().exponent == -10
            assert int(str(value).replace(".", "")) == int.from_bytes(bytes.fromhex(raw), "little", signed=True)


def test_a_table_has_versions() -> None:
    unchecked = zrecord.open(GOLDEN / "v2" / "unchecked")
    assert (len(unchecked), unchecked.version) == (40, 0)
    table = zrecord.open(GOLDEN / "v2" / "table")
    assert (len(table), table.version) == (120, 3)
    assert len(zrecord.open(GOLDEN / "v2" / "table", version=1)) == 120
    for name in unchecked.fields:
        assert same(as_python(unchecked[name][7]), as_python(table[name][7]))
    with pytest.raises(zrecord.NotADatasetError, match=r"version 4 of .*: the versions are 0, 1 to 3"):
        zrecord.open(GOLDEN / "v2" / "table", version=4)


def test_what_a_store_left_has_the_same_values() -> None:
    entries, runs = zrecord.open(GOLDEN / "v2" / "entries"), zrecord.open(GOLDEN / "v2" / "unchecked")
    assert list(entries.fields) == list(runs.fields)
    for name in runs.fields:
        assert entries[name].validity().tolist() == runs[name].validity().tolist()
        for i in range(40):
            assert same(as_python(entries[name][i]), as_python(runs[name][i])), (name, i)


def test_a_shard_is_no_dataset() -> None:
    (shard,) = (GOLDEN / "v2" / "unchecked" / "shard").iterdir()
    with pytest.raises(zrecord.NotADatasetError, match="neither the manifest of a version nor"):
        zrecord.open(shard)


@pytest.mark.parametrize(
    ("name", "ids", "texts"),
    [
        ("clean", [1, 4, None], ["uno", "four", ""]),
        ("replay", [7, 2, 3], ["one", None, "three"]),
        ("torn", [1, 2, 3], ["one", None, "three"]),
    ],
)
def test_a_store_is_what_its_journal_says(name: str, ids: list[int | None], texts: list[str | None]) -> None:
    store = zrecord.open(GOLDEN / "v2-stores" / name)
    assert [as_python(store["id"][i]) for i in range(len(store))] == ids
    assert [store["text"][i] for i in range(len(store))] == texts


def test_a_tagged_version_below_the_floor_is_read_by_its_copy() -> None:
    table = GOLDEN / "v2" / "table"
    assert not (table / "manifest" / f"{0:020d}.json").exists()
    tagged, newest = zrecord.open(table, version=0), zrecord.open(table)
    assert (tagged.version, len(tagged)) == (0, 40)
    for name in set(tagged.fields) & set(newest.fields):
        assert same(as_python(tagged[name][7]), as_python(newest[name][7])), name


def test_care_keeps_the_records() -> None:
    care = GOLDEN / "v2-versions" / "care"
    newest = zrecord.open(care)
    assert (newest.version, newest["value"][:].tolist()) == (9, [*range(20)])
    for version in range(10):
        assert zrecord.open(care, version=version)["value"][:].tolist() == [*range(20 if version else 10)], version


def test_a_table_is_created_after_a_creation_was_taken_back() -> None:
    table = GOLDEN / "v2-versions" / "created-again"
    assert (table / "manifest" / f"{1:020d}.json").exists()
    dataset = zrecord.open(table)
    assert (dataset.version, dataset["value"][:].tolist()) == (2, [*range(10)])
    for version in (0, 1):
        with pytest.raises(zrecord.NotADatasetError, match=rf"version {version} of .*: it was expired; the versions are 2$"):
            zrecord.open(table, version=version)


def test_a_table_is_created_after_a_drop() -> None:
    dataset = zrecord.open(GOLDEN / "v2-versions" / "dropped")
    assert (dataset.version, dataset["value"][:].tolist()) == (3, [*range(10)])


def test_checksums_need_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy computes what the library does, and the golden files hold."""
    import google_crc32c as library

    random = budget.random()
    pieces = [random.integers(0, 256, n, dtype=np.uint8) for n in [*range(70), 784, 4095, 65536, 70001]]
    with_library = _crc32c.crc32c_each(pieces).tolist()
    assert with_library == [library.value(piece.tobytes()) for piece in pieces]
    monkeypatch.setattr(_crc32c, "_library", None)
    assert _crc32c.crc32c_each(pieces).tolist() == with_library
    assert _crc32c.crc32c(b"123456789") == 0xE3069283  # RFC 3720's polynomial, the usual check value
    dataset = zrecord.open(GOLDEN / "v2" / "table", verify="always")
    for name in dataset.fields:
        dataset[name][:]


def test_bound_checksums_are_those_of_the_page() -> None:
    page = (ROOT / "docs" / "spec" / "FORMAT.md").read_text(encoding="utf-8")
    owner = re.search(r"Examples for the uuid `([-0-9a-f]{36})`", page)
    assert owner is not None
    word = "`([0-9a-f]{8})`"
    rows = re.findall(rf"^\| (\d+) \| (\d+) \| (\d+) \| (?:`([0-9a-f]+)`)? *\| {word} \| {word} \| {word} \|$", page, re.M)
    assert len(rows) == 6
    for field, kind, unit, data, crc, of_binding, bound in rows:
        found = _crc32c.crc32c(bytes.fromhex(data))
        mask = Binding(uuid.UUID(owner[1]), int(field)).of(Kind(int(kind)), int(unit))
        assert [f"{x:08x}" for x in (found, mask, found ^ mask)] == [crc, of_binding, bound]


def test_the_bindings_of_many_units_are_those_of_their_bytes() -> None:
    random = budget.random()
    owner = uuid.UUID(bytes=random.bytes(16))
    units = random.integers(0, 2**63, 1000, dtype=np.int64) >> random.integers(0, 63, 1000)
    kinds = random.choice([int(kind) for kind in Kind], 1000)
    found = Binding(owner, 7).of_each(kinds, units).tolist()
    for mask, kind, unit in zip(found, kinds.tolist(), units.tolist()):
        parts = (7).to_bytes(4, "little"), kind.to_bytes(4, "little"), unit.to_bytes(8, "little")
        assert mask == _crc32c.crc32c(owner.bytes + b"".join(parts))


def test_what_is_no_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(zrecord.NotADatasetError, match="no such directory"):
        zrecord.open(tmp_path / "nothing")
    with pytest.raises(zrecord.NotADatasetError, match=r"neither the manifest of a version nor a file 'meta.json'"):
        zrecord.open(tmp_path)
    (tmp_path / "manifest").mkdir()
    (tmp_path / "manifest" / f"{0:020d}.json.damaged").touch()
    with pytest.raises(zrecord.NotADatasetError, match="neither the manifest of a version"):
        zrecord.open(tmp_path)
    with pytest.raises(ValueError, match="verify is 'often'; expected one of first, always, never"):
        zrecord.open(GOLDEN / "v2" / "table", verify="often")  # type: ignore[arg-type]


def test_a_missing_codec_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from zrecord import _codecs

    for known in (_codecs.decoder, _codecs.decompressor):
        known.cache_clear()
    for codec, module in (("zstd", "zstandard"), ("lz4", "lz4.block")):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        with pytest.raises(zrecord.MissingExtraError, match=rf"zrecord\[{codec}\]"):
            zrecord.open(GOLDEN / "v2" / "table")[f"{codec}-{3 if codec == 'zstd' else 0}"][80:]
    for known in (_codecs.decoder, _codecs.decompressor):
        known.cache_clear()


@pytest.mark.parametrize("codec", ["zstd", "lz4", "flate"])
def test_threads_share_decoders(codec: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    import lz4.block
    import zstandard

    from zrecord._codecs import decoder

    deflater = zlib.compressobj(wbits=-15)
    value = bytes(range(256)) * 64
    compressed: bytes = {
        "zstd": zstandard.ZstdCompressor().compress(value),
        "lz4": lz4.block.compress(value, store_size=False),
        "flate": deflater.compress(value) + deflater.flush(),
    }[codec]
    stored = len(value).to_bytes(4, "little") + compressed
    decode = decoder(codec)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda _: all(decode(stored) == value for _ in range(200)), range(16)))


def test_an_index_map_is_read_as_an_array() -> None:
    dataset = zrecord.open(GOLDEN / "v2-index-map")
    assert dataset.index_map is not None
    new_index = dataset.index_map[:]
    assert new_index.tolist() == [1, 2, 0, 4, 5, 3, 7, 8, 6, 9]  # not its own inverse
    assert dataset["value"][new_index].tolist() == list(range(10))
    assert zrecord.open(GOLDEN / "v2-index-map", version=0).index_map is None


def test_a_table_of_a_later_release_is_read_without_its_unknown_field() -> None:
    dataset = zrecord.open(GOLDEN / "v2-later")
    assert list(dataset.fields) == ["near"]
    assert dataset["near"][:].tolist() == [3 * i for i in range(20)]
    with pytest.raises(zrecord.FormatError, match=r"field 'far' .* uses the feature 'dtype f8_e4m3'"):
        dataset["far"]


def test_lists_of_lists_and_partitions() -> None:
    dataset = zrecord.open(GOLDEN / "v2-lists")
    assert len(dataset) == 15
    assert dataset["value"][:].tolist() == [*range(15)]
    assert [dataset["kind"][i] for i in (0, 3, 6, 9, 12)] == ["a", '"é"\n', None, "", "b"]

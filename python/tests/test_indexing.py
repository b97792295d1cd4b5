"""Fields are indexed as NumPy arrays are: every answer is compared with that of an array."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN, Once
from zrecord import _dense
from zrecord._open import Verify

RECORDS = 3000


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray[Any, Any]]:
    random = budget.random()
    return {
        "image": random.integers(0, 256, (RECORDS, 28, 28), dtype=np.uint8),
        "label": random.integers(-100, 100, RECORDS, dtype=np.int64),
        "weight": random.random((RECORDS, 3)),
        "flag": random.integers(0, 2, RECORDS).astype(bool),
    }


@pytest.fixture(scope="module")
def dataset(arrays: dict[str, Any], command_line: Path, once: Once) -> zrecord.Dataset:
    return zrecord.open(once("converted", lambda directory: zrecord.create(directory / "train", arrays)) / "train")


KEYS: list[Any] = [
    0,
    -1,
    RECORDS - 1,
    np.int32(7),
    np.uint64(9),
    slice(None),
    slice(5, 50),
    slice(None, None, -7),
    slice(10, 10),
    slice(2990, 5000, 3),
    [5, 1, 5],
    [],
    [-1, 0, -RECORDS],
    np.array([3, 2, 1], np.uint8),
    np.array([[1, 2, 3], [4, 5, 6]]),
    np.array(4),
    range(20, 10, -2),
    np.arange(RECORDS) % 3 == 0,
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: repr(key)[:30])
def test_answers_are_those_of_arrays(dataset: zrecord.Dataset, arrays: dict[str, Any], key: Any) -> None:
    for name, array in arrays.items():
        field = dataset[name]
        assert (len(field), field.shape, field.dtype, field.ndim) == (RECORDS, array.shape, array.dtype, array.ndim)
        found = field[key]
        wanted = array[list(key)] if isinstance(key, range) else array[key]
        assert np.array_equal(found, wanted), name
        assert found.shape == wanted.shape and found.dtype == wanted.dtype, name


def test_random_keys_give_the_answers_of_arrays(dataset: zrecord.Dataset, arrays: dict[str, Any]) -> None:
    random = budget.random(1)
    for _ in range(budget.of(200)):
        start, stop = random.integers(-RECORDS - 10, RECORDS + 10, 2).tolist()
        step = int(random.integers(1, 9)) * (-1 if random.random() < 0.5 else 1)
        indices = random.integers(-RECORDS, RECORDS, random.integers(0, 300))
        for key in (slice(start, stop, step), indices):
            for name, array in arrays.items():
                assert np.array_equal(dataset[name][key], array[key]), (name, key)


@pytest.mark.parametrize("key", [RECORDS, -RECORDS - 1, [0, RECORDS], np.array([-RECORDS - 1]), np.array([2**63], np.uint64)])
def test_out_of_range_is_an_index_error_that_says_so(dataset: zrecord.Dataset, key: Any) -> None:
    with pytest.raises(IndexError, match=rf"Index -?\d+ is out of range for field 'image' of .*, which has {RECORDS} records"):
        dataset["image"][key]


@pytest.mark.parametrize("key", [1.5, "x", [1.5], (0, 1, 2, 3), None, np.zeros(5, bool), np.zeros(3)])
def test_what_is_no_index_is_refused(dataset: zrecord.Dataset, key: Any) -> None:
    with pytest.raises((IndexError, TypeError)):
        dataset["image"][key]


def test_slices_of_a_run_are_views_and_read_only(dataset: zrecord.Dataset) -> None:
    first, second = dataset["image"][10:20], dataset["image"][15:30:2]
    assert not first.flags.writeable and not first.flags.owndata
    assert np.shares_memory(first, second)
    assert np.shares_memory(dataset["image"][11], first)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    gathered = dataset["image"][[10, 11]]
    gathered[0] = 0  # a copy
    assert dataset["image"][10].any()


def test_views_outlive_the_dataset(arrays: dict[str, Any], dataset: zrecord.Dataset) -> None:
    view = zrecord.open(dataset.path)["image"][3:2000]
    assert np.array_equal(view, arrays["image"][3:2000])


def test_datasets_give_records_and_batches(dataset: zrecord.Dataset, arrays: dict[str, Any]) -> None:
    assert len(dataset) == RECORDS and "image" in dataset and "x" not in dataset
    assert list(dataset.fields) == list(arrays)
    assert dataset.fields["image"].shape == (28, 28) and dataset.fields["image"].codec == "raw"
    record = dataset[7]
    assert record["label"] == arrays["label"][7] and np.array_equal(record["image"], arrays["image"][7])
    for batch in (dataset[[5, 1, 5]], dataset.gather([5, 1, 5])):
        assert list(batch) == list(arrays)
        assert np.array_equal(batch["image"], arrays["image"][[5, 1, 5]])
    assert list(dataset.gather(slice(0, 2), ["label"])) == ["label"]
    with pytest.raises(KeyError, match="no field 'x'; it has image, label, weight, flag"):
        dataset["x"]


def test_numpy_takes_fields_for_arrays(dataset: zrecord.Dataset, arrays: dict[str, Any]) -> None:
    assert np.array_equal(np.asarray(dataset["label"]), arrays["label"])
    assert np.array(zrecord.open(GOLDEN / "v2" / "table")["utf8"]).shape == (120,)


def test_pickles_open_the_same_version(dataset: zrecord.Dataset) -> None:
    table = zrecord.open(GOLDEN / "v2" / "table", version=0)
    again = pickle.loads(pickle.dumps(table))
    assert (again.version, len(again)) == (0, 40)
    assert np.array_equal(pickle.loads(pickle.dumps(dataset))["image"][:5], dataset["image"][:5])


def test_lists_need_indices_of_one_dimension() -> None:
    with pytest.raises(IndexError, match="makes lists"):
        zrecord.open(GOLDEN / "v2" / "table")["utf8"][np.array([[1, 2]])]


@pytest.mark.parametrize("verify", ["first", "always", "never"])
def test_shards_are_opened_by_many_threads(verify: Verify) -> None:
    """Gathers over runs of three shards, of which each thread finds others open already."""
    wanted = zrecord.open(GOLDEN / "v2" / "table")["i64"][:]
    for table in range(budget.of(20)):
        dataset = zrecord.open(GOLDEN / "v2" / "table", verify=verify)

        def gather(thread: int, table: int = table, dataset: zrecord.Dataset = dataset) -> None:
            random = budget.random(table, thread)
            for _ in range(20):
                indices = random.integers(0, 120, random.integers(1, 4))
                assert np.array_equal(dataset["i64"][indices], wanted[indices])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(gather, range(4)))


def test_wide_values_are_gathered_too(command_line: Path, tmp_path: Path) -> None:
    wide = budget.random().integers(0, 256, (5, (1 << 20) + 3), dtype=np.uint8)
    zrecord.create(tmp_path / "wide", {"data": wide})
    field = zrecord.open(tmp_path / "wide")["data"]
    assert np.array_equal(field[[4, 0, 4]], wide[[4, 0, 4]])


@pytest.mark.parametrize("align_bytes", [64, 4096])
def test_views_of_an_aligned_table_are_aligned(align_bytes: int, command_line: Path, tmp_path: Path) -> None:
    random = budget.random()
    arrays = {
        "label": random.integers(0, 9, 1003, np.int16),
        "page": random.random((1003, 512)).astype(np.float64),
        "wide": random.random((1003, 196)).astype(np.float32),
    }
    zrecord.create(tmp_path / "aligned", arrays, align_bytes=align_bytes)
    data = zrecord.open(tmp_path / "aligned")
    for record in range(0, 1003, 7):
        page = data["page"][record]
        assert page.flags.aligned and not page.flags.owndata
        assert page.ctypes.data % align_bytes == 0
    assert data["wide"][:10].ctypes.data % align_bytes == 0
    for name, array in arrays.items():
        assert np.array_equal(data[name][:], array)


@pytest.mark.parametrize("most_buckets", [0, 1 << 20])
def test_runs_are_found_whatever_their_lengths(most_buckets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By buckets and by search, in shards of one run each, as no shard is open."""
    monkeypatch.setattr(_dense, "_MAX_BUCKETS", most_buckets)
    random = budget.random()
    for _ in range(budget.of(200)):
        lengths = random.integers(1, random.choice([2, 3, 10, 1000]) + 1, random.integers(1, 30))
        starts = np.append(0, np.cumsum(lengths))
        dense = _dense.Dense([None] * lengths.size, starts, 4)
        assert (dense._bucket_run is None) == (most_buckets == 0)
        assert dense.runs(np.arange(starts[-1])).tolist() == np.repeat(np.arange(lengths.size), lengths).tolist()


def test_threads_that_open_fields_at_once_get_their_values(dataset: zrecord.Dataset, arrays: dict[str, Any]) -> None:
    path = dataset.path
    rows = np.arange(0, RECORDS, 17)
    for _ in range(budget.of(100)):
        fresh = zrecord.open(path)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda name, data=fresh: (name, data[name][rows]), list(arrays) * 2))
        for name, values in found:
            assert np.array_equal(values, arrays[name][rows])

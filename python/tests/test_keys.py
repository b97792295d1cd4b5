"""What fields and datasets are indexed by: the tuples and ellipses of NumPy, whole numbers of any library, and names."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import zrecord
import zrecord.torch
from tests import budget
from tests.conftest import GOLDEN
from zrecord import samplers
from zrecord._indexing import is_index

TABLE = GOLDEN / "v2" / "table"
Array = np.ndarray[Any, Any]


class Number:
    """A whole number of another library."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __index__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"Number({self._number})"


@pytest.fixture(scope="module")
def data() -> zrecord.Dataset:
    return zrecord.open(TABLE)


KEYS: list[Any] = [
    ...,
    (),
    (...,),
    (..., 0),
    (slice(1, 5), 2),
    (slice(1, 5), ..., 2),
    (slice(None, None, -7), 1, slice(None, None, 2)),
    ([3, 1], slice(None), 0),
    ([3, 1], 0, slice(None)),
    ([3, 1], [0, 2]),
    ([3, 1], [0, 2], [4, 4]),
    ([3, 1], [0, 2], slice(1, 3)),
    ([3, 1], slice(None), [4, 0]),
    ([[3], [1]], [0, 2]),
    ([[3, 1], [5, 5]], 0),
    ([3, 1], ..., None),
    (slice(2), None, 1),
    (np.arange(120) % 3 == 0, 1),
    (np.arange(120) < 3, slice(None), [True, False, True, False, True]),
    (..., [True, False, True], slice(None)),
    (slice(0, 2), [[True, False, False, False, True]] * 3),
    (range(7, 4, -1), -1, -1),
    (np.array([2, 1], np.uint8), np.int16(2)),
    ([], 0),
    (slice(3, 3), ..., 0),
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: repr(key)[:40])
def test_tuples_and_ellipses_mean_what_they_mean_to_an_array(data: zrecord.Dataset, key: Any) -> None:
    array = data["image"][:]
    plain = tuple(list(part) if isinstance(part, range) else part for part in key) if isinstance(key, tuple) else key
    found, wanted = data["image"][key], array[plain]
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert np.array_equal(found, wanted)


def test_random_tuples_mean_what_they_mean_to_an_array(data: zrecord.Dataset) -> None:
    field, array = data["image"], data["image"][:]
    present = np.flatnonzero(field.validity())
    random = budget.random()

    def part(length: int) -> Any:
        kind = random.integers(5)
        if kind == 0:
            return int(random.integers(-length, length))
        if kind == 1:
            start, stop = random.integers(-length - 1, length + 1, 2).tolist()
            return slice(start, stop, int(random.choice([-2, -1, 1, 3])))
        if kind == 2:
            return random.random(length) < 0.5
        return random.integers(-length, length, 4) if kind == 3 else None

    tried = 0
    for _ in range(budget.of(3000)):
        records = part(120)
        if records is None:
            records = int(random.choice(present))
        elif isinstance(records, int):
            records = int(random.choice(present)) - 120
        key = (records, *(part(length) for length in (3, 5)[: random.integers(3)]))
        try:
            wanted = array[key]
        except IndexError:  # shapes that do not fit together
            with pytest.raises(IndexError):
                field[key]
            continue
        tried += 1
        assert np.array_equal(field[key], wanted) and np.shape(field[key]) == wanted.shape, key
    assert tried > budget.of(1000)


def test_one_record_of_a_tuple_is_none_if_it_is_absent(data: zrecord.Dataset) -> None:
    field = data["image"]
    absent, present = (int(np.flatnonzero(field.validity() == flag)[0]) for flag in (False, True))
    assert field[absent, 0] is None and field[absent, ..., 1] is None
    assert np.array_equal(field[present, 0], field[present][0])
    assert field[present, 1, -1] == field[present][1, -1]
    assert np.array_equal(field[present, :, [0, 1]], field[:][present, :, [0, 1]])


@pytest.mark.parametrize(
    ("name", "key", "message"),
    [
        ("image", (0, 0, 0, 0), "field 'image' of .* has 3 dimensions, but 4 are indexed"),
        ("image", (..., 0, ...), "2 ellipses"),
        ("image", None, "no new axis before its records|indexed by integers"),
        ("image", (None, 0), "no new axis before its records"),
        ("image", np.zeros((120, 3), bool), r"has the shape \(120,\), one flag for each record, not \(120, 3\)"),
        ("image", True, "A mask for field 'image'"),
        ("image", (True, 0), "A mask for field 'image'|is indexed"),
        ("i64", (0, 0), "has 1 dimensions, but 2 are indexed"),
        ("utf8", (0, 0), "makes lists: it has 1 dimensions, but 2 are indexed"),
        ("utf8", (0, None), "makes lists, which take no new axis"),
        ("points", (0, 0), "makes lists"),
        ("image", (1.5, 0), "is indexed by integers"),
    ],
)
def test_what_no_array_takes_is_refused_with_the_name_of_the_field(
    data: zrecord.Dataset, name: str, key: Any, message: str
) -> None:
    with pytest.raises(IndexError, match=message):
        data[name][key]


def test_fields_of_lists_take_an_ellipsis(data: zrecord.Dataset) -> None:
    assert data["utf8"][...] == data["utf8"][:] == data["utf8"][(slice(None), ...)]
    assert data["utf8"][([5, 1],)] == data["utf8"][[5, 1]]
    assert data["utf8"].validity(...).tolist() == data["utf8"].validity().tolist()


@pytest.mark.parametrize("number", [5, np.int64(5), np.uint8(5), np.array(5), Number(5)], ids=repr)
def test_any_whole_number_means_one_record(data: zrecord.Dataset, number: Any) -> None:
    wanted = data["i32"][5]
    assert is_index(number)
    assert data["i32"][number] == data["i32"].gather(number) == data[number]["i32"] == wanted
    assert list(data.gather(number)) == list(data.fields)
    assert data.gather(number, ["i32"]) == {"i32": wanted}
    assert np.array_equal(data["image"][number, 1], data["image"][5, 1])


@pytest.mark.parametrize("key", [True, np.bool_(True), 5.0, "5", None, [5], np.array([5])], ids=repr)
def test_what_is_no_whole_number_means_no_record(key: Any) -> None:
    assert not is_index(key)


def test_datasets_take_an_ellipsis_for_all_records(data: zrecord.Dataset) -> None:
    assert np.array_equal(data[...]["image"], data["image"][:])
    assert np.array_equal(data.gather(..., ["image"])["image"], data["image"][:])


def test_a_text_is_no_list_of_names(data: zrecord.Dataset) -> None:
    takes: list[Any] = [
        lambda names: data.gather([0], names),
        lambda names: data.gather(0, names),
        lambda names: data.select(names),
        lambda names: data.where(lambda batch: batch["i8"] > 0, names),
        lambda names: data.to_batches(names),
        lambda names: data.to_torch(names),
        lambda names: zrecord.torch.Dataset(TABLE, names),
    ]
    for take in takes:
        with pytest.raises(ValueError, match=r"fields is the text 'i8', which is not a list; give \['i8'\]"):
            take("i8")
    with pytest.raises(ValueError, match="fields has 5, which is not the name of a field"):
        data.gather([0], [5])  # type: ignore[list-item]
    assert list(data.gather([0], (name for name in ("i16", "i8")))) == ["i16", "i8"]


def test_samplers_take_the_whole_numbers_of_numpy() -> None:
    wanted = samplers.shuffle(100, 42, 3, 10, 20)
    for kind in (np.int64, np.uint32, Number):
        given = [kind(number) for number in (100, 42, 3, 10, 20)]
        assert np.array_equal(samplers.shuffle(*given), wanted)
        assert np.array_equal(samplers.Shuffle(kind(100), kind(42)).indices(kind(3), kind(10), kind(20)), wanted)
        batches = zrecord.torch.BatchSampler(kind(100), kind(7), seed=kind(42), rank=kind(1), world_size=kind(2), epochs=kind(1))
        assert np.array_equal(next(iter(batches)), samplers.Shuffle(100, 42).share(1, 2).indices(0, 0, 7))


def test_a_pickled_field_reads_the_same_version() -> None:
    old = zrecord.open(TABLE, version=0)
    again = pickle.loads(pickle.dumps(old["image"]))
    assert again.shape == (40, 3, 5) and np.array_equal(again[:], old["image"][:])
    assert np.array_equal(copy.deepcopy(old["image"])[:], old["image"][:])
    index_map = zrecord.open(GOLDEN / "v2-index-map").index_map
    assert index_map is not None
    assert np.array_equal(pickle.loads(pickle.dumps(index_map))[:], index_map[:])


def test_an_array_without_a_copy_is_one_or_refused(data: zrecord.Dataset) -> None:
    field = data["i64"]
    assert np.array_equal(field.__array__(copy=False), field[:])
    assert field.__array__(np.float64).dtype == np.float64
    copied = field.__array__(copy=True)
    copied[0] = 7
    with pytest.raises(ValueError, match="without a copy"):
        field.__array__(np.int32, copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        data["utf8"].__array__(copy=False)


@pytest.mark.parametrize(
    "key", [(slice(None, None, 2), [0, 2, 1], ..., [1, 2, 4]), (slice(0, 4), 1, ..., [0, 0, -1]), (..., [5, 3], [0, 1], 2)]
)
def test_arrays_on_both_sides_of_an_ellipsis_come_first(data: zrecord.Dataset, key: Any) -> None:
    image = data["image"]
    wanted = np.asarray(image)[key]
    assert image[key].shape == wanted.shape and np.array_equal(image[key], wanted)
    reversed_part = data.take(slice(None, None, -1))["image"]
    assert np.array_equal(reversed_part[key], np.asarray(image)[::-1][key])

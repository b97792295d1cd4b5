"""Parts of datasets, and a dataset as a sequence of records and as a mapping of fields."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.tables import edit, manifest_of
from tests.values import exact
from zrecord import _dataset, samplers
from zrecord._schema import FieldSpec
from zrecord._source import ShardSource
from zrecord.torch import BatchSampler

if TYPE_CHECKING:
    from tests.remotes import ScriptedFileSystem

TABLE = GOLDEN / "v2" / "table"
SOME = ("i64", "image", "points", "utf8", "decimal(9,2)", "date", "bool")


@pytest.fixture(scope="module")
def data() -> zrecord.Dataset:
    return zrecord.open(TABLE)


KEYS: list[Any] = [
    slice(None),
    ...,
    slice(5, 50),
    slice(None, None, -7),
    slice(100, None, -1),
    slice(10, 10),
    slice(90, 500, 3),
    [5, 1, 5],
    [],
    [-1, 0, -120],
    range(20, 10, -2),
    np.arange(120) % 3 == 0,
]


def same(part: zrecord.Dataset, data: zrecord.Dataset, indices: list[int]) -> None:
    """Requires that each way to read a part gives the records at indices."""
    assert len(part) == len(indices) and part.indices.tolist() == indices
    for name in SOME:
        field, whole = part[name], data[name]
        assert (len(field), field.shape[1:], field.dtype) == (len(indices), whole.shape[1:], whole.dtype)
        wanted = exact(whole[indices])
        assert exact(field[:]) == wanted and exact(field[::-1]) == exact(whole[indices[::-1]])
        assert field.validity().tolist() == whole.validity(indices).tolist()
        if indices:
            assert exact(field[[-1, 0]]) == exact(whole[[indices[-1], indices[0]]])
            assert exact(field[-1]) == exact(whole[indices[-1]])
            absent = field.absent(np.arange(len(indices)))
            assert absent is None or absent.tolist() == (~whole.validity(indices)).tolist()
    for i, record in zip(indices, part, strict=True):
        assert exact(list(record.values())) == exact(list(data[i].values()))


@pytest.mark.parametrize("key", KEYS, ids=lambda key: repr(key)[:30])
def test_a_part_has_the_records_at_a_key(data: zrecord.Dataset, key: Any) -> None:
    every = np.arange(120)
    same(data.take(key), data, every[list(key) if isinstance(key, range) else key].astype(int).tolist())


def test_parts_of_parts_have_the_records_of_the_whole(data: zrecord.Dataset) -> None:
    random = budget.random()
    for _ in range(budget.of(100)):
        part, indices = data.select(SOME), np.arange(120)
        for _ in range(3):
            if random.random() < 0.5:
                start, stop = random.integers(-130, 130, 2).tolist()
                key: Any = slice(start, stop, int(random.choice([-3, -1, 1, 2])))
            else:
                key = random.integers(0, len(indices), 20) if len(indices) else []
            part, indices = part.take(key), indices[np.asarray(key, int) if isinstance(key, list) else key]
        same(part, data.select(SOME), indices.tolist())


def test_a_selection_has_some_fields_in_an_order(data: zrecord.Dataset) -> None:
    some = data.select(["utf8", "i64"])
    assert list(some.fields) == list(some.keys()) == ["utf8", "i64"] and len(some) == 120
    assert list(some[5]) == list(some[:3]) == list(next(iter(some))) == ["utf8", "i64"]
    assert some["i64"] is data["i64"]
    with pytest.raises(KeyError, match="no field 'image'; it has utf8, i64"):
        some["image"]
    with pytest.raises(KeyError, match="no field 'x'"):
        data.select(["x"])
    with pytest.raises(ValueError, match="names a field twice"):
        data.select(["i64", "i64"])


@pytest.mark.parametrize("key", [5, np.int64(5)])
def test_a_part_of_one_number_is_refused_with_the_list_to_give(data: zrecord.Dataset, key: Any) -> None:
    with pytest.raises(IndexError, match=r"gives no part for the number .*; give \[.*5"):
        data.take(key)


@pytest.mark.parametrize("key", [[120], [[1, 2]], np.zeros(5, bool), [1.5], "i64", (1, 2)])
def test_a_part_of_what_is_not_there_is_refused(data: zrecord.Dataset, key: Any) -> None:
    with pytest.raises(IndexError):
        data.take(key)


def test_a_part_keeps_what_it_was_made_of(data: zrecord.Dataset) -> None:
    indices = np.array([3, 4])
    part = data.take(indices)
    indices[0] = 9
    part.indices[0] = 9
    assert part.indices.tolist() == [3, 4] and part["i64"][0] == data["i64"][3]


def test_pickled_parts_and_their_fields_read_the_same_records(data: zrecord.Dataset) -> None:
    old = zrecord.open(TABLE, version=0)
    for part in (old.take(slice(30, 3, -2)), old.take([3, 1]).select(["i64", "utf8"]), old.take([]), old.select(["utf8"])):
        for again in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part)):
            assert (again.version, list(again.fields)) == (0, list(part.fields))
            assert again.indices.tolist() == part.indices.tolist()
            assert exact(again["utf8"][:]) == exact(part["utf8"][:])
            assert again.records_digest == part.records_digest
        field = pickle.loads(pickle.dumps(part["utf8"]))
        assert exact(field[:]) == exact(part["utf8"][:])


def test_a_dataset_is_a_sequence_of_records(data: zrecord.Dataset) -> None:
    records = list(data)
    assert len(records) == len(data) == 120
    for i in (0, 7, 119):
        assert exact(list(records[i].values())) == exact(list(data[i].values()))
        assert list(records[i]) == list(data.fields)
    assert exact(list(next(reversed(data)).values())) == exact(list(data[-1].values()))
    assert [record["i64"] for record in data.take(slice(0, 3))] == [data[i]["i64"] for i in range(3)]


def test_a_dataset_is_a_mapping_of_fields(data: zrecord.Dataset) -> None:
    assert list(data.keys()) == list(data.fields) == list(dict(data))
    assert dict(data)["image"] is data["image"] and next(iter(data.values())) is data["bool"]
    name, field = next(iter(data.items()))
    assert name == "bool" and field is data["bool"]
    assert "image" in data and 5 not in data and data["image"].name == "image"


def test_iteration_reads_ahead_by_a_bound_of_bytes(data: zrecord.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    monkeypatch.setattr(_dataset, "_ITERATED_BYTES", 5000)
    wide = data.select(["wide"])
    listed = wide["wide"]._list

    def counted(indices: np.ndarray[Any, Any]) -> list[Any]:
        steps.append(len(indices))
        return listed(indices)

    monkeypatch.setattr(wide["wide"], "_list", counted)
    assert len(list(wide)) == 120
    assert set(steps) == {2} and sum(steps) == 120


def test_a_closed_dataset_says_so_and_leaves_values(data: zrecord.Dataset) -> None:
    with zrecord.open(TABLE) as opened:
        field, part = opened["i64"], opened.take([1, 2])
        kept = field[3:9]
        part.close()  # closes nothing
        assert part["i64"][0] == data["i64"][1]
    assert np.array_equal(kept, data["i64"][3:9])
    for read in (
        lambda: field[0],
        lambda: field[3:9],
        lambda: field[[5, 1]],
        lambda: opened["utf8"][0],
        lambda: opened[5],
        lambda: list(opened),
        lambda: part["i64"][:],
        lambda: field.validity(),
    ):
        with pytest.raises(ValueError, match="the dataset is closed; open it again"):
            read()
    opened.close()
    assert len(opened) == 120 and opened.fields["i64"].dtype == "i64"


def test_a_sampler_of_a_part_resumes_on_that_part_only(data: zrecord.Dataset) -> None:
    def batches(key: Any) -> BatchSampler:
        part = data.take(key)
        return BatchSampler(part.to_torch(["i64"]), 4, sampler=samplers.Shuffle(len(part), 1))

    first = batches(slice(0, 60))
    next(iter(first))
    state = first.state_dict()
    again = batches(np.arange(120) < 60)
    again.load_state_dict(state)
    assert again.position == 4
    for other in (slice(60, 120), slice(59, None, -1)):
        with pytest.raises(ValueError, match="another part of the dataset was taken; take that part"):
            batches(other).load_state_dict(state)


def test_a_part_for_torch_reads_its_records(data: zrecord.Dataset) -> None:
    part = data.take(slice(100, 3, -5))
    batch = part.to_torch(["i64", "utf8"])[[3, 0]]
    assert exact(batch["i64"]) == exact(data["i64"][[85, 100]]) and batch["utf8"] == data["utf8"][[85, 100]]
    again = pickle.loads(pickle.dumps(part.to_torch(["i64"])))
    assert exact(again[[3, 0]]["i64"]) == exact(batch["i64"])


def test_a_part_names_fields_of_later_releases(table: Path) -> None:
    edit(manifest_of(table, 3), lambda m: next(f for f in m["fields"] if f["name"] == "f64").update(dtype="f8_e4m3"))
    part = zrecord.open(table).take([1, 2])
    with pytest.raises(zrecord.FormatError, match=r"'f64'.*dtype f8_e4m3"):
        part["f64"]


def test_parts_of_a_remote_table_are_read_some_records_at_a_time(scripted: type[ScriptedFileSystem]) -> None:
    local, remote = zrecord.open(GOLDEN / "v2-units"), zrecord.open("scripted://v2-units")
    part = remote.take(slice(60_000, 60_400)).select(["number", "text"])
    scripted.log.clear()
    records = list(part)
    assert 0 < len(scripted.log) < 40
    for i in (0, 1, 399):
        assert exact(list(records[i].values())) == exact([local[name][60_000 + i] for name in ("number", "text")])
    found = part.where(part["number"] < -60_200)
    assert found.indices.tolist() == local.take(slice(60_000, 60_400)).where(local["number"] < -60_200).indices.tolist()
    assert exact(found["text"][:]) == exact(local["text"][found.indices])
    assert exact(pickle.loads(pickle.dumps(part["text"]))[:3]) == exact(local["text"][60_000:60_003])


@pytest.mark.parametrize("name", ["i64", "utf8"])
def test_a_dataset_that_is_closed_while_a_thread_opens_a_shard_stays_closed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_column = ShardSource.column

    def close_meanwhile(source: ShardSource, spec: FieldSpec, verify: str) -> Any:
        found = open_column(source, spec, verify)
        closing.start()
        closing.join(0.2)
        return found

    reads: list[Callable[[Any], Any]] = [lambda field: field[0], lambda field: field[[0]]]
    for read in reads:
        data = zrecord.open(TABLE, version=0)
        field, closing = data[name], threading.Thread(target=data.close)
        monkeypatch.setattr(ShardSource, "column", close_meanwhile)
        try:
            read(field)
        except ValueError as e:
            assert "the dataset is closed" in str(e)
        closing.join()
        monkeypatch.undo()
        with pytest.raises(ValueError, match="the dataset is closed"):
            read(field)

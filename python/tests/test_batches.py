"""Batches for PyTorch's DataLoader, without PyTorch: what ranks get, states, iterators, and the dataset that reads batches."""

from __future__ import annotations

import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from zrecord import samplers
from zrecord.torch import Batch, BatchSampler, Dataset

Rank = list[Any]


def ranks(world: int, data: Any, batch_size: int, state: Any = None, **options: Any) -> list[BatchSampler]:
    made = [BatchSampler(data, batch_size, rank=rank, world_size=world, **options) for rank in range(world)]
    for each in made:
        if state is not None:
            each.load_state_dict(json.loads(json.dumps(state)))
    return made


def joined(given: list[Rank]) -> list[int]:
    """The indices of the batches of all ranks in the order of all ranks."""
    found = []
    for batches in zip(*given):
        assert len({len(batch) for batch in batches}) == 1, "ranks have batches of one size"
        found += [index for indices in zip(*batches) for index in indices]
    return found


def orders(length: int, seed: int) -> Iterable[samplers.Sampler]:
    yield samplers.Sequential(length)
    yield samplers.Shuffle(length, seed)
    yield samplers.Random(length, seed).take(length + 3)
    yield samplers.BlockShuffle(length, 5, 2, seed)
    yield samplers.Stratified(np.arange(length) % 3, 4, seed)
    yield samplers.Mix.in_proportion([samplers.Shuffle(length - 2, seed), samplers.Sequential(2)], 4, seed)


def test_ranks_share_every_order_and_have_equally_many_batches() -> None:
    r = budget.random()
    for _ in range(budget.of(10)):
        length, batch_size, world = int(r.integers(10, 80)), int(r.integers(1, 12)), int(r.integers(1, 9))
        for order in orders(length, int(r.integers(0, 99))):
            whole = order.indices(0, 0, order.length).tolist()
            for remainder in ("drop", "pad"):
                given = [list(each) for each in ranks(world, length, batch_size, sampler=order, remainder=remainder)]
                assert len({len(rank) for rank in given}) == 1
                count = len(whole) // world if remainder == "drop" else -(-len(whole) // world)
                assert joined(given) == (whole * 2)[: count * world]


def test_a_state_after_any_batch_resumes_with_any_number_of_ranks() -> None:
    r = budget.random(1)
    for _ in range(budget.of(4)):
        length, batch_size, world = int(r.integers(10, 60)), int(r.integers(1, 9)), int(r.integers(1, 9))
        for order in orders(length, int(r.integers(0, 99))):
            whole = order.indices(1, 0, order.length).tolist()
            samples = ranks(world, length, batch_size, sampler=order, remainder="pad")
            for each in samples:
                each.set_epoch(1)
            iterators = [iter(each) for each in samples]
            given: list[Rank] = [[] for _ in range(world)]
            for _ in range(len(samples[0])):
                for rank, iterator in zip(given, iterators):
                    rank.append(next(iterator))
                states = [each.state_dict() for each in samples]
                assert all(state == states[0] == rank[-1].state for state, rank in zip(states, given))
                for other in range(1, 9):
                    resumed = ranks(other, length, int(r.integers(1, 9)), states[0], sampler=order, remainder="pad")
                    if resumed[0].epoch == 2:
                        assert joined(given)[: len(whole)] == whole
                        assert resumed[0].position == 0
                    else:
                        rest = joined([list(each) for each in resumed])
                        assert (joined(given) + rest)[: len(whole)] == whole, "nothing is lost or repeated"
                        assert len(rest) - other < len(whole) - len(joined(given)) <= len(rest)


def test_as_many_ranks_as_before_get_the_same_padding() -> None:
    for length, world in ((10, 4), (7, 8), (23, 5), (3, 7)):
        for order in (samplers.Shuffle(length, 5), samplers.Random(50, 5).take(length)):
            expected = [list(each) for each in ranks(world, 50, 1, sampler=order, remainder="pad")]
            for stop in range(1, len(expected[0])):
                state = expected[0][stop - 1].state
                for rank, each in enumerate(ranks(world, 50, 1, state, sampler=order, remainder="pad")):
                    assert list(each) == expected[rank][stop:], "also the repeated records"


def test_epochs_follow_each_other_and_end() -> None:
    batches = BatchSampler(10, 4, seed=3, epochs=2)
    order = samplers.Shuffle(10, 3)
    for epoch in range(2):
        assert (batches.epoch, len(batches)) == (epoch, 3)
        assert [i for batch in batches for i in batch] == order.indices(epoch, 0, 10).tolist()
    for _ in range(2):
        with pytest.raises(zrecord.FeedError, match=r"The training is over: epochs is 2.*set_epoch or load_state_dict"):
            iter(batches)
    batches.set_epoch(1)
    assert [len(batch) for batch in batches] == [4, 4, 2]


def test_the_rest_of_an_epoch_is_left_to_the_next_iterator() -> None:
    batches = BatchSampler(10, 4)
    order = samplers.Shuffle(10, 42).indices(0, 0, 10).tolist()
    for batch in batches:
        assert list(batch) == order[:4]
        break
    gc.collect()
    assert (len(batches), batches.epoch, batches.position) == (2, 0, 4)
    assert [i for batch in batches for i in batch] == order[4:]
    assert (len(batches), batches.epoch, batches.position) == (3, 1, 0)


def test_a_second_live_iterator_is_refused() -> None:
    batches = BatchSampler(10, 4)
    unused, first = iter(batches), iter(batches)
    next(first)
    assert len(batches) == 3, "the number of the iterator that is under way"
    with pytest.raises(zrecord.FeedError, match=r"Another iterator is amid epoch 0, after 4 positions; finish or delete it"):
        iter(batches)
    with pytest.raises(zrecord.FeedError, match="This iterator was ended by another one"):
        next(unused)
    assert [len(batch) for batch in first] == [4, 2]
    assert next(iter(batches)).epoch == 1
    live = iter(batches)
    next(live)
    batches.set_epoch(1)
    next(live)
    for end in (partial(batches.set_epoch, 5), partial(batches.load_state_dict, BatchSampler(10, 4).state_dict())):
        end()
        with pytest.raises(zrecord.FeedError, match="This iterator was ended by another one"):
            next(live)
        live = iter(batches)
        next(live)


def test_a_state_of_an_iterator_has_the_empty_rest_of_its_epoch() -> None:
    """So StatefulDataLoader, which saves after the end of an epoch, loses no epoch."""
    batches = BatchSampler(10, 4)
    iterator = iter(batches)
    for _ in range(3):
        next(iterator)
    assert iterator.state_dict()["state"]["position"] == 10
    assert batches.state_dict()["state"] == {"format": 1, "datasetVersion": None, "seed": 42, "epoch": 1, "position": 0}
    other = BatchSampler(10, 4)
    other.load_state_dict(batches.state_dict())
    resumed = iter(other)
    resumed.load_state_dict(iterator.state_dict())
    assert list(resumed) == []
    assert next(iter(other)).epoch == 1


def test_dropped_positions_end_an_epoch() -> None:
    samples = ranks(3, 20, 4, drop_remainder=True)
    assert [len(each) for each in samples] == [1, 1, 1]
    given = [list(each) for each in samples]
    assert joined(given) == samplers.Shuffle(20, 42).indices(0, 0, 12).tolist()
    assert samples[0].state_dict()["state"]["epoch"] == 1
    state = samples[0].state_dict()
    state["state"] = {**state["state"], "epoch": 0, "position": 18}
    resumed = ranks(3, 20, 4, state, drop_remainder=True)
    assert (resumed[0].epoch, resumed[0].position) == (1, 0), "no batch is left of epoch 0, so the next epoch is not empty"


def test_orders_without_end_have_no_length() -> None:
    batches = BatchSampler(10, 4, sampler=samplers.Random(10, 1))
    with pytest.raises(TypeError, match=r"Epochs of Random\(10, seed=1\) do not end; take\(n\) positions of it"):
        len(batches)
    iterator = iter(batches)
    given = [i for _ in range(5000) for i in next(iterator)]
    assert given == samplers.Random(10, 1).indices(0, 0, 20_000).tolist()


def test_states_of_another_order_are_refused() -> None:
    state = BatchSampler(10, 4).state_dict()
    assert set(state) == {"format", "state", "datasetCommit", "datasetDigest", "sampler", "order", "definition"}
    assert samplers.SamplerState.from_json(json.dumps(state["state"])) == samplers.SamplerState(None, 42, 0, 0)
    for batches, message in [
        (BatchSampler(11, 4), r"definition .*it was Shuffle\(10, seed=42\), and this is Shuffle\(11, seed=42\); use that order"),
        (BatchSampler(10, 4, seed=1), "the state has definition"),
        (BatchSampler(10, 4, sampler=samplers.Sequential(10)), "the state has definition"),
    ]:
        with pytest.raises(ValueError, match=f"Cannot resume: .*{message}"):
            batches.load_state_dict(state)
    batches = BatchSampler(10, 4)
    changed: list[tuple[dict[str, Any], str]] = [
        ({"format": 2}, "it is no state of format 1"),
        ({"more": 1}, "it is no state of format 1"),
        ({"state": {**state["state"], "seed": 1}}, "seed 1, not 42: use that seed"),
        (
            {"state": {**state["state"], "datasetVersion": 1}},
            r"version of the records 1, not None: give Dataset\(path, version=1\)",
        ),
        ({"order": "1"}, r"the state has order 1, not .*: both are Shuffle\(10, seed=42\)"),
        ({"datasetCommit": "1"}, "commit of the records 1, not None: open the dataset"),
        ({"state": {**state["state"], "position": 11}}, r"position of the state is 11, which is not in \[0, 10\]"),
        ({"state": {**state["state"], "position": None}}, "position is no 64-bit number"),
    ]
    for change, message in changed:
        with pytest.raises(ValueError, match=message):
            batches.load_state_dict({**state, **change})
    with pytest.raises(ValueError, match="it is no state"):
        batches.load_state_dict(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BatchSampler(10, 0), "batch_size is 0"),
        (lambda: BatchSampler(10, 4, epochs=0), "epochs is 0.*give None for no end"),
        (lambda: BatchSampler(10, 4, rank=0), "rank is 0 and world_size is None; give both or none"),
        (lambda: BatchSampler(10, 4, rank=2, world_size=2), "rank is 2"),
        (lambda: BatchSampler(10, 4, rank=0, world_size=2, remainder="uneven"), "remainder is 'uneven', with which ranks may"),
        (lambda: BatchSampler(10, 4, remainder="other"), "remainder is 'other'"),  # type: ignore[arg-type]
        (lambda: BatchSampler(10, 4, sampler=samplers.Shuffle(11, 1)), "has indices up to 10, but there are 10 records"),
        (lambda: BatchSampler(10, 4, sampler=samplers.Shuffle(10, 1), seed=1), "seed is 1, but the sampler .* has its own"),
        (lambda: BatchSampler(0), r"An epoch of Shuffle\(0, seed=42\) has no batch: 0 positions for 1 ranks"),
        (lambda: BatchSampler(3, 1, rank=0, world_size=4), "has no batch: 3 positions for 4 ranks, .*give more records"),
        (lambda: BatchSampler(3, 4, drop_remainder=True), "has no batch: .*drop_remainder True; give more records or a smaller"),
    ],
)
def test_settings_out_of_range_are_named(make: Callable[[], BatchSampler], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


class Part:
    """What PyTorch's Subset and ConcatDataset look like."""

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)

    def __len__(self) -> int:
        return 5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("/data/train", r"data is '/data/train', which is a path; give zrecord.torch.Dataset\(path\)"),
        (b"/data/train", "data is b'/data/train', which is a path"),
        (Path("train"), "which is a path"),
        (5.5, "data is a float, which has no length"),
        (None, "data is a NoneType, which has no length"),
        (Part(dataset=5), r"data is a Part of another dataset.*sampler=Listed\(indices, Shuffle\(len\(indices\), seed\)\)"),
        (Part(datasets=[5]), "data is a Part of several datasets.*a BatchSampler and a DataLoader for each"),
    ],
)
def test_what_is_no_dataset_is_refused(data: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        BatchSampler(data, 2)


@pytest.mark.parametrize("sampler", [[1, 2, 3], range(3), "shuffle", iter([1])])
def test_what_is_no_sampler_is_refused(sampler: Any) -> None:
    kind = type(sampler).__name__
    with pytest.raises(TypeError, match=rf"sampler is a {kind}, not an order of zrecord.samplers; give one, such as Listed"):
        BatchSampler(10, 2, sampler=sampler)


def test_a_share_is_not_shared_once_more() -> None:
    share = samplers.Shuffle(10, 1).share(0, 2)
    for sampler in (
        share,
        share.skip(1),
        samplers.Listed(range(10), share),
        samplers.Mix([samplers.Shuffle(2, 1), share.repeat(2)], [1, 1], 4, 1),
    ):
        with pytest.raises(ValueError, match=r"Shuffle\(10, seed=1\).share\(0, 2, 'drop'\) is the share of one rank.*all ranks"):
            BatchSampler(20, 2, sampler=sampler)


def test_the_indices_of_a_batch_are_not_changed(table: Path) -> None:
    data = Dataset(table)
    given = next(iter(BatchSampler(data, 4)))
    for each in (given, pickle.loads(pickle.dumps(given))):
        assert not isinstance(each, list) and list(each) == each.array.tolist() and each.state == given.state
        with pytest.raises(ValueError, match="read-only"):
            each.array.sort()
        for batch in (data.__getitems__(each), pickle.loads(pickle.dumps(data.__getitems__(each)))):
            batch.index.sort()
            assert batch.index.tolist() == sorted(each)


def test_a_field_is_pickled_before_and_after_it_was_read(table: Path) -> None:
    field = zrecord.open(table)["i8"]
    for _ in range(2):
        assert pickle.loads(pickle.dumps(field))[[1, 0]].tolist() == field[[1, 0]].tolist()


def test_an_iterator_takes_no_state_beyond_the_last_epoch() -> None:
    batches = BatchSampler(10, 4)
    batches.set_epoch(2)
    state = batches.state_dict()
    with pytest.raises(zrecord.FeedError, match="The state is of epoch 2, but epochs is 2; give more epochs"):
        iter(BatchSampler(10, 4, epochs=2)).load_state_dict(state)


def test_an_empty_verify_is_refused(table: Path) -> None:
    with pytest.raises(ValueError, match="verify is ''; expected one of"):
        Dataset(table, verify="")  # type: ignore[arg-type]


def test_batch_samplers_pickle() -> None:
    batches = BatchSampler(10, 4)
    iterator = iter(batches)
    next(iterator)
    copy = pickle.loads(pickle.dumps(batches))
    assert [list(batch) for batch in copy] == [list(batch) for batch in iterator]


def test_the_module_imports_no_pytorch() -> None:
    code = "import sys, zrecord, zrecord.torch; zrecord.torch.BatchSampler(10, 4); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_batch_has_the_values_of_its_records(table: Path) -> None:
    opened = zrecord.open(table)
    data = Dataset(table)
    index = [2, 0, 2]
    batch = data.__getitems__(index)
    assert set(batch) == set(opened.fields) and batch.index.tolist() == index and batch.epoch is None and batch.state is None
    for name in opened.fields:
        assert_equal(batch[name], opened[name][index])
        assert_equal(data[1][name], opened[name][1])
    assert len(data) == len(opened)
    named = next(iter(opened.fields))
    assert list(Dataset(opened, [named])[[0]]) == [named]
    given = next(iter(BatchSampler(data, 2)))
    assert data.__getitems__(given).state == given.state


def assert_equal(one: Any, other: Any) -> None:
    if isinstance(one, list):
        for a, b in zip(one, other):
            assert_equal(a, b)
        assert len(one) == len(other)
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


def test_absent_values_are_told(tmp_path: Path) -> None:
    opened = zrecord.open(GOLDEN / "v2" / "table")
    data = Dataset(opened)
    every = np.arange(len(data))
    batch = data.__getitems__(every.tolist())
    told = {name for name in batch if batch.absent(name) is not None}
    expected = {name for name, field in opened.fields.items() if field.is_array and not opened[name].validity().all()}
    assert told == expected and expected
    for name in told:
        assert batch.absent(name).tolist() == (~opened[name].validity()).tolist()


def test_what_is_no_index_or_field_is_refused(table: Path) -> None:
    data = Dataset(table)
    for wrong in ([0, len(data)], [-1]):
        with pytest.raises(IndexError, match=rf"Index {wrong[-1]} is out of range for .*; indices are in \[0, {len(data)}\)"):
            data.__getitems__(wrong)
    for other in ([0.5], [[0]], [True]):
        with pytest.raises(IndexError, match="is indexed by a number or a list of whole numbers"):
            data.__getitems__(other)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"fields is the text 'label', which is not a list; give \['label'\]"):
        Dataset(table, "label")
    with pytest.raises(KeyError, match="has no field 'missing'"):
        Dataset(table, ["missing"])
    with pytest.raises(ValueError, match=r"are for a path; give them to zrecord.open"):
        Dataset(zrecord.open(table), version=1)
    batch = data.__getitems__([])
    with pytest.raises(KeyError, match=r"give DataLoader collate_fn=zrecord.torch.collate"):
        batch[0]  # type: ignore[index]
    with pytest.raises(KeyError, match="Field 'missing' is not in the batch; its fields are"):
        batch["missing"]
    with pytest.raises(KeyError, match="Field 'missing' is not in the batch"):
        batch.absent("missing")


def test_datasets_are_opened_again_elsewhere(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(table.parent)
    data, opened = Dataset(table.name), zrecord.open(table.name)
    pickles = pickle.dumps(data), pickle.dumps(Dataset(opened))
    (table.parent / "other").mkdir()
    monkeypatch.chdir(table.parent / "other")
    expected = data.__getitems__([1, 0])
    for each in pickles:
        batch = pickle.loads(each).__getitems__([1, 0])
        assert list(batch) == list(expected) and batch.index.tolist() == [1, 0]
    copy = pickle.loads(pickle.dumps(expected))
    assert isinstance(copy, Batch) and list(copy) == list(expected) and copy.index.tolist() == [1, 0]


def test_another_table_in_the_place_is_refused(table: Path) -> None:
    """A table with a version of the same number."""
    data = pickle.dumps(Dataset(table, version=3))
    table.rename(table.with_name("away"))
    shutil.copytree(GOLDEN / "v2-rewritten", table)
    with pytest.raises(
        zrecord.NotADatasetError, match=r"has 74 records of version 3 and .* instead of 120 records of version 1 and .*7777"
    ):
        pickle.loads(data)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / "v2-stores" / "clean", tmp_path / "store"))


def change_a_checksum(store: Path) -> None:
    """Makes a store of as many records, of which one has another value."""
    file = next(store.glob("*.crc32c"))
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    file.write_bytes(content)


def test_a_store_of_other_content_in_the_place_is_refused(store: Path) -> None:
    data = Dataset(store)
    saved = pickle.dumps(data)
    assert pickle.loads(saved).records_digest == data.records_digest == zrecord.open(store).records_digest is not None
    change_a_checksum(store)
    with pytest.raises(
        zrecord.NotADatasetError, match=f"a store with digest .* instead of .* digest {data.records_digest}; make a"
    ):
        pickle.loads(saved)


def test_a_state_of_a_store_of_other_content_is_refused(store: Path) -> None:
    state = BatchSampler(Dataset(store), 2).state_dict()
    BatchSampler(Dataset(store), 2).load_state_dict(state)
    change_a_checksum(store)
    with pytest.raises(ValueError, match=r"the state has digest of the records .*: the store has changed; train on a table"):
        BatchSampler(Dataset(store), 2).load_state_dict(state)


def test_a_state_of_an_order_that_differs_in_its_definition_only_is_refused() -> None:
    shuffle = samplers.Shuffle(1000, 42)
    far = np.arange(3000)
    other = far.copy()
    other[[1, 2998]] = [2998, 1]
    for one, two, message in (
        (
            shuffle,
            shuffle.with_epoch(0),
            r"definition .*: it was Shuffle\(.*, and this is Shuffle\(1000, seed=42\).with_epoch\(0\)",
        ),
        (samplers.Listed(far[100:]), samplers.Listed(np.r_[far[100:2990], other[2990:]]), "both are Listed.*other indices, labels"),
    ):
        assert one.digest() == two.digest()
        state = BatchSampler(3000, 4, sampler=one).state_dict()
        BatchSampler(3000, 4, sampler=one).load_state_dict(state)
        with pytest.raises(ValueError, match=f"^Cannot resume: the state has .*{message}"):
            BatchSampler(3000, 4, sampler=two).load_state_dict(state)


BY_VALUES: list[Callable[[Any], samplers.Sampler]] = [
    lambda values: samplers.Stratified(values, 4, 1),
    lambda values: samplers.Balanced(values, 4, 1),
    lambda values: samplers.Weighted(values, 1),
]


@pytest.mark.parametrize("make", BY_VALUES)
def test_orders_by_a_field_are_those_by_its_values(make: Callable[[Any], samplers.Sampler]) -> None:
    field = zrecord.open(GOLDEN / "v2-moved")["number"]
    assert make(field).definition() == make(field[:]).definition()


@pytest.mark.parametrize("make", BY_VALUES)
def test_fields_with_absent_values_or_without_numbers_are_no_labels(make: Callable[[Any], samplers.Sampler]) -> None:
    opened = zrecord.open(GOLDEN / "v2" / "table")
    for name in ("bool", "i8", "i64"):
        absent = int(np.flatnonzero(~opened[name].validity())[0])
        with pytest.raises(ValueError, match=rf"Cannot sample by field '{name}': record {absent} has no value; choose another"):
            make(opened[name])
    for name in ("image", "points", "utf8", "date", "decimal(9,2)"):
        with pytest.raises(ValueError, match=r"Cannot sample by .*choose a field with one number or bool for each record"):
            make(opened[name])


def test_a_state_goes_on_across_tags_of_a_table(table: Path) -> None:
    """The golden table has three versions, of which the first one has the records."""
    data = Dataset(table)
    assert (data.data.version, data.records_version) == (3, 1)
    batches = BatchSampler(Dataset(table, version=1), 2)
    next(iter(batches))
    state = batches.state_dict()
    assert (state["state"]["datasetVersion"], state["datasetCommit"]) == (1, "77777777-7777-4777-8111-111111111111")
    resumed = BatchSampler(data, 2)
    resumed.load_state_dict(state)
    assert resumed.position == 2


def test_a_state_of_a_number_of_records_and_one_of_a_table_are_told_apart(table: Path) -> None:
    data = Dataset(table)
    of_table, of_number = BatchSampler(data, 2), BatchSampler(len(data), 2)
    with pytest.raises(ValueError, match=r"version of the records 1, not None: give Dataset\(path, version=1\), or start anew"):
        of_number.load_state_dict(of_table.state_dict())
    with pytest.raises(ValueError, match=r"version of the records None, not 1: the state is of a store or a number of records"):
        of_table.load_state_dict(of_number.state_dict())


def test_a_state_from_before_an_append_names_the_version_to_open() -> None:
    path = GOLDEN / "v2-moved"
    before, after = Dataset(path, version=1), Dataset(path, version=2)
    assert (len(before), len(after)) == (22, 23)
    state = BatchSampler(before, 2).state_dict()
    with pytest.raises(ValueError, match=r"^Cannot resume: the state has version .* 1, not 2: give Dataset\(path, version=1\)"):
        BatchSampler(after, 2).load_state_dict(state)
    BatchSampler(Dataset(path, version=1), 2).load_state_dict(state)


def test_a_forked_process_reads_while_a_thread_of_its_parent_held_the_locks(table: Path) -> None:
    data = Dataset(table)
    fields = [data.data[name] for name in data.data.fields]
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        for field in fields:
            field._lock.of_process().acquire()
        held.set()
        free.wait()
        for field in fields:
            field._lock.of_process().release()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            data.__getitems__([1, 0])
            status = 0
        finally:
            os._exit(status)
    ended: list[int] = []
    waiter = threading.Thread(target=lambda: ended.append(os.waitpid(child, 0)[1]))
    waiter.start()
    waiter.join(60)
    if waiter.is_alive():
        os.kill(child, signal.SIGKILL)
    free.set()
    holder.join()
    waiter.join()
    assert ended == [0]

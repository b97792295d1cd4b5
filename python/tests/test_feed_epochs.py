"""What each ``for`` over a feed gives, whatever ended the one before."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import zrecord
from tests import budget
from tests.feeds import RECORDS
from zrecord.errors import FeedError

SEED = budget.seed()
PER_EPOCH = 11


def feed(data: Path, **options: Any) -> zrecord.Feed:
    return zrecord.feed(data, **{"fields": ["label"], "batch_size": 100, "seed": SEED, "epochs": 3, **options})


def numbers(batches: Any) -> list[int]:
    return [batch.number for batch in batches]


def epoch(number: int) -> list[int]:
    return list(range(number * PER_EPOCH, (number + 1) * PER_EPOCH))


def test_each_for_gives_an_epoch_and_one_too_many_is_an_error(data: Path) -> None:
    with feed(data) as batches:
        assert batches.epochs == 3
        for number in range(3):
            assert batches.epoch == number
            assert len(batches) == PER_EPOCH
            assert numbers(batches) == epoch(number)
        with pytest.raises(FeedError, match=r"The training is over: epochs is 3.*load_state_dict"):
            for _ in batches:
                pass
        assert len(batches) == PER_EPOCH
        with pytest.raises(StopIteration):
            next(batches)


def test_all_epochs_in_one_loop_of_epochs(data: Path) -> None:
    with feed(data, epoch=4, epochs=2) as batches:
        assert [(number, numbers(batches)) for number in batches.remaining_epochs()] == [(4, epoch(4)), (5, epoch(5))]
        assert list(batches.remaining_epochs()) == []
    with feed(data, stop_before_batch=14) as batches:
        assert (batches.first_batch, batches.last_batch) == (0, 13)
        assert [numbers(batches) for _ in batches.remaining_epochs()] == [epoch(0), [11, 12, 13]]
        with pytest.raises(FeedError, match="up to number 13"):
            iter(batches)
    with feed(data, epochs=None) as batches:
        assert (batches.epochs, batches.last_batch, batches.deterministic) == (None, None, True)
        assert [(number, len(numbers(batches))) for number, _ in zip(batches.remaining_epochs(), range(4))] == [
            (number, PER_EPOCH) for number in range(4)
        ]


def test_a_loop_that_was_left_goes_on_with_the_rest_of_its_epoch(data: Path) -> None:
    with feed(data) as batches:
        for batch in batches:
            if batch.number == 3:
                break
        assert len(batches) == 7
        with pytest.raises(ZeroDivisionError):
            for batch in batches:
                assert len(batches) == 7
                batch.number // (5 - batch.number)
        assert numbers(batches) == [6, 7, 8, 9, 10]
        assert batches.epoch == 1
        # After the last batch of an epoch nothing is left of it, though the loop has not seen its end.
        for batch in batches:
            if batch.number == 21:
                break
        assert numbers(batches) == epoch(2)


def test_single_batches_are_of_the_same_stream(data: Path) -> None:
    with feed(data) as batches:
        assert next(batches).number == 0
        pairs = [(batch.number, next(batches).number) for batch in batches]
        assert pairs == [(number, number + 1) for number in range(1, 11, 2)]
        assert next(batches).number == 11
        # A loop that was not begun yet is one of the epoch in which it begins.
        iterator = iter(batches)
        for _ in range(10):
            next(batches)
        assert numbers(iterator) == epoch(2)


def test_a_state_of_the_end_of_an_epoch_begins_the_next(data: Path) -> None:
    with feed(data) as batches:
        states = [batch.state for batch in batches]
        assert batches.state_dict() == states[-1]
    with feed(data) as batches:
        batches.load_state_dict(states[-1])
        assert (batches.epoch, len(batches)) == (1, PER_EPOCH)
        assert numbers(batches) == epoch(1)
        batches.load_state_dict(states[2])
        assert (batches.epoch, len(batches), batches.first_batch) == (0, 8, 3)
        assert numbers(batches) == epoch(0)[3:]
        assert numbers(batches) == epoch(1)
        last = [batch.state for batch in batches][-1]
        batches.load_state_dict(last)
        assert list(batches.remaining_epochs()) == []
        for _ in range(2):
            with pytest.raises(FeedError, match="The training is over"):
                list(batches)
    with feed(data, epochs=4) as batches:
        batches.load_state_dict(last)
        assert numbers(batches) == epoch(3)


def test_a_state_that_is_loaded_ends_the_loop_that_is_under_way(data: Path) -> None:
    with feed(data) as batches:
        with pytest.raises(FeedError, match="This iterator was ended, by load_state_dict"):
            for batch in batches:
                if batch.number == 2:
                    state = batch.state
                if batch.number == 4:
                    batches.load_state_dict(state)
        assert numbers(batches) == epoch(0)[3:]


def test_a_second_iterator_amid_an_epoch_is_refused(data: Path) -> None:
    with feed(data) as batches:
        early, first = iter(batches), iter(batches)
        next(first)
        with pytest.raises(FeedError, match="Another iterator of this feed is amid epoch 0; finish or delete it"):
            for _ in batches:
                pass
        with pytest.raises(FeedError, match="This iterator was ended"):
            next(early)
        assert numbers(first) == epoch(0)[1:]
        assert numbers(first) == []
        assert numbers(batches) == epoch(1)


def test_as_they_are_completed_each_loop_ends_with_its_epoch(data: Path) -> None:
    with feed(data, as_completed=True, threads=4, depth=16) as batches:
        assert not batches.deterministic
        found = []
        for number in batches.remaining_epochs():
            found += numbers(batches)
            assert set(epoch(number)) <= set(found)
        assert sorted(found) == list(range(3 * PER_EPOCH))


def test_bars_show_the_batches_of_their_loop(data: Path) -> None:
    tqdm = pytest.importorskip("tqdm")
    with feed(data) as batches:
        next(batches)
        bar = tqdm.tqdm(batches, disable=None, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
        assert bar.total == 10
        assert numbers(bar) == epoch(0)[1:]


def test_feeds_without_an_end_or_without_batches(data: Path) -> None:
    with feed(data, sampler="random") as batches:
        for batch in batches:
            if batch.number == 20:
                break
        with pytest.raises(TypeError, match="do not end; give num_samples"):
            len(batches)
        assert batches
    with feed(data, batch_size=RECORDS + 1, drop_remainder=True) as batches:
        assert list(batches.remaining_epochs()) == []
        with pytest.raises(FeedError, match="The feed has no batch: an epoch of this rank has none of the 1003 records"):
            list(batches)


def test_a_feed_is_neither_a_sequence_nor_copied(data: Path) -> None:
    with feed(data) as batches:
        with pytest.raises(TypeError, match=r"for a DataLoader, give it a zrecord.torch.Dataset"):
            batches[0]
        for copied in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="belongs to one process"):
                copied(batches)


@pytest.mark.parametrize("options", [{"remainder": "uneven"}, {"bad_records": "drop_batch"}, {"bad_records": "skip_record"}])
def test_what_gives_some_ranks_fewer_batches_is_refused(data: Path, options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"with world_size 2.* wait.*use 'drop' or 'pad'|with world_size 2.*use 'substitute'"):
        feed(data, rank=0, world_size=2, **options)
    feed(data, rank=0, world_size=1, **options).close()

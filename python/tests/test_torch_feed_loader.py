"""The feed for PyTorch: its loader, and what a DataLoader says of a feed. ``python/test-torch`` runs these."""

from __future__ import annotations

import gc
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")

import zrecord  # noqa: E402
from tests import budget  # noqa: E402
from tests.feeds import RECORDS, run  # noqa: E402
from zrecord.torch import Batch, Dataset, FeedLoader  # noqa: E402

SEED = budget.seed()


def numbers(loader: Any) -> list[list[int]]:
    return [batch.index.tolist() for batch in loader]


def test_each_loop_gives_an_epoch_of_tensors_and_resumes_exactly(data: Path, images: np.ndarray[Any, Any]) -> None:
    with FeedLoader(data, batch_size=100, shuffle=True, seed=SEED, epochs=2) as loader:
        assert len(loader) == 11
        epochs: list[list[tuple[list[int], Any]]] = []
        for _ in range(2):
            epochs.append([])
            for batch in loader:
                assert isinstance(batch, Batch)
                assert batch["image"].dtype == torch.uint8 and batch["label"].dtype == torch.int32
                np.testing.assert_array_equal(batch["image"].numpy(), images[batch.index])
                epochs[-1].append((batch.index.tolist(), batch.state))
        with pytest.raises(zrecord.FeedError, match="The training is over"):
            iter(loader)
        assert loader.statistics().batches == 22
    with zrecord.feed(data, batch_size=100, seed=SEED, epochs=2) as feed:
        assert [[batch.index.tolist() for batch in feed] for _ in range(2)] == [[b for b, _ in e] for e in epochs]
    with FeedLoader(data, batch_size=100, shuffle=True, seed=SEED, epochs=2) as loader:
        loader.load_state_dict(json.loads(json.dumps(epochs[0][3][1])))
        assert len(loader) == 7
        assert numbers(loader) == [b for b, _ in epochs[0][4:]]
        assert loader.state_dict() == epochs[0][-1][1]


def test_tensors_have_the_memory_of_the_engine_until_they_are_gone(data: Path) -> None:
    with FeedLoader(data, batch_size=10, num_workers=1, prefetch_factor=3) as loader:
        assert loader.feed._arguments.depth == 4
        iterator = iter(loader)
        held = next(iterator)["image"][2:4]
        expected = held.clone()
        assert loader.feed._engine is not None
        assert len(loader.feed._engine._leases) == 1
        for _ in range(30):
            next(iterator)
        assert torch.equal(held, expected)
        del held
        assert len(loader.feed._engine._leases) == 0


def test_the_arguments_of_a_data_loader_are_obeyed(data: Path) -> None:
    with FeedLoader(data, 100, drop_last=True, pin_memory=True, persistent_workers=True) as loader:
        batches = numbers(loader)
        assert batches == [list(range(first, first + 100)) for first in range(0, 1000, 100)]
    with FeedLoader(
        Dataset(data, fields=["label"]), 100, sampler="blockShuffle", block_length=50, mixed=2, in_order=False, epochs=1
    ) as loader:
        found = []
        for batch in loader:
            assert list(batch) == ["label"]
            found += batch.index.tolist()
        assert sorted(found) == list(range(RECORDS))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"collate_fn": list}, "takes no collate_fn.*in the loop, or give pad"),
        ({"batch_sampler": [[1]]}, "takes no batch_sampler.*give batch_size and sampler"),
        ({"worker_init_fn": print}, "takes no worker_init_fn.*no workers in Python"),
        ({"multiprocessing_context": "spawn"}, "takes no multiprocessing_context"),
        ({"generator": torch.Generator()}, "takes no generator.*give seed"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"num_workers": -1}, "num_workers is -1"),
        ({"timeout": -1}, "timeout is -1"),
        ({"prefetch_factor": 0}, "prefetch_factor is 0"),
        ({"threads": 3}, "Give num_workers"),
        ({"shuffle": True, "sampler": "random"}, "give one of them"),
        ({"world_size": 2}, "Give both rank and world_size"),
        ({"rank": 1}, "Give both rank and world_size"),
        ({"prefetch_factor": 2, "depth": 9}, "prefetch_factor is 2 and depth is 9; give one of them"),
        ({"rank": 0, "world_size": 2, "bad_records": "skip_record"}, "world_size 2"),
    ],
)
def test_what_cannot_be_obeyed_is_refused(data: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FeedLoader(data, **options)


def test_samplers_of_pytorch_and_foreign_datasets_are_refused(data: Path) -> None:
    with pytest.raises(TypeError, match="sampler is a SequentialSampler; give the name of an order"):
        FeedLoader(data, sampler=torch.utils.data.SequentialSampler(range(3)))
    with pytest.raises(TypeError, match="dataset is a list"):
        FeedLoader([1, 2])  # type: ignore[arg-type]


def test_a_data_loader_of_a_feed_says_what_to_do_instead(data: Path) -> None:
    with zrecord.feed(data, batch_size=10) as feed:
        for options in ({}, {"batch_size": None}, {"shuffle": True}):
            with pytest.raises(TypeError, match="Write `for batch in feed`, without a DataLoader"):
                next(iter(torch.utils.data.DataLoader(feed, **options)))


class Wrapped(torch.utils.data.IterableDataset):  # type: ignore[misc]
    def __init__(self, path: Path, **ranks: int) -> None:
        self.path, self.ranks = path, ranks

    def __iter__(self) -> Any:
        worker = torch.utils.data.get_worker_info()
        ranks = {"rank": worker.id, "world_size": worker.num_workers, "remainder": "pad"} if self.ranks else {}
        with zrecord.feed(self.path, fields=["label"], batch_size=10, **ranks) as feed:
            for batch in feed:
                yield torch.from_numpy(batch.index.copy())


def test_workers_that_would_deliver_all_batches_each_are_refused(data: Path) -> None:
    loader = torch.utils.data.DataLoader(Wrapped(data), batch_size=None, num_workers=2)
    with pytest.raises(zrecord.FeedError, match=r"is worker 0 of 2 of a DataLoader, and each worker would deliver all batches"):
        next(iter(loader))
    shared = torch.utils.data.DataLoader(Wrapped(data, rank=0), batch_size=None, num_workers=2)
    assert {int(i) for batch in shared for i in batch} == set(range(RECORDS))
    alone = torch.utils.data.DataLoader(Wrapped(data), batch_size=None)
    assert sum(len(batch) for batch in alone) == RECORDS


def test_an_interrupt_while_tensors_are_made_loses_no_batch(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with FeedLoader(data, batch_size=100, shuffle=True, seed=SEED, epochs=1) as loader:
        found: list[int] = []
        made = loader.feed._arguments.convert
        interrupts = iter([False, True, False, True, True])

        def interrupted(batch: Any, header: Any) -> Any:
            tensors = made(batch, header)
            if next(interrupts, False):
                raise KeyboardInterrupt
            return tensors

        loader.feed._arguments = _with(loader.feed._arguments, interrupted)
        stopped = 0
        while len(found) < 11:
            try:
                for batch in loader:
                    assert batch.state is not None
                    found.append(int(batch.state["batch"]))
            except KeyboardInterrupt:
                stopped += 1
        assert stopped == 3
        assert found == list(range(1, 12))


def _with(arguments: Any, convert: Any) -> Any:
    import dataclasses

    return dataclasses.replace(arguments, convert=convert)


def test_a_loader_that_nobody_refers_to_ends_its_engine_at_once(data: Path) -> None:
    gc.disable()
    try:
        loader = FeedLoader(data, batch_size=10)
        for _ in loader:
            break
        assert loader.feed._engine is not None
        process = loader.feed._engine._process
        del loader
        assert process.poll() is not None
    finally:
        gc.enable()


def test_a_loader_that_was_made_before_the_ranks_is_refused(data: Path) -> None:
    program = (
        "import sys, torch.distributed as dist\n"
        "from zrecord.torch import FeedLoader\n"
        "loader = FeedLoader(sys.argv[1], batch_size=10)\n"
        "dist.is_initialized, dist.get_rank, dist.get_world_size = lambda: True, lambda: 1, lambda: 2\n"
        "iter(loader)\n"
    )
    said = run(program, data)
    assert "FeedError: This loader was made for rank 0 of 1, but torch.distributed now says 1 of 2" in said.stderr


DISTRIBUTED = """
import os, sys, torch
import torch.distributed as dist
from zrecord.torch import FeedLoader
rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[3]}", rank=rank, world_size=2)
with FeedLoader(sys.argv[1], batch_size=10, shuffle=True, epochs=1) as loader:
    print(*(int(i) for batch in loader for i in batch.index))
"""


def test_ranks_are_those_of_torch_distributed(data: Path, tmp_path: Path) -> None:
    said: dict[int, Any] = {}
    ranks = [threading.Thread(target=lambda r=r: said.update({r: run(DISTRIBUTED, data, r, tmp_path / "ranks")})) for r in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    assert [said[rank].returncode for rank in range(2)] == [0, 0], said
    shares = [[int(i) for i in said[rank].stdout.split()] for rank in range(2)]
    assert len(shares[0]) == len(shares[1]) == RECORDS // 2
    assert not set(shares[0]) & set(shares[1])

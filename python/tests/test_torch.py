"""PyTorch's DataLoader, StatefulDataLoader and processes of torch.distributed. ``python/test-torch`` runs these."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch: Any = pytest.importorskip("torch")


import zrecord  # noqa: E402
from tests import budget  # noqa: E402
from tests.conftest import GOLDEN  # noqa: E402
from zrecord import samplers  # noqa: E402
from zrecord.torch import Batch, BatchSampler, Dataset, collate  # noqa: E402

LENGTH = 230
BATCH = 16
LOADERS = [pytest.param({"num_workers": 0}, id="0 workers"), pytest.param({"num_workers": 2}, id="2 workers")]
SPAWNED = pytest.param({"num_workers": 2, "multiprocessing_context": "spawn"}, id="2 spawned workers")


@pytest.fixture(scope="module")
def records(command_line: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("torch") / "records"
    inputs = np.arange(LENGTH * 3, dtype=np.float32).reshape(LENGTH, 3)
    zrecord.create(path, {"inputs": inputs, "label": np.arange(LENGTH)})
    return path


def loader_of(path: Path, batches: BatchSampler, kind: Any = torch.utils.data.DataLoader, **options: Any) -> Any:
    return kind(Dataset(path), batch_sampler=batches, collate_fn=collate, **options)


def batches_of(path: Path, **options: Any) -> BatchSampler:
    return BatchSampler(Dataset(path), BATCH, seed=budget.seed(), **options)


def order(epoch: int) -> list[int]:
    return samplers.Shuffle(LENGTH, budget.seed()).indices(epoch, 0, LENGTH).tolist()


def indices(batches: Iterable[Any]) -> list[int]:
    """The labels of batches, which are their indices."""
    found = []
    for batch in batches:
        assert isinstance(batch, Batch) and batch["label"].dtype == torch.int64
        assert batch["label"].tolist() == batch.index.tolist()
        assert batch["inputs"][:, 0].tolist() == [3 * i for i in batch.index.tolist()]
        found += batch["label"].tolist()
    return found


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of an iterator that the error left half made
@pytest.mark.parametrize("options", [*LOADERS, SPAWNED])
def test_a_loader_delivers_epochs_in_the_order_of_the_sampler(options: dict[str, Any], records: Path) -> None:
    batches = batches_of(records, epochs=2)
    loader = loader_of(records, batches, **options)
    for epoch in range(2):
        assert len(loader) == -(-LENGTH // BATCH)
        assert indices(loader) == order(epoch)
    with pytest.raises(zrecord.FeedError, match="The training is over: epochs is 2"):
        iter(loader)


@pytest.mark.parametrize("options", LOADERS)
def test_the_state_of_a_batch_resumes_after_it_however_many_were_loaded_ahead(options: dict[str, Any], records: Path) -> None:
    whole = order(0)
    for stop in (1, 5, -(-LENGTH // BATCH)):
        loader = loader_of(records, batches_of(records), **options)
        seen = []
        for _, batch in zip(range(stop), loader):
            seen += batch.index.tolist()
            state = json.loads(json.dumps(batch.state))
        assert seen == whole[: stop * BATCH]
        resumed = batches_of(records)
        resumed.load_state_dict(state)
        assert resumed.epoch == (1 if stop * BATCH >= LENGTH else 0)
        rest = indices(loader_of(records, resumed, **options))
        assert seen + rest == whole if resumed.epoch == 1 and stop * BATCH < LENGTH else rest == order(1)


def test_the_state_of_a_sampler_is_exact_without_workers_and_ahead_with_them(records: Path) -> None:
    for workers in (0, 2):
        batches = batches_of(records)
        iterator = iter(loader_of(records, batches, num_workers=workers))
        for _ in range(3):
            batch = next(iterator)
        ahead = batches.state_dict()["state"]["position"] - batch.state["state"]["position"]
        assert ahead == (0 if workers == 0 else 2 * workers * BATCH), "DataLoader reads two batches ahead for each worker"


def test_workers_that_stay_go_on_with_the_next_epoch_and_a_break_is_named(records: Path) -> None:
    batches = batches_of(records)
    loader = loader_of(records, batches, num_workers=2, persistent_workers=True)
    for epoch in range(2):
        assert indices(loader) == order(epoch)
    for batch in loader:
        state = batch.state
        break
    with pytest.raises(zrecord.FeedError, match=r"Another iterator is amid epoch 2.*load_state_dict, such as"):
        iter(loader)
    batches.load_state_dict(state)
    assert indices(loader) == order(2)[BATCH:]


def stateful() -> Any:
    return pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader


@pytest.mark.parametrize("options", LOADERS)
def test_a_stateful_loader_resumes_after_any_batch_of_several_epochs(options: dict[str, Any], records: Path) -> None:
    kind = stateful()
    expected = order(0) + order(1) + order(2)
    count = -(-LENGTH // BATCH)
    for stop in (0, 1, 7, count - 1, count, count + 2, 2 * count):
        loader = loader_of(records, batches_of(records), kind, **options)
        seen: list[int] = []
        left = stop
        while left > 0:
            for batch in loader:
                seen += batch.index.tolist()
                left -= 1
                if left == 0 and len(seen) % LENGTH:
                    break  # after the last batch of an epoch the loop ends by itself
        state = loader.state_dict()
        resumed = loader_of(records, batches_of(records), kind, **options)
        resumed.load_state_dict(state)
        while len(seen) < len(expected):
            seen += indices(resumed)
        assert seen == expected, stop


@pytest.mark.parametrize("options", LOADERS)
def test_a_state_that_a_stateful_loader_saves_at_the_last_batch_loses_no_epoch(options: dict[str, Any], records: Path) -> None:
    kind = stateful()
    loader = loader_of(records, batches_of(records), kind, **options)
    for _ in loader:
        state = loader.state_dict()
    resumed = loader_of(records, batches_of(records), kind, **options)
    resumed.load_state_dict(state)
    assert indices(resumed) == [], "the rest of the epoch"
    assert indices(resumed) == order(1)


TRAINING = """
import json, sys
from pathlib import Path
from torchdata.stateful_dataloader import StatefulDataLoader
from zrecord.torch import BatchSampler, Dataset, collate

path, checkpoint, workers = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
data = Dataset(path)
batches = BatchSampler(data, 16, seed=5, epochs=3)
loader = StatefulDataLoader(data, batch_sampler=batches, collate_fn=collate, num_workers=workers)
seen = []
if checkpoint.exists():
    saved = json.loads(checkpoint.read_text())
    seen = saved["seen"]
    loader.load_state_dict(saved["loader"])
while len(seen) < 3 * len(data):
    for batch in loader:
        seen += batch.index.tolist()
        new = checkpoint.with_suffix(".new")
        new.write_text(json.dumps({"loader": loader.state_dict(), "seen": seen}))
        new.replace(checkpoint)
        print(len(seen), flush=True)
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_training_with_a_stateful_loader_that_is_killed_sees_each_record_once_an_epoch(
    workers: int, records: Path, tmp_path: Path
) -> None:
    stateful()
    (tmp_path / "train.py").write_text(TRAINING)
    command = [sys.executable, str(tmp_path / "train.py"), str(records), str(tmp_path / "checkpoint"), str(workers)]
    r = budget.random()
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as training:
            assert training.stdout
            for _ in range(int(r.integers(1, 12))):
                training.stdout.readline()
            training.kill()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    shuffle = samplers.Shuffle(LENGTH, 5)
    expected = np.concatenate([shuffle.indices(epoch, 0, LENGTH) for epoch in range(3)]).tolist()
    assert json.loads((tmp_path / "checkpoint").read_text())["seen"] == expected


PROCESS = """
import json, os, sys
from pathlib import Path
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from zrecord import FeedError
from zrecord.torch import BatchSampler, Dataset, collate

path, rank, world, meeting, steps, output = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:7]
data = Dataset(path)
early = BatchSampler(data, 4, seed=5)
dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
try:
    iter(early)
    raise AssertionError("a sampler that was made for one process is refused")
except FeedError as e:
    assert "make it after init_process_group" in str(e)
batches = BatchSampler(data, 4, seed=5, remainder="pad")
state = Path(output, "state.json")
if state.exists():
    batches.load_state_dict(json.loads(state.read_text()))
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
seen, left = [], int(steps)
for batch in DataLoader(data, batch_sampler=batches, collate_fn=collate, num_workers=1):
    model(batch["inputs"]).sum().backward()
    seen.append(batch.index.tolist())
    left -= 1
    if left == 0:
        break
dist.barrier()
Path(output, f"{rank}.json").write_text(json.dumps(seen))
if rank == 0:
    state.write_text(json.dumps(batch.state))
"""


def run_processes(world: int, steps: int, records: Path, directory: Path) -> list[list[list[int]]]:
    """The batches that each of some processes trained on, which all go on from the state in a directory."""
    (directory / "process.py").write_text(PROCESS)
    meeting = directory / f"meeting-{world}-{steps}"
    commands = [
        [sys.executable, str(directory / "process.py"), *map(str, (records, rank, world, meeting, steps, directory))]
        for rank in range(world)
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    running = [subprocess.Popen(command, env=environment) for command in commands]
    try:
        assert [process.wait(timeout=600) for process in running] == [0] * world
    finally:
        for process in running:
            process.kill()
    return [json.loads((directory / f"{rank}.json").read_text()) for rank in range(world)]


def test_processes_of_another_number_go_on_with_an_epoch(records: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    for world, steps in ((2, 7), (3, 5), (2, 10**6)):
        given = run_processes(world, steps, records, tmp_path)
        assert len({len(batches) for batches in given}) == 1
        for batches in zip(*given):
            seen += [index for each in zip(*batches) for index in each]
    assert seen[:LENGTH] == samplers.Shuffle(LENGTH, 5).indices(0, 0, LENGTH).tolist()
    assert len(seen) - LENGTH < 2, "at most one is repeated by the last two ranks"


def test_tensors_share_the_memory_of_arrays() -> None:
    data = Dataset(GOLDEN / "v2" / "table")
    arrays = data.__getitems__([1, 0, 1])
    kept = dict(arrays)
    batch = collate(arrays)
    assert batch is arrays and collate(batch) is batch
    seen = set()
    for name, value in batch.items():
        spec, array = data.data.fields[name], kept[name]
        if spec.dtype == "bf16":
            assert value.dtype == torch.bfloat16 and value.view(torch.int16).numpy().tobytes() == array.tobytes()
        elif torch.is_tensor(value):
            assert value.data_ptr() in (array.ctypes.data, 0) and value.numpy().tobytes() == array.tobytes()
        elif isinstance(value, list) and any(map(torch.is_tensor, value)):
            for tensor, each in zip(value, array):
                assert tensor is each is None or tensor.numpy().tobytes() == each.tobytes()
        else:
            assert value is array or value == array
        seen.add((spec.dtype, type(value).__name__))
    assert {("f32", "Tensor"), ("bool", "Tensor"), ("bf16", "Tensor"), ("utf8", "list"), ("date", "ndarray")} <= seen
    assert all(torch.is_tensor(marks) for marks in batch.marks.values()) and batch.marks


def test_a_batch_in_pinned_memory_keeps_what_it_says_of_itself(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 1):
        pytest.skip("this PyTorch makes a new dict of a batch")
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor, *_: tensor + 1)
    batch = collate(Dataset(records).__getitems__(next(iter(batches_of(records)))))
    pinned = torch.utils.data._utils.pin_memory.pin_memory(batch)
    assert isinstance(pinned, Batch) and pinned["label"].tolist() == [i + 1 for i in batch.index.tolist()]
    assert pinned.state == batch.state is not None and pinned.epoch == 0


@pytest.mark.parametrize("wrong", [[{"x": 1}], {"x": 1}, 5])
def test_batches_of_other_datasets_are_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"collate takes a batch of zrecord.torch.Dataset, not"):
        collate(wrong)


def test_a_loader_without_collate_says_so(records: Path) -> None:
    make: Callable[..., Any] = torch.utils.data.DataLoader
    with pytest.raises(KeyError, match=r"give DataLoader collate_fn=zrecord.torch.collate"):
        next(iter(make(Dataset(records), batch_sampler=batches_of(records))))

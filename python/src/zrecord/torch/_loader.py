"""The feed with the arguments of ``DataLoader``."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, cast

import zrecord
from zrecord import _batch
from zrecord._epochs import Feed
from zrecord._progress import FeedStatistics
from zrecord._ragged import Ragged
from zrecord.errors import FeedError
from zrecord.torch._batch import Batch
from zrecord.torch._batches import _processes
from zrecord.torch._dataset import Dataset
from zrecord.torch._tensors import collate

# About the longest wait that the system can be asked for.
_NO_TIMEOUT = 2_000_000.0
_REFUSED = {
    "batch_sampler": "give batch_size and sampler; an order of your own goes into a DataLoader with a zrecord.torch.BatchSampler",
    "collate_fn": "change the tensors of a batch in the loop, or give pad for values that differ in length",
    "worker_init_fn": "there are no workers in Python: the engine loads in a process of its own",
    "multiprocessing_context": "there are no workers in Python: the engine loads in a process of its own",
    "generator": "give seed",
}


class FeedLoader:
    """Batches of tensors of ``zrecord.feed``, with the arguments of ``torch.utils.data.DataLoader``: each is obeyed or refused.

    Each ``for`` gives the rest of the current epoch, as that of ``zrecord.feed``, which loads ahead in a process of its own and
    needs Java. Tensors of numbers have the memory of the engine, without a copy; it is used again when the last tensor is gone. A
    batch is a ``zrecord.torch.Batch``, whose ``state`` continues after it. Values of different lengths are a list. Belongs to one
    thread at a time.

    :param dataset: a path, a URL, or a ``zrecord.torch.Dataset`` of a path, of which fields and version are taken
    :param batch_size: records of a batch of this rank
    :param shuffle: whether the order is ``shuffle``, with ``seed``, or else ``sequential``
    :param sampler: the name of another order of ``zrecord.feed``; its parameters are among ``options``
    :param num_workers: threads of the engine that load; 0 means 2. The order does not depend on it
    :param pin_memory: whether tensors are copied to memory that a GPU reads faster; without CUDA they are not
    :param drop_last: whether records at the end of an epoch that do not fill a batch are left out
    :param timeout: seconds to wait for a batch; 0: without an end
    :param prefetch_factor: batches to load ahead for each of the threads; by default 8 batches in all are alive
    :param persistent_workers: has no meaning here: the engine always stays
    :param pin_memory_device: the device to pin memory for, as ``Tensor.pin_memory`` takes it
    :param in_order: ``False`` delivers the batch that is ready first, also one of the next epoch before the last ones of an epoch;
        with ``epochs=1`` there is none
    :param seed: the seed of the order; there is no other source of chance
    :param epochs: the number of epochs; ``None``: no end
    :param options: other arguments of ``zrecord.feed``, such as ``fields``, ``pad``, ``rank`` and ``world_size``, which are those
        of ``torch.distributed`` if it is initialized

    Raises ``ValueError`` for ``batch_sampler``, ``collate_fn``, ``worker_init_fn``, ``multiprocessing_context`` and ``generator``.
    """

    def __init__(
        self,
        dataset: Dataset | str | os.PathLike[str],
        batch_size: int = 1,
        shuffle: bool | None = None,
        sampler: str | None = None,
        batch_sampler: None = None,
        num_workers: int = 0,
        collate_fn: None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: None = None,
        multiprocessing_context: None = None,
        generator: None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        seed: int = 42,
        epochs: int | None = None,
        **options: Any,
    ) -> None:
        given = {
            "batch_sampler": batch_sampler,
            "collate_fn": collate_fn,
            "worker_init_fn": worker_init_fn,
            "multiprocessing_context": multiprocessing_context,
            "generator": generator,
        }
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"FeedLoader takes no {name}, which is {value!r}: {_REFUSED[name]}")
        if batch_size is None or batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; a feed gives batches of 1 record or more")
        if num_workers < 0:
            raise ValueError(f"num_workers is {num_workers}; give the number of threads that load, or 0 for 2 of them")
        if timeout < 0:
            raise ValueError(f"timeout is {timeout}; give seconds, or 0 to wait without an end")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError(f"prefetch_factor is {prefetch_factor}; give 1 or more batches")
        if "threads" in options or "drop_remainder" in options or "as_completed" in options or "writable" in options:
            raise ValueError("Give num_workers, drop_last and in_order instead of threads, drop_remainder and as_completed")
        threads = num_workers or 2
        if ("rank" in options) != ("world_size" in options):
            raise ValueError("Give both rank and world_size, or none of them for those of torch.distributed")
        self._ranks = None if "rank" in options else _processes()
        if self._ranks is not None:
            options["rank"], options["world_size"] = self._ranks
        if prefetch_factor is not None:
            if "depth" in options:
                raise ValueError(f"prefetch_factor is {prefetch_factor} and depth is {options['depth']}; give one of them")
            options["depth"] = 1 + prefetch_factor * threads
        path, options = _of_dataset(dataset, options)
        feed = zrecord.feed(
            path,
            batch_size=batch_size,
            sampler=_order(shuffle, sampler),
            seed=seed,
            epochs=epochs,
            threads=threads,
            drop_remainder=drop_last,
            as_completed=not in_order,
            timeout=timeout or _NO_TIMEOUT,
            # PyTorch cannot mark a tensor as one to read only.
            writable=True,
            **options,
        )
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        # Not a method: a feed that refers to its loader would keep the engine until Python collects cycles.
        convert = functools.partial(_tensors, pin_memory, pin_memory_device)
        self._feed = Feed(dataclasses.replace(feed._arguments, convert=convert))

    @property
    def feed(self) -> Feed:
        """The feed, whose batches are made tensors. Use it for its properties, not for batches."""
        return self._feed

    def __iter__(self) -> Iterator[Batch]:
        """Begins the rest of the current epoch, as ``iter(feed)``, whose errors it raises.

        Raises ``FeedError`` if ``torch.distributed`` has other ranks than when the loader was made.
        """
        if self._ranks is not None and self._ranks != _processes():
            raise FeedError(
                f"This loader was made for rank {self._ranks[0]} of {self._ranks[1]}, but torch.distributed now says"
                f" {_processes()[0]} of {_processes()[1]}; make it after init_process_group, or give rank and world_size"
            )
        return cast("Iterator[Batch]", iter(self._feed))

    def __len__(self) -> int:
        """Returns the batches of the ``for`` that is under way, or else of the next one."""
        return len(self._feed)

    def state_dict(self) -> dict[str, Any]:
        """Returns the state after the batch that was returned last. Fit for JSON."""
        return self._feed.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state of ``state_dict`` or ``batch.state``, of any number of ranks and any ``batch_size``."""
        self._feed.load_state_dict(state)

    def statistics(self) -> FeedStatistics:
        """Returns what the feed did, such as how long it was waited for."""
        return self._feed.statistics()

    def close(self) -> None:
        """Ends the engine. Tensors that were returned stay readable."""
        self._feed.close()

    def __enter__(self) -> FeedLoader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _tensors(pins: bool, device: str, arrays: _batch.Batch, header: Mapping[str, Any]) -> Batch:
    batch = Batch({name: _listed(arrays, name, value) for name, value in arrays.items()}, arrays.index)
    batch.epoch, batch.state = arrays.epoch, arrays.state
    batch.marks = dict(arrays.marks)
    batch.bfloat16 = frozenset(field["name"] for field in header["fields"] if field["dtype"] == "bf16")
    collate(batch)
    if pins:
        for name, value in batch.items():
            batch[name] = _pinned(value, device)
    return batch


def _pinned(value: Any, device: str) -> Any:
    import torch

    if isinstance(value, list):
        return [_pinned(each, device) for each in value]
    if not isinstance(value, torch.Tensor) or not torch.cuda.is_available():
        return value
    return value.pin_memory(device) if device else value.pin_memory()


def _listed(arrays: _batch.Batch, name: str, value: Any) -> Any:
    """Returns values of different lengths as a list, in which an absent one is ``None``."""
    if not isinstance(value, Ragged):
        return value
    absent = arrays.absent(name)
    return [None if absent[i] else value[i] for i in range(len(value))]


def _order(shuffle: bool | None, sampler: str | None) -> str:
    if sampler is None:
        return "shuffle" if shuffle else "sequential"
    if not isinstance(sampler, str):
        raise TypeError(
            f"sampler is a {type(sampler).__name__}; give the name of an order of zrecord.feed, such as 'blockShuffle', with its"
            " parameters, or indices=…; a sampler of PyTorch goes into a DataLoader with a zrecord.torch.Dataset"
        )
    if shuffle:
        raise ValueError(f"shuffle is True, but the order is that of the sampler '{sampler}'; give one of them")
    return sampler


def _of_dataset(dataset: Dataset | str | os.PathLike[str], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    if isinstance(dataset, (str, os.PathLike)):
        return dataset, options
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset is a {type(dataset).__name__}; give a path, a URL, or a zrecord.torch.Dataset")
    fields: Sequence[str] = list(dataset._fields)
    return dataset.data.path, {"fields": fields, "version": dataset.data.version, **options}
